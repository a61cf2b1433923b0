"""What may not be written or read, as another user than root: refused by name, left as it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from turns_on_disk import commit_all

from libravdb_memory.store.sqlite.store import SqliteStore

pytestmark = pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can make files and then become another user"
)

# Everything is imported before the change of user, who may not be allowed to read the program.
PROGRAM = """
import json, os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
import numpy, click, usearch.index
import libravdb_memory.store.sqlite.vectors
from libravdb_memory.cli import main
from libravdb_memory.errors import LibraVDBError
from libravdb_memory.store.settings import StoreSettings
from libravdb_memory.store.sqlite.backup import restore
from libravdb_memory.store.sqlite.store import SqliteStore
from turns_on_disk import assert_holds, commit_all

folder = Path(sys.argv[1])
os.environ.update(LIBRAVDB_EMBEDDING_BACKEND="hashed", LIBRAVDB_HOME=str(folder / "home"))
for command in ("add", "verify", "doctor", "status"):  # commands are imported when they run
    main(["--db", str(folder / "warm.libravdb"), command, *(["x"] if command == "add" else [])])
os.setgid(65534)
os.setuid(65534)

def tried(act):
    try:
        act()
        return "done"
    except LibraVDBError as error:
        return type(error).__name__

"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that other users can enter; those of pytest they cannot."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


def as_nobody(folder: Path, program: str) -> dict[str, object]:
    command = [sys.executable, "-c", PROGRAM + program, str(folder), str(Path(__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    answer: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return answer


@pytest.mark.parametrize("mode", [0o000, 0o444])
def test_a_store_of_another_user_is_refused_by_every_command(folder: Path, mode: int) -> None:
    data = folder / "store.libravdb"
    with SqliteStore.open(data) as store:
        commit_all(store, range(3))
    data.chmod(mode)
    before = data.read_bytes()
    answer = as_nobody(
        folder,
        """
data = str(folder / "store.libravdb")
codes = {command: main(["--db", data, command]) for command in ("verify", "doctor", "status")}
print(json.dumps({"open": tried(lambda: SqliteStore.open(Path(data))), "codes": codes}))
""",
    )
    assert answer == {"open": "StoreReadOnlyError", "codes": {"verify": 5, "doctor": 1, "status": 5}}
    assert data.read_bytes() == before


def test_a_folder_that_may_not_be_written_takes_no_store_backup_or_restore(folder: Path) -> None:
    with SqliteStore.open(folder / "good.libravdb") as store:
        commit_all(store, range(3))
        store.backup(folder / "backup.libravdb")
    for file in folder.iterdir():
        file.chmod(0o666)
    (folder / "closed").mkdir(mode=0o755)
    answer = as_nobody(
        folder,
        """
closed = folder / "closed"
with SqliteStore.open(folder / "good.libravdb") as store:
    backup = tried(lambda: store.backup(closed / "backup.libravdb"))
    assert_holds(store, range(3))
print(json.dumps({
    "new": tried(lambda: SqliteStore.open(closed / "new.libravdb")),
    "deeper": tried(lambda: SqliteStore.open(closed / "deeper" / "new.libravdb")),
    "backup": backup,
    "restore": tried(lambda: restore(folder / "backup.libravdb", closed / "new.libravdb")),
    "left": sorted(os.listdir(closed)),
}))
""",
    )
    refused = "StoreReadOnlyError"
    assert answer == {"new": refused, "deeper": refused, "backup": refused, "restore": refused, "left": []}


def test_an_index_folder_that_may_not_be_written_leaves_the_index_in_memory(folder: Path) -> None:
    (folder / "store.libravdb-ann").mkdir(mode=0o755)
    answer = as_nobody(
        folder,
        """
rows = numpy.random.default_rng(3).standard_normal((600, 16)).astype(numpy.float32)
with SqliteStore.open(folder / "store.libravdb", settings=StoreSettings(exact_limit=100)) as store:
    commit_all(store, range(150))
    space = store.add_space("f", "f", 16)
    refs = [item.ref for item in store.unembedded(space, 10_000)]
    store.put_vectors(space, refs, rows)
    first = store.search_vectors("notes", rows[0], 3)
    assert store.settle(60)
    second = store.search_vectors("notes", rows[0], 3)
    said = list(store.status().indexes.values())
    assert_holds(store, range(150))
print(json.dumps({"same": first.hits[0] == second.hits[0], "said": said}))
""",
    )
    assert answer["same"]
    assert "kept in memory" in str(answer["said"])
