"""expand_summary where summaries cover summaries."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.serve.reference.conftest import Call
from tests.serve.reference.test_compaction import PARAMS

from libravdb_memory.config import Config


@pytest.fixture
def hashed(hashed: Config) -> Config:
    """Summaries are folded when there are a few."""
    return replace(hashed, compaction=replace(hashed.compaction, fold_tokens=150, fold_fan=2))


def test_the_depth_of_an_expansion_bounds_it(call: Call, converse: Call) -> None:
    converse(120)
    call("compact_session", sessionId="s1", **PARAMS)
    roots = call("list_by_meta", collection="session:s1", key="type", value="summary")["results"]
    top = max(roots, key=lambda found: found["metadata"]["level"])
    assert top["metadata"]["level"] >= 2

    def below(depth: int) -> list[dict[str, dict[str, object]]]:
        found = call("expand_summary", sessionId="s1", summaryId=top["id"], maxDepth=depth)["results"]
        assert isinstance(found, list)
        return found

    first = [found["id"] for found in below(1)]
    assert first == top["metadata"]["source_ids"] == top["metadata"]["continuity_lineage"]["parent_summary_ids"]
    turns = [found["id"] for found in below(64) if found["metadata"]["type"] == "turn"]
    assert turns == top["metadata"]["continuity_lineage"]["source_turn_ids"]
    assert len(first) < len(below(2)) <= len(below(64))
    assert below(0) == below(3)
