"""verify, backup, reindex: keeping the store whole. All about everything: they need full access."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.serve.forms import form, object_form
from libravdb_memory.serve.methods import Method, Nothing, Result
from libravdb_memory.serve.results import keeping as results
from libravdb_memory.serve.service import Service
from libravdb_memory.store.sqlite.files import make_folder

BACKUPS = "backups"


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    name: str = field(metadata={"help": "of the file in the home's folder of backups"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reindex:
    indexes: bool = field(default=False, metadata={"help": "rebuild the text and vector indexes; embed nothing again"})
    wait: bool = field(default=False, metadata={"help": "answer when everything is embedded"})


def verify(service: Service, _: Nothing) -> Result:
    found = service.memory.verify()
    return {"ok": found.ok, **object_form(found)}


def backup(service: Service, params: Backup) -> Result:
    target = backup_target(service, params.name)
    service.memory.backup(target)
    return {"ok": True, "path": str(target)}


def backup_target(service: Service, name: str) -> Path:
    """In the home's own folder, under a bare name: no path of a request reaches the file system."""
    if not _is_bare(name):
        raise InvalidInputError("name", "must be a bare file name")
    folder = service.config.home / BACKUPS
    make_folder(folder)
    target = folder / name
    if target.exists() or target.is_symlink():
        raise InvalidInputError("name", f"there is a backup {name!r} already")
    return target


def _is_bare(name: str) -> bool:
    plain = name.isprintable() and not any(mark in name for mark in "/\\:")
    return plain and PurePath(name).name == name and not name.startswith(".") and len(name.encode()) <= 200


def reindex(service: Service, params: Reindex) -> Result:
    if params.indexes:
        service.memory.rebuild_indexes()
    if params.wait:
        service.memory.reindex()
    state = service.memory.status()
    return {
        "ok": state.indexing.failure is None,
        "searchesByMeaning": state.searches_by_meaning,
        **form(state.indexing),
    }


METHODS: tuple[Method[Any], ...] = (
    Method("verify", Nothing, verify, "Check every record and every index.", pace="slow", result=results.Verified),
    Method(
        "backup", Backup, backup, "Copy the store to one file while it is in use.", pace="slow", result=results.BackedUp
    ),
    Method(
        "reindex",
        Reindex,
        reindex,
        "Say how far embedding has come; rebuild or wait on request.",
        pace="slow",
        result=results.Reindexed,
    ),
)
