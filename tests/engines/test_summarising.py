"""What all summarisers share, what a request and an answer must be, and the settings."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.chat_endpoint import says, serving
from tests.engines.tiny_seq2seq import write_tiny

from libravdb_memory.compact.views import View
from libravdb_memory.engines.hashed import HashedEmbedder
from libravdb_memory.engines.openai_compatible import OpenAICompatibleEmbedder
from libravdb_memory.engines.profiles import Profile
from libravdb_memory.engines.summarising.answers import usable
from libravdb_memory.engines.summarising.chat import ChatSummariser
from libravdb_memory.engines.summarising.extractive import MOST_JUDGED, MOST_REMEMBERED, ExtractiveSummariser
from libravdb_memory.engines.summarising.fitting import MARK, fitted
from libravdb_memory.engines.summarising.language import is_foreign
from libravdb_memory.engines.summarising.protocol import OVERLONG, Summariser, Summary, SummaryRequest
from libravdb_memory.engines.summarising.select import SummarySettings, make_summariser
from libravdb_memory.engines.summarising.seq2seq import Seq2SeqSummariser
from libravdb_memory.errors import (
    AnswerUnusableError,
    CallCancelledError,
    ConfigError,
    EngineError,
    InvalidInputError,
    ModelTimeoutError,
    ModelUnavailableError,
)
from libravdb_memory.tokens import EstimatingCounter

COUNT = EstimatingCounter().count
TURNS = (
    "user: the user wants green tea, not coffee. Billing moves to port 8443 before friday!",
    "assistant: noted. The old branch release-2.4 is not to be deployed.",
    "user: thanks. And never restart the service on monday.",
)


def view(turn: str) -> View:
    speaker, colon, said = turn.partition(": ")
    return View(said, speaker) if colon else View(turn)


def request(*turns: str, prior: str = "", tokens: int = 64, density: float = 0.4) -> SummaryRequest:
    return SummaryRequest(tuple(map(view, turns or TURNS)), prior, tokens, density)


def never() -> bool:
    return False


# ── the contract, for every engine ───────────────────────────────────────────────────────────────────────────────


@pytest.fixture(params=["extractive", "extractive without vectors", "onnx-local", "openai-compatible"])
def summariser(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Summariser]:
    kind = str(request.param)
    if kind == "onnx-local":
        yield Seq2SeqSummariser(write_tiny(tmp_path / "tiny"))
    elif kind == "openai-compatible":
        with serving() as endpoint:
            endpoint.answers = [says("The user wants green tea; billing moves to port 8443.")]
            yield ChatSummariser(endpoint.url, "tiny")
    else:
        yield ExtractiveSummariser(HashedEmbedder() if kind == "extractive" else None)


def test_a_summary_is_a_short_text_that_names_its_engine_and_its_cost(summariser: Summariser) -> None:
    summary = summariser.summarise(request(), never)
    assert summary.text.strip()
    assert COUNT(summary.text) <= OVERLONG * 64
    assert summary.engine == summariser.name
    assert min(summary.tokens_in, summary.tokens_out) > 0
    assert summary.confidence is None or 0 < summary.confidence <= 1


def test_the_same_request_gives_the_same_summary(summariser: Summariser) -> None:
    assert summariser.summarise(request(), never) == summariser.summarise(request(), never)


def test_a_cancelled_call_ends_as_such(summariser: Summariser) -> None:
    with pytest.raises(CallCancelledError, match="cancelled"):
        summariser.summarise(request(), lambda: True)


def test_it_can_be_warmed_up_and_closed_again_and_again(summariser: Summariser) -> None:
    for _ in range(2):
        summariser.warm_up()
        summariser.warm_up()
        assert summariser.ready
        assert summariser.summarise(request(), never).text
        summariser.close()
        summariser.close()


@given(
    turns=st.lists(st.text(), min_size=1, max_size=4).filter(lambda turns: any(map(str.strip, turns))),
    prior=st.text(),
    tokens=st.integers(1, 100),
    density=st.floats(0.01, 1),
)
def test_any_text_is_extracted_within_bounds_or_refused(
    turns: list[str], prior: str, tokens: int, density: float
) -> None:
    asked = SummaryRequest(tuple(map(View, turns)), prior, tokens, density)
    for embedder in (HashedEmbedder(32), None):
        try:
            summary = ExtractiveSummariser(embedder).summarise(asked, never)
        except EngineError:
            continue
        assert 0 < COUNT(summary.text) <= asked.allowed(EstimatingCounter()) <= tokens


# ── requests and summaries ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"turns": ()}, "turns"),
        ({"turns": (View(""), View(" \n", "ada"))}, "turns"),
        ({"tokens": 0}, "tokens"),
        ({"density": 0.0}, "density"),
        ({"density": 1.1}, "density"),
        ({"density": float("nan")}, "density"),
    ],
)
def test_a_request_that_asks_for_nothing_is_refused(values: dict[str, Any], field: str) -> None:
    good: dict[str, Any] = {"turns": request().turns, "prior": "", "tokens": 64, "density": 0.4}
    with pytest.raises(InvalidInputError) as caught:
        SummaryRequest(**good | values)
    assert caught.value.field == field


def test_a_request_allows_the_smaller_of_both_limits() -> None:
    counter = EstimatingCounter()
    turns = (View("x" * 399),)  # 100 tokens
    assert SummaryRequest(turns, "", 64, 0.4).allowed(counter) == 40
    assert SummaryRequest(turns, "", 32, 0.4).allowed(counter) == 32
    assert SummaryRequest((View("x"),), "", 32, 0.1).allowed(counter) == 1


@pytest.mark.parametrize(("text", "confidence"), [(" ", None), ("text", -0.1), ("text", 1.1), ("text", float("nan"))])
def test_a_summary_that_cannot_be_is_refused(text: str, confidence: float | None) -> None:
    with pytest.raises(InvalidInputError):
        Summary(text, confidence, "engine", 1, 1)


def test_being_late_is_a_way_of_being_unavailable() -> None:
    assert issubclass(ModelTimeoutError, ModelUnavailableError)


# ── extracts ─────────────────────────────────────────────────────────────────────────────────────────────────────


class Counting(HashedEmbedder):
    """Remembers what it was asked to embed."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[str]] = []

    def embed_documents(self, texts: Sequence[str]) -> Any:
        self.batches.append(list(texts))
        return super().embed_documents(texts)


def test_all_different_sentences_of_a_call_are_embedded_at_once_and_only_once() -> None:
    embedder = Counting()
    summariser = ExtractiveSummariser(embedder)
    asked = request("user: tea. Tea again.", "user: Tea again. Coffee.", prior="Milk before. Coffee.")
    for tokens in (64, 32, 16):
        summariser.summarise(SummaryRequest(asked.turns, asked.prior, tokens, 1.0), never)
    assert embedder.batches == [["tea.", "Tea again.", "Coffee.", "Milk before."]]
    summariser.close()
    summariser.summarise(asked, never)
    assert len(embedder.batches) == 2


def test_what_was_prepared_is_not_embedded_again() -> None:
    embedder = Counting()
    summariser = ExtractiveSummariser(embedder)
    summariser.prepare([request(), request("user: The ferry goes at nine.")], never)
    assert summariser.summarise(request(), never) == ExtractiveSummariser(HashedEmbedder()).summarise(request(), never)
    assert len(embedder.batches) == 1
    with pytest.raises(CallCancelledError):
        summariser.prepare([request()], lambda: True)


def test_judgements_are_not_kept_longer_than_needed() -> None:
    summariser = ExtractiveSummariser(HashedEmbedder())
    summariser.prepare([request(), request("user: The ferry goes at nine.")], never)
    summariser.summarise(request(), never)
    assert list(summariser._judged) == [request("user: The ferry goes at nine.").turns]
    summariser.close()
    assert not summariser._judged and not summariser._known


def test_of_a_long_talk_only_what_is_worth_it_is_embedded() -> None:
    """Whatever is said, no more than three times what the extract may say."""
    embedder, counter = Counting(), EstimatingCounter()
    said = [
        f"Hall {number} of the museum got its {number + 3} lamps from the depot in Lisbon." for number in range(400)
    ]
    summary = ExtractiveSummariser(embedder).summarise(request(" ".join(said), tokens=64, density=0.4), never)
    (batch,) = embedder.batches
    assert set(batch) < set(said)
    assert 64 < sum(map(counter.count, batch)) <= 3 * 64
    assert any(sentence in summary.text for sentence in batch)
    assert not any(sentence in summary.text for sentence in set(said) - set(batch))


def test_what_is_remembered_is_bounded() -> None:
    embedder = Counting()
    summariser = ExtractiveSummariser(embedder)
    summariser.prepare([request()], never)
    for start in range(0, MOST_REMEMBERED, 512):
        texts = (f"Number {number} is set." for number in range(start, start + 512))
        summariser.prepare([request(text, density=1.0) for text in texts], never)
    assert len(summariser._known) == MOST_REMEMBERED
    assert len(summariser._judged) == MOST_JUDGED
    before = len(embedder.batches)
    summariser.prepare([request()], never)
    assert len(embedder.batches) == before + 1
    assert len(summariser._known) == MOST_REMEMBERED


def test_an_extract_holds_sentences_of_the_turns_in_their_order() -> None:
    text = ExtractiveSummariser(HashedEmbedder()).summarise(request(density=0.7), never).text
    lines = [line.split(": ", 1) for line in text.split("\n")]
    places = [next(place for place, turn in enumerate(TURNS) if said in turn) for _, said in lines]
    assert places == sorted(set(places))
    assert len(places) > 1
    assert [speaker for speaker, _ in lines] == [TURNS[place].split(":")[0] for place in places]


def test_what_was_noted_before_is_not_said_again() -> None:
    turns = ("user: the certificate expires on 2026-03-01.", "user: we deploy search to port 9200 now.")
    summariser = ExtractiveSummariser(HashedEmbedder())
    first = summariser.summarise(request(*turns, tokens=14, density=1.0), never).text
    second = summariser.summarise(request(*turns, prior=first, tokens=14, density=1.0), never).text
    assert {first, second} == set(turns)


def test_many_sentences_can_be_cancelled_in_between() -> None:
    embedder = Counting()
    turn = " ".join(f"Number {number} is set for lamp {number}." for number in range(1500))
    with pytest.raises(CallCancelledError):
        asked = request(turn, tokens=5000, density=1.0)
        ExtractiveSummariser(embedder).summarise(asked, lambda: bool(embedder.batches))
    assert len(embedder.batches) == 1


def test_turns_without_a_word_give_no_summary() -> None:
    with pytest.raises(AnswerUnusableError, match="nothing can be said"):
        ExtractiveSummariser(None).summarise(request("…", "!?"), never)


def test_an_embedder_with_a_bad_setting_is_an_engine_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEST_ABSENT_KEY", raising=False)
    profile = Profile("remote", 4, "none", 512)
    summariser = ExtractiveSummariser(
        OpenAICompatibleEmbedder("http://127.0.0.1:9/v1", profile, api_key_env="TEST_ABSENT_KEY")
    )
    for call in (summariser.warm_up, lambda: summariser.summarise(request(), never)):
        with pytest.raises(ModelUnavailableError, match="TEST_ABSENT_KEY holds no usable key"):
            call()


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────────

GOOD = "The user wants green tea. Billing moves to port 8443."


@pytest.mark.parametrize(
    "answer",
    [
        GOOD,
        f"  {GOOD}\n",
        f"<think>\nthey want tea\n</think>\n\n{GOOD}",
        f"Here is a summary of the turns:\n\n{GOOD}",
        f"Sure! Here's the note: {GOOD}",
        f"<think>hm</think>Here is the note:\n{GOOD}",
    ],
)
def test_what_stands_around_a_summary_is_taken_off(answer: str) -> None:
    assert usable(answer, request(), EstimatingCounter(), "m") == GOOD


@pytest.mark.parametrize(
    "answer",
    [
        "Here is what holds: port 8443.",
        "[Friday] billing moves to 8443.",
        "User is sorry for the delay; port 8443.",
        "Cannot deploy before friday: port 8443 is taken.",
        "green tea, 8,443 times",
    ],
)
def test_a_summary_is_not_taken_for_something_else(answer: str) -> None:
    assert usable(answer, request(), EstimatingCounter(), "m") == answer


REFUSALS = [
    "I'm sorry, but I can't assist with that.",
    "Sorry, I cannot summarize this conversation.",
    "I can’t help with that.",
    "I am unable to process these turns.",
    "As a language model I have no opinion.",
    "Es tut mir leid, dabei kann ich nicht helfen.",
    "Je suis désolé, mais je ne peux pas vous aider.",
    "Lo siento, no puedo ayudar con eso.",
    "抱歉，我无法协助。",
    "申し訳ありませんが、お手伝いできません。",
]


@pytest.mark.parametrize("answer", REFUSALS)
def test_a_refusal_in_any_of_the_usual_words_is_no_summary(answer: str) -> None:
    with pytest.raises(AnswerUnusableError, match="declines"):
        usable(answer, request(), EstimatingCounter(), "m")


def test_no_message_shows_the_answer() -> None:
    for answer in [*REFUSALS, '{"a": 1}', "x" * 9999, "Всё по-русски"]:
        with pytest.raises(AnswerUnusableError) as caught:
            usable(answer, request(), EstimatingCounter(), "m")
        assert answer not in str(caught.value)


def test_four_times_the_length_is_the_most() -> None:
    counter = EstimatingCounter()
    assert usable("y" * 4 * 4 * 8, request(tokens=8), counter, "m")
    with pytest.raises(AnswerUnusableError, match="costs 33 tokens, asked for were 8"):
        usable("y" * (4 * 4 * 8 + 1), request(tokens=8), counter, "m")


@given(st.text() | st.none() | st.integers() | st.binary())
def test_any_answer_is_a_text_with_words_or_unusable(answer: object) -> None:
    try:
        text = usable(answer, request(), EstimatingCounter(), "m")
    except AnswerUnusableError:
        return
    assert any(map(str.isalnum, text))
    text.encode()


# ── languages ────────────────────────────────────────────────────────────────────────────────────────────────────

SPOKEN = {
    "english": "The user wants the billing service to move to port 8443 and it is not to be restarted.",
    "german": "Der Nutzer will, dass die Abrechnung auf Port 8443 umzieht und nicht neu gestartet wird.",
    "french": "Le service est déplacé sur le port 8443 pour vendredi et les clés ne sont pas changées.",
    "spanish": "El servicio se mueve al puerto 8443 para el viernes y los usuarios están avisados por correo.",
    "russian": "Сервис переезжает на порт 8443 в пятницу, перезапускать его нельзя.",
    "japanese": "請求サービスは金曜日にポート8443へ移動します。再起動しないでください。",
    "chinese": "计费服务将于星期五迁移到端口八四四三，请不要重新启动该服务。",
    "korean": "결제 서비스는 금요일에 포트 8443으로 이동합니다.",
    "arabic": "تنتقل خدمة الفوترة إلى المنفذ 8443 يوم الجمعة.",
    "hindi": "बिलिंग सेवा शुक्रवार को पोर्ट 8443 पर जाएगी।",
    "greek": "Η υπηρεσία μετακινείται στη θύρα 8443 την Παρασκευή.",
}


@pytest.mark.parametrize("answer", SPOKEN)
@pytest.mark.parametrize("source", SPOKEN)
def test_another_language_is_foreign_and_ones_own_is_not(source: str, answer: str) -> None:
    assert is_foreign(SPOKEN[answer], SPOKEN[source]) == (answer != source)


def test_names_and_identifiers_of_another_script_are_at_home_where_the_sources_have_them() -> None:
    assert not is_foreign("deploy release-2.4 на порт 8443", "мы ставим release-2.4 через deploy на порт 8443")
    assert not is_foreign("Yuki (由紀) moves to port 8443", "Yuki, written 由紀, moves the port")
    assert not is_foreign("The office in Los Angeles", "we leave the house and the car to the office in Los Angeles")
    assert not is_foreign("Las Vegas and the Los Angeles office", "he is at the office and she is not " * 9)
    assert not is_foreign("The user reads 日本語 and English", "I read " + "日本語 " * 5 + " and the English too")


@pytest.mark.parametrize("sources", ["", "42", "!?"])
def test_sources_that_tell_nothing_make_nothing_foreign(sources: str) -> None:
    assert not any(is_foreign(answer, sources) for answer in SPOKEN.values())


@given(st.text())
def test_a_text_is_never_foreign_to_itself(text: str) -> None:
    assert not is_foreign(text, text)


# ── long turns ───────────────────────────────────────────────────────────────────────────────────────────────────


@given(turns=st.lists(st.text("ab c", max_size=400), max_size=8), limit=st.integers(1, 300))
def test_turns_fit_their_limit_with_the_shorter_ones_untouched(turns: list[str], limit: int) -> None:
    found = fitted(turns, limit, COUNT)
    if found is None:
        assert sum(map(COUNT, turns)) > limit
        return
    assert len(found) == len(turns)
    assert sum(map(COUNT, found)) <= limit
    changed = [turn for turn, kept in zip(turns, found, strict=True) if turn != kept]
    assert all(MARK in kept for turn, kept in zip(turns, found, strict=True) if turn != kept)
    whole = [turn for turn, kept in zip(turns, found, strict=True) if turn == kept]
    assert max(map(COUNT, whole), default=0) <= min(map(COUNT, changed), default=10**9)
    if sum(map(COUNT, turns)) <= limit:
        assert not changed


def test_a_long_turn_keeps_two_thirds_of_its_room_at_its_head() -> None:
    (found,) = fitted(["h" * 500 + "t" * 500], 50, COUNT) or []
    head, tail = found.split(MARK)
    assert (set(head), set(tail)) == ({"h"}, {"t"})
    assert COUNT(found) == 50
    assert len(head) == pytest.approx(2 * len(tail), abs=2)


# ── settings ─────────────────────────────────────────────────────────────────────────────────────────────────────

REMOTE: dict[str, Any] = {"backend": "openai-compatible", "base_url": "http://127.0.0.1:9/v1", "model": "m"}
LOCAL: dict[str, Any] = {"backend": "onnx-local", "model_path": "models/t5"}


def test_extracts_are_the_default_and_nothing_is_reached() -> None:
    assert isinstance(make_summariser(SummarySettings(), HashedEmbedder()), ExtractiveSummariser)


def test_each_backend_is_made_without_loading_or_reaching_it() -> None:
    local = make_summariser(SummarySettings(**LOCAL), None)
    remote = make_summariser(SummarySettings(**REMOTE), None)
    assert (local.name, local.ready) == ("onnx-local:t5", False)
    assert (remote.name, remote.ready) == ("openai-compatible:m", False)


def test_the_settings_reach_the_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_SUMMARY_KEY", "sk-1")
    with serving() as endpoint:
        endpoint.answers = [says(GOOD)]
        settings = SummarySettings(
            **REMOTE | {"base_url": endpoint.url}, api_key_env="TEST_SUMMARY_KEY", reasoning_tokens=7
        )
        make_summariser(settings, None).summarise(request(), never)
        ((_, headers, body),) = endpoint.requests
    assert (headers["Authorization"], body["model"], body["max_tokens"]) == ("Bearer sk-1", "m", 263)


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({"backend": "magic"}, "backend"),
        ({"backend": "onnx-local"}, "model_path"),
        ({"backend": "openai-compatible", "model": "m"}, "base_url"),
        ({"backend": "openai-compatible", "base_url": "http://127.0.0.1"}, "model"),
        (REMOTE | {"base_url": "ftp://host"}, "base_url"),
        (REMOTE | {"base_url": "http://user:password@host"}, "base_url"),
        (REMOTE | {"timeout_s": 0.0}, "timeout_s"),
        (REMOTE | {"connect_timeout_s": float("inf")}, "connect_timeout_s"),
        (REMOTE | {"total_timeout_s": float("nan")}, "total_timeout_s"),
        (REMOTE | {"retries": 21}, "retries"),
        (REMOTE | {"max_input_tokens": 255}, "max_input_tokens"),
        (REMOTE | {"reasoning_tokens": -1}, "reasoning_tokens"),
        (LOCAL | {"threads": 0}, "threads"),
    ],
)
def test_a_bad_value_is_refused_by_name(values: dict[str, Any], key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        SummarySettings(**values)
    assert caught.value.key == f"summary.{key}"


@pytest.mark.parametrize("given_values", [{}, LOCAL, REMOTE])
def test_what_the_backend_would_ignore_is_refused_by_name(given_values: dict[str, Any]) -> None:
    backend = given_values.get("backend", "extractive")
    for item in fields(SummarySettings):
        owner = item.metadata.get("owner", backend)
        if owner != backend:
            other: Any = f"x{item.default}" if isinstance(item.default, str) else item.default + 1  # type: ignore[operator]
            with pytest.raises(ConfigError, match=rf"summary\.{item.name}: has no effect .* belongs to {owner}"):
                SummarySettings(**given_values | {item.name: other})


def test_every_setting_explains_itself() -> None:
    assert all(item.metadata.get("help") for item in fields(SummarySettings))


def test_choosing_a_summariser_imports_nothing_heavy() -> None:
    program = (
        "import sys; from libravdb_memory.engines.summarising.select import SummarySettings, make_summariser; "
        "make_summariser(SummarySettings(backend='onnx-local', model_path='x'), None); "
        "make_summariser(SummarySettings(), None); "
        "make_summariser(SummarySettings(backend='openai-compatible', base_url='http://h', model='m'), None); "
        "print(sorted({'numpy', 'onnxruntime', 'tokenizers', 'usearch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
