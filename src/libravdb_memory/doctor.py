"""What may be wrong with an installation and a store, and what mends it.

Laws: looking changes nothing that is stored. A check that cannot be made is a finding, never an exception. Every
problem carries the command, or the act, that mends it.
"""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from libravdb_memory.config import Config, ignored_variables, load_config
from libravdb_memory.engines.protocol import Embedder, EmbeddingSpace
from libravdb_memory.engines.select import make_embedder
from libravdb_memory.engines.summarising.select import check_folder, check_key, make_summariser, name_of
from libravdb_memory.errors import (
    ConfigError,
    ForeignFileError,
    LibraVDBError,
    StoreCorruptError,
    StoreError,
    StoreLockedError,
    StoreReadOnlyError,
    StoreTooNewError,
)
from libravdb_memory.namespaces import namespace_of
from libravdb_memory.store.protocol import Store
from libravdb_memory.wording import counted, readable_size

Mark: TypeAlias = Literal["ok", "note", "problem"]

PROBE_TEXT = "The lighthouse keeper wrote down every ship that passed."
BUNDLED_ANSWER = (0.0570, 0.0645, 0.0275, 0.0766, -0.0141, -0.0057, 0.0339, -0.0407)
"""How the vector of PROBE_TEXT begins with the bundled model."""
_ANSWER_TOLERANCE = 0.01
_QUICK_CHECK_BYTES = 2_000_000_000
_LITTLE_SPACE = 200_000_000
_RESTORE = (
    "libravdb restore BACKUP; without a backup: libravdb export --salvage FILE, "
    "move the store away, libravdb import FILE"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem needs mending; a note is worth knowing."""

    mark: Mark
    subject: str
    detail: str
    remedy: str | None = None


def examine(
    *,
    overrides: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    trying: Callable[[str, float], None] = lambda _thing, _seconds: None,
) -> Iterator[Finding]:
    """Every finding, as it is made. `trying` hears what is tried next, where that may take long, and after how many
    seconds it is given up (0: not known)."""
    yield _python()
    yield _sqlite()
    try:
        config = load_config(overrides=overrides, environ=environ)
    except ConfigError as error:
        yield Finding("problem", "settings", str(error), "correct it; the other checks need valid settings")
        return
    yield _settings(environ)
    yield _looked_at("home", _home, config.home)
    yield _looked_at("disk", _disk, config.db_path)
    space = None
    try:
        embedder = make_embedder(config.embedding)
        space = embedder.space
        trying(space.label, 0)
        yield _model(config, embedder)
    except (LibraVDBError, ImportError) as error:
        yield Finding("problem", "model", str(error), "set LIBRAVDB_EMBEDDING_BACKEND=bundled, or mend the model")
    if config.summary.backend != "extractive":
        trying(config.summary.model or name_of(config.summary), config.summary.timeout_s if config.summary.model else 0)
    yield _summaries(config)
    trying("the daemon", 0)
    yield from _told_by_a_daemon(config)
    trying("a look at the data", 0)
    yield from _data(config, space)


def _looked_at(subject: str, check: Callable[[Path], Finding], path: Path) -> Finding:
    try:
        return check(path)
    except OSError as error:
        return Finding("problem", subject, str(error), "check the permissions along that path")


# ── the machine and the settings ─────────────────────────────────────────────────────────────────────────────────


def _python() -> Finding:
    return Finding("ok", "python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")


def _sqlite() -> Finding:
    try:
        import apsw

        from libravdb_memory.store.sqlite.connections import check_sqlite_version

        check_sqlite_version()
    except (ImportError, StoreError) as error:
        return Finding("problem", "sqlite", str(error), "python -m pip install --upgrade apsw")
    return Finding("ok", "sqlite", f"{apsw.sqlite_lib_version()} (apsw {apsw.apsw_version()})")


def _settings(environ: Mapping[str, str] | None) -> Finding:
    if ignored := ignored_variables(environ):
        return Finding("note", "settings", f"valid; without effect in this version: {', '.join(ignored)}")
    return Finding("ok", "settings", "valid")


def _home(home: Path) -> Finding:
    if not home.exists():
        return Finding("ok", "home", f"{home} is not there yet; it is made when needed")
    if not home.is_dir():
        return Finding("problem", "home", f"{home} is not a folder", "move it away, or set LIBRAVDB_HOME")
    if not os.access(home, os.W_OK | os.X_OK):
        return Finding("problem", "home", f"{home} cannot be written", f"chmod u+rwx '{home}'")
    if others := _open_to_others(home):
        return Finding("note", "home", f"{home} can be entered by {others}", f"chmod 700 '{home}'")
    return Finding("ok", "home", str(home))


def _open_to_others(path: Path) -> str | None:
    return "other users" if os.name == "posix" and path.stat().st_mode & 0o077 else None


def _disk(path: Path) -> Finding:
    place = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    free = shutil.disk_usage(place).free
    if free < _LITTLE_SPACE:
        return Finding("problem", "disk", f"only {free / 1e6:,.0f} MB free at {place}", "make room on that disk")
    return Finding("ok", "disk", f"{free / 1e9:,.1f} GB free")


# ── the model ────────────────────────────────────────────────────────────────────────────────────────────────────


def _model(config: Config, embedder: Embedder) -> Finding:
    """Load it and look at one vector: what is wrong with it, or that nothing is."""
    import numpy as np

    with closing(embedder):
        embedder.warm_up()
        vector, again = embedder.embed_query(PROBE_TEXT), embedder.embed_query(PROBE_TEXT)
    label = embedder.space.label
    if vector.shape != (embedder.space.dimensions,) or not np.isfinite(vector).all():
        return Finding("problem", "model", f"{label} gives a vector that is not one of its space", _reinstall(config))
    if not np.allclose(vector, again, atol=1e-5):
        return Finding("problem", "model", f"{label} gives the same text two vectors", _reinstall(config))
    if embedder.space.normalised and abs(float(np.linalg.norm(vector)) - 1.0) > 1e-3:
        return Finding("problem", "model", f"{label} gives a vector of the wrong length", _reinstall(config))
    expected = np.asarray(BUNDLED_ANSWER if config.embedding.backend == "bundled" else [], np.float32)
    if not np.allclose(vector[: len(expected)], expected, atol=_ANSWER_TOLERANCE):
        return Finding("problem", "model", f"{label} gives another vector than expected", _reinstall(config))
    return Finding("ok", "model", f"{label} loads and gives the expected vector")


def _summaries(config: Config) -> Finding:
    """Reach or load what writes them, where that is a model."""
    from libravdb_memory.compacting.making_apart import place_of_making

    settings = config.summary
    name, place = name_of(settings), place_of_making(config.embedding, config.compaction)
    if settings.backend == "extractive":
        return Finding("ok", "summaries", f"{name}: no model is needed; {place}")
    try:
        check_folder(settings)
        check_key(settings)
        with closing(make_summariser(settings, None)) as summariser:
            summariser.warm_up()
    except (LibraVDBError, ImportError) as error:
        remedy = "mend it, or set LIBRAVDB_SUMMARY_BACKEND=extractive and drop the other summary settings"
        return Finding("problem", "summaries", f"{name} is not ready: {error}", remedy)
    return Finding("ok", "summaries", f"{name} is ready; {place}")


def _told_by_a_daemon(config: Config) -> Iterator[Finding]:
    """Why the last summary of a daemon that has the store open was made without its model."""
    from libravdb_memory.serve.bridge.finding import find_daemon
    from libravdb_memory.serve.bridge.remote import RemoteMemory
    from libravdb_memory.store.sqlite.files import locate

    try:
        line = find_daemon(locate(config.db_path), config.home)
        if line is None:
            return
        with closing(line):
            failure = RemoteMemory(line).status().compaction.model_failure
            daemon = f"the daemon (process {line.peer.pid})"
    except (OSError, LibraVDBError) as error:
        yield Finding("note", "summaries", f"a daemon could not be asked about its own: {error}")
        return
    if failure:
        detail = f"{daemon} made its last without the model: {failure}"
        yield Finding(
            "note", "summaries", detail, "libravdb compact SESSION --user U --rebuild makes those of a session anew"
        )


def _reinstall(config: Config) -> str:
    if config.embedding.backend == "bundled":
        return "python -m pip install --force-reinstall libravdb-memory"
    return "check the model named by the embedding settings"


# ── the store ────────────────────────────────────────────────────────────────────────────────────────────────────


def _data(config: Config, space: EmbeddingSpace | None) -> Iterator[Finding]:
    from libravdb_memory.store.sqlite.files import holds_store, locate, refuse_remains

    data = config.db_path
    try:
        data = locate(config.db_path)
        if not holds_store(data):
            refuse_remains(data)
            yield Finding("ok", "data", f"no store at {data} yet; the first add makes it")
            return
        yield from _openable(data, config, space)
    except (OSError, StoreError) as error:
        yield Finding("problem", "data", *_why_closed(error, data))


def _why_closed(error: OSError | StoreError, data: Path) -> tuple[str, str]:
    """What keeps a store shut, and what to do about it."""
    match error:
        case ForeignFileError():
            return str(error), "choose another place with --db or LIBRAVDB_DB_PATH"
        case StoreTooNewError():
            return str(error), "python -m pip install --upgrade libravdb-memory"
        case StoreReadOnlyError() | PermissionError():
            return f"{data} cannot be read and written", f"chmod u+rw '{data}'; chmod u+rwx '{data.parent}'"
        case StoreCorruptError():
            return f"{data} is damaged: {error.detail}", _RESTORE
        case _:
            return str(error), _RESTORE


def _openable(data: Path, config: Config, space: EmbeddingSpace | None) -> Iterator[Finding]:
    from libravdb_memory.store.sqlite.migrations import STEPS
    from libravdb_memory.store.sqlite.store import SqliteStore

    version = _schema_version(data)
    if 0 < version < len(STEPS):
        yield Finding("note", "data", f"{data} has schema {version}; the next command brings it to {len(STEPS)}")
        return
    pages = _pages(data)
    yield pages
    if pages.mark == "problem":
        return
    try:
        with closing(SqliteStore.open(data, settings=config.store)) as store:
            yield from _inside(store, space)
    except StoreLockedError as error:
        owner = f"process {error.pid}" if error.pid else "another process"
        yield Finding("note", "data", f"{data} is in use by {owner}; stop it to have the store looked at")


def _schema_version(data: Path) -> int:
    """As the file's header says; reading it needs no database."""
    with data.open("rb") as file:
        return int.from_bytes(file.read(64)[60:64], "big")


def _pages(data: Path) -> Finding:
    import apsw

    from libravdb_memory.store.sqlite.connections import connect
    from libravdb_memory.store.sqlite.files import size_on_disk

    size = data.stat().st_size
    if size > _QUICK_CHECK_BYTES:
        return Finding("note", "data", f"{data}: too large for a quick look", "libravdb verify")
    try:
        with closing(connect(data, apsw.SQLITE_OPEN_READONLY)) as db:
            wrong = [str(row[0]) for row in db.execute("PRAGMA quick_check(3)") if row[0] != "ok"]
            size = size_on_disk(data)  # while it is open, as status measures it
    except (apsw.ReadOnlyError, apsw.CantOpenError) as error:
        raise StoreReadOnlyError(data) from error
    except apsw.Error as error:
        wrong = [str(error)]
    if wrong:
        return Finding("problem", "data", f"{data} is damaged: {'; '.join(wrong)}", _RESTORE)
    if others := _open_to_others(data):
        return Finding("note", "data", f"{data} can be read by {others}", f"chmod 600 '{data}'")
    return Finding("ok", "data", f"{data}, {readable_size(size)}, pages sound")


def _inside(store: Store, space: EmbeddingSpace | None) -> Iterator[Finding]:
    status = store.status()
    turns = sum(info.count for info in store.collections() if namespace_of(info.name) is not None)
    yield Finding("ok", "records", f"{counted(turns, 'turn')} stored")
    active = next((known for known in status.spaces if known.active), None)
    if active is not None and space is not None and active.fingerprint != space.fingerprint:
        detail = f"the store is embedded with {active.label}, the settings ask for {space.label}"
        yield Finding("problem", "embedding", detail, "libravdb reindex, or set the model back")
    elif status.unembedded:
        detail = f"{counted(status.unembedded, 'record')} still to be embedded; any opening goes on with it"
        yield Finding("note", "embedding", detail, "libravdb reindex")
    else:
        yield Finding("ok", "embedding", f"complete, with {active.label}" if active else "nothing to embed")
    yield from (Finding("ok", "index", f"{name}: {state}") for name, state in sorted(status.indexes.items()))
