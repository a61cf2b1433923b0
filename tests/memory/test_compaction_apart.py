"""Compaction in a process of its own: the same summaries and rules as in this one, whatever becomes of the process."""

from __future__ import annotations

import os
import signal
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from libravdb_memory.compacting import making_apart
from libravdb_memory.compacting.making import Maker
from libravdb_memory.compacting.making_apart import MakingApart
from libravdb_memory.config import Config, load_config
from libravdb_memory.memory import Memory

RULE = "From now on, always name the number of the build first."
BACK = "Forget the rule about the number of the build, any order is fine."


def config_of(folder: Path, *, own_process: bool) -> Config:
    config = load_config(environ={"LIBRAVDB_HOME": str(folder)})
    return replace(config, compaction=replace(config.compaction, trigger_tokens=0, own_process=own_process))


def fill(memory: Memory, turns: int = 160) -> None:
    for number in range(turns):
        said = f"Build {400 + number} failed in stage {number % 7}; its log is in builds/{number}.log."
        text = {5: RULE, 45: BACK}.get(number, said)
        role = "user" if number % 2 or number == 5 else "assistant"
        memory.ingest(text, user="ada", session="s", role=role, id=f"t{number}", ts=1_770_000_000_000 + number)
    assert memory.wait(120)


def made_by(memory: Memory) -> tuple[list[tuple[str, str, float]], list[tuple[str, str]]]:
    done = memory.compact(user="ada", session="s")
    nodes = [(node.id, node.text, round(node.confidence, 5)) for node in done.summaries]
    return nodes, [(rule.turn, rule.text) for rule in memory.guidance(user="ada").rules]


def apart_of(memory: Memory) -> MakingApart:
    maker = memory._compactor()._parts.maker
    assert isinstance(maker, MakingApart)
    return maker


def test_another_process_makes_what_this_one_makes(tmp_path: Path) -> None:
    found = []
    for own_process in (True, False):
        config = config_of(tmp_path / str(own_process), own_process=own_process)
        with Memory.open(config=config) as memory:
            fill(memory)
            found.append(made_by(memory))
            assert memory.verify().ok
            assert isinstance(memory._compactor()._parts.maker, MakingApart if own_process else Maker)
    assert found[0] == found[1]
    assert found[0][0] and [turn for turn, _ in found[0][1]] == ["t5", "t45"]


def test_a_process_that_is_killed_at_work_costs_nothing(tmp_path: Path) -> None:
    with Memory.open(config=config_of(tmp_path, own_process=True)) as memory:
        fill(memory)
        killed = threading.Event()

        def kill(done: int, total: int) -> None:
            if done == 1 and not killed.is_set():
                pid = apart_of(memory).pid
                assert pid is not None
                os.kill(pid, signal.SIGKILL)
                killed.set()

        done = memory.compact(user="ada", session="s", progress=kill)
        assert killed.is_set() and not done.reason
        assert sum(node.turns for node in done.summaries) >= 60 and memory.verify().ok


def test_turns_that_arrive_meanwhile_are_embedded_there_and_no_otherwise_than_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(config=config_of(tmp_path, own_process=True)) as memory:
        fill(memory)
        texts = ["The lighthouse keeper sold his boat.", "A rope of forty fathoms, said the mate."]
        expected = memory.embedder.embed_documents(texts)
        monkeypatch.setattr("libravdb_memory.indexing.read_texts", None)
        refs: list[int] = []

        def arrive(done: int, total: int) -> None:
            if done == 1 and not refs:
                for text in texts:
                    turn = memory.ingest(text, user="ada", session="beside")
                    refs.append(memory.store.find(turn.id)[0].ref)
                assert memory._indexer.wait(60)

        memory.compact(user="ada", session="s", progress=arrive)
        [space] = memory.store.spaces()
        stored = memory.store.get_vectors(space, refs)
        assert np.allclose(np.stack([stored[ref] for ref in refs]), expected, atol=1e-6)
        assert memory._overflow.is_live
        monkeypatch.undo()


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="a process cannot be stopped here")
def test_a_process_that_gets_no_processor_is_not_waited_for_with_turns_that_arrive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making_apart, "_PATIENCE_S", 0.2)
    with Memory.open(config=config_of(tmp_path, own_process=True)) as memory:
        fill(memory)
        memory.compact(user="ada", session="s")
        apart = apart_of(memory)
        assert apart.read(["a text"]) is not None
        assert apart.pid is not None
        os.kill(apart.pid, signal.SIGSTOP)
        try:
            assert apart.read(["a text"]) is None
            monkeypatch.setattr(making_apart, "_PATIENCE_S", 3600.0)
            assert apart.read(["a text"]) is None, "not asked again so soon"
        finally:
            os.kill(apart.pid, signal.SIGCONT)


def test_what_a_compaction_wrote_is_read_where_it_was_made_and_nothing_long_after(tmp_path: Path) -> None:
    with Memory.open(config=config_of(tmp_path, own_process=True)) as memory:
        fill(memory)
        memory.compact(user="ada", session="s")
        assert apart_of(memory).pid is not None
        assert memory._read_elsewhere(["a text"]) is not None
        memory._compactor()._reads_until = 0.0
        assert memory._read_elsewhere(["a text"]) is None


def test_whoever_waits_while_something_is_compacted_finds_also_the_summaries_made_by_then(tmp_path: Path) -> None:
    with Memory.open(config=config_of(tmp_path, own_process=True)) as memory:
        fill(memory)
        lacking: list[int] = []

        def look(done: int, total: int) -> None:
            if done == 3 and not lacking:
                assert memory.wait(60)
                lacking.append(memory.status().indexing.pending)

        assert memory.compact(user="ada", session="s", progress=look).summaries
        assert lacking == [0]


def test_a_process_that_finds_another_model_is_not_used(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Memory.open(config=config_of(tmp_path, own_process=True)) as memory:
        fill(memory)
        maker = apart_of(memory)
        maker._apart._make = replace(maker._apart._make, space="sha256:another")  # type: ignore[type-var]
        assert memory.compact(user="ada", session="s").summaries
    assert "another model by now" in caplog.text


def test_where_no_process_can_be_had_the_work_is_done_here_and_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with Memory.open(config=config_of(tmp_path, own_process=True)) as memory:
        fill(memory)
        monkeypatch.setattr(sys, "executable", "")
        assert memory.compact(user="ada", session="s").summaries
        assert apart_of(memory).pid is None
    assert [record for record in caplog.records if "made in this process" in record.getMessage()]


def test_the_process_goes_with_the_memory(tmp_path: Path) -> None:
    with Memory.open(config=config_of(tmp_path, own_process=True)) as memory:
        fill(memory)
        memory.compact(user="ada", session="s")
        pid = apart_of(memory).pid
        assert pid is not None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
