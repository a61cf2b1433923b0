"""The loss certificate: which facts of the sources a summary keeps, and the pins that carry those it lost.

    share = facts kept / facts of the sources   (1 where there are none)

Laws: every fact that is read in the sources is either kept or missing, once, and the certificate says how much of them
was not read (see `reading`); a fact counts as kept only where the text holds it
whole, or the same fact in another spelling. Pins cost no more than they may, leave the node strictly
smaller than its sources and name the most important first; what found no room is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from libravdb_memory.compact.preserve import tokens_of
from libravdb_memory.compact.reading import read
from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.compact.spans import Kind, Span, folded, holds, spans
from libravdb_memory.tokens import TokenCounter, share_of

PREFIX = "pinned: "
_SEPARATOR = ", "
_IMPORTANCE: dict[Kind, int] = {"identifier": 0, "path": 0, "url": 0, "date": 1, "number": 1, "name": 2, "negation": 3}
_LITTLE = 4
_LEAST_DIGITS = 2
"""A number of one digit says next to nothing by itself."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something the sources say, as they first say it; `count` is how often."""

    kind: Kind
    text: str
    key: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Certificate:
    """`kept` and `missing` in the order in which the sources say them. Of the `characters` of the sources so many were
    left `unread`, and of the facts there nothing is certified."""

    kept: tuple[Fact, ...]
    missing: tuple[Fact, ...]
    characters: int = 0
    unread: int = 0

    @property
    def share(self) -> float:
        total = len(self.kept) + len(self.missing)
        return len(self.kept) / total if total else 1.0


@dataclass(frozen=True, slots=True)
class Pins:
    """The lost facts as one line, or nothing. `dropped` are those for which there was no room."""

    text: str = ""
    pinned: tuple[Fact, ...] = ()
    dropped: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class CertifiedSummary:
    """`text` is all that a summary's node says, pins included: searched, injected and priced as one."""

    text: str
    tokens: int
    certificate: Certificate
    pins: Pins


def facts(texts: Iterable[str]) -> tuple[Fact, ...]:
    """The facts of some texts, each once, in order of appearance."""
    found: dict[tuple[Kind, str], list[Span]] = {}
    for text in texts:
        for span in spans(text):
            found.setdefault((span.kind, span.key), []).append(span)
    return tuple(Fact(kind, same[0].text, key, len(same)) for (kind, key), same in found.items())


def certify(sources: Sequence[str], summary: str) -> Certificate:
    beginnings = read(sources)
    characters = sum(map(len, sources))
    found = certify_facts(facts(beginnings), summary)
    return Certificate(found.kept, found.missing, characters, characters - sum(map(len, beginnings)))


def certify_facts(wanted: Iterable[Fact], summary: str) -> Certificate:
    """A node is read as its summary and its pins, each by itself: what one says must not change how the other reads."""
    said = folded(summary)
    keys = {(span.kind, span.key) for part in summary.split(f"\n{PREFIX}") for span in spans(part)}
    kept: list[Fact] = []
    missing: list[Fact] = []
    for fact in wanted:
        there = (fact.kind, fact.key) in keys or holds(said, folded(fact.text))
        (kept if there else missing).append(fact)
    return Certificate(tuple(kept), tuple(missing))


def pins(
    certificate: Certificate, summary: str, source_tokens: int, settings: CompactionSettings, counter: TokenCounter
) -> Pins:
    """The missing facts, as many as may be pinned to this summary of so many tokens; none when enough were kept."""
    if certificate.share >= settings.certificate_threshold:
        return Pins()
    ordered = sorted(certificate.missing, key=_importance)
    listed = _not_inside_another(ordered)
    bare = counter.count(summary)
    room = min(share_of(source_tokens, settings.pin_share), settings.pin_tokens)
    most = min(bare + room, source_tokens - 1)
    length = _longest(listed, lambda text: counter.count(_node(summary, text)) <= most)
    text = _rendered(listed[:length])
    said = folded(text)
    pinned = tuple(fact for fact in ordered if holds(said, folded(fact.text)))
    return Pins(text, pinned, tuple(fact for fact in ordered if not holds(said, folded(fact.text))))


def certified(
    sources: Sequence[str], summary: str, settings: CompactionSettings, counter: TokenCounter
) -> CertifiedSummary:
    """A summary with its certificate and pins. Strictly smaller than its sources if the bare summary was."""
    certificate = certify(sources, summary)
    pinned = pins(certificate, summary, tokens_of(sources, counter), settings, counter)
    text = _node(summary, pinned.text)
    return CertifiedSummary(text, counter.count(text), certificate, pinned)


def _node(summary: str, pinned: str) -> str:
    return f"{summary}\n{pinned}" if pinned else summary


def _importance(fact: Fact) -> tuple[int, int]:
    rank = _IMPORTANCE[fact.kind]
    if fact.kind == "number" and sum(map(str.isdigit, fact.text)) < _LEAST_DIGITS and fact.text.isdigit():
        rank = _LITTLE
    return rank, -fact.count


def _not_inside_another(ordered: Sequence[Fact]) -> list[Fact]:
    """Without those that a longer one, at least as important as dates are, says too."""
    said = ""
    inside: set[Fact] = set()
    for fact in sorted(ordered, key=lambda fact: -len(fact.text)):
        text = folded(fact.text)
        if holds(said, text):
            inside.add(fact)
        elif fact.kind not in ("name", "negation"):
            said += f"{text}\n"
    return [fact for fact in ordered if fact not in inside]


def _longest(listed: Sequence[Fact], fits: Callable[[str], bool]) -> int:
    low, high = 0, len(listed)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(_rendered(listed[:middle])):
            low = middle
        else:
            high = middle - 1
    return low


def _rendered(listed: Sequence[Fact]) -> str:
    return PREFIX + _SEPARATOR.join(" ".join(fact.text.split()) for fact in listed) if listed else ""
