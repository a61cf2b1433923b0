"""Why a compaction did without the model that is configured: through a real endpoint, or a folder, on a real store."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.engines.chat_endpoint import Answer, Endpoint, Handler, cut, raw, says, serving, status
from tests.engines.tiny_seq2seq import write_tiny

from libravdb_memory import Config, Memory
from libravdb_memory.compacting import Compaction
from libravdb_memory.engines.summarising.select import SummarySettings
from libravdb_memory.errors import ConfigError
from libravdb_memory.summaries import draft_of

KEY = "sk-very-secret-indeed"
CLUSTERS, TAIL = 3, 4
ENGINE = "openai-compatible:qwen3:4b"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as server:
        yield server


@pytest.fixture
def asking(hashed: Config, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Config:
    """Every cluster is worth asking about; clusters are of four turns behind the shortest tail."""
    monkeypatch.setenv("TEST_SUMMARY_KEY", KEY)
    compaction = replace(hashed.compaction, cluster_target=4, trigger_tokens=0, fold_tokens=0, abstractive_from=0.0)
    summary = SummarySettings(
        backend="openai-compatible",
        base_url=endpoint.url,
        model="qwen3:4b",
        api_key_env="TEST_SUMMARY_KEY",
        retries=0,
        timeout_s=0.5,
    )
    return replace(hashed, compaction=compaction, summary=summary, assembly=replace(hashed.assembly, tail_share=0.0))


def say(memory: Memory, clusters: int = CLUSTERS, role: str = "user") -> list[str]:
    texts = [
        f"Crate {number} with {number + 30} lamps was carried from the quay to hall H-{number:03d}, "
        f"and the clerk of that hall wrote its weight, its owner and the hour into the book."
        for number in range(4 * clusters + TAIL)
    ]
    for number, text in enumerate(texts):
        memory.ingest(text, user="ada", session="s", id=f"t{number}", role=role)
    assert memory.wait(60)
    return texts


@contextmanager
def opened(config: Config) -> Generator[Memory]:
    with Memory.open(config=config) as memory:
        yield memory


def compacted(config: Config) -> Compaction:
    with opened(config) as memory:
        texts = say(memory)
        done = memory.compact(user="ada", session="s")
        kept = [turn.text for node in done.summaries for turn in memory.expand(node.id).items]
        assert kept == texts[: 4 * CLUSTERS], "no turn is lost, whatever the model does"
        return done


def reasons(done: Compaction) -> dict[str, int]:
    return {extracts.reason: extracts.count for extracts in done.extracts}


def after_the_probe(answer: Answer) -> list[Answer]:
    return [says("yes"), answer]


# ── the model fails ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (status(500, b"out of memory"), "500.*out of memory"),
        (status(401, b"no such key"), "401.*no such key"),
        (raw(b"<html>hello", Content_Type="text/html"), "text/html, not JSON"),
        (cut, "the connection failed"),
        (Handler.wait_until_the_client_is_gone, r"no answer within 0\.5 s"),
    ],
    ids=["500", "401", "HTML", "cut", "hangs"],
)
def test_a_model_that_is_not_there_is_the_reason_of_every_extract(
    asking: Config, endpoint: Endpoint, answer: Answer, told: str
) -> None:
    endpoint.answers = [answer]
    done = compacted(asking)
    assert {node.engine for node in done.summaries} == {"extractive"}
    [extracts] = done.extracts
    assert (extracts.model, extracts.reason, extracts.count) == (ENGINE, "not ready", CLUSTERS)
    assert re.search(told, extracts.detail)
    assert done.model_failure and done.model_failure.startswith("qwen3:4b was not ready: http://127.0.0.1:")


def test_an_endpoint_that_does_not_exist_is_named(asking: Config) -> None:
    nobody = replace(asking, summary=replace(asking.summary, base_url="http://127.0.0.1:9/v1"))
    [extracts] = compacted(nobody).extracts
    assert extracts.reason == "not ready" and extracts.detail.startswith("http://127.0.0.1:9/v1/chat/completions: ")


def test_a_model_that_dies_at_work_fails_once_and_is_not_asked_again(asking: Config, endpoint: Endpoint) -> None:
    endpoint.answers = after_the_probe(status(500, b"out of memory"))
    done = compacted(asking)
    assert reasons(done) == {"failed": 1, "not ready": CLUSTERS - 1}
    assert len({extracts.detail for extracts in done.extracts}) == 1, "for the same reason"
    assert len(endpoint.requests) == 2


def test_what_an_endpoint_says_of_the_key_is_not_told(asking: Config, endpoint: Endpoint) -> None:
    endpoint.answers = [status(401, f"bad key {KEY}".encode())]
    done = compacted(asking)
    assert "bad key" in done.extracts[0].detail and KEY not in repr(done)


# ── the model's answer is refused ────────────────────────────────────────────────────────────────────────────────


def near(handler: Handler, more: str = "") -> None:
    """An answer of the turns' own words."""
    asked = handler.server.requests[-1][2]["messages"][-1]["content"]
    turns = [line.removeprefix("user: ") for line in asked.splitlines() if line.startswith("user: ")]
    says(" ".join(turn.split(",")[0] for turn in turns[:1]) + more)(handler)


def every_word(handler: Handler) -> None:
    """Each turn's in another order: the turns say nearly the same, and who repeats himself is not heard out."""
    asked = handler.server.requests[-1][2]["messages"][-1]["content"]
    turns = [line.removeprefix("user: ").split() for line in asked.splitlines() if line.startswith("user: ")]
    words = [word for number, turn in enumerate(turns) for word in random.Random(number).sample(turn, len(turn))]
    says(" ".join(words))(handler)


@pytest.mark.parametrize(
    ("answer", "reason", "detail"),
    [
        (says(""), "unusable", "it is empty"),
        (says("I cannot help with that."), "unusable", "it declines to summarise"),
        (says("Some crates", "length"), "unusable", "it did not come to an end in the tokens it may have"),
        (says('{"note": "crates"}'), "unusable", "it is JSON, not prose"),
        (says("The crates stand in hall QX-999."), "unusable", "it names an identifier that no turn names"),
    ],
    ids=["empty", "declines", "cut off", "JSON", "invents"],
)
def test_an_answer_that_cannot_be_used_says_which_check_it_did_not_pass(
    asking: Config, endpoint: Endpoint, answer: Answer, reason: str, detail: str
) -> None:
    endpoint.answers = after_the_probe(answer)
    done = compacted(asking)
    assert [(extracts.reason, extracts.count) for extracts in done.extracts] == [(reason, CLUSTERS)]
    assert done.extracts[0].detail == detail
    assert done.model_failure == f"the answer of qwen3:4b cannot be used: {detail}"


def test_an_answer_too_far_from_the_turns_tells_how_far(asking: Config, endpoint: Endpoint) -> None:
    endpoint.answers = after_the_probe(says("Nothing of importance happened there at all."))
    done = compacted(asking)
    [extracts] = done.extracts
    assert (extracts.reason, extracts.count, extracts.bound) == ("off the mark", CLUSTERS, 0.65)
    assert extracts.least is not None and extracts.most is not None
    assert -1 <= extracts.least <= extracts.most < 0.65


@pytest.mark.parametrize("answer", [every_word, says("crates " * 400)], ids=["too long", "far too long"])
def test_an_answer_that_is_too_long_tells_its_tokens(asking: Config, endpoint: Endpoint, answer: Answer) -> None:
    endpoint.answers = after_the_probe(answer)
    done = compacted(asking)
    [extracts] = done.extracts
    assert extracts.reason == "too long" and extracts.count == CLUSTERS
    assert extracts.least is not None and extracts.bound is not None and extracts.least > extracts.bound > 0


# ── the model is not asked ───────────────────────────────────────────────────────────────────────────────────────


def test_turns_not_worth_asking_about_tell_their_mean_scores(asking: Config, endpoint: Endpoint) -> None:
    done = compacted(replace(asking, compaction=replace(asking.compaction, abstractive_from=0.6)))
    [extracts] = done.extracts
    assert (extracts.reason, extracts.count, extracts.bound) == ("low score", CLUSTERS, 0.6)
    assert extracts.least is not None and extracts.most is not None and 0 < extracts.least <= extracts.most < 0.6
    assert done.model_failure is None, "nothing is known about the model"


def test_turns_without_a_score_say_so(asking: Config) -> None:
    with opened(asking) as memory:
        say(memory, role="assistant")
        assert reasons(memory.compact(user="ada", session="s")) == {"no score": CLUSTERS}


def test_folds_of_extracts_are_counted_too(asking: Config) -> None:
    folding = replace(asking.compaction, abstractive_from=1.0, cluster_target=2, fold_tokens=64)
    with opened(replace(asking, compaction=folding)) as memory:
        say(memory, 10)
        done = memory.compact(user="ada", session="s")
    assert done.folds and reasons(done) == {"low score": len(done.summaries), "of extracts": len(done.folds)}


# ── nothing to explain ───────────────────────────────────────────────────────────────────────────────────────────


def test_what_the_model_wrote_needs_no_reason_and_clears_the_last_failure(asking: Config, endpoint: Endpoint) -> None:
    endpoint.answers = after_the_probe(near)
    done = compacted(replace(asking, compaction=replace(asking.compaction, min_align=0.0)))
    assert {node.engine for node in done.summaries} == {ENGINE}
    assert (done.extracts, done.model_failure) == ((), "")


def test_without_a_model_no_extract_needs_a_reason(asking: Config) -> None:
    done = compacted(replace(asking, summary=SummarySettings()))
    assert len(done.summaries) == CLUSTERS and (done.extracts, done.model_failure) == ((), None)


def test_a_reason_is_told_and_not_stored(asking: Config, endpoint: Endpoint) -> None:
    endpoint.answers = [status(500)]
    done = compacted(asking)
    node = done.summaries[0]
    assert node.passed_over is not None and draft_of(node) == draft_of(replace(node, passed_over=None))
    with opened(asking) as memory:
        assert memory.expand(node.id).node == node and memory.expand(node.id).node.passed_over is None


# ── by itself ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_compaction_by_itself_keeps_the_last_failure_of_the_model_until_it_writes_again(
    asking: Config, endpoint: Endpoint
) -> None:
    endpoint.answers = [status(503, b"busy")]
    with opened(replace(asking, compaction=replace(asking.compaction, trigger_tokens=200, min_align=0.0))) as memory:
        assert memory.status().summariser == ENGINE
        say(memory)
        assert memory.wait(60, compaction=True)
        state = memory.status().compaction
        assert state.failure is None and state.model_failure is not None and "busy" in state.model_failure
        endpoint.answers = after_the_probe(near)
        for number in range(30):
            memory.ingest(
                f"Barrel {number} of oil was rolled to the shed by the men of the tug.", user="ada", session="s"
            )
        assert memory.wait(60, compaction=True)
        assert memory.status().compaction.model_failure is None


# ── settings that are plainly wrong ──────────────────────────────────────────────────────────────────────────────


def local(config: Config, folder: Path) -> Config:
    return replace(config, summary=SummarySettings(backend="onnx-local", model_path=str(folder)))


def breakages(folder: Path) -> dict[str, Callable[[], Any]]:
    manifest = folder / "manifest.toml"
    return {
        "missing": lambda: None,
        "a file": lambda: folder.write_text("x"),
        "empty": folder.mkdir,
        "an unknown key": lambda: (write_tiny(folder), manifest.write_text('model = "m"\nbeams = 4\n')),
        "no encoder": lambda: (write_tiny(folder), (folder / "encoder_model.onnx").unlink()),
    }


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("missing", r"setting summary\.model_path: .*t5 is not a folder"),
        ("a file", r"setting summary\.model_path: .*t5 is not a folder"),
        ("empty", r"setting summary\.model_path: .*it has no manifest\.toml"),
        ("an unknown key", r"setting beams in .*manifest\.toml: unknown key"),
        ("no encoder", r"setting summary\.model_path: .*encoder_model\.onnx is missing"),
    ],
)
def test_a_folder_that_cannot_hold_a_model_is_refused_when_a_memory_is_opened(
    asking: Config, tmp_path: Path, how: str, told: str
) -> None:
    folder = tmp_path / "t5"
    breakages(folder)[how]()
    with pytest.raises(ConfigError, match=told):
        Memory.open(config=local(asking, folder))
    assert not asking.db_path.exists(), "before anything is made"


def test_a_model_that_does_not_load_is_done_without_and_says_why(asking: Config, tmp_path: Path) -> None:
    write_tiny(tmp_path / "t5")
    (tmp_path / "t5" / "encoder_model.onnx").write_bytes(b"not a model")
    done = compacted(local(asking, tmp_path / "t5"))
    [extracts] = done.extracts
    assert (extracts.model, extracts.reason, extracts.count) == ("onnx-local:t5", "not ready", CLUSTERS)
    assert extracts.detail


def test_a_key_that_is_not_there_is_refused_when_it_is_needed_and_turns_are_stored_all_the_same(
    asking: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TEST_SUMMARY_KEY")
    told = "setting summary.api_key_env: the environment variable TEST_SUMMARY_KEY holds no usable key"
    with opened(replace(asking, compaction=replace(asking.compaction, trigger_tokens=200))) as memory:
        texts = say(memory)
        with pytest.raises(ConfigError) as caught:
            memory.compact(user="ada", session="s")
        assert str(caught.value) == told
        assert not memory.wait(60, compaction=True) and memory.status().compaction.failure == told
        assert [memory.get(f"t{number}", user="ada").text for number in range(len(texts))] == texts
        monkeypatch.setenv("TEST_SUMMARY_KEY", KEY)
        assert memory.compact(user="ada", session="s").summaries


def test_reasons_go_through_json(asking: Config, endpoint: Endpoint) -> None:
    from libravdb_memory.serve.bridge.codec import from_wire, to_wire

    endpoint.answers = [status(500)]
    done = compacted(asking)
    again = from_wire(Compaction, json.loads(json.dumps(to_wire(Compaction, done))))
    assert again == done and again.extracts == done.extracts
