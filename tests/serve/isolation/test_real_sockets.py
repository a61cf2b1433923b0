"""Two namespaces, every method of the table, over real sockets: no byte of one reaches the other.

Knowingly visible to everybody, whatever its token: the version and pid of the daemon; authored documents, which are
everybody's rules; the collection `global`; and how rare a word is in the whole store, because a search by words weighs
them by that. Time is not measured here.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from tests.serve.isolation.parties import PLAYED, TABLE, Asking, Party, Watched, learn
from tests.serve.process import Daemon, Daemons

from libravdb_memory.serve.access import Tokens

DENIED = -32005
WHOLE_STORE = ("status", "verify", "metrics", "backup", "reindex", "export_memory", "list_lifecycle_journal")
NAMES = [(("u1", "s1"), ("u10", "s10")), (("ada", "s"), ("ada:x", "s:t1")), (("a", "x"), ("user:a", "x@y"))]


@dataclass
class Side:
    """A party, its connection with a scoped token, and one of the same user that may reach everything."""

    party: Party
    scoped: Watched
    full: Watched


@contextmanager
def two_sides(daemons: Daemons, transport: str, names: Any) -> Iterator[tuple[Daemon, tuple[Side, Side]]]:
    tokens = Tokens(daemons.home / "tokens.json")
    owner = tokens.owner().secret
    daemon = daemons(*(("--endpoint", "tcp:127.0.0.1:0") if transport == "tcp" else ()), COMPACTION_TRIGGER_TOKENS="0")
    with ExitStack() as open_ends:
        sides = []
        for (user, session), word in zip(names, ("zumbalaq", "xirkoteb"), strict=True):
            connected = [open_ends.enter_context(Watched(daemon.endpoint)) for _ in range(2)]
            secret = tokens.add(f"of {user}", frozenset({user})).secret
            for client, token in zip(connected, (secret, owner), strict=True):
                assert client.call("authenticate", token=token)["ok"]
            sides.append(Side(Party(user, session, word), *connected))
        for side in sides:
            settle(side)
        yield daemon, (sides[0], sides[1])


def settle(side: Side) -> None:
    """A conversation that is long enough to be compacted, and whose session belongs to its party."""
    party, client = side.party, side.scoped
    where = {"userId": party.user, "sessionId": party.session}
    for number in range(12):
        text = (
            f"Step {number} in {party.word}: the importer read file {number} of {party.word} and wrote its rows. " * 3
        )
        answer = client.ask("ingest_message", **where, id=f"t{number}", text=text)
        assert "result" in answer or answer["error"]["data"]["kind"] == "conflict", answer  # it may have said otherwise
    learn(party, client.ask("assemble_context", **where, prompt=f"the importer of {party.word}?", budget=900))
    learn(party, client.ask("memory_compact", **where))


def play(sides: tuple[Side, Side], chance: random.Random, steps: int) -> Counter[str]:
    """Each asks for its own, then for the other's, in turns that chance decides; how the attacks ended."""
    ends: Counter[str] = Counter()
    for number in range(steps):
        mine, theirs = sides if chance.random() < 0.5 else sides[::-1]
        method = PLAYED[number % len(PLAYED)] if number < 2 * len(PLAYED) else chance.choice(PLAYED)
        params = Asking(chance, mine.party).params(method)
        answer = mine.scoped.ask(method, **params)
        learn(mine.party, answer)
        if answer.get("error", {}).get("code") != DENIED:  # about its own memory alone: then full access sees no more
            learn(mine.party, mine.full.ask(method, **params))
        attack = mine.scoped.ask(method, **Asking(chance, theirs.party, mine.party).params(method))
        ends["denied" if attack.get("error", {}).get("code") == DENIED else "answered"] += 1
        if method in ("memory_forget", "flush_namespace", "delete", "delete_batch"):
            settle(mine)
    return ends


def assert_nothing_crossed(sides: tuple[Side, Side]) -> None:
    for mine, theirs in (sides, sides[::-1]):
        for client in (mine.scoped, mine.full):
            assert client.received
            assert theirs.party.word.encode() not in client.received
        kept = mine.full.call("export_memory", userId=mine.party.user)["records"]
        kept += [mine.full.call("list_collection", collection=name) for name in mine.party.collections()]
        assert theirs.party.word not in json.dumps(kept)
        assert mine.party.word in json.dumps(kept)


@pytest.mark.parametrize("transport", ["tcp", "unix"])
@pytest.mark.parametrize(
    ("names", "steps"), [(NAMES[0], 180), *(pytest.param(names, 4000, marks=pytest.mark.long) for names in NAMES)]
)
def test_no_byte_of_one_namespace_reaches_the_other_over_a_real_socket(
    daemons: Daemons, transport: str, names: Any, steps: int
) -> None:
    with two_sides(daemons, transport, names) as (daemon, sides):
        ends = play(sides, random.Random(f"{transport} {steps}"), steps)
        assert ends["denied"] > steps // 2, ends
        assert_nothing_crossed(sides)
        assert daemon.stop() == 0
    assert not [line for line in daemon.log.splitlines() if json.loads(line)["level"] == "error"]


def test_a_scoped_token_can_do_nothing_about_the_whole_store(daemons: Daemons) -> None:
    with two_sides(daemons, "unix", NAMES[0]) as (_, (mine, theirs)):
        for method in WHOLE_STORE:
            params = {"name": "copy"} if method == "backup" else {}
            assert mine.scoped.ask(method, **params)["error"]["code"] == DENIED, method
        assert not (daemons.home / "backups").exists()
        erasing: list[tuple[str, dict[str, Any]]] = [
            ("memory_forget", {"userId": theirs.party.user, "all": True}),
            ("flush_namespace", {"userId": theirs.party.user}),
            ("delete_batch", {"collection": f"user:{theirs.party.user}", "ids": ["t1"]}),
            ("ingest_markdown_document", {"sourceDoc": "AGENTS.md", "text": "- Obey."}),
            ("delete_authored_document", {"sourceDoc": "AGENTS.md"}),
        ]
        before = theirs.scoped.call("memory_history", userId=theirs.party.user, sessionId=theirs.party.session)
        for method, params in erasing:
            assert mine.scoped.ask(method, **params)["error"]["code"] == DENIED, method
        of_session = {"collection": f"session:{theirs.party.session}", "id": f"{theirs.party.session}:t1"}
        assert mine.scoped.call("delete", **of_session) == {"ok": True}  # to this token there is no such turn
        assert before == theirs.scoped.call("memory_history", userId=theirs.party.user, sessionId=theirs.party.session)


def test_a_receipt_of_another_cannot_be_told_from_one_that_there_is_not(daemons: Daemons) -> None:
    with two_sides(daemons, "unix", NAMES[0]) as (_, (mine, theirs)):
        for method, more in (("why", {}), ("replay", {}), ("why_not", {"recordId": "t1"})):
            of_another = mine.scoped.ask(method, receiptId=theirs.party.receipts[0], **more)["error"]
            of_nobody = mine.scoped.ask(method, receiptId="no such receipt", **more)["error"]
            assert of_another == of_nobody


# ── what one may conclude ────────────────────────────────────────────────────────────────────────────────────────

CHANGING = ("receiptId", "ts", "recency", "modulation", "bm25")
"""Ids made by chance, what depends on the time of day, and the weight of words, which is that of the whole store."""


def script(party: Party) -> list[tuple[str, dict[str, Any]]]:
    """What one does and sees: a whole conversation, with times of its own."""
    where = {"userId": party.user, "sessionId": party.session}
    made: list[tuple[str, dict[str, Any]]] = []
    for number in range(14):
        text = f"Step {number}: the importer read file {number} of the archive, checked it and wrote row {number * 7}."
        made.append(("ingest_message", {**where, "id": f"t{number}", "text": text, "ts": 1_700_000_000_000 + number}))
    turn = {"role": "user", "ts": 1_700_000_001_000, "userId": party.user}
    made += [
        (
            "insert_session_turn",
            {"sessionId": party.session, "id": f"{party.session}:x", "text": "x", "metadata": turn},
        ),
        ("insert_text", {"collection": f"user:{party.user}", "id": "k", "text": "the archive", "metadata": turn}),
        ("memory_search", {"userId": party.user, "query": "which file did the importer read?", "k": 20}),
        ("search_text", {"collection": f"session:{party.session}", "text": "the archive", "k": 5}),
        ("gating_scalar", {"userId": party.user, "text": "My importer always reads file 7 of the archive."}),
        ("assemble_context", {**where, "prompt": "what did the importer write?", "budget": 700}),
        ("memory_compact", where),
        ("memory_history", where),
        ("assemble_context", {**where, "prompt": "what did the importer write?", "budget": 700}),
        ("list_collection", {"collection": f"session_summary:{party.session}"}),
        ("export_memory", {"userId": party.user}),
        ("bump_access_counts", {"updates": [{"collection": f"user:{party.user}", "ids": ["k"]}]}),
        ("bootstrap_session", where),
        ("memory_forget", {**where, "id": "t3"}),
        ("memory_search", {"userId": party.user, "query": "file 3", "k": 5}),
    ]
    return made


def seen(daemons: Daemons, *, together: bool) -> list[Any]:
    """The answers to one, with or without another who does much at the same time."""
    with two_sides(daemons, "unix", NAMES[0]) as (_, (mine, theirs)):
        mine.scoped.call("memory_forget", userId=mine.party.user, all=True)
        theirs.full.call("memory_forget", userId=theirs.party.user, all=True)
        answers: list[Any] = []
        other = Asking(random.Random(5), theirs.party)
        for method, params in script(mine.party):
            if together:
                settle(theirs)
                for each in ("ingest_message", "insert_session_turn", "promote_dream_entries", "memory_search"):
                    theirs.scoped.ask(each, **other.params(each))
            mine.full.call("reindex", wait=True)  # so that what is found does not depend on how far embedding is
            answers.append((method, stripped(mine.scoped.ask(method, **params))))
        return answers


def stripped(value: Any) -> Any:
    """Without what differs from run to run."""
    if isinstance(value, dict):
        return {key: stripped(inner) for key, inner in value.items() if key not in CHANGING}
    return [stripped(inner) for inner in value] if isinstance(value, list) else value


def alike(one: Any, other: Any) -> bool:
    """Equal, but for the last digits of numbers: a score has a little of the time of day in it."""
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) < 1e-6
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return bool(one == other)


def test_the_answers_to_one_are_the_same_whether_another_is_there_or_not(daemons: Daemons) -> None:
    alone = seen(daemons, together=False)
    for daemon in daemons.started:
        daemon.end()
    for file in daemons.home.glob("data.libravdb*"):
        file.unlink()
    together = seen(daemons, together=True)
    for (method, one), (_, other) in zip(alone, together, strict=True):
        assert alike(one, other), (method, one, other)


def looks(user: str, session: str) -> list[tuple[str, dict[str, Any]]]:
    """What one may ask about a session, by its name alone or with the user's."""
    names = [f"{kind}:{session}" for kind in ("session", "session_raw", "session_summary", "session_edge")]
    return [
        *(("list_collection", {"collection": name}) for name in names),
        ("search_text", {"collection": names[0], "text": "mango", "k": 9}),
        ("query_raw_session", {"sessionId": session, "text": "mango", "k": 9}),
        ("memory_history", {"userId": user, "sessionId": session}),
        ("memory_guidance", {"userId": user, "sessionId": session}),
        ("list_lifecycle_journal", {"sessionId": session}),
        ("bootstrap_session", {"userId": user, "sessionId": session, "linkedKey": "agent:main:main"}),
    ]


@pytest.mark.parametrize("intruder_first", [True, False])
@pytest.mark.parametrize("by_host", ["scoped", "owner", "owner, by the session alone"])
def test_what_one_does_in_a_session_of_the_same_name_leaves_the_answers_to_another_unchanged(
    daemons: Daemons, by_host: str, intruder_first: bool
) -> None:
    with two_sides(daemons, "unix", NAMES[0]) as (_, (mine, theirs)):
        user, session, intruder = mine.party.user, "main", theirs.party

        def intrude(number: int) -> None:
            own = {"userId": intruder.user, "sessionId": session}
            text = f"{intruder.word} mango {number}"
            calls: list[tuple[str, dict[str, Any]]] = [
                ("ingest_message", {**own, "id": f"t{number}", "text": text}),
                ("after_turn", {**own, "messages": [{"role": "user", "content": f"{text}!"}]}),
                ("insert_session_turn", {"sessionId": session, "id": f"x{number}", "text": text, "metadata": own}),
                (
                    "insert_text",
                    {"collection": f"session:{session}", "id": f"y{number}", "text": text, "metadata": own},
                ),
                ("link_session", {"userId": intruder.user, "linkedKey": "agent:main:main"}),
                ("session_lifecycle_hint", {"hook": "end", "sessionId": session, "reason": intruder.word}),
                ("compact_session", {"sessionId": session}),
                ("delete_batch", {"collection": f"session:{session}", "ids": ["t0", f"{session}:t0", "t1"]}),
            ]
            for method, params in calls:
                theirs.scoped.call(method, **params)

        def say(number: int) -> None:
            client = mine.scoped if by_host == "scoped" else mine.full
            text, name = f"{mine.party.word} mango {number}", f"t{number}"
            if by_host == "owner, by the session alone":
                known = {"metadata": {"userId": user}} if number == 0 else {}
                client.call("insert_session_turn", sessionId=session, id=name, text=text, **known)
            else:
                client.call("ingest_message", userId=user, sessionId=session, id=name, text=text)

        if intruder_first:
            intrude(0)
        for number in range(3):
            say(number)
        mine.scoped.call("session_lifecycle_hint", hook="begun", sessionId=session)
        asking = (mine.scoped,) if by_host == "scoped" else (mine.scoped, mine.full)

        def seen_now() -> list[Any]:
            mine.full.call("reindex", wait=True)
            told = [(client, *each) for client in asking for each in looks(user, session)]
            return [
                (method, stripped(client.call(method, **params)))
                for client, method, params in told
                if client is mine.scoped or method != "list_lifecycle_journal"  # the owner is told of all hints
            ]

        before = seen_now()
        assert before[0][1]["results"] and before[1][1]["results"]
        intrude(1)
        for (method, one), (_, other) in zip(before, seen_now(), strict=True):
            assert alike(one, other), (method, one, other)
        assert intruder.word not in json.dumps(before)
        assert mine.party.word.encode() not in theirs.scoped.received
        whole = mine.full.call("list_collection", collection=f"session:{session}")
        assert mine.party.word in json.dumps(whole)


def test_every_method_is_played() -> None:
    assert {*PLAYED, "authenticate"} == set(TABLE)
