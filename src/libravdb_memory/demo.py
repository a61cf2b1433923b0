"""A story in three conversations, told to a daemon under written rules, and asked about afterwards.

Laws: every call goes through the socket of a daemon with a home of its own, which ends with the story, however that
ends. The demonstration checks itself. Every question names the turn that must come first, and every claim about rules,
gate, prompt and receipt is looked at; a run in which one does not hold fails. Times are part of the story, so every run
is the same.
"""

from __future__ import annotations

import html
import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

from libravdb_memory.context import Context
from libravdb_memory.errors import ConfigError
from libravdb_memory.ingest.partition import Partition, Tier
from libravdb_memory.judgements import Judgement
from libravdb_memory.lineage import History
from libravdb_memory.model import Hits, Turn
from libravdb_memory.receipts import Replay, WhyNot
from libravdb_memory.serve.bridge.finding import find_daemon
from libravdb_memory.serve.bridge.remote import RemoteKeeping, RemoteMemory
from libravdb_memory.serve.endpoint import default_endpoint
from libravdb_memory.serve.lifetime import DaemonError, start, stop
from libravdb_memory.store.sqlite.files import locate

USER = "mira"
RULES_NAME = "AGENTS.md"
RULES = """# Tern

- Never point tests at the staging server.
- Run the whole test suite before a release.

You must give every distance in metric units.

Tern began as a notebook in a lighthouse.
"""
PROMPT = "Which database did we choose, and what broke the nightly import?"
BUDGET = 420
LONG_SESSION = "the-month"
_NO_TAIL = {"LIBRAVDB_ASSEMBLY_TAIL_SHARE": "0"}
_NOT_INHERITED = ("LIBRAVDB_HOME", "LIBRAVDB_DB_PATH", "LIBRAVDB_RPC_", "LIBRAVDB_SERVE_", "LIBRAVDB_SOURCES_")
_PATIENCE_S = 30.0


@dataclass(frozen=True, slots=True)
class Line:
    id: str
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Conversation:
    session: str
    began: datetime
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """`answer` is the id of the turn that must be found first."""

    text: str
    answer: str


class Narrator(Protocol):
    """Whoever shows the story; the demonstration itself prints nothing."""

    def heading(self, text: str) -> None: ...

    def say(self, text: str) -> None: ...

    def claim(self, text: str, holds: bool) -> None: ...

    def rules(self, name: str, document: Partition) -> None: ...

    def conversation(self, title: str, turns: Sequence[Turn]) -> None: ...

    def judged(self, found: Sequence[Judgement]) -> None: ...

    def answers(self, question: Question, hits: Hits) -> None: ...

    def context(self, prompt: str, context: Context) -> None: ...

    def receipt(self, context: Context, left: WhyNot, replayed: Replay) -> None: ...

    def history(self, history: History) -> None: ...


STORY = (
    Conversation(
        "kick-off",
        datetime(2026, 3, 2, 9, 5, tzinfo=UTC),
        (
            Line("k1", "user", "I'm starting Tern, an app where volunteers log the seabirds they see from the coast."),
            Line("k2", "assistant", "Nice. Where will the sightings be kept, and who needs to read them?"),
            Line("k3", "user", "Let's go with PostgreSQL; two of us know it well and we need geographic queries."),
            Line(
                "k4", "assistant", "Agreed: PostgreSQL with PostGIS. I'll sketch a schema of observers and sightings."
            ),
            Line("k5", "user", "The staging server is gull.example on port 8443, please never point tests at it."),
            Line(
                "k6",
                "user",
                "By the way, I'm never free on Wednesday afternoons, that's when I take my daughter swimming.",
            ),
        ),
    ),
    Conversation(
        "night-shift",
        datetime(2026, 3, 11, 22, 40, tzinfo=UTC),
        (
            Line("n1", "user", "The nightly import died again at 02:13 and half of the sightings are missing."),
            Line("n2", "assistant", "The log ends in a UnicodeDecodeError while it reads harbour-07.csv."),
            Line(
                "n3", "user", "Found the cause of the crash: that buoy writes Latin-1, and the import fell over an ø."
            ),
            Line(
                "n4", "assistant", "Then decode per source, and keep the raw bytes so that nothing is lost next time."
            ),
            Line("n5", "user", "Fixed in commit 4be91c2. The import now runs through in four minutes."),
            Line("n6", "user", "Thanks, that's all for tonight."),
        ),
    ),
    Conversation(
        "release",
        datetime(2026, 3, 27, 14, 20, tzinfo=UTC),
        (
            Line("r1", "user", "Version 1.0 goes to the volunteers on the 10th of April."),
            Line("r2", "assistant", "What should the announcement look like?"),
            Line("r3", "user", "Write it in short and plain sentences, without exclamation marks, in metric units."),
            Line("r4", "assistant", "Understood: plain words, metres and kilometres."),
            Line("r5", "user", "The map tiles are too slow on phones; let's load them only when someone zooms in."),
            Line("r6", "assistant", "Done. First paint on a cheap phone went from six seconds to under two."),
        ),
    ),
)

SMALL_TALK = "n6"
_EXPECTED_NODES = {Tier.HARD: 2, Tier.SOFT: 1, Tier.VARIANT: 2}

QUESTIONS = (
    Question("which database did we choose?", "k3"),
    Question("what was the cause of the import crash?", "n3"),
    Question("which day is bad for a meeting?", "k6"),
    Question("when do the volunteers get version 1.0?", "r1"),
)


@contextmanager
def _daemon(home: Path, path: Path, settings: Mapping[str, str] | None = None) -> Generator[RemoteMemory]:
    """A daemon that has the store at `path` open, from here to the end of the block."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_INHERITED)}
    arguments = ["--db", str(path), "--endpoint", _endpoint(home)]
    start(home, arguments, {**kept, "LIBRAVDB_HOME": str(home), **(settings or {})})
    try:
        line = find_daemon(locate(path), home)
        if line is None:
            raise DaemonError("the daemon of the demonstration does not answer")
        with closing(line):
            yield RemoteMemory(line)
    finally:
        stop(home, _PATIENCE_S)


def _endpoint(home: Path) -> str:
    """Where a socket cannot be, because the path is too long or the system has none, on the loopback address."""
    try:
        usual = default_endpoint(home)
    except ConfigError:
        return "tcp:127.0.0.1:0"
    return str(usual) if os.name == "posix" else "tcp:127.0.0.1:0"


def run(home: Path, path: Path, narrator: Narrator) -> bool:
    """Tell the story to a new store at `path`, look at what came of it, and ask about it. True when every claim holds.

    The daemon is started three times: to be told, to be found whole and asked, and to compact with a short tail.
    """
    claims: list[bool] = []
    with _daemon(home, path) as memory:
        claims += _ruled(memory, narrator)
        narrator.heading("Three conversations over a month")
        for conversation in STORY:
            narrator.conversation(f"{conversation.session}, {conversation.began:%d %B}", _tell(memory, conversation))
    narrator.say(
        "Each turn was on disk before the next was said; the daemon was stopped at once, before all was embedded."
    )

    narrator.heading("Started again")
    with _daemon(home, path) as memory:
        claims += _reopened(memory, narrator)
        narrator.heading("What the gate kept, and why")
        claims += _judged(RemoteKeeping(memory.line), narrator)
        narrator.heading("Asked by meaning and by wording")
        claims += [_ask(memory, question, narrator) for question in QUESTIONS]
        claims += _prompted(memory, narrator)

    with _daemon(home, path, _NO_TAIL) as memory:
        claims += _compacted(memory, narrator)
    return all(claims)


def _ruled(memory: RemoteMemory, narrator: Narrator) -> list[bool]:
    narrator.heading("Rules that every prompt begins with")
    document = memory.load_document(RULES_NAME, RULES)
    narrator.rules(RULES_NAME, document)
    return [len(document.of_tier(tier)) == count for tier, count in _EXPECTED_NODES.items()]


def _tell(memory: RemoteMemory, conversation: Conversation) -> list[Turn]:
    return [
        memory.ingest(
            line.text,
            user=USER,
            session=conversation.session,
            role=line.role,
            id=line.id,
            ts=conversation.began + timedelta(minutes=2 * number),
        )
        for number, line in enumerate(conversation.lines)
    ]


def _reopened(memory: RemoteMemory, narrator: Narrator) -> list[bool]:
    told = sum(len(conversation.lines) for conversation in STORY)
    kept, verification, embedded = memory.status().turns, memory.verify(), memory.wait(timeout_s=60)
    narrator.claim(f"{kept} of {told} turns are there", kept == told)
    narrator.claim("every hash and every index matches", verification.ok)
    narrator.claim(f"embedded meanwhile with {memory.status().model}", embedded)
    return [kept == told, verification.ok, embedded]


def _judged(store: RemoteKeeping, narrator: Narrator) -> list[bool]:
    """What is shown are the signals as they were stored, not a second judgement."""
    found = store.judgements(USER)
    narrator.judged(found)
    said = [line.id for conversation in STORY for line in conversation.lines if line.role == "user"]
    kept = {each.turn.id: each.durable for each in found}
    told = [list(kept) == said, any(kept.values()), not kept.get(SMALL_TALK, True)]
    narrator.claim("each user turn was judged; small talk was refused, yet stays searchable", all(told))
    return told


def _prompted(memory: RemoteMemory, narrator: Narrator) -> list[bool]:
    narrator.heading(f"A prompt assembled within {BUDGET} tokens")
    context = memory.context(PROMPT, user=USER, session=STORY[-1].session, budget=BUDGET)
    narrator.context(PROMPT, context)
    found = [item.id for item in context.assembly.items if item.tier == "recalled"]
    claims: Mapping[str, bool] = {
        "all hard rules and the last four turns stand in it, word for word": _mandatory(context),
        f"{context.tokens} tokens, frames and escapes included": context.tokens <= BUDGET and not context.degraded,
        "both answers were recalled": {"k3", "n3"} <= set(found),
    }
    for text, holds in claims.items():
        narrator.claim(text, holds)
    return [*claims.values(), *_explained(memory, context, narrator)]


def _mandatory(context: Context) -> bool:
    rules = [line for line in RULES.splitlines() if line.startswith("- ")]
    tail = [line.text for line in STORY[-1].lines[-4:]]
    return all(text in context.text for text in rules) and all(text in html.unescape(context.text) for text in tail)


def _explained(memory: RemoteMemory, context: Context, narrator: Narrator) -> list[bool]:
    """From the receipt alone, after more was said."""
    narrator.heading("Its receipt: why, why not, and the same again")
    memory.ingest("The database question came up again.", user=USER, session=STORY[-1].session, ts=STORY[-1].began)
    receipt = context.receipt.id
    over = next((left.id for left in context.assembly.rejections if left.reason == "budget"), "")
    left, replayed = memory.why_not(receipt, over), memory.replay(receipt)
    narrator.receipt(context, left, replayed)
    same = replayed.identical and replayed.assembly is not None and replayed.assembly.text == context.text
    narrator.claim("replayed after more was said: the same bytes", same)
    return [same, left.rejection is not None]


def _compacted(memory: RemoteMemory, narrator: Narrator) -> list[bool]:
    narrator.heading("The month as one long session, its older turns compacted")
    told = [turn for conversation in STORY for turn in _tell(memory, replace(conversation, session=LONG_SESSION))]
    memory.wait(timeout_s=60)
    done = memory.compact(user=USER, session=LONG_SESSION)
    narrator.history(memory.history(user=USER, session=LONG_SESSION))
    below = [turn for node in done.summaries for turn in memory.expand(node.id, user=USER).items]
    claims: Mapping[str, bool] = {
        f"{done.source_tokens} tokens became {done.tokens}": 0 < done.tokens < done.source_tokens,
        f"the summary expands to the {len(below)} turns, word for word": below == told[: done.turns],
        "nothing was lost: every hash, index and edge matches": memory.verify().ok,
    }
    for text, holds in claims.items():
        narrator.claim(text, holds)
    return list(claims.values())


def _ask(memory: RemoteMemory, question: Question, narrator: Narrator) -> bool:
    hits = memory.search(question.text, user=USER, k=1)
    narrator.answers(question, hits)
    return bool(hits) and hits[0].id == question.answer and not hits.degraded
