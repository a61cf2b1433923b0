"""Who may ask over HTTP: no web page, no borrowed name, nobody without a token.

Laws: a request names this machine by an address, as localhost, or by a name that the settings know: a page whose own
name was made to point here (DNS rebinding) is refused. A request that a browser sends for a page comes from our own
page, or is refused. A token is a bearer token of the daemon's file. Our own page has a cookie instead, which no script
can read; what it asks for beside reading carries a header that a page of another origin cannot send. A page reaches as
far as what it was signed in by, at every request anew; it is never the owner.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from libravdb_memory.serve.access import Access, AccessDeniedError, Tokens
from libravdb_memory.serve.http.addressed import named_host
from libravdb_memory.serve.signing import SignIns, fingerprint

_BEARER = re.compile(r"bearer +(?P<token>[A-Za-z0-9\-._~+/]+=*) *", re.IGNORECASE)
_OWN_PAGE = ("same-origin", "none")
"""What a browser says of requests from our own page, and of those that a person typed."""
_SIGNED_OUT = "this page is not signed in (any more): 'libravdb ui' opens it anew"


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    reason: str


@dataclass(frozen=True, slots=True)
class Caller:
    access: Access
    by_cookie: bool = False


PAGE = Access("inspector")
"""Signed in by the owner: it reaches everything, and is not the owner."""


@dataclass(frozen=True, slots=True)
class Guard:
    """`names` are in lower case, without ports. Cookies know no ports: the name of ours tells daemons apart."""

    names: frozenset[str]
    tokens: Tokens
    sign_ins: SignIns = field(default_factory=SignIns)
    cookie: str = "libravdb"

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
        name = named_host(host)
        if name is None:
            return False
        return name == "localhost" or name in self.names or _is_address(name)

    def access(self, headers: Mapping[str, str]) -> Access:
        """What the token reaches; AccessDeniedError without one that is known."""
        match = _BEARER.fullmatch(headers.get("authorization", ""))
        if match is None:
            raise AccessDeniedError("a token is needed: Authorization: Bearer …")
        return self.tokens.access(match["token"])

    def caller(self, headers: Mapping[str, str]) -> Caller:
        """By the token, or by the cookie where there is no token; AccessDeniedError without one that is known."""
        if "authorization" not in headers and (value := self.cookie_value(headers)):
            if (by := self.sign_ins.signed_in_by(value)) is None:
                raise AccessDeniedError(_SIGNED_OUT)
            return Caller(self._access_of_page(by), by_cookie=True)
        return Caller(self.access(headers))

    def sign_in(self, token: str) -> str | None:
        """The value of a new cookie, by a one-time token or by one of the file; None for any other."""
        if (cookie := self.sign_ins.redeem(token)) is not None:
            return cookie
        try:
            self.tokens.access(token)
        except AccessDeniedError:
            return None
        return self.sign_ins.admit(token)

    def _access_of_page(self, by: str) -> Access:
        """A token that was taken back, or got another secret, opens nothing any more."""
        if not by:
            return PAGE
        for token in self.tokens.all():
            if fingerprint(token.secret) == by:
                return replace(token.access, is_owner=False)
        raise AccessDeniedError(_SIGNED_OUT)

    def cookie_value(self, headers: Mapping[str, str]) -> str:
        for pair in headers.get("cookie", "").split(";"):
            name, _, value = pair.strip().partition("=")
            if name == self.cookie:
                return value
        return ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
