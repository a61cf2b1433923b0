"""What a text costs in tokens.

Two measures, never substituted for each other: the *budget* estimate, ceil(code points / chi), says what a prompt pays;
the *gate* measure, max(floor(code points / 4), 1), only normalises densities. chi falls with scripts whose characters
carry more tokens. A counter has an id, and every cached cost is keyed by it, so that an exact tokenizer can take the
estimator's place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

_DENSE = re.compile(  # CJK ideographs and radicals, kana, bopomofo, Hangul, full-width forms
    "[\u1100-\u11ff\u2e80-\u2fdf\u3000-\u30ff\u3100-\u312f\u3130-\u318f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U0001b000-\U0001b16f\U00020000-\U0003fffd]"
)
_MIDDLE = re.compile(  # Cyrillic, Hebrew, Arabic with their supplements and presentation forms
    "[\u0400-\u052f\u0590-\u05ff\u0600-\u06ff\u0750-\u077f\u0870-\u08ff\u1c80-\u1c8f\u2de0-\u2dff\ua640-\ua69f"
    "\ufb1d-\ufdff\ufe70-\ufeff]"
)
# chi as a fraction (numerator, denominator): integer arithmetic has no rounding to argue about.
_CHI_DENSE, _CHI_MIDDLE, _CHI_PLAIN = (8, 5), (5, 2), (4, 1)
_CHI = (_CHI_PLAIN, _CHI_MIDDLE, _CHI_DENSE)


class TokenCounter(Protocol):
    @property
    def id(self) -> str:
        """Changes whenever counts may change."""
        ...

    def count(self, text: str) -> int: ...


class EstimatingCounter:
    """The built-in counter: no tokenizer needed, errs on neither side by much for ordinary prose."""

    id = "estimate-1"

    def count(self, text: str) -> int:
        return _price(len(text), _chi(text))


class Pricing:
    """Prices lines as a counter prices them joined by line breaks.

    Under the estimate a price depends on length and script alone, so that lines that come again, or are added to
    others, cost next to nothing; an exact tokenizer has to see the whole text each time.
    """

    def __init__(self, counter: TokenCounter) -> None:
        self._count = counter.count
        self._estimates = isinstance(counter, EstimatingCounter)
        self._density = _Densities()

    def price(self, lines: Sequence[str]) -> int:
        return self._measure(lines).price if self._estimates else self._count("\n".join(lines))

    def measured(self, lines: Sequence[str]) -> Measured | None:
        """What lines can be added to; None for a counter that must see the whole."""
        return self._measure(lines) if self._estimates else None

    def plus(self, before: Measured, added: Sequence[str]) -> Measured:
        more = self._measure(added)
        return Measured(
            before.lines + more.lines, before.characters + more.characters, max(before.density, more.density)
        )

    def _measure(self, lines: Sequence[str]) -> Measured:
        return Measured(len(lines), sum(map(len, lines)), max(map(self._density.__getitem__, lines), default=0))


@dataclass(frozen=True, slots=True)
class Measured:
    """Lines, their code points, and the place in `_CHI` of their densest script."""

    lines: int
    characters: int
    density: int

    @property
    def price(self) -> int:
        return _price(self.characters + max(self.lines - 1, 0), _CHI[self.density])


class _Densities(dict[str, int]):
    """The script of each line met so far, as its place in `_CHI`."""

    def __missing__(self, line: str) -> int:
        place = self[line] = _CHI.index(_chi(line))
        return place


def share_of(budget: int, share: float) -> int:
    """Whole tokens in a share of a budget, in decimal arithmetic: .35 of 180 is 63, not 62."""
    return int(Decimal(repr(share)) * budget)


def gate_length(text: str) -> int:
    """The gate's own normaliser; not a price."""
    return max(len(text) // 4, 1)


def _price(length: int, chi: tuple[int, int]) -> int:
    numerator, denominator = chi
    return -(-length * denominator // numerator)


def _chi(text: str) -> tuple[int, int]:
    if text.isascii():
        return _CHI_PLAIN
    if _DENSE.search(text):
        return _CHI_DENSE
    return _CHI_MIDDLE if _MIDDLE.search(text) else _CHI_PLAIN
