"""A root as it is: links, pipes, strange bytes and things that vanish."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from libravdb_memory.sources.reading import Content, Unreadable, read_file
from libravdb_memory.sources.scan import Scan, scan
from libravdb_memory.sources.selection import Selection
from libravdb_memory.sources.settings import Root

as_user = pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="the superuser may read everything")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "notes"
    made.mkdir()
    return made


def write(path: Path, text: str = "text") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def scanned(folder: Path, **more: object) -> Scan:
    return scan(Root("notes", folder, **more))  # type: ignore[arg-type]


def reasons(found: Scan) -> dict[str, str]:
    return {problem.path: problem.reason for problem in found.problems}


def test_files_are_found_in_the_order_of_their_names_and_hidden_ones_are_not(folder: Path) -> None:
    for name in ("b.md", "a/z.md", "a.md", ".hidden.md", ".git/x.md", "c.txt"):
        write(folder / name)
    found = scanned(folder)
    assert list(found.files) == ["a.md", "a/z.md", "b.md"]
    assert found.folders == (os.path.realpath(folder), os.path.realpath(folder / "a"))


def test_loops_of_links_end(folder: Path) -> None:
    write(folder / "a" / "b" / "note.md")
    (folder / "a" / "b" / "up").symlink_to(folder, target_is_directory=True)
    (folder / "a" / "self").symlink_to("self")
    (folder / "loop.md").symlink_to("loop.md")
    found = scanned(folder)
    assert list(found.files) == ["a/b/note.md"] and found.unknown == ()
    assert reasons(found) == {"loop.md": "is a link that leads nowhere"}


def test_a_link_inside_the_root_shows_a_file_once_under_its_real_name(folder: Path) -> None:
    write(folder / "real" / "note.md")
    write(folder / "source.txt")
    (folder / "a-link").symlink_to(folder / "real", target_is_directory=True)
    (folder / "again.md").symlink_to(folder / "real" / "note.md")
    (folder / "named.md").symlink_to(folder / "source.txt")
    assert list(scanned(folder).files) == ["named.md", "real/note.md"]


def test_a_link_never_leads_out_of_the_root(folder: Path, tmp_path: Path) -> None:
    secret = write(tmp_path / "elsewhere" / "secret.md", "the key")
    (folder / "secret.md").symlink_to(secret)
    (folder / "out").symlink_to(secret.parent, target_is_directory=True)
    (folder / "gone.md").symlink_to(tmp_path / "never")
    found = scanned(folder)
    assert found.files == {}
    assert reasons(found) == {
        "secret.md": "is a link that leads out of the root",
        "out": "is a link that leads out of the root",
        "gone.md": "is a link that leads nowhere",
    }


def test_a_root_that_is_itself_a_link_is_entered(folder: Path, tmp_path: Path) -> None:
    write(folder / "a.md")
    (tmp_path / "link").symlink_to(folder, target_is_directory=True)
    assert list(scanned(tmp_path / "link").files) == ["a.md"]


def test_what_belongs_to_another_root_is_left_out(folder: Path) -> None:
    write(folder / "a.md")
    write(folder / "inner" / "b.md")
    diary = write(folder / "DREAMS.md")
    assert list(scanned(folder, apart=frozenset({folder / "inner", diary})).files) == ["a.md"]


def test_an_excluded_folder_is_not_even_looked_into(folder: Path) -> None:
    write(folder / "node_modules" / "x" / "a.md")
    found = scanned(folder, selection=Selection(exclude=("node_modules/",)))
    assert found.files == {} and len(found.folders) == 1


def test_a_root_that_is_not_there_or_is_a_file_is_missing(folder: Path) -> None:
    assert scanned(folder / "never").missing
    assert scanned(write(folder / "a.md")).missing
    assert not scanned(folder).missing


def test_a_file_name_that_is_no_text_is_reported(folder: Path) -> None:
    try:
        Path(os.fsdecode(os.fsencode(folder) + b"/bad\xff.md")).write_text("x")
    except OSError:
        pytest.skip("this file system takes only names that are text")
    write(folder / "good.md")
    found = scanned(folder)
    assert list(found.files) == ["good.md"] and list(reasons(found)) == ["bad�.md"]


def test_beyond_the_bound_files_are_reported_and_none_counts_as_gone(folder: Path) -> None:
    for number in range(5):
        write(folder / f"{number}.md")
    found = scan(Root("notes", folder), most_files=3)
    assert len(found.files) == 3 and not found.tells_of("4.md")
    assert "more files than can be read" in reasons(found)[""]


@as_user
def test_a_folder_that_cannot_be_read_makes_its_files_unknown_not_gone(folder: Path) -> None:
    write(folder / "shut" / "a.md")
    write(folder / "b.md")
    (folder / "shut").chmod(0)
    try:
        found = scanned(folder)
    finally:
        (folder / "shut").chmod(0o700)
    assert list(found.files) == ["b.md"] and reasons(found) == {"shut": "permission denied"}
    assert not found.tells_of("shut/a.md") and found.tells_of("c.md")


@as_user
def test_a_file_that_may_not_be_read_says_so(folder: Path) -> None:
    path = write(folder / "a.md")
    path.chmod(0)
    content = read_file(str(path), 100)
    assert isinstance(content, Unreadable) and content.reason == "permission denied"


def test_a_folder_that_vanishes_while_it_is_walked_is_survived(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a/1.md", "b/2.md", "c/3.md"):
        write(folder / name)
    real = os.scandir

    def scandir(place: str | int) -> object:
        if str(place).endswith("/a"):
            shutil.rmtree(folder / "b")
        return real(place)

    monkeypatch.setattr("libravdb_memory.sources.scan.os.scandir", scandir)
    found = scanned(folder)
    assert list(found.files) == ["a/1.md", "c/3.md"] and found.problems == () and found.tells_of("b/2.md")


def test_a_root_that_vanishes_while_it_is_walked_is_missing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder / "a" / "1.md")
    real = os.scandir

    def scandir(place: str | int) -> object:
        if str(place).endswith("/a"):
            shutil.rmtree(folder)
        return real(place)

    monkeypatch.setattr("libravdb_memory.sources.scan.os.scandir", scandir)
    assert scanned(folder).missing


# ── one file ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"\x89PNG\x00\x00", "is binary"),
        ("utf-16".encode("utf-16"), "is binary"),
        (b"caf\xe9", "is not UTF-8 at byte 3"),
        (b"x" * 101, "has 101 bytes; at most 100 are read"),
    ],
)
def test_what_is_not_text_has_a_reason(folder: Path, raw: bytes, reason: str) -> None:
    (folder / "a.md").write_bytes(raw)
    content = read_file(str(folder / "a.md"), 100)
    assert isinstance(content, Unreadable) and content.reason == reason


def test_a_file_of_exactly_the_bound_is_read(folder: Path) -> None:
    (folder / "a.md").write_bytes(b"x" * 100)
    content = read_file(str(folder / "a.md"), 100)
    assert isinstance(content, Content) and content.text == "x" * 100 and content.hash.startswith("sha256:")


def test_a_file_that_is_gone_is_no_problem(folder: Path) -> None:
    assert read_file(str(folder / "never.md"), 100) is None
    assert read_file(str(write(folder / "a.md") / "below.md"), 100) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_refused_at_once(folder: Path) -> None:
    os.mkfifo(folder / "pipe.md")
    content = read_file(str(folder / "pipe.md"), 100)
    assert isinstance(content, Unreadable) and content.reason == "is not a regular file"


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="links cannot be refused here")
def test_a_link_that_took_the_place_of_a_file_is_not_followed(folder: Path) -> None:
    write(folder / "target.md")
    (folder / "a.md").symlink_to("target.md")
    assert isinstance(read_file(str(folder / "a.md"), 100), Unreadable)
