"""A host of the reference, as far as its calls go: what it asks for when, and how it ranks by itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote

Call = Callable[..., Any]
AUTHORED = ("authored:hard", "authored:soft", "authored:variant")


@dataclass
class Host:
    """One session of a user. `call` gives the result of a call or fails."""

    call: Call
    user: str
    session: str
    turns: int = 0
    now_ms: int = 1_700_000_000_000
    shown: list[dict[str, Any]] = field(default_factory=list)

    def bootstrap(self) -> dict[str, list[dict[str, Any]]]:
        names = [f"session:{self.session}", f"turns:{self.user}", f"user:{self.user}", "global", *AUTHORED]
        assert self.call("health")["ok"] is True
        assert self.call("ensure_collections", collections=names) == {"ok": True}
        return {name: self.call("list_collection", collection=name)["results"] for name in AUTHORED}

    def after_turn(self, *messages: tuple[str, str]) -> None:
        for role, text in messages:
            self._store(role, text, f"after-turn:{self.turns}")
            self.turns += 1
            self.now_ms += 60_000

    def _store(self, role: str, text: str, turn: str) -> None:
        facts = {"role": role, "ts": self.now_ms, "userId": self.user, "sessionId": self.session, "type": "turn"}
        self.call("insert_session_turn", sessionId=self.session, id=f"{self.session}:{turn}", text=text, metadata=facts)
        if role != "user":
            return
        copy = {"id": f"{self.user}:{turn}", "text": text, "metadata": facts}
        self.call("insert_text", collection=f"turns:{self.user}", **copy)
        gating = self.call("gating_scalar", userId=self.user, text=text)
        judged = {f"gating_{name}": value for name, value in gating.items() if name != "g"}
        durable = {**facts, "provenance_class": "durable_user_memory", "gating_score": gating["g"], **judged}
        self.call("insert_text", collection=f"user:{self.user}", **{**copy, "metadata": durable})

    def assemble(self, prompt: str, k: int = 4) -> list[dict[str, Any]]:
        """The best of its scopes by a law of its own; what it takes is counted as used."""
        self.call("list_by_meta", collection=f"session:{self.session}", key="sessionId", value=self.session)
        found: list[dict[str, Any]] = []
        for name in (f"session:{self.session}", f"user:{self.user}", "global", "authored:variant"):
            found += self.call("search_text", collection=name, text=prompt, k=8, excludeIds=[])["results"]
        found += self.call(
            "search_text_collections",
            collections=[f"elevated:user:{self.user}", f"elevated:session:{self.session}"],
            text=prompt,
            k=4,
            excludeByCollection={},
        )["results"]
        found.sort(key=self._weight, reverse=True)
        self.shown = found[:k]
        updates = [{"collection": item["metadata"]["collection"], "ids": [item["id"]]} for item in self.shown]
        assert self.call("bump_access_counts", updates=updates) == {"ok": True}
        return self.shown

    def _weight(self, item: dict[str, Any]) -> float:
        facts = item["metadata"]
        age_s = max(self.now_ms - facts.get("ts", 0), 0) / 1000
        return 0.7 * float(item["score"]) + 0.2 * math.exp(-1e-5 * age_s) + 0.1 * math.log1p(facts["access_count"])

    def compact(self) -> dict[str, Any]:
        done = self.call(
            "compact_session",
            sessionId=self.session,
            force=True,
            targetSize=20,
            continuityMinTurns=4,
            continuityTailBudgetTokens=128,
            continuityPriorContextTokens=96,
        )
        assert isinstance(done, dict)
        return done

    def search_bridge(self, query: str) -> list[tuple[str, str, float]]:
        """Paths, snippets and scores, as its memory tool tells them."""
        names = [f"user:{self.user}", f"session:{self.session}", "global"]
        found = self.call("search_text_collections", collections=names, text=query, k=6)["results"]
        return [
            (
                f"{quote(item['metadata']['collection'], safe='')}::{quote(item['id'], safe='')}",
                item["text"],
                item["score"],
            )
            for item in found
        ]

    def read_file(self, path: str) -> str:
        name, record = map(unquote, path.split("::"))
        (found,) = [item for item in self.call("list_collection", collection=name)["results"] if item["id"] == record]
        return str(found["text"])

    def end(self, hook: str) -> None:
        told = {"hook": hook, "reason": "asked", "sessionId": self.session, "messageCount": self.turns}
        assert self.call("session_lifecycle_hint", **told)["ok"] is True
        assert self.call("flush") == {"ok": True}
