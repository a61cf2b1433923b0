"""Who may ask over HTTP: no web page, no borrowed name, nobody without a token.

Laws: a request names this machine by an address, as localhost, or by a name that the settings know: a page whose own
name was made to point here (DNS rebinding) is refused. A request that a browser sends for a page comes from our own
page, or is refused. A token is a bearer token of the daemon's file.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass

from libravdb_memory.serve.access import Access, AccessDeniedError, Tokens

_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]{2,45}\]|[^\[\]:/@\s]{1,253})(?::(?P<port>\d{1,5}))?")
_BEARER = re.compile(r"bearer +(?P<token>[A-Za-z0-9\-._~+/]+=*) *", re.IGNORECASE)
_OWN_PAGE = ("same-origin", "none")
"""What a browser says of requests from our own page, and of those that a person typed."""


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    reason: str


@dataclass(frozen=True, slots=True)
class Guard:
    """`names` are in lower case, without ports."""

    names: frozenset[str]
    tokens: Tokens

    def refusal(self, headers: Mapping[str, str]) -> Refusal | None:
        """Why a request with these headers (in lower case) is not looked at; None when it is."""
        host = headers.get("host", "")
        if not self.knows(host):
            return Refusal(421, "this is no name of this machine; serve.http_hosts may add it")
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin is not None and origin.lower() != f"http://{host.lower()}":
            return Refusal(403, "requests of other pages are refused")
        if site is not None and site not in _OWN_PAGE:
            return Refusal(403, "requests of other pages are refused")
        return None

    def knows(self, host: str) -> bool:
        match = _HOST.fullmatch(host)
        if match is None:
            return False
        name = match["name"].lower()
        return name == "localhost" or name in self.names or _is_address(name.strip("[]"))

    def access(self, headers: Mapping[str, str]) -> Access:
        """What the token reaches; AccessDeniedError without one that is known."""
        match = _BEARER.fullmatch(headers.get("authorization", ""))
        if match is None:
            raise AccessDeniedError("a token is needed: Authorization: Bearer …")
        return self.tokens.access(match["token"])


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
