"""The hooks of Claude Code: what each does with the JSON that the host writes to its standard input.

Laws: a prompt is helped within a time or not at all, and a daemon that is away costs nothing but a remark. What was
said is handed over once, however often a hook runs, and waits on disk where no daemon answers. Nothing here starts a
daemon but the beginning of a session.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from libravdb_memory.errors import InvalidInputError, LibraVDBError
from libravdb_memory.hooks import transcript
from libravdb_memory.identity import Json
from libravdb_memory.serve.running import ask, noted

if TYPE_CHECKING:
    from libravdb_memory.config import Config

BUDGET = 2_000
"""Tokens of a context: the host cuts what has more than 10,000 characters."""
PROMPT_S, COMMIT_S = 5.0, 20.0
_VISIBLE = 40
_HOST = "claude-code"


@dataclass(frozen=True, slots=True)
class Event:
    """As the host tells it. `transcript` is None where there is none yet."""

    session: str
    transcript: Path | None
    prompt: str
    folder: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """`out` is for the host, `remark` for a person who looks."""

    out: str = ""
    remark: str = ""


def read_event(text: str) -> Event:
    try:
        value = cast(object, json.loads(text))
    except (ValueError, RecursionError) as error:
        raise InvalidInputError("hook", f"the host's words are not JSON ({error})") from None
    given = cast(dict[str, object], value) if isinstance(value, dict) else {}
    if not _word(given, "session_id").strip():
        raise InvalidInputError("hook", "the host names no session_id")
    path = _word(given, "transcript_path")
    return Event(_word(given, "session_id"), Path(path) if path else None, _word(given, "prompt"), _word(given, "cwd"))


def _word(given: Mapping[str, object], name: str) -> str:
    value = given.get(name)
    return value if isinstance(value, str) and "\0" not in value else ""


def session_start(config: Config) -> Outcome:
    """Have a daemon at hand before the first prompt."""
    from libravdb_memory.serve.lifetime import start

    found, started = start(config.home)
    return Outcome(remark=f"a daemon {'was started' if started else 'runs'}: process {found.pid}")


def user_prompt_submit(config: Config, event: Event, budget: int = BUDGET) -> Outcome:
    """What memory knows about a prompt, for the host to put beside it."""
    if not event.prompt.strip():
        return Outcome()
    note = noted(config.home)
    if note is None:
        return Outcome(remark="no daemon runs; 'libravdb daemon start' begins one")
    params: dict[str, Json] = {
        "userId": config.mcp.user,
        "sessionId": event.session,
        "prompt": event.prompt,
        "budget": budget,
        "messages": _visible(event.transcript),
    }
    built = ask(config.home, note.endpoint, "assemble_context", params, PROMPT_S)
    if built is None:
        return Outcome(remark=f"the daemon at {note.endpoint} did not answer in time")
    text = str(built.get("text", ""))
    told = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": text}}
    return Outcome(json.dumps(told, ensure_ascii=False) if text else "")


def _visible(path: Path | None) -> list[Json]:
    """What the model sees anyway, so that memory does not say it again."""
    try:
        said = [] if path is None else transcript.read(path)[0]
    except OSError:
        return []
    return [{"role": each.role, "content": each.text} for each in said[-_VISIBLE:]]


def stop(config: Config, event: Event, patience_s: float = COMMIT_S) -> Outcome:
    """Hand over what was said since the last time."""
    if event.transcript is None:
        return Outcome(remark="the host names no transcript")
    place = _Place(config.home, event.transcript)
    try:
        said, end = transcript.read(event.transcript, place.known())
    except OSError as error:
        return Outcome(remark=f"the transcript cannot be read: {error.strerror}")
    if not said:  # the client takes as long to load as all the rest
        place.note(end)
        return Outcome()
    return _commit(config, event, said, end, place, time.monotonic() + patience_s)


def _commit(
    config: Config, event: Event, said: list[transcript.Said], end: int, place: _Place, deadline: float
) -> Outcome:
    from libravdb_memory.serve.client import Client, RefusedError
    from libravdb_memory.serve.fields import InvalidParamsError

    waiting, refused, left = 0, "", 0
    with Client(home=config.home) as client:
        for count, each in enumerate(said):
            if time.monotonic() > deadline:
                left, end = len(said) - count, said[count - 1].end if count else place.known()
                break
            facts = {"host": _HOST, "folder": event.folder}
            try:
                stored = client.ingest(
                    each.text,
                    id=each.id,
                    role=each.role,
                    ts=each.ts,
                    user=config.mcp.user,
                    session=event.session,
                    metadata=facts,
                )
                waiting += not stored.delivered
            except (
                RefusedError,
                InvalidInputError,
                InvalidParamsError,
            ) as error:  # this one will never be taken; the others may be
                refused = error.message
    place.note(end)
    parts = [
        f"{waiting} wait on disk for a daemon" if waiting else "",
        f"{left} are left for the next time" if left else "",
        f"refused: {refused}" if refused else "",
    ]
    return Outcome(remark="; ".join(part for part in parts if part))


class _Place:
    """How far a transcript was handed over. Lost, it is handed over again, and stored once all the same."""

    def __init__(self, home: Path, path: Path) -> None:
        name = hashlib.sha256(os.fsencode(path)).hexdigest()[:24]
        self._file = home / "hooks" / f"{name}.place"

    def known(self) -> int:
        try:
            return max(int(self._file.read_text()), 0)
        except (OSError, ValueError):
            return 0

    def note(self, end: int) -> None:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside = self._file.with_suffix(f".{os.getpid()}")
        beside.write_text(str(end))
        beside.replace(self._file)


def quietly(work: Callable[[], Outcome]) -> Outcome:
    """The outermost frame of a hook: the host's conversation goes on whatever happens here."""
    try:
        return work()
    except LibraVDBError as error:
        return Outcome(remark=f"{error.message}; {error.hint}" if error.hint else error.message)
    except Exception as error:
        return Outcome(remark=f"unexpected {type(error).__name__}: {error}")
