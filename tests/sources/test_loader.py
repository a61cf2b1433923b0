"""Files become documents, and documents follow their files."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from libravdb_memory import Config, Memory
from libravdb_memory.errors import ConfigError, RulesOverrunError, StoreFullError
from libravdb_memory.identity import Json
from libravdb_memory.ingest.partition import Partition, Tier
from libravdb_memory.model import Document
from libravdb_memory.sources.diaries import DiaryLoader
from libravdb_memory.sources.loader import Loader, forget_other_roots
from libravdb_memory.sources.report import Report
from libravdb_memory.sources.settings import Root, SourcesSettings


@pytest.fixture
def memory(tmp_path: Path, hashed: Config) -> Iterator[Memory]:
    with Memory.open(tmp_path / "store", config=hashed) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "notes"
    made.mkdir()
    return made


@pytest.fixture
def loader(memory: Memory, folder: Path) -> Loader:
    return Loader(Root("notes", folder), memory)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def did(report: Report) -> tuple[list[str], list[str], list[tuple[str, str]], list[str]]:
    return report.added, report.changed, report.moved, report.removed


NOTHING: tuple[list[str], list[str], list[tuple[str, str]], list[str]] = ([], [], [], [])


def test_documents_follow_their_files(memory: Memory, folder: Path, loader: Loader) -> None:
    write(folder / "a.md", "The tide turns at noon.\n")
    write(folder / "sub" / "b.md", "The ferry leaves at nine.\n")
    assert did(loader.run()) == (["a.md", "sub/b.md"], [], [], [])
    assert list(memory.documents()) == ["notes/a.md", "notes/sub/b.md"]
    assert did(loader.run()) == NOTHING
    write(folder / "a.md", "The tide turns at six.\n")
    assert did(loader.run()) == ([], ["a.md"], [], [])
    assert memory.documents()["notes/a.md"].nodes[0].text == "The tide turns at six."
    (folder / "sub" / "b.md").unlink()
    assert did(loader.run()) == ([], [], [], ["sub/b.md"])
    assert list(memory.documents()) == ["notes/a.md"] and memory.verify().ok


def test_a_note_is_recalled_after_it_is_read(memory: Memory, folder: Path, loader: Loader) -> None:
    write(folder / "harbour.md", "The harbour master is called Runa Skov.\n")
    loader.run()
    memory.wait(30)
    assert "Runa Skov" in memory.context("Who is the harbour master?", user="ada", session="s", budget=2000).text


def test_only_core_documents_at_the_top_state_rules(memory: Memory, folder: Path, loader: Loader) -> None:
    write(folder / "MEMORY.md", "- Never force-push.\n")
    write(folder / "deep" / "AGENTS.md", "- Never run the linter twice.\n")
    write(folder / "note.md", "- Never feed the gulls.\n")
    loader.run()
    hard = {name: bool(found.of_tier(Tier.HARD)) for name, found in memory.documents().items()}
    assert hard == {"notes/MEMORY.md": True, "notes/deep/AGENTS.md": False, "notes/note.md": False}


def test_all_documents_state_rules_when_asked_and_are_read_again_for_it(memory: Memory, folder: Path) -> None:
    write(folder / "note.md", "- Never feed the gulls.\n")
    Loader(Root("notes", folder), memory).run()
    assert did(Loader(Root("notes", folder, rules="all"), memory).run()) == ([], ["note.md"], [], [])
    assert memory.documents()["notes/note.md"].of_tier(Tier.HARD)


def test_a_restart_loads_only_what_changed_meanwhile(tmp_path: Path, hashed: Config, folder: Path) -> None:
    for name in ("same.md", "edited.md", "deleted.md", "old-name.md"):
        write(folder / name, f"This is {name}.\n")
    with Memory.open(tmp_path / "again", config=hashed) as memory:
        Loader(Root("notes", folder), memory).run()
    write(folder / "edited.md", "Something else.\n")
    (folder / "deleted.md").unlink()
    (folder / "old-name.md").rename(folder / "new-name.md")
    os.utime(folder / "same.md", (1, 1))
    with Memory.open(tmp_path / "again", config=hashed) as memory:
        report = Loader(Root("notes", folder), memory).run()
        assert did(report) == ([], ["edited.md"], [("old-name.md", "new-name.md")], ["deleted.md"])
        assert report.documents == 3 == len(memory.documents())


def test_a_file_that_moved_is_removed_and_loaded_in_one_commit(memory: Memory, folder: Path, loader: Loader) -> None:
    write(folder / "MEMORY.md", "- Never force-push.\n")
    write(folder / "b.md", "The ferry leaves at nine.\n")
    loader.run()
    changes: list[tuple[int, int]] = []
    real = memory.change_documents

    def counting(
        load: Sequence[Document] = (), remove: Sequence[str] = ()
    ) -> tuple[Partition | RulesOverrunError, ...]:
        changes.append((len(load), len(remove)))
        return real(load, remove)

    memory.change_documents = counting  # type: ignore[method-assign]
    (folder / "archive").mkdir()
    (folder / "b.md").rename(folder / "archive" / "c.md")
    assert did(loader.run()) == ([], [], [("b.md", "archive/c.md")], [])
    assert changes == [(1, 1)] and sorted(memory.documents()) == ["notes/MEMORY.md", "notes/archive/c.md"]


def test_a_copy_is_no_move(folder: Path, loader: Loader) -> None:
    write(folder / "a.md", "The tide turns at noon.\n")
    loader.run()
    write(folder / "b.md", "The tide turns at noon.\n")
    assert did(loader.run()) == (["b.md"], [], [], [])


def test_two_files_that_change_places_are_two_changes(memory: Memory, folder: Path, loader: Loader) -> None:
    write(folder / "a.md", "This was a.\n")
    write(folder / "b.md", "This was b.\n")
    loader.run()
    (folder / "a.md").rename(folder / "x.md")
    (folder / "b.md").rename(folder / "a.md")
    (folder / "x.md").rename(folder / "b.md")
    assert did(loader.run()) == ([], ["a.md", "b.md"], [], [])
    assert memory.documents()["notes/a.md"].nodes[0].text == "This was b."


def test_an_edit_of_the_same_size_in_the_same_instant_is_seen(memory: Memory, folder: Path, loader: Loader) -> None:
    path = write(folder / "a.md", "tide at 06:00\n")
    status = path.stat()
    loader.run()
    with path.open("r+", encoding="utf-8") as file:
        file.write("tide at 07:00\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert did(loader.run()) == ([], ["a.md"], [], [])


def test_a_file_at_rest_is_not_read_again(memory: Memory, folder: Path) -> None:
    path = write(folder / "a.md", "The tide turns at noon.\n")
    os.utime(path, (1, 1))
    loader = Loader(Root("notes", folder), memory)
    loader.run()
    path.chmod(0o600)  # a new stamp: read, found the same
    assert did(loader.run()) == NOTHING
    opened: list[str] = []
    real = os.open

    def noting(place: str, *rest: int) -> int:
        opened.append(place)
        return real(place, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("libravdb_memory.sources.reading.os.open", noting)
        loader.run()
    assert opened == []


def test_a_file_that_turns_binary_keeps_its_last_version_and_is_reported(
    memory: Memory, folder: Path, loader: Loader
) -> None:
    path = write(folder / "a.md", "The tide turns at noon.\n")
    loader.run()
    path.write_bytes(b"\0\1\2")
    report = loader.run()
    assert did(report) == NOTHING and list(memory.documents()) == ["notes/a.md"]
    assert [(problem.path, problem.reason) for problem in report.problems] == [
        ("a.md", "is binary; the version loaded before stays")
    ]
    assert loader.run().problems == report.problems
    write(path, "The tide turns at noon.\n")
    healed = loader.run()
    assert did(healed) == NOTHING and healed.problems == ()


def test_rules_that_do_not_fit_are_reported_and_tried_again_when_there_is_room(
    memory: Memory, folder: Path, loader: Loader
) -> None:
    long = "- Never " + "forget the tide " * 300
    write(folder / "AGENTS.md", long)
    write(folder / "MEMORY.md", long + "again")
    write(folder / "note.md", "The ferry leaves at nine.\n")
    report = loader.run()
    assert did(report) == (["AGENTS.md", "note.md"], [], [], [])
    assert [problem.path for problem in report.problems] == ["MEMORY.md"] and "over a limit" in report.problems[
        0
    ].reason
    (folder / "AGENTS.md").unlink()
    after = loader.run()
    assert did(after) == (["MEMORY.md"], [], [], ["AGENTS.md"]) and after.problems == ()


def test_only_notes_with_a_wanted_tag_are_read(memory: Memory, folder: Path) -> None:
    write(folder / "yes.md", "---\ntags: [memory/ferry]\n---\nThe ferry leaves at nine.\n")
    write(folder / "no.md", "Private #diary.\n")
    write(folder / "MEMORY.md", "- Never force-push.\n")
    loader = Loader(Root("vault", folder, "obsidian", tags=("memory",)), memory)
    assert did(loader.run()) == (["MEMORY.md", "yes.md"], [], [], [])
    write(folder / "yes.md", "The ferry leaves at nine.\n")
    write(folder / "no.md", "Now public #memory.\n")
    assert did(loader.run()) == (["no.md"], [], [], ["yes.md"])


def test_a_secret_in_a_note_is_masked_in_memory(memory: Memory, folder: Path, loader: Loader) -> None:
    write(folder / "a.md", "The router: password = 'hunter2Blue' as always.\n")
    loader.run()
    stored = memory.documents()["notes/a.md"].nodes[0].text
    assert "hunter2Blue" not in stored and "[masked: password]" in stored
    assert did(loader.run()) == NOTHING


def test_a_root_that_is_deleted_takes_its_documents_and_brings_them_back(
    memory: Memory, folder: Path, loader: Loader
) -> None:
    write(folder / "a.md", "The tide turns at noon.\n")
    loader.run()
    folder.rename(folder.with_name("away"))
    report = loader.run()
    assert report.missing and report.removed == ["a.md"] and memory.documents() == {}
    folder.with_name("away").rename(folder)
    assert did(loader.run()) == (["a.md"], [], [], [])


def test_a_commit_that_fails_is_tried_again_by_the_next_pass(memory: Memory, folder: Path) -> None:
    class FullOnce:
        full = True

        def change_documents(
            self, load: Sequence[Document] = (), remove: Sequence[str] = ()
        ) -> tuple[Partition | RulesOverrunError, ...]:
            if self.full:
                raise StoreFullError(folder)
            return memory.change_documents(load, remove)

        def sourced_documents(self, root: str | None = None) -> Mapping[str, Mapping[str, Json]]:
            return memory.sourced_documents(root)

    os.utime(write(folder / "a.md", "The tide turns at noon.\n"), (1, 1))
    disk = FullOnce()
    loader = Loader(Root("notes", folder), disk)
    with pytest.raises(StoreFullError):
        loader.run()
    disk.full = False
    assert did(loader.run()) == (["a.md"], [], [], [])


def test_a_pass_that_is_stopped_removes_nothing_and_the_next_one_goes_on(
    memory: Memory, folder: Path, loader: Loader
) -> None:
    write(folder / "z.md", "The tide turns at noon.\n")
    loader.run()
    (folder / "z.md").unlink()
    write(folder / "a.md", "The ferry leaves at nine.\n")
    assert not loader.run(stopping=lambda: True).complete and list(memory.documents()) == ["notes/z.md"]
    assert did(loader.run()) == (["a.md"], [], [], ["z.md"])


def test_what_was_read_from_a_former_root_is_forgotten_and_nothing_else(memory: Memory, folder: Path) -> None:
    write(folder / "a.md", "The tide turns at noon.\n")
    Loader(Root("former", folder), memory).run()
    Loader(Root("notes", folder), memory).run()
    memory.load_document("own.md", "Loaded by hand.\n")
    memory.change_documents([Document("host.md", "Loaded by a host.\n", source={"source_root": "workspace"})])
    assert forget_other_roots(memory, [Root("notes", folder)]) == ("former/a.md",)
    assert list(memory.documents()) == ["notes/a.md", "own.md", "host.md"]


@pytest.mark.slow
def test_ten_thousand_files_are_read_in_bounded_time_and_then_cost_almost_nothing(
    memory: Memory, folder: Path, loader: Loader
) -> None:
    for number in range(10_000):
        path = folder / f"{number % 100:02d}" / f"{number}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# Note {number}\n\nBerth {number} is kept by crew {number % 97}.\n", "utf-8")
        os.utime(path, (1, 1))
    started = time.monotonic()
    report = loader.run()
    first_s = time.monotonic() - started
    assert len(report.added) == report.documents == 10_000 and report.problems == ()
    started = time.monotonic()
    (folder / "42").rename(folder / "moved")
    (folder / "07" / "107.md").unlink()
    write(folder / "00" / "0.md", "Changed.\n")
    again = loader.run()
    assert (len(again.moved), again.changed, again.removed) == (100, ["00/0.md"], ["07/107.md"])
    assert first_s < 300 and time.monotonic() - started < 30


# ── diaries ──────────────────────────────────────────────────────────────────────────────────────────────────────

NIGHT = "# Dreams\n\n- The harbour froze over at noon. {score=.9 recall=3 unique=2}\n"


def dreams(memory: Memory) -> list[str]:
    return [record.text for record in memory.store.page("dream:ada").records]


def test_a_diary_is_promoted_when_it_changes_and_keeps_its_dreams_when_it_goes(memory: Memory, folder: Path) -> None:
    told: list[int] = []
    root = Root("dreams", folder, "dreams", user="ada")
    loader = DiaryLoader(root, memory.store, memory.masking, promoted=lambda: told.append(1))
    diary = write(folder / "DREAMS.md", NIGHT)
    assert did(loader.run()) == (["DREAMS.md"], [], [], []) and dreams(memory) == ["The harbour froze over at noon."]
    assert did(loader.run()) == NOTHING
    write(diary, NIGHT.replace("froze over", "thawed"))
    assert did(loader.run()) == ([], ["DREAMS.md"], [], []) and dreams(memory) == ["The harbour thawed at noon."]
    write(diary, NIGHT.replace(".9", ".1"))
    report = loader.run()
    assert "promotes nothing" in report.problems[0].reason and dreams(memory) == ["The harbour thawed at noon."]
    diary.unlink()
    assert loader.run().problems == () and dreams(memory) == ["The harbour thawed at noon."]
    assert told == [1, 1]


def test_a_restart_promotes_nothing_anew(memory: Memory, folder: Path) -> None:
    write(folder / "DREAMS.md", NIGHT)
    root = Root("dreams", folder, "dreams", user="ada")
    DiaryLoader(root, memory.store, memory.masking).run()
    before = memory.status().store.sequence
    assert did(DiaryLoader(root, memory.store, memory.masking).run()) == NOTHING
    assert memory.status().store.sequence == before


# ── settings ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_roots_have_names_and_leave_each_other_alone(tmp_path: Path) -> None:
    outer, inner, diary = tmp_path / "work", tmp_path / "work" / "vault", tmp_path / "work" / "DREAMS.md"
    settings = SourcesSettings(
        root_paths=(str(outer),),
        vault_paths=(f"mine={inner}",),
        diary_path=str(diary),
        diary_user="ada",
        tags=("memory",),
    )
    work, mine, dreaming = settings.roots()
    assert (work.name, work.kind, work.tags, work.apart) == ("work", "markdown", (), {inner, diary})
    assert (mine.name, mine.kind, mine.tags, mine.apart) == ("mine", "obsidian", ("memory",), frozenset())
    assert (dreaming.kind, dreaming.path, dreaming.user) == ("dreams", outer, "ada")
    assert dreaming.selection.takes("DREAMS.md") and not dreaming.selection.takes("other.md")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"root_paths": ("/a/notes", "/b/notes")}, "two roots have the name 'notes'"),
        ({"root_paths": ("x=/a", "y=/a")}, "two roots are '/a'"),
        ({"root_paths": ("x=",)}, "names no folder"),
        ({"diary_path": "/a/DREAMS.md"}, "sources.diary_user"),
        ({"include": ("[z-a].md",)}, "sources.include"),
        ({"max_file_kb": 0}, "sources.max_file_kb"),
        ({"poll_s": float("nan")}, "sources.poll_s"),
        ({"debounce_ms": True}, "sources.debounce_ms"),
    ],
)
def test_settings_that_make_no_sense_are_refused_by_name(given: dict[str, object], named: str) -> None:
    with pytest.raises(ConfigError) as caught:
        SourcesSettings(**given)  # type: ignore[arg-type]
    assert named in str(caught.value)


# ── any history of files ─────────────────────────────────────────────────────────────────────────────────────────

PLACES = ("a.md", "b.md", "x/a.md", "x/y/c.md", "z/MEMORY.md")
steps = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(PLACES), st.sampled_from(["One.", "Two.", "Three."])),
    st.tuples(st.just("delete"), st.sampled_from(PLACES), st.just("")),
    st.tuples(st.just("move"), st.sampled_from(PLACES), st.sampled_from(PLACES)),
    st.tuples(st.just("spoil"), st.sampled_from(PLACES), st.just("")),
    st.tuples(st.just("pass"), st.just(""), st.just("")),
    st.tuples(st.just("restart"), st.just(""), st.just("")),
)


def take_step(folder: Path, what: str, place: str, other: str) -> None:
    path = folder / place
    if what == "write":
        write(path, other)
    elif what == "delete":
        path.unlink(missing_ok=True)
    elif what == "move" and path.exists():
        (folder / other).parent.mkdir(parents=True, exist_ok=True)
        path.rename(folder / other)
    elif what == "spoil" and path.exists():
        path.write_bytes(b"\0")


def readable(folder: Path) -> dict[str, str]:
    files = {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*.md")}
    return {path: text for path, text in files.items() if text != "\0"}


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@example(history=[("write", "a.md", "One."), ("pass", "", ""), ("write", "a.md", "Two.")])
@example(history=[("write", "a.md", "One."), ("restart", "", ""), ("pass", "", ""), ("move", "a.md", "x/a.md")])
@given(history=st.lists(steps, min_size=1, max_size=25))
def test_after_any_history_the_documents_are_the_readable_files(
    memory: Memory, tmp_path_factory: pytest.TempPathFactory, history: list[tuple[str, str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("root")
    root = Root(folder.name, folder)
    loader = Loader(root, memory)
    for what, place, other in history:
        take_step(folder, what, place, other)
        if what == "restart":
            loader = Loader(root, memory)
        elif what == "pass":
            loader.run()
    loader.run()
    expected = readable(folder)
    kept = {name.removeprefix(f"{root.name}/") for name in memory.sourced_documents(root.name)}
    texts = {name: found.nodes[0].text for name, found in memory.documents().items()}
    assert {path: texts[f"{root.name}/{path}"] for path in expected} == expected
    assert kept - set(expected) <= {path.relative_to(folder).as_posix() for path in folder.rglob("*.md")}
    assert not loader.run().did_something and memory.verify().ok
    memory.change_documents(remove=list(memory.sourced_documents(root.name)))
