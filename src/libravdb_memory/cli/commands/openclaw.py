"""openclaw: what concerns the host of that name."""

from __future__ import annotations

import os
from dataclasses import asdict

import click

from libravdb_memory.cli.exit_codes import OK, PROBLEMS_FOUND
from libravdb_memory.cli.invocation import Invocation, command
from libravdb_memory.cli.openclaw_host import HostFiles, examine_host, host_version, plugin_folder
from libravdb_memory.cli.render import counted, render_finding


@click.group("openclaw")
def openclaw() -> None:
    """Look after the memory of an OpenClaw host."""


@command("doctor", short_help="Look for problems between host, plugin and daemon.")
@click.option("--program", default="openclaw", show_default=True, help="The host's program.")
@click.pass_obj
def doctor(invocation: Invocation, program: str) -> int:
    """Check the host's version, plugin, slots, memory-core and endpoint, and name the command that mends each problem.

    Changes nothing. Exits 1 when a problem was found.
    """
    terminal = invocation.terminal
    findings = list(examine_host(invocation.config(), HostFiles.found(os.environ), lambda: host_version(program)))
    problems = sum(finding.mark == "problem" for finding in findings)
    if invocation.as_json:
        terminal.json({"ok": not problems, "findings": [asdict(finding) for finding in findings]})
    else:
        terminal.data("\n".join(render_finding(finding, terminal.width) for finding in findings))
    terminal.words(f"\n{counted(problems, 'problem')} found" if problems else "\nno problems found")
    return PROBLEMS_FOUND if problems else OK


@command("path", short_help="Say where the plugin lies, for the host's own install.")
@click.pass_obj
def path(invocation: Invocation) -> int:
    """Print the folder of the plugin that came with this program; `openclaw plugins install` takes it from there."""
    folder = str(plugin_folder())
    if invocation.as_json:
        invocation.terminal.json({"path": folder})
    else:
        invocation.terminal.data(folder)
    return OK


openclaw.add_command(doctor)
openclaw.add_command(path)
COMMANDS = {"openclaw": openclaw}
