"""An extract: the sentences of some turns that say most in few tokens.

Greedily, while the price allows, take the sentence with the greatest

    (worth - .3·greatest likeness to what is taken or was said) / tokens^.7

with the worth of `judging`. Nearness and likeness are cosines, not below 0; the topic is what is given as such, or the
centroid of the sentences, each weighed by what it states. Where some sentences have vectors, those without fill the
room that is left by the others. Without any, all are equally near, and only news keeps the extract from saying a thing
again. After the first, a sentence must bring two new words, and of one that is said in passing or overruled (see
`judging`) the upper bracket must be at least .2, however much room there is.

Laws: the extract never costs more than its limit; its sentences are the turns' own, in their order, each turn on a line
that says once who speaks (unless that alone would take more than a quarter of the limit), in quotation marks where it
would seem to be somebody else's (see `views`); the same input gives the same extract, and nothing is said twice. Where
not even one sentence fits, the best is cut short and marked with an ellipsis (without it where only a letter fits), so
that the room for one letter is enough for something to be said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from libravdb_memory.compact.judging import Judged, Sentence, Worth, per_token
from libravdb_memory.compact.preserve import unit_rows
from libravdb_memory.compact.views import names_of, quoted
from libravdb_memory.tokens import TokenCounter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from libravdb_memory.compact.preserve import Floats, Vector, Vectors

REDUNDANCY, LEAST_NEW = 0.3, 2
LEAST_ADDED = 0.2
"""What is said in passing, or was overruled, must add after the first, however much room there is."""
LEAST_WEIGHT = 1e-3
"""Of a sentence in the topic, so that there is one where nothing is stated."""
ROUNDING = 2
"""Tokens by which two texts together may cost less than each alone."""
LABEL_SHARE = 4
"""A label may take one in so many of the tokens."""
ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class Extract:
    """`picked` are the places of the sentences taken; `cut` says that the only one was shortened."""

    text: str
    tokens: int
    picked: tuple[int, ...] = ()
    cut: bool = False


def extract(
    judged: Judged,
    limit: int,
    counter: TokenCounter,
    vectors: Mapping[int, Vector] | None = None,
    prior: Vectors | None = None,
    topic: Vector | None = None,
) -> Extract:
    """An extract of at most `limit` tokens. `vectors` are those of sentences, by their numbers in `told`; `prior` has a
    row for each sentence of earlier summaries, which need not be said again; `topic` is what all of it is about."""
    if not judged.told or limit <= 0:
        return Extract("", 0)
    told = _shown(judged.told, limit, counter)
    rows = _rows(vectors, len(told)) if vectors else None
    worth = Worth(judged, rows)
    likeness = _Likeness(rows, prior, topic, worth.stated)
    first = [number in vectors if vectors else True for number in range(len(told))]
    picked = _picked(told, np.array(first), worth, likeness, limit, counter)
    if not picked:
        return _cut(told, worth, likeness, limit, counter)
    text = _joined([told[number] for number in picked])
    return Extract(text, counter.count(text), tuple(judged.places[number] for number in picked))


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


def _rows(vectors: Mapping[int, Vector], count: int) -> Floats:
    """Zeros where there is no vector."""
    rows = np.zeros((count, len(next(iter(vectors.values())))))
    for number, vector in vectors.items():
        rows[number] = unit_rows(vector[None, :])[0]
    return rows


class _Likeness:
    """How near sentences are to the topic and to each other, by their vectors."""

    def __init__(self, rows: Floats | None, prior: Vectors | None, topic: Vector | None, weights: Floats) -> None:
        self._rows = rows
        self.nearness: Floats = np.full(len(weights), 0.5)
        self.redundancy: Floats = np.zeros(len(weights))
        if rows is None:
            return
        middle = (rows * (weights[:, None] + LEAST_WEIGHT)).sum(axis=0) if topic is None else topic
        self.nearness = np.maximum(rows @ unit_rows(middle[None, :])[0], 0.0)
        if prior is not None and prior.shape[0]:
            self.redundancy = np.maximum((rows @ unit_rows(prior).T).max(axis=1), 0.0)

    def take(self, number: int) -> None:
        if self._rows is not None:
            self.redundancy = np.maximum(self.redundancy, self._rows @ self._rows[number])


def _picked(
    told: Sequence[Sentence],
    first: NDArray[np.bool_],
    worth: Worth,
    likeness: _Likeness,
    limit: int,
    counter: TokenCounter,
) -> list[int]:
    """The numbers of the chosen, ascending. Others come only after those that are to come first."""
    prices = np.array([counter.count(each.text) for each in told])
    factors = per_token(prices)
    possible = prices <= limit
    picked: list[int] = []
    while possible.any():
        adds = worth.of_all(likeness.nearness) - REDUNDANCY * likeness.redundancy
        if picked and not (possible := possible & ((adds >= LEAST_ADDED) | worth.lasting)).any():
            break
        value = adds * factors
        among = possible & first if (possible & first).any() else possible
        best = _best(np.where(among, np.round(value, 9), -np.inf), worth, factors)
        possible[best] = False
        candidate = sorted((*picked, best))
        price = counter.count(_joined([told[number] for number in candidate]))
        if price <= limit:
            picked = candidate
            worth.take(best)
            likeness.take(best)
            possible &= (worth.new_words >= LEAST_NEW) & (prices <= limit - price + ROUNDING)
    return picked


def _best(value: Floats, worth: Worth, factors: Floats) -> int:
    """The most valuable sentence, once it was read."""
    while True:
        best = int(np.argmax(value))
        if not (less := worth.read(best)):
            return best
        value[best] = round(float(value[best] - less * factors[best]), 9)


def _cut(told: Sequence[Sentence], worth: Worth, likeness: _Likeness, limit: int, counter: TokenCounter) -> Extract:
    for number in range(len(told)):
        worth.read(number)
    worths = worth.of_all(likeness.nearness)
    for number in sorted(range(len(told)), key=lambda number: (-round(float(worths[number]), 9), number)):
        if text := _cut_short(told[number], limit, counter):
            return Extract(text, counter.count(text), cut=True)
    return Extract("", 0)


def _cut_short(each: Sentence, limit: int, counter: TokenCounter) -> str:
    """Without signs before its first word, unless that would make it seem somebody else's."""
    names = names_of((each.speaker,))
    for said in (_from_first_letter(each.text), each.text):
        text = clip(_label(each) + said, limit, counter)
        bare = text.removeprefix(_label(each))
        if any(map(str.isalnum, text)) and quoted(bare, names, alone=not each.speaker) == bare:
            return text
    return ""


def _from_first_letter(text: str) -> str:
    return text[next(place for place, character in enumerate(text) if character.isalnum()) :]


def _shown(told: Sequence[Sentence], limit: int, counter: TokenCounter) -> list[Sentence]:
    """Their words in one line, with those speakers for whom there is room."""
    speakers = {each.speaker: each for each in told}
    shown = {
        name: name if counter.count(_label(each)) * LABEL_SHARE <= limit else "" for name, each in speakers.items()
    }
    names = names_of(speakers)
    return [
        Sentence(each.turn, quoted(" ".join(each.text.split()), names, alone=not label), label)
        for each in told
        for label in (shown[each.speaker],)
    ]


def _label(sentence: Sentence) -> str:
    return f"{sentence.speaker}: " if sentence.speaker else ""


def _joined(chosen: Sequence[Sentence]) -> str:
    """Sentences of one turn on one line."""
    parts = [_label(chosen[0]) + chosen[0].text]
    for before, each in pairwise(chosen):
        parts.append(f" {each.text}" if before.turn == each.turn else f"\n{_label(each)}{each.text}")
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
