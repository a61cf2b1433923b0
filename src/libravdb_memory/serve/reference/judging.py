"""gating_scalar: what the gate thinks of a user's words.

Law: words that were just stored as a turn are told as that turn was judged; judged once more they would meet themselves
and be neither new nor rare.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from libravdb_memory.gating import JUDGED
from libravdb_memory.identity import Json
from libravdb_memory.namespaces import history_of, resolve_namespace
from libravdb_memory.serve.methods import Method, Result
from libravdb_memory.serve.results.gate import Signals
from libravdb_memory.serve.service import Service
from libravdb_memory.store.protocol import Equals

_JUST_STORED = 16
"""Of the newest turns of a user, those that may be the one that a host asks about."""
_PATIENCE_S = 2.0
_SIGNALS = ("g", "t", "h", "r", "d", "inputFreq", "memSaturation", "p", "a", "dtech", "gconv", "gtech")


@dataclass(frozen=True, slots=True)
class Words:
    user_id: str
    text: str


def gating_scalar(service: Service, params: Words) -> Result:
    judged = _as_judged(service, params)
    if judged is None:
        judged = service.memory.explain_gate(params.text, user=params.user_id).signals()
    return {name: judged.get(name, 0.0) for name in _SIGNALS}


def _as_judged(service: Service, params: Words) -> Mapping[str, Json] | None:
    """None if the words are no turn, or not judged in time."""
    history = history_of(resolve_namespace(params.user_id))
    spoken = Equals("metadata.role", "user")
    newest = service.store.page(history, where=spoken, limit=_JUST_STORED, newest_first=True).records
    turn = next((record for record in newest if record.text == params.text), None)
    if turn is None:
        return None
    if not (found := service.store.marks([turn.ref], JUDGED)):
        service.memory.wait(_PATIENCE_S)
        found = service.store.marks([turn.ref], JUDGED)
    return found.get(turn.ref)


METHODS: tuple[Method[Any], ...] = (
    Method(
        "gating_scalar",
        Words,
        gating_scalar,
        "What the gate makes of a text, with every signal.",
        reach=lambda _, params: frozenset({resolve_namespace(params.user_id)}),
        pace="thinking",
        result=Signals,
    ),
)
