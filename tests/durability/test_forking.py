"""A fork with an open memory: the child can neither use nor harm it, and outlives its parent without owning it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from libravdb_memory import Memory

PROGRAM = """
import io, json, os, sys, threading
from pathlib import Path
from libravdb_memory import Memory, load_config
from libravdb_memory.errors import StoreClosedError
from libravdb_memory.store.protocol import Selection

folder = Path(sys.argv[1])
config = load_config(environ={"LIBRAVDB_HOME": str(folder), "LIBRAVDB_EMBEDDING_BACKEND": "hashed"})

def refusals(memory):  # and none may wait for a thread that is not there
    acts = {
        "backup": lambda: memory.backup(folder / "b.libravdb"),
        "change_documents": lambda: memory.change_documents(),
        "compact": lambda: memory.compact(user="ada"),
        "context": lambda: memory.context("x", user="ada"),
        "documents": lambda: memory.documents(),
        "erase": lambda: memory.erase(user="ada"),
        "erase_beside": lambda: memory.erase_beside(None),
        "expand": lambda: memory.expand("x"),
        "explain_gate": lambda: memory.explain_gate("x", user="ada"),
        "export": lambda: memory.export(io.StringIO()),
        "get": lambda: memory.get("x"),
        "guidance": lambda: memory.guidance(user="ada"),
        "history": lambda: memory.history(user="ada"),
        "import_": lambda: memory.import_([]),
        "ingest": lambda: memory.ingest("x", user="ada"),
        "ingest_messages": lambda: memory.ingest_messages([], user="ada", session="s"),
        "load_document": lambda: memory.load_document("rules.md", "- Never guess."),
        "original": lambda: memory.original("x"),
        "quoting": lambda: memory.quoting(Selection(collections=("x",))),
        "rebuild_indexes": lambda: memory.rebuild_indexes(),
        "receipts": lambda: memory.receipts(user="ada"),
        "reindex": lambda: memory.reindex(),
        "remove_document": lambda: memory.remove_document("rules.md"),
        "replay": lambda: memory.replay("x"),
        "search": lambda: memory.search("x", user="ada"),
        "sourced_documents": lambda: memory.sourced_documents(),
        "status": lambda: memory.status(),
        "stored_beside": lambda: memory.stored_beside(),
        "used": lambda: memory.used([]),
        "verify": lambda: memory.verify(),
        "wait": lambda: memory.wait(),
        "why": lambda: memory.why("x"),
        "why_not": lambda: memory.why_not("x", "y"),
    }
    refused = []
    for name, act in acts.items():
        try:
            act()
        except StoreClosedError:
            refused.append(name)
    memory.close()
    return refused

memory = Memory.open(folder / "store.libravdb", config=config)
stop = threading.Event()
kept = []

def ingest(name):  # a fork may come while any lock is held
    number = 0
    while not stop.is_set():
        kept.append(memory.ingest(f"heron {name} {number}", user="ada").id)
        number += 1

threads = [threading.Thread(target=ingest, args=(name,)) for name in "ab"]
for thread in threads:
    thread.start()
answers = []
for _ in range(10):
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writing, json.dumps(refusals(memory)).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        answers.append(json.load(pipe))
    os.waitpid(pid, 0)
stop.set()
for thread in threads:
    thread.join()
assert memory.wait(60)
sound = memory.verify().ok
# Nothing is let go of twice: not in a grandchild, and not what was closed before the fork.
closed = Memory.open(folder / "other.libravdb", config=config)
closed.close()
files = [os.open(os.devnull, os.O_RDONLY) for _ in range(50)]
if (pid := os.fork()) == 0:
    if (pid := os.fork()) == 0:
        for file in files:
            os.fstat(file)
        os._exit(0 if refusals(memory) == answers[0] else 1)
    os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
grandchild = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
# A child that stays alive does not keep the store.
reading, writing = os.pipe()
if (pid := os.fork()) == 0:
    os.close(writing)
    os.read(reading, 1)
    os._exit(0)
memory.close()
with Memory.open(folder / "store.libravdb", config=config) as again:
    held = {turn for turn in kept if again.get(turn).text.startswith("heron")}
os.close(writing)
os.waitpid(pid, 0)
print(json.dumps({"answers": answers, "sound": sound, "grandchild": grandchild, "kept": len(kept), "held": len(held)}))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_finds_the_memory_closed_and_leaves_the_parents_alone(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    verbs = sorted(
        name
        for name, verb in vars(Memory).items()
        if not name.startswith("_") and not isinstance(verb, property) and name not in ("open", "close")
    )
    assert said["answers"] == [verbs] * 10
    assert said["sound"]
    assert said["grandchild"] == 0
    assert said["kept"] == said["held"] > 0


WHILE_IMPORTING = """
import importlib.abc, os, signal, sys, threading
from pathlib import Path
from libravdb_memory import Memory, load_config

forking, forked, importing = threading.Event(), threading.Event(), threading.Event()

class Slow(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "libravdb_memory.compacting.compactor":
            importing.set()
            forking.wait(60)
            forked.wait(0.5)  # in vain, where forks are held back
        return None

folder = Path(sys.argv[1])
config = load_config(environ={"LIBRAVDB_HOME": str(folder), "LIBRAVDB_EMBEDDING_BACKEND": "hashed"})
memory = Memory.open(folder / "store.libravdb", config=config)
memory.ingest("herons", user="ada", session="s")
sys.meta_path.insert(0, Slow())
os.register_at_fork(before=forking.set)
thread = threading.Thread(target=lambda: memory.compact(user="ada", session="s"))
thread.start()
importing.wait(60)
if (pid := os.fork()) == 0:
    signal.alarm(30)
    import libravdb_memory.compacting
    os._exit(0)
forked.set()
thread.join()
memory.close()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_of_a_fork_during_the_first_compaction_can_import_what_that_needs(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", WHILE_IMPORTING, str(tmp_path)], capture_output=True, timeout=120)
    assert done.returncode == 0, (done.returncode, done.stderr)


WHILE_NAMING_A_LOGGER = """
import os, signal, threading
from libravdb_memory.store.forking import forks_held_back

signal.alarm(30)
held, forking = threading.Event(), threading.Event()
os.register_at_fork(before=forking.set)
import logging

def name():
    with forks_held_back():
        held.set()
        forking.wait(60)
        logging.getLogger("a.logger.of.a.module")

thread = threading.Thread(target=name)
thread.start()
held.wait(60)
if (pid := os.fork()) == 0:
    os._exit(0)
thread.join()
os.waitpid(pid, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_who_holds_forks_back_can_name_a_logger_while_somebody_waits_to_fork() -> None:
    done = subprocess.run([sys.executable, "-c", WHILE_NAMING_A_LOGGER], capture_output=True, timeout=120)
    assert done.returncode == 0, (done.returncode, done.stderr)
