"""The value the rule families look at: the words of one clause and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Modality = Literal["obligatory", "forbidden", "permitted"]


@dataclass(frozen=True, slots=True)
class Clause:
    """Lower-cased words and signs of one clause.

    `ended` is true when a full stop or exclamation mark closed it, `question` when a question mark did.
    """

    words: list[str]
    shapes: list[str]
    ended: bool
    question: bool

    def word(self, index: int) -> str:
        """The word at an index, or the empty string beyond either end."""
        return self.words[index] if 0 <= index < len(self.words) else ""

    def shape(self, index: int) -> str:
        return self.shapes[index] if 0 <= index < len(self.shapes) else ""
