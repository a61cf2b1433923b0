"""Remember three turns and ask a question: the whole library in a few lines."""

import tempfile

from libravdb_memory import Memory

with tempfile.TemporaryDirectory() as folder, Memory.open(folder) as memory:
    memory.ingest("The deploy key moved to the vault on Tuesday.", user="ada", session="ops")
    memory.ingest("Lunch is at noon in the small kitchen.", user="ada", session="ops")
    memory.ingest("Version 2 ships when the migration is tested.", user="ada", session="plans")
    memory.wait()  # embedded in the background; without waiting, new turns are found by their words

    best = memory.search("where do I find the credentials for a release?", user="ada", k=1)[0]
    print(f"{best.score:.2f}  {best.text}")
    assert "vault" in best.text
