"""The verbs of both clients are those of the table of methods, name by name and default by default."""

from __future__ import annotations

import dataclasses
import inspect
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from libravdb_memory.serve.client import AsyncClient, Client, verbs
from libravdb_memory.serve.client.delivering import Desk
from libravdb_memory.serve.client.opening import opening
from libravdb_memory.serve.client.scripts import Asks, Disk, Job
from libravdb_memory.serve.fields import parse, wire_name
from libravdb_memory.serve.own import METHODS

VERBS = {
    "bootstrap_session": "bootstrap",
    "reset_session": "reset",
    "link_session": "link",
    "unlink_session": "unlink",
    "ingest_message": "ingest",
    "assemble_context": "context",
    "memory_search": "search",
    "memory_get": "get",
    "memory_history": "history",
    "memory_expand": "expand",
    "memory_guidance": "guidance",
    "memory_compact": "compact",
    "memory_forget": "forget",
}
NAMES = {"user": "user_id", "session": "session_id"}
VALUES: dict[str, Any] = {
    **dict.fromkeys(("ts", "k", "since", "until", "budget", "depth", "limit"), 3),
    **dict.fromkeys(("rebuild", "all", "indexes", "wait", "fresh"), True),
    "scopes": ["session"],
    "messages": [{"role": "user", "content": "x"}],
    "metadata": {"a": 1},
    "documents": {"a": "b"},
    "mode": "own",
}


def parameters(verb: str) -> dict[str, Any]:
    """Of a verb, by the names of the method; a required one has the default `empty`."""
    made = getattr(verbs, verb)
    found: dict[str, Any] = {}
    for name, parameter in list(inspect.signature(made).parameters.items())[1:]:
        if parameter.kind is parameter.VAR_KEYWORD:
            found |= {NAMES.get(inner, inner): None for inner in get_type_hints(verbs.Whose)}
        else:
            found[NAMES.get(name, name)] = parameter.default
    return found


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_verb_takes_what_its_method_takes(method: Any) -> None:
    given = parameters(VERBS.get(method.name, method.name))
    for item in dataclasses.fields(method.params):
        default = given.pop(item.name)
        if item.default is not dataclasses.MISSING:
            assert default == item.default, item.name
        elif item.default_factory is not dataclasses.MISSING:
            assert not default and default is not inspect.Parameter.empty, item.name
        else:
            assert default is inspect.Parameter.empty, item.name
    assert not given


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return opening(home=tmp_path).desk


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_verb_asks_for_its_method_under_the_names_of_the_wire(method: Any, desk: Desk) -> None:
    verb = VERBS.get(method.name, method.name)
    ours = {name: own for own, name in NAMES.items()}
    values = {name: VALUES.get(name, name) for name in parameters(verb)}
    job: Job[Any] = getattr(verbs, verb)(desk, **{ours.get(name, name): value for name, value in values.items()})
    (call,) = asked(job)
    assert call.method == method.name
    assert call.params == {wire_name(name): value for name, value in values.items()}
    assert parse(method.params, call.params)


def asked(job: Job[Any]) -> Sequence[Any]:
    """The first calls of a job."""
    step = next(job.script)
    while isinstance(step, Disk):
        step = job.script.send(step.work())
    assert isinstance(step, Asks)
    return step.calls


def test_both_clients_have_the_same_verbs() -> None:
    made = {
        name
        for name, found in vars(verbs).items()
        if inspect.isfunction(found) and found.__module__ == verbs.__name__ and not name.startswith("_")
    }
    for client in (Client, AsyncClient):
        assert {name for name in vars(client) if hasattr(vars(client)[name], "__wrapped__")} == made
        assert all(getattr(client, name).__wrapped__ is getattr(verbs, name) for name in made)
    assert {VERBS.get(method.name, method.name) for method in METHODS} == made - {"call", "send_waiting"}


def test_importing_a_client_imports_nothing_heavy() -> None:
    program = (
        "import sys, libravdb_memory.serve.client; "
        "print(sorted({'numpy', 'onnxruntime', 'tokenizers', 'usearch', 'click'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_verb_stands_in_the_table_of_the_guide() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "guide" / "client.md").read_text()
    table = {name for line in guide.splitlines() if line.startswith("| `") for name in re.findall(r"`(\w+)", line)}
    assert {VERBS.get(method.name, method.name) for method in METHODS} <= table
