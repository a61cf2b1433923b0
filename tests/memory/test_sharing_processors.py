"""What runs a model in the background takes a place for it: turns that arrive, and a compaction beside them."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from libravdb_memory import Memory
from libravdb_memory.bench.texts import conversation
from libravdb_memory.config import load_config
from libravdb_memory.engines.places import Work, places


def test_models_of_the_background_never_take_all_processors_while_turns_arrive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, set[Work]] = {}
    most = 0
    take = places._take

    def watched(work: Work) -> None:
        nonlocal most
        take(work)
        seen.setdefault(threading.current_thread().name.partition("_")[0], set()).add(work)
        most = max(most, places._taken)

    monkeypatch.setattr(places, "_count", lambda: 2)
    monkeypatch.setattr(places, "_clock", lambda: 0.0)  # however slow this machine is, turns arrive all the time
    monkeypatch.setattr(places, "_arriving_until", 1.0)
    monkeypatch.setattr(places, "_take", watched)
    settings = {"db_path": tmp_path / "m", "compaction.trigger_tokens": 0, "compaction.own_process": False}
    config = load_config(environ={}, overrides=settings)
    with Memory.open(config=config) as memory:
        for text in conversation(60):
            memory.ingest(text, user="ada", session="long")
        memory.wait()
        compaction = threading.Thread(target=memory.compact, kwargs={"user": "ada", "session": "long"})
        compaction.start()
        while compaction.is_alive():
            memory.ingest("the build is green again", user="ada", session="beside")
            compaction.join(0.02)
        memory.wait()
        memory.search("is the build green?", user="ada")
    assert seen == {
        "libravdb-indexing": {"arriving"},
        "libravdb-compaction-ahead": {"later"},
        "libravdb-aside": {"later"},
    }
    assert most == 1
