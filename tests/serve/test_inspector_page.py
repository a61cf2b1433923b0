"""The files of the inspector's page: nothing in them parses what was remembered, nothing comes from elsewhere.

What the page does is tried in a real browser: tests/e2e/inspector.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from libravdb_memory import serve

PAGE = Path(serve.__file__).parent / "inspector"
SCRIPTS = sorted(PAGE.rglob("*.js"))
STYLES = sorted(PAGE.rglob("*.css"))
INDEX = (PAGE / "index.html").read_text(encoding="utf-8")
SINKS = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|setHTML|createContextualFragment|DOMParser|srcdoc|document\.write"
    r"|\beval\b|\bnew Function\b|setAttribute\(\s*[\"'](?:style|on)|set(?:Timeout|Interval)\(\s*[\"'`]|javascript:"
)
IMPORT = re.compile(r"""(?:from|import)\s*\(?\s*["']([^"']+)["']""")


def name_of(file: Path) -> str:
    return file.name


@pytest.mark.parametrize("script", SCRIPTS, ids=name_of)
def test_no_script_turns_text_into_markup_or_code(script: Path) -> None:
    assert SINKS.findall(script.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("sink", ["a.innerHTML = b", "eval(b)", "document.write(b)", "a.setAttribute('onclick', b)"])
def test_such_a_script_would_be_found(sink: str) -> None:
    assert SINKS.search(sink)


@pytest.mark.parametrize("file", [*SCRIPTS, *STYLES, PAGE / "index.html"], ids=name_of)
def test_nothing_comes_from_elsewhere(file: Path) -> None:
    text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "").replace("http%3A", "")
    assert not re.search(r"(?:https?:)?//[a-z0-9-]+\.[a-z]|@import|url\((?!#)", text.replace("url(#$", "url(#"))


@pytest.mark.parametrize("script", SCRIPTS, ids=name_of)
def test_every_import_leads_to_a_file_of_the_page(script: Path) -> None:
    for name in IMPORT.findall(script.read_text(encoding="utf-8")):
        assert name.startswith("./") and (script.parent / name).is_file(), name


def test_the_document_has_no_script_and_no_style_of_its_own() -> None:
    assert re.findall(r"<script(?![^>]*\bsrc=)", INDEX) == []
    assert re.findall(r"<style|\sstyle=|\son[a-z]+=", INDEX) == []
    assert all((PAGE / name).is_file() for name in re.findall(r'(?:src|href)="([a-z]+\.(?:js|css))"', INDEX))


def test_every_file_is_used() -> None:
    used = set(re.findall(r'(?:src|href)="([a-z]+\.(?:js|css))"', INDEX))
    for script in SCRIPTS:
        used |= {name.removeprefix("./") for name in IMPORT.findall(script.read_text(encoding="utf-8"))}
    assert {file.name for file in (*SCRIPTS, *STYLES)} == used


def test_the_page_is_small() -> None:
    assert sum(file.stat().st_size for file in PAGE.rglob("*") if file.is_file()) < 160_000
