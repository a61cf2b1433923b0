"""Late interaction agrees with the loop that defines it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from libravdb_memory.engines.protocol import TokenRows
from libravdb_memory.retrieve.late import Tokens, interact

WIDTH = 4
ONE = 127.0


@st.composite
def texts(draw: st.DrawFn) -> TokenRows:
    count = draw(st.integers(0, 6))
    ids = draw(arrays.arrays(np.uint16, count, elements=st.sampled_from([0, 1, 2, 700, 65_535])))
    return TokenRows(ids, draw(arrays.arrays(np.int8, (count, WIDTH), elements=st.integers(-127, 127))))


def tokens_of(candidates: list[TokenRows]) -> Tokens:
    return Tokens.of([candidate.to_bytes() for candidate in candidates], WIDTH)


def naive(question: TokenRows, candidate: TokenRows) -> tuple[list[float], list[int]]:
    match, count = [], []
    for asked, direction in zip(question.ids.tolist(), question.rows.astype(float), strict=True):
        products = [float(direction @ row) / ONE / ONE for row in candidate.rows.astype(float)]
        match.append(min(max([0.0, *products]), 1.0))
        count.append(sum(held == asked for held in candidate.ids.tolist()))
    return match, count


@given(texts(), st.lists(texts(), max_size=6))
def test_each_token_is_met_by_the_best_of_a_candidate_and_counted(
    question: TokenRows, candidates: list[TokenRows]
) -> None:
    match, count = interact(question.ids, question.rows, tokens_of(candidates))
    assert match.shape == count.shape == (len(candidates), len(question))
    for place, candidate in enumerate(candidates):
        best, held = naive(question, candidate)
        assert match[place].tolist() == pytest.approx(best, abs=1e-5)
        assert count[place].tolist() == held


@given(texts(), st.lists(texts(), max_size=6))
def test_no_value_leaves_its_range(question: TokenRows, candidates: list[TokenRows]) -> None:
    match, count = interact(question.ids, question.rows, tokens_of(candidates))
    assert ((match >= 0.0) & (match <= 1.0)).all()
    assert (count >= 0.0).all()
    assert np.isfinite(match).all()


@given(texts(), st.lists(texts(), min_size=1, max_size=6))
def test_candidates_do_not_touch_each_other(question: TokenRows, candidates: list[TokenRows]) -> None:
    together, counted = interact(question.ids, question.rows, tokens_of(candidates))
    for place, candidate in enumerate(candidates):
        alone, held = interact(question.ids, question.rows, tokens_of([candidate]))
        assert alone[0].tolist() == pytest.approx(together[place].tolist(), abs=1e-5)
        assert held[0].tolist() == counted[place].tolist()


def unit(*values: int) -> NDArray[np.int8]:
    return np.array([values], np.int8)


def test_a_token_meets_itself_wholly_its_opposite_not_at_all_and_a_stranger_in_part() -> None:
    asked = TokenRows(np.array([5], np.uint16), unit(127, 0, 0, 0))
    held = [unit(127, 0, 0, 0), unit(-127, 0, 0, 0), unit(0, 127, 0, 0), unit(64, 109, 0, 0)]
    candidates = [TokenRows(np.array([5 + place], np.uint16), rows) for place, rows in enumerate(held)]
    match, count = interact(asked.ids, asked.rows, tokens_of(candidates))
    assert match[:, 0].tolist() == pytest.approx([1.0, 0.0, 0.0, 64 / 127], abs=1e-6)
    assert count[:, 0].tolist() == [1, 0, 0, 0]


def test_a_candidate_without_tokens_meets_nothing_wherever_it_stands() -> None:
    asked = TokenRows(np.array([5], np.uint16), unit(127, 0, 0, 0))
    empty = TokenRows(np.empty(0, np.uint16), np.empty((0, WIDTH), np.int8))
    twice = TokenRows(np.array([5, 5], np.uint16), np.repeat(asked.rows, 2, axis=0))
    for order in ([empty, twice, asked], [twice, empty, asked], [twice, asked, empty], [empty, empty, twice]):
        match, count = interact(asked.ids, asked.rows, tokens_of(order))
        assert match[:, 0].tolist() == pytest.approx([float(len(candidate) > 0) for candidate in order])
        assert count[:, 0].tolist() == [len(candidate) for candidate in order]


@pytest.mark.parametrize("candidates", [0, 1, 3])
@pytest.mark.parametrize("asked", [0, 2])
def test_nothing_to_compare_is_no_evidence(candidates: int, asked: int) -> None:
    empty = TokenRows(np.empty(0, np.uint16), np.empty((0, WIDTH), np.int8))
    ids, rows = np.ones(asked, np.uint16), np.full((asked, WIDTH), 60, np.int8)
    match, count = interact(ids, rows, tokens_of([empty] * candidates))
    assert match.shape == count.shape == (candidates, asked)
    assert not match.any()
    assert not count.any()


@given(st.lists(texts(), max_size=6))
def test_joined_texts_are_cut_where_each_ends(candidates: list[TokenRows]) -> None:
    tokens = tokens_of(candidates)
    ends = np.cumsum([0, *tokens.lengths])
    assert tokens.lengths.tolist() == [len(candidate) for candidate in candidates]
    for candidate, (start, end) in zip(candidates, pairwise(ends.tolist()), strict=True):
        assert tokens.ids[start:end].tolist() == candidate.ids.tolist()
        assert tokens.rows[start:end].tolist() == candidate.rows.tolist()
