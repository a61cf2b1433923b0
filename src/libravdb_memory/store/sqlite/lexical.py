"""How text becomes words for the full-text index, and words become a query.

Law: the index side and the query side go through one function, `searchable`, so that what was indexed can be asked for.
It is fixed by code point, not by a Unicode database that changes with the Python version: an index entry can be
removed only by naming exactly what was put in.

Scripts written without spaces (Han, kana, Thai, Khmer ...) are spaced out into one word per character with its marks;
a run of them is then found as a phrase. Hangul is treated so too, because particles stick to its words. User text is
data: it reaches FTS5 only inside quotes.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

TOKENIZER = ("porter", "unicode61", "remove_diacritics", "2", "categories", "L* N* Co M*")

_LONE = (
    "\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46"  # Thai
    "\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd\u0ec0-\u0ec6\u0edc-\u0edf"  # Lao
    "\u0f40-\u0f6c"  # Tibetan
    "\u1000-\u102a\u103f\u1050-\u1055\u105a-\u105d"  # Myanmar
    "\u1780-\u17b3"  # Khmer
    "\u1950-\u1974\u1980-\u19ab\u1a20-\u1a54"  # Tai Le, New Tai Lue, Tai Tham
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"  # kana
    "\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff"  # Bopomofo, small kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"  # Han
    "\ua000-\ua48c"  # Yi
    "\uac00-\ud7a3"  # Hangul
    "\uff66-\uff9d"  # half-width kana
)
_MARKS = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u0f71-\u0f84\u0f8d-\u0fbc"
    "\u102b-\u103e\u1056-\u1059\u105e-\u1060\u17b4-\u17d3\u19b0-\u19c9\u1a55-\u1a7f\u3099\u309a\uff9e\uff9f"
)
_cluster = re.compile(f"[{_LONE}][{_MARKS}]*")
_clusters = re.compile(f"({_cluster.pattern})")
_run = re.compile(f"(?:[{_LONE}][{_MARKS}]*)+")
_MOST_AT_ONCE = 65_536
_stretch = re.compile(f".{{1,{_MOST_AT_ONCE}}}[{_MARKS}]*", re.DOTALL)
_stretch_of_words = re.compile(f".{{1,{_MOST_AT_ONCE}}}[^ \\n]*", re.DOTALL)
"""Parts of a text, none of them long unless one cluster or word is."""
_WIDE_TO_ASCII = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}


def searchable(text: str) -> str:
    """The text as the index sees it."""
    if text.isascii():
        return text
    return "".join([" ".join(_clusters.split(part.translate(_WIDE_TO_ASCII))) for part in _whole(_stretch, text)])


def parts(body: str) -> Iterable[str]:
    """Of what `searchable` answers, for those who look at all its words: none is in two of them."""
    return _whole(_stretch_of_words, body)


def _whole(part: re.Pattern[str], text: str) -> Iterable[str]:
    """Replacing, and telling words apart, keeps all that was found until the end: fifty times a text that is long."""
    return (found.group() for found in part.finditer(text))


def alternatives(phrase: tuple[str, ...]) -> Iterable[str]:
    """The phrases to look for when a caller asks for this one.

    A lone word of an unspaced script is usually a whole clause, so its neighbouring pairs are looked for, any of them;
    everything else is looked for as it stands.
    """
    joined = " ".join(phrase)
    if len(phrase) != 1 or not _run.search(joined):
        yield searchable(joined)
        return
    word = joined.translate(_WIDE_TO_ASCII)
    end = 0
    for run in _run.finditer(word):
        yield word[end : run.start()]
        end = run.end()
        yield from _pairs(_cluster.findall(run.group()))
    yield word[end:]


def quoted(phrase: str) -> str:
    return '"' + phrase.replace("\0", " ").replace('"', '""') + '"'


def _pairs(clusters: list[str]) -> Iterable[str]:
    if len(clusters) == 1:
        return clusters
    return (f"{first} {second}" for first, second in itertools.pairwise(clusters))
