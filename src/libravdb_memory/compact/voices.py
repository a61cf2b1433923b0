"""Who says what: the sentences of turns and of earlier summaries, each with its speaker.

Laws: every word that is read of a view is in a sentence or in the label of one; a label is never part of a sentence, so
that nobody is chosen for a name. What a turn says is said by its speaker alone; labels are read in extracts only, where
no text can forge one (see `views`). Of very long views only the beginning and the end are read (see `reading`), without
the sentences cut there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from libravdb_memory.compact.judging import Sentence
from libravdb_memory.compact.reading import SPOKEN_HEAD, SPOKEN_TAIL
from libravdb_memory.compact.sentences import sentences
from libravdb_memory.compact.views import View, label_of, labelled


def spoken(views: Sequence[View]) -> list[Sentence]:
    """The sentences of the views in their order, with their speakers; each line of an extract is a turn."""
    parts = (part for view in views for part in _parts(view))
    return [Sentence(turn, text, label) for turn, (label, said) in enumerate(parts) for text in _sentences(said)]


def said_before(prior: str) -> tuple[str, ...]:
    """The sentences of earlier summaries, without their speakers."""
    return tuple(sentence.text for sentence in spoken([View(prior, None)]))


def _parts(view: View) -> Iterator[tuple[str, str]]:
    """What is said, with the label of who says it."""
    if view.speaker is None:
        yield from map(labelled, view.text.split("\n"))
    else:
        yield label_of(view.speaker), view.text


def _sentences(text: str) -> tuple[str, ...]:
    if len(text) <= SPOKEN_HEAD + SPOKEN_TAIL:
        return sentences(text)
    head, tail = sentences(text[:SPOKEN_HEAD]), sentences(text[-SPOKEN_TAIL:])
    return (head[:-1] or head) + tail[1:]
