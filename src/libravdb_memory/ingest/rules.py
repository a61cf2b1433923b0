"""The rules a partition states, each with its place, its action and the scope it holds in.

A rule is read where it stands: a heading such as "Never" turns bare instructions below it into prohibitions, and a
heading or lead-in that names a setting ("Python", "When reviewing:") limits them to it. Law: one pass over the nodes;
the same partition states the same rules.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace

from libravdb_memory.ingest.actions import (
    Action,
    Words,
    action_of,
    forbids_what_follows,
    normal_form,
    words_of,
)
from libravdb_memory.ingest.deontic import Modality
from libravdb_memory.ingest.markdown import BlockKind
from libravdb_memory.ingest.partition import Node, Partition, Tier

_SETTINGS = frozenset(
    "python go golang rust java javascript typescript kotlin swift ruby php perl lua scala haskell elixir c "
    "bash shell sql html css react vue django rails node docker kubernetes terraform frontend backend server "
    "client mobile web desktop ios android windows linux macos unix production prod staging development dev "
    "local ci test tests testing docs documentation makefile makefiles yaml json toml markdown mode phase "
    "stage step version legacy emergency incident hotfix release draft example examples deprecated".split()
)
_SETTING_OPENERS = frozenset("if when while during before after for in on inside outside unless until as with".split())
_LEAD_CHARS = 160  # how far before and after a clause its label and its exception are looked for
_LEAD = re.compile(r"(?:^|[.!?;\n—])([^.!?;\n—]*):[\s*_]*\Z")
_TRAIL = re.compile(r"[^.!?\n]*")
_NARROWING = frozenset("if when whenever unless until while except only".split())
_LINE = re.compile(r"(?P<indent>[ \t>]*)(?P<bullet>(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|\Z))?(?P<words>.*)")
_CROSSES = ("❌", "🚫", "⛔", "✗", "✘", "✖", "👎")
_FENCE = ("```", "~~~")


@dataclass(frozen=True, slots=True)
class RulePlace:
    """Where a rule is stated; `line` counts from 1, `node` is the ordinal."""

    document: str
    line: int
    node: int
    text: str


@dataclass(frozen=True, slots=True)
class StatedRule:
    place: RulePlace
    action: Action
    scope: Words


@dataclass(frozen=True, slots=True)
class _Setting:
    """What the surroundings say about a rule."""

    negative: bool = False
    scope: Words = ()

    def under(self, text: str) -> _Setting:
        words = words_of(text)
        if not words:
            return self
        narrows = words[0] in _SETTING_OPENERS or not _SETTINGS.isdisjoint(words)
        return _Setting(
            self.negative or forbids_what_follows(words), self.scope + (normal_form(words) if narrows else ())
        )


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    text: str
    setting: _Setting


def stated_rules(document: str, divided: Partition) -> Iterator[StatedRule]:
    """Every rule of the hard and soft nodes that has a normal form, in reading order."""
    outer = _Setting(scope=(document,)) if document.lower().endswith("skill.md") else _Setting()
    sections: list[tuple[int, _Setting]] = [(0, outer)]
    lead: _Setting | None = None
    for node in divided.nodes:
        if node.kind is BlockKind.HEADING:
            level = _heading_level(node.text)
            sections = [section for section in sections if section[0] < level]
            sections.append((level, sections[-1][1].under(_heading_words(node.text))))
            lead = None
            continue
        here = sections[-1][1]
        if node.tier is not Tier.VARIANT and node.kind is not BlockKind.FRONT_MATTER:
            yield from _rules_of_node(document, node, lead if lead and node.kind is BlockKind.LIST_ITEM else here)
        if node.kind is not BlockKind.LIST_ITEM:
            lead = here.under(node.text) if node.text.rstrip("*_ ").endswith(":") else None


def _rules_of_node(document: str, node: Node, setting: _Setting) -> Iterator[StatedRule]:
    lines = _lines(node.text, setting)
    for clause in _clauses(node, lines):
        action = _action(node, clause)
        if action is not None:
            line = node.line + clause.line
            yield StatedRule(RulePlace(document, line, node.ordinal, clause.text), action, clause.setting.scope)


@dataclass(frozen=True, slots=True)
class _Clause:
    text: str
    line: int
    scanned: Modality | None
    setting: _Setting
    label: str = ""
    trail: str = ""


def _clauses(node: Node, lines: list[_Line]) -> Iterator[_Clause]:
    starts = [line.start for line in lines]
    marked = set[int]()
    for at, mark in enumerate(node.marks):
        floor = node.marks[at - 1].end if at else 0
        ceiling = node.marks[at + 1].start if at + 1 < len(node.marks) else len(node.text)
        index = max(bisect_right(starts, mark.start) - 1, 0)
        marked.update(range(index, max(bisect_right(starts, mark.end - 1), index + 1)))
        label = _LEAD.search(node.text, max(floor, mark.start - _LEAD_CHARS), mark.start)
        trail = _TRAIL.match(node.text, mark.end, min(ceiling, mark.end + _LEAD_CHARS))
        text = node.text[mark.start : mark.end]
        yield _Clause(
            text, index, mark.modality, lines[index].setting, label[1] if label else "", trail[0] if trail else ""
        )
    if node.tier is Tier.HARD:
        for index, line in enumerate(lines):
            if index not in marked and line.text:
                yield _Clause(line.text, index, None, line.setting)


def _action(node: Node, clause: _Clause) -> Action | None:
    text = f"{clause.label.strip(' -*+>_')}: {clause.text}" if clause.label else clause.text
    action = action_of(text, clause.scanned, negative=clause.setting.negative)
    if action is None or (clause.scanned is None and not (action.explicit or clause.setting.negative)):
        return None
    narrowing = words_of(clause.trail)
    if _NARROWING.isdisjoint(narrowing):
        return action
    return Action(action.modality, action.words, action.condition + normal_form(narrowing), action.explicit)


def _lines(text: str, outer: _Setting) -> list[_Line]:
    """The lines of a node without markers, each in the setting of the lead-ins above it; code is left empty."""
    lines: list[_Line] = []
    leads: list[tuple[int, _Setting]] = []
    fence, position = "", 0
    for raw in text.splitlines(keepends=True):
        found = _LINE.match(raw)
        indent, words = (len(found["indent"].expandtabs(4)), found["words"].strip()) if found else (0, "")
        start, position = position, position + len(raw)
        if fence or words.startswith(_FENCE):
            fence = _fence_after(fence, words)
            lines.append(_Line(start, "", outer))
            continue
        if words:
            leads = [lead for lead in leads if lead[0] < indent]
        setting = leads[-1][1] if leads else outer
        lines.append(_Line(start, words, replace(setting, negative=True) if words.startswith(_CROSSES) else setting))
        if words.rstrip("*_ ").endswith(":"):
            leads.append((indent, setting.under(words)))
    return lines


def _fence_after(fence: str, words: str) -> str:
    if not fence:
        return words[:3]
    return "" if words.startswith(fence) and not words.strip("`~") else fence


def _heading_level(text: str) -> int:
    opened = text.lstrip("\ufeff ")
    marks = len(opened) - len(opened.lstrip("#"))
    if marks:
        return marks
    return 1 if text.rstrip().endswith("=") else 2


def _heading_words(text: str) -> str:
    if text.lstrip("\ufeff ").startswith("#"):
        return text.strip("\ufeff# \t")
    return "\n".join(text.splitlines()[:-1])
