"""Nothing that one turn or one engine does keeps a session from being compacted, or those who wait from going on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from libravdb_memory import Config, Memory
from libravdb_memory.compact.reading import beginning_and_end
from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.elevating import Elevation
from libravdb_memory.engines.hashed import HashedEmbedder
from libravdb_memory.engines.lenient import LenientEmbedder
from libravdb_memory.errors import CallCancelledError, ModelUnavailableError, TextRefusedError
from libravdb_memory.model import Record
from libravdb_memory.tokens import EstimatingCounter

REFUSED = "quux"


class Refusing(HashedEmbedder):
    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if any(REFUSED in text for text in texts):
            raise TextRefusedError("refusing", "not this")
        return super().embed_documents(texts)


class Gone(HashedEmbedder):
    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise ModelUnavailableError("gone", "away")


def test_of_several_texts_the_refused_one_alone_is_like_nothing() -> None:
    plain, lenient = HashedEmbedder(), LenientEmbedder(Refusing())
    texts = ["a lantern", "a gate", f"the word {REFUSED}", "the quay", "a heron"]
    rows = lenient.embed_documents(texts)
    assert not rows[2].any()
    kept = [0, 1, 3, 4]
    assert (rows[kept] == plain.embed_documents([texts[place] for place in kept])).all()
    assert lenient.embed_documents([]).shape[0] == 0
    with pytest.raises(ModelUnavailableError):
        LenientEmbedder(Gone()).embed_documents(texts)


def test_a_turn_that_the_embedder_refuses_is_covered_with_the_others(tmp_path: Path, hashed: Config) -> None:
    compaction = replace(hashed.compaction, cluster_target=5, trigger_tokens=0)
    config = replace(hashed, compaction=compaction, assembly=replace(hashed.assembly, startup_budget=60))
    said = [f"Lantern {n} was lit at {n}:15 by Oyelaran{n}, who wrote it down." for n in range(40)]
    said[20] += f" The word is {REFUSED}."
    with Memory.open(tmp_path / "store", config=config, embedder=Refusing()) as memory:
        for number, text in enumerate(said):
            memory.ingest(text, user="ada", session="s", id=f"t{number}")
        assert memory.wait(60)
        done = memory.compact(user="ada", session="s")
        covered = [turn for node in done.summaries for turn in node.children]
        assert "t20" in covered and len(covered) >= 35
        expanded = [turn.text for node in done.summaries for turn in memory.expand(node.id, user="ada").items]
        assert expanded == said[: len(expanded)]
        assert memory.verify().ok


def test_who_gives_up_does_not_wait_until_all_turns_of_a_cluster_are_read() -> None:
    turns = [Record(ref, "history:u", "s", f"t{ref}", 0, "Always knock.", {"role": "user"}, "", 1) for ref in range(9)]
    asked = iter([False, False, False, True])
    elevation = Elevation(HashedEmbedder(), EstimatingCounter(), CompactionSettings())
    with pytest.raises(CallCancelledError):
        elevation.shards(turns, {}, np.zeros((9, 8), np.float32), lambda: next(asked))
    assert next(asked, None) is None


def test_of_a_huge_turn_both_ends_are_looked_at() -> None:
    assert beginning_and_end("a" * 300_000) == "a" * 300_000
    cut = beginning_and_end("a" * 200_000 + "-" * 5_000_000 + "z" * 200_000)
    assert len(cut) == 300_001 and cut.startswith("aaa") and cut.endswith("zzz") and "-" not in cut
