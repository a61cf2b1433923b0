"""status, doctor, verify, reindex: how the store is doing, and mending it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, replace

import click

from libravdb_memory.cli.exit_codes import OK, PROBLEMS_FOUND
from libravdb_memory.cli.invocation import Invocation, command
from libravdb_memory.cli.render import counted, in_one_line, render_finding, render_status, render_verification
from libravdb_memory.cli.terminal import Wait, Waiting
from libravdb_memory.doctor import Finding, examine
from libravdb_memory.engines.select import make_embedder
from libravdb_memory.errors import StoreError
from libravdb_memory.serve.bridge.remote import RemoteMemory


@command("status")
@click.pass_obj
def status(invocation: Invocation) -> None:
    """Say what is stored, which model embeds it, and what is still waiting."""
    with invocation.open_memory() as memory:
        found = memory.status()
    if invocation.as_json:
        invocation.terminal.json(asdict(found))
    else:
        invocation.terminal.data(render_status(found))


@command("doctor")
@click.pass_obj
def doctor(invocation: Invocation) -> int:
    """Look for problems without changing anything, and name the command that mends each.

    Works also when the store cannot be opened. Exits 1 when a problem was found.
    """
    findings: list[Finding] = []
    with invocation.terminal.waiting() as waiting:
        for finding in examine(overrides={"db_path": invocation.db}, trying=_told_by(waiting)):
            waiting.end()
            findings.append(finding)
            if not invocation.as_json:
                remedy = finding.remedy and invocation.for_this_store(finding.remedy)
                shown = replace(finding, remedy=remedy)
                invocation.terminal.data(render_finding(shown, invocation.terminal.width))
    problems = sum(finding.mark == "problem" for finding in findings)
    if invocation.as_json:
        invocation.terminal.json({"ok": not problems, "findings": [asdict(finding) for finding in findings]})
    invocation.terminal.words(f"\n{counted(problems, 'problem')} found" if problems else "\nno problems found")
    return PROBLEMS_FOUND if problems else OK


def _told_by(waiting: Waiting) -> Callable[[str, float], None]:
    def trying(thing: str, given_up_after_s: float) -> None:
        ending = f"given up after {given_up_after_s:g} s" if given_up_after_s else ""
        waiting.begin(Wait(in_one_line(thing), ending))

    return trying


@command("verify")
@click.pass_obj
def verify(invocation: Invocation) -> int:
    """Re-derive every content hash, and check every index and every summary against the records.

    Exits 1 when anything is wrong.
    """
    with invocation.open_store() as store, invocation.terminal.progress("verifying") as progress:
        verification = store.verify(progress)
    if invocation.as_json:
        invocation.terminal.json({"ok": verification.ok, **asdict(verification)})
    else:
        problems_here = (replace(each, remedy=invocation.for_this_store(each.remedy)) for each in verification.problems)
        invocation.terminal.data(render_verification(replace(verification, problems=tuple(problems_here))))
    problems = len(verification.problems)
    invocation.terminal.words("everything is as it should be" if verification.ok else counted(problems, "problem"))
    return OK if verification.ok else PROBLEMS_FOUND


@command("reindex")
@click.option("--indexes", is_flag=True, help="Only rebuild the text and vector indexes; embed nothing again.")
@click.pass_obj
def reindex(invocation: Invocation, indexes: bool) -> None:
    """Re-embed the store with the configured model.

    Can be interrupted and run again: it goes on where it stopped. The old vectors stay until all new ones are there.
    """
    _rebuild_indexes(invocation) if indexes else _re_embed(invocation)


def _rebuild_indexes(invocation: Invocation) -> None:
    with invocation.open_store() as store, invocation.terminal.progress("rebuilding indexes") as progress:
        store.rebuild_indexes(progress)
        status = store.status()
    if invocation.as_json:
        invocation.terminal.json(asdict(status))


def _re_embed(invocation: Invocation) -> None:
    with invocation.open_memory(on_mismatch="reindex") as memory:
        if isinstance(memory, RemoteMemory):
            _refuse_other_model(invocation, memory)
        with invocation.terminal.progress("embedding", "texts") as progress:
            memory.reindex(progress)
        status = memory.status()
    invocation.terminal.words(f"every turn is embedded with {status.model}")
    if invocation.as_json:
        invocation.terminal.json(asdict(status))


def _refuse_other_model(invocation: Invocation, memory: RemoteMemory) -> None:
    """A daemon goes on with the model that it was started with."""
    with closing(make_embedder(invocation.config().embedding)) as embedder:
        wanted = embedder.space.label
    if (used := memory.status().model) != wanted:
        told = f"a daemon (process {memory.line.peer.pid}) has this store open and embeds with {used}, not {wanted}"
        raise StoreError(told, "stop it with 'libravdb daemon stop', then run this again")


COMMANDS = {"status": status, "doctor": doctor, "verify": verify, "reindex": reindex}
