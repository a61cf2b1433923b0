"""A host's own message list: what it shows, and which part of it stays when memory owns the window.

Laws: a message that stays is the host's own object, untouched. What stays is a suffix that begins where a bundle begins
and holds at least the base tail; it starts with a user message, and when the suffix begins inside a long run of the
assistant, the request that started the run is kept in front of it. Leading system messages always stay. Keeping again
what was kept changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from libravdb_memory.assemble.tail import TailTurn, safe_starts
from libravdb_memory.identity import canonical_json
from libravdb_memory.tokens import TokenCounter

Message: TypeAlias = Mapping[str, Any]
"""A chat message as hosts write it: `role`, `content` (text or parts), tool calls and results in the usual shapes."""

MESSAGE_OVERHEAD = 4
"""Tokens that a chat template adds around a message."""

_PREAMBLE_ROLES = frozenset({"system", "developer"})
_TOOL_CALL_PARTS = frozenset({"toolCall", "tool_use", "tool_call", "function_call"})
_TOOL_RESULT_PARTS = frozenset({"tool_result", "toolResult"})


@dataclass(frozen=True, slots=True)
class Kept:
    """`indices` are the messages that stay, ascending; `over` is by how many tokens they exceed the limit because the
    base tail must stay, 0 otherwise."""

    indices: tuple[int, ...]
    tokens: int
    over: int


def keep_recent(messages: Sequence[Message], limit: int, least: int, counter: TokenCounter) -> Kept:
    """The longest legal suffix within the limit, or the shortest legal one when even that does not fit."""
    preamble = _preamble(messages)
    prices = [message_cost(message, counter) for message in messages]
    fixed = sum(prices[:preamble])
    turns = as_turns(messages[preamble:])
    options = [_with_request(turns, start) for start in _legal_starts(turns, least)] or [range(len(turns))]
    costs = [fixed + sum(prices[preamble + index] for index in option) for option in options]
    choice = next((index for index, cost in enumerate(costs) if cost <= limit), len(options) - 1)
    indices = (*range(preamble), *(preamble + index for index in options[choice]))
    return Kept(indices, costs[choice], max(costs[choice] - limit, 0))


def _legal_starts(turns: Sequence[TailTurn], least: int) -> list[int]:
    """Where a suffix may begin, the longest suffix first: a user message stands there or before it."""
    first_user = next((index for index, turn in enumerate(turns) if turn.role == "user"), len(turns))
    starts = [start for start in safe_starts(turns) if start >= first_user]
    long_enough = [start for start in starts if len(turns) - start >= least]
    return long_enough or starts[:1]


def _with_request(turns: Sequence[TailTurn], start: int) -> Sequence[int]:
    request = start
    while turns[request].role != "user":
        request -= 1
    suffix = range(start, len(turns))
    return suffix if request == start else (request, *suffix)


def message_cost(message: Message, counter: TokenCounter) -> int:
    return counter.count(message_text(message)) + MESSAGE_OVERHEAD


def message_text(message: Message) -> str:
    """Everything of a message that a model reads, as one text."""
    pieces = list(_content_pieces(message.get("content")))
    pieces += [canonical_json(message[field]) for field in ("tool_calls", "function_call") if message.get(field)]
    return "\n".join(pieces)


def plain_text(message: Message) -> str:
    """The words of a message alone: what a turn of it is stored as."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(
        str(part["text"])
        for part in _parts(content)
        if part.get("type") == "text" and isinstance(part.get("text"), str)
    )


def as_turns(messages: Sequence[Message]) -> tuple[TailTurn, ...]:
    """The messages with their tool calls and results, as the tail's bundles see them."""
    return tuple(
        TailTurn(
            id=str(message.get("id", index)),
            role=_role(message),
            text=plain_text(message),
            calls=tuple(_calls(message)),
            answers=tuple(_answers(message)),
        )
        for index, message in enumerate(messages)
    )


def _preamble(messages: Sequence[Message]) -> int:
    return next(
        (index for index, message in enumerate(messages) if message.get("role") not in _PREAMBLE_ROLES), len(messages)
    )


def _role(message: Message) -> str:
    """A user message made only of tool results is a result, not a request."""
    role = str(message.get("role") or "")
    parts = list(_parts(message.get("content")))
    if parts and all(_kind(part) in _TOOL_RESULT_PARTS for part in parts):
        return "tool"
    return role


def _calls(message: Message) -> Iterator[str]:
    for call in cast(Sequence[Any], message.get("tool_calls") or ()):
        if isinstance(call, Mapping) and (call_id := cast(Message, call).get("id")):
            yield str(call_id)
    for part in _parts(message.get("content")):
        if _kind(part) in _TOOL_CALL_PARTS and (call_id := part.get("id") or part.get("call_id")):
            yield str(call_id)


def _answers(message: Message) -> Iterator[str]:
    for field in ("tool_call_id", "toolCallId"):
        if message.get(field):
            yield str(message[field])
    for part in _parts(message.get("content")):
        if _kind(part) in _TOOL_RESULT_PARTS and (call_id := part.get("tool_use_id") or part.get("toolCallId")):
            yield str(call_id)


def _kind(part: Message) -> str:
    kind = part.get("type")
    return kind if isinstance(kind, str) else ""


def _content_pieces(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
        return
    for part in _parts(content):
        text = part.get("text")
        yield text if isinstance(text, str) else canonical_json(cast(Any, part))


def _parts(content: object) -> Iterator[Message]:
    if isinstance(content, Sequence) and not isinstance(content, str | bytes):
        for part in cast(Sequence[object], content):
            if isinstance(part, Mapping):
                yield cast(Message, part)
            elif isinstance(part, str):
                yield {"type": "text", "text": part}
