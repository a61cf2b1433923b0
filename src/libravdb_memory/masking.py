"""The one place through which a text goes before it is kept: what is recognised as a secret leaves it here.

Laws: whatever is stored, searched or put into a prompt passes `Masking`; names (ids, users, sessions, files) do not.
Two texts that differ in their secrets alone are one text afterwards, so writes stay idempotent. The original of a turn
is kept only if that is configured, as a mark beside the turn: no search, summary, index or prompt reads it, and it goes
with its turn. The patterns of secrets take a while to make: they are made with the first text, or by `prepare`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from libravdb_memory.errors import NotFoundError
from libravdb_memory.identity import Json
from libravdb_memory.ingest.secrets_settings import SecretsSettings
from libravdb_memory.model import Turn

MASKED = "masked"
"""The mark of a record in which secrets were masked: their kinds and, where it is kept, what it was before."""
_KINDS, _TEXT, _METADATA = "kinds", "text", "metadata"
_REMEMBERED, _REMEMBERED_UP_TO = 512, 8_000
"""So many texts of up to so many characters: a host hands over the same messages again and again."""


@dataclass(frozen=True, slots=True)
class Content:
    """A text and its facts without their secrets, and the kinds of these. `values` are secrets worth looking for in
    what was made from it."""

    text: str
    facts: Mapping[str, Json]
    kinds: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict[str, str])


class Masking:
    def __init__(self, settings: SecretsSettings) -> None:
        self.settings = settings
        self._remembered = lru_cache(_REMEMBERED)(_masked_text)

    def text(self, text: str) -> str:
        if not self.settings.mask:
            return text
        return self._remembered(text) if len(text) <= _REMEMBERED_UP_TO else _masked_text(text)

    def facts(self, facts: Mapping[str, Json]) -> Mapping[str, Json]:
        if not self.settings.mask or not facts:
            return facts
        from libravdb_memory.ingest.secrets.facts import mask_facts

        return mask_facts(facts).facts

    def content(self, text: str, facts: Mapping[str, Json], known: Mapping[str, str] | None = None) -> Content:
        """Both together: what is a secret in one is a secret in the other."""
        if not self.settings.mask:
            return Content(text, facts)
        from libravdb_memory.ingest.secrets import mask, telling
        from libravdb_memory.ingest.secrets.facts import MaskedFacts, mask_facts

        said = mask(text, known)
        values = telling(text, said.found) if said.found else {}
        beside = mask_facts(facts, values | dict(known or {})) if facts else MaskedFacts(facts)
        if beside.kinds:
            said, values = mask(text, beside.values), dict(beside.values)
        return Content(said.text, beside.facts, (*(secret.kind for secret in said.found), *beside.kinds), values)

    def turn(self, turn: Turn) -> Turn:
        said = self.content(turn.text, turn.metadata)
        return replace(turn, text=said.text, metadata=said.facts, masked=said.kinds) if said.kinds else turn

    def note(self, original: Turn, kinds: tuple[str, ...]) -> dict[str, Json]:
        """The data of the mark on a turn that was masked."""
        told: dict[str, Json] = {_KINDS: list(kinds)}
        if self.settings.keep_raw:
            told |= {_TEXT: original.text, _METADATA: original.metadata}
        return told

    def brought(self, note: Mapping[str, Json]) -> dict[str, Json]:
        """The data of such a mark that another store has made."""
        kept = note if self.settings.keep_raw or not self.settings.mask else {_KINDS: note.get(_KINDS, [])}
        return dict(kept)


def masked_in(turn: Turn, note: Mapping[str, Json] | None) -> Turn:
    """The turn with what the mark on it tells, if it has one."""
    kinds = None if note is None else note.get(_KINDS)
    return replace(turn, masked=tuple(map(str, kinds))) if isinstance(kinds, list | tuple) else turn


def original_of(turn: Turn, note: Mapping[str, Json] | None) -> Turn:
    """The turn as it was said, by the mark on it, if it has one."""
    if note is None:
        return turn
    text, metadata = note.get(_TEXT), note.get(_METADATA)
    if not isinstance(text, str):
        raise NotFoundError(turn.id, f"the original of {turn.id!r} was not kept (secrets.keep_raw)")
    return replace(turn, text=text, metadata=metadata if isinstance(metadata, Mapping) else {})


def prepare() -> None:
    """Make the patterns now, so that nobody's first turn waits for them."""
    _masked_text("")


def _masked_text(text: str) -> str:
    from libravdb_memory.ingest.secrets import mask

    return mask(text).text
