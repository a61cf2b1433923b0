"""The verbs of Memory on a real store."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libravdb_memory import (
    AmbiguousIdError,
    Config,
    ConflictError,
    FingerprintMismatchError,
    InvalidInputError,
    Memory,
    NotFoundError,
    StoreLockedError,
)
from libravdb_memory.engines.hashed import HashedEmbedder
from libravdb_memory.retrieve.rank import MODULATION

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
any_name = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40).filter(str.strip)


@pytest.fixture
def memory(tmp_path: Path, hashed: Config) -> Iterator[Memory]:
    with Memory.open(tmp_path / "store", config=hashed) as opened:
        yield opened


def test_a_turn_is_kept_exactly_and_found_again(memory: Memory) -> None:
    turn = memory.ingest(
        "The deploy key moved to the vault.", user="ada", session="s1", speaker="Ada", metadata={"n": [1, None]}
    )
    memory.ingest("Lunch is at noon.", user="ada", session="s1", role="assistant")
    assert memory.wait(30)
    hits = memory.search("where is the deploy key?", user="ada", k=5)
    assert hits[0].id == turn.id
    assert hits[0].turn == turn == memory.get(turn.id)
    assert 0 < hits[0].score <= 1
    parts = hits[0].parts
    addends = sum(parts[name] for name in ("dense", "lexical", "around", "fit"))
    assert parts["relevance"] == pytest.approx(addends)
    assert (1 - MODULATION) * parts["relevance"] <= hits[0].score <= parts["relevance"]
    assert hits.degraded == ()


def test_a_turn_is_found_by_its_words_before_it_is_embedded(tmp_path: Path, hashed: Config) -> None:
    class Stuck(HashedEmbedder):
        def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
            if threading.current_thread().name == "libravdb-indexing":
                released.wait(30)
            return super().embed_documents(texts)

    released = threading.Event()
    with Memory.open(tmp_path / "store", config=hashed, embedder=Stuck()) as memory:
        turn = memory.ingest("zebra crossing at dawn", user="ada", session="s1")
        hits = memory.search("zebra", user="ada")
        assert [hit.id for hit in hits] == [turn.id]
        assert "1 text not embedded yet" in hits.degraded[0]
        assert not memory.wait(0.01)
        released.set()
        assert memory.wait(30)
        assert memory.search("zebra", user="ada").degraded == ()


def test_what_was_not_embedded_is_caught_up_after_reopening(tmp_path: Path, hashed: Config) -> None:
    program = (
        "import os, sys\n"
        "from libravdb_memory import Memory, load_config\n"
        "from libravdb_memory.engines.hashed import HashedEmbedder\n"
        "class Dead(HashedEmbedder):\n"
        "    def embed_documents(self, texts):\n"
        "        os._exit(7)\n"
        "memory = Memory.open(sys.argv[1], config=load_config(), embedder=Dead())\n"
        "memory.ingest('the owl nests in the barn', user='ada', session='s1', id='owl')\n"
        "memory.wait(30)\n"
    )
    environment = {**os.environ, "LIBRAVDB_HOME": str(hashed.home)}
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "store")], env=environment, check=False)
    assert done.returncode == 7
    with Memory.open(tmp_path / "store", config=hashed) as memory:
        assert memory.wait(30)
        assert memory.status().indexing.pending == 0
        assert memory.search("owls nesting", user="ada")[0].parts["cosine"] > 0


def test_the_same_id_again_changes_nothing_and_other_content_is_a_conflict(memory: Memory) -> None:
    first = memory.ingest("one", user="ada", session="s1", id="t1")
    assert memory.ingest("one", user="ada", session="s1", id="t1") == first
    with pytest.raises(ConflictError, match="'t1'"):
        memory.ingest("two", user="ada", session="s1", id="t1")
    with pytest.raises(ConflictError):
        memory.ingest("one", user="ada", session="s1", id="t1", role="assistant")
    with pytest.raises(ConflictError):
        memory.ingest("one", user="ada", session="s1", id="t1", ts=5)
    assert memory.status().turns == 1


def test_an_id_is_scoped_by_its_session_and_user(memory: Memory) -> None:
    for user, session in (("ada", "s1"), ("ada", "s2"), ("bob", "s1")):
        memory.ingest(f"{user} {session}", user=user, session=session, id="t1")
    with pytest.raises(AmbiguousIdError):
        memory.get("t1")
    assert memory.get("t1", user="bob").text == "bob s1"
    assert memory.get("t1", user="ada", session="s2").text == "ada s2"
    with pytest.raises(NotFoundError):
        memory.get("t1", user="carol")


def test_no_namespace_sees_another(memory: Memory) -> None:
    memory.ingest("the secret word is plover", user="ada", session="s1")
    memory.ingest("the secret word is xyzzy", session="s1")
    memory.wait(30)
    assert [hit.text for hit in memory.search("secret word", user="ada")] == ["the secret word is plover"]
    assert [hit.text for hit in memory.search("secret word", session="s1")] == ["the secret word is xyzzy"]
    assert len(memory.search("secret word", user="bob")) == 0
    assert len(memory.search("secret word")) == 0


def test_a_search_can_be_narrowed_by_session_role_and_time(memory: Memory) -> None:
    for day, (session, role) in enumerate((("s1", "user"), ("s1", "assistant"), ("s2", "user")), start=1):
        memory.ingest(
            f"report {day}", user="ada", session=session, role=role, ts=datetime(2026, 1, day, tzinfo=UTC), id=str(day)
        )
    memory.wait(30)

    def found(**narrowing: object) -> list[str]:
        return sorted(hit.id for hit in memory.search("report", user="ada", **narrowing))  # type: ignore[arg-type]

    assert found() == ["1", "2", "3"]
    assert found(session="s1") == ["1", "2"]
    assert found(session="s1", scopes=["session", "history"]) == ["1", "2", "3"]
    assert found(role="user") == ["1", "3"]
    assert found(since=datetime(2026, 1, 2, tzinfo=UTC)) == ["2", "3"]
    assert found(until=datetime(2026, 1, 2, tzinfo=UTC), role="assistant") == ["2"]
    with pytest.raises(InvalidInputError, match="scopes"):
        found(scopes=["galaxy"])
    with pytest.raises(InvalidInputError, match="session"):
        found(scopes=["session"])


def test_erasing_removes_a_turn_a_session_or_a_user(memory: Memory) -> None:
    for user, session, name in (("ada", "s1", "a"), ("ada", "s1", "b"), ("ada", "s2", "c"), ("bob", "s1", "d")):
        memory.ingest(f"word {name}", user=user, session=session, id=name)
    memory.wait(30)
    assert memory.erase("a").records == 1
    with pytest.raises(NotFoundError):
        memory.get("a")
    assert memory.erase(user="ada", session="s1").records == 1
    assert [hit.id for hit in memory.search("word", user="ada")] == ["c"]
    assert memory.erase(user="ada").records == 1
    assert [hit.id for hit in memory.search("word", user="bob")] == ["d"]
    for nothing in ({"id": "a"}, {"user": "ada"}, {"user": "ada", "session": "s9"}):
        with pytest.raises(NotFoundError):
            memory.erase(**nothing)
    with pytest.raises(InvalidInputError):
        memory.erase()
    assert memory.verify().ok


@pytest.mark.parametrize(("k", "expected"), [(0, 0), (1, 1), (3, 3), (1_000_000, 3)])
def test_k_is_honoured_from_nothing_to_a_million(memory: Memory, k: int, expected: int) -> None:
    for number in range(3):
        memory.ingest(f"item {number}", user="ada", session="s1")
    memory.wait(30)
    assert len(memory.search("item", user="ada", k=k)) == expected


@pytest.mark.parametrize("k", [-1, 1.5, True, "3", None])
def test_a_k_that_is_no_count_is_refused(memory: Memory, k: object) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        memory.search("x", user="ada", k=k)  # type: ignore[arg-type]
    assert refusal.value.field == "k"


@pytest.mark.parametrize(
    "query", ["", "   ", "\x00", "?!", '"', "AND OR NOT", "a" * 100_000, "*", "scope:c1", "日本語"]
)
def test_any_query_is_only_text(memory: Memory, query: str) -> None:
    memory.ingest("something", user="ada", session="s1")
    memory.wait(30)
    memory.search(query, user="ada")


@settings(max_examples=60)
@given(text=any_text, user=any_name, session=any_name, role=any_name, turn_id=any_name)
def test_every_text_and_name_comes_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, text: str, user: str, session: str, role: str, turn_id: str
) -> None:
    memory = shared_memory(tmp_path_factory)
    try:
        turn = memory.ingest(text, user=user, session=session, role=role, id=turn_id)
    except ConflictError:
        return
    assert (turn.text, turn.session, turn.role, turn.id) == (text, session.strip(), role, turn_id)
    assert memory.get(turn_id, user=user, session=session) == turn
    memory.search(text, user=user)


_shared: list[Memory] = []


def shared_memory(factory: pytest.TempPathFactory) -> Memory:
    if not _shared:
        folder = factory.mktemp("shared")
        from libravdb_memory import load_config

        config = load_config(environ={"LIBRAVDB_HOME": str(folder), "LIBRAVDB_EMBEDDING_BACKEND": "hashed"})
        _shared.append(Memory.open(folder / "store", config=config))
    return _shared[0]


@pytest.fixture(scope="module", autouse=True)
def close_shared() -> Iterator[None]:
    yield
    while _shared:
        _shared.pop().close()


def test_a_ten_megabyte_turn_is_kept_exactly(memory: Memory) -> None:
    text = "the quick brown fox — " * 450_000
    turn = memory.ingest(text, user="ada", session="s1")
    assert memory.get(turn.id).text == text
    assert memory.wait(120)
    assert [hit.id for hit in memory.search("brown fox", user="ada")] == [turn.id]


def test_a_second_process_is_told_the_owner(memory: Memory, hashed: Config) -> None:
    program = "import sys; from libravdb_memory import Memory; Memory.open(sys.argv[1])"
    environment = {**os.environ, "LIBRAVDB_HOME": str(hashed.home), "LIBRAVDB_EMBEDDING_BACKEND": "hashed"}
    done = subprocess.run(
        [sys.executable, "-c", program, memory.status().path],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert f"process {os.getpid()}" in done.stderr
    with pytest.raises(StoreLockedError) as refusal:
        Memory.open(memory.status().path, config=hashed)
    assert refusal.value.pid == os.getpid()


def test_another_model_is_refused_until_the_store_is_re_embedded(tmp_path: Path, hashed: Config) -> None:
    wide, narrow = HashedEmbedder(dimensions=256), HashedEmbedder(dimensions=128)
    with Memory.open(tmp_path / "store", config=hashed, embedder=wide) as memory:
        for number in range(150):
            memory.ingest(f"note {number} about otters", user="ada", session="s1", id=str(number))
        memory.wait(30)
    with pytest.raises(FingerprintMismatchError, match="libravdb reindex"):
        Memory.open(tmp_path / "store", config=hashed, embedder=narrow)
    seen: list[tuple[int, int]] = []
    with Memory.open(tmp_path / "store", config=hashed, embedder=narrow, on_mismatch="reindex") as memory:
        memory.reindex(lambda done, total: seen.append((done, total)))
        hits = memory.search("note 7 about otters", user="ada")
        assert hits.degraded == ()
        assert [space.dimensions for space in memory.status().store.spaces] == [128]
        assert memory.verify().ok
    assert seen[-1][0] == seen[-1][1]
    with pytest.raises(FingerprintMismatchError):
        Memory.open(tmp_path / "store", config=hashed, embedder=wide)


def test_many_threads_ingest_and_search_at_once(memory: Memory) -> None:
    def work(name: str) -> None:
        for number in range(25):
            memory.ingest(f"{name} saw {number} herons", user="ada", session=name, id=str(number))
            memory.search("herons", user="ada", k=3)

    threads = [threading.Thread(target=work, args=(f"thread-{index}",)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert memory.wait(60)
    assert memory.status().turns == 200
    assert len(memory.search("herons", user="ada", k=500)) == 200
    assert memory.verify().ok
