"""Every command does the same, whether a daemon has the store open or not."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.cli.conftest import Result
from tests.serve.process import Daemon, short_folder

from libravdb_memory.cli import main
from libravdb_memory.journal import Journal
from libravdb_memory.store.sqlite.store import SqliteStore

USER = ("--user", "ada")
AREAS = ("importer", "billing", "search", "login")
LINES = [
    {
        "text": f"The {AREAS[n % 4]} build {1000 + n} failed in stage {n}; the log is /var/log/{AREAS[n % 4]}/{n}.log.",
        "id": f"t{n}",
        "session": "plan" if n < 30 else "ops",
        "role": "user" if n % 2 == 0 else "assistant",
        "ts": 1_772_400_000_000 + n * 60_000,
    }
    for n in range(40)
]
RULES = (
    "# House\n\n- Never push on a Friday.\n- Run the tests first.\n\nYou must use metric units.\n\nThe house is old.\n"
)
DIARY = """# Diary

## Deep sleep

- Ada reviews every migration by hand before it runs. {score=.82 recall=3 unique=2}
- Too weak to keep, this one. {score=.2 recall=3 unique=2}
"""


@dataclass(frozen=True, slots=True)
class Step:
    """A command line. `{receipt}` is that of the first context, `{summary}` a summary of the session plan, `{home}` the
    home. `code` is what it must exit with."""

    line: str
    code: int = 0
    stdin: str = ""


STEPS = [
    Step("add --jsonl - --user ada", stdin="".join(json.dumps(line) + "\n" for line in LINES)),
    Step("add", 2),
    Step("add 'Standing rule: always answer in English.' --user ada --session ops --id r1 --at 2026-03-05T10:00:00Z"),
    Step("add 'other words' --user ada --session ops --id r1", 4),
    Step("add - --json --user bob --id b1 --at 2026-03-05T10:00:00Z --speaker Bob", stdin="Bob's büro has moved. 🦆\n"),
    Step("rules load {home}/AGENTS.md"),
    Step("rules list"),
    Step("rules list --json"),
    Step("rules check {home}/AGENTS.md"),
    Step("rules load {home}/nowhere.md", 2),
    Step("search 'which log has the billing build?' --user ada --explain"),
    Step("search 'which log has the billing build?' --user ada --json -k 3 --since 2026-03-01 --role user"),
    Step("search 'zzz' --user nobody"),
    Step("search x --user ada --scope session", 2),
    Step("get t3 --user ada"),
    Step("get t3 --user ada --json"),
    Step("get nothing", 3),
    Step("context --prompt 'Which builds failed?' --user ada --session ops --budget 600"),
    Step("context --prompt 'Which builds failed?' --user ada --session ops --budget 600 --json"),
    Step("why {receipt}"),
    Step("why {receipt} --json"),
    Step("why rcpt-none", 3),
    Step("why-not {receipt} t1"),
    Step("why-not {receipt} t1 --json"),
    Step("why-not {receipt} none", 3),
    Step("replay {receipt}"),
    Step("replay {receipt} --json"),
    Step("receipts --user ada --json"),
    Step("receipts --user ada --session ops"),
    Step("gate explain 'I prefer tea, and my sister is called Ida.' --user ada"),
    Step("gate explain 'I prefer tea.' --user ada --json"),
    Step("gate calibrate --from-use --user ada --json"),
    Step("compact plan --user ada"),
    Step("compact plan --user ada --json"),
    Step("compact --all --user ada"),
    Step("compact nosuch --user ada", 3),
    Step("history plan --user ada"),
    Step("history plan --user ada --turns --json"),
    Step("history plan", 3),
    Step("history plan --user ada --turns --depth 1"),
    Step("guidance --user ada"),
    Step("guidance --user ada --session ops --json"),
    Step("guidance --session ops", 3),
    Step("guidance"),
    Step("expand {summary}"),
    Step("expand {summary} --json --limit 3"),
    Step("expand {summary} --depth 1 --limit 2"),
    Step("expand abc", 2),
    Step("expand t3", 3),
    Step("why-not {receipt} {summary}"),
    Step("status"),
    Step("status --json"),
    Step("verify"),
    Step("verify --json"),
    Step("reindex --json"),
    Step("reindex --indexes --json"),
    Step("journal"),
    Step("journal --session s1 --json"),
    Step("dream-promote {home}/DREAMS.md --user ada"),
    Step("dream-promote {home}/DREAMS.md --user ada --json"),
    Step("sources list --json"),
    Step("sources scan --json"),
    Step("backup {home}/copy.bak"),
    Step("export -"),
    Step("export {home}/all.jsonl --json"),
    Step("import {home}/all.jsonl --json"),
    Step("import {home}/cut.jsonl", 2),
    Step("import -", 2, stdin="no export"),
    Step("erase t5 --user ada --yes"),
    Step("erase t5 --user ada --yes", 3),
    Step("erase --user ada --session ops", 2),
    Step("erase --user ada --session ops --yes --json"),
    Step("search 'billing build' --user ada -k 2"),
    Step("flush --user bob --yes"),
    Step("flush --user bob --yes --json"),
    Step("flush --user ada", 2),
    Step("rules remove {home}/AGENTS.md"),
    Step("export -"),
    Step("status"),
]


def prepared(home: Path) -> None:
    """What is there before the first command: a store with a journal, files to read."""
    home.mkdir(mode=0o700)
    (home / "AGENTS.md").write_text(RULES)
    (home / "DREAMS.md").write_text(DIARY)
    (home / "cut.jsonl").write_text(
        '{"format":"libravdb-memory","version":1}\n{"type":"edge","parent":["a","b","c"]}\n'
    )
    with closing(SqliteStore.open(home / "data.libravdb")) as store:
        for number in range(3):
            Journal(store).append(f"s{number % 2}", "session_end", {"reason": "idle"}, 1_772_400_000_000 + number)


def run(line: str, home: Path, stdin: str, patch: pytest.MonkeyPatch) -> Result:
    import shlex

    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    with patch.context() as own:
        for name, value in {"LIBRAVDB_HOME": str(home), "COLUMNS": "90", "TZ": "UTC"}.items():
            own.setenv(name, value)
        own.setenv("LIBRAVDB_EMBEDDING_BACKEND", "hashed")
        own.setenv("LIBRAVDB_ASSEMBLY_TAIL_SHARE", "0")
        own.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8"))
        own.setattr(sys, "stdout", out)
        own.setattr(sys, "stderr", err)
        code = main(shlex.split(line))
        out.flush()
        err.flush()
    return Result(code, out.buffer.getvalue().decode(), err.buffer.getvalue().decode())


def played(home: Path, patch: pytest.MonkeyPatch) -> list[Result]:
    """All steps, one after the other."""
    names, results = {"home": str(home), "receipt": "", "summary": ""}, list[Result]()
    for step in STEPS:
        result = run(step.line.format(**names), home, step.stdin, patch)
        found = re.search(r"rcpt-[0-9a-f]+", result.err + result.out)
        if found and not names["receipt"]:
            names["receipt"] = found[0]
        if (covering := re.search(r"summary:[0-9a-f]{16}", result.out)) and not names["summary"]:
            names["summary"] = covering[0]
        results.append(alike(result, home))
        run("gate explain settle", home, "", patch)  # waits until what was used is counted, which a daemon does later
    return results


def alike(result: Result, home: Path) -> Result:
    """Without what differs between any two runs: places, times of day, durations, made-up names."""
    today = datetime.now(UTC).strftime("%Y-%m-%d")

    def plain(text: str) -> str:
        text = text.replace(str(home), "HOME")
        text = re.sub(r"rcpt-[0-9a-f]+", "RECEIPT", text)
        text = re.sub(rf"{today} \d\d:\d\d", "NOW", text)
        text = re.sub(r'"(created_ms|created|compacted_at|bytes|bytes_on_disk|sequence)": ?\d+', r'"\1": N', text)
        text = re.sub(r'"(compacted_at|ts)":(?!1772)\d{13}', r'"\1":N', text)
        text = re.sub(r"^[a-z ]+: (done|[\d,]+ \w+) in [\d.]+ s\n", "", text, flags=re.M)
        text = re.sub(r"^[a-z ]+: stopped after [\d.]+ s\n", "", text, flags=re.M)
        text = re.sub(r"(HOME/data.libravdb)  [\d.,]+ [KM]B", r"\1", text)
        text = re.sub(r'"resident_vector_bytes": \d+', "", text)
        text = re.sub(r'(^pages +|"pages": )\d+', r"\1N", text, flags=re.M)  # as merging left them
        text = re.sub(r"-?\d+\.\d{4,}(e-?\d+)?", lambda found: f"{float(found[0]):.3f}", text)
        return re.sub(r"sha256:[0-9a-f]{64}", "HASH", text)

    return Result(result.code, plain(result.out), plain(result.err))


@dataclass(frozen=True, slots=True)
class Both:
    embedded: list[Result]
    through_daemon: list[Result]
    daemon_log: str


@pytest.fixture(scope="module")
def both() -> Iterator[Both]:
    with short_folder() as folder, pytest.MonkeyPatch.context() as patch:
        alone, served = folder / "a", folder / "b"
        prepared(alone)
        shutil.copytree(alone, served)
        embedded = played(alone, patch)
        daemon = Daemon(served, ASSEMBLY_TAIL_SHARE="0")
        try:
            assert daemon.endpoint, daemon.log
            asked = run("-v status", served, "", patch)
            assert f"asking the daemon, process {daemon.pid}, at {daemon.endpoint}" in asked.err
            through = played(served, patch)
            assert daemon.stop() == 0
            yield Both(embedded, through, daemon.log)
        finally:
            daemon.end()


@pytest.mark.parametrize("at", range(len(STEPS)), ids=[f"{at}-{step.line[:40]}" for at, step in enumerate(STEPS)])
def test_a_command_says_the_same_alone_and_through_a_daemon(both: Both, at: int) -> None:
    alone, asked = both.embedded[at], both.through_daemon[at]
    assert alone.code == STEPS[at].code, alone
    assert (asked.code, asked.out, asked.err) == (alone.code, alone.out, alone.err)


def test_no_command_is_a_fault_of_the_daemon(both: Both) -> None:
    assert '"level": "error"' not in both.daemon_log
