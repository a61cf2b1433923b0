"""How a page is signed in: by a one-time token or by a token of the file, either of which becomes a cookie.

Laws: a one-time token works once, for a minute; a cookie for hours, and never longer than the daemon lives. All are
kept as hashes, in memory, in bounded numbers: the oldest leave. Only the owner makes one-time tokens, so a page that
was signed in by one acts for the owner. Any other page remembers which token it was given, and reaches as far as that
does now.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

ONCE_S = 60.0
SIGNED_IN_S = 12 * 3600.0
_MOST = 64
_MOST_OF_A_TOKEN = 8
"""So that whoever has a limited token sends nobody else out by signing in often."""


@dataclass(frozen=True, slots=True)
class _Known:
    until: float
    by: str = ""


class SignIns:
    """`now` is a clock in seconds that never goes back."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._once: dict[str, _Known] = {}
        self._signed_in: dict[str, _Known] = {}

    def make_token(self) -> str:
        return self._made(self._once, ONCE_S, "")

    def redeem(self, token: str) -> str | None:
        """The value of a new cookie; None when the token is not known, was used, or is too old."""
        with self._lock:
            known = self._once.pop(fingerprint(token), None)
        if known is None or known.until < self._now():
            return None
        return self._made(self._signed_in, SIGNED_IN_S, "")

    def admit(self, secret: str) -> str:
        """The value of a new cookie for a page that was given this token of the file; it must be known there."""
        return self._made(self._signed_in, SIGNED_IN_S, fingerprint(secret))

    def knows(self, cookie: str) -> bool:
        return self.signed_in_by(cookie) is not None

    def signed_in_by(self, cookie: str) -> str | None:
        """The fingerprint of the token that this page was given, empty for one that the owner's link opened; None for
        one that is not signed in."""
        with self._lock:
            known = self._signed_in.get(fingerprint(cookie))
        return known.by if known is not None and known.until >= self._now() else None

    def sign_out(self, cookie: str) -> None:
        with self._lock:
            self._signed_in.pop(fingerprint(cookie), None)

    def _made(self, known: dict[str, _Known], lifetime_s: float, by: str) -> str:
        value = secrets.token_urlsafe(32)
        with self._lock:
            now = self._now()
            for old in [name for name, one in known.items() if one.until < now]:
                del known[old]
            for old in [name for name, one in known.items() if by and one.by == by][: 1 - _MOST_OF_A_TOKEN]:
                del known[old]
            while len(known) >= _MOST:
                del known[next(iter(known))]
            known[fingerprint(value)] = _Known(now + lifetime_s, by)
        return value


def fingerprint(value: str) -> str:
    """Looked up by its hash, so that the time of a comparison tells nothing of the value."""
    return hashlib.sha256(value.encode(errors="replace")).hexdigest()
