"""What the invented stores answer has the shape of what a daemon answers; or the page would be tried with fancies."""

from __future__ import annotations

from typing import Any

import pytest
from tests.e2e.inspector.stand_in_data import World
from tests.e2e.inspector.stand_in_long import Long
from tests.serve.conftest import fits

from libravdb_memory.serve.table import every_method

TABLE = every_method()
ADA = {"userId": "ada"}
PLACE = {**ADA, "sessionId": "billing-migration"}
ASKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("overview", {}),
    ("latest_turns", {}),
    ("namespaces", {}),
    ("sessions", ADA),
    ("job_start", {"kind": "verify"}),
    ("job", {}),
    ("jobs", {}),
    ("receipts", ADA),
    ("receipt_view", {"receiptId": "rcpt-0"}),
    ("receipt_view", {"receiptId": "rcpt-0", "budget": 250}),
    ("compare_receipts", {"left": "rcpt-0", "right": "rcpt-2"}),
    ("assemble_context", {**PLACE, "prompt": "where?"}),
    ("why_not", {"receiptId": "rcpt-0", "recordId": "t1"}),
    ("search_explained", {**ADA, "query": "staging"}),
    ("turns", PLACE),
    ("session_graph", PLACE),
    ("memory_expand", {**ADA, "id": "sum-1-t1", "limit": 200}),
    ("memory_compact", PLACE),
    ("documents", {}),
    ("document", {"name": "AGENTS.md"}),
    ("gate_report", {}),
    ("gate_explain", {**ADA, "text": "Always run the smoke tests."}),
    ("erase_preview", PLACE),
    ("memory_forget", PLACE),
)


@pytest.mark.parametrize("kind", [World, Long])
def test_every_answer_of_an_invented_store_has_the_shape_of_a_daemon_s(kind: type[World]) -> None:
    world = kind()
    for method, params in ASKED:
        fits(TABLE[method].result, getattr(world, method)(params))


def test_every_answer_is_tried() -> None:
    assert {name for name in vars(World) if name in TABLE} == {method for method, _ in ASKED}
