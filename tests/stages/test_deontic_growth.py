"""The scan takes time proportional to the length of the text, whatever its shape."""

from __future__ import annotations

import time

import pytest

from libravdb_memory.ingest.deontic import scan

SHAPES = {
    "prose": "The scheduler keeps a list of jobs. Run the tests before you push, and never skip them. ",
    "no punctuation": "the quick words go on and on ",
    "one long word": "a",
    "all quotation marks": '"',
    "opening quotation marks": "“",
    "all commas": ",",
    "commas after if": "if a, ",
    "deep parentheses": "(",
    "shallow parentheses": "(a) ",
    "if if if": "if ",
    "not not not": "not ",
    "never never never": "never ",
    "you must you must": "you must ",
    "coordinated verbs": "test and ",
    "backticks": "` a ",
    "angles": "<a ",
    "comments": "<!--",
    "links": "](",
    "semicolons": "run it; ",
    "list items": "- a\n",
    "newlines": "\n",
}
LONG = (100_000, 800_000)
SHORT = (25_000, 200_000)
LENGTHS = {"prose": LONG, "no punctuation": LONG, "all commas": LONG, "deep parentheses": LONG}
GROWTH_LIMIT = 24  # eightfold length: linear is about 8, quadratic 64


def seconds(text: str) -> float:
    started = time.process_time()
    scan(text)
    return time.process_time() - started


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_time_grows_with_the_length_of_the_text(shape: str) -> None:
    lengths = LENGTHS.get(shape, SHORT)
    text = SHAPES[shape] * (lengths[-1] // len(SHAPES[shape]) + 1)
    taken: list[float] = []
    for _ in range(3):  # a busy machine can only make a run slower: one linear run is proof
        taken = [seconds(text[:length]) for length in lengths]
        if taken[-1] <= GROWTH_LIMIT * max(taken[0], 0.002):
            return
    pytest.fail(f"{shape}: {taken}")
