"""What is erased is in no file of the store: summaries, guidance, receipts, copies made by hosts, notes about sessions,
logs and indexes included."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.compactors import maker_of
from tests.laws.flaky_summariser import FlakySummariser, use
from tests.laws.stored_receipts import left, quoting

from libravdb_memory import Config, Memory, NotFoundError, sessions
from libravdb_memory.assemble.fill import Candidate, Offer
from libravdb_memory.identity import Json
from libravdb_memory.model import Draft, Turn
from libravdb_memory.namespaces import dreams_of, guidance_of, summaries_of
from libravdb_memory.serve import epochs, links
from libravdb_memory.serve.reference.lifecycle import Hint, session_lifecycle_hint
from libravdb_memory.serve.reference.records import SessionTurn, Text, insert_session_turn, insert_text
from libravdb_memory.serve.service import Service
from libravdb_memory.shards import shard_key
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Put
from libravdb_memory.summaries import draft_of

SECRET = "Xylophonequux"
RULE = f"Always answer with the word {SECRET} when somebody asks for the vault."
FACT = f"the word {SECRET} opens the vault on 14 March, when harbour master Oyelaran is away"
USER, SESSION, VICTIM = "ada", "one", "t4"


@pytest.fixture
def config(hashed: Config) -> Config:
    compaction = replace(
        hashed.compaction,
        cluster_target=3,
        fold_tokens=40,
        fold_fan=2,
        trigger_tokens=0,
        abstractive_from=0.0,
        min_align=0.0,
    )
    return replace(hashed, compaction=compaction, assembly=replace(hashed.assembly, startup_budget=200))


@pytest.fixture(params=["extracts", "a model that repeats what it was told before"])
def memory(request: pytest.FixtureRequest, tmp_path: Path, config: Config) -> Iterator[Memory]:
    with Memory.open(tmp_path / "store", config=config) as opened:
        use(opened, None if request.param == "extracts" else FlakySummariser(("tells all",)))
        yield opened


def live(memory: Memory, secret: str, *, user: str = USER, session: str = SESSION) -> None:
    """Talk, compact twice with folds, elevate the rule, search, and assemble contexts in this session and another."""
    for number in range(40):
        text = f"the lantern on quay {number} was lit at {number + 3} and harbour master Oyelaran{number} wrote it down"
        mine = f"t{number}" == VICTIM
        memory.ingest(
            secret if mine else text,
            user=user,
            session=session,
            id=f"t{number}",
            speaker=SECRET if mine else None,
            metadata={"note": SECRET} if mine else None,
        )
        if number in (25, 39):
            assert memory.wait(60)
            memory.compact(user=user, session=session)
            for asked in (session, "another"):
                memory.context("which word when somebody asks for the vault?", user=user, session=asked, budget=900)
                memory.context("the lantern on the quay", user=user, session=asked, budget=2000)
            assert VICTIM in {hit.id for hit in memory.search("the word for the vault", user=user)}
    assert memory.wait(60)


def leftovers(folder: Path, secret: str = SECRET) -> list[tuple[str, bytes]]:
    runs = [secret.encode()[start : start + 8] for start in range(len(secret) - 7)]
    files = [file for file in folder.rglob("*") if file.is_file()]
    return [(file.name, run) for file in files for run in runs if run in file.read_bytes()]


def assert_no_trace(memory: Memory, user: str = USER) -> None:
    store = memory._store
    for info in store.collections():
        assert SECRET not in info.name
        for record in every(store, info.name):
            assert SECRET not in f"{record.group} {record.id} {record.text} {record.metadata}"
    assert not [receipt.id for receipt in memory.receipts(user=user, limit=200) if SECRET in str(receipt)]
    assert not [
        receipt.id for receipt in memory.receipts(user=user, limit=200) if not memory.replay(receipt.id).identical
    ]
    assert memory.verify().ok


def turns_below(memory: Memory, summary: str) -> list[str]:
    items = memory.expand(summary, user=USER, session=SESSION).items
    return [turn.id for turn in items if isinstance(turn, Turn)]


def summaries(memory: Memory) -> dict[str, str]:
    return {record.id: record.text for record in every(memory._store, summaries_of(USER))}


@pytest.mark.parametrize("secret", [RULE, FACT], ids=["rule", "fact"])
def test_an_erased_turn_leaves_no_byte_and_its_siblings_are_covered_again(
    memory: Memory, tmp_path: Path, secret: str
) -> None:
    live(memory, secret)
    before = {name: turns_below(memory, name) for name in summaries(memory)}
    above = {name for name, turns in before.items() if VICTIM in turns}
    assert len(above) >= 3, "the turn lies below folded folds"
    saying = {name for name, text in summaries(memory).items() if SECRET in text}
    if secret == FACT:
        assert saying
        repeats = maker_of(memory).condenser.has_model
        assert bool(saying - above) == repeats, "a model repeated it in summaries of other turns"
    assert any(SECRET in record.text for record in every(memory._store, guidance_of(USER))) == (secret == RULE)
    assert any(SECRET in str(receipt) for receipt in memory.receipts(user=USER, session="another"))
    assert leftovers(tmp_path)
    receipts = quoting(memory, tmp_path, SECRET)
    assert len(receipts) >= 2

    memory.erase(VICTIM, user=USER)
    assert memory.wait(60)
    assert leftovers(tmp_path) == []
    assert left(memory, tmp_path, receipts) == []
    assert_no_trace(memory)
    after = summaries(memory)
    assert not after.keys() & (above | saying)
    bare = {entry.id for entry in memory.history(user=USER, session=SESSION).entries if isinstance(entry, Turn)}
    siblings = {turn for name in above for turn in before[name]} - {VICTIM}
    still = {turn for name in after for turn in turns_below(memory, name)}
    assert siblings - still <= bare

    done = memory.compact(user=USER, session=SESSION)
    assert not done.declined and siblings <= {turn for node in (*done.summaries,) for turn in node.children} | still
    for name in summaries(memory):
        turns = turns_below(memory, name)
        assert turns == sorted(turns, key=lambda turn: int(turn[1:])) and VICTIM not in turns
    assert_no_trace(memory)
    memory.close()
    assert leftovers(tmp_path) == []


def test_an_erased_session_leaves_no_byte_nor_its_name(memory: Memory, tmp_path: Path) -> None:
    live(memory, RULE, session=SECRET)
    memory.ingest("something else", user=USER, session="another")
    receipts = quoting(memory, tmp_path, SECRET)
    assert len(receipts) >= 2
    memory.erase(user=USER, session=SECRET)
    assert memory.wait(60)
    assert_no_trace(memory)
    assert left(memory, tmp_path, receipts) == []
    assert memory.status().turns == 1
    memory.close()
    assert leftovers(tmp_path) == []


def test_an_erased_user_leaves_no_byte_nor_their_name_nor_their_dreams(memory: Memory, tmp_path: Path) -> None:
    live(memory, FACT, user=SECRET)
    memory._store.commit([Put(Draft(dreams_of(SECRET), "d1", f"a dream of {SECRET}"))])
    memory.ingest("something else", user="bob")
    receipts = quoting(memory, tmp_path, SECRET)
    assert len(receipts) >= 2
    memory.erase(user=SECRET)
    assert memory.wait(60)
    assert_no_trace(memory, SECRET)
    assert left(memory, tmp_path, receipts) == []
    assert memory.status().turns == 1
    memory.close()
    assert leftovers(tmp_path) == []


# ── what hosts put beside turns ──────────────────────────────────────────────────────────────────────────────────


def served(memory: Memory, config: Config) -> Service:
    return Service.of(memory, config, lambda: 1_700_000_000_000)


def host(service: Service, user: str, session: str, turn: str, text: str) -> None:
    """As a host of the reference protocol keeps a turn: in its session, in both public collections, and with a hint."""
    given: dict[str, Json] = {"userId": user, "sessionId": session, "role": "user"}
    insert_session_turn(service, SessionTurn(session, f"{session}:{turn}", text, given))
    for kind in ("user", "turns"):
        insert_text(service, Text(f"{kind}:{user}", f"{user}:{turn}", text, given))
    insert_text(service, Text(f"user:{user}:notes", f"n-{turn}", text, given))
    session_lifecycle_hint(service, Hint("session_end", reason=f"{session} ended", session_id=session))


@pytest.mark.parametrize("first", [SESSION, "another"])
def test_a_turn_goes_with_the_copies_that_hosts_made_of_it(
    memory: Memory, config: Config, tmp_path: Path, first: str
) -> None:
    """Two sessions number their turns alike; the copy that came first has the plain id."""
    service = served(memory, config)
    spoken = ((SESSION, FACT), ("another", "the harbour is shut"))
    for session, text in sorted(spoken, key=lambda said: said[0] != first):
        given: dict[str, Json] = {"userId": USER, "sessionId": session, "role": "user"}
        insert_session_turn(service, SessionTurn(session, f"{session}:{VICTIM}", text, given))
        for kind in ("user", "turns"):
            insert_text(service, Text(f"{kind}:{USER}", f"{USER}:{VICTIM}", text, given))
    assert memory.erase(VICTIM, user=USER, session=SESSION).records == 3
    assert memory.wait(60)
    assert_no_trace(memory)
    assert [record.text for record in every(memory._store, f"user:{USER}")] == ["the harbour is shut"]
    assert leftovers(tmp_path) == []
    with pytest.raises(NotFoundError):
        memory.erase(VICTIM, user=USER, session=SESSION)


def test_copies_go_although_their_turn_is_gone_already(memory: Memory, config: Config, tmp_path: Path) -> None:
    given: dict[str, Json] = {"userId": USER, "sessionId": SESSION, "role": "user"}
    insert_text(served(memory, config), Text(f"turns:{USER}", f"{USER}:{VICTIM}", FACT, given))
    assert memory.erase(VICTIM, user=USER, session=SESSION).records == 1
    assert memory.wait(60)
    assert leftovers(tmp_path) == []


def test_a_session_goes_with_its_copies_its_notes_and_its_hints(memory: Memory, config: Config, tmp_path: Path) -> None:
    service = served(memory, config)
    host(service, USER, SECRET, VICTIM, FACT)
    host(service, USER, "another", "t9", "the harbour is shut")
    epochs.advance(memory.store, USER, SECRET)
    assert leftovers(tmp_path)
    memory.erase(user=USER, session=SECRET)
    assert memory.wait(60)
    assert_no_trace(memory)
    assert leftovers(tmp_path) == []
    assert sessions.noted(memory.store, "another") == (USER,)
    assert [entry.session for entry in service.journal.entries()] == ["another"]
    assert len(list(every(memory._store, f"user:{USER}"))) == 1


def test_a_user_goes_with_copies_notes_hints_and_links(memory: Memory, config: Config, tmp_path: Path) -> None:
    service = served(memory, config)
    host(service, SECRET, "shared", VICTIM, FACT)
    host(service, SECRET, SECRET, "t5", FACT)
    host(service, "bob", "shared", VICTIM, "the harbour is shut")
    host(service, f"{USER}:more", "s", "t1", "somebody else")
    epochs.advance(memory.store, SECRET, "shared")
    links.link(memory.store, "subagent", SECRET, None)
    memory.erase(user=SECRET)
    assert memory.wait(60)
    assert_no_trace(memory, SECRET)
    assert leftovers(tmp_path) == []
    assert sessions.noted(memory.store, "shared") == ("bob",)
    assert {entry.session for entry in service.journal.entries()} == {"shared", "s"}
    assert links.owner_of(memory.store, "subagent", None) is None
    assert memory.status().turns == 2


def test_what_is_noted_of_somebody_else_stays_although_they_have_said_nothing(memory: Memory, config: Config) -> None:
    service = served(memory, config)
    host(service, USER, "shared", "t1", "the harbour is shut")
    sessions.note(memory.store, "shared", "carol")
    memory.erase(user=USER)
    assert sessions.noted(memory.store, "shared") == ("carol",)
    assert [entry.session for entry in service.journal.entries()] == ["shared"]


def test_a_user_whose_name_begins_another_s_leaves_the_other_whole(memory: Memory, config: Config) -> None:
    service = served(memory, config)
    host(service, "ada", "s", "t1", "the harbour is shut")
    host(service, "ada:bee", "s", "t1", "the harbour is open")
    assert memory.wait(60), "the gate notes how far it has come"
    before = memory.store.status().records
    mine = memory.erase(user="ada").records
    assert mine == 4
    assert memory.store.status().records == before - mine
    assert sessions.noted(memory.store, "s") == ("ada:bee",)
    assert memory.get("t1", user="ada:bee").text == "the harbour is open"


@pytest.mark.parametrize("quoted", ["summary", "guidance"])
def test_a_receipt_that_quotes_only_what_was_made_from_a_turn_goes_with_it(memory: Memory, quoted: str) -> None:
    live(memory, RULE)
    above = next(name for name in summaries(memory) if VICTIM in turns_below(memory, name))
    name = above if quoted == "summary" else shard_key(USER, SESSION, VICTIM).id
    (record,) = memory._store.find(name)
    item = Candidate(record.id, record.text, 0.5, "note", quoted, session=record.group)
    context = memory.context("anything", user=USER, session="another", budget=100)
    offer = Offer(100, recalled=(item,))
    memory._receipts.add(replace(context.receipt, id="rcpt-narrow", offer=offer), context.assembly)
    memory.erase(VICTIM, user=USER)
    assert "rcpt-narrow" not in {receipt.id for receipt in memory.receipts(user=USER, limit=200)}


def test_a_receipt_that_quotes_a_summary_goes_with_a_turn_below_it_though_it_was_replaced_since(memory: Memory) -> None:
    live(memory, FACT)
    said, before = summaries(memory), {name: turns_below(memory, name) for name in summaries(memory)}
    memory.compact(user=USER, session=SESSION, rebuild=True)
    after = {name: turns_below(memory, name) for name in summaries(memory)}
    replaced = next(name for name in before if name not in after)
    victim = before[replaced][0]
    standing = next(name for name, turns in after.items() if victim not in turns)
    context = memory.context("anything", user=USER, session="another", budget=100)
    quoted = {
        "of one replaced": (replaced, said[replaced]),
        "of one that said something else": (standing, "the quay was dark"),
        "of one that stands": (standing, summaries(memory)[standing]),
    }
    for name, (summary, text) in quoted.items():
        item = Candidate(summary, text, 0.5, "note", "summary", session=SESSION, covers_from="t0")
        receipt = replace(context.receipt, id=name, offer=Offer(100, recalled=(item,)))
        memory._receipts.add(receipt, context.assembly)
    memory.erase(victim, user=USER)
    left = {receipt.id for receipt in memory.receipts(user=USER, limit=200)}
    assert left & quoted.keys() == ({"of one that stands"} if standing in summaries(memory) else set())


def test_an_erasure_waits_for_a_context_that_has_read_the_turn_and_takes_its_receipt_too(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.ingest(FACT, user=USER, session=SESSION, id=VICTIM)
    assert memory.wait(60)
    read, go_on = threading.Event(), threading.Event()
    builder = memory._builder
    made = builder._receipt

    def slow_receipt(*given: Any) -> Any:
        read.set()
        assert go_on.wait(60)
        return made(*given)

    monkeypatch.setattr(builder, "_receipt", slow_receipt)
    asking = threading.Thread(target=lambda: memory.context("the vault?", user=USER, session=SESSION, budget=400))
    erasing = threading.Thread(target=lambda: memory.erase(VICTIM, user=USER))
    asking.start()
    assert read.wait(60)
    erasing.start()
    erasing.join(0.3)
    assert erasing.is_alive(), "the erasure is not done while the words may still be written"
    go_on.set()
    asking.join(60)
    erasing.join(60)
    assert_no_trace(memory)


def test_what_was_told_from_summary_to_summary_goes_along_the_whole_chain(memory: Memory) -> None:
    use(memory, None)
    for number in range(40):
        text = f"the lantern on quay {number} was lit at {number + 3} and harbour master Oyelaran{number} wrote it down"
        memory.ingest(text, user=USER, session=SESSION, id=f"t{number}")
    first, second, third, fourth = memory.compact(user=USER, session=SESSION).summaries[:4]
    told = replace(second, prior=(first.id,)), replace(third, prior=(second.id,))
    memory._store.commit([Put(draft_of(node), replace=True) for node in told])
    memory.erase(first.children[0], user=USER)
    assert not {first.id, second.id, third.id} & summaries(memory).keys()
    assert fourth.id in summaries(memory)
    assert memory.verify().ok
