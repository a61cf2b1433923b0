"""What a user may tune about sources, and the roots that follow from it.

Laws: a root has a name of its own, for its documents are called `<name>/<path>`; no file belongs to two roots: a root
inside another, and every diary, is left out of the one around it.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias

from libravdb_memory.errors import ConfigError
from libravdb_memory.sources.selection import Selection

Kind: TypeAlias = Literal["markdown", "obsidian", "dreams"]
MARKDOWN_NAMES = ("*.md", "*.markdown")
_MOST_KB = 16 * 1024
_EXCLUDED = ("node_modules/", "__pycache__/", "site-packages/", "*.excalidraw.md")


@dataclass(frozen=True, slots=True)
class Root:
    """A folder to read. `apart` are files and folders in it that are not its business; `user` owns its dreams."""

    name: str
    path: Path
    kind: Kind = "markdown"
    selection: Selection = field(default_factory=Selection)
    tags: tuple[str, ...] = ()
    max_bytes: int = 1024 * 1024
    rules: Literal["core", "all"] = "core"
    apart: frozenset[Path] = frozenset()
    user: str | None = None


@dataclass(frozen=True, slots=True)
class SourcesSettings:
    root_paths: tuple[str, ...] = field(
        default=(), metadata={"help": "folders of Markdown to read and watch, each a path or name=path"}
    )
    vault_paths: tuple[str, ...] = field(
        default=(), metadata={"help": "Obsidian vaults to read and watch, each a path or name=path"}
    )
    include: tuple[str, ...] = field(default=MARKDOWN_NAMES, metadata={"help": "patterns of the files that are read"})
    exclude: tuple[str, ...] = field(
        default=_EXCLUDED, metadata={"help": "patterns of files and folders that are not; MEMORY.md is always read"}
    )
    tags: tuple[str, ...] = field(
        default=(), metadata={"help": "in vaults, read only notes with one of these tags; none means every note"}
    )
    rules: Literal["core", "all"] = field(
        default="core",
        metadata={"help": "whose lists and orders are rules: core documents at the top of a root, or all documents"},
    )
    diary_path: str | None = field(default=None, metadata={"help": "a dream diary, or a folder of them"})
    diary_user: str | None = field(default=None, metadata={"help": "whose dreams the diary tells"})
    max_file_kb: int = field(default=1024, metadata={"help": "larger files are reported, not read, in KB"})
    debounce_ms: int = field(default=150, metadata={"help": "files are read when nothing changed for so long, in ms"})
    poll_s: float = field(default=5.0, metadata={"help": "seconds between looks where changes cannot be watched"})

    def __post_init__(self) -> None:
        _check_number("max_file_kb", self.max_file_kb, 1, _MOST_KB)
        _check_number("debounce_ms", self.debounce_ms, 1, 5_000)
        _check_number("poll_s", self.poll_s, 0.01, 86_400)
        for name in ("include", "exclude"):
            try:
                Selection(include=getattr(self, name)).check()
            except ValueError as error:
                raise ConfigError(f"sources.{name}", str(error)) from error
        if self.diary_path and not (self.diary_user or "").strip():
            raise ConfigError("sources.diary_user", "is needed: dreams belong to somebody")
        self.roots()

    def roots(self) -> tuple[Root, ...]:
        """Every root, each with what is left to the others."""
        found = list(self._roots())
        for attribute, told in (("name", "have the name"), ("path", "are")):
            values = [getattr(root, attribute) for root in found if root.kind != "dreams" or attribute == "name"]
            if twice := next((value for value in values if values.count(value) > 1), None):
                raise ConfigError("sources.root_paths", f"two roots {told} {str(twice)!r}; name one with name=path")
        owned = frozenset((*(root.path for root in found if root.kind != "dreams"), *self._diaries()))
        return tuple(_with_apart(root, owned) for root in found)

    def _roots(self) -> Iterator[Root]:
        selection, size = Selection(self.include, self.exclude), self.max_file_kb * 1024
        for text in self.root_paths:
            yield Root(*_named(text), "markdown", selection, (), size, self.rules)
        for text in self.vault_paths:
            yield Root(*_named(text), "obsidian", selection, self.tags, size, self.rules)
        for diary in self._diaries():
            alone = diary.suffix.lower() in (".md", ".markdown")
            chosen = Selection((glob.escape(diary.name),), deep=False) if alone else Selection(MARKDOWN_NAMES)
            folder = diary.parent if alone else diary
            yield Root(f"dreams-{folder.name}", folder, "dreams", chosen, (), size, "core", user=self.diary_user)

    def _diaries(self) -> tuple[Path, ...]:
        return (Path(self.diary_path),) if self.diary_path else ()


def split_name(text: str) -> tuple[str, str]:
    """`name=path` as name and path; a path alone has no name."""
    name, sign, path = text.partition("=")
    if sign and name.strip() and not {"/", "\\"} & set(name) and not name.startswith((".", "~")):
        return name.strip(), path.strip()
    return "", text.strip()


def _named(text: str) -> tuple[str, Path]:
    name, place = split_name(text)
    if not place:
        raise ConfigError("sources.root_paths", f"{text!r} names no folder")
    path = Path(place)
    return name or path.name or "root", path


def _with_apart(root: Root, owned: frozenset[Path]) -> Root:
    inside = frozenset(path for path in owned if path != root.path and path.is_relative_to(root.path))
    return root if root.kind == "dreams" else replace(root, apart=inside)


def _check_number(name: str, value: object, least: float, most: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise ConfigError(f"sources.{name}", f"must lie between {least:g} and {most:g}, not {value!r}")
