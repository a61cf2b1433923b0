"""Which files of a root are read.

Patterns: `*` and `?` stay inside one name, `**` spans folders, `[ab]` is one of these characters. A pattern without a
slash is about names at any depth, one with a slash about paths from the root; one that ends in a slash takes all below.
Capitals do not matter.

Laws: hidden files and folders (a leading dot) are never read; an excluded file is not, whatever includes it; only
`MEMORY.md` is read in every folder that is entered. Paths are relative to the root, with slashes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

ALWAYS = "memory.md"


@dataclass(frozen=True, slots=True)
class Selection:
    """`deep` False leaves out everything in folders below the root."""

    include: tuple[str, ...] = ("*.md", "*.markdown")
    exclude: tuple[str, ...] = ()
    deep: bool = True

    def check(self) -> None:
        """Raise ValueError when a pattern is none."""
        for pattern in (*self.include, *self.exclude):
            try:
                _any_of((pattern,))
            except re.error as error:
                raise ValueError(f"{pattern!r} is not a pattern: {error}") from error

    def takes(self, path: str) -> bool:
        """Whether a file is read. The folders above it are asked about one by one, by `enters`."""
        name = path.rpartition("/")[2]
        if name.startswith("."):
            return False
        if name.lower() == ALWAYS and self.deep:
            return True
        return bool(_any_of(self.include).fullmatch(path)) and not _any_of(self.exclude).fullmatch(path)

    def enters(self, folder: str) -> bool:
        """Whether a folder is looked into: no pattern excludes it, or all that is in it."""
        hidden = folder.rpartition("/")[2].startswith(".")
        return self.deep and not hidden and not _any_of(_folders(self.exclude)).fullmatch(folder)


@lru_cache(256)
def _folders(patterns: tuple[str, ...]) -> tuple[str, ...]:
    whole = (pattern.strip().removesuffix("**") for pattern in patterns)
    return (*patterns, *(pattern.rstrip("/") for pattern in whole if pattern.endswith("/")))


@lru_cache(256)
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    forms = [_form(pattern) for pattern in patterns if pattern.strip("/ ")]
    return re.compile("|".join(forms) or r"(?!)", re.I | re.S)


def _form(pattern: str) -> str:
    """One pattern as a regular expression over whole paths."""
    pattern = pattern.strip().removeprefix("./")
    if pattern.endswith("/"):
        pattern += "**"
    anchored = "/" in pattern.removesuffix("/**")
    parts = [part for part in pattern.split("/") if part]
    form = "" if anchored else "(?:[^/]+/)*"
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        if part == "**":
            form += ".+" if last else "(?:[^/]+/)*"
        else:
            form += _name(part) + ("" if last else "/")
    return f"(?:{form})"


def _name(part: str) -> str:
    """A name with its wildcards; a run of stars is one star."""
    pieces: list[str] = []
    position = 0
    for token in re.finditer(r"\*+|\?|\[!?[^\]/]+\]", part):
        pieces += (re.escape(part[position : token.start()]), _wildcard(token[0]))
        position = token.end()
    return "".join(pieces) + re.escape(part[position:])


def _wildcard(token: str) -> str:
    if token[0] == "*":
        return "[^/]*"
    if token == "?":
        return "[^/]"
    inside = token[1:-1]
    negated = inside.startswith("!")
    characters = re.sub(r"([\\\]^&~|\[])", r"\\\1", inside[1:] if negated else inside)
    return f"[{'^/' if negated else ''}{characters}]"
