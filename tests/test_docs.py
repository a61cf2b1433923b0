"""The documentation is true: its Python runs and its links lead somewhere."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)\s#]+)")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [page for page in PAGES if FENCE.search(page.read_text())], ids=name_of)
def test_the_python_of_a_page_runs_from_top_to_bottom(page: Path, tmp_path: Path) -> None:
    program = "\n".join(FENCE.findall(page.read_text()))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LIBRAVDB_")}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=tmp_path,
        env={**environment, "LIBRAVDB_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_relative_link_of_a_page_leads_somewhere(page: Path) -> None:
    broken = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert not broken


def test_the_guide_for_contributors_stays_short() -> None:
    assert len((ROOT / "AGENTS.md").read_text().splitlines()) < 80


MATH = (ROOT / "docs" / "math.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("place", sorted(set(re.findall(r"`([a-z_.]+:[A-Za-z_.]+)`", MATH))))
def test_a_law_is_computed_where_its_page_says(place: str) -> None:
    module, _, name = place.partition(":")
    found = importlib.import_module(f"libravdb_memory.{module}")
    for part in name.split("."):
        found = getattr(found, part)


@pytest.mark.parametrize("named", sorted(set(re.findall(r"`([a-z_/]+\.py::test_\w+)`", MATH))))
def test_the_test_of_a_law_is_there(named: str) -> None:
    file, _, name = named.partition("::")
    assert f"\ndef {name}(" in (ROOT / "tests" / file).read_text(encoding="utf-8")


def test_every_law_names_its_place_and_its_test() -> None:
    rows = [line for line in MATH.splitlines() if line.startswith("| ") and not line.startswith("| law ")]
    assert len(rows) >= 50
    assert [row for row in rows if "::test_" not in row or not re.search(r"`[a-z_.]+:[A-Za-z]", row)] == []
