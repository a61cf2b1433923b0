"""Whatever parameters come, a call is answered: with a result, or with an error that names what was wrong."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.serve.reference.conftest import TABLE

from libravdb_memory.serve import reference
from libravdb_memory.serve.access import SAME_USER, Access
from libravdb_memory.serve.calls import Call, read_call, run
from libravdb_memory.serve.fields import json_schema
from libravdb_memory.serve.jsonrpc import Request
from libravdb_memory.serve.service import Service

NAMES = [method.name for method in reference.METHODS]
TEXTS = st.one_of(
    st.sampled_from(["", " ", "\0", "\ud800", "s1", "ada", "s1:t", "@", ":", "a:@:b", "x" * 2000, "global", "*"]),
    st.builds(
        "{}:{}".format,
        st.sampled_from(["session", "session_raw", "session_state", "session_edge", "user", "turns", "dream",
                         "elevated", "elevated:user", "authored", "history", "_internal", "summary", "receipt"]),
        st.sampled_from(["", " ", "s1", "ada", "hard", "user:", ":", "\0", "\ud800", "lifecycle_journal", "y" * 900]),
    ),
    st.text(max_size=30),
)  # fmt: skip
NUMBERS = st.one_of(st.integers(-5, 5), st.integers(), st.floats(allow_nan=False, allow_infinity=False))
SCALARS = st.one_of(TEXTS, NUMBERS, st.booleans(), st.none())
ANY = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3))


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values of that schema, and now and then any other."""
    match schema.get("type"):
        case "string":
            good: st.SearchStrategy[Any] = TEXTS
        case "integer" | "number":
            good = NUMBERS
        case "boolean":
            good = st.booleans()
        case "array":
            good = st.lists(fitting(schema["items"]), max_size=3)
        case "object" if "properties" in schema:
            good = st.fixed_dictionaries({}, optional={key: fitting(of) for key, of in schema["properties"].items()})
        case "object":
            good = st.dictionaries(
                TEXTS | st.sampled_from(["ts", "role", "userId", "sessionId", "text"]), ANY, max_size=4
            )
        case _:
            good = ANY
    return st.one_of(*[good] * 9, ANY)


CALLS = st.sampled_from(NAMES).flatmap(
    lambda name: st.tuples(st.just(name), fitting(dict(json_schema(TABLE[name].params))))
)


def test_no_parameters_cause_a_fault_of_ours(service: Service) -> None:
    outcomes: Counter[str] = Counter()

    @settings(max_examples=800, suppress_health_check=list(HealthCheck))
    @given(CALLS, st.sampled_from([SAME_USER, Access("ada", frozenset({"ada", "session:s1"}))]))
    def check(made: tuple[str, Any], access: Access) -> None:
        name, params = made
        call = read_call(
            TABLE, Request(name, params if isinstance(params, dict) else {"collection": params}, 1), access
        )
        if isinstance(call, Call):
            assert isinstance(call.order, str | None)
        answer = json.loads((run(service, call) if isinstance(call, Call) else call).line)
        if "error" in answer:
            assert answer["error"]["message"]
            assert answer["error"]["data"]["kind"] != "internal", answer
        outcomes["error" if "error" in answer else "result"] += 1

    check()
    assert outcomes["result"] > 100, outcomes
    assert service.memory.wait(60)
    assert service.memory.verify().ok
