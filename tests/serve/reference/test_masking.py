"""What hosts hand to the daemon is stored without its secrets, by whatever method it comes."""

from __future__ import annotations

from pathlib import Path

from tests.serve.reference.conftest import Call

from libravdb_memory.serve.service import Service
from libravdb_memory.store.paging import every

PASSWORD = "hunter2Blue"
SAID = f"the login is password = '{PASSWORD}' since May"
MASKED = "the login is password = '[masked: password]' since May"
ADA = {"userId": "ada", "sessionId": "s1"}


def test_no_method_stores_a_secret(call: Call, service: Service, tmp_path: Path) -> None:
    facts = {**ADA, "role": "user", "ts": 5, "tool": {"password": PASSWORD}}
    call("insert_session_turn", sessionId="s1", id="s1:t1", text=SAID, metadata=facts)
    for collection in ("session:s1", "user:ada", "turns:ada", "global", "anything"):
        call("insert_text", collection=collection, id=f"{collection}:t2", text=SAID, metadata=facts)
    call("ingest_markdown_document", sourceDoc="AGENTS.md", text=f"- Never say {SAID}.\n\n{SAID}\n")
    entry = {"text": SAID, "score": 0.9, "recallCount": 5, "uniqueQueries": 4, "section": SAID}
    call("promote_dream_entries", userId="ada", sourceDoc="night.md", entries=[entry])
    call("session_lifecycle_hint", hook="session_end", sessionId="s1", reason=SAID)
    call("ingest_message", **ADA, id="m1", text=SAID, metadata={"password": PASSWORD})
    calls = [{"id": "c1", "function": {"name": "login", "arguments": f'{{"password": "{PASSWORD}"}}'}}]
    messages = [{"role": "user", "content": SAID}, {"role": "assistant", "content": "", "tool_calls": calls}]
    call("after_turn", **ADA, advancementKey="k", messages=messages)
    call("after_turn", **ADA, messages=messages)
    call("assemble_context", **ADA, prompt=SAID, messages=messages)
    assert service.memory.wait(60)
    store = service.store
    for info in store.collections():
        assert not [record for record in every(store, info.name) if PASSWORD in f"{record.text} {record.metadata}"]
    assert PASSWORD not in str(service.memory.receipts(user="ada", session="s1"))
    held = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert PASSWORD.encode() not in held
    assert MASKED.encode() in held


def test_our_methods_tell_what_was_masked_and_those_of_the_reference_answer_as_ever(call: Call) -> None:
    told = call("ingest_message", **ADA, id="m1", text=SAID)
    assert told["masked"] == told["turn"]["masked"] == ["password"]
    assert call("ingest_message", **ADA, id="m2", text="nothing to hide")["masked"] == []
    messages = [{"role": "user", "content": f"and once more: {SAID}"}, {"role": "assistant", "content": "noted"}]
    assert call("after_turn", **ADA, advancementKey="k", messages=messages)["masked"] == ["password"]
    assert call("after_turn", userId="bob", sessionId="s1", messages=messages)["masked"] == ["password"]
    assert call("insert_text", collection="global", id="g1", text=SAID) == {"ok": True}
    assert call("insert_session_turn", sessionId="s9", id="s9:t1", text=SAID, metadata=ADA) == {"ok": True}


def test_a_list_that_is_sent_again_with_its_secrets_is_stored_once(call: Call, service: Service) -> None:
    messages = [{"role": "user", "content": SAID}, {"role": "assistant", "content": "noted"}]
    for _ in range(2):
        call("after_turn", **ADA, messages=messages)
    assert [record.text for record in every(service.store, "history:ada")] == [MASKED, "noted"]


def test_a_copy_with_a_secret_still_stands_for_its_turn(call: Call, speak: Call, listed: Call) -> None:
    speak(SAID)
    facts = {"userId": "ada", "sessionId": "s1", "role": "user"}
    call("insert_text", collection="user:ada", id="ada:after-turn:0", text=SAID, metadata=facts)
    assert list(listed("user:ada").values()) == [MASKED]
    call("delete", collection="user:ada", id="ada:after-turn:0")
    assert listed("user:ada") == {} and listed("session_raw:s1") == {}
