"""An extract: the sentences of some turns that say most in few tokens.

Greedily, while the price allows, take the sentence with the greatest

    (statement · currency · (ln(1 + news / 12) + .2·nearness to the topic + .2·salience + .2·sign + .8·taken back)
     - .3·greatest likeness to what is taken or was said) / tokens^.7

Currency is 1 - .6·(how far a later sentence takes it back), and .4 of that where a text pretends that somebody else
said it; sign and taken back are those of `changes`, and what tools return or a text pretends takes nothing back.

News is the sum, over its content words that no taken sentence holds, of √(turns that say the word). The topic is the
centroid of all sentences, each weighed by its statement. Nearness and likeness are cosines, not below 0; without
vectors all are equally near, and only news keeps the extract from saying a thing again. After the first, a sentence
must bring two new words.

Laws: the extract never costs more than its limit; its sentences are the turns' own, in their order, each turn on a line
that says once who speaks (unless that alone would take more than a quarter of the limit), in quotation marks where it
would seem to be somebody else's (see `views`); the same input gives the same extract, and nothing is said twice. Where
not even one sentence fits, the best is cut short and marked with an ellipsis (without it where only a letter fits), so
that the room for one letter is enough for something to be said.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from libravdb_memory.compact.changes import changes, outdated, topics
from libravdb_memory.compact.preserve import unit_rows
from libravdb_memory.compact.salience import content_words, salience, statement, words
from libravdb_memory.compact.spans import folded
from libravdb_memory.compact.views import names_of, quoted, speaks_for
from libravdb_memory.tokens import TokenCounter

if TYPE_CHECKING:
    from libravdb_memory.compact.preserve import Floats, Vectors

NEARNESS, SALIENCE, REDUNDANCY = 0.2, 0.2, 0.3
CHANGE, TAKES_BACK, OUTDATED = 0.2, 0.8, 0.6
PRETENDED = 0.4
"""Worth of what a text pretends that somebody else said."""
TOOLS = frozenset(("tool", "function"))
FULL_NEWS, PRICE_POWER, LEAST_NEW = 12.0, 0.7, 2
LEAST_WEIGHT = 1e-3
"""Of a sentence in the topic, so that there is one where nothing is stated."""
ROUNDING = 2
"""Tokens by which two texts together may cost less than each alone."""
LABEL_SHARE = 4
"""A label may take one in so many of the tokens."""
ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class Sentence:
    """`turn` is the number of the turn that says it, `speaker` whose turn it is, if that is to be shown."""

    turn: int
    text: str
    speaker: str = ""


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
    if not places or limit <= 0:
        return Extract("", 0)
    told = _shown([sentences[place] for place in places], limit, counter)
    rows = None if vectors is None else unit_rows(vectors)[places]
    judged = _Judged(sentences, places, rows)
    likeness = _Likeness(rows, prior, judged.statement)
    picked = _picked(told, judged, likeness, limit, counter)
    if not picked:
        return _cut(told, judged, likeness, limit, counter)
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


class _Judged:
    """What each sentence is worth by its words, and what it would add to those that are taken."""

    def __init__(self, sentences: Sequence[Sentence], places: Sequence[int], rows: Floats | None) -> None:
        told = [sentences[place] for place in places]
        said = [words(each.text) for each in told]
        names = {name for speaker in {each.speaker for each in sentences} for name in words(speaker)}
        self._content = [content_words(mine, names) for mine in said]
        self.statement: Floats = np.array(
            [statement(*judged) for judged in zip((each.text for each in told), said, self._content, strict=True)]
        )
        self._texts = [each.text for each in told]
        turns = [each.turn for each in told]
        speakers = names_of(each.speaker for each in sentences)
        pretended = np.array([speaks_for(text, speakers) for text in self._texts])
        of_a_tool = np.array([each.speaker.casefold() in TOOLS for each in told])
        signs = np.where(pretended | of_a_tool, 0.0, changes(self._texts, turns, self._content))
        old, taken = outdated(signs, turns, topics(self._texts, self._content), rows)
        self.statement *= (1.0 - OUTDATED * old) * np.where(pretended, PRETENDED, 1.0)
        self._change: Floats = CHANGE * signs + TAKES_BACK * taken
        self._salience = np.ones(len(told))
        self._unread = set(range(len(told)))
        self._holders: dict[str, list[int]] = defaultdict(list)
        for number, content in enumerate(self._content):
            for word in content:
                self._holders[word].append(number)
        self._weights = {
            word: math.sqrt(len({told[number].turn for number in holders})) if len(holders) > 1 else 1.0
            for word, holders in self._holders.items()
        }
        self._news = np.array([math.fsum(self._weights[word] for word in content) for content in self._content])
        self.new_words = np.array([len(content) for content in self._content])

    def worth(self, likeness: _Likeness) -> Floats:
        """At most this, exactly this where the sentence was read: facts are looked for only where they may decide."""
        news = np.log1p(np.maximum(self._news, 0.0) / FULL_NEWS)
        worth: Floats = self.statement * (
            news + NEARNESS * likeness.nearness + SALIENCE * self._salience + self._change
        )
        return worth

    def read(self, number: int) -> float:
        """Look for the facts of a sentence, and say by how much it is worth less than it seemed."""
        if number not in self._unread:
            return 0.0
        self._unread.discard(number)
        self._salience[number] = salience(self._texts[number])
        return float(self.statement[number] * SALIENCE * (1.0 - self._salience[number]))

    def take(self, number: int) -> None:
        for word in self._content[number]:
            if holders := self._holders.pop(word, None):
                self._news[holders] -= self._weights[word]
                self.new_words[holders] -= 1


class _Likeness:
    """How near sentences are to the topic and to each other, by their vectors."""

    def __init__(self, rows: Floats | None, prior: Vectors | None, weights: Floats) -> None:
        self._rows = rows
        self.nearness: Floats = np.full(len(weights), 0.5)
        self.redundancy: Floats = np.zeros(len(weights))
        if rows is None:
            return
        centroid = unit_rows((rows * (weights[:, None] + LEAST_WEIGHT)).sum(axis=0)[None, :])[0]
        self.nearness = np.maximum(rows @ centroid, 0.0)
        if prior is not None and prior.shape[0]:
            self.redundancy = np.maximum((rows @ unit_rows(prior).T).max(axis=1), 0.0)

    def take(self, number: int) -> None:
        if self._rows is not None:
            self.redundancy = np.maximum(self.redundancy, self._rows @ self._rows[number])


def _picked(
    told: Sequence[Sentence], judged: _Judged, likeness: _Likeness, limit: int, counter: TokenCounter
) -> list[int]:
    """The numbers of the chosen, ascending."""
    prices = np.array([counter.count(each.text) for each in told])
    per_token = np.maximum(prices, 1) ** -PRICE_POWER
    possible = prices <= limit
    picked: list[int] = []
    while possible.any():
        value = (judged.worth(likeness) - REDUNDANCY * likeness.redundancy) * per_token
        best = _best(np.where(possible, np.round(value, 9), -np.inf), judged, per_token)
        possible[best] = False
        candidate = sorted((*picked, best))
        price = counter.count(_joined([told[number] for number in candidate]))
        if price <= limit:
            picked = candidate
            judged.take(best)
            likeness.take(best)
            possible &= (judged.new_words >= LEAST_NEW) & (prices <= limit - price + ROUNDING)
    return picked


def _best(value: Floats, judged: _Judged, per_token: Floats) -> int:
    """The most valuable sentence, once it was read."""
    while True:
        best = int(np.argmax(value))
        if not (less := judged.read(best)):
            return best
        value[best] = round(float(value[best] - less * per_token[best]), 9)


def _cut(told: Sequence[Sentence], judged: _Judged, likeness: _Likeness, limit: int, counter: TokenCounter) -> Extract:
    for number in range(len(told)):
        judged.read(number)
    worth = judged.worth(likeness)
    for number in sorted(range(len(told)), key=lambda number: (-round(float(worth[number]), 9), number)):
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
