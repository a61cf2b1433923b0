"""Secrets in facts: JSON whose names tell what their values are.

Laws: only texts change, and only where a secret stands; numbers, keys, order and shape stay as they are. What is an
address (`NAMES`) is never changed: a record must be found again by it. Masking again changes nothing.

A text is read alone, as any text, and together with the names around it, as one line of JSON in which every character
has its place, so that what is found there can be masked here. A single short word is read in the line only.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from libravdb_memory.identity import Json

from . import find_secrets, mask, masked_at, telling
from .view import Secret

NAMES = frozenset(
    """id user userId user_id session sessionId session_id sessionKey session_key agentId agent_id role speaker type
    tool_call_id toolCallId tool_calls wire_id source_turn_id source_turn_ids source_ids prior_ids parent_summary_ids
    first_turn last_turn source_doc source_root source_path source_kind file_hash partition hop_targets""".split()
)
"""Keys of addresses: what stands directly under them names a record, a person or a file."""
_LONGEST_NAMED = 256
"""A longer text is no password, whatever it is called."""
_PLAIN = str.maketrans({'"': "'", "\\": "/", "\n": " ", "\r": " "})
_MOST_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class MaskedFacts:
    """`kinds` are those of the secrets that were masked; `values` the ones worth looking for elsewhere."""

    facts: Mapping[str, Json]
    kinds: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict[str, str])


def mask_facts(facts: Mapping[str, Json], known: Mapping[str, str] | None = None) -> MaskedFacts:
    """The facts with a marker in the place of every secret. `known` are secrets from elsewhere.

    >>> mask_facts({"login": {"password": "hunter2Blue", "tries": 3}}).facts
    {'login': {'password': '[masked: password]', 'tries': 3}}
    """
    texts = list(_texts(facts, ""))
    if not texts:
        return MaskedFacts(facts)
    masking = _Masking([text for text, _ in texts], [name in NAMES for _, name in texts], dict(known or {}))
    masking.each_alone()
    for _ in range(_MOST_ROUNDS):
        if not masking.by_names(facts):
            break
    if not masking.kinds:
        return MaskedFacts(facts)
    masking.each_alone()
    filled = _filled(facts, iter(masking.texts))
    return MaskedFacts(cast(Mapping[str, Json], filled), tuple(masking.kinds), masking.values)


class _Masking:
    """The texts of the facts, in their order, while they are masked."""

    def __init__(self, texts: list[str], fixed: list[bool], values: dict[str, str]) -> None:
        self.texts = texts
        self.kinds: list[str] = []
        self.values = values
        self._fixed = fixed

    def each_alone(self) -> None:
        for at, text in enumerate(self.texts):
            if not self._fixed[at] and not _is_one_word(text):
                self._mask(at, mask(text, self.values).found)

    def by_names(self, facts: Json) -> bool:
        """Mask what the names tell of; whether there was anything."""
        line, starts = _Line.of(facts, self.texts)
        inside: dict[int, list[Secret]] = {}
        for secret in find_secrets(line, self.values):
            at = bisect_right(starts, secret.start) - 1
            if at < 0 or self._fixed[at] or secret.end > starts[at] + _shown(self.texts[at]):
                continue
            place = starts[at]
            inside.setdefault(at, []).append(Secret(secret.kind, secret.start - place, secret.end - place))
        for at, found in inside.items():
            self._mask(at, tuple(found))
        return bool(inside)

    def _mask(self, at: int, found: tuple[Secret, ...]) -> None:
        if found:
            self.kinds += [secret.kind for secret in found]
            self.values |= telling(self.texts[at], found)
            self.texts[at] = masked_at(self.texts[at], found).text


class _Line:
    """Facts as one line of JSON, and the place of every text in it."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = iter(texts)
        self._pieces: list[str] = []
        self._length = 0
        self._starts: list[int] = []

    @classmethod
    def of(cls, facts: Json, texts: list[str]) -> tuple[str, list[int]]:
        line = cls(texts)
        line._write(facts)
        return "".join(line._pieces), line._starts

    def _write(self, value: Json) -> None:
        if isinstance(value, str):
            text = next(self._texts)
            self._add('"')
            self._starts.append(self._length)
            self._add(text.translate(_PLAIN) if _shown(text) else "", '"')
        elif isinstance(value, Mapping):
            for index, (key, inner) in enumerate(value.items()):
                self._add(", " if index else "{", f'"{key.translate(_PLAIN)}": ')
                self._write(inner)
            self._add("}")
        elif isinstance(value, Sequence):
            self._add("[")
            for inner in value:
                self._write(inner)
                self._add(", ")
            self._add("]")
        else:
            self._add("null")

    def _add(self, *pieces: str) -> None:
        self._pieces += pieces
        self._length += sum(map(len, pieces))


def _is_one_word(text: str) -> bool:
    return len(text) <= _LONGEST_NAMED and text.translate(_PLAIN) == text and not any(map(str.isspace, text))


def _shown(text: str) -> int:
    """How much of a text is in the line: all or nothing."""
    return len(text) if len(text) <= _LONGEST_NAMED else 0


def _texts(value: Json, name: str) -> Iterator[tuple[str, str]]:
    """Every text, with the key it stands under."""
    if isinstance(value, str):
        yield value, name
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(inner, key)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from _texts(inner, name)


def _filled(value: Json, texts: Iterator[str]) -> Json:
    """The same with other texts."""
    if isinstance(value, str):
        return next(texts)
    if isinstance(value, Mapping):
        return {key: _filled(inner, texts) for key, inner in value.items()}
    if isinstance(value, Sequence):
        return [_filled(inner, texts) for inner in value]
    return value
