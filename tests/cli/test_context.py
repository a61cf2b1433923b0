"""context, why, why-not, replay and receipts through the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from libravdb_memory.tokens import EstimatingCounter

Run: TypeAlias = Callable[..., Any]

RULES = "- Never push to main.\n\nYou must answer in English.\n\nThe project began on a Sunday.\n"
ASKED = ("context", "-u", "ada", "-s", "s2", "--budget", "400", "--prompt", "which database did we choose?")


@pytest.fixture
def told(cli: Run, tmp_path: Path) -> None:
    """Two sessions and a rule file."""
    rules = tmp_path / "AGENTS.md"
    rules.write_text(RULES)
    assert cli("rules", "load", rules).code == 0
    turns = [
        ("s1", "d", "We choose PostgreSQL as the database for <everything> & more."),
        ("s1", "w", "I prefer window seats on trains."),
        ("s2", "l", "Lunch is at noon."),
    ]
    lines = "".join(json.dumps({"session": s, "id": i, "text": t, "user": "ada"}) + "\n" for s, i, t in turns)
    assert cli("add", "--jsonl", "-", stdin=lines).code == 0


def receipt_of(cli: Run, *more: str) -> str:
    return str(json.loads(cli(*ASKED, "--json", *more).out)["receipt"])


def test_the_text_is_all_there_is_on_stdout(libravdb: Run, told: None) -> None:
    plain, form = libravdb(*ASKED), json.loads(libravdb(*ASKED, "--json").out)
    assert plain.code == 0 and plain.out == form["text"]
    assert plain.out.startswith("<authored_context>\n- Never push to main.\nYou must answer in English.\n")
    assert plain.out.endswith("</recalled_memories>")
    assert "PostgreSQL as the database for &lt;everything&gt; &amp; more." in plain.out
    assert all(word in plain.err for word in ("hard", "tail", "recalled", "of 400 tokens", "libravdb why rcpt-"))
    assert libravdb(*ASKED, "--quiet").err == ""


def test_the_json_of_a_context_has_the_documented_form(cli: Run, told: None) -> None:
    form = json.loads(cli(*ASKED, "--json").out)
    assert set(form) == {
        *("text", "tokens", "budget", "degraded", "receipt", "tiers", "items", "rejections", "messages")
    }
    assert (form["budget"], form["degraded"], form["messages"]) == (400, [], [])
    assert form["tokens"] == EstimatingCounter().count(form["text"]) == sum(t["used"] for t in form["tiers"].values())
    assert [item["tier"] for item in form["items"][:3]] == ["hard", "soft", "tail"]
    assert "d" in [item["id"] for item in form["items"] if item["tier"] == "recalled"]


@pytest.mark.parametrize("budget", [0, 30, 60, 100, 150, 250])
def test_the_text_keeps_to_the_budget_or_says_that_it_cannot(cli: Run, told: None, budget: int) -> None:
    result = cli("context", "-u", "ada", "-s", "s2", "--prompt", "database?", "--budget", str(budget))
    assert result.code == 0
    over = EstimatingCounter().count(result.out) > budget
    assert over == ("degraded: hard rules and the last 1 turn need" in result.err)
    assert "Never push to main." in result.out and "Lunch is at noon." in result.out, "what is mandatory is never cut"


def test_a_prompt_may_come_from_stdin(cli: Run, told: None) -> None:
    arguments = ["context", "-u", "ada", "--prompt", "-", "--json"]
    receipt = json.loads(cli(*arguments, stdin="which\ndatabase?\n").out)["receipt"]
    assert json.loads(cli("why", receipt, "--json").out)["prompt"] == "which\ndatabase?\n"


@pytest.mark.parametrize("shape", ["array", "lines"])
def test_messages_of_a_host_are_the_tail_or_are_kept_within_the_budget(
    cli: Run, told: None, tmp_path: Path, shape: str
) -> None:
    messages = [{"role": "user" if n % 2 == 0 else "assistant", "content": f"message {n} " * 20} for n in range(12)]
    said = [{"text": m["content"], "role": m["role"], "user": "ada", "session": "s2"} for m in messages]
    assert cli("add", "--jsonl", "-", stdin="\n".join(map(json.dumps, said))).code == 0
    file = tmp_path / "messages.json"
    lines = "\n".join(map(json.dumps, messages))
    file.write_text(json.dumps(messages) if shape == "array" else lines)
    augmented = json.loads(cli(*ASKED, "--messages", file, "--json").out)
    assert augmented["messages"] == messages
    own = json.loads(cli(*ASKED, "--messages", file, "--mode", "own", "--budget", "700", "--json").out)
    assert 4 <= len(own["messages"]) < len(messages) and own["messages"] == messages[-len(own["messages"]) :]
    assert own["tokens"] <= 700 and own["degraded"] == []
    shown = cli(*ASKED, "--messages", file, "--mode", "own", "--budget", "700").err
    assert "messages" in shown and "of 700 tokens" in shown


@pytest.mark.parametrize("bad", ["[1]", "[", '{"content": "x"}', "words", '[{"role": 3}]'])
def test_messages_that_are_none_are_refused_by_place(cli: Run, told: None, bad: str) -> None:
    result = cli(*ASKED, "--messages", "-", stdin=bad)
    assert (result.code, result.out) == (2, "") and result.err.count("\n") == 1


@pytest.mark.parametrize("options", [["--budget", "-1"], ["--budget", "many"], ["--mode", "steal"]])
def test_bad_options_are_usage_errors(cli: Run, told: None, options: list[str]) -> None:
    assert cli(*ASKED, *options).code == 2
    assert cli("context", "-u", "ada").code == 2, "a prompt is needed"


def test_why_explains_what_went_in_and_what_stayed_out(cli: Run, told: None) -> None:
    receipt = receipt_of(cli, "--budget", "80")
    result = cli("why", receipt)
    assert result.code == 0
    for word in ("hard", "█", "in the prompt", "left out", "budget,", "tokens over", "sha256:", "identical"):
        assert word in result.out
    assert "dense" in cli("why", receipt_of(cli)).out, "what went in by its score shows the parts of it"
    assert max(map(len, result.out.splitlines()[:15])) <= 80
    form = json.loads(cli("why", receipt, "--json").out)
    assert form["identical"] is True and form["inputs_hash"].startswith("sha256:")
    assert form["user"] == "ada" and form["session"] == "s2" and form["budget"] == 80
    assert {item["tier"] for item in form["items"]} >= {"hard", "tail"}
    assert all(left["margin"] > 0 for left in form["rejections"] if left["reason"] == "budget")


def test_why_not_takes_the_first_characters_of_a_summary(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIBRAVDB_ASSEMBLY_TAIL_SHARE", "0")
    said = [{"text": f"The importer build {n} failed in stage {n}.", "id": f"t{n}"} for n in range(60)]
    cli("add", "--jsonl", "-", "-u", "lena", "-s", "trip", stdin="\n".join(map(json.dumps, said)))
    [done] = json.loads(cli("compact", "trip", "-u", "lena", "--json").out)["sessions"]
    prompt = done["summaries"][0]["text"]
    built = json.loads(cli("context", "--prompt", prompt, "-u", "lena", "-s", "trip", "--budget", "90", "--json").out)
    left = next(each for each in built["rejections"] if each["id"].startswith("summary:"))
    own = left["id"].removeprefix("summary:")
    for given in (left["id"], own, own[:8], own[:8].upper()):
        told = cli("why-not", built["receipt"], given, "--json")
        assert told.code == 0 and json.loads(told.out)["rejection"]["reason"] == left["reason"]
    cli("add", "--jsonl", "-", "-u", "lena", "-s", "later", stdin="\n".join(map(json.dumps, said)))
    [later] = json.loads(cli("compact", "later", "-u", "lena", "--json").out)["sessions"]
    for never in (later["summaries"][0]["id"].removeprefix("summary:")[:8], "later/t0"):
        told = cli("why-not", built["receipt"], never)
        assert told.code == 0 and "it was not among the candidates" in told.out
    for unknown in ("0123456789", "trip/none", own[:5]):
        assert cli("why-not", built["receipt"], unknown).code == 3


def test_why_not_says_what_a_duplicate_repeats(cli: Run) -> None:
    for session in ("one", "two"):
        cli("add", "The heron nests in April.", "-u", "ada", "-s", session, "--id", f"in-{session}")
    asked = cli("context", "--prompt", "when do herons nest?", "-u", "ada", "-s", "new", "--budget", "400", "--json")
    built = json.loads(asked.out)
    [twice] = [each["id"] for each in built["rejections"] if each["reason"] == "duplicate"]
    other = "in-one" if twice == "in-two" else "in-two"
    told = cli("why-not", built["receipt"], twice)
    assert f"duplicate of {other}" in told.out
    assert json.loads(cli("why-not", built["receipt"], twice, "--json").out)["duplicate_of"] == other


def test_a_receipt_that_is_not_there_may_have_gone_with_a_turn(cli: Run, told: None) -> None:
    for arguments in (["why", "rcpt-0"], ["replay", "rcpt-0"], ["why-not", "rcpt-0", "d"]):
        result = cli(*arguments)
        assert result.code == 3 and "no receipt has the id 'rcpt-0'; those that quote erased turns" in result.err


def test_why_not_tells_reason_and_margin(cli: Run, told: None) -> None:
    receipt = receipt_of(cli, "--budget", "80")
    left = json.loads(cli("why-not", receipt, "d", "--json").out)
    assert left["rejection"]["reason"] == "budget" and left["rejection"]["margin"] > 0
    assert "tokens over" in cli("why-not", receipt, "d").out
    assert "in the tail" in cli("why-not", receipt, "l").out
    unknown = cli("why-not", receipt, "nobody")
    assert unknown.code == 3 and "no record has the id 'nobody'" in unknown.err
    assert "it is in the prompt" in cli("why-not", receipt_of(cli), "d").out


def test_a_replay_prints_the_same_bytes_whatever_was_stored_since(libravdb: Run, told: None) -> None:
    first = json.loads(libravdb(*ASKED, "--json").out)
    libravdb("add", "We choose MongoDB as the database after all.", "-u", "ada", "-s", "s2")
    replayed = libravdb("replay", first["receipt"])
    assert (replayed.code, replayed.out) == (0, first["text"]) and "identical" in replayed.err
    assert libravdb(*ASKED).out != first["text"]


def test_a_replay_that_cannot_be_identical_fails_and_says_why(
    cli: Run, told: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    receipt = receipt_of(cli)
    tokenizer = Path(__file__).resolve().parents[2] / "src/libravdb_memory/engines/bundled/tokenizer.json"
    monkeypatch.setenv("LIBRAVDB_ASSEMBLY_TOKENIZER", str(tokenizer))
    result = cli("replay", receipt)
    assert (result.code, result.out) == (1, "") and "tokens were counted by estimate-1" in result.err
    assert json.loads(cli("replay", receipt, "--json").out)["identical"] is False
    assert "NOT identical" in cli("why", receipt).out
    assert "tokens were counted by" in cli("why-not", receipt, "d").out


def test_receipts_are_listed_newest_first_for_one_user(cli: Run, told: None) -> None:
    assert "no receipts" in cli("receipts", "-u", "ada").err
    ids = [receipt_of(cli) for _ in range(3)]
    listed = json.loads(cli("receipts", "-u", "ada", "--json").out)["receipts"]
    assert [receipt["id"] for receipt in listed] == ids[::-1]
    assert [line.split()[0] for line in cli("receipts", "-u", "ada", "--limit", "2").out.splitlines()] == ids[:0:-1]
    assert cli("receipts", "-u", "bob").out == ""


def test_receipts_of_a_session_and_a_record_of_a_session_can_be_named(cli: Run, told: None) -> None:
    cli("add", "The database is backed up at night.", "-u", "ada", "-s", "s1", "--id", "l")
    elsewhere = json.loads(cli("context", "-u", "ada", "-s", "s3", "--prompt", "lunch?", "--json").out)["receipt"]
    receipt = receipt_of(cli)
    listed = json.loads(cli("receipts", "-u", "ada", "-s", "s2", "--json").out)["receipts"]
    assert [each["id"] for each in listed] == [receipt] and elsewhere != receipt
    refused = cli("why-not", receipt, "l")
    assert refused.code == 3 and "in the sessions 's1', 's2'; give its session too" in refused.err
    assert "in the tail" in cli("why-not", receipt, "l", "-s", "s2").out
    assert cli("why-not", receipt, "s1/l").out == "s1/l: it is in the prompt\n"


@pytest.mark.parametrize("arguments", [["why", "x"], ["why-not", "x", "y"], ["replay", "x"]])
def test_an_unknown_receipt_is_not_found(cli: Run, told: None, arguments: list[str]) -> None:
    result = cli(*arguments)
    assert (result.code, result.out) == (3, "") and result.err.count("\n") == 1


def test_what_was_said_cannot_steer_a_terminal_through_an_explanation(cli: Run, told: None) -> None:
    cli("add", "-", "-u", "ada", "--id", "h", stdin="database \x1b]0;owned\x07\x1b[2J\u202e choose")
    receipt = receipt_of(cli)
    shown = cli("why", receipt).out + cli("why-not", receipt, "h").out + cli("receipts", "-u", "ada").out
    assert not any(bad in shown for bad in ("\x1b", "\x07", "\u202e"))
