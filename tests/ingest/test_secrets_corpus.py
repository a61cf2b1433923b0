"""Recall and precision of masking, by exact span, on the project's own corpus.

Even samples were for development and odd ones held out; both were written before the rules. `late` and `final` were
written after them, in syntaxes and words that were meant to be missed (at first sight recall .925 and .815, precision
.899 and .978); what they showed was mended, so they are no longer unseen.
"""

from __future__ import annotations

import re

import pytest
from tests.ingest.secrets_making import Sample, samples

from libravdb_memory.ingest.secrets import find_secrets, mask

POSITIVES, NEGATIVES = samples("positives"), samples("negatives")
PARTS = {
    "development": POSITIVES[::2] + NEGATIVES[::2],
    "held out": POSITIVES[1::2] + NEGATIVES[1::2],
    "late": samples("late_positives") + samples("late_negatives"),
    "final": samples("final_positives") + samples("final_negatives"),
}
EVERYTHING = [sample for part in PARTS.values() for sample in part]


def wanted(sample: Sample) -> dict[tuple[int, int], str]:
    return {(start, end): kind for kind, start, end in sample.secrets}


def found(sample: Sample) -> dict[tuple[int, int], str]:
    return {(secret.start, secret.end): secret.kind for secret in find_secrets(sample.text)}


def random_part(kind: str, value: str) -> str:
    """A token without the issuer's public prefix, which the marker and the text around may name."""
    prefix = re.match(r"(?:[A-Za-z0-9]{1,8}[_-]){0,2}", value) if "password" not in kind else None
    return value[prefix.end() :] if prefix else value


def test_the_corpus_is_as_large_and_as_varied_as_asked() -> None:
    assert len(POSITIVES) >= 150
    assert len({kind for sample in POSITIVES for kind, _, _ in sample.secrets}) >= 25
    assert len(NEGATIVES) >= 300
    assert all(sample.secrets for sample in POSITIVES)
    assert not any(sample.secrets for sample in NEGATIVES)


@pytest.mark.parametrize("part", PARTS)
def test_secrets_are_found_and_look_alikes_are_left(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    hits = missed = wrong = 0
    failures: list[str] = []
    for sample in PARTS[part]:
        want, got = wanted(sample).keys(), found(sample).keys()
        hits, missed, wrong = hits + len(want & got), missed + len(want - got), wrong + len(got - want)
        if want != got:
            failures.append(sample.text)
    recall, precision = hits / (hits + missed), hits / (hits + wrong)
    with capsys.disabled():
        print(f"\nsecrets, {part}: recall {recall:.3f} of {hits + missed}, precision {precision:.3f} of {hits + wrong}")  # noqa: T201
    assert recall >= 0.97, failures
    assert precision >= 0.97, failures


def test_the_kind_of_a_secret_is_told_rightly() -> None:
    pairs = [
        (kind, found(sample)[span])
        for sample in EVERYTHING
        for span, kind in wanted(sample).items()
        if span in found(sample)
    ]
    assert sum(want == got for want, got in pairs) / len(pairs) >= 0.97, [pair for pair in pairs if pair[0] != pair[1]]


@pytest.mark.parametrize("part", PARTS)
def test_no_six_characters_of_a_secret_are_left(part: str) -> None:
    for sample in PARTS[part]:
        masked = mask(sample.text)
        for secret in masked.found:
            value = random_part(secret.kind, sample.text[secret.start : secret.end])
            assert not any(value[place : place + 6] in masked.text for place in range(len(value) - 5)), sample.text


def test_masking_twice_changes_nothing_more() -> None:
    for sample in EVERYTHING:
        once = mask(sample.text).text
        assert mask(once) == type(mask(once))(once, ()), sample.text


def test_what_is_found_in_a_text_is_found_in_a_longer_one() -> None:
    whole = Sample("\n\n".join(sample.text for sample in EVERYTHING), ())
    inside = found(whole)
    place = 0
    for sample in EVERYTHING:
        assert {(start + place, end + place) for start, end in found(sample)} <= inside.keys(), sample.text
        place += len(sample.text) + 2
