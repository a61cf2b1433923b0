"""Numbers in sentences. Law: one is never many: "1 turn", "2 turns", "1,200 turns"."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
