"""Kill compactions at random moments and judge what is left; run as a program, since it forks.

Each round copies a prepared store, forks a process that compacts it and is killed by SIGKILL, opens what is left, and
checks it: every turn exact, every summary whole, and the compaction that comes next completes.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import threading
from dataclasses import replace
from pathlib import Path

from libravdb_memory import Config, Memory, load_config
from libravdb_memory.model import Turn
from libravdb_memory.namespaces import guidance_of, states_of, summaries_of
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Key
from libravdb_memory.summaries import node_of

TURNS = 48
RULE = "Always close the harbour gate before you leave the quay."
LONGEST_S = 0.6
LONGEST_TAIL = 4


def configured(home: Path) -> Config:
    base = load_config(environ={"LIBRAVDB_HOME": str(home), "LIBRAVDB_EMBEDDING_BACKEND": "hashed"})
    compaction = replace(base.compaction, cluster_target=3, fold_tokens=60, fold_fan=2, trigger_tokens=0)
    return replace(base, compaction=compaction, assembly=replace(base.assembly, startup_budget=100))


def said(number: int) -> str:
    rule = f"{RULE} " if number % 10 == 3 else ""
    return f"{rule}lantern {number} on the quay was lit at {number + 3} and Oyelaran{number} wrote it down"


def prepare(folder: Path, config: Config) -> None:
    with Memory.open(folder, config=config) as memory:
        for number in range(TURNS):
            memory.ingest(said(number), user="ada", session="s", id=f"t{number}", ts=number + 1)
        assert memory.wait(60)


def compact_and_die(folder: Path, config: Config, delay_s: float) -> None:
    memory = Memory.open(folder, config=config)
    killer = threading.Timer(delay_s, lambda: os.kill(os.getpid(), signal.SIGKILL))
    killer.start()
    memory.compact(user="ada", session="s")
    killer.join()


def judge(folder: Path, config: Config) -> int:
    """How many summaries there were; raises where something is wrong."""
    with Memory.open(folder, config=config) as memory:
        found = assert_whole(memory)
        memory.compact(user="ada", session="s")
        assert_whole(memory)
        bare = [entry for entry in memory.history(user="ada", session="s").entries if isinstance(entry, Turn)]
        again = memory.compact(user="ada", session="s")
        declined = sum(each.count for each in again.declined if each.first.startswith("t"))
        assert len(bare) - declined <= LONGEST_TAIL, "the tail alone is bare"
    return found


def assert_whole(memory: Memory) -> int:
    assert memory.verify().ok, memory.verify().problems
    store = memory._store
    nodes = [node_of(record) for record in every(store, summaries_of("ada"))]
    state = store.get(Key(states_of("ada"), "state", "s"))
    assert (0 if state is None else state.version) == len(nodes), "a summary and the state are of one commit"
    rules = {record.metadata["source_turn_id"] for record in every(store, guidance_of("ada"))}
    order: list[str] = []
    for entry in memory.history(user="ada", session="s").entries:
        turns = [entry] if isinstance(entry, Turn) else list(memory.expand(entry.node.id, user="ada").items)
        for turn in turns:
            assert isinstance(turn, Turn)
            number = int(turn.id[1:])
            assert (turn.text, turn.ts) == (said(number), number + 1)
            if not isinstance(entry, Turn) and RULE in turn.text:
                assert turn.id in rules, "guidance is kept before its turn is covered"
            order.append(turn.id)
    assert order == [f"t{number}" for number in range(TURNS)]
    return len(nodes)


def main(folder: Path, kills: int, seed: str) -> None:
    chance = random.Random(seed)
    config = configured(folder / "home")
    prepare(folder / "base", config)
    left: list[int] = []
    for number in range(kills):
        store = folder / f"store-{number}"
        shutil.copytree(folder / "base", store)
        delay_s = chance.random() ** 2 * LONGEST_S
        if (pid := os.fork()) == 0:
            compact_and_die(store, config, delay_s)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
        left.append(judge(store, config))
        shutil.rmtree(store)
    sys.stdout.write(json.dumps({"kills": len(left), "summaries": left}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
