"""Two who share a daemon: what each of them asks for, with a word of its own in everything that it says.

The parameters are made from the schema of a method, so that a method that is added is played without a word here.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.serve.process import Client

from libravdb_memory.serve.fields import json_schema
from libravdb_memory.serve.table import every_method

TABLE = every_method()
SCHEMAS: dict[str, Any] = {name: json_schema(method.params) for name, method in TABLE.items()}
PLAYED = sorted(set(TABLE) - {"authenticate"})  # that one changes who asks
_KINDS = "session session_raw session_summary session_edge session_state elevated:session"
_TURNS = 12
_SENTENCES = (
    "I prefer the colour {}, and so it is written.",
    "You must never forget {} before you deploy.",
    "Where did we put {} last Tuesday?",
    "My sister {} lives in Lyon since 2019.",
)


@dataclass
class Party:
    """`word` begins everything that it says and nothing else; `receipts` are those that it was given."""

    user: str
    session: str
    word: str
    receipts: list[str] = field(default_factory=list[str])
    summaries: list[str] = field(default_factory=list[str])

    def collections(self) -> list[str]:
        of_user = [f"{kind}:{self.user}" for kind in ("turns", "user", "elevated:user", "dream")]
        return [*(f"{kind}:{self.session}" for kind in _KINDS.split()), *of_user, f"user:{self.user}:notes"]

    def ids(self) -> list[str]:
        """In all forms that an id may have; both parties number alike."""
        turns = [f"t{number}" for number in range(_TURNS)]
        shown = [f"{owner}:{turn}" for owner in (self.session, self.user) for turn in turns[:4]]
        return [*turns, *shown, *self.summaries[-3:]]


class Asking:
    """Calls about one party. `says` is whose word is put into what is said: an attacker signs with its own."""

    def __init__(self, chance: random.Random, about: Party, says: Party | None = None) -> None:
        self._chance = chance
        self._about = about
        self._word = (says or about).word

    def params(self, method: str) -> dict[str, Any]:
        made = self._object(SCHEMAS[method], method)
        if "userId" in SCHEMAS[method].get("properties", {}):  # whoever names nobody asks for somebody else
            made["userId"] = self._about.user
        return made

    def _object(self, schema: Mapping[str, Any], place: str) -> dict[str, Any]:
        needed = set(schema.get("required", ())) | {"sessionId", "namespace"}
        return {
            name: self._value(inner, name, place)
            for name, inner in schema.get("properties", {}).items()
            if name not in ("sessionKey", "agentId") and (name in needed or self._chance.random() < 0.5)
        }

    def _value(self, schema: Mapping[str, Any], name: str, place: str) -> Any:
        if "enum" in schema:
            return self._chance.choice(schema["enum"])
        match schema.get("type"):
            case "string":
                return self._text(name, place)
            case "integer" | "number":
                return self._chance.choice((0, 1, 3, 50))
            case "boolean":
                return self._chance.random() < 0.5
            case "array":
                return [self._value(schema["items"], name, place) for _ in range(self._chance.randrange(1, 4))]
            case "object" if "properties" in schema:
                return self._object(schema, place)
            case "object" if name == "messages":
                role = self._chance.choice(("user", "assistant"))
                return {"role": role, "content": self._sentence(place)}
            case "object" if name == "metadata":
                who = {"userId": self._about.user, "sessionId": self._about.session}
                return {**who, "role": "user", "note": f"{self._word}{name}"}
            case _:
                return {self._sentence(place): self._sentence(place)} if schema.get("type") == "object" else self._word

    def _text(self, name: str, place: str) -> str:
        about, lowered = self._about, name.lower()
        if lowered in ("userid", "userids", "namespace", "user"):
            return about.user
        if lowered.endswith(("sessionid", "session", "sessionkey")):
            return about.session
        if lowered in ("collection", "collections"):
            return self._chance.choice(about.collections())
        if lowered in ("receiptid", "left", "right"):
            return self._chance.choice(about.receipts or ["none"])
        if lowered.endswith(("id", "ids")):
            return self._chance.choice(about.summaries or ["none"] if "summary" in lowered else about.ids())
        if lowered == "role":
            return self._chance.choice(("user", "assistant"))
        return self._sentence(f"{place}{name}")

    def _sentence(self, where: str) -> str:
        said = f"{self._word}{where}{self._chance.randrange(10)}"
        return self._chance.choice(_SENTENCES).format(said)


class Watched(Client):
    """Keeps every byte that it received."""

    def __init__(self, endpoint: str) -> None:
        super().__init__(endpoint)
        self.received = bytearray()

    def read(self) -> Any:
        line = self._lines.readline()
        self.received += line
        return json.loads(line) if line else None


def learn(party: Party, answer: Mapping[str, Any]) -> None:
    """What a party may use later: receipts and summaries that it was told of."""
    result = answer.get("result", {})
    if isinstance(receipt := result.get("receiptId"), str):
        party.receipts.append(receipt)
    made = result.get("summaries")
    listed = made if isinstance(made, list) else result.get("nodes", ())
    party.summaries += [each["id"] for each in listed if isinstance(each, dict) and "id" in each]
