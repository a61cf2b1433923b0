"""What is told of an endpoint's answer that is an error: its own words, and nothing of what it was sent."""

from __future__ import annotations

import http.client
import json
import traceback
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.chat_endpoint import Answer, Endpoint, Handler, raw, serving, status

from libravdb_memory.compact.views import View
from libravdb_memory.engines.http_json import JsonClient, RequestFailed
from libravdb_memory.engines.openai_compatible import OpenAICompatibleEmbedder
from libravdb_memory.engines.profiles import Profile
from libravdb_memory.engines.refusals import MOST_SHOWN, Sent, words_of
from libravdb_memory.engines.summarising.chat import ChatSummariser, Patience
from libravdb_memory.engines.summarising.protocol import SummaryRequest, never
from libravdb_memory.errors import EngineError

TURN = "My therapist Quillfeather said: the divorce »Café« is hard, call +49 170 1234567.\nPIN 4711\nBen: I drink"
KEY = "sk-proj-Ab12Cd34Ef56Gh78"
MODEL = "llama3.1:8b-instruct-q4_K_M"
SENT = Sent({"model": MODEL, "messages": [{"role": "user", "content": f"The turns:\nuser: {TURN}\n"}]}, KEY)
REPEATS = "; its answer repeats what was sent"


def told(body: object, kind: str = "application/json") -> str:
    answer = body if isinstance(body, bytes) else json.dumps(body).encode()
    return words_of(answer, kind, SENT)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": f"model '{MODEL}' not found", "code": 404}}, f"model '{MODEL}' not found"),
        ({"error": f"model '{MODEL}' not found, try to pull it"}, f"model '{MODEL}' not found, try to pull it"),
        ({"object": "error", "message": "CUDA out of memory"}, "CUDA out of memory"),
        ({"detail": "Not Found"}, "Not Found"),
        ({"error": {"message": "context of 2048 tokens exceeded"}, "input": TURN}, "context of 2048 tokens exceeded"),
        ({"error": "roles must alternate user/assistant"}, "roles must alternate user/assistant"),
        (b"out of memory", "out of memory"),
        (b"\n upstream\ttimed\r\n out \n", "upstream timed out"),
        ({"error": f"wrong key {KEY}."}, "wrong key …."),
        ({"error": "Incorrect API key: sk-proj-************Gh78"}, "Incorrect API key: sk-proj-************Gh78"),
    ],
)
def test_the_words_of_an_error_are_told(body: object, words: str) -> None:
    assert told(body) == f": {words}"


@pytest.mark.parametrize(
    ("body", "size_and_kind"),
    [
        ({"detail": [{"type": "string_type", "input": TURN}]}, "bytes of application/json"),
        ({"error": {"message": ["bad", TURN]}}, "bytes of application/json"),
        ({"input": TURN}, "bytes of application/json"),
        ([{"error": "many"}], "19 bytes"),
        ({"error": " "}, "14 bytes"),
        (b'{"detail": "cut', "15 bytes"),
        (b'{"detail": "a"}\x1b[31mRED', "23 bytes"),
        (b"[" * 60_000, "60,000 bytes"),
        (b"<html><b>Bad gateway</b></html>", "31 bytes"),
        (b"Sorry <b>so</b> much", "20 bytes"),
        (b"\xff\xfe\x00", "3 bytes"),
        (b"word " * 41, "205 bytes"),
        (json.dumps({"error": "many", "more": "x" * 70_000}).encode(), "70,029 bytes"),
    ],
)
def test_of_anything_else_only_the_size_and_the_kind_are_told(body: object, size_and_kind: str) -> None:
    words = told(body)
    assert words.startswith("; its answer is not shown (") and size_and_kind in words


def test_an_empty_answer_needs_no_words() -> None:
    assert told(b"") == told(b" \n") == ""


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("Text/HTML; charset=utf-8", "text/html"),
        ("", "another kind"),
        ("text/my-therapist-quillfeather-said", "another kind"),
        ("My therapist", "another kind"),
        ("text/\x1b[31m", "another kind"),
    ],
)
def test_a_kind_is_told_where_it_is_one(kind: str, shown: str) -> None:
    assert told(b"<p>", kind) == f"; its answer is not shown (3 bytes of {shown})"


ECHOES: dict[str, Callable[[str], str]] = {
    "whole": lambda turn: turn,
    "behind words": lambda turn: f"invalid input: '{turn}'",
    "cut": lambda turn: f"invalid input: {turn[3:24]}…",
    "its last words": lambda turn: f"unexpected end at {turn[-30:]}",
    "shouted": str.upper,
    "escaped": lambda turn: "invalid: " + json.dumps(turn),
    "escaped twice": lambda turn: "invalid: " + json.dumps(json.dumps(turn)),
    "letter by letter": lambda turn: "".join(f"\\u{ord(letter):04x}" for letter in turn),
    "in bytes": lambda turn: "".join(f"\\x{byte:02x}" for byte in turn.encode()),
    "as Python shows it": repr,
    "for a page": lambda turn: "".join(f"&#{ord(letter)};" for letter in turn),
    "for an address": lambda turn: "".join(f"%{byte:02X}" for byte in turn.encode()),
    "wide": lambda turn: "".join(chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in turn),
    "in other lines": lambda turn: turn.replace(" ", "\r\n\t"),
    "coloured": lambda turn: "\x1b[31m".join(turn),
    "with a title": lambda turn: "\x1b]0;pwn\x07".join(turn),
    "with what is not seen": lambda turn: "\u200b".join(turn),
    "backwards in show": lambda turn: f"\u202e{turn}\u202c",
    "a number of it": lambda _: "cannot parse 1234567",
    "a short line of it": lambda _: "cannot parse 'i drink'",
    "a code of it": lambda _: "bad token 4711",
    "far behind": lambda turn: "x" * (MOST_SHOWN - 10) + turn,
}


@pytest.mark.parametrize("place", ["error.message", "error", "message", "detail", "plain"])
@pytest.mark.parametrize("how", ECHOES)
def test_nothing_of_what_was_sent_is_told(how: str, place: str) -> None:
    words = ECHOES[how](TURN)
    bodies = {"error.message": {"error": {"message": words}}, "plain": words.encode()}
    answer = told(bodies.get(place, {place: words}))
    assert answer == REPEATS or (place == "plain" and answer.startswith("; its answer is not shown"))


def test_half_of_a_key_is_not_told_either() -> None:
    assert told({"error": f"wrong key {KEY[:16]}"}) == told({"error": f"wrong key {KEY.upper()}"}) == REPEATS


def test_a_few_letters_of_a_dense_script_are_much() -> None:
    sent = Sent({"input": ["我的银行密码是猫和狗的名字"]})
    assert words_of('{"error": "无效输入：银行密码是猫"}'.encode(), "", sent) == REPEATS


def test_the_name_of_a_model_opens_no_gap() -> None:
    sent = Sent({"model": "m", "input": [TURN]})
    assert words_of(json.dumps({"error": f"m: {TURN}"}).encode(), "", sent) == REPEATS


def test_words_are_told_on_one_short_line_without_what_is_not_seen() -> None:
    assert told({"error": "bad\x00 \x1b[1;31mred\x1b[0m\u202e\r\n\u2028news\x9b2J\x07 \ud800."}) == ": bad red news ."
    assert told({"error": "word " * 100}) == ": " + ("word " * 100)[:MOST_SHOWN]


@given(turn=st.text(min_size=1), start=st.integers(0, 50), length=st.integers(16, 60), before=st.text(max_size=20))
def test_no_long_run_of_any_text_is_told(turn: str, start: int, length: int, before: str) -> None:
    spoken = "".join(letter for letter in turn * 8 if letter.isascii() and letter.isalnum())
    if len(part := spoken[start : start + length]) < 16:
        return
    assert part not in words_of(json.dumps({"error": before + part}).encode(), "", Sent({"input": [spoken]}))


# ── on the whole path ────────────────────────────────────────────────────────────────────────────────────────────


def told_by_chat(endpoint: Endpoint) -> str:
    summariser = ChatSummariser(endpoint.url, MODEL, patience=Patience(retries=0))
    with pytest.raises(EngineError) as caught:
        summariser.summarise(SummaryRequest((View(TURN, "user"),), "", 64, 0.4), never)
    return "".join(traceback.format_exception(caught.value))


def told_by_embedder(endpoint: Endpoint) -> str:
    embedder = OpenAICompatibleEmbedder(endpoint.url, Profile(MODEL, 4, "none", 512), retries=0)
    with pytest.raises(EngineError) as caught:
        embedder.embed_documents([TURN])
    return "".join(traceback.format_exception(caught.value))


def embeds_a_probe_and(handler: Handler, otherwise: Answer) -> None:
    if handler.server.requests[-1][2].get("input") == ["ready?"]:
        return raw(b'{"data": [{"index": 0, "embedding": [1, 2, 3, 4]}]}')(handler)
    return otherwise(handler)


ODD: dict[str, Callable[[int], Answer]] = {
    "a refusal": lambda code: status(code, json.dumps({"error": TURN}).encode()),
    "a list of details": lambda code: status(code, json.dumps({"detail": [{"input": TURN}]}).encode()),
    "a plain text": lambda code: status(code, TURN.encode()),
    "a reason": lambda code: status(code, b"no", TURN.partition("\n")[0].encode().decode("latin-1")),
    "no JSON": lambda _: raw(TURN.encode()),
    "a kind": lambda _: raw(b"{}", Content_Type="text/" + TURN.partition("\n")[0].replace("»", "").replace("«", "")),
    "an index": lambda _: raw(json.dumps({"data": [{"index": TURN, "embedding": [1, 2, 3, 4]}]}).encode()),
    "an endless index": lambda _: raw(b'{"data": [{"index": Infinity, "embedding": [1, 2, 3, 4]}]}'),
    "a vector": lambda _: raw(json.dumps({"data": [{"index": 0, "embedding": [TURN, 2, 3, 4]}]}).encode()),
    "an endless vector": lambda _: raw(b'{"data": [{"index": 0, "embedding": [1' + b"0" * 400 + b", 2, 3, 4]}]}"),
    "a message": lambda _: raw(json.dumps({"choices": [{"message": TURN}]}).encode()),
    "no HTTP": lambda _: lambda handler: handler.wfile.write(TURN.encode()) and None,
}


@pytest.mark.parametrize("asks", [told_by_chat, told_by_embedder])
@pytest.mark.parametrize("code", [400, 422, 500])
@pytest.mark.parametrize("how", ODD)
def test_no_error_of_an_engine_tells_what_it_was_given(how: str, code: int, asks: Callable[[Endpoint], str]) -> None:
    with serving() as endpoint:
        endpoint.answers = [lambda handler: embeds_a_probe_and(handler, ODD[how](code))]
        shown = asks(endpoint)
    assert "Quillfeather" not in shown and "therapist" not in shown.lower()
    assert len(endpoint.requests) >= 1


@pytest.mark.parametrize("how", ["no JSON", "no HTTP"])
def test_nor_does_anything_that_an_error_comes_from(how: str) -> None:
    with serving() as endpoint:
        endpoint.answers = [ODD[how](0)]
        with pytest.raises(RequestFailed) as caught:
            JsonClient(endpoint.url, retries=0).post({"input": [TURN]})
    assert caught.value.__cause__ is None and caught.value.__context__ is None


def test_a_status_is_told_in_the_words_of_the_standard() -> None:
    with serving() as endpoint:
        for code, words in ((503, "503 Service Unavailable: loading"), (599, "599: loading")):
            assert code == 599 or code in http.client.responses
            endpoint.answers = [status(code, b"loading", "I am what I am")]
            with pytest.raises(RequestFailed, match=words) as caught:
                JsonClient(endpoint.url, retries=0).post({"input": [TURN]})
            assert "what I am" not in str(caught.value)
