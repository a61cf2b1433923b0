"""Build the wheel, install it into an empty environment without a compiler, and run the demo from it.

Shows that the package is whole: nothing of the checkout, no build tool and no download at run time is needed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODEL = "libravdb_memory/engines/bundled/model.onnx"
PAGE = """
from libravdb_memory.serve.http.files import INDEX, PageFiles
files = PageFiles()
assert {INDEX, "app.js", "design.css"} <= set(files.names), files.names
print(f"the inspector's page is installed, {len(files.names)} files")
"""
PLUGIN = Path("libravdb_memory") / "integrations" / "openclaw"


def run(command: list[str], **environment: str) -> str:
    done = subprocess.run(
        command,
        cwd=tempfile.gettempdir(),
        env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"failed: {' '.join(command)}\n{done.stdout}")
    return done.stdout


def left_out(wheel: Path) -> set[str]:
    """Files that the wheel does not hold: models, schemas, the inspector's page and the plugin are files too."""
    source, plugin = ROOT / "src", ROOT / "plugins" / "openclaw"
    wanted = {path.relative_to(source) for path in files_of(source / "libravdb_memory")}
    wanted |= {PLUGIN / path.relative_to(plugin) for path in files_of(plugin)}
    with zipfile.ZipFile(wheel) as held:
        return {path.as_posix() for path in wanted} - set(held.namelist())


def files_of(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="libravdb-wheel-") as folder:
        where = Path(folder)
        run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, str(ROOT)])
        (wheel,) = where.glob("*.whl")
        print(f"wheel: {wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB")
        if missing := left_out(wheel):
            sys.exit(f"the wheel lacks {len(missing)} files of the package: {', '.join(sorted(missing)[:5])}")
        venv.create(where / "empty", with_pip=True)
        binaries = where / "empty" / ("Scripts" if os.name == "nt" else "bin")
        python, libravdb = str(binaries / "python"), str(binaries / "libravdb")
        no_compiler = {"CC": "false", "CXX": "false"}
        run([python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", str(wheel)], **no_compiler)
        offline = {"LIBRAVDB_HOME": str(where / "home"), "HF_HUB_OFFLINE": "1", "NO_COLOR": "1"}
        print(run([libravdb, "--version"], **offline).strip())
        run([libravdb, "demo"], **offline)
        print("the demo ran from the installed wheel")
        print(run([python, "-c", PAGE], **offline).strip())
        plugin = Path(run([libravdb, "openclaw", "path"], **offline).strip())
        if not plugin.is_relative_to(where / "empty") or not (plugin / "openclaw.plugin.json").is_file():
            sys.exit(f"the plugin for OpenClaw is not in the package: {plugin}")
        print("the plugin for OpenClaw is installed")


if __name__ == "__main__":
    main()
