"""What is wrong with a set of rules: contradictions, duplicates, rules that no longer fit, and what mistakes cost.

    Axiom D: no action is both obligatory and forbidden.
    expected waste = P_fp x lore paragraphs x their mean tokens

where P_fp is the scanner's measured rate of lore taken for a rule. Rules meet by a hash of their normal form, never
pair by pair, so the cost is linear in the rules. Two rules contradict or repeat each other only when action, condition
and scope are all equal: what is reported should be worth reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.ingest.actions import Words, normal_form, without_universals, words_of
from libravdb_memory.ingest.deontic import Modality
from libravdb_memory.ingest.markdown import BlockKind
from libravdb_memory.ingest.partition import (
    HARD_SHARE,
    SOFT_SHARE,
    Node,
    Overrun,
    Partition,
    Placed,
    Tier,
    check_hard_budget,
    placed_nodes,
    share_of,
    soft_prefix,
)
from libravdb_memory.ingest.rules import RulePlace, StatedRule, stated_rules

_Topic: TypeAlias = tuple[Words, Words, Words]  # action, condition, scope


@dataclass(frozen=True, slots=True)
class RuleBudget:
    """The prompt budget rules are checked against, and the shares of it that hard and soft rules may take."""

    tokens: int = 4000
    hard_share: float = HARD_SHARE
    soft_share: float = SOFT_SHARE

    def __post_init__(self) -> None:
        share_of(self.tokens, self.hard_share)
        share_of(self.tokens, self.soft_share)


@dataclass(frozen=True, slots=True)
class LintedNode:
    """`fits` is false for a soft node that the budget cuts off, and for hard nodes when they overrun theirs."""

    document: str
    node: Node
    modalities: tuple[Modality, ...]
    fits: bool


@dataclass(frozen=True, slots=True)
class Contradiction:
    """One action, obliged in some places and forbidden in others."""

    action: str
    obligatory: tuple[RulePlace, ...]
    forbidden: tuple[RulePlace, ...]


@dataclass(frozen=True, slots=True)
class Duplicate:
    """One rule stated in several places."""

    rule: str
    places: tuple[RulePlace, ...]


@dataclass(frozen=True, slots=True)
class Waste:
    """What lore taken for rules is expected to cost."""

    false_positive_rate: float
    lore_paragraphs: int
    mean_tokens: float

    @property
    def expected_tokens(self) -> float:
        return self.false_positive_rate * self.lore_paragraphs * self.mean_tokens


@dataclass(frozen=True, slots=True)
class UnreadFrontMatter:
    document: str
    problem: str


@dataclass(frozen=True, slots=True)
class LintReport:
    nodes: tuple[LintedNode, ...]
    contradictions: tuple[Contradiction, ...]
    duplicates: tuple[Duplicate, ...]
    hard_overrun: Overrun | None
    soft_limit: int
    soft_cut: tuple[Placed, ...]
    unread_front_matter: tuple[UnreadFrontMatter, ...]
    waste: Waste

    @property
    def clean(self) -> bool:
        flagged = self.contradictions or self.duplicates or self.soft_cut or self.unread_front_matter
        return not flagged and self.hard_overrun is None


def lint(documents: Mapping[str, Partition], budget: RuleBudget, *, false_positive_rate: float = 0.0) -> LintReport:
    """Check documents together, in the order given; `false_positive_rate` is the scanner's measured P_fp."""
    if not 0 <= false_positive_rate <= 1:
        raise InvalidInputError("false_positive_rate", f"is {false_positive_rate}; must lie between 0 and 1")
    overrun = check_hard_budget(documents, budget.tokens, budget.hard_share)
    soft_limit = _soft_limit(documents, budget)
    cut = _soft_cut(documents, soft_limit)
    rules = [rule for name, document in documents.items() for rule in stated_rules(name, document)]
    return LintReport(
        nodes=tuple(_linted(documents, cut, hard_fits=overrun is None)),
        contradictions=contradictions(rules),
        duplicates=duplicates(documents, rules),
        hard_overrun=overrun,
        soft_limit=soft_limit,
        soft_cut=cut,
        unread_front_matter=tuple(
            UnreadFrontMatter(name, document.front_matter_problem)
            for name, document in documents.items()
            if document.front_matter_problem
        ),
        waste=expected_waste(documents.values(), false_positive_rate),
    )


def contradictions(rules: Iterable[StatedRule]) -> tuple[Contradiction, ...]:
    """Actions that are both obligatory and forbidden, in the order in which they are first forbidden."""
    obliged: dict[_Topic, list[RulePlace]] = {}
    forbidden: dict[_Topic, list[RulePlace]] = {}
    for rule in rules:
        if rule.action.modality == "forbidden":
            forbidden.setdefault(_topic(rule), []).append(rule.place)
        elif rule.action.modality == "obligatory":
            for topic in dict.fromkeys((_topic(rule), _narrower_topic(rule))):
                obliged.setdefault(topic, []).append(rule.place)
    return tuple(
        Contradiction(_spoken(topic), tuple(obliged[topic]), tuple(places))
        for topic, places in forbidden.items()
        if topic in obliged
    )


def duplicates(documents: Mapping[str, Partition], rules: Sequence[StatedRule]) -> tuple[Duplicate, ...]:
    """What is said more than once: whole nodes with the same words, then single rules.

    A node that states one rule repeats by that rule, however it is worded. A node of several rules, or of none that has
    a normal form, repeats by its words, and then its rules are not reported again.
    """
    stated: dict[tuple[Modality, _Topic], list[RulePlace]] = {}
    for rule in rules:
        stated.setdefault((rule.action.modality, _topic(rule)), []).append(rule.place)
    rules_in = Counter((rule.place.document, rule.place.node) for rule in rules)
    whole = _repeated_nodes(documents, rules_in)
    group_of = {(p.document, p.node): number for number, repeated in enumerate(whole) for p in repeated.places}
    single = [
        Duplicate(f"{modality}: {_spoken(topic)}", tuple(places))
        for (modality, topic), places in stated.items()
        if len(places) > 1
    ]
    return (*whole, *(duplicate for duplicate in single if not _explained(duplicate, group_of)))


def expected_waste(documents: Iterable[Partition], false_positive_rate: float) -> Waste:
    lore = [
        node.tokens
        for document in documents
        for node in document.of_tier(Tier.VARIANT)
        if node.kind is BlockKind.PARAGRAPH
    ]
    return Waste(false_positive_rate, len(lore), sum(lore) / len(lore) if lore else 0.0)


def _topic(rule: StatedRule) -> _Topic:
    return rule.action.words, rule.action.condition, rule.scope


def _narrower_topic(rule: StatedRule) -> _Topic:
    """A duty to all is a duty to some: "log all requests" meets "never log requests"; the reverse does not hold."""
    return without_universals(rule.action.words), rule.action.condition, rule.scope


def _spoken(topic: _Topic) -> str:
    action, condition, scope = topic
    parts = [" ".join(action)]
    parts += [f"[{' '.join(narrowing)}]" for narrowing in (condition, scope) if narrowing]
    return " ".join(parts)


def _repeated_nodes(documents: Mapping[str, Partition], rules_in: Mapping[tuple[str, int], int]) -> list[Duplicate]:
    places: dict[tuple[Tier, Words], list[RulePlace]] = {}
    for name, document in documents.items():
        for node in document.nodes:
            if (
                node.tier is Tier.VARIANT
                or node.kind is BlockKind.FRONT_MATTER
                or rules_in.get((name, node.ordinal)) == 1
            ):
                continue
            words = normal_form(words_of(node.text))
            if len(words) > 1:
                place = RulePlace(name, node.line, node.ordinal, node.text)
                places.setdefault((node.tier, words), []).append(place)
    return [Duplicate(" ".join(words), tuple(found)) for (_, words), found in places.items() if len(found) > 1]


def _explained(duplicate: Duplicate, group_of: Mapping[tuple[str, int], int]) -> bool:
    """Whether repeated nodes, already reported, are the whole reason why this rule is repeated."""
    groups = {group_of.get((place.document, place.node)) for place in duplicate.places}
    return len(groups) == 1 and None not in groups


def _soft_limit(documents: Mapping[str, Partition], budget: RuleBudget) -> int:
    hard = sum(placed.node.tokens for placed in placed_nodes(documents, Tier.HARD))
    return max(min(share_of(budget.tokens, budget.soft_share), budget.tokens - hard), 0)


def _soft_cut(documents: Mapping[str, Partition], limit: int) -> tuple[Placed, ...]:
    soft = placed_nodes(documents, Tier.SOFT)
    return soft[len(soft_prefix((placed.node for placed in soft), limit)) :]


def _linted(documents: Mapping[str, Partition], cut: tuple[Placed, ...], *, hard_fits: bool) -> Iterable[LintedNode]:
    cut_off = {(placed.document, placed.node.ordinal) for placed in cut}
    for name, document in documents.items():
        for node in document.nodes:
            fits = (name, node.ordinal) not in cut_off and (hard_fits or node.tier is not Tier.HARD)
            yield LintedNode(name, node, tuple(dict.fromkeys(mark.modality for mark in node.marks)), fits)
