"""SIGKILL at any moment of an erasure leaves all of it or nothing, and never a receipt of a turn that is gone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Literal, get_args

import pytest
from tests.laws import stored_receipts

from libravdb_memory import Config, Memory, NotFoundError, load_config

ROOT = Path(__file__).parents[2]
SECRET = "Xylophonequux"
SAID = f"the word {SECRET} opens the vault"
ASKED = "which word opens the vault?"
INNOCENT = "x"

Death = Literal[
    "before the commit",
    "within the commit",
    "after the commit",
    "when all that waits is written",
    "when all is done",
]

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing is killed like that here")


def config_in(folder: Path) -> Config:
    return load_config(environ={"LIBRAVDB_HOME": str(folder / "home"), "LIBRAVDB_EMBEDDING_BACKEND": "hashed"})


def quoting(memory: Memory) -> list[str]:
    return [receipt.id for receipt in memory.receipts(user="ada", limit=200) if SECRET in str(receipt)]


@pytest.mark.parametrize("death", get_args(Death))
def test_a_killed_erasure_leaves_no_receipt_of_a_turn_that_is_gone(tmp_path: Path, death: Death) -> None:
    command = [sys.executable, "-W", "error", "-m", "tests.laws.killed_erasure", str(tmp_path), death]
    done = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr
    receipts: list[str] = json.loads(done.stdout)
    with Memory.open(tmp_path / "store", config=config_in(tmp_path)) as memory:
        assert memory.get("other", user="ada").text == "herons nest in April"
        if death in ("before the commit", "within the commit"):
            assert memory.get("turn", user="ada").text == SAID
            assert len(quoting(memory)) >= 2
            receipts += stored_receipts.quoting(memory, tmp_path, SECRET)
            memory.erase("turn", user="ada", session="s")
        for _ in range(2):
            with pytest.raises(NotFoundError):
                memory.get("turn", user="ada")
            assert quoting(memory) == []
            assert memory.verify().ok
            with pytest.raises(NotFoundError):
                memory.erase("turn", user="ada", session="s")
        assert receipts and stored_receipts.left(memory, tmp_path, receipts) == []
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and SECRET.encode() in file.read_bytes()]
