"""Tokens: who reaches what."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from libravdb_memory.errors import ConfigError
from libravdb_memory.serve import own
from libravdb_memory.serve.access import Access, AccessDeniedError, Tokens
from libravdb_memory.serve.methods import table_of
from libravdb_memory.serve.service import Service

Call: TypeAlias = Callable[..., Any]
OF_ADA = Access("ada's", frozenset({"ada"}))
DENIED = -32005


def test_a_token_is_kept_for_its_owner_alone_and_found_again(tmp_path: Path) -> None:
    file = tmp_path / "home" / "tokens.json"
    tokens = Tokens(file)
    assert tokens.all() == ()
    scoped, full = tokens.add("reader", frozenset({"ada", "bob"})), tokens.owner()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert tokens.access(scoped.secret) == Access("reader", frozenset({"ada", "bob"}))
    assert tokens.access(full.secret).is_full and tokens.owner() == full
    assert list(file.parent.iterdir()) == [file]


def test_a_token_that_was_taken_back_or_made_anew_opens_nothing(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens.json")
    old = tokens.add("a")
    new = tokens.add("a")
    with pytest.raises(AccessDeniedError):
        tokens.access(old.secret)
    assert tokens.access(new.secret).is_full
    assert tokens.remove("a") and not tokens.remove("a")
    for secret in (new.secret, "", "\ud800"):
        with pytest.raises(AccessDeniedError):
            tokens.access(secret)


def test_a_token_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens.json")
    secret = tokens.add("a").secret
    (tmp_path / "tokens.json").chmod(0o640)
    with pytest.raises(ConfigError, match="chmod 600"):
        tokens.access(secret)


@pytest.mark.parametrize(
    "form",
    [
        "[]",
        "{",
        '{"a": {"token": "short", "namespaces": null}}',
        '{"a": {"token": "long enough to be one"}}',
        '{"a": {"token": "long enough to be one", "namespaces": []}}',
        '{"a": {"token": "long enough to be one", "namespaces": ["*"]}}',
        '{"a": {"token": "long enough to be one", "namespaces": "ada"}}',
        '{"a": "long enough to be one"}',
    ],
)
def test_a_token_file_that_is_not_clear_opens_nothing(tmp_path: Path, form: str) -> None:
    file = tmp_path / "tokens.json"
    file.write_text(form)
    file.chmod(0o600)
    with pytest.raises(ConfigError):
        Tokens(file).access("long enough to be one")


def test_a_scoped_token_reaches_its_own_namespace(call: Call) -> None:
    call("ingest_message", OF_ADA, userId="ada", sessionId="s", text="hello")
    assert call("memory_history", OF_ADA, userId=" ada ", sessionId="s")["turns"] == 1
    assert call("health", OF_ADA)["ok"]
    assert call("rules_check", OF_ADA, documents={})["ok"]


ELSEWHERE: dict[str, dict[str, Any]] = {
    "ingest_message": {"text": "x"},
    "memory_get": {"id": "t"},
    "memory_expand": {"id": "t"},
    "memory_forget": {"id": "t"},
}


@pytest.mark.parametrize("where", [{"userId": "bob"}, {"sessionId": "ada"}, {"agentId": "ada"}, {"sessionKey": "ada"}])
@pytest.mark.parametrize(
    "name",
    """bootstrap_session ingest_message after_turn assemble_context memory_search memory_get memory_forget
    memory_history memory_expand memory_guidance memory_compact""".split(),
)
def test_a_scoped_token_reaches_nothing_of_another(ask: Call, name: str, where: dict[str, str]) -> None:
    assert ask(name, {**ELSEWHERE.get(name, {}), **where}, OF_ADA)["error"]["code"] == DENIED


@pytest.mark.parametrize(
    ("name", "params"),
    [("status", {}), ("metrics", {}), ("verify", {}), ("backup", {"name": "x"}), ("reindex", {})],
)
def test_what_is_about_the_whole_store_needs_full_access(ask: Call, name: str, params: dict[str, str]) -> None:
    assert ask(name, params, OF_ADA)["error"]["code"] == DENIED


def test_a_summary_of_another_looks_like_one_that_does_not_exist(call: Call, ask: Call) -> None:
    def compacted(**where: str) -> str:
        for number in range(120):
            text = f"turn {number}: the deploy of service-{number} needs port {4000 + number} and a quiet evening"
            call("ingest_message", **where, text=text)
        call("memory_compact", **where)
        summary: str = call("memory_history", **where)["entries"][0]["id"]
        return summary

    theirs, mine = compacted(userId="bob"), compacted()
    of_nobody = Access("reader", frozenset({"session:default"}))
    assert call("memory_expand", of_nobody, id=mine)["items"]
    for access in (of_nobody, OF_ADA):
        answers = [ask("memory_expand", {"id": wanted}, access)["error"] for wanted in (theirs, "nope")]
        assert answers[0] == answers[1] and answers[0]["code"] == DENIED


def test_a_receipt_of_another_looks_like_one_that_does_not_exist(call: Call, ask: Call) -> None:
    call("ingest_message", userId="bob", sessionId="s", text="secret of bob")
    receipt = call("assemble_context", userId="bob", sessionId="s", prompt="?")["receiptId"]
    answers = [
        ask(name, {"receiptId": wanted, "recordId": "t"}, OF_ADA)
        for name in ("why", "why_not", "replay")
        for wanted in (receipt, "nope")
    ]
    assert {answer["error"]["code"] for answer in answers} == {DENIED}
    assert "bob" not in json.dumps(answers)


def test_every_method_is_either_scoped_or_needs_full_access(service: Service) -> None:
    """A method added without a thought about its reach is closed to scoped tokens."""
    from libravdb_memory.serve.methods import EVERYTHING, Method, Nothing
    from libravdb_memory.serve.results.conversation import Done

    method = Method("new", Nothing, lambda _, __: {}, "New.", result=Done)
    assert method.reach(service, Nothing()) == EVERYTHING
    with pytest.raises(AccessDeniedError):
        OF_ADA.check(service, method, Nothing())
    assert table_of(own.METHODS)["health"].reach(service, Nothing()) == frozenset()
