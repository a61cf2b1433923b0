"""context, why, why-not, replay, receipts: prompts assembled, explained and made again."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from typing import IO

import click

from libravdb_memory.cli.context_report import (
    context_form,
    duplicated_by,
    offered_as,
    receipt_form,
    render_context,
    render_receipt,
    render_receipts,
    render_why_not,
    summary_form,
)
from libravdb_memory.cli.exit_codes import OK, PROBLEMS_FOUND
from libravdb_memory.cli.host_messages import read_messages
from libravdb_memory.cli.invocation import Invocation, command
from libravdb_memory.cli.render import printable
from libravdb_memory.cli.rule_files import decoded
from libravdb_memory.context import Mode
from libravdb_memory.errors import NotFoundError
from libravdb_memory.receipts import Receipt
from libravdb_memory.serve.bridge.remote import AnyMemory

user_option = click.option("-u", "--user", help="Whose memory it is.")
session_option = click.option("-s", "--session", help="One conversation of that user.")
receipt_argument = click.argument("receipt_id", metavar="ID")


@command("context")
@click.option("--prompt", required=True, help="What the model is about to be asked; - reads it from stdin.")
@user_option
@session_option
@click.option("--budget", type=click.IntRange(min=0), help="Tokens to fill; assembly.startup_budget else.")
@click.option(
    "--mode",
    type=click.Choice(["augment", "own"]),
    default="augment",
    show_default=True,
    help="Whether the budget is for memory alone, or for the messages too.",
)
@click.option("--messages", type=click.File("rb"), help="The host's messages: a JSON array, or one a line.")
@click.pass_obj
def context(
    invocation: Invocation,
    prompt: str,
    user: str | None,
    session: str | None,
    budget: int | None,
    mode: Mode,
    messages: IO[bytes] | None,
) -> None:
    """Assemble what a model should see beside a prompt: the exact text on stdout, what it is made of on stderr."""
    if prompt == "-":
        prompt = decoded("stdin", sys.stdin.buffer.read())
    shown = read_messages(messages.read()) if messages else ()
    tokens = invocation.config().assembly.startup_budget if budget is None else budget
    with invocation.open_memory() as memory:
        built = memory.context(prompt, user=user, session=session, budget=tokens, messages=shown, mode=mode)
    if invocation.as_json:
        invocation.terminal.json(context_form(built, tokens))
        return
    invocation.terminal.verbatim(printable(built.text))
    invocation.terminal.words(render_context(built, tokens, invocation.again("why", built.receipt.id)))


def _receipt(memory: AnyMemory, receipt_id: str) -> Receipt:
    try:
        return memory.why(receipt_id)
    except NotFoundError:
        told = f"no receipt has the id {receipt_id!r}; those that quote erased turns are erased with them"
        raise NotFoundError(receipt_id, told) from None


@command("why")
@receipt_argument
@click.pass_obj
def why(invocation: Invocation, receipt_id: str) -> None:
    """Explain the prompt with this receipt: its tiers, what went in and by which score, what stayed out and why."""
    with invocation.open_memory() as memory:
        receipt, replayed = _receipt(memory, receipt_id), memory.replay(receipt_id)
    if invocation.as_json:
        invocation.terminal.json(receipt_form(receipt, replayed))
    else:
        invocation.terminal.data(render_receipt(receipt, replayed, invocation.terminal.width))


@command("why-not")
@receipt_argument
@click.argument("record_id", metavar="RECORD")
@click.option("-s", "--session", help="The session of RECORD, where several have that id.")
@click.pass_obj
def why_not(invocation: Invocation, receipt_id: str, record_id: str, session: str | None) -> None:
    """Say why RECORD is not in the prompt with this receipt.

    RECORD is an id, or SESSION/id; of a summary the first characters will do (six or more).
    """
    with invocation.open_memory() as memory:
        receipt, replayed = _receipt(memory, receipt_id), memory.replay(receipt_id)
        named = offered_as(receipt, record_id)
        found = memory.why_not(receipt_id, named or record_id, session=session)
    if named is None:
        with invocation.open_store() as store:
            found = replace(found, record_id=store.record(record_id, receipt.namespace))
    twin = duplicated_by(found, receipt, replayed)
    if invocation.as_json:
        invocation.terminal.json({**asdict(found), "duplicate_of": twin or None})
    else:
        invocation.terminal.data(render_why_not(found, receipt, invocation.terminal.width, twin))


@command("replay")
@receipt_argument
@click.pass_obj
def replay(invocation: Invocation, receipt_id: str) -> int:
    """Assemble once more from a receipt alone and print the text. Exits 1, saying why, when it is not identical."""
    with invocation.open_memory() as memory:
        replayed = memory.replay(_receipt(memory, receipt_id).id)
    text = replayed.assembly.text if replayed.assembly else None
    if invocation.as_json:
        invocation.terminal.json({"identical": replayed.identical, "reason": replayed.reason, "text": text})
    elif text is not None:
        invocation.terminal.verbatim(printable(text))
    invocation.terminal.words("identical" if replayed.identical else f"not identical: {replayed.reason}")
    return OK if replayed.identical else PROBLEMS_FOUND


@command("receipts")
@user_option
@session_option
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many at most.")
@click.pass_obj
def receipts(invocation: Invocation, user: str | None, session: str | None, limit: int) -> None:
    """List the newest receipts of a user, or of one session."""
    with invocation.open_memory() as memory:
        found = memory.receipts(user=user, session=session, limit=limit)
    if invocation.as_json:
        invocation.terminal.json({"receipts": [summary_form(receipt) for receipt in found]})
    elif found:
        invocation.terminal.data(render_receipts(found, invocation.terminal.width))
    else:
        invocation.terminal.words("no receipts")


COMMANDS = {"context": context, "why": why, "why-not": why_not, "replay": replay, "receipts": receipts}
