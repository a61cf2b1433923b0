"""The SQLite store keeps the laws of every store."""

from __future__ import annotations

from pathlib import Path

import pytest

from libravdb_memory.store.protocol import Store
from libravdb_memory.store.sqlite.store import SqliteStore

for name in ("conformance", "conformance_groups", "conformance_marks", "conformance_tokens", "machine"):
    pytest.register_assert_rewrite(f"tests.store.{name}")

from tests.store.conformance import StoreContract  # noqa: E402
from tests.store.conformance_groups import GroupsContract  # noqa: E402
from tests.store.conformance_marks import MarksContract  # noqa: E402
from tests.store.conformance_tokens import TokensContract  # noqa: E402
from tests.store.machine import state_machine_for  # noqa: E402


def make_store(folder: Path) -> Store:
    return SqliteStore.open(folder)


class TestSqliteStore(StoreContract):
    make_store = staticmethod(make_store)


class TestSqliteGroups(GroupsContract):
    make_store = staticmethod(make_store)


class TestSqliteMarks(MarksContract):
    make_store = staticmethod(make_store)


class TestSqliteTokens(TokensContract):
    make_store = staticmethod(make_store)


TestSqliteAgainstModel = state_machine_for(make_store)
