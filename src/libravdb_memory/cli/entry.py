"""The outermost frame: every outcome becomes an exit code here and nowhere else."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
import traceback
from collections.abc import Sequence

import click

from libravdb_memory.cli.exit_codes import CLOSED_PIPE, INTERRUPTED, OK, UNEXPECTED, USAGE, exit_code_of
from libravdb_memory.cli.root import ReaderGone, root
from libravdb_memory.errors import LibraVDBError

PROGRAM = "libravdb"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    _speak_utf8()
    _keep_logs(shown="--debug" in given)
    try:
        code = _run(given)
        sys.stdout.flush()
        return code
    except (ReaderGone, BrokenPipeError):
        _silence_stdout()
        return CLOSED_PIPE
    except Exception as error:  # the outermost frame: whatever it is, the user gets one line and a way to see more
        return _unexpected(error, debug="--debug" in given)


def _run(arguments: list[str]) -> int:
    try:
        outcome: object = root.main(arguments, prog_name=PROGRAM, standalone_mode=False)
        return outcome if isinstance(outcome, int) else OK
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return USAGE
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else PROGRAM
        _complain(f"{_one_line(error.format_message())} (see '{path} --help')")
        return USAGE
    except click.ClickException as error:
        _complain(_one_line(error.format_message()))
        return USAGE
    except click.Abort:
        _complain("interrupted")
        return INTERRUPTED
    except LibraVDBError as error:
        if "--debug" in arguments:
            traceback.print_exc()
        _complain(_one_line(str(error)))
        return exit_code_of(error)


def _unexpected(error: Exception, *, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    hint = "" if debug else " (run it again with --debug for the traceback, and please report it)"
    _complain(f"unexpected {type(error).__name__}: {_one_line(str(error))}{hint}")
    return UNEXPECTED


def _complain(message: str) -> None:
    click.echo(f"{PROGRAM}: {message}", err=True)


def _one_line(message: str) -> str:
    return " ".join(message.split())


def _speak_utf8() -> None:
    """Data is UTF-8 whatever the locale says; a terminal that cannot show a character gets a replacement."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace") if stream.isatty() else stream.reconfigure(encoding="utf-8")


def _keep_logs(*, shown: bool) -> None:
    """Commands tell what matters in their own words; the library's log is for --debug."""
    logging.getLogger("libravdb_memory").addHandler(logging.StreamHandler() if shown else logging.NullHandler())


def _silence_stdout() -> None:
    """The reader has gone. Point stdout at nothing, or the interpreter complains when it flushes at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
