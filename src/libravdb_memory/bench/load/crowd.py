"""Who talks: users with sessions, the turns they have said, and what a client of theirs does next.

A client is an agent in a conversation of its own: it stores what was said, twice as often as it asks for a context, and
sometimes searches. The same seed does the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal, TypeAlias

from libravdb_memory.bench.texts import conversation

Verb: TypeAlias = Literal["ingest_message", "assemble_context", "memory_search"]
Ask: TypeAlias = tuple[Verb, dict[str, Any]]
SHARES: dict[Verb, int] = {"ingest_message": 2, "assemble_context": 1, "memory_search": 1}
BUDGET = 2_000
_USERS = 16
_SESSION_TURNS = 100
_OWN_TEXTS = 300


@dataclass(frozen=True, slots=True)
class Crowd:
    turns: int
    seed: int = 1

    def said(self) -> list[dict[str, Any]]:
        """Parameters of `ingest_message` for what is stored before anything is measured."""
        return [
            {**self.place(number), "id": f"t{number}", "role": _role(number), "text": text}
            for number, text in enumerate(conversation(self.turns, self.seed))
        ]

    def place(self, number: int) -> dict[str, Any]:
        """Whose turn it is, and in which session."""
        user, of_user = number % _USERS, number // _USERS
        return {"userId": f"user-{user}", "sessionId": f"u{user}-s{of_user // _SESSION_TURNS}"}

    def calls(self, client: int) -> Iterator[Ask]:
        """What this client asks, for ever."""
        chance = Random(self.seed * 1_000 + client)
        place = {"userId": f"user-{client % _USERS}", "sessionId": f"load-{client}"}
        texts = _endlessly(conversation(_OWN_TEXTS, self.seed + 1_000 + client))
        verbs: Sequence[Verb] = [verb for verb, share in SHARES.items() for _ in range(share)]
        number = 0
        while True:
            verb, text = chance.choice(verbs), next(texts)
            if verb == "ingest_message":
                number += 1
                yield verb, {**place, "id": f"c{client}-{number}", "role": _role(number), "text": f"{text} ({number})"}
            elif verb == "assemble_context":
                yield verb, {**place, "prompt": _question(text), "budget": BUDGET}
            else:
                yield verb, {"userId": place["userId"], "query": _question(text), "k": 10}


def _role(number: int) -> str:
    return "user" if number % 2 == 0 else "assistant"


def _question(text: str) -> str:
    return f"What do you know about this: {text[:100]}"


def _endlessly(texts: Sequence[str]) -> Iterator[str]:
    while True:
        yield from texts
