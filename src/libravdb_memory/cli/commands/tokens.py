"""tokens: who may reach the daemon over TCP, and how far."""

from __future__ import annotations

import click

from libravdb_memory.cli.invocation import Invocation, command
from libravdb_memory.cli.render import harmless, table
from libravdb_memory.errors import InvalidInputError, NotFoundError
from libravdb_memory.ingest.turns import checked_name
from libravdb_memory.serve.access import OWNER, TOKENS_FILE, Token, Tokens

name_argument = click.argument("name")


@click.group("tokens")
def tokens() -> None:
    """Make, list and take back the tokens with which programs reach the daemon over TCP.

    They are kept in tokens.json in the home, for its owner alone. A running daemon minds every change at once.
    """


@command("list", short_help="List them; no secret is shown.")
@click.pass_obj
def list_(invocation: Invocation) -> None:
    """List the tokens by name with the namespaces that they reach. No secret is shown."""
    found = _tokens(invocation).all()
    if invocation.as_json:
        invocation.terminal.json({"tokens": [_form(token) for token in found]})
    elif found:
        invocation.terminal.data(table([(harmless(token.name), harmless(_reach(token))) for token in found]))
    else:
        invocation.terminal.words("no tokens; the owner's is made when a daemon first listens on TCP")


@command("add", short_help="Make one, and show it this once.")
@name_argument
@click.option("-n", "--namespace", "namespaces", multiple=True, help="What it reaches: a user; may be given again.")
@click.option("--full", is_flag=True, help="It reaches everything, and is as good as the owner.")
@click.option("--replace", is_flag=True, help="Take back one of that name.")
@click.pass_obj
def add(invocation: Invocation, name: str, namespaces: tuple[str, ...], full: bool, replace: bool) -> None:
    """Make a token called NAME and print it: it is shown this once.

    It reaches the memory of each --namespace (a user, session-key:KEY, agent-id:ID or session:ID) and nothing else.
    """
    if full == bool(namespaces):
        raise click.UsageError("say what it reaches: --namespace, or --full")
    kept = _tokens(invocation)
    reach = None if full else frozenset(_checked_namespace(each) for each in namespaces)
    name = checked_name("NAME", name.strip())
    if name == OWNER and not full:
        raise InvalidInputError("NAME", f"{OWNER} is the token of this user's own programs, and reaches everything")
    if not replace and any(token.name == name for token in kept.all()):
        raise InvalidInputError("NAME", f"there is a token {name!r}; --replace takes it back and makes another")
    made = kept.add(name, reach)
    if invocation.as_json:
        invocation.terminal.json({**_form(made), "token": made.secret})
    else:
        invocation.terminal.exact(made.secret)
    invocation.terminal.words(f"{harmless(name)} reaches {harmless(_reach(made))}; it is not shown again")


@command("remove", short_help="Take one back.")
@name_argument
@click.pass_obj
def remove(invocation: Invocation, name: str) -> None:
    """Take the token NAME back. Connections that began with it go on until they end."""
    if not _tokens(invocation).remove(name):
        raise NotFoundError(name, f"there is no token {name!r}")
    if invocation.as_json:
        invocation.terminal.json({"removed": name})
    invocation.terminal.words(f"removed {harmless(name)}")


def _tokens(invocation: Invocation) -> Tokens:
    return Tokens(invocation.config().home / TOKENS_FILE)


def _checked_namespace(given: str) -> str:
    name = checked_name("--namespace", given.strip())
    if name == "*":
        raise InvalidInputError("--namespace", "must be a name; --full reaches everything")
    return name


def _reach(token: Token) -> str:
    return "everything" if token.namespaces is None else ", ".join(sorted(token.namespaces))


def _form(token: Token) -> dict[str, object]:
    return {"name": token.name, "namespaces": None if token.namespaces is None else sorted(token.namespaces)}


for subcommand in (list_, add, remove):
    tokens.add_command(subcommand)
COMMANDS = {"tokens": tokens}
