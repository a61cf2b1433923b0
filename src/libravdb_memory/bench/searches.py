"""Vector search of a large store: exact beside plain NumPy, approximate beside exact, and a small collection inside.

Queries alternate between the contenders, so a busy moment of the machine hits all alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from libravdb_memory.bench import synthetic
from libravdb_memory.bench.figures import at_least, at_most, median_ratio, spread
from libravdb_memory.model import Draft
from libravdb_memory.store.protocol import Put, Space, Store, VectorHits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

LARGE, SMALL = "history:large", "history:small"
K = 10
_BATCH = 2000
_BLOCK = 25


def fill(store: Store, space: Space, collection: str, vectors: Vectors) -> list[int]:
    """Records with these vectors; returns their refs."""
    refs: list[int] = []
    for start in range(0, len(vectors), _BATCH):
        batch = vectors[start : start + _BATCH]
        drafts = [
            Draft(collection, f"{collection}-{start + i}", synthetic.text(start + i), {"role": "user"}, start + i)
            for i in range(len(batch))
        ]
        committed = store.commit([Put(draft, append_only=True) for draft in drafts])
        refs += [record.ref for record in committed.records]
        store.put_vectors(space, refs[start:], batch)
    return refs


def exact(store: Store, vectors: Vectors, queries: Vectors) -> dict[str, Any]:
    """Through the store, against the two lines of NumPy anybody would write; and, for the record, against the fastest
    we know: BLAS is slow at tall matrices, and more so when its threads must share the cores."""

    def best_of(scores: Vectors) -> object:
        best = np.argpartition(-scores, K)[:K]
        return best[np.argsort(-scores[best])]

    ours, plain, fastest = _alternate(
        queries,
        lambda query: store.search_vectors(LARGE, query, K, exact=True),
        lambda query: best_of(vectors @ query),
        lambda query: best_of(np.vecdot(vectors, query) if hasattr(np, "vecdot") else vectors @ query),
    )
    return at_most(
        median_ratio(ours, plain),
        1.15,
        store=spread(ours),
        numpy=spread(plain),
        numpy_vecdot=spread(fastest),
        ratio_to_vecdot=round(median_ratio(ours, fastest), 4),
        vectors=len(vectors),
    )


def small_collection(store: Store, vectors: Vectors, refs: Sequence[int], queries: Vectors) -> dict[str, Any]:
    (times,) = _alternate(queries, lambda query: store.search_vectors(SMALL, query, K))
    recall = _recall(store, SMALL, vectors, refs, queries)
    p50 = spread(times)
    return at_most(p50["p50_ms"], 0.3, recall=at_least(recall, 1.0), **p50, vectors=len(vectors))


def approximate(store: Store, vectors: Vectors, refs: Sequence[int], queries: Vectors) -> dict[str, Any]:
    """The index must be ready: exact search answers until it is."""
    answers: list[VectorHits] = [store.search_vectors(LARGE, query, K) for query in queries[:20]]

    def exactly(query: Vectors) -> object:
        return store.search_vectors(LARGE, query, K, exact=True)

    def nearly(query: Vectors) -> object:
        return store.search_vectors(LARGE, query, K)

    slow, fast = _alternate(queries, exactly, nearly, block=_BLOCK)
    _, after_a_scan = _alternate(queries, exactly, nearly)
    recall = _recall(store, LARGE, vectors, refs, queries)
    return {
        "used": not any(answer.exact for answer in answers),
        "recall_at_10": at_least(recall, 0.99),
        "faster_than_exact": at_least(median_ratio(slow, fast), 10.0),
        "approximate": spread(fast),
        "approximate_right_after_an_exact_scan": spread(after_a_scan),
        "exact": spread(slow),
        "index": dict(store.status().indexes),
    }


def _alternate(queries: Vectors, *contenders: Callable[[Vectors], object], block: int = 1) -> list[list[float]]:
    """Times of each contender, in turns of `block` queries. An exact scan of 150 MB empties the processor's caches, so
    what follows it in turns of one is measured cold, as nobody would run it."""
    times: list[list[float]] = [[] for _ in contenders]
    for contender in contenders:
        for query in queries[:5]:
            contender(query)
    for start in range(0, len(queries), block):
        for contender, kept in zip(contenders, times, strict=True):
            for query in queries[start : start + block]:
                started = time.perf_counter()
                contender(query)
                kept.append(time.perf_counter() - started)
    return times


def _recall(store: Store, collection: str, vectors: Vectors, refs: Sequence[int], queries: Vectors) -> float:
    """Share of the true nearest that were found."""
    shares: list[float] = []
    for query in queries:
        nearest: list[int] = np.argsort(-(vectors @ query), kind="stable")[:K].tolist()
        true = {refs[slot] for slot in nearest}
        found = {hit.ref for hit in store.search_vectors(collection, query, K).hits}
        shares.append(len(true & found) / K)
    return float(np.mean(shares))
