"""Extracts: within their price, in order, never empty where something can be said; what they and their pins keep."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.compact.certificate import certified, certify
from libravdb_memory.compact.extract import Extract, Sentence, clip, extract
from libravdb_memory.compact.preserve import progresses, tokens_of
from libravdb_memory.compact.salience import readability, salience
from libravdb_memory.compact.sanitise import sanitise
from libravdb_memory.compact.sentences import turn_sentences
from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.compact.spans import Kind, folded
from libravdb_memory.tokens import EstimatingCounter

DATA = Path(__file__).parents[2] / "benchmarks" / "data" / "technical"
SETTINGS = CompactionSettings()
COUNTER = EstimatingCounter()
EXACT: tuple[Kind, ...] = ("identifier", "number", "date", "path")

turns = st.lists(
    st.one_of(st.text(max_size=80), st.sampled_from(["Use port 8443. Never 80.", "ok", "We decided on Redis. 好的。"])),
    min_size=1,
    max_size=12,
)


class CharacterCounter:
    """One token a character: prices that can be reckoned by hand."""

    id = "characters"

    def count(self, text: str) -> int:
        return len(text)


def of(*texts: str) -> list[Sentence]:
    return [Sentence(turn, text) for turn, text in enumerate(texts)]


def summarised(texts: list[str], rung: int = 0) -> Extract:
    limit = SETTINGS.rungs[rung].limit(tokens_of(texts, COUNTER))
    return extract([Sentence(*found) for found in turn_sentences(texts)], limit, COUNTER)


def vectors_of(count: int, seed: int) -> np.ndarray:  # type: ignore[type-arg]
    return np.random.default_rng(seed).normal(size=(count, 4))


@given(turns, st.integers(0, 70), st.one_of(st.none(), st.integers(0, 9)))
def test_an_extract_stays_within_its_limit_and_quotes_in_order(texts: list[str], limit: int, seed: int | None) -> None:
    sentences = [Sentence(*found) for found in turn_sentences(texts)]
    vectors = None if seed is None else vectors_of(len(sentences), seed)
    made = extract(sentences, limit, COUNTER, vectors)
    assert made == extract(sentences, limit, COUNTER, vectors)
    assert made.tokens == COUNTER.count(made.text) <= limit or made.text == ""
    assert list(made.picked) == sorted(set(made.picked))
    if made.picked:
        assert made.text.split() == [word for place in made.picked for word in sentences[place].text.split()]
    else:
        assert made.cut == bool(made.text)


@given(turns, st.sampled_from([0, 1, 2]))
def test_something_is_always_said_and_it_is_strictly_smaller(texts: list[str], rung: int) -> None:
    source = tokens_of(texts, COUNTER)
    said = any(character.isalnum() for text in texts for character in text)
    made = summarised(texts, rung)
    if said and source >= 2:
        assert progresses(texts, made.text, COUNTER)
        assert any(map(str.isalnum, made.text))
    assert made.text == "" or made.tokens < source


def test_the_room_for_one_letter_is_enough() -> None:
    assert extract(of("((東京都庁前"), 1, COUNTER).text == "東"
    assert extract(of("abcdefgh"), 1, COUNTER).text == "abc…"
    assert extract(of("abcdefgh"), 0, COUNTER).text == ""
    assert extract(of("...", "?!"), 9, COUNTER).text == ""
    assert extract([], 9, COUNTER).text == ""


def test_sentences_of_one_turn_share_a_line() -> None:
    sentences = [Sentence(0, "Port 8443 is set."), Sentence(0, "Redis was chosen."), Sentence(2, "Never use port 80.")]
    assert extract(sentences, 100, COUNTER).text == "Port 8443 is set. Redis was chosen.\nNever use port 80."


def test_the_price_of_the_whole_decides_to_the_character() -> None:
    sentences = of("The port is now 8443", "The host is now db-2")
    whole = len("The port is now 8443\nThe host is now db-2")
    assert extract(sentences, whole, CharacterCounter()).picked == (0, 1)
    assert len(extract(sentences, whole - 1, CharacterCounter()).picked) == 1


def test_a_sentence_that_fits_is_taken_after_one_that_does_not() -> None:
    sentences = of("We decided never to deploy LED-212 on port 8443 on a Friday again", "the weather was fine today")
    assert extract(sentences, 27, CharacterCounter()).picked == (1,)


def test_the_sentence_nearest_to_the_others_is_taken_first() -> None:
    sentences = of("plain words here now", "plain words there too", "plain words elsewhere")
    vectors = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    assert extract(sentences, 21, CharacterCounter(), vectors).picked == (1,)


def test_a_telling_sentence_beats_one_that_is_as_near() -> None:
    sentences = of("it was a nice day and so on", "we decided to keep port 8443", "it was a nice day and so on")
    assert extract(sentences, 28, CharacterCounter(), np.ones((3, 2))).picked == (1,)


def test_what_was_said_is_not_said_again() -> None:
    sentences = of("the cache is warm today", "the cache is warm today", "a queue was drained at last")
    vectors = np.array([[1.0, 0.2], [1.0, 0.2], [0.6, 0.8]])
    assert extract(sentences, 51, CharacterCounter(), vectors).picked == (0, 2)
    assert extract(sentences, 51, CharacterCounter()).picked == (0, 2)
    near = of("the cache is warm today", "the cache is warm today, yes", "a queue was drained at last")
    assert extract(near, 51, CharacterCounter(), vectors).picked == (0, 2)
    assert extract(near, 51, CharacterCounter()).picked == (0, 2)
    prior = np.array([[1.0, 0.2]])
    assert extract(sentences, 27, CharacterCounter(), vectors).picked == (0,)
    assert extract(sentences, 27, CharacterCounter(), vectors, prior).picked == (2,)
    assert extract(sentences, 27, CharacterCounter(), vectors, np.zeros((0, 2))).picked == (0,)


def test_likeness_is_weighed_against_nearness_and_not_forbidden() -> None:
    sentences = of("the first plain words", "the other plain talk", "some more of all that", "quite another matter")
    vectors = np.array([[1.0, 0.0, 0.0], [0.95, 0.31, 0.0], [0.9, -0.43, 0.0], [0.0, 0.0, 1.0]])
    assert extract(sentences, 43, CharacterCounter(), vectors).picked == (0, 2)


def test_being_telling_is_weighed_against_nearness_and_does_not_decide_alone() -> None:
    telling = "we decided and changed pool_size and max_age and the_rest"
    sentences = of("x" * len(telling), "y" * len(telling), telling)
    assert salience(telling) == 1.0
    vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert extract(sentences, len(telling), CharacterCounter(), vectors).picked == (0,)


def test_prose_is_preferred_to_code_and_to_a_word() -> None:
    assert extract(
        of("if (a[0] != b_1) { return c(2); }", "the check compares both of them"), 33, CharacterCounter()
    ).picked == (1,)
    assert extract(of("next.", "we talked about the cache"), 25, CharacterCounter()).picked == (1,)


@pytest.mark.parametrize(
    ("text", "limit", "cut"),
    [
        ("one two three", 13, "one two three"),
        ("one two three", 12, "one two…"),
        ("one two three", 8, "one two…"),
        ("one two three", 7, "one…"),
        ("one two three", 2, "o…"),
        ("one two three", 1, "o"),
        ("one two three", 0, ""),
        ("  one\n two  ", 7, "one two"),
        ("東京都庁前", 3, "東京…"),
    ],
)
def test_a_text_is_cut_at_a_word_and_marked(text: str, limit: int, cut: str) -> None:
    assert clip(text, limit, CharacterCounter()) == cut


@given(st.text(max_size=60), st.integers(0, 20))
def test_a_cut_text_is_a_beginning_within_its_limit(text: str, limit: int) -> None:
    made = clip(text, limit, COUNTER)
    assert made == "" or COUNTER.count(made) <= limit
    assert " ".join(text.split()).startswith(made.removesuffix("…"))


@given(st.text())
def test_salience_and_readability_lie_between_nought_and_one(text: str) -> None:
    assert 0.0 <= salience(text) <= 1.0 and 0.0 <= readability(text) <= 1.0


def test_each_kind_of_fact_and_cue_is_worth_what_it_says() -> None:
    worth = {
        "see pool_size there": 0.5 / 3,
        "see pool_size and pool_size there": 0.5 / 3,
        "see /etc/x there": 0.5 / 3,
        "see https://a.b/c there": 0.1,
        "see you on monday there": 0.2,
        "see 8443 there": 0.4 / 3,
        "see Marit there": 0.4 / 3,
        "do not touch there": 0.5 / 3,
        "we decided so": 1 / 3,
        "it was changed": 0.7 / 3,
        "we decided and changed it": 1.7 / 3,
        "nice weather": 0.0,
    }
    assert {text: pytest.approx(salience(text)) for text in worth} == worth
    assert salience("decided, changed: a_1 b_2 c_3 d_4 e_5 f_6") == 1.0


@pytest.mark.parametrize(
    ("text", "value"), [("a" * 17 + "---", 1.0), ("a" * 20 + "-" * 20, 0.0), ("a" * 6, 0.5), ("", 0.0)]
)
def test_prose_reads_well_and_signs_do_not(text: str, value: float) -> None:
    assert readability(text) == pytest.approx(value)


# ── what a summary and its pins keep of technical talk ───────────────────────────────────────────────────────────


def clusters() -> list[list[str]]:
    found: list[list[str]] = []
    for file in sorted(DATA.glob("*.json")):
        for conversation in json.loads(file.read_text(encoding="utf-8"))["conversations"]:
            sessions: dict[str, list[str]] = {}
            for turn in conversation["turns"]:
                sessions.setdefault(turn["session"], []).append(turn["text"])
            for texts in sessions.values():
                found += [texts[start : start + 20] for start in range(0, len(texts) - 19, 20)]
    return found


def words_with_signs(text: str) -> set[str]:
    """Whatever looks exact to a naive eye: words with digits, underscores or slashes."""
    words = (word.strip(".,:;!?*=-…~") for word in re.split(r"[\s\"`'()\[\]{}<>|,;]+", text))
    return {folded(word) for word in words if re.search(r"\d|\w_\w|\w/\w|^/\w", word)}


def test_technical_talk_keeps_its_facts_in_summaries_and_pins(capsys: pytest.CaptureFixture[str]) -> None:
    kept = total = alone = naive_kept = naive_total = 0
    tokens = {"source": 0, "summary": 0, "node": 0}
    every = clusters()
    for texts in every:
        sentences = [Sentence(*found) for found in turn_sentences([sanitise(text) for text in texts])]
        source = tokens_of(texts, COUNTER)
        made = extract(sentences, SETTINGS.rungs[0].limit(source), COUNTER)
        node = certified(texts, made.text, SETTINGS, COUNTER)
        after = certify(texts, node.text)
        kept += sum(fact.kind in EXACT for fact in after.kept)
        total += sum(fact.kind in EXACT for fact in (*after.kept, *after.missing))
        alone += sum(fact.kind in EXACT for fact in node.certificate.kept)
        looked_for = set[str]().union(*map(words_with_signs, texts))
        naive_kept += sum(word in folded(node.text) for word in looked_for)
        naive_total += len(looked_for)
        tokens["source"] += source
        tokens["summary"] += made.tokens
        tokens["node"] += node.tokens
        assert node.tokens < source and not node.pins.dropped
    pinned = (tokens["node"] - tokens["summary"]) / len(every)
    with capsys.disabled():
        print(  # noqa: T201
            f"\n{len(every)} clusters of 20 turns, {tokens['source'] / len(every):.0f} tokens each: summary "
            f"{tokens['summary'] / len(every):.0f}, pins {pinned:.0f} tokens; exact facts kept {kept / total:.3f} "
            f"({alone / total:.3f} by the summary alone), words with signs {naive_kept / naive_total:.3f}"
        )
    assert len(every) >= 25 and total >= 2000
    assert kept / total >= 0.98
    assert naive_kept / naive_total >= 0.97
    assert tokens["node"] <= 0.4 * tokens["source"]
