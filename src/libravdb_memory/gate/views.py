"""A turn as the gate reads it: the whole text, and what is left of it when code, questions and requests are blanked.

    RAW ⊇ SAID        no code blocks, no lines of code or log
        ⊇ ASSERTED    no questions, no material handed over to be worked on
        ⊇ PROSE       no inline code, addresses or paths
        ⊇ STATEMENTS  no one-off requests, no fragments

Law: every view has the length of the text, and each of its characters is the text's own or a blank; so a span found in
one view is a span of the text. All of it is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from libravdb_memory.gate.places import PATH_LIKE, URL_LIKE

Span: TypeAlias = tuple[int, int]


CODED = "<coded>"
"""Stands among the words for every word that is not all letters: numbers, hashes, versions, identifiers."""


class View(IntEnum):
    RAW = 0
    SAID = 1
    ASSERTED = 2
    PROSE = 3
    STATEMENTS = 4


@dataclass(frozen=True, slots=True)
class Views:
    """`cased` and `lowered` hold the text of each view; `words` says where each word of the text starts, with all that
    are not plain words under CODED."""

    cased: tuple[str, ...]
    lowered: tuple[str, ...]
    words: dict[str, list[int]]

    def text(self, view: View, *, cased: bool) -> str:
        return (self.cased if cased else self.lowered)[view]


_FENCE = re.compile(r"^[ \t]{0,8}(?:```|~~~)", re.M)
_LINE = re.compile(r"[^\n]++")
_WORD = re.compile(r"\w++")
_INLINE = re.compile(rf"`[^`\n]{{1,200}}`|{URL_LIKE}|{PATH_LIKE}")
_APOSTROPHES = str.maketrans("’ʼ", "''")
_LINE_HEAD = 240

_CODE_LINE = re.compile(
    r"""\s{0,40}(?:[+-](?=[\t ]{0,20}\S)\s{0,20})?(?:
      (?:async\ )?def\ \w|class\ \w{1,80}\s?[({:<]|class\ \w{1,80}\ (?:extends|implements)\b
    | @\w[\w.]{0,60}(?:\(|\s{0,4}$)
    | (?:from\ [\w.]{1,80}\ )?import\ [\w.{}*,\ ]{1,120}(?:\ (?:as|from)\ \S{1,80})?;?\s{0,4}$
    | \#\s?include\b|\#!|\#define\b|using\ [\w.]{1,80};|package\ [\w.]{1,80};?\s{0,4}$|use\ [\w:]{1,60}::
    | (?:export\ |public\ |private\ |protected\ |static\ |final\ |abstract\ ){1,4}[\w<>\[\]]{1,60}\ \w{1,60}\s?[({=;]
    | (?:public|private|protected):\s{0,4}$
    | (?:const|let|var|val)\ [\w{}\[\],\ :]{1,60}\s?=|(?:pub\ )?fn\ \w{1,60}\s?[(<]|func\ [\w(]
    | function\s?\*?\s?\w{0,60}\s?\(|(?<=\s\s)return\b|return\ \S{1,80}\s{0,4}$
    | (?:if|for|while|switch|catch|elif|else\ if)\s?\([^)]{0,160}\)\s?\{?
    | (?:if|for|while|elif|with|try|except|else|finally)\b[^.!?]{0,120}:\s{0,4}$
    | (?:insert\ into|create\ (?:table|index|view)|alter\ table|drop\ table|delete\ from)\ [\w."`]{1,80}
    | [\w.\[\]"'>-]{1,80}\s?(?:[-+*/|&]?=|:=|<-|=>)\s?[^=\s]
    | (?:await\ |print\ ?|console\.\w{1,10})?[A-Za-z_][\w.]{0,60}\([^)]{0,160}\);?\s{0,4}$
    | </?[a-zA-Z][^>]{0,160}>|<!--|"[^"\n]{1,80}"\s?:|[{}\[\]();,]{1,20}\s{0,4}$|//|/\*|\*\ @|\*/
    | @@\ |diff\ --git\b|index\ [0-9a-f]{7}|\[?\d{4}-\d\d-\d\d[t\ ]\d\d:\d\d|\[?\d\d:\d\d:\d\d\b
    | \[?(?:trace|debug|info|warn|warning|error|fatal|critical)\s{0,3}[\]:|]
    | (?:npm|yarn|pip|cargo|fatal|error|warning|traceback|caused\ by|exception)(?:\ \w{1,12}!|:|\ \(most)
    | exception\ in\ thread|file\ ".{1,200}",\ line\ \d|at\ [\w.$/<>]{1,160}\s?\(
    | [\w.]{1,80}(?:error|exception):|\$\ \w|>>>\ |goroutine\ \d
    )""",
    re.X,
)
_CODE_END = re.compile(r"(?:[;{}]|\)\s?=>|=>\s?\{|->|\\|&&|\|\|)\s{0,4}$")

_BOUNDARY = re.compile(r"(?<![.!?])[.!?]++(?=[\s\"'”)»]|$)|[。！？؟]|\n")
_LEAD = (
    r"(?:(?:and|so|but|or|ok|okay|hey|hi|hello|well|now|then|also|thanks|please|kindly|just|sorry|"
    r"btw)\b[,!]? ){0,3}"
)
_QUESTION = re.compile(
    _LEAD
    + r"(?:(?:what|who|where|when|why|which|how)(?:'s|'re| is| are| was| were| does| do| did| can| could| should| "
    r"would| will| has| have| many| much| long| far| old| often| to| come| about)\b|(?:is|are|was|were|do|does|did|"
    r"can|could|should|would|will|have|has) (?:i|you|we|they|he|she|it|there|the|this|that|my|your|our|a|an)\b|"
    r"any idea\b)"
)
_TELLING = re.compile(_LEAD + r"(?:i|i'm|i've|we|we're|we've|my|our) ")
_ASKING_CLAUSE = re.compile(
    r"[,;:–-] (?:and |so |but |or )?(?:can|could|would|will|do|does|did|is|are|what|how|should|any|"
    r"which|where|why|who) "
)
_MATERIAL = re.compile(
    _LEAD + r"(?:summari[sz]e|translate|proofread|rewrite|rephrase|paraphrase|correct|edit|improve|shorten|explain|"
    r"fix the (?:grammar|spelling|text)|check the (?:grammar|spelling)|continue|format|analy[sz]e|classify|review|"
    r"(?:can|could|would|will) you (?:please )?(?:summari[sz]e|translate|proofread|rewrite|correct|edit|"
    r"explain))\b[^:\"“«\n]{0,160}(?:[:\"“«]|\n)"
)
_REQUEST = re.compile(
    _LEAD + r"(?:(?:can|could|would|will) you|would you mind|i (?:need|want) you to|i(?:'d| would) like (?:you )?to|"
    r"i want to know|let me know|i wonder|(?:help|give|show|tell|send|get|find|buy|read|teach|remind|wake|"
    r"ask) (?:me|us)\b|(?:write|translate|summari[sz]e|explain|show|list|give|tell|find|calculate|compute|convert|"
    r"create|draft|generate|suggest|recommend|describe|compare|rewrite|rephrase|shorten|proofread|correct|improve|"
    r"imagine|pretend|pick|choose|play|open|close|run|rerun|look|check|search|google|book|order|schedule|set (?:a|"
    r"an|the) (?:timer|alarm|reminder)|start|stop|make|cook|print|draw|design|plan|think|guess|count|sort|name|"
    r"define|outline|brainstorm|continue|try|repeat|add|remove|delete|rename|change|update|refactor|implement|"
    r"debug|test|fix|format|analy[sz]e|review|edit|have a look|take a look|go (?:on|ahead|to)|read|solve|prove|"
    r"simplify|turn|put|wait)\b(?! \w{1,20}ed\b))"
)
_MIN_WORDS = 4


def read(text: str) -> Views:
    """All views of one text."""
    raw = text.translate(_APOSTROPHES)
    lower = _lowered(raw)
    said = _blank(raw, _code_spans(raw, lower), "\n")
    sentences = list(_sentences(said))
    said_lower = _lowered(said)
    asserted = _blank(said, _unasserted(said_lower, sentences), " ")
    prose = _blank(asserted, (match.span() for match in _INLINE.finditer(asserted)), " ")
    statements = _blank(prose, _unstated(said_lower, sentences), " ")
    cased = (raw, said, asserted, prose, statements)
    words: dict[str, list[int]] = {}
    for match in _WORD.finditer(lower):
        words.setdefault(match[0] if match[0].isalpha() else CODED, []).append(match.start())
    return Views(cased, tuple(_lowered(view) for view in cased), words)


def _lowered(text: str) -> str:
    """Lower case, character for character: the few letters whose lower case is longer stay as they are."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)


def _blank(text: str, spans: Iterable[Span], filler: str) -> str:
    pieces: list[str] = []
    done = 0
    for start, end in spans:
        if end > done:
            pieces += [text[done : max(start, done)], filler * (end - max(start, done))]
            done = end
    pieces.append(text[done:])
    return "".join(pieces)


def _code_spans(raw: str, lower: str) -> Iterator[Span]:
    """Fenced blocks (an open one runs to the end), and lines that read as code or log."""
    opened: int | None = None
    done = 0
    for fence in _FENCE.finditer(raw):
        if opened is None:
            yield from _code_lines(lower, done, fence.start())
            opened = fence.start()
        else:
            done = _line_end(raw, fence.end())
            yield opened, done
            opened = None
    if opened is not None:
        yield opened, len(raw)
    else:
        yield from _code_lines(lower, done, len(raw))


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _code_lines(lower: str, start: int, end: int) -> Iterator[Span]:
    for line in _LINE.finditer(lower, start, end):
        if _CODE_LINE.match(line[0][:_LINE_HEAD]) or _CODE_END.search(line[0][-_LINE_HEAD:]):
            yield line.span()


def _sentences(text: str) -> Iterator[tuple[int, int, bool]]:
    """(start, end, asks): runs between sentence ends or line breaks; `asks` when it ends in a question mark."""
    start = 0
    for boundary in _BOUNDARY.finditer(text):
        if text[start : boundary.start()].strip():
            yield start, boundary.end(), boundary[0][-1] in "?？؟"
        start = boundary.end()
    if text[start:].strip():
        yield start, len(text), False


def _head(lower: str, start: int, end: int) -> str:
    return lower[start : min(end, start + _LINE_HEAD)].lstrip(" \t\"'“>*-•([")


def _unasserted(lower: str, sentences: list[tuple[int, int, bool]]) -> Iterator[Span]:
    """Questions, and everything behind "translate this:", which is somebody's text and not the speaker's word."""
    for start, end, asks in sentences:
        head = _head(lower, start, end)
        ends_its_line = end >= len(lower) or "\n" in (lower[end - 1], lower[end])
        if _MATERIAL.match(head + "\n" if ends_its_line else head):
            yield start, len(lower)
            return
        if asks or _QUESTION.match(head):
            yield _asked_from(lower, start, end, head), end


def _asked_from(lower: str, start: int, end: int, head: str) -> int:
    """Where the question begins: in "I moved to Porto, can you help me?" only behind the comma."""
    if not _TELLING.match(head):
        return start
    clauses = [clause.start() for clause in _ASKING_CLAUSE.finditer(lower, start, end)]
    return clauses[-1] if clauses else start


def _unstated(lower: str, sentences: list[tuple[int, int, bool]]) -> Iterator[Span]:
    """Requests, and fragments too short to state anything."""
    for start, end, _ in sentences:
        head = _head(lower, start, end)
        if _REQUEST.match(head) or (head.isascii() and len(head.split(None, _MIN_WORDS)) < _MIN_WORDS):
            yield start, end
