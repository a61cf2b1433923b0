"""How long a thread wants to keep a processor when it has one: a hint to the scheduler of Linux 6.12 and newer.

Whoever wakes up at a processor that is taken has it at once only if he wants it for less time than who runs there;
else he waits for the next tick, up to 4 ms, whatever the niceness of either. So what computes for long asks for long
slices, and what must answer soon for short ones.

Laws: it changes neither how much of a processor a thread gets nor its niceness, and needs no privilege. Nothing depends
on it: where it is refused nothing happens, and `ask_for` says so; older systems take the hint and do nothing with it.
"""

from __future__ import annotations

import os
import platform
import struct
import sys
from collections.abc import Callable
from functools import cache

LONG_S, SHORT_S = 0.1, 0.0001
"""The longest and the shortest slice that there is."""
USUAL_S = 0.0
"""As long as anybody's."""

_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274, "riscv64": 274}
_ATTRIBUTES = "=IIQiIQQQII"
"""Size, policy, flags, niceness, priority, slice, deadline, period, and two bounds that stay as they are."""


def ask_for(seconds: float) -> bool:
    """Slices of this length for this thread, and for the threads and processes that it starts from now on."""
    number = _SCHED_SETATTR.get(platform.machine()) if sys.platform == "linux" and sys.maxsize > 2**32 else None
    try:
        return number is not None and _set(number, seconds)
    except (OSError, AttributeError, ImportError):  # some systems have the numbers and not the calls
        return False


def _set(number: int, seconds: float) -> bool:
    policy = os.sched_getscheduler(0)
    if policy not in (os.SCHED_OTHER, os.SCHED_BATCH):
        return False
    niceness, nanoseconds = os.getpriority(os.PRIO_PROCESS, 0), int(seconds * 1e9)
    size = struct.calcsize(_ATTRIBUTES)
    attributes = struct.pack(_ATTRIBUTES, size, policy, 0, niceness, 0, nanoseconds, 0, 0, 0, 0)
    return _syscall()(number, 0, attributes, 0) == 0


@cache
def _syscall() -> Callable[..., int]:
    import ctypes

    call: Callable[..., int] = ctypes.CDLL(None).syscall
    return call
