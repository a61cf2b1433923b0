"""Kill compactions and judge what is left; run as a program, since it forks.

Each round copies a prepared store, forks a process that compacts it and is killed by SIGKILL, opens what is left, and
checks it: every turn exact, every summary whole, and the compaction that comes next completes. Deaths at each commit
are certain, and so is what they leave; others come at random moments. A rebuild exchanges all summaries or none.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.laws.killing import MOMENTS, Fate, Moment, Told

from libravdb_memory import Config, Memory, load_config
from libravdb_memory.model import Turn
from libravdb_memory.namespaces import guidance_of, states_of, summaries_of
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Key
from libravdb_memory.summaries import Node, node_of

TURNS = 48
RULE = "Always close the harbour gate before you leave the quay."
LONGEST_S = 0.6
LONGEST_TAIL = 4
NEVER = 10_000
PLACE = {"user": "ada", "session": "s"}


def configured(home: Path) -> Config:
    base = load_config(environ={"LIBRAVDB_HOME": str(home), "LIBRAVDB_EMBEDDING_BACKEND": "hashed"})
    compaction = replace(base.compaction, cluster_target=3, fold_tokens=60, fold_fan=2, trigger_tokens=0)
    return replace(base, compaction=compaction, assembly=replace(base.assembly, startup_budget=100))


def said(number: int) -> str:
    rule = f"{RULE} " if number % 10 == 3 else ""
    return f"{rule}lantern {number} on the quay was lit at {number + 3} and Oyelaran{number} wrote it down"


def prepare(folder: Path, config: Config, *compacted_after: int) -> None:
    """A conversation, compacted after so many turns of it."""
    with Memory.open(folder, config=config) as memory:
        for number in range(TURNS):
            memory.ingest(said(number), **PLACE, id=f"t{number}", ts=number + 1)
            if number + 1 in compacted_after:
                assert memory.wait(60)
                memory.compact(**PLACE)
        assert memory.wait(60)


# ── dying ────────────────────────────────────────────────────────────────────────────────────────────────────────


def killed(folder: Path, config: Config, doom: Callable[[Memory], object], *, rebuild: bool = False) -> None:
    """A process of its own opens the store, is doomed, and compacts."""
    if (pid := os.fork()) == 0:
        try:
            memory = Memory.open(folder, config=config)
            doomed = doom(memory)
            memory.compact(**PLACE, rebuild=rebuild)
            if isinstance(doomed, threading.Thread):
                doomed.join()
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL


def soon(delay_s: float) -> Callable[[Memory], object]:
    def doom(memory: Memory) -> threading.Timer:
        killer = threading.Timer(delay_s, lambda: os.kill(os.getpid(), signal.SIGKILL))
        killer.start()
        return killer

    return doom


def at(number: int, moment: Moment) -> Callable[[Memory], object]:
    return lambda memory: Fate(memory, "compaction", number, moment)


# ── what is left ─────────────────────────────────────────────────────────────────────────────────────────────────


def judge(folder: Path, config: Config, *, generations: int | None = None) -> list[Node]:
    """The summaries that there were; raises where something is wrong."""
    with Memory.open(folder, config=config) as memory:
        found = assert_whole(memory, generations)
        memory.compact(**PLACE)
        assert_whole(memory, None if generations is None else NEVER)
        bare = [entry for entry in memory.history(**PLACE).entries if isinstance(entry, Turn)]
        again = memory.compact(**PLACE)
        declined = sum(each.count for each in again.declined if each.first.startswith("t"))
        assert len(bare) - declined <= LONGEST_TAIL, "the tail alone is bare"
    return found


def assert_whole(memory: Memory, generations: int | None = None) -> list[Node]:
    """Each commit of a summary is one of the state; a rebuild has fewer, as many as are said."""
    assert memory.verify().ok, memory.verify().problems
    store = memory._store
    nodes = [node_of(record) for record in every(store, summaries_of("ada"))]
    state = store.get(Key(states_of("ada"), "state", "s"))
    if generations != NEVER:
        wanted = len(nodes) if generations is None else generations
        assert (0 if state is None else state.version) == wanted, "a summary and the state are of one commit"
    rules = {record.metadata["source_turn_id"]: record.text for record in every(store, guidance_of("ada"))}
    order: list[str] = []
    for entry in memory.history(**PLACE).entries:
        turns = [entry] if isinstance(entry, Turn) else list(memory.expand(entry.node.id, user="ada").items)
        for turn in turns:
            assert isinstance(turn, Turn)
            number = int(turn.id[1:])
            assert (turn.text, turn.ts) == (said(number), number + 1)
            if not isinstance(entry, Turn) and RULE in turn.text:
                assert RULE in rules[turn.id], "guidance is kept before its turn is covered"
            order.append(turn.id)
    assert order == [f"t{number}" for number in range(TURNS)]
    return nodes


def commits_of(folder: Path, config: Config, *, rebuild: bool = False) -> list[Told]:
    """What each commit writes of a compaction that nobody kills."""
    told: list[Told] = []
    with Memory.open(folder, config=config) as memory:
        Fate(memory, "other", NEVER, "after", told.append)
        memory.compact(**PLACE, rebuild=rebuild)
    return told


# ── rounds ───────────────────────────────────────────────────────────────────────────────────────────────────────


class Rounds:
    def __init__(self, folder: Path, base: str, *compacted_after: int) -> None:
        self.folder, self.base = folder, folder / base
        self.config = configured(folder / "home")
        self.numbers = iter(range(NEVER))
        prepare(self.base, self.config, *compacted_after)

    def copy(self) -> Path:
        store = self.folder / f"{self.base.name}-{next(self.numbers)}"
        shutil.copytree(self.base, store)
        return store

    def at_commits(self, every_moment: bool) -> list[list[Any]]:
        """Of each kill: the commits that were through, the summaries these wrote, and those that were left."""
        wrote = [len(commit["summaries"]) for commit in commits_of(self.copy(), self.config)]
        rounds: list[list[Any]] = []
        for number in range(0, len(wrote), 1 if every_moment else 2):
            for moment in MOMENTS if every_moment else [MOMENTS[number // 2 % len(MOMENTS)]]:
                store = self.copy()
                killed(store, self.config, at(number, moment))
                through = number + (moment == "after")
                rounds.append([through, sum(wrote[:through]), len(judge(store, self.config))])
                shutil.rmtree(store)
        return rounds

    def by_chance(self, kills: int, chance: random.Random) -> list[int]:
        left: list[int] = []
        for _ in range(kills):
            store = self.copy()
            killed(store, self.config, soon(chance.random() ** 2 * LONGEST_S))
            left.append(len(judge(store, self.config)))
            shutil.rmtree(store)
        return left

    def rebuilding(self, most: int) -> list[list[Any]]:
        """Of each kill: the commits that were through, and which summaries were left: the old or the new, by name and
        by the time they were made."""
        with Memory.open(self.base, config=self.config) as memory:
            old = {(node.id, node.text, node.compacted_at) for node in assert_whole(memory)}
        commits = commits_of(self.copy(), self.config, rebuild=True)
        rounds: list[list[Any]] = []
        for number in range(min(len(commits), most)):
            for moment in MOMENTS:
                store = self.copy()
                killed(store, self.config, at(number, moment), rebuild=True)
                through = number + (moment == "after")
                left = judge(store, self.config, generations=len(old) + through)
                names = {name for commit in commits[:through] for name in commit["summaries"]}
                made = {(node.id, node.text, node.compacted_at) for node in left}
                is_new = {node.id for node in left} == names and not made & old
                rounds.append([through, "old" if made == old else "new" if is_new else "mixed"])
                shutil.rmtree(store)
        return rounds


def main(folder: Path, kills: int, seed: str, every_moment: bool) -> None:
    bare = Rounds(folder, "bare")
    told = {
        "at commits": bare.at_commits(every_moment),
        "by chance": bare.by_chance(kills, random.Random(seed)),
        "rebuilding": Rounds(folder, "compacted", 20, 31, TURNS).rebuilding(NEVER if every_moment else 2),
    }
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:] == ["every-moment"])
