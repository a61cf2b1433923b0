"""The daemon as a service of its user: the files that systemd and launchd read."""

from __future__ import annotations

import os
import plistlib
import sys
from dataclasses import dataclass
from pathlib import Path

from libravdb_memory.serve.running import log_file

_LABEL = "com.libravdb.memory"


@dataclass(frozen=True, slots=True)
class ServiceUnit:
    """`begin` is the command that lets the system start it now and at each login."""

    file: Path
    text: str
    begin: str


def service_unit(home: Path, database: Path | None = None) -> ServiceUnit:
    program = [sys.executable, "-m", "libravdb_memory", "serve"]
    program += [] if database is None else ["--db", str(database.absolute())]
    return _launchd(home, program) if sys.platform == "darwin" else _systemd(home, program)


def _systemd(home: Path, program: list[str]) -> ServiceUnit:
    settings = os.environ.get("XDG_CONFIG_HOME", "").strip()
    folder = Path(settings) if settings else Path.home() / ".config"
    text = f"""\
[Unit]
Description=LibraVDB Memory, local memory for LLM agents

[Service]
Type=exec
ExecStart={" ".join(map(_quoted, program))}
Environment={_quoted(f"LIBRAVDB_HOME={home.absolute()}")}
Restart=on-failure
RestartSec=2
TimeoutStopSec=60
UMask=0077
NoNewPrivileges=yes

[Install]
WantedBy=default.target
"""
    begin = "systemctl --user daemon-reload && systemctl --user enable --now libravdbd"
    return ServiceUnit(folder / "systemd" / "user" / "libravdbd.service", text, begin)


def _quoted(word: str) -> str:
    """As systemd reads it: quotes, backslashes and its own % are escaped."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'


def _launchd(home: Path, program: list[str]) -> ServiceUnit:
    file = Path.home() / "Library" / "LaunchAgents" / f"{_LABEL}.plist"
    form = {
        "Label": _LABEL,
        "ProgramArguments": program,
        "EnvironmentVariables": {"LIBRAVDB_HOME": str(home.absolute())},
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "StandardErrorPath": str(log_file(home)),
        "Umask": 0o077,
    }
    return ServiceUnit(file, plistlib.dumps(form).decode(), f"launchctl bootstrap gui/{_user()} {file}")


def _user() -> int:
    return os.getuid() if sys.platform != "win32" else 0
