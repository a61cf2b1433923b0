"""Vectors and texts to measure with, the same for the same numbers.

Uniform or Gaussian vectors would mislead: all pairs are nearly orthogonal there, neighbours hardly differ, and graphs
fail for reasons that real embeddings never give. Sentence embeddings have a common direction, a spectrum that falls as
a power of the rank, and topics within topics of uneven size, so that the nearest neighbour comes nearer as the
collection grows. These are built that way, with constants set on 12,000 chat sentences embedded by the bundled model:

                                            sentences   synthetic
    cosine of two, mean ± deviation         .06 ± .10   .07 ± .10
    cosine of the nearest of 1,000 / 11,000 .60 / .76   .51 / .67
    cosine of the tenth                     .37 / .56   .32 / .48
    share of the first component            .04         .06
    components for 50% / 90% of all         41 / 190    41 / 238
    recall@10 of our graph, 16 / 32 / 64    .973 / .992 / .999   .975 / .990 / .997
    candidates
"""

from __future__ import annotations

from functools import cache
from random import Random
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from libravdb_memory.engines.protocol import TOKEN_DIMENSIONS, TokenRows

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIMENSIONS = 384
_DECAY = 0.35
_COMMON = 0.22
_BRANCHES = 16
_UNEVENNESS = 0.9
_TOPIC_VARIANCE = (0.1, 0.2, 0.2, 0.25)
"""Of the topics at each depth; what is left to one is the sentence's own."""
_WORLD = 42
_STOP_LENGTH, _MOST_TOKENS, _DISTINCT_ROWS = 3, 126, 4096

_WORDS = (
    "the project moved its weekly review to Thursday because the server in Oslo needs a new disk and nobody wants "
    "another outage before the release so please remember that Ada prefers short mails while Bruno reads long reports "
    "about garden plans music lessons train tickets budget figures parser errors and the small red kettle on the desk"
).split()


def vectors(count: int, seed: int) -> NDArray[np.float32]:
    """Unit vectors; every seed draws from the same topics."""
    world, chance = np.random.default_rng(_WORLD), np.random.default_rng(seed)
    rotation, _ = np.linalg.qr(world.standard_normal((DIMENSIONS, DIMENSIONS)))
    spectrum = np.arange(1, DIMENSIONS + 1) ** -_DECAY
    basis: NDArray[np.float32] = (spectrum[:, None] / np.linalg.norm(spectrum) * rotation).astype(np.float32)
    sizes = np.arange(1, _BRANCHES + 1) ** -_UNEVENNESS
    rows = chance.standard_normal((count, DIMENSIONS), dtype=np.float32)
    rows *= np.float32((1 - sum(_TOPIC_VARIANCE)) ** 0.5)
    topic = np.zeros(count, np.intp)
    for depth, variance in enumerate(_TOPIC_VARIANCE, start=1):
        topic = topic * _BRANCHES + chance.choice(_BRANCHES, count, p=sizes / sizes.sum())
        topics = world.standard_normal((_BRANCHES**depth, DIMENSIONS), dtype=np.float32)
        rows += topics[topic] * np.float32(variance**0.5)
    rows = _unit((rows @ basis).astype(np.float32, copy=False))
    rows *= np.float32((1 - _COMMON**2) ** 0.5)
    return _unit(rows + (rotation[-1] * _COMMON).astype(np.float32))


def text(number: int) -> str:
    """About forty words."""
    chance = Random(number)
    return f"{number}: " + " ".join(chance.choice(_WORDS) for _ in range(chance.randint(30, 50)))


def token_rows(said: str) -> bytes:
    """One row for each word but the shortest, as an engine gives them; the same word has the same row."""
    words = [crc32(word.encode()) for word in said.lower().split() if len(word) > _STOP_LENGTH][:_MOST_TOKENS]
    ids = np.array([word % (1 << 15) for word in words], np.uint16)
    return TokenRows(ids, _rows_of_words()[ids % _DISTINCT_ROWS]).to_bytes()


@cache
def _rows_of_words() -> NDArray[np.int8]:
    rows = np.random.default_rng(_WORLD).standard_normal((_DISTINCT_ROWS, TOKEN_DIMENSIONS), dtype=np.float32)
    return np.rint(_unit(rows) * 127).astype(np.int8)


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit
