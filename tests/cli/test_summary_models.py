"""What compact, status and doctor tell of a summary model: one that answers, one that does not, and bad settings."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.engines.chat_endpoint import Endpoint, says, serving, status
from tests.engines.tiny_seq2seq import write_tiny

Run: TypeAlias = Callable[..., Any]
TURNS = 84
KEY = "sk-very-secret-indeed"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as server:
        yield server


@pytest.fixture
def ada(cli: Run, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A command line on a store with one session of four clusters, and a model at an endpoint that writes summaries."""
    settings = {
        "ASSEMBLY_TAIL_SHARE": "0",
        "COMPACTION_TRIGGER_TOKENS": "0",
        "SUMMARY_BACKEND": "openai-compatible",
        "SUMMARY_BASE_URL": endpoint.url,
        "SUMMARY_MODEL": "qwen3:4b",
        "SUMMARY_RETRIES": "0",
    }
    for name, value in settings.items():
        monkeypatch.setenv(f"LIBRAVDB_{name}", value)
    turns = [
        {
            "text": f"Crate {n} with lamps was carried to hall H-{n:03d} and weighed there.",
            "session": "s",
            "id": f"t{n}",
        }
        for n in range(TURNS)
    ]
    assert cli("add", "--jsonl", "-", "-u", "ada", stdin="\n".join(map(json.dumps, turns))).code == 0
    return cli


def made_by(cli: Run, *arguments: str) -> str:
    """What stands behind the words, on one line."""
    result = cli("compact", "s", "-u", "ada", *arguments)
    assert result.code == 0, result.err
    found = re.search(r"^made by  (.*(?:\n {9}.*)*)", result.out, re.MULTILINE)
    assert found and max(map(len, result.out.splitlines())) <= 80
    return " ".join(found[1].split())


def local(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    for name in ("BASE_URL", "MODEL", "RETRIES"):
        monkeypatch.delenv(f"LIBRAVDB_SUMMARY_{name}")
    monkeypatch.setenv("LIBRAVDB_SUMMARY_BACKEND", "onnx-local")
    monkeypatch.setenv("LIBRAVDB_SUMMARY_MODEL_PATH", str(folder))


def summaries_finding(cli: Run) -> dict[str, Any]:
    result = cli("doctor", "--json")
    told: list[dict[str, Any]] = json.loads(result.out)["findings"]
    [found] = [finding for finding in told if finding["subject"] == "summaries"]
    assert result.code == (1 if found["mark"] == "problem" else 0)
    return found


# ── compact ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_compact_tells_that_a_model_was_not_asked_and_the_scores(ada: Run) -> None:
    scores = r"mean gate scores? \.\d\d(?: to \.\d\d)? < \.60, which compaction\.abstractive_from sets"
    pattern = rf"extractive \(4\): qwen3:4b was not asked, {scores} \(4\)"
    assert re.fullmatch(pattern, made_by(ada))


def test_compact_tells_why_a_model_is_not_there(ada: Run, endpoint: Endpoint) -> None:
    endpoint.answers = [status(500, b"out of\x1b[31m memory")]
    told = made_by(ada)
    assert told.startswith(f"extractive (4): qwen3:4b was not ready: {endpoint.url}chat/completions: ")
    assert told.endswith("memory (4)") and "500" in told and "\x1b" not in told


def test_compact_names_a_failure_once(ada: Run, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIBRAVDB_COMPACTION_ABSTRACTIVE_FROM", "0")
    endpoint.answers = [says("yes"), status(500, b"out of memory")]
    told = made_by(ada)
    assert re.fullmatch(r"extractive \(4\): qwen3:4b failed: .*out of memory \(1\); it was not asked again \(3\)", told)


def test_compact_tells_why_answers_were_refused(ada: Run, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIBRAVDB_COMPACTION_ABSTRACTIVE_FROM", "0")
    near = says("Crate 45 with lamps was carried to hall H-045 and weighed there.")
    endpoint.answers = [says("yes"), says("All went well."), says("Hall QX-999 is full."), near, says("All went well.")]
    told = made_by(ada)
    assert re.fullmatch(
        r"openai-compatible:qwen3:4b \(1\), extractive \(3\): the answer of qwen3:4b was too far from the turns, "
        r"-?\.\d\d(?: to -?\.\d\d)? < \.65 \(2\); "
        r"its answer cannot be used: it names an identifier that no turn names \(1\)",
        told,
    )


def test_compact_tells_programs_the_same(ada: Run, endpoint: Endpoint) -> None:
    endpoint.answers = [status(401, b"who are you")]
    [done] = json.loads(ada("compact", "s", "-u", "ada", "--json").out)["sessions"]
    [extracts] = done["extracts"]
    assert (extracts["model"], extracts["reason"], extracts["count"]) == ("openai-compatible:qwen3:4b", "not ready", 4)
    assert "who are you" in extracts["detail"]
    assert [node["passed_over"]["reason"] for node in done["summaries"]] == ["not ready"] * 4
    entries = json.loads(ada("history", "s", "-u", "ada", "--json").out)["entries"]
    assert not any("passed_over" in entry for entry in entries), "it is not known of what was stored"


def test_compact_of_many_sessions_tells_it_too(ada: Run, endpoint: Endpoint) -> None:
    endpoint.answers = [status(500, b"busy")]
    assert "qwen3:4b was not ready" in " ".join(ada("compact", "--all").out.split())


def test_without_a_model_compact_tells_the_maker_alone(ada: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BACKEND", "BASE_URL", "MODEL", "RETRIES"):
        monkeypatch.delenv(f"LIBRAVDB_SUMMARY_{name}")
    assert made_by(ada) == "extractive (4)"


# ── what it cost ─────────────────────────────────────────────────────────────────────────────────────────────────

USAGE = {"prompt_tokens": 321, "completion_tokens": 45}
COST = "4 calls of the model, 1,284 tokens read and 180 written"


@pytest.fixture
def paying(ada: Run, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The first answer is refused, the others are taken."""
    monkeypatch.setenv("LIBRAVDB_COMPACTION_ABSTRACTIVE_FROM", "0")
    monkeypatch.setenv("LIBRAVDB_COMPACTION_MIN_ALIGN", "0")
    good = says("Crates with lamps were carried to their halls and weighed there.", usage=USAGE)
    endpoint.answers = [says("yes", usage=USAGE), says('{"note": 1}', usage=USAGE), good]
    return ada


def test_compact_tells_what_the_model_took(paying: Run) -> None:
    told = paying("compact", "s", "-u", "ada").out
    assert "openai-compatible:qwen3:4b (3), extractive (1)" in told
    assert re.search(rf"^spent    {COST}$", told, re.MULTILINE)
    assert "spent" not in paying("compact", "s", "-u", "ada").out, "there was nothing more to ask about"


def test_compact_of_many_sessions_tells_what_the_model_took_for_each(paying: Run) -> None:
    assert f"spent {COST}" in " ".join(paying("compact", "--all").out.split())


def test_compact_tells_programs_what_the_model_took(paying: Run) -> None:
    [done] = json.loads(paying("compact", "s", "-u", "ada", "--json").out)["sessions"]
    assert done["spent"] == {"calls": 4, "tokens_in": 1284, "tokens_out": 180}


def test_compact_tells_of_calls_without_an_answer(paying: Run, endpoint: Endpoint) -> None:
    endpoint.answers = [says("yes"), status(500)]
    assert re.search(
        "^spent    1 call of the model, without an answer that tells its tokens$",
        paying("compact", "s", "-u", "ada").out,
        re.MULTILINE,
    )


def test_without_a_model_nothing_is_said_of_a_cost(ada: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BACKEND", "BASE_URL", "MODEL", "RETRIES"):
        monkeypatch.delenv(f"LIBRAVDB_SUMMARY_{name}")
    told = ada("compact", "s", "-u", "ada").out
    assert "made by  extractive (4)" in told and "spent" not in told and "call" not in told
    [done] = json.loads(ada("compact", "s", "-u", "ada", "--rebuild", "--json").out)["sessions"]
    assert done["spent"] == {"calls": 0, "tokens_in": 0, "tokens_out": 0}
    assert "spent" not in ada("status").out


def test_a_bulk_add_tells_what_its_summaries_took(paying: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIBRAVDB_COMPACTION_TRIGGER_TOKENS", "100")
    turns = [{"text": f"Crate {n} with lamps waits in hall H-{n:03d} today.", "session": "bulk"} for n in range(TURNS)]
    result = paying("add", "--jsonl", "-", "-u", "ada", stdin="\n".join(map(json.dumps, turns)))
    found = re.search(
        r"summaries took (\d+) calls? of the model, ([\d,]+) tokens read and ([\d,]+) written", result.err
    )
    assert result.code == 0 and found
    calls, read, written = (int(figure.replace(",", "")) for figure in found.groups())
    assert calls and (read, written) == (321 * calls, 45 * calls)


def test_a_daemon_adds_up_what_its_summaries_took(paying: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIBRAVDB_COMPACTION_TRIGGER_TOKENS", "300")
    assert paying("daemon", "start").code == 0
    try:
        texts = (f"Barrel {n} of oil was rolled to shed B-{n:03d} by the men of the tug." for n in range(40))
        turns = "\n".join(json.dumps({"text": text, "session": "oil"}) for text in texts)
        assert paying("add", "--jsonl", "-", "-u", "ada", stdin=turns).code == 0
        while "\nspent" not in (out := paying("status").out):
            assert "last failure" not in out
        pattern = (
            r"^spent +(\d+) calls? of the model, (.*) tokens read and (.*) written, by compactions by themselves since"
        )
        found = re.search(pattern, out, re.MULTILINE)
        assert found
        calls, read, written = (int(figure.replace(",", "")) for figure in found.groups())
        assert (read, written) == (321 * calls, 45 * calls)
    finally:
        assert paying("daemon", "stop").code == 0


# ── settings that are plainly wrong ──────────────────────────────────────────────────────────────────────────────


def test_a_folder_that_is_not_there_is_refused_by_name_and_the_store_can_still_be_had(
    ada: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    local(monkeypatch, tmp_path / "nowhere")
    for command in (["compact", "s", "-u", "ada"], ["add", "more", "-u", "ada"], ["status"]):
        refused = ada(*command)
        assert refused.code == 2 and "summary.model_path" in refused.err and "nowhere is not a folder" in refused.err
    assert ada("verify").code == 0 and ada("export", "-").code == 0
    found = summaries_finding(ada)
    assert found["mark"] == "problem" and "summary.model_path" in found["detail"] and found["remedy"]


def test_a_key_that_is_not_there_is_refused_by_name_where_it_is_needed(
    ada: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIBRAVDB_SUMMARY_API_KEY_ENV", "TEST_ABSENT_KEY")
    refused = ada("compact", "s", "-u", "ada")
    assert refused.code == 2 and "summary.api_key_env: the environment variable TEST_ABSENT_KEY" in refused.err
    assert ada("add", "more", "-u", "ada").code == 0 and ada("status").code == 0
    assert "TEST_ABSENT_KEY" in summaries_finding(ada)["detail"]


# ── doctor and status ────────────────────────────────────────────────────────────────────────────────────────────


def test_doctor_asks_the_endpoint_and_says_that_it_is_ready_or_why_not(
    ada: Run, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert summaries_finding(ada) | {"remedy": None} == {
        "mark": "ok",
        "subject": "summaries",
        "detail": "openai-compatible:qwen3:4b is ready; made in the same process",
        "remedy": None,
    }
    monkeypatch.setenv("TEST_SUMMARY_KEY", KEY)
    monkeypatch.setenv("LIBRAVDB_SUMMARY_API_KEY_ENV", "TEST_SUMMARY_KEY")
    endpoint.answers = [status(401, f"{KEY} is no key".encode())]
    found = summaries_finding(ada)
    assert found["mark"] == "problem" and "is no key" in found["detail"] and KEY not in str(found)


def test_doctor_loads_a_model_from_a_folder(ada: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    local(monkeypatch, write_tiny(tmp_path / "tiny-t5"))
    assert summaries_finding(ada)["detail"] == "onnx-local:tiny-t5 is ready; made in the same process"
    (tmp_path / "tiny-t5" / "decoder_model.onnx").write_bytes(b"not a model")
    assert summaries_finding(ada)["mark"] == "problem"


def test_doctor_and_status_name_what_writes_summaries(ada: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert re.search(r"^summaries +by openai-compatible:qwen3:4b$", ada("status").out, re.MULTILINE)
    for name in ("BACKEND", "BASE_URL", "MODEL", "RETRIES"):
        monkeypatch.delenv(f"LIBRAVDB_SUMMARY_{name}")
    assert summaries_finding(ada)["detail"] == "extractive: no model is needed; made in the same process"
    assert re.search(r"^summaries +by extractive$", ada("status").out, re.MULTILINE)


def test_a_daemon_tells_all_of_it_too(ada: Run, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIBRAVDB_COMPACTION_TRIGGER_TOKENS", "300")
    endpoint.answers = [status(503, b"busy")]
    assert ada("daemon", "start").code == 0
    try:
        texts = (f"Barrel {n} of oil was rolled to shed B-{n:03d} by the men of the tug." for n in range(40))
        turns = "\n".join(json.dumps({"text": text, "session": "oil"}) for text in texts)
        assert ada("add", "--jsonl", "-", "-u", "ada", stdin=turns).code == 0
        pattern = r"^summaries +by openai-compatible:qwen3:4b; the last without it: qwen3:4b was not ready: .*busy$"
        while not re.search(pattern, out := ada("status").out, re.MULTILINE):
            assert "last failure" not in out
        detail = [found["detail"] for found in json.loads(ada("doctor", "--json").out)["findings"]]
        assert any("made its last without the model: qwen3:4b was not ready" in told for told in detail)
        assert re.fullmatch(r"extractive \(4\): qwen3:4b was not ready: .*busy \(4\)", made_by(ada))
    finally:
        assert ada("daemon", "stop").code == 0


def test_a_bulk_add_tells_why_its_summaries_were_made_without_the_model(
    ada: Run, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIBRAVDB_COMPACTION_TRIGGER_TOKENS", "100")
    monkeypatch.setenv("LIBRAVDB_COMPACTION_ABSTRACTIVE_FROM", "0")
    endpoint.answers = [status(500, b"out of memory")]
    turns = [{"text": f"Crate {n} with lamps waits in hall H-{n:03d} today.", "session": "bulk"} for n in range(TURNS)]
    result = ada("add", "--jsonl", "-", "-u", "ada", stdin="\n".join(map(json.dumps, turns)))
    assert result.code == 0 and "compacting" in result.err
    assert "the last summary was made without the model: qwen3:4b" in result.err


def test_a_history_tells_which_summaries_a_model_wrote(
    ada: Run, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_by(ada)
    assert "by openai-compatible" not in ada("history", "s", "-u", "ada").out
    monkeypatch.setenv("LIBRAVDB_COMPACTION_ABSTRACTIVE_FROM", "0")
    monkeypatch.setenv("LIBRAVDB_COMPACTION_MIN_ALIGN", "0")
    endpoint.answers = [says("Crates with lamps were carried to their halls and weighed there.")]
    assert "openai-compatible:qwen3:4b" in made_by(ada, "--rebuild")
    told = " ".join(ada("history", "s", "-u", "ada").out.replace("│", " ").split())
    assert "by openai-compatible:qwen3:4b" in told
