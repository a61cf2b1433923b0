"""What the daemon bears: the figures are counted right, and a small run of the whole ends well."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.serve.process import short_folder

from libravdb_memory.bench.load.crowd import SHARES, Crowd
from libravdb_memory.bench.load.overhead import in_turn
from libravdb_memory.bench.load.pressing import growth
from libravdb_memory.bench.load.run import Options, run
from libravdb_memory.bench.load.subject import LoadError, running_subject


class Stages:
    """Stands where the terminal does: keeps the last word of every stage."""

    def __init__(self) -> None:
        self.done: dict[str, tuple[int, int]] = {}

    def __call__(self, label: str, unit: str) -> Stages:
        self._label = label
        return self

    def __enter__(self) -> Any:
        return lambda done, total: self.done.__setitem__(self._label, (done, total))

    def __exit__(self, *_: object) -> None:
        pass


@pytest.mark.slow
def test_a_small_run_tells_every_figure_and_leaves_nothing_behind() -> None:
    stages = Stages()
    with short_folder() as folder:
        told = run(Options(80, 4, 2, engine="hashed", rounds=(20, 4), folder=folder), stages)
        assert list(folder.iterdir()) == []
        assert str(folder) not in str(told)
    results, load = told["results"], told["results"]["load"]
    assert set(SHARES) <= load.keys()
    assert 0 < load["cpu_ms_per_call"] < 1_000 and 0 < load["processors_used"] < 64
    assert sum(load[method]["calls"] for method in SHARES) == pytest.approx(load["calls_per_s"] * 2, rel=0.5)
    for method in SHARES:
        assert 0 < load[method]["p50_ms"] <= load[method]["p99_ms"] <= load[method]["most_ms"]
    assert results["errors"] == {"value": 0, "target": "<= 0", "met": True, "words": []}
    assert results["memory_growth"]["mb_after_warm_up"] > 10
    for call in ("memory_get_ms", "assemble_context_ms"):
        over = results["overhead_over_library"][call]
        assert over["value"] == pytest.approx(over["daemon"]["p50_ms"] - over["direct"]["p50_ms"], abs=1e-3)
    assert told["config"]["embedding.backend"] == "hashed" and told["machine"]["cores"] >= 1
    assert not told["targets_meant_for_these_sizes"]
    assert stages.done["filling the store"] == (80, 80)


def test_a_daemon_that_does_not_start_is_told_with_its_last_words(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text("[serve]\nworkers = 0\n")
    with pytest.raises(LoadError) as told, running_subject(home, "hashed"):
        pass
    assert "serve.workers" in told.value.hint


@given(st.integers(1, 60), st.integers(0, 70))
def test_the_same_crowd_says_and_asks_the_same(turns: int, client: int) -> None:
    crowd = Crowd(turns)
    assert crowd.said() == Crowd(turns).said()
    assert len({turn["id"] for turn in crowd.said()}) == turns
    assert list(islice(crowd.calls(client), 20)) == list(islice(Crowd(turns).calls(client), 20))


def test_a_client_asks_in_the_shares_that_are_told() -> None:
    asked = Counter(verb for verb, _ in islice(Crowd(10).calls(3), 4_000))
    for verb, share in SHARES.items():
        assert asked[verb] == pytest.approx(4_000 * share / sum(SHARES.values()), rel=0.1)


def test_no_two_clients_store_under_one_id_or_in_one_session() -> None:
    stored = [
        (params["sessionId"], params["id"])
        for client in range(64)
        for verb, params in islice(Crowd(10).calls(client), 50)
        if verb == "ingest_message"
    ]
    assert len(set(stored)) == len(stored)
    assert len({session for session, _ in stored}) == 64


def test_growth_is_from_the_end_of_the_warm_up_to_the_end_of_the_run() -> None:
    warm_up = [(float(second), 10**9) for second in range(20)]
    flat = [(float(second), 200 * 10**6) for second in range(20, 60)]
    assert growth(warm_up + flat) == (200, 200)
    rising = [(float(second), (100 + second) * 10**6) for second in range(60)]
    after, last = growth(rising) or (0.0, 0.0)
    assert 120 <= after < 126 and 154 <= last < 160
    assert growth([]) is None


def test_the_ways_are_taken_in_turn_and_the_first_rounds_do_not_count() -> None:
    taken: list[str] = []
    seconds = in_turn([lambda _: taken.append("a"), lambda _: taken.append("b")], 20, 7, 0.0, lambda _: None)
    assert [len(each) for each in seconds] == [20, 20]
    assert taken.count("a") == taken.count("b") == 22
    assert {"".join(taken[at : at + 2]) for at in range(0, 44, 2)} == {"ab", "ba"}
