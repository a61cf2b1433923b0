"""What methods tell is what their published schemas say: for every method, by real answers of a real daemon."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import jsonschema
import pytest
from tests.engines.chat_endpoint import says, serving
from tests.serve.process import Client, Daemons, short_folder
from tests.serve.test_http_api import Web

from libravdb_memory import Memory
from libravdb_memory.config import Config
from libravdb_memory.engines.summarising.select import SummarySettings
from libravdb_memory.serve.access import SAME_USER
from libravdb_memory.serve.calls import Answer, read_call, run
from libravdb_memory.serve.exposition import Sample
from libravdb_memory.serve.gauges import of_store
from libravdb_memory.serve.http.exposed import exposed, takes_get
from libravdb_memory.serve.http.openapi import openapi
from libravdb_memory.serve.jsonrpc import Request
from libravdb_memory.serve.service import Service
from libravdb_memory.serve.shapes import Shapes
from libravdb_memory.serve.table import every_method

TABLE = every_method()
SERVED = exposed(TABLE)
PUBLISHED: Any = json.loads(
    (Path(__file__).parents[2] / "docs" / "reference" / "rpc.schema.json").read_text(encoding="utf-8")
)
ADA = {"userId": "ada", "sessionId": "s1"}
RULES = """---
libravdb: [
---
- Never push to main.
- You must push to main.
- Never push to main.

> Prefer rebases.
"""
DREAM = "{score=.82 recall=3 unique=2}"
DIARY = f"## Deep sleep\n- Ada reviews every migration by hand. {DREAM}\n- no. {DREAM}\n"
RARE = frozenset({"Problem", "Declined", "Extracts", "PassedOver", "SessionAtWork"})
"""What is told of a damaged store, of turns that no summary tells in less, of a model that did not write summaries, and
while they are made: they have tests of their own."""
Schema: TypeAlias = Mapping[str, Any]


def said(at: int) -> str:
    return (
        f"In step {at} the importer reads file number {at} of the archive, checks its header and its length, and "
        f"writes row {at * 7} into the table of deliveries before it goes on with the next."
    )


class Description:
    """Published schemas, strictly: what they do not name may not be told. Remembers which types it met."""

    def __init__(self, types: Mapping[str, Any], place: str) -> None:
        self.types = {name: {"additionalProperties": False, **schema} for name, schema in types.items()}
        self.met: set[str] = set()
        root, _, inner = place.partition("/")
        self._root = {root: {inner: self.types} if inner else self.types}

    def fits(self, name: str, schema: Schema, told: Any) -> None:
        errors = jsonschema.Draft202012Validator({**schema, **self._root}).iter_errors(told)
        wrong = [f"{name}: {'.'.join(map(str, error.path))}: {error.message}" for error in errors]
        assert not wrong, wrong
        self._meet(schema, told)

    def _meet(self, schema: Schema, told: Any) -> None:
        for branch in schema.get("anyOf", ()):
            if jsonschema.Draft202012Validator({**branch, **self._root}).is_valid(told):
                self._meet(branch, told)
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            self.met.add(name)
            self._meet(self.types[name], told)
        if isinstance(told, list):
            for each in told:
                self._meet(schema.get("items", {}), each)
        elif isinstance(told, dict):
            own, others = schema.get("properties", {}), schema.get("additionalProperties") or {}
            for key, value in told.items():
                self._meet(own.get(key, others), value)


# ── what is published ────────────────────────────────────────────────────────────────────────────────────────────


def named_fields(schema: Schema, types: Mapping[str, Any]) -> Mapping[str, Any]:
    found = types[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    assert found.get("type") == "object"
    fields: Mapping[str, Any] = found.get("properties", {})
    return fields


@pytest.mark.parametrize("name", sorted(TABLE))
def test_no_result_is_a_bare_object(name: str) -> None:
    assert named_fields(PUBLISHED["methods"][name]["result"], PUBLISHED["types"])
    if name not in SERVED:
        return
    described: Any = openapi(TABLE)
    for operation in described["paths"][f"/api/{name}"].values():
        schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
        fields = named_fields(schema, described["components"]["schemas"])
        assert set(fields) == set(named_fields(PUBLISHED["methods"][name]["result"], PUBLISHED["types"]))


def test_every_type_names_its_fields_and_is_a_schema() -> None:
    for name, schema in PUBLISHED["types"].items():
        assert schema["properties"], name
        jsonschema.Draft202012Validator.check_schema(schema)


def test_a_field_that_is_there_at_times_is_not_required() -> None:
    shapes = Shapes()
    shapes.of(TABLE["after_turn"].result)
    schema: Any = shapes.named["Delivered"]
    assert "ids" in schema["properties"] and schema["required"] == ["fresh", "masked", "ok", "stored"]


def test_whatever_is_not_described_is_found() -> None:
    description = Description(PUBLISHED["types"], "types")
    result = PUBLISHED["methods"]["flush"]["result"]
    description.fits("flush", result, {"ok": True})
    for told in ({"ok": True, "more": 1}, {}, {"ok": "yes"}, [], None):
        with pytest.raises(AssertionError):
            description.fits("flush", result, told)


# ── what is told ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def web() -> Iterator[Web]:
    with short_folder() as folder:
        watched = folder / "rules"
        watched.mkdir()
        (watched / "house.md").write_text("- Always close the door.\n")
        (watched / "broken.md").symlink_to("nowhere.md")
        daemons = Daemons(folder / "home")
        try:
            yield Web(
                daemons(
                    SERVE_HTTP="127.0.0.1:0",
                    SOURCES_ROOT_PATHS=str(watched),
                    COMPACTION_TRIGGER_TOKENS="0",
                )
            )
        finally:
            daemons.end()


class Script:
    """Calls every method over the socket, and over HTTP too where it is served, and checks each answer."""

    def __init__(self, web: Web, client: Client) -> None:
        self.web, self.client = web, client
        self.over_http: Any = web.get("/api/openapi.json").json
        self.by_socket = Description(PUBLISHED["types"], "types")
        self.by_http = Description(self.over_http["components"]["schemas"], "components/schemas")
        self.called: set[str] = set()
        self.posted: set[str] = set()

    def __call__(self, method: str, **params: Any) -> Any:
        told = self.client.call(method, **params)
        self.by_socket.fits(method, PUBLISHED["methods"][method]["result"], told)
        self.called.add(method)
        return told

    def post(self, method: str, **params: Any) -> Any:
        response = self.web.post(method, params)
        assert response.status == 200, response
        self._described(method, "post", response.json)
        if not params and takes_get(SERVED[method]):
            self._described(method, "get", self.web.get(f"/api/{method}").json)
        self.posted.add(method)
        return response.json

    def both(self, method: str, **params: Any) -> Any:
        """Of what may be asked twice."""
        self.post(method, **params)
        return self(method, **params)

    def _described(self, method: str, verb: str, told: Any) -> None:
        answer = self.over_http["paths"][f"/api/{method}"][verb]["responses"]["200"]
        self.by_http.fits(method, answer["content"]["application/json"]["schema"], told)


def until(found: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not found():
        assert time.monotonic() < end, "it never came"


def test_a_real_answer_of_every_method_fits_what_is_published(web: Web) -> None:
    with web.daemon.client() as client:
        call = Script(web, client)
        talk(call)
        explain(call)
        inspect(call)
        refer(call)
        keep(call)
        forget(call)
    assert call.called == set(TABLE)
    assert call.posted == set(SERVED)
    assert set(PUBLISHED["types"]) - call.by_socket.met == RARE


def talk(call: Script) -> None:
    with call.web.daemon.client() as stranger:
        told = stranger.call("authenticate", token=call.web.tokens.add("reader", frozenset({"ada"})).secret)
        call.by_socket.fits("authenticate", PUBLISHED["methods"]["authenticate"]["result"], told)
    call("authenticate", token=call.web.tokens.owner().secret)
    call("ingest_markdown_document", sourceDoc="AGENTS.md", text=RULES, coreDoc=True)
    assert call.both("bootstrap_session", **ADA)["documents"]
    call("link_session", **ADA, linkedKey="agent:sub")
    assert call.both("bootstrap_session", sessionId="sub", linkedKey="agent:sub")["linked"] is True
    call("unlink_session", **ADA, linkedKey="agent:sub")
    call.both(
        "ingest_message", **ADA, id="t0", text="The login is password = 'hunter2Blue', I like Thursdays.", speaker="A"
    )
    call("ingest_message", **ADA, id="rule", text="Never deploy on Fridays.")
    turns = [{"role": "user" if at % 2 else "assistant", "content": said(at)} for at in range(60)]
    assert call("after_turn", **ADA, messages=turns)["stored"] == 60
    assert call("after_turn", userId="ada", sessionId="s2", messages=turns[:2], advancementKey="k")["ids"]
    assert call("memory_compact", **ADA)["summaries"]
    call.both("memory_compact", **ADA)
    (node, *_) = [entry for entry in call.both("memory_history", **ADA)["entries"] if entry["kind"] == "summary"]
    assert call.both("memory_expand", **ADA, id=node["id"])["items"]
    assert call.both("memory_guidance", **ADA)["rules"]
    call("promote_diary", **ADA, sourceDoc="DREAMS.md", text=DIARY)


def explain(call: Script) -> None:
    assert call.both("memory_search", **ADA, query="Thursdays")["results"]
    call.both("memory_get", **ADA, id="t0")
    built = call.both("assemble_context", **ADA, prompt="what about Thursdays and file 7?", budget=600)
    tight = call("assemble_context", **ADA, prompt="what about Thursdays?", budget=1)
    for receipt in (built["receiptId"], tight["receiptId"]):
        assert call.both("why", receiptId=receipt)["identical"] is True
        call.both("replay", receiptId=receipt)
        call.both("receipt_view", receiptId=receipt)
    left_out = call("why", receiptId=tight["receiptId"])["rejections"][0]
    call.both("why_not", receiptId=tight["receiptId"], recordId=left_out["id"], sessionId=left_out["sessionId"])
    call.both("why_not", receiptId=built["receiptId"], recordId="never was")
    assert call.both("receipt_view", receiptId=built["receiptId"], budget=100)["left"]
    compared = call.both("compare_receipts", left=built["receiptId"], right=tight["receiptId"])
    assert compared["both"] and compared["onlyLeft"]
    assert call.both("receipts", userId="ada")["receipts"]
    call.both("gating_scalar", userId="ada", text="Always deploy on Thursdays.")
    assert call.both("gate_explain", userId="ada", text="Always deploy on Thursdays, remember that.")["fired"]
    checked = call.both("rules_check", documents={"A.md": RULES}, budget=4)
    assert checked["unreadFrontMatter"] and checked["contradictions"] and checked["duplicates"] and checked["softCut"]


def inspect(call: Script) -> None:
    until(lambda: any(turn["gate"] for turn in call("latest_turns")["turns"]))
    until(lambda: bool(call("overview")["sources"][0]["problems"]))
    call("session_lifecycle_hint", hook="session_end", sessionId="s1", reason="bye")
    for method in ("overview", "latest_turns", "namespaces", "documents", "gate_report", "status", "metrics", "health"):
        call.both(method)
    call.both("ready")
    assert call.both("turns", **ADA, order="oldest")["turns"][0]["masked"]
    assert call.both("sessions", userId="ada")["sessions"]
    graph = call.both("session_graph", **ADA)
    assert graph["nodes"] and graph["boundary"]
    assert call.both("document", name="AGENTS.md")["blocks"]
    assert call.both("search_explained", userId="ada", query="Thursdays")["results"]
    assert call.both("erase_preview", **ADA)["sample"]
    assert call.both("erase_preview", **ADA, id="t0")["alsoNamed"]
    call("ui_link")


def refer(call: Script) -> None:
    call.both("ensure_collections", collections=["user:ada"])
    turn = {"role": "user", "userId": "ada"}
    call("insert_session_turn", sessionId="s3", id="s3:t1", text="The bicycle is red.", metadata=turn)
    for name in ("n1", "n2", "n3"):
        call("insert_text", collection="user:ada", id=name, text="The bicycle is red.", metadata={"colour": "red"})
    call("bump_access_counts", updates=[{"collection": "user:ada", "ids": ["n1"]}])
    assert call.both("list_collection", collection="user:ada")["results"]
    assert call.both("list_by_meta", collection="user:ada", key="colour", value="red")["results"]
    assert call.both("search_text", collection="user:ada", text="bicycle", k=3)["results"]
    assert call.both("search_text_collections", collections=["user:ada"], text="bicycle", k=3)["results"]
    assert call.both("query_raw_session", sessionId="s3", text="bicycle", k=3)["results"]
    assert call.both("export_memory", userId="ada")["records"]
    call("compact_session", sessionId="s1")
    for at in range(60):
        facts = {"role": "user" if at % 2 else "assistant", "userId": "ada", "ts": 1_700_000_000_000 + at}
        call(
            "insert_session_turn",
            sessionId="s4",
            id=f"s4:t{at}",
            text=said(at),
            metadata=facts,
        )
    assert call("compact_session", sessionId="s4")["summaryMethod"]
    (summary, *_) = call("list_collection", collection="session_summary:s4")["results"]
    assert call.both("expand_summary", sessionId="s4", summaryId=summary["id"])["results"]
    assert call.both("list_lifecycle_journal", sessionId="s1")["results"]
    entry = {"text": "Ada dreams of a red bicycle.", "score": 0.9, "recallCount": 3, "uniqueQueries": 2}
    call("promote_dream_entries", userId="ada", sourceDoc="D.md", entries=[entry])
    call("library", call="Memory.status")
    call("library_slow", call="Memory.verify")
    call.both("flush")


def keep(call: Script) -> None:
    assert call.both("verify")["ok"] is True
    call("backup", name="one.libravdb")
    call("reindex", indexes=True, wait=True)
    for begin, kind in ((call, "verify"), (call.post, "backup")):
        job: str = begin("job_start", kind=kind)["job"]["id"]
        until(lambda job=job: call.both("job", jobId=job)["job"]["state"] == "done")  # type: ignore[misc]
    call.both("jobs")


def forget(call: Script) -> None:
    call("delete", collection="user:ada", id="n1")
    call("delete_batch", collection="user:ada", ids=["n2", "n3"])
    call("delete_authored_document", sourceDoc="AGENTS.md")
    call("reset_session", **ADA)
    call.post("memory_forget", userId="ada", sessionId="s2")
    call("memory_forget", userId="ada", sessionId="s3")
    call("flush_namespace", userId="ada")


# ── what is told rarely ──────────────────────────────────────────────────────────────────────────────────────────


def told_by(memory: Memory, config: Config, method: str, **params: Any) -> Any:
    service = Service.of(memory, config, lambda: 1_800_000_000_000)
    call = read_call(TABLE, Request(method, params, 1), SAME_USER)
    assert not isinstance(call, Answer), call
    return json.loads(run(service, call).line)["result"]


def met(method: str, told: Any) -> set[str]:
    description = Description(PUBLISHED["types"], "types")
    description.fits(method, PUBLISHED["methods"][method]["result"], told)
    return description.met


def test_what_is_told_of_a_damaged_store_fits_too(hashed: Config) -> None:
    with Memory.open(config=hashed) as memory:
        memory.ingest("The harbour is open.", user="ada", session="s1")
        path = memory.status().path
    with closing(sqlite3.connect(path)) as db, db:
        triggers = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall()]
        for name in triggers:
            db.execute(f"DROP TRIGGER {name}")
        db.execute("UPDATE record SET ts = 5")
    with Memory.open(config=hashed) as memory:
        told = told_by(memory, hashed, "verify")
    assert not told["ok"] and "Problem" in met("verify", told)


def test_what_is_told_of_turns_that_no_summary_fits_does_too(hashed: Config) -> None:
    compaction = replace(hashed.compaction, cluster_target=3, trigger_tokens=0)
    assembly = replace(hashed.assembly, startup_budget=100, tail_share=0.0)
    config = replace(hashed, compaction=compaction, assembly=assembly)
    with Memory.open(config=config) as memory:
        for number in range(13):  # each is one fact, and none may be lost
            memory.ingest(f"/srv/harbour/{number * 7919}.log", user="ada", session="s1", role="tool")
        told = told_by(memory, config, "memory_compact", **ADA)
    assert "Declined" in met("memory_compact", told), told


def test_what_is_told_of_a_model_that_is_not_there_does_too(hashed: Config) -> None:
    summary = SummarySettings(backend="openai-compatible", base_url="http://127.0.0.1:9/v1", model="m", retries=0)
    compaction = replace(hashed.compaction, cluster_target=4, trigger_tokens=0)
    config = replace(hashed, compaction=compaction, summary=summary, assembly=replace(hashed.assembly, tail_share=0.0))
    with Memory.open(config=config) as memory:
        for number in range(12):
            memory.ingest(said(number), user="ada", session="s1")
        told = told_by(memory, config, "memory_compact", **ADA)
    assert met("memory_compact", told) >= {"Extracts", "PassedOver"}
    assert [extracts["reason"] for extracts in told["extracts"]] == ["not ready"]


def test_what_a_model_took_is_told_of_the_call_and_added_up_of_what_happens_by_itself(hashed: Config) -> None:
    usage = {"prompt_tokens": 321, "completion_tokens": 45}
    with serving() as endpoint:
        endpoint.answers = [says("yes"), says('{"note": 1}', usage=usage)]
        summary = SummarySettings(backend="openai-compatible", base_url=endpoint.url, model="m", retries=0)
        compaction = replace(hashed.compaction, cluster_target=4, trigger_tokens=0, abstractive_from=0.0)
        assembly = replace(hashed.assembly, tail_share=0.0)
        asked = replace(hashed, compaction=compaction, summary=summary, assembly=assembly)
        with Memory.open(config=asked) as memory:
            for number in range(12):
                memory.ingest(said(number), user="ada", session="s1")
            told = told_by(memory, asked, "memory_compact", **ADA)
            assert told_by(memory, asked, "status")["compaction"]["spent"]["calls"] == 0
        by_itself = replace(asked, compaction=replace(compaction, trigger_tokens=100))
        with Memory.open(config=by_itself) as memory:
            for number in range(12):
                memory.ingest(said(number), user="ada", session="s2")
            assert memory.wait(60, compaction=True)
            state = told_by(memory, by_itself, "status")
            figures = {family.name: family for family in of_store(Service.of(memory, by_itself, lambda: 0))}
        calls = len(endpoint.requests) - 2 - told["spent"]["calls"]
    assert "Spent" in met("memory_compact", told) and "Spent" in met("status", state)
    assert told["spent"] == {"calls": 2, "tokensIn": 642, "tokensOut": 90}
    assert calls and state["compaction"]["spent"] == {"calls": calls, "tokensIn": 321 * calls, "tokensOut": 45 * calls}
    assert figures["libravdb_compaction_model_tokens_read_total"].samples == (Sample(321 * calls),)


def test_what_is_told_while_a_session_is_compacted_does_too(hashed: Config) -> None:
    with Memory.open(config=hashed) as memory:
        for number in range(60):
            memory.ingest(said(number), user="ada", session="s1")
        assert memory.wait(60, compaction=True)
        told: list[Any] = []
        memory.compact(
            user="ada",
            session="s1",
            rebuild=True,
            progress=lambda _, __: told.append(told_by(memory, hashed, "status")),
        )
    assert told and "SessionAtWork" in met("status", told[0])
    assert told[0]["compaction"]["sessions"] == [ADA]
