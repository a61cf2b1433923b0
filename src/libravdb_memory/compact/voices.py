"""Who says what: the sentences of turns as a summariser is shown them, "Name: what the turn says".

Laws: every word of a view is in a sentence or in the label of one; a label is never part of a sentence, so that nobody
is chosen for a name. A line inside a view is somebody else's only when its label begins another view, or when every
line of the view has a label that comes again: then the view is a transcript, or a summary made of one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from libravdb_memory.compact.extract import Sentence
from libravdb_memory.compact.sentences import sentences

_LABEL = re.compile(r"(?=\S)(?P<label>(?:[^\s:!?;\"“”`]{1,40}[ ]){0,3}[^\s:!?;\"“”`]{1,40}):[ ]+(?=\S)")


def spoken(views: Sequence[str]) -> list[Sentence]:
    """The sentences of the views in their order, with their speakers; lines of one view that different people say count
    as different turns."""
    split = [[_labelled(line) for line in view.split("\n")] for view in views]
    first = {lines[0][0] for lines in split} - {""}
    met = Counter(label for lines in split for label, _ in lines)
    parts: list[tuple[str, str]] = []
    for view, lines in zip(views, split, strict=True):
        transcript = all(label and met[label] > 1 for label, _ in lines)
        parts += _parts(view, {label for label, _ in lines} if transcript else first)
    return [Sentence(turn, text, label) for turn, (label, said) in enumerate(parts) for text in sentences(said)]


def said_before(prior: str) -> tuple[str, ...]:
    """The sentences of earlier summaries, without their speakers."""
    return tuple(sentence.text for sentence in spoken(prior.split("\n")))


def _parts(view: str, labels: Collection[str]) -> Iterator[tuple[str, str]]:
    """What is said under one label after the other."""
    current, lines = "", list[str]()
    for line in view.split("\n"):
        label, rest = _labelled(line)
        if label in labels:
            if lines:
                yield current, "\n".join(lines)
            current, lines = label, [rest]
        else:
            lines.append(line)
    yield current, "\n".join(lines)


def _labelled(line: str) -> tuple[str, str]:
    """A line's label, if it has one, and what follows."""
    found = _LABEL.match(line)
    return (found["label"], line[found.end() :]) if found else ("", line)
