"""What both kinds of client begin with: settings, and the first words on a connection."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from libravdb_memory.config import Config, load_config
from libravdb_memory.errors import ConfigError, InvalidInputError
from libravdb_memory.serve.client.core import CALL_TIMEOUT_S, Reach, RefusedError, UnavailableError
from libravdb_memory.serve.client.delivering import Desk
from libravdb_memory.serve.client.finding import find_endpoint, find_token
from libravdb_memory.serve.client.scripts import Script, ask
from libravdb_memory.serve.client.spool import MAX_SPOOL_BYTES, SPOOL_FOLDER, Spool
from libravdb_memory.serve.endpoint import Endpoint, parse_endpoint
from libravdb_memory.serve.methods import table_of
from libravdb_memory.serve.own import METHODS

CONNECT_S = 5.0


@dataclass(frozen=True, slots=True)
class Opening:
    """`endpoint` and `token` None: looked up at each connection."""

    config: Config
    desk: Desk
    endpoint: str | None
    token: str | None
    timeout_s: float

    @property
    def connect_s(self) -> float:
        return min(CONNECT_S, self.timeout_s)

    def place(self) -> Endpoint:
        try:
            return find_endpoint(self.config, self.endpoint)
        except ConfigError as error:  # the home's own path may be too long for a socket
            raise UnavailableError(error.message, error.hint) from error

    def greeting(self, endpoint: Endpoint) -> Script[dict[str, Any]]:
        """Who we are, where that is asked; then whether it is a daemon that is well."""
        try:
            if token := find_token(endpoint, self.config.home, self.token):
                yield from ask("authenticate", {"token": token}, self.connect_s)
            health = yield from ask("health", {}, self.connect_s)
        except RefusedError as error:
            raise UnavailableError(f"{endpoint} refused: {error.message}", error.hint) from error
        if health.get("ok") is not True:
            raise UnavailableError(f"{endpoint} is not well: {health.get('message')}")
        return health


def opening(
    endpoint: str | None = None,
    *,
    home: str | Path | None = None,
    token: str | None = None,
    timeout_s: float = CALL_TIMEOUT_S,
    spool_bytes: int = MAX_SPOOL_BYTES,
) -> Opening:
    if timeout_s <= 0:
        raise InvalidInputError("timeout_s", "must be more than 0")
    config = load_config(overrides={"home": None if home is None else str(home)})
    if endpoint is not None:
        parse_endpoint(endpoint)  # a name that is none is told at once
    desk = Desk(Spool(config.home / SPOOL_FOLDER, spool_bytes), table_of(METHODS), time.monotonic)
    return Opening(config, desk, endpoint, token, timeout_s)


def fresh_reach() -> Reach:
    return Reach(time.monotonic, random.random)
