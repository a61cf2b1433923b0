"""add, search, get, erase through the command line."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from libravdb_memory import Memory, load_config
from libravdb_memory.model import Draft
from libravdb_memory.namespaces import history_of
from libravdb_memory.store.protocol import Key, Put, Selection

Run: TypeAlias = Callable[..., Any]


def added(cli: Run, text: str, *options: str) -> str:
    result = cli("add", text, "--user", "ada", *options)
    assert result.code == 0, result.err
    return str(result.out.strip())


def test_what_was_added_is_found_and_read_back_exactly(cli: Run) -> None:
    text = "The deploy key moved to the vault.\n\tTwo  spaces, an ø and a 🦆."
    turn_id = added(cli, text, "--session", "s1")
    hits = json.loads(cli("search", "deploy key", "--user", "ada", "--json").out)["hits"]
    assert [hit["id"] for hit in hits] == [turn_id]
    assert cli("get", turn_id).out == text + "\n"


def test_add_prints_nothing_but_the_id_on_stdout(cli: Run) -> None:
    assert added(cli, "hello", "--id", "my-id") == "my-id"


def test_add_waits_until_the_turn_is_embedded(cli: Run) -> None:
    added(cli, "hello there")
    assert json.loads(cli("status", "--json").out)["indexing"]["pending"] == 0


def test_add_reads_one_turn_from_stdin(cli: Run) -> None:
    turn_id = cli("add", "-", "--user", "ada", stdin="from\nstdin").out.strip()
    assert cli("get", turn_id, "--json").out and json.loads(cli("get", turn_id, "--json").out)["text"] == "from\nstdin"


def test_add_reads_turns_from_json_lines(cli: Run, tmp_path: Path) -> None:
    turn = {
        "text": "bonjour",
        "session": "s9",
        "role": "assistant",
        "ts": 1_700_000_000_000,
        "id": "a",
        "speaker": "Zoé",
    }
    lines = [{**turn, "metadata": {"mood": "good"}}, {"text": "second", "id": "b", "ts": "2026-03-01T10:00:00+00:00"}]
    file = tmp_path / "turns.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines) + "\n\n", "utf-8")
    result = cli("add", "--jsonl", file, "--user", "ada", "--session", "fallback")
    assert (result.code, result.out) == (0, "a\nb\n"), result.err
    kept = {**turn, "user": "ada", "metadata": {"mood": "good"}, "masked": []}
    assert json.loads(cli("get", "a", "--json").out) == kept
    second = json.loads(cli("get", "b", "--json").out)
    assert (second["session"], second["ts"]) == ("fallback", 1_772_359_200_000)


def test_a_turn_is_kept_and_found_by_its_words_while_the_model_cannot_be_reached(
    cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    unreachable = {"BACKEND": "openai-compatible", "BASE_URL": "http://127.0.0.1:9/v1", "MODEL": "m", "DIMENSIONS": "8"}
    for name, value in {**unreachable, "RETRIES": "0"}.items():
        monkeypatch.setenv(f"LIBRAVDB_EMBEDDING_{name}", value)
    result = cli("add", "the heron waits", "--user", "ada", "--id", "h")
    assert (result.code, result.out) == (0, "h\n") and "not embedded yet" in result.err and "refused" in result.err
    found = cli("search", "heron", "--user", "ada", "--json")
    document = json.loads(found.out)
    assert document["hits"][0]["id"] == "h" and "wording only" in document["degraded"][0]
    assert "wording only" in found.err


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("{", "line 2: is not JSON"),
        ("[]", "line 2: must be a JSON object"),
        ("{}", 'line 2: has no "text"'),
        ('{"text": null}', 'line 2: has no "text"'),
        ('{"text": 3}', "line 2, text: must be text"),
        ('{"text": "x", "user": 3}', "line 2, user: must be text"),
        ('{"text": "x", "txet": 3}', "line 2: unknown field 'txet'"),
        ('{"text": "x", "ts": "yesterday"}', "line 2, ts"),
        ('{"text": "x", "ts": 1.5}', "line 2, ts: must be integer milliseconds"),
        ('{"text": "x", "metadata": [1]}', "line 2, metadata: must be an object"),
        ('{"text": "\\ud800"}', "line 2, text: holds half a surrogate pair"),
        ('{"text": "x", "ts": 1e30}', "line 2, ts: must be integer milliseconds"),
        ('{"text": "x", "ts": 999999999999999999}', "line 2, ts: 999999999999999999 lies outside the years"),
        ('{"text": "x", "role": " "}', "line 2, role: must not be blank"),
    ],
)
def test_a_bad_line_is_refused_by_number_or_field_after_the_good_ones_were_kept(
    cli: Run, line: str, named: str
) -> None:
    result = cli("add", "--jsonl", "-", "--user", "ada", stdin='{"text": "good", "id": "g"}\n' + line + "\n")
    assert result.code == 2 and named in result.err and result.err.count("\n") <= 2
    assert result.out == "g\n" and "; 1 turn stored before it" in result.err
    assert cli("get", "g").code == 0


def test_a_line_whose_id_has_other_content_is_named_too_and_the_conflict_stays_one(cli: Run) -> None:
    lines = '{"text": "one", "id": "x"}\n\n{"text": "two", "id": "y"}\n{"text": "three", "id": "x"}\n{"text": "four"}\n'
    result = cli("add", "--jsonl", "-", "--user", "ada", stdin=lines)
    assert (result.code, result.out) == (4, "x\ny\n")
    assert result.err == "libravdb: line 4: the id 'x' exists with other content; 2 turns stored before it\n"
    told = json.loads(cli("add", "--jsonl", "-", "--user", "ada", "--json", stdin='{"text": " ", "role": " "}').err)
    assert told["error"]["kind"] == "invalid_input"
    assert told["error"]["message"] == "line 1, role: must not be blank; 0 turns stored before it"
    alone = cli("add", "four", "--user", "ada", "--id", "x")
    assert (alone.code, alone.err) == (4, "libravdb: the id 'x' exists with other content\n")


@pytest.mark.parametrize("arguments", [["add"], ["add", "x", "--jsonl", "-"], ["add", "--jsonl", "-", "--id", "x"]])
def test_an_unclear_add_is_a_usage_error(cli: Run, arguments: list[str]) -> None:
    assert cli(*arguments).code == 2


def test_bytes_that_are_no_text_are_refused(cli: Run) -> None:
    result = cli("add", "-", stdin=b"\xff\xfe\x00rubbish")
    assert result.code == 2 and "not UTF-8" in result.err
    assert cli("add", "--jsonl", "-", stdin=b"\xff\xfe").code == 2


def test_the_same_id_with_other_content_is_a_conflict(cli: Run) -> None:
    added(cli, "one", "--id", "x")
    added(cli, "one", "--id", "x")
    result = cli("add", "two", "--user", "ada", "--id", "x")
    assert result.code == 4 and "'x'" in result.err


def test_search_keeps_to_user_session_role_and_dates(cli: Run) -> None:
    added(cli, "apples in march", "--session", "s1", "--at", "2026-03-05", "--id", "m")
    added(cli, "apples in april", "--session", "s2", "--at", "2026-04-05", "--id", "a", "--role", "assistant")
    cli("add", "apples of another", "--user", "bob")

    def found(*options: str) -> set[str]:
        return {hit["id"] for hit in json.loads(cli("search", "apples", "-u", "ada", "--json", *options).out)["hits"]}

    assert found() == {"m", "a"}
    assert found("--session", "s1") == {"m"}
    assert found("--role", "assistant") == {"a"}
    assert found("--since", "2026-03-06") == {"a"}
    assert found("--until", "2026-03-05") == {"m"}, "a date means its whole day"
    assert found("-k", "0") == set()
    assert len(found("-k", "1")) == 1


def test_search_answers_people_with_score_time_and_explanation(cli: Run) -> None:
    added(cli, "The staging server listens on port 8443.", "--at", "2026-03-05T10:00", "--speaker", "Ada", "--id", "p")
    out = cli("search", "staging port", "--user", "ada", "--explain").out
    assert all(part in out for part in ["2026-03-05 10:00", "Ada (user)", "8443", "dense", "lexical", "p"])
    assert max(map(len, out.splitlines())) <= 80


def test_search_output_has_the_documented_form(cli: Run) -> None:
    added(cli, "hello world", "--id", "h")
    document = json.loads(cli("--json", "search", "hello", "--user", "ada").out)
    assert set(document) == {"query", "hits", "degraded"}
    assert set(document["hits"][0]) == {"id", "text", "score", "parts", "turn"}
    assert document["hits"][0]["turn"]["user"] == "ada"


def test_nothing_found_is_no_error_and_no_data(cli: Run) -> None:
    added(cli, "hello")
    result = cli("search", "anything", "--user", "nobody")
    assert (result.code, result.out) == (0, "") and "nothing found" in result.err


@pytest.mark.parametrize("options", [["--since", "yesterday"], ["-k", "-1"], ["-k", "many"]])
def test_bad_search_options_are_usage_errors(cli: Run, options: list[str]) -> None:
    added(cli, "hello")
    result = cli("search", "hello", *options)
    assert result.code == 2 and result.err.startswith("libravdb: ") and result.err.count("\n") == 1


def test_an_unknown_id_is_not_found_and_a_shared_one_ambiguous(cli: Run) -> None:
    added(cli, "one", "--id", "x", "--session", "s1")
    added(cli, "two", "--id", "x", "--session", "s2")
    assert cli("get", "y").code == 3
    assert cli("get", "x").code == 3
    assert cli("get", "x", "--session", "s2").out == "two\n"


def test_reading_commands_do_not_make_a_store(cli: Run, tmp_path: Path) -> None:
    for arguments in (["search", "x"], ["get", "x"], ["status"], ["verify"], ["export", "-"], ["erase", "x", "--yes"]):
        result = cli(*arguments)
        assert (result.code, result.out) == (5, "") and "there is no store" in result.err
    assert not list(tmp_path.glob("store*"))


# ── erase ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_erase_takes_a_turn_a_session_or_a_user_and_nothing_else(cli: Run) -> None:
    for session, turn_id in (("s1", "a"), ("s1", "b"), ("s2", "c"), ("s3", "d")):
        added(cli, f"apples {turn_id}", "--session", session, "--id", turn_id)
    cli("add", "apples of bob", "--user", "bob", "--id", "e")
    assert cli("erase", "a", "--yes").code == 0
    assert [cli("get", turn_id).code for turn_id in "abcde"] == [3, 0, 0, 0, 0]
    assert cli("erase", "--user", "ada", "--session", "s1", "-y").code == 0
    assert [cli("get", turn_id).code for turn_id in "bcde"] == [3, 0, 0, 0]
    told = json.loads(cli("erase", "--user", "ada", "--yes", "--json").out)
    assert (told["records"], told["turns"], told["summaries"], told["rules"], told["copies"]) == (2, 2, 0, 0, 0)
    assert [cli("get", turn_id).code for turn_id in "cde"] == [3, 3, 0]


def test_erase_without_a_terminal_to_ask_on_erases_nothing(cli: Run) -> None:
    added(cli, "keep me", "--id", "a")
    for arguments in (["a"], ["--user", "ada"]):
        result = cli("erase", *arguments, stdin="y\n")
        assert result.code == 2 and "--yes" in result.err
    assert cli("get", "a").code == 0


def test_erase_says_what_would_go(cli: Run) -> None:
    added(cli, "keep me, please", "--id", "a", "--session", "s1")
    assert "keep me, please" in cli("erase", "a").err
    assert "1 turn of 'ada', session 's1'" in cli("erase", "-u", "ada", "-s", "s1").err


def test_erase_of_nothing_is_refused(cli: Run) -> None:
    added(cli, "hello")
    assert cli("erase", "--yes").code == 2
    assert cli("erase", "--user", "nobody", "--yes").code == 3


def test_a_receipt_left_of_a_turn_is_found_by_verify_and_erased_by_its_remedy(
    cli: Run, environment: dict[str, str]
) -> None:
    """As a store may have it where an erasure was killed before receipts went in its commit."""
    added(cli, "the quay is shut", "--id", "-t", "--session", "s 1")
    with Memory.open(environment["LIBRAVDB_DB_PATH"], config=load_config()) as memory:
        receipt = memory.context("which quay?", user="ada", session="s 2").receipt
        memory.receipts(user="ada")
        memory.store.erase(Selection(keys=(Key(history_of("ada"), "-t", "s 1"),)))
    (problem,) = json.loads(cli("verify", "--json").out)["problems"]
    assert problem["kind"] == "receipt" and receipt.id in problem["where"]
    command = shlex.split(problem["remedy"])
    assert command == ["libravdb", "erase", "--user", "ada", "--session=s 1", "--", "-t"]
    told = cli("erase", "--yes", *command[2:])
    assert told.code == 0 and "what was left of this turn" in told.err
    assert cli("verify").code == 0 and cli("why", receipt.id).code == 3
    again = cli("erase", "--yes", *command[2:])
    assert again.code == 3 and "-t" in again.err


def test_adding_a_secret_says_what_was_masked_and_prints_no_part_of_it(cli: Run) -> None:
    said = "the login is password = 'hunter2Blue' and later password = 'hunter2Blue'"
    done = cli("add", said, "--user", "ada", "--id", "t1", "--no-wait")
    assert done.code == 0 and done.out == "t1\n"
    assert "masked 2 secrets (password)" in done.err and "hunter2Blue" not in done.out + done.err
    assert "masked" not in cli("add", "nothing to hide", "--user", "ada", "--no-wait").err
    shown = cli("get", "t1", "--user", "ada")
    assert shown.out == "the login is password = '[masked: password]' and later password = '[masked: password]'\n"
    form = json.loads(cli("add", said, "--user", "ada", "--id", "t2", "--no-wait", "--json").out)
    assert form["masked"] == ["password", "password"]
    refused = cli("get", "t1", "--user", "ada", "--original")
    assert refused.code != 0 and "keep_raw" in refused.err


def test_an_original_is_printed_where_it_is_kept(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIBRAVDB_SECRETS_KEEP_RAW", "true")
    cli("add", "password = 'hunter2Blue'", "--user", "ada", "--id", "t1", "--no-wait")
    assert cli("get", "t1", "--user", "ada").out == "password = '[masked: password]'\n"
    assert cli("get", "t1", "--user", "ada", "--original").out == "password = 'hunter2Blue'\n"


def test_masking_can_be_switched_off(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIBRAVDB_SECRETS_MASK", "false")
    done = cli("add", "password = 'hunter2Blue'", "--user", "ada", "--id", "t1", "--no-wait")
    assert "masked" not in done.err
    assert cli("get", "t1", "--user", "ada").out == "password = 'hunter2Blue'\n"


def test_what_hosts_copied_is_counted_and_erased(cli: Run, environment: dict[str, str]) -> None:
    with Memory.open(environment["LIBRAVDB_DB_PATH"], config=load_config()) as memory:
        facts = {"sessionId": "s", "userId": "ada"}
        memory.store.commit([Put(Draft("user:ada", "ada:t1", "a copy of a turn", facts))])
    erased = cli("erase", "--user", "ada", "--yes")
    assert erased.code == 0 and "1 copy" in erased.err
    assert cli("erase", "--user", "ada", "--yes").code != 0
