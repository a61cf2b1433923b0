"""An endpoint that answers with what it was asked, end to end: no log, report or status holds a word of any turn."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from tests.engines.chat_endpoint import Answer, Endpoint, Handler, says, serving, status
from tests.laws.flaky_summariser import FlakySummariser, use
from tests.serve.process import Daemons, short_folder

from libravdb_memory import Config, Memory
from libravdb_memory.compacting import Compaction
from libravdb_memory.engines.summarising.protocol import Summary, SummaryRequest

SECRET = "Quillfeather"
TURNS = 14
REPEATED: dict[str, Callable[[str], bytes]] = {
    "in a list of details": lambda turns: json.dumps({"detail": [{"type": "x", "input": turns[:150]}]}).encode(),
    "in its words": lambda turns: json.dumps({"error": {"message": f"bad input: {turns[:150]}"}}).encode(),
    "as plain text": lambda turns: turns[:150].encode(),
    "escaped": lambda turns: json.dumps({"message": json.dumps(turns[:150])}).encode(),
    "with escape sequences": lambda turns: json.dumps({"error": "\x1b[31m".join(turns[:150])}).encode(),
    "and no JSON": lambda turns: json.dumps({"detail": turns}).encode() + b"\x1b[31mRED\x1b]0;pwn\x07",
}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as server:
        yield server


def asked_of(handler: Handler) -> str:
    """What it is asked to sum up; empty when it is only asked whether it is there."""
    _, _, turns = handler.server.requests[-1][2]["messages"][-1]["content"].partition("The turns:\n")
    return str(turns.partition("\n")[2])


def repeats(how: str, code: int) -> Answer:
    def answer(handler: Handler) -> None:
        turns = asked_of(handler)
        (status(code, REPEATED[how](turns)) if turns else says("ready"))(handler)

    return answer


def configured(hashed: Config, endpoint: Endpoint) -> Config:
    compaction = replace(
        hashed.compaction, cluster_target=4, trigger_tokens=0, abstractive_from=0.0, min_align=0.0, fold_tokens=0
    )
    summary = replace(
        hashed.summary, backend="openai-compatible", base_url=endpoint.url, model="tiny", retries=0, timeout_s=60.0
    )
    return replace(hashed, compaction=compaction, summary=summary, assembly=replace(hashed.assembly, tail_share=0.0))


def say(memory: Memory, user: str, what: str, turns: int = TURNS) -> None:
    for number in range(turns):
        memory.ingest(what.format(number), user=user, session="s")
    assert memory.wait(60)


OF_ADA = f"My therapist {SECRET}{{0}} said that the divorce is hard on all of us, and I had better sleep."
OF_BOB = "The garden fence number {0} needs paint before the autumn comes, and the gate a new lock."


def details(done: Compaction) -> list[str]:
    return [extracts.detail for extracts in done.extracts]


@pytest.mark.parametrize("code", [422, 501])
@pytest.mark.parametrize("how", REPEATED)
def test_no_log_report_or_status_repeats_a_turn_that_an_endpoint_repeats(
    hashed: Config, endpoint: Endpoint, caplog: pytest.LogCaptureFixture, how: str, code: int
) -> None:
    endpoint.answers = [repeats(how, code)]
    config = configured(hashed, endpoint)
    config = replace(config, compaction=replace(config.compaction, trigger_tokens=100))
    with caplog.at_level(logging.DEBUG), Memory.open(config=config) as memory:
        say(memory, "ada", OF_ADA)
        assert memory.wait(60, compaction=True)
        of_itself = memory.status().compaction
        done = memory.compact(user="ada", session="s", rebuild=True)
    assert of_itself.model_failure is not None and str(code) in of_itself.model_failure
    assert done.extracts and all(str(code) in detail for detail in details(done))
    told = f"{of_itself} {done.extracts} {done.model_failure} {done.reason} {done.declined} {caplog.text}"
    assert str(code) in caplog.text
    assert SECRET not in told and "therapist" not in told and "\x1b" not in told


def test_what_a_daemon_logs_outlives_no_turn(endpoint: Endpoint) -> None:
    endpoint.answers = [repeats("and no JSON", 422)]
    with short_folder() as folder:
        started = Daemons(folder / "home")
        try:
            daemon = started(
                SUMMARY_BACKEND="openai-compatible",
                SUMMARY_BASE_URL=endpoint.url,
                SUMMARY_MODEL="tiny",
                COMPACTION_CLUSTER_TARGET="4",
                COMPACTION_ABSTRACTIVE_FROM="0.0",
                ASSEMBLY_TAIL_SHARE="0.0",
            )
            with daemon.client() as client:
                for number in range(TURNS):
                    client.call("ingest_message", userId="ada", sessionId="s", text=OF_ADA.format(number), role="user")
                done = client.call("memory_compact", userId="ada", sessionId="s")
                client.call("memory_forget", userId="ada", all=True)
                state = client.call("status")
            assert daemon.stop() == 0
            assert "422" in daemon.log and SECRET not in daemon.log and "u001b" not in daemon.log
            assert SECRET not in json.dumps([done.get("extracts"), state])
            assert not [path for path in folder.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
        finally:
            started.end()


def fails_for_ada(handler: Handler) -> None:
    turns = asked_of(handler)
    if SECRET in turns:
        status(501, b"out of order")(handler)
    else:
        says("The garden fence needs paint before the autumn comes." if turns else "ready")(handler)


def compacted_with_another_in_between(memory: Memory, user: str, other: str) -> dict[str, Compaction]:
    """The other's session is compacted after the first cluster of the one was, while the rest waits."""
    done: dict[str, Compaction] = {}

    def progress(clusters: int, _: int) -> None:
        if clusters == 1 and other not in done:
            done[other] = memory.compact(user=other, session="s")

    done[user] = memory.compact(user=user, session="s", progress=progress)
    return done


@pytest.mark.parametrize(("user", "other"), [("bob", "ada"), ("ada", "bob")])
def test_what_one_compaction_finds_of_a_model_is_neither_told_to_another_nor_counts_for_it(
    hashed: Config, endpoint: Endpoint, user: str, other: str
) -> None:
    endpoint.answers = [fails_for_ada]
    with Memory.open(config=configured(hashed, endpoint)) as memory:
        say(memory, "ada", OF_ADA, 20)
        say(memory, "bob", OF_BOB, 20)
        done = compacted_with_another_in_between(memory, user, other)
    assert done["bob"].extracts == () and len(done["bob"].summaries) > 2
    assert [extracts.reason for extracts in done["ada"].extracts] == ["not ready", "failed"]
    assert all(detail.endswith("501 Not Implemented: out of order") for detail in details(done["ada"]))
    asked = [body["messages"][-1]["content"] for _, _, body in endpoint.requests]
    assert len([text for text in asked if SECRET in text]) == 1, "it is not asked again in the same compaction"


class LostToAnother(FlakySummariser):
    """While it answers, it fails somebody else."""

    def summarise(self, request: SummaryRequest, cancelled: Callable[[], bool]) -> Summary:
        summary = super().summarise(request, cancelled)
        self.ready = False
        return summary


def test_a_model_that_answers_is_asked_on_whatever_becomes_of_it_elsewhere(hashed: Config, endpoint: Endpoint) -> None:
    with Memory.open(config=configured(hashed, endpoint)) as memory:
        model = LostToAnother()
        use(memory, model)
        say(memory, "bob", OF_BOB, 20)
        done = memory.compact(user="bob", session="s")
    assert done.extracts == () and len(done.summaries) > 2
