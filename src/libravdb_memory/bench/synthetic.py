"""Vectors and texts to measure with, the same for the same numbers.

Uniform or Gaussian vectors would mislead: all pairs are nearly orthogonal there, neighbours hardly differ, and graphs
fail for reasons that real embeddings never give. These are built as sentence embeddings lie: a common direction, topics
of uneven size, a spectrum that falls as a power of the rank. The constants are set so that the figures agree with 2,500
chat turns embedded by the bundled model (turns / synthetic):

    mean cosine of two         .18 / .17      share of the first component   .08 / .09
    its standard deviation     .12 / .13      components for half of it       22 / 19
    cosine of the nearest      .61 / .61      components for 90%             147 / 176
    cosine of the tenth        .50 / .52
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIMENSIONS = 384
_DECAY = 0.45
_COMMON = 0.4
_NOISE = 0.8
_TOPIC_SIZE = 40
_WORLD = 42

_WORDS = (
    "the project moved its weekly review to Thursday because the server in Oslo needs a new disk and nobody wants "
    "another outage before the release so please remember that Ada prefers short mails while Bruno reads long reports "
    "about garden plans music lessons train tickets budget figures parser errors and the small red kettle on the desk"
).split()


def vectors(count: int, seed: int) -> NDArray[np.float32]:
    """Unit vectors; every seed draws from the same topics if the count is the same."""
    world, chance = np.random.default_rng(_WORLD), np.random.default_rng(seed)
    rotation, _ = np.linalg.qr(world.standard_normal((DIMENSIONS, DIMENSIONS)))
    spectrum = np.arange(1, DIMENSIONS + 1) ** -_DECAY
    basis: NDArray[np.float32] = (spectrum[:, None] / np.linalg.norm(spectrum) * rotation).astype(np.float32)
    topics = world.standard_normal((max(count // _TOPIC_SIZE, 16), DIMENSIONS), dtype=np.float32)
    sizes = np.arange(1, len(topics) + 1) ** -0.5
    topic = chance.choice(len(topics), count, p=sizes / sizes.sum())
    rows = chance.standard_normal((count, DIMENSIONS), dtype=np.float32) * np.float32(_NOISE)
    rows += topics[topic] * np.float32((1 - _NOISE**2) ** 0.5)
    rows = _unit((rows @ basis).astype(np.float32, copy=False))
    rows *= np.float32((1 - _COMMON**2) ** 0.5)
    return _unit(rows + (rotation[-1] * _COMMON).astype(np.float32))


def text(number: int) -> str:
    """About forty words."""
    chance = Random(number)
    return f"{number}: " + " ".join(chance.choice(_WORDS) for _ in range(chance.randint(30, 50)))


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit
