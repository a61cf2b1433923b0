"""sources: listed, and read once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.serve.process import Daemons, short_folder

Run: TypeAlias = Callable[..., Any]


@pytest.fixture
def notes(tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "harbour.md").write_text("# Harbour\n\nThe harbour master is called Runa Skov.\n")
    (folder / "MEMORY.md").write_text("- Answer in metric units.\n")
    monkeypatch.setenv("LIBRAVDB_SOURCES_ROOT_PATHS", str(folder))
    return folder


def test_a_scan_reads_what_changed_and_tells_it(cli: Run, notes: Path) -> None:
    first = cli("sources", "scan")
    assert first.code == 0 and "added    MEMORY.md" in first.out and "added    harbour.md" in first.out
    assert "Answer in metric units." in cli("context", "--prompt", "x").out
    assert "nothing changed" in cli("sources", "scan").out
    (notes / "harbour.md").rename(notes / "port.md")
    (notes / "MEMORY.md").unlink()
    told = json.loads(cli("sources", "scan", "--json").out)["sources"]["notes"]
    assert told["moved"] == [["harbour.md", "port.md"]] and told["removed"] == ["MEMORY.md"] and not told["added"]


def test_what_cannot_be_read_is_told_and_is_a_problem(cli: Run, notes: Path) -> None:
    (notes / "binary.md").write_bytes(b"\x00\xff")
    result = cli("sources", "scan")
    assert result.code == 1 and "binary.md: " in result.out and "harbour.md" in result.out


def test_a_root_that_is_gone_is_told(cli: Run, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIBRAVDB_SOURCES_ROOT_PATHS", f"{notes},lost={notes}-away")
    assert cli("sources", "scan").code == 1
    listed = cli("sources", "list")
    assert "there is no such folder" in listed.out and "2 documents" in listed.out
    told = json.loads(cli("sources", "list", "--json").out)["sources"]
    assert [(each["name"], each["missing"], each["documents"]) for each in told] == [
        ("notes", False, 2),
        ("lost", True, 0),
    ]


def test_roots_are_listed_before_there_is_a_store(cli: Run, notes: Path, tmp_path: Path) -> None:
    result = cli("sources", "list")
    assert result.code == 0 and str(notes) in result.out and "not watched" in result.out
    assert not (tmp_path / "store.libravdb").exists()


def test_without_roots_it_says_where_they_are_set(cli: Run) -> None:
    for command in ("list", "scan"):
        result = cli("sources", command)
        assert result.code == 0 and "sources.root_paths" in result.err


def test_a_daemon_tells_how_it_watches(cli: Run, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with short_folder() as folder:
        daemons = Daemons(folder / "home")
        try:
            daemon = daemons(SOURCES_ROOT_PATHS=str(notes))
            monkeypatch.setenv("LIBRAVDB_HOME", str(daemons.home))
            monkeypatch.setenv("LIBRAVDB_DB_PATH", str(daemons.home / "data.libravdb"))
            assert cli("sources", "scan").code == 0
            (told,) = json.loads(cli("sources", "list", "--json").out)["sources"]
            assert told["mode"] in ("starting", "watching", "polling") and told["documents"] == 2
            assert daemon.stop() == 0
        finally:
            daemons.end()
