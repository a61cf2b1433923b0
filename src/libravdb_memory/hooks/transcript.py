"""The transcript of a Claude Code session: lines of JSON, of which some are what was said.

Laws: only what the user typed and what the assistant answered counts: no tool calls and results, no thoughts, nothing
that a subagent said or that the host put in. A line that cannot be read is passed over. A line without an end is not
there yet.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, cast

_LEFT_OUT = ("isSidechain", "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
_COMMANDS = ("<command-name>", "<command-message>", "<local-command-")


@dataclass(frozen=True, slots=True)
class Said:
    """`id` is the host's own; `end` is where its line ends in the file."""

    id: str
    role: Literal["user", "assistant"]
    text: str
    ts: int | None
    end: int


def read(path: Path, begin: int = 0) -> tuple[list[Said], int]:
    """What was said from that place on, and the end of the last whole line. A file that became shorter is read anew."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        at = begin if 0 <= begin <= size else 0
        file.seek(at)
        raw = file.read()
    whole = raw[: raw.rfind(b"\n") + 1]
    return list(_said(whole, at)), at + len(whole)


def _said(raw: bytes, at: int) -> Iterator[Said]:
    for line in raw.splitlines(keepends=True):
        at += len(line)
        entry = _object(line)
        text = _text(entry)
        if text and isinstance(entry.get("uuid"), str) and not any(entry.get(mark) for mark in _LEFT_OUT):
            yield Said(entry["uuid"], entry["type"], text, _milliseconds(entry.get("timestamp")), at)


def _object(line: bytes) -> Mapping[str, Any]:
    try:
        value = cast(object, json.loads(line))
    except (ValueError, RecursionError):
        return {}
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _text(entry: Mapping[str, Any]) -> str:
    role, message = entry.get("type"), entry.get("message")
    if role not in ("user", "assistant") or not isinstance(message, dict):
        return ""
    content: object = cast(dict[str, object], message).get("content")
    if isinstance(content, list):
        content = "\n".join(filter(None, map(_part, cast(list[object], content))))
    if not isinstance(content, str) or content.lstrip().startswith(_COMMANDS):
        return ""
    return content.strip()


def _part(part: object) -> str:
    block = cast(dict[str, object], part) if isinstance(part, dict) else {}
    text = block.get("text")
    return text if block.get("type") == "text" and isinstance(text, str) else ""


def _milliseconds(moment: object) -> int | None:
    try:
        return int(datetime.fromisoformat(str(moment)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
