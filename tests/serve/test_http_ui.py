"""`libravdb ui`: a daemon that serves pages, and an address that signs a browser in once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.serve.process import short_folder

from libravdb_memory.serve.running import noted


class Home:
    def __init__(self, folder: Path) -> None:
        self.path = folder / "home"
        hidden = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
        kept = {
            name: text for name, text in os.environ.items() if not name.startswith("LIBRAVDB_") and name not in hidden
        }
        self.environment = {
            **kept,
            "HOME": str(folder),
            "LIBRAVDB_HOME": str(self.path),
            "LIBRAVDB_EMBEDDING_BACKEND": "hashed",
        }

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "libravdb_memory", *arguments]
        environment = {**self.environment, **variables}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def home() -> Iterator[Home]:
    with short_folder() as folder:
        made = Home(folder)
        try:
            yield made
        finally:
            made.run("daemon", "stop")


def signed_in(url: str) -> int:
    address, _, token = url.partition("/#sign-in=")
    body, headers = json.dumps({"token": token}).encode(), {"content-type": "application/json"}
    request = urllib.request.Request(f"{address}/api/sign-in", body, headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_ui_starts_a_daemon_that_serves_pages_and_prints_an_address_that_works_once(home: Home) -> None:
    done = home.run("ui", "--no-open")
    assert done.returncode == 0, done.stderr
    (url,) = done.stdout.splitlines()
    assert url.startswith("http://127.0.0.1:")
    assert (signed_in(url), signed_in(url)) == (200, 401)
    with urllib.request.urlopen(url.partition("#")[0], timeout=30) as page:
        assert b"<html" in page.read()
    pid = noted(home.path)
    again = json.loads(home.run("ui", "--json").stdout)
    assert again["url"].partition("#")[0] == url.partition("#")[0] and again["url"] != url
    assert again["expiresInS"] == 60 and noted(home.path) == pid
    assert signed_in(again["url"]) == 200


def test_ui_opens_a_browser_unless_told_not_to(home: Home, tmp_path: Path) -> None:
    told = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > "{told}"\n')
    browser.chmod(0o700)
    quiet = home.run("ui", "--no-open", BROWSER=f"{browser} %s")
    assert quiet.returncode == 0 and not told.exists()
    done = home.run("ui", BROWSER=f"{browser} %s")
    assert done.returncode == 0 and told.read_text() == done.stdout.strip()
    alone = home.run("ui")
    assert alone.returncode == 0 and "open this address" in alone.stderr


def test_ui_leaves_a_daemon_without_pages_alone_unless_told_to_restart_it(home: Home) -> None:
    assert home.run("daemon", "start").returncode == 0
    before = noted(home.path)
    refused = home.run("ui", "--no-open")
    assert refused.returncode != 0 and "--restart" in refused.stderr and noted(home.path) == before
    done = home.run("ui", "--no-open", "--restart")
    assert done.returncode == 0 and signed_in(done.stdout.strip()) == 200
    assert noted(home.path) != before
