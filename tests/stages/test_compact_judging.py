"""Which sentences are worth a vector: laws, and examples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.compact.judging import SHORTLISTED, Judged, Sentence, Worth, per_token
from libravdb_memory.tokens import EstimatingCounter

COUNTER = EstimatingCounter()

WORDS = (
    "we I you the lamp ferry harbour port 8443 moved instead decided no longer Friday 2026-03-02 src/app.py always "
    "because Lisbon ? changed tea green not now user: the of"
).split()
said = st.lists(st.sampled_from(WORDS), min_size=1, max_size=14).map(" ".join)
speakers = st.sampled_from(("user", "assistant", "tool", ""))
talks = st.lists(st.tuples(said, speakers), min_size=1, max_size=25).map(
    lambda told: [Sentence(turn // 2, text, speaker) for turn, (text, speaker) in enumerate(told)]
)
limits = st.integers(1, 120)


@given(talks, limits)
def test_a_shortlist_costs_no_more_than_its_share_and_is_the_same_again(talk: list[Sentence], limit: int) -> None:
    judged = Judged(talk)
    listed = judged.shortlist(limit, COUNTER)
    assert listed == sorted(set(listed)) == Judged(list(talk)).shortlist(limit, COUNTER)
    prices = [COUNTER.count(judged.told[number].text) for number in listed]
    assert sum(prices) <= SHORTLISTED * limit and max(prices, default=0) <= limit


@given(talks, st.integers(0, 2**32 - 1))
def test_no_vector_makes_a_sentence_worth_more_than_the_shortlist_takes_it_for(talk: list[Sentence], seed: int) -> None:
    """So none that was left out could have been the best for its tokens of all."""
    judged = Judged(talk)
    if not judged.told:
        return
    rows = np.random.default_rng(seed).normal(size=(len(judged.told), 3))
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    worth = Worth(judged, rows)
    assert (worth.of_all(np.ones(len(judged.told))) <= judged.at_most() + 1e-9).all()
    for number in range(0, len(judged.told), 2):
        worth.read(number)
        worth.take(number)
    assert (worth.of_all(np.ones(len(judged.told))) <= judged.at_most() + 1e-9).all()


@given(talks)
def test_each_sentence_is_judged_once(talk: list[Sentence]) -> None:
    twice = Judged([*talk, *talk])
    assert [each.text for each in twice.told] == [each.text for each in Judged(talk).told]
    assert twice.places == Judged(talk).places


def test_what_is_told_is_listed_before_pleasantries() -> None:
    told = "We moved billing to port 8443 because the proxy keeps 8080 for itself."
    chat = ["Sure, no problem at all!", "Thanks a lot, that was nice of you.", "You are welcome, as always.", "Great!"]
    talk = [Sentence(turn, text, "user") for turn, text in enumerate([*chat, told, *chat])]
    judged = Judged(talk)
    ranked = np.argsort(-judged.at_most() * per_token(np.array([COUNTER.count(each.text) for each in judged.told])))
    assert judged.told[ranked[0]].text == told
    chatter = Judged([Sentence(turn, f"{text} {turn}", "user") for turn, text in enumerate(chat * 20)] + talk)
    listed = [chatter.told[number].text for number in chatter.shortlist(COUNTER.count(told), COUNTER)]
    assert told in listed
    assert len(listed) < 10


@pytest.mark.parametrize("limit", [0, 1])
def test_where_nothing_fits_nothing_is_listed(limit: int) -> None:
    assert Judged([Sentence(0, "We moved billing to port 8443 yesterday.", "user")]).shortlist(limit, COUNTER) == []
    assert Judged([]).shortlist(limit, COUNTER) == []
    assert Judged([Sentence(0, "…", "user")]).told == []
