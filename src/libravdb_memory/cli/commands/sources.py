"""sources: the folders that memory reads, listed and read once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import click

from libravdb_memory.cli.exit_codes import OK, PROBLEMS_FOUND
from libravdb_memory.cli.invocation import Invocation, command
from libravdb_memory.cli.render import counted, harmless
from libravdb_memory.cli.waiting import wait_for_embedding
from libravdb_memory.serve.bridge.tending import Source, sources_of
from libravdb_memory.sources.report import Report

_NONE = "no sources are configured: see sources.root_paths, sources.vault_paths and sources.diary_path in the settings"


@click.group("sources")
def sources() -> None:
    """List the folders of Markdown, vaults and diaries of the settings, and read them once. A daemon watches them."""


@command("list", short_help="List them, and what was read from each.")
@click.pass_obj
def list_(invocation: Invocation) -> None:
    """List every root: its name, kind and place, how many documents were read from it, how it is watched, and what is
    wrong with it.
    """
    if invocation.has_store():
        with invocation.open_memory() as memory:
            found = invocation.tending(memory).sources()
    else:
        found = sources_of(invocation.config().sources, {})
    if invocation.as_json:
        invocation.terminal.json({"sources": [_source_form(source) for source in found]})
        return
    for source in found:
        invocation.terminal.data("\n".join(_shown(source)))
    if not found:
        invocation.terminal.words(_NONE)


@command("scan", short_help="Read them once, and tell what changed.")
@click.option("--wait/--no-wait", default=True, help="Wait until all can be found by meaning.")
@click.pass_obj
def scan(invocation: Invocation, wait: bool) -> int:
    """Bring every root up to date, once, and tell what was added, changed, moved and removed.

    A file is loaded again only when its bytes changed. Exits 1 when something could not be read.
    """
    with invocation.open_memory(create=True) as memory:
        with invocation.terminal.progress("reading sources"):
            reports = invocation.tending(memory).scan()
        if wait:
            wait_for_embedding(memory, invocation.terminal)
    if invocation.as_json:
        invocation.terminal.json({"sources": {name: _report_form(report) for name, report in reports.items()}})
    else:
        for name, report in reports.items():
            invocation.terminal.data("\n".join(_told(name, report)))
    if not reports:
        invocation.terminal.words(_NONE)
    return PROBLEMS_FOUND if any(report.problems or report.missing for report in reports.values()) else OK


def _shown(source: Source) -> Iterator[str]:
    yield click.style(harmless(source.name), bold=True) + f"  {source.kind}  {harmless(str(source.path))}"
    state = "there is no such folder" if source.missing else source.mode or "not watched: no daemon runs"
    documents = "" if source.kind == "dreams" else f", {counted(source.documents, 'document')}"
    yield click.style(f"    {state}{documents}", dim=True)
    yield from _problems([(each.path, each.reason) for each in source.problems])
    if source.failure:
        yield click.style(f"    {harmless(source.failure)}", fg="yellow")


def _told(name: str, report: Report) -> Iterator[str]:
    yield click.style(harmless(name), bold=True)
    if report.missing:
        yield click.style("    there is no such folder", fg="yellow")
    changes = (("added", report.added), ("changed", report.changed), ("removed", report.removed))
    for what, paths in changes:
        yield from (f"    {what:<8} {harmless(path)}" for path in paths)
    yield from (f"    {'moved':<8} {harmless(old)} → {harmless(new)}" for old, new in report.moved)
    if not (report.did_something or report.missing):
        yield click.style("    nothing changed", dim=True)
    yield from _problems([(each.path, each.reason) for each in report.problems])


def _problems(found: list[tuple[str, str]]) -> Iterator[str]:
    for path, reason in found:
        yield click.style(f"    {harmless(path or 'the root')}: {harmless(reason)}", fg="yellow")


def _source_form(source: Source) -> dict[str, Any]:
    return asdict(source) | {"path": str(source.path)}


def _report_form(report: Report) -> dict[str, Any]:
    form = asdict(report)
    del form["folders"]
    return form


for subcommand in (list_, scan):
    sources.add_command(subcommand)
COMMANDS = {"sources": sources}
