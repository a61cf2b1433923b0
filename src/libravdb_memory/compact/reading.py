"""How much of some texts is read for their facts and sentences.

Laws: the work for a text is bounded, however long it is, and so is that for many together; short texts are read whole.
What is not read is not certified: a certificate says how much of its sources was left unread.
"""

from __future__ import annotations

from collections.abc import Sequence

CHARACTERS_READ = 100_000
"""Of one text."""
ALL_READ = 200_000
"""Of the texts of one summary together."""
SPOKEN_HEAD, SPOKEN_TAIL = 14_000, 6_000
"""Of one text, for the sentences that an extract may take: a paste is told by how it begins and ends."""


_VIEWED = 150_000
"""Of either end of one text: far more than sentences are taken from, so that what becomes a marker may be long."""


def beginning_and_end(text: str) -> str:
    """All that anybody looks at for sentences, and more."""
    return text if len(text) <= 2 * _VIEWED else f"{text[:_VIEWED]}\n{text[-_VIEWED:]}"


def read(texts: Sequence[str]) -> tuple[str, ...]:
    """The beginnings of the texts, as much of each as is read."""
    most = CHARACTERS_READ if sum(map(len, texts)) <= ALL_READ else min(_waterline(texts), CHARACTERS_READ)
    return tuple(text[:most] for text in texts)


def _waterline(texts: Sequence[str]) -> int:
    """The length to which the longest are cut so that all together are within what is read."""
    left, lengths = ALL_READ, sorted(map(len, texts))
    for place, length in enumerate(lengths):
        share = left // (len(lengths) - place)
        if length > share:
            return share
        left -= length
    return lengths[-1]
