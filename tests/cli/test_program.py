"""The program as a whole: help, options, streams, exit codes, signals."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import click
import pytest
from tests.engines.chat_endpoint import Handler, serving

from libravdb_memory import __version__, errors
from libravdb_memory.cli.exit_codes import BY_ERROR, exit_code_of
from libravdb_memory.cli.root import COMMANDS, Row, root
from libravdb_memory.config import known_settings

Run: TypeAlias = Callable[..., Any]

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("numpy", "onnxruntime", "tokenizers", "usearch", "apsw")


# ── help ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["--version"]])
def test_help_loads_no_heavy_library(environment: dict[str, str], arguments: list[str]) -> None:
    code = (
        "import sys; from libravdb_memory.cli import main; code = main(sys.argv[1:]);"
        f"heavy = [name for name in {HEAVY!r} if name in sys.modules]; assert not heavy, heavy; sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_help_lists_every_command_on_one_screen(cli: Run) -> None:
    lines = cli("--help").out.splitlines()
    assert all(any(line.split()[:1] == [row.name] and line.endswith(row.help) for line in lines) for row in COMMANDS)
    assert len(lines) <= 60 and max(map(len, lines)) <= 80


def test_settings_lists_every_setting_with_its_value(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIBRAVDB_STORE_CACHE_MB", "77")
    out = cli("settings").out
    assert all(f"\n{setting.variable}=" in f"\n{out}" for setting in known_settings())
    assert "\nLIBRAVDB_STORE_CACHE_MB=77\n" in out
    told = {row["variable"]: row for row in json.loads(cli("settings", "--json").out)["settings"]}
    assert list(told) == [setting.variable for setting in known_settings()]
    assert told["LIBRAVDB_STORE_CACHE_MB"]["value"] == 77 != told["LIBRAVDB_STORE_CACHE_MB"]["default"]


@pytest.mark.parametrize("row", COMMANDS, ids=lambda row: row.name)
def test_every_command_exists_and_explains_itself(cli: Run, row: Row) -> None:
    result = cli(row.name, "--help")
    assert result.code == 0 and result.out.startswith(f"Usage: libravdb {row.name}")
    command = root.get_command(click.Context(root), row.name)
    assert command is not None and command.name == row.name and command.help


def test_the_version_is_the_package_s(cli: Run) -> None:
    assert cli("--version").out == f"libravdb {__version__}\n"


def test_a_misspelt_command_is_told_its_neighbour(cli: Run) -> None:
    result = cli("serch")
    assert result.code == 2 and "did you mean search?" in result.err


def test_the_installed_program_runs(environment: dict[str, str]) -> None:
    program = Path(sys.executable).parent / "libravdb"
    done = subprocess.run([program, "--version"], env=environment, capture_output=True, text=True)
    assert done.stdout == f"libravdb {__version__}\n"


# ── exit codes ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_error_class_has_its_exit_code() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    known = {kind: kind.__new__(kind) for kind in kinds if kind is not errors.LibraVDBError}
    assert {exit_code_of(error) for error in known.values()} == {2, 3, 4, 5, 6}


def test_no_row_of_exit_codes_hides_a_later_one() -> None:
    kinds = [kind for kind, _ in BY_ERROR]
    for at, kind in enumerate(kinds):
        assert not any(issubclass(later, kind) for later in kinds[at + 1 :])


def test_the_guide_tells_every_exit_code() -> None:
    guide = (ROOT / "docs" / "guide" / "cli.md").read_text("utf-8")
    assert all(f"| {code} |" in guide for code in {0, 1, 70, 74, 130, 141} | {code for _, code in BY_ERROR})


def test_the_guide_names_every_command() -> None:
    guide = (ROOT / "docs" / "guide" / "cli.md").read_text("utf-8")
    assert all(f"libravdb {row.name}" in guide for row in COMMANDS)


def test_an_unexpected_error_is_one_line_and_points_to_the_traceback(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**_: object) -> None:
        raise RuntimeError("the moon is\nin the wrong place")

    monkeypatch.setattr("libravdb_memory.config.load_config", broken)
    result = cli("status")
    assert result.code == 70 and result.err.count("\n") == 1 and "--debug" in result.err
    debugged = cli("status", "--debug")
    assert debugged.code == 70 and "Traceback" in debugged.err and "the moon is" in debugged.err


def test_an_expected_error_shows_no_traceback_unless_asked(cli: Run) -> None:
    assert "Traceback" not in cli("status").err
    assert "Traceback" in cli("--debug", "status").err


def test_a_bad_setting_is_a_usage_error_of_one_line(libravdb: Run) -> None:
    result = libravdb("status", LIBRAVDB_EMBEDDING_BACKEND="hashd")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("libravdb: setting embedding.backend") and result.err.count("\n") == 1


# ── options and streams ──────────────────────────────────────────────────────────────────────────────────────────


def test_shared_options_work_before_and_after_the_command(cli: Run, tmp_path: Path) -> None:
    place = tmp_path / "elsewhere.libravdb"
    cli("--db", place, "add", "hello", "--id", "h")
    assert json.loads(cli("--json", "--db", place, "get", "h").out) == json.loads(
        cli("get", "h", "--db", place, "--json").out
    )
    assert cli("--db", tmp_path / "wrong", "get", "h", "--db", place).out == "hello\n", "the later one wins"


@pytest.mark.parametrize(
    "arguments",
    [
        ["add", "more", "--id", "m"],
        ["search", "hello", "--user", "ada"],
        ["get", "h"],
        ["rules", "list"],
        ["context", "--prompt", "hello?", "--user", "ada"],
        ["receipts", "--user", "ada"],
        ["gate", "explain", "hello"],
        ["gate", "calibrate", "--from-use", "--user", "ada"],
        ["status"],
        ["doctor"],
        ["verify"],
        ["reindex"],
        ["reindex", "--indexes"],
        ["backup", "copy.bak"],
        ["export", "all.jsonl"],
        ["erase", "h", "--yes"],
    ],
    ids=lambda arguments: " ".join(arguments),
)
def test_json_output_is_one_document_and_nothing_else(
    cli: Run, arguments: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    cli("add", "hello", "--user", "ada", "--id", "h")
    result = cli(*arguments, "--json")
    assert isinstance(json.loads(result.out), dict), result.err


def test_quiet_says_nothing_on_stderr(cli: Run) -> None:
    cli("add", "hello", "--user", "ada", "--id", "h")
    for arguments in (
        ["add", "more", "--user", "ada"],
        ["rules", "list"],
        ["context", "--prompt", "x"],
        ["verify"],
        ["reindex"],
        ["export", "-"],
        ["search", "zzz"],
    ):
        assert cli(*arguments, "--quiet").err == ""


def test_output_to_a_pipe_has_no_colour(libravdb: Run) -> None:
    libravdb("add", "hello there", "--user", "ada")
    result = libravdb("search", "hello", "--user", "ada", "--explain")
    assert "\x1b" not in result.out + result.err and "hello there" in result.out


def test_data_is_utf8_whatever_the_locale(libravdb: Run) -> None:
    libravdb("add", "-", "--id", "h", stdin="naïve 🦆", LC_ALL="C.UTF-8")
    assert libravdb("get", "h", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0").out == "naïve 🦆\n"


def test_a_reader_that_goes_away_is_no_error_message(environment: dict[str, str], libravdb: Run) -> None:
    lines = "".join(json.dumps({"text": "x" * 1000, "user": "ada"}) + "\n" for _ in range(300))
    libravdb("add", "--jsonl", "-", "--no-wait", stdin=lines)
    command = [sys.executable, "-m", "libravdb_memory", "--quiet", "export", "-"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdout and process.stderr
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


def redirected(environment: dict[str, str], *arguments: str, to: str) -> tuple[int, str]:
    """Exit code and stderr of the program with stdout as a shell puts it."""
    program = f'exec "$0" -m libravdb_memory "$@" {to}'
    done = subprocess.run(
        ["sh", "-c", program, sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("arguments", [["get", "h"], ["search", "hello", "--json"], ["--help"], ["settings"]])
def test_a_closed_stdout_is_a_reader_that_went_away(
    environment: dict[str, str], libravdb: Run, arguments: list[str]
) -> None:
    libravdb("add", "hello", "--id", "h")
    assert redirected(environment, "--quiet", *arguments, to=">&-") == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["get", "h"], ["search", "hello", "--json"], ["export", "-"], ["settings"]])
def test_an_output_that_takes_no_more_is_told_in_words(
    environment: dict[str, str], libravdb: Run, arguments: list[str]
) -> None:
    libravdb("add", "hello", "--id", "h")
    code, said = redirected(environment, "--quiet", *arguments, to=">/dev/full")
    assert code == 74 and "the output cannot be written: No space left on device" in said
    assert said.count("\n") == 1 and "unexpected" not in said


def test_nothing_is_written_into_a_file_that_took_the_place_of_a_closed_stream(
    environment: dict[str, str], libravdb: Run
) -> None:
    assert redirected(environment, "add", "hello", "--id", "h", to="<&- >&- 2>&-")[0] in (0, 141)
    assert libravdb("get", "h").out == "hello\n"
    assert libravdb("verify").code == 0


# ── errors for programs ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("arguments", "kind", "code"),
    [
        (["get", "nobody"], "not_found", 3),
        (["erase", "-u", "ghost", "--yes"], "not_found", 3),
        (["add", "other", "--id", "h", "-u", "ada"], "conflict", 4),
        (["get", "h", "--db", "nowhere"], "store", 5),
        (["import", "-"], "invalid_input", 2),
        (["search"], "usage", 2),
        (["search", "x", "--colour"], "usage", 2),
        (["serch", "x"], "usage", 2),
        (["demo"], "usage", 2),
        (["completion", "bash"], "usage", 2),
    ],
)
def test_an_error_is_one_json_object_where_json_was_asked_for(
    cli: Run, arguments: list[str], kind: str, code: int
) -> None:
    cli("add", "hello", "--id", "h", "-u", "ada", "--at", "2026-01-01")
    plain = cli(*arguments) if kind != "usage" else None
    for given in (["--json", *arguments], [*arguments, "--json"]):
        result = cli(*given)
        assert (result.code, result.out) == (code, "")
        told = json.loads(result.err)
        assert list(told) == ["error"] and list(told["error"]) == ["kind", "message", "hint"]
        assert told["error"]["kind"] == kind and told["error"]["message"]
        if plain is not None:
            assert plain.code == code and plain.err.splitlines()[-1].startswith(f"libravdb: {told['error']['message']}")


def test_an_unexpected_error_is_json_too(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**_: object) -> None:
        raise RuntimeError("the moon is\nin the wrong place")

    monkeypatch.setattr("libravdb_memory.config.load_config", broken)
    result = cli("status", "--json")
    error = json.loads(result.err)["error"]
    assert result.code == 70 and error["kind"] == "unexpected" and "--debug" in error["hint"]


def test_a_word_that_only_looks_like_the_option_asks_for_no_json(cli: Run) -> None:
    assert cli("get", "--", "--json").err.startswith("libravdb: ")
    assert cli("bench", "store", "--json", "out.json", "--colour").err.startswith("libravdb: ")


def test_a_name_with_a_dash_is_taken_behind_two_of_them_which_is_said(cli: Run) -> None:
    cli("add", "hello", "--user", "ada", "--session", "-dash", "--id", "-id")
    for command, name in (("history", "-dash"), ("history", "--kitchen"), ("compact", "-dash"), ("get", "-id")):
        refused = cli(command, "-u", "ada", name)
        hint = f"(see 'libravdb {command} --help'; a name that begins with - goes behind --)\n"
        assert refused.code == 2 and refused.err.endswith(hint)
    assert cli("history", "-u", "ada", "--", "-dash").code == cli("get", "-u", "ada", "--", "-id").code == 0
    for other in (("history", "--usr"), ("status", "-x"), ("-x",)):
        assert "behind --" not in cli(*other).err


# ── two processes, interruption, a terminal ──────────────────────────────────────────────────────────────────────


def test_a_second_process_is_told_who_has_the_store(environment: dict[str, str], libravdb: Run, tmp_path: Path) -> None:
    libravdb("add", "zeroth")
    libravdb("backup", tmp_path / "copy.bak")
    command = [sys.executable, "-m", "libravdb_memory", "add", "--jsonl", "-", "--user", "ada"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as owner:
        assert owner.stdin and owner.stdout
        owner.stdin.write(b'{"text": "first"}\n' + b" " * 100_000)
        owner.stdin.flush()
        assert owner.stdout.readline().strip(), "its first turn is stored, so it has the store"
        second = libravdb("status")
        assert second.code == 5 and f"process {owner.pid}" in second.err and second.err.count("\n") == 1
        looked = libravdb("doctor")
        assert looked.code == 0 and f"process {owner.pid}" in looked.out
        assert libravdb("restore", tmp_path / "copy.bak", "--yes").code == 5
        owner.stdin.close()
        assert owner.wait() == 0
    assert libravdb("status").code == 0


def test_an_interrupted_command_says_so_and_keeps_what_it_stored(environment: dict[str, str], libravdb: Run) -> None:
    command = [sys.executable, "-m", "libravdb_memory", "add", "--jsonl", "-", "--user", "ada"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write(b'{"text": "kept", "id": "k"}\n' + b" " * 100_000)
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
        assert process.stderr.read().decode().strip() == "libravdb: interrupted"
    assert libravdb("get", "k").out == "kept\n"


def on_a_terminal(environment: dict[str, str], *arguments: str, typed: str = "") -> tuple[int, str]:
    """Run the program on a pseudo-terminal; its exit code and everything it showed."""
    pid, terminal = pty.fork()
    if pid == 0:  # pragma: no cover - becomes the program
        os.execve(sys.executable, [sys.executable, "-m", "libravdb_memory", *arguments], environment)
    os.write(terminal, typed.encode())
    shown, deadline = b"", time.monotonic() + 60
    while time.monotonic() < deadline:
        ready, _, _ = select.select([terminal], [], [], 1.0)
        try:
            chunk = os.read(terminal, 65536) if ready else None
        except OSError:
            break
        if chunk == b"":
            break
        shown += chunk or b""
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode()


def test_a_terminal_is_told_how_many_turns_are_stored_where_their_ids_go_elsewhere(environment: dict[str, str]) -> None:
    terminal, its_end = pty.openpty()
    command = [sys.executable, "-m", "libravdb_memory", "add", "--jsonl", "-", "--user", "ada", "--no-wait"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=its_end, env=environment
    ) as process:
        assert process.stdin and process.stdout
        process.stdin.write(b'{"text": "kept", "id": "k"}\n' + b" " * 100_000)
        process.stdin.flush()
        assert process.stdout.readline() == b"k\n"
        shown = os.read(terminal, 65536).decode()
        assert shown.startswith("\r\x1b[Kstoring: 1 turn  ")
        process.stdin.close()
        assert process.wait(timeout=30) == 0
    os.close(its_end)
    os.close(terminal)


def test_a_long_question_is_broken_between_words(environment: dict[str, str], libravdb: Run) -> None:
    session = "the-long-talk-about-the-move-of-the-northern-warehouse"
    libravdb("add", "hello there", "--user", "priya", "--session", session)
    code, shown = on_a_terminal(environment, "erase", "-u", "priya", "-s", session, typed="n\n")
    assert code == 1
    first, second = shown.splitlines()[-2:]  # what was typed ahead is shown before
    assert first == "Erase 1 turn of 'priya', session"
    assert second.startswith(f"'{session}' for good? [y/N]: ")


def test_a_terminal_gets_colour_unless_it_said_no(environment: dict[str, str], libravdb: Run) -> None:
    libravdb("add", "hello there", "--user", "ada")
    coloured = {**environment, "TERM": "xterm"}
    code, shown = on_a_terminal(coloured, "search", "hello", "--user", "ada")
    assert code == 0 and "\x1b[1mhello\x1b[0m there" in shown
    code, shown = on_a_terminal({**coloured, "NO_COLOR": "1"}, "search", "hello", "--user", "ada")
    assert code == 0 and "\x1b[1m" not in shown and "hello there" in shown


def test_a_terminal_is_told_what_is_waited_for(environment: dict[str, str], libravdb: Run) -> None:
    turns = [{"text": f"Crate {n} with lamps was carried to hall H-{n:03d}.", "session": "s"} for n in range(44)]
    quiet = {"LIBRAVDB_COMPACTION_TRIGGER_TOKENS": "0", "LIBRAVDB_ASSEMBLY_TAIL_SHARE": "0"}
    assert libravdb("add", "--jsonl", "-", stdin="\n".join(map(json.dumps, turns)), **quiet).code == 0
    with serving() as endpoint:
        endpoint.answers = [Handler.wait_until_the_client_is_gone]
        model = {"BACKEND": "openai-compatible", "BASE_URL": endpoint.url, "MODEL": "qwen3:4b", "TIMEOUT_S": "3"}
        settings = {f"LIBRAVDB_SUMMARY_{name}": value for name, value in model.items()} | quiet
        settings |= {"LIBRAVDB_COMPACTION_ABSTRACTIVE_FROM": "0"}
        code, shown = on_a_terminal({**environment, **settings}, "doctor")
        assert code == 1 and "\r\x1b[Kwaiting for qwen3:4b, 2 s; given up after 3 s\r" in shown
        assert "waiting" not in shown.rsplit("\x1b[K", 1)[-1], "it is taken back"
        code, shown = on_a_terminal({**environment, **settings}, "compact", "s")
        assert code == 0 and "nothing new for 2 s; qwen3:4b has 3 s for an answer\r" in shown
        assert "waiting" not in libravdb("doctor", **settings).err


def test_a_terminal_is_safe_from_what_was_remembered(environment: dict[str, str], libravdb: Run) -> None:
    hostile = "owned\x1b]0;title\x07\x1b[2J\u202e"
    libravdb("add", "-", "--user", "ada", "--id", "h", stdin=hostile)
    for arguments in (["get", "h"], ["search", "owned", "--user", "ada"]):
        _, shown = on_a_terminal({**environment, "TERM": "xterm", "NO_COLOR": "1"}, *arguments)
        assert "owned" in shown and not any(bad in shown for bad in ("\x1b]0", "\x07", "\x1b[2J", "\u202e"))
    assert libravdb("get", "h").out == hostile + "\n", "a program gets the exact text"


@pytest.mark.parametrize(("typed", "code", "left"), [("n\n", 1, 0), ("y\n", 0, 3)])
def test_erase_asks_on_a_terminal(environment: dict[str, str], libravdb: Run, typed: str, code: int, left: int) -> None:
    libravdb("add", "keep me?", "--user", "ada", "--id", "h")
    answered, shown = on_a_terminal({**environment, "NO_COLOR": "1"}, "erase", "h", typed=typed)
    assert answered == code and "keep me?" in shown and "Erase this turn for good?" in shown
    assert libravdb("get", "h").code == left


def test_erase_does_not_ask_about_nothing(environment: dict[str, str], libravdb: Run) -> None:
    libravdb("add", "keep me", "--user", "ada", "--session", "s")
    for names in (["-u", "ghost"], ["-u", "ada", "-s", "ghost"], ["-s", "ghost"]):
        code, shown = on_a_terminal({**environment, "NO_COLOR": "1"}, "erase", *names)
        assert code == 3 and "there is nothing to erase: the " in shown and "for good?" not in shown
        refused = libravdb("erase", *names, "--yes")
        assert refused.code == 3 and "'ghost'" in refused.err and "has no turns" in refused.err


# ── completion ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_each_shell(cli: Run, shell: str) -> None:
    result = cli("completion", shell)
    assert result.code == 0 and "_LIBRAVDB_COMPLETE" in result.out


def test_completion_knows_commands_and_options(environment: dict[str, str]) -> None:
    def completed(words: str) -> list[str]:
        asked = {
            **environment,
            "_LIBRAVDB_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(words.count(" ")),
        }
        program = Path(sys.executable).parent / "libravdb"
        done = subprocess.run([program], env=asked, capture_output=True, text=True)
        return [line.partition(",")[2] for line in done.stdout.splitlines()]

    assert completed("libravdb sea") == ["search"]
    assert "--explain" in completed("libravdb search --")
