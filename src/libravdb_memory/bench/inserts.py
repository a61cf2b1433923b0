"""Durable inserts: ours beside the bare disk and beside other stores, in turns.

One insert is a record of about forty words with metadata, acknowledged when it is on disk. The disk's own price is an
append of the same bytes and an fdatasync, on the same file system.
"""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from libravdb_memory.bench import peers, synthetic
from libravdb_memory.bench.figures import at_least, at_most, median_ratio, spread
from libravdb_memory.identity import canonical_json
from libravdb_memory.model import Draft
from libravdb_memory.store.protocol import Put, Space, Store

COLLECTION = "history:inserts"
PRODUCERS = 32


def against_the_disk(
    store: Store, space: Space, folder: Path, rounds: int, each: int, peers_python: Path | None
) -> dict[str, Any]:
    """Rounds of single inserts by every contender in turn; ratios are within a round."""
    numbers = count()
    vectors = synthetic.vectors(max(each, 1000), seed=5)
    with (folder / "raw").open("ab", buffering=0) as raw, peers.started(peers_python, folder, each) as others:
        contenders: dict[str, Callable[[], list[float]]] = {
            "fdatasync": lambda: _timed(lambda draft: _append(raw.fileno(), draft), _drafts(numbers, each)),
            "libravdb": lambda: _timed(lambda draft: store.commit([_put(draft)]), _drafts(numbers, each)),
            "libravdb_with_vector": lambda: _timed(
                lambda draft: _commit_with_vector(store, space, draft, vectors[draft.ts % len(vectors)]),
                _drafts(numbers, each),
            ),
            **{peer.name: peer.round for peer in others},
        }
        times: dict[str, list[list[float]]] = {name: [] for name in contenders}
        for run in contenders.values():
            run()
        for _ in range(rounds):
            for name, run in contenders.items():
                times[name].append(run())
    return _compared(times)


def many_producers(store: Store, rounds: int, each: int) -> dict[str, Any]:
    """Acknowledgements per second of 32 threads to those of one, each committing one record at a time."""
    numbers = count(10_000_000)
    one: list[float] = []
    many: list[float] = []
    _produce(store, [_drafts(numbers, each)])
    for _ in range(rounds):
        one.append(_produce(store, [_drafts(numbers, each)]))
        many.append(_produce(store, [_drafts(numbers, each) for _ in range(PRODUCERS)]))
    return at_least(
        median_ratio(many, one),
        5.0,
        one_per_s=round(statistics.median(one)),
        many_per_s=round(statistics.median(many)),
        producers=PRODUCERS,
    )


def _compared(times: dict[str, list[list[float]]]) -> dict[str, Any]:
    medians = {name: [statistics.median(one) for one in rounds] for name, rounds in times.items()}
    flat = {name: spread([each for one in rounds for each in one]) for name, rounds in times.items()}
    ratios = {name: round(median_ratio(values, medians["fdatasync"]), 3) for name, values in medians.items()}
    peer_names = [name for name in times if not name.startswith(("fdatasync", "libravdb"))]
    return at_most(
        median_ratio(medians["libravdb"], medians["fdatasync"]),
        2.0,
        times=flat,
        ratio_to_fdatasync=ratios,
        peers_missing=[name for name in peers.NAMES if name not in peer_names],
    )


def _drafts(numbers: Iterator[int], each: int) -> list[Draft]:
    made: list[Draft] = []
    for _ in range(each):
        number = next(numbers)
        metadata = {"role": "user" if number % 2 else "assistant", "speaker": "Ada", "topic": f"t{number % 50}"}
        made.append(Draft(COLLECTION, f"turn-{number}", synthetic.text(number), metadata, number, "s1"))
    return made


def _put(draft: Draft) -> Put:
    return Put(draft, append_only=True)


def _append(handle: int, draft: Draft) -> None:
    line = canonical_json({"id": draft.id, "text": draft.text, "metadata": draft.metadata, "ts": draft.ts})
    os.write(handle, line.encode() + b"\n")
    # macOS has no fdatasync.
    getattr(os, "fdatasync", os.fsync)(handle)


def _commit_with_vector(store: Store, space: Space, draft: Draft, vector: Any) -> None:
    record = store.commit([_put(draft)]).records[0]
    store.put_vectors(space, [record.ref], vector[None])


def _timed(insert: Callable[[Draft], object], drafts: Sequence[Draft]) -> list[float]:
    times: list[float] = []
    for draft in drafts:
        started = time.perf_counter()
        insert(draft)
        times.append(time.perf_counter() - started)
    return times


def _produce(store: Store, shares: Sequence[Sequence[Draft]]) -> float:
    def work(drafts: Sequence[Draft]) -> None:
        for draft in drafts:
            store.commit([_put(draft)])

    threads = [threading.Thread(target=work, args=(drafts,)) for drafts in shares]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(len(drafts) for drafts in shares) / (time.perf_counter() - started)
