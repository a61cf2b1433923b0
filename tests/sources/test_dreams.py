"""Promoted dreams: replaced as one, never lost to an empty run, and apart from ordinary recall."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from libravdb_memory import Config, Memory
from libravdb_memory.ingest.secrets_settings import SecretsSettings
from libravdb_memory.masking import Masking
from libravdb_memory.sources.diary import Entry
from libravdb_memory.sources.dreams import promote
from libravdb_memory.store.protocol import Store
from libravdb_memory.store.sqlite.store import SqliteStore

MASKING = Masking(SecretsSettings())


def dream(text: str, score: float = 0.8) -> Entry:
    return Entry(text, score, 3, 2, "Dreams", 1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = SqliteStore.open(tmp_path / "store")
    yield opened
    opened.close()


def kept(store: Store, namespace: str = "ada") -> list[str]:
    return [record.text for record in store.page(f"dream:{namespace}").records]


def test_a_new_run_replaces_what_the_same_diary_promoted(store: Store) -> None:
    promote(store, MASKING, "ada", "night.md", [dream("The harbour froze over."), dream("The ferry stayed away.")], 1)
    promote(store, MASKING, "ada", "other.md", [dream("A lighthouse without a lamp.")], 1)
    done = promote(store, MASKING, "ada", "night.md", [dream("The harbour thawed again."), dream("nothing")], 2)
    assert (done.promoted, len(done.rejected), done.changed) == (1, 1, True)
    assert sorted(kept(store)) == ["A lighthouse without a lamp.", "The harbour thawed again."]


def test_a_run_that_promotes_nothing_leaves_the_old_entries(store: Store) -> None:
    promote(store, MASKING, "ada", "night.md", [dream("The harbour froze over.")], 1)
    done = promote(store, MASKING, "ada", "night.md", [dream("The harbour thawed again.", score=0.1)], 2)
    assert (done.promoted, done.changed) == (0, False)
    assert kept(store) == ["The harbour froze over."]


def test_a_run_replaces_in_one_commit_and_running_it_again_changes_nothing(store: Store) -> None:
    promote(store, MASKING, "ada", "night.md", [dream("The harbour froze over."), dream("The ferry stayed away.")], 1)
    before = store.status().sequence
    assert not promote(
        store, MASKING, "ada", "night.md", [dream("The harbour froze over."), dream("The ferry stayed away.")], 99
    ).changed
    assert store.status().sequence == before


def test_dreams_of_one_user_are_not_in_the_dreams_of_another(store: Store) -> None:
    promote(store, MASKING, "ada", "night.md", [dream("The harbour froze over.")], 1)
    promote(store, MASKING, "bob", "night.md", [dream("Seven geese in a lift.")], 1)
    assert kept(store) == ["The harbour froze over."] and kept(store, "bob") == ["Seven geese in a lift."]


def test_a_secret_in_a_dream_is_masked(store: Store) -> None:
    promote(store, MASKING, "ada", "night.md", [dream("I dreamt that password = 'hunter2Blue' opened it.")], 1)
    assert "hunter2Blue" not in kept(store)[0] and "[masked: password]" in kept(store)[0]


def test_only_a_question_about_dreams_recalls_them(tmp_path: Path, hashed: Config) -> None:
    path = tmp_path / "store"
    store = SqliteStore.open(path)
    promote(store, MASKING, "ada", "night.md", [dream("The harbour froze over and the ferry stayed.")], 1)
    store.close()
    with Memory.open(path, config=hashed) as memory:
        memory.wait(30)
        about = memory.context("What did I dream about the harbour?", user="ada", session="s", budget=2000).text
        other = memory.context("What happened at the harbour and the ferry?", user="ada", session="s", budget=2000).text
    assert "froze over" in about and "froze over" not in other
