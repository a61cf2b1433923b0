"""What the tests of contexts share: an open memory, a strict reader of frames, and a store that counts searches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path
from typing import Any

from libravdb_memory import Config, Memory
from libravdb_memory.engines import onnx
from libravdb_memory.engines.hashed import HashedEmbedder
from libravdb_memory.store.sqlite.store import SqliteStore

TOKENIZER = str(onnx.BUNDLED / "tokenizer.json")
FRAMES = ("authored_context", "recent_session_tail", "elevated_guidance", "recalled_memories")


def with_assembly(config: Config, **values: Any) -> Config:
    return replace(config, assembly=replace(config.assembly, **values))


@dataclass(frozen=True)
class Entry:
    frame: str
    role: str
    text: str
    attributes: dict[str, str]


_ENTRY = re.compile(r'<entry((?: [a-z]+="[^"<>]*")+)>([^<>]*)</entry>')
_ATTRIBUTE = re.compile(r' ([a-z]+)="([^"<>]*)"')


def entries_of(text: str, rules: str = "") -> list[Entry]:
    """Read the frames of a context strictly: anything that is not exactly a frame, a note or an entry is an error.

    `rules` is the authored text, which stands verbatim.
    """
    found: list[Entry] = []
    rest = text
    for frame in FRAMES:
        opening, closing = f"<{frame}>\n", f"\n</{frame}>"
        if not rest.startswith(opening):
            continue
        if frame == "authored_context":
            assert rest.startswith(opening + rules + closing)
            rest = rest[len(opening + rules + closing) :].removeprefix("\n")
            continue
        end = rest.index(closing)
        found += _entries(frame, rest[len(opening) : end])
        rest = rest[end + len(closing) :].removeprefix("\n")
    assert rest == ""
    return found


def _entries(frame: str, body: str) -> Iterator[Entry]:
    position = 0
    if not body.startswith("<entry"):
        note = body.partition("\n")[0]
        assert re.fullmatch(r"[A-Z][A-Za-z ,.]+", note), note
        position = len(note) + 1
    while position < len(body):
        match = _ENTRY.match(body, position)
        assert match, body[position : position + 200]
        attributes = {name: unescape(value) for name, value in _ATTRIBUTE.findall(match[1])}
        yield Entry(frame, attributes["role"], unescape(match[2]), attributes)
        position = match.end()
        assert position == len(body) or body[position] == "\n"
        position += 1


class CountingStore(SqliteStore):
    """A store that remembers which vector searches it was asked for."""

    searches: list[tuple[str, object]]

    def search_vectors(self, collection: str, vector: Any, k: int, *, where: Any = None, exact: bool = False) -> Any:
        if not hasattr(self, "searches"):
            self.searches = []
        self.searches.append((collection, where))
        return super().search_vectors(collection, vector, k, where=where, exact=exact)


@contextmanager
def counted(path: Path, config: Config) -> Iterator[tuple[Memory, CountingStore]]:
    store = CountingStore(path / "counted.libravdb", config.store, None)
    store.searches = []
    with Memory(store, HashedEmbedder(), config) as memory:
        yield memory, store
