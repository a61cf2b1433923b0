"""A host may deliver a turn twice: the same id with the same content changes nothing, other content is refused."""

import tempfile
from datetime import UTC, datetime

from libravdb_memory import ConflictError, Memory

SAID_AT = datetime(2026, 3, 2, 9, 5, tzinfo=UTC)

with tempfile.TemporaryDirectory() as folder, Memory.open(folder) as memory:
    first = memory.ingest("Ship on Friday.", user="ada", session="plans", id="turn-1", ts=SAID_AT)
    again = memory.ingest("Ship on Friday.", user="ada", session="plans", id="turn-1", ts=SAID_AT)
    assert first == again and memory.status().turns == 1

    try:
        memory.ingest("Ship on Monday.", user="ada", session="plans", id="turn-1", ts=SAID_AT)
    except ConflictError as refusal:
        print(f"refused: {refusal}")
    print(f"kept: {memory.get('turn-1').text}")
    assert memory.get("turn-1").text == "Ship on Friday."
