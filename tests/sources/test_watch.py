"""Roots watched for real: what is saved is in memory soon after, whatever happens to files and folders."""

from __future__ import annotations

import os
import queue
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from libravdb_memory import Config, Memory
from libravdb_memory.errors import StoreFullError
from libravdb_memory.model import Document
from libravdb_memory.sources.loader import Loader
from libravdb_memory.sources.readers import read_sources
from libravdb_memory.sources.report import Report
from libravdb_memory.sources.settings import Root, SourcesSettings
from libravdb_memory.sources.watch import Changes, Notifier, RootWatcher, Watcher, notify_of

PATIENCE_S = 90


@pytest.fixture
def memory(tmp_path: Path, hashed: Config) -> Iterator[Memory]:
    with Memory.open(tmp_path / "store", config=hashed) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "notes"
    made.mkdir()
    return made


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


@contextmanager
def watching(memory: Memory, folder: Path, mode: str = "watching", **more: object) -> Iterator[RootWatcher]:
    watcher = RootWatcher(Loader(Root("notes", folder), memory), **more)  # type: ignore[arg-type]
    watcher.start()
    try:
        assert watcher.wait(lambda state: state.mode == mode, PATIENCE_S), watcher.state
        yield watcher
    finally:
        watcher.stop()


def texts(memory: Memory) -> dict[str, str]:
    return {name: found.nodes[0].text if found.nodes else "" for name, found in memory.documents().items()}


def comes_to(watcher: RootWatcher, memory: Memory, expected: dict[str, str]) -> bool:
    return watcher.wait(lambda _: texts(memory) == expected, PATIENCE_S)


def test_what_is_saved_changed_and_deleted_is_followed(memory: Memory, folder: Path) -> None:
    write(folder / "before.md", "Here from the start.")
    with watching(memory, folder) as watcher:
        write(folder / "a.md", "First.")
        assert comes_to(watcher, memory, {"notes/before.md": "Here from the start.", "notes/a.md": "First."})
        write(folder / "a.md", "Second.")
        (folder / "before.md").unlink()
        assert comes_to(watcher, memory, {"notes/a.md": "Second."})
    assert watcher.state.mode == "stopped"


def test_a_save_by_renaming_replaces_the_document_and_never_removes_it(memory: Memory, folder: Path) -> None:
    write(folder / "a.md", "Version 0.")
    removed: list[str] = []

    class Noting(Loader):
        def run(self, stopping: Callable[[], bool] = lambda: False) -> Report:
            report = super().run(stopping)
            removed.extend(report.removed)
            return report

    watcher = RootWatcher(Noting(Root("notes", folder), memory))
    watcher.start()
    try:
        assert watcher.wait(lambda state: state.mode == "watching", PATIENCE_S)
        for number in range(1, 6):
            temporary = write(folder / "a.md.tmp~", f"Version {number}.")
            os.replace(temporary, folder / "a.md")  # noqa: PTH105
            assert comes_to(watcher, memory, {"notes/a.md": f"Version {number}."})
    finally:
        watcher.stop()
    assert removed == []


def test_a_storm_of_edits_ends_in_the_last_state_after_few_passes(memory: Memory, folder: Path) -> None:
    with watching(memory, folder) as watcher:
        before = watcher.state.passes
        for number in range(500):
            write(folder / f"{number % 50}.md", f"Edit {number}.")
        expected = {f"notes/{number % 50}.md": f"Edit {number}." for number in range(450, 500)}
        assert comes_to(watcher, memory, expected)
        assert watcher.state.passes - before < 100


def test_a_folder_that_appears_with_files_in_it_is_read_and_watched(memory: Memory, folder: Path) -> None:
    with watching(memory, folder) as watcher:
        write(folder / "x" / "y" / "a.md", "Deep.")
        assert comes_to(watcher, memory, {"notes/x/y/a.md": "Deep."})
        write(folder / "x" / "y" / "b.md", "Beside.")
        assert comes_to(watcher, memory, {"notes/x/y/a.md": "Deep.", "notes/x/y/b.md": "Beside."})
        (folder / "x").rename(folder / "z")
        assert comes_to(watcher, memory, {"notes/z/y/a.md": "Deep.", "notes/z/y/b.md": "Beside."})
        write(folder / "z" / "y" / "a.md", "Still watched.")
        assert comes_to(watcher, memory, {"notes/z/y/a.md": "Still watched.", "notes/z/y/b.md": "Beside."})


def test_a_folder_that_is_made_anew_at_once_is_watched_again(memory: Memory, folder: Path) -> None:
    write(folder / "x" / "a.md", "Old.")
    with watching(memory, folder) as watcher:
        for number in range(5):
            shutil.rmtree(folder / "x")
            write(folder / "x" / "a.md", f"New {number}.")
            assert comes_to(watcher, memory, {"notes/x/a.md": f"New {number}."})
            write(folder / "x" / "a.md", f"Newer {number}.")
            assert comes_to(watcher, memory, {"notes/x/a.md": f"Newer {number}."})


def test_a_root_that_goes_and_returns_is_followed(memory: Memory, folder: Path) -> None:
    write(folder / "a.md", "Here.")
    with watching(memory, folder) as watcher:
        assert comes_to(watcher, memory, {"notes/a.md": "Here."})
        shutil.rmtree(folder)
        assert watcher.wait(lambda state: state.mode == "missing", PATIENCE_S) and texts(memory) == {}
        write(folder / "b.md", "Back.")
        assert comes_to(watcher, memory, {"notes/b.md": "Back."})
        assert watcher.wait(lambda state: state.mode == "watching", PATIENCE_S)
        write(folder / "c.md", "Watched again.")
        assert comes_to(watcher, memory, {"notes/b.md": "Back.", "notes/c.md": "Watched again."})


def test_a_root_that_is_not_there_yet_is_waited_for(memory: Memory, tmp_path: Path) -> None:
    with watching(memory, tmp_path / "later", mode="missing") as watcher:
        write(tmp_path / "later" / "a.md", "At last.")
        assert comes_to(watcher, memory, {"notes/a.md": "At last."})


def test_no_folder_outside_the_root_and_none_excluded_is_watched(memory: Memory, folder: Path) -> None:
    (folder / "everything").symlink_to("/", target_is_directory=True)
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    for name in (".git", "sub"):
        (folder / name).mkdir()
    asked: list[Sequence[str]] = []

    def noting(folders: Sequence[str]) -> Notifier:
        asked.append(folders)
        return notify_of(folders)

    with watching(memory, folder, notify=noting) as watcher:
        assert [problem.path for problem in watcher.state.problems] == ["everything"]
    assert asked == [(os.path.realpath(folder), os.path.realpath(folder / "sub"))]


def test_where_nothing_can_be_watched_the_root_is_looked_at_now_and_then(memory: Memory, folder: Path) -> None:
    def refuse(_: Sequence[str]) -> Notifier:
        raise OSError("OS file watch limit reached")

    with watching(memory, folder, mode="polling", notify=refuse, poll_s=0.05) as watcher:
        assert "watch limit" in watcher.state.note
        write(folder / "a.md", "Seen anyway.")
        assert comes_to(watcher, memory, {"notes/a.md": "Seen anyway."})


def test_changes_of_files_that_are_not_read_cause_no_pass(memory: Memory, folder: Path) -> None:
    told: queue.Queue[Changes] = queue.Queue()
    heard: queue.Queue[None] = queue.Queue()

    class Scripted:
        def watch(self, debounce_ms: int, step_ms: int, timeout_ms: int, stop_event: threading.Event | None) -> Changes:
            heard.put(None)
            try:
                return told.get(timeout=PATIENCE_S)
            except queue.Empty:
                return "timeout"

        def close(self) -> None:
            told.put("stop")

    with watching(memory, folder, notify=lambda _: Scripted()) as watcher:
        heard.get(timeout=PATIENCE_S)
        before = watcher.state.passes
        top = os.path.realpath(folder)
        for name in ("data.libravdb-wal", ".a.md.swp", ".git/index", "a.txt"):
            told.put({(2, f"{top}/{name}")})
            heard.get(timeout=PATIENCE_S)
        assert watcher.state.passes == before
        told.put({(2, f"{top}/a.md")})
        assert watcher.wait(lambda state: state.passes == before + 1, PATIENCE_S)
        told.put("stop")
        watcher.stop()


def test_a_failure_is_visible_and_tried_again(memory: Memory, folder: Path) -> None:
    repaired = threading.Event()

    class OnAFullDisk(Loader):
        def run(self, stopping: Callable[[], bool] = lambda: False) -> Report:
            if not repaired.is_set():
                raise StoreFullError(folder)
            return super().run(stopping)

    watcher = RootWatcher(OnAFullDisk(Root("notes", folder), memory))
    write(folder / "a.md", "Patience.")
    watcher.start()
    try:
        assert watcher.wait(lambda state: "no space left" in (state.failure or ""), PATIENCE_S)
        repaired.set()
        assert comes_to(watcher, memory, {"notes/a.md": "Patience."})
        assert watcher.wait(lambda state: state.failure is None, PATIENCE_S)
    finally:
        watcher.stop()


def test_a_store_that_is_closed_ends_the_watching(tmp_path: Path, hashed: Config, folder: Path) -> None:
    memory = Memory.open(tmp_path / "closing", config=hashed)
    watcher = RootWatcher(Loader(Root("notes", folder), memory))
    watcher.start()
    assert watcher.wait(lambda state: state.mode == "watching", PATIENCE_S)
    memory.close()
    write(folder / "a.md", "Too late.")
    assert watcher.wait(lambda state: state.mode == "stopped", PATIENCE_S)
    watcher.stop()


def test_every_root_of_the_settings_is_watched_and_former_ones_are_forgotten(memory: Memory, tmp_path: Path) -> None:
    night = "# Dreams\n\n- The harbour froze over at noon. {score=.9 recall=3 unique=2}\n"
    write(tmp_path / "former" / "old.md", "Of yesterday.")
    read_sources(memory, SourcesSettings(root_paths=(str(tmp_path / "former"),)))
    assert list(memory.documents()) == ["former/old.md"]
    write(tmp_path / "work" / "a.md", "Of today.")
    diary = write(tmp_path / "work" / "DREAMS.md", "Nothing yet.")
    settings = SourcesSettings(root_paths=(str(tmp_path / "work"),), diary_path=str(diary), diary_user="ada")
    watcher = Watcher(memory, settings)
    watcher.start()
    try:
        notes, dreams = watcher.roots
        assert comes_to(notes, memory, {"work/a.md": "Of today."})
        assert dreams.wait(lambda state: state.mode == "watching", PATIENCE_S)
        write(diary, night)
        assert dreams.wait(lambda _: len(memory.store.page("dream:ada").records) == 1, PATIENCE_S)
        assert [state.root for state in watcher.states] == ["work", "dreams-work"]
        assert list(memory.documents()) == ["work/a.md"]
    finally:
        watcher.stop()


def test_what_cannot_be_forgotten_on_a_full_disk_keeps_nothing_from_being_watched(
    memory: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder / "a.md", "Patience.")
    read_sources(memory, SourcesSettings(root_paths=(str(folder),)))
    there = Path(f"{folder}-other")
    write(there / "b.md", "Courage.")
    change = memory.change_documents

    def full(load: Sequence[Document] = (), remove: Sequence[str] = ()) -> object:
        if remove:
            raise StoreFullError(folder)
        return change(load, remove)

    monkeypatch.setattr(memory, "change_documents", full)
    watcher = Watcher(memory, SourcesSettings(root_paths=(str(there),)))
    watcher.start()
    try:
        assert watcher.roots[0].wait(lambda state: state.documents == 1, PATIENCE_S)
        assert texts(memory).keys() == {"notes/a.md", "notes-other/b.md"}
    finally:
        watcher.stop()
