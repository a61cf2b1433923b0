"""Extracts: within their price, in order, never empty where something can be said; what they and their pins keep."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.extracts import extract
from tests.growth import is_done_within

from libravdb_memory.compact import extract as extracts
from libravdb_memory.compact.certificate import certified, certify
from libravdb_memory.compact.extract import Extract, clip
from libravdb_memory.compact.judging import Judged, Sentence
from libravdb_memory.compact.preserve import progresses, tokens_of
from libravdb_memory.compact.salience import content_words, readability, salience, statement, words
from libravdb_memory.compact.sanitise import sanitise
from libravdb_memory.compact.sentences import turn_sentences
from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.compact.spans import Kind, folded
from libravdb_memory.compact.views import View
from libravdb_memory.compact.voices import spoken
from libravdb_memory.engines.hashed import HashedEmbedder
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
    sentences = of("plain words were put inside", "plain words were put beside", "plain words were put aboard")
    vectors = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    assert extract(sentences, 27, CharacterCounter(), vectors).picked == (1,)


def test_a_telling_sentence_beats_one_that_is_as_near() -> None:
    sentences = of("it was a nice day and so on", "we decided to keep port 8443", "it was a nice day and so on")
    assert extract(sentences, 28, CharacterCounter(), np.ones((3, 2))).picked == (1,)


def test_what_was_said_is_not_said_again() -> None:
    sentences = of("the cache is warm today", "the cache is warm today", "queues were drained at last")
    vectors = np.array([[1.0, 0.2], [1.0, 0.2], [0.6, 0.8]])
    assert extract(sentences, 51, CharacterCounter(), vectors).picked == (0, 2)
    assert extract(sentences, 51, CharacterCounter()).picked == (0, 2)
    near = of("the cache is warm today", "the cache is warm today, yes", "queues were drained at last")
    assert extract(near, 51, CharacterCounter(), vectors).picked == (0, 2)
    assert extract(near, 51, CharacterCounter()).picked == (0, 2)
    prior = np.array([[1.0, 0.2]])
    assert extract(sentences, 27, CharacterCounter(), vectors).picked == (0,)
    assert extract(sentences, 27, CharacterCounter(), vectors, prior).picked == (2,)
    assert extract(sentences, 27, CharacterCounter(), vectors, np.zeros((0, 2))).picked == (0,)


def test_likeness_is_weighed_against_news_and_not_forbidden() -> None:
    first = "The mason carved a stone lion for the old town hall roof"
    little, much = "They sold ropes and iron nails there", "A baker and a tailor rented the empty mill near the river"
    vectors = np.array([[1.0, 0.0], [0.4, 0.917], [0.0, 1.0]])
    limit = len(first) + len(much) + 1
    assert extract(of(first, much, little), limit, CharacterCounter(), vectors).picked == (0, 1)
    alike = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert extract(of(first, much, little), limit, CharacterCounter(), alike).picked == (0, 2)


def test_being_telling_is_weighed_against_news_and_does_not_decide_alone() -> None:
    telling = "we decided and changed pool_size and max_age and the_rest"
    news = "we carved lions, baked bread, rented mills, mended coats."
    assert salience(telling) == 1.0 and salience(news) == 0.0 and len(telling) == len(news)
    rope, vectors = "the rope was sold", np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    assert extract(of(rope, telling, news), len(news), CharacterCounter(), vectors).picked == (1,)
    more = "we carved lions, baked bread, rented mills, mended boots, sold ropes, tuned harps, mixed paints."
    assert extract(of(rope, telling, more), len(more), CharacterCounter(), vectors).picked != (1,)


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


# ── talk ─────────────────────────────────────────────────────────────────────────────────────────────────────────

TALK = (
    "Ada: Hey Ben! Long time no see! How have you been?",
    "Ben: Hi Ada! Wow, so good to hear from you!",
    "Ada: I moved to Lisbon in March and rent a flat above a bakery. It's so cool!",
    "Ben: That's awesome, Ada! You must be so happy!",
    "Ada: Thanks, Ben! I really appreciate it, you're the best!",
    "Ben: Totally agree, Ada. I signed up for a pottery class with my sister every Tuesday.",
    "Ada: Wow, that's really cool, Ben! What do you like most about it?",
    "Ben: Thanks, Ada! You're so kind!",
    "Ada: We adopted a grey cat named Miso from the shelter last week.",
    "Ben: Aww, so sweet! That's great, Ada! Sounds wonderful!",
)
FACTS = ("moved to Lisbon", "signed up for a pottery class", "adopted a grey cat")


@pytest.mark.parametrize("embedder", [HashedEmbedder(), None])
def test_the_facts_of_a_talk_are_told_and_its_pleasantries_are_not(embedder: HashedEmbedder | None) -> None:
    sentences = spoken([View(turn[5:], turn[:3]) for turn in TALK])
    vectors = None if embedder is None else embedder.embed_documents([each.text for each in sentences])
    made = extract(sentences, 64, COUNTER, vectors).text
    assert all(fact in made for fact in FACTS)
    assert not re.search("thanks|wow|appreciate|kind|happy|[?]", made, re.I)


def test_each_line_says_once_who_speaks() -> None:
    sentences = spoken(
        [View("The port is 8443 now. The host became db-2.", "Ada"), View("Redis replaced the old queue.", "Ben")]
    )
    assert extract(sentences, 100, COUNTER).text == (
        "Ada: The port is 8443 now. The host became db-2.\nBen: Redis replaced the old queue."
    )
    only_second = extract(sentences, len("Ada: The host became db-2."), CharacterCounter()).text
    assert only_second in ("Ada: The port is 8443 now.", "Ada: The host became db-2.")


def test_a_label_counts_toward_the_limit_and_gives_way_when_it_is_long() -> None:
    sentence = Sentence(0, "The port is 8443 now.", "Ada")
    assert extract([sentence], 26, CharacterCounter()).text == "Ada: The port is 8443 now."
    assert extract([sentence], 25, CharacterCounter()) == Extract("Ada: The port is 8443…", 22, cut=True)
    assert extract([Sentence(0, "The port is 8443 now.", "Adalbert")], 26, CharacterCounter()).text == (
        "The port is 8443 now."
    )


def test_names_of_those_who_take_part_tell_nothing() -> None:
    talk = [
        Sentence(0, "Ada Lovelace and Ben Franklin and Ada", speaker) for speaker in ("Ada Lovelace", "Ben Franklin")
    ]
    assert content_words(words(talk[0].text), {"ada", "lovelace", "ben", "franklin"}) == frozenset()
    told = [*talk, Sentence(1, "the mill near the river was sold then", "Ben Franklin")]
    assert extract(told, 60, CharacterCounter()).picked == (2,)


def test_a_question_is_told_only_where_nothing_else_is() -> None:
    question, answer = "Where did the tailor rent a mill?", "The tailor rented a mill upstream."
    assert extract(of(question, answer), 34, CharacterCounter()).picked == (1,)
    assert extract(of(question), 34, CharacterCounter()).text == question


def test_headings_announcements_and_markers_give_way_to_statements() -> None:
    plain = "the tailor rented an old mill by the river"
    for idle in ("## The tailor and the old mill by a river", "**The tailor and the old mill by a river**",
                 "the tailor rented an old mill by a river:", "[the tailor rented an old mill by river]"):  # fmt: skip
        assert extract(of(idle, plain), 42, CharacterCounter()).picked == (1,), idle


def test_what_brings_no_new_words_is_left_out_though_there_is_room() -> None:
    sentences = of("The tailor rented an old mill by the river.", "Yes, an old mill, tailor!", "Bye!")
    assert extract(sentences, 1000, COUNTER).picked == (0,)


def test_a_sentence_without_facts_does_not_win_by_not_having_been_read() -> None:
    plain, telling = "we rented the mill and sold it again", "we rented the mill for 900 EUR in May"
    assert extract(of(plain, telling), 37, CharacterCounter()).picked == (1,)
    assert extract(of(telling, plain), 37, CharacterCounter()).picked == (0,)


def test_a_fact_is_worth_its_price() -> None:
    short = ["The mill burned down on Friday.", "The baker moved to Porto again."]
    long = "The mill, which stood there for as long as any of us could ever have cared for it, burned down on Friday."
    assert extract(of(long, *short), len(long), CharacterCounter()).picked == (1, 2)


@given(
    st.lists(st.tuples(st.sampled_from(["", "Ada", "user", "東京"]), st.text(max_size=60)), min_size=1, max_size=8),
    st.integers(0, 60),
)
def test_with_labels_too_an_extract_keeps_its_limit_and_its_words(said: list[tuple[str, str]], limit: int) -> None:
    sentences = [Sentence(turn, text, speaker) for turn, (speaker, text) in enumerate(said)]
    made = extract(sentences, limit, COUNTER)
    assert made.text == "" or COUNTER.count(made.text) <= limit
    lines = made.text.split("\n") if made.picked else []
    assert len(lines) == len(made.picked)
    for line, place in zip(lines, made.picked, strict=True):
        told = " ".join(sentences[place].text.split())
        assert line in (told, f"{sentences[place].speaker}: {told}")


@given(st.text(max_size=80))
def test_a_statement_lies_between_nought_and_one(text: str) -> None:
    said = words(text)
    assert 0.0 <= statement(text, said, content_words(said)) <= 1.0


def test_each_manner_of_speaking_is_worth_what_it_says() -> None:
    worth = {
        "I rented an old mill near the river": 1.0,
        "He rented an old mill near the river": 0.9,
        "Did I rent an old mill near the river?": 0.5,
        "I rented an old mill near the river:": 0.45,
        "# I rented an old mill near the river": 0.45,
        "[I rented an old mill near the river]": 0.6,
        "I rented an old mill => near the river": 0.7,
        "I rented you an old mill near the river": 0.8,
        "I rented an old mill": 0.5,
        "Wow, thanks, that's so cool, really": 0.0,
    }
    assert {text: pytest.approx(statement(text, words(text), content_words(words(text)))) for text in worth} == worth


def test_words_are_compared_without_endings_and_apostrophes() -> None:
    assert content_words(words("Painting's fun; she painted, paints")) == {"paint", "fun"}
    assert words("東京都庁 ok") == ["東京", "都庁", "ok"]


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


@pytest.mark.parametrize("piece", ["<", "- ", "; ", "(", "import ", "=", "/ "])
def test_how_a_sentence_is_said_is_judged_in_time_that_grows_with_it(piece: str) -> None:
    """Ten thousand signs in a row took most of a second, with every other thread standing still."""
    sentence = piece * (20_000 // len(piece))
    assert is_done_within(0.5, lambda: statement(sentence, [sentence], [sentence]))


def test_sentences_without_a_vector_fill_only_the_room_that_those_with_one_leave() -> None:
    """A vector tells against some of what the words speak for, so they cannot be compared."""
    plain = "We met in the hall on Monday and had a look at the old lamps."
    better = "We decided to move billing to port 8443 on Friday because the proxy keeps port 8080 for itself."
    judged = Judged([Sentence(0, plain), Sentence(1, better)])
    counter = EstimatingCounter()
    vectors = {0: np.array([1.0, 0.0])}
    room = counter.count(better)
    assert extracts.extract(judged, room, counter).text == better
    assert extracts.extract(judged, room, counter, vectors).text == plain
    assert extracts.extract(judged, 3 * room, counter, vectors).picked == (0, 1)
