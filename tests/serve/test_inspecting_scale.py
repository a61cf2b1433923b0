"""Every view of the inspector answers within 300 ms on a store of a hundred thousand turns."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from libravdb_memory import Memory, load_config
from libravdb_memory.gating import JUDGED
from libravdb_memory.ingest.turns import draft_of
from libravdb_memory.model import Turn
from libravdb_memory.namespaces import history_of
from libravdb_memory.serve.access import SAME_USER
from libravdb_memory.serve.calls import Answer, read_call, run
from libravdb_memory.serve.http.files import FOLDER
from libravdb_memory.serve.inspecting.gate import MOST_JUDGED
from libravdb_memory.serve.jsonrpc import Request
from libravdb_memory.serve.service import Service
from libravdb_memory.serve.table import every_method
from libravdb_memory.store.protocol import Key, Mark, Put, Store, Write

TABLE = every_method()
WITHIN_S = 0.3
WORDS = "deploy release importer vault thursday parser budget kettle garden figures outage report oslo ada".split()


NOT_ASKED_HERE = {"sign-in", "sign-out", "job", "job_start", "memory_compact", "memory_forget"}
"""Those that write, wait for long work, or are no methods."""


def asked_by_the_page() -> set[str]:
    scripts = [script.read_text(encoding="utf-8") for script in FOLDER.glob("*.js")]
    return {name for script in scripts for name in re.findall(r'(?:\bcall|#ask)\("([\w-]+)"', script)}


class Views:
    def __init__(self, service: Service) -> None:
        self._service = service

    def ask(self, method: str, **params: Any) -> tuple[Any, float]:
        began = time.perf_counter()
        call = read_call(TABLE, Request(method, params, 1), SAME_USER)
        told = json.loads((call if isinstance(call, Answer) else run(self._service, call)).line)
        assert "result" in told, (method, told)
        return told["result"], time.perf_counter() - began

    def quickest(self, method: str, **params: Any) -> float:
        """Of five: what is measured is the work, not what else the machine does."""
        return min(self.ask(method, **params)[1] for _ in range(5))


def fill(store: Store, turns: int) -> None:
    """One session with a third of all turns, and many of ordinary length, of five users; judged already, because to
    judge a hundred thousand takes long."""
    chance = Random(7)
    sessions = [("u0", "long", turns // 3), ("u1", "folded", 90)] + [
        (f"u{n % 5}", f"s{n}", turns // 3 * 2 // 500) for n in range(500)
    ]
    writes: list[Write] = []
    for user, session, count in sessions:
        for number in range(count):
            role = "assistant" if number % 2 else "user"
            text = f"{number}: " + " ".join(chance.choices(WORDS, k=chance.randrange(6, 30)))
            turn = Turn(f"{session}-{number:06}", text, user, session, role, 1_700_000_000_000 + number)
            writes.append(Put(draft_of(turn), append_only=True))
            if role == "user":
                signals = {name: chance.random() for name in "g t h r d p a dtech gconv gtech".split()}
                writes.append(
                    Mark(Key(history_of(user), turn.id, session), JUDGED, {**signals, "durable": signals["g"] > 0.35})
                )
        if len(writes) > 2000:
            store.commit(writes)
            writes = []
    store.commit(writes)


def views_within_bounds(folder: Path, turns: int, within_s: float) -> dict[str, float]:
    environ = {"LIBRAVDB_HOME": str(folder), "LIBRAVDB_EMBEDDING_BACKEND": "hashed"}
    config = load_config(environ={**environ, "LIBRAVDB_COMPACTION_TRIGGER_TOKENS": "0"})
    with Memory.open(config=config) as memory:
        memory.load_document("AGENTS.md", "".join(f"- Always do thing {n}.\n" for n in range(60)))
        fill(memory.store, turns)
        memory.stored_beside()
        assert memory.wait(1800)
        for session in ("folded", *(f"s{1 + 5 * number}" for number in range(20))):
            memory.compact(user="u1", session=session)
        views = Views(Service.of(memory, config, lambda: time.time_ns() // 1_000_000))
        receipts = [
            views.ask("assemble_context", userId="u0", sessionId="long", prompt=f"{word}?", budget=4000)[0]["receiptId"]
            for word in WORDS
            for _ in range(14)
        ]
        assert memory.wait(1800) and memory.store.settle(1800)  # nothing is done in the background any more
        of_long = {"userId": "u0", "sessionId": "long"}
        newest = views.ask("turns", **of_long)[0]
        node = views.ask("session_graph", userId="u1", sessionId="folded")[0]["nodes"][-1]["id"]
        found = {"userId": "u0", "query": "when is the importer deployed?", "k": 50}
        asked: list[tuple[str, dict[str, Any]]] = [
            ("overview", {}),
            ("namespaces", {}),
            ("sessions", {"userId": "u0"}),
            ("sessions", {"userId": "u0", "contains": "s1"}),
            ("latest_turns", {"limit": 200}),
            ("latest_turns", {"userIds": ["u0", "u1"], "limit": 200}),
            ("turns", {**of_long, "limit": 200}),
            ("turns", {**of_long, "after": newest["cursor"]}),
            ("turns", {**of_long, "order": "oldest"}),
            ("turns", {**of_long, "from": newest["turns"][50]["id"]}),
            ("session_graph", of_long),
            ("session_graph", {"userId": "u1", "sessionId": "folded"}),
            ("documents", {}),
            ("document", {"name": "AGENTS.md"}),
            ("gate_report", {}),
            ("gate_report", {"userId": "u0"}),
            ("gate_report", {"window": MOST_JUDGED}),
            ("gate_explain", {"userId": "u0", "text": "I always prefer to deploy on a Thursday."}),
            ("receipts", {"userId": "u0", "limit": 25}),
            ("assemble_context", {**of_long, "prompt": "when is the importer deployed?", "budget": 4000}),
            ("why_not", {"receiptId": receipts[-1], "recordId": newest["turns"][90]["id"]}),
            ("receipt_view", {"receiptId": receipts[-1]}),
            ("receipt_view", {"receiptId": receipts[-1], "budget": 2000}),
            ("compare_receipts", {"left": receipts[-1], "right": receipts[-20]}),
            ("search_explained", found),
            ("search_explained", {**found, "after": "50"}),
            ("search_explained", {**found, "role": "user", "since": 1, "scopes": ["history", "summaries"]}),
            ("memory_get", {**of_long, "id": newest["turns"][0]["id"]}),
            ("memory_expand", {"userId": "u1", "id": node, "limit": 200}),
            ("erase_preview", {"userId": "u0", "id": newest["turns"][0]["id"], "sessionId": "long"}),
            ("erase_preview", of_long),
            ("erase_preview", {"userId": "u0", "all": True}),
            ("jobs", {}),
        ]
        assert {method for method, _ in asked} == asked_by_the_page() - NOT_ASKED_HERE
        took = {f"{method} {json.dumps(params)[:60]}": views.quickest(method, **params) for method, params in asked}
    slow = {name: seconds for name, seconds in took.items() if seconds > within_s}
    assert not slow, json.dumps(slow, indent=1)
    return took


def test_every_view_answers_quickly_on_a_store_of_some_size(tmp_path: Path) -> None:
    views_within_bounds(tmp_path, 4_000, WITHIN_S)


@pytest.mark.long
def test_every_view_answers_within_300_ms_on_a_hundred_thousand_turns(tmp_path: Path) -> None:
    views_within_bounds(tmp_path, 100_000, WITHIN_S)
