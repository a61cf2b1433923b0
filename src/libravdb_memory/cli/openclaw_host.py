"""An OpenClaw host as this machine has it, and what is wrong with its use of memory.

Laws: looking changes nothing. Of the host's configuration the parts about plugins and workspaces are looked at, and no
value of any other is kept or told. Every problem carries the command that mends it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from libravdb_memory.config import Config
from libravdb_memory.doctor import Finding
from libravdb_memory.errors import NotFoundError
from libravdb_memory.serve.endpoint import default_endpoint
from libravdb_memory.serve.running import ask
from libravdb_memory.sources.settings import split_name
from libravdb_memory.wording import counted

PLUGIN = "libravdb-memory"
OLDEST, DURABLE_TURNS = (2026, 7, 35), (2026, 8, 1)
INSTALL = 'openclaw plugins install "$(libravdb openclaw path)" --force --accept-capabilities'
_SLOTS = ("memory", "contextEngine")
_PATIENCE_S = 60
SPOOL_LIMIT, _BLOCK = 128 * 1024 * 1024, 4096
"""As the plugin bounds its folder, in what files take of a disk."""
Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HostFiles:
    """Where a host keeps its configuration, and where the plugin keeps what waits for the daemon."""

    config: Path
    spool: Path

    @classmethod
    def found(cls, environ: Mapping[str, str]) -> HostFiles:
        told = environ.get("OPENCLAW_STATE_DIR", "").strip()
        state = Path(told).expanduser() if told else Path.home() / ".openclaw"
        config = environ.get("OPENCLAW_CONFIG_PATH", "").strip()
        return cls(Path(config).expanduser() if config else state / "openclaw.json", state / PLUGIN / "spool")


def plugin_folder() -> Path:
    """The plugin as it came with this program: in the installed package, or in the checkout that the package is of."""
    package = Path(__file__).resolve().parents[1]
    places = (package / "integrations" / "openclaw", package.parents[1] / "plugins" / "openclaw")
    for place in places:
        if (place / "openclaw.plugin.json").is_file():
            return place
    raise NotFoundError(PLUGIN, f"the plugin is in neither {places[0]} nor {places[1]}; install the package again")


def examine_host(config: Config, files: HostFiles, version: Callable[[], str | None]) -> Iterator[Finding]:
    """Every finding, as it is made. `version` asks the host which one it is; None when there is none."""
    yield _host(version())
    told = _told(files.config)
    if isinstance(told, Finding):
        yield told
        yield _endpoint(config, {})  # where the plugin looks when nothing tells it otherwise
        return
    plugins = _part(told, "plugins")
    yield from _plugin(plugins)
    yield from (_slot(name, _part(plugins, "slots").get(name)) for name in _SLOTS)
    yield _memory_core(plugins)
    yield _endpoint(config, _part(_part(_part(plugins, "entries"), PLUGIN), "config"))
    yield from _spool(files.spool)
    yield _rules(config, told, files)


def _told(path: Path) -> object:
    """The host's configuration, or why it is not known."""
    try:
        return cast(object, json.loads(path.read_text()))
    except OSError:
        return Finding("problem", "config", f"no configuration at {path}", "openclaw onboard")
    except ValueError:
        detail = f"{path} is not plain JSON; most other checks need it"
        return Finding("note", "config", detail, "openclaw config get plugins")


def host_version(program: str) -> str | None:
    """What the program says of itself."""
    path = shutil.which(program)
    if path is None:
        return None
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


def _host(said: str | None) -> Finding:
    if said is None:
        return Finding("problem", "host", "no program openclaw is found", "npm install -g openclaw, or --program PATH")
    numbers = re.search(r"(\d{4})\.(\d{1,2})\.(\d{1,3})", said)
    if numbers is None:
        return Finding("note", "host", f"its version is not known: {said[:60]!r}")
    version = (int(numbers[1]), int(numbers[2]), int(numbers[3]))
    if version < OLDEST:
        return Finding("problem", "host", f"{numbers[0]} is older than 2026.7.35", "npm install -g openclaw@latest")
    if version < DURABLE_TURNS:
        return Finding("note", "host", f"{numbers[0]} works through the older hooks", "npm install -g openclaw@latest")
    return Finding("ok", "host", numbers[0])


def _plugin(plugins: Object) -> Iterator[Finding]:
    entry = _part(_part(plugins, "entries"), PLUGIN)
    if not entry:
        yield Finding("problem", "plugin", f"{PLUGIN} is not installed", INSTALL)
        return
    allowed, denied = plugins.get("allow"), plugins.get("deny")
    if entry.get("enabled") is False or plugins.get("enabled") is False:
        yield Finding("problem", "plugin", f"{PLUGIN} is switched off", f"openclaw plugins enable {PLUGIN}")
    elif (isinstance(allowed, list) and allowed and PLUGIN not in allowed) or (
        isinstance(denied, list) and PLUGIN in denied
    ):
        yield Finding("problem", "plugin", f"{PLUGIN} is not among the allowed plugins", "add it to plugins.allow")
    else:
        yield Finding("ok", "plugin", f"{PLUGIN} is installed and enabled")


def _slot(name: str, held: object) -> Finding:
    if held == PLUGIN:
        return Finding("ok", "slot", f"{name} is {PLUGIN}")
    owner = held if isinstance(held, str) else "the host's own"
    return Finding("problem", "slot", f"{name} is {owner}", f"openclaw config set plugins.slots.{name} {PLUGIN}")


def _memory_core(plugins: Object) -> Finding:
    if _part(_part(plugins, "entries"), "memory-core").get("enabled") is False:
        return Finding("ok", "memory-core", "off: 'openclaw memory' is this memory's command")
    detail = "on: it keeps 'openclaw memory', and this memory answers to 'openclaw libravdb'"
    return Finding("note", "memory-core", detail, "openclaw config set plugins.entries.memory-core.enabled false")


def _endpoint(config: Config, settings: Object) -> Finding:
    home = Path(str(settings["home"])).expanduser() if settings.get("home") else config.home
    named = settings.get("endpoint") or config.serve.endpoint
    endpoint = str(named) if named else str(default_endpoint(home))
    health = ask(home, endpoint, "health")
    if health is None:
        moved = "" if home == config.home else f"LIBRAVDB_HOME={home} "
        return Finding("problem", "endpoint", f"nobody answers at {endpoint}", f"{moved}libravdb daemon start")
    return Finding("ok", "endpoint", f"{endpoint}, version {health.get('version')}")


def _spool(folder: Path) -> Iterator[Finding]:
    """What waits for the daemon and what it refused; nothing when there is neither."""
    waiting, refused = _calls(folder), _calls(folder / "refused")
    taken = sum(-(-size // _BLOCK) * _BLOCK for size in (*waiting, *refused))
    if taken + _BLOCK > SPOOL_LIMIT:
        detail = f"{folder} is full: turns are no longer kept for the daemon"
        yield Finding(
            "problem", "spool", detail, "libravdb daemon start, then talk; or look through refused and empty it"
        )
    elif waiting:
        detail = f"{counted(len(waiting), 'call')} of the plugin wait in {folder}"
        yield Finding("note", "spool", detail, "they are delivered with the next turns while the daemon answers")
    if refused:
        detail = f"{counted(len(refused), 'call')} refused for good in {folder / 'refused'}"
        yield Finding("note", "spool", detail, "the host's log says why; delete them when they are of no use")


def _calls(folder: Path) -> list[int]:
    """Sizes of the calls that the plugin keeps in a folder."""
    try:
        return [path.stat().st_size for path in folder.glob("[0-9]*.json")]
    except OSError:
        return []


def _rules(config: Config, told: object, files: HostFiles) -> Finding:
    defaults = _part(_part(told, "agents"), "defaults")
    given = defaults.get("workspace")
    workspace = Path(given).expanduser() if isinstance(given, str) else files.config.parent / "workspace"
    roots = [Path(split_name(root)[1]).expanduser() for root in config.sources.root_paths]
    if any(_same(root, workspace) for root in roots):
        return Finding("ok", "rules", f"AGENTS.md and other Markdown of {workspace} are read")
    detail = f"AGENTS.md of {workspace} is not read: its rules are in the prompt only as the host puts them there"
    return Finding("note", "rules", detail, f'in config.toml: [sources] root_paths = ["{workspace}"]')


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _part(whole: object, name: str) -> Object:
    part = cast(Object, whole).get(name) if isinstance(whole, Mapping) else None
    return cast(Object, part) if isinstance(part, Mapping) else {}
