"""Summaries from any endpoint that speaks the OpenAI chat protocol (Ollama, llama.cpp, vLLM and others).

Laws:

1. An answer is used only when it is whole and is a summary (see answers.py): not cut off, not filtered, one message.
2. An endpoint that is missing or late is not ready again until it has answered.
3. The key is read when it is needed, sent, and never shown; an answer that repeats it is refused.
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
from libravdb_memory.tokens import EstimatingCounter, TokenCounter

_ABOUT_THE_TEXT = frozenset({400, 413, 422})
_MOST_BYTES = 4 << 20
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
        """Ask for one token, so that an endpoint that is absent is known early, and one that loads has loaded."""
        if not self._answered:
            self._choice([{"role": "user", "content": _PROBE}], 1, cancelled)

    def close(self) -> None:
        self._answered = False

    def summarise(self, request: SummaryRequest, cancelled: Callable[[], bool]) -> Summary:
        messages = prompt.messages(self._view(request), speakable(request.prior), request.allowed(self._counter))
        most = OVERLONG * request.tokens + self._reasoning_tokens
        choice, usage = self._choice(messages, most, cancelled)
        text = usable(self._content(choice), request, self._counter, self._model)
        if (key := self._key()) and key in text:
            raise AnswerUnusableError(self._model, "it repeats the key")
        asked = "\n".join(message["content"] for message in messages)
        return Summary(
            text=text,
            confidence=None,
            engine=self.name,
            tokens_in=_used(usage, "prompt_tokens", self._counter.count(asked)),
            tokens_out=_used(usage, "completion_tokens", self._counter.count(text)),
        )

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
        try:
            answer = interruptible.post(self._client(), body, self._patience.total_s, cancelled, self._sleep)
            choice = self._first_choice(answer)
        except interruptible.Cancelled:
            raise CallCancelledError(self._model) from None
        except RequestFailed as failure:
            raise self._told_apart(failure) from failure
        self._answered = True
        return choice, answer.get("usage")

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

    def _first_choice(self, answer: Any) -> dict[str, Any]:
        try:
            choice = answer["choices"][0]
            if isinstance(choice["message"], dict):
                return cast("dict[str, Any]", choice)
        except (KeyError, IndexError, TypeError):
            pass
        raise self._unavailable("the answer holds no message")

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


def _used(usage: object, key: str, estimate: int) -> int:
    """What the endpoint accounts for, when it does so sensibly."""
    told = cast("dict[str, object]", usage).get(key) if isinstance(usage, dict) else None
    return told if isinstance(told, int) and not isinstance(told, bool) and told > 0 else estimate
