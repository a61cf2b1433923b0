"""Whether an answer is written in another language than its sources: by script, then by the commonest small words.

Law: only what is certain counts. A script or language of the answer is foreign when it makes up a good part of the
answer and next to nothing of the sources. Languages that share a script and are not in the table pass.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping

_GOOD_PART = 0.2
_NEXT_TO_NOTHING = 0.05
_FEWEST_WORDS = 3

# Only words that other languages of the table do not use, not even with another meaning.
_SMALL_WORDS = {
    "english": "the and of is were with for that to not are has have this from it be",
    "german": "der und ist nicht mit für eine dem auf wird wurde dass nutzer",
    "french": "le les et est pas une dans pour avec sur aux sont ont cette",
    "spanish": "el los las y una por del están está fue usuario",
    "italian": "gli di che della sono nel anche viene utente",
    "portuguese": "não uma são foi pelo também usuário com",
    "dutch": "het een niet voor op dat wordt zijn gebruiker",
}
_WORD = re.compile(r"[^\W\d_]+")
_KANA = ("HIRAGANA", "KATAKANA")


def _owners() -> dict[str, str]:
    """The language of each small word that belongs to one language of the table only."""
    shared = Counter(word for words in _SMALL_WORDS.values() for word in words.split())
    return {word: language for language, words in _SMALL_WORDS.items() for word in words.split() if shared[word] == 1}


_OWNERS = _owners()


def is_foreign(answer: str, sources: str) -> bool:
    scripts, known = _scripts(answer), _scripts(sources)
    if any(_is_new(script, known) for script in scripts if _share(scripts, script) >= _GOOD_PART):
        return True
    return _lacks_kana(scripts, known) or _speaks_another(_languages(answer), _languages(sources))


def _is_new(kind: str, sources: Counter[str]) -> bool:
    """Sources that tell nothing make nothing new."""
    return bool(sources) and _share(sources, kind) < _NEXT_TO_NOTHING


def _speaks_another(answer: Counter[str], sources: Counter[str]) -> bool:
    """Most of the answer's small words are of a language that the sources do not speak."""
    if answer.total() < _FEWEST_WORDS:
        return False
    language, _ = answer.most_common(1)[0]
    return _share(answer, language) > 1 / 2 and _is_new(language, sources)


def _lacks_kana(answer: Counter[str], sources: Counter[str]) -> bool:
    """Chinese in place of Japanese: nothing but ideographs where the sources have kana among them."""
    return _share(sources, "KANA") >= _GOOD_PART and _share(answer, "CJK") > 1 / 2 and not answer["KANA"]


def _share(counts: Mapping[str, int], kind: str) -> float:
    total = sum(counts.values())
    return counts.get(kind, 0) / total if total else 0.0


def _scripts(text: str) -> Counter[str]:
    """How many letters of each script, which is the first word of a letter's name."""
    scripts: Counter[str] = Counter()
    for letter, count in Counter(text).items():
        if letter.isalpha() and (name := unicodedata.name(letter, "")):
            script = name.split(maxsplit=1)[0]
            scripts["KANA" if script in _KANA else script] += count
    return scripts


def _languages(text: str) -> Counter[str]:
    words = (match.group() for match in _WORD.finditer(text.casefold()))
    return Counter(language for word in words if (language := _OWNERS.get(word)))
