"""Write the OpenClaw plugin's manifest: what the host must know before it loads a line of the plugin.

Where a setting of the plugin is one of the daemon's own, its words come from there, so that both say the same.
`--check` compares instead, and exits 1 when the file is not current.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from libravdb_memory.config import known_settings
from libravdb_memory.serve.own.where import Where

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "plugins" / "openclaw" / "openclaw.plugin.json"
TOOLS = ["memory_search", "memory_get"]
COMMANDS = ["libravdb", "memory"]


def manifest() -> dict[str, Any]:
    return {
        "id": "libravdb-memory",
        "name": "LibraVDB Memory",
        "description": "Local, exact memory and context engine; talks to the libravdb daemon and starts nothing.",
        "kind": ["memory", "context-engine"],
        "activation": {"onStartup": True},
        "contracts": {"tools": TOOLS},
        "cliCommands": [
            {"name": name, "description": "Look at, search and keep the memory", "hasSubcommands": True}
            for name in COMMANDS
        ],
        "uiHints": {name: {"label": label} for name, (label, _) in properties().items()},
        "configSchema": {
            "type": "object",
            "additionalProperties": False,
            "properties": {name: schema for name, (_, schema) in properties().items()},
        },
    }


def properties() -> dict[str, tuple[str, dict[str, Any]]]:
    """A label and a schema for each setting."""
    return {
        "endpoint": ("Daemon's endpoint", {"type": "string", "description": _of_daemon("serve.endpoint")}),
        "home": ("Daemon's home", {"type": "string", "description": _of_daemon("home")}),
        "userId": ("User", {"type": "string", "description": f"{_of_call('user_id')}; absent: see scope."}),
        "scope": (
            "Shared by",
            {
                "enum": ["agent", "session"],
                "default": "agent",
                "description": "Without a user: all conversations of an agent share a memory, or each has its own.",
            },
        ),
        "timeoutMs": (
            "Patience",
            {
                "type": "integer",
                "minimum": 100,
                "maximum": 20_000,
                "default": 5000,
                "description": "Milliseconds that a turn waits for the daemon before it goes on without memory.",
            },
        ),
    }


def _of_daemon(name: str) -> str:
    return next(setting.help for setting in known_settings() if setting.name == name)


def _of_call(name: str) -> str:
    text = str(next(item.metadata["help"] for item in dataclasses.fields(Where) if item.name == name))
    return text[:1].upper() + text[1:]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare; write nothing")
    text = json.dumps(manifest(), indent=2) + "\n"
    if parser.parse_args().check:
        current = FILE.exists() and FILE.read_text() == text
        print(
            f"{FILE.relative_to(ROOT)} is {'current' if current else 'not current: python tools/openclaw_manifest.py'}"
        )
        return 0 if current else 1
    FILE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
