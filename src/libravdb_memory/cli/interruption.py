"""What is told to whoever interrupts a compaction.

Law: it says what is there, and which command goes on.
"""

from __future__ import annotations

from collections.abc import Sequence

from libravdb_memory.cli.compaction_report import summaries
from libravdb_memory.cli.render import in_one_line
from libravdb_memory.compacting.writing import generation_of
from libravdb_memory.serve.bridge.lookup import SessionName
from libravdb_memory.serve.bridge.remote import AnyMemory, RemoteMemory


class Interruption:
    """Of a compaction of these sessions, which is about to begin."""

    def __init__(self, memory: AnyMemory, names: Sequence[SessionName], rebuild: bool) -> None:
        self._memory = memory
        self._names = names
        self._rebuild = rebuild
        self._summaries = memory.status().summaries
        self._generations = self._read() if rebuild else []

    def words(self, done: int) -> str:
        """With so many of the sessions done."""
        if isinstance(self._memory, RemoteMemory):
            return "the daemon goes on with the session that it has begun"
        if not self._rebuild:
            made = max(self._memory.status().summaries - self._summaries, 0)
            return f"{summaries(made)} made; running it again goes on from there"
        at = min(done, len(self._names) - 1)
        replaced = self._read()[at] != self._generations[at]
        many = len(self._names) > 1
        through = f"{done:,} of {len(self._names):,} sessions are through; " if many else ""
        place = f"of {in_one_line(self._names[at].session)} " if many else ""
        if replaced:
            return f"{through}{place}every summary was replaced; the next compaction folds them"
        return f"{through}{place}nothing was replaced; run it again with --rebuild"

    def _read(self) -> list[int]:
        """How often each was compacted."""
        if isinstance(self._memory, RemoteMemory):
            return []
        return [generation_of(self._memory.store, name.user, name.session) for name in self._names]
