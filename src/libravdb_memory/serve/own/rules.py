"""rules_check: what is wrong with authored rules, before or after they are loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from libravdb_memory.engines.token_counter import make_counter
from libravdb_memory.errors import InvalidInputError
from libravdb_memory.identity import Json
from libravdb_memory.ingest.lint import LintedNode, RuleBudget, lint
from libravdb_memory.ingest.partition import partition
from libravdb_memory.serve.forms import form
from libravdb_memory.serve.methods import NOTHING, Method, Result
from libravdb_memory.serve.results import rules as results
from libravdb_memory.serve.service import Service

SCANNER_FALSE_POSITIVES = 0.02
"""The rate of lore taken for rules that the scanner's tests allow at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    documents: Mapping[str, str] = field(
        default_factory=dict[str, str], metadata={"help": "Markdown by name; without any, the loaded ones are checked"}
    )
    budget: int | None = field(default=None, metadata={"help": "tokens; assembly.startup_budget otherwise"})


def rules_check(service: Service, params: Check) -> Result:
    assembly = service.config.assembly
    tokens = assembly.startup_budget if params.budget is None else params.budget
    if tokens < 0:
        raise InvalidInputError("budget", "must not be negative")
    limits = RuleBudget(tokens, assembly.hard_share, assembly.soft_share)
    counter = make_counter(assembly.tokenizer)
    given = {name: partition(text.encode(errors="replace"), counter) for name, text in params.documents.items()}
    report = lint(given or service.memory.documents(), limits, false_positive_rate=SCANNER_FALSE_POSITIVES)
    return {
        "ok": report.clean,
        "budget": tokens,
        "nodes": [_node_form(linted) for linted in report.nodes],
        "contradictions": form(report.contradictions),
        "duplicates": form(report.duplicates),
        "hardOverrun": None if report.hard_overrun is None else report.hard_overrun.excess,
        "softCut": [{"document": cut.document, "line": cut.node.line} for cut in report.soft_cut],
        "unreadFrontMatter": form(report.unread_front_matter),
        "expectedWasteTokens": report.waste.expected_tokens,
    }


def _node_form(linted: LintedNode) -> dict[str, Json]:
    node = linted.node
    return {
        "document": linted.document,
        "line": node.line,
        "kind": node.kind.value,
        "tier": int(node.tier),
        "modalities": form(linted.modalities),
        "tokens": node.tokens,
        "fits": linted.fits,
        "text": node.text,
    }


METHODS: tuple[Method[Any], ...] = (
    Method(
        "rules_check",
        Check,
        rules_check,
        "Check authored rules: tiers, costs, contradictions, duplicates, what does not fit.",
        reach=lambda _, __: NOTHING,
        result=results.CheckedRules,
    ),
)
