"""How a text longer than a model's input becomes several inputs.

Law: the cost of a text is bounded, whatever its length, and every part of it has the same chance to count. A text is
read through overlapping windows; when there are too many, `MOST_WINDOWS` spread evenly over it are kept, the first and
the last among them. A text so long that reading it whole would be costly is sampled by characters beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST_WINDOWS = 32
CHARACTERS_PER_TOKEN = 8


@dataclass(frozen=True, slots=True)
class Window:
    """One input of the model; `weight` is how many of its tokens are the text's own, `start` where those begin."""

    ids: tuple[int, ...]
    weight: int
    start: int = 0

    @property
    def own(self) -> slice:
        return slice(self.start, self.start + self.weight)


@dataclass(frozen=True, slots=True)
class Frame:
    """What surrounds the text in every window: special tokens before and after, and the prefix."""

    head: tuple[int, ...]
    tail: tuple[int, ...]

    def around(self, ids: Sequence[int]) -> tuple[int, ...]:
        return (*self.head, *ids, *self.tail)


def rule(max_tokens: int) -> str:
    """The name of this rule, as it enters the identity of a space."""
    return f"windows of {max_tokens}, overlap 1/4, at most {MOST_WINDOWS} spread evenly"


def sample(text: str, max_tokens: int) -> list[str]:
    """The text itself, or pieces spread over it when it is too long to be read whole."""
    size = max_tokens * CHARACTERS_PER_TOKEN
    if len(text) <= size * MOST_WINDOWS:
        return [text]
    starts = spread(len(text) - size + 1, MOST_WINDOWS)
    return [text[start : start + size] for start in starts]


def spread(count: int, most: int) -> list[int]:
    """Up to `most` of range(count), evenly, with both ends."""
    if count <= most:
        return list(range(count))
    if most == 1:
        return [0]
    return [index * (count - 1) // (most - 1) for index in range(most)]


def overlapping(length: int, size: int) -> list[slice]:
    """Slices of at most `size` that cover range(length), each sharing a quarter with the one before."""
    if length <= size:
        return [slice(0, length)] if length else []
    stride = max(size * 3 // 4, 1)
    last = -(-(length - size) // stride)
    return [slice(index * stride, min(index * stride + size, length)) for index in spread(last + 1, MOST_WINDOWS)]


def speakable(text: str) -> str:
    """The text with lone surrogates replaced, which have no UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
