"""An extract: the sentences of some turns that say most in few tokens.

Greedily, while the price allows, take the sentence with the greatest

    readability · (.6·nearness to the centroid + .2·salience) - .3·greatest likeness to what is taken or was said

Nearness and likeness are cosines, not below 0. Without vectors an earlier sentence is nearer (1 for the first, .5
for the last), and likeness is the share of common words.

Laws: the extract never costs more than its limit; its sentences are the turns' own, in their order; the same input
gives the same extract, and nothing is said twice. Where not even one sentence fits, the best is cut short and marked
with an ellipsis (without it where only a letter fits), so that the room for one letter is enough for something to be
said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from libravdb_memory.compact.preserve import unit_rows
from libravdb_memory.compact.salience import readability, salience
from libravdb_memory.compact.spans import folded
from libravdb_memory.tokens import TokenCounter

if TYPE_CHECKING:
    from libravdb_memory.compact.preserve import Floats, Vectors

NEARNESS, SALIENCE, REDUNDANCY = 0.6, 0.2, 0.3
ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class Sentence:
    """`turn` is the number of the turn that says it."""

    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class Extract:
    """`picked` are the places of the sentences taken; `cut` says that the only one was shortened."""

    text: str
    tokens: int
    picked: tuple[int, ...] = ()
    cut: bool = False


def extract(
    sentences: Sequence[Sentence],
    limit: int,
    counter: TokenCounter,
    vectors: Vectors | None = None,
    prior: Vectors | None = None,
) -> Extract:
    """An extract of at most `limit` tokens. `vectors` has a row for each sentence; `prior` those of what earlier
    summaries say, which need not be said again."""
    first = {folded(sentence.text): place for place, sentence in reversed(list(enumerate(sentences)))}
    places = sorted(place for place in first.values() if any(map(str.isalnum, sentences[place].text)))
    told = [sentences[place] for place in places]
    if not told or limit <= 0:
        return Extract("", 0)
    likeness = _Likeness(told, None if vectors is None else unit_rows(vectors)[places], prior)
    worth = likeness.nearness() * NEARNESS + np.array([salience(each.text) for each in told]) * SALIENCE
    worth *= np.array([readability(each.text) for each in told])
    picked = _picked(told, worth, likeness, limit, counter)
    if not picked:
        return _cut(told, worth, limit, counter)
    text = _joined([told[number] for number in picked])
    return Extract(text, counter.count(text), tuple(places[number] for number in picked))


def clip(text: str, limit: int, counter: TokenCounter) -> str:
    """The longest beginning of a text within so many tokens, whole words where one fits, marked as cut where there is
    room for the mark; the text itself where it fits."""
    text = " ".join(text.split())
    if counter.count(text) <= limit:
        return text
    return _beginning(text, ELLIPSIS, limit, counter) or _beginning(text, "", limit, counter)


def _beginning(text: str, mark: str, limit: int, counter: TokenCounter) -> str:
    length = _longest(len(text), lambda size: counter.count(text[:size].rstrip() + mark) <= limit)
    beginning = text[:length]
    if " " in beginning and not text[length].isspace():
        beginning = beginning[: beginning.rindex(" ")]
    return beginning.rstrip() + mark if beginning else ""


class _Likeness:
    """How alike sentences are, by their vectors or by their words."""

    def __init__(self, told: Sequence[Sentence], rows: Floats | None, prior: Vectors | None) -> None:
        self._rows = rows
        self._words = [frozenset(each.text.lower().split()) for each in told] if self._rows is None else []
        self._count = len(told)
        self._prior = prior

    def nearness(self) -> Floats:
        if self._rows is None:
            return 1.0 - 0.5 * np.arange(self._count) / max(self._count - 1, 1)
        centroid = unit_rows(self._rows.mean(axis=0)[None, :])[0]
        near: Floats = np.maximum(self._rows @ centroid, 0.0)
        return near

    def said_before(self) -> Floats:
        if self._rows is None or self._prior is None or not self._prior.shape[0]:
            return np.zeros(self._count)
        likest: Floats = np.maximum((self._rows @ unit_rows(self._prior).T).max(axis=1), 0.0)
        return likest

    def to(self, number: int) -> Floats:
        if self._rows is not None:
            alike: Floats = np.maximum(self._rows @ self._rows[number], 0.0)
            return alike
        mine = self._words[number]
        return np.array([len(mine & words) / max(len(mine | words), 1) for words in self._words])


def _picked(
    told: Sequence[Sentence], worth: Floats, likeness: _Likeness, limit: int, counter: TokenCounter
) -> list[int]:
    """The numbers of the chosen, ascending."""
    redundancy = likeness.said_before()
    open_to_choice = np.array([counter.count(each.text) <= limit for each in told])
    picked: list[int] = []
    while open_to_choice.any():
        value = np.where(open_to_choice, np.round(worth - REDUNDANCY * redundancy, 9), -np.inf)
        best = int(np.argmax(value))
        open_to_choice[best] = False
        candidate = sorted((*picked, best))
        if counter.count(_joined([told[number] for number in candidate])) <= limit:
            picked = candidate
            redundancy = np.maximum(redundancy, likeness.to(best))
    return picked


def _cut(told: Sequence[Sentence], worth: Floats, limit: int, counter: TokenCounter) -> Extract:
    for number in sorted(range(len(told)), key=lambda number: (-float(worth[number]), number)):
        if text := clip(_from_first_letter(told[number].text), limit, counter):
            return Extract(text, counter.count(text), cut=True)
    return Extract("", 0)


def _from_first_letter(text: str) -> str:
    return text[next(place for place, character in enumerate(text) if character.isalnum()) :]


def _joined(chosen: Sequence[Sentence]) -> str:
    """Sentences of one turn on one line."""
    parts: list[str] = []
    for before, each in zip((None, *chosen), chosen, strict=False):
        if before is not None:
            parts.append(" " if before.turn == each.turn else "\n")
        parts.append(" ".join(each.text.split()))
    return "".join(parts)


def _longest(most: int, fits: Callable[[int], bool]) -> int:
    """The largest length in [0, most] that fits, given that prices do not fall with length."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low
