"""Mode `own`: memory keeps the window, and nothing leaves a prompt before it is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libravdb_memory import Config, InvalidInputError, Memory, load_config
from libravdb_memory.assemble.messages import MESSAGE_OVERHEAD, message_cost
from libravdb_memory.namespaces import history_of
from libravdb_memory.tokens import EstimatingCounter

COUNTER = EstimatingCounter()
Messages = list[dict[str, Any]]


@pytest.fixture
def memory(tmp_path: Path, hashed: Config) -> Iterator[Memory]:
    with Memory.open(tmp_path / "store.libravdb", config=hashed) as opened:
        yield opened


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    home = tmp_path_factory.mktemp("hosting")
    config = load_config(environ={"LIBRAVDB_HOME": str(home), "LIBRAVDB_EMBEDDING_BACKEND": "hashed"})
    with Memory.open(home / "store.libravdb", config=config) as opened:
        yield opened


def stored(memory: Memory, user: str, session: str = "s") -> list[tuple[str, str]]:
    records = memory._store.page(history_of(user), limit=5000).records
    return [(str(record.metadata["role"]), record.text) for record in records if record.group == session]


def exchange(number: int, words: int = 12) -> Messages:
    return [
        {"role": "user", "content": f"question {number} " + "w " * words},
        {"role": "assistant", "content": "", "tool_calls": [{"id": f"c{number}", "function": {"name": "look"}}]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": f"result {number}"},
        {"role": "assistant", "content": f"answer {number} " + "v " * words},
    ]


histories = st.lists(st.integers(0, 60), min_size=0, max_size=12).map(
    lambda sizes: [message for number, words in enumerate(sizes) for message in exchange(number, words)]
)
cases = iter(range(10**9))


@settings(max_examples=40)
@given(histories, st.integers(100, 3000))
def test_what_leaves_is_stored_first_and_what_stays_is_legal(shared: Memory, messages: Messages, budget: int) -> None:
    user = f"u{next(cases)}"
    built = shared.context("and now?", user=user, session="s", budget=budget, messages=messages, mode="own")
    kept = list(built.messages)
    assert all(any(message is original for original in messages) for message in kept)
    if kept:
        assert kept[0]["role"] == "user"
        assert kept[-1] is messages[-1]
    calls = {call["id"] for message in kept for call in message.get("tool_calls", ())}
    assert calls == {message["tool_call_id"] for message in kept if message["role"] == "tool"}
    left = [message for message in messages if not any(message is one for one in kept)]
    held = {text for _, text in stored(shared, user)}
    for message in left:
        assert not message["content"] or message["content"] in held
    price = COUNTER.count(built.text) + sum(message_cost(message, COUNTER) for message in kept)
    assert built.tokens == price + COUNTER.count("and now?") + MESSAGE_OVERHEAD
    assert built.degraded or built.tokens <= budget


@settings(max_examples=30)
@given(histories, st.integers(100, 3000))
def test_assembling_its_own_output_again_changes_nothing(shared: Memory, messages: Messages, budget: int) -> None:
    user = f"u{next(cases)}"
    first = shared.context("and now?", user=user, session="s", budget=budget, messages=messages, mode="own")
    before = stored(shared, user)
    again = shared.context("and now?", user=user, session="s", budget=budget, messages=first.messages, mode="own")
    assert again.messages == first.messages
    assert stored(shared, user) == before


def test_a_message_that_leaves_is_stored_once_however_often_it_leaves(memory: Memory) -> None:
    messages = [message for number in range(30) for message in exchange(number)]
    for _ in range(3):
        memory.context("and now?", user="ada", session="s", budget=600, messages=messages, mode="own")
    assert max(Counter(stored(memory, "ada")).values()) == 1


def test_equal_messages_that_leave_are_all_stored(memory: Memory) -> None:
    again: Messages = [{"role": "user", "content": "yes"}, {"role": "assistant", "content": "done"}] * 20
    long: Messages = [{"role": "user", "content": "w " * 300}, {"role": "assistant", "content": "v " * 300}] * 2
    for _ in range(2):
        memory.context("and now?", user="ada", session="s", budget=500, messages=[*again, *long], mode="own")
    assert Counter(stored(memory, "ada"))["user", "yes"] == 20
    more = [*again, *again[:2], *long]
    memory.context("and now?", user="ada", session="s", budget=500, messages=more, mode="own")
    assert Counter(stored(memory, "ada"))["user", "yes"] == 21


@pytest.mark.parametrize("role", [{}, {"role": None}, {"role": ""}])
def test_a_message_without_a_role_is_a_users_and_is_stored_once(memory: Memory, role: dict[str, Any]) -> None:
    messages = [{**role, "content": "nobody said this"}, *exchange(1), *exchange(2, 60)]
    for _ in range(3):
        memory.context("and now?", user="ada", session="s", budget=200, messages=messages, mode="own")
    assert [said for said in stored(memory, "ada") if said[1] == "nobody said this"] == [("user", "nobody said this")]


def test_a_message_that_was_edited_under_its_id_is_stored_beside_what_it_was(memory: Memory) -> None:
    for content in ("ship on Monday", "ship on Friday", "ship on Friday"):
        messages = [{"role": "user", "id": "m1", "content": content}, *exchange(1), *exchange(2, 60)]
        memory.context("and now?", user="ada", session="s", budget=200, messages=messages, mode="own")
    said = [text for _, text in stored(memory, "ada") if text.startswith("ship")]
    assert said == ["ship on Monday", "ship on Friday"]


@pytest.mark.parametrize("kind", [[], {}, 3, None, True])
def test_a_part_whose_type_is_no_word_is_some_other_part(memory: Memory, kind: Any) -> None:
    messages = [{"role": "user", "content": [{"type": kind, "text": "odd"}]}, *exchange(1), *exchange(2, 60)]
    memory.context("and now?", user="ada", session="s", budget=200, messages=messages, mode="own")
    assert ("user", "odd") in stored(memory, "ada")


def test_a_long_conversation_stays_within_its_window(memory: Memory) -> None:
    budget, history = 2500, list[dict[str, Any]]()
    for turn in range(50):
        history += [message for step in range(2) for message in exchange(turn * 2 + step)]
        history += [{"role": "user", "content": f"remark {turn}"}, {"role": "assistant", "content": f"noted {turn}"}]
        built = memory.context(f"prompt {turn}", user="ada", session="s", budget=budget, messages=history, mode="own")
        assert built.tokens <= budget and not [note for note in built.degraded if "embedded" not in note]
    assert len(history) == 500
    held = {text for _, text in stored(memory, "ada")}
    kept = {id(message) for message in built.messages}
    left = [message for message in history if id(message) not in kept]
    assert all(message["content"] in held for message in left if message["content"])
    assert len(stored(memory, "ada")) == len(left)


@pytest.mark.parametrize(
    ("messages", "place"),
    [
        (5, "messages"),
        ("hello", "messages"),
        ({"role": "user", "content": "x"}, "messages"),
        (["x"], "messages[0]"),
        ([None], "messages[0]"),
        ([{"role": "user", "content": "x"}, 7], "messages[1]"),
        ([{"role": 1}], "messages[0].role"),
        ([{"role": "user", "content": 5}], "messages[0].content"),
        ([{"role": "user", "content": b"x"}], "messages[0].content"),
        ([{"role": "user", "content": {"text": "x"}}], "messages[0].content"),
        ([{"role": "user", "content": ["x", 5]}], "messages[0].content[1]"),
        ([{"role": "user", "content": [{"type": "image", "data": b"x"}]}], "messages[0].content[0]"),
        ([{"role": "assistant", "tool_calls": 5}], "messages[0].tool_calls"),
        ([{"role": "assistant", "tool_calls": [{"id": object()}]}], "messages[0].tool_calls"),
        ([{"role": "assistant", "function_call": {1, 2}}], "messages[0].function_call"),
        ([{"role": "tool", "tool_call_id": 5}], "messages[0].tool_call_id"),
    ],
)
@pytest.mark.parametrize("mode", ["augment", "own"])
def test_what_is_no_message_is_refused_with_its_place(memory: Memory, messages: Any, place: str, mode: Any) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        memory.context("and now?", user="ada", session="s", budget=600, messages=messages, mode=mode)
    assert refusal.value.field == place
    assert stored(memory, "ada") == []


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3),
    max_leaves=6,
)
oddities = st.dictionaries(
    st.sampled_from(["role", "content", "tool_calls", "function_call", "tool_call_id", "toolCallId", "id", "type"]),
    anything,
    max_size=4,
)


@settings(max_examples=300)
@given(st.lists(oddities | anything, max_size=3) | anything, st.sampled_from(["augment", "own"]))
def test_any_value_for_messages_is_taken_or_refused_in_words(shared: Memory, messages: Any, mode: Any) -> None:
    try:
        shared.context("and now?", user="odd", session="s", budget=200, messages=messages, mode=mode)
    except InvalidInputError as refusal:
        assert refusal.reason
