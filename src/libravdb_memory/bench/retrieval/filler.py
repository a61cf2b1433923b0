"""Unrelated talk around a conversation, so that recall can be measured in stores of any size.

Law: the turns of the conversation keep their order and content; filler stands between them in time and arrival, in
sessions of its own, under ids that no turn of the conversation has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from libravdb_memory.bench.retrieval.dataset import Said
from libravdb_memory.bench.texts import conversation

_SESSION_TURNS = 40
_GAP_MS = 60_000
EMBEDDED_PER_S = 120
"""By the bundled model on one ordinary core, judged by the gate; for estimates."""


def with_filler(turns: Sequence[Said], count: int, seed: int) -> Iterator[Said]:
    """The conversation with `count` turns spread evenly between its own."""
    if not turns:
        return
    texts = conversation(count, seed=seed)
    prefix = "filler"
    while any(turn.id.startswith(prefix) or turn.session.startswith(prefix) for turn in turns):
        prefix += "-"
    for place, turn in enumerate(turns):
        yield turn
        first, end = (number * count // len(turns) for number in (place, place + 1))
        following = turns[place + 1].ts if place + 1 < len(turns) else turn.ts + _GAP_MS
        for number in range(first, end):
            between = (following - turn.ts) * (number - first + 1) // (end - first + 1)
            yield Said(
                id=f"{prefix}{number}",
                session=f"{prefix}{number // _SESSION_TURNS}",
                role="user" if number % 2 == 0 else "assistant",
                speaker=None,
                ts=turn.ts + between,
                text=texts[number],
            )
