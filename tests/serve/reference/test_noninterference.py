"""Two namespaces, every method, in any order: no byte of one reaches the other.

Each of the two marks all that it says with a word of its own. Everything it asks for with a token of its namespace is
granted, and no answer to it ever holds the word of the other; whatever it asks of the other's is refused or empty.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.serve.reference.conftest import TABLE

from libravdb_memory import Memory
from libravdb_memory.config import load_config
from libravdb_memory.serve import reference
from libravdb_memory.serve.access import SAME_USER, Access
from libravdb_memory.serve.calls import Answer, read_call, run
from libravdb_memory.serve.jsonrpc import Request
from libravdb_memory.serve.service import Service

NAMES = [("u1", "u10"), ("u1", "u1:x"), ("session-key", "session-key:k"), ("a@s", "a"), ("user:a", "a"), ("A", "a")]
SESSIONS = [("s1", "s10"), ("s", "s:after-turn"), ("a b", "a"), ("S", "s"), ("x@y", "x")]


@dataclass(frozen=True)
class Party:
    """Whose calls; `word` is in everything that it says and in nothing else."""

    user: str
    session: str
    word: str

    @property
    def access(self) -> Access:
        return Access(self.user, frozenset({self.user}))

    def collections(self) -> list[str]:
        of_session = ("session", "session_raw", "session_summary", "session_edge", "session_state")
        of_user = ("turns", "user", "elevated:user", "dream")
        return [*(f"{kind}:{self.session}" for kind in of_session), *(f"{kind}:{self.user}" for kind in of_user)]


Make = Callable[[Party, int], dict[str, Any]]


def said(party: Party, number: int) -> str:
    told = ("I prefer the colour", "You must never forget", "Where did we put", "Ada lives in")[number % 4]
    return f"{told} {party.word}, step {number} of the work in {party.word}"


def turn(party: Party, number: int) -> dict[str, Any]:
    facts = {"role": "user", "ts": 1_000 + number, "userId": party.user, "note": party.word}
    name = f"{party.session}:after-turn:{number}"
    return {"sessionId": party.session, "id": name, "text": said(party, number), "metadata": facts}


def text(party: Party, number: int) -> dict[str, Any]:
    kind = ("turns", "user")[number % 2]
    facts = {"sessionId": party.session, "note": party.word}
    name = f"{party.user}:after-turn:{number}"
    return {"collection": f"{kind}:{party.user}", "id": name, "text": said(party, number), "metadata": facts}


def dream(party: Party, number: int) -> dict[str, Any]:
    entry = {"text": f"a dream of {party.word} and {number}", "score": 0.9, "recallCount": 3, "uniqueQueries": 3}
    return {"userId": party.user, "sourceDoc": "DREAMS.md", "entries": [entry] * (number % 3)}


def one_of(party: Party, number: int) -> str:
    names = party.collections()
    return names[number % len(names)]


def ids(party: Party, number: int) -> list[str]:
    """In all forms that an id may have, of both parties alike."""
    return [f"{owner}:after-turn:{number}" for owner in (party.session, party.user)] + [f"after-turn:{number}"]


CALLS: dict[str, Make] = {
    "ensure_collections": lambda party, _: {"collections": party.collections()},
    "insert_session_turn": turn,
    "insert_text": text,
    "promote_dream_entries": dream,
    "gating_scalar": lambda party, number: {"userId": party.user, "text": said(party, number)},
    "search_text": lambda party, number: {"collection": one_of(party, number), "text": "the work", "k": number % 3},
    "search_text_collections": lambda party, _: {"collections": party.collections(), "text": "the work", "k": 50},
    "query_raw_session": lambda party, number: {"sessionId": party.session, "text": "the work", "k": number % 2},
    "list_collection": lambda party, number: {"collection": one_of(party, number)},
    "list_by_meta": lambda party, number: {"collection": one_of(party, number), "key": "role", "value": "user"},
    "bump_access_counts": lambda party, number: {
        "updates": [{"collection": name, "ids": ids(party, number)} for name in party.collections()]
    },
    "delete": lambda party, number: {"collection": f"user:{party.user}", "id": f"{party.user}:after-turn:{number}"},
    "delete_batch": lambda party, number: {"collection": f"session:{party.session}", "ids": ids(party, number)},
    "export_memory": lambda party, _: {"userId": party.user},
    "flush_namespace": lambda party, _: {"userId": party.user},
    "compact_session": lambda party, _: {"sessionId": party.session},
    "expand_summary": lambda party, _: {"sessionId": party.session, "summaryId": "summary:0"},
    "session_lifecycle_hint": lambda party, _: {"hook": "end", "sessionId": party.session, "reason": party.word},
    "list_lifecycle_journal": lambda party, _: {"sessionId": party.session},
    "flush": lambda _, __: {},
}
ADMINISTRATIVE = {"ingest_markdown_document", "delete_authored_document"}
OFTEN = ["insert_session_turn"] * 6 + ["insert_text"] * 4 + ["list_collection"] * 3 + ["search_text_collections"] * 2
STEPS = st.lists(
    st.tuples(st.sampled_from([0, 1]), st.sampled_from([*OFTEN, *CALLS]), st.integers(0, 8)), min_size=4, max_size=30
)


class Played:
    """The calls of both parties on one store."""

    def __init__(self, service: Service, parties: tuple[Party, Party]) -> None:
        self._service = service
        self._parties = parties
        for party in parties:
            self.settle(party)

    def settle(self, party: Party) -> None:
        """Whose a session is, before anybody asks for it."""
        assert self.ask(party.access, "insert_session_turn", turn(party, 99)).get("result") == {"ok": True}

    def ask(self, access: Access, method: str, params: dict[str, Any]) -> dict[str, Any]:
        call = read_call(TABLE, Request(method, params, 1), access)
        answer = json.loads((call if isinstance(call, Answer) else run(self._service, call)).line)
        assert isinstance(answer, dict)
        return answer

    def step(self, who: int, method: str, number: int) -> None:
        mine, theirs = self._parties[who], self._parties[1 - who]
        for access in (mine.access, SAME_USER):
            answer = self.ask(access, method, CALLS[method](mine, number))
            assert theirs.word not in json.dumps(answer)
            assert answer.get("error", {}).get("data", {}).get("kind") in (None, "conflict"), answer
            if method == "flush_namespace":
                self.settle(mine)
        if method not in ("flush", "ensure_collections"):
            answer = self.ask(mine.access, method, CALLS[method](replace(theirs, word=mine.word), number))
            assert theirs.word not in json.dumps(answer)
            assert "error" in answer or empty(answer["result"]), answer

    def look(self) -> None:
        """At the end every collection holds what its owner said and nothing else."""
        for mine, theirs in (self._parties, self._parties[::-1]):
            for name in mine.collections():
                shown = json.dumps(self.ask(SAME_USER, "list_collection", {"collection": name}))
                assert theirs.word not in shown


def empty(result: dict[str, Any]) -> bool:
    """Of a session that is nobody's any more."""
    return result in ({"results": []}, {"ok": True}) or result.get("didCompact") is False


def test_every_method_of_the_reference_is_played() -> None:
    assert set(CALLS) | ADMINISTRATIVE == {method.name for method in reference.METHODS}


@settings(max_examples=25)
@given(names=st.sampled_from(NAMES), conversations=st.sampled_from(SESSIONS), swapped=st.booleans(), steps=STEPS)
def test_no_byte_of_one_namespace_reaches_the_other(
    names: tuple[str, str], conversations: tuple[str, str], swapped: bool, steps: list[tuple[int, str, int]]
) -> None:
    first, second = conversations[::-1] if swapped else conversations
    parties = Party(names[0], first, "zumbalaq"), Party(names[1], second, "xirkoteb")
    with tempfile.TemporaryDirectory() as home:
        config = load_config(environ={"LIBRAVDB_HOME": home, "LIBRAVDB_EMBEDDING_BACKEND": "hashed"})
        with Memory.open(config=config) as memory:
            service = Service.of(memory, config, lambda: 1_800_000_000_000)
            played = Played(service, parties)
            for step in steps:
                played.step(*step)
            assert memory.wait(60)
            played.look()


@given(names=st.sampled_from(NAMES), swapped=st.booleans())
@settings(max_examples=12)
def test_flushing_one_namespace_leaves_the_other_as_it_was(names: tuple[str, str], swapped: bool) -> None:
    mine, theirs = names[::-1] if swapped else names
    one, other = Party(mine, "s1", "zumbalaq"), Party(theirs, "s10", "xirkoteb")
    with tempfile.TemporaryDirectory() as home:
        config = load_config(environ={"LIBRAVDB_HOME": home, "LIBRAVDB_EMBEDDING_BACKEND": "hashed"})
        with Memory.open(config=config) as memory:
            service = Service.of(memory, config, lambda: 1_800_000_000_000)
            played = Played(service, (one, other))
            for number in range(4):
                for party in (one, other):
                    for method in ("insert_session_turn", "insert_text", "promote_dream_entries"):
                        played.ask(party.access, method, CALLS[method](party, number))
            assert memory.wait(60)
            before = [played.ask(SAME_USER, "list_collection", {"collection": name}) for name in other.collections()]
            played.ask(one.access, "flush_namespace", {"userId": mine})
            after = [played.ask(SAME_USER, "list_collection", {"collection": name}) for name in other.collections()]
            assert before == after
            stored = [
                repr(record) for info in memory.store.collections() for record in memory.store.page(info.name).records
            ]
            assert one.word not in "\n".join(stored)
            assert other.word in "\n".join(stored)
