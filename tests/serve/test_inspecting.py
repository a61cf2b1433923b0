"""What the inspector's views are made of: pages that agree with the store, and nothing of others."""

from __future__ import annotations

import math
import threading
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import is_done_within
from tests.serve.conftest import Call

from libravdb_memory.errors import ConflictError, NotFoundError
from libravdb_memory.retrieve.rank import Evidence, score
from libravdb_memory.serve.access import Access
from libravdb_memory.serve.inspecting.overview import quantile
from libravdb_memory.serve.inspecting.prompts import absent
from libravdb_memory.serve.inspecting.ranked import bar_of
from libravdb_memory.serve.jobs import Job, Jobs
from libravdb_memory.serve.metrics import BOUNDS_S
from libravdb_memory.serve.service import Service
from libravdb_memory.serve.signing import ONCE_S, SIGNED_IN_S, SignIns
from libravdb_memory.usage import USE

DENIED, INVALID, MISSING = -32005, -32602, -32001
OF_ADA = Access("reader", frozenset({"ada"}))


def talk(call: Call, user: str = "ada", session: str = "s1", count: int = 12) -> list[str]:
    """Turns of both sides; their ids."""
    return [
        call(
            "ingest_message",
            userId=user,
            sessionId=session,
            id=f"{session}-{number:03}",
            role="assistant" if number % 2 else "user",
            ts=1_700_000_000_000 + number,
            text=f"Note {number} of {user}: I prefer to deploy release {number} of the importer on a Thursday.",
        )["id"]
        for number in range(count)
    ]


def all_pages(call: Call, method: str, of: str, **params: Any) -> list[Any]:
    found: list[Any] = []
    after = None
    while True:
        page = call(method, **params, **({} if after is None else {"after": after}))
        found += page[of]
        if (after := page["cursor"]) is None:
            return found
        assert page[of], "a page that is not the last holds something"


# ── lists ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_turns_are_paged_in_both_directions_and_from_any_turn(service: Service, call: Call) -> None:
    ids = talk(call)
    talk(call, session="other", count=3)
    assert service.memory.wait(30)
    where = {"userId": "ada", "sessionId": "s1"}
    for limit in (1, 5, 100):
        newest = all_pages(call, "turns", "turns", **where, limit=limit)
        oldest = all_pages(call, "turns", "turns", **where, limit=limit, order="oldest")
        assert [turn["id"] for turn in oldest] == ids and newest == oldest[::-1]
    begun = call("turns", **where, limit=2, **{"from": ids[5]})["turns"]
    assert [turn["id"] for turn in begun] == [ids[5], ids[4]]
    begun = call("turns", **where, limit=2, order="oldest", **{"from": ids[5]})["turns"]
    assert [turn["id"] for turn in begun] == [ids[5], ids[6]]


def test_a_turn_is_listed_with_what_the_gate_made_of_it_and_a_cut_text(service: Service, call: Call) -> None:
    talk(call, count=2)
    call("ingest_message", userId="ada", sessionId="s1", id="long", role="assistant", text="x" * 900)
    call(
        "ingest_message",
        userId="ada",
        sessionId="s1",
        id="secret",
        text="my token is ghp_16C7e42F292c6912E7710c838347Ae178B4a ok",
    )
    assert service.memory.wait(30)
    turns = {turn["id"]: turn for turn in call("turns", userId="ada", sessionId="s1", textLimit=100)["turns"]}
    judged, answered, long = turns["s1-000"], turns["s1-001"], turns["long"]
    assert 0 <= judged["gate"]["score"] <= 1 and set(judged["gate"]["signals"]) >= {"t", "h", "r", "gconv", "gtech"}
    assert judged["gate"]["durable"] == (judged["gate"]["score"] >= service.config.gating.threshold)
    assert answered["gate"] is None and answered["coveredBy"] is None
    assert (len(long["text"]), long["length"], long["truncated"], long["tokens"]) == (100, 900, True, 225)
    assert not judged["truncated"] and turns["secret"]["masked"]
    for bad in ({"limit": 0}, {"limit": 501}, {"textLimit": -1}, {"textLimit": 10**6}):
        with pytest.raises(AssertionError, match=str(INVALID)):
            call("turns", userId="ada", sessionId="s1", **bad)


def test_sessions_are_listed_the_last_spoken_in_first(call: Call) -> None:
    for session, count in (("one", 3), ("two", 5), ("Three", 2)):
        talk(call, session=session, count=count)
    call("ingest_message", userId="ada", sessionId="one", text="abcde")
    talk(call, user="bob", session="his")
    for limit in (1, 2, 10):
        found = all_pages(call, "sessions", "sessions", userId="ada", limit=limit)
        assert [(each["sessionId"], each["turns"]) for each in found] == [("one", 4), ("Three", 2), ("two", 5)]
    assert found[0]["tokens"] > found[0]["turns"] and found[1]["firstTs"] < found[1]["lastTs"]
    assert [each["sessionId"] for each in call("sessions", userId="ada", contains="T")["sessions"]] == ["Three", "two"]
    assert call("sessions", userId="nobody") == {"userId": "nobody", "sessions": [], "total": 0, "cursor": None}


def test_namespaces_are_listed_and_a_limited_token_names_its_own(call: Call, ask: Call) -> None:
    for user, count in (("ada", 3), ("bob", 2), ("Barbara", 1)):
        talk(call, user=user, count=count)
        talk(call, user=user, session="s2", count=1)
    for limit in (1, 2, 10):
        found = all_pages(call, "namespaces", "namespaces", limit=limit)
        assert [(each["userId"], each["turns"], each["sessions"]) for each in found] == [
            ("Barbara", 2, 2),
            ("bob", 3, 2),
            ("ada", 4, 2),
        ]
    assert [each["userId"] for each in call("namespaces", contains="b")["namespaces"]] == ["Barbara", "bob"]
    assert call("namespaces", OF_ADA, userIds=["ada"])["total"] == 1
    for params in ({}, {"userIds": ["bob"]}, {"userIds": ["ada", "bob"]}, {"userIds": [""]}):
        assert ask("namespaces", params, OF_ADA)["error"]["code"] == DENIED


def test_the_latest_turns_are_those_of_all_sessions_in_order_of_arrival(call: Call, ask: Call) -> None:
    talk(call, count=3)
    talk(call, user="bob", session="his", count=2)
    call("ingest_message", userId="ada", sessionId="s1", id="last", text="at last")
    ids = [turn["id"] for turn in call("latest_turns", limit=4)["turns"]]
    assert ids == ["last", "his-001", "his-000", "s1-002"]
    assert [turn["id"] for turn in call("latest_turns", OF_ADA, userId="ada", limit=2)["turns"]] == ["last", "s1-002"]
    assert ask("latest_turns", {}, OF_ADA)["error"]["code"] == DENIED


# ── the graph ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_latest_turns_of_some_users_are_theirs_alone_newest_first(call: Call, ask: Call) -> None:
    for number in range(9):
        user = "abc"[number % 3]
        call(
            "ingest_message", userId=user, sessionId="s", id=f"{user}{number}", ts=1000 + number, text=f"Note {number}"
        )
    told = call("latest_turns", userIds=["a", "b"], limit=5)["turns"]
    assert [turn["id"] for turn in told] == ["b7", "a6", "b4", "a3", "b1"]
    of_a = Access("reader", frozenset({"a"}))
    assert {turn["userId"] for turn in call("latest_turns", of_a, userIds=["a"])["turns"]} == {"a"}
    assert ask("latest_turns", {"userIds": ["a", "b"]}, of_a)["error"]["code"] == DENIED
    assert ask("latest_turns", {"userIds": ["a"], "userId": "b"}, of_a)["error"]["code"] == DENIED
    assert ask("latest_turns", {"userIds": [f"u{number}" for number in range(51)]})["error"]["code"] == INVALID


def test_the_latest_turns_are_found_below_many_changes_of_other_kinds(call: Call) -> None:
    talk(call, count=4)
    for _ in range(30):
        call("assemble_context", userId="ada", sessionId="s1", prompt="deploy?", budget=300)
    assert [turn["id"] for turn in call("latest_turns", limit=4)["turns"]] == [f"s1-{n:03}" for n in (3, 2, 1, 0)]
    assert len(call("latest_turns", limit=500)["turns"]) == 4


def test_the_graph_of_a_session_names_every_summary_its_children_and_its_parent(service: Service, call: Call) -> None:
    ids = talk(call, count=90)
    assert service.memory.wait(60)
    while call("memory_compact", userId="ada", sessionId="s1")["turns"]:
        pass
    where = {"userId": "ada", "sessionId": "s1"}
    whole = call("session_graph", **where)
    nodes = {node["id"]: node for node in whole["nodes"]}
    assert nodes and whole["turns"] == 90
    covered = {child for node in nodes.values() if node["level"] == 1 for child in node["children"]}
    listed = all_pages(call, "turns", "turns", **where, limit=50)
    assert {turn["id"] for turn in listed if turn["coveredBy"]} == covered
    for turn in listed:
        assert turn["coveredBy"] is None or turn["id"] in nodes[turn["coveredBy"]]["children"]
    for node in nodes.values():
        above = [other["id"] for other in nodes.values() if node["id"] in other["children"]]
        assert ([node["parent"]] if node["parent"] else []) == above
        assert node["certificate"]["share"] <= 1 and len(node["preview"]) <= 280
    assert whole["boundary"]["turn"] == max(covered)
    assert whole["tail"]["firstTurn"] == ids[-whole["tail"]["count"]] and whole["tail"]["firstTurn"] > max(covered)
    for limit in (1, 3):
        assert all_pages(call, "session_graph", "nodes", **where, limit=limit) == whole["nodes"]


# ── prompts ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def receipt(service: Service, call: Call) -> str:
    service.memory.load_document(
        "AGENTS.md", "- Never push to main.\n- Always run the tests.\n\n> You should be kind.\n"
    )
    talk(call, count=30)
    call("ingest_message", userId="ada", sessionId="s1", text='<b>&"quoted"</b></entry> is a text of the importer')
    assert service.memory.wait(30)
    prompt = "when do I deploy the importer?"
    return str(call("assemble_context", userId="ada", sessionId="s1", prompt=prompt, budget=700)["receiptId"])


def test_a_view_of_a_receipt_names_every_item_and_its_place_in_the_text(call: Call, receipt: str) -> None:
    view = call("receipt_view", receiptId=receipt)
    why = call("why", receiptId=receipt)
    assert view["text"] == why["text"] and view["identical"] and view["entered"] == view["left"] == []
    assert [item["id"] for item in view["items"]] == [item["id"] for item in why["items"]]
    assert {item["tier"] for item in view["items"]} >= {"hard", "soft", "tail", "recalled"}
    places = sorted((item["start"], item["end"]) for item in view["items"])
    assert all(end <= start for (_, end), (start, _) in pairwise(places))
    for item in view["items"]:
        shown = view["text"][item["start"] : item["end"]]
        assert shown == item["text"] if item["tier"] in ("hard", "soft") else shown.startswith("<entry")
        assert item["text"].split()[0].split("<")[0] in shown
    assert all(each["text"] for each in view["rejections"])


def test_another_budget_says_what_enters_and_what_leaves(call: Call, receipt: str) -> None:
    def places(items: list[Any]) -> set[tuple[str, ...]]:
        return {(item["tier"], item["sessionId"], item["id"]) for item in items}

    before = call("receipt_view", receiptId=receipt)
    for budget in (0, 90, 300, 699, 700, 701, 1500, 20_000):
        view = call("receipt_view", receiptId=receipt, budget=budget)
        assert (view["budget"], view["originalBudget"]) == (budget, 700)
        assert view["tokens"] <= budget or view["degraded"]
        now, then = places(view["items"]), places(before["items"])
        assert (places(view["entered"]), places(view["left"])) == (now - then, then - now)
    assert not call("receipt_view", receiptId=receipt, budget=700)["left"]
    assert call("receipt_view", receiptId=receipt, budget=300)["left"]
    assert call("receipt_view", receiptId=receipt, budget=20_000)["entered"]
    with pytest.raises(AssertionError, match=str(INVALID)):
        call("receipt_view", receiptId=receipt, budget=-1)


def test_two_receipts_are_compared_item_by_item(call: Call, ask: Call, receipt: str) -> None:
    other = call("assemble_context", userId="ada", sessionId="s1", prompt="what about release 3?", budget=300)[
        "receiptId"
    ]
    told = call("compare_receipts", left=receipt, right=other)
    views = [call("receipt_view", receiptId=name) for name in (receipt, other)]
    ids = [{(item["tier"], item["id"]) for item in view["items"]} for view in views]
    assert {(item["tier"], item["id"]) for item in told["both"]} == ids[0] & ids[1]
    assert {(item["tier"], item["id"]) for item in told["onlyLeft"]} == ids[0] - ids[1]
    assert {(item["tier"], item["id"]) for item in told["onlyRight"]} == ids[1] - ids[0]
    assert "items" not in told["left"] and told["left"]["tokens"] == views[0]["tokens"]
    talk(call, user="bob", session="his", count=2)
    his = call("assemble_context", userId="bob", prompt="release?", budget=300)["receiptId"]
    for left, right in ((receipt, his), (his, receipt), (his, his), (receipt, "nope")):
        assert ask("compare_receipts", {"left": left, "right": right}, OF_ADA)["error"]["code"] == DENIED
    assert call("compare_receipts", OF_ADA, left=receipt, right=other)["both"]


# ── search ───────────────────────────────────────────────────────────────────────────────────────────────────────

unit = st.floats(0, 1)


@given(st.lists(st.floats(-1, 1), min_size=4, max_size=4), unit, unit, st.integers(0, 9), st.floats(0, 1e9))
def test_the_parts_of_a_bar_add_up_to_the_score(
    evidence: list[float], authority: float, decay: float, uses: int, age_s: float
) -> None:
    parts = dict(zip(("dense", "lexical", "around", "fit"), evidence, strict=True))
    ranked = score(Evidence(sum(evidence), age_s=age_s, uses=uses, most_uses=9, authority=authority, decay_rate=decay))
    bar = bar_of(ranked.score, {**parts, **ranked.parts})
    assert math.isclose(sum(bar.values()), ranked.score, abs_tol=1e-9)
    assert bar["recency"] >= 0 and bar["authority"] >= -1e-12


def test_a_search_tells_the_addends_of_each_score(service: Service, call: Call) -> None:
    talk(call)
    assert service.memory.wait(30)
    told = call("search_explained", userId="ada", query="when is release 3 deployed?", k=5)
    assert service.memory.wait(30)
    assert service.store.count_marks(None, USE) == 0
    plain = call("memory_search", userId="ada", query="when is release 3 deployed?", k=5)
    assert [hit["id"] for hit in told["results"]] == [hit["id"] for hit in plain["results"]]
    for hit in told["results"]:
        assert math.isclose(sum(hit["bar"].values()), hit["score"], abs_tol=1e-9)
    assert {hit["role"] for hit in call("search_explained", userId="ada", query="release", role="user")["results"]} == {
        "user"
    }
    assert bar_of(None, {}) == bar_of(0.5, {"weight": 1.0}) == {}


def test_the_pages_of_a_search_are_one_ranking_without_gaps_or_repetitions(
    service: Service, call: Call, ask: Call
) -> None:
    talk(call, count=30)
    assert service.memory.wait(30)
    asked = {"userId": "ada", "query": "which release of the importer?"}
    whole = call("search_explained", **asked, k=200)
    assert whole["total"] == len(whole["results"]) == 30 and whole["cursor"] is None
    paged = all_pages(call, "search_explained", "results", **asked, k=7)
    assert [hit["id"] for hit in paged] == [hit["id"] for hit in whole["results"]]
    assert [hit["score"] for hit in paged] == pytest.approx([hit["score"] for hit in whole["results"]], abs=1e-3)
    assert call("search_explained", **asked, after="30") | {"tookMs": 0} == {
        "results": [],
        "total": 30,
        "cursor": None,
        "degraded": whole["degraded"],
        "tookMs": 0,
    }
    for wrong in ({"after": "-1"}, {"after": "x"}, {"after": "²"}, {"k": 0}, {"k": 201}):
        assert ask("search_explained", asked | wrong)["error"]["code"] == INVALID


# ── rules and the gate ───────────────────────────────────────────────────────────────────────────────────────────


def test_documents_are_shown_block_by_block_with_what_contradicts(service: Service, call: Call) -> None:
    service.memory.load_document("a.md", "# Rules\n\n- You must push to main.\n- Always run the tests.\n\nSome lore.\n")
    service.memory.load_document("b.md", "- Never push to main.\n")
    listed = call("documents")
    assert [(each["name"], each["contradictions"]) for each in listed["documents"]] == [("a.md", 1), ("b.md", 1)]
    one = call("document", name="a.md")
    assert [block["tier"] for block in one["blocks"]] == ["lore", "hard", "hard", "lore"]
    assert [block["contradicts"] for block in one["blocks"]] == [False, True, False, False]
    assert one["text"].startswith("# Rules") and one["blocks"][1]["marks"][0]["modality"] == "obligatory"
    hard = sum(block["tokens"] for block in one["blocks"] if block["tier"] == "hard")
    assert listed["documents"][0]["tokens"]["hard"] == hard
    assert listed["budget"]["hardUsed"] == sum(each["tokens"]["hard"] for each in listed["documents"])
    with pytest.raises(AssertionError, match=str(MISSING)):
        call("document", name="c.md")


def test_the_report_of_the_gate_counts_every_judged_turn_once(service: Service, call: Call, ask: Call) -> None:
    talk(call, count=20)
    talk(call, user="bob", count=4)
    assert service.memory.wait(30)
    call("memory_search", userId="ada", query="when is release 4 deployed?", k=3)
    assert service.memory.wait(30)
    for params, judged in (({}, 12), ({"userId": "ada"}, 10), ({"userId": "bob"}, 2), ({"userId": "nobody"}, 0)):
        told = call("gate_report", **params)
        assert told["judged"] == told["window"] == sum(each["count"] for each in told["bins"]) == judged
        assert told["durable"] == sum(each["durable"] for each in told["bins"]) == told["regret"]["kept"]
        assert told["regret"]["refused"] == judged - told["durable"]
        assert (told["calibration"] is None) == (judged == 0)
        for each in told["bins"]:
            assert (
                each["to"] <= told["threshold"] or each["from"] < told["threshold"] or each["durable"] == each["count"]
            )
    ada = call("gate_report", userId="ada")
    wanted = sum(each["wanted"] for each in ada["bins"])
    assert wanted and wanted == ada["regret"]["regretted"] + ada["regret"]["used"]
    assert call("gate_report", userId="ada", window=3)["window"] == 3
    assert ask("gate_report", {}, OF_ADA)["error"]["code"] == DENIED


def test_a_text_is_judged_without_being_stored(service: Service, call: Call) -> None:
    before = service.store.status().sequence
    told = call("gate_explain", userId="ada", text="I always prefer pytest; fix the bug in src/app.py line 42")
    assert told["durable"] == (told["score"] >= told["threshold"]) and told["fired"]
    assert all(told["heard"][start:end] for each in told["fired"] for start, end in each["spans"])
    assert service.store.status().sequence == before


# ── erasing ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("what", [{"id": "s1-003"}, {"sessionId": "s1"}, {"all": True}])
def test_a_preview_counts_what_then_goes(service: Service, call: Call, ask: Call, what: dict[str, Any]) -> None:
    talk(call, count=60)
    talk(call, session="s2", count=2)
    talk(call, user="bob", count=3)
    assert service.memory.wait(60)
    call("memory_compact", userId="ada", sessionId="s1")
    call("assemble_context", userId="ada", sessionId="s1", prompt="where is note 3 of ada?", budget=4000)
    call("assemble_context", userId="bob", prompt="release?", budget=400)
    call("receipts", userId="ada")  # those that wait are written down
    before = {info.name: info.count for info in service.store.collections()}
    told = call("erase_preview", userId="ada", **what)
    assert {info.name: info.count for info in service.store.collections()} == before, "a preview changes nothing"
    assert told["turns"] and told["sample"] and told["summaries"]
    call("memory_forget", userId="ada", **what)
    after = {info.name: info.count for info in service.store.collections()}
    gone = {name: before[name] - after.get(name, 0) for name in before}
    assert told["turns"] == gone["history:ada"] and told["summaries"] == gone["summary:ada"]
    assert told["rules"] == gone.get("elevated:user:ada", 0)
    assert told["receipts"] == gone["receipt:ada"] if told["receiptsExact"] else told["receipts"] <= gone["receipt:ada"]
    assert gone["history:bob"] == gone["receipt:bob"] == 0
    assert ask("erase_preview", {"userId": "ada", **what} if "id" not in what else {"userId": "ada", "id": "s1-003"})[
        "error"
    ]["code"] == (MISSING)


@pytest.mark.parametrize("what", [{"id": "rule", "sessionId": "s1"}, {"sessionId": "s1"}])
def test_a_preview_counts_a_rule_of_another_turn_that_goes_with_it(
    service: Service, call: Call, what: dict[str, Any]
) -> None:
    said = {"s1": "Always use tabs in the parser.", "s2": "Forget the tabs in the parser, spaces are fine."}
    for session, text in said.items():
        call("ingest_message", userId="ada", sessionId=session, id="rule", text=text)
        talk(call, session=session, count=90)
        call("memory_compact", userId="ada", sessionId=session)
    assert [rule["text"] for rule in call("memory_guidance", userId="ada")["rules"]] == list(said.values())
    told = call("erase_preview", userId="ada", **what)
    call("memory_forget", userId="ada", **what)
    assert told["rules"] == 2 and call("memory_guidance", userId="ada")["rules"] == []
    assert call("memory_get", userId="ada", sessionId="s2", id="rule")["turn"]["text"] == said["s2"]


def test_a_preview_takes_what_forgetting_takes(ask: Call) -> None:
    for bad in ({}, {"all": True, "id": "t1"}, {"all": True, "sessionId": "s1"}):
        assert ask("erase_preview", {"userId": "ada", **bad})["error"]["code"] == INVALID
    for nothing in ({"id": "t1"}, {"sessionId": "s1"}, {"all": True}):
        assert ask("erase_preview", {"userId": "ada", **nothing})["error"]["code"] == MISSING


# ── how it is doing ──────────────────────────────────────────────────────────────────────────────────────────────


def test_the_overview_agrees_with_the_status(service: Service, call: Call) -> None:
    talk(call)
    assert service.memory.wait(30)
    told, status = call("overview"), call("status")
    for name in ("namespaces", "turns", "summaries"):
        assert told["counts"][name] == status[name]
    assert told["gate"]["judged"] == status["gate"]["judged"] == 6
    ingested = next(each for each in told["latency"]["methods"] if each["method"] == "ingest_message")
    assert ingested["count"] == sum(ingested["buckets"]) == 12
    assert len(ingested["buckets"]) == len(told["latency"]["boundsS"]) + 1
    assert call("ready")["ok"] is True


@given(st.lists(st.integers(0, 5), min_size=len(BOUNDS_S) + 1, max_size=len(BOUNDS_S) + 1), unit)
def test_a_quantile_is_the_bound_of_its_bucket(buckets: list[int], share: float) -> None:
    calls = [bound for bound, count in zip((*BOUNDS_S, math.inf), buckets, strict=True) for _ in range(count)]
    told = quantile(tuple(buckets), share)
    if not calls:
        assert told is None
        return
    place = max(math.ceil(share * len(calls) - 1e-9), 1)
    expected = calls[place - 1]
    assert told == (None if expected == math.inf else expected)


# ── jobs ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def ended(jobs: Jobs, job_id: str) -> Job:
    for _ in range(3000):
        if (job := jobs.get(job_id)).state != "running":
            return job
        threading.Event().wait(0.01)
    raise AssertionError("it does not end")


def test_a_verification_and_a_backup_are_jobs_with_an_outcome(service: Service, call: Call, ask: Call) -> None:
    talk(call)
    for kind in ("verify", "backup"):
        begun = call("job_start", kind=kind)["job"]
        assert begun["kind"] == kind
        ended(service.jobs, begun["id"])
        told = call("job", jobId=begun["id"])["job"]
        assert told["state"] == "done" and told["result"]["ok"] is True and told["endedMs"] >= told["startedMs"]
    assert [job["kind"] for job in call("jobs")["jobs"]] == ["backup", "verify"]
    assert len(list((service.config.home / "backups").iterdir())) == 1
    assert ask("job_start", {"kind": "backup", "name": "../x"})["error"]["code"] == INVALID
    assert ask("job_start", {"kind": "verify"}, OF_ADA)["error"]["code"] == DENIED
    assert ask("job", {"jobId": "nope"})["error"]["code"] == MISSING


def test_of_a_kind_one_job_runs_at_a_time_and_what_goes_wrong_is_its_outcome() -> None:
    jobs, go = Jobs(), threading.Event()

    def work(progress: Any) -> dict[str, Any]:
        progress(1, 2)
        go.wait(30)
        raise NotFoundError("x", "it is not there")

    first = jobs.start("verify", work, lambda: False)
    with pytest.raises(ConflictError):
        jobs.start("verify", work, lambda: False)
    other = jobs.start("backup", lambda _: {}, lambda: False)
    assert ended(jobs, other.id).state == "done"
    go.set()
    failed = ended(jobs, first.id)
    assert (failed.state, failed.error, failed.done, failed.total) == ("failed", "it is not there", 1, 2)
    ids = [jobs.start(f"kind {number}", lambda _: {}, lambda: False).id for number in range(40)]
    for job_id in ids[-5:]:
        ended(jobs, job_id)
    assert len(jobs.all()) <= 40 and jobs.all()[0].id == ids[-1]


def test_a_job_ends_soon_after_the_daemon_is_told_to_stop() -> None:
    jobs, stopping = Jobs(), threading.Event()

    def work(progress: Any) -> dict[str, Any]:
        while True:
            progress(0, 0)
            stopping.set()

    job = ended(jobs, jobs.start("verify", work, stopping.is_set).id)
    assert job.state == "failed" and "stop" in (job.error or "")


# ── signing in ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_one_time_token_works_once_and_for_a_minute() -> None:
    now = [0.0]
    sign_ins = SignIns(lambda: now[0])
    token = sign_ins.make_token()
    assert sign_ins.redeem("nope") is None
    cookie = sign_ins.redeem(token)
    assert cookie is not None and sign_ins.knows(cookie) and not sign_ins.knows(token)
    assert sign_ins.redeem(token) is None
    late = sign_ins.make_token()
    now[0] += ONCE_S + 1
    assert sign_ins.redeem(late) is None
    now[0] = SIGNED_IN_S + 1
    assert not sign_ins.knows(cookie)


def test_who_signs_out_is_known_no_more_and_old_ones_leave() -> None:
    sign_ins = SignIns()
    first = sign_ins.redeem(sign_ins.make_token())
    second = sign_ins.redeem(sign_ins.make_token())
    assert first and second
    sign_ins.sign_out(second)
    assert sign_ins.knows(first) and not sign_ins.knows(second)
    for _ in range(64):
        sign_ins.redeem(sign_ins.make_token())
    assert not sign_ins.knows(first)


def test_who_signs_in_often_by_one_token_sends_nobody_else_out() -> None:
    sign_ins = SignIns()
    owner, other = sign_ins.redeem(sign_ins.make_token()), sign_ins.admit("another token")
    assert owner and sign_ins.signed_in_by(owner) == ""
    pages = [sign_ins.admit("one token") for _ in range(100)]
    assert sign_ins.knows(owner) and sign_ins.knows(other)
    assert [sign_ins.knows(page) for page in pages] == [False] * 92 + [True] * 8
    assert sign_ins.signed_in_by(pages[-1]) not in (None, "", sign_ins.signed_in_by(other))


def test_a_link_is_for_the_owner_of_a_daemon_that_serves_pages(ask: Call) -> None:
    assert "serve.http" in ask("ui_link")["error"]["message"]
    assert ask("ui_link", {}, Access("full"))["error"]["code"] == DENIED


def test_what_enters_and_leaves_prompts_of_thousands_is_found_at_once() -> None:
    places = [("recalled", "s1", f"t{number}") for number in range(40_000)]

    def found() -> None:
        assert absent(places, places[:-1]) == places[-1:]
        assert absent(reversed(places), places[20_000:]) == places[:20_000][::-1]

    assert is_done_within(1.0, found)  # each among each would take minutes
