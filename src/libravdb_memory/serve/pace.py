"""How fast one client may call.

Law: over any time, a client is taken no more calls from than its rate allows for that time and one second besides.
Nothing is refused: whoever is faster waits.
"""

from __future__ import annotations

_BYTES_OF_A_CALL = 1 << 10


class Pace:
    """An allowance that fills at `rate` calls a second, up to one second's worth; a rate of 0 is no bound."""

    __slots__ = ("_left", "_rate", "_since")

    def __init__(self, rate: int, now: float) -> None:
        self._rate = rate
        self._left = float(rate)
        self._since = now

    def called(self) -> None:
        self._left -= 1.0

    def sent(self, size: int) -> None:
        """Long calls count as several: reading them takes the time of several."""
        self._left -= size / _BYTES_OF_A_CALL

    def wait_s(self, now: float) -> float:
        """How long until the next call may be taken."""
        if not self._rate:
            return 0.0
        self._left = min(self._left + (now - self._since) * self._rate, float(self._rate))
        self._since = now
        return 0.0 if self._left >= 1.0 else (1.0 - self._left) / self._rate
