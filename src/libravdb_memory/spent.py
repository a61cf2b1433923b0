"""What a model that summarises was asked for, and read and wrote: what whoever pays for an endpoint wants to see.

Laws: every call counts, whatever came of it: an answer that was taken, one that was not, or none at all. What needs no
model costs nothing. Adding loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spent:
    """`calls` of a model, the tokens that it read and those that it wrote.

    One call is one summary asked for: what is sent again because the endpoint was busy or the line was cut counts once,
    and so does one to an endpoint that cannot be reached. Tokens are those that the model accounts for, estimates where
    it does not, and none where no answer came. The single token by which an endpoint is asked whether it is there
    counts as nothing; nor is known what a process had spent that was lost at work.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def __add__(self, more: Spent) -> Spent:
        return Spent(self.calls + more.calls, self.tokens_in + more.tokens_in, self.tokens_out + more.tokens_out)


NOTHING = Spent()


def total(many: Iterable[Spent]) -> Spent:
    return sum(many, NOTHING)
