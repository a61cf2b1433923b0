"""The outermost frame: every outcome becomes an exit code here and nowhere else.

Laws: an error is one line on stderr, in words or, with --json, as one JSON object; a reader that went away is no error.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import logging
import sys
import traceback
from collections.abc import Sequence
from typing import NamedTuple

import click

from libravdb_memory.cli.exit_codes import CLOSED_PIPE, INTERRUPTED, NOT_WRITTEN, OK, UNEXPECTED, USAGE, exit_code_of
from libravdb_memory.cli.invocation import Invocation
from libravdb_memory.cli.root import ReaderGone, root
from libravdb_memory.cli.streams import is_lively, open_missing_streams, silence_stdout
from libravdb_memory.errors import LibraVDBError

PROGRAM = "libravdb"
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
_NOT_ALLOWED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR})


class Complaint(NamedTuple):
    """An error as it is told; `code` is what the program exits with."""

    kind: str
    message: str
    hint: str
    code: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    invocation, debug = Invocation(), "--debug" in given
    open_missing_streams()
    _speak_utf8()
    _keep_logs(shown=debug)
    try:
        outcome: object = root.main(given, prog_name=PROGRAM, standalone_mode=False, obj=invocation)
        sys.stdout.flush()
        return outcome if isinstance(outcome, int) else OK
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return USAGE
    except (ReaderGone, BrokenPipeError):
        silence_stdout()
        return CLOSED_PIPE
    except Exception as error:  # the outermost frame: whatever it is, the user gets one line and a way to see more
        complaint = _complaint(error, debug)
        if debug and not isinstance(error, click.ClickException | click.Abort):
            traceback.print_exc()
        if complaint.code == NOT_WRITTEN:
            silence_stdout()
        _complain(complaint, as_json=invocation.as_json or _asked_for_json(given, error))
        return complaint.code


def daemon_main() -> int:
    """`libravdbd` is `libravdb serve`; `libravdbd version` tells the version alone."""
    given = sys.argv[1:]
    if given == ["version"]:
        return main(["--version"])
    return main(["serve", *(given[1:] if given[:1] == ["serve"] else given)])


def _complaint(error: Exception, debug: bool) -> Complaint:
    match error:
        case click.UsageError():
            path = error.ctx.command_path if error.ctx else PROGRAM
            return Complaint("usage", error.format_message(), f"see '{path} --help'{_dashes(error)}", USAGE)
        case click.ClickException():
            return Complaint("usage", error.format_message(), "", USAGE)
        case click.Abort():
            return Complaint("interrupted", "interrupted", "", INTERRUPTED)
        case LibraVDBError():
            return Complaint(_kind(error), error.message, error.hint, exit_code_of(error))
        case OSError() if error.errno in _NO_ROOM:
            where = f"{error.filename}" if error.filename else "the output"
            return Complaint("output", f"{where} cannot be written: {error.strerror}", "", NOT_WRITTEN)
        case OSError() if error.filename and error.errno in _NOT_ALLOWED:
            return Complaint("files", f"{error.filename}: {error.strerror}", "", NOT_WRITTEN)
        case _:
            hint = "" if debug else "run it again with --debug for the traceback, and please report it"
            return Complaint("unexpected", f"unexpected {type(error).__name__}: {error}", hint, UNEXPECTED)


def _dashes(error: click.UsageError) -> str:
    """How to give a command a name that was read as options."""
    takes_names = error.ctx is not None and any(isinstance(each, click.Argument) for each in error.ctx.command.params)
    is_unknown = isinstance(error, click.NoSuchOption) and not error.possibilities
    return "; a name that begins with - goes behind --" if takes_names and is_unknown else ""


def _kind(error: LibraVDBError) -> str:
    """The name of the class as programs write it: StoreLockedError is store_locked."""
    name = type(error).__name__.removesuffix("Error")
    return "".join(
        f"_{letter.lower()}" if letter.isupper() and at else letter.lower() for at, letter in enumerate(name)
    )


def _asked_for_json(given: list[str], error: Exception) -> bool:
    """For a command line that could not be read: whether it says --json, and the command means what all mean by it."""
    options = given[: given.index("--")] if "--" in given else given
    if not isinstance(error, click.UsageError) or "--json" not in options:
        return False
    own = error.ctx.command.params if error.ctx else []
    return not any("--json" in option.opts and option.name != "as_json" for option in own)


def _complain(complaint: Complaint, *, as_json: bool) -> None:
    message, hint = _one_line(complaint.message), _one_line(complaint.hint)
    if as_json:
        told = {"kind": complaint.kind, "message": message, "hint": hint or None}
        line = json.dumps({"error": told}, ensure_ascii=False)
    else:
        advice = f"; {hint}" if complaint.kind not in ("usage", "unexpected") else f" ({hint})"
        line = f"{PROGRAM}: {message}{advice if hint else ''}"
    over = "\r\x1b[K" if complaint.code == INTERRUPTED and is_lively(sys.stderr) else ""  # the terminal's own ^C
    with contextlib.suppress(OSError):  # there is nobody else to tell
        sys.stderr.write(over)
        click.echo(line, err=True)


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
