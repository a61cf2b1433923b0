"""The library through a daemon: the same signatures, the same errors, for the owner alone."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.serve.process import Daemons

from libravdb_memory import errors
from libravdb_memory.cli.exit_codes import exit_code_of
from libravdb_memory.config import load_config
from libravdb_memory.errors import InvalidInputError, LibraVDBError, NotFoundError, StoreError
from libravdb_memory.identity import canonical_json
from libravdb_memory.memory import Memory
from libravdb_memory.model import Draft
from libravdb_memory.portability import export_lines, import_lines
from libravdb_memory.serve.access import ANYBODY, SAME_USER, Access, Token
from libravdb_memory.serve.bridge.finding import find_daemon
from libravdb_memory.serve.bridge.importing import import_through, parts_of
from libravdb_memory.serve.bridge.keeping import MOST_RECORDS, Keeping
from libravdb_memory.serve.bridge.line import DaemonFault, DaemonGoneError, Line, raised
from libravdb_memory.serve.bridge.methods import Call, library
from libravdb_memory.serve.bridge.remote import CALLS, RemoteKeeping, RemoteMemory, RemoteTending
from libravdb_memory.serve.bridge.tending import Tending
from libravdb_memory.serve.calls import Answer, read_call, run
from libravdb_memory.serve.failures import failure_of
from libravdb_memory.serve.jsonrpc import Request
from libravdb_memory.serve.running import announced
from libravdb_memory.serve.service import Service
from libravdb_memory.serve.table import every_method
from libravdb_memory.store.protocol import Put
from libravdb_memory.store.sqlite.lock import lock_file, owner_of

PAIRS = [(Memory, RemoteMemory), (Keeping, RemoteKeeping), (Tending, RemoteTending)]
DENIED = -32005


@pytest.mark.parametrize(("own", "remote"), PAIRS, ids=lambda kind: kind.__name__)
def test_a_remote_method_has_the_signature_of_the_one_it_stands_for(own: type, remote: type) -> None:
    names = [name for name in vars(remote) if not name.startswith("_")]
    assert names
    for name in names:
        assert inspect.signature(getattr(remote, name)) == inspect.signature(getattr(own, name)), name
    if own is not Memory:
        assert set(names) == {name for name in vars(own) if not name.startswith("_")}


def test_only_what_is_listed_can_be_called(service: Service) -> None:
    for name in ("Memory.close", "Memory.store", "Memory.__init__", "Keeping.commit", "os.system", "", "Memory"):
        with pytest.raises(InvalidInputError, match="is no call"):
            library(service, Call(name))


@pytest.mark.parametrize("access", [Access("scoped", frozenset({"ada"})), Access("none", frozenset()), ANYBODY])
@pytest.mark.parametrize("method", ["library", "library_slow"])
def test_the_library_is_for_the_owner_alone(service: Service, access: Access, method: str) -> None:
    def answer(who: Access) -> Any:
        call = read_call(every_method(), Request(method, {"call": "Keeping.status"}, 1), who)
        assert not isinstance(call, Answer)
        return json.loads(run(service, call).line)

    assert answer(access)["error"]["code"] == DENIED
    assert "result" in answer(SAME_USER)
    assert "result" in answer(Token("owner", "x" * 32, None).access)
    assert not Token("reader", "x" * 32, frozenset({"ada"})).access.is_owner


@pytest.mark.parametrize("name", sorted(set(CALLS) - {"Keeping.backup"}))
def test_any_arguments_are_answered_and_never_by_a_fault_of_ours(service: Service, name: str) -> None:
    names = [each for each in CALLS[name].signature.parameters if each not in ("self", "progress")]
    forms = st.none() | st.booleans() | st.integers(-3, 2**70) | st.text(max_size=5) | st.just([]) | st.just({"a": [1]})

    @settings(max_examples=12)
    @given(st.dictionaries(st.sampled_from([*names, "other"]), forms, max_size=4))
    def law(arguments: Any) -> None:
        try:
            library(service, Call(name, arguments))
        except LibraVDBError as error:
            assert failure_of(error).code != -32603, error

    law()


# ── errors ───────────────────────────────────────────────────────────────────────────────────────────────────────

EXAMPLES = [
    errors.InvalidInputError("k", "must be: small"),
    errors.NotFoundError("t1"),
    errors.AmbiguousIdError("t1", 2, ("a", "b")),
    errors.ConflictError("t1"),
    errors.StaleVersionError("t1", 1, 2),
    errors.RulesOverrunError("AGENTS.md", "too much", 7),
    errors.ConfigError("a.b", "is bad"),
    errors.StoreFullError(Path("/x")),
    errors.StoreClosedError(Path("/x")),
    errors.StoreCorruptError(Path("/x"), "a page"),
    errors.AppendOnlyError("t1"),
    errors.ModelTimeoutError("m", "slow"),
    errors.FingerprintMismatchError("a", "b"),
]


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_keeps_its_class_words_advice_and_exit_code(error: LibraVDBError) -> None:
    failure = failure_of(error)
    told = json.loads(json.dumps({"code": failure.code, "message": failure.message, "data": failure.data}))
    found = raised(told)
    assert type(found) is type(error) and isinstance(found, LibraVDBError)
    assert (str(found), found.message, found.hint) == (str(error), error.message, error.hint)
    assert exit_code_of(found) == exit_code_of(error)
    if isinstance(error, InvalidInputError) and isinstance(found, InvalidInputError):
        assert (found.field, found.reason) == (error.field, error.reason)


def test_every_class_of_error_is_known_at_the_other_end() -> None:
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, LibraVDBError):
            made = kind.__new__(kind)
            LibraVDBError.__init__(made, "words", "advice")
            failure = failure_of(made)
            assert type(raised({"message": failure.message, "data": failure.data})) is kind


def test_a_fault_of_the_daemon_and_an_error_without_a_name_are_told_apart() -> None:
    fault = raised({"message": "internal error: KeyError", "data": {"kind": "internal"}})
    assert isinstance(fault, DaemonFault) and not isinstance(fault, LibraVDBError) and "KeyError" in str(fault)
    assert type(raised({"message": "too much at once", "code": -32030})) is StoreError
    assert type(raised({"message": "the daemon is stopping", "code": -32031})) is DaemonGoneError


# ── a real daemon ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def line(daemons: Daemons) -> Iterator[Line]:
    daemons()
    found = find_daemon(daemons.home / "data.libravdb", daemons.home)
    assert found is not None
    yield found
    found.close()


def test_a_value_of_the_library_comes_through_whole(line: Line, daemons: Daemons) -> None:
    memory = RemoteMemory(line)
    turn = memory.ingest("Grüße 🦆", user="ada", session="s", metadata={"a": [1, None]})
    assert memory.get(turn.id, user="ada") == turn and turn.metadata == {"a": [1, None]}
    assert memory.wait(60)
    assert [hit.turn for hit in memory.search("Grüße", user="ada")] == [turn]
    built = memory.context("Grüße?", user="ada", budget=300)
    assert memory.why(built.receipt.id) == built.receipt
    assert memory.replay(built.receipt.id).assembly == built.assembly
    with pytest.raises(NotFoundError, match="nope"):
        memory.get("nope")


def test_a_daemon_that_goes_away_is_told(line: Line, daemons: Daemons) -> None:
    os.kill(line.peer.pid, 9)
    with pytest.raises(DaemonGoneError, match=f"process {line.peer.pid}.*went away"):
        RemoteMemory(line).status()


def test_what_is_too_long_for_a_call_is_refused_here(line: Line) -> None:
    with pytest.raises(InvalidInputError, match="at most"):
        RemoteMemory(line).ingest("x" * (17 << 20), user="ada")
    assert RemoteMemory(line).status().turns == 0


def test_an_export_comes_in_bounded_pages_and_goes_in_again(line: Line, tmp_path: Path) -> None:
    memory, store = RemoteMemory(line), RemoteKeeping(line)
    for number in range(MOST_RECORDS + 5):
        memory.ingest(f"turn {number}", user="ada", session="s", id=f"t{number}", ts=number)
    assert len(store.page("history:ada", limit=1000).records) == MOST_RECORDS
    lines = list(export_lines(store))
    report = memory.import_(lines)
    assert (report.records, report.added) == (MOST_RECORDS + 5, 0)
    with pytest.raises(InvalidInputError, match="import line 3"):
        memory.import_([*lines[:2], lines[2].replace("turn 0", "turn 9"), *lines[3:]])


def test_no_daemon_is_found_where_none_has_the_store(daemons: Daemons, tmp_path: Path) -> None:
    home = daemons.home
    data = home / "data.libravdb"
    assert find_daemon(data, home) is None
    daemon = daemons()
    assert owner_of(data) == daemon.pid
    assert find_daemon(tmp_path / "other.libravdb", home) is None, "another store is not its business"
    found = find_daemon(data, tmp_path), find_daemon(data, home)
    assert all(each is not None and each.peer.pid == daemon.pid for each in found)
    for each in found:
        cast(Line, each).close()
    os.kill(daemon.pid, 9)
    daemon.wait()
    assert lock_file(data).read_text() == str(daemon.pid) and owner_of(data) is None, "only its name is left"
    assert find_daemon(data, home) is None


def test_a_daemon_over_tcp_is_reached_with_the_owner_s_token_from_its_own_home_alone(
    daemons: Daemons, tmp_path: Path
) -> None:
    daemons("--endpoint", "tcp:127.0.0.1:0")
    data = daemons.home / "data.libravdb"
    found = find_daemon(data, daemons.home)
    assert found is not None and RemoteMemory(found).status().turns == 0
    found.close()
    assert find_daemon(data, tmp_path) is None


def test_a_store_that_another_process_has_is_not_asked_of_a_daemon(daemons: Daemons, tmp_path: Path) -> None:
    """This process has it. The home's daemon has another one; then this process says to be that daemon itself."""
    daemon = daemons()
    home = tmp_path / "home"
    config = load_config(environ={"LIBRAVDB_HOME": str(home), "LIBRAVDB_EMBEDDING_BACKEND": "hashed"})
    program = (
        "import sys; from pathlib import Path; from libravdb_memory.serve.bridge.finding import find_daemon;"
        "print(find_daemon(*map(Path, sys.argv[1:])))"
    )

    def found_elsewhere(of: Path) -> str:
        command = [sys.executable, "-c", program, str(home / "data.libravdb"), str(of)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout

    with Memory.open(config=config):
        assert found_elsewhere(daemons.home) == "None\n"
        with announced(home, daemon.endpoint):
            assert found_elsewhere(home) == "None\n"


def test_a_daemon_of_another_version_is_told_and_not_talked_to(
    daemons: Daemons, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon = daemons()
    monkeypatch.setattr("libravdb_memory.serve.bridge.finding.__version__", "99.0")
    with pytest.raises(StoreError, match=rf"process {daemon.pid}.*this is 99\.0") as told:
        find_daemon(daemons.home / "data.libravdb", daemons.home)
    assert "restart it" in told.value.hint


# ── imports in parts ─────────────────────────────────────────────────────────────────────────────────────────────


@settings(max_examples=25)
@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=30), max_size=8), st.integers(1, 400))
def test_the_parts_of_an_import_are_whole_exports_in_order(texts: list[str], most: int) -> None:
    writes = [Put(Draft("history:a", f"t{at}", text, {"n": at}, at, "s"), False, True) for at, text in enumerate(texts)]
    found: list[str] = []

    class Taking:
        def commit(self, batch: Any) -> Any:
            found.extend(write.draft.id for write in batch)
            return type("Done", (), {"fresh": (True,) * len(batch)})

    for part in parts_of(writes, most):
        assert import_lines(cast(Any, Taking()), part).records >= 1
        assert sum(map(len, part)) < most + 1200
    assert found == [write.draft.id for write in writes]


def test_an_import_that_the_daemon_refuses_is_told_with_the_line_of_the_file() -> None:
    def refuses(lines: Any) -> Any:
        raise InvalidInputError("import line 4", "an edge names no record")

    import hashlib

    header = canonical_json({"format": "libravdb-memory", "version": 1})
    edge = canonical_json({"type": "edge", "parent": ["a", "b", "c"], "child": ["a", "b", "d"]})
    digest = hashlib.sha256(f"{header}\n{edge}\n".encode()).hexdigest()
    end = canonical_json({"type": "end", "records": 0, "edges": 1, "marks": 0, "digest": f"sha256:{digest}"})
    with pytest.raises(InvalidInputError, match="names no record") as told:
        import_through(refuses, [header, edge, end], None)
    assert told.value.field == "import line 3"
