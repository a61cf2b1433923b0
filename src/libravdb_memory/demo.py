"""A story in three conversations, told to a real store and asked about afterwards.

Law: the demonstration checks itself. Every question names the turn that must come first; a run that finds another one
fails. Times are part of the story, so every run is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

from libravdb_memory.config import Config
from libravdb_memory.memory import Memory
from libravdb_memory.model import Hits, Turn

USER = "mira"


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

    def conversation(self, title: str, turns: Sequence[Turn]) -> None: ...

    def answers(self, question: Question, hits: Hits) -> None: ...


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

QUESTIONS = (
    Question("which database did we choose?", "k3"),
    Question("what was the cause of the import crash?", "n3"),
    Question("which day is bad for a meeting?", "k6"),
    Question("when do the volunteers get version 1.0?", "r1"),
)


def run(path: Path, config: Config, narrator: Narrator) -> bool:
    """Tell the story to a new store at `path` and ask about it; True when every answer came first."""
    narrator.heading("Three conversations over a month")
    with Memory.open(path, config=config) as memory:
        for conversation in STORY:
            narrator.conversation(f"{conversation.session}, {conversation.began:%d %B}", _tell(memory, conversation))
    narrator.say("Each turn was on disk before the next was said; closed at once, with no time left to embed.")

    narrator.heading("Opened again")
    with Memory.open(path, config=config) as memory:
        intact = _reopened(memory, narrator)
        narrator.heading("Asked by meaning and by wording")
        answered = [_ask(memory, question, narrator) for question in QUESTIONS]
    return all(answered) and intact


def _tell(memory: Memory, conversation: Conversation) -> list[Turn]:
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


def _reopened(memory: Memory, narrator: Narrator) -> bool:
    told = sum(len(conversation.lines) for conversation in STORY)
    kept, verification = memory.status().turns, memory.verify()
    embedded = memory.wait(timeout_s=60)
    narrator.say(f"{kept} of {told} turns are there, every hash {'matches' if verification.ok else 'DOES NOT match'}.")
    narrator.say(f"Embedded meanwhile in the background with {memory.status().model}.")
    return kept == told and verification.ok and embedded


def _ask(memory: Memory, question: Question, narrator: Narrator) -> bool:
    hits = memory.search(question.text, user=USER, k=2)
    narrator.answers(question, hits)
    return bool(hits) and hits[0].id == question.answer and not hits.degraded
