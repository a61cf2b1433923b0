"""Make .venv-browser, where the inspector's tests drive a browser: python -m tests.e2e.inspector.fetch.

Exits 77 where no browser is, or no registry has what is needed, with the reason in the last line.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from tests.e2e.registries import NOT_HERE, Broken, NotHere, fetch

ROOT = Path(__file__).resolve().parents[3]
VENV = ROOT / ".venv-browser"
READY = VENV / ".ready"
NEEDED = ("playwright>=1.49,<2", "axe-playwright-python>=0.1.4,<0.2", "pytest>=8.3,<10", "hypothesis>=6.110,<7")


def browser_program() -> str:
    """Debian's chromium, Chrome, or what CHROMIUM names."""
    named = os.environ.get("CHROMIUM", "").strip()
    found = [shutil.which(name) for name in ([named] if named else ["chromium", "google-chrome"])]
    if not any(found):
        raise NotHere(f"no browser: {named or 'chromium'} is not here; install it, or name another in CHROMIUM")
    return next(path for path in found if path)


def make_venv() -> None:
    """Anew where the project's own needs have changed since."""
    newest = max(path.stat().st_mtime for path in (ROOT / "pyproject.toml", Path(__file__)))
    if READY.exists() and READY.stat().st_mtime > newest:
        return
    if READY.exists():
        READY.unlink()
    else:  # there is none, or half of one
        fetch("a venv", [sys.executable, "-m", "venv", "--clear", VENV])
    pip = [VENV / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    fetch("playwright", [*pip, *NEEDED, "-e", ROOT])
    READY.touch()


def main() -> int:
    try:
        browser_program()
        make_venv()
    except NotHere as error:
        sys.stdout.write(f"{error}\n")
        return NOT_HERE
    except Broken as error:
        sys.stdout.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
