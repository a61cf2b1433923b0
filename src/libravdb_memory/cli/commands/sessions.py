"""compact, history, expand, guidance: old turns under summaries, back to the exact turns, and the rules of them."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial

import click

from libravdb_memory.cli.compaction_report import (
    compaction_form,
    expansion_form,
    heading_of,
    plain_expansion,
    render_compaction,
    render_compactions,
    render_expansion,
)
from libravdb_memory.cli.guidance_report import guidance_words, render_guidance, rules_named
from libravdb_memory.cli.history_tree import Shown, glyphs_of_output, history_form, render_history
from libravdb_memory.cli.idle_sessions import why_idle
from libravdb_memory.cli.interruption import Interruption
from libravdb_memory.cli.invocation import Invocation, command
from libravdb_memory.cli.owners import as_options, owners_of
from libravdb_memory.cli.render import in_one_line
from libravdb_memory.cli.terminal import Counting
from libravdb_memory.cli.waiting import wait_for_embedding, wait_for_summaries
from libravdb_memory.compact.plan import LEAST_TURNS
from libravdb_memory.compacting import Compaction
from libravdb_memory.model import Turn
from libravdb_memory.namespaces import given_user, guided_namespace_of, session_name
from libravdb_memory.serve.bridge.lookup import SessionName
from libravdb_memory.serve.bridge.remote import AnyMemory
from libravdb_memory.shards import KeptRule
from libravdb_memory.summaries import Node
from libravdb_memory.wording import counted

user_option = click.option("-u", "--user", help="Whose memory it is.")
_PAGE = 1000
_NONE: Mapping[str, KeptRule] = {}


@command("compact")
@click.argument("session", required=False)
@user_option
@click.option("--all", "every", is_flag=True, help="Every session of --user, or of the whole store.")
@click.option("--rebuild", is_flag=True, help="Make all summaries anew.")
@click.pass_obj
def compact(invocation: Invocation, session: str | None, user: str | None, every: bool, rebuild: bool) -> None:
    """Cover the older turns of SESSION with summaries; every turn stays, exact, below them.

    Tells what was covered and what was declined, and why. Can be interrupted and run again: each summary is on disk
    when the next is begun.
    """
    if every == (session is not None):
        raise click.UsageError("name a SESSION, or give --all, not both" if every else "name a SESSION, or give --all")
    with invocation.open_store() as store:
        names = [store.session(user, session)] if session is not None else store.sessions(user)
    with invocation.open_memory() as memory:
        done = _compacted(invocation, memory, names, rebuild)
        try:
            wait_for_embedding(memory, invocation.terminal)  # so that the summaries can be found by meaning
        finally:  # it is done, also where nobody waits for that
            _report(invocation, done, every)


def _report(invocation: Invocation, done: list[Compaction], every: bool) -> None:
    terminal = invocation.terminal
    if invocation.as_json:
        terminal.json({"sessions": [compaction_form(each) for each in done]})
    else:
        terminal.data(render_compactions(done, terminal.width) if every else render_compaction(done[0], terminal.width))
    terminal.words(why_idle(done, invocation.config().assembly, terminal.width, told=not every))


def _compacted(invocation: Invocation, memory: AnyMemory, names: list[SessionName], rebuild: bool) -> list[Compaction]:
    done, told = list[Compaction](), Interruption(memory, names, rebuild)
    try:
        _one_by_one(invocation, memory, names, rebuild, done)
    except KeyboardInterrupt:
        invocation.terminal.words(textwrap.fill(told.words(len(done)), invocation.terminal.width))
        raise
    return done


def _one_by_one(
    invocation: Invocation, memory: AnyMemory, names: list[SessionName], rebuild: bool, done: list[Compaction]
) -> None:
    """A bar of the summaries of one session, or of many sessions and the summaries of that at work."""
    wait, many = wait_for_summaries(invocation.config(), memory), len(names) != 1
    with invocation.terminal.progress("compacting", "sessions" if many else "clusters", wait) as progress:
        within = partial(_within, progress, done, len(names)) if many else progress
        for name in names:
            if many:
                progress(len(done), len(names))
            done.append(memory.compact(user=name.user, session=name.session, rebuild=rebuild, progress=within))
        if many:
            progress(len(done), len(names))


def _within(progress: Counting, done: list[Compaction], of: int, clusters: int, known: int) -> None:
    progress(len(done), of, f"{clusters:,} of {counted(known, 'cluster')}")


@command("history")
@click.argument("session")
@user_option
@click.option("--turns", is_flag=True, help="Show every turn, also those below summaries.")
@click.option("--depth", type=click.IntRange(min=1), help="Show so many levels of summaries; all otherwise.")
@click.pass_obj
def history(invocation: Invocation, session: str, user: str | None, turns: bool, depth: int | None) -> None:
    """Show SESSION as a tree, oldest first: its summaries, the turns that none covers, and the tail.

    Of each summary: level, turns below it, tokens of what it was made from and its own, confidence, what became of the
    facts, dates, and its first words. Turns whose rule is kept word by word are marked.
    """
    with invocation.open_store() as store:
        name = store.session(user, session)
    with invocation.open_memory() as memory:
        found = memory.history(user=name.user, session=name.session)
        shown = Shown(partial(_turns_below, memory) if turns else None, _ruled(memory, name), depth)
        if invocation.as_json:
            invocation.terminal.json(history_form(found, shown))
        else:
            invocation.terminal.data(render_history(found, invocation.terminal.width, glyphs_of_output(), shown))


def _ruled(memory: AnyMemory, name: SessionName) -> frozenset[str]:
    """The turns whose rule is kept."""
    turns: list[str] = []
    cursor: str | None = None
    while True:
        page = memory.guidance(user=name.user, session=name.session, limit=_PAGE, after=cursor)
        turns += [rule.turn for rule in page.rules]
        if (cursor := page.cursor) is None:
            return frozenset(turns)


def _turns_below(memory: AnyMemory, node: Node) -> list[Turn]:
    turns: list[Turn] = []
    cursor: str | None = None
    while True:
        page = memory.expand(node.id, user=node.namespace, session=node.session, limit=_PAGE, after=cursor)
        turns += [item for item in page.items if isinstance(item, Turn)]
        if (cursor := page.cursor) is None:
            return turns


@command("expand")
@click.argument("summary")
@user_option
@click.option("-s", "--session", help="Only a summary of this session.")
@click.option("--depth", type=click.IntRange(min=1), help="Stop so many levels below it; to the turns otherwise.")
@click.option("--limit", type=click.IntRange(min=1), default=200, show_default=True, help="How many at most.")
@click.option("--after", metavar="CURSOR", help="Go on after this cursor.")
@click.pass_obj
def expand(
    invocation: Invocation,
    summary: str,
    user: str | None,
    session: str | None,
    depth: int | None,
    limit: int,
    after: str | None,
) -> None:
    """Print SUMMARY and the exact turns below it, in order.

    SUMMARY is an id, or its first characters (six or more) while no other begins so. Says how to go on when there is
    more.
    """
    with invocation.open_store() as store:
        found = store.expand(summary, user, session, depth=depth, limit=limit, after=after)
    node, terminal = found.node, invocation.terminal
    if invocation.as_json:
        terminal.json(expansion_form(found))
        return
    if after is None:
        found = replace(found, items=(node, *found.items))
    else:
        terminal.words(f"{node.id}: {heading_of(node)}\n")
    if sys.stdout.isatty():
        terminal.data(render_expansion(found, terminal.width))
    else:
        terminal.exact(plain_expansion(found))
    if found.cursor is not None:
        deep = [] if depth is None else ["--depth", str(depth)]
        page = ["--limit", str(limit), "--after", found.cursor]
        terminal.words(f"\nmore: {invocation.again('expand', node.id, *as_options(user, session), *deep, *page)}")


@command("guidance")
@user_option
@click.option("-s", "--session", help="Only rules of this session.")
@click.option("--limit", type=click.IntRange(min=1), default=200, show_default=True, help="How many at most.")
@click.option("--after", metavar="CURSOR", help="Go on after this cursor.")
@click.pass_obj
def guidance(invocation: Invocation, user: str | None, session: str | None, limit: int, after: str | None) -> None:
    """List the rules of a user that compaction keeps word by word: when and where each was said, the turn that states
    it, its words, and why it is kept. They come in the order in which they were kept, session by session as these were
    compacted.

    A rule that is wrong goes with its turn: libravdb erase.
    """
    with invocation.open_store() as store:
        if session is not None:
            user, session = store.session(user, session)
        others = owners_of(store, guided_namespace_of, user)
    with invocation.open_memory() as memory:
        page = memory.guidance(user=user, session=session, limit=limit, after=after)
        every = partial(memory.guidance, user=user, limit=_PAGE)
        known = rules_named(page, lambda cursor: every(after=cursor)) if not invocation.as_json else _NONE
    uncompacted = "" if page.total else _uncompacted(invocation, user, session)
    terminal = invocation.terminal
    if invocation.as_json:
        terminal.json(asdict(page))
    elif page.rules:
        terminal.data(render_guidance(page, known, terminal.width))
    none = f"{uncompacted or 'no rules are kept'}{f'; there are some of {others}' if others else ''}"
    terminal.words(guidance_words(page, as_options(user, session), limit, none, invocation.again))


def _uncompacted(invocation: Invocation, user: str | None, session: str | None) -> str:
    """That no rule can have been found yet, where it is so. Raises NotFoundError for a user without turns."""
    is_all = session is None and given_user(user) is not None
    with invocation.open_store() as store:
        found = store.census(user, session)
        if is_all and not found.turns:
            store.sessions(user)  # says so
        if found.summaries or not found.turns:
            return ""
        names = store.sessions(user) if is_all else [store.session(user, session_name(session))]
    told = "no rules are kept yet: they are found when turns are compacted"
    with invocation.open_memory() as memory:
        if not any(_outgrows_its_tail(memory, name) for name in names):
            whose = "no session has" if names[1:] else f"{in_one_line(names[0].session)} has not"
            return f"{told}, and {whose} outgrown its tail"
    what = ["--all"] if is_all else [session_name(session)]
    return f"{told}, which '{invocation.again('compact', *what, *as_options(user, None))}' does"


def _outgrows_its_tail(memory: AnyMemory, name: SessionName) -> bool:
    """Whether enough lies behind it to be compacted."""
    history = memory.history(user=name.user, session=name.session)
    return history.turns - history.tail >= LEAST_TURNS


COMMANDS = {"compact": compact, "history": history, "expand": expand, "guidance": guidance}
