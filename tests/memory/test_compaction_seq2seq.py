"""A local model of the T5 family in a whole compaction: a tiny one with weights of chance, and the extract that takes
the place of its rubbish."""

from __future__ import annotations

import logging
import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.engines.tiny_seq2seq import END, VOCABULARY, Layout, Reference, make_weights, write_tiny

from libravdb_memory import Config, Memory
from libravdb_memory.compacting import Compaction
from libravdb_memory.engines.summarising.protocol import Summary, SummaryRequest
from libravdb_memory.engines.summarising.seq2seq import Seq2SeqSummariser
from libravdb_memory.model import Turn

SAID = (
    "the user wants green tea before the release notes",
    "billing moves to the new port after monday and the user wants coffee",
    "the old certificate never moves to the new service and the user wants coffee",
    "deploy the blue branch before friday not after",
    "restart the billing service from the old port not the new port and never before monday",
)
TURNS, TAIL = 20, 4
UNKNOWN = 2


def brief() -> dict[str, Any]:
    """Weights that come to an end after some words, whatever was said."""
    return make_weights(end_pull=0.8)


def with_model(hashed: Config, folder: Path, **settings: float) -> Config:
    """Asked for every cluster of four."""
    compaction = replace(
        hashed.compaction,
        cluster_target=4,
        trigger_tokens=0,
        fold_tokens=0,
        abstractive_from=0.0,
        **settings,  # type: ignore[arg-type]
    )
    summary = replace(hashed.summary, backend="onnx-local", model_path=str(folder))
    return replace(hashed, compaction=compaction, summary=summary, assembly=replace(hashed.assembly, tail_share=0.0))


def talk(memory: Memory) -> list[Turn]:
    turns = [
        memory.ingest(SAID[number % len(SAID)], user="ada", session="s", id=f"t{number}") for number in range(TURNS)
    ]
    assert memory.wait(60)
    return turns


def assert_nothing_was_lost(memory: Memory, turns: list[Turn], done: Compaction) -> None:
    """Every turn is there, word for word and in order: below a summary, or in the tail."""
    held: list[object] = []
    for entry in memory.history(user="ada", session="s").entries:
        held += [entry] if isinstance(entry, Turn) else memory.expand(entry.node.id, user="ada").items
    assert held == turns and done.turns == TURNS - TAIL
    assert all(node.tokens < node.source_tokens for node in done.summaries)
    assert memory.verify().ok


def written(texts: list[str]) -> tuple[str, float]:
    """What the model says of these turns, and how sure it is: reckoned in numpy, from the weights."""
    words = " ".join(f"user: {text}" for text in texts).split()
    steps = Reference(brief()).steps((*(VOCABULARY.get(word, UNKNOWN) for word in words), END), 40)
    end = [token for token, _ in steps].index(END)
    names = list(VOCABULARY)
    sure = math.exp(sum(log_p for _, log_p in steps[: end + 1]) / (end + 1))
    return " ".join(names[token] for token, _ in steps[:end]), sure


@pytest.mark.parametrize("layout", get_args(Layout))
def test_the_words_of_a_local_model_are_the_summary_where_they_may_be(
    hashed: Config, tmp_path: Path, layout: Layout
) -> None:
    folder = write_tiny(tmp_path / "tiny", layout, brief(), max_input_tokens=64)
    with Memory.open(config=with_model(hashed, folder, min_align=0.0)) as memory:
        turns = talk(memory)
        done = memory.compact(user="ada", session="s")
        assert [(node.method, node.engine) for node in done.summaries] == [("abstractive", "onnx-local:tiny")] * 4
        for node in done.summaries:
            said, sure = written([memory.get(turn, user="ada").text for turn in node.children])
            assert node.parts[0] == said
            space = (node.align + node.cover) / 2
            assert node.confidence == pytest.approx(0.8 * space + 0.2 * sure, abs=1e-3)
        assert_nothing_was_lost(memory, turns, done)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[Summary]:
    """What local models answered."""
    found: list[Summary] = []
    summarise = Seq2SeqSummariser.summarise

    def heard(model: Seq2SeqSummariser, request: SummaryRequest, cancelled: Callable[[], bool]) -> Summary:
        found.append(summarise(model, request, cancelled))
        return found[-1]

    monkeypatch.setattr(Seq2SeqSummariser, "summarise", heard)
    return found


def test_the_extract_is_taken_where_a_local_model_misses_the_point(
    hashed: Config, tmp_path: Path, answers: list[Summary]
) -> None:
    folder = write_tiny(tmp_path / "tiny", weights=brief(), max_input_tokens=64)
    with Memory.open(config=with_model(hashed, folder)) as memory:
        turns = talk(memory)
        done = memory.compact(user="ada", session="s")
        assert len(answers) == 4, "it was asked for each, and said something"
        assert [(node.method, node.engine) for node in done.summaries] == [("extractive", "extractive")] * 4
        for node in done.summaries:
            assert node.parts[0].removeprefix("user: ") in {turn.text for turn in turns}, "a sentence of theirs"
        assert_nothing_was_lost(memory, turns, done)
        answers.clear()
    with Memory.open(config=with_model(hashed, folder, min_align=0.0)) as memory:
        anew = memory.compact(user="ada", session="s", rebuild=True)
        assert {node.method for node in anew.summaries} == {"abstractive"} and len(answers) == 4
        assert_nothing_was_lost(memory, turns, anew)


def never_ends(folder: Path) -> None:
    weights = make_weights()
    weights["bias"][END] = -1000
    write_tiny(folder, weights=weights, max_input_tokens=64)


def ends_at_once(folder: Path) -> None:
    weights = make_weights()
    weights["bias"][END] = 1000
    write_tiny(folder, weights=weights, max_input_tokens=64)


def reads_too_little(folder: Path) -> None:
    write_tiny(folder, max_input_tokens=12)


def is_damaged(folder: Path) -> None:
    write_tiny(folder)
    (folder / "decoder_model.onnx").write_bytes(b"not a model")


def goes_away(folder: Path) -> None:
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        (never_ends, "did not come to an end in 40 tokens"),
        (ends_at_once, "it is empty"),
        (reads_too_little, "4 turns do not fit into its 12 tokens"),
        (is_damaged, "decoder_model.onnx cannot be loaded"),
        (goes_away, "it has no manifest.toml"),
    ],
)
def test_a_local_model_of_no_use_costs_no_turn_and_no_summary_and_is_told(
    hashed: Config,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    deed: Callable[[Path], None],
    reason: str,
) -> None:
    """Whatever becomes of it once the memory is open."""
    write_tiny(tmp_path / "tiny")
    with (
        caplog.at_level(logging.WARNING, "libravdb_memory.condensing"),
        Memory.open(config=with_model(hashed, tmp_path / "tiny", min_align=0.0)) as memory,
    ):
        deed(tmp_path / "tiny")
        turns = talk(memory)
        done = memory.compact(user="ada", session="s")
        assert [node.method for node in done.summaries] == ["extractive"] * 4
        assert reason in caplog.text
        assert_nothing_was_lost(memory, turns, done)
