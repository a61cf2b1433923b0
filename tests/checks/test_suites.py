"""When a suite of a real program counts as shown, as skipped and as failed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e import registries
from tests.e2e.inspector import fetch as inspector
from tests.e2e.inspector.quick import QUICK
from tests.e2e.registries import Broken, NotHere, fetch

from check import line_of, summary
from running import Check, Runner
from suites import NOT_HERE, Outcome, Suite, plain, played, suites


def said(text: str, code: int) -> list[str]:
    return [sys.executable, "-c", f"print({text!r}); raise SystemExit({code})"]


def outcome(folder: Path, fetching: Check, playing: Check) -> Outcome:
    with Runner(folder, patience_s=0.3) as runner:
        return played(Suite(fetching, playing), runner.run(fetching), runner.run)


@pytest.mark.parametrize(("code", "passed"), [(0, True), (1, False), (NOT_HERE, False), (2, False), (5, False)])
def test_a_suite_that_could_begin_passes_or_fails_and_is_never_skipped(tmp_path: Path, code: int, passed: bool) -> None:
    told = outcome(tmp_path, Check("f", said("ready", 0)), Check("the host", said("played", code)))
    assert (told.name, told.passed, told.skipped) == ("the host", passed, "")
    assert "played" in told.output


def test_a_suite_whose_needs_are_not_here_is_skipped_with_the_reason(tmp_path: Path) -> None:
    told = outcome(tmp_path, Check("f", said("much\nnpm is not here", NOT_HERE)), Check("the host", said("", 1)))
    assert told.passed and line_of(told) == "  skip  the host (npm is not here)"
    assert summary([told]).endswith("0 of 1 checks passed; skipped: the host")


@pytest.mark.parametrize("code", [1, 2])
def test_an_install_that_breaks_is_a_failure(tmp_path: Path, code: int) -> None:
    told = outcome(tmp_path, Check("f", said("cannot pack the plugin", code)), Check("the host", said("", 0)))
    assert not told.passed and "cannot pack the plugin" in summary([told])


def test_a_registry_that_never_answers_makes_a_skip_when_its_time_is_over(tmp_path: Path) -> None:
    silent = [sys.executable, "-c", "import time; time.sleep(600)"]
    told = outcome(tmp_path, Check("f", silent, limit_s=0.4), Check("the host", said("", 1)))
    assert told.passed and told.skipped.startswith("not fetched within")


def test_a_suite_that_hangs_fails(tmp_path: Path) -> None:
    silent = [sys.executable, "-c", "import time; time.sleep(600)"]
    told = outcome(tmp_path, Check("f", said("", 0)), Check("the host", silent, limit_s=0.4))
    assert not told.passed and "ended after its" in told.output


def test_a_program_that_says_it_is_well_too_late_has_failed(tmp_path: Path) -> None:
    stubborn = "import signal, time, sys; signal.signal(signal.SIGINT, lambda *_: sys.exit(0)); time.sleep(600)"
    with Runner(tmp_path, patience_s=20) as runner:
        assert not plain(runner.run(Check("it", [sys.executable, "-c", stubborn], limit_s=1))).passed


def test_the_summary_counts_what_passed_and_names_the_rest() -> None:
    told = [Outcome("a", True, 1), Outcome("b", False, 1, "why"), Outcome("c", True, 0, skipped="no c")]
    assert summary(told).endswith("1 of 3 checks passed; skipped: c; failed: b")
    assert [line_of(each).split()[0] for each in told] == ["ok", "FAIL", "skip"]


def test_what_is_fetched_has_a_limit_and_gives_way_and_what_is_played_has_a_limit(tmp_path: Path) -> None:
    for suite in suites(tmp_path):
        assert suite.fetching.limit_s and suite.fetching.in_background
        assert suite.playing.limit_s and not suite.playing.in_background


# ── what is fetched ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "complaint",
    [
        "npm error code EAI_AGAIN\nnpm error request to https://registry.example/openclaw failed",
        "npm error code E404",
        "npm error code E503",
        "npm error network request failed, reason: connect ECONNREFUSED 127.0.0.1:9",
        "ERROR: Could not find a version that satisfies x\nERROR: No matching distribution found for x==1",
        "HTTPSConnectionPool(host='x', port=443): Max retries exceeded with url: /simple",
    ],
)
def test_a_registry_that_does_not_answer_or_has_it_not_excuses(complaint: str) -> None:
    with pytest.raises(NotHere, match=r"^the host is out of reach") as raised:
        fetch("the host", said(complaint, 1))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "complaint",
    [
        "npm error code ENOSPC",
        "npm error code EINTEGRITY",
        "npm error command sh -c node postinstall.js",
        "error: metadata-generation-failed",
        "",
    ],
)
def test_an_install_that_breaks_for_other_reasons_does_not(complaint: str) -> None:
    with pytest.raises(Broken):
        fetch("the host", said(complaint, 1))


def test_a_fetch_that_takes_too_long_excuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registries, "LONGEST_S", 0.3)
    with pytest.raises(NotHere):
        fetch("the host", [sys.executable, "-c", "import time; time.sleep(600)"])


def test_the_quick_tests_of_the_inspector_are_there_and_are_all_that_is_played() -> None:
    folder = Path(inspector.__file__).parent
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "quick", str(folder)]
    told = subprocess.run(command, capture_output=True, text=True, cwd=inspector.ROOT).stdout
    collected = re.findall(r"/(test_\w+\.py)::(test_\w+(?:\[.*\])?)$", told, re.M)
    names = {(file, name) for file, name in collected} | {(file, name.partition("[")[0]) for file, name in collected}
    listed = {(file, name) for file, tests in QUICK.items() for name in tests}
    assert listed <= names
    assert all((file, name) in listed or (file, name.partition("[")[0]) in listed for file, name in collected)


def test_a_machine_without_a_browser_is_told_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    assert inspector.main() == NOT_HERE == registries.NOT_HERE
    assert capsys.readouterr().out.startswith("no browser: chromium is not here")
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "nowhere"))
    assert inspector.main() == NOT_HERE
