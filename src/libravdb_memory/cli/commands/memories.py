"""add, search, get, erase: turns in, found again, and gone for good."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from datetime import datetime
from typing import IO

import click

from libravdb_memory.arguments import Scope, nothing_to_erase
from libravdb_memory.cli.batch import read_turns, stored
from libravdb_memory.cli.dates import Moment
from libravdb_memory.cli.exit_codes import OK, PROBLEMS_FOUND
from libravdb_memory.cli.invocation import Invocation, command
from libravdb_memory.cli.owners import check_has_turns, owners_of
from libravdb_memory.cli.render import counted, in_one_line, printable, render_hits, render_summary, render_turn
from libravdb_memory.cli.terminal import Counting, Terminal
from libravdb_memory.cli.waiting import wait_for_compaction, wait_for_embedding
from libravdb_memory.errors import NotFoundError
from libravdb_memory.namespaces import namespace_of, summarised_namespace_of
from libravdb_memory.serve.bridge.census import Census, Stating

_LEFT = Census(0, 0, 0)
"""Of a turn that is gone, copies and receipts may be left; nobody counts them beforehand."""

user_option = click.option("-u", "--user", help="Whose memory it is.")
session_option = click.option("-s", "--session", help="One conversation of that user.")
_NAMED = 3
_A_MOMENT_S = 1.0
_GOING = (
    "the rule of {} only takes back what is erased and goes too; its turn stays",
    "the rules of {} only take back what is erased and go too; their turns stay",
)
_GONE = (
    "the rule of {} only took back what was erased and is gone too; its turn stays",
    "the rules of {} only took back what was erased and are gone too; their turns stay",
)
_AGAIN = ("the rule of {} stands again", "the rules of {} stand again")


@command("add")
@click.argument("text", required=False)
@click.option("--jsonl", "lines", type=click.File(encoding="utf-8"), help="A file of turns, one JSON object a line.")
@user_option
@session_option
@click.option("--role", default="user", show_default=True, help="Who spoke: user, assistant, system …")
@click.option("--speaker", help="The name of who spoke.")
@click.option("--at", "ts", type=Moment(), help="When it was said (ISO date or time; now by default).")
@click.option("--id", "turn_id", help="Your own id for the turn; made up otherwise.")
@click.option(
    "--wait/--no-wait",
    default=True,
    help="Wait until it can be found by meaning and, with --jsonl and without a daemon, long sessions are compacted.",
)
@click.pass_obj
def add(
    invocation: Invocation,
    text: str | None,
    lines: IO[str] | None,
    user: str | None,
    session: str | None,
    role: str,
    speaker: str | None,
    ts: datetime | None,
    turn_id: str | None,
    wait: bool,
) -> None:
    """Remember TEXT ("-" reads it from stdin), or the turns of a JSON Lines file.

    Prints the id of each turn; when it is printed, the turn is on disk, its secrets masked. With --jsonl, each line is
    an object with "text" and, where known, user, session, role, ts, id, speaker, metadata; the options fill in what a
    line leaves out.
    """
    common = {"user": user, "session": session, "role": role, "speaker": speaker, "ts": ts, "id": turn_id}
    turns, masked = read_turns(text, lines, common), list[str]()
    with invocation.open_memory(create=True) as memory:
        with _storing(invocation.terminal, lines) as progress:
            for number, turn in enumerate(stored(turns, memory.ingest, told=lines is not None), 1):
                masked += turn.masked
                invocation.terminal.json(asdict(turn)) if invocation.as_json else invocation.terminal.exact(
                    printable(turn.id)
                )
                progress(number, 0)
        if masked:
            kinds = ", ".join(dict.fromkeys(masked))
            invocation.terminal.words(f"masked {counted(len(masked), 'secret')} ({kinds})")
        if wait:
            wait_for_embedding(memory, invocation.terminal)
        if wait and lines is not None:
            wait_for_compaction(memory, invocation.terminal, invocation.config(), invocation.again("compact", "--all"))
            wait_for_embedding(memory, invocation.terminal)


def _storing(terminal: Terminal, lines: IO[str] | None) -> AbstractContextManager[Counting]:
    """A count on a terminal where neither ids come nor lines are typed: there it would be between them."""
    if lines is None or lines.isatty() or sys.stdout.isatty() or not sys.stderr.isatty():
        return nullcontext(lambda done, total, within="", /: None)
    return terminal.progress("storing", "turns", from_s=_A_MOMENT_S)


@command("search")
@click.argument("query")
@user_option
@session_option
@click.option("-k", "count", type=click.IntRange(min=0), default=10, show_default=True, help="How many at most.")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(["session", "history", "summaries"]),
    multiple=True,
    help="Look in the session, the whole history, or summaries; may be given again.",
)
@click.option("--role", help="Only turns of this role.")
@click.option("--since", type=Moment(), help="Only turns from this ISO date or time on.")
@click.option("--until", type=Moment(day_end=True), help="Only turns up to this ISO date or time, inclusive.")
@click.option("--explain", is_flag=True, help="Show what each score is made of.")
@click.option("--full", is_flag=True, help="Show long turns whole.")
@click.pass_obj
def search(
    invocation: Invocation,
    query: str,
    user: str | None,
    session: str | None,
    count: int,
    scopes: tuple[Scope, ...],
    role: str | None,
    since: datetime | None,
    until: datetime | None,
    explain: bool,
    full: bool,
) -> None:
    """Find the turns that answer QUERY best, by meaning and wording.

    Without --scope, all sessions are searched, or the named --session. Turns below summaries are found like any others.
    """
    with invocation.open_memory() as memory:
        hits = memory.search(
            query, user=user, session=session, k=count, scopes=scopes or None, role=role, since=since, until=until
        )
    terminal = invocation.terminal
    for note in hits.degraded:
        terminal.words(click.style(f"note: {note}", fg="yellow"))
    if invocation.as_json:
        found = [asdict(hit) for hit in hits]
        terminal.json({"query": query, "hits": found, "degraded": list(hits.degraded)})
    elif hits:
        terminal.data(render_hits(query, hits, terminal.width, explain=explain, full=full))
    else:
        told = f"nothing found{_elsewhere(invocation, user, session, scopes)}"
        terminal.words(textwrap.fill(told, terminal.width, break_on_hyphens=False))


def _elsewhere(invocation: Invocation, user: str | None, session: str | None, scopes: tuple[Scope, ...]) -> str:
    """That who or what was named has no turns; where nobody was named, who has what was looked for."""
    summaries = "summaries" in scopes
    with invocation.open_store() as store:
        try:
            check_has_turns(store, user, session)
        except NotFoundError as error:
            return f": {in_one_line(error.message)}"
        others = owners_of(store, summarised_namespace_of if summaries else namespace_of, user)
    return f"; there are {'summaries' if summaries else 'turns'} of {others}" if others else ""


@command("get")
@click.argument("turn_id", metavar="ID")
@user_option
@session_option
@click.option("--original", is_flag=True, help="With its secrets, if they were kept (secrets.keep_raw).")
@click.pass_obj
def get(invocation: Invocation, turn_id: str, user: str | None, session: str | None, original: bool) -> None:
    """Print the turn with this ID: its exact text on stdout, who said it and when on stderr."""
    with invocation.open_memory() as memory:
        turn = (memory.original if original else memory.get)(turn_id, user=user, session=session)
    if invocation.as_json:
        invocation.terminal.json(asdict(turn))
        return
    invocation.terminal.words(render_summary(turn))
    invocation.terminal.exact(printable(turn.text))


@command("erase")
@click.argument("turn_id", metavar="[ID]", required=False)
@user_option
@session_option
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def erase(invocation: Invocation, turn_id: str | None, user: str | None, session: str | None, yes: bool) -> int:
    """Erase for good: the turn with this ID, else a whole --session, else everything of --user.

    With turns go the summaries above them, the rules taken from them, the copies that hosts made and the receipts that
    quote them; other turns below such a summary stay, and the next compaction covers them again. Shows what will go and
    asks first. What is erased is gone from the data file and its indexes, not from backups.
    """
    if not (turn_id or user or session):
        raise click.UsageError("name a turn by its ID, a --session, or a --user")
    doomed, place = _counted(invocation, turn_id, user, session, shown=not yes)
    if not yes and not invocation.terminal.confirmed(_question(doomed, turn_id, user, session, place)):
        return PROBLEMS_FOUND
    with invocation.open_memory() as memory:
        erasure = memory.erase(turn_id, user=user, session=session)
    if invocation.as_json:
        invocation.terminal.json({**asdict(doomed), **asdict(erasure)})
    made = f", with {doomed.made} made from {'it' if doomed.turns == 1 else 'them'}" if doomed.made else ""
    what = "what was left of this turn" if doomed == _LEFT else f"{counted(doomed.turns, 'turn')}{made}"
    invocation.terminal.words(f"erased {what}")
    for line in _about_rules(doomed, place, gone=True):
        invocation.terminal.words(line)
    return OK


def _counted(
    invocation: Invocation, turn_id: str | None, user: str | None, session: str | None, *, shown: bool
) -> tuple[Census, str | None]:
    """What an erase would take, and of which session. The store is free again while the question waits."""
    if turn_id is None:
        with invocation.open_store() as store:
            found = store.census(user, session)
        if found.turns == found.copies == 0:
            raise nothing_to_erase(user, session)
        return found, session
    with invocation.open_memory() as memory:
        try:
            turn = memory.get(turn_id, user=user, session=session)
        except NotFoundError:
            if user is None or session is None:
                raise
            return _LEFT, session
    if shown:
        invocation.terminal.words(render_turn(turn, invocation.terminal.width))
    with invocation.open_store() as store:
        return store.census_of_turn(turn), turn.session


def _question(doomed: Census, turn_id: str | None, user: str | None, session: str | None, place: str | None) -> str:
    whose = [repr(user)] if user is not None else []
    part = [f"session {session!r}"] if session is not None else ["all sessions"]
    what = f"{counted(doomed.turns, 'turn')} of {', '.join(whose + part)}" if turn_id is None else "this turn"
    if doomed == _LEFT:
        what = "what is left of this turn, which is gone"
    made = f", and {doomed.made} made from {'it' if doomed.turns == 1 else 'them'}," if doomed.made else ""
    about = [f"{line[0].upper()}{line[1:]}." for line in _about_rules(doomed, place)]
    return " ".join([*about, f"Erase {what}{made} for good?"])


def _about_rules(doomed: Census, session: str | None, *, gone: bool = False) -> Iterator[str]:
    """What becomes of rules whose turns stay."""
    for words, stating in ((_GONE if gone else _GOING, doomed.pointless), (_AGAIN, doomed.standing)):
        if stating:
            yield words[len(stating) > 1].format(_turns(stating, session))


def _turns(stating: Sequence[Stating], session: str | None) -> str:
    names = [each.turn if each.session == session else f"{each.turn} of {each.session}" for each in stating[:_NAMED]]
    more = f" and {len(stating) - _NAMED:,} more" if len(stating) > _NAMED else ""
    return f"{in_one_line(', '.join(names))}{more}"


COMMANDS = {"add": add, "search": search, "get": get, "erase": erase}
