"""Whether store and model answer, for whoever asks.

Law: nobody needs a token to ask, so asking often costs no more than asking once: store and model are asked at most once
in a while, by one at a time, and everybody else is told what that one heard.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from libravdb_memory.serve.access import Access
from libravdb_memory.serve.http.asking import Asking

HOLDS_S = 1.0
_NOBODY = Access("nobody", frozenset())


class Readiness:
    """`now` is a clock in seconds that never goes back."""

    def __init__(self, asking: Asking, now: Callable[[], float] = time.monotonic) -> None:
        self._asking = asking
        self._now = now
        self._one_at_a_time = asyncio.Lock()
        self._heard: tuple[float, bool] | None = None

    async def told(self) -> tuple[bool, str]:
        """What is wrong is told to the log and to those with a token."""
        service = self._asking.service
        if service.stopping.is_set():
            return False, "draining"
        if not service.is_ready():
            return False, "starting"
        async with self._one_at_a_time:
            if self._heard is None or self._now() - self._heard[0] >= HOLDS_S:
                answer = await self._asking.ask("ready", {}, _NOBODY)
                self._heard = self._now(), answer.result is not None
            is_ready = self._heard[1]
        return is_ready, "ok" if is_ready else "store or model do not answer"
