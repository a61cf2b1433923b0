"""export, import, backup, restore: the store as a file."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO

import click

from libravdb_memory.cli.exit_codes import OK, PROBLEMS_FOUND
from libravdb_memory.cli.files import whole_file
from libravdb_memory.cli.invocation import Invocation, command
from libravdb_memory.cli.render import counted
from libravdb_memory.cli.waiting import wait_for_embedding
from libravdb_memory.errors import InvalidInputError
from libravdb_memory.portability import export_to
from libravdb_memory.store.sqlite.salvage import Salvage

new_file = click.Path(dir_okay=False, path_type=Path)


@command("export")
@click.argument("target", metavar="FILE|-", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--salvage", is_flag=True, help="Read around damage, and say how many records are unreadable.")
@click.pass_obj
def export(invocation: Invocation, target: Path, salvage: bool) -> int:
    """Write everything as JSON Lines to FILE, or to stdout for "-".

    A FILE appears only when it is complete. The same memories always give the same bytes. With --salvage, a damaged
    store is read as far as it can be; exits 1 when anything was unreadable.
    """
    with (
        invocation.open_damaged() if salvage else invocation.open_store() as store,
        whole_file(target) as out,
        invocation.terminal.progress("exporting", "records") as progress,
    ):
        lines = export_to(out, store, progress)
        lost = store.unreadable if isinstance(store, Salvage) else 0
    if salvage:
        invocation.terminal.words(f"{counted(lost, 'record')} could not be read" if lost else "nothing was unreadable")
    if invocation.as_json and str(target) != "-":
        found = {"file": str(target), "lines": lines}
        invocation.terminal.json(found | {"unreadable": lost} if salvage else found)
    return PROBLEMS_FOUND if lost else OK


@command("import")
@click.argument("source", metavar="FILE|-", type=click.File(encoding="utf-8"))
@click.option("--wait/--no-wait", default=True, help="Wait until all can be found by meaning.")
@click.pass_obj
def import_(invocation: Invocation, source: IO[str], wait: bool) -> None:
    """Add what export wrote to the store; what is there already stays as it is.

    Every line is checked against its hash. An import that was cut short can simply be run again.
    """
    with invocation.open_memory(create=True) as memory:
        with _as_refusals(), invocation.terminal.progress("importing", "records") as progress:
            report = memory.import_(source, progress)
        invocation.terminal.words(f"{counted(report.records, 'record')} read, {report.added:,} new")
        if invocation.as_json:
            invocation.terminal.json(asdict(report))
        if wait:
            wait_for_embedding(memory, invocation.terminal)


@command("backup")
@click.argument("target", metavar="FILE", type=new_file)
@click.pass_obj
def backup(invocation: Invocation, target: Path) -> None:
    """Copy the store to FILE, consistently, in one piece."""
    with invocation.open_store() as store, invocation.terminal.progress("backing up", "pages") as progress:
        store.backup(target.absolute(), progress)
    if invocation.as_json:
        invocation.terminal.json({"file": str(target), "bytes": target.stat().st_size})


@command("restore")
@click.argument("source", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-y", "--yes", is_flag=True, help="Do not ask before replacing a store.")
@click.pass_obj
def restore(invocation: Invocation, source: Path, yes: bool) -> int:
    """Put a backup in the store's place. A store that is replaced is kept beside it."""
    from libravdb_memory.store.sqlite.backup import restore as restore_backup
    from libravdb_memory.store.sqlite.files import locate

    invocation.refuse_daemon()
    target = locate(invocation.config().db_path)
    replaces = target.exists()
    if replaces and not yes and not invocation.terminal.confirmed(f"Replace {target}?"):
        return PROBLEMS_FOUND
    with invocation.terminal.progress("restoring", "pages") as progress:
        kept = restore_backup(source, target, progress)
    if invocation.as_json:
        invocation.terminal.json({"file": str(target), "replaced_store": str(kept) if kept else None})
    elif kept:
        invocation.terminal.words(f"the store that was there is kept as {kept}")
    return OK


@contextmanager
def _as_refusals() -> Generator[None, None, None]:
    """What cannot even be read line by line as JSON, as an error of the input."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise InvalidInputError("FILE", f"is not UTF-8 text ({error.reason}), so no export") from error
    except RecursionError as error:
        raise InvalidInputError("FILE", "holds a line that is nested too deeply, so no export") from error


COMMANDS = {"export": export, "import": import_, "backup": backup, "restore": restore}
