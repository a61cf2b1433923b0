"""Numbers in sentences. Laws: one is never many: "1 turn", "2 turns", "1,200 turns". What rounds to nothing has no
sign."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def two_digits(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}"


def readable_size(size: int) -> str:
    value, units = float(size), ["bytes", "KB", "MB", "GB", "TB"]
    while value >= 1000 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{value:.0f} {units[0]}" if units[0] == "bytes" else f"{value:.1f} {units[0]}"
