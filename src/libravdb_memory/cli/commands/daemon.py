"""daemon: start, stop and watch the daemon of this home."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from libravdb_memory.cli.exit_codes import OK, PROBLEMS_FOUND
from libravdb_memory.cli.invocation import Invocation, command
from libravdb_memory.cli.service_units import service_unit
from libravdb_memory.cli.terminal import Wait
from libravdb_memory.errors import StoreError
from libravdb_memory.serve.lifetime import START_S, last_lines, start, stop
from libravdb_memory.serve.running import ask, log_file, running

_SPARE_S = 20


@click.group("daemon")
def daemon() -> None:
    """Start, stop and watch the daemon of this home. Needs no root; what it did not start it leaves alone."""


@command("start", short_help="Start it, unless it runs.")
@click.pass_obj
def start_(invocation: Invocation) -> None:
    """Start the daemon in the background, unless it runs, and print its endpoint."""
    database = [] if invocation.db is None else ["--db", str(invocation.db)]
    with invocation.terminal.waiting() as waiting:
        waiting.begin(Wait("the daemon to answer", f"given up after {START_S:g} s"))
        found, started = start(invocation.config().home, database)
    invocation.terminal.words(f"{'started' if started else 'it runs already'}: process {found.pid}")
    if invocation.as_json:
        invocation.terminal.json({"pid": found.pid, "endpoint": found.endpoint, "started": started})
    else:
        invocation.terminal.data(found.endpoint)


@command("stop", short_help="Tell it to end, and wait.")
@click.pass_obj
def stop_(invocation: Invocation) -> None:
    """Tell the daemon to end and wait until it has. Calls under way are answered first."""
    config = invocation.config()
    patience_s = config.serve.drain_s + _SPARE_S
    with invocation.terminal.waiting() as waiting:
        waiting.begin(Wait("the daemon to end", "calls under way are answered first"))
        pid = stop(config.home, patience_s)
    invocation.terminal.words("no daemon runs" if pid is None else f"stopped: process {pid}")
    if invocation.as_json:
        invocation.terminal.json({"pid": pid, "stopped": pid is not None})


@command("status", short_help="Say whether it runs, and how it is doing.")
@click.pass_obj
def status(invocation: Invocation) -> int:
    """Say whether the daemon runs, where it listens and what it holds. Exits 1 when none answers."""
    home = invocation.config().home
    found = running(home)
    if found is None:
        invocation.terminal.words("no daemon runs")
        if invocation.as_json:
            invocation.terminal.json({"running": False})
        return PROBLEMS_FOUND
    told = ask(home, found.endpoint, "status") or {}
    if invocation.as_json:
        invocation.terminal.json({"running": True, "pid": found.pid, "endpoint": found.endpoint, "status": told})
        return OK
    lines = [found.endpoint, f"process {found.pid}, version {found.health.get('version')}"]
    lines += [f"{told['turns']:,} turns of {told['namespaces']:,} users in {told['path']}"] if "turns" in told else []
    invocation.terminal.data("\n".join(lines))
    return OK


@command("logs", short_help="Show the end of its log.", to_people_only=True)
@click.option("-n", "--lines", type=click.IntRange(min=0), default=50, show_default=True, help="How many.")
@click.option("-f", "--follow", is_flag=True, help="Go on showing what is added.")
@click.pass_obj
def logs(invocation: Invocation, lines: int, follow: bool) -> None:
    """Show the end of the log of a daemon that was started with 'libravdb daemon start'."""
    log = log_file(invocation.config().home)
    if not log.exists():
        raise StoreError(f"there is no log at {log}", "'libravdb daemon start' begins one")
    for line in last_lines(log, lines):
        invocation.terminal.exact(line)
    if follow:
        _follow(log)


def _follow(log: Path) -> None:
    sys.stdout.flush()
    with log.open("rb") as file:
        file.seek(0, 2)
        while True:
            if piece := file.read():
                sys.stdout.write(piece.decode(errors="replace"))
                sys.stdout.flush()
            else:
                time.sleep(0.2)


@command("install", short_help="Let the system start it.", to_people_only=True)
@click.option("--print", "only_print", is_flag=True, help="Only show what would be written.")
@click.option("--force", is_flag=True, help="Write over a file with other contents.")
@click.pass_obj
def install(invocation: Invocation, only_print: bool, force: bool) -> None:
    """Write a service of this user, for systemd or launchd, and say how to begin it. Needs no root."""
    unit = service_unit(invocation.config().home, invocation.db)
    if only_print:
        invocation.terminal.data(unit.text.rstrip("\n"))
        return
    if unit.file.exists() and unit.file.read_text() != unit.text and not force:
        raise StoreError(f"{unit.file} is there with other contents", "--force writes over it")
    unit.file.parent.mkdir(parents=True, exist_ok=True)
    unit.file.write_text(unit.text)
    invocation.terminal.words(f"written: {unit.file}; begin it with:")
    invocation.terminal.data(unit.begin)


for each in (start_, stop_, status, logs, install):
    daemon.add_command(each)
COMMANDS = {"daemon": daemon}
