"""How a run of the retrieval benchmark looks to a person: measures across, categories down."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import click

from libravdb_memory.bench.retrieval.filler import EMBEDDED_PER_S
from libravdb_memory.cli.figures import clip
from libravdb_memory.cli.render import counted, harmless, table

_LEAST_NAME, _MOST_NAME = 12, 28
_ORDER = ("questions", "R@", "all@", "NDCG@", "MRR", "tok@", "ctx@", "newer_first", "both_found", "sR@", "ctx_tokens@")
_EXTRAS = ("ctx_tokens@", "sR@")
"""Left out, the first first, where the terminal is narrow."""
_THOUSANDS = re.compile("000$")
_COLOURS = {"better": "green", "worse": "red"}


def render(results: Mapping[str, Any], width: int) -> str:
    parts = [_data(results), _measures(results, width), _latencies(results["latency_ms"])]
    if "against" in results:
        parts.append(_against(results["against"]))
    return "\n\n".join(parts)


def filler_note(turns: int) -> str:
    seconds = turns / EMBEDDED_PER_S
    estimate = f"{seconds / 60:.0f} minutes" if seconds > 90 else f"{seconds:.0f} seconds"
    return f"{counted(turns, 'filler turn')} for every user: about {estimate} to embed for each, on one core"


def _data(results: Mapping[str, Any]) -> str:
    rows = [
        (
            harmless(part["name"]),
            f"{counted(part['conversations'], 'conversation')}, {counted(part['turns'], 'turn')}, "
            f"{counted(part['questions'], 'question')}",
        )
        for part in results["data"]
    ]
    if skipped := results["skipped_without_gold"]:
        rows.append(("skipped", f"{counted(skipped, 'question')} without gold turns"))
    for note, times in results["degraded"].items():
        rows.append(("degraded", click.style(f"{harmless(note)} ({counted(times, 'call')})", fg="yellow")))
    return table(rows)


# ── measures ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _measures(results: Mapping[str, Any], width: int) -> str:
    rows: list[tuple[str, Mapping[str, float]]] = [("overall", results["overall"])]
    if len(results["data"]) > 1:
        rows += [(name, part["overall"]) for name, part in results["per_data"].items()]
    rows += list(results["categories"].items())
    named = min(max(max(len(name) for name, _ in rows), _LEAST_NAME), _MOST_NAME)
    columns = _columns([row for _, row in rows], width - named)
    named = max(min(named, width - sum(map(_width, columns))), _LEAST_NAME)
    heads = [" " * named + "".join(_split(name)[line].rjust(_width(name)) for name in columns) for line in (0, 1)]
    lines = [
        clip(label, named).ljust(named) + "".join(_cell(name, row).rjust(_width(name)) for name in columns)
        for label, row in rows
    ]
    return "\n".join([*(click.style(head, dim=True) for head in heads), click.style(lines[0], bold=True), *lines[1:]])


def _columns(rows: Sequence[Mapping[str, float]], width: int) -> list[str]:
    names = dict.fromkeys(name for row in rows for name in row)
    columns = [name for start in _ORDER for name in names if name.startswith(start)]
    for extra in _EXTRAS:
        if sum(map(_width, columns)) > width:
            columns = [name for name in columns if not name.startswith(extra)]
    return columns


def _split(name: str) -> tuple[str, str]:
    """A heading in two lines, so that the columns stay narrow."""
    if "@" in name:
        head, _, depth = name.partition("@")
        return head.replace("ctx_", ""), f"@{_THOUSANDS.sub('k', depth)}"
    head, _, rest = name.partition("_")
    return (head, rest) if rest else ("", {"questions": "n"}.get(name, name))


def _width(name: str) -> int:
    return max(*map(len, _split(name)), 4) + 1


def _cell(name: str, row: Mapping[str, float]) -> str:
    value = row.get(name)
    if value is None:
        return "–"
    return f"{value:,.0f}" if name == "questions" or name.startswith("ctx_tokens@") else _share(value)


def _share(value: float) -> str:
    """.853, 1.00"""
    text = f"{value:.3f}"
    return text[1:] if text.startswith("0") else text[:4]


# ── times, and an earlier run ────────────────────────────────────────────────────────────────────────────────────


def _latencies(latencies: Mapping[str, Mapping[str, float]]) -> str:
    rows = [
        (name.replace("_", " "), f"p50 {spread['p50']:8.2f} ms   p99 {spread['p99']:8.2f} ms")
        for name, spread in latencies.items()
    ]
    return table(rows)


def _against(compared: Mapping[str, Any]) -> str:
    lines = [f"against {compared['commit'] or 'an earlier run'}: {counted(compared['paired_questions'], 'question')}"]
    if compared["only_in_this_run"]:
        lines.append(f"{counted(compared['only_in_this_run'], 'question')} of this run were not asked there")
    if not compared["same_data"]:
        lines.append(click.style("the data files differ", fg="yellow"))
    for name, (old, new) in compared["changed_settings"].items():
        lines.append(f"{name}: {old} → {new}")
    lines.append(click.style(f"{'':12}{'old':>6}{'new':>6}{'difference':>12}   95% interval", dim=True))
    return "\n".join([*lines, *(_difference(name, row) for name, row in compared["metrics"].items())])


def _difference(name: str, row: Mapping[str, Any]) -> str:
    verdict = row["verdict"]
    told = click.style(verdict, fg=_COLOURS.get(verdict), dim=verdict not in _COLOURS)
    interval = f"[{row['low']:+.3f}, {row['high']:+.3f}]"
    return f"{name:12}{_share(row['old']):>6}{_share(row['new']):>6}{row['difference']:>+12.3f}   {interval}  {told}"
