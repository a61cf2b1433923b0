"""search_text, search_text_collections, query_raw_session, list_collection, list_by_meta."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.serve.reference.conftest import Call

from libravdb_memory.serve.reference.searching import _as_text
from libravdb_memory.serve.service import Service

TEXTS = {"a": "the deploy key is in the vault", "b": "lunch is at noon", "c": "the vault is in the cellar"}


def fill(call: Call, collection: str = "global", **more: str) -> None:
    for name, text in {**TEXTS, **more}.items():
        call("insert_text", collection=collection, id=name, text=text)


def ids(answer: dict[str, list[dict[str, str]]]) -> list[str]:
    return [result["id"] for result in answer["results"]]


def test_what_was_just_stored_is_found_at_once_by_the_cosine(call: Call, service: Service) -> None:
    fill(call)
    at_once = call("search_text", collection="global", text="the deploy key is in the vault", k=1)["results"]
    assert service.memory.wait(30)
    later = call("search_text", collection="global", text="the deploy key is in the vault", k=1)["results"]
    assert at_once[0]["id"] == later[0]["id"] == "a"
    assert abs(later[0]["score"] - 1.0) < 1e-4
    assert abs(at_once[0]["score"] - later[0]["score"]) < 1e-4
    assert later[0]["metadata"]["collection"] == "global"
    assert later[0]["metadata"]["text"] == later[0]["text"]


def test_without_a_limit_all_are_found_best_first(call: Call) -> None:
    fill(call)
    for k in ({}, {"k": 0}, {"k": -1}):
        found = call("search_text", collection="global", text="where is the vault?", **k)["results"]
        assert {result["id"] for result in found} == {"a", "b", "c"}
        scores = [result["score"] for result in found]
        assert scores == sorted(scores, reverse=True)
        assert all(-1.0 <= score <= 1.0 for score in scores)


def test_excluded_ids_do_not_take_the_place_of_others(call: Call) -> None:
    fill(call)
    assert ids(call("search_text", collection="global", text="vault", k=1, excludeIds=["a"])) == ["c"]
    assert ids(call("search_text", collection="global", text="vault", k=2, excludeIds=["a", "x", "c"])) == ["b"]


def test_nothing_is_found_by_a_blank_text(call: Call) -> None:
    fill(call)
    assert call("search_text", collection="global", text="  ", k=3) == {"results": []}


def test_several_collections_are_merged_by_score_collection_and_id(call: Call) -> None:
    fill(call, "two")
    fill(call, "one", z=TEXTS["a"])
    found = call("search_text_collections", collections=["two", "one", "two"], text=TEXTS["a"], k=4)["results"]
    places = [(result["metadata"]["collection"], result["id"]) for result in found]
    assert places[:3] == [("one", "a"), ("one", "z"), ("two", "a")]
    assert len(places) == 4
    without = call(
        "search_text_collections",
        collections=["two", "one"],
        text=TEXTS["a"],
        k=1,
        excludeByCollection={"one": ["a", "z"]},
    )
    assert [result["metadata"]["collection"] for result in without["results"]] == ["two"]


def test_several_collections_need_a_limit(call: Call) -> None:
    fill(call)
    for k in ({}, {"k": 0}, {"k": -3}):
        assert call("search_text_collections", collections=["global"], text="vault", **k) == {"results": []}


def test_a_session_is_searched_in_its_raw_history(call: Call, speak: Call) -> None:
    speak("the deploy key is in the vault")
    speak("lunch is at noon", number=1)
    speak("the vault of another session", session="s2")
    found = call("query_raw_session", sessionId="s1", text="the vault", k=5)["results"]
    assert [result["id"] for result in found] == ["s1:after-turn:0", "s1:after-turn:1"]
    assert found[0]["metadata"]["collection"] == "session_raw:s1"
    assert found[0]["metadata"]["raw_history"] is True
    assert ids(call("query_raw_session", sessionId="s1", text="the vault", k=5, excludeIds=["s1:after-turn:0"])) == [
        "s1:after-turn:1"
    ]


def test_a_collection_is_listed_by_id(call: Call) -> None:
    for name in ("10", "9", "b", "a"):
        call("insert_text", collection="global", id=name, text=f"text {name}")
    assert ids(call("list_collection", collection="global")) == ["10", "9", "a", "b"]


def test_records_are_listed_by_a_value_of_their_metadata(call: Call, speak: Call) -> None:
    speak("one", tag="x", flag=True, count=3)
    speak("two", number=1, tag="y")
    for key, value in {"tag": "x", "flag": "true", "count": "3", "text": "one"}.items():
        assert ids(call("list_by_meta", collection="session:s1", key=key, value=value)) == ["s1:after-turn:0"]
    assert len(ids(call("list_by_meta", collection="session:s1", key="sessionId", value="s1"))) == 2
    assert ids(call("list_by_meta", collection="session:s1", key="tag", value="z")) == []


@given(st.one_of(st.integers(), st.floats(allow_nan=False), st.text(), st.booleans(), st.none()))
def test_a_value_of_metadata_has_one_text(value: object) -> None:
    text = _as_text(value)  # type: ignore[arg-type]
    assert (text is None) == (value is None)
    assert text == _as_text(value)  # type: ignore[arg-type]
