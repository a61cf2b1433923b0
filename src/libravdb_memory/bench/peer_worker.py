"""Runs inside another Python: durable inserts into one other store, timed.

Prints "ready" when the store can be used; then, for every line with a number on stdin, inserts so many records one by
one and prints the seconds of each as JSON. Imports nothing of the package: it is not installed there.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

DIMENSIONS = 384
Insert = Callable[[str, str, "dict[str, str]", "list[float]"], object]


def chroma(folder: Path) -> Insert:
    os.environ["ANONYMIZED_TELEMETRY"] = "False"
    library: Any = import_module("chromadb")
    collection: Any = library.PersistentClient(path=str(folder)).create_collection("turns", embedding_function=None)
    return lambda id_, text, metadata, vector: collection.add(
        ids=[id_], documents=[text], metadatas=[metadata], embeddings=[vector]
    )


def lancedb(folder: Path) -> Insert:
    library: Any = import_module("lancedb")
    arrow: Any = import_module("pyarrow")
    words = arrow.string()
    columns = [
        ("id", words),
        ("text", words),
        ("metadata", words),
        ("vector", arrow.list_(arrow.float32(), DIMENSIONS)),
    ]
    table: Any = library.connect(str(folder)).create_table("turns", schema=arrow.schema(columns))
    return lambda id_, text, metadata, vector: table.add(
        [{"id": id_, "text": text, "metadata": json.dumps(metadata), "vector": vector}]
    )


def sqlite_vec(folder: Path) -> Insert:
    """With the same full-text index and durability as ours."""
    apsw: Any = import_module("apsw")
    library: Any = import_module("sqlite_vec")
    db: Any = apsw.Connection(str(folder / "data"))
    db.enable_load_extension(True)
    db.load_extension(library.loadable_path())
    for statement in (
        "PRAGMA journal_mode = WAL",
        "PRAGMA synchronous = FULL",
        "CREATE TABLE turn (ref INTEGER PRIMARY KEY, id TEXT UNIQUE, text TEXT, metadata TEXT)",
        "CREATE VIRTUAL TABLE words USING fts5(text, content='turn', content_rowid='ref')",
        f"CREATE VIRTUAL TABLE vectors USING vec0(embedding float[{DIMENSIONS}])",
    ):
        db.execute(statement).fetchall()

    def insert(id_: str, text: str, metadata: dict[str, str], vector: list[float]) -> None:
        blob = library.serialize_float32(vector)
        with db:
            db.execute("INSERT INTO turn (id, text, metadata) VALUES (?, ?, ?)", (id_, text, json.dumps(metadata)))
            ref = db.last_insert_rowid()
            db.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (ref, text))
            db.execute("INSERT INTO vectors (rowid, embedding) VALUES (?, ?)", (ref, blob))

    return insert


PEERS: dict[str, Callable[[Path], Insert]] = {"chroma": chroma, "lancedb": lancedb, "sqlite_vec": sqlite_vec}


def records(start: int, count: int) -> list[tuple[str, str, dict[str, str], list[float]]]:
    made: list[tuple[str, str, dict[str, str], list[float]]] = []
    for number in range(start, start + count):
        chance = random.Random(number)
        text = " ".join(chance.choice(("release", "server", "garden", "budget", "train", "music")) for _ in range(40))
        metadata = {"role": "user", "speaker": "Ada", "topic": f"t{number % 50}"}
        made.append((f"turn-{number}", text, metadata, [chance.gauss(0, 0.05) for _ in range(DIMENSIONS)]))
    return made


def main() -> None:
    try:
        insert = PEERS[sys.argv[1]](Path(sys.argv[2]))
    except ImportError as error:
        sys.stdout.write(f"missing: {error}\n")
        return
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    done = 0
    for line in sys.stdin:
        times: list[float] = []
        for record in records(done, int(line)):
            started = time.perf_counter()
            insert(*record)
            times.append(time.perf_counter() - started)
        done += len(times)
        sys.stdout.write(json.dumps(times) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
