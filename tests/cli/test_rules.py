"""rules check, scan, load, remove and list through the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from click import unstyle
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.cli.figures import bar, clip, width_of
from libravdb_memory.ingest.deontic import scan

Run: TypeAlias = Callable[..., Any]

AGENTS = """---
hop_targets: [SOUL.md]
---
# Working here

- Run the tests before you commit.
- Never push to main.

You must answer in English.

The project began as a weekend experiment.
"""
NOTES = "- Please push to `main`!\n- Run the tests before you commit.\n"


@pytest.fixture
def agents(tmp_path: Path) -> Path:
    file = tmp_path / "AGENTS.md"
    file.write_text(AGENTS)
    return file


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    file = tmp_path / "notes.md"
    file.write_text(NOTES)
    return file


# ── check ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_check_shows_every_node_and_needs_no_store(cli: Run, agents: Path, tmp_path: Path) -> None:
    result = cli("rules", "check", agents)
    assert result.code == 0 and "no problems found" in result.err
    rows = [line.split()[:4] for line in result.out.splitlines()[1:7]]
    assert rows == [
        ["1", "hard", "-", "8"],
        ["4", "lore", "-", "4"],
        ["6", "hard", "obligatory", "9"],
        ["7", "hard", "forbidden", "6"],
        ["9", "soft", "obligatory", "7"],
        ["11", "lore", "-", "11"],
    ]
    assert "expected waste" in result.out and "of 1,400 tokens" in result.out
    assert max(map(len, result.out.splitlines()[1:])) <= 80
    assert list(tmp_path.iterdir()) == [agents], "looking makes nothing"


def test_check_flags_contradictions_and_duplicates_across_files(cli: Run, agents: Path, notes: Path) -> None:
    result = cli("rules", "check", agents, notes)
    assert result.code == 1 and "2 problems found" in result.err
    assert "contradiction" in result.out and "duplicate" in result.out
    document = json.loads(cli("rules", "check", agents, notes, "--json").out)
    assert document["ok"] is False
    [contradiction] = document["contradictions"]
    assert [(at["document"], at["line"]) for at in contradiction["forbidden"]] == [(str(agents), 7)]
    assert [(at["document"], at["line"]) for at in contradiction["obligatory"]] == [(str(notes), 1)]
    [duplicate] = document["duplicates"]
    assert [at["line"] for at in duplicate["places"]] == [6, 2]


def test_check_flags_what_a_budget_cannot_hold(cli: Run, agents: Path) -> None:
    result = cli("rules", "check", agents, "--budget", "40")
    assert result.code == 1 and "hard rules cost 23 tokens, 9 over a limit of 14" in " ".join(result.out.split())
    document = json.loads(cli("rules", "check", agents, "--budget", "40", "--json").out)
    assert document["hard_overrun"]["excess"] == 9 and document["budget"] == 40
    assert [node["fits"] for node in document["nodes"]] == [False, True, False, False, True, True]
    cut = json.loads(cli("rules", "check", agents, "--budget", "23", "--json").out)
    assert [placed["line"] for placed in cut["soft_cut"]] == [9] and cut["soft_limit"] == 0


def test_check_flags_front_matter_that_cannot_be_read(cli: Run, tmp_path: Path) -> None:
    file = tmp_path / "bad.md"
    file.write_text("---\nhop_targets: [a, b\n---\n\nText.\n")
    result = cli("rules", "check", file)
    assert result.code == 1 and f"front matter of {file} cannot be read" in result.out


def test_the_nodes_of_check_are_the_bytes_of_the_file(cli: Run, tmp_path: Path) -> None:
    file = tmp_path / "crlf.md"
    file.write_bytes(b"\xef\xbb\xbf# Ti\xc3\xa9r\r\n\r\n- Never push.\r\n  Not even once.\r\n")
    nodes = json.loads(cli("rules", "check", file, "--json").out)["nodes"]
    raw = file.read_bytes()
    assert [raw[node["start"] : node["end"]].decode() for node in nodes] == [node["text"] for node in nodes]


def test_a_folder_stands_for_its_markdown_files(cli: Run, agents: Path, notes: Path, tmp_path: Path) -> None:
    (tmp_path / "ignored.txt").write_text("- Never.")
    nodes = json.loads(cli("rules", "check", tmp_path, "--json").out)["nodes"]
    assert list(dict.fromkeys(node["document"] for node in nodes)) == [str(agents), str(notes)]


@pytest.mark.parametrize("content", [None, b"\xff\xfe- Never.\n"])
def test_a_file_that_cannot_be_read_is_a_usage_error(cli: Run, tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "rules.md"
    if content is not None:
        file.write_bytes(content)
    for action in ("check", "load"):
        result = cli("rules", action, file)
        assert (result.code, result.out) == (2, "") and result.err.count("\n") == 1


# ── scan ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def lines_of(texts: list[str]) -> str:
    return "".join(json.dumps(text) + "\n" for text in texts)


def test_scan_answers_each_json_string_with_one_object(libravdb: Run) -> None:
    texts = ["Run the tests. Never force-push.", "It rained.", "", "Zieh dich warm an 🦆. You must not lie.", "a\nb"]
    result = libravdb("rules", "scan", "--json", stdin=lines_of(texts))
    answers = [json.loads(line) for line in result.out.splitlines()]
    assert (result.code, result.err, len(answers)) == (0, "", len(texts))
    for text, answer in zip(texts, answers, strict=True):
        assert set(answer) == {"promoted", "marks"} and answer["promoted"] == bool(answer["marks"])
        assert [(mark["modality"], mark["start"], mark["end"]) for mark in answer["marks"]] == [
            (mark.modality, mark.start, mark.end) for mark in scan(text).marks
        ]
        assert all(mark["text"] == text[mark["start"] : mark["end"]] for mark in answer["marks"])
    assert [mark["modality"] for mark in answers[0]["marks"]] == ["obligatory", "forbidden"]
    assert [answer["promoted"] for answer in answers] == [True, False, False, True, False]


def test_scan_survives_strings_that_are_no_text(libravdb: Run) -> None:
    result = libravdb("rules", "scan", "--json", stdin='"You must \\ud800 stop.\\u0000"\n')
    assert result.code == 0 and json.loads(result.out)["marks"][0]["text"].startswith("You must \ud800")


@pytest.mark.parametrize("bad", ["{", "3", '["a"]', "null", "plain words"])
def test_scan_names_a_bad_line_after_answering_those_before(libravdb: Run, bad: str) -> None:
    result = libravdb("rules", "scan", "--json", stdin=f'"Never push."\n\n{bad}\n"more"\n')
    assert result.code == 2 and "line 3" in result.err and result.err.count("\n") == 1
    assert len(result.out.splitlines()) == 1


def test_scan_refuses_bytes_that_are_no_text(cli: Run) -> None:
    result = cli("rules", "scan", "--json", stdin=b'"\xff"\n')
    assert result.code == 2 and "line 1" in result.err and "UTF-8" in result.err


def test_scan_answers_a_reader_that_waits_for_each_line(environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "libravdb_memory", "rules", "scan", "--json"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdin and process.stdout
        for text in ("Never push.", "It rained."):
            process.stdin.write(lines_of([text]).encode())
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["promoted"] == (text == "Never push.")
        process.stdin.close()
        assert process.wait() == 0


def test_scan_of_ten_thousand_lines_takes_seconds(libravdb: Run) -> None:
    texts = [f"If build {n} fails, you must never push it before the tests of module {n} pass." for n in range(10_000)]
    began = time.monotonic()
    result = libravdb("rules", "scan", "--json", stdin=lines_of(texts))
    assert result.out.count("\n") == len(texts)
    assert time.monotonic() - began < 30, "about two seconds; the rest is for a busy machine"


def test_scan_loads_no_heavy_library(environment: dict[str, str]) -> None:
    code = (
        "import sys; from libravdb_memory.cli import main; code = main(['rules', 'scan', '--json']);"
        "heavy = {'numpy', 'onnxruntime', 'tokenizers', 'usearch', 'apsw'} & set(sys.modules);"
        "assert not heavy, heavy; sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], input=b'"Never."\n', env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_scan_shows_people_where_each_rule_stands(cli: Run) -> None:
    result = cli("rules", "scan", stdin="It rained.\n\nNever push. You must run the tests.\n")
    assert [line.split()[:2] for line in result.out.splitlines()] == [["3:1", "forbidden"], ["3:13", "obligatory"]]
    assert "2 rules found" in result.err
    assert cli("rules", "scan", stdin="It rained.").out == ""


# ── load, list, remove ───────────────────────────────────────────────────────────────────────────────────────────


def test_rules_are_loaded_listed_replaced_and_removed(
    cli: Run, agents: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "AGENTS.md" in cli("rules", "load", "AGENTS.md").out
    [listed] = json.loads(cli("rules", "list", "--json").out)["documents"]
    assert (listed["name"], listed["hop_targets"]) == ("AGENTS.md", ["SOUL.md"])
    assert {tier: facts["nodes"] for tier, facts in listed["tiers"].items()} == {"hard": 3, "soft": 1, "lore": 2}
    agents.write_bytes(b"- Never push.\r\n- Be brief.\r\n")
    [loaded] = json.loads(cli("rules", "load", "AGENTS.md", "--json").out)["documents"]
    assert loaded["tiers"]["hard"]["nodes"] == 2 and loaded["bytes"] == len(agents.read_bytes())
    assert len(cli("rules", "list").out.splitlines()) == 1
    assert cli("rules", "remove", "AGENTS.md").code == 0
    result = cli("rules", "list")
    assert (result.code, result.out) == (0, "") and "no documents loaded" in result.err
    assert cli("rules", "remove", "AGENTS.md").code == 3


def test_rules_that_do_not_fit_are_refused_and_the_old_ones_stay(cli: Run, agents: Path) -> None:
    cli("rules", "load", agents)
    before = cli("rules", "list", "--json").out
    agents.write_text("".join(f"- Never do thing number {n} on any day of the week.\n" for n in range(400)))
    result = cli("rules", "load", agents)
    assert result.code == 2 and "costliest" in result.err and result.err.count("\n") == 1
    assert cli("rules", "list", "--json").out == before


def test_only_loading_makes_a_store(cli: Run, tmp_path: Path) -> None:
    for arguments in (["list"], ["remove", "x"]):
        assert cli("rules", *arguments).code == 5
    assert not list(tmp_path.glob("store*"))


# ── figures ──────────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.text(), st.integers(1, 60))
def test_a_clipped_text_is_one_line_that_fits(text: str, cells: int) -> None:
    shown = clip(text, cells)
    assert width_of(shown) <= cells and "\n" not in shown and unstyle(shown) == shown
    assert shown == " ".join(shown.split())


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.integers(1, 40))
def test_a_bar_has_its_cells_and_shows_whatever_is_there(part: float, whole: float, cells: int) -> None:
    shown = bar(part, whole, cells)
    assert len(shown) == cells and ("█" in shown) == (part > 0)
    assert set(shown) <= {"█", "░"}


def test_a_wide_script_is_cut_by_cells(cli: Run, tmp_path: Path) -> None:
    assert clip("漢字漢字漢字", 7) == "漢字漢…"
    file = tmp_path / "wide.md"
    file.write_text("- " + "漢字" * 200 + os.linesep)
    assert max(map(width_of, cli("rules", "check", file).out.splitlines()[1:])) <= 80
