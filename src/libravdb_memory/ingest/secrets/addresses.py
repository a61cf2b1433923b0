"""Passwords inside addresses, request headers and commands: scheme://user:password@host, Authorization, curl -u.

Law: only the password is taken, so that host, user and command can still be read.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from .plausible import is_password, is_secret, stands_for_another
from .view import FILL, Secret, lowered

_ADDRESS = re.compile(rf"://([^\s/:@\"'`<>{FILL}]{{0,255}}):([^\s/?\"'`<>{FILL}]{{1,255}})@(?=[\w\[$%{{<-])")
_HEADER = re.compile(
    rf"(?i:authorization)\\?[\"']?\s{{0,3}}[:=,]\s{{0,3}}\\?[\"'`]?"
    rf"(?i:(?P<scheme>bearer|basic|token|apikey|key|bot|ssws|digest)[ ]{{1,3}})?"
    rf"(?P<value>[\w.~+/=|:-]{{8,4096}}+)(?![{FILL}$({{<])",
    re.A,
)
_BEARER = re.compile(rf"\b[Bb]earer[ ]{{1,2}}(?P<value>[\w.~+/=|-]{{20,4096}}+)(?![{FILL}$({{<])", re.A)
_GIVEN = rf"(?:\"([^\"\n{FILL}]{{1,128}})\"|'([^'\n{FILL}]{{1,128}})'|([^\s\"'`<>|;{FILL}]{{1,128}}+)(?![{FILL}\"'`]))"
_COMMANDS = tuple(
    (held, re.compile(pattern + _GIVEN))
    for held, pattern in (
        ("sshpass", r"sshpass\s{1,3}-p\s{0,3}"),
        ("redis-cli", rf"redis-cli\s[^\n|;{FILL}]{{0,80}}?-a\s{{1,3}}"),
        ("requirepass", r"requirepass\s{1,3}"),
        ("identified", r"(?i:identified\s{1,3}by)\s{1,3}(?=')"),
        (
            "auth",
            rf"(?i:auth)\s{{0,2}}(?:=\s{{0,2}}\w{{0,20}})?\(\s{{0,2}}[\"'][^\"'\n{FILL}]{{1,80}}[\"'],\s{{0,2}}(?=[\"'])",
        ),
        ("password", r"(?i:with\s{1,3}(?:encrypted\s{1,3})?password)\s{1,3}(?=')"),
        ("password", rf"(?:login|user)\s{{1,3}}[^\s{FILL}]{{1,80}}\s{{1,8}}password\s{{1,3}}"),
        *(
            (name, name + rf"\s[^\n|;{FILL}]{{0,120}}?\s(?:-pw|-p)\s{{0,1}}(?=[^\s-])")
            for name in ("plink", "pscp", "mysql", "mysqldump", "twine", "az login", "docker login")
        ),
    )
)
_USER = re.compile(
    rf"(?:\s-u|--user|--proxy-user)[ =]?(?P<quote>[\"']?)[A-Za-z0-9_][\w.@%+\\-]{{0,79}}:"
    rf"(?P<value>[^\s\"'`{FILL}]{{1,128}}+)(?![{FILL}])",
    re.A,
)
_MADE_UP = frozenset("password pass passwd pwd secret token user username xxxxx xxx port host".split())


def addressed(view: str) -> Iterator[Secret]:
    """Passwords in addresses, headers and commands."""
    yield from _in_addresses(view)
    yield from _in_headers(view)
    yield from _in_commands(view)


def _in_addresses(view: str) -> Iterator[Secret]:
    for match in _ADDRESS.finditer(view):
        password = match[2]
        if len(password) > 3 and password.lower() not in _MADE_UP and not stands_for_another(password):
            yield Secret("url password", match.start(2), match.end(2))


def _in_headers(view: str) -> Iterator[Secret]:
    for match in _HEADER.finditer(view):
        scheme, value = (match["scheme"] or "").lower(), match["value"].rstrip(".")
        end = match.start("value") + len(value)
        if scheme == "basic":
            if _is_basic(value):
                yield Secret("basic credentials", match.start("value"), end)
        elif len(value) >= 16 and is_secret(value, least_entropy=3.0 if scheme else 3.5):
            yield Secret("bearer token" if scheme == "bearer" else "token", match.start("value"), end)
    for match in _BEARER.finditer(view):
        value = match["value"].rstrip(".")
        if is_secret(value):
            yield Secret("bearer token", match.start("value"), match.start("value") + len(value))


def _is_basic(value: str) -> bool:
    """Base64 of user:password, and not of made-up ones."""
    try:
        user, colon, password = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return False
    return bool(colon and user.isprintable() and password not in _MADE_UP)


def _in_commands(view: str) -> Iterator[Secret]:
    low = lowered(view)
    for held, pattern in _COMMANDS:
        for match in pattern.finditer(view) if held in low else ():
            group = match.lastindex or 0
            value = match.group(group)
            if is_password(value, quoted=group != 3):
                yield Secret("password", match.start(group), match.end(group))
    for match in _USER.finditer(view):
        value = match["value"].rstrip(",)") if not match["quote"] else match["value"]
        if not value.isdigit() and is_password(value) and not stands_for_another(value):
            yield Secret("password", match.start("value"), match.start("value") + len(value))
