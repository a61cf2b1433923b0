"""The price of a text: exact values of the formula, per script."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.tokens import EstimatingCounter, gate_length

count = EstimatingCounter().count


@pytest.mark.parametrize(
    ("text", "chi"),
    [
        ("plain words", "4"),
        ("café naïve Ωmega", "4"),
        ("привет", "5/2"),
        ("hello привет", "5/2"),
        ("שלום", "5/2"),
        ("مرحبا بالعالم", "5/2"),
        ("日本語", "8/5"),
        ("ひらがな", "8/5"),
        ("カタカナ", "8/5"),
        ("한국어 텍스트", "8/5"),
        ("привет 日本", "8/5"),
        ("𠀋", "8/5"),
        ("emoji 🎉 only", "4"),
    ],
)
def test_the_estimate_is_code_points_over_chi_rounded_up(text: str, chi: str) -> None:
    assert count(text) == math.ceil(Fraction(len(text)) / Fraction(chi))


@given(st.text())
def test_the_estimate_never_shrinks_when_text_is_added(text: str) -> None:
    assert count(text) <= count(text + "x") <= count(text + "x日")


def test_nothing_costs_nothing() -> None:
    assert count("") == 0


@pytest.mark.parametrize(("length", "measure"), [(0, 1), (1, 1), (7, 1), (8, 2), (401, 100)])
def test_the_gate_measure_rounds_down_and_is_never_zero(length: int, measure: int) -> None:
    assert gate_length("x" * length) == measure
