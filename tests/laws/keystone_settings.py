"""How the memories of the keystone are set up, here and in the processes that are killed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from libravdb_memory import Config, load_config

STARTUP, TAIL_SHARE, BASE = 200, 0.1, 4


def configured(home: Path) -> Config:
    """Small clusters and a low bound for summaries, so that the graph grows deep; a model is asked whenever it can."""
    base = load_config(environ={"LIBRAVDB_HOME": str(home), "LIBRAVDB_EMBEDDING_BACKEND": "hashed"})
    compaction = replace(
        base.compaction,
        cluster_target=3,
        trigger_tokens=0,
        fold_tokens=40,
        fold_fan=2,
        abstractive_from=0.0,
        min_align=0.0,
    )
    assembly = replace(base.assembly, startup_budget=STARTUP, tail_share=TAIL_SHARE, kept_receipts=12)
    return replace(base, compaction=compaction, assembly=assembly)
