"""What `rules` commands show: nodes with tier, modality and price, and what is wrong with them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import click

from libravdb_memory.cli.figures import bar, clip
from libravdb_memory.cli.render import counted, harmless, table
from libravdb_memory.ingest.deontic import Mark, Scan
from libravdb_memory.ingest.lint import LintedNode, LintReport, RuleBudget, Waste
from libravdb_memory.ingest.partition import Node, Partition, Placed, Tier
from libravdb_memory.ingest.rules import RulePlace
from libravdb_memory.tokens import share_of

TIER_NAMES: Mapping[Tier, str] = {Tier.HARD: "hard", Tier.SOFT: "soft", Tier.VARIANT: "lore"}
_COLOURS: Mapping[Tier, str] = {Tier.HARD: "green", Tier.SOFT: "cyan", Tier.VARIANT: "white"}
_PROBLEM = click.style("✗", fg="red", bold=True)


# ── for people ───────────────────────────────────────────────────────────────────────────────────────────────────


def render_report(report: LintReport, budget: RuleBudget, width: int) -> str:
    documents = dict.fromkeys(linted.document for linted in report.nodes)
    parts = [
        "\n".join([click.style(harmless(name), bold=True), *_rows(report.nodes, name, width)]) for name in documents
    ]
    parts.append(table(list(_totals(report, budget))))
    parts += [f"{_PROBLEM} {problem}" for problem in _problems(report, width)]
    return "\n\n".join(parts)


def render_partition(name: str, document: Partition, width: int) -> str:
    """One line: a document and what its tiers cost."""
    costs = ", ".join(
        f"{TIER_NAMES[tier]} {sum(node.tokens for node in nodes):,} in {len(nodes)}"
        for tier in TIER_NAMES
        if (nodes := document.of_tier(tier))
    )
    return f"{clip(name, max(width - len(costs) - 10, 12))}  {click.style(f'tokens: {costs or 0}', dim=True)}"


def render_nodes(name: str, document: Partition, width: int) -> str:
    """A document with its nodes, none of them judged against a budget."""
    linted = [
        LintedNode(name, node, tuple(dict.fromkeys(m.modality for m in node.marks)), True) for node in document.nodes
    ]
    return "\n".join([render_partition(name, document, width), *_rows(linted, name, width)])


def render_scan(text: str, found: Scan, width: int) -> str:
    """A line per mark: where it stands, its modality and its words."""
    return "\n".join(_mark_line(text, mark, width) for mark in found.marks)


def _mark_line(text: str, mark: Mark, width: int) -> str:
    line = text.count("\n", 0, mark.start) + 1
    column = mark.start - (text.rfind("\n", 0, mark.start) + 1) + 1
    head = f"{line}:{column}".rjust(8) + f"  {mark.modality:<10}  "
    return click.style(head, dim=True) + clip(text[mark.start : mark.end], width - len(head))


def _rows(nodes: Sequence[LintedNode], document: str, width: int) -> Iterator[str]:
    modality_width = max((len(_modalities(linted)) for linted in nodes), default=0)
    for linted in nodes:
        if linted.document == document:
            yield _row(linted, modality_width, width)


def _row(linted: LintedNode, modality_width: int, width: int) -> str:
    node = linted.node
    head = f"{node.line:>6}  "
    facts = f"  {_modalities(linted):<{modality_width}}  {node.tokens:>6,}  "
    tier = click.style(TIER_NAMES[node.tier], fg=_COLOURS[node.tier], dim=node.tier is Tier.VARIANT)
    mark = "" if linted.fits else "✗ "
    words = clip(node.text, width - len(head) - 4 - len(facts) - len(mark))
    return head + tier + facts + click.style(mark, fg="red") + click.style(words, dim=node.tier is Tier.VARIANT)


def _modalities(linted: LintedNode) -> str:
    return "+".join(linted.modalities) or "-"


def _totals(report: LintReport, budget: RuleBudget) -> Iterator[tuple[str, str]]:
    limits = {Tier.HARD: share_of(budget.tokens, budget.hard_share), Tier.SOFT: report.soft_limit}
    for tier, name in TIER_NAMES.items():
        nodes = [linted.node for linted in report.nodes if linted.node.tier is tier]
        tokens = sum(node.tokens for node in nodes)
        if tier in limits:
            yield (
                name,
                f"{bar(tokens, limits[tier])}  {tokens:,} of {counted(limits[tier], 'token')} in {_nodes(nodes)}",
            )
        else:
            yield name, f"{counted(tokens, 'token')} in {_nodes(nodes)}; {_waste(report.waste)}"


def _nodes(nodes: Sequence[Node]) -> str:
    return counted(len(nodes), "node")


def _waste(waste: Waste) -> str:
    return f"expected waste {waste.expected_tokens:.1f} tokens"


def _problems(report: LintReport, width: int) -> Iterator[str]:
    for contradiction in report.contradictions:
        places = [("obligatory", place) for place in contradiction.obligatory]
        places += [("forbidden", place) for place in contradiction.forbidden]
        yield _with_places("contradiction: one action, obligatory and forbidden", places, width)
    for duplicate in report.duplicates:
        yield _with_places("duplicate: one rule, said more than once", [("", at) for at in duplicate.places], width)
    if report.hard_overrun is not None:
        yield "\n    ".join(textwrap.wrap(harmless(str(report.hard_overrun)), width - 4))
    if report.soft_cut:
        first = report.soft_cut[0]
        cut = f"{counted(len(report.soft_cut), 'soft rule')} cut off, from {harmless(first.document)}"
        yield f"{cut}:{first.node.line} on: soft rules have {counted(report.soft_limit, 'token')}"
    for unread in report.unread_front_matter:
        yield f"front matter of {harmless(unread.document)} cannot be read: {harmless(unread.problem)}"


def _with_places(title: str, places: Iterable[tuple[str, RulePlace]], width: int) -> str:
    lines = [title]
    for label, place in places:
        head = f"    {label:<10}  " if label else "    "
        where = f"{harmless(place.document)}:{place.line}  "
        lines.append(head + click.style(where, dim=True) + clip(place.text, max(width - len(head) - len(where), 20)))
    return "\n".join(lines)


# ── for programs ─────────────────────────────────────────────────────────────────────────────────────────────────


def report_form(report: LintReport, budget: RuleBudget) -> dict[str, Any]:
    return {
        "ok": report.clean,
        "budget": budget.tokens,
        "hard_limit": share_of(budget.tokens, budget.hard_share),
        "soft_limit": report.soft_limit,
        "nodes": [_node_form(linted) for linted in report.nodes],
        "contradictions": [
            {
                "action": found.action,
                "obligatory": [_place_form(place) for place in found.obligatory],
                "forbidden": [_place_form(place) for place in found.forbidden],
            }
            for found in report.contradictions
        ],
        "duplicates": [
            {"rule": found.rule, "places": [_place_form(place) for place in found.places]}
            for found in report.duplicates
        ],
        "hard_overrun": _overrun_form(report),
        "soft_cut": [_placed_form(placed) for placed in report.soft_cut],
        "unread_front_matter": [
            {"document": unread.document, "problem": unread.problem} for unread in report.unread_front_matter
        ],
        "expected_waste": {
            "false_positive_rate": report.waste.false_positive_rate,
            "lore_paragraphs": report.waste.lore_paragraphs,
            "mean_tokens": report.waste.mean_tokens,
            "tokens": report.waste.expected_tokens,
        },
    }


def scan_form(text: str, found: Scan) -> dict[str, Any]:
    """Offsets count code points."""
    marks = [
        {"modality": mark.modality, "start": mark.start, "end": mark.end, "text": text[mark.start : mark.end]}
        for mark in found.marks
    ]
    return {"promoted": found.promoted, "marks": marks}


def document_form(name: str, document: Partition) -> dict[str, Any]:
    tiers = {
        TIER_NAMES[tier]: {"nodes": len(nodes), "tokens": sum(node.tokens for node in nodes)}
        for tier in TIER_NAMES
        for nodes in (document.of_tier(tier),)
    }
    return {"name": name, "bytes": document.source_bytes, "tiers": tiers, "hop_targets": list(document.hop_targets)}


def _node_form(linted: LintedNode) -> dict[str, Any]:
    node = linted.node
    return {
        "document": linted.document,
        "line": node.line,
        "start": node.start,
        "end": node.end,
        "kind": node.kind.value,
        "tier": TIER_NAMES[node.tier],
        "modalities": list(linted.modalities),
        "tokens": node.tokens,
        "fits": linted.fits,
        "text": node.text,
    }


def _place_form(place: RulePlace) -> dict[str, Any]:
    return {"document": place.document, "line": place.line, "text": place.text}


def _placed_form(placed: Placed) -> dict[str, Any]:
    return {"document": placed.document, "line": placed.node.line, "tokens": placed.node.tokens}


def _overrun_form(report: LintReport) -> dict[str, Any] | None:
    overrun = report.hard_overrun
    if overrun is None:
        return None
    costliest = [_placed_form(placed) for placed in overrun.costliest]
    return {"tokens": overrun.tokens, "limit": overrun.limit, "excess": overrun.excess, "costliest": costliest}
