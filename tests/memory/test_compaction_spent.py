"""What a compaction spent on a model: every call and its tokens, by the endpoint's own account, on a real store."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.engines.chat_endpoint import Endpoint, Handler, says, serving, status
from tests.engines.tiny_seq2seq import END, make_weights, write_tiny

from libravdb_memory import Config, Memory
from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.compacting import CANCELLED, OVERTAKEN, Compaction
from libravdb_memory.compacting.making import Maker
from libravdb_memory.compacting.making_apart import MakingApart
from libravdb_memory.config import load_config
from libravdb_memory.engines.summarising.select import SummarySettings
from libravdb_memory.spent import NOTHING, Spent
from libravdb_memory.tokens import EstimatingCounter

CLUSTERS, TAIL = 3, 4
USAGE = {"prompt_tokens": 321, "completion_tokens": 45}
READY = says("yes", usage={"prompt_tokens": 5, "completion_tokens": 1})
REFUSED = says('{"note": "crates"}', usage=USAGE)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as server:
        yield server


@pytest.fixture
def asking(hashed: Config, endpoint: Endpoint) -> Config:
    return with_endpoint(hashed, endpoint)


@pytest.fixture(params=[True, False], ids=["in a process of its own", "in this process"])
def anywhere(tmp_path: Path, endpoint: Endpoint, request: pytest.FixtureRequest) -> Config:
    """With the bundled model: only then a process of its own is worth it."""
    config = with_endpoint(load_config(environ={"LIBRAVDB_HOME": str(tmp_path / "home")}), endpoint)
    return compacting(config, own_process=request.param)


def with_endpoint(config: Config, endpoint: Endpoint) -> Config:
    """Every cluster is worth asking about, and whatever the model says is near enough."""
    summary = SummarySettings(
        backend="openai-compatible", base_url=endpoint.url, model="qwen3:4b", retries=0, timeout_s=60.0
    )
    return behind_the_shortest_tail(replace(config, summary=summary))


def behind_the_shortest_tail(config: Config) -> Config:
    settings = CompactionSettings(
        cluster_target=4, trigger_tokens=0, fold_tokens=0, abstractive_from=0.0, min_align=0.0, own_process=False
    )
    return replace(config, compaction=settings, assembly=replace(config.assembly, tail_share=0.0))


def compacting(config: Config, **settings: object) -> Config:
    return replace(config, compaction=replace(config.compaction, **settings))  # type: ignore[arg-type]


def say(memory: Memory, clusters: int = CLUSTERS) -> None:
    for number in range(4 * clusters + TAIL):
        text = (
            f"Crate {number} with {number + 30} lamps was carried from the quay to hall H-{number:03d}, "
            f"and the clerk of that hall wrote its weight, its owner and the hour into the book."
        )
        memory.ingest(text, user="ada", session="s", id=f"t{number}")
    assert memory.wait(60)


def compacted(config: Config, clusters: int = CLUSTERS) -> Compaction:
    with Memory.open(config=config) as memory:
        say(memory, clusters)
        return memory.compact(user="ada", session="s")


def shown(handler: Handler) -> list[str]:
    asked = handler.server.requests[-1][2]["messages"][-1]["content"]
    return [line.removeprefix("user: ") for line in asked.splitlines() if line.startswith("user: ")]


def near(handler: Handler, usage: object = USAGE) -> None:
    """An answer of the turns' own words, or of those of the summaries that are folded."""
    lines = shown(handler) or [handler.server.requests[-1][2]["messages"][-1]["content"].splitlines()[2]]
    says(lines[0].split(",")[0], usage=usage)(handler)


def far_too_many_words(handler: Handler) -> None:
    """All that was said: short enough for the engine, and too long for the rung. Each turn's in another order: they say
    nearly the same, and who repeats himself is not heard out."""
    turns = [turn.split() for turn in shown(handler)]
    words = [word for number, turn in enumerate(turns) for word in random.Random(number).sample(turn, len(turn))]
    says(" ".join(words), usage=USAGE)(handler)


def times(calls: int) -> Spent:
    return Spent(calls, 321 * calls, 45 * calls)


# ── what counts ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_answer_that_was_refused_is_counted_with_the_one_that_was_taken(
    anywhere: Config, endpoint: Endpoint
) -> None:
    brief = says(
        "Crate 5 with 35 lamps was carried from the quay.", usage={"prompt_tokens": 300, "completion_tokens": 7}
    )
    endpoint.answers = [READY, REFUSED, brief, near]
    with Memory.open(config=anywhere) as memory:
        say(memory)
        done = memory.compact(user="ada", session="s")
        own_process = anywhere.compaction.own_process
        assert isinstance(memory._compactor()._parts.maker, MakingApart if own_process else Maker)
    assert [node.method for node in done.summaries] == ["extractive", "abstractive", "abstractive"]
    assert done.spent == Spent(3, 321 + 300 + 321, 45 + 7 + 45), "without the probe"


def test_every_rung_that_the_model_was_asked_for_is_counted(asking: Config, endpoint: Endpoint) -> None:
    endpoint.answers = [READY, far_too_many_words]
    done = compacted(asking)
    assert {node.method for node in done.summaries} == {"extractive"}
    assert done.spent == times(len(endpoint.requests) - 1) == times(2 * CLUSTERS)


def test_a_call_without_an_answer_counts_without_tokens(anywhere: Config, endpoint: Endpoint) -> None:
    endpoint.answers = [READY, near, status(500)]
    done = compacted(anywhere)
    assert [node.method for node in done.summaries] == ["abstractive", "extractive", "extractive"]
    assert done.spent == Spent(2, 321, 45), "and the third cluster was not asked about"


def test_an_endpoint_that_never_answers_costs_a_call_and_the_probe_nothing(asking: Config, endpoint: Endpoint) -> None:
    endpoint.answers = [READY, Handler.wait_until_the_client_is_gone]
    impatient = replace(asking, summary=replace(asking.summary, timeout_s=0.2))
    assert compacted(impatient).spent == Spent(calls=1)


def test_an_endpoint_that_is_not_there_from_the_start_is_no_call(asking: Config, endpoint: Endpoint) -> None:
    endpoint.answers = [status(500)]
    assert compacted(asking).spent == NOTHING


def test_what_is_sent_again_is_one_call(asking: Config, endpoint: Endpoint) -> None:
    endpoint.answers = [READY, status(503, Retry_After="0"), near]
    patient = replace(asking, summary=replace(asking.summary, retries=1))
    assert compacted(patient).spent == times(CLUSTERS)
    assert len(endpoint.requests) == CLUSTERS + 2


def test_without_an_account_both_are_estimated(anywhere: Config, endpoint: Endpoint) -> None:
    endpoint.answers = [READY, says('{"note": "crates"}'), lambda handler: near(handler, usage=None)]
    done = compacted(anywhere)
    count = EstimatingCounter().count
    asked = ["\n".join(part["content"] for part in body["messages"]) for _, _, body in endpoint.requests[1:]]
    said = ['{"note": "crates"}', *(node.parts[0] for node in done.summaries if node.method == "abstractive")]
    assert done.spent == Spent(CLUSTERS, sum(map(count, asked)), sum(map(count, said)))


def test_folds_are_counted_with_the_summaries(asking: Config, endpoint: Endpoint) -> None:
    endpoint.answers = [READY, near]
    done = compacted(compacting(asking, cluster_target=2, fold_tokens=64), clusters=5)
    assert any(node.method == "abstractive" for node in done.folds)
    assert done.spent == times(len(endpoint.requests) - 1)
    assert done.spent.calls > len(done.summaries)


def test_extracts_cost_nothing(hashed: Config) -> None:
    done = compacted(behind_the_shortest_tail(hashed))
    assert len(done.summaries) == CLUSTERS and done.spent == NOTHING


@pytest.mark.parametrize("ends", [True, False], ids=["refused or taken", "without an end"])
def test_a_local_model_counts_in_its_own_tokens(hashed: Config, tmp_path: Path, ends: bool) -> None:
    weights = make_weights(end_pull=0.8)
    if not ends:
        weights["bias"][END] = -1000
    folder = write_tiny(tmp_path / "t5", weights=weights, max_new_tokens=12, max_input_tokens=512)
    summary = SummarySettings(backend="onnx-local", model_path=str(folder))
    with Memory.open(config=behind_the_shortest_tail(replace(hashed, summary=summary))) as memory:
        for number in range(12 + TAIL):
            memory.ingest("the user wants green tea before the release notes", user="ada", session="s", id=f"t{number}")
        assert memory.wait(60)
        done = memory.compact(user="ada", session="s")
    read = 4 * len("user: the user wants green tea before the release notes".split()) + len(("the end mark",))
    assert done.spent.calls == 3 and done.spent.tokens_in == 3 * read
    assert done.spent.tokens_out == 36 if not ends else 0 < done.spent.tokens_out <= 36


# ── nothing came of it ───────────────────────────────────────────────────────────────────────────────────────────


def test_what_was_asked_about_turns_that_were_declined_is_told(anywhere: Config, endpoint: Endpoint) -> None:
    """Each turn is one fact, and none may be lost: no summary is smaller."""
    endpoint.answers = [READY, REFUSED]
    with Memory.open(config=compacting(anywhere, cluster_target=2)) as memory:
        for number in range(2 + TAIL):
            memory.ingest(f"/srv/harbour/{number * 7919}.log", user="ada", session="s", id=f"t{number}")
        assert memory.wait(60)
        done = memory.compact(user="ada", session="s")
    assert done.declined and not done.summaries
    assert done.spent == times(1)


def test_what_was_spent_before_an_early_end_is_told(anywhere: Config, endpoint: Endpoint) -> None:
    """The first summary is written, the second is asked for twice and given up the second time."""
    asked = threading.Event()

    def hangs(handler: Handler) -> None:
        asked.set()
        handler.wait_until_the_client_is_gone()

    endpoint.answers = [READY, near, far_too_many_words, hangs]
    with Memory.open(config=anywhere) as memory:
        say(memory)
        ended = memory._compactor().compact("ada", "s", 1_770_000_000_000, asked.is_set)
    assert ended.ended_early and ended.reason == CANCELLED and len(ended.summaries) == 1
    assert ended.spent == Spent(3, 2 * 321, 2 * 45)


def test_what_an_erasure_made_vain_is_told(asking: Config, endpoint: Endpoint) -> None:
    with Memory.open(config=asking) as memory:
        say(memory)

        def overtaken(handler: Handler) -> None:
            memory.erase("t0", user="ada", session="s")
            near(handler)

        endpoint.answers = [READY, overtaken]
        done = memory.compact(user="ada", session="s")
    assert done.reason == OVERTAKEN and not done.summaries
    assert done.spent == times(1)


def test_a_rebuild_that_ends_for_want_of_the_model_tells_what_it_took(asking: Config, endpoint: Endpoint) -> None:
    endpoint.answers = [READY, near]
    with Memory.open(config=asking) as memory:
        say(memory)
        memory.compact(user="ada", session="s")
        endpoint.answers = [near, status(500)]
        done = memory.compact(user="ada", session="s", rebuild=True)
    assert done.ended_early and not done.summaries
    assert done.spent == Spent(2, 321, 45)


# ── by itself, and told ──────────────────────────────────────────────────────────────────────────────────────────


def test_what_compactions_by_themselves_spent_is_added_up(asking: Config, endpoint: Endpoint) -> None:
    endpoint.answers = [READY, REFUSED, near]
    with Memory.open(config=compacting(asking, trigger_tokens=200)) as memory:
        assert memory.status().compaction.spent == NOTHING
        say(memory)
        assert memory.wait(60, compaction=True)
        first = memory.status().compaction.spent
        assert first == times(len(endpoint.requests) - 1) and first.calls >= CLUSTERS
        for number in range(30):
            memory.ingest(
                f"Barrel {number} of oil was rolled to the shed by the men of the tug.", user="ada", session="s"
            )
        assert memory.wait(60, compaction=True)
        both = memory.status().compaction.spent
        assert both == times(len(endpoint.requests) - 1) and both.calls > first.calls
    with Memory.open(config=asking) as memory:
        assert memory.status().compaction.spent == NOTHING, "it is of this process"


def test_what_was_spent_goes_through_json(asking: Config, endpoint: Endpoint) -> None:
    from libravdb_memory.serve.bridge.codec import from_wire, to_wire

    endpoint.answers = [READY, REFUSED, near]
    done = compacted(asking)
    again = from_wire(Compaction, json.loads(json.dumps(to_wire(Compaction, done))))
    assert again == done and again.spent == times(CLUSTERS)
