"""When a prompt holds what a turn said, though its text may be there no more.

A turn is *told* when its own words stand in the prompt, or when something that covers it does (a summary, or a rule
kept of it) and holds every fact of the turn. A turn without any fact needs three in five of its content words there.

Law: whatever is shown word for word is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

from libravdb_memory.assemble.fill import Offer
from libravdb_memory.assemble.receipt import Assembly
from libravdb_memory.assemble.render import escape
from libravdb_memory.bench.retrieval.asking import Speaking
from libravdb_memory.compact.certificate import certify_facts, facts
from libravdb_memory.compact.salience import content_words, words
from libravdb_memory.shards import shard_key

ENOUGH_WORDS = 0.6


@dataclass(frozen=True, slots=True)
class Covering:
    """The turns below each summary, by their ids; and the id that a rule kept of a turn has."""

    summaries: Mapping[str, Set[str]]
    user: str
    session: str

    def rule_of(self, turn: str) -> str:
        return shard_key(self.user, self.session, turn).id

    def covers(self, item: str, turn: str) -> bool:
        return item == self.rule_of(turn) or turn in self.summaries.get(item, frozenset())


NOTHING_COVERED = Covering({}, "", "")


@dataclass(frozen=True, slots=True)
class Seen:
    """What a prompt holds of one turn: its own words, or at least its facts."""

    shown: bool
    told: bool


def seen(offer: Offer, assembly: Assembly, user: Speaking, turn: str, covering: Covering) -> Seen:
    """Of what was offered, the assembly says what came into the prompt."""
    text, held = user.turns[turn].text, {item.id for item in assembly.items}
    twins = user.twins[text]
    rules = {covering.rule_of(twin) for twin in twins}
    shown = escape(text) in assembly.text and not held.isdisjoint(twins | rules)
    if shown:
        return Seen(shown=True, told=True)
    return Seen(shown=False, told=any(tells(said, text) for said in _covering_texts(offer, held, turn, covering)))


def tells(summary: str, text: str) -> bool:
    """Whether a summary holds the facts of a text."""
    if wanted := facts([text]):
        return not certify_facts(wanted, summary).missing
    content = content_words(words(text))
    return bool(content) and len(content & content_words(words(summary))) >= ENOUGH_WORDS * len(content)


def _covering_texts(offer: Offer, held: Set[str], turn: str, covering: Covering) -> Iterator[str]:
    for candidate in (*offer.elevated, *offer.recalled, *offer.recovered):
        if candidate.id in held and covering.covers(candidate.id, turn):
            yield candidate.text
