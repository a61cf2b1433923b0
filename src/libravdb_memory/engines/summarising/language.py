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

_SMALL_WORDS = {
    "english": "the and of is was were with for that to not are has have will this from",
    "german": "der die das und ist nicht mit für ein eine den dem auf wird hat wurde nutzer",
    "french": "le les des et est pas une dans pour avec sur du aux ont cette qui",
    "spanish": "el los las y es una con para por que del se está fue usuario",
    "italian": "il gli di è non una con per che della sono nel utente",
    "portuguese": "o os é não uma com para que do da em foi está usuário",
    "dutch": "de het een en is niet met voor van op dat wordt zijn gebruiker",
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
    if _has_foreign_part(scripts, known) or _lacks_kana(scripts, known):
        return True
    languages = _languages(answer)
    return languages.total() >= _FEWEST_WORDS and _has_foreign_part(languages, _languages(sources))


def _has_foreign_part(answer: Counter[str], sources: Counter[str]) -> bool:
    """Sources that tell nothing make nothing foreign."""
    if not sources:
        return False
    return any(
        count >= _GOOD_PART * answer.total() and _share(sources, kind) < _NEXT_TO_NOTHING
        for kind, count in answer.items()
    )


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
