"""A process that SIGKILL ends at a chosen moment of an erasure. Run as a program, with a store and the moment.

When it begins, receipts that quote the turn are on disk, are waiting to be written, and are being made: a context has
read the turn and has not said so yet. It says so as soon as the turn is gone from the disk, and then the indexer writes
what waits, as it does at any time. Before that it prints the stored texts of the receipts on disk that quote the turn.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

from tests.laws.killing import Fate, die
from tests.laws.stored_receipts import quoting
from tests.laws.test_killed_erasure import ASKED, INNOCENT, SAID, SECRET, Death, config_in

from libravdb_memory import Memory, context


def main(folder: Path, death: Death) -> None:
    memory = Memory.open(folder / "store", config=config_in(folder))
    memory.ingest(SAID, user="ada", session="s", id="turn")
    memory.ingest("herons nest in April", user="ada", session="s", id="other")
    assert memory.wait(60)

    def ask(prompt: str) -> None:
        memory.context(prompt, user="ada", session="another", budget=500)

    for prompt in (ASKED, SAID, INNOCENT):
        ask(prompt)
    assert memory.wait(60) and len(memory.receipts(user="ada")) == 3  # on disk
    receipts = quoting(memory, folder, SECRET)
    assert len(receipts) == 2
    sys.stdout.write(json.dumps(receipts))
    sys.stdout.flush()
    read, go_on = threading.Event(), threading.Event()
    fill, log = context.fill, memory._receipts

    def held(*given: Any) -> Any:
        if threading.current_thread() is asking:
            read.set()
            assert go_on.wait(60)
        return fill(*given)

    context.fill = held
    asking = threading.Thread(target=ask, args=(ASKED,))
    for prompt in (ASKED, SAID, INNOCENT):
        ask(prompt)  # the indexer may or may not write these before the erasure
    asking.start()
    assert read.wait(60)

    building, moments = memory._building, {"before the commit": "before", "within the commit": "within"}
    wait = building.wait_for_those_under_way

    def waited() -> None:
        """The turn is not on disk any more, and what had read it has said so."""
        go_on.set()
        wait()
        log.flush()
        if death == "when all that waits is written":
            die()

    building.wait_for_those_under_way = waited  # type: ignore[method-assign]
    if death in (*moments, "after the commit"):
        Fate(memory, "erasure", 0, moments.get(death, "after"))  # type: ignore[arg-type]
    memory.erase("turn", user="ada", session="s")
    log.flush()
    die()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])  # type: ignore[arg-type]
