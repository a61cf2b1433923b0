"""Exact cosine search over rows in memory.

Law: the answer is the k rows of highest cosine, ties by ref, and it depends on the rows alone: not on their order, on
what else is compared, or on how the processor adds. Fast single precision picks the candidates, with a margin that
covers its worst rounding; double precision scores them, each row by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.store.protocol import Found

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Refs = NDArray[np.int64]
    Rows = NDArray[np.float32]
    Slots = NDArray[np.intp]
    Scores = NDArray[np.float32]

UNIT_TOLERANCE = 4e-6
_BLOCK = 8192
_WIDE_BYTES = 96 << 10


@dataclass(frozen=True, slots=True)
class Query:
    """A query vector in both precisions; `unit` is zero when the vector is."""

    unit: Rows
    precise: NDArray[np.float64]

    @property
    def is_zero(self) -> bool:
        return not self.precise.any()

    @property
    def margin(self) -> float:
        """No single-precision score of a unit row is further than half of this from the true one."""
        return 2 * (2 * len(self.unit) * 2.0**-24 + UNIT_TOLERANCE)


def prepare(vector: Rows, dimensions: int) -> Query:
    """Refuses a query of another length, or one that is not finite."""
    if vector.shape != (dimensions,):
        raise InvalidInputError("vector", f"has shape {vector.shape}, the space has {dimensions} dimensions")
    if not np.isfinite(vector).all():
        raise InvalidInputError("vector", "has components that are not finite")
    precise = vector.astype(np.float64)
    length = float(np.sqrt((precise * precise).sum()))
    precise = precise / length if length > 0 else precise
    return Query(precise.astype(np.float32), precise)


def make_unit(rows: Rows) -> None:
    """Scale rows to length one in place. Rows already there to float accuracy are left as they are, zeros too."""
    with np.errstate(over="ignore"):
        squares = np.einsum("ij,ij->i", rows, rows)
    others = np.flatnonzero(~(np.abs(squares - 1) <= UNIT_TOLERANCE))
    for start in range(0, others.shape[0], _BLOCK):
        slots = others[start : start + _BLOCK]
        precise = rows[slots].astype(np.float64)
        lengths = np.sqrt((precise * precise).sum(axis=1, keepdims=True))
        rows[slots] = precise / np.where(lengths > 0, lengths, 1.0)


def similarities(rows: Rows, query: Query) -> Scores:
    """Single-precision cosines of unit rows, on one thread.

    One dot product a row reads memory at full speed; the matrix-vector routine of OpenBLAS needs twice the time for
    tall matrices and may start a thread for every core.
    """
    # NumPy 1 has no vecdot.
    scores: Scores = np.vecdot(rows, query.unit) if hasattr(np, "vecdot") else np.einsum("ij,j->i", rows, query.unit)
    return scores


def candidates(scores: Scores, k: int, margin: float) -> Slots:
    """Slots that may be among the k best; dead slots score minus infinity and never are."""
    count = scores.shape[0]
    floor = np.float32(-2)
    if k < count:
        floor = max(floor, np.partition(scores, count - k)[count - k] - np.float32(margin))
    return np.flatnonzero(scores >= floor)


def score(refs: Refs, rows: Rows, query: Query, k: int) -> tuple[Found, ...]:
    """The k best of these rows, scored in double precision."""
    values = cosines(rows, query)
    order = np.lexsort((refs, -values))[:k]
    return tuple(map(Found, refs[order].tolist(), values[order].tolist()))


def merge(parts: tuple[tuple[Found, ...], ...], k: int) -> tuple[Found, ...]:
    return tuple(sorted((hit for part in parts for hit in part), key=lambda hit: (-hit.score, hit.ref))[:k])


def cosines(rows: Rows, query: Query) -> NDArray[np.float64]:
    """In double precision, each row by itself."""
    values = np.empty(rows.shape[0], np.float64)
    # Larger copies go back to the system when they are freed, and being given them anew costs more than the arithmetic.
    step = max(_WIDE_BYTES // (8 * max(rows.shape[1], 1)), 1)
    for start in range(0, rows.shape[0], step):
        wide = rows[start : start + step].astype(np.float64)
        lengths = np.sqrt((wide * wide).sum(axis=1))
        dots = (wide * query.precise).sum(axis=1)
        values[start : start + step] = np.clip(dots / np.where(lengths > 0, lengths, 1.0), -1.0, 1.0)
    return values
