"""The models we know by name: one row each.

A profile says how a model's authors mean it to be used; a manifest or a setting may name one instead of repeating it.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from libravdb_memory.engines.protocol import Pooling


@dataclass(frozen=True, slots=True)
class Profile:
    """`matryoshka` lists the prefix lengths the model was trained to be cut to; `layer_norm` says that the full vector
    is layer-normalised before such a cut."""

    model: str
    dimensions: int
    pooling: Pooling
    max_tokens: int
    normalise: bool = True
    query_prefix: str = ""
    document_prefix: str = ""
    matryoshka: tuple[int, ...] = ()
    layer_norm: bool = False


_ROWS = (
    Profile("all-minilm-l6-v2", dimensions=384, pooling="mean", max_tokens=256),
    Profile(
        "nomic-embed-text-v1.5",
        dimensions=768,
        pooling="mean",
        max_tokens=2048,
        query_prefix="search_query: ",
        document_prefix="search_document: ",
        matryoshka=(64, 256, 768),
        layer_norm=True,
    ),
)

PROFILES = MappingProxyType({row.model: row for row in _ROWS})


def shortening_of(dimensions: int, full: int, layer_norm: bool) -> str:
    """How a vector of `full` components becomes one of `dimensions`; part of the identity of the space."""
    if dimensions == full:
        return ""
    return "layer-norm, prefix" if layer_norm else "prefix"
