"""A clock that a test may set: put first on the path of a Python process, the time of day of that process is the
system's and as many nanoseconds more or less as the file named by STEPPED_CLOCK says, at every look."""

from __future__ import annotations

import os
import time
from pathlib import Path

_FILE = Path(os.environ["STEPPED_CLOCK"])
_REAL = time.time_ns


def _stepped_ns() -> int:
    return _REAL() + int(_FILE.read_text())


time.time_ns = _stepped_ns
time.time = lambda: _stepped_ns() / 1e9
