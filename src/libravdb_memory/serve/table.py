"""Every method of the daemon: ours, those of the inspector, and those of the reference protocol."""

from __future__ import annotations

from dataclasses import dataclass, field

from libravdb_memory.identity import Json
from libravdb_memory.serve import inspecting, own, reference
from libravdb_memory.serve.access import TOKENS_FILE, Access, Tokens
from libravdb_memory.serve.bridge import methods as bridge
from libravdb_memory.serve.methods import NOTHING, Method, Result, Table, table_of
from libravdb_memory.serve.results.health import Identified
from libravdb_memory.serve.service import Service


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    token: str = field(metadata={"help": "as the owner of the daemon gave it"})


def identify(service: Service, params: Identity) -> Access:
    return Tokens(service.config.home / TOKENS_FILE).access(params.token)


def _authenticate(service: Service, params: Identity) -> Result:
    access = identify(service, params)
    namespaces: Json = None if access.namespaces is None else sorted(access.namespaces)
    return {"ok": True, "name": access.name, "namespaces": namespaces}


AUTHENTICATE: Method[Identity] = Method(
    "authenticate",
    Identity,
    _authenticate,
    "Say who this connection is; what follows on it reaches as far as the token does.",
    reach=lambda _, __: NOTHING,
    pace="instant",
    result=Identified,
)


def every_method() -> Table:
    return table_of([AUTHENTICATE, *own.METHODS, *inspecting.METHODS, *reference.METHODS, *bridge.METHODS])
