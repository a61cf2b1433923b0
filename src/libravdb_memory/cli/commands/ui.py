"""ui: the inspector, in a browser."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path

import click

from libravdb_memory.cli.invocation import Invocation, command
from libravdb_memory.config import Config
from libravdb_memory.serve.lifetime import DaemonError, start, stop
from libravdb_memory.serve.running import Running, ask, running

_SOMEWHERE = "127.0.0.1:0"
_SPARE_S = 20


@command("ui", short_help="Open the inspector in a browser.")
@click.option("--no-open", is_flag=True, help="Only print the address.")
@click.option("--restart", is_flag=True, help="Start a daemon again that serves no pages.")
@click.pass_obj
def ui(invocation: Invocation, no_open: bool, restart: bool) -> None:
    """Open the inspector: see what the agent remembers, and why. Starts the daemon where none runs.

    The address signs a browser in once, within a minute.
    """
    config = invocation.config()
    told = _link(config, invocation.db, restart=restart)
    if invocation.as_json:
        invocation.terminal.json(told)
        return
    invocation.terminal.data(str(told["url"]))
    if not no_open and not (_has_screen() and webbrowser.open(str(told["url"]))):
        invocation.terminal.words("open this address in a browser of this machine, within a minute")


def _link(config: Config, database: Path | None, *, restart: bool) -> dict[str, object]:
    found = running(config.home)
    if found is None or not _serves_pages(config.home, found):
        if found is not None and not restart:
            hint = "'libravdb ui --restart' starts it again with them; serve.http makes it so for good"
            raise DaemonError(f"the daemon (process {found.pid}) runs and serves no pages", hint)
        stop(config.home, config.serve.drain_s + _SPARE_S)
        found = _started(config, database)
    told = ask(config.home, found.endpoint, "ui_link")
    if told is None:
        raise DaemonError(
            f"the daemon (process {found.pid}) gives no address", "its log says why: 'libravdb daemon logs'"
        )
    return told


def _serves_pages(home: Path, found: Running) -> bool:
    return bool((ask(home, found.endpoint, "status") or {}).get("http"))


def _started(config: Config, database: Path | None) -> Running:
    arguments = [] if database is None else ["--db", str(database)]
    address = config.serve.http.strip() or _SOMEWHERE
    return start(config.home, arguments, {**os.environ, "LIBRAVDB_SERVE_HTTP": address})[0]


def _has_screen() -> bool:
    """A browser that would take over the terminal is not wanted."""
    if sys.platform in ("darwin", "win32"):
        return True
    return any(os.environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"))


COMMANDS = {"ui": ui}
