"""The tools: their parameters, their answers, and what each asks of memory.

Laws: a row of the table is all that is known of a tool; schemas are read off the dataclasses. No parameter names a
user. Of what may be erased, a tool erases only what a call names: a turn or one conversation, never everything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.mcp_server import framing
from libravdb_memory.mcp_server.answers import (
    Added,
    Entry,
    Erased,
    Found,
    Listed,
    Prepared,
    Remembered,
    summed_up,
    turn,
)
from libravdb_memory.mcp_server.asking import Asks

P = TypeVar("P")
MOST = 50
_SOME = {"least": 1, "most": MOST}
_SESSION = "one conversation, by the name that memory_search gave"
READING = ":reading"
"""Of a session in which nobody speaks: without a conversation of its own, a context is recalled and nothing else."""


@dataclass(frozen=True, slots=True)
class Place:
    """Whose memory it is, and the conversation that is meant where a call names none."""

    user: str
    session: str


@dataclass(frozen=True, slots=True)
class Said:
    """An answer: as an object that fits the tool's schema, and as text for clients that read only that."""

    value: object
    text: str


@dataclass(frozen=True, slots=True)
class Tool(Generic[P]):
    name: str
    title: str
    description: str
    params: type[P]
    answer: type[Any]
    run: Callable[[Asks, Place, P], Coroutine[Any, Any, Said]]
    reads_only: bool = True
    destroys: bool = False
    repeatable: bool = True


# ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    query: str = field(metadata={"help": "what is wanted, as a question or in key words"})
    limit: int = field(default=8, metadata={"help": "how many at most", **_SOME})
    session: str | None = field(default=None, metadata={"help": f"only {_SESSION}; all otherwise"})
    since: str | None = field(default=None, metadata={"help": "only from this date or time on, as in 2026-03-31"})
    until: str | None = field(default=None, metadata={"help": "only before this date or time"})


async def search(asks: Asks, place: Place, params: Search) -> Said:
    asked: dict[str, Any] = {"userId": place.user, "query": params.query, "k": _count("limit", params.limit)}
    asked |= {"sessionId": params.session} if _given(params.session) else {}
    asked |= {name: _moment(name, text) for name in ("since", "until") if (text := getattr(params, name))}
    told = await asks.ask("memory_search", asked)
    found = Found(tuple(turn(each) for each in told["results"]), tuple(told["degraded"]))
    return Said(found, framing.framed(map(vars_of, found.results), "Nothing was found."))


@dataclass(frozen=True, slots=True, kw_only=True)
class Get:
    id: str = field(metadata={"help": "of a turn"})
    session: str | None = field(default=None, metadata={"help": "its conversation, where several have that id"})


async def get(asks: Asks, place: Place, params: Get) -> Said:
    told = await asks.ask("memory_get", _about(place, params.session, id=params.id))
    one = Remembered(turn(told["turn"], whole=True))
    return Said(one, framing.framed([vars_of(one.turn)], ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    prompt: str = field(metadata={"help": "what the user asks or wants now"})
    session: str | None = field(default=None, metadata={"help": "the conversation that goes on"})
    budget: int | None = field(default=None, metadata={"help": "tokens at most", "least": 0})


async def context(asks: Asks, place: Place, params: Context) -> Said:
    session = params.session if _given(params.session) else place.session + READING
    asked = _about(place, session, prompt=params.prompt)
    asked |= {} if params.budget is None else {"budget": params.budget}
    told = await asks.ask("assemble_context", asked)
    built = Prepared(
        text=told["text"],
        tokens=told["tokens"],
        budget=told["budget"],
        receipt=f"libravdb://receipts/{told['receiptId']}",
        degraded=tuple(told["degraded"]),
    )
    return Said(built, f"{built.notice}\n\n{built.text}" if built.text else "Memory has nothing to add.")


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    session: str | None = field(default=None, metadata={"help": f"{_SESSION}; without it, what was added by hand"})
    summary: str | None = field(default=None, metadata={"help": "the id of a summary: show the exact turns below it"})
    limit: int = field(default=20, metadata={"help": "the newest so many; of a summary the oldest", **_SOME})
    skip: int = field(default=0, metadata={"help": "leave out the newest so many, to see older ones", "least": 0})
    after: str | None = field(default=None, metadata={"help": "of a summary: the cursor of the page before"})


async def history(asks: Asks, place: Place, params: History) -> Said:
    limit = _count("limit", params.limit)
    if params.skip < 0:
        raise InvalidInputError("skip", f"must be zero or more, not {params.skip}")
    if _given(params.summary):
        if params.skip:
            raise InvalidInputError("skip", "is for a conversation; of a summary, after names the next page")
        asked = _about(place, params.session, id=params.summary, limit=limit)
        asked |= {"after": params.after} if params.after else {}
        told = await asks.ask("memory_expand", asked)
        shown = [summed_up(each) for each in told["items"]]
        listed = Listed(str(told["summary"]["sessionId"]), tuple(shown), 0, told["cursor"])
    else:
        if _given(params.after):
            raise InvalidInputError("after", "is for a summary; skip shows what is older in a conversation")
        session = params.session if _given(params.session) else place.session
        told = await asks.ask("memory_history", _about(place, session))
        entries = told["entries"]
        end = max(len(entries) - max(params.skip, 0), 0)
        shown = [summed_up(each) for each in entries[max(end - limit, 0) : end]]
        listed = Listed(str(told["sessionId"]), tuple(shown), max(end - limit, 0))
    return Said(listed, framing.framed(map(vars_of, shown), "There is nothing in that conversation."))


# ── changing ─────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Add:
    text: str = field(metadata={"help": "what is to be remembered, in a sentence that can be understood alone"})
    session: str | None = field(default=None, metadata={"help": "the conversation it belongs to"})
    role: Literal["user", "assistant"] = field(default="user", metadata={"help": "whose words these are"})


async def add(asks: Asks, place: Place, params: Add) -> Said:
    """Under an id made from what is said, so that the same call twice stores it once."""
    session = params.session if _given(params.session) else place.session
    asked = _about(place, session, text=params.text, role=params.role, id=_name(params.role, params.text))
    told = await asks.ask("ingest_message", asked)
    added = Added(told["id"], told["turn"]["sessionId"], tuple(told.get("masked", ())))
    masked = f"; masked in it: {', '.join(added.masked)}" if added.masked else ""
    return Said(added, f"Remembered under the id {added.id}{masked}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Forget:
    id: str | None = field(default=None, metadata={"help": "one turn; without it the whole conversation goes"})
    session: str | None = field(default=None, metadata={"help": "its conversation, or the one that goes"})


async def forget(asks: Asks, place: Place, params: Forget) -> Said:
    if not (_given(params.id) or _given(params.session)):
        raise InvalidInputError("memory_forget", "name the id of a turn, or a session")
    asked = _about(place, params.session)
    asked |= {"id": params.id} if _given(params.id) else {}
    told = await asks.ask("memory_forget", asked)
    return Said(Erased(told["records"]), f"Erased {told['records']} records, and what was made from them.")


# ── the table ────────────────────────────────────────────────────────────────────────────────────────────────────

TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "memory_search",
        "Search memory",
        "Find what was said in earlier conversations, by meaning and by wording. Use it before answering anything "
        "that may depend on earlier decisions, preferences or facts.",
        Search,
        Found,
        search,
    ),
    Tool("memory_get", "Read one memory", "Read one remembered turn, whole and exactly.", Get, Remembered, get),
    Tool(
        "memory_add",
        "Remember",
        "Store a fact, a decision or a preference for later conversations. It is on disk when this answers; the same "
        "text is stored once.",
        Add,
        Added,
        add,
        reads_only=False,
    ),
    Tool(
        "memory_context",
        "Prepare context",
        "Assemble what should be known for a task, within a budget: the user's authored rules, the recent "
        "conversation, and what memory recalls. A receipt explains each part.",
        Context,
        Prepared,
        context,
    ),
    Tool(
        "memory_forget",
        "Forget",
        "Erase one turn or one conversation for good, with everything made from it. Only when the user asks for it.",
        Forget,
        Erased,
        forget,
        reads_only=False,
        destroys=True,
    ),
    Tool(
        "memory_history",
        "Show a conversation",
        "Show a conversation from memory: summaries of its older part and its newest turns; or the exact turns below a "
        "summary.",
        History,
        Listed,
        history,
    ),
)


def vars_of(item: Entry) -> Mapping[str, Any]:
    return {name: getattr(item, name) for name in ("id", "session", "role", "at", "text", "truncated")}


def _about(place: Place, session: str | None, **more: Any) -> dict[str, Any]:
    return {"userId": place.user, **({"sessionId": session} if _given(session) else {}), **more}


def _given(name: str | None) -> bool:
    return name is not None and bool(name.strip())


def _count(name: str, count: int) -> int:
    if not 1 <= count <= MOST:
        raise InvalidInputError(name, f"must be from 1 to {MOST}, not {count}")
    return count


def _moment(name: str, text: str) -> int:
    try:
        return framing.milliseconds(text)
    except (ValueError, OverflowError):
        raise InvalidInputError(name, f"must be a date such as 2026-03-31, not {text!r}") from None


def _name(role: str, text: str) -> str:
    return "mcp-" + hashlib.sha256(f"{role}\n{text}".encode(errors="replace")).hexdigest()[:24]
