"""What a compaction did and what lies below a summary, shown to people and told to programs.

Law: texts, ids and names come from conversations; they are shown harmless.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import click

from libravdb_memory.cli.dates import local_span, local_time
from libravdb_memory.cli.figures import clip
from libravdb_memory.cli.idle_sessions import declined_in_brief
from libravdb_memory.cli.render import harmless, in_one_line, spending, table, wrapped
from libravdb_memory.compact.passed_over import Extracts
from libravdb_memory.compacting import Compaction, Declined
from libravdb_memory.lineage import Expansion
from libravdb_memory.model import Turn
from libravdb_memory.summaries import Loss, Node
from libravdb_memory.wording import counted

_LABEL_WIDTH = 9
_MOST_DECLINED = 5


# ── for people ───────────────────────────────────────────────────────────────────────────────────────────────────


def render_compaction(done: Compaction, width: int) -> str:
    """Of one session: what is covered now, what was declined and why."""
    figures = list(_figures(done))
    rows = [(name, _folded(value, width - _LABEL_WIDTH)) for name, value in figures]
    lines = [table([("session", _named(done, width - _LABEL_WIDTH)), *rows])]
    lines += _declines(done.declined, width)
    if done.reason:
        begun = "" if done.ended_early else f"nothing {'more ' if figures else ''}to do: "
        lines.append(textwrap.fill(f"{begun}{harmless(done.reason)}", width))
    return "\n".join(lines)


def render_compactions(many: Sequence[Compaction], width: int) -> str:
    """Of many sessions: those with something to tell one by one, the others counted."""
    busy = [done for done in many if done.declined or any(_figures(done)) or done.ended_early]
    lines = [_in_brief(done, width) for done in busy]
    if idle := len(many) - len(busy):
        lines.append(f"nothing to do in {counted(idle, 'session')}")
    return "\n".join(lines)


def render_expansion(expansion: Expansion, width: int) -> str:
    """One after the other: a line of who and when, then the text."""
    blocks = [[*_head(item), *wrapped(item.text, width)] for item in expansion.items]
    return "\n\n".join("\n".join(lines) for lines in blocks)


def plain_expansion(expansion: Expansion) -> str:
    """The same with the texts exact, for who wants no terminal's lines."""
    blocks = [[*map(click.unstyle, _head(item)), item.text] for item in expansion.items]
    return "\n\n".join("\n".join(lines) for lines in blocks)


def heading_of(node: Node) -> str:
    """What a summary is, in figures, and which model wrote it: without what it says."""
    tokens = f"{node.source_tokens:,} → {node.tokens:,} tokens"
    writer = f", by {in_one_line(node.engine)}" if node.method == "abstractive" else ""
    return f"level {node.level}, {counted(node.turns, 'turn')}, {tokens}, confidence {node.confidence:.2f}{writer}"


def certificate_of(loss: Loss) -> str:
    """The facts of its sources, and what became of them."""
    unread = f", {counted(loss.unread, 'character')} not read" if loss.unread else ""
    if not loss.facts:
        return f"no facts to lose{unread}"
    parts = [f"{loss.kept:,} kept"]
    parts += [f"{loss.pinned:,} pinned"] if loss.pinned else []
    parts += [f"{lost_by(loss):,} lost"] if lost_by(loss) else []
    return f"{counted(loss.facts, 'fact')}: {', '.join(parts)}{unread}"


def summaries(count: int) -> str:
    return f"{count:,} {'summary' if count == 1 else 'summaries'}"


def lost_by(loss: Loss) -> int:
    return max(loss.facts - loss.kept - loss.pinned, 0)


def _figures(done: Compaction) -> Iterator[tuple[str, str]]:
    if done.summaries:
        share = done.tokens / max(done.source_tokens, 1)
        yield "covered", f"{counted(done.turns, 'turn')} by {summaries(len(done.summaries))}"
        yield "tokens", f"{done.source_tokens:,} → {done.tokens:,} ({share:.0%} left)"
    if done.folds:
        yield "folded", f"{summaries(sum(len(node.children) for node in done.folds))} into {len(done.folds):,}"
    if engines := Counter((node.method, node.engine) for node in (*done.summaries, *done.folds)):
        ordered = sorted(engines.items(), key=lambda maker: (maker[0][0], -maker[1]))
        makers = ", ".join(f"{harmless(name)} ({count:,})" for (_, name), count in ordered)
        yield "made by", f"{makers}: {_why(done.extracts)}" if done.extracts else makers
    if done.spent.calls:
        yield "spent", spending(done.spent)
    if done.guidance:
        yield "rules", f"{done.guidance:,} kept word by word"


def _why(extracts: Sequence[Extracts]) -> str:
    """The model is named once, and so is a failure after which it was not asked again."""
    told: list[str] = []
    details: set[str] = set()
    models: set[str] = set()
    for each in sorted(extracts, key=lambda extracts: extracts.reason == "not ready"):
        brief = each.reason == "not ready" and each.detail in details
        words = "it was not asked again" if brief else each.words(named=each.model not in models)
        told.append(f"{in_one_line(words)} ({each.count:,})")
        details.add(each.detail)
        models.add(each.model)
    return "; ".join(told)


def _folded(value: str, room: int) -> str:
    """Below itself, right of its label."""
    return f"\n{' ' * _LABEL_WIDTH}".join(textwrap.wrap(value, max(room, 30), break_on_hyphens=False))


def _declines(declined: Sequence[Declined], width: int) -> Iterator[str]:
    for each in declined[:_MOST_DECLINED]:
        ends = each.first if each.count == 1 else f"{each.first} … {each.last}"
        told = f"declined: {in_one_line(ends)} ({counted(each.tokens, 'token')}): {harmless(each.reason)}"
        yield click.style(textwrap.fill(told, width, subsequent_indent="  "), fg="yellow")
    if (more := len(declined) - _MOST_DECLINED) > 0:
        yield click.style(f"declined: {more:,} more", fg="yellow")


def _in_brief(done: Compaction, width: int) -> str:
    figures = [f"{name} {value}" for name, value in _figures(done)]
    figures += [declined_in_brief(done.declined)] if done.declined else []
    figures += [harmless(done.reason)] if done.ended_early else []
    told = textwrap.fill("; ".join(figures), width, initial_indent="    ", subsequent_indent="    ")
    return f"{_named(done, width)}\n{click.style(told, dim=True)}"


def _named(done: Compaction, room: int) -> str:
    return clip(f"{done.namespace} / {done.session}", room)


def _head(item: Turn | Node) -> Iterator[str]:
    if isinstance(item, Turn):
        who = item.role if item.speaker is None else f"{item.speaker} ({item.role})"
        when, name = (click.style(part, dim=True) for part in (local_time(item.ts), in_one_line(item.id)))
        yield f"{when}  {in_one_line(who)}  {name}"
    else:
        when = click.style(local_span(item.first_ts, item.last_ts), dim=True)
        yield f"{click.style(item.id, fg='cyan', bold=True)}  {when}"
        yield heading_of(item)


# ── for programs ─────────────────────────────────────────────────────────────────────────────────────────────────


def compaction_form(done: Compaction) -> dict[str, Any]:
    return {
        "user": done.namespace,
        "session": done.session,
        "turns": done.turns,
        "source_tokens": done.source_tokens,
        "tokens": done.tokens,
        "summaries": [_made_form(node) for node in done.summaries],
        "folds": [_made_form(node) for node in done.folds],
        "extracts": [asdict(extracts) for extracts in done.extracts],
        "spent": asdict(done.spent),
        "guidance": done.guidance,
        "declined": [asdict(declined) for declined in done.declined],
        "reason": done.reason,
    }


def expansion_form(expansion: Expansion) -> dict[str, Any]:
    return {
        "summary": node_form(expansion.node),
        "items": [turn_form(item) if isinstance(item, Turn) else node_form(item) for item in expansion.items],
        "cursor": expansion.cursor,
    }


def turn_form(turn: Turn) -> dict[str, Any]:
    return {"kind": "turn", **asdict(turn)}


def node_form(node: Node) -> dict[str, Any]:
    form = asdict(node)
    user, loss, _ = form.pop("namespace"), form.pop("loss"), form.pop("passed_over")
    return {"kind": "summary", "user": user, **form, "certificate": {**loss, "lost": lost_by(node.loss)}}


def _made_form(node: Node) -> dict[str, Any]:
    why = node.passed_over
    return {**node_form(node), "passed_over": None if why is None else asdict(why)}
