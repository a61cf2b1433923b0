"""Private keys in armour: PEM, OpenSSH, PGP and PuTTY blocks, with real or escaped line breaks, whole or cut off.

Law: a block reaches from its BEGIN line to its END line, or, without one before the next BEGIN, to the end of its
base64; a BEGIN that no key follows is prose. Blocks are disjoint, so reading them all is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .view import FILL, Secret

_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_BODY = re.compile(r"(?:[A-Za-z0-9+/=]|\s|\\[nr]|(?<=\n)(?:[A-Z][\w-]+: [^\n\uffa0]*)|[\"'`>|+,](?=\s))*+")
_LINE = re.compile(r"[A-Za-z0-9+/]{40}")
_PUTTY = re.compile(r"Private-Lines: \d{1,3}\r?\n((?:[A-Za-z0-9+/=]{1,64}(?:\r?\n|$)){1,200})")


def armoured(view: str) -> Iterator[Secret]:
    """Every private key block."""
    begins = list(_BEGIN.finditer(view))
    limits = [*(begin.start() for begin in begins), len(view)][1:]
    for begin, limit in zip(begins, limits, strict=True):
        end = _END.search(view, begin.end(), limit)
        stop = end.start() if end else _cut_off(view, begin.end(), limit)
        body = view[begin.end() : stop]
        if FILL not in body and _LINE.search(body):
            yield Secret("private key", begin.start(), end.end() if end else stop)
    for putty in _PUTTY.finditer(view):
        yield Secret("private key", putty.start(1), putty.start(1) + len(putty[1].rstrip()))


def _cut_off(view: str, start: int, limit: int) -> int:
    body = _BODY.match(view, start, limit)
    found = body.group() if body else ""
    last = max((match.end() for match in re.finditer(r"[A-Za-z0-9+/]{16,}={0,2}", found)), default=0)
    return start + last
