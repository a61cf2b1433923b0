"""Summaries from any endpoint that speaks the OpenAI chat protocol (Ollama, llama.cpp, vLLM and others).

Laws:

1. An answer is used only when it is whole and is a summary (see answers.py): not cut off, not filtered, one message.
2. An endpoint that is missing or late is not ready again until it has answered.
3. The key is read when it is needed, sent, and never shown; an answer that repeats it is refused.
4. What is asked for costs what the endpoint says; where it says nothing sensible, an estimate. Without an answer it is
   a call of no known tokens.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from libravdb_memory.engines.http_json import JsonClient, RequestFailed
from libravdb_memory.engines.summarising import interruptible, prompt
from libravdb_memory.engines.summarising.answers import usable
from libravdb_memory.engines.summarising.fitting import fitted
from libravdb_memory.engines.summarising.protocol import OVERLONG, Summary, SummaryRequest, never
from libravdb_memory.engines.summarising.select import is_sendable
from libravdb_memory.engines.windows import speakable
from libravdb_memory.errors import (
    AnswerUnusableError,
    CallCancelledError,
    EngineError,
    ModelTimeoutError,
    ModelUnavailableError,
    TextRefusedError,
)
from libravdb_memory.spent import Spent
from libravdb_memory.tokens import EstimatingCounter, TokenCounter

_ABOUT_THE_TEXT = frozenset({400, 413, 422})
_MOST_BYTES = 4 << 20
_MOST_TOKENS = 1 << 32
"""An account of more is none."""
_PROBE = "ready?"


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds for a connection, for one answer, and for the whole call with its further attempts and pauses."""

    connect_s: float = 5.0
    answer_s: float = 60.0
    total_s: float = 120.0
    retries: int = 2


class ChatSummariser:
    """`reasoning_tokens` is room for models that think before they answer; `max_input_tokens` is by the counter."""

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key_env: str = "",
        patience: Patience | None = None,
        max_input_tokens: int = 6000,
        reasoning_tokens: int = 0,
        counter: TokenCounter | None = None,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        self.name = f"openai-compatible:{model}"
        self._model = model
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._key_env = api_key_env
        self._patience = patience or Patience()
        self._max_input_tokens = max_input_tokens
        self._reasoning_tokens = reasoning_tokens
        self._counter = counter or EstimatingCounter()
        self._sleep = sleep
        self._answered = False

    @property
    def ready(self) -> bool:
        return self._answered

    def warm_up(self, cancelled: Callable[[], bool] = never) -> None:
        """Ask for one token, so that an endpoint that is absent is known early, and one that loads has loaded. What
        that costs is not told."""
        if not self._answered:
            self._choice([{"role": "user", "content": _PROBE}], 1, cancelled)

    def close(self) -> None:
        self._answered = False

    def summarise(self, request: SummaryRequest, cancelled: Callable[[], bool]) -> Summary:
        messages = prompt.messages(self._view(request), speakable(request.prior), request.allowed(self._counter))
        most = OVERLONG * request.tokens + self._reasoning_tokens
        choice, usage = self._choice(messages, most, cancelled)
        spent = self._spent(usage, messages, choice)
        try:
            text = self._text(choice, request)
        except EngineError as error:
            error.costing(spent)
            raise
        return Summary(text, None, self.name, spent.tokens_in, spent.tokens_out)

    def _spent(self, usage: object, messages: list[dict[str, str]], choice: dict[str, Any]) -> Spent:
        """An estimate takes an answer as it is, with what is taken off it."""
        asked = "\n".join(message["content"] for message in messages)
        answer = choice["message"].get("content")
        written = self._counter.count(speakable(answer)) if isinstance(answer, str) else 0
        return _accounted(usage, self._counter.count(asked), written)

    def _text(self, choice: dict[str, Any], request: SummaryRequest) -> str:
        text = usable(self._content(choice), request, self._counter, self._model)
        if (key := self._key()) and key in text:
            raise AnswerUnusableError(self._model, "it repeats the key")
        return text

    def _view(self, request: SummaryRequest) -> list[str]:
        turns = fitted([speakable(turn) for turn in request.shown], self._max_input_tokens, self._counter.count)
        if turns is None:
            reason = f"{len(request.turns)} turns do not fit into {self._max_input_tokens} tokens"
            raise TextRefusedError(self._model, reason)
        return turns

    def _choice(
        self, messages: list[dict[str, str]], most: int, cancelled: Callable[[], bool]
    ) -> tuple[dict[str, Any], object]:
        """The first choice of a whole answer, and its account of tokens."""
        body = {"model": self._model, "messages": messages, "max_tokens": most, "temperature": 0, "stream": False}
        client = self._client()
        try:
            answer = interruptible.post(client, body, self._patience.total_s, cancelled, self._sleep)
        except interruptible.Cancelled as cut_off:
            raise CallCancelledError(self._model).costing(Spent(calls=int(cut_off.begun))) from None
        except RequestFailed as failure:
            raise self._told_apart(failure).costing(Spent(calls=1)) from failure
        usage = cast("dict[str, object]", answer).get("usage") if isinstance(answer, dict) else None
        choice = _first_choice(answer)
        if choice is None:
            raise self._unavailable("the answer holds no message").costing(_accounted(usage))
        self._answered = True
        return choice, usage

    def _client(self) -> JsonClient:
        return JsonClient(
            self._url,
            self._key(),
            timeout_s=self._patience.answer_s,
            retries=self._patience.retries,
            most_bytes=_MOST_BYTES,
            connect_timeout_s=self._patience.connect_s,
        )

    def _key(self) -> str:
        if not self._key_env:
            return ""
        key = os.environ.get(self._key_env, "").strip()
        if not is_sendable(key):
            raise self._unavailable(f"the environment variable {self._key_env} holds no usable key")
        return key

    def _content(self, choice: dict[str, Any]) -> object:
        ending = choice.get("finish_reason")
        if ending == "content_filter" or choice["message"].get("refusal"):
            raise AnswerUnusableError(self._model, "it was refused or filtered")
        if ending == "length":
            raise AnswerUnusableError(self._model, "it did not come to an end in the tokens it may have")
        return choice["message"].get("content")

    def _told_apart(self, failure: RequestFailed) -> EngineError:
        if failure.status in _ABOUT_THE_TEXT:
            return TextRefusedError(self._model, f"{self._url}: {failure}")
        if failure.timed_out:
            self._answered = False
            return ModelTimeoutError(self._model, f"{self._url}: {failure}")
        return self._unavailable(str(failure))

    def _unavailable(self, reason: str) -> ModelUnavailableError:
        self._answered = False
        return ModelUnavailableError(self._model, f"{self._url}: {reason}")


def _first_choice(answer: Any) -> dict[str, Any] | None:
    try:
        choice = answer["choices"][0]
        return cast("dict[str, Any]", choice) if isinstance(choice["message"], dict) else None
    except (KeyError, IndexError, TypeError):
        return None


def _accounted(usage: object, read: int = 0, written: int = 0) -> Spent:
    """A call by the account of the endpoint, or by these estimates."""
    return Spent(1, _used(usage, "prompt_tokens", read), _used(usage, "completion_tokens", written))


def _used(usage: object, key: str, estimate: int) -> int:
    """What the endpoint accounts for, when it does so sensibly."""
    told = cast("dict[str, object]", usage).get(key) if isinstance(usage, dict) else None
    return told if isinstance(told, int) and not isinstance(told, bool) and 0 < told <= _MOST_TOKENS else estimate
