"""One store, every conversation a user of it, every question asked as an agent would.

Laws: the product sees turns, times, roles, speakers and questions, and nothing of labels, categories or names of data
sets; users and sessions get neutral names. After each call the background comes to rest, so that a run can be repeated
and no call is timed beside the work of the one before.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from libravdb_memory.assemble.receipt import Assembly
from libravdb_memory.assemble.render import escape
from libravdb_memory.bench.retrieval.dataset import Conversation, DataSet, Question, Said
from libravdb_memory.bench.retrieval.filler import with_filler
from libravdb_memory.bench.retrieval.metrics import Found, measures
from libravdb_memory.bench.retrieval.timing import TimedEmbedder
from libravdb_memory.memory import Memory
from libravdb_memory.model import Hits
from libravdb_memory.store.protocol import Progress
from libravdb_memory.tokens import TokenCounter

BUDGETS = (1_000, 2_000, 4_000)
LEAST_DEPTH = 50
_GLANCE_S = 0.2


@dataclass(frozen=True, slots=True)
class Speaking:
    """A conversation as a user of the store. `sessions` are their neutral names; `twins` the ids of each text."""

    data: str
    user: str
    conversation: Conversation
    sessions: Mapping[str, str]
    turns: Mapping[str, Said]
    twins: Mapping[str, Set[str]]


@dataclass(frozen=True, slots=True)
class Answered:
    data: str
    key: str
    category: str
    measures: Mapping[str, float]


@dataclass(slots=True)
class Times:
    """Seconds of each call; `embedding` is the part of a search that the model took."""

    search: list[float] = field(default_factory=list[float])
    embedding: list[float] = field(default_factory=list[float])
    context: list[float] = field(default_factory=list[float])

    @property
    def beside_embedding(self) -> list[float]:
        return [max(whole - part, 0.0) for whole, part in zip(self.search, self.embedding, strict=True)]


def users_of(data: Sequence[DataSet]) -> list[Speaking]:
    pairs = [(part.name, conversation) for part in data for conversation in part.conversations]
    return [_speaking(name, conversation, number) for number, (name, conversation) in enumerate(pairs, 1)]


def _speaking(data: str, conversation: Conversation, number: int) -> Speaking:
    twins: dict[str, set[str]] = {}
    for turn in conversation.turns:
        twins.setdefault(turn.text, set()).add(turn.id)
    sessions = dict.fromkeys(turn.session for turn in conversation.turns)
    return Speaking(
        data=data,
        user=f"user-{number}",
        conversation=conversation,
        sessions={name: f"session-{place}" for place, name in enumerate(sessions, 1)},
        turns={turn.id: turn for turn in conversation.turns},
        twins=twins,
    )


def ingest(memory: Memory, users: Sequence[Speaking], filler: int, progress: Progress) -> None:
    """Store every turn, in the order of its file."""
    total = sum(len(user.turns) + (filler if user.turns else 0) for user in users)
    done = 0
    for seed, user in enumerate(users):
        for turn in with_filler(user.conversation.turns, filler, seed):
            memory.ingest(
                turn.text,
                user=user.user,
                session=user.sessions.get(turn.session, turn.session),
                role=turn.role,
                ts=turn.ts,
                id=turn.id,
                speaker=turn.speaker,
            )
            done += 1
            progress(done, total)


def open_indexes(memory: Memory, users: Sequence[Speaking], progress: Progress) -> None:
    """The first search of a large collection begins its index; nothing is measured before that stands."""
    for done, user in enumerate(users, 1):
        memory.search("what did we say?", user=user.user, k=1)
        progress(done, len(users))
    while any("building" in state for state in memory.status().store.indexes.values()):
        time.sleep(_GLANCE_S)


class Asking:
    def __init__(
        self, memory: Memory, embedder: TimedEmbedder, counter: TokenCounter, depths: Sequence[int], *, contexts: bool
    ) -> None:
        self._memory = memory
        self._embedder = embedder
        self._counter = counter
        self._depths = depths
        self._budgets = BUDGETS if contexts else ()
        self.times = Times()
        self.degraded: Counter[str] = Counter()
        """What searches and contexts said they had to do without, and how often."""

    def answers(self, users: Sequence[Speaking], progress: Progress) -> Iterator[Answered]:
        """To every question that has gold turns."""
        asked = [(user, question) for user in users for question in user.conversation.questions if question.gold]
        self._memory.search("what did we say?", user="nobody")  # loads the model
        for done, (user, question) in enumerate(asked, 1):
            values = self._searched(user, question)
            values |= self._assembled(user, question, f"new-session-{done}")
            key = f"{user.data}/{user.conversation.id}/{question.id}"
            yield Answered(user.data, key, question.category, values)
            progress(done, len(asked))

    def _searched(self, user: Speaking, question: Question) -> dict[str, float]:
        ranking = [
            Found(hit.id, hit.turn.session, self._counter.count(hit.text)) for hit in self._search(user, question)
        ]
        sessions = {user.sessions[user.turns[gold].session] for gold in question.gold}
        return measures(ranking, question.gold, sessions, self._depths, question.superseded)

    def _search(self, user: Speaking, question: Question) -> Hits:
        self._embedder.query_s = 0.0
        started = time.perf_counter()
        hits = self._memory.search(question.text, user=user.user, k=max(*self._depths, LEAST_DEPTH))
        self.times.search.append(time.perf_counter() - started)
        self.times.embedding.append(self._embedder.query_s)
        self.degraded.update(hits.degraded)
        self._memory.wait()
        return hits

    def _assembled(self, user: Speaking, question: Question, session: str) -> dict[str, float]:
        values: dict[str, float] = {}
        for budget in self._budgets:
            started = time.perf_counter()
            context = self._memory.context(question.text, user=user.user, session=session, budget=budget)
            self.times.context.append(time.perf_counter() - started)
            self.degraded.update(context.degraded)
            self._memory.wait()
            shown = sum(shows(context.assembly, user, gold) for gold in question.gold)
            values[f"ctx@{budget}"] = shown / len(question.gold)
            values[f"ctx_tokens@{budget}"] = float(context.tokens)
        return values


def shows(assembly: Assembly, user: Speaking, gold: str) -> bool:
    """Whether a prompt holds the turn, or another of the same words, and the words stand there as they were said.
    The words alone would not do: a short answer stands inside many a longer one."""
    text = user.turns[gold].text
    held = {item.id for item in assembly.items}
    return escape(text) in assembly.text and not held.isdisjoint(user.twins[text])
