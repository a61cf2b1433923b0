"""delete, delete_batch, flush_namespace, export_memory."""

from __future__ import annotations

import pytest
from tests.serve.reference.conftest import Call

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.namespaces import history_of
from libravdb_memory.serve.service import Service
from libravdb_memory.store.protocol import Key

DURABLE = "I prefer green tea over coffee, every morning"


def copy(call: Call, text: str, session: str = "s1", user: str = "ada", number: int = 0) -> None:
    for kind in ("turns", "user"):
        turn = f"{user}:after-turn:{number}"
        call("insert_text", collection=f"{kind}:{user}", id=turn, text=text, metadata={"sessionId": session})


def everything(service: Service) -> str:
    """All that the store holds, as text."""
    found = []
    for info in service.store.collections():
        found += [repr(record) for record in service.store.page(info.name, limit=10_000).records]
    return "\n".join(found)


def test_a_deleted_record_is_gone_and_deleting_it_again_is_fine(call: Call, listed: Call) -> None:
    for name in ("a", "b", "c"):
        call("insert_text", collection="global", id=name, text=f"text {name}")
    assert call("delete", collection="global", id="a") == call("delete", collection="global", id="a") == {"ok": True}
    assert call("delete_batch", collection="global", ids=["b", "unknown"]) == {"ok": True}
    assert listed("global") == {"c": "text c"}
    assert call("delete_batch", collection="nowhere", ids=["x"]) == {"ok": True}


def test_a_deleted_turn_is_erased_everywhere(call: Call, speak: Call, service: Service) -> None:
    speak(DURABLE)
    speak("something else", number=1)
    copy(call, DURABLE)
    assert service.memory.wait(30)
    call("delete", collection="session:s1", id="s1:after-turn:0")
    assert "green tea" not in everything(service)
    assert "something else" in everything(service)


def test_a_deleted_memory_takes_its_turn_with_it_and_no_other(call: Call, speak: Call, service: Service) -> None:
    for session in ("s1", "s2"):
        speak(f"{DURABLE} in {session}", session=session)
        copy(call, f"{DURABLE} in {session}", session)
    call("delete", collection="user:ada", id="ada:after-turn:0@s2")
    left = everything(service)
    assert "in s2" not in left
    assert left.count("morning in s1") == 3


def test_a_durable_turn_without_a_copy_can_be_deleted_too(
    call: Call, speak: Call, listed: Call, service: Service
) -> None:
    speak(DURABLE)
    assert service.memory.wait(30)
    (durable,) = listed("user:ada")
    call("delete", collection="user:ada", id=durable)
    assert "green tea" not in everything(service)


def test_deleted_from_the_index_of_turns_a_turn_stays(call: Call, speak: Call, listed: Call, service: Service) -> None:
    speak(DURABLE)
    assert service.memory.wait(30)
    call("delete", collection="turns:ada", id="ada:after-turn:0")
    assert listed("turns:ada") == {}
    assert listed("session:s1") == {"s1:after-turn:0": DURABLE}


def quoting(service: Service, text: str) -> list[str]:
    """Receipts of anybody that offered this text to a prompt."""
    receipts = [each for user in ("ada", "bob") for each in service.memory.receipts(user=user)]
    offers = {each.id: (*each.offer.elevated, *each.offer.recalled, *each.offer.recovered) for each in receipts}
    return [name for name, items in offers.items() if any(text in item.text for item in items)]


def asked(service: Service, prompt: str, user: str = "ada") -> None:
    service.memory.context(prompt, user=user, session="s1", budget=2000)


def test_a_deleted_rule_takes_the_receipts_that_quote_it(call: Call, converse: Call, service: Service) -> None:
    service.memory.ingest("Never deploy the importer on Fridays.", user="ada", session="s1", id="rule")
    converse(60)
    call("compact_session", sessionId="s1", userId="ada", force=True)
    (rule,) = service.memory.guidance(user="ada").rules
    assert service.memory.wait(30)  # before that only the turn would be quoted, which stays
    asked(service, "May I deploy the importer?")
    asked(service, "What about oranges?", user="bob")
    assert len(quoting(service, "on Fridays")) == 1
    call("delete", collection="elevated:user:ada", id=rule.id)
    assert quoting(service, "on Fridays") == []
    assert len(service.memory.receipts(user="bob")) == 1


def test_a_turn_is_never_taken_for_something_beside_it(converse: Call, service: Service) -> None:
    converse(1)
    (turn,) = service.store.page(history_of("ada")).records
    with pytest.raises(InvalidInputError, match="is a turn"):
        service.memory.erase_beside(turn)
    assert service.store.get(Key(turn.collection, turn.id, turn.group)) == turn


def test_a_deleted_summary_takes_the_receipts_that_quote_it(
    call: Call, converse: Call, listed: Call, service: Service
) -> None:
    converse(60)
    call("compact_session", sessionId="s1", userId="ada", force=True)
    assert service.memory.wait(30)
    for text in listed("session_summary:s1").values():
        asked(service, text)
    shown = [name for name, text in listed("session_summary:s1").items() if quoting(service, text)]
    assert shown
    for name in shown:
        call("delete", collection="session_summary:s1", id=name)
    assert service.memory.receipts(user="ada") == ()


def test_a_deleted_dream_or_global_record_takes_the_receipts_of_everybody_who_was_shown_it(
    call: Call, service: Service
) -> None:
    call("insert_text", collection="global", id="a", text="The office in Lisbon closes at seven in the evening.")
    entry = {"text": "The lamps sail to Lisbon at night.", "score": 0.9, "recallCount": 5, "uniqueQueries": 4}
    call("promote_dream_entries", userId="ada", sourceDoc="DREAMS.md", entries=[entry])
    (dream,) = call("list_collection", collection="dream:ada")["results"]
    assert service.memory.wait(30)
    for user in ("ada", "bob"):
        asked(service, "When does the office in Lisbon close?", user)
    asked(service, "What did I dream about lamps?")
    assert len(quoting(service, "closes at seven")) == 2
    assert len(quoting(service, "lamps sail")) == 1
    call("delete", collection="dream:ada", id=dream["id"])
    assert len(quoting(service, "closes at seven")) == 2
    assert quoting(service, "lamps sail") == []
    call("delete_batch", collection="global", ids=["a"])
    assert quoting(service, "closes at seven") == []


def test_what_the_daemon_keeps_cannot_be_deleted(ask: Call, service: Service) -> None:
    service.memory.load_document("RULES.md", "- Be kind.")
    for collection in ("authored:hard", "session_edge:s1", "session_state:s1", "_internal:lifecycle_journal"):
        answer = ask("delete", {"collection": collection, "id": "RULES.md#000000"})
        assert answer["error"]["message"].startswith("invalid params: collection ")
    assert service.store.collections("authored:hard")


# ── a whole namespace ────────────────────────────────────────────────────────────────────────────────────────────


def test_flushing_a_namespace_erases_all_of_it_and_nothing_of_those_named_alike(
    call: Call, speak: Call, listed: Call, service: Service
) -> None:
    for user in ("u1", "u10", "u1:x"):
        speak(f"{DURABLE}, said {user}", user=user, session=f"s-{user}")
        copy(call, f"{DURABLE}, said {user}", f"s-{user}", user)
        call("session_lifecycle_hint", hook="session_end", sessionId=f"s-{user}", reason=f"reason of {user}")
        entry = {"text": f"a dream of {user}, long enough", "score": 0.9, "recallCount": 3, "uniqueQueries": 3}
        call("promote_dream_entries", userId=user, sourceDoc=f"D-{user}.md", entries=[entry])
    call("insert_text", collection="user:u1:prefs", id="p", text="a preference of u1")
    call("insert_text", collection="user:u12", id="k", text="known by the host alone")
    assert service.memory.wait(30)
    others = {name: listed(name) for user in ("u10", "u1:x") for name in (f"user:{user}", f"session:s-{user}")}
    assert call("flush_namespace", userId="u1") == {"ok": True}
    for name in ("user:u1", "turns:u1", "session:s-u1", "session_raw:s-u1", "dream:u1", "user:u1:prefs"):
        assert listed(name) == {}
    assert others == {name: listed(name) for name in others}
    assert listed("user:u12") == {"k": "known by the host alone"}
    assert all(len(found) == 1 for found in others.values())
    left = everything(service).replace("u1:x", "").replace("u10", "").replace("u12", "")
    assert "u1" not in left
    assert service.memory.verify().ok
    assert call("flush_namespace", namespace="u1") == {"ok": True}


def test_flushing_nobody_is_refused(ask: Call) -> None:
    for blank in ({}, {"userId": " "}, {"namespace": ""}):
        assert ask("flush_namespace", blank)["error"]["message"] == "namespace or userId is required"


def test_an_export_holds_the_durable_memory_of_one_namespace(call: Call, speak: Call, service: Service) -> None:
    speak(DURABLE, user="u1", session="a")
    speak(f"{DURABLE} too", user="u1:x", session="b")
    call("insert_text", collection="user:u1", id="k", text="kept by the host", metadata={"tag": 1})
    call("insert_text", collection="user:u1:prefs", id="p", text="a preference")
    call("insert_text", collection="user:u10", id="k", text="of another")
    call("insert_text", collection="user:u1:x", id="k", text="of another still")
    assert service.memory.wait(30)
    records = call("export_memory", userId="u1")["records"]
    assert [(found["collection"], found["id"], found["text"]) for found in records] == [
        ("user:u1", "k", "kept by the host"),
        ("user:u1", "u1:after-turn:0", DURABLE),
        ("user:u1:prefs", "p", "a preference"),
    ]
    assert records[0]["metadata"]["tag"] == 1
    assert call("export_memory", namespace="u1", userId="u10") == {"records": records}


def test_an_export_of_nobody_is_one_of_everybody(call: Call, speak: Call, service: Service) -> None:
    speak(DURABLE, user="u1")
    call("insert_text", collection="user:u10", id="k", text="kept by the host")
    call("insert_text", collection="user:u10:prefs", id="p", text="a preference")
    assert service.memory.wait(30)
    found = [(item["collection"], item["id"]) for item in call("export_memory")["records"]]
    assert found == [("user:u1", "u1:after-turn:0"), ("user:u10", "k"), ("user:u10:prefs", "p")]


def test_an_export_of_nothing_is_empty(call: Call) -> None:
    assert call("export_memory", userId="nobody") == {"records": []}
