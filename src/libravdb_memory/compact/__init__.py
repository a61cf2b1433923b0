"""The compaction stage: which old turns become a summary, what it must keep, and what proves that it did."""
