"""status, doctor, verify, reindex through the command line."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from libravdb_memory import doctor
from libravdb_memory.engines.select import EmbeddingSettings, make_embedder
from libravdb_memory.model import Draft
from libravdb_memory.store.protocol import Put
from libravdb_memory.store.sqlite.store import SqliteStore

Run: TypeAlias = Callable[..., Any]


@pytest.fixture
def store(cli: Run, tmp_path: Path) -> Path:
    for n in range(3):
        assert cli("add", f"turn number {n}", "--user", "ada", "--id", f"t{n}").code == 0
    return tmp_path / "store.libravdb"


def findings(cli: Run, *arguments: str) -> dict[str, list[dict[str, str]]]:
    grouped: dict[str, list[dict[str, str]]] = {}
    for finding in json.loads(cli("doctor", "--json", *arguments).out)["findings"]:
        grouped.setdefault(finding["subject"], []).append(finding)
    return grouped


def only_problem(cli: Run, *arguments: str) -> dict[str, str]:
    assert cli("doctor", *arguments).code == 1
    [problem] = [
        finding for group in findings(cli, *arguments).values() for finding in group if finding["mark"] == "problem"
    ]
    assert problem["remedy"]
    return problem


def test_status_counts_what_is_stored(cli: Run, store: Path) -> None:
    status = json.loads(cli("status", "--json").out)
    assert (status["turns"], status["namespaces"], status["path"]) == (3, 1, str(store))
    out = cli("status").out
    assert "3 in 1 namespace" in out and str(store) in out
    assert "3 of 3 texts" in out and "0 kept word by word" in out


def test_status_counts_kept_rules_and_no_bookkeeping(cli: Run, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIBRAVDB_ASSEMBLY_TAIL_SHARE", "0")
    assert cli("add", "Always answer in English.", "--user", "ada", "--session", "s").code == 0
    for n in range(12):
        assert cli("add", f"Build {n} failed.", "--user", "ada", "--session", "s", "--role", "assistant").code == 0
    assert cli("compact", "s", "--user", "ada").code == 0
    status = json.loads(cli("status", "--json").out)
    assert (status["turns"], status["rules"]) == (16, 1) and "1 kept word by word" in cli("status").out
    assert status["texts"] == status["turns"] + status["rules"] + status["summaries"] < status["store"]["records"]
    assert f"{status['texts']} of {status['texts']} texts" in cli("status").out
    assert cli("erase", "--user", "ada", "--yes").code == 0
    assert "0 of 0 texts" in cli("status").out


def test_status_and_doctor_tell_one_size(cli: Run, store: Path) -> None:
    with closing(SqliteStore.open(store)) as opened:
        opened.commit([Put(Draft("notes", "n", "n " * 300_000, {}))])
        size = opened.status().bytes_on_disk
        assert store.stat().st_size < size / 2, "most of it is in the log"
        told = findings(cli)["data"][0]["detail"]
        assert f"{size / 1e6:.1f} MB" in told, told


def test_verify_of_a_sound_store_passes(cli: Run, store: Path) -> None:
    assert cli("verify").code == 0
    assert json.loads(cli("verify", "--json").out)["ok"] is True


def test_verify_of_a_tampered_store_fails_and_names_the_record(cli: Run, store: Path) -> None:
    tamper(store, "turn number 1", "turn number 9")
    result = cli("verify")
    assert result.code == 1 and "→ libravdb" in result.out
    assert json.loads(cli("verify", "--json").out)["ok"] is False


def test_a_remedy_names_the_store_that_was_looked_at(cli: Run, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = ("--db", str(store))
    tamper(store, "turn number 1", "turn number 9")
    assert f"→ libravdb --db {store} " in cli("verify", *here).out
    assert "--db" not in cli("verify").out
    monkeypatch.setenv("LIBRAVDB_EMBEDDING_DIMENSIONS", "64")
    assert f"→ libravdb --db {store} reindex, or set" in " ".join(cli("doctor", *here).out.split())


def tamper(store: Path, old: str, new: str) -> None:
    """Change text behind the store's back, in the bytes of the file."""
    with sqlite3.connect(store) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    raw = store.read_bytes()
    assert old.encode() in raw
    store.write_bytes(raw.replace(old.encode(), new.encode()))


def test_reindex_moves_a_store_to_another_model(cli: Run, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIBRAVDB_EMBEDDING_DIMENSIONS", "64")
    refused = cli("search", "turn", "--user", "ada")
    assert refused.code == 6 and "libravdb reindex" in refused.err
    assert only_problem(cli)["subject"] == "embedding"
    assert cli("verify").code == 0, "checking needs no model"
    assert cli("export", "-").code == 0, "leaving needs no model"
    assert cli("reindex").code == 0
    document = json.loads(cli("search", "turn number", "--user", "ada", "--json").out)
    assert len(document["hits"]) == 3 and document["degraded"] == []
    assert cli("doctor").code == 0


def test_reindex_of_the_indexes_alone_keeps_everything(cli: Run, store: Path) -> None:
    before = cli("export", "-").out
    assert cli("reindex", "--indexes").code == 0
    assert cli("export", "-").out == before
    assert len(json.loads(cli("search", "turn", "--user", "ada", "--json").out)["hits"]) == 3


# ── doctor ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_doctor_finds_nothing_wrong_before_the_first_use(cli: Run, tmp_path: Path) -> None:
    result = cli("doctor")
    assert result.code == 0 and "no store" in result.out and "no problems found" in result.err
    assert list(tmp_path.iterdir()) == [], "looking makes nothing"


def test_doctor_finds_nothing_wrong_with_a_sound_store(cli: Run, store: Path) -> None:
    assert cli("doctor").code == 0
    assert findings(cli)["records"][0]["detail"] == "3 turns stored"


def test_doctor_changes_no_record(cli: Run, store: Path) -> None:
    before = cli("export", "-").out
    cli("doctor")
    assert cli("export", "-").out == before


def test_doctor_names_a_foreign_file_and_leaves_it(cli: Run, store: Path, tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear Sir or Madam")
    assert "not a SQLite file" in only_problem(cli, "--db", str(letter))["detail"]
    assert letter.read_text() == "Dear Sir or Madam"
    assert not list(tmp_path.glob("letter.txt-*"))


def test_doctor_names_a_store_of_a_newer_version(cli: Run, store: Path) -> None:
    with sqlite3.connect(store) as db:
        db.execute("PRAGMA user_version = 999")
    db.close()
    assert "999" in only_problem(cli)["detail"]
    assert cli("status").code == 5


def test_doctor_names_a_damaged_store(cli: Run, store: Path) -> None:
    raw = bytearray(store.read_bytes())
    raw[8192 : len(raw) - 8192] = os.urandom(len(raw) - 2 * 8192)
    store.write_bytes(bytes(raw))
    problem = only_problem(cli)
    assert problem["subject"] == "data" and "damaged" in problem["detail"] and "restore" in problem["remedy"]


def test_doctor_names_a_bad_setting_and_stops_there(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIBRAVDB_STORE_WAL", "1")
    assert "did you mean LIBRAVDB_STORE_WAL_MB?" in only_problem(cli)["detail"]


def test_doctor_names_a_model_that_is_not_there(
    cli: Run, store: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LIBRAVDB_EMBEDDING_BACKEND", "onnx-local")
    monkeypatch.setenv("LIBRAVDB_EMBEDDING_MODEL", str(tmp_path / "nowhere"))
    problem = only_problem(cli)
    assert problem["subject"] == "model" and "nowhere" in problem["detail"]
    assert findings(cli)["records"][0]["mark"] == "ok", "the store is looked at all the same"


def test_doctor_loads_the_bundled_model_and_knows_its_answer(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIBRAVDB_EMBEDDING_BACKEND", "bundled")
    assert findings(cli)["model"][0]["mark"] == "ok"
    monkeypatch.setattr(doctor, "BUNDLED_ANSWER", (0.5, 0.5))
    assert "another vector" in only_problem(cli)["detail"]


def test_doctor_tells_of_turns_that_wait(cli: Run, tmp_path: Path) -> None:
    file = tmp_path / "waiting.libravdb"
    with closing(SqliteStore.open(file)) as store:
        store.add_space(make_embedder(EmbeddingSettings(backend="hashed")).space.fingerprint, "hashed", 256)
        store.commit([Put(Draft("history:ada", "t", "not embedded"))])
    [finding] = findings(cli, "--db", str(file))["embedding"]
    assert finding["mark"] == "note" and finding["detail"].startswith("1 ") and finding["remedy"] == "libravdb reindex"


def test_doctor_tells_of_variables_without_effect(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIBRAVDB_FALLBACK_PROFILE", "small")
    assert "LIBRAVDB_FALLBACK_PROFILE" in findings(cli)["settings"][0]["detail"]
    assert cli("doctor").code == 0


def test_doctor_notes_a_home_that_others_can_enter(cli: Run, store: Path, tmp_path: Path) -> None:
    home = tmp_path / "home" / ".clawdb"
    home.mkdir(parents=True)
    home.chmod(0o755)
    assert findings(cli)["home"][0]["remedy"] == f"chmod 700 '{home}'"
    home.chmod(0o700)
    assert findings(cli)["home"][0]["mark"] == "ok"
