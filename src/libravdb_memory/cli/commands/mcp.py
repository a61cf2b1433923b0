"""mcp: memory for agents that speak the Model Context Protocol."""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager

import click

from libravdb_memory.cli.invocation import Invocation, command
from libravdb_memory.config import load_config

DEFAULT_ADDRESS = "127.0.0.1:37422"


@command("mcp", to_people_only=True)
@click.option("-u", "--user", "--namespace", "user", help="Whose memory it is; mcp.user otherwise.")
@click.option("-s", "--session", help="The conversation to add to where a client names none.")
@click.option(
    "--http",
    "address",
    is_flag=False,
    flag_value=DEFAULT_ADDRESS,
    metavar="HOST:PORT",
    help=f"Serve over HTTP on this loopback address ({DEFAULT_ADDRESS}) instead of the standard streams.",
)
@click.option("--embedded", is_flag=True, help="Open the store in this process; start no daemon.")
@click.pass_obj
def mcp(invocation: Invocation, user: str | None, session: str | None, address: str | None, embedded: bool) -> None:
    """Serve memory to an agent over the Model Context Protocol.

    Without --http a client starts this and talks over the standard streams. With it, the address is printed once it
    listens; requests need a bearer token of tokens.json, and /mcp/NAME is the memory of NAME. A daemon is started where
    none runs; with --db, or where none can run, the store is opened here.
    """
    config = load_config(overrides={"db_path": invocation.db, "mcp.user": user, "mcp.session": session})
    alone = embedded or invocation.db is not None
    if address is None:
        from libravdb_memory.mcp_server.wire import Wire

        wire = Wire.taken()
        wire.give_way()
        with _without_looking_for_garbage():
            from libravdb_memory.mcp_server.stdio import serve_stdio
            from libravdb_memory.mcp_server.tools import Place
        serve_stdio(config, Place(config.mcp.user.strip(), config.mcp.session.strip()), wire, embedded=alone)
    else:
        with _without_looking_for_garbage():
            from libravdb_memory.mcp_server.http import serve_http
            from libravdb_memory.mcp_server.tools import Place
        place = Place(config.mcp.user.strip(), config.mcp.session.strip())
        serve_http(config, place, address, _tell, embedded=alone)


@contextmanager
def _without_looking_for_garbage() -> Generator[None]:
    """The protocol's library makes thousands of objects, all to stay; looking through them takes a tenth."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _tell(address: str) -> None:
    click.echo(address)
    sys.stdout.flush()


COMMANDS = {"mcp": mcp}
