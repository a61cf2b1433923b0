"""demo: the story of libravdb_memory.demo, shown on a terminal."""

from __future__ import annotations

import tempfile
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from libravdb_memory.cli.context_report import render_items, render_tiers, render_why_not
from libravdb_memory.cli.exit_codes import OK, PROBLEMS_FOUND
from libravdb_memory.cli.figures import clip
from libravdb_memory.cli.gate_report import render_judgement
from libravdb_memory.cli.history_tree import glyphs_of_output, render_history
from libravdb_memory.cli.invocation import Invocation, command
from libravdb_memory.cli.render import render_exchange, render_hits
from libravdb_memory.cli.rule_report import render_nodes
from libravdb_memory.cli.terminal import Terminal
from libravdb_memory.config import Config
from libravdb_memory.context import Context
from libravdb_memory.demo import USER, Question, run
from libravdb_memory.errors import ConfigError, InvalidInputError
from libravdb_memory.gate.settings import GateSettings
from libravdb_memory.ingest.partition import Partition
from libravdb_memory.judgements import Judgement
from libravdb_memory.lineage import History
from libravdb_memory.model import Hits, Turn
from libravdb_memory.receipts import Replay, WhyNot
from libravdb_memory.serve.daemon import endpoint_of

_MARGIN = "   "
_SHOWN = 3

_NEXT = """
    from libravdb_memory import Memory
    with Memory.open("notes") as memory:
        memory.ingest("The deploy key moved to the vault.", user="ada")
        memory.wait()
        print(memory.search("where is the key?", user="ada")[0].text)
        print(memory.context("where is the key?", user="ada", budget=500).text)

    libravdb rules load AGENTS.md
    libravdb add "The deploy key moved to the vault." --user ada
    libravdb search "where is the key?" --user ada --explain
    libravdb context --prompt "where is the key?" --user ada --budget 500
"""
_CONNECT = """
    libravdb daemon start    # one memory for many programs; the commands
                             # above work with it and without it

    from libravdb_memory.serve.client import Client
    with Client() as client:
        client.ingest("We deploy on Tuesdays.", user="ada", session="s1")
        print(client.context("When do we deploy?", user="ada").text)

    # any program, in lines of JSON, at {endpoint}
    {request}
"""
_REQUEST = '{"id":1,"method":"memory_search","params":{"userId":"ada","query":"key"}}'


class TerminalNarrator:
    def __init__(self, terminal: Terminal, gating: GateSettings) -> None:
        self._terminal = terminal
        self._gating = gating
        self._step = 0
        self._under_heading = False

    def heading(self, text: str) -> None:
        self._step += 1
        self._terminal.data("\n" + click.style(f"{self._step}. {text}", bold=True))
        self._under_heading = True

    def say(self, text: str) -> None:
        self._show(textwrap.fill(text, self._width))

    def claim(self, text: str, holds: bool) -> None:
        mark = click.style("✓", fg="green") if holds else click.style("✗", fg="red", bold=True)
        self._show(f"{mark} {text}", gap=self._under_heading)

    def rules(self, name: str, document: Partition) -> None:
        self._show(render_nodes(name, document, self._width))

    def conversation(self, title: str, turns: Sequence[Turn]) -> None:
        self._show(click.style(title, fg="cyan"))
        self._terminal.data(render_exchange(turns, self._terminal.width))

    def judged(self, found: Sequence[Judgement]) -> None:
        self._show("\n".join(render_judgement(each, self._gating, self._width) for each in found) + "\n")

    def answers(self, question: Question, hits: Hits) -> None:
        right = bool(hits) and hits[0].id == question.answer
        mark = click.style("✓", fg="green") if right else click.style(f"✗ expected {question.answer}", fg="red")
        self._show(f"{click.style(question.text, fg='cyan')} {mark}")
        self._terminal.data(render_hits(question.text, hits, self._terminal.width, explain=True))

    def context(self, prompt: str, context: Context) -> None:
        self._show(click.style(prompt, fg="cyan"))
        self._show("\n".join(clip(line, self._width) for line in context.text.splitlines()))
        self._show(render_tiers(context.assembly, context.assembly.budget) + "\n")

    def receipt(self, context: Context, left: WhyNot, replayed: Replay) -> None:
        ranked = [item for item in context.assembly.items if item.score is not None]
        rejected = context.assembly.rejections
        some = replace(context.assembly, items=tuple(ranked[:_SHOWN]), rejections=rejected[:_SHOWN])
        self._show(render_items(context.receipt, some, self._width))
        self._show(
            f"… and {max(len(ranked) - _SHOWN, 0)} more in, {max(len(rejected) - _SHOWN, 0)} more out", gap=False
        )
        self._show(
            click.style("why not?", bold=True) + "\n" + render_why_not(left, context.receipt, self._width) + "\n"
        )

    def history(self, history: History) -> None:
        self._show(render_history(history, self._width, glyphs_of_output()) + "\n")

    @property
    def _width(self) -> int:
        return self._terminal.width - len(_MARGIN)

    def _show(self, text: str, *, gap: bool = True) -> None:
        self._under_heading = False
        self._terminal.data(("\n" if gap else "") + textwrap.indent(text, _MARGIN))


@command("demo", to_people_only=True)
@click.option("--keep", type=click.Path(path_type=Path), metavar="PATH", help="Keep the store in this new place.")
@click.pass_obj
def demo(invocation: Invocation, keep: Path | None) -> int:
    """Show what it does: rules are loaded, a short story is stored, the daemon is started again, the gate's decisions
    are shown, four questions are asked, a prompt is assembled, explained and made again, and old turns are compacted.

    Uses a daemon of its own with a temporary home, which is stopped at the end, and the bundled model. Exits 1 when
    anything is not as it must be. Ends with how to connect to yours.
    """
    config, terminal = invocation.config(), invocation.terminal
    with tempfile.TemporaryDirectory(prefix="libravdb-demo-") as home:
        path = Path(home) / "data.libravdb" if keep is None else _new(keep)
        terminal.words("every call goes to a daemon that is started for this, through its socket")
        passed = run(Path(home), path.absolute(), TerminalNarrator(terminal, config.gating))
    terminal.data("\n" + click.style("Now yours" if passed else "The demonstration FAILED", bold=True))
    terminal.data(_NEXT.rstrip())
    terminal.data("\n" + click.style("Through a daemon", bold=True))
    terminal.data(_CONNECT.format(endpoint=_own_endpoint(config), request=_REQUEST).rstrip())
    if keep:
        terminal.words(f"\nkept: libravdb --db {keep} search '…' --user {USER}")
    return OK if passed else PROBLEMS_FOUND


def _new(keep: Path) -> Path:
    if keep.exists():
        raise InvalidInputError("--keep", f"{keep} exists already; the demonstration wants a new place")
    return keep


def _own_endpoint(config: Config) -> str:
    """Where this user's own daemon listens, as a person would write it."""
    try:
        endpoint = str(endpoint_of(config))
    except ConfigError:
        return "(nowhere: the path of its socket is too long; set LIBRAVDB_HOME)"
    user = str(Path.home())
    return endpoint.replace(f"unix:{user}/", "unix:~/", 1)


COMMANDS = {"demo": demo}
