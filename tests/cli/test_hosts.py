"""journal, flush, dream-promote, and commands that want the file to themselves."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.serve.process import Daemons, short_folder

from libravdb_memory.journal import Journal
from libravdb_memory.model import Draft
from libravdb_memory.store.protocol import Put
from libravdb_memory.store.sqlite.store import SqliteStore

Run: TypeAlias = Callable[..., Any]
DIARY = """# Diary

## Deep sleep

- Ada reviews every migration by hand before it runs. {score=.82 recall=3 unique=2}
- Ada keeps a paper map of the coast in her desk. {score=.7 recall=2 unique=2}
- Too weak to keep, this one here. {score=.2 recall=3 unique=2}
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store.libravdb"


# ── journal ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_journal_lists_what_hosts_told_oldest_first(cli: Run, store: Path) -> None:
    with closing(SqliteStore.open(store)) as opened:
        for number in range(4):
            facts = {"reason": "idle\x1b[31m", "messageCount": number}
            Journal(opened).append(f"s{number % 2}", "session_end", facts, number * 60_000)
    lines = cli("journal").out.splitlines()
    assert [line.split("messageCount=")[1][0] for line in lines] == ["0", "1", "2", "3"]
    assert "\x1b" not in "".join(lines) and max(map(len, lines)) <= 80
    assert len(cli("journal", "--limit", "1").out.splitlines()) == 1 and "=3 " in cli("journal", "--limit", "1").out
    entries = json.loads(cli("journal", "--session-id", "s1", "--json").out)["entries"]
    assert [(entry["session"], entry["facts"]["messageCount"]) for entry in entries] == [("s1", 1), ("s1", 3)]
    assert {"id", "ts", "hook"} < entries[0].keys()


def test_an_empty_journal_says_so(cli: Run) -> None:
    cli("add", "hello", "--user", "ada")
    result = cli("journal")
    assert (result.code, result.out) == (0, "") and "empty" in result.err
    assert json.loads(cli("journal", "--json").out) == {"entries": []}


# ── flush ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_flush_erases_exactly_one_user(cli: Run) -> None:
    for user in ("u1", "u10"):
        cli("add", f"the xylophone of {user}", "--user", user, "--id", user)
    cli("add", "by a key", "--user", "session-key:k1", "--id", "k")
    result = cli("flush", "--user-id", "u1", "--yes", "--json")
    told = json.loads(result.out)
    assert result.code == 0 and told["namespace"] == "u1" and told["records"] >= 1
    assert cli("get", "u1").code == 3 and cli("get", "u10").code == 0
    assert json.loads(cli("flush", "--session-key", "k1", "-y", "--json").out)["namespace"] == "session-key:k1"
    assert cli("get", "k").code == 3


def test_a_flush_takes_what_hosts_copied_too(cli: Run, store: Path) -> None:
    cli("add", "hello", "--user", "ada")
    with closing(SqliteStore.open(store)) as opened:
        opened.commit([Put(Draft("user:ada", "ada:t1", "a xylophone")), Put(Draft("user:adam", "adam:t1", "a flute"))])
    assert cli("flush", "--user", "ada", "--yes").code == 0
    with closing(SqliteStore.open(store)) as opened:
        texts = [record.text for info in opened.collections() for record in opened.page(info.name).records]
    assert "a flute" in texts and "a xylophone" not in texts and "hello" not in texts


def test_a_flush_of_nothing_is_no_error(cli: Run) -> None:
    cli("add", "hello", "--user", "ada")
    result = cli("flush", "--user", "nobody", "--yes")
    assert result.code == 0 and "there was nothing" in result.err


@pytest.mark.parametrize("arguments", [[], ["--user", " "], ["--yes"]])
def test_a_flush_needs_a_name(cli: Run, arguments: list[str]) -> None:
    assert cli("flush", *arguments).code == 2


def test_without_a_terminal_a_flush_is_refused_unless_confirmed(cli: Run) -> None:
    cli("add", "hello", "--user", "ada", "--id", "h")
    result = cli("flush", "--user", "ada")
    assert result.code == 2 and "--yes" in result.err and "1 turn" in result.err
    assert cli("get", "h").code == 0


# ── dreams ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_diary_is_promoted_and_a_new_version_replaces_the_old(cli: Run, tmp_path: Path) -> None:
    diary = tmp_path / "DREAMS.md"
    diary.write_text(DIARY)
    result = cli("dream-promote", diary, "--user", "ada")
    assert result.code == 0 and result.out == "line 7: score 0.2 is below 0.6\n"
    assert "2 promoted, 1 rejected" in result.err
    assert "paper map" in cli("context", "--prompt", "What did you dream of, a map?", "--user", "ada").out
    again = json.loads(cli("dream-promote", diary, "--user-id", "ada", "--json").out)
    assert (again["promoted"], again["changed"], len(again["rejected"])) == (2, False, 1)
    diary.write_text(
        DIARY.replace("- Ada keeps a paper map of the coast in her desk. {score=.7 recall=2 unique=2}\n", "")
    )
    assert json.loads(cli("dream-promote", diary, "--user", "ada", "--json").out)["promoted"] == 1
    assert "paper map" not in cli("context", "--prompt", "What did you dream of, a map?", "--user", "ada").out


def test_a_diary_that_promotes_nothing_leaves_what_was_there(cli: Run, tmp_path: Path) -> None:
    diary = tmp_path / "DREAMS.md"
    diary.write_text(DIARY)
    cli("dream-promote", diary, "--user", "ada")
    diary.write_text("# Diary\n\nA quiet night.\n")
    result = cli("dream-promote", diary, "--user", "ada")
    assert result.code == 0 and "before stays" in result.err
    assert "paper map" in cli("context", "--prompt", "What did you dream of, a map?", "--user", "ada").out


def test_a_diary_that_is_watched_and_promoted_by_hand_is_one_diary(
    cli: Run, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "DREAMS.md").write_text(DIARY)
    monkeypatch.setenv("LIBRAVDB_SOURCES_DIARY_PATH", str(tmp_path / "linked" / "DREAMS.md"))
    monkeypatch.setenv("LIBRAVDB_SOURCES_DIARY_USER", "ada")
    assert cli("sources", "scan").code == 0
    monkeypatch.chdir(tmp_path / "linked")
    told = json.loads(cli("dream-promote", "DREAMS.md", "--user", "ada", "--json").out)
    assert (told["promoted"], told["changed"]) == (2, False)
    with closing(SqliteStore.open(store)) as opened:
        assert {record.group for record in opened.page("dream:ada").records} == {told["file"]}


def test_a_diary_needs_an_owner_and_must_be_text(cli: Run, tmp_path: Path) -> None:
    diary = tmp_path / "DREAMS.md"
    diary.write_bytes(b"- \xff\n")
    assert cli("dream-promote", diary).code == 2
    assert "not UTF-8" in cli("dream-promote", diary, "--user", "ada").err
    assert cli("dream-promote", tmp_path / "nowhere.md", "--user", "ada").code == 2


# ── the file to themselves ───────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]) -> Iterator[Daemons]:
    """A daemon that has the store of the command line open."""
    with short_folder() as folder:
        started = Daemons(folder / "home")
        try:
            monkeypatch.setenv("LIBRAVDB_HOME", str(started.home))
            monkeypatch.setenv("LIBRAVDB_DB_PATH", str(started.home / "data.libravdb"))
            yield started
        finally:
            started.end()


def test_what_needs_the_file_to_itself_says_how_to_get_it(cli: Run, served: Daemons, tmp_path: Path) -> None:
    daemon = served()
    cli("add", "hello", "--user", "ada", "--id", "h")
    assert cli("backup", tmp_path / "copy.bak").code == 0
    for arguments in (["restore", tmp_path / "copy.bak", "--yes"], ["export", "--salvage", tmp_path / "x.jsonl"]):
        result = cli(*arguments)
        assert result.code == 5 and f"a daemon (process {daemon.pid}) has this store open" in result.err
        assert "stop it with 'libravdb daemon stop'" in result.err
    assert daemon.stop() == 0
    assert cli("restore", tmp_path / "copy.bak", "--yes").code == 0 and cli("get", "h").out == "hello\n"


def test_a_daemon_goes_on_with_its_own_model(cli: Run, served: Daemons, monkeypatch: pytest.MonkeyPatch) -> None:
    daemon = served()
    cli("add", "hello", "--user", "ada")
    monkeypatch.setenv("LIBRAVDB_EMBEDDING_BACKEND", "bundled")
    result = cli("reindex")
    assert result.code == 5 and f"process {daemon.pid}" in result.err and "hashed" in result.err
    assert cli("search", "hello", "--user", "ada").code == 0, "all else is answered with the daemon's"


def test_a_relative_path_of_a_backup_is_that_of_the_command(
    cli: Run, served: Daemons, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served()
    cli("add", "hello", "--user", "ada")
    monkeypatch.chdir(tmp_path)
    result = cli("backup", "here.bak", "--json")
    assert result.code == 0 and (tmp_path / "here.bak").stat().st_size == json.loads(result.out)["bytes"]


def test_a_store_of_another_place_is_opened_as_ever_while_the_daemon_runs(
    cli: Run, served: Daemons, tmp_path: Path
) -> None:
    served()
    other = tmp_path / "other.libravdb"
    result = cli("--db", other, "-v", "add", "elsewhere", "--user", "ada", "--id", "e")
    assert result.code == 0 and "asking the daemon" not in result.err
    assert cli("get", "e").code == 3 and cli("--db", other, "get", "e").code == 0
