"""settings: every knob with its value in force, as the dataclasses declare it."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any, cast

import click

from libravdb_memory.cli.invocation import Invocation, command
from libravdb_memory.cli.render import harmless
from libravdb_memory.config import Config, Setting, known_settings

_INDENT = "    "


@command("settings")
@click.pass_obj
def settings(invocation: Invocation) -> None:
    """List every setting: its variable, its value in force and what it does.

    A setting is a variable, or a key of config.toml in the home: LIBRAVDB_STORE_CACHE_MB is cache_mb in [store].
    """
    config = invocation.config()
    if invocation.as_json:
        invocation.terminal.json({"settings": [_form(setting, config) for setting in known_settings()]})
    else:
        invocation.terminal.data(
            "\n".join(_shown(setting, config, invocation.terminal.width) for setting in known_settings())
        )


def _shown(setting: Setting, config: Config, width: int) -> str:
    value = _value(setting, config)
    value = ",".join(map(str, cast("tuple[str, ...]", value))) if isinstance(value, tuple) else str(value)
    head = f"{setting.variable}={harmless(value)}"
    what = textwrap.fill(setting.help, width, initial_indent=_INDENT, subsequent_indent=_INDENT)
    return f"{head}\n{click.style(what, dim=True)}"


def _form(setting: Setting, config: Config) -> dict[str, Any]:
    value, default = _value(setting, config), setting.default
    return {
        "name": setting.name,
        "variable": setting.variable,
        "value": str(value) if isinstance(value, Path) else value,
        "default": default,
        "takes": setting.takes,
        "help": setting.help,
    }


def _value(setting: Setting, config: Config) -> object:
    part: object = getattr(config, setting.section) if setting.section else config
    value: object = getattr(part, setting.key)
    return value


COMMANDS = {"settings": settings}
