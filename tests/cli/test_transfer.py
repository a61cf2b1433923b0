"""export, import, backup, restore through the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Run: TypeAlias = Callable[..., Any]

TURNS = "".join(
    json.dumps({"text": f"turn {n} about {word}", "user": f"u{n % 3}", "session": f"s{n % 5}", "id": f"t{n}", "ts": n})
    + "\n"
    for n, word in enumerate(["apples", "naïve ducks 🦆", "中文", "tabs\tand\nlines"] * 6)
)


@pytest.fixture
def filled(cli: Run) -> str:
    """A store with turns in it; its export."""
    assert cli("add", "--jsonl", "-", stdin=TURNS).code == 0
    result = cli("export", "-")
    assert result.code == 0
    return str(result.out)


def test_export_and_import_round_trip_byte_for_byte(cli: Run, filled: str, tmp_path: Path) -> None:
    other = tmp_path / "other.libravdb"
    assert cli("--db", other, "import", "-", stdin=filled).code == 0
    assert cli("--db", other, "export", "-").out == filled
    assert sum('"type":"mark"' not in line for line in filled.splitlines()) == 24 + 3 + 2


def test_a_pipe_between_two_processes_carries_everything(libravdb: Run, filled: str, tmp_path: Path) -> None:
    exported = libravdb("export", "-")
    assert exported.out == filled
    imported = libravdb("import", "-", "--db", tmp_path / "folder", "--json", stdin=exported.out)
    report = json.loads(imported.out)
    assert (report["records"], report["added"], report["edges"]) == (24, 24, 0)
    assert libravdb("export", "-", LIBRAVDB_DB_PATH=str(tmp_path / "folder")).out == filled


def test_export_to_a_file_leaves_nothing_else_behind(cli: Run, filled: str, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    assert cli("export", folder / "all.jsonl").code == 0
    assert [file.name for file in folder.iterdir()] == ["all.jsonl"]
    assert (folder / "all.jsonl").read_text("utf-8") == filled


def test_export_to_an_impossible_place_is_one_line(cli: Run, filled: str, tmp_path: Path) -> None:
    result = cli("export", tmp_path / "missing" / "all.jsonl", "--quiet")
    assert result.code == 2 and result.err.count("\n") == 1 and "cannot be written" in result.err


def test_importing_twice_adds_nothing(cli: Run, filled: str) -> None:
    assert json.loads(cli("import", "-", "--json", stdin=filled).out)["added"] == 0


def test_an_import_can_be_searched_at_once(cli: Run, filled: str, tmp_path: Path) -> None:
    cli("--db", tmp_path / "new", "import", "-", stdin=filled)
    document = json.loads(cli("--db", tmp_path / "new", "search", "ducks", "--user", "u1", "--json").out)
    assert document["hits"] and document["degraded"] == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "".join(text.splitlines(keepends=True)[:-1]),
        lambda text: text.replace("turn 7", "turn 8"),
        lambda text: "".join(line for line in text.splitlines(keepends=True) if '"t3"' not in line),
        lambda text: '{"format": "something-else"}\n',
        lambda text: "",
        lambda text: "plain prose\n",
    ],
    ids=["cut", "no end", "changed", "line gone", "foreign", "empty", "prose"],
)
def test_a_damaged_export_is_refused_with_its_line(
    cli: Run, filled: str, tmp_path: Path, damage: Callable[[str], str]
) -> None:
    result = cli("--db", tmp_path / "other", "--quiet", "import", "-", stdin=damage(filled))
    assert result.code == 2 and "import line" in result.err and result.err.count("\n") == 1


def test_a_line_that_is_nested_too_deeply_is_refused(cli: Run) -> None:
    result = cli("import", "-", "--quiet", stdin="[" * 100_000)
    assert result.code == 2 and result.err.count("\n") == 1


def test_binary_rubbish_is_refused(cli: Run, tmp_path: Path) -> None:
    file = tmp_path / "rubbish"
    file.write_bytes(bytes(range(256)) * 100)
    result = cli("import", file, "--quiet")
    assert result.code == 2 and "not UTF-8" in result.err and result.err.count("\n") == 1


@pytest.mark.parametrize("command", ["import", "restore"])
def test_a_missing_file_is_a_usage_error(cli: Run, command: str) -> None:
    result = cli(command, "no-such-file")
    assert result.code == 2 and "no-such-file" in result.err


# ── backup and restore ───────────────────────────────────────────────────────────────────────────────────────────


def test_a_backup_restores_what_was_there(cli: Run, filled: str, tmp_path: Path) -> None:
    assert cli("backup", tmp_path / "copy.bak").code == 0
    cli("erase", "--user", "u1", "--yes")
    assert cli("export", "-").out != filled
    assert cli("restore", tmp_path / "copy.bak", "--yes").code == 0
    assert cli("export", "-").out == filled
    assert cli("verify").code == 0


def test_a_restore_to_a_new_place_asks_nothing(cli: Run, filled: str, tmp_path: Path) -> None:
    cli("backup", tmp_path / "copy.bak")
    assert cli("--db", tmp_path / "new", "restore", tmp_path / "copy.bak").code == 0
    assert cli("--db", tmp_path / "new", "export", "-").out == filled


def test_a_restore_over_a_store_needs_a_yes(cli: Run, filled: str, tmp_path: Path) -> None:
    cli("backup", tmp_path / "copy.bak")
    cli("add", "later", "--user", "u1", "--id", "later")
    assert cli("restore", tmp_path / "copy.bak", stdin="y\n").code == 2
    assert cli("get", "later").code == 0


def test_a_file_that_is_no_backup_is_refused_and_the_store_stays(cli: Run, filled: str, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Sir or Madam" * 100)
    result = cli("restore", tmp_path / "letter.txt", "--yes")
    assert result.code == 5 and "not a LibraVDB Memory store" in result.err
    assert cli("export", "-").out == filled


def test_a_backup_never_overwrites_a_foreign_file(cli: Run, filled: str, tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear Sir or Madam")
    assert cli("backup", letter).code == 5
    assert letter.read_text() == "Dear Sir or Madam"


def test_an_export_never_takes_the_place_of_a_store_or_a_backup(cli: Run, tmp_path: Path) -> None:
    store = tmp_path / "precious.libravdb"
    assert cli("--db", str(store), "add", "kept", "--user", "ada").code == 0
    before = store.read_bytes()
    refused = cli("--db", str(store), "export", str(store))
    assert refused.code == 2
    assert "is a database" in refused.err
    assert store.read_bytes() == before


def test_an_export_follows_a_link_and_writes_through_a_device(cli: Run, tmp_path: Path) -> None:
    store, target, link = tmp_path / "s.libravdb", tmp_path / "real.jsonl", tmp_path / "link.jsonl"
    cli("--db", str(store), "add", "kept", "--user", "ada")
    link.symlink_to(target)
    assert cli("--db", str(store), "export", str(link)).code == 0
    assert link.is_symlink()
    assert "kept" in target.read_text()
    assert cli("--db", str(store), "export", "/dev/null").code == 0
    assert not Path("/dev/null").is_file()
