"""Why a turn was found: every score with the parts it is made of."""

import tempfile

from libravdb_memory import Memory

NOTES = ["We chose PostgreSQL for the ledger.", "The cat is called Ledger.", "Backups of the database run at 03:00."]

with tempfile.TemporaryDirectory() as folder, Memory.open(folder) as memory:
    for note in NOTES:
        memory.ingest(note, user="ada", session="notes")
    memory.wait()
    for hit in memory.search("which database holds the ledger?", user="ada"):
        parts = ", ".join(f"{name} {value:.2f}" for name, value in hit.parts.items())
        print(f"{hit.score:.2f}  {hit.text}\n      {parts}")
        assert 0.0 <= hit.score <= 1.0
