"""One session for each conversation; every question asked inside it and in a new one, before and after its older part
is compacted.

Laws: as in the retrieval benchmark, the product sees nothing of labels. The two ways are asked in two stores that were
one until then, so that no question has changed what the other way finds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from libravdb_memory.bench.compaction.evidence import NOTHING_COVERED, Covering, seen
from libravdb_memory.bench.retrieval.asking import BUDGETS, Answered, Speaking, users_of
from libravdb_memory.bench.retrieval.dataset import DataSet, Question
from libravdb_memory.bench.retrieval.metrics import recall
from libravdb_memory.lineage import Branch
from libravdb_memory.memory import Memory
from libravdb_memory.model import Turn
from libravdb_memory.store.protocol import Progress
from libravdb_memory.summaries import Node

SESSION = "session"
FROM = {"ctx": SESSION, "ctx_new": "a new session"}
"""Where a question is asked, by the name of the measure: in the session itself, and in one that has no turns yet."""
DEPTH = 10
_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Summarised:
    """A summary with the exact turns below it, in order."""

    node: Node
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Compacted:
    """A session as it stands: every summary, those that no other covers, and the turns that nothing covers."""

    summaries: tuple[Summarised, ...]
    roots: tuple[Summarised, ...]
    bare: tuple[Turn, ...]

    @property
    def reachable(self) -> Mapping[str, str]:
        """The text of every turn that is bare or below a root, by its id."""
        turns = (*self.bare, *(turn for root in self.roots for turn in root.turns))
        return {turn.id: turn.text for turn in turns}


def one_session_each(data: Sequence[DataSet]) -> list[Speaking]:
    """A user for each conversation, all of whose turns are in one session."""
    return [replace(user, sessions=dict.fromkeys(user.sessions, SESSION)) for user in users_of(data)]


def compacted(memory: Memory, user: str) -> Compacted:
    history = memory.history(user=user, session=SESSION)
    roots = [entry for entry in history.entries if isinstance(entry, Branch)]
    known = {node.id: Summarised(node, _below(memory, node)) for root in roots for node in _nodes(root)}
    return Compacted(
        summaries=tuple(known.values()),
        roots=tuple(known[root.node.id] for root in roots),
        bare=tuple(entry for entry in history.entries if isinstance(entry, Turn)),
    )


class Asking:
    """`degraded` counts what searches and contexts said they had to do without."""

    def __init__(self, memory: Memory, sessions: Mapping[str, Compacted]) -> None:
        self._memory = memory
        self._covering = {
            user: Covering({each.node.id: {turn.id for turn in each.turns} for each in session.roots}, user, SESSION)
            for user, session in sessions.items()
        }
        self.degraded: Counter[str] = Counter()

    def answers(self, users: Sequence[Speaking], progress: Progress) -> Iterator[Answered]:
        asked = [(user, question) for user in users for question in user.conversation.questions if question.gold]
        for done, (user, question) in enumerate(asked, 1):
            values = self._searched(user, question) | self._assembled(user, question)
            key = f"{user.data}/{user.conversation.id}/{question.id}"
            yield Answered(user.data, key, question.category, values)
            progress(done, len(asked))

    def _searched(self, user: Speaking, question: Question) -> dict[str, float]:
        hits = self._memory.search(question.text, user=user.user, k=DEPTH)
        self.degraded.update(hits.degraded)
        self._memory.wait()
        return {f"R@{DEPTH}": recall([hit.id for hit in hits], question.gold, DEPTH)}

    def _assembled(self, user: Speaking, question: Question) -> dict[str, float]:
        values: dict[str, float] = {}
        for name, session in FROM.items():
            for budget in BUDGETS:
                values |= self._contained(user, question, name, session, budget)
        return values

    def _contained(self, user: Speaking, question: Question, name: str, session: str, budget: int) -> dict[str, float]:
        covering = self._covering.get(user.user, NOTHING_COVERED)
        context = self._memory.context(question.text, user=user.user, session=session, budget=budget)
        self.degraded.update(context.degraded)
        self._memory.wait()
        offer, assembly = context.receipt.offer, context.assembly
        found = [seen(offer, assembly, user, gold, covering) for gold in question.gold]
        held = [item for item in assembly.items if item.id in covering.summaries]
        return {
            f"{name}@{budget}": sum(each.told for each in found) / len(found),
            f"{name}_words@{budget}": sum(each.shown for each in found) / len(found),
            f"{name}_tokens@{budget}": float(context.tokens),
            f"{name}_tokens@{budget}_of_summaries": float(sum(item.tokens for item in held)),
        }


def _below(memory: Memory, node: Node) -> tuple[Turn, ...]:
    found: list[Turn] = []
    after: str | None = None
    while True:
        page = memory.expand(node.id, user=node.namespace, session=node.session, limit=_PAGE, after=after)
        found += [item for item in page.items if isinstance(item, Turn)]
        after = page.cursor
        if after is None:
            return tuple(found)


def _nodes(branch: Branch) -> Iterator[Node]:
    yield branch.node
    for below in branch.below:
        yield from _nodes(below)
