"""Questions become phrases; two kinds of evidence become one explained score."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.errors import ConfigError
from libravdb_memory.retrieve.fuse import RetrievalSettings, fuse
from libravdb_memory.retrieve.query import MAX_PHRASES, STOP_WORDS, phrases_of

refs = st.integers(1, 40)
cosines = st.dictionaries(refs, st.floats(-1, 1), max_size=30)
bm25s = st.dictionaries(refs, st.floats(0, 60), max_size=30)
settings = st.builds(RetrievalSettings, dense_weight=st.floats(0, 1))


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


def test_stop_words_are_lower_case_words() -> None:
    assert all(word == word.lower() and word.isalpha() for word in STOP_WORDS)


@given(st.none() | cosines, bm25s, settings)
def test_scores_are_bounded_explained_and_ordered(
    dense: dict[int, float] | None, lexical: dict[int, float], config: RetrievalSettings
) -> None:
    ranked = fuse(dense, lexical, config)
    assert {item.ref for item in ranked} >= set(dense or {})
    for item in ranked:
        assert 0.0 <= item.score <= 1.0
        assert item.score == pytest.approx(item.parts["dense"] + item.parts["lexical"])
    keys = [(-item.score, -item.ref) for item in ranked]
    assert keys == sorted(keys)


@given(cosines, bm25s, settings, refs, st.floats(0, 1))
def test_more_of_one_evidence_never_ranks_lower(
    dense: dict[int, float], lexical: dict[int, float], config: RetrievalSettings, ref: int, gain: float
) -> None:
    if ref not in dense:
        return
    better = {**dense, ref: min(dense[ref] + gain, 1.0)}

    def rank(scores: dict[int, float]) -> int:
        return [item.ref for item in fuse(scores, lexical, config)].index(ref)

    def ahead(scores: dict[int, float]) -> set[int]:
        return {item.ref for item in fuse(scores, lexical, config)[: rank(scores)]}

    # Raising one record's cosine rescales the others, but cannot put another record of equal wording above it.
    equals = {other for other in dense if lexical.get(other) == lexical.get(ref) and other != ref}
    assert ahead(better) & equals <= ahead(dense) & equals


def test_without_dense_evidence_wording_decides_alone() -> None:
    ranked = fuse(None, {1: 2.0, 2: 4.0}, RetrievalSettings(dense_weight=0.9))
    assert [(item.ref, item.score) for item in ranked] == [(2, 1.0), (1, 0.5)]


def test_ties_go_to_the_newer_record() -> None:
    ranked = fuse({1: 0.5, 2: 0.5}, {}, RetrievalSettings())
    assert [item.ref for item in ranked] == [2, 1]


@pytest.mark.parametrize("values", [{"dense_weight": -0.1}, {"dense_weight": 1.1}, {"candidates": 0}])
def test_bad_settings_are_refused_by_name(values: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(values))):
        RetrievalSettings(**values)  # type: ignore[arg-type]
