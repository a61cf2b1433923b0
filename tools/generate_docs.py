"""Write the pages of docs/reference that are made from the code; `--check` only tells whether they are up to date.

python tools/generate_docs.py [--check]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from libravdb_memory.config import CONFIG_FILE, UNUSED_VARIABLES, Setting, known_settings
from libravdb_memory.serve import inspecting, own
from libravdb_memory.serve.bridge import methods as bridge_methods
from libravdb_memory.serve.failures import BUSY, BY_ERROR, STOPPING
from libravdb_memory.serve.fields import json_schema
from libravdb_memory.serve.jsonrpc import INVALID_REQUEST, PARSE_ERROR, UNKNOWN_METHOD
from libravdb_memory.serve.methods import Method
from libravdb_memory.serve.shapes import Shapes
from libravdb_memory.serve.table import AUTHENTICATE, every_method

ROOT = Path(__file__).resolve().parent.parent

_INTRODUCTION = f"""<!-- Made by tools/generate_docs.py from the settings dataclasses; edit those. -->
# Settings

Later ones win: the default, `{CONFIG_FILE}` in the home folder, the environment, a flag of the command line.

- The home is `$LIBRAVDB_HOME`, else `$HOME/.clawdb`. It need not exist.
- In `{CONFIG_FILE}` a setting is a key of its section's table; in the environment it is `LIBRAVDB_<SECTION>_<KEY>`.
  A blank variable counts as absent. A list is an array in the file, and has commas between its texts in a variable.
- A relative path is relative to the home in `{CONFIG_FILE}`, and to the working folder elsewhere.
- An unknown name and a bad value are refused, with the nearest known name; nothing is guessed.

```toml
# {CONFIG_FILE}
db_path = "work.libravdb"

[embedding]
threads = 2
```
"""

_UNUSED = """
## Variables without effect

Hosts of the reference daemon set these. They are accepted, so that a host starts, and nothing reads them in this
version (`libravdb doctor` lists those that are set):
"""


def settings_page() -> str:
    by_section: dict[str, list[Setting]] = {}
    for setting in known_settings():
        by_section.setdefault(setting.section, []).append(setting)
    parts = [_INTRODUCTION]
    for section, settings in by_section.items():
        parts.append(
            f"\n## {f'[{section}]' if section else 'Where things are'}\n\n" + "\n".join(_table(settings)) + "\n"
        )
    parts.append(_UNUSED + "\n" + ",\n".join(f"`{name}`" for name in UNUSED_VARIABLES) + ".\n")
    return "".join(parts)


def _table(settings: list[Setting]) -> list[str]:
    rows = [
        f"| `{setting.key}` | `{setting.variable}` | {setting.takes} | {_default(setting)} | {setting.help} |"
        for setting in settings
    ]
    return ["| key | variable | takes | default | effect |", "|---|---|---|---|---|", *rows]


def _default(setting: Setting) -> str:
    if setting.default in (None, "", ()):
        return "–"
    return (
        ", ".join(f"`{item}`" for item in setting.default)
        if isinstance(setting.default, tuple)
        else f"`{setting.default}`"
    )


# ── the protocol of the daemon ───────────────────────────────────────────────────────────────────────────────────

_RPC = """<!-- Made by tools/generate_docs.py from the table of methods; edit that. -->
# The protocol of the daemon

Newline-delimited JSON-RPC 2.0, UTF-8, over `unix:/path` or `tcp:host:port`; `libravdb serve` prints where it listens.
One line is one call, one line is one answer:

```
{"jsonrpc":"2.0","id":1,"method":"memory_search","params":{"userId":"ada","query":"where is the deploy key?"}}
{"jsonrpc":"2.0","id":1,"result":{"results":[],"degraded":[]}}
```

- Calls may be sent without waiting for answers. Answers carry the id of their call and come in any order; what is sent
  to one session is stored in the order in which it was sent.
- `params` may be absent. Null counts as absent, an unknown name is ignored, a wrong type is refused by name. Whole
  numbers may be written as 4.0.
- An error has `code`, `message` and usually `data.kind`. A bad line is answered too, and the connection goes on. A line
  may have 16 MB (`serve.max_frame_mb`) and 128 levels.
- A call without `id` gets no answer. Batches are refused.
- A unix socket is for processes of its owner. Over TCP a connection must begin with `authenticate`; the owner's token
  is in `tokens.json` in the home. A token may be limited to namespaces: then only methods about these answer.
- A namespace is the `userId`; without one `session-key:<sessionKey>`, else `agent-id:<agentId>`, else
  `session:<sessionId>`.

The same as JSON Schema, with the types of all that is told: [rpc.schema.json](rpc.schema.json).
"""


def rpc_page() -> str:
    ours = {AUTHENTICATE.name, *(method.name for method in own.METHODS)}
    bridge = {method.name for method in bridge_methods.METHODS}
    inspector = {method.name for method in inspecting.METHODS}
    table = every_method()
    parts = [_RPC, "\n## Codes of errors\n\n", "\n".join(_codes()), "\n"]
    for title, methods in (
        ("Methods", [method for method in table.values() if method.name in ours]),
        ("Methods of the inspector", [method for method in table.values() if method.name in inspector]),
        (
            "Methods of the reference protocol",
            [method for method in table.values() if method.name not in ours | bridge | inspector],
        ),
        (
            "Methods of the command line, for the owner alone",
            [method for method in table.values() if method.name in bridge],
        ),
    ):
        parts.append(f"\n## {title}\n")
        parts += [_method(method) for method in methods]
    return "".join(parts)


def rpc_schema() -> str:
    shapes = Shapes("#/types/{}".format)
    methods = {
        method.name: {
            "description": method.summary,
            "params": json_schema(method.params),
            "result": shapes.of(method.result),
        }
        for method in every_method().values()
    }
    types = dict(sorted(shapes.named.items()))
    return json.dumps({"methods": methods, "types": types}, indent=2, ensure_ascii=False) + "\n"


def _codes() -> Iterator[str]:
    yield "| code | meaning |"
    yield "|---|---|"
    yield f"| {PARSE_ERROR} | the line is no JSON |"
    yield f"| {INVALID_REQUEST} | the line is no call |"
    yield f"| {UNKNOWN_METHOD} | there is no such method |"
    named: dict[int, list[str]] = {}
    for kind, code in BY_ERROR:
        named.setdefault(code, []).append(kind.__name__)
    for code, names in sorted(named.items(), reverse=True):
        yield f"| {code} | {', '.join(f'`{name}`' for name in names)} |"
    yield f"| {BUSY} | too many connections, or too much sent at once |"
    assert STOPPING in named


def _method(method: Method[Any]) -> str:
    schema: Any = json_schema(method.params)
    needed = set(schema.get("required", ()))
    text = f"\n### `{method.name}`\n\n{method.summary}\n"
    if schema["properties"]:
        text += "\n| parameter | takes | default | meaning |\n|---|---|---|---|\n"
    for name, shape in schema["properties"].items():
        default = "required" if name in needed else f"`{json.dumps(shape['default'])}`" if "default" in shape else "–"
        text += f"| `{name}` | {_takes(shape)} | {default} | {shape.get('description', '–')} |\n"
    return text + f"\nTells {_told(method)}.\n"


def _told(method: Method[Any]) -> str:
    """The fields of a result; what they hold is in the schema."""
    shapes = Shapes()
    shapes.of(method.result)
    shape: Any = shapes.named[method.result.__name__]
    needed = set(shape.get("required", ()))
    return ", ".join(f"`{name}`" + ("" if name in needed else " (at times)") for name in shape["properties"])


def _takes(shape: Any) -> str:
    if "enum" in shape:
        return " or ".join(f"`{value}`" for value in shape["enum"])
    if shape.get("type") == "array":
        return f"list: {_takes(shape['items'])}"
    if shape.get("type") == "object" and "properties" in shape:
        return "object: " + ", ".join(f"`{name}`" for name in shape["properties"])
    kinds = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
    return kinds.get(str(shape.get("type")), "object" if shape.get("type") == "object" else "JSON")


_REFERENCE = ROOT / "docs" / "reference"
PAGES = {
    _REFERENCE / "settings.md": settings_page,
    _REFERENCE / "rpc.md": rpc_page,
    _REFERENCE / "rpc.schema.json": rpc_schema,
}


def main(arguments: list[str]) -> int:
    stale = [page for page, make in PAGES.items() if not page.exists() or page.read_text("utf-8") != make()]
    if "--check" not in arguments:
        for page in stale:
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(PAGES[page](), "utf-8")
            print(f"written: {page.relative_to(ROOT)}")
        return 0
    for page in stale:
        print(f"out of date: {page.relative_to(ROOT)}; run python tools/generate_docs.py")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
