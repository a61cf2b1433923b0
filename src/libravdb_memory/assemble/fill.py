"""Filling the budget: six claims, in order, each exact.

    1 hard rules, all · 2 base tail: the last m turns · 3 soft rules: the longest prefix within
    min(alpha2·tau, tau - 1 - 2) · 4 tail extension: the longest bundle-safe suffix within
    min(max(beta·tau, base), tau - 1 - 3) · 5 elevated guidance above the similarity bound within
    min(rho_E·tau, rest) · 6 recall by descending score within the rest

Laws: the price is that of the whole rendered text, frames and escapes included, and never exceeds tau unless 1 and 2
alone do; then exactly those are returned, whole, marked as degraded. Nothing is injected twice, and nothing that the
host's messages already show. Guidance stands in the order in which it was given, whatever order it was admitted in;
a rule that was taken back, and the turn that states it, is admitted with what takes it back, or not at all.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from libravdb_memory.assemble.budget import AssemblySettings, recovery_reserve
from libravdb_memory.assemble.receipt import Assembly, Degraded, Item, Reason, Rejection, TierUse
from libravdb_memory.assemble.render import (
    Plan,
    Tier,
    entry,
    guidance_entry,
    lines_of,
    render,
    shares_frame,
    with_entries,
)
from libravdb_memory.assemble.tail import TailTurn, base_start, safe_starts
from libravdb_memory.tokens import Pricing, TokenCounter, share_of
from libravdb_memory.wording import counted

BESIDE_ITS_RULE = "beside_its_rule"
"""Part of a score: it is in the prompt for the rule that it takes back."""
_JOINING = frozenset(("also", "and", "but", "or", "please", "plus", "so"))


@dataclass(frozen=True, slots=True)
class Rule:
    """An authored node that claims its place by law."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that may be recalled. `source` names its scope in the prompt. Of a summary, `covers_from` is the id of
    the first turn below it, and `covers_visible` says that the host's messages show that turn. `place` tells which of
    two of one moment came later. `taken_back_by` are the ids of the guidance offered that takes back what this says."""

    id: str
    text: str
    score: float
    role: str
    source: str
    ts: int = 0
    speaker: str | None = None
    session: str = ""
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    covers_from: str = ""
    covers_visible: bool = False
    place: int = 0
    taken_back_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Offer:
    """Everything that may enter a prompt. `turns` is the newest part of the session, oldest first; `recalled` is in
    descending score, `elevated` in the order in which it is to be admitted; `recovered` comes from raw history when
    recall looked weak. `visible` holds the texts that the host's own messages already show."""

    budget: int
    hard: tuple[Rule, ...] = ()
    soft: tuple[Rule, ...] = ()
    turns: tuple[TailTurn, ...] = ()
    elevated: tuple[Candidate, ...] = ()
    recalled: tuple[Candidate, ...] = ()
    recovered: tuple[Candidate, ...] = ()
    visible: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Chosen:
    tier: Tier
    id: str
    rendered: str
    session: str = ""
    score: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict[str, float])


_Order: TypeAlias = tuple[int, int]
_Entry: TypeAlias = tuple[_Order, _Chosen]


def fill(offer: Offer, counter: TokenCounter, settings: AssemblySettings) -> Assembly:
    return _Filling(offer, counter, settings).run()


def same_text(text: str) -> str:
    """The form in which two texts count as one for de-duplication."""
    return " ".join(text.split())


def same_rule(text: str) -> str:
    """The form in which two rules say the same: their words, without those that only join them to what was said."""
    words = re.findall(r"\w+", text.casefold())
    start = next((place for place, word in enumerate(words) if word not in _JOINING), 0)
    return " ".join(words[start:]) or same_text(text)


class _Filling:
    """The claims, one method each; the plan grows, and with it the price of everything before."""

    def __init__(self, offer: Offer, counter: TokenCounter, settings: AssemblySettings) -> None:
        self._offer = offer
        self._count = counter.count
        self._pricing = Pricing(counter)
        self._settings = settings
        self._plan = Plan()
        self._price = 0
        self._tiers: dict[Tier, TierUse] = {}
        self._chosen: list[_Chosen] = []
        self._rejections: list[Rejection] = []
        self._taken_texts: set[str] = {same_text(text) for text in offer.visible}
        self._tail_ids: set[tuple[str, str]] = set()
        self._base = base_start(offer.turns, settings.tail_turns)
        self._rendered: dict[int, str] = {}
        self._guidance = {each.id: each for each in offer.elevated}

    def run(self) -> Assembly:
        self._claim_hard()
        hard = self._price
        self._claim_base()
        if self._price > self._offer.budget:
            return self._degraded(hard)
        base = self._price - hard
        self._claim_soft()
        start = self._claim_tail(base)
        self._claim_elevated()
        self._claim_recalled()
        self._claim_recovered()
        return self._assembly(start, None)

    # ── the claims ───────────────────────────────────────────────────────────────────────────────────────────────

    def _claim_hard(self) -> None:
        self._grow("hard", replace(self._plan, hard=tuple(rule.text for rule in self._offer.hard)), self._offer.budget)
        self._chosen += [_Chosen("hard", rule.id, rule.text) for rule in self._offer.hard]

    def _claim_base(self) -> None:
        self._grow("tail", replace(self._plan, tail=self._tail_entries(self._base)), self._offer.budget)

    def _claim_soft(self) -> None:
        tau, soft = self._offer.budget, self._offer.soft
        limit = max(min(share_of(tau, self._settings.soft_share), tau - self._price), 0)

        def with_prefix(length: int) -> Plan:
            return replace(self._plan, soft=tuple(rule.text for rule in soft[:length]))

        before = self._price
        length = _longest(len(soft), lambda length: self._cost(with_prefix(length)) - before <= limit)
        over = self._cost(with_prefix(length + 1)) - before - limit if length < len(soft) else 0
        self._grow("soft", with_prefix(length), limit)
        self._chosen += [_Chosen("soft", rule.id, rule.text) for rule in soft[:length]]
        self._rejections += [Rejection("soft", rule.id, "budget", over) for rule in soft[length:]]

    def _claim_tail(self, base: int) -> int:
        tau = self._offer.budget
        fixed = self._price - base
        limit = min(max(share_of(tau, self._settings.tail_share), base), tau - fixed)
        starts = [start for start in safe_starts(self._offer.turns) if start < self._base][::-1]

        def with_extension(steps: int) -> Plan:
            return replace(self._plan, tail=self._tail_entries(starts[steps - 1] if steps else self._base))

        steps = _longest(len(starts), lambda steps: self._cost(with_extension(steps)) - fixed <= limit)
        start = starts[steps - 1] if steps else self._base
        self._grow("tail", with_extension(steps), limit)
        for index, turn in enumerate(self._offer.turns[start:], start):
            self._tail_ids.add((turn.session, turn.id))
            if not self._is_visible(turn.text):
                self._chosen.append(_Chosen("tail", turn.id, self._tail_entry(index), turn.session))
        self._taken_texts |= {same_text(turn.text) for turn in self._offer.turns[start:]}
        return start

    def _claim_elevated(self) -> None:
        """What is less like the prompt than the bound gets the same share, but only of what is left by now: where the
        newest turns take nearly all of a budget, recall needs the rest more. What takes a rule back then comes with its
        rule alone."""
        share, bound = self._settings.elevated_share, self._settings.guidance_similarity
        tau, rest = self._offer.budget, self._offer.budget - self._price
        limit = min(share_of(tau, share), rest)
        less = min(share_of(max(rest, 0), share), limit)
        changes = {name for each in self._offer.elevated for name in each.taken_back_by}
        least = {each.id: bound if each.id in changes else 0.0 for each in self._offer.elevated}
        alike = [each for each in self._offer.elevated if each.score > least[each.id]]
        groups = [self._with_what_takes_it_back(rule) for rule in self._stated_once(alike)]
        self._admit("elevated", groups, limit, lambda rule: limit if rule.score > bound else less)
        for candidate in self._offer.elevated:
            if candidate.score <= least[candidate.id]:
                self._reject("elevated", candidate, "below the similarity bound", bound - candidate.score)

    def _with_what_takes_it_back(self, said: Candidate) -> Sequence[Candidate]:
        """A rule, or a turn that states one, first; then what takes it back, what takes that back, and so on."""
        found = {said.id: said}
        names = list(said.taken_back_by)
        while names:
            name = names.pop()
            if name not in found and (change := self._guidance.get(name)):
                found[name] = replace(change, parts={**change.parts, BESIDE_ITS_RULE: 1.0})
                names += change.taken_back_by
        return tuple(found.values())

    def _stated_once(self, rules: Sequence[Candidate]) -> Iterator[Candidate]:
        """Of a rule that was stated again the last one, in the place of the first: something may have been said in
        between that took it back."""
        last: dict[str, Candidate] = {}
        for rule in rules:
            said = same_rule(rule.text)
            known = last.setdefault(said, rule)
            if known is not rule:
                earlier, last[said] = sorted((known, rule), key=lambda each: (each.ts, each.place))
                self._reject("elevated", earlier, "duplicate", 0)
        yield from last.values()

    def _claim_recalled(self) -> None:
        reserve = recovery_reserve(self._offer.budget) if self._offer.recovered else 0
        groups = map(self._with_what_takes_it_back, self._offer.recalled)
        self._admit("recalled", groups, self._offer.budget - self._price - reserve)

    def _claim_recovered(self) -> None:
        reserve = recovery_reserve(self._offer.budget)
        groups = map(self._with_what_takes_it_back, self._offer.recovered)
        self._admit("recovered", groups, min(reserve, self._offer.budget - self._price))

    # ── steps ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _admit(
        self,
        tier: Tier,
        groups: Iterable[Sequence[Candidate]],
        limit: int,
        limit_of: Callable[[Candidate], int] | None = None,
    ) -> None:
        """Take candidates in order while the tier stays within its limit, or within that of the candidate; a smaller
        one may fit after a larger. The first of a group comes with all others that are not there yet, or not at all;
        they come, too, where it is there by other ways."""
        limit = max(limit, 0)
        before = self._price
        admission = _Admission(self._pricing, self._plan, tier)
        for first, *others in groups:
            reason = self._redundant(first)
            if reason and not admission.has(first):
                self._reject(tier, first, reason, 0)
            fresh = [*(() if reason else (first,)), *(other for other in others if not self._redundant(other))]
            group = list({same_text(each.text): each for each in reversed(fresh)}.values())[::-1]
            if not group:
                continue
            entries = [_entry_of(tier, candidate) for candidate in group]
            price = admission.price_with(entries)
            over = price - before - (limit if limit_of is None else max(limit_of(first), 0))
            if over > 0:
                if not reason:
                    self._reject(tier, first, "budget", over)
                continue
            admission.take(entries)
            self._price = price
            self._taken_texts |= {same_text(candidate.text) for candidate in group}
        self._chosen += admission.taken
        self._plan = admission.plan
        self._tiers[tier] = TierUse(limit, self._price - before)

    def _redundant(self, candidate: Candidate) -> Reason | None:
        if {(candidate.session, candidate.id), (candidate.session, candidate.covers_from)} & self._tail_ids:
            return "in the tail"
        if candidate.covers_visible or self._is_visible(candidate.text):
            return "visible"
        return "duplicate" if same_text(candidate.text) in self._taken_texts else None

    def _is_visible(self, text: str) -> bool:
        return bool(self._offer.visible) and text in self._offer.visible

    def _tail_entries(self, start: int) -> tuple[str, ...]:
        turns = self._offer.turns
        return tuple(
            self._tail_entry(index) for index in range(start, len(turns)) if not self._is_visible(turns[index].text)
        )

    def _tail_entry(self, index: int) -> str:
        if index not in self._rendered:
            self._rendered[index] = _tail_entry(self._offer.turns[index])
        return self._rendered[index]

    def _grow(self, tier: Tier, plan: Plan, limit: int) -> None:
        before = self._price
        self._plan, self._price = plan, self._cost(plan)
        used = self._tiers[tier].used if tier in self._tiers else 0
        self._tiers[tier] = TierUse(limit, used + self._price - before)

    def _reject(self, tier: Tier, candidate: Candidate, reason: Reason, margin: float) -> None:
        self._rejections.append(
            Rejection(tier, candidate.id, reason, margin, candidate.session, candidate.score, candidate.parts)
        )

    def _cost(self, plan: Plan) -> int:
        return self._pricing.price(lines_of(plan))

    def _degraded(self, hard: int) -> Assembly:
        self._chosen += [
            _Chosen("tail", turn.id, _tail_entry(turn), turn.session)
            for turn in self._offer.turns[self._base :]
            if not self._is_visible(turn.text)
        ]
        offered: tuple[tuple[Tier, Sequence[Candidate]], ...] = (
            ("elevated", self._offer.elevated),
            ("recalled", self._offer.recalled),
            ("recovered", self._offer.recovered),
        )
        over = self._price - self._offer.budget
        self._rejections += [Rejection("soft", rule.id, "budget", over) for rule in self._offer.soft]
        for tier, candidates in offered:
            for candidate in candidates:
                self._reject(tier, candidate, "budget", over)
        newest = counted(len(self._offer.turns) - self._base, "turn")
        needed = counted(self._price, "token")
        reason = f"hard rules and the last {newest} need {needed}, the budget is {self._offer.budget:,}"
        return self._assembly(self._base, Degraded(reason, self._offer.budget, hard, self._price - hard))

    def _assembly(self, start: int, degraded: Degraded | None) -> Assembly:
        text = render(self._plan)
        shown = {(chosen.session, chosen.id) for chosen in self._chosen if chosen.tier not in ("hard", "soft", "tail")}
        return Assembly(
            text=text,
            tokens=self._price,
            budget=self._offer.budget,
            tiers=self._tiers,
            items=tuple(self._items(text)),
            rejections=tuple(each for each in self._rejections if (each.session, each.id) not in shown),
            tail_start=start,
            degraded=degraded,
        )

    def _items(self, text: str) -> Iterable[Item]:
        position = 0
        for chosen in self._chosen:
            position = text.index(chosen.rendered, position)
            tokens = self._count(chosen.rendered)
            yield Item(chosen.tier, chosen.id, tokens, position, chosen.session, chosen.score, chosen.parts)
            position += len(chosen.rendered)


class _Admission:
    """A tier growing by one entry or a few, with the price of everything after each step. Entries stand by their order;
    those of one order as they were taken."""

    def __init__(self, pricing: Pricing, plan: Plan, tier: Tier) -> None:
        self._pricing = pricing
        self._before = plan
        self._tier: Tier = tier
        self._taken: list[_Entry] = []
        self._measured = pricing.measured(lines_of(plan))

    @property
    def plan(self) -> Plan:
        return self._with([chosen.rendered for chosen in self.taken])

    @property
    def taken(self) -> list[_Chosen]:
        return [chosen for _, chosen in self._taken]

    def has(self, candidate: Candidate) -> bool:
        return any((chosen.session, chosen.id) == (candidate.session, candidate.id) for _, chosen in self._taken)

    def price_with(self, entries: Sequence[_Entry]) -> int:
        if self._measured is None:
            return self._pricing.price(lines_of(self._with([chosen.rendered for _, chosen in self._after(entries)])))
        return self._pricing.plus(self._measured, self._added(entries)).price

    def take(self, entries: Sequence[_Entry]) -> None:
        if self._measured is not None:
            self._measured = self._pricing.plus(self._measured, self._added(entries))
        self._taken = self._after(entries)

    def _after(self, entries: Sequence[_Entry]) -> list[_Entry]:
        after = list(self._taken)
        for each in entries:
            after.insert(bisect_right(after, each[0], key=_order_of), each)
        return after

    def _added(self, entries: Sequence[_Entry]) -> list[str]:
        """The lines that these add: the first of a frame brings the frame along."""
        rendered = [chosen.rendered for _, chosen in entries]
        if self._taken or shares_frame(self._before, self._tier):
            return rendered
        return lines_of(with_entries(Plan(), self._tier, rendered))

    def _with(self, entries: Sequence[str]) -> Plan:
        return with_entries(self._before, self._tier, entries) if entries else self._before


def _longest(most: int, fits: Callable[[int], bool]) -> int:
    """The largest length in [0, most] that fits, given that prices do not fall with length; 0 needs no proof."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _tail_entry(turn: TailTurn) -> str:
    return entry(turn.text, role=turn.role, source="session", speaker=turn.speaker)


def _guidance_entry(candidate: Candidate) -> str:
    return guidance_entry(candidate.text, speaker=candidate.speaker, ts=candidate.ts)


def _entry_of(tier: Tier, candidate: Candidate) -> _Entry:
    """Guidance stands in the order in which it was given."""
    order = (candidate.ts, candidate.place) if tier == "elevated" else (0, 0)
    rendered = _guidance_entry(candidate) if tier == "elevated" else _candidate_entry(candidate)
    return order, _Chosen(tier, candidate.id, rendered, candidate.session, candidate.score, candidate.parts)


def _order_of(entry: _Entry) -> _Order:
    return entry[0]


def _candidate_entry(candidate: Candidate) -> str:
    return entry(
        candidate.text, role=candidate.role, source=candidate.source, speaker=candidate.speaker, ts=candidate.ts
    )
