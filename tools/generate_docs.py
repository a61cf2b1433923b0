"""Write the pages of docs/reference that are made from the code; `--check` only tells whether they are up to date.

python tools/generate_docs.py [--check]
"""

from __future__ import annotations

import sys
from pathlib import Path

from libravdb_memory.config import CONFIG_FILE, UNUSED_VARIABLES, Setting, known_settings

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


PAGES = {ROOT / "docs" / "reference" / "settings.md": settings_page}


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
