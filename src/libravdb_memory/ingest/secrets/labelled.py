"""Hex and base64 that only a vendor's name shortly before tells from a hash.

A row is (kind, names, shape of the whole run). A run is a longest stretch of token characters, so every character is
read once; a name counts within 100 characters, back to the last thing that was masked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .forms import UUID, H, N, W
from .plausible import entropy, is_filler
from .view import FILL, Secret, before

_REACH, _LONGEST = 100, 128
_RUN = re.compile(r"[A-Za-z0-9+/_.-]{24,}+={0,2}")
_OTHER_LABEL = re.compile(r"(?:id|arn|etag|hash|sha-?\d*|digest|md5|checksum|commit|revision|rev|tag)[\"' :=]{1,4}$")
_CAPITAL = re.compile("[A-Z]")
_MIXED = r"(?=.*\d)(?=.*[a-z])(?=.*[A-Z])"

LABELLED: tuple[tuple[str, str, str], ...] = (
    ("aws secret key", "aws|secretaccesskey|secret_access_key|secret access key", f"{_MIXED}[A-Za-z0-9+/]{{40}}"),
    ("azure key", "accountkey|account-key|account_key|storagekey|storage_key|storage key", "[A-Za-z0-9+/]{86}=="),
    ("azure key", "sharedaccesskey|accesskey|azure", f"{_MIXED}[A-Za-z0-9+/]{{43}}="),
    ("twilio key", "twilio", f"{H}{{32}}"),
    ("datadog key", "datadog|dd_api_key|dd_app_key|dd-api-key|dd-application-key", f"{H}{{32}}(?:{H}{{8}})?"),
    ("cloudflare token", "x-auth-key|cloudflare|cf_api_key", f"{H}{{37}}"),
    ("cloudflare token", "cloudflare_api_token|cf_api_token|cloudflare_token|cf_token", f"{W}{{40}}"),
    ("heroku key", "heroku_api|heroku.api|heroku api|heroku key", UUID),
    ("vault token", "vault_token|vault-token|vault token|vault login", f"s\\.{N}{{24}}"),
    ("new relic key", "new_relic|new relic|newrelic", f"{H}{{40}}"),
    ("okta token", "ssws", f"00{W}{{40}}"),
)
_ROWS = tuple(
    (kind, re.compile(rf"(?<![a-z0-9{FILL}])(?:{names.replace('.', '[.]')})"), re.compile(shape, re.A))
    for kind, names, shape in LABELLED
)


def labelled(view: str) -> Iterator[Secret]:
    """Every run whose shape and neighbourhood fit a row."""
    for run in _RUN.finditer(view):
        if run.end() - run.start() <= _LONGEST and _stands_alone(view, run.start(), run.end()):
            value = run.group().rstrip(".")
            kind = _kind(view, run.start(), value)
            if kind is not None and not is_filler(value) and entropy(value) >= _least_entropy(value):
                yield Secret(kind, run.start(), run.start() + len(value))


def _stands_alone(view: str, start: int, end: int) -> bool:
    return not any(sign == FILL or sign.isalnum() for sign in (*view[max(start - 1, 0) : start], *view[end : end + 1]))


def _least_entropy(value: str) -> float:
    """Paths and names of forty letters have less than random base64 has."""
    return 4.2 if _CAPITAL.search(value) else 2.75


def _kind(view: str, start: int, value: str) -> str | None:
    fitting = [(kind, names) for kind, names, shape in _ROWS if shape.fullmatch(value)]
    neighbourhood = before(view, start, _REACH) if fitting else ""
    if _OTHER_LABEL.search(neighbourhood):
        return None
    return next((kind for kind, names in fitting if names.search(neighbourhood)), None)
