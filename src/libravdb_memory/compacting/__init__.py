"""Compaction at work: old turns of a session are covered by summaries, and summaries by summaries.

Path: the turns behind the tail that nothing covers yet (`uncovered`), planned into clusters (`covering`); of each one
the rules kept word by word and a summary of the rest (`making`, as a rule in a process of its own: `making_apart`), all
of it written in one commit (`writing`); then summaries folded while they are too many (`folding`). `compactor` runs one
session at a time and tells what came of it (`report`).

Laws: turns are read, never changed. No transaction is open while a model works. A crash leaves the old or the new.
Running again comes to an end, and covers nothing twice.
"""

from libravdb_memory.compacting.compactor import Compactor, newest_rules
from libravdb_memory.compacting.report import CANCELLED, OVERTAKEN, TRIVIAL, Compaction, Declined

__all__ = ["CANCELLED", "OVERTAKEN", "TRIVIAL", "Compaction", "Compactor", "Declined", "newest_rules"]
