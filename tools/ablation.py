"""What each signal of recall is worth: the same questions, asked again and again with one signal switched off.

    python tools/ablation.py [--data FILE …] [--json OUT]

Every file or folder is one column of the table. All turns are stored and embedded once, through the real ingest path;
then each question is asked once for every row. Questions are asked a minute after the last turn of their conversation,
so that a run does not depend on the day; only the row that says so asks today. A row switches off a weight of the final
score: whom the first pass looks at closely stays the same.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from libravdb_memory.bench import machine
from libravdb_memory.bench.retrieval.asking import LEAST_DEPTH, Speaking, ingest, users_of
from libravdb_memory.bench.retrieval.dataset import Question, read_all
from libravdb_memory.bench.retrieval.metrics import Found, means, measures
from libravdb_memory.beside import Beside
from libravdb_memory.cli.terminal import Terminal
from libravdb_memory.config import Config, load_config
from libravdb_memory.engines.protocol import EmbeddingSpace, TokenEmbedder, TokenRows
from libravdb_memory.engines.select import make_embedder
from libravdb_memory.engines.token_counter import make_counter
from libravdb_memory.gathering import Source
from libravdb_memory.memory import Memory
from libravdb_memory.namespaces import history_of, resolve_namespace
from libravdb_memory.recall import Recall
from libravdb_memory.retrieve.rank import Profile
from libravdb_memory.retrieve.weigh import Weights
from libravdb_memory.store.protocol import Store
from libravdb_memory.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
TECHNICAL = ROOT / "benchmarks" / "data" / "technical"
SHOWN = ("R@5", "R@10", "tok@1000")
DEPTHS = (5, 10, 20)
FULL = "everything"
MINUTE_MS = 60_000
WHO_AND_WHEN = ("speaker", "role", "month", "time", "question")
AROUND = ("meaning_around", "tokens_around", "session", "neighbour")


@dataclass(frozen=True, slots=True)
class Variant:
    """One row of the table."""

    name: str
    weights: Weights = field(default_factory=Weights)
    tokens: bool = True
    profile: Profile = "calibrated"
    today: bool = False


def variants() -> list[Variant]:
    single = [Variant(f"no {weight.name}", _without(weight.name)) for weight in fields(Weights)]
    return [
        Variant(FULL),
        *single,
        Variant("no token vectors", tokens=False),
        Variant("nothing of who and when", _without(*WHO_AND_WHEN)),
        Variant("nothing around", _without(*AROUND)),
        Variant("only meaning", _only("meaning")),
        Variant("only wording", _only("wording")),
        Variant("profile hybrid", profile="hybrid"),
        Variant("profile reference", profile="reference"),
        Variant("profile reference, asked today", profile="reference", today=True),
    ]


def _without(*names: str) -> Weights:
    return replace(Weights(), **dict.fromkeys(names, 0.0))


def _only(kept: str) -> Weights:
    return _without(*(name for name in asdict(Weights()) if name != kept))


class RememberingEmbedder:
    """The engine, which reads each question once; `with_tokens` says whether it gives tokens."""

    def __init__(self, engine: TokenEmbedder) -> None:
        self._engine = engine
        self._read: dict[str, tuple[NDArray[np.float32], TokenRows]] = {}
        self.with_tokens = True

    @property
    def space(self) -> EmbeddingSpace:
        return self._engine.space

    @property
    def ready(self) -> bool:
        return self._engine.ready

    @property
    def token_rule(self) -> str:
        return self._engine.token_rule if self.with_tokens else ""

    def warm_up(self) -> None:
        self._engine.warm_up()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._engine.embed_documents(texts)

    def read_documents(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], list[TokenRows]]:
        return self._engine.read_documents(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self.read_query(text)[0]

    def read_query(self, text: str) -> tuple[NDArray[np.float32], TokenRows]:
        if text not in self._read:
            self._read[text] = self._engine.read_query(text)
        return self._read[text]

    def close(self) -> None:
        self._engine.close()


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its column, its user and the moment it is asked."""

    column: str
    user: Speaking
    question: Question
    moment: int


class Ablation:
    def __init__(self, store: Store, embedder: RememberingEmbedder, config: Config, asked: Sequence[Asked]) -> None:
        self._store = store
        self._embedder = embedder
        self._config = config
        self._asked = asked
        self._counter = make_counter(config.assembly.tokenizer)

    def figures(self, variant: Variant) -> dict[str, dict[str, float]]:
        """By column, the mean of every measure."""
        self._embedder.with_tokens = variant.tokens
        settings = replace(self._config.retrieval, profile=variant.profile)
        with closing(Beside()) as beside:
            recall = Recall(self._store, self._embedder, settings, lambda: True, beside, variant.weights)
            rows: dict[str, list[Mapping[str, float]]] = {}
            for asked in self._asked:
                moment = time.time_ns() // 1_000_000 if variant.today else asked.moment
                rows.setdefault(asked.column, []).append(self._measured(recall, asked, moment))
        return {
            column: {"questions": len(those), **{name: round(value, 4) for name, value in means(those).items()}}
            for column, those in rows.items()
        }

    def _measured(self, recall: Recall, asked: Asked, moment: int) -> dict[str, float]:
        user, question = asked.user, asked.question
        sources = [Source(history_of(resolve_namespace(user.user)), "history", "user")]
        found = recall.ranked(recall.read(question.text, sources), sources, LEAST_DEPTH, moment)
        ranking = [
            Found(item.record.id, item.record.group, self._counter.count(item.record.text)) for item in found.items
        ]
        sessions = {user.sessions[user.turns[gold].session] for gold in question.gold}
        return measures(ranking, question.gold, sessions, DEPTHS, question.superseded)


def run(paths: Sequence[Path], terminal: Terminal) -> dict[str, Any]:
    config = load_config()
    engine = make_embedder(config.embedding)
    if not isinstance(engine, TokenEmbedder) or not engine.token_rule:
        raise SystemExit("the configured embedding has no token vectors: there would be nothing to switch off")
    columns = {path.stem: read_all([path]) for path in paths}
    column_of = {data.name: column for column, sets in columns.items() for data in sets}
    users = users_of([data for sets in columns.values() for data in sets])
    with tempfile.TemporaryDirectory(prefix="libravdb-ablation-") as folder, closing(engine):
        _store_all(Path(folder), config, users, terminal)
        embedder = RememberingEmbedder(engine)
        with SqliteStore.open(Path(folder), settings=config.store) as store:
            ablation = Ablation(store, embedder, config, list(_questions(users, column_of)))
            rows: dict[str, Any] = {}
            with terminal.progress("asking", "rows") as progress:
                for done, variant in enumerate(variants(), 1):
                    rows[variant.name] = ablation.figures(variant)
                    progress(done, len(variants()))
    data = [{"name": part.name, "sha256": part.sha256} for sets in columns.values() for part in sets]
    return {"data": data, "rows": rows, "weights": asdict(Weights()), "machine": machine.describe()}


def _store_all(folder: Path, config: Config, users: Sequence[Speaking], terminal: Terminal) -> None:
    with Memory.open(folder, config=config) as memory:
        with terminal.progress("storing", "turns") as progress:
            ingest(memory, users, 0, progress)
        with terminal.progress("embedding", "turns") as progress:
            memory.reindex(progress)


def _questions(users: Sequence[Speaking], column_of: Mapping[str, str]) -> Iterator[Asked]:
    """Those with an answer: adversarial ones are made to have none."""
    for user in users:
        moment = max(turn.ts for turn in user.conversation.turns) + MINUTE_MS
        for question in user.conversation.questions:
            if question.gold and question.category.strip().casefold() != "adversarial":
                yield Asked(column_of[user.data], user, question, moment)


def table(results: Mapping[str, Any]) -> str:
    """Markdown: every measure by column, each row but the first with its difference to that one, in points."""
    rows: Mapping[str, Mapping[str, Mapping[str, float]]] = results["rows"]
    full = rows[FULL]
    head = ["", *(f"{column} {measure}" for column in full for measure in SHOWN)]
    lines = [" | ".join(("", *cells, "")).strip() for cells in (head, ["---"] * len(head))]
    for name, figures in rows.items():
        cells = [
            _cell(figures[column][measure], None if name == FULL else full[column][measure])
            for column in full
            for measure in SHOWN
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(value: float, full: float | None) -> str:
    shown = f"{value:.3f}".removeprefix("0")
    return shown if full is None else f"{shown} ({round((value - full) * 100, 1) + 0.0:+.1f})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, nargs="*", default=[], help="labelled conversations; the technical sets")
    parser.add_argument("--json", type=Path, help="write all figures there")
    arguments = parser.parse_args()
    results = run(arguments.data or [TECHNICAL], Terminal())
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(table(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
