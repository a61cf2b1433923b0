"""demo: the story of libravdb_memory.demo, shown on a terminal."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from libravdb_memory.cli.exit_codes import OK, PROBLEMS_FOUND
from libravdb_memory.cli.invocation import Invocation, command
from libravdb_memory.cli.render import render_exchange, render_hits
from libravdb_memory.cli.terminal import Terminal
from libravdb_memory.config import load_config
from libravdb_memory.demo import USER, Question, run
from libravdb_memory.errors import InvalidInputError
from libravdb_memory.model import Hits, Turn

_NEXT = """
    from libravdb_memory import Memory
    with Memory.open("notes") as memory:
        memory.ingest("The deploy key moved to the vault.", user="ada")
        memory.wait()
        print(memory.search("where is the key?", user="ada")[0].text)

    libravdb add "The deploy key moved to the vault." --user ada
    libravdb search "where is the key?" --user ada --explain
    libravdb status
"""


class TerminalNarrator:
    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._step = 0

    def heading(self, text: str) -> None:
        self._step += 1
        self._terminal.data("\n" + click.style(f"{self._step}. {text}", bold=True))

    def say(self, text: str) -> None:
        self._terminal.data(f"\n   {text}")

    def conversation(self, title: str, turns: Sequence[Turn]) -> None:
        self._terminal.data("\n   " + click.style(title, fg="cyan"))
        self._terminal.data(render_exchange(turns, self._terminal.width))

    def answers(self, question: Question, hits: Hits) -> None:
        right = bool(hits) and hits[0].id == question.answer
        mark = click.style("✓", fg="green") if right else click.style(f"✗ expected {question.answer}", fg="red")
        self._terminal.data(f"\n   {click.style(question.text, fg='cyan')} {mark}")
        self._terminal.data(render_hits(question.text, hits, self._terminal.width, explain=True))


@command("demo")
@click.option("--keep", type=click.Path(path_type=Path), metavar="PATH", help="Keep the store in this new place.")
@click.pass_obj
def demo(invocation: Invocation, keep: Path | None) -> int:
    """Show what it does: a short story is stored, the store is closed and opened again, and four questions are asked.

    Uses a temporary store and the bundled model. Exits 1 when an answer is not the expected one.
    """
    with _place(keep) as path:
        config = load_config(overrides={"db_path": path})
        passed = run(path, config, TerminalNarrator(invocation.terminal))
    invocation.terminal.data("\n" + click.style("Now yours" if passed else "The demonstration FAILED", bold=True))
    invocation.terminal.data(_NEXT.rstrip())
    if keep:
        invocation.terminal.words(f"\nkept: libravdb --db {keep} search '…' --user {USER}")
    return OK if passed else PROBLEMS_FOUND


@contextmanager
def _place(keep: Path | None) -> Generator[Path, None, None]:
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="libravdb-demo-") as folder:
            yield Path(folder) / "data.libravdb"
    elif keep.exists():
        raise InvalidInputError("--keep", f"{keep} exists already; the demonstration wants a new place")
    else:
        yield keep


COMMANDS = {"demo": demo}
