"""The scan takes time proportional to the length of the text, whatever its shape."""

from __future__ import annotations

import pytest
from tests.growth import grows_with_length

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
LONG, SHORT = 100_000, 25_000
LENGTHS = {"prose": LONG, "no punctuation": LONG, "all commas": LONG, "deep parentheses": LONG}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_time_grows_with_the_length_of_the_text(shape: str) -> None:
    assert grows_with_length(scan, SHAPES[shape], LENGTHS.get(shape, SHORT))
