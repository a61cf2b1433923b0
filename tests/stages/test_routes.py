"""Which memory a question is about, and when raw history is searched as well."""

from __future__ import annotations

import pytest

from libravdb_memory.retrieve.recovery import Standing, recovery_signals
from libravdb_memory.retrieve.route import is_about_dreams


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
