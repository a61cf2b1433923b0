"""Extracts of sentences that are judged for the occasion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from libravdb_memory.compact import extract as extracts
from libravdb_memory.compact.extract import Extract
from libravdb_memory.compact.judging import Judged, Sentence
from libravdb_memory.tokens import TokenCounter

Rows = NDArray[np.float32] | NDArray[np.float64]


def extract(
    sentences: Sequence[Sentence],
    limit: int,
    counter: TokenCounter,
    vectors: Rows | None = None,
    prior: Rows | None = None,
) -> Extract:
    """`vectors` has a row for each sentence."""
    judged = Judged(sentences)
    known = None if vectors is None else {number: vectors[place] for number, place in enumerate(judged.places)}
    return extracts.extract(judged, limit, counter, known, prior)
