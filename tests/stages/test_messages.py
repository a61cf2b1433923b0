"""The host's own messages: what stays when memory owns the window."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from libravdb_memory.assemble.messages import as_turns, keep_recent, message_cost, message_text, plain_text
from libravdb_memory.tokens import EstimatingCounter

COUNTER = EstimatingCounter()
LEAST = 4


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Histories as hosts make them: optional preamble, then requests, tool runs, answers, in valid and odd orders."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "rules"}] * draw(st.integers(0, 1))
    for number in range(draw(st.integers(0, 8))):
        kind = draw(st.sampled_from(["exchange", "run", "user", "assistant"]))
        text = "w " * draw(st.integers(0, 60))
        if kind in ("exchange", "run", "user"):
            messages.append({"role": "user", "content": f"ask {number} {text}"})
        if kind == "run":
            for step in range(draw(st.integers(1, 5))):
                call = f"c{number}-{step}"
                messages.append(
                    {"role": "assistant", "content": "", "tool_calls": [{"id": call, "function": {"name": "f"}}]}
                )
                messages.append({"role": "tool", "tool_call_id": call, "content": f"result {text}"})
        if kind in ("exchange", "run", "assistant"):
            messages.append({"role": "assistant", "content": f"answer {number} {text}"})
    return messages


def kept_of(messages: list[dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    return [messages[index] for index in keep_recent(messages, limit, LEAST, COUNTER).indices]


@settings(max_examples=400)
@given(histories(), st.integers(0, 600))
def test_what_is_kept_fits_or_is_the_least_that_must_stay(messages: list[dict[str, Any]], limit: int) -> None:
    kept = keep_recent(messages, limit, LEAST, COUNTER)
    assert kept.tokens == sum(message_cost(messages[index], COUNTER) for index in kept.indices)
    assert kept.over == max(kept.tokens - limit, 0)
    assert list(kept.indices) == sorted(set(kept.indices))


@settings(max_examples=400)
@given(histories(), st.integers(0, 600))
def test_the_first_message_kept_is_a_users_and_the_newest_stay(messages: list[dict[str, Any]], limit: int) -> None:
    kept = kept_of(messages, limit)
    conversation = [message for message in messages if message["role"] != "system"]
    spoken = [message for message in kept if message["role"] != "system"]
    if any(message["role"] == "user" for message in conversation):
        assert spoken[0]["role"] == "user"
        newest = min(LEAST, len(conversation))
        first_user = next(index for index, message in enumerate(conversation) if message["role"] == "user")
        assert spoken[-1] is conversation[-1]
        assert len(spoken) >= min(newest, len(conversation) - first_user)
    else:
        assert spoken == conversation


@settings(max_examples=400)
@given(histories(), st.integers(0, 600))
def test_a_tool_call_stays_with_its_result(messages: list[dict[str, Any]], limit: int) -> None:
    kept = kept_of(messages, limit)
    calls = {call["id"] for message in kept for call in message.get("tool_calls", ())}
    answers = {message["tool_call_id"] for message in kept if message["role"] == "tool"}
    assert calls == answers


@settings(max_examples=400)
@given(histories(), st.integers(0, 600))
def test_keeping_again_what_was_kept_changes_nothing(messages: list[dict[str, Any]], limit: int) -> None:
    once = kept_of(messages, limit)
    assert kept_of(once, limit) == once


@settings(max_examples=200)
@given(histories(), st.integers(0, 600), st.integers(0, 300))
def test_a_larger_budget_never_keeps_less(messages: list[dict[str, Any]], limit: int, more: int) -> None:
    assert len(kept_of(messages, limit + more)) >= len(kept_of(messages, limit))


def test_a_long_run_of_the_assistant_is_cut_but_keeps_its_request() -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "refactor everything"}]
    for step in range(100):
        messages.append({"role": "assistant", "content": "", "tool_calls": [{"id": f"c{step}"}]})
        messages.append({"role": "tool", "tool_call_id": f"c{step}", "content": "done " * 20})
    kept = kept_of(messages, 500)
    assert kept[0] == messages[0]
    assert kept[1:] == messages[-len(kept[1:]) :]
    assert 4 < len(kept) < 50


def test_the_shapes_of_several_hosts_are_understood() -> None:
    turns = as_turns(
        [
            {"role": "assistant", "content": [{"type": "toolCall", "id": "a", "name": "f", "arguments": {}}]},
            {"role": "toolResult", "toolCallId": "a", "content": [{"type": "text", "text": "one"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "hi"}, {"type": "tool_use", "id": "b"}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "b", "content": "two"}]},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]},
            {"role": "tool", "tool_call_id": "c", "content": "three"},
        ]
    )
    assert [turn.calls for turn in turns] == [("a",), (), ("b",), (), ("c",), ()]
    assert [turn.answers for turn in turns] == [(), ("a",), (), ("b",), (), ("c",)]
    assert [turn.role for turn in turns] == ["assistant", "toolResult", "assistant", "tool", "assistant", "tool"]
    assert turns[2].text == "hi"


def test_everything_a_model_reads_is_paid_for() -> None:
    message = {
        "role": "assistant",
        "content": [{"type": "text", "text": "hi"}, {"type": "image", "url": "u"}],
        "tool_calls": [{"id": "c"}],
    }
    assert message_text(message) == 'hi\n{"type":"image","url":"u"}\n[{"id":"c"}]'
    assert plain_text(message) == "hi"
    assert message_text({"role": "user"}) == plain_text({"role": "user", "content": None}) == ""
