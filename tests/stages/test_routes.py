"""Which memory a question is about, and when raw history is searched as well."""

from __future__ import annotations

import pytest

from libravdb_memory.retrieve.recovery import Standing, recovery_signals
from libravdb_memory.retrieve.route import asks_for_the_whole, is_about_dreams


@pytest.mark.parametrize(
    "question",
    [
        "What did I dream last night?",
        "tell me about my dreams",
        "Did I have a nightmare this week?",
        "which dream had the lighthouse in it?",
        "I dreamt of a river, when was that?",
        "what was I dreaming about on Monday?",
    ],
)
def test_a_question_about_a_dream_is_one(question: str) -> None:
    assert is_about_dreams(question)


@pytest.mark.parametrize(
    "question",
    [
        "what is my dream job?",
        "who is on the dream team?",
        "Do I still dream of becoming a pilot?",
        "was it a pipe dream?",
        "does the Dreamcast still work?",
        "what did we decide yesterday?",
        "daydreamer is the name of the repo",
    ],
)
def test_a_figure_of_speech_is_not(question: str) -> None:
    assert not is_about_dreams(question)


@pytest.mark.parametrize(
    "question",
    [
        "Give me an overview of this session.",
        "Summarise what happened so far.",
        "can you summarize our conversation?",
        "A short recap of the discussion, please",
        "What did we do so far?",
        "what have we decided in this conversation",
        "where were we?",
        "Where did we leave off yesterday?",
        "catch me up on everything",
        "So far, what would be a fair summary?",
    ],
)
def test_a_question_about_the_whole_conversation_is_one(question: str) -> None:
    assert asks_for_the_whole(question)


@pytest.mark.parametrize(
    "question",
    [
        "What did we decide about the database?",
        "Write a summary of the attached article.",
        "Add an overview section to the README",
        "Which deployment problems did we have?",
        "summarise the incident of 3 March",
        "Where is the session token stored?",
        "the build has worked so far",
    ],
)
def test_a_question_about_a_topic_is_not(question: str) -> None:
    assert not asks_for_the_whole(question)


@pytest.mark.parametrize(
    ("scores", "confidences", "turns", "signals"),
    [
        ([0.9], [None], 3, ()),
        ([0.15], [None], 3, ()),
        ([0.1499], [None], 3, ("weak",)),
        ([], [], 3, ("weak",)),
        ([0.9], [None], 0, ("new",)),
        ([0.9] * 4, [0.4, 0.4, 0.4, 0.4], 3, ("vague",)),
        ([0.9] * 4, [0.5, 0.5, 0.5, 0.5], 3, ()),
        ([0.9] * 4, [0.1, 0.1, 0.1, None], 3, ()),
        ([0.9] * 3, [0.1, 0.1, 0.1], 3, ()),
        ([0.9] * 5, [0.1, 0.1, 0.1, 0.1, None], 3, ("vague",)),
        ([], [], 0, ("weak", "new")),
    ],
)
def test_recovery_needs_a_named_signal(
    scores: list[float], confidences: list[float | None], turns: int, signals: tuple[str, ...]
) -> None:
    ranked = [Standing(score, confidence) for score, confidence in zip(scores, confidences, strict=True)]
    assert recovery_signals(ranked, turns) == signals
