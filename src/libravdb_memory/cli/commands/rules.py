"""rules: authored documents checked, scanned, loaded, listed and removed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from libravdb_memory.cli.exit_codes import OK, PROBLEMS_FOUND
from libravdb_memory.cli.invocation import Invocation, command
from libravdb_memory.cli.json_lines import read_values
from libravdb_memory.cli.render import counted, harmless
from libravdb_memory.cli.rule_files import decoded, read_rule_files
from libravdb_memory.cli.rule_report import (
    document_form,
    render_partition,
    render_report,
    render_scan,
    report_form,
    scan_form,
)
from libravdb_memory.engines.token_counter import make_counter
from libravdb_memory.errors import InvalidInputError
from libravdb_memory.ingest.deontic import scan
from libravdb_memory.ingest.lint import LintReport, RuleBudget, lint
from libravdb_memory.ingest.partition import partition

SCANNER_FALSE_POSITIVES = 0.02
"""The rate of lore taken for rules that the scanner's tests allow at most."""

rule_paths = click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))


@click.group("rules")
def rules() -> None:
    """Check rule files, scan text for rules, and load the rules that every prompt begins with."""


@command("check", short_help="Show and check rule files; needs no store.")
@rule_paths
@click.option("--budget", type=click.IntRange(min=0), help="Tokens to check against; assembly.startup_budget else.")
@click.pass_obj
def check(invocation: Invocation, paths: tuple[Path, ...], budget: int | None) -> int:
    """Show each node of the Markdown files with line, tier, modality, tokens and first words, and what is wrong.

    Flags contradictions, duplicates, rules that do not fit, and unread front matter; then exits 1. Needs no store.
    """
    assembly, terminal = invocation.config().assembly, invocation.terminal
    limits = RuleBudget(assembly.startup_budget if budget is None else budget, assembly.hard_share, assembly.soft_share)
    counter = make_counter(assembly.tokenizer)
    documents = {name: partition(source, counter) for name, source in read_rule_files(paths).items()}
    report = lint(documents, limits, false_positive_rate=SCANNER_FALSE_POSITIVES)
    if invocation.as_json:
        terminal.json(report_form(report, limits))
    else:
        terminal.data(render_report(report, limits, terminal.width))
    terminal.words("\nno problems found" if report.clean else f"\n{counted(_count(report), 'problem')} found")
    return OK if report.clean else PROBLEMS_FOUND


@command("scan", short_help="Find rules in text from stdin.")
@click.pass_obj
def scan_(invocation: Invocation) -> None:
    """Find rules in text from stdin.

    With --json, each line of stdin is a JSON string, and each is answered by one line: whether it holds a rule, and
    the marks, with offsets in code points. Without, stdin is plain text, and each mark is shown where it stands.
    """
    if invocation.as_json:
        _scan_lines()
        return
    text = decoded("stdin", sys.stdin.buffer.read())
    if (found := scan(text)).promoted:
        invocation.terminal.data(render_scan(text, found, invocation.terminal.width))
    invocation.terminal.words(f"{counted(len(found.marks), 'rule')} found")


@command("load", short_help="Load or replace rule files.")
@rule_paths
@click.option("--core/--no-core", default=None, help="Whether its lore has authority; by the file's name else.")
@click.pass_obj
def load(invocation: Invocation, paths: tuple[Path, ...], core: bool | None) -> None:
    """Load or replace rule files, each under the path it is given by; the next prompt has them.

    A file whose hard rules do not fit is refused, and what was loaded under its name stays.
    """
    sources = {name: decoded(name, source) for name, source in read_rule_files(paths).items()}
    loaded: list[dict[str, Any]] = []
    with invocation.open_memory(create=True) as memory:
        for name, text in sources.items():
            document = memory.load_document(name, text, core=core)
            loaded.append(document_form(name, document))
            if not invocation.as_json:
                invocation.terminal.data(render_partition(name, document, invocation.terminal.width))
    if invocation.as_json:
        invocation.terminal.json({"documents": loaded})


@command("remove", short_help="Remove a loaded document.")
@click.argument("name")
@click.pass_obj
def remove(invocation: Invocation, name: str) -> None:
    """Remove the document NAME, as `rules list` shows it; the next prompt is without its rules."""
    with invocation.open_memory() as memory:
        memory.remove_document(name)
    if invocation.as_json:
        invocation.terminal.json({"removed": name})
    invocation.terminal.words(f"removed {harmless(name)}")


@command("list", short_help="List the loaded documents.")
@click.pass_obj
def list_(invocation: Invocation) -> None:
    """List the loaded documents in reading order, with what their tiers cost."""
    with invocation.open_memory() as memory:
        documents = memory.documents()
    if invocation.as_json:
        invocation.terminal.json({"documents": [document_form(name, found) for name, found in documents.items()]})
        return
    for name, document in documents.items():
        invocation.terminal.data(render_partition(name, document, invocation.terminal.width))
    if not documents:
        invocation.terminal.words("no documents loaded")


def _count(report: LintReport) -> int:
    listed = len(report.contradictions) + len(report.duplicates) + len(report.unread_front_matter)
    return listed + bool(report.hard_overrun) + bool(report.soft_cut)


def _scan_lines() -> None:
    """ASCII only, so that whatever a line holds can be written; flushed line by line for a reader that waits."""
    for where, value in read_values(sys.stdin.buffer):
        if not isinstance(value, str):
            raise InvalidInputError(where, f"must be a JSON string, not {type(value).__name__}")
        sys.stdout.write(json.dumps(scan_form(value, scan(value))) + "\n")
        sys.stdout.flush()


for subcommand in (check, scan_, load, remove, list_):
    rules.add_command(subcommand)
COMMANDS = {"rules": rules}
