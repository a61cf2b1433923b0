"""How far a sentence is worded like a rule, by weights that were learned from rules and from turns that look like them.

    words      the sentence's words and their beginnings, pairs of words, and its shape: function words with everything
               else left blank; where words are not parted by spaces, every letter is a word
    likeness   sigmoid of the sum of the weights of what occurs, shared among all that could have occurred
    meaning    the same of the sentence's vector, known for one embedding space only
    both       the two sums, by the share of each
    chance     the more a turn says, the likelier some part of it is worded like a rule by chance: less for each part

Laws: pure, deterministic, linear; no more than `SENTENCE_READ` characters are read. Weights are data: they can be
learned anew without a change here, as long as `features` and `hash_of` stay what they are.
"""

from __future__ import annotations

import math
import re
import unicodedata
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from libravdb_memory.compact.standing import SENTENCE_READ

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AGAINST, HINT, ALONE = 0.32, 0.5, 0.78
"""Likeness by words below which they speak against a rule, from which meaning is asked, from which it need not be."""

_SHARE_OF_WORDS = 0.7
_CHANCE, _USUAL_PARTS = 0.5, 4

FEWEST = 4
"""Words and stops that make a sentence worth weighing."""
_UNPARTED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(rf"[{_UNPARTED}]|[^\W\d_{_UNPARTED}]+(?:'[^\W\d_{_UNPARTED}]+)?|\d+|[?!:;,.\"`。、？！]")
_BEGINNING = 4
"""Letters that the forms of one word mostly share."""
_LONGEST_SHAPE = 3
_WORDS_EACH, _LONGEST = 4, 6
_KEPT = frozenset(
    """
    a an the this that these those it its i me my we us our ours you your he she they them his her their who what which
    when where why how if whenever while until unless before after because so since and or but not no never always only
    just any all every each everything anything nothing nobody everyone none please don't doesn't didn't do does did
    done is are was were be been being am isn't aren't wasn't has have had will would won't can can't could should
    shouldn't must mustn't may might shall need needs want wants like likes prefer prefers hate hates rather keep make
    sure use avoid stop let let's from now on in at to of for with without by as than more less too also here there
    still yet ever again already today tomorrow yesterday one once first instead out off over under up down into nowhere
    else otherwise max i'd i'm i've i'll we've we're you're that's it's there's future time rule policy convention house
    style default team client boss answer answers write say tell ask show give call remember remind mind
    """.split()
)
"""Words that a shape keeps."""


def hash_of(feature: str) -> int:
    return zlib.crc32(feature.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True, eq=False)
class WordWeights:
    """The weight of each feature, by its hash: names would fill ten times the memory. Hashes are in order. Of the
    features that have no weight, one in some forty thousand is taken for another."""

    hashes: NDArray[np.uint32]
    weights: NDArray[np.float16]

    @classmethod
    def of(cls, weights: Mapping[int, float]) -> WordWeights:
        import numpy as np

        hashes = sorted(weights)
        return cls(np.array(hashes, np.uint32), np.array([weights[each] for each in hashes], np.float16))

    def total(self, found: Iterable[str]) -> float:
        """Exactly rounded: the order does not matter."""
        import numpy as np

        if not len(self.hashes):
            return 0.0
        wanted = np.array([hash_of(each) for each in found], np.uint32)
        places = np.minimum(np.searchsorted(self.hashes, wanted), len(self.hashes) - 1)
        known = self.hashes[places] == wanted
        return math.fsum(self.weights[places[known]].tolist())


@dataclass(frozen=True, slots=True)
class Weights:
    """`vector` has a weight for each dimension of the embedding space whose fingerprint is `space`."""

    words: WordWeights
    words_bias: float
    vector: tuple[float, ...]
    vector_bias: float
    space: str

    def of_words(self, sentence: str) -> float:
        found = features(sentence)
        return self.words_bias + self.words.total(found) / math.sqrt(len(found))

    def of_vector(self, vector: Sequence[float]) -> float:
        pairs = zip(self.vector, vector, strict=True)
        return self.vector_bias + math.fsum(weight * float(value) for weight, value in pairs)


def together(by_words: float, by_vector: float) -> float:
    return _SHARE_OF_WORDS * by_words + (1.0 - _SHARE_OF_WORDS) * by_vector


def chance(parts: int) -> float:
    """What the sums of a turn of so many sentences and clauses are to be lowered by; below 0 for a short one."""
    return _CHANCE * math.log(max(parts, 1) / _USUAL_PARTS)


def likeness(sum_of_weights: float) -> float:
    """In [0, 1]."""
    return 0.5 * (1.0 + math.tanh(0.5 * sum_of_weights))


def can_be_weighed(sentence: str) -> bool:
    """Too few words are like anything."""
    return len(_words(sentence)) >= FEWEST


def features(sentence: str) -> frozenset[str]:
    """What of a sentence can have a weight; never empty."""
    words = _words(sentence)
    shape = ["^", *map(_shape_of, words), "$"]
    runs = {" ".join(shape[at : at + n]) for n in range(1, _LONGEST_SHAPE + 1) for at in range(len(shape) - n + 1)}
    pairs = {f"w:{one} {two}" for one, two in pairwise(words)}
    beginnings = {f"b:{word[:_BEGINNING]}" for word in words if len(word) > _BEGINNING + 1}
    first = {f"^w:{word}" for word in words[:1]}
    length = f"len:{min(len(words) // _WORDS_EACH, _LONGEST)}"
    return frozenset({*runs, *pairs, *beginnings, *first, *(f"w:{word}" for word in words), length})


def _words(sentence: str) -> list[str]:
    """However its letters are composed."""
    return _TOKEN.findall(unicodedata.normalize("NFC", sentence[:SENTENCE_READ]).lower().replace("’", "'"))


def _shape_of(word: str) -> str:
    if word in _KEPT or not word[0].isalnum():
        return word
    if word.isdigit():
        return "#"
    if word.endswith(("ing", "ed")):
        return "~ing" if word.endswith("ing") else "~ed"
    return "~s" if word.endswith("s") and len(word) > len("its") else "~"
