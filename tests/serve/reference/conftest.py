"""Calls of the whole table, without sockets, and the turns of a host of the reference."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import pytest
from tests.serve.conftest import fits

from libravdb_memory.config import Config
from libravdb_memory.serve import own, reference
from libravdb_memory.serve.access import SAME_USER, Access
from libravdb_memory.serve.calls import Answer, read_call, run
from libravdb_memory.serve.jsonrpc import Request
from libravdb_memory.serve.methods import table_of
from libravdb_memory.serve.service import Service

Call: TypeAlias = Callable[..., Any]
TABLE = table_of([*own.METHODS, *reference.METHODS])


@pytest.fixture
def hashed(hashed: Config) -> Config:
    """Sessions are compacted by calls alone, so that a test knows when."""
    return replace(hashed, compaction=replace(hashed.compaction, trigger_tokens=0))


@pytest.fixture
def ask(service: Service) -> Call:
    """The whole answer to a call: with `result` or with `error`."""

    def asked(method: str, params: Any = None, access: Access = SAME_USER) -> Any:
        call = read_call(TABLE, Request(method, params or {}, 7), access)
        answer = json.loads((call if isinstance(call, Answer) else run(service, call)).line)
        if "result" in answer:
            fits(TABLE[method].result, answer["result"])
        return answer

    return asked


@pytest.fixture
def speak(call: Call) -> Call:
    """One turn of a session, as the host stores it."""

    def spoken(text: str, *, session: str = "s1", user: str | None = "ada", number: int = 0, **facts: Any) -> str:
        named = {} if user is None else {"userId": user}
        metadata = {"role": "user", "ts": 1_700_000_000_000 + number, "sessionId": session, **named, **facts}
        turn = f"{session}:after-turn:{number}"
        assert call("insert_session_turn", sessionId=session, id=turn, text=text, metadata=metadata) == {"ok": True}
        return turn

    return spoken


@pytest.fixture
def listed(call: Call) -> Call:
    """The texts of a collection by their ids."""

    def all_of(collection: str) -> dict[str, str]:
        results = call("list_collection", collection=collection)["results"]
        found = {result["id"]: result["text"] for result in results}
        assert len(found) == len(results), "an id stands there twice"
        return found

    return all_of


@pytest.fixture
def converse(speak: Call) -> Call:
    """So many turns of both sides, long enough to be worth a summary."""

    def conversed(turns: int, *, session: str = "s1", user: str = "ada") -> list[str]:
        return [
            speak(
                f"In step {number} the importer reads file number {number} of the archive, checks its header and its "
                f"length, and writes row {number * 7} into the table of deliveries before it goes on with the next.",
                session=session,
                user=user,
                number=number,
                role="user" if number % 2 == 0 else "assistant",
            )
            for number in range(turns)
        ]

    return conversed
