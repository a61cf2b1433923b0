"""What the gate keeps of labelled turns, fed as a stream into a memory that starts empty.

The patterns were written against gate_dev; gate_test was set aside and only measured.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from libravdb_memory.engines.hashed import HashedEmbedder
from libravdb_memory.gate.calibrate import Calibration, Label, Quality, fit, quality
from libravdb_memory.gate.score import Neighbours, decide
from libravdb_memory.gate.settings import GateSettings

CORPUS = Path(__file__).parent / "corpus"
KINDS = {"conversational", "technical", "mixed", "noise"}


@dataclass(frozen=True)
class Sample:
    text: str
    kind: str
    durable: bool


def samples(name: str) -> list[Sample]:
    lines = (CORPUS / f"gate_{name}.jsonl").read_text(encoding="utf-8").splitlines()
    found = [Sample(**json.loads(line)) for line in lines]
    return sorted(found, key=lambda sample: hashlib.sha256(sample.text.encode()).digest())


def streamed(name: str, threshold: float) -> list[Label]:
    """Every turn judged with the neighbours it has at its time; what is kept becomes durable memory."""
    corpus = samples(name)
    vectors: Any = HashedEmbedder().embed_documents([sample.text for sample in corpus])
    settings = GateSettings(threshold=threshold)
    durable: list[int] = []
    labels: list[Label] = []
    for index, sample in enumerate(corpus):
        cosines = np.clip(vectors[:index] @ vectors[index], -1.0, 1.0)
        made = decide(sample.text, Neighbours(cosines[durable].tolist(), cosines.tolist()), settings)
        labels.append(Label(made.score, float(sample.durable)))
        if made.durable:
            durable.append(index)
    return labels


def report(what: str, found: Quality) -> str:
    return f"{what}: precision {found.precision or 0:.3f}, recall {found.recall or 0:.3f} at {found.threshold:.3f}"


@pytest.fixture(scope="module")
def fitted() -> Calibration:
    return fit(streamed("dev", 0.35))


def test_the_labelled_turns_are_many_and_of_every_kind() -> None:
    corpus = samples("dev") + samples("test")
    assert len(corpus) >= 240
    assert len({sample.text for sample in corpus}) == len(corpus)
    assert {sample.kind for sample in corpus} == KINDS
    assert all(sum(sample.kind == kind for sample in corpus) >= 20 for kind in KINDS)
    assert 0.3 <= sum(sample.durable for sample in corpus) / len(corpus) <= 0.6


def test_turns_set_aside_are_kept_and_refused_well_at_the_reference_threshold(
    fitted: Calibration, capsys: pytest.CaptureFixture[str]
) -> None:
    held_out = quality(streamed("test", 0.35), 0.35)
    with capsys.disabled():
        print("\n" + report("gate_dev", fitted.at_reference))  # noqa: T201
        print(report("gate_test, set aside", held_out))  # noqa: T201
    assert held_out.precision is not None and held_out.precision >= 0.85
    assert held_out.recall is not None and held_out.recall >= 0.90


def test_a_threshold_fitted_on_one_half_serves_the_other(
    fitted: Calibration, capsys: pytest.CaptureFixture[str]
) -> None:
    held_out = quality(streamed("test", fitted.threshold), fitted.threshold)
    with capsys.disabled():
        print("\n" + report("gate_dev, fitted", fitted.at_threshold))  # noqa: T201
        print(report("gate_test at the threshold fitted on gate_dev", held_out))  # noqa: T201
    assert 0.25 <= fitted.threshold <= 0.45
    assert held_out.precision is not None and held_out.precision >= 0.85
    assert held_out.recall is not None and held_out.recall >= 0.85


def test_no_noise_is_kept_once_memory_holds_anything() -> None:
    for sample in samples("dev") + samples("test"):
        if sample.kind == "noise":
            assert not decide(sample.text, Neighbours([0.02]), GateSettings()).durable, sample.text
