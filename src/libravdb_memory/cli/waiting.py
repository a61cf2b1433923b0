"""Waiting for what happens in the background, with a bar: embedding, and compaction."""

from __future__ import annotations

import contextlib

import click

from libravdb_memory.cli.render import in_one_line, spending
from libravdb_memory.cli.terminal import Terminal, Wait
from libravdb_memory.config import Config
from libravdb_memory.errors import StoreClosedError
from libravdb_memory.memory import Status
from libravdb_memory.serve.bridge.line import DaemonGoneError
from libravdb_memory.serve.bridge.remote import AnyMemory, RemoteMemory
from libravdb_memory.store.protocol import Progress

_GLANCE_S = 0.1


def wait_for_embedding(memory: AnyMemory, terminal: Terminal) -> None:
    """Until what was stored can be found by meaning, or the engine fails, or the daemon ends; that is told, not raised,
    because all is stored and is embedded the next time the store is opened."""
    try:
        if (total := memory.status().indexing.pending) == 0:
            return
        with terminal.progress("embedding", "texts") as progress:
            _watch(memory, total, progress)
    except _Stalled as stalled:
        terminal.words(click.style(f"note: stored, but not embedded yet: {stalled}", fg="yellow"))
    except (DaemonGoneError, StoreClosedError):
        told = "note: all is stored; the daemon has ended, and the rest is embedded when the store is opened next"
        terminal.words(click.style(told, fg="yellow"))
    except KeyboardInterrupt:
        goes_on = "the daemon goes on" if isinstance(memory, RemoteMemory) else "the next command goes on"
        terminal.words(f"all is stored; {goes_on} with the embedding")
        raise


def _watch(memory: AnyMemory, total: int, progress: Progress) -> None:
    while not memory.wait(timeout_s=_GLANCE_S):
        state = memory.status().indexing
        if state.failure is not None:
            raise _Stalled(state.failure)
        progress(max(total - state.pending, 0), total)
    progress(total, total)


def wait_for_summaries(config: Config, memory: AnyMemory | None = None) -> Wait:
    """What a compaction may be waiting for, as far as the settings tell: those of a daemon are its own."""
    if isinstance(memory, RemoteMemory):
        return Wait("the daemon")
    ending = f"{in_one_line(config.summary.model)} has {config.summary.timeout_s:g} s for an answer"
    return Wait(ending=ending if config.summary.backend == "openai-compatible" else "")


def wait_for_compaction(memory: AnyMemory, terminal: Terminal, config: Config, goes_on: str) -> None:
    """Until the sessions that have piled up are compacted, which nobody would do after this process; a daemon stays and
    does it by itself, and that is told. So is a failure, not raised: the turns are safe. `goes_on` is the command for
    the rest."""
    if isinstance(memory, RemoteMemory):
        with contextlib.suppress(DaemonGoneError, StoreClosedError):  # all is stored
            if _has_work(memory.status()):
                terminal.words("the daemon goes on with the summaries")
        return
    before = memory.status()
    if not _has_work(before):
        return
    try:
        with terminal.progress("compacting", "summaries", wait_for_summaries(config), told_always=False) as progress:
            while not memory.wait(timeout_s=_GLANCE_S, compaction=True) and _compacts(memory):
                progress(memory.status().summaries - before.summaries, 0)
            progress(memory.status().summaries - before.summaries, 0)
    except KeyboardInterrupt:
        terminal.words(f"every turn is stored; '{goes_on}' goes on with the summaries")
        raise
    after = memory.status().compaction
    if after.failure:
        terminal.words(click.style(f"note: stored, but not compacted: {after.failure}", fg="yellow"))
    if after.model_failure:
        without = f"note: the last summary was made without the model: {in_one_line(after.model_failure)}"
        terminal.words(click.style(without, fg="yellow"))
    if after.spent.calls:
        terminal.words(f"summaries took {spending(after.spent)}")


def _compacts(memory: AnyMemory) -> bool:
    """Whether there is more to wait for: work that did not fail, with a model that does not."""
    status = memory.status()
    return _has_work(status) or not (status.compaction.failure or status.indexing.failure)


def _has_work(status: Status) -> bool:
    return bool(status.compaction.waiting or status.compaction.running)


class _Stalled(Exception):
    """The engine fails; its message says why."""
