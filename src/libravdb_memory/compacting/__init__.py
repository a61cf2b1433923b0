"""Compaction at work: old turns of a session are covered by summaries, and summaries by summaries.

Path: the turns behind the tail that nothing covers yet (`uncovered`), planned into clusters; for each one its guidance
kept word by word, a summary made of it (`covering`), and all of that written in one commit (`writing`); then summaries
folded while they are too many (`folding`). `compactor` runs one session at a time and tells what came of it (`report`).

Laws: turns are read, never changed. No transaction is open while a model works. A crash leaves the old or the new.
Running again comes to an end, and covers nothing twice.
"""

from libravdb_memory.compacting.compactor import Compactor
from libravdb_memory.compacting.report import CANCELLED, OVERTAKEN, TRIVIAL, Compaction, Declined

__all__ = ["CANCELLED", "OVERTAKEN", "TRIVIAL", "Compaction", "Compactor", "Declined"]
