"""Errors that are planted to see whether a test fails: each is of a line that is there, and belongs to some tests."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from mutants import MUTANTS, PACKAGE, TESTS

TESTED = Path(__file__).resolve().parents[1]


def test_every_planted_error_is_of_one_place_that_is_there_and_leaves_a_program() -> None:
    wrong: list[str] = []
    for name, fragment, replacement in MUTANTS:
        source = (PACKAGE / name).read_text(encoding="utf-8")
        if source.count(fragment) != 1:
            wrong.append(f"{name} has {source.count(fragment)} times {fragment!r}")
            continue
        try:
            _ = ast.parse(source.replace(fragment, replacement)) if name.endswith(".py") else None
        except SyntaxError as error:
            wrong.append(f"{name} is no program with {replacement!r} for {fragment!r}: {error}")
    assert wrong == []


@pytest.mark.parametrize("name", sorted({name for name, _, _ in MUTANTS}))
def test_every_file_with_planted_errors_has_tests_that_are_there(name: str) -> None:
    assert TESTS[name] and all((TESTED / test).exists() for test in TESTS[name])
