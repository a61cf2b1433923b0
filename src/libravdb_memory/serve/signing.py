"""How a page is signed in: by a one-time token that becomes a cookie.

Laws: a one-time token works once, for a minute; a cookie for hours, and never longer than the daemon lives. Both are
kept as hashes, in memory, in bounded numbers: the oldest leave. Only the owner makes tokens, so the page acts for
the owner.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable

ONCE_S = 60.0
SIGNED_IN_S = 12 * 3600.0
_MOST = 64


class SignIns:
    """`now` is a clock in seconds that never goes back."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._once: dict[str, float] = {}
        self._signed_in: dict[str, float] = {}

    def make_token(self) -> str:
        return self._made(self._once, ONCE_S)

    def redeem(self, token: str) -> str | None:
        """The value of a new cookie; None when the token is not known, was used, or is too old."""
        with self._lock:
            until = self._once.pop(_hash(token), None)
        if until is None or until < self._now():
            return None
        return self._made(self._signed_in, SIGNED_IN_S)

    def knows(self, cookie: str) -> bool:
        with self._lock:
            until = self._signed_in.get(_hash(cookie))
        return until is not None and until >= self._now()

    def sign_out(self, cookie: str) -> None:
        with self._lock:
            self._signed_in.pop(_hash(cookie), None)

    def _made(self, known: dict[str, float], lifetime_s: float) -> str:
        value = secrets.token_urlsafe(32)
        with self._lock:
            now = self._now()
            for old in [name for name, until in known.items() if until < now]:
                del known[old]
            while len(known) >= _MOST:
                del known[next(iter(known))]
            known[_hash(value)] = now + lifetime_s
        return value


def _hash(value: str) -> str:
    """Looked up by its hash, so that the time of a comparison tells nothing of the value."""
    return hashlib.sha256(value.encode(errors="replace")).hexdigest()
