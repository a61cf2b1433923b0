"""What a long turn says beside its rule is not lost with it: the certificate answers for every fact of a cluster."""

from __future__ import annotations

from dataclasses import replace

import pytest

from libravdb_memory.compact.certificate import certify
from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.config import Config
from libravdb_memory.memory import Memory
from libravdb_memory.model import Turn
from libravdb_memory.namespaces import guidance_of
from libravdb_memory.store.paging import every

RULE = "Never restart the licence server during business hours."
BEFORE = (
    "Karl measured the lag at 412 ms on db-prod-09, the WAL archive lives in s3://billing-wal/2026/03 and the "
    "backup job is /opt/jobs/backup_nightly.sh. The wrong invoice was EUR 48,213.77 for customer ACME-2291. The pager "
    "rotation is Ines, then Tomasz, then Priya this month, and after that it is Karl again for the two weeks of the "
    "holidays."
)
BEHIND = (
    "Ticket BILL-1442 was reopened twice, and the vendor contract VC-99812 ends on 30 June 2026. Version 3.2.4 of the "
    "connector has no leak. The load test ran at 1,250 rps for 45 minutes."
)


def _compacted(config: Config, first: str) -> tuple[Memory, str]:
    """A memory whose one session begins with `first` and is compacted; and the guidance kept of it."""
    memory = Memory.open(config=replace(config, compaction=CompactionSettings(trigger_tokens=0, fold_tokens=0)))
    memory.ingest(first, user="ada", session="s", id="first")
    for number in range(50):
        said = f"The party has a band, a cake and a garden, and guest number {number} brings something for the buffet."
        memory.ingest(said, user="ada", session="s", role="assistant")
    memory.compact(user="ada", session="s")
    return memory, "\n".join(record.text for record in every(memory._store, guidance_of("ada")))


@pytest.mark.parametrize("first", [f"{BEFORE} {RULE} {BEHIND}", f"{RULE} {BEFORE} {BEHIND}", RULE])
def test_every_fact_of_a_cluster_is_told_or_counted_as_lost(hashed: Config, first: str) -> None:
    memory, guidance = _compacted(hashed, first)
    with memory:
        node = next(iter(memory.history(user="ada", session="s").entries)).node  # type: ignore[union-attr]
        turns = [item for item in memory.expand(node.id, user="ada").items if isinstance(item, Turn)]
        assert turns[0].text == first
        assert RULE in guidance
        untold = certify([turn.text for turn in turns], f"{node.text}\n{guidance}").missing
        assert {fact.text for fact in untold} <= set(node.loss.dropped)
        assert len(node.loss.dropped) + node.loss.kept + node.loss.pinned == node.loss.facts


def test_a_turn_that_guidance_holds_whole_is_not_told_again(hashed: Config) -> None:
    memory, guidance = _compacted(hashed, RULE)
    with memory:
        node = next(iter(memory.history(user="ada", session="s").entries)).node  # type: ignore[union-attr]
        assert guidance == RULE
        assert "licence server" not in node.text
