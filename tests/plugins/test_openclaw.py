"""The OpenClaw plugin: its manifest is current, its own tests pass where Node is, and the doctor tells the truth."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.openclaw import run
from tests.e2e.registries import NOT_HERE, Broken, NotHere
from tests.serve.process import Daemon, short_folder

from libravdb_memory import NotFoundError, load_config
from libravdb_memory.cli import openclaw_host
from libravdb_memory.cli.openclaw_host import INSTALL, PLUGIN, SPOOL_LIMIT, HostFiles, examine_host
from libravdb_memory.doctor import Finding

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "plugins" / "openclaw"
LEAST_NODE = 20


def node() -> str:
    found = shutil.which("node")
    version = subprocess.run([found, "--version"], capture_output=True, text=True).stdout if found else "v0"
    if found is None or int(version.lstrip("v").partition(".")[0]) < LEAST_NODE:
        pytest.skip(f"no Node {LEAST_NODE} or newer on this machine")
    return found


def test_the_manifest_is_made_from_the_daemon_s_settings_and_current() -> None:
    done = subprocess.run(
        [sys.executable, "tools/openclaw_manifest.py", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_the_manifest_names_what_the_plugin_registers() -> None:
    manifest = json.loads((FOLDER / "openclaw.plugin.json").read_text())
    package = json.loads((FOLDER / "package.json").read_text())
    assert manifest["id"] == package["name"] == PLUGIN
    assert manifest["kind"] == ["memory", "context-engine"] and "dependencies" not in package
    source = (FOLDER / "src" / "settings.js").read_text()
    for knob in manifest["configSchema"]["properties"]:
        assert f"given.{knob}" in source, f"{knob} is read nowhere"


@pytest.mark.slow
@pytest.mark.parametrize("file", ["engine.test.js", "plugin.test.js"])
def test_the_plugin_s_own_tests_pass_against_real_daemons(file: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LIBRAVDB_")}
    done = subprocess.run(
        [node(), "--test", f"openclaw/{file}"],
        cwd=Path(__file__).parent,
        env={**environment, "TEST_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-6000:]


def test_what_is_installed_from_the_folder_is_the_plugin_alone() -> None:
    """A host copies the whole folder, and its audit reads every line of it."""
    files = {path.relative_to(FOLDER).parts[0] for path in FOLDER.rglob("*") if path.is_file()}
    assert files == {"README.md", "index.js", "openclaw.plugin.json", "package.json", "src", "tsconfig.json"}


def test_where_the_plugin_lies_is_told() -> None:
    """In an installed package `make wheel` looks."""
    command = [sys.executable, "-m", "libravdb_memory", "openclaw", "path"]
    assert subprocess.run(command, capture_output=True, text=True).stdout == f"{FOLDER}\n"
    told = subprocess.run([*command, "--json"], capture_output=True, text=True).stdout
    assert json.loads(told) == {"path": str(FOLDER)}


def test_a_plugin_in_the_package_goes_before_that_of_a_checkout_and_none_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "src" / "libravdb_memory"
    monkeypatch.setattr(openclaw_host, "__file__", str(package / "cli" / "openclaw_host.py"))
    with pytest.raises(NotFoundError, match="install the package again"):
        openclaw_host.plugin_folder()
    for place in (tmp_path / "plugins" / "openclaw", package / "integrations" / "openclaw"):
        place.mkdir(parents=True)
        (place / "openclaw.plugin.json").touch()
        assert openclaw_host.plugin_folder() == place.resolve()


@pytest.mark.slow
def test_the_plugin_s_types_hold() -> None:
    whole = sorted((ROOT / "build" / "openclaw").glob("*/package-lock.json"))  # an install under way has none yet
    modules = [lock.parent / "node_modules" for lock in whole]
    compilers = [each / "typescript" / "bin" / "tsc" for each in modules]
    if not any(compiler.exists() for compiler in compilers):
        pytest.skip("no TypeScript here: make e2e-openclaw installs one")
    command = [node(), str(compilers[-1]), "-p", str(FOLDER), "--typeRoots", str(modules[-1] / "@types")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(("allowed", "code"), [([], NOT_HERE), (["--allow-skip"], 0)])
def test_a_host_that_cannot_be_installed_is_no_success_unless_that_is_allowed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], allowed: list[str], code: int
) -> None:
    def unreachable(version: str) -> run.Program:
        raise NotHere(f"no registry has {version}")

    monkeypatch.setattr(run, "install", unreachable)
    assert run.main(["--fast", *allowed]) == code
    assert "nothing shown" in capsys.readouterr().out


def test_an_install_that_breaks_is_no_success_though_skipping_is_allowed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(version: str) -> run.Program:
        raise Broken(f"{version} does not unpack")

    monkeypatch.setattr(run, "install", broken)
    assert run.main(["--fast", "--allow-skip"]) == 1
    assert "does not unpack" in capsys.readouterr().out


# ── the doctor ───────────────────────────────────────────────────────────────────────────────────────────────────────

Look = Callable[..., dict[str, Finding]]


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    with short_folder() as folder:
        yield folder


@pytest.fixture
def look(tmp_path: Path) -> Look:
    def looked(host: dict[str, Any] | None, version: str | None = "OpenClaw 2026.9.6 (abc)", **more: str) -> Any:
        files = HostFiles(tmp_path / "openclaw.json", tmp_path / "spool")
        if host is not None:
            files.config.write_text(json.dumps(host))
        config = load_config(environ={"LIBRAVDB_HOME": str(tmp_path / "home"), **more})
        found = list(examine_host(config, files, lambda: version))
        return {
            f"{each.subject} {each.detail.split()[0]}" if each.subject == "slot" else each.subject: each
            for each in found
        }

    return looked


def host_of(tmp_path: Path, **plugins: Any) -> dict[str, Any]:
    entries = {PLUGIN: {"enabled": True, "config": {"home": str(tmp_path / "home")}}, "memory-core": {"enabled": False}}
    told = {"entries": entries, "slots": {"memory": PLUGIN, "contextEngine": PLUGIN}, **plugins}
    return {"plugins": told, "agents": {"defaults": {"workspace": str(tmp_path / "ws")}}}


def test_a_host_where_all_is_well_has_no_problem(look: Look, tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "home")
    try:
        found = look(host_of(tmp_path), LIBRAVDB_SOURCES_ROOT_PATHS=str(tmp_path / "ws"))
        assert {name: finding.mark for name, finding in found.items()} == {
            "host": "ok",
            "plugin": "ok",
            "slot memory": "ok",
            "slot contextEngine": "ok",
            "memory-core": "ok",
            "endpoint": "ok",
            "rules": "ok",
        }
    finally:
        daemon.end()


@pytest.mark.parametrize(
    ("version", "mark"),
    [(None, "problem"), ("OpenClaw 2026.7.34", "problem"), ("2026.7.35", "note"), ("2026.10.1", "ok"), ("dev", "note")],
)
def test_the_host_s_version_is_judged(look: Look, version: str | None, mark: str) -> None:
    assert look(None, version)["host"].mark == mark


def test_every_problem_names_what_mends_it(look: Look, tmp_path: Path) -> None:
    host = host_of(tmp_path, slots={"memory": "memory-core"}, allow=["other"])
    found = look(host)
    problems = {name: finding.remedy or "" for name, finding in found.items() if finding.mark == "problem"}
    assert set(problems) == {"plugin", "slot memory", "slot contextEngine", "endpoint"}
    assert all(problems.values())
    assert problems["slot memory"] == f"openclaw config set plugins.slots.memory {PLUGIN}"
    assert problems["endpoint"].endswith("libravdb daemon start")
    assert look({"plugins": {}})["plugin"].remedy == INSTALL
    for page in ("docs/guide/openclaw.md", "plugins/openclaw/README.md"):
        assert INSTALL in (ROOT / page).read_text(), f"{page} says otherwise"


def test_a_configuration_that_is_missing_or_no_json_is_told(look: Look, tmp_path: Path) -> None:
    assert look(None)["config"].mark == "problem"
    (tmp_path / "openclaw.json").write_text("{ plugins: {}, } // JSON5")
    assert look(None)["config"].mark == "note"


@pytest.mark.parametrize("written", [None, "{ plugins: {}, } // JSON5"])
def test_the_daemon_is_asked_for_also_where_the_host_has_no_configuration(
    look: Look, tmp_path: Path, written: str | None
) -> None:
    if written is not None:
        (tmp_path / "openclaw.json").write_text(written)
    assert look(None)["endpoint"].remedy == "libravdb daemon start"
    daemon = Daemon(tmp_path / "home")
    try:
        assert look(None)["endpoint"].mark == "ok"
    finally:
        daemon.end()


def test_what_waits_for_the_daemon_and_what_it_refused_is_told(look: Look, tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    assert "spool" not in look(host_of(tmp_path))
    spool.mkdir()
    for number in range(3):
        (spool / f"00{number}-1-1.json").write_text("{}")
    (spool / ".003-1-1.json").write_text("half")
    waiting = look(host_of(tmp_path))["spool"]
    assert waiting.mark == "note" and waiting.detail.startswith("3 calls of the plugin wait")
    (spool / "refused").mkdir()
    (spool / "refused" / "004-1-1.json").write_text("{}")
    refused = look(host_of(tmp_path))["spool"]
    assert refused.mark == "note" and refused.detail.startswith("1 call refused")


def test_a_spool_without_room_is_a_problem(look: Look, tmp_path: Path) -> None:
    (tmp_path / "spool").mkdir()
    with (tmp_path / "spool" / "001-1-1.json").open("wb") as large:
        large.truncate(SPOOL_LIMIT)
    found = look(host_of(tmp_path))["spool"]
    assert found.mark == "problem" and "full" in found.detail and "daemon start" in (found.remedy or "")


def test_the_doctor_knows_the_plugin_s_own_bound() -> None:
    factors = re.findall(r"const MOST_BYTES = ([\d *]+);", (FOLDER / "src" / "spool.js").read_text())
    assert math.prod(map(int, factors[0].split("*"))) == SPOOL_LIMIT


@pytest.mark.parametrize(
    ("told", "config", "spool"),
    [
        ({}, ".openclaw/openclaw.json", ".openclaw"),
        ({"OPENCLAW_STATE_DIR": "~/s"}, "s/openclaw.json", "s"),
        ({"OPENCLAW_STATE_DIR": "~/s", "OPENCLAW_CONFIG_PATH": "~/c.json"}, "c.json", "s"),
    ],
)
def test_the_host_s_files_are_where_its_environment_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, told: dict[str, str], config: str, spool: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert HostFiles.found(told) == HostFiles(tmp_path / config, tmp_path / spool / PLUGIN / "spool")


def test_nothing_of_the_host_s_secrets_is_told(look: Look, tmp_path: Path) -> None:
    host = {**host_of(tmp_path), "models": {"providers": {"p": {"apiKey": "sk-very-secret"}}}}
    assert "sk-very-secret" not in repr(look(host))
