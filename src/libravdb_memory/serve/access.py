"""Who may do what: tokens, and the namespaces each of them opens.

Laws: a token file that others may read is refused. A scoped token reaches its namespaces and nothing else: a method
whose reach is the whole store needs full access. Tokens are compared in constant time, and never told.

The file is a JSON object: a name for each token, with the token and its namespaces (null: all).
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from libravdb_memory.errors import ConfigError, LibraVDBError
from libravdb_memory.serve.methods import Method
from libravdb_memory.serve.service import Service
from libravdb_memory.store.sqlite.files import make_folder

TOKENS_FILE = "tokens.json"
OWNER = "owner"
_LEAST_CHARACTERS = 16


class AccessDeniedError(LibraVDBError):
    """Not known, or not allowed that far."""


@dataclass(frozen=True, slots=True)
class Access:
    """`namespaces` is None for all of them. `is_owner`: known to be the user that the daemon belongs to."""

    name: str
    namespaces: frozenset[str] | None = None
    is_owner: bool = False

    @property
    def is_full(self) -> bool:
        return self.namespaces is None

    def check(self, service: Service, method: Method[Any], params: object) -> None:
        if self.namespaces is not None and not method.reach(service, params) <= self.namespaces:
            raise AccessDeniedError(f"{method.name}: this token does not reach that far")
        if method.owner_only and not self.is_owner:
            raise AccessDeniedError(f"{method.name} is for the owner of the daemon")


SAME_USER = Access("same user", is_owner=True)
ANYBODY = Access("anybody")
"""Who came over TCP where no token is asked for: every user of the machine."""


@dataclass(frozen=True, slots=True)
class Token:
    name: str
    secret: str
    namespaces: frozenset[str] | None

    @property
    def access(self) -> Access:
        return Access(self.name, self.namespaces, is_owner=self.namespaces is None)


class Tokens:
    """Read anew at each question, so that a token that was taken back is gone at once."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def access(self, secret: str) -> Access:
        given, found = secret.encode(errors="replace"), None
        for token in self.all():
            if hmac.compare_digest(token.secret.encode(errors="replace"), given):
                found = token
        if found is None:
            raise AccessDeniedError("this token is not known")
        return found.access

    def all(self) -> tuple[Token, ...]:
        try:
            with self._file.open("rb") as file:
                _refuse_readable(self._file, os.fstat(file.fileno()).st_mode)
                form = json.load(file)
        except FileNotFoundError:
            return ()
        except (OSError, ValueError) as error:
            raise ConfigError(TOKENS_FILE, f"{self._file} cannot be read: {error}") from error
        if not isinstance(form, dict):
            raise ConfigError(TOKENS_FILE, f"{self._file} must be an object of tokens by name")
        return tuple(_token(name, entry) for name, entry in cast(dict[str, object], form).items())

    def add(self, name: str, namespaces: frozenset[str] | None = None) -> Token:
        """A new secret under that name; an old one of the same name is taken back."""
        token = Token(name, secrets.token_urlsafe(32), namespaces)
        self._write({each.name: each for each in self.all()} | {name: token})
        return token

    def remove(self, name: str) -> bool:
        tokens = {each.name: each for each in self.all()}
        known = tokens.pop(name, None) is not None
        if known:
            self._write(tokens)
        return known

    def owner(self) -> Token:
        """The full token that programs of this user read; made when it is first wanted."""
        known = next((token for token in self.all() if token.name == OWNER), None)
        return known or self.add(OWNER)

    def _write(self, tokens: Mapping[str, Token]) -> None:
        form = {
            token.name: {
                "token": token.secret,
                "namespaces": None if token.namespaces is None else sorted(token.namespaces),
            }
            for token in tokens.values()
        }
        make_folder(self._file.parent)
        beside = self._file.with_name(f".{self._file.name}.{secrets.token_hex(4)}")
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w") as file:
                json.dump(form, file, indent=2)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self._file)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise


def _token(name: str, entry: object) -> Token:
    fields = cast(dict[str, object], entry) if isinstance(entry, dict) else {}
    secret, namespaces = fields.get("token"), fields.get("namespaces")
    if not isinstance(secret, str) or len(secret) < _LEAST_CHARACTERS:
        raise ConfigError(TOKENS_FILE, f"the token {name!r} needs at least {_LEAST_CHARACTERS} characters")
    if namespaces is None and "namespaces" in fields:
        return Token(name, secret, None)
    names = cast(list[object], namespaces) if isinstance(namespaces, list) else []
    if not names or not all(isinstance(each, str) and each.strip() and each != "*" for each in names):
        raise ConfigError(TOKENS_FILE, f"the namespaces of the token {name!r} must be a list of names, or null for all")
    return Token(name, secret, frozenset(str(each).strip() for each in names))


def _refuse_readable(file: Path, mode: int) -> None:
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise ConfigError(TOKENS_FILE, f"{file} may be read by others; chmod 600 it")
