from __future__ import annotations

import json
from pathlib import Path

from libravdb_memory.bench import machine
from libravdb_memory.bench.embed import run
from libravdb_memory.bench.texts import conversation
from libravdb_memory.engines.onnx import BUNDLED

RESULT = Path(__file__).parent.parent.parent / "benchmarks" / "results" / "embed.json"


def test_a_measurement_is_plain_json_with_the_machine_it_was_made_on() -> None:
    steps: list[tuple[int, int]] = []
    results = run(BUNDLED, 4, lambda done, total: steps.append((done, total)))
    assert json.loads(json.dumps(results)) == results
    assert set(results["turns_per_s"]) == {"batch_1", "batch_8", "batch_32", "reference"}
    assert all(rate > 0 for rate in results["turns_per_s"].values())
    assert results["agreement_with_reference"]["cosine_min"] > 0.9999
    assert results["token_vectors"]["bytes_per_turn"] > 0
    assert results["machine"]["cores"] >= 1
    assert steps == sorted(steps)
    assert steps[-1][0] == steps[-1][1]


def test_agreement_is_left_out_without_a_reference() -> None:
    assert "agreement_with_reference" not in run(None, 2, lambda done, total: None)


def test_the_machine_is_described_without_names_or_paths() -> None:
    text = json.dumps(machine.describe())
    assert str(Path.home()) not in text
    assert str(Path(__file__).parent) not in text


def test_the_texts_are_the_same_every_time_and_varied() -> None:
    texts = conversation(300)
    assert texts == conversation(300)
    assert len(set(texts)) > 200
    assert min(map(len, texts)) < 5
    assert max(map(len, texts)) > 400


def test_the_committed_measurement_reaches_what_is_promised() -> None:
    agreement = json.loads(RESULT.read_text(encoding="utf-8"))["agreement_with_reference"]
    assert agreement["cosine_mean"] >= 0.98
