"""What the weights of rules were learned from, so that nothing of it is measured."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

from tools.train_guidance import INPUTS, ROOT

_WORD = re.compile(r"\w+")
_BREAK = "\n"


def bare(text: str) -> str:
    """Its words alone, with one space around each."""
    return " ".join(("", *_WORD.findall(text.casefold()), ""))


def was_learned(text: str) -> bool:
    """Whether these words, one after the other, stand in anything that was learned from."""
    return bare(text) in _learned()


@cache
def _learned() -> str:
    return _BREAK.join(bare(text) for name in INPUTS for text in _texts(ROOT / name))


def _texts(path: Path) -> list[str]:
    if path.suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        return [row["text"] for row in rows if row.get("part") != "held_out"]
    held = json.loads(path.read_text("utf-8"))
    return [turn["text"] for talk in held["conversations"] for turn in talk["turns"] if turn["role"] == "user"]
