"""Error rates of the deontic scanner on labelled sentences.

`deontic_dev` was used to tune the scanner. `deontic_test` was written before the scanner existed and `deontic_final`
after it was frozen; nothing was tuned on either.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from libravdb_memory.ingest.deontic import scan

CORPUS = Path(__file__).parent / "corpus"
HELD_OUT = sorted(
    path.stem.removeprefix("deontic_") for path in CORPUS.glob("deontic_*.jsonl") if "dev" not in path.stem
)
ALL = ["dev", *HELD_OUT]


@dataclass(frozen=True, slots=True)
class Sample:
    text: str
    rule: bool
    style: str
    modality: str | None
    marks: int | None


def samples(name: str) -> list[Sample]:
    lines = (CORPUS / f"deontic_{name}.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [Sample(r["text"], r["rule"], r["style"], r.get("modality"), r.get("marks")) for r in rows]


def share(part: list[Sample], whole: list[Sample]) -> float:
    return len(part) / len(whole)


@pytest.mark.parametrize("name", ALL)
def test_few_rules_are_missed_and_little_lore_is_promoted(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    rules = [sample for sample in samples(name) if sample.rule]
    lore = [sample for sample in samples(name) if not sample.rule]
    missed = [sample for sample in rules if not scan(sample.text).promoted]
    promoted = [sample for sample in lore if scan(sample.text).promoted]
    p_fp, p_fn = share(promoted, lore), share(missed, rules)
    with capsys.disabled():
        print(f"\ndeontic_{name}: P_fp {p_fp:.3f} of {len(lore)}, P_fn {p_fn:.3f} of {len(rules)}")  # noqa: T201
    assert p_fp <= 0.02, [sample.text for sample in promoted]
    assert p_fn <= 0.05, [sample.text for sample in missed]


@pytest.mark.parametrize("name", ALL)
def test_the_modality_of_found_rules_is_right(name: str) -> None:
    found = [sample for sample in samples(name) if sample.modality and scan(sample.text).promoted]
    wrong = [s.text for s in found if s.modality not in {mark.modality for mark in scan(s.text).marks}]
    assert len(wrong) / len(found) <= 0.05, wrong


def test_paragraphs_have_as_many_marks_as_rules() -> None:
    counted = [sample for sample in samples("dev") if sample.marks is not None]
    assert len(counted) >= 10
    for sample in counted:
        assert len(scan(sample.text).marks) == sample.marks, sample.text


def test_the_corpora_are_large_spread_over_styles_and_disjoint() -> None:
    texts = [sample.text.casefold() for name in ALL for sample in samples(name)]
    assert len(texts) == len(set(texts))
    assert len(texts) >= 900
    assert sum(len(samples(name)) for name in HELD_OUT) >= 400
    assert len({sample.style for name in ALL for sample in samples(name)}) >= 12
