"""Starting, stopping and watching the daemon of a home from the command line."""

from __future__ import annotations

import json
import os
import plistlib
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.serve.process import Client, short_folder

from libravdb_memory import __version__
from libravdb_memory.cli import service_units
from libravdb_memory.cli.service_units import service_unit
from libravdb_memory.serve.running import noted


class Home:
    """A home, and the program run in it. What it starts is stopped with it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "home"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LIBRAVDB_")}
        self.environment = {
            **kept,
            "HOME": str(folder),
            "LIBRAVDB_HOME": str(self.path),
            "LIBRAVDB_EMBEDDING_BACKEND": "hashed",
        }

    def run(self, *arguments: str, program: str = "libravdb_memory") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", program, *arguments]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=120)


@pytest.fixture
def home() -> Iterator[Home]:
    with short_folder() as folder:
        made = Home(folder)
        try:
            yield made
        finally:
            made.run("daemon", "stop")


def test_a_daemon_is_started_once_watched_and_stopped(home: Home) -> None:
    assert home.run("daemon", "status").returncode == 1
    started = json.loads(home.run("daemon", "start", "--json").stdout)
    assert started["started"] is True and started["endpoint"] == f"unix:{home.path}/run/libravdb.sock"
    again = json.loads(home.run("daemon", "start", "--json").stdout)
    assert again == {**started, "started": False}
    with Client(started["endpoint"]) as client:
        client.call("ingest_message", userId="ada", text="hello")
    told = json.loads(home.run("daemon", "status", "--json").stdout)
    assert told["pid"] == started["pid"] and told["status"]["turns"] == 1
    assert "1 turns of 1 users" in home.run("daemon", "status").stdout
    stopped = json.loads(home.run("daemon", "stop", "--json").stdout)
    assert stopped == {"pid": started["pid"], "stopped": True}
    assert json.loads(home.run("daemon", "stop", "--json").stdout) == {"pid": None, "stopped": False}
    logged = [json.loads(line)["message"] for line in home.run("daemon", "logs").stdout.splitlines()]
    assert logged[0].startswith("listening on unix:") and logged[-1] == "stopped"
    assert home.run("daemon", "logs", "-n", "1").stdout.count("\n") == 1


def test_of_several_starts_at_once_all_find_the_same_daemon(home: Home) -> None:
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: home.run("daemon", "start", "--json"), range(4)))
    assert [run.returncode for run in done] == [0] * 4, [run.stderr for run in done]
    told = [json.loads(run.stdout) for run in done]
    assert len({each["pid"] for each in told}) == 1 and sum(each["started"] for each in told) == 1


def test_a_daemon_over_tcp_is_watched_and_stopped_with_the_owner_s_token(home: Home) -> None:
    home.environment["LIBRAVDB_RPC_ENDPOINT"] = "tcp:127.0.0.1:0"
    started = json.loads(home.run("daemon", "start", "--json").stdout)
    assert started["endpoint"].startswith("tcp:127.0.0.1:")
    assert json.loads(home.run("daemon", "status", "--json").stdout)["status"]["ok"] is True
    assert json.loads(home.run("daemon", "stop", "--json").stdout)["stopped"] is True


def test_a_daemon_that_cannot_start_says_why(home: Home) -> None:
    home.path.mkdir()
    (home.path / "data.libravdb").write_text("a file of another program")
    done = home.run("daemon", "start")
    assert done.returncode != 0 and "is not a LibraVDB Memory store" in done.stderr
    assert home.run("daemon", "status").returncode == 1


def test_a_process_that_is_not_the_daemon_is_never_ended_in_its_place(home: Home) -> None:
    """The pid of a daemon that died may by now be another program's."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as innocent:
        note = home.path / "run" / "libravdbd.pid"
        note.parent.mkdir(parents=True)
        note.write_text(json.dumps({"pid": innocent.pid, "endpoint": f"unix:{home.path}/run/libravdb.sock"}))
        done = home.run("daemon", "stop")
        assert done.returncode != 0 and "was left alone" in done.stderr
        assert innocent.poll() is None
        started = json.loads(home.run("daemon", "start", "--json").stdout)
        assert started["started"] is True and started["pid"] != innocent.pid
        assert home.run("daemon", "stop").returncode == 0 and innocent.poll() is None
        innocent.communicate(b"\n")


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"pid": "x", "endpoint": 3}', '{"pid": 1}'])
def test_a_note_that_makes_no_sense_is_no_daemon(tmp_path: Path, text: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "libravdbd.pid").write_text(text)
    assert noted(tmp_path) is None


def test_a_service_for_systemd_is_written_once_and_never_over_another(home: Home) -> None:
    if sys.platform == "darwin":
        pytest.skip("launchd here")
    file = home.path.parent / ".config" / "systemd" / "user" / "libravdbd.service"
    home.environment.pop("XDG_CONFIG_HOME", None)
    assert "[Service]" in home.run("daemon", "install", "--print").stdout and not file.exists()
    done = home.run("daemon", "install")
    assert "systemctl --user enable --now libravdbd" in done.stdout
    text = file.read_text()
    assert f'"{sys.executable}" "-m" "libravdb_memory" "serve"' in text and f"LIBRAVDB_HOME={home.path}" in text
    assert home.run("daemon", "install").returncode == 0
    file.write_text("mine")
    assert home.run("daemon", "install").returncode != 0 and file.read_text() == "mine"
    assert home.run("daemon", "install", "--force").returncode == 0 and file.read_text() == text


def test_a_service_for_launchd_names_program_home_and_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_units.sys, "platform", "darwin")
    unit = service_unit(tmp_path / "a & b", Path("data"))
    form = plistlib.loads(unit.text.encode())
    assert form["ProgramArguments"][-2:] == ["--db", str(Path("data").absolute())]
    assert form["EnvironmentVariables"] == {"LIBRAVDB_HOME": str(tmp_path / "a & b")}
    assert unit.file.name.endswith(".plist") and str(unit.file) in unit.begin


def test_libravdbd_is_the_daemon_and_tells_its_version(home: Home) -> None:
    program = Path(sys.executable).parent / "libravdbd"
    done = subprocess.run([program, "version"], env=home.environment, capture_output=True, text=True, timeout=60)
    assert done.stdout.split()[-1] == __version__
    for arguments in ([], ["serve"]):
        with subprocess.Popen(
            [program, *arguments], env=home.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as daemon:
            assert daemon.stdout is not None
            endpoint = daemon.stdout.readline().strip()
            with Client(endpoint) as client:
                assert client.call("health")["ok"] is True
            daemon.terminate()
            assert daemon.wait(60) == 0
