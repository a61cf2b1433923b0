"""gate: what becomes durable and why, and the threshold that labels suggest."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import IO

import click

from libravdb_memory.cli.gate_report import calibration_form, decision_form, render_calibration, render_decision
from libravdb_memory.cli.invocation import Invocation, command
from libravdb_memory.cli.labels import read_labels
from libravdb_memory.gate.calibrate import Label, fit
from libravdb_memory.gate.regret import labels_of
from libravdb_memory.gate.score import Decision, Neighbours, decide

user_option = click.option("-u", "--user", help="Whose memory it is.")


@click.group("gate")
def gate() -> None:
    """Explain what the gate makes of a text, and fit its threshold to labels."""


@command("explain", short_help="Show what the gate would decide on a text.")
@click.argument("text")
@user_option
@click.pass_obj
def explain(invocation: Invocation, text: str, user: str | None) -> None:
    """Show what the gate would decide on TEXT now: signals, weights, patterns with their places, margin.

    Judged against the memory of --user. Without a store, as the first turn of all.
    """
    settings, terminal = invocation.config().gating, invocation.terminal
    with _judge(invocation, user) as judge:
        decision = judge(text)
    if invocation.as_json:
        terminal.json(decision_form(decision, settings))
    else:
        terminal.data(render_decision(text, decision, settings, terminal.width))


@command("calibrate", short_help="Fit the threshold to labels.")
@click.argument("file", metavar="[FILE|-]", type=click.File("rb"), required=False)
@click.option("--from-use", is_flag=True, help="Learn from --user's stored turns: was a turn found later?")
@user_option
@click.option("--target", type=click.FloatRange(0, 1), default=0.5, show_default=True, help="Usefulness to ask for.")
@click.pass_obj
def calibrate(invocation: Invocation, file: IO[bytes] | None, from_use: bool, user: str | None, target: float) -> None:
    """Fit usefulness to G by isotonic regression and propose a threshold.

    Each line of FILE is {"g": 0.41, "useful": true}, or {"text": "…", "useful": false} to be judged now. Nothing is
    changed: set gating.threshold to the proposed value to use it.
    """
    if from_use == (file is not None):
        raise click.UsageError("give a FILE of labels, or --from-use with --user")
    labels = _labels_from_use(invocation, user) if file is None else _labels_from(invocation, file, user)
    calibration, terminal = fit(labels, target=target), invocation.terminal
    if invocation.as_json:
        terminal.json(calibration_form(calibration, len(labels)))
        return
    terminal.data(render_calibration(calibration, len(labels), terminal.width))
    if any(step.useful >= target for step in calibration.steps):
        terminal.words(f"\nto use it: LIBRAVDB_GATING_THRESHOLD={calibration.threshold!r}")
    else:
        terminal.words(f"\nno score was useful with probability {target:g}; there is no threshold to propose")


def _labels_from(invocation: Invocation, file: IO[bytes], user: str | None) -> list[Label]:
    with _judge(invocation, user) as judge:
        return list(read_labels(file, lambda text: judge(text).score))


def _labels_from_use(invocation: Invocation, user: str | None) -> list[Label]:
    if user is None:
        raise click.UsageError("--from-use needs a --user")
    with invocation.open_store() as store:
        return list(labels_of(store.outcomes(user)))


@contextmanager
def _judge(invocation: Invocation, user: str | None) -> Generator[Callable[[str], Decision], None, None]:
    """The gate on a user's memory, or on an empty one where there is no store."""
    if not invocation.has_store():
        settings = invocation.config().gating
        invocation.terminal.words("note: there is no store; judged against an empty memory")
        yield lambda text: decide(text, Neighbours(), settings)
        return
    with invocation.open_memory() as memory:
        memory.wait()
        yield lambda text: memory.explain_gate(text, user=user)


for subcommand in (explain, calibrate):
    gate.add_command(subcommand)
COMMANDS = {"gate": gate}
