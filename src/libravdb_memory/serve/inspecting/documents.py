"""documents, document: authored rules in place, what they cost and how they contradict each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from libravdb_memory.authored import DOCUMENTS, node_id
from libravdb_memory.errors import NotFoundError
from libravdb_memory.identity import Json
from libravdb_memory.ingest.lint import Contradiction, Duplicate, LintedNode, LintReport, RuleBudget, lint
from libravdb_memory.ingest.partition import Partition, Tier
from libravdb_memory.serve.forms import form
from libravdb_memory.serve.methods import NOTHING, Method, Nothing, Result
from libravdb_memory.serve.results import rules as results
from libravdb_memory.serve.service import Service
from libravdb_memory.store.protocol import Key
from libravdb_memory.tokens import share_of

_TIERS: Mapping[Tier, str] = {Tier.HARD: "hard", Tier.SOFT: "soft", Tier.VARIANT: "lore"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    name: str = field(metadata={"help": "of a document, as documents names it"})


def documents(service: Service, _: Nothing) -> Result:
    found = service.memory.documents()
    report = _linted(service, found)
    assembly = service.config.assembly
    totals = {name: sum(_tokens(part)[name] for part in found.values()) for name in _TIERS.values()}
    return {
        "documents": [_document_form(service, name, part, report) for name, part in found.items()],
        "budget": {
            "tokens": assembly.startup_budget,
            "hardLimit": share_of(assembly.startup_budget, assembly.hard_share),
            "hardUsed": totals["hard"],
            "softLimit": share_of(assembly.startup_budget, assembly.soft_share),
            "softUsed": totals["soft"],
        },
        "contradictions": form(report.contradictions),
        "duplicates": form(report.duplicates),
    }


def document(service: Service, params: Named) -> Result:
    record = service.store.get(Key(DOCUMENTS, params.name))
    found = service.memory.documents()
    if record is None or params.name not in found:
        raise NotFoundError(params.name, f"there is no document {params.name!r}")
    report = _linted(service, found)
    contradicted = {place for each in report.contradictions for place in _places(each)}
    repeated = {place for each in report.duplicates for place in _places(each)}
    return {
        "name": params.name,
        "core": record.metadata.get("core") is True,
        "lore": record.metadata.get("lore") is True,
        "text": record.text,
        "blocks": [
            _block_form(linted)
            | {
                "contradicts": (params.name, linted.node.ordinal) in contradicted,
                "repeats": (params.name, linted.node.ordinal) in repeated,
            }
            for linted in report.nodes
            if linted.document == params.name
        ],
        "contradictions": form([each for each in report.contradictions if _names(each, params.name)]),
        "duplicates": form([each for each in report.duplicates if _names(each, params.name)]),
    }


def _linted(service: Service, found: Mapping[str, Partition]) -> LintReport:
    assembly = service.config.assembly
    return lint(found, RuleBudget(assembly.startup_budget, assembly.hard_share, assembly.soft_share))


def _document_form(service: Service, name: str, part: Partition, report: LintReport) -> dict[str, Json]:
    record = service.store.get(Key(DOCUMENTS, name))
    facts: Mapping[str, Json] = {} if record is None else record.metadata
    return {
        "name": name,
        "core": facts.get("core") is True,
        "lore": facts.get("lore") is True,
        "bytes": part.source_bytes,
        "blocks": len(part.nodes),
        "tokens": dict[str, Json](_tokens(part)),
        "contradictions": sum(_names(each, name) for each in report.contradictions),
        "duplicates": sum(_names(each, name) for each in report.duplicates),
        "problem": part.front_matter_problem or None,
    }


def _tokens(part: Partition) -> dict[str, int]:
    return {name: sum(node.tokens for node in part.of_tier(tier)) for tier, name in _TIERS.items()}


def _block_form(linted: LintedNode) -> dict[str, Json]:
    node = linted.node
    return {
        "id": node_id(linted.document, node.ordinal),
        "ordinal": node.ordinal,
        "line": node.line,
        "kind": node.kind.value,
        "tier": _TIERS[node.tier],
        "modalities": form(linted.modalities),
        "marks": form(node.marks),
        "tokens": node.tokens,
        "fits": linted.fits,
        "promoted": node.promoted,
        "text": node.text,
    }


def _places(found: Contradiction | Duplicate) -> set[tuple[str, int]]:
    places = found.places if isinstance(found, Duplicate) else (*found.obligatory, *found.forbidden)
    return {(place.document, place.node) for place in places}


def _names(found: Contradiction | Duplicate, document: str) -> bool:
    return any(name == document for name, _ in _places(found))


METHODS: tuple[Method[Any], ...] = (
    Method(
        "documents",
        Nothing,
        documents,
        "List authored documents and what their rules cost.",
        reach=lambda _, __: NOTHING,
        result=results.Documents,
    ),
    Method(
        "document",
        Named,
        document,
        "Show a document block by block, with its rules.",
        reach=lambda _, __: NOTHING,
        result=results.Document,
    ),
)
