"""gating_scalar."""

from __future__ import annotations

from tests.serve.reference.conftest import Call

from libravdb_memory.gating import JUDGED
from libravdb_memory.serve.service import Service
from libravdb_memory.store.protocol import Key

SIGNALS = {"g", "t", "h", "r", "d", "inputFreq", "memSaturation", "p", "a", "dtech", "gconv", "gtech"}
TEXT = "I prefer green tea over coffee, every morning"


def test_words_that_are_no_turn_are_judged_now(call: Call, service: Service) -> None:
    found = call("gating_scalar", userId="ada", text=TEXT)
    assert set(found) == SIGNALS
    assert found == service.memory.explain_gate(TEXT, user="ada").signals()
    assert found["h"] == 1.0
    assert not service.store.collections("history:")


def test_words_just_stored_are_told_as_their_turn_was_judged(call: Call, speak: Call, service: Service) -> None:
    speak(TEXT)
    at_once = call("gating_scalar", userId="ada", text=TEXT)
    assert service.memory.wait(30)
    found = call("gating_scalar", userId="ada", text=TEXT)
    turn = service.store.get(Key("history:ada", "after-turn:0", "s1"))
    assert turn is not None
    judged = service.store.marks([turn.ref], JUDGED)[turn.ref]
    assert at_once == found == {name: judged[name] for name in SIGNALS}
    assert found["h"] == 1.0
    assert service.memory.explain_gate(TEXT, user="ada").novelty < 0.5


def test_the_words_of_another_user_are_no_repetition(call: Call, speak: Call) -> None:
    for number in range(4):
        speak(TEXT, number=number)
    assert call("gating_scalar", userId="bob", text=TEXT)["inputFreq"] == 0.0
