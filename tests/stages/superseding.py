"""Small sessions in which a decision is replaced by a later one, among talk of other things."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from libravdb_memory.compact.views import View

CORPUS = Path(__file__).parent / "corpus" / "superseded.jsonl"
OTHER = (
    ("How is test run 3 going?", "Test run 3 passed in 7 minutes, nothing to report."),
    ("And the linter?", "The linter found 2 warnings in src/app_2.py."),
    ("Which of the mails are still open?", "Three mails are open, the oldest is from the tax office about form E-17."),
    ("Did the printer arrive?", "The printer arrived at 11:40 and stands in the hall next to the window."),
    ("What did the plumber say?", "The plumber says that the valve in the cellar has to be replaced for 180 euros."),
    ("Can you look at the memory of the worker?", "The worker needs 412 MB at its peak, most of it in the parser."),
    ("Is the certificate still valid?", "The certificate of api.example.org is valid until 2027-01-19."),
    ("I finished the chapter about lighthouses.", "Good, chapter 6 has 3,412 words and two open questions."),
    ("The build was red this morning.", "The build was red because of a missing header in net/socket.c; it is green."),
    ("We had 41 visitors in the shop.", "That is nine more than on the same day of last week."),
    ("My sister called about the garden.", "She wants to plant six apple trees along the northern fence."),
    ("Please explain what the flag --dry-run does.", "It prints each statement to the log and changes nothing."),
)


@dataclass(frozen=True)
class Session:
    turns: tuple[View, ...]
    words: tuple[str, ...]


def sessions(half: str) -> list[Session]:
    """`half` is "dev", or "held" for those that nobody looked at while the rules were made."""
    rows = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
    return [_session(number, row) for number, row in enumerate(rows) if row["half"] == half]


def _session(number: int, row: dict[str, list[str]]) -> Session:
    around = [OTHER[(number * 5 + place * 7) % len(OTHER)] for place in range(8)]
    exchanges = [tuple(row["old"]), *around[:4], tuple(row["new"]), *around[4:]]
    turns = [View(text, role) for pair in exchanges for role, text in zip(("user", "assistant"), pair, strict=True)]
    return Session(tuple(turns), tuple(row["words"]))
