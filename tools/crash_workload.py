"""The writer that is killed: every kind of write at once, each announced before it is tried and again when it returned.

Law: nothing is announced as done before the store said so, and a thread tries nothing new before that announcement has
left the process. A line is shorter than what a pipe takes in one piece, so a kill never tears it.
"""

from __future__ import annotations

import json
import os
import random
import threading
from collections.abc import Callable, Iterator, Mapping
from itertools import count, takewhile
from pathlib import Path
from typing import Any

from libravdb_memory.config import load_config
from libravdb_memory.engines.hashed import HashedEmbedder
from libravdb_memory.memory import Memory
from libravdb_memory.model import Draft
from libravdb_memory.namespaces import history_of
from libravdb_memory.store.protocol import Key, Put, Remove, Selection, TextQuery, Write
from libravdb_memory.store.settings import StoreSettings
from libravdb_memory.store.sqlite.store import SqliteStore

ABSENT = 0
SETTINGS = StoreSettings(exact_limit=48, wal_mb=1, cache_mb=2)
EDITABLE = ("notes", "facts", "übergang")
RAW = "raw"
INGESTED = history_of("ada")
COLLECTIONS = (*EDITABLE, RAW, INGESTED)
SESSION = "s1"
_WRITERS = 3
_WORDS = "heron river ladder copper Straße 漢字 🜁 quay lantern ø thistle anchor meridian sluice marrow".split()


def text_of(record_id: str, revision: int) -> str:
    """What a record says is a function of its id and revision, so the judge needs no copy of it."""
    chance = random.Random(f"{record_id}/{revision}")
    words = chance.choices((3, 8, 20, 60, 900), (30, 30, 25, 14, 1))[0]
    return f"{record_id} r{revision} " + " ".join(chance.choices(_WORDS, k=words))


def metadata_of(record_id: str, revision: int) -> Mapping[str, Any]:
    return {"revision": revision, "of": record_id, "odd": "\u2028 \x00 \\"}


def ts_of(record_id: str) -> int:
    return random.Random(record_id).randrange(2**41)


def open_memory(path: Path, vfs: str | None = None) -> tuple[SqliteStore, Memory]:
    store = SqliteStore.open(path, settings=SETTINGS, vfs=vfs)
    return store, Memory(store, HashedEmbedder(dimensions=32), load_config(environ={"LIBRAVDB_HOME": str(path.parent)}))


def put(key: Key, revision: int, *, replace: bool = False) -> Put:
    return Put(
        Draft(
            key.collection,
            key.id,
            text_of(key.id, revision),
            metadata_of(key.id, revision),
            ts_of(key.id),
            key.group,
        ),
        replace=replace,
        append_only=key.collection == RAW,
    )


class Workload:
    """One process's writing. `tell` sends a line to whoever keeps the ledger."""

    def __init__(
        self,
        folder: Path,
        round_number: int,
        seed: str,
        tell: Callable[[Mapping[str, Any]], None],
        vfs: str | None = None,
    ) -> None:
        self._folder = folder
        self._round = round_number
        self._seed = seed
        self._tell = tell
        self._backup_due = threading.Event()
        self._stopping = False
        self.store, self.memory = open_memory(folder / "store.libravdb", vfs)

    def run(self) -> None:
        """Until killed, or told to stop. A thread that fails says why."""
        self._tell({"kind": "open"})
        jobs: list[Callable[[random.Random, str], None]] = [self._write] * _WRITERS
        jobs += [self._ingest, self._back_up]
        threads = [
            threading.Thread(target=self._guarded, args=(job, f"{self._round}.{number}"), daemon=True)
            for number, job in enumerate(jobs)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def stop(self) -> None:
        """Let every thread finish its step and end."""
        self._stopping = True
        self._backup_due.set()

    def _numbers(self) -> Iterator[int]:
        return takewhile(lambda _: not self._stopping, count())

    def _guarded(self, job: Callable[[random.Random, str], None], name: str) -> None:
        try:
            job(random.Random(f"{self._seed}/{name}"), name)
        except BaseException as error:
            self._tell({"kind": "error", "thread": name, "error": repr(error)[:2000]})
            raise

    def _step(self, step: str, states: Mapping[Key, int], act: Callable[[], object]) -> None:
        """Try to bring records into these states (a revision, or ABSENT), all or none."""
        listed = [[key.collection, key.group, key.id, state] for key, state in states.items()]
        self._tell({"kind": "try", "step": step, "states": listed})
        act()
        self._tell({"kind": "done", "step": step})

    def _write(self, chance: random.Random, name: str) -> None:
        held: dict[Key, int] = {}
        for number in self._numbers():
            step = f"{name}.{number}"
            editable = [key for key in held if key.collection != RAW]
            kind = chance.choices(("put", "replace", "remove", "erase"), (75, 12, 8, 5))[0]
            if kind == "put" or not editable:
                self._put(chance, step, held)
            elif kind == "replace":
                chosen = chance.sample(editable, min(3, len(editable)))
                self._change(step, held, {key: held[key] + 1 for key in chosen})
            elif kind == "remove":
                self._change(step, held, {chance.choice(editable): ABSENT})
            else:
                self._erase(step, held, chance.sample(list(held), min(2, len(held))))

    def _put(self, chance: random.Random, step: str, held: dict[Key, int]) -> None:
        size = chance.choice((1, 1, 2, 5, 12))
        places = [chance.choice((*EDITABLE, RAW)) for _ in range(size)]
        keys = [Key(place, f"{step}.{at}", f"g{chance.randrange(3)}") for at, place in enumerate(places)]
        states = dict.fromkeys(keys, 1)
        self._step(step, states, lambda: self.store.commit([put(key, 1) for key in keys]))
        held.update(states)

    def _change(self, step: str, held: dict[Key, int], states: Mapping[Key, int]) -> None:
        writes: list[Write] = [
            Remove(key) if state == ABSENT else put(key, state, replace=True) for key, state in states.items()
        ]
        self._step(step, states, lambda: self.store.commit(writes))
        held.update(states)
        for key in [key for key, state in held.items() if state == ABSENT]:
            del held[key]

    def _erase(self, step: str, held: dict[Key, int], keys: list[Key]) -> None:
        self._step(step, dict.fromkeys(keys, ABSENT), lambda: self.store.erase(Selection(keys=tuple(keys))))
        for key in keys:
            del held[key]

    def _ingest(self, chance: random.Random, name: str) -> None:
        """Searching in between loads vectors and makes the approximate index be built, opened and merged."""
        for number in self._numbers():
            key = Key(INGESTED, f"{name}.{number}", SESSION)
            self._step(key.id, {key: 1}, lambda key=key: self._ingest_turn(key))  # type: ignore[misc]
            if number % 10 == 3:
                self.memory.search(" ".join(chance.choices(_WORDS, k=3)), user="ada", k=5)
                self.store.search_text(chance.choice(EDITABLE), TextQuery(((chance.choice(_WORDS),),)), 5)
            if number % 20 == 7:
                self._backup_due.set()

    def _ingest_turn(self, key: Key) -> None:
        text = text_of(key.id, 1)
        self.memory.ingest(text, user="ada", session=SESSION, id=key.id, ts=ts_of(key.id))

    def _back_up(self, chance: random.Random, name: str) -> None:
        for number in self._numbers():
            self._backup_due.wait()
            self._backup_due.clear()
            target = self._folder / f"backup-{chance.randrange(2)}.libravdb"
            self._tell({"kind": "backing up", "step": f"{name}.{number}", "file": target.name})
            self.store.backup(target)
            self._tell({"kind": "backed up", "step": f"{name}.{number}", "file": target.name})


def teller(descriptor: int) -> Callable[[Mapping[str, Any]], None]:
    def tell(line: Mapping[str, Any]) -> None:
        try:
            os.write(descriptor, json.dumps(line).encode() + b"\n")
        except BrokenPipeError:  # whoever would kill this process is gone
            os._exit(1)

    return tell
