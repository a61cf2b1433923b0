"""How values look to a person.

Law: what was remembered is untrusted text; no control or direction character of it reaches a terminal as such.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator, Sequence

import click

from libravdb_memory.cli.dates import local_time
from libravdb_memory.doctor import Finding
from libravdb_memory.memory import Status
from libravdb_memory.model import Hit, Hits, Turn
from libravdb_memory.overflow import AtWork
from libravdb_memory.retrieve.query import phrases_of
from libravdb_memory.spent import Spent
from libravdb_memory.store.protocol import Verification
from libravdb_memory.wording import counted as counted
from libravdb_memory.wording import readable_size, two_digits

_INDENT = "    "
_MAX_LINES = 6
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_SUBJECT_WIDTH = 12
_NAMED = 3
_MARKS = {
    "ok": click.style("✓", fg="green"),
    "note": click.style("•", fg="yellow"),
    "problem": click.style("✗", fg="red", bold=True),
}
_ENDINGS = re.compile(r"(?<=\w{4})(?:ing|ed|es|s|ly)$")


# ── text from the past ───────────────────────────────────────────────────────────────────────────────────────────


def harmless(text: str) -> str:
    """The text with control characters made visible and direction marks spelt out."""
    return _UNSAFE.sub(_picture, text.replace("\r\n", "\n"))


def printable(text: str) -> str:
    """Exact when the output is read by a program, harmless on a terminal."""
    return harmless(text) if sys.stdout.isatty() else text


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"\\u{code:04x}"


# ── turns and hits ───────────────────────────────────────────────────────────────────────────────────────────────


def render_summary(turn: Turn) -> str:
    """One line: when, who, where."""
    return _when_and_who(turn) + click.style(in_one_line(f"{turn.user} / {turn.session}"), dim=True)


def _when_and_who(turn: Turn) -> str:
    who = turn.role if turn.speaker is None else f"{turn.speaker} ({turn.role})"
    return f"{click.style(local_time(turn.ts), dim=True)}  {in_one_line(who)}  "


def in_one_line(names: str) -> str:
    return harmless(names).replace("\n", "⏎")


def render_turn(turn: Turn, width: int) -> str:
    return "\n".join([render_summary(turn), *wrapped(turn.text, width, full=False)])


def render_exchange(turns: Sequence[Turn], width: int) -> str:
    """A conversation, a line a turn."""
    room = width - len(_INDENT) - 14
    texts = [(turn.role, textwrap.shorten(harmless(turn.text), room, placeholder=" …")) for turn in turns]
    return "\n".join(f"{_INDENT}{click.style(f'{role:>10}', dim=True)}  {text}" for role, text in texts)


def render_hits(query: str, hits: Hits, width: int, *, explain: bool = False, full: bool = False) -> str:
    terms = _terms(query)
    return "\n\n".join(_hit(rank, hit, terms, width, explain, full) for rank, hit in enumerate(hits, 1))


def _hit(rank: int, hit: Hit, terms: re.Pattern[str] | None, width: int, explain: bool, full: bool) -> str:
    score = click.style(two_digits(hit.score), fg="green", bold=True)
    place = click.style(in_one_line(f"{hit.turn.session}  {hit.id}"), dim=True)
    lines = [f"{rank:>2}  {score}  {_when_and_who(hit.turn)}{place}"]
    lines += wrapped(hit.text, width, full=full, terms=terms)
    if explain:
        lines += [_INDENT + click.style(line, fg="blue") for line in explanation(hit)]
    return "\n".join(lines)


def explanation(hit: Hit) -> tuple[str, ...]:
    """The addends of a score with the factor that age, use and authority put on them; then the evidence behind. The
    older laws have no addends, but factors."""
    addends = {name: hit.parts[name] for name in ("dense", "lexical", "around", "fit") if name in hit.parts}
    relevance = sum(addends.values())
    factor = hit.score / relevance if relevance else 1.0
    told = " + ".join(f"{name} {two_digits(value)}" for name, value in addends.items())
    told = told if abs(factor - 1.0) < 0.005 else f"({told}) × {factor:.2f}"
    evidence = {name: hit.parts[name] for name in ("cosine", "bm25") if name in hit.parts}
    factors = {} if addends else {name: value for name, value in hit.parts.items() if name not in evidence}
    worked = (f"{two_digits(hit.score)} = {told}",) if addends else ()
    return (
        *worked,
        *(", ".join(f"{name} {two_digits(part[name])}" for name in part) for part in (evidence, factors) if part),
    )


def _terms(query: str) -> re.Pattern[str] | None:
    """A pattern of the query's words, whatever their endings."""
    stems = {_ENDINGS.sub("", word) for phrase in phrases_of(query) for word in phrase}
    return re.compile(r"\b(?:" + "|".join(map(re.escape, sorted(stems))) + r")\w*", re.IGNORECASE) if stems else None


def wrapped(text: str, width: int, *, full: bool = True, terms: re.Pattern[str] | None = None) -> list[str]:
    paragraphs = [line for line in harmless(text).split("\n") if line.strip()]
    lines = [part for line in paragraphs for part in textwrap.wrap(line, width - len(_INDENT))]
    shown = lines if full or len(lines) <= _MAX_LINES else _best_window(lines, terms)
    return [_INDENT + (terms.sub(_emphasised, line) if terms else line) for line in shown]


def _best_window(lines: Sequence[str], terms: re.Pattern[str] | None) -> list[str]:
    """The stretch of lines in which most of the query's words stand; dots mark what is left out."""

    def found(start: int) -> int:
        window = " ".join(lines[start : start + _MAX_LINES]).lower()
        return len(set(terms.findall(window))) if terms else 0

    start = max(range(len(lines) - _MAX_LINES + 1), key=lambda at: (found(at), -at))
    window = list(lines[start : start + _MAX_LINES])
    return [*(["…"] if start else []), *window, *(["…"] if start + _MAX_LINES < len(lines) else [])]


def _emphasised(match: re.Match[str]) -> str:
    return click.style(match[0], bold=True)


# ── the store ────────────────────────────────────────────────────────────────────────────────────────────────────


def render_status(status: Status) -> str:
    indexing, store, gate = status.indexing, status.store, status.gate
    rows = [
        ("store", f"{status.path}  {readable_size(store.bytes_on_disk)}"),
        ("turns", f"{status.turns:,} in {counted(status.namespaces, 'namespace')}"),
        (
            "embedded",
            f"{max(status.texts - indexing.pending, 0):,} of {status.texts:,} texts (turns, summaries, rules …)"
            + _embedding_notes(status),
        ),
        ("model", status.model),
        ("gate", f"{counted(gate.judged, 'user turn')} judged, {gate.durable:,} durable, {gate.regretted:,} regretted"),
        ("compaction", _compaction(status)),
        ("summaries", _summaries(status)),
        *_spent(status.compaction.spent),
        ("rules", f"{status.rules:,} kept word by word"),
        ("search", "by meaning and wording" if status.searches_by_meaning else "by wording only, until re-embedded"),
        *((f"index {name}", state) for name, state in sorted(store.indexes.items())),
    ]
    return table(rows)


def _compaction(status: Status) -> str:
    state, number = status.compaction, status.summaries
    notes = [f"{number:,} {'summary' if number == 1 else 'summaries'}"]
    notes += [_at_work(state.sessions)] if state.running else []
    notes += [f"{counted(state.waiting, 'session')} waiting"] if state.waiting else []
    notes += [f"last failure: {harmless(state.failure)}"] if state.failure else []
    return "; ".join(notes)


def _at_work(sessions: Sequence[AtWork]) -> str:
    """What is compacted; before it begins only that something will be is known."""
    named = ", ".join(in_one_line(f"{each.session} of {each.user}") for each in sessions[:_NAMED])
    more = f" and {len(sessions) - _NAMED:,} more" if len(sessions) > _NAMED else ""
    return f"at work on {named}{more}" if named else "one session at work"


def _summaries(status: Status) -> str:
    failure = status.compaction.model_failure
    without = f"; the last without it: {in_one_line(failure)}" if failure else ""
    return f"by {in_one_line(status.summariser)}{without}"


def _spent(spent: Spent) -> Iterator[tuple[str, str]]:
    if spent.calls:
        yield "spent", f"{spending(spent)}, by compactions by themselves since the daemon began"


def spending(spent: Spent) -> str:
    calls = f"{counted(spent.calls, 'call')} of the model"
    if not (spent.tokens_in or spent.tokens_out):
        return f"{calls}, without an answer that tells its tokens"
    return f"{calls}, {counted(spent.tokens_in, 'token')} read and {spent.tokens_out:,} written"


def _embedding_notes(status: Status) -> str:
    notes = [f"{status.indexing.pending:,} waiting"] if status.indexing.pending else []
    if status.indexing.unembeddable:
        notes.append(f"{status.indexing.unembeddable:,} refused by the model")
    if status.indexing.failure:
        notes.append(f"standing still: {status.indexing.failure}")
    return f"  ({'; '.join(notes)})" if notes else ""


def render_verification(verification: Verification) -> str:
    rows = [(name.replace("_", " "), f"{count:,} checked") for name, count in verification.checked.items()]
    lines = [table(rows)] if rows else []
    for problem in verification.problems:
        mark = click.style("✗", fg="red", bold=True)
        lines.append(f"{mark} {problem.kind} at {harmless(problem.where)}: {harmless(problem.detail)}")
        lines.append(f"{_INDENT}→ {in_one_line(problem.remedy)}")
    return "\n".join(lines)


def render_finding(finding: Finding, width: int) -> str:
    """A mark, what was looked at, what was found, and what mends it."""
    lines = textwrap.wrap(harmless(finding.detail), max(width - _SUBJECT_WIDTH - 4, 30)) or [""]
    head = f"{_MARKS[finding.mark]} {finding.subject.ljust(_SUBJECT_WIDTH)}{lines[0]}"
    rest = [" " * (_SUBJECT_WIDTH + 2) + line for line in lines[1:]]
    mend = [" " * (_SUBJECT_WIDTH + 2) + click.style(f"→ {finding.remedy}", fg="cyan")] if finding.remedy else []
    return "\n".join([head, *rest, *mend])


def table(rows: Sequence[tuple[str, str]]) -> str:
    label_width = max((len(label) for label, _ in rows), default=0)
    return "\n".join(f"{click.style(label.ljust(label_width), dim=True)}  {value}" for label, value in rows)
