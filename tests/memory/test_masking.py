"""Secrets are masked wherever a text becomes part of memory, and nothing else of it changes."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ingest.secrets_making import MAKERS, Sample, samples

from libravdb_memory import Config, ConflictError, Memory, NotFoundError
from libravdb_memory.authored import DOCUMENTS
from libravdb_memory.identity import Json, canonical_json
from libravdb_memory.ingest.secrets import find_secrets, mask
from libravdb_memory.ingest.secrets.facts import NAMES, mask_facts
from libravdb_memory.ingest.secrets_settings import SecretsSettings
from libravdb_memory.model import Document
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Key

PASSWORD = "hunter2Blue"
SAID = f"the login is password = '{PASSWORD}' since May"
MASKED = "the login is password = '[masked: password]' since May"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def memory(tmp_path: Path, hashed: Config) -> Iterator[Memory]:
    with Memory.open(tmp_path / "store", config=hashed) as opened:
        yield opened


@pytest.fixture
def hashed(hashed: Config) -> Config:
    """With little room for the tail, so that there is something to compact."""
    assembly = replace(hashed.assembly, startup_budget=200)
    return replace(hashed, assembly=assembly, compaction=replace(hashed.compaction, cluster_target=3))


@pytest.fixture
def keeping(hashed: Config) -> Config:
    return replace(hashed, secrets=SecretsSettings(keep_raw=True))


@pytest.fixture
def unmasked(hashed: Config) -> Config:
    return replace(hashed, secrets=SecretsSettings(mask=False))


def bytes_in(folder: Path) -> bytes:
    return b"\n".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())


def values_of(sample: Sample) -> list[str]:
    """Its secrets, but for those too short to prove anything by their bytes."""
    found = [sample.text[secret.start : secret.end] for secret in find_secrets(sample.text)]
    return [value for value in found if len(value) >= 10]


# ── turns ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_secret_is_masked_and_told_and_everything_else_stays(memory: Memory) -> None:
    turn = memory.ingest(
        SAID, user="ada", id="t1", metadata={"cmd": f"curl -H 'Authorization: Bearer {TOKEN}'", "n": 1}
    )
    assert turn.text == MASKED
    assert TOKEN not in str(turn.metadata) and turn.metadata["n"] == 1
    assert turn.masked == ("password", "github token")
    read = memory.get("t1", user="ada")
    assert read == turn and read.masked == turn.masked
    assert memory.search("login password since May", user="ada")[0].turn.masked == turn.masked
    assert memory.ingest("nothing to hide here", user="ada").masked == ()


def test_the_same_message_is_one_turn_and_a_conflict_is_decided_without_secrets(memory: Memory) -> None:
    first = memory.ingest(SAID, user="ada", id="t1", ts=1)
    again = memory.ingest(SAID, user="ada", id="t1", ts=1)
    other_secret = memory.ingest(SAID.replace(PASSWORD, "blueHunter3"), user="ada", id="t1", ts=1)
    as_kept = memory.ingest(MASKED, user="ada", id="t1", ts=1)
    assert first == again == other_secret == as_kept
    assert again.masked == ("password",) and as_kept.masked == ()
    assert memory.status().turns == 1
    with pytest.raises(ConflictError):
        memory.ingest(SAID + "!", user="ada", id="t1", ts=1)


def test_a_secret_of_the_text_is_one_in_its_metadata_and_the_other_way_round(memory: Memory) -> None:
    one = memory.ingest(SAID, user="ada", metadata={"typed": [PASSWORD]})
    two = memory.ingest(f"I typed {PASSWORD} there", user="ada", metadata={"password": PASSWORD})
    for turn in (one, two):
        assert PASSWORD not in turn.text + str(turn.metadata)


def test_names_are_never_masked(memory: Memory) -> None:
    turn = memory.ingest("hello", user=TOKEN, session=TOKEN, id=TOKEN, speaker=TOKEN, metadata={"sessionId": TOKEN})
    assert (turn.id, turn.session, turn.user, turn.speaker) == (TOKEN,) * 4
    assert turn.metadata == {"sessionId": TOKEN} and not turn.masked


def test_without_masking_a_turn_is_kept_as_it_was_said(tmp_path: Path, unmasked: Config) -> None:
    with Memory.open(tmp_path / "store", config=unmasked) as memory:
        turn = memory.ingest(SAID, user="ada", id="t1", metadata={"password": PASSWORD})
        assert turn.text == SAID and turn.metadata == {"password": PASSWORD} and not turn.masked
        assert memory.original("t1", user="ada") == turn


# ── originals ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_original_is_kept_only_if_configured(memory: Memory) -> None:
    memory.ingest(SAID, user="ada", id="t1")
    memory.ingest("nothing to hide", user="ada", id="t2")
    with pytest.raises(NotFoundError, match="keep_raw"):
        memory.original("t1", user="ada")
    assert memory.original("t2", user="ada").text == "nothing to hide"


def test_a_kept_original_is_in_no_search_prompt_summary_or_receipt(tmp_path: Path, keeping: Config) -> None:
    with Memory.open(tmp_path / "store", config=keeping) as memory:
        for number in range(30):
            said = SAID if number == 3 else f"the lantern on quay {number} was lit at {number + 3} o'clock by Oyelaran"
            memory.ingest(said, user="ada", session="s", id=f"t{number}", metadata={"password": PASSWORD, "n": number})
        assert memory.wait(60)
        assert memory.compact(user="ada", session="s").summaries
        built = memory.context(f"what opened with {PASSWORD}? password = '{PASSWORD}'", user="ada", session="s")
        assert PASSWORD not in built.text + str(built.receipt)
        assert not memory.search(PASSWORD, user="ada") or all(
            PASSWORD not in str(hit) for hit in memory.search(PASSWORD, user="ada", k=50)
        )
        store = memory.store
        for info in store.collections():
            assert not [record for record in every(store, info.name) if PASSWORD in f"{record.text} {record.metadata}"]
        kept = memory.original("t3", user="ada")
        assert kept.text == SAID and kept.metadata == {"password": PASSWORD, "n": 3}
        assert memory.verify().ok
        memory.erase("t3", user="ada")
        for number in range(30):
            if number != 3:
                memory.erase(f"t{number}", user="ada")
    assert PASSWORD.encode() not in bytes_in(tmp_path)


def test_an_export_carries_kept_originals_only_into_stores_that_keep_them(
    tmp_path: Path, hashed: Config, keeping: Config
) -> None:
    out = StringIO()
    with Memory.open(tmp_path / "a", config=keeping) as memory:
        memory.ingest(SAID, user="ada", id="t1")
        memory.export(out)
    lines = out.getvalue().splitlines()
    with Memory.open(tmp_path / "b", config=keeping) as memory:
        memory.import_(lines)
        assert memory.original("t1", user="ada").text == SAID
    with Memory.open(tmp_path / "c", config=hashed) as memory:
        memory.import_(lines)
        assert memory.get("t1", user="ada").masked == ("password",)
        with pytest.raises(NotFoundError):
            memory.original("t1", user="ada")
    assert PASSWORD.encode() not in bytes_in(tmp_path / "c")


# ── prompts and messages ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_prompt_and_a_host_s_messages_leave_no_secret_in_a_receipt_and_stay_the_host_s(memory: Memory) -> None:
    memory.ingest(SAID, user="ada", session="s")
    messages = [{"role": "user", "content": SAID}, {"role": "assistant", "content": f"token {TOKEN} noted"}]
    built = memory.context(f"is '{TOKEN}' right?", user="ada", session="s", messages=messages)
    assert list(built.messages) == messages, "the host's own"
    for secret in (PASSWORD, TOKEN):
        assert secret not in built.text + str(built.receipt.offer) + built.receipt.prompt
    assert MASKED not in built.text, "what the host shows is not repeated"
    assert memory.replay(built.receipt.id).identical


def test_a_message_with_a_secret_leaves_a_window_into_memory_once(memory: Memory) -> None:
    messages = [{"role": "user", "content": SAID}, {"role": "assistant", "content": "a" * 4000}]
    messages += [
        {"role": role, "content": f"{role} {n} " + "b" * 400} for n in range(6) for role in ("user", "assistant")
    ]
    for _ in range(2):
        memory.context("and now?", user="ada", session="s", budget=400, messages=messages, mode="own")
    held = [record.text for record in every(memory.store, "history:ada")]
    assert held.count(MASKED) == 1


# ── documents ────────────────────────────────────────────────────────────────────────────────────────────────────

RULES = f"# Access\n\n- Never print `password = '{PASSWORD}'` anywhere.\n\nDeploys run on Monday.\n"


def test_a_document_is_masked_before_it_is_divided(memory: Memory) -> None:
    divided = memory.load_document("AGENTS.md", RULES)
    text = mask(RULES).text
    assert PASSWORD not in text and text.replace("[masked: password]", PASSWORD) == RULES
    assert [text.encode()[node.start : node.end].decode() for node in divided.nodes] == [n.text for n in divided.nodes]
    assert memory.documents()["AGENTS.md"] == divided
    assert "[masked: password]" in memory.context("what may I print?", user="ada").text
    record = memory.store.get(Key(DOCUMENTS, "AGENTS.md"))
    assert record is not None and record.text == text
    assert memory.load_document("AGENTS.md", text) == divided, "masking again changes nothing"


def test_a_secret_that_spans_several_nodes_is_masked_whole(memory: Memory) -> None:
    key = MAKERS["pem-rsa"][1](random.Random(3))
    broken = key.replace("\n", "\n\n", 3)
    assert mask(broken).found
    memory.change_documents([Document("notes.md", f"before\n\n{broken}\n\nafter")])
    kept = [record.text for record in every(memory.store, "authored:variant")]
    assert kept[0] == "before" and kept[-1] == "after"
    assert not [text for text in kept if any(line in text for line in key.splitlines()[1:-1] if len(line) > 20)]


# ── imports ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_import_is_masked_as_if_it_had_been_said_here(tmp_path: Path, hashed: Config, unmasked: Config) -> None:
    out = StringIO()
    with Memory.open(tmp_path / "raw", config=unmasked) as memory:
        for number in range(30):
            said = (
                SAID if number == 3 else f"the lantern on quay {number} was lit at {number + 3} by {PASSWORD} Oyelaran"
            )
            memory.ingest(said, user="ada", session="s", id=f"t{number}", metadata={"password": PASSWORD}, ts=number)
        memory.load_document("AGENTS.md", RULES)
        assert memory.wait(60)
        memory.context("deploys on Monday?", user="ada")
        assert memory.compact(user="ada", session="s").summaries
        assert memory.wait(60)
        memory.export(out)
    lines = out.getvalue().splitlines()
    assert PASSWORD in out.getvalue()
    for _ in range(2):
        with Memory.open(tmp_path / "masked", config=hashed) as memory:
            memory.import_(lines)
            assert memory.get("t3", user="ada").text == MASKED
            assert memory.ingest(SAID, user="ada", session="s", id="t3", metadata={"password": PASSWORD}, ts=3).masked
            assert memory.documents()["AGENTS.md"] == memory.load_document("AGENTS.md", RULES)
            for record in every(memory.store, "summary:ada"):
                assert PASSWORD not in f"{record.text} {record.metadata}"
            assert memory.verify().ok
            again = StringIO()
            memory.export(again)
    with Memory.open(tmp_path / "third", config=hashed) as memory:
        memory.import_(again.getvalue().splitlines())
        third = StringIO()
        memory.export(third)
    assert third.getvalue() == again.getvalue(), "what holds no secret arrives as it is"
    assert PASSWORD.encode() not in bytes_in(tmp_path / "third")


# ── to the byte ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_no_secret_of_the_corpus_is_in_any_file_of_the_store(tmp_path: Path, hashed: Config) -> None:
    corpus = [*samples("positives"), *samples("late_positives"), *samples("final_positives")]
    secrets = {value for sample in corpus for value in values_of(sample)}
    assert len(secrets) >= 200
    config = replace(hashed, compaction=replace(hashed.compaction, cluster_target=12))
    with Memory.open(tmp_path / "store", config=config) as memory:
        for number, sample in enumerate(corpus):
            text = sample.text
            memory.ingest(
                text, user="ada", session="s", id=f"t{number}", metadata={"args": {"call": [text]}, "n": number}
            )
        for start in range(0, len(corpus), 50):
            part = "\n\n".join(sample.text for sample in corpus[start : start + 50])
            memory.change_documents([Document(f"notes/{start}.md", part, lore=True)])
        assert memory.wait(120)
        memory.compact(user="ada", session="s")
        assert list(every(memory.store, "summary:ada"))
        for sample in corpus[::40]:
            memory.context(sample.text, user="ada", session="s", messages=[{"role": "user", "content": sample.text}])
        assert memory.wait(120)
        open_bytes = bytes_in(tmp_path)
        receipts = "".join(str(receipt) for receipt in memory.receipts(user="ada", limit=200))
        assert memory.verify().ok
    for where, found in (("open", open_bytes), ("closed", bytes_in(tmp_path)), ("receipts", receipts.encode())):
        assert not sorted(secret for secret in secrets if secret.encode() in found), where


# ── facts, for every JSON ────────────────────────────────────────────────────────────────────────────────────────

WORDS = st.sampled_from(
    ["password", "token", "note", "api_key", "value", "name", "id", "x", "secret", "headers", "sessionId"]
)
TEXTS = st.one_of(
    st.text(max_size=12),
    WORDS,
    st.builds(
        lambda name, seed: MAKERS[name][1](random.Random(seed)), st.sampled_from(sorted(MAKERS)), st.integers(0, 99)
    ),
    st.sampled_from(
        ["my password is sw0rdfish9", 'password="a1b2c3d4"', "Bearer", 'say "hi"', "C:\\keys", "[masked: token]"]
    ),
)
FACTS = st.dictionaries(
    WORDS,
    st.recursive(
        st.one_of(TEXTS, st.integers(), st.booleans(), st.none(), st.floats(allow_nan=False, allow_infinity=False)),
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(WORDS, inner, max_size=4)),
        max_leaves=12,
    ),
    max_size=5,
)


@given(FACTS)
@settings(max_examples=300)
def test_masking_facts_twice_changes_nothing_more(facts: Mapping[str, Json]) -> None:
    once = mask_facts(facts)
    twice = mask_facts(once.facts)
    assert (twice.facts, twice.kinds) == (once.facts, ())


@given(FACTS)
@settings(max_examples=300)
def test_masking_facts_keeps_their_shape_and_changes_nothing_but_texts_with_secrets(facts: Mapping[str, Json]) -> None:
    masked = mask_facts(facts)
    assert canonical_json(_shape(facts)) == canonical_json(_shape(masked.facts))
    if not masked.kinds:
        assert masked.facts == facts
    for before, after in zip(_leaves(facts), _leaves(masked.facts), strict=True):
        assert after == before or "[masked: " in str(after)


@given(st.sampled_from(sorted(NAMES)), st.integers(0, 99))
def test_what_names_something_is_never_masked(name: str, seed: int) -> None:
    value = MAKERS["github-classic"][1](random.Random(seed))
    assert mask_facts({name: value}).facts == {name: value}
    assert mask_facts({"note": value}).facts != {"note": value}


def _shape(value: Json) -> Json:
    if isinstance(value, str):
        return "text"
    if isinstance(value, Mapping):
        return {key: _shape(inner) for key, inner in value.items()}
    return [_shape(inner) for inner in value] if isinstance(value, list | tuple) else value


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner)
    else:
        yield value


def test_tool_arguments_are_masked_however_they_are_nested() -> None:
    arguments = json.dumps({"connect": {"user": "ada", "password": PASSWORD}})
    for facts in (
        {"arguments": arguments},
        {"calls": [{"function": {"name": "login", "arguments": arguments}}]},
        {"calls": [{"input": {"password": PASSWORD}}]},
        {"env": [{"name": "DB_PASSWORD", "value": PASSWORD}]},
        {"argv": ["mysql", "--password", PASSWORD]},
    ):
        assert PASSWORD not in str(mask_facts(facts).facts), facts
