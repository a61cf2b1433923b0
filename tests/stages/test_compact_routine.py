"""What is said in passing: calls that are announced, work that went well, and leave to go on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.extracts import extract
from tests.growth import grows_with_length

from libravdb_memory.compact.judging import Sentence
from libravdb_memory.compact.routine import (
    ANNOUNCED,
    GOES_ON,
    LISTED,
    PROSE,
    TROUBLE,
    WENT_WELL,
    in_passing,
)
from libravdb_memory.compact.salience import content_words, words
from libravdb_memory.tokens import EstimatingCounter

COUNTER = EstimatingCounter()


def left(text: str, speaker: str) -> float:
    return in_passing(text, speaker, content_words(words(text)))


@pytest.mark.parametrize(
    "text",
    [
        "Running `cargo test --workspace`.",
        "Now running the linter.",
        "Ok, let me check the logs of the worker first.",
        "I'll read src/fetch.ts.",
        "I’m going to search for the handler.",
        "Reading `src/main.rs`…",
        "Ich prüfe kurz die Logs.",
        "Je vais lancer les tests.",
        "Voy a revisar el registro.",
        "Ejecutando `make`.",
        "Запускаю тесты.",
        "让我查看日志。",
        "テストを実行します。",
    ],
)
def test_a_call_is_announced_by_an_assistant_alone(text: str) -> None:
    assert left(text, "assistant") == left(text, "AI") == ANNOUNCED
    assert left(text, "user") == left(text, "Ada") == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "Running the tests in parallel breaks the fixture of the ledger.",
        "Reading the file twice was the cause of it.",
        "Running tests fails.",
        "Reading every invoice of March and April twice over at night.",
        "I'll add a table `claims` with a unique index.",
        "Checking costs 40 ms for each request, so I moved it behind the cache.",
        "The import takes 38 minutes.",
    ],
)
def test_what_an_assistant_found_or_means_to_build_is_no_announcement(text: str) -> None:
    assert left(text, "assistant") == 1.0


@pytest.mark.parametrize(
    ("text", "worth"),
    [
        ("212 passed, 3 skipped in 48.20s", WENT_WELL),
        ("Success: no issues found in 84 source files", WENT_WELL),
        ("0 errors, 0 warnings, build succeeded", WENT_WELL),
        ("✓ lint", WENT_WELL),
        ("1 failed, 4 passed in 3.81s", TROUBLE),
        ('error: column "tenant_id" contains null values', TROUBLE),
        ("ConnectionError: db-2 did not answer", TROUBLE),
        ("dry run: 311 duplicates, 0 errors", TROUBLE),
        ("exit code 137", TROUBLE),
        ("exit code 0, all done", WENT_WELL),
        ("Updated: twelve invoices of March belong to Porto, seven of April to Lisbon, nine to Faro.", PROSE),
        ("The backlog holds twelve open invoices of March.", PROSE),
        ("async def stripe_webhook(request: Request):", LISTED),
        ("idx_events_user_ts", LISTED),
    ],
)
def test_what_a_tool_returns_is_worth_what_it_may_tell(text: str, worth: float) -> None:
    assert left(text, "tool") == left(text, "Function") == worth
    assert left(text, "user") == 1.0


@pytest.mark.parametrize(
    "text",
    "Looks good, next step?|ok, go on|thanks!|LGTM, ship it|Great, continue.|👍|passt, mach weiter|дальше|继续".split(
        "|"
    ),
)
@pytest.mark.parametrize("speaker", ["user", "assistant", "Ada", ""])
def test_leave_to_go_on_is_told_only_where_nothing_else_is(text: str, speaker: str) -> None:
    assert left(text, speaker) == GOES_ON


@pytest.mark.parametrize(
    "text", ["Good, the next release is on Friday.", "Continue with the taxes.", "Works on db-2 too."]
)
def test_what_says_more_is_no_leave_to_go_on(text: str) -> None:
    assert left(text, "user") == 1.0


@given(st.text(max_size=60), st.sampled_from(["user", "assistant", "tool", ""]))
def test_it_stays_within_bounds(text: str, speaker: str) -> None:
    assert 0.0 < left(text, speaker) <= 1.0


def test_what_is_said_in_passing_is_not_told_only_because_there_is_room() -> None:
    told = Sentence(0, "Invoices are rounded to whole cents from now on.", "user")
    idle = [
        Sentence(1, "Running `pytest tests/test_taxes.py -q`.", "assistant"),
        Sentence(2, "12 passed in 1.20s", "tool"),
        Sentence(3, "Looks good, next step?", "user"),
        Sentence(4, "return Response(status_code=200)", "tool"),
    ]
    assert extract([told, *idle], 200, COUNTER).picked == (0,)
    assert extract(idle, 200, COUNTER).text
    failed = Sentence(5, "test_rounding failed: 0.1 is not 0.10", "tool")
    assert extract([told, *idle, failed], 200, COUNTER).picked == (0, 5)


@pytest.mark.parametrize("unit", ["running ", "no ", "`a", "a_", "let me ", "error", "so ok ", "0 x ", "now, "])
@pytest.mark.parametrize("speaker", ["assistant", "tool"])
def test_time_grows_with_the_length_alone(unit: str, speaker: str) -> None:
    assert grows_with_length(lambda text: in_passing(text, speaker, ("word",)), unit, 3_000)
