"""From nothing to the first answer: a new process imports the package, opens the store and searches.

    python -m libravdb_memory.bench.cold STORE COLLECTION DIMENSIONS

prints the seconds from its first line to the answer. The operating system may still have the file in memory: that is
how a restarted daemon finds it.
"""

from __future__ import annotations

import time

_STARTED = time.perf_counter()

import statistics  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402


def measure(path: Path, collection: str, dimensions: int, times: int) -> dict[str, Any]:
    from libravdb_memory.bench.figures import at_most

    command = [sys.executable, "-m", "libravdb_memory.bench.cold", str(path), collection, str(dimensions)]
    inside: list[float] = []
    whole: list[float] = []
    for _ in range(times):
        started = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        whole.append(time.perf_counter() - started)
        inside.append(float(done.stdout))
    return at_most(
        statistics.median(inside),
        0.5,
        seconds=[round(value, 3) for value in inside],
        with_interpreter_start_and_exit_s=round(statistics.median(whole), 3),
    )


def main() -> None:
    from libravdb_memory.store.sqlite.store import SqliteStore

    path, collection, dimensions = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    with SqliteStore.open(path) as store:
        import numpy as np

        hits = store.search_vectors(collection, np.ones(dimensions, np.float32), 10).hits
        sys.stdout.write(f"{time.perf_counter() - _STARTED if len(hits) == 10 else float('nan')}\n")


if __name__ == "__main__":
    main()
