"""The entry for the registry says what the package is, under the name that the package's own page carries."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from libravdb_memory import __version__

ROOT = Path(__file__).resolve().parents[2]
ENTRY = json.loads((ROOT / "server.json").read_text())


def test_the_entry_is_of_this_version_and_of_a_program_that_is_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (package,) = ENTRY["packages"]
    assert ENTRY["version"] == package["version"] == __version__
    assert package["identifier"] == project["name"] in project["scripts"]
    assert package["packageArguments"] == [{"type": "positional", "value": "mcp"}]
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", ENTRY["name"]) and len(ENTRY["description"]) <= 100
    assert f"mcp-name: {ENTRY['name']}" in (ROOT / "README.md").read_text()


def test_help_loads_nothing_of_the_protocol() -> None:
    program = (
        "import sys; from libravdb_memory.cli import main; main(['mcp', '--help']); "
        "sys.exit(bool({'mcp', 'pydantic', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], stdout=subprocess.DEVNULL, check=False).returncode == 0
