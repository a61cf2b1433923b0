"""Waiting for the background embedding, with a bar."""

from __future__ import annotations

import click

from libravdb_memory.cli.terminal import Terminal
from libravdb_memory.serve.bridge.remote import AnyMemory
from libravdb_memory.store.protocol import Progress

_GLANCE_S = 0.1


def wait_for_embedding(memory: AnyMemory, terminal: Terminal) -> None:
    """Until what was stored can be found by meaning, or the engine fails; a failure is told, not raised, because
    the turns are safe and are embedded the next time the store is opened."""
    total = memory.status().indexing.pending
    if total == 0:
        return
    try:
        with terminal.progress("embedding", "turns") as progress:
            _watch(memory, total, progress)
    except _Stalled as stalled:
        terminal.words(click.style(f"note: stored, but not embedded yet: {stalled}", fg="yellow"))


def _watch(memory: AnyMemory, total: int, progress: Progress) -> None:
    while not memory.wait(timeout_s=_GLANCE_S):
        state = memory.status().indexing
        if state.failure is not None:
            raise _Stalled(state.failure)
        progress(max(total - state.pending, 0), total)
    progress(total, total)


class _Stalled(Exception):
    """The engine fails; its message says why."""
