"""What compaction asks of the model: counted, because time cannot be tested on a busy machine."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from libravdb_memory.compact.judging import SHORTLISTED
from libravdb_memory.compact.sanitise import sanitise
from libravdb_memory.compact.views import View
from libravdb_memory.compact.voices import spoken
from libravdb_memory.config import Config
from libravdb_memory.engines.hashed import HashedEmbedder
from libravdb_memory.memory import Memory
from libravdb_memory.model import Turn
from libravdb_memory.tokens import EstimatingCounter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WORDS = ("lamp", "ferry", "gateway", "orchard", "piano", "harbour", "ledger", "kiln", "beacon", "granary")
TURNS = 700


class Listening(HashedEmbedder):
    """Notes every text it is asked to embed, other than for the index."""

    def __init__(self) -> None:
        super().__init__(64)
        self.read: Counter[str] = Counter()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if threading.current_thread().name != "libravdb-indexing":
            self.read.update(texts)
        return super().embed_documents(texts)


def text_of(number: int) -> str:
    first, second = WORDS[number % 10], WORDS[number // 10 % 10]
    return (
        f"We moved the {first} of hall {number} beside the {second} on shelf {number * 7}. "
        f"Emeka wrote src/hall_{number}/{first}.py for it, and nobody asked why build-{number * 13} was late."
    )


def test_compaction_embeds_few_sentences_and_every_summary_once_and_no_pins(hashed: Config) -> None:
    embedder, counter = Listening(), EstimatingCounter()
    config = replace(hashed, compaction=replace(hashed.compaction, trigger_tokens=0))
    with Memory.open(config=config, embedder=embedder) as memory:
        for number in range(TURNS):
            memory.ingest(text_of(number), user="ada", session="s", role="user" if number % 2 == 0 else "assistant")
        memory.wait()
        embedder.read.clear()
        done = memory.compact(user="ada", session="s")
        read = embedder.read.copy()
        views = [
            View(sanitise(turn.text).strip(), turn.role)
            for node in done.summaries
            for turn in memory.expand(node.id, user="ada", session="s").items
            if isinstance(turn, Turn)
        ]
    assert len(views) > TURNS - 60 and len(done.folds) >= 2
    nodes = (*done.summaries, *done.folds)
    pinned = {node.text for node in nodes if len(node.parts) > 1}
    assert pinned and not pinned & read.keys()
    sentences = {sentence.text for sentence in spoken(views)}
    assert max(read[text] for text in sentences) == 1
    spent = sum(counter.count(text) for text in sentences if read[text])
    most = len(done.summaries) * SHORTLISTED * config.compaction.normal_tokens
    assert most / 2 < spent <= most < sum(map(counter.count, sentences)) / 2
    summaries = Counter(node.parts[0] for node in nodes)  # a fold may say the same as the fold of it
    assert {text: read[text] for text in summaries} == summaries
