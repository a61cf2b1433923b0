"""What an assembled prompt is made of, shown to people and told to programs.

Law: ids, prompts and quoted texts come from conversations; they are shown clipped and harmless.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import click

from libravdb_memory.assemble.fill import same_text
from libravdb_memory.assemble.receipt import Assembly, Item, Rejection
from libravdb_memory.cli.dates import local_time
from libravdb_memory.cli.figures import bar, clip
from libravdb_memory.cli.render import harmless, table
from libravdb_memory.context import Context
from libravdb_memory.errors import AmbiguousIdError
from libravdb_memory.receipts import Receipt, Replay, WhyNot
from libravdb_memory.serve.bridge.lookup import begins_so
from libravdb_memory.wording import counted, two_digits

_ORDER = ("hard", "soft", "tail", "elevated", "recalled", "recovered")
_COLOURS = {"hard": "green", "soft": "cyan", "tail": "blue", "elevated": "magenta"}
_UNDER = " " * 18
_EVIDENCE = (
    "dense",
    "lexical",
    "around",
    "fit",
    "cosine",
    "bm25",
    "relevance",
    "recency",
    "modulation",
    "temporal",
    "coverage",
)


# ── for people ───────────────────────────────────────────────────────────────────────────────────────────────────


def render_context(context: Context, budget: int, explained_by: str) -> str:
    """The words beside an assembled text; `explained_by` is the command for its receipt."""
    lines = [render_tiers(context.assembly, budget, messages=context.tokens - context.assembly.tokens)]
    lines.append(f"{context.tokens:,} of {counted(budget, 'token')}; explained by: {explained_by}")
    lines += [click.style(f"degraded: {harmless(reason)}", fg="yellow") for reason in context.degraded]
    return "\n".join(lines)


def render_tiers(assembly: Assembly, budget: int, *, messages: int = 0) -> str:
    """A bar per tier; each shows its part of the whole budget."""
    rows: list[tuple[str, str, int]] = [
        (name, f"{use.used:>6,} of {use.limit:>6,}", use.used)
        for name, use in sorted(assembly.tiers.items(), key=lambda tier: _ORDER.index(tier[0]))
    ]
    if messages:
        rows.append(("messages", f"{messages:>6,}", messages))
    free = budget - assembly.tokens - messages
    rows.append(("free", f"{free:>6,}", free))
    return "\n".join(
        f"{name:<9} {click.style(bar(used, budget), fg=_COLOURS.get(name, 'white'), dim=name == 'free')} {figures}"
        for name, figures, used in rows
    )


def render_receipt(receipt: Receipt, replay: Replay, width: int) -> str:
    parts = [table(list(_facts(receipt, replay, width)))]
    if (assembly := replay.assembly) is not None:
        parts += [render_tiers(assembly, assembly.budget), render_items(receipt, assembly, width)]
    return "\n\n".join(parts)


def render_items(receipt: Receipt, assembly: Assembly, width: int) -> str:
    """What went in and what stayed out."""
    texts = _texts(receipt)
    inside = _titled("in the prompt", (_item(item, texts, width) for item in assembly.items))
    outside = _titled("left out", (render_rejection(left, texts, width) for left in assembly.rejections))
    return "\n\n".join(filter(None, [inside, outside]))


def render_rejection(rejection: Rejection, texts: Mapping[tuple[str, str], str], width: int) -> str:
    head = f"  {rejection.tier:<9} {_score(rejection.score)}  {harmless(rejection.id)}"
    words = clip(texts.get((rejection.session, rejection.id), ""), width - len(_UNDER))
    return "\n".join(
        filter(None, [f"{head}  {click.style(rejection.words, fg='yellow')}", words and f"{_UNDER}{words}"])
    )


def render_why_not(found: WhyNot, receipt: Receipt, width: int, twin: str = "") -> str:
    if found.rejection is None:
        return f"{_named(found)}: {harmless(found.reason)}"
    lines = [render_rejection(found.rejection, _texts(receipt), width)]
    if twin:
        lines.append(_UNDER + clip(f"duplicate of {twin}", width - len(_UNDER)))
    if found.session:
        lines.append(_UNDER + click.style(f"session {harmless(found.session)}", dim=True))
    if found.rule:
        lines.append(_UNDER + harmless(found.rule))
    if found.rejection.parts:
        lines.append(_working(found.rejection.parts, width))
    return "\n".join(lines)


def offered_as(receipt: Receipt, record: str) -> str | None:
    """The name of what was offered to a prompt: as it is given, or that of the summary that begins so."""
    places = _texts(receipt).keys()
    if any(record in (name, f"{session}/{name}") for session, name in places):
        return record
    begun = {name for _, name in places if begins_so(name, record)}
    if len(begun) > 1:
        raise AmbiguousIdError(record, len(begun))
    return next(iter(begun), None)


def duplicated_by(found: WhyNot, receipt: Receipt, replay: Replay) -> str:
    """What the prompt holds in the same words; empty where that is not why it was left out."""
    rejection, texts = found.rejection, _texts(receipt)
    if rejection is None or rejection.reason != "duplicate" or replay.assembly is None:
        return ""
    words = same_text(texts.get((rejection.session, rejection.id), ""))
    inside = (item.id for item in replay.assembly.items if same_text(texts.get((item.session, item.id), "")) == words)
    return next(inside, "a message of the host")


def _named(found: WhyNot) -> str:
    return harmless(f"{found.session}/{found.record_id}" if found.session else found.record_id)


def render_receipts(receipts: Sequence[Receipt], width: int) -> str:
    return "\n".join(_receipt_line(receipt, width) for receipt in receipts)


def _receipt_line(receipt: Receipt, width: int) -> str:
    head = f"{receipt.id}  {local_time(receipt.created_ms)}  "
    return receipt.id + click.style(head.removeprefix(receipt.id), dim=True) + clip(receipt.prompt, width - len(head))


def _facts(receipt: Receipt, replay: Replay, width: int) -> Iterator[tuple[str, str]]:
    yield "receipt", f"{receipt.id}  {local_time(receipt.created_ms)}"
    yield "prompt", clip(receipt.prompt, width - 9)
    yield "for", clip(f"{receipt.namespace} / {receipt.session}", width - 9)
    yield "inputs", receipt.inputs_hash
    yield "text", receipt.text_hash
    yield "replay", "identical" if replay.identical else click.style(f"NOT identical: {replay.reason}", fg="red")
    if replay.assembly is not None:
        tokens, budget = replay.assembly.tokens, replay.assembly.budget
        yield "tokens", f"{tokens:,} of {budget:,}, counted by {receipt.counter_id}"
        if replay.assembly.degraded is not None:
            yield "degraded", click.style(replay.assembly.degraded.reason, fg="yellow")
    for note in receipt.notes:
        yield "note", click.style(harmless(note), fg="yellow")


def _item(item: Item, texts: Mapping[tuple[str, str], str], width: int) -> str:
    head = f"  {item.tier:<9} {_score(item.score)}  {harmless(item.id)}  "
    words = clip(texts.get((item.session, item.id), ""), max(width - len(head) - 6, 12))
    lines = [f"{head}{click.style(f'{item.tokens:,}', dim=True)}  {words}"]
    if item.parts:
        lines.append(_working(item.parts, width))
    return "\n".join(lines)


def _working(parts: Mapping[str, float], width: int) -> str:
    named = [name for name in _EVIDENCE if name in parts] + sorted(parts.keys() - set(_EVIDENCE))
    told = ", ".join(f"{harmless(name)}\xa0{two_digits(parts[name])}" for name in named)  # a name stays with its figure
    lines = [_UNDER + line.replace("\xa0", " ") for line in textwrap.wrap(told, width - len(_UNDER))]
    return click.style("\n".join(lines), dim=True)


def _score(score: float | None) -> str:
    return "    " if score is None else two_digits(score)


def _titled(title: str, lines: Iterator[str]) -> str:
    body = "\n".join(lines)
    return f"{click.style(title, bold=True)}\n{body}" if body else ""


def _texts(receipt: Receipt) -> dict[tuple[str, str], str]:
    """Whatever was offered, by session and id; rules belong to no session."""
    offer = receipt.offer
    rules = {("", rule.id): rule.text for rule in (*offer.hard, *offer.soft)}
    turns = {(turn.session, turn.id): turn.text for turn in offer.turns}
    recalled = {(item.session, item.id): item.text for item in (*offer.elevated, *offer.recalled, *offer.recovered)}
    return rules | turns | recalled


# ── for programs ─────────────────────────────────────────────────────────────────────────────────────────────────


def context_form(context: Context, budget: int) -> dict[str, Any]:
    return {
        "text": context.text,
        "tokens": context.tokens,
        "budget": budget,
        "degraded": list(context.degraded),
        "receipt": context.receipt.id,
        **_assembly_form(context.assembly),
        "messages": [dict(message) for message in context.messages],
    }


def receipt_form(receipt: Receipt, replay: Replay) -> dict[str, Any]:
    form: dict[str, Any] = {
        **summary_form(receipt),
        "counter": receipt.counter_id,
        "inputs_hash": receipt.inputs_hash,
        "text_hash": receipt.text_hash,
        "notes": list(receipt.notes),
        "settings": asdict(receipt.settings),
        "identical": replay.identical,
        "reason": replay.reason,
    }
    if (assembly := replay.assembly) is not None:
        degraded = asdict(assembly.degraded) if assembly.degraded else None
        form |= {"tokens": assembly.tokens, "degraded": degraded, **_assembly_form(assembly)}
    return form


def summary_form(receipt: Receipt) -> dict[str, Any]:
    return {
        "id": receipt.id,
        "user": receipt.namespace,
        "session": receipt.session,
        "prompt": receipt.prompt,
        "created_ms": receipt.created_ms,
        "budget": receipt.offer.budget,
    }


def _assembly_form(assembly: Assembly) -> dict[str, Any]:
    return {
        "tiers": {name: asdict(use) for name, use in assembly.tiers.items()},
        "items": [asdict(item) for item in assembly.items],
        "rejections": [asdict(rejection) for rejection in assembly.rejections],
    }
