"""The API over a real daemon: the table as paths, signing in, live events, and whom it refuses."""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any, NamedTuple

import jsonschema
import pytest
from tests.serve.process import Daemon, Daemons

from libravdb_memory.serve.access import Tokens
from libravdb_memory.serve.fields import json_schema
from libravdb_memory.serve.http.exposed import WRITING, exposed, takes_get
from libravdb_memory.serve.http.files import FOLDER
from libravdb_memory.serve.http.openapi import openapi
from libravdb_memory.serve.http.readiness import HOLDS_S
from libravdb_memory.serve.table import every_method

TABLE = every_method()
SERVED = exposed(TABLE)
JSON = {"content-type": "application/json"}
ADA = {"userId": "ada", "sessionId": "s1"}
_IN_GOOD_TIME_S = 90


class Response(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Web:
    def __init__(self, daemon: Daemon) -> None:
        self.daemon = daemon
        with daemon.client() as client:
            self.url = str(client.call("status")["http"])
        self.port = int(self.url.rpartition(":")[2])
        self.tokens = Tokens(daemon.home / "tokens.json")
        self.bearer = {"authorization": f"Bearer {self.tokens.owner().secret}"}

    def send(self, verb: str, path: str, body: bytes | None = None, **headers: str) -> Response:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request(verb, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            response = connection.getresponse()
            told = {name.lower(): value for name, value in response.getheaders()}
            return Response(response.status, told, response.read())

    def get(self, path: str, **headers: str) -> Response:
        return self.send("GET", path, **(headers or self.bearer))

    def post(self, method: str, params: Any = None, **headers: str) -> Response:
        body = json.dumps({} if params is None else params).encode()
        return self.send("POST", f"/api/{method}", body, **(JSON | (headers or self.bearer)))

    def call(self, method: str, **params: Any) -> Any:
        response = self.post(method, params)
        assert response.status == 200, response
        return response.json

    def link(self) -> str:
        """A one-time token, as the owner gets it over the socket."""
        with self.daemon.client() as client:
            told = client.call("ui_link")
        match = re.fullmatch(re.escape(self.url) + r"/#sign-in=([\w-]{40,})", told["url"])
        assert match is not None and told["expiresInS"] == 60, told
        return match[1]

    def signed_in(self) -> dict[str, str]:
        response = self.send("POST", "/api/sign-in", json.dumps({"token": self.link()}).encode(), **JSON)
        assert response.status == 200, response
        return {"cookie": response.headers["set-cookie"].partition(";")[0]}

    def events(self, path: str = "/api/events", **headers: str) -> Events:
        return Events(self, path, headers or self.bearer)


class Events:
    """A reader of server-sent events."""

    def __init__(self, web: Web, path: str, headers: dict[str, str]) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=60)
        self._connection.request("GET", path, headers={name.replace("_", "-"): text for name, text in headers.items()})
        self.response = self._connection.getresponse()

    def next(self, *names: str) -> tuple[str, Any, str | None]:
        """The next event, of these names if any are given; with its id. Empty at the end. Heartbeats keep a connection
        open for ever: one that is not told in good time is not told at all."""
        until = time.monotonic() + _IN_GOOD_TIME_S
        while time.monotonic() < until:
            fields: dict[str, str] = {}
            while line := self.response.readline().decode().rstrip("\n"):
                name, _, value = line.partition(":")
                fields[name] = value.strip()
            if not fields:
                return "", None, None
            if "event" in fields and (not names or fields["event"] in names):
                return fields["event"], json.loads(fields["data"]), fields.get("id")
        raise TimeoutError(f"no event {' or '.join(names) or 'at all'} within {_IN_GOOD_TIME_S} s")

    def close(self) -> None:
        self.response.close()
        self._connection.close()


@pytest.fixture
def web(daemons: Daemons) -> Iterator[Web]:
    yield Web(daemons(SERVE_HTTP="127.0.0.1:0"))


# ── the table as paths ───────────────────────────────────────────────────────────────────────────────────────────


def test_what_only_reads_is_served_and_few_that_write_and_nothing_of_the_owner_s() -> None:
    assert {name for name, method in SERVED.items() if method.writes} == WRITING - {"assemble_context"}
    assert not [name for name in WRITING if takes_get(SERVED[name])]
    missing = set(TABLE) - set(SERVED)
    leaving_the_memory_as_it_is = {"authenticate", "backup", "reindex"}
    assert leaving_the_memory_as_it_is <= missing
    assert all(TABLE[name].writes or TABLE[name].owner_only for name in missing - leaving_the_memory_as_it_is)
    assert not [
        name for name, method in SERVED.items() if takes_get(method) and (method.writes or method.pace == "slow")
    ]
    assert {"library", "library_slow", "ui_link", "insert_text", "delete", "flush_namespace"} <= missing
    assert {"memory_search", "receipt_view", "turns", "why", "list_collection", "status"} <= set(SERVED)


def test_a_call_over_http_is_answered_as_over_the_socket(web: Web) -> None:
    stored = web.call("ingest_message", **ADA, id="t1", text="The deploy key moved to vault.", ts=5)
    assert stored["id"] == "t1"
    with web.daemon.client() as client:
        for method, params in (
            ("memory_get", {**ADA, "id": "t1"}),
            ("turns", ADA),
            ("sessions", {"userId": "ada"}),
            ("rules_check", {}),
            ("namespaces", {}),
        ):
            assert web.call(method, **params) == client.call(method, **params), method
        assert web.get("/api/namespaces").json == client.call("namespaces")
    assert web.call("assemble_context", **ADA, prompt="where is the key?", budget=400)["receiptId"]
    assert web.call("memory_compact", **ADA)["reason"]
    assert web.call("erase_preview", userId="ada", id="t1")["turns"] == 1
    assert web.call("memory_forget", userId="ada", id="t1")["records"] >= 1


def test_errors_are_those_of_the_table_with_a_status_of_their_kind(web: Web) -> None:
    web.call("ingest_message", **ADA, id="t1", text="one")
    for status, kind, method, params in (
        (400, "invalid_params", "ingest_message", ADA),
        (400, "invalid_params", "turns", {**ADA, "limit": "many"}),
        (400, "invalid_input", "turns", {**ADA, "limit": 10**6}),
        (404, "not_found", "memory_get", {**ADA, "id": "nope"}),
        (404, "unknown_method", "no_such_method", {}),
        (404, "unknown_method", "delete", {"collection": "turns:ada", "id": "x"}),
        (404, "unknown_method", "library", {"call": "Memory.status"}),
        (404, "unknown_method", "turns/x", ADA),
        (409, "conflict", "ingest_message", {**ADA, "id": "t1", "text": "another"}),
    ):
        response = web.post(method, params)
        assert (response.status, response.json["error"]["data"]["kind"]) == (status, kind), response
        assert response.json["error"]["message"] and isinstance(response.json["error"]["code"], int)
    assert web.get("/api/turns").status == 405 and web.get("/api/turns").json["error"]
    assert web.get("/api/ingest_message").status == 405
    assert web.send("DELETE", "/api/turns", **web.bearer).status == 405
    assert web.send("PUT", "/api/turns", **web.bearer).json["error"]


def test_a_body_that_is_no_json_object_or_too_large_is_refused(web: Web) -> None:
    def sent(body: bytes, **headers: str) -> Response:
        return web.send("POST", "/api/status", body, **(web.bearer | JSON | headers))

    for body in (b"[1]", b"nonsense", b"\xff\xfe", b"[" * 100_000, b'{"a":1e999}', b'{"a":NaN}', b"null", b'"x"'):
        response = sent(body)
        assert response.status == 400 and response.json["error"]["data"]["kind"] == "invalid_request", body[:20]
    assert sent(b"").status == sent(b"{}").status == sent(b'{"unknown": 1}').status == 200
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        response = web.send("POST", "/api/status", b"{}", **web.bearer, **{"content-type": kind})
        assert response.status == 415, kind
    large = b'{"text":"' + b"x" * (5 << 20) + b'"}'
    with suppress(ConnectionError):  # it need not read to the end what it refuses
        assert sent(large).status == 413
    assert web.get("/health").status == 200


def test_every_answer_is_kept_by_nobody_and_sniffed_by_nobody(web: Web) -> None:
    for response in (web.get("/api/status"), web.get("/api/nope"), web.get("/api/me"), web.send("GET", "/api/status")):
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["content-security-policy"].startswith("default-src 'none'")
        assert response.headers["content-type"].startswith("application/json")


# ── OpenAPI ──────────────────────────────────────────────────────────────────────────────────────────────────────


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from ([value["$ref"]] if isinstance(value.get("$ref"), str) else [])
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def test_the_description_is_openapi_of_exactly_what_is_served(web: Web) -> None:
    told = web.get("/api/openapi.json").json
    assert told == json.loads(json.dumps(openapi(TABLE, f"libravdb_{web.port}")))
    assert told["openapi"] == "3.1.0" and told["info"]["title"] and told["info"]["version"]
    assert {path for path in told["paths"] if path.removeprefix("/api/") in TABLE} == {
        f"/api/{name}" for name in SERVED
    }
    operations = [verb for path in told["paths"].values() for verb in path.values()]
    assert len({each["operationId"] for each in operations}) == len(operations)
    for each in operations:
        assert each["summary"] and {"200", "503"} <= set(each["responses"])
    for name, method in SERVED.items():
        path = told["paths"][f"/api/{name}"]
        assert ("get" in path) == takes_get(method) and set(path) <= {"get", "post"}
        schema = path["post"]["requestBody"]["content"]["application/json"]["schema"]
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema == json.loads(json.dumps(json_schema(method.params)))
        assert {"400", "401", "403", "404", "415", "500"} <= set(path["post"]["responses"])
    for reference in references(told):
        found: Any = told
        for part in reference.removeprefix("#/").split("/"):
            found = found[part]
    assert set(told["components"]["securitySchemes"]) == {name for each in told["security"] for name in each}


def test_answers_and_refusals_fit_the_description(web: Web) -> None:
    told = web.get("/api/openapi.json").json
    web.call("ingest_message", **ADA, text="I prefer to deploy on a Thursday.")
    asked = [
        (200, "post", "/api/turns", web.post("turns", ADA)),
        (200, "get", "/api/overview", web.get("/api/overview")),
        (200, "get", "/api/latest_turns", web.get("/api/latest_turns")),
        (200, "get", "/api/me", web.get("/api/me")),
        (401, "get", "/api/me", web.send("GET", "/api/me")),
        (200, "get", "/health/ready", web.send("GET", "/health/ready")),
        (200, "get", "/health/live", web.send("GET", "/health/live")),
        (404, "post", "/api/document", web.post("document", {"name": "nope"})),
        (400, "post", "/api/turns", web.post("turns", {})),
        (415, "post", "/api/turns", web.send("POST", "/api/turns", b"x=1", **web.bearer)),
        (421, "post", "/api/turns", web.send("POST", "/api/turns", b"{}", **JSON, host="evil.example")),
        (401, "post", "/api/sign-in", web.send("POST", "/api/sign-in", b'{"token": "x"}', **JSON)),
    ]
    for status, verb, path, response in asked:
        assert response.status == status, (path, response)
        described = told["paths"][path][verb]["responses"][str(status)]
        if "$ref" in described:
            described = told["components"]["responses"][described["$ref"].rpartition("/")[2]]
        schema = described["content"]["application/json"]["schema"]
        jsonschema.Draft202012Validator({**schema, "components": told["components"]}).validate(response.json)


# ── who may ask ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_without_a_token_nothing_of_the_api_is_told(web: Web) -> None:
    paths = ["/api/status", "/api/me", "/api/openapi.json", "/api/events", "/api/nope", "/api/overview"]
    for headers in ({"accept": "*/*"}, {"authorization": "Bearer wrong-wrong-wrong-wrong"}, {"cookie": "libravdb=x"}):
        for path in paths:
            response = web.get(path, **headers)
            assert response.status == 401 and set(response.json) == {"error"}, (path, headers)
            assert response.headers["www-authenticate"] == "Bearer"


def test_a_limited_token_reaches_its_namespaces_and_nothing_else(web: Web) -> None:
    limited = {"authorization": f"Bearer {web.tokens.add('reader', frozenset({'ada'})).secret}"}
    for user in ("ada", "bob"):
        web.call("ingest_message", userId=user, sessionId="s1", text=f"said by {user}")
    assert web.post("turns", ADA, **limited).status == 200
    for method, params in (
        ("turns", {"userId": "bob", "sessionId": "s1"}),
        ("overview", {}),
        ("namespaces", {}),
        ("latest_turns", {}),
        ("gate_report", {}),
        ("job_start", {"kind": "verify"}),
        ("memory_forget", {"userId": "bob", "all": True}),
        ("erase_preview", {"userId": "bob", "all": True}),
    ):
        response = web.post(method, params, **limited)
        assert response.status == 403 and "said by bob" not in response.body.decode(), method
    me = web.get("/api/me", **limited).json
    assert me == {"name": "reader", "namespaces": ["ada"], "isOwner": False, "signedInByCookie": False}


def test_a_one_time_token_signs_a_page_in_once(web: Web) -> None:
    token = web.link()
    body = json.dumps({"token": token}).encode()
    first = web.send("POST", "/api/sign-in", body, **JSON)
    cookie = first.headers["set-cookie"]
    assert first.status == 200 and token not in first.body.decode() + cookie
    for attribute in ("HttpOnly", "SameSite=strict", "Path=/api", "Max-Age=43200"):
        assert attribute.lower() in cookie.lower()
    assert cookie.startswith(f"libravdb_{web.port}=")
    assert web.send("POST", "/api/sign-in", body, **JSON).status == 401
    for bad in (b"{}", b'{"token": 5}', b'{"token": ""}', b'{"token": "' + b"x" * 43 + b'"}'):
        assert web.send("POST", "/api/sign-in", bad, **JSON).status == 401
    page = {"cookie": f"other=1; {cookie.partition(';')[0]}; more=2"}
    assert web.get("/api/me", **page).json["signedInByCookie"] is True
    assert web.get("/api/overview", **page).status == 200


def test_a_limited_token_signs_a_page_in_that_reaches_as_far_and_no_longer_than_it(web: Web) -> None:
    for user in ("ada", "bob"):
        web.call("ingest_message", userId=user, sessionId="s1", text=f"said by {user}")
    secret = web.tokens.add("reader", frozenset({"ada"})).secret
    response = web.send("POST", "/api/sign-in", json.dumps({"token": secret}).encode(), **JSON)
    assert response.status == 200 and secret not in str(response)
    page = {"cookie": response.headers["set-cookie"].partition(";")[0], "x-libravdb": "1"}
    me = web.get("/api/me", **page).json
    assert me == {"name": "reader", "namespaces": ["ada"], "isOwner": False, "signedInByCookie": True}
    assert web.post("turns", ADA, **page).status == 200
    assert web.post("latest_turns", {"userIds": ["ada"]}, **page).json["turns"][0]["text"] == "said by ada"
    for method, params in (("turns", ADA | {"userId": "bob"}), ("latest_turns", {}), ("overview", {})):
        assert web.post(method, params, **page).status == 403
    web.tokens.remove("reader")
    assert web.post("turns", ADA, **page).status == 401


def test_a_cookie_alone_changes_nothing_and_reads_nothing_for_other_pages(web: Web) -> None:
    page = web.signed_in()
    own = {**page, "x_libravdb": "1"}
    assert web.post("ingest_message", {**ADA, "text": "mine"}, **own).status == 200
    assert web.post("ingest_message", {**ADA, "text": "mine"}, **own, origin=web.url).status == 200
    assert web.post("ingest_message", {**ADA, "text": "x"}, **page).status == 403
    assert web.post("ingest_message", {**ADA, "text": "x"}, **page, x_libravdb="0").status == 403
    for foreign in ({"origin": "http://evil.example"}, {"origin": "null"}, {"sec_fetch_site": "same-site"}):
        assert web.post("ingest_message", {**ADA, "text": "x"}, **own, **foreign).status == 403
        assert web.get("/api/turns", **page, **foreign).status == 403
        assert web.get("/api/events", **page, **foreign).status == 403
    assert web.post("sessions", {"userId": "ada"}, **own).json["sessions"][0]["turns"] == 2


def test_a_page_that_signs_out_is_out(web: Web) -> None:
    own = {**web.signed_in(), "x_libravdb": "1"}
    assert web.post("sign-out", {}, cookie=own["cookie"]).status == 403
    assert web.get("/api/me", **own).status == 200
    gone = web.post("sign-out", {}, **own)
    assert gone.status == 200 and "Max-Age=0" in gone.headers["set-cookie"]
    assert web.get("/api/me", **own).status == 401


# ── the page's files ─────────────────────────────────────────────────────────────────────────────────────────────


def test_the_files_of_the_page_are_served_with_a_strict_policy_and_a_tag(web: Web) -> None:
    names = [
        path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.suffix in (".html", ".js", ".css")
    ]
    assert "index.html" in names
    for name in ["", *names]:
        response = web.send("GET", f"/{name}")
        assert response.status == 200 and response.body == (FOLDER / (name or "index.html")).read_bytes()
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
        again = web.send("GET", f"/{name}", if_none_match=response.headers["etag"])
        assert (again.status, again.body) == (304, b"")
    for path in (
        "/../tokens.json",
        "/%2e%2e/tokens.json",
        "/..%2f..%2fweb.py",
        "/index.html/",
        "//etc/passwd",
        "/x.js",
    ):
        assert web.send("GET", path).status == 404, path
    assert web.send("POST", "/index.html", b"x").status == 405


def test_the_page_holds_no_inline_script_and_asks_nobody_else() -> None:
    for path in FOLDER.rglob("*"):
        if path.suffix == ".html":
            text = path.read_text()
            assert not re.search(r"<script(?![^>]*\bsrc=)", text) and not re.search(r"\son\w+=", text)
            assert "<style" not in text and not re.search(r"\sstyle=", text)
        if path.suffix in (".html", ".css", ".js"):
            loaded = re.findall(
                r"""(?:src|href)=["'](?:https?:)?//|@import\s+["']?https?:|url\(\s*["']?https?:""", path.read_text()
            )
            assert not loaded, path


# ── health ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_liveness_touches_nothing_and_readiness_asks_store_and_model(web: Web) -> None:
    def counted(method: str) -> int:
        latency = web.call("overview")["latency"]["methods"]
        return next((int(each["count"]) for each in latency if each["method"] == method), 0)

    assert web.send("GET", "/health/live").json == {"ok": True, "message": "ok"}
    assert counted("ready") == counted("health") == 0
    assert web.send("GET", "/health/ready").json == {"ok": True, "message": "ok"}
    assert counted("ready") == 1
    began = time.monotonic()
    for _ in range(50):
        assert web.send("GET", "/health/ready").status == 200
    assert counted("ready") <= 2 + (time.monotonic() - began) / HOLDS_S


# ── live events ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_turn_its_judgement_and_an_erasure_are_told_as_they_happen(web: Web) -> None:
    with closing(web.events()) as events:
        assert events.response.status == 200
        assert events.response.getheader("content-type", "").startswith("text/event-stream")
        assert events.response.getheader("cache-control") == "no-store"
        assert events.next()[0] == "hello"
        web.call("ingest_message", **ADA, id="t1", text="I prefer blue.\nid: 7\n\nevent: x")
        _, turn, number = events.next("turn")
        assert turn["id"] == "t1" and turn["text"] == "I prefer blue.\nid: 7\n\nevent: x" and turn["tokens"] > 0
        assert number is not None and number.isdecimal()
        if turn["gate"] is None:
            _, gate, none = events.next("gate")
            assert (gate["id"], gate["userId"], gate["sessionId"], none) == ("t1", "ada", "s1", None)
            assert 0 <= gate["score"] <= 1 and gate["signals"]
        web.call("assemble_context", **ADA, prompt="which colour?", budget=300)
        assert events.next("context")[1]["userId"] == "ada"
        assert events.next("health")[1]["turns"] == 1
        web.call("job_start", kind="verify")
        states = [events.next("job")[1]["state"]]
        while states[-1] == "running":
            states.append(events.next("job")[1]["state"])
        assert states[-1] == "done"
        web.call("memory_forget", userId="ada", id="t1")
        assert events.next("erasure")[1]["records"] >= 1


def test_one_who_comes_back_is_told_what_it_missed(web: Web) -> None:
    with closing(web.events()) as events:
        _, hello, number = events.next("hello")
        assert number == str(hello["sequence"])
        web.call("ingest_message", **ADA, id="t1", text="one")
        seen = events.next("turn")[2]
    assert seen is not None
    for turn in ("t2", "t3"):
        web.call("ingest_message", **ADA, id=turn, text=turn)
    with closing(web.events(**web.bearer, last_event_id=seen)) as events:
        assert events.next()[0] == "hello"
        assert [events.next("turn")[1]["id"] for _ in range(2)] == ["t2", "t3"]
        web.call("ingest_message", **ADA, id="t4", text="t4")
        assert events.next("turn")[1]["id"] == "t4"
    for strange in ("99999999", "-1"):
        with closing(web.events(**web.bearer, last_event_id=strange)) as events:
            assert events.next()[0] == "hello"
            if strange.isdecimal():
                assert events.next()[0] == "reset"


def test_a_limited_listener_hears_of_its_own_alone(web: Web) -> None:
    limited = {"authorization": f"Bearer {web.tokens.add('reader', frozenset({'ada'})).secret}"}
    with closing(web.events(**limited)) as of_ada, closing(web.events("/api/events?userId=bob")) as about_bob:
        for events in (of_ada, about_bob):
            assert events.next()[0] == "hello"
        for number in range(5):
            for user in ("bob", "ada"):
                web.call("ingest_message", userId=user, sessionId="s1", id=f"{user}{number}", text=f"of {user}")
        turns = [about_bob.next("turn")[1]["userId"] for _ in range(5)]
        assert set(turns) == {"bob"}
        web.call("memory_forget", userId="bob", id="bob0")  # what is erased before it is told of is not told of
        web.call("ingest_message", userId="ada", sessionId="s1", id="last", text="the last")
        heard: list[tuple[str, Any]] = []
        while not heard or heard[-1][1].get("id") != "last":
            name, data, _ = of_ada.next()
            heard.append((name, data))
        assert "bob" not in json.dumps(heard)
        assert {name for name, _ in heard} <= {"turn", "gate", "context", "summary", "documents"}


def test_sixty_four_may_listen_and_cost_little_and_the_daemon_stops_in_good_time(web: Web) -> None:
    before = web.daemon.resident_bytes()
    listening = [web.events() for _ in range(64)]
    try:
        for events in listening:
            assert events.next()[0] == "hello"
        assert web.get("/api/events").status == 503
        web.call("ingest_message", **ADA, id="t1", text="heard by all")
        for events in listening:
            assert events.next("turn")[1]["id"] == "t1"
        assert web.daemon.resident_bytes() - before < 40 << 20
        assert web.daemon.stop() == 0
        assert all(events.next("no such event") == ("", None, None) for events in listening)
    finally:
        for events in listening:
            events.close()
    assert not [line for line in web.daemon.log.splitlines() if json.loads(line)["level"] == "error"], web.daemon.log
