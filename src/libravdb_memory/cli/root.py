"""The root command and the table of its subcommands.

Law: `libravdb --help` loads no command, no model library and no database; a command is imported when it is run.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NamedTuple

import click

from libravdb_memory import __version__
from libravdb_memory.cli.invocation import shared_options

CONTEXT_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Row(NamedTuple):
    name: str
    module: str
    help: str


GROUPS = {
    "Memories": (
        Row("add", "memories", "Remember a text, or a file of turns."),
        Row("search", "memories", "Find turns by meaning and wording."),
        Row("get", "memories", "Print one turn exactly."),
        Row("erase", "memories", "Erase a turn, a session, or all of a user."),
        Row("compact", "sessions", "Cover old turns with summaries."),
        Row("history", "sessions", "Show a session and its summaries as a tree."),
        Row("expand", "sessions", "Print the exact turns below a summary."),
        Row("guidance", "sessions", "List the rules that are kept word by word."),
        Row("flush", "hosts", "Erase all memory of a user, and do not mind if there is none."),
        Row("dream-promote", "hosts", "Make memory of a dream diary."),
    ),
    "Prompts": (
        Row("rules", "rules", "Check, scan, load and list authored rules."),
        Row("context", "context", "Assemble what a model should see."),
        Row("why", "context", "Explain a prompt by its receipt."),
        Row("why-not", "context", "Say why a record is not in a prompt."),
        Row("replay", "context", "Assemble a prompt again, bit for bit."),
        Row("receipts", "context", "List the receipts of a user or a session."),
        Row("gate", "gate", "Explain and calibrate what becomes durable."),
    ),
    "The store": (
        Row("status", "condition", "Say what is stored and how it is doing."),
        Row("doctor", "condition", "Look for problems and say how to mend them."),
        Row("verify", "condition", "Check every record and index."),
        Row("journal", "hosts", "List what hosts told of their sessions."),
        Row("sources", "sources", "List and read folders of Markdown, vaults and diaries."),
        Row("reindex", "condition", "Re-embed with the configured model."),
        Row("export", "transfer", "Write everything as JSON Lines."),
        Row("import", "transfer", "Read what export wrote."),
        Row("backup", "transfer", "Copy the store to one file."),
        Row("restore", "transfer", "Put a backup in the store's place."),
    ),
    "The program": (
        Row("ui", "ui", "Open the inspector in a browser."),
        Row("serve", "serve", "Serve many programs at once, in the foreground."),
        Row("daemon", "daemon", "Start, stop and watch the daemon."),
        Row("mcp", "mcp", "Serve agents over the Model Context Protocol."),
        Row("hook", "hook", "Remember for Claude Code, called by its hooks."),
        Row("openclaw", "openclaw", "Give a host of that name its plugin, and check it."),
        Row("tokens", "tokens", "Say who may reach the daemon over TCP, and how far."),
        Row("demo", "demo", "Show what it does, on a temporary store."),
        Row("settings", "settings", "List every setting and its value."),
        Row("bench", "bench", "Measure this machine."),
        Row("completion", "completion", "Print the completion script of a shell."),
    ),
}
COMMANDS = tuple(row for rows in GROUPS.values() for row in rows)


class ReaderGone(Exception):
    """Nobody reads the output any more."""


@contextmanager
def telling_of_the_reader() -> Generator[None]:
    """Of a closed pipe click would make an exit code of 1, which means something else here."""
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderGone from error


class LazyGroup(click.Group):
    def make_context(self, *how: Any, **more: Any) -> click.Context:
        with telling_of_the_reader():  # --help and --version print while the command line is read
            return super().make_context(*how, **more)

    def invoke(self, ctx: click.Context) -> Any:
        with telling_of_the_reader():
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt as error:  # click would write an empty line of its own
                raise click.Abort from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [row.name for row in COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for row in COMMANDS:
            if row.name == cmd_name:
                module = import_module(f"libravdb_memory.cli.commands.{row.module}")
                command: click.Command = module.COMMANDS[row.name]
                return command
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        names = self.list_commands(ctx)
        if args and args[0] not in names and (close := get_close_matches(args[0], names, n=1)):
            ctx.fail(f"No such command {args[0]!r}; did you mean {close[0]}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(len(row.name) for row in COMMANDS)
        formatter.write_paragraph()
        for title, rows in GROUPS.items():
            formatter.write(f"{title}:\n")
            formatter.write("".join(f"  {row.name:<{width}}  {row.help}\n" for row in rows))


@click.group(cls=LazyGroup, context_settings=CONTEXT_SETTINGS, params=shared_options())
@click.version_option(__version__, "--version", prog_name="libravdb", message="%(prog)s %(version)s")
def root() -> None:
    """Local memory for LLM agents: every turn kept exactly, found by meaning and wording. No account, no network, no
    language model. Data goes to stdout, words to stderr.
    """
