"""Learn how rules are worded: writes `compact/weights.npz` from labelled sentences.

    python tools/train_guidance.py

Two linear models are fitted by logistic loss, one over the words of a sentence or clause (see `compact.weighing`) and
one over its vector in the space of the bundled model. What they learn from: whole turns of many writers,
`tests/guidance/turns.jsonl`; `tests/guidance/training.jsonl`; the development parts of
`tests/stages/corpus/standing.jsonl` and `tests/guidance/chat.jsonl`; and, as sentences that state no rule, the lore of
`deontic_dev.jsonl` and what users say in two of the technical conversations. Held-out parts, `unseen.jsonl`,
`returns.jsonl`, `fresh.jsonl`, `later.jsonl` and `coding.jsonl` are never read.

The file names the hash of everything that it was learned from, so that a test can tell when it is out of date.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from libravdb_memory.compact.clauses import clause_spans
from libravdb_memory.compact.sentences import Span, sentence_spans
from libravdb_memory.compact.standing import read
from libravdb_memory.compact.weighing import WordWeights, features, hash_of
from libravdb_memory.engines.select import make_embedder
from libravdb_memory.ingest.deontic import scan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    F32: TypeAlias = NDArray[np.float32]
    Ints: TypeAlias = NDArray[np.int64]
    Mask: TypeAlias = NDArray[np.bool_]

ROOT = Path(__file__).resolve().parent.parent
WEIGHTS = ROOT / "src" / "libravdb_memory" / "compact" / "weights.npz"
TURNS = "tests/guidance/turns.jsonl"
TRAINING = "tests/guidance/training.jsonl"
STANDING = "tests/stages/corpus/standing.jsonl"
CHAT = "tests/guidance/chat.jsonl"
LORE = "tests/stages/corpus/deontic_dev.jsonl"
TALK = ("benchmarks/data/technical/fieldnote.json", "benchmarks/data/technical/ledgerline.json")
INPUTS = (TURNS, TRAINING, STANDING, CHAT, LORE, *TALK)

TIGHTNESS, ROUNDS, SEEN, LEAST = 6.0, 600, 3, 0.05
"""How closely to follow the examples, how many steps to take, how often a feature must be seen, and what its weight
must come to, to be kept."""
STEP_OF_WORDS, STEP_OF_VECTOR = 3.0, 4.0
TALKED = 0.5
"""What an example counts that nobody labelled; others count 1."""
SHIFT = 0.32
"""Added to both sums: the lower it is, the fewer rules and the fewer other turns are kept. With the turns of a quarter
of the writers left out each time, 77% of the rules of those who write English were kept and 8 to 9% of their other
turns, half of which were written to be mistaken for rules (with .4). Then it was lowered until no more than one of
twenty turns of coding sessions was kept wrongly, of those that `tests/guidance/test_coding.py` counts."""
MAYBE = 1.0
"""Sentences of the talk that a first fit puts above this may be rules after all; they are left out."""
OVERLAP = 0.6
"""Of a stated rule or of the clause, whichever is shorter: what they must share for the clause to count as a rule."""


@dataclass(frozen=True, slots=True)
class Example:
    text: str
    rule: bool
    counts: float = 1.0


class Rows(Protocol):
    """One for each example."""

    def times(self, weights: F32) -> F32: ...

    def gradient(self, of_rows: F32) -> F32: ...

    def only(self, wanted: Mask) -> Rows: ...

    @property
    def width(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Dense:
    values: F32

    def times(self, weights: F32) -> F32:
        return self.values @ weights

    def gradient(self, of_rows: F32) -> F32:
        return self.values.T @ of_rows

    def only(self, wanted: Mask) -> Dense:
        return Dense(self.values[wanted])

    @property
    def width(self) -> int:
        return int(self.values.shape[1])


@dataclass(frozen=True, slots=True)
class Sparse:
    """What is not zero: `places[start of a row : start of the next]` are its columns, all with one value."""

    starts: Ints
    places: Ints
    value_of_row: F32
    width: int

    def times(self, weights: F32) -> F32:
        import numpy as np

        sums = np.add.reduceat(np.append(weights[self.places], 0.0), self.starts[:-1])
        sums[self.starts[:-1] == self.starts[1:]] = 0.0
        return (sums * self.value_of_row).astype(np.float32)

    def gradient(self, of_rows: F32) -> F32:
        import numpy as np

        each = np.repeat(of_rows * self.value_of_row, np.diff(self.starts))
        return np.bincount(self.places, weights=each, minlength=self.width).astype(np.float32)

    def only(self, wanted: Mask) -> Sparse:
        import numpy as np

        kept = np.repeat(wanted, np.diff(self.starts))
        starts = np.concatenate([[0], np.cumsum(np.diff(self.starts)[wanted])])
        return Sparse(starts, self.places[kept], self.value_of_row[wanted], self.width)


@dataclass(frozen=True, slots=True)
class Fit:
    weights: F32
    bias: float

    def scores(self, rows: Rows) -> F32:
        return rows.times(self.weights) + self.bias


def main() -> None:
    import numpy as np

    examples = list(_examples())
    truth = np.array([example.rule for example in examples])
    counts = np.array([example.counts for example in examples], np.float32)
    talk = counts == TALKED
    known, words = _rows_of_words([example.text for example in examples])
    first = _fitted(words.only(~talk), truth[~talk], counts[~talk])
    used = ~(talk & (first.scores(words) >= MAYBE))
    by_words = _fitted(words.only(used), truth[used], counts[used])
    embedder = make_embedder()
    vectors = Dense(embedder.embed_documents([example.text for example in examples]) * np.float32(STEP_OF_VECTOR))
    by_vector = _fitted(vectors.only(used), truth[used], counts[used])
    weighed = {name: float(by_words.weights[at]) * STEP_OF_WORDS for at, name in enumerate(known)}
    named = WordWeights.of({name: weight for name, weight in weighed.items() if abs(weight) >= LEAST})
    np.savez_compressed(
        WEIGHTS,
        learned_from=np.array(learned_from()),
        space=np.array(embedder.space.fingerprint),
        biases=np.array([round(by_words.bias + SHIFT, 4), round(by_vector.bias + SHIFT, 4)]),
        vector=np.array([round(float(weight) * STEP_OF_VECTOR, 4) for weight in by_vector.weights]),
        hashes=named.hashes,
        weights=named.weights,
    )
    print(f"{int(used.sum())} of {len(examples)} sentences and clauses, {len(named.hashes)} weights of words")


def learned_from() -> str:
    """The hash of all that is read here."""
    return hashlib.sha256(b"".join((ROOT / name).read_bytes() for name in INPUTS)).hexdigest()


def _examples() -> Iterator[Example]:
    for row in _lines(TURNS):
        yield from _of_turn(row["text"], [row["rule"]] if row.get("rule") else [])
    lore = [row for row in _lines(LORE) if not row["rule"]]
    for row in (*_lines(STANDING), *_lines(CHAT), *_lines(TRAINING), *lore):
        if row.get("part", "development") == "development":
            yield from _of_turn(row["text"], _rules_of(row))
    for name in TALK:
        for conversation in json.loads((ROOT / name).read_text("utf-8"))["conversations"]:
            for turn in conversation["turns"]:
                if turn["role"] == "user":
                    yield from _said(turn["text"])


def _rules_of(row: dict[str, Any]) -> list[str]:
    """Of a sentence by itself, or of a turn whose rules are told."""
    if "rules" in row:
        return list(row["rules"])
    return [row["text"]] if row.get("rule") or row.get("later") else []


def _of_turn(text: str, rules: Sequence[str], counts: float = 1.0) -> Iterator[Example]:
    stated = [(text.index(rule), text.index(rule) + len(rule)) for rule in rules]
    for start, end in _parts(text):
        shared = ((min(end, last) - max(start, first)) / min(end - start, last - first) for first, last in stated)
        yield Example(text[start:end], any(share >= OVERLAP for share in shared), counts)


def _parts(text: str) -> Iterator[Span]:
    """Every sentence, and the clauses of those that have several."""
    for sentence in sentence_spans(text):
        yield from dict.fromkeys((sentence, *clause_spans(text, sentence)))


def _said(text: str) -> Iterator[Example]:
    """Sentences of a user that nobody labelled; those that read as rules are left out."""
    rules = set(read(text, scan(text).marks).rules)
    for span in sentence_spans(text):
        if span not in rules:
            yield from _of_turn(text[slice(*span)], [], TALKED)


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (ROOT / name).read_text("utf-8").splitlines()]


def _rows_of_words(texts: Sequence[str]) -> tuple[list[int], Sparse]:
    """The hashes of the features that are known, one for each column, and the rows."""
    import numpy as np

    found = [frozenset(map(hash_of, features(text))) for text in texts]
    counted = Counter(each for those in found for each in those)
    known = sorted(each for each, count in counted.items() if count >= SEEN)
    place = {each: at for at, each in enumerate(known)}
    placed = [sorted(place[each] for each in those & place.keys()) for those in found]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in placed])])
    values = np.array([STEP_OF_WORDS / len(those) ** 0.5 for those in found], np.float32)
    return known, Sparse(starts, np.array([each for row in placed for each in row]), values, len(known))


def _fitted(rows: Rows, truth: Mask, counts: F32) -> Fit:
    """Logistic loss with a quadratic penalty on all but the bias, by accelerated gradient steps."""
    import numpy as np

    sign = np.where(truth, 1.0, -1.0).astype(np.float32)
    total = float(counts.sum())
    penalty = 1.0 / (TIGHTNESS * total)
    step = 1.0 / (0.275 * _largest_eigenvalue(rows, counts) / total + penalty)
    at, ahead = np.zeros(rows.width + 1, np.float32), np.zeros(rows.width + 1, np.float32)
    pace = 1.0
    for _ in range(ROUNDS):
        pull = -sign * counts / (1.0 + np.exp(sign * (rows.times(ahead[:-1]) + ahead[-1]))) / total
        slope = np.append(rows.gradient(pull) + penalty * ahead[:-1], pull.sum()).astype(np.float32)
        after, faster = (ahead - step * slope).astype(np.float32), (1 + (1 + 4 * pace * pace) ** 0.5) / 2
        at, ahead, pace = after, (after + (pace - 1) / faster * (after - at)).astype(np.float32), faster
    return Fit(at[:-1].astype(np.float32), float(at[-1]))


def _largest_eigenvalue(rows: Rows, counts: F32) -> float:
    """Of the weighted squares, with the column of ones that the bias is of."""
    import numpy as np

    vector = np.ones(rows.width + 1, np.float32)
    for _ in range(30):
        vector = (vector / np.linalg.norm(vector)).astype(np.float32)
        seen = counts * (rows.times(vector[:-1]) + vector[-1])
        vector = np.append(rows.gradient(seen), seen.sum())
    return float(np.linalg.norm(vector))


if __name__ == "__main__":
    main()
