"""What sentences are worth by their words, and which of them are worth a vector.

    worth = statement · in passing · currency
            · (ln(1 + news / 12) + .2·nearness to the topic + .2·salience + .2·sign + .8·taken back)

News is the sum, over the content words of a sentence that no taken sentence holds, of √(turns that say the word).
Currency is 1 - .6·(how far a later sentence takes it back), or .2 where an answer overrules it, and .4 of that where a
text pretends that somebody else said it. Sign and taken back are those of `changes`, what is said in passing is told by
`routine`; an answer that decides (see `answers`) takes back, and states .8 at least. What tools return or a text
pretends takes nothing back.

The shortlist holds the sentences that can be worth most for their tokens, as long as together they cost no more than
three times what an extract may. A vector costs more than all the rest that is done for a sentence, and of a long talk
few sentences are ever taken.

Laws: each sentence is judged once, however often it is said. No vector makes a sentence worth more than the shortlist
takes it for. The same sentences and the same limit give the same shortlist.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from libravdb_memory.compact.answers import answered, contrasts, echoes
from libravdb_memory.compact.changes import changes, outdated, topics
from libravdb_memory.compact.routine import MOST_IDLE, TOOLS, in_passing
from libravdb_memory.compact.salience import content_words, salience, statement, words
from libravdb_memory.compact.spans import folded
from libravdb_memory.compact.views import names_of, speaks_for
from libravdb_memory.tokens import TokenCounter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from libravdb_memory.compact.preserve import Floats

NEARNESS, SALIENCE = 0.2, 0.2
CHANGE, TAKES_BACK, OUTDATED, OVERRULED = 0.2, 0.8, 0.6, 0.8
BRIEF = 0.8
"""What an answer that decides states at least, however short it is."""
PRETENDED = 0.4
"""Worth of what a text pretends that somebody else said."""
FULL_NEWS, PRICE_POWER = 12.0, 0.7
SHORTLISTED = 3
"""Times the tokens of an extract that its shortlist may cost."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """`turn` is the number of the turn that says it, `speaker` whose turn it is, if that is to be shown."""

    turn: int
    text: str
    speaker: str = ""


class Judged:
    """Sentences by their words. `told` are those that say something, each once, and `places` where they stand among all
    that were given. Nothing in here changes."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        first = {folded(sentence.text): place for place, sentence in reversed(list(enumerate(sentences)))}
        self.places = sorted(place for place in first.values() if any(map(str.isalnum, sentences[place].text)))
        self.told = [sentences[place] for place in self.places]
        said = [words(each.text) for each in self.told]
        names = {name for speaker in {each.speaker for each in sentences} for name in words(speaker)}
        self.content = [content_words(mine, names) for mine in said]
        self._texts = [each.text for each in self.told]
        self._turns = [each.turn for each in self.told]
        speakers = names_of(each.speaker for each in sentences)
        pretended = np.array([speaks_for(text, speakers) for text in self._texts], bool)
        of_a_tool = np.array([each.speaker.casefold() in TOOLS for each in self.told], bool)
        signs = np.maximum(changes(self._texts, self._turns, self.content), [contrasts(each) for each in self.told])
        self._signs = np.where(pretended | of_a_tool, 0.0, signs)
        self._topics = topics(self._texts, self.content)
        self._decides, self._overruled = answered(self.told, self._signs)
        self._decides = np.where(pretended, 0.0, self._decides)
        self._reach = echoes(self.told, self._signs, self._decides)
        stated = [statement(*judged) for judged in zip(self._texts, said, self.content, strict=True)]
        passing = [in_passing(each.text, each.speaker, own) for each, own in zip(self.told, self.content, strict=True)]
        self._stated: Floats = np.maximum(np.array(stated, float), BRIEF * self._decides)
        self._stated *= np.where(pretended, PRETENDED, 1.0) * np.array(passing, float)
        self.lasting: NDArray[np.bool_] = (np.array(passing) > MOST_IDLE) & (self._overruled == 0.0)
        self.holders: dict[str, list[int]] = defaultdict(list)
        for number, content in enumerate(self.content):
            for word in content:
                self.holders[word].append(number)
        self.weights = {
            word: math.sqrt(len({self._turns[number] for number in holders})) if len(holders) > 1 else 1.0
            for word, holders in self.holders.items()
        }
        self.news: Floats = np.array([math.fsum(self.weights[word] for word in content) for content in self.content])

    def current(self, rows: Floats | None) -> tuple[Floats, Floats]:
        """What each sentence states that still holds, and what it is worth for what it changes. `rows` are vectors,
        zeros where there is none."""
        old, taken = outdated(self._signs, self._turns, self._topics, rows, self._reach)
        past = np.maximum(OUTDATED * old, OVERRULED * self._overruled)
        taken = np.maximum(taken, self._decides)
        return self._stated * (1.0 - past), CHANGE * self._signs + TAKES_BACK * taken

    def at_most(self) -> Floats:
        """No vector makes a sentence worth more than this."""
        stated, _ = self.current(None)
        change = CHANGE * self._signs + TAKES_BACK * np.maximum(self._signs, self._decides)
        most: Floats = stated * (_log(self.news) + NEARNESS + SALIENCE + change)
        return most

    def shortlist(self, limit: int, counter: TokenCounter) -> list[int]:
        """The numbers of the sentences in `told` that are worth a vector, in order."""
        prices = np.array([counter.count(text) for text in self._texts], int)
        fitting = np.flatnonzero(prices <= limit)
        best = fitting[np.argsort(-np.round(self.at_most() * per_token(prices), 9)[fitting], kind="stable")]
        return sorted(best[: int(np.searchsorted(np.cumsum(prices[best]), SHORTLISTED * limit, "right"))].tolist())


class Worth:
    """What each sentence would add to those that are taken."""

    def __init__(self, judged: Judged, rows: Floats | None) -> None:
        self._judged = judged
        self.stated, self._change = judged.current(rows)
        self.lasting = judged.lasting
        self._texts = [each.text for each in judged.told]
        self._salience = np.ones(len(self._texts))
        self._unread = set(range(len(self._texts)))
        self._news = judged.news.copy()
        self._new_to_all = dict(judged.holders)
        self.new_words = np.array([len(content) for content in judged.content])

    def of_all(self, nearness: Floats) -> Floats:
        """At most this, exactly this where the sentence was read: facts are looked for only where they may decide."""
        worth: Floats = self.stated * (
            _log(self._news) + NEARNESS * nearness + SALIENCE * self._salience + self._change
        )
        return worth

    def read(self, number: int) -> float:
        """Look for the facts of a sentence, and say by how much it is worth less than it seemed."""
        if number not in self._unread:
            return 0.0
        self._unread.discard(number)
        self._salience[number] = salience(self._texts[number])
        return float(self.stated[number] * SALIENCE * (1.0 - self._salience[number]))

    def take(self, number: int) -> None:
        for word in self._judged.content[number]:
            if holders := self._new_to_all.pop(word, None):
                self._news[holders] -= self._judged.weights[word]
                self.new_words[holders] -= 1


def per_token(prices: Floats) -> Floats:
    factor: Floats = np.maximum(prices, 1) ** -PRICE_POWER
    return factor


def _log(news: Floats) -> Floats:
    found: Floats = np.log1p(np.maximum(news, 0.0) / FULL_NEWS)
    return found
