"""The clock of the machine steps back and forth under a running daemon: nothing depends on it but the times shown."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.serve.process import Client, Daemons

from libravdb_memory.serve.access import Tokens
from libravdb_memory.serve.client import Client as KeepingClient

HOUR, DAY = 3_600, 86_400
ADA = {"userId": "ada", "sessionId": "s1"}
SetClock = Callable[[float], None]


@pytest.fixture
def set_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SetClock:
    """So many seconds from the true time, in this process and in the daemons that it starts from now on."""
    real, shift = time.time_ns, tmp_path / "shift"
    folder = str(Path(__file__).with_name("stepped_clock"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (folder, os.environ.get("PYTHONPATH")))))
    monkeypatch.setenv("STEPPED_CLOCK", str(shift))
    monkeypatch.setattr(time, "time_ns", lambda: real() + int(shift.read_text()))

    def set_to(seconds: float) -> None:
        beside = shift.with_suffix(".new")
        beside.write_text(str(int(seconds * 1e9)))
        beside.replace(shift)

    set_to(0)
    return set_to


def said_at(client: Client, text: str) -> int:
    stored = client.call("ingest_message", **ADA, text=text)
    return int(stored["turn"]["ts"])


def test_order_tail_receipts_and_ids_do_not_depend_on_the_clock(daemons: Daemons, set_clock: SetClock) -> None:
    chance, said, moments, receipts = random.Random(3), list[str](), list[int](), list[Any]()
    daemon = daemons()
    with daemon.client() as client:
        for number in range(30):
            set_clock((0, -HOUR, DAY, -HOUR, chance.uniform(-HOUR, HOUR))[number % 5])
            said.append(f"Step {number}: the crane on quay {number} was oiled and signed off by Oyelaran{number}.")
            moments.append(said_at(client, said[-1]))
            client.call("session_lifecycle_hint", hook=f"hook {number}", sessionId="s1")
            built = client.call("assemble_context", **ADA, prompt="which crane was oiled?", budget=2000)
            receipts.append((built["receiptId"], built["text"]))
            shown = [line for line in said[-4:] if line in built["text"]]
            assert shown == said[-4:]  # the newest are there whole, whatever their time
            assert [built["text"].index(line) for line in shown] == sorted(built["text"].index(line) for line in shown)
        assert max(moments) - min(moments) > (DAY - 1) * 1000, "the clock was stepped at all"
        check(client, said, receipts)
        client.call("memory_compact", **ADA)
        last = {**ADA, "advancementKey": "k", "messages": [{"role": "user", "content": "last"}]}
        stored = client.call("after_turn", **last)
        set_clock(-DAY)
        assert client.call("after_turn", **last)["ids"] == stored["ids"]
        assert client.call("verify")["ok"] is True
    set_clock(-DAY)
    assert daemon.stop() == 0
    set_clock(-2 * DAY)
    with daemons().client() as client:
        check(client, [*said, "last"], receipts[-3:])


def check(client: Client, said: list[str], receipts: list[Any]) -> None:
    found = client.call("list_collection", collection="session_raw:s1")["results"]
    assert len({item["id"] for item in found}) == len(said) and {item["text"] for item in found} == set(said)
    assert texts_of(client) == said
    hooks = [item["metadata"]["hook"] for item in client.call("list_lifecycle_journal", sessionId="s1")["results"]]
    assert hooks == [f"hook {number}" for number in range(30)]
    for receipt, text in receipts:
        assert client.call("why", receiptId=receipt)
        replayed = client.call("replay", receiptId=receipt)
        assert replayed["identical"] is True and replayed["text"] == text


def texts_of(client: Client) -> list[str]:
    """Every turn of the session, in order, those under summaries too."""
    texts: list[str] = []
    for entry in client.call("memory_history", **ADA)["entries"]:
        if "text" in entry and entry.get("role") in ("user", "assistant"):
            texts.append(entry["text"])
        else:
            texts += below(client, entry)
    return texts


def below(client: Client, entry: dict[str, Any]) -> list[str]:
    summary = entry.get("id") or entry["summary"]["id"]
    return [item["text"] for item in client.call("memory_expand", **ADA, id=summary)["items"]]


def test_what_waits_for_a_daemon_keeps_its_order_over_steps_of_the_clock(daemons: Daemons, set_clock: SetClock) -> None:
    with KeepingClient(home=daemons.home) as client:
        for number, shift in enumerate((0, -HOUR, DAY, -HOUR, 0)):
            set_clock(shift)
            assert not client.ingest(f"waiting {number}", user="ada", session="s1").delivered
    set_clock(-HOUR)
    daemon = daemons()
    with KeepingClient(home=daemons.home) as client, daemon.client() as other:
        set_clock(DAY)
        assert client.send_waiting().delivered == 5
        set_clock(-HOUR)
        assert client.ingest("said at last", user="ada", session="s1").delivered
        assert texts_of(other) == [*(f"waiting {number}" for number in range(5)), "said at last"]


def test_tokens_and_connections_last_whatever_the_clock_says(daemons: Daemons, set_clock: SetClock) -> None:
    secret = Tokens(daemons.home / "tokens.json").add("reader", frozenset({"ada"})).secret
    daemon = daemons("--endpoint", "tcp:127.0.0.1:0", SERVE_WRITE_TIMEOUT_S="1", SERVE_DRAIN_S="5")
    with daemon.client() as early:
        assert early.call("authenticate", token=secret)["ok"]
        for shift in (DAY, -HOUR, 365 * DAY, 0):
            set_clock(shift)
            assert early.call("memory_search", userId="ada", query="?")["results"] == []
            with daemon.client() as late:
                assert late.call("authenticate", token=secret)["namespaces"] == ["ada"]
        set_clock(-HOUR)
        began = time.monotonic()
        assert daemon.stop() == 0
        assert time.monotonic() - began < 30
    assert all(json.loads(line)["level"] == "info" for line in daemon.log.splitlines())
