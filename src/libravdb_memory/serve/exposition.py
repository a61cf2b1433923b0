"""Figures as the text that Prometheus reads, format 0.0.4.

Laws: every family is told once, with its help and its kind before its samples. Whatever stands in a label or a help, a
reader gets it back unchanged. Whole numbers are written exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Labels: TypeAlias = tuple[tuple[str, str], ...]
Kind: TypeAlias = Literal["counter", "gauge", "histogram"]


@dataclass(frozen=True, slots=True)
class Sample:
    """`suffix` is added to the name of the family, as in `_bucket`."""

    value: float
    labels: Labels = ()
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class Family:
    name: str
    kind: Kind
    help: str
    samples: tuple[Sample, ...]


def gauge(name: str, help: str, value: float) -> Family:
    return Family(name, "gauge", help, (Sample(value),))


def by_label(name: str, kind: Kind, help: str, label: str, values: Iterable[tuple[str, float]]) -> Family:
    """One sample for each value of the label."""
    return Family(name, kind, help, tuple(Sample(value, ((label, of),)) for of, value in values))


def text_of(families: Iterable[Family]) -> str:
    return "".join(f"{line}\n" for family in families if family.samples for line in _lines(family))


def figure(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return "NaN" if math.isnan(value) else repr(value)


def _lines(family: Family) -> Iterator[str]:
    yield f"# HELP {family.name} {_escaped(family.help)}"
    yield f"# TYPE {family.name} {family.kind}"
    for sample in family.samples:
        labels = ",".join(f'{name}="{_escaped(value, quoted=True)}"' for name, value in sample.labels)
        yield f"{family.name}{sample.suffix}{f'{{{labels}}}' if labels else ''} {figure(sample.value)}"


def _escaped(text: str, *, quoted: bool = False) -> str:
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n")
    return escaped.replace('"', '\\"') if quoted else escaped
