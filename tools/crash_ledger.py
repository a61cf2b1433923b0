"""What the killed writer said, and what its store must therefore hold.

Laws: a step that was done holds; a step that was only tried holds whole or not at all, and once it has been looked at
it stays as it was found. Everything the ledger does not know of is a problem too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crash_workload import ABSENT, COLLECTIONS, INGESTED, SETTINGS, metadata_of, open_memory, text_of, ts_of
from libravdb_memory.model import Record
from libravdb_memory.store.protocol import Key, Store
from libravdb_memory.store.sqlite.store import SqliteStore

_CATCH_UP_S = 120.0


@dataclass
class Ledger:
    """`settled` is known for sure; `tried` may or may not have happened."""

    settled: dict[Key, int] = field(default_factory=dict[Key, int])
    tried: dict[str, dict[Key, int]] = field(default_factory=dict[str, dict[Key, int]])
    done: int = 0
    opened: bool = False
    errors: list[str] = field(default_factory=list[str])
    backups: dict[str, dict[Key, int]] = field(default_factory=dict[str, dict[Key, int]])
    _moment: dict[str, dict[Key, int]] = field(default_factory=dict[str, dict[Key, int]])

    def hear(self, line: Mapping[str, Any]) -> None:
        match line["kind"]:
            case "open":
                self.opened = True
            case "try":
                states = {Key(place, name, group): state for place, group, name, state in line["states"]}
                self.tried[line["step"]] = states
                self._moving(states)
            case "done":
                self.settled.update(self.tried.pop(line["step"]))
                self.done += 1
            case "backing up":
                self.backups.pop(line["file"], None)
                unsure = {key for states in self.tried.values() for key in states}
                self._moment[line["step"]] = {k: v for k, v in self.settled.items() if k not in unsure}
            case "backed up":
                self.backups[line["file"]] = self._moment.pop(line["step"])
            case _:
                self.errors.append(str(line))

    def _moving(self, keys: Iterable[Key]) -> None:
        """A backup under way may or may not see these."""
        for moment in self._moment.values():
            for key in keys:
                moment.pop(key, None)

    def settle(self, found: Mapping[Key, int]) -> None:
        """The process is gone; what it only tried is as it was found, from now on."""
        for states in self.tried.values():
            self.settled.update({key: found.get(key, ABSENT) for key in states})
        self.opened = False
        self.tried.clear()
        self.backups.clear()
        self._moment.clear()


def judge(folder: Path, ledger: Ledger) -> dict[str, Any]:
    """Open the store after the crash and compare; answers what was found (`states` settles what was only tried)."""
    store, memory = open_memory(folder / "store.libravdb")
    with memory:
        found = {Key(record.collection, record.id, record.group): record for record in _all(store)}
        problems = [*_lost(ledger, found), *_half_done(ledger, found), *_wrong(found)]
        problems += [f"nobody put {key} there" for key in found if not _known(key, ledger)]
        problems += _unsound(store)
        if not memory.wait(_CATCH_UP_S) or store.status().unembedded:
            problems.append(f"embedding did not catch up: {memory.status().indexing}")
        if not store.settle(_CATCH_UP_S):
            problems.append("background work on indexes did not end")
        problems += _unsound(store)
    states = {key: _revision(found[key]) for key in found}
    return {"problems": problems + _backups(folder, ledger), "states": states, "records": len(found)}


def _all(store: Store) -> Iterator[Record]:
    """What the workload may have put there; a memory also keeps books of its own."""
    for collection in COLLECTIONS:
        cursor: str | None = None
        while True:
            page = store.page(collection, after=cursor)
            yield from page.records
            cursor = page.cursor
            if cursor is None:
                break


def _revision(record: Record) -> int:
    """Turns know no revision; they are never edited."""
    return int(str(record.metadata.get("revision", 1)))


def _state(found: Mapping[Key, Record], key: Key) -> int:
    return _revision(found[key]) if key in found else ABSENT


def _lost(ledger: Ledger, found: Mapping[Key, Record]) -> Iterator[str]:
    unsure = {key for states in ledger.tried.values() for key in states}
    for key, state in ledger.settled.items():
        if key not in unsure and _state(found, key) != state:
            yield f"{key} is at {_state(found, key)}, acknowledged was {state}"


def _half_done(ledger: Ledger, found: Mapping[Key, Record]) -> Iterator[str]:
    for step, states in ledger.tried.items():
        before = all(_state(found, key) == ledger.settled.get(key, ABSENT) for key in states)
        after = all(_state(found, key) == state for key, state in states.items())
        if not before and not after:
            yield f"step {step} happened in part: { {str(key): _state(found, key) for key in states} }"


def _wrong(found: Mapping[Key, Record]) -> Iterator[str]:
    for key, record in found.items():
        revision = _revision(record)
        if record.text != text_of(key.id, revision) or record.ts != ts_of(key.id):
            yield f"{key} does not say what was written"
        if key.collection != INGESTED and record.metadata != metadata_of(key.id, revision):
            yield f"{key} has other metadata"


def _known(key: Key, ledger: Ledger) -> bool:
    return key in ledger.settled or any(key in states for states in ledger.tried.values())


def _unsound(store: Store) -> list[str]:
    return [f"verify: {problem}" for problem in store.verify().problems]


def _backups(folder: Path, ledger: Ledger) -> list[str]:
    """A backup that is there is whole, announced or not; an announced one holds all that was settled when it began."""
    files = sorted(folder.glob("backup-?.libravdb"))
    missing = set(ledger.backups) - {file.name for file in files}
    problems = [f"{name} was announced and is not there" for name in missing]
    for file in files:
        with SqliteStore.open(file, settings=SETTINGS) as copy:
            problems += [f"{file.name}: {problem}" for problem in _unsound(copy)]
            found = {Key(record.collection, record.id, record.group): record for record in _all(copy)}
        for key, state in ledger.backups.get(file.name, {}).items():
            if _state(found, key) != state:
                problems.append(f"{file.name}: {key} is at {_state(found, key)}, not {state}")
        for leftover in [each for each in folder.glob(f"{file.name}*") if each.is_file()]:
            leftover.unlink()
    return problems
