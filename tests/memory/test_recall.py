"""Recall on a real store: what is found, what never is, and what it does with half of its evidence."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libravdb_memory import Config, Memory
from libravdb_memory.bench.retrieval.run import Options, run
from libravdb_memory.config import load_config
from libravdb_memory.engines.hashed import HashedEmbedder
from libravdb_memory.engines.onnx import OnnxEmbedder
from libravdb_memory.engines.protocol import TokenRows
from libravdb_memory.errors import ModelUnavailableError
from libravdb_memory.model import Hits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TECHNICAL = Path(__file__).resolve().parents[2] / "benchmarks" / "data" / "technical"
DAY_MS = 86_400_000
START = 1_700_000_000_000
ADDENDS = ("dense", "lexical", "around", "fit")
SMALL_TALK = (
    "The bread came out of the oven too dark again.",
    "My bicycle needs a new chain before the tour.",
    "We repainted the fence in a pale green.",
    "The neighbours bought a telescope for the balcony.",
    "I finished the second sleeve of the jumper.",
    "Our tomatoes are finally turning red.",
    "The choir rehearses on Thursday evenings.",
    "The train to the coast was late by an hour.",
)


@pytest.fixture
def memory(tmp_path: Path, hashed: Config) -> Iterator[Memory]:
    with Memory.open(tmp_path / "store", config=hashed) as opened:
        yield opened


@pytest.fixture
def real(tmp_path: Path) -> Config:
    """As it is delivered: the bundled model, with token vectors."""
    return load_config(environ={"LIBRAVDB_HOME": str(tmp_path / "home")})


@pytest.fixture(params=["hashed", "bundled"])
def either(request: pytest.FixtureRequest, tmp_path: Path, hashed: Config, real: Config) -> Iterator[Memory]:
    with Memory.open(tmp_path / "store", config=hashed if request.param == "hashed" else real) as opened:
        yield opened


def say(memory: Memory, *texts: str, session: str = "s1", user: str = "ada", **given: Any) -> list[str]:
    """One turn a minute from `ts` on; the ids."""
    start = given.pop("ts", START)
    return [
        memory.ingest(text, user=user, session=session, ts=start + place * 60_000, **given).id
        for place, text in enumerate(texts)
    ]


def chatter(memory: Memory, sessions: int = 3, user: str = "ada") -> None:
    for number in range(sessions):
        say(memory, *SMALL_TALK, session=f"talk{number}", user=user, ts=START + number * DAY_MS)


def found(hits: Hits) -> list[str]:
    return [hit.id for hit in hits]


# ── what is found ────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_answer_without_a_word_of_the_question_is_found_after_the_turn_that_asks(either: Memory) -> None:
    chatter(either)
    say(either, "Which film genre do you like best?", speaker="Ada", session="films")
    answer = say(either, "A mix of drama and romance.", speaker="Bruno", session="films", ts=START + 60_000)[0]
    assert either.wait(60)
    hits = either.search("What is Bruno's favourite film genre?", user="ada", k=3)
    assert answer in found(hits)[:2]


@pytest.mark.parametrize("session", [None, "films"])
def test_the_turn_after_a_candidate_is_looked_at_though_no_search_finds_it(
    tmp_path: Path, hashed: Config, session: str | None
) -> None:
    config = replace(hashed, retrieval=replace(hashed.retrieval, candidates=3))
    with Memory.open(tmp_path / "store", config=config) as memory:
        say(memory, *SMALL_TALK, session="films")
        say(memory, "Which film genre is it?", "Mmm, lots.", *SMALL_TALK, session="films", ts=START + DAY_MS)
        assert memory.wait(30)
        hits = memory.search("Which film genre?", user="ada", session=session, k=3)
        assert "Mmm, lots." in [hit.text for hit in hits]


def test_of_two_who_say_the_same_the_one_who_is_named_comes_first(either: Memory) -> None:
    chatter(either, 1)
    ids = {}
    for place, speaker in enumerate(("Caroline", "Melanie", "Nate")):
        said = "I am learning to play the violin this year."
        ids[speaker] = say(either, said, speaker=speaker, session=f"music{place}", ts=START + place)[0]
    assert either.wait(60)
    for speaker, wanted in ids.items():
        hits = either.search(f"Which instrument is {speaker} learning to play?", user="ada")
        assert found(hits)[0] == wanted


@pytest.mark.parametrize(
    ("asked", "other", "says"),
    [
        ("ledger.py", "ledger_sync.py", "The rounding bug is in {} and is fixed there."),
        ("v2.3.1", "v2.3.11", "The memory leak came with {} of the client."),
        ("E1042", "E10422", "The gateway answers {} when the token is too old."),
        ("--no-cache", "--no-cache-dir", "The build passes once {} is given."),
        ("v2.3.1", "v2.3.1-rc2", "The memory leak came with {} of the client."),
        ("max_retries", "max.retries", "The client stops early because {} was set to one."),
        ("#123", "#1234", "The fix for the flaky test is in {} of the tracker."),
    ],
)
def test_an_identifier_beats_its_near_twin(either: Memory, asked: str, other: str, says: str) -> None:
    chatter(either, 1)
    ids = {name: say(either, says.format(name), session=f"on {name}")[0] for name in (other, asked)}
    assert either.wait(60)
    for name, twin in ((asked, other), (other, asked)):
        ranking = found(either.search(f"What about {name}?", user="ada"))
        assert ranking[0] == ids[name]
        assert ids[twin] in ranking


def test_an_identifier_letter_by_letter_outweighs_a_wording_that_is_nearer(either: Memory) -> None:
    chatter(either, 2)
    say(either, "The leak in the client came with v2.3.1-rc2.", session="near")
    exact = say(either, "Everybody who took v2.3.1 home saw memory grow by the hour.", session="exact")[0]
    assert either.wait(60)
    assert found(either.search("Did the leak in the client come with v2.3.1?", user="ada"))[0] == exact


@pytest.mark.parametrize("newer_is_stored_first", [False, True])
def test_the_newer_of_two_facts_ranks_above_the_corrected_one_and_both_are_found(
    either: Memory, newer_is_stored_first: bool
) -> None:
    chatter(either, 2)
    facts = [("old", "The staging database listens on port 5432.", START)]
    facts.append(("new", "The staging database listens on port 5433.", START + 30 * DAY_MS))
    for name, text, ts in reversed(facts) if newer_is_stored_first else facts:
        say(either, text, session=name, ts=ts, id=name)
    assert either.wait(60)
    for question in ("Which port does the staging database listen on?", "What is the port of staging now?"):
        assert found(either.search(question, user="ada"))[:2] == ["new", "old"]


def test_a_month_that_is_named_raises_what_was_said_in_it(memory: Memory) -> None:
    march, june = 1_678_000_000_000, 1_686_500_000_000
    for name, ts in (("march", march), ("june", june)):
        say(memory, "We went to the lake with the children.", session=name, ts=ts, id=name)
    assert memory.wait(30)
    assert found(memory.search("Where did we go in March 2023?", user="ada"))[0] == "march"
    assert found(memory.search("Where did we go in June 2023?", user="ada"))[0] == "june"


def test_a_question_when_raises_a_turn_that_tells_a_time(memory: Memory) -> None:
    chatter(memory)
    said = "The heron moved to the pond on"
    say(memory, f"{said} 3 May 2023.", session="a", id="dated")
    say(memory, f"{said} a bleak day.", session="b", id="undated", ts=START + DAY_MS)
    assert memory.wait(30)
    for question, raises in (
        ("When did the heron move to the pond?", True),
        ("Did the heron move to the pond?", False),
    ):
        fit = {hit.id: hit.parts["fit"] for hit in memory.search(question, user="ada", k=2)}
        assert (fit["dated"] > fit["undated"] + 0.01) is raises


# ── what never is ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("k", [1, 5, 100])
def test_a_filter_lets_no_neighbour_through_that_it_excludes(memory: Memory, k: int) -> None:
    for place in range(40):
        say(
            memory,
            f"The heron stood at pond {place}." if place % 2 else "Where did it stand then?",
            session=f"s{place // 10}",
            role="assistant" if place % 2 else "user",
            ts=START + place * DAY_MS,
        )
    assert memory.wait(30)
    middle = START + 20 * DAY_MS
    allowed: list[tuple[dict[str, Any], Callable[[Any], bool]]] = [
        ({"session": "s1"}, lambda turn: turn.session == "s1"),
        ({"role": "user"}, lambda turn: turn.role == "user"),
        ({"role": "assistant", "session": "s2"}, lambda turn: turn.role == "assistant" and turn.session == "s2"),
        ({"since": middle}, lambda turn: turn.ts >= middle),
        ({"until": middle}, lambda turn: turn.ts <= middle),
        ({"since": middle, "session": "s3"}, lambda turn: turn.ts >= middle and turn.session == "s3"),
    ]
    for given_filter, passes in allowed:
        for question in ("Where did the heron stand?", "heron at pond 21", "Where did it stand then?"):
            hits = memory.search(question, user="ada", k=k, **given_filter)
            assert all(passes(hit.turn) for hit in hits), given_filter
        assert memory.search("Where did it stand, by which pond?", user="ada", k=k, **given_filter), given_filter


def test_two_users_never_mix_though_they_say_the_same(memory: Memory) -> None:
    texts = [*SMALL_TALK, "The heron stood at the pond.", "Where?", "By the reeds."]
    mine = {user: set(say(memory, *texts, user=user, speaker=user)) for user in ("ada", "bruno", "cleo")}
    assert memory.wait(30)
    for user, ids in mine.items():
        for question in ("Where did the heron stand?", "What did Ada say about the heron?", "By the reeds"):
            assert set(found(memory.search(question, user=user, k=100))) <= ids
    assert found(memory.search("heron", user="nobody")) == []


def test_an_erased_turn_never_comes_back_from_anything_remembered(either: Memory) -> None:
    chatter(either, 1)
    asked, secret, last = say(
        either, "Where does the heron sleep?", "Under the old bridge.", "Thank you, I had no idea.", session="birds"
    )
    assert either.wait(60)
    questions = ("Where does the heron sleep?", "under the old bridge", "What about the heron?")
    for question in questions * 2:
        assert secret in found(either.search(question, user="ada", k=100))
    either.erase(secret, user="ada")
    for question in questions * 2:
        hits = either.search(question, user="ada", k=100)
        assert secret not in found(hits)
        assert not any("bridge" in hit.text for hit in hits)
    assert {asked, last} <= set(found(either.search("heron", user="ada", k=100)))
    again = say(either, "In the reeds.", session="birds", ts=START + DAY_MS)[0]
    assert either.wait(60)
    assert again in found(either.search("Where does the heron sleep?", user="ada", k=100))


def test_an_erased_session_takes_its_speaker_with_it(memory: Memory) -> None:
    say(memory, "I play the violin.", speaker="Melanie", session="gone")
    say(memory, "Melanie is a name like any other.", speaker="Ada", session="kept")
    assert memory.wait(30)
    assert memory.search("What does Melanie play?", user="ada")
    memory.erase(user="ada", session="gone")
    hits = memory.search("What does Melanie play?", user="ada")
    assert [hit.turn.session for hit in hits] == ["kept"]


# ── scores ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    home = tmp_path_factory.mktemp("stocked")
    config = load_config(environ={"LIBRAVDB_HOME": str(home), "LIBRAVDB_EMBEDDING_BACKEND": "hashed"})
    with Memory.open(home / "store", config=config) as opened:
        chatter(opened, 12)
        for place in range(20):
            role = "assistant" if place % 2 else "user"
            say(opened, f"Is E10{place} in v1.{place} of ledger.py?", "It is.", session=f"e{place}", role=role)
        assert opened.wait(60)
        yield opened


words = st.sampled_from(
    ["heron", "oven", "bicycle", "E107", "v1.3", "ledger.py", "in May", "when", "I", "you", "now", "is", "?", "zzz"]
)
questions = st.lists(words, min_size=1, max_size=8).map(" ".join) | st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80
)


@settings(max_examples=60)
@given(questions, st.integers(1, 60))
def test_scores_are_bounded_ordered_and_the_sum_of_their_parts(stocked: Memory, question: str, k: int) -> None:
    hits = stocked.search(question, user="ada", k=k)
    assert len(hits) <= k
    assert len(set(found(hits))) == len(hits)
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    for hit in hits:
        assert 0.0 <= hit.score <= 1.0
        assert hit.parts["relevance"] == pytest.approx(sum(hit.parts[name] for name in ADDENDS), abs=1e-6)
        assert hit.score <= hit.parts["relevance"] + 1e-12


@settings(max_examples=25)
@given(questions)
def test_the_same_question_has_the_same_answer(stocked: Memory, question: str) -> None:
    def ranking() -> list[tuple[str, dict[str, float]]]:
        return [(hit.id, {name: hit.parts[name] for name in ADDENDS}) for hit in stocked.search(question, user="ada")]

    assert ranking() == ranking()


def test_the_same_turns_in_another_store_give_the_same_answer(tmp_path: Path, hashed: Config) -> None:
    answers = []
    for name in ("one", "two"):
        with Memory.open(tmp_path / name, config=hashed) as memory:
            chatter(memory)
            assert memory.wait(30)
            hits = memory.search("What colour did we paint the fence?", user="ada", k=20)
            answers.append([(hit.turn.session, hit.text, hit.parts["relevance"]) for hit in hits])
    assert answers[0] == answers[1]


def test_what_one_user_says_does_not_change_another_ones_meaning(memory: Memory) -> None:
    chatter(memory)
    assert memory.wait(30)
    before = {hit.id: hit.parts["cosine"] for hit in memory.search("the fence", user="ada", k=50)}
    chatter(memory, user="bruno")
    assert memory.wait(30)
    after = {hit.id: hit.parts["cosine"] for hit in memory.search("the fence", user="ada", k=50)}
    assert after == before


@pytest.mark.parametrize("turns", [0, 1, 2, 7])
def test_more_may_be_asked_for_than_there_is(memory: Memory, turns: int) -> None:
    ids = say(memory, *SMALL_TALK[:turns])
    assert memory.wait(30)
    hits = found(memory.search("the bread and my bicycle", user="ada", k=1000))
    assert set(hits) <= set(ids)
    assert set(hits) >= set(ids[:2])
    assert found(memory.search("the bread and my bicycle", user="ada", k=0)) == []


def test_a_question_of_ten_thousand_characters_is_answered(either: Memory) -> None:
    chatter(either, 1)
    assert either.wait(60)
    long = ("What colour did we paint the fence? " * 300)[:10_000]
    hits = either.search(long, user="ada")
    assert hits[0].text == SMALL_TALK[2]
    assert hits.degraded == ()


@pytest.mark.parametrize("question", ["?", "…", "the", "💡", "what is it", "\u0000", "I I I", "--", "'s", "may"])
def test_a_question_that_says_nothing_is_no_error(memory: Memory, question: str) -> None:
    chatter(memory, 1)
    assert memory.wait(30)
    assert all(0.0 <= hit.score <= 1.0 for hit in memory.search(question, user="ada"))


# ── with half of the evidence ────────────────────────────────────────────────────────────────────────────────────


class Slow(OnnxEmbedder):
    """The bundled model, which waits before it reads documents in the background."""

    def __init__(self, released: threading.Event, **given: Any) -> None:
        super().__init__(**given)
        self._released = released

    def read_documents(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], list[TokenRows]]:
        if threading.current_thread().name == "libravdb-indexing":
            self._released.wait(60)
        return super().read_documents(texts)


@contextmanager
def opened(path: Path, config: Config, embedder: OnnxEmbedder | None = None) -> Iterator[Memory]:
    with Memory.open(path, config=config, embedder=embedder) as memory:
        yield memory


def test_a_store_without_token_rows_answers_while_they_are_made(tmp_path: Path, real: Config) -> None:
    plain = replace(real, embedding=replace(real.embedding, token_vectors=False))
    question = "What colour did we paint the fence?"
    with opened(tmp_path / "store", plain) as memory:
        chatter(memory, 1)
        assert memory.wait(60)
        assert memory.search(question, user="ada")[0].text == SMALL_TALK[2]
    released = threading.Event()
    with opened(tmp_path / "store", real, Slow(released)) as memory:
        try:
            waiting = memory.search(question, user="ada")
            assert waiting[0].text == SMALL_TALK[2]
            assert not memory.wait(0.01)
        finally:
            released.set()
        assert memory.wait(60)
        complete = memory.search(question, user="ada")
        assert complete[0].text == SMALL_TALK[2]
        assert complete.degraded == ()
        dense = {hit.id: hit.parts["dense"] for hit in waiting}
        assert {hit.id: hit.parts["dense"] for hit in complete} != dense, "now the tokens count too"


def test_turns_that_are_not_embedded_yet_are_ranked_by_their_wording(tmp_path: Path, real: Config) -> None:
    released = threading.Event()
    with opened(tmp_path / "store", real, Slow(released)) as memory:
        try:
            say(memory, "The staging database moved to port 5433 today.")
            say(memory, *(f"The staging lunch number {number} was cold." for number in range(5)), ts=START + DAY_MS)
            hits = memory.search("Which port does the staging database use?", user="ada")
            assert "6 texts not embedded yet" in hits.degraded[0]
            assert hits[0].text == "The staging database moved to port 5433 today."
            assert 0.5 < hits[0].score <= 0.6
            assert hits[1].score < hits[0].score
        finally:
            released.set()


def test_a_turn_that_is_not_embedded_yet_stands_above_what_only_resembles_the_question(
    tmp_path: Path, real: Config
) -> None:
    released = threading.Event()
    released.set()
    with opened(tmp_path / "store", real, Slow(released)) as memory:
        try:
            chatter(memory)
            say(memory, *(f"The staging lunch number {number} was cold." for number in range(5)), session="lunch")
            assert memory.wait(60)
            released.clear()
            fresh = say(memory, "We use port 6000 for the staging database.", session="now", ts=START + DAY_MS)[0]
            hits = memory.search("Which port did the staging database use?", user="ada")
            assert "1 text not embedded yet" in hits.degraded[0]
            assert found(hits)[0] == fresh
            assert hits[0].score > 0.5
            assert hits[0].parts["cosine"] == 0.0
        finally:
            released.set()


def test_an_engine_that_fails_leaves_the_wording(tmp_path: Path, hashed: Config) -> None:
    class Failing(HashedEmbedder):
        def embed_query(self, text: str) -> NDArray[np.float32]:
            raise ModelUnavailableError("failing", "the endpoint is down")

    with Memory.open(tmp_path / "store", config=hashed, embedder=Failing()) as memory:
        chatter(memory, 2)
        say(memory, "What happened in ledger_sync.py?", "It lost E1042.", session="work")
        assert memory.wait(30)
        hits = memory.search("What colour did we paint the fence?", user="ada")
        assert hits[0].text == SMALL_TALK[2]
        assert "searched by wording only" in hits.degraded[0]
        assert 0 < hits[0].score <= 0.6
        assert hits[0].parts["relevance"] == pytest.approx(sum(hits[0].parts[name] for name in ADDENDS))
        assert memory.search("E1042", user="ada")[0].text == "It lost E1042."


@pytest.mark.parametrize("profile", ["reference", "hybrid"])
def test_the_older_laws_still_answer(tmp_path: Path, hashed: Config, profile: Any) -> None:
    config = replace(hashed, retrieval=replace(hashed.retrieval, profile=profile))
    with Memory.open(tmp_path / "store", config=config) as memory:
        for text in SMALL_TALK:
            memory.ingest(text, user="ada", session="s1")
        assert memory.wait(30)
        hits = memory.search("What colour did we paint the fence?", user="ada", k=20)
        assert SMALL_TALK[2] in [hit.text for hit in hits][:3]
        assert all(0.0 <= hit.score <= 1.0 for hit in hits)
        assert hits.degraded == ()


def test_the_older_laws_want_similarity_or_the_support_of_wording(tmp_path: Path, hashed: Config) -> None:
    config = replace(hashed, retrieval=replace(hashed.retrieval, profile="reference"))
    with Memory.open(tmp_path / "store", config=config) as memory:
        both, one, neither = (memory.ingest(text, user="ada").id for text in ("red paint", "paint", "owls nest"))
        assert memory.wait(30)
        hits = memory.search("red paint", user="ada", k=20)
        assert [hit.id for hit in hits] == [both, one] and neither not in {hit.id for hit in hits}
        assert [hit.parts["keywords"] for hit in hits] == [1.0, 0.5]


# ── how good it is ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_the_technical_sessions_are_recalled_as_well_as_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """336 labelled questions on 743 turns, with the bundled model. The bounds lie a little below what was measured."""
    for name in [name for name in os.environ if name.startswith("LIBRAVDB_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("LIBRAVDB_HOME", str(tmp_path / "home"))
    results = run(Options((TECHNICAL,), contexts=False), lambda label, unit: nullcontext(lambda done, total: None))
    assert results["overall"]["questions"] == 336
    assert results["overall"]["R@10"] >= 0.87
    assert results["overall"]["newer_first"] >= 0.45
    assert results["categories"]["identifier"]["R@5"] >= 0.95
    assert results["degraded"] == {}
