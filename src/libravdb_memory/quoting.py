"""What is erased, and whether a receipt quotes it: by the records that it was made from, or by the words of its prompt
and of the messages that the host showed.

Laws, of a text of a receipt and one that is erased, white space aside:
- Where they are equal, the receipt quotes it, however short they are.
- Where the erased text is within the other, it is quoted too, if it has two words or `_TELLING` bytes.
- Where the other is within a turn's own words (a prompt that was stored with an attachment behind it), it is a part of
  them, if it has `_TELLING` bytes: "yes" and "thanks" are within any long turn and tell nothing of it. What was made of
  a turn holds sentences of other turns, which stay: of that only the whole counts.
- Of a prompt of which only the two ends were kept, each is such a text, and quotes too what begins within it before it
  breaks off.
- A summary that is not there any more, or says something else now, was replaced by a rebuild, and nothing tells what it
  was made of: where a turn of its session is erased, a receipt that was made from it quotes it.
A receipt too many may go, which is no loss; none that quotes may stay.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from libravdb_memory.assemble.fill import Candidate, Offer, same_text
from libravdb_memory.namespaces import (
    GLOBAL,
    dreaming_namespace_of,
    guided_namespace_of,
    namespace_of,
    summaries_of,
    summarised_namespace_of,
)
from libravdb_memory.retrieve.question import READ_AT_EACH_END
from libravdb_memory.store.protocol import Key, Selection

if TYPE_CHECKING:
    from libravdb_memory.receipts import Receipt

_TELLING = 12
"""Bytes: two short words of English, four signs of Chinese."""
_EVERYBODY = None


@dataclass(slots=True)
class _Lost:
    """What goes of one namespace, or of what is shown to all: records by session and id, whole sessions, or
    everything."""

    records: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    losing_turns: set[str] = field(default_factory=set[str])
    """The sessions of such records that are turns."""
    sessions: set[str] = field(default_factory=set[str])
    everything: bool = False

    def concerns(self, receipt: Receipt) -> bool:
        if self.everything or receipt.session in self.sessions:
            return True
        quoted = {(turn.session, turn.id) for turn in receipt.offer.turns}
        quoted |= {(item.session, item.id) for item in candidates(receipt.offer)}
        return not self.records.isdisjoint(quoted) or any(session in self.sessions for session, _ in quoted)


class Erased:
    """`said` are the erased turns' own words, `made` what was made of them; `text_of` gives what a record in
    the store says, None where there is none. Safe to ask from many threads."""

    def __init__(
        self,
        selection: Selection,
        said: Iterable[str] = (),
        made: Iterable[str] = (),
        text_of: Callable[[Key], str | None] | None = None,
    ) -> None:
        self._lost = _lost(selection)
        self._text_of = text_of
        self._standing: dict[Key, str | None] = {}
        self._said = {same_text(text) for text in said} - {""}
        self._whole = self._said | ({same_text(text) for text in made} - {""})
        self._to_look_for = [text for text in self._whole if " " in text or _tells(text)]
        self._spoken = "\n".join(self._said)  # no text has a line end in it: none is found across two
        self._known: dict[bytes, bool] = {}

    def losing(self, everybody: Iterable[str]) -> list[str]:
        """Those of these namespaces whose receipts may quote it."""
        return [name for name in everybody if self._of(name)]

    def is_quoted_by(self, receipt: Receipt) -> bool:
        several = self._of(receipt.namespace)
        if not several:
            return False
        if any(lost.concerns(receipt) or self._tells_what_was_replaced(receipt, lost) for lost in several):
            return True
        return bool(self._whole) and (
            any(map(self._is_said_in, {receipt.prompt, *receipt.offer.visible}))
            or self._is_said_at_the_ends_of(receipt.prompt)
        )

    def _of(self, namespace: str) -> list[_Lost]:
        return [self._lost[name] for name in (namespace, _EVERYBODY) if name in self._lost]

    def _tells_what_was_replaced(self, receipt: Receipt, lost: _Lost) -> bool:
        return self._text_of is not None and any(
            self._standing_text(Key(summaries_of(receipt.namespace), item.id, item.session), self._text_of) != item.text
            for item in candidates(receipt.offer)
            if item.covers_from and item.session in lost.losing_turns
        )

    def _standing_text(self, summary: Key, text_of: Callable[[Key], str | None]) -> str | None:
        """Many prompts show the same ones."""
        if summary not in self._standing:
            self._standing[summary] = text_of(summary)
        return self._standing[summary]

    def _is_said_in(self, text: str) -> bool:
        """A host shows the same messages with one prompt after another."""
        name = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        if name not in self._known:
            self._known[name] = self._is_told_by(same_text(text))
        return self._known[name]

    def _is_told_by(self, shown: str) -> bool:
        return (
            shown in self._whole
            or any(text in shown for text in self._to_look_for)
            or (_tells(shown) and shown in self._spoken)
        )

    def _is_said_at_the_ends_of(self, prompt: str) -> bool:
        if not _is_cut(prompt):
            return False
        beginning, end = (same_text(part) for part in (prompt[:READ_AT_EACH_END], prompt[-READ_AT_EACH_END:]))
        return any(map(self._is_told_by, (beginning, end))) or any(
            _goes_over(beginning, text) or _goes_over(text[-len(end) :], end) for text in self._whole
        )


def candidates(offer: Offer) -> tuple[Candidate, ...]:
    return (*offer.elevated, *offer.recalled, *offer.recovered)


def _tells(text: str) -> bool:
    return len(text) >= _TELLING or len(text.encode("utf-8", "surrogatepass")) >= _TELLING


def _is_cut(prompt: str) -> bool:
    """Whether these may be the two ends of a longer one, as `what_counts` leaves them."""
    return len(prompt) == 2 * READ_AT_EACH_END + 1 and prompt[READ_AT_EACH_END] == "\n"


def _goes_over(text: str, into: str) -> bool:
    """Whether a text ends with what another begins with."""
    begin = into[:_TELLING]
    place = text.find(begin) if len(begin) == _TELLING else -1
    while place >= 0 and not into.startswith(text[place:]):
        place = text.find(begin, place + 1)
    return place >= 0


def _lost(erased: Selection) -> dict[str | None, _Lost]:
    """By namespace."""
    found: dict[str | None, _Lost] = {}

    def of(collection: str) -> Iterator[_Lost]:
        for namespace in _shown_to(collection):
            yield found.setdefault(namespace, _Lost())

    for key in erased.keys:
        for lost in of(key.collection):
            lost.records.add((key.group, key.id))
            if namespace_of(key.collection) is not None:
                lost.losing_turns.add(key.group)
    for collection, session in erased.groups:
        for lost in of(collection):
            lost.sessions.add(session)
    for collection in erased.collections:
        for lost in of(collection):
            lost.everything = True
    return found


def _shown_to(collection: str) -> Sequence[str | None]:
    """In whose prompts the records of a collection may stand."""
    if collection == GLOBAL:
        return (_EVERYBODY,)
    readings = (namespace_of, summarised_namespace_of, guided_namespace_of, dreaming_namespace_of)
    return [name for reading in readings if (name := reading(collection)) is not None]
