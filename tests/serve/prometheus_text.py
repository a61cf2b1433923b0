"""A strict reader of the text format of Prometheus, version 0.0.4: whatever is not exactly right raises."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_SAMPLE = re.compile(rf"({_NAME})(?:\{{(.*)\}})? ([+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|NaN)")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)')
_SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "counter": ("",), "gauge": ("",)}


@dataclass
class Read:
    kind: str
    help: str
    samples: dict[tuple[str, tuple[tuple[str, str], ...]], float] = field(default_factory=dict)

    def value(self, suffix: str = "", **labels: str) -> float:
        return self.samples[suffix, tuple(sorted(labels.items()))]


def read(text: str) -> dict[str, Read]:
    families: dict[str, Read] = {}
    lines = text.split("\n")
    assert lines.pop() == "", "the last line has no end"
    current = ""
    while lines:
        line = lines.pop(0)
        if line.startswith("# HELP "):
            _, _, current, help_text = line.split(" ", 3)
            assert re.fullmatch(_NAME, current) and current not in families, current
            type_line = lines.pop(0).split(" ")
            assert type_line[:3] == ["#", "TYPE", current] and len(type_line) == 4, type_line
            assert help_text.strip(), f"{current} has no help"
            families[current] = Read(type_line[3], _unescaped(help_text))
            continue
        match = _SAMPLE.fullmatch(line)
        assert match is not None, line
        family = families[current]
        suffix = match[1].removeprefix(current)
        assert match[1].startswith(current) and suffix in _SUFFIXES[family.kind], line
        key = suffix, _labels(match[2] or "")
        assert key not in family.samples, f"twice: {line}"
        family.samples[key] = float(match[3])
    for name, family in families.items():
        _check(name, family)
    return families


def _labels(text: str) -> tuple[tuple[str, str], ...]:
    found: dict[str, str] = {}
    while text:
        match = _LABEL.match(text)
        assert match is not None and match[1] not in found, text
        found[match[1]] = _unescaped(match[2])
        text = text[match.end() :]
    return tuple(sorted(found.items()))


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], text)


def _check(name: str, family: Read) -> None:
    assert family.samples, f"{name} has no samples"
    if family.kind == "counter":
        assert name.endswith("_total") and all(value >= 0 for value in family.samples.values()), name
    if family.kind != "histogram":
        return
    series: dict[tuple[tuple[str, str], ...], list[tuple[float, float]]] = {}
    for (suffix, labels), value in family.samples.items():
        if suffix == "_bucket":
            rest = tuple(pair for pair in labels if pair[0] != "le")
            series.setdefault(rest, []).append((float(dict(labels)["le"]), value))
    for labels, buckets in series.items():
        assert buckets == sorted(buckets) and buckets[-1][0] == math.inf, name
        assert [count for _, count in buckets] == sorted(count for _, count in buckets), name
        assert family.samples["_count", labels] == buckets[-1][1], name
        assert family.samples["_sum", labels] >= 0
