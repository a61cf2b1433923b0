"""serve: the daemon itself, in the foreground."""

from __future__ import annotations

import logging
import os
import sys

import click

from libravdb_memory.cli.exit_codes import OK
from libravdb_memory.cli.invocation import Invocation, command
from libravdb_memory.config import load_config


@command("serve", to_people_only=True)
@click.option("--endpoint", metavar="ENDPOINT", help="Listen here: unix:/path or tcp:host:port.")
@click.pass_obj
def serve(invocation: Invocation, endpoint: str | None) -> None:
    """Serve the store to many programs at once, until it is told to stop (SIGTERM or Ctrl-C).

    Prints the endpoint, alone on a line, once it listens; logs go to stderr, as JSON when that is no terminal.
    """
    from libravdb_memory.serve import daemon
    from libravdb_memory.serve.logs import log_to

    log_to(debug=invocation.debug)
    config = load_config(overrides={"db_path": invocation.db, "serve.endpoint": endpoint})
    if not daemon.serve(config, _tell):
        logging.shutdown()
        os._exit(OK)


def _tell(endpoint: str) -> None:
    """Who started it reads this one line."""
    click.echo(endpoint)
    sys.stdout.flush()


COMMANDS = {"serve": serve}
