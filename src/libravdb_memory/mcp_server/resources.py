"""Resources: the documents that people wrote, and the receipts of prompts.

Laws: a receipt is read in the namespace it was made in and in no other: elsewhere it is as unknown as one that was
never made. A document is the user's own word and stands as it was loaded; a receipt quotes memory, and says so first.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from libravdb_memory.errors import LibraVDBError, NotFoundError
from libravdb_memory.mcp_server.asking import Asks
from libravdb_memory.mcp_server.framing import NOTICE, moment

DOCUMENTS, RECEIPTS = "libravdb://documents/", "libravdb://receipts/"
MARKDOWN, JSON = "text/markdown", "application/json"
_RECEIPTS_LISTED = 20
_PROMPT_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Listed:
    uri: str
    name: str
    title: str
    description: str
    mime_type: str


async def listed(asks: Asks, user: str) -> list[Listed]:
    """Every document, then the newest receipts."""
    nodes = (await asks.ask("rules_check", {}))["nodes"]
    names = dict.fromkeys(str(node["document"]) for node in nodes)
    receipts = (await asks.ask("receipts", {"userId": user, "limit": _RECEIPTS_LISTED}))["receipts"]
    return [*map(_document, names), *map(_receipt, receipts)]


async def read(asks: Asks, user: str, uri: str) -> tuple[str, str]:
    """The text of a resource and its kind."""
    if uri.startswith(DOCUMENTS):
        return await _document_text(asks, unquote(uri.removeprefix(DOCUMENTS))), MARKDOWN
    if uri.startswith(RECEIPTS):
        return await _receipt_text(asks, user, unquote(uri.removeprefix(RECEIPTS))), JSON
    raise NotFoundError(uri, f"there is no resource {_short(uri)!r}")


async def _document_text(asks: Asks, name: str) -> str:
    nodes = [node for node in (await asks.ask("rules_check", {}))["nodes"] if node["document"] == name]
    if not nodes:
        raise NotFoundError(name, f"there is no document {_short(name)!r}")
    return _in_place(nodes)


def _in_place(nodes: Iterable[Mapping[str, Any]]) -> str:
    """Every block on its line of the source, where it is known; blank lines between."""
    lines: list[str] = []
    for node in sorted(nodes, key=lambda node: int(node["line"])):
        lines += [""] * (int(node["line"]) - 1 - len(lines))
        lines += str(node["text"]).splitlines()
    return "\n".join(lines) + "\n"


async def _receipt_text(asks: Asks, user: str, receipt: str) -> str:
    unknown = NotFoundError(receipt, f"there is no receipt {_short(receipt)!r}")
    if not receipt.strip():
        raise unknown
    try:
        told = await asks.ask("why", {"receiptId": receipt})
    except LibraVDBError as error:
        raise unknown if is_missing(error) else error from error
    if told["userId"] != user:
        raise unknown
    return json.dumps({"notice": NOTICE, **told}, ensure_ascii=False, indent=1)


def is_missing(error: LibraVDBError) -> bool:
    """Also as a daemon tells it."""
    return isinstance(error, NotFoundError) or getattr(error, "kind", "") == "not_found"


def _document(name: str) -> Listed:
    return Listed(DOCUMENTS + quote(name, safe=""), name, name, "Rules and notes that the user wrote.", MARKDOWN)


def _receipt(told: Mapping[str, Any]) -> Listed:
    about = f"Why the context of {moment(told['createdMs'])} holds what it holds: {_short(str(told['prompt']))!r}"
    return Listed(RECEIPTS + quote(told["id"], safe=""), told["id"], f"Receipt {told['id']}", about, JSON)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _PROMPT_SHOWN else f"{line[: _PROMPT_SHOWN - 1]}…"
