"""gate_report, gate_explain: how the gate decides, and how that turned out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.gate.calibrate import Label, fit
from libravdb_memory.gate.regret import Outcome, tally
from libravdb_memory.gating import DURABLE, JUDGED
from libravdb_memory.identity import Json
from libravdb_memory.namespaces import history_of, resolve_namespace
from libravdb_memory.serve.forms import form, object_form
from libravdb_memory.serve.inspecting.lists import OfUser, own
from libravdb_memory.serve.methods import EVERYTHING, Method, Result
from libravdb_memory.serve.results import gate as results
from libravdb_memory.serve.service import Service
from libravdb_memory.store.protocol import Store
from libravdb_memory.usage import USE

MOST_JUDGED = 5_000
MOST_BINS = 100
TARGET = 0.5
"""The share of useful turns from which a score counts as worth keeping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    user_id: str | None = field(default=None, metadata={"help": "whose; of everybody otherwise"})
    bins: int = field(default=20, metadata={"help": f"of the histogram, up to {MOST_BINS}"})
    window: int = field(default=2_500, metadata={"help": f"turns that are looked at, up to {MOST_JUDGED}"})

    @property
    def collection(self) -> str | None:
        return history_of(resolve_namespace(self.user_id)) if (self.user_id or "").strip() else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explain(OfUser):
    text: str = field(metadata={"help": "as a user would say it"})


def gate_report(service: Service, params: Report) -> Result:
    if not (1 <= params.bins <= MOST_BINS and 1 <= params.window <= MOST_JUDGED):
        raise InvalidInputError("gate_report", f"takes up to {MOST_BINS} bins of up to {MOST_JUDGED} turns")
    store, collection = service.store, params.collection
    outcomes = _outcomes(store, collection, params.window)
    regret = tally(outcomes)
    return {
        "threshold": service.config.gating.threshold,
        "judged": store.count_marks(collection, JUDGED),
        "durable": store.count_marks(collection, DURABLE),
        "window": len(outcomes),
        "bins": [_bin_form(inside, at, params.bins) for at, inside in enumerate(_binned(outcomes, params.bins))],
        "regret": {**object_form(regret), "rate": regret.rate},
        "calibration": _calibration(outcomes),
    }


def _outcomes(store: Store, collection: str | None, window: int) -> list[Outcome]:
    judged = store.newest_marks(collection, JUDGED, window)
    used = store.marks([mark.ref for mark in judged], USE)
    return [
        Outcome(
            min(max(float(score), 0.0), 1.0),
            mark.data.get("durable") is True,
            _whole(used.get(mark.ref, {}).get("count")),
        )
        for mark in judged
        if isinstance(score := mark.data.get("g"), int | float)
    ]


def _whole(value: Json) -> int:
    return value if isinstance(value, int) else 0


def _binned(outcomes: list[Outcome], bins: int) -> list[list[Outcome]]:
    inside: list[list[Outcome]] = [[] for _ in range(bins)]
    for outcome in outcomes:
        inside[min(int(outcome.score * bins), bins - 1)].append(outcome)
    return inside


def _bin_form(inside: list[Outcome], at: int, bins: int) -> dict[str, Json]:
    return {
        "from": at / bins,
        "to": (at + 1) / bins,
        "count": len(inside),
        "durable": sum(each.durable for each in inside),
        "wanted": sum(each.hits > 0 for each in inside),
    }


def _calibration(outcomes: list[Outcome]) -> dict[str, Json] | None:
    """Scores are rounded to hundredths: a curve needs no more, and exact arithmetic on thousands of them takes long."""
    weights: dict[tuple[float, bool], int] = {}
    for outcome in outcomes:
        key = round(outcome.score, 2), outcome.hits > 0
        weights[key] = weights.get(key, 0) + 1
    if not weights:
        return None
    fitted = fit((Label(score, float(wanted), weight) for (score, wanted), weight in weights.items()), target=TARGET)
    return {"steps": form(fitted.steps), "proposed": fitted.threshold, "target": TARGET}


def gate_explain(service: Service, params: Explain) -> Result:
    decision = service.memory.explain_gate(params.text, user=params.namespace)
    signals = decision.signals()
    return {
        "score": signals.pop("g"),
        "durable": decision.durable,
        "threshold": decision.threshold,
        "signals": dict[str, Json](signals),
        "fired": form(decision.fired),
        "heard": decision.heard,
    }


def _reach(_: Service, params: Report) -> frozenset[str]:
    named = (params.user_id or "").strip()
    return frozenset({resolve_namespace(named)}) if named else EVERYTHING


METHODS: tuple[Method[Any], ...] = (
    Method(
        "gate_report",
        Report,
        gate_report,
        "Show how the gate's scores are spread and what came of them.",
        reach=_reach,
        result=results.GateReport,
    ),
    Method(
        "gate_explain",
        Explain,
        gate_explain,
        "Judge a text as the gate would, and store nothing.",
        reach=own,
        pace="thinking",
        result=results.Explanation,
    ),
)
