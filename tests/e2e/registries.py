"""What suites of real programs fetch from registries before they can be played.

Law: a registry that does not answer, or does not have what is asked for, is told apart from an install that breaks.
Only the first excuses a suite from being played.
"""

from __future__ import annotations

import re
import subprocess
from typing import Any

NOT_HERE = 77  # exit code of whatever cannot be had on this machine; the last line says why
LONGEST_S = 900
_OUT_OF_REACH = re.compile(
    r"\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ERR_SOCKET_TIMEOUT|FETCH_ERROR"
    r"|E40[1347]|E5\d\d|ETARGET|ENOTCACHED|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_GET_ISSUER_CERT_LOCALLY"  # npm
    r"|(NewConnection|ConnectTimeout|ReadTimeout|NameResolution|Proxy|SSL)Error|Max retries exceeded"
    r"|HTTP error [45]\d\d|No matching distribution found)\b"  # pip
)


class NotHere(Exception):
    """What a suite needs cannot be had on this machine; the message is one line."""


class Broken(Exception):
    """An install that failed though its registry answered."""


def fetch(what: str, command: list[Any], **how: Any) -> None:
    words = [str(part) for part in command]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=LONGEST_S, **how)
    except subprocess.TimeoutExpired as error:
        raise NotHere(f"{what} is not there after {LONGEST_S} s") from error
    if done.returncode == 0:
        return
    said = (done.stderr + done.stdout).strip()
    if found := _OUT_OF_REACH.search(said):
        raise NotHere(f"{what} is out of reach: {found[0]}")
    raise Broken(f"{what} cannot be installed:\n{said[-3000:]}")
