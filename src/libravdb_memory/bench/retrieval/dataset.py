"""Conversations with labelled questions, read from files.

    {"name", "conversations": [{"id",
       "turns":     [{"id", "session", "role", "speaker" or null, "ts" (ms), "text"}],
       "questions": [{"id", "category", "text", "gold": [turn ids], "superseded": [turn ids], optional}]}]}

Law: a file is taken whole or refused with its name, the place and what is wrong there. Further keys are notes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn, cast

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.ingest.turns import checked_name, checked_text, milliseconds


@dataclass(frozen=True, slots=True)
class Said:
    """One turn of a conversation as the file has it."""

    id: str
    session: str
    role: str
    speaker: str | None
    ts: int
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """`gold` are the turns that answer it; `superseded` those that once did, until a gold turn corrected them."""

    id: str
    category: str
    text: str
    gold: frozenset[str]
    superseded: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Conversation:
    id: str
    turns: tuple[Said, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class DataSet:
    name: str
    file: str
    sha256: str
    conversations: tuple[Conversation, ...]

    @property
    def turns(self) -> int:
        return sum(len(conversation.turns) for conversation in self.conversations)

    @property
    def questions(self) -> int:
        return sum(len(conversation.questions) for conversation in self.conversations)


def read_all(paths: Sequence[Path]) -> tuple[DataSet, ...]:
    """Every file; a folder stands for its *.json. Two sets of one name could not be told apart in the results."""
    found = tuple(read(file) for path in paths for file in _files(path))
    for index, data in enumerate(found):
        if twin := next((other for other in found[:index] if other.name == data.name), None):
            raise InvalidInputError(data.file, f"has the name {data.name!r}, as {twin.file} has")
    return found


def read(path: Path) -> DataSet:
    try:
        raw = path.read_bytes()
        value: object = json.loads(raw)
    except OSError as error:
        raise InvalidInputError(path.name, f"cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(path.name, f"is not JSON ({error})") from None
    top = _Node(path.name, value)
    conversations = tuple(_conversation(node) for node in top.member("conversations").items())
    _refuse_twins(top.member("conversations"), (conversation.id for conversation in conversations))
    name = top.member("name").name() if "name" in top.members() else path.stem
    return DataSet(name, path.name, hashlib.sha256(raw).hexdigest(), conversations)


def limited(data: Sequence[DataSet], most: int) -> tuple[DataSet, ...]:
    """The same conversations with `most` of their questions, spread evenly over all of them."""
    total = sum(part.questions for part in data)
    if most >= total:
        return tuple(data)
    chosen = {number * total // most for number in range(most)}
    numbers = iter(range(total))

    def thinned(conversation: Conversation) -> Conversation:
        kept = tuple(question for question in conversation.questions if next(numbers) in chosen)
        return replace(conversation, questions=kept)

    return tuple(replace(part, conversations=tuple(map(thinned, part.conversations))) for part in data)


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    files = sorted(path.glob("*.json"))
    if not files:
        raise InvalidInputError(path.name, "is a folder without any .json file")
    yield from files


def _conversation(node: _Node) -> Conversation:
    identity = node.member("id").name()
    turns = tuple(_said(turn) for turn in node.member("turns").items())
    known = {turn.id for turn in turns}
    questions = tuple(_question(question, known) for question in node.member("questions").items())
    _refuse_twins(node.member("turns"), (turn.id for turn in turns))
    _refuse_twins(node.member("questions"), (question.id for question in questions))
    return Conversation(identity, turns, questions)


def _said(node: _Node) -> Said:
    speaker = node.members().get("speaker")
    return Said(
        id=node.member("id").name(),
        session=node.member("session").name(),
        role=node.member("role").name(),
        speaker=None if speaker is None else node.member("speaker").name(),
        ts=node.member("ts").moment(),
        text=node.member("text").text(),
    )


def _question(node: _Node, known: set[str]) -> Question:
    gold = _turn_ids(node.member("gold"), known)
    superseded = frozenset[str]()
    if node.members().get("superseded") is not None:
        superseded = _turn_ids(node.member("superseded"), known)
    if both := sorted(gold & superseded):
        node.member("superseded").refuse(f"names {both[0]!r}, which is gold")
    return Question(
        id=node.member("id").name(),
        category=node.member("category").name(),
        text=node.member("text").name(),
        gold=gold,
        superseded=superseded,
    )


def _turn_ids(node: _Node, known: set[str]) -> frozenset[str]:
    ids = [(item, item.name()) for item in node.items()]
    for item, name in ids:
        if name not in known:
            item.refuse(f"no turn of this conversation has the id {name!r}")
    return frozenset(name for _, name in ids)


def _refuse_twins(place: _Node, ids: Iterable[str]) -> None:
    seen: set[str] = set()
    for index, name in enumerate(ids):
        if name in seen:
            _Node(f"{place.place}[{index}].id", name).refuse(f"{name!r} is taken by an earlier one")
        seen.add(name)


@dataclass(frozen=True, slots=True)
class _Node:
    """A value of the file and its place, for messages."""

    place: str
    value: object

    def refuse(self, reason: str) -> NoReturn:
        raise InvalidInputError(self.place, reason)

    def members(self) -> Mapping[str, object]:
        if not isinstance(self.value, dict):
            self.refuse(f"must be an object, not {_kind(self.value)}")
        return cast("dict[str, object]", self.value)

    def member(self, key: str) -> _Node:
        members = self.members()
        if key not in members:
            self.refuse(f'has no "{key}"')
        separator = "." if "[" in self.place else ": "
        return _Node(f"{self.place}{separator}{key}", members[key])

    def items(self) -> list[_Node]:
        if not isinstance(self.value, list):
            self.refuse(f"must be an array, not {_kind(self.value)}")
        values = cast("list[object]", self.value)
        return [_Node(f"{self.place}[{index}]", value) for index, value in enumerate(values)]

    def text(self) -> str:
        return checked_text(self.place, self.value)

    def name(self) -> str:
        """Text that is not blank."""
        return checked_name(self.place, self.value)

    def moment(self) -> int:
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self.refuse(f"must be whole milliseconds since 1970, not {_kind(self.value)}")
        return milliseconds(self.place, self.value)


def _kind(value: object) -> str:
    kinds = {"dict": "an object", "list": "an array", "str": "text", "bool": "a truth value", "NoneType": "null"}
    return kinds.get(type(value).__name__, "a number")
