"""What compaction makes of texts: the rules in a cluster of turns, the summary of the rest, and summaries of summaries.

This is where it takes long. Laws: nothing here reads or writes a store; what is made depends on what is handed over
alone, so that it can be made anywhere, and again. A compaction that found the model away asks it no more and says so
with what it hands over; others, which may be of other users, learn nothing of that and ask for themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

from libravdb_memory.compact.passed_over import PassedOver
from libravdb_memory.compact.preserve import asks_a_model
from libravdb_memory.compact.reading import beginning_and_end
from libravdb_memory.compact.sanitise import sanitise
from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.compact.views import View
from libravdb_memory.compacting.report import TRIVIAL
from libravdb_memory.condensing import Cancelled, Condensed, Condenser, InVain, Sources
from libravdb_memory.elevating import Elevation
from libravdb_memory.engines.lenient import LenientEmbedder
from libravdb_memory.engines.places import places
from libravdb_memory.engines.protocol import Embedder
from libravdb_memory.engines.readings import Readings, read_texts
from libravdb_memory.engines.summarising.protocol import Summariser, never
from libravdb_memory.ingest.turns import turn_of
from libravdb_memory.model import Record
from libravdb_memory.shards import Shard
from libravdb_memory.spent import Spent
from libravdb_memory.summaries import Node
from libravdb_memory.tokens import TokenCounter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Row = NDArray[np.float32]


RulesOf: TypeAlias = Callable[[str], Sequence[Record]]
"""The newest rules that are kept of a namespace."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Turns to be covered by one summary. `scores` are the gate's and `vectors` those in the space of recall, by ref,
    of those that have them; `prior` is what earlier summaries say, `away` why no model is asked, if so."""

    records: tuple[Record, ...]
    scores: Mapping[int, float]
    vectors: Mapping[int, Row]
    prior: str
    away: str | None = None


@dataclass(frozen=True, slots=True)
class Fold:
    """Summaries to be covered by one. `vectors` of what they say, by id, of those that have them; `away` as above."""

    nodes: tuple[Node, ...]
    vectors: Mapping[str, Row]
    away: str | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """A summary, or why there is none; why no model was asked for it; and the rules among the turns. `away` is why the
    model was not there, if so."""

    condensed: Condensed | InVain
    unasked: PassedOver | None = None
    shards: tuple[Shard, ...] = ()
    away: str | None = None

    @property
    def passed_over(self) -> PassedOver | None:
        """Why a model that is configured did not write the summary."""
        return self.unasked if isinstance(self.condensed, InVain) else self.condensed.passed_over or self.unasked

    @property
    def spent(self) -> Spent:
        """What the model was asked for, whether or not anything came of it."""
        return self.condensed.spent


class Contact:
    """What one compaction knows of the model: `away` is why it could not be had once, and so is not asked again."""

    def __init__(self) -> None:
        self.away: str | None = None

    def hear(self, away: str | None) -> None:
        if self.away is None:
            self.away = away


class Making(Protocol):
    """Safe to use from many threads."""

    @property
    def hands(self) -> int:
        """How many calls of `prepare` at once are worth while."""
        ...

    def warm_up(self, cancelled: Cancelled) -> str | None:
        """Reach or load the model that summarises, if there is one. Why it cannot be had; then it is done without."""
        ...

    def prepare(self, clusters: Sequence[Sequence[Record]], cancelled: Cancelled) -> None:
        """Do beforehand, and for many clusters at once, what takes longest of `cover`."""
        ...

    def cover(self, cluster: Cluster, cancelled: Cancelled) -> Made: ...

    def fold(self, fold: Fold, cancelled: Cancelled) -> Made: ...

    def read(self, texts: Sequence[str]) -> Readings | None:
        """What the embedder of recall makes of texts, where that is done elsewhere than here and soon enough; else
        None. Raises what the embedder raises."""
        ...

    def rest(self) -> None:
        """Nothing is under way: forget what was prepared and not asked for."""
        ...

    def close(self) -> None:
        """Let go of the model. What is under way must have ended."""
        ...


class Maker:
    """`model` is None where none is configured."""

    hands = 1

    def __init__(
        self,
        embedder: Embedder,
        counter: TokenCounter,
        settings: CompactionSettings,
        model: Summariser | None,
        rules_of: RulesOf,
    ) -> None:
        self._reader = embedder
        self._embedder = LenientEmbedder(embedder)
        self._settings = settings
        self.condenser = Condenser(self._embedder, counter, settings, model)
        self._elevation = Elevation(self._embedder, counter, settings, self.condenser.sentence_vectors, rules_of)

    def warm_up(self, cancelled: Cancelled) -> str | None:
        return self.condenser.warm_up(cancelled)

    def prepare(self, clusters: Sequence[Sequence[Record]], cancelled: Cancelled) -> None:
        with places.behind("later"):
            several = (records for records in clusters if len(records) > 1)
            self.condenser.prepare([tuple(map(_view, records)) for records in several], cancelled)

    def cover(self, cluster: Cluster, cancelled: Cancelled) -> Made:
        away = self._away(cluster.away, cancelled)
        with places.behind("later"):
            vectors = self._vectors(cluster)
            shards = self._elevation.shards(cluster.records, cluster.scores, vectors, cancelled)
            if len(cluster.records) == 1:
                return Made(InVain(TRIVIAL), shards=shards, away=away)
            return self._summarised(replace(cluster, away=away), vectors, shards, cancelled)

    def fold(self, fold: Fold, cancelled: Cancelled) -> Made:
        import numpy as np

        away = self._away(fold.away, cancelled)
        nodes = fold.nodes
        with places.behind("later"):
            known = dict(fold.vectors)
            if lacking := [node for node in nodes if node.id not in known]:
                made = self.condenser.vectors([node.parts[0] for node in lacking])
                known |= {node.id: made[row] for row, node in enumerate(lacking)}
            sources = Sources(
                texts=tuple(part for node in nodes for part in node.parts),
                views=tuple(map(_view_of_summary, nodes)),
                vectors=np.stack([known[node.id] for node in nodes]),
            )
            may_ask = self.condenser.has_model and away is None
            with_model = may_ask and any(node.method == "abstractive" for node in nodes)
            unasked = None if with_model else self.condenser.unasked_to_fold(away)
            condensed = self.condenser.condense(sources, with_model=with_model, cancelled=cancelled, folding=True)
        return Made(condensed, unasked, away=self._away_now(condensed) if with_model else away)

    def read(self, texts: Sequence[str]) -> Readings | None:
        return None

    def read_texts(self, texts: Sequence[str], cancelled: Cancelled) -> Readings:
        """For the index of another process."""
        with places.behind("arriving"):
            return read_texts(self._reader, texts)

    def rest(self, cancelled: Cancelled = never) -> None:
        self.condenser.forget()

    def close(self) -> None:
        self.condenser.close()

    def _away(self, known: str | None, cancelled: Cancelled) -> str | None:
        """Also where another compaction found the model away since, or this was made anew in the midst of one."""
        return self.warm_up(cancelled) if known is None else known

    def _away_now(self, condensed: Condensed | InVain) -> str | None:
        """After the model was asked: that it is not ready tells little, for others ask it at the same time. Where
        nothing came of it, the next to ask will see."""
        if self.condenser.model_ready or isinstance(condensed, InVain):
            return None
        passed_over = condensed.passed_over
        return passed_over.detail if passed_over is not None and passed_over.reason == "failed" else None

    def _vectors(self, cluster: Cluster) -> Row:
        """Of each turn, in the space of recall; made where there is none yet."""
        import numpy as np

        known = dict(cluster.vectors)
        if lacking := [record for record in cluster.records if record.ref not in known]:
            made = self._embedder.embed_documents([record.text for record in lacking])
            known |= {record.ref: made[row] for row, record in enumerate(lacking)}
        return np.stack([known[record.ref] for record in cluster.records])

    def _summarised(self, cluster: Cluster, vectors: Row, shards: tuple[Shard, ...], cancelled: Cancelled) -> Made:
        records = cluster.records
        kept_apart = _kept_whole(records, shards)
        rows = [row for row, record in enumerate(records) if record.id not in kept_apart] or list(range(len(records)))
        rest = [records[row] for row in rows]
        sources = Sources(
            texts=tuple(record.text for record in rest),
            views=tuple(map(_view, rest)),
            vectors=vectors[rows],
            prior=cluster.prior,
        )
        scores = [cluster.scores.get(record.ref) for record in rest]
        away = cluster.away
        with_model = asks_a_model(scores, self.condenser.has_model and away is None, self._settings)
        unasked = None if with_model else self.condenser.unasked(scores, away)
        condensed = self.condenser.condense(sources, with_model=with_model, cancelled=cancelled)
        return Made(condensed, unasked, shards, self._away_now(condensed) if with_model else away)


def _kept_whole(records: Sequence[Record], shards: Sequence[Shard]) -> frozenset[str]:
    """The turns that a summary need not speak of: guidance holds every word of them. Of a longer turn guidance holds
    the rule alone, and the rest would be told nowhere."""
    kept = {shard.turn: shard.text for shard in shards}
    return frozenset(record.id for record in records if kept.get(record.id) == turn_of(record).text)


def _view(record: Record) -> View:
    """Who speaks and what."""
    turn = turn_of(record)
    return View(sanitise(beginning_and_end(turn.text)).strip(), turn.speaker or turn.role)


def _view_of_summary(node: Node) -> View:
    """An extract names its speakers; what a model wrote is said by nobody."""
    return View(node.parts[0], None if node.method == "extractive" else "")
