"""journal, flush, dream-promote: what the command line of a host asks of its memory."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from libravdb_memory.cli.dates import local_time
from libravdb_memory.cli.exit_codes import OK, PROBLEMS_FOUND
from libravdb_memory.cli.figures import clip
from libravdb_memory.cli.invocation import Invocation, command
from libravdb_memory.cli.render import counted, harmless, in_one_line
from libravdb_memory.cli.rule_files import decoded, read_rule_files
from libravdb_memory.cli.waiting import wait_for_embedding
from libravdb_memory.errors import InvalidInputError, NotFoundError
from libravdb_memory.journal import Entry
from libravdb_memory.namespaces import given_user, resolve_namespace
from libravdb_memory.serve.bridge.census import Census
from libravdb_memory.sources.diary import read_diary
from libravdb_memory.store.protocol import Erasure

user_option = click.option("-u", "--user", "--user-id", "user", help="Whose memory it is.")


@command("journal")
@click.option("-s", "--session", "--session-id", "session", help="Only what was told of this session.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="The newest so many.")
@click.pass_obj
def journal(invocation: Invocation, session: str | None, limit: int) -> None:
    """List what hosts told of the life of their sessions, oldest first: when, what happened, in which session, and
    what else they said about it.
    """
    with invocation.open_store() as store:
        entries = store.journal((session or "").strip() or None, limit)
    if invocation.as_json:
        invocation.terminal.json({"entries": [asdict(entry) for entry in entries]})
        return
    for entry in entries:
        invocation.terminal.data(_line(entry, invocation.terminal.width))
    if not entries:
        invocation.terminal.words("the journal is empty")


def _line(entry: Entry, width: int) -> str:
    head = f"{local_time(entry.ts)}  {in_one_line(entry.hook)}  "
    facts = "  ".join(f"{name}={value}" for name, value in entry.facts.items())
    return click.style(head, dim=True) + clip(f"{entry.session or '-'}  {facts}", max(width - len(head), 12))


@command("flush")
@user_option
@click.option("--session-key", help="Whose memory it is, where the host knows a session key alone.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def flush(invocation: Invocation, user: str | None, session_key: str | None, yes: bool) -> int:
    """Erase everything of one user for good: turns of all sessions, summaries, rules taken from them, dreams.

    Like 'libravdb erase --user', but nothing stored is no error. Other users stay as they are, however alike their
    names begin. Asks first.
    """
    if not (given_user(user) or given_user(session_key)):
        raise click.UsageError("name a --user, or a --session-key")
    namespace = resolve_namespace(user, session_key=session_key)
    with invocation.open_store() as store:
        doomed = store.census(namespace, None)
    if not yes and not invocation.terminal.confirmed(_question(doomed, namespace)):
        return PROBLEMS_FOUND
    with invocation.open_memory() as memory:
        try:
            gone = memory.erase(user=namespace)
        except NotFoundError:
            gone = Erasure(0, 0, 0)
    if invocation.as_json:
        invocation.terminal.json({"namespace": namespace, **asdict(gone)})
    told = f"erased {counted(gone.records, 'record')}" if gone.records else "there was nothing"
    invocation.terminal.words(f"{told} of {harmless(namespace)}")
    return OK


def _question(doomed: Census, namespace: str) -> str:
    made = f" and {doomed.made}" if doomed.made else ""
    return f"Erase everything of {namespace!r} ({counted(doomed.turns, 'turn')}{made}) for good?"


@command("dream-promote")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@user_option
@click.option("--wait/--no-wait", default=True, help="Wait until it can be found by meaning.")
@click.pass_obj
def dream_promote(invocation: Invocation, file: Path, user: str | None, wait: bool) -> None:
    """Make dream memory of what the diary FILE promotes, in the place of what it promoted before.

    An entry is a list item with figures, as in "- Ada checks every migration. {score=.82 recall=3 unique=2}", in a
    section about deep sleep, promotion or dreams. Tells what was rejected and why. A diary that promotes nothing leaves
    what was there.
    """
    if given_user(user) is None:
        raise InvalidInputError("--user", "is needed: dreams belong to somebody")
    place = str(file.resolve())
    entries = read_diary(decoded(str(file), read_rule_files([file])[str(file)]))
    with invocation.open_memory(create=True) as memory:
        done = invocation.tending(memory).promote(user or "", place, entries)
        if wait and done.changed:
            wait_for_embedding(memory, invocation.terminal)
    terminal = invocation.terminal
    if invocation.as_json:
        terminal.json({"file": place, **asdict(done)})
    else:
        for each in done.rejected:
            terminal.data(f"line {each.entry.line}: {harmless(each.reason)}")
    terminal.words(f"{done.promoted:,} promoted, {len(done.rejected):,} rejected")
    if not done.promoted:
        terminal.words("what it promoted before stays")


COMMANDS = {"journal": journal, "flush": flush, "dream-promote": dream_promote}
