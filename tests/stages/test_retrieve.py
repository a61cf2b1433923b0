"""Questions become phrases, and texts hold a share of their keywords."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.errors import ConfigError
from libravdb_memory.retrieve.query import LONGEST_PHRASE, MAX_PHRASES, STOP_WORDS, keyword_share, phrases_of
from libravdb_memory.retrieve.settings import RetrievalSettings


@pytest.mark.parametrize(
    ("question", "phrases"),
    [
        ("Where is the deploy key?", (("deploy",), ("key",))),
        ("what about it?", (("what",), ("about",), ("it",))),
        (
            "Why did src/app/main.py fail?",
            (("src", "app", "main", "py"), ("src",), ("app",), ("main",), ("py",), ("fail",)),
        ),
        ("error E_CONN-104!", (("error",), ("e", "conn", "104"), ("e",), ("conn",), ("104",))),
        ("key key KEY", (("key",),)),
        ('"quoted" AND NEAR(x)', (("quoted",), ("near", "x"), ("near",), ("x",))),
        ("… !?", ()),
        ("", ()),
    ],
)
def test_a_question_becomes_its_telling_phrases(question: str, phrases: tuple[tuple[str, ...], ...]) -> None:
    assert phrases_of(question) == phrases


@given(st.text())
def test_phrases_are_words_only_and_bounded(question: str) -> None:
    phrases = phrases_of(question)
    assert len(phrases) <= MAX_PHRASES
    assert len(set(phrases)) == len(phrases)
    assert all(
        phrase and all(word and word == word.strip() and " " not in word for word in phrase) for phrase in phrases
    )


@pytest.mark.parametrize(
    "pasted", [".".join("abcdefgh" * 20_000), "日本語" * 100_000, "é" * 300_000, "{'a':1}" * 50_000]
)
def test_a_pasted_file_without_spaces_is_no_endless_phrase(pasted: str) -> None:
    phrases = phrases_of(pasted)
    assert phrases
    assert max(map(len, phrases)) <= LONGEST_PHRASE
    assert sum(len(word) for phrase in phrases for word in phrase) <= 1_000


def test_a_long_word_that_stands_alone_is_looked_for_whole() -> None:
    digest = "0123456789abcdef" * 32
    assert phrases_of(f"who signed {digest}?")[-1] == (digest,)
    assert phrases_of("/".join(map(str, range(LONGEST_PHRASE))))[0] == tuple(map(str, range(LONGEST_PHRASE)))


def test_stop_words_are_lower_case_words() -> None:
    assert all(word == word.lower() and word.isalpha() for word in STOP_WORDS)


@given(st.text(), st.text())
def test_the_share_of_keywords_is_a_share(question: str, text: str) -> None:
    assert 0.0 <= keyword_share(question, text) <= 1.0


@pytest.mark.parametrize(
    ("question", "text", "share"),
    [
        ("Where is the deploy key?", "The deploy KEY moved.", 1.0),
        ("deploy key", "the deployment", 0.0),
        ("red fox jumps twice", "a fox jumps", 0.5),
        ("what is it?", "what is it", 0.0),
        ("", "anything", 0.0),
    ],
)
def test_keywords_are_looked_for_as_whole_words(question: str, text: str, share: float) -> None:
    assert keyword_share(question, text) == share


@pytest.mark.parametrize("values", [{"candidates": 0}, {"candidates": -3}, {"candidates": 2.5}])
def test_bad_settings_are_refused_by_name(values: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(values))):
        RetrievalSettings(**values)  # type: ignore[arg-type]
