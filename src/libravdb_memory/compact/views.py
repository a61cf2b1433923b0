"""What a summariser is shown of turns and of earlier summaries, and how it is told who speaks.

Laws: a turn has one speaker, who says all of it, whatever its lines look like. Only the lines of an extract name their
speakers themselves: each begins "Name: ", or names nobody. No text can name another: a line or sentence that begins
like a label where labels stand, or with the name of somebody who takes part, is put in quotation marks, which no label
holds.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

_WORD = r"[^\s:!?;\"“”`]{1,40}"
_LABEL = re.compile(rf"(?=\S)(?P<label>(?:{_WORD}[ ]){{0,3}}{_WORD}):[ ]+(?=\S)")
_LOOKS_LIKE_A_LABEL = re.compile(r"\W*+(?P<label>[^:：\n]{1,170}+)[:：]")
_NOT_IN_A_LABEL = re.compile(r"[:!?;\"“”`\x00-\x1f\x7f]")
_MOST_WORDS, _LONGEST_WORD = 4, 40
_ROLES = frozenset("user assistant system tool function developer human ai bot model agent summary".split())


@dataclass(frozen=True, slots=True)
class View:
    """`speaker` says all of the text; "" stands for nobody (a model's summary), None for an extract, whose lines name
    their speakers."""

    text: str
    speaker: str | None = ""


def shown(views: Sequence[View]) -> tuple[str, ...]:
    """The views as a model reads them, "Name: what the turn says"; nothing where there is nothing to read, so that no
    name is taken for a text."""
    names = names_of(label_of(view.speaker) for view in views if view.speaker)
    return tuple(_shown(view, names) for view in views)


def label_of(speaker: str) -> str:
    """A name in a form that is read again as it is."""
    words = _NOT_IN_A_LABEL.sub("_", speaker).split()
    kept = [word if len(word) <= _LONGEST_WORD else word[: _LONGEST_WORD - 1] + "…" for word in words[:_MOST_WORDS]]
    return " ".join(kept)


def labelled(line: str) -> tuple[str, str]:
    """The label of a line, if it has one, and what follows."""
    found = _LABEL.match(line)
    return (found["label"], line[found.end() :]) if found else ("", line)


def names_of(speakers: Iterable[str]) -> frozenset[str]:
    """Those that a text must not seem to speak for: who takes part, and every role."""
    return _ROLES | {speaker.casefold() for speaker in speakers if speaker}


def quoted(text: str, names: Collection[str], *, alone: bool) -> str:
    """A line or sentence as it may stand behind its speaker's label, or `alone`, where a label would stand."""
    return f"“{text}”" if (alone and labelled(text)[0]) or speaks_for(text, names) else text


def speaks_for(text: str, names: Collection[str]) -> bool:
    """Whether a text begins as if one of these said it, marks around the name aside."""
    found = _LOOKS_LIKE_A_LABEL.match(text)
    return found is not None and found["label"].strip(" \t*_~#>)]").casefold() in names


def _shown(view: View, names: Collection[str]) -> str:
    if view.speaker is None or not view.text.strip():
        return view.text.strip()
    first, *rest = view.text.splitlines()
    label = label_of(view.speaker)
    lines = [quoted(first, names, alone=not label), *(quoted(line, names, alone=False) for line in rest)]
    return (f"{label}: " if label else "") + "\n".join(lines)
