"""Messages of a host on their way into memory.

Laws: a list is taken as it stands, or refused with the place of the first message that is none. A message leaves a
prompt only when its session holds it; what the session does not hold yet is stored first, with its tool calls and
results, so that bundles stay whole in memory too. Of equal messages, as many are stored as leave.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard, cast

from libravdb_memory.assemble.messages import Message, as_turns, message_text
from libravdb_memory.errors import InvalidInputError
from libravdb_memory.identity import Json, canonical_json
from libravdb_memory.ingest.turns import turn_of
from libravdb_memory.masking import Masking
from libravdb_memory.namespaces import history_of
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Equals, Store


def checked_messages(given: object) -> tuple[Message, ...]:
    """A host's list of messages, None for an empty one."""
    if given is None:
        return ()
    if not _is_list(given):
        raise InvalidInputError("messages", f"must be a list of messages, not {type(given).__name__}")
    return tuple(_checked_message(f"messages[{index}]", message) for index, message in enumerate(given))


def _checked_message(where: str, given: object) -> Message:
    if not isinstance(given, Mapping):
        raise InvalidInputError(where, f'must be an object with "role" and "content", not {type(given).__name__}')
    message = cast(Message, given)
    for field in ("role", "tool_call_id", "toolCallId"):
        if not isinstance(message.get(field), str | None):
            raise InvalidInputError(f"{where}.{field}", f"must be text, not {type(message[field]).__name__}")
    _check_content(f"{where}.content", message.get("content"))
    if not (_is_list(message.get("tool_calls")) or message.get("tool_calls") is None):
        kind = type(message["tool_calls"]).__name__
        raise InvalidInputError(f"{where}.tool_calls", f"must be a list of calls, not {kind}")
    for field in ("tool_calls", "function_call"):
        _check_json(f"{where}.{field}", message.get(field))
    return message


def _check_content(where: str, content: object) -> None:
    if isinstance(content, str | None):
        return
    if not _is_list(content):
        raise InvalidInputError(where, f"must be text or a list of parts, not {type(content).__name__}")
    for index, part in enumerate(content):
        if not isinstance(part, str | Mapping):
            raise InvalidInputError(f"{where}[{index}]", f"must be text or an object, not {type(part).__name__}")
        _check_json(f"{where}[{index}]", cast(object, part))


def _check_json(where: str, value: object) -> None:
    try:
        canonical_json(cast(Json, value))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(where, f"is not JSON ({error})") from None


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray | memoryview)


def not_held(
    store: Store, masking: Masking, namespace: str, session: str, messages: Sequence[Message]
) -> tuple[Said, ...]:
    """Of what was said in the messages, that which the session does not hold yet."""
    if not messages:
        return ()
    held, missing = _held(store, history_of(namespace), session), list[Said]()
    for said in spoken(messages):
        as_kept = said.role, masking.text(said.text)
        if held[as_kept]:
            held[as_kept] -= 1
        else:
            missing.append(said)
    return tuple(missing)


@dataclass(frozen=True, slots=True)
class Said:
    """A message as it is stored. `at` is its place in the list, `id` the host's own name for it, if it has one; `ts` is
    when the host says that it was said."""

    at: int
    role: str
    text: str
    id: str | None
    facts: Mapping[str, Json]
    ts: int | None = None


def spoken(messages: Sequence[Message]) -> Iterator[Said]:
    """Of the messages, those that say anything. What a host made for itself or keeps out of its prompt was not said."""
    for at, (message, turn) in enumerate(zip(messages, as_turns(messages), strict=True)):
        text = turn.text or message_text(message)
        if not text or message.get("role") == "custom" or message.get("excludeFromContext") is True:
            continue
        facts: dict[str, Json] = {}
        if turn.calls:
            facts["tool_calls"] = list(turn.calls)
        if turn.answers:
            facts["tool_call_id"] = turn.answers[0]
        name = message.get("id")
        own_id = name if isinstance(name, str) and name.strip() else None
        yield Said(at, turn.role or "user", text, own_id, facts, _moment(message.get("timestamp")))


def _moment(given: object) -> int | None:
    return given if isinstance(given, int) and not isinstance(given, bool) and 0 < given < 2**53 else None


def _held(store: Store, collection: str, session: str) -> Counter[tuple[str, str]]:
    turns = map(turn_of, every(store, collection, Equals("group", session)))
    return Counter((turn.role, turn.text) for turn in turns)
