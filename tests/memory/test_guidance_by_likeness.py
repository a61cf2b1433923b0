"""Rules that are not read as such: kept for their wording, or for their meaning where a model can tell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.compact.standing import read
from libravdb_memory.compact.weighing import ALONE, HINT, chance, likeness
from libravdb_memory.elevating import Elevation, _narrowest, bundled_weights
from libravdb_memory.engines.hashed import HashedEmbedder
from libravdb_memory.engines.protocol import Embedder
from libravdb_memory.engines.select import make_embedder
from libravdb_memory.errors import ModelUnavailableError
from libravdb_memory.ingest.deontic import scan
from libravdb_memory.model import Record
from libravdb_memory.shards import Shard
from libravdb_memory.tokens import EstimatingCounter

WORDED = "With me it's oat milk or nothing."
MEANT = "Replies in one paragraph are fine."
TALE = "The client loved the three bullets and we went home early."
SETTINGS = CompactionSettings()


class Failing(HashedEmbedder):
    """Claims the bundled model's space, and cannot embed."""

    def __init__(self) -> None:
        super().__init__()
        self.space = make_embedder().space

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise ModelUnavailableError("failing", "gone")


def shard_of(
    text: str, embedder: Embedder, settings: CompactionSettings = SETTINGS, role: str = "user"
) -> Shard | None:
    record = Record(1, "history:u", "s", "t1", 0, text, {"role": role, "user": "u"}, "", 1)
    vectors = np.zeros((1, embedder.space.dimensions), np.float32)
    found = Elevation(embedder, EstimatingCounter(), settings).shards([record], {}, vectors)
    return found[0] if found else None


def like_by_words(sentence: str) -> float:
    """When it is all that a turn says."""
    return likeness(bundled_weights().of_words(sentence) - chance(1))


def test_the_examples_are_not_read_as_rules_and_hint_at_them_more_or_less() -> None:
    assert not any(read(text, scan(text).marks).rules for text in (WORDED, MEANT, TALE))
    worded, meant, tale = map(like_by_words, (WORDED, MEANT, TALE))
    assert worded >= ALONE > meant >= HINT > tale


@pytest.mark.parametrize("make", [make_embedder, HashedEmbedder, Failing])
def test_what_is_worded_like_a_rule_is_kept_whatever_the_model(make: type[HashedEmbedder]) -> None:
    kept = shard_of(WORDED, make())
    assert kept is not None
    assert (kept.text, kept.reason) == (WORDED, "worded like a rule")
    assert kept.draft("u").metadata["guidance_likeness"] == round(like_by_words(WORDED), 3)


def test_a_model_adds_what_only_hints_and_the_record_says_how_like_guidance_it_is() -> None:
    kept = shard_of(f"Hm. {MEANT}", make_embedder())
    assert kept is not None
    metadata = kept.draft("u").metadata
    assert metadata["protection_reason"] == "like known guidance"
    assert SETTINGS.guidance_prototype <= float(str(metadata["guidance_likeness"])) <= 1.0


def test_what_was_read_as_a_rule_claims_no_likeness() -> None:
    kept = shard_of("Never push to main.", make_embedder())
    assert kept is not None
    assert kept.reason == "rule"
    assert "guidance_likeness" not in kept.draft("u").metadata


@pytest.mark.parametrize("make", [HashedEmbedder, Failing])
def test_without_the_model_that_was_learned_from_the_words_stand_alone(make: type[HashedEmbedder]) -> None:
    assert shard_of(MEANT, make()) is None


def test_a_model_is_not_asked_about_a_tale_nor_about_an_assistant() -> None:
    assert shard_of(TALE, make_embedder()) is None
    assert shard_of(MEANT, make_embedder(), role="assistant") is None


def test_the_bound_of_similarity_is_the_bound_of_likeness_too() -> None:
    assert shard_of(MEANT, make_embedder(), CompactionSettings(guidance_prototype=1.0)) is None


def test_of_a_long_turn_the_sentence_is_kept_that_is_like_guidance() -> None:
    long = "We went to the lake and it was cold. " * 30
    kept = shard_of(f"{long}{WORDED} {long}", make_embedder())
    assert kept is not None
    assert WORDED in kept.text
    assert len(kept.text) < len(long) / 2


def test_a_turn_that_says_much_needs_more_to_be_taken_for_a_rule() -> None:
    assert shard_of(MEANT, make_embedder()) is not None
    assert shard_of("We went to the lake and it was cold. " * 5 + MEANT, make_embedder()) is None


def test_a_sentence_makes_way_for_its_clauses_and_no_other() -> None:
    sentence, clause, last, other = (0, 50), (0, 20), (30, 50), (60, 80)
    assert _narrowest([other, sentence]) == (sentence, other)
    assert _narrowest([sentence, last]) == (last,)
    assert _narrowest([other, last, sentence, clause]) == (clause, last, other)


STORY = "we flew to Lisbon with my sister and her two kids and a very large stroller that nobody wanted to carry"
CLAUSE = "please always answer me in short sentences"


def test_of_a_long_sentence_the_clause_is_kept_that_states_the_rule() -> None:
    text = f"{STORY}, {CLAUSE}, {STORY} back home."
    reading = read(text, scan(text).marks)
    assert len(reading.rules) == 1
    kept = shard_of(text, make_embedder())
    assert kept is not None
    assert kept.text.rstrip(",") == CLAUSE


def test_what_was_read_as_a_rule_is_dropped_where_its_words_speak_against_it() -> None:
    """Somebody's own resolution: patterns see an order in it, and it gives none."""
    text = "We must never forget how cold the lake was in that summer, and we laughed about it for years."
    assert read(text, scan(text).marks).rules
    assert shard_of(text, make_embedder()) is None


@pytest.mark.parametrize(
    "text",
    [
        "Please run the linter again, and never commit directly to main.",
        "Run the linter again please, and never commit directly to main, I mean it, it broke our release twice.",
        "Niemals direkt auf der Produktionsdatenbank testen!",
        "Teste niemals direkt auf der Produktionsdatenbank.",
    ],
)
def test_a_clause_that_begins_as_nothing_but_a_rule_does_is_kept_whatever_stands_around_it(text: str) -> None:
    shard = shard_of(text, HashedEmbedder())
    assert shard is not None and shard.text == text and not shard.reason.startswith(("worded", "like"))


def test_of_a_turn_that_is_too_long_such_a_clause_is_kept_and_not_what_stands_around_it() -> None:
    before = "Please run the linter again on the seven folders that we moved on Monday and tell me what it finds there"
    shard = shard_of(
        f"{before}, and never commit directly to main.", HashedEmbedder(), CompactionSettings(guidance_tokens=16)
    )
    assert shard is not None and shard.text == "and never commit directly to main."


def test_sentences_that_were_embedded_for_the_summary_are_not_embedded_again() -> None:
    from libravdb_memory.compact.views import View
    from libravdb_memory.condensing import Condenser

    asked: list[str] = []

    class Counting(HashedEmbedder):
        def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
            asked.extend(texts)
            return super().embed_documents(texts)

    condenser = Condenser(Counting(), EstimatingCounter(), SETTINGS, None)
    condenser.prepare([[View(f"It went well. {MEANT}", "user")]], lambda: False)
    assert condenser.sentence_vectors([MEANT]).shape == (1, Counting().space.dimensions)
    assert asked.count(MEANT) == 1


@pytest.mark.parametrize("before", [0, 1])
def test_of_a_long_sentence_that_reads_as_a_rule_the_clause_is_kept_that_is_most_like_one(before: int) -> None:
    """With more around it no clause is worded like a rule any longer: still not the whole sentence."""
    rule = "and I prefer combining formulas with small drawings,"
    sentence = (
        "I'm trying to understand how to apply conditional probability to dependent events, like drawing two aces in a "
        f"row from a deck of 52 without replacement, {rule} because last week we had a long talk about it in class and "
        "the teacher went through the whole thing twice, which helped a lot but also took most of the afternoon"
    )
    kept = shard_of("We went to the lake. " * before + sentence, make_embedder())
    assert kept is not None
    assert kept.reason == "liking or custom"
    assert rule in kept.text
    assert EstimatingCounter().count(kept.text) <= SETTINGS.guidance_tokens
