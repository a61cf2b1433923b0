"""Waiting for the background embedding, with a bar."""

from __future__ import annotations

import click

from libravdb_memory.cli.terminal import Terminal
from libravdb_memory.memory import Memory

_GLANCE_S = 0.1


def wait_for_embedding(memory: Memory, terminal: Terminal) -> None:
    """Until what was stored can be found by meaning, or the engine fails; a failure is told, not raised, because
    the turns are safe and are embedded the next time the store is opened."""
    total = memory.status().indexing.pending
    if total == 0:
        return
    failure: str | None = None
    with terminal.progress("embedding", "turns") as progress:
        while not memory.wait(timeout_s=_GLANCE_S):
            state = memory.status().indexing
            if failure := state.failure:
                break
            progress(max(total - state.pending, 0), total)
        else:
            progress(total, total)
    if failure:
        terminal.words(click.style(f"note: stored, but not embedded yet: {failure}", fg="yellow"))
