"""What the gate heard in a text and what it made of it, shown to people and told to programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import click

from libravdb_memory.cli.figures import bar, clip
from libravdb_memory.cli.render import table
from libravdb_memory.gate.calibrate import Calibration, Quality
from libravdb_memory.gate.score import Decision
from libravdb_memory.gate.settings import GateSettings
from libravdb_memory.judgements import Judgement

_BAR = 12
_SNIPPET = 40


def contributions(signals: Mapping[str, float], settings: GateSettings) -> dict[str, float]:
    """What each signal adds to the score, the greatest first. `signals` are by the names of the protocol."""
    technical = signals["t"]
    conversational = zip(("novelty", "repetition", "personal"), settings.conversational_weights, "hrd", strict=True)
    engineering = zip(
        ("specificity", "actionability", "structure"), settings.technical_weights, ("p", "a", "dtech"), strict=True
    )
    parts = {name: (1.0 - technical) * weight * signals[key] for name, weight, key in conversational}
    parts |= {name: technical * weight * signals[key] for name, weight, key in engineering}
    return dict(sorted(parts.items(), key=lambda part: (-part[1], part[0])))


# ── for people ───────────────────────────────────────────────────────────────────────────────────────────────────


def render_decision(text: str, decision: Decision, settings: GateSettings, width: int) -> str:
    parts = [
        _verdict(decision),
        *_left_out(text, decision),
        table(list(_law(decision, settings))),
        table(list(_signals(decision))),
    ]
    fired = "\n".join(_fired(decision, width))
    parts.append(fired or click.style("no pattern fired", dim=True))
    return "\n\n".join(parts)


def _verdict(decision: Decision) -> str:
    margin = decision.score - decision.threshold
    side = "above" if margin >= 0 else "below"
    verdict = click.style("durable", fg="green", bold=True) if decision.durable else click.style("refused", fg="yellow")
    return f"{verdict}: G {decision.score:.3f}, {abs(margin):.3f} {side} the threshold {decision.threshold:g}"


def _left_out(text: str, decision: Decision) -> Iterator[str]:
    if decision.heard != text:
        left = f"judged by {len(decision.heard):,} of {len(text):,} characters: the rest was said by memory itself"
        yield click.style(f"{left}; places are in what remains", dim=True)


def _law(decision: Decision, settings: GateSettings) -> Iterator[tuple[str, str]]:
    technical, conversational, engineering = decision.technical, decision.conversational, decision.engineering
    blend = f"{1 - technical:.2f} × Gconv {conversational:.3f} + {technical:.2f} × Gtech {engineering:.3f}"
    yield "G", f"{decision.score:.3f} = {blend}"
    heard = (decision.novelty, decision.repetition, decision.personal)
    yield "Gconv", _mean(conversational, settings.conversational_weights, "H R D", heard)
    seen = (decision.specificity, decision.actionability, decision.structure)
    yield "Gtech", _mean(engineering, settings.technical_weights, "P A Dtech", seen)


def _mean(value: float, weights: tuple[float, ...], symbols: str, signals: tuple[float, ...]) -> str:
    parts = zip(weights, symbols.split(), signals, strict=True)
    return f"{value:.3f} = " + " + ".join(f"{weight:g} × {symbol} {signal:.3f}" for weight, symbol, signal in parts)


def _signals(decision: Decision) -> Iterator[tuple[str, str]]:
    for symbol, name in (
        ("T", "technical"),
        ("H", "novelty"),
        ("R", "repetition"),
        ("F", "frequency"),
        ("S", "saturation"),
        ("D", "personal"),
        ("P", "specificity"),
        ("A", "actionability"),
        ("Dtech", "structure"),
    ):
        value: float = getattr(decision, name)
        yield symbol, f"{name:<13}  {bar(value, 1.0, _BAR)}  {value:.3f}"


def _fired(decision: Decision, width: int) -> Iterator[str]:
    for fired in decision.fired:
        head = f"{fired.family:<13}  {clip(fired.pattern, 18):<18} +{fired.weight:.2f}  "
        places = "  ".join(f"{start}-{end} {clip(decision.heard[start:end], _SNIPPET)!r}" for start, end in fired.spans)
        yield head + click.style(clip(places, max(width - len(head), 20)), fg="cyan")


def render_judgement(judgement: Judgement, settings: GateSettings, width: int) -> str:
    """One line: kept or not, the score, what it owes most to, and the turn."""
    strongest = list(contributions(judgement.signals, settings).items())[:2]
    reasons = ", ".join(f"{name} {value:.2f}" for name, value in strongest if value >= 0.005)
    verdict = click.style("kept   ", fg="green") if judgement.durable else click.style("refused", fg="yellow")
    head = f"  {judgement.signals['g']:.2f}  "
    body = f"{reasons:<32}  "
    return verdict + head + click.style(body, dim=True) + clip(judgement.turn.text, width - 7 - len(head) - len(body))


def render_calibration(calibration: Calibration, labels: int, width: int) -> str:
    cells = max(min(width - 50, 40), 10)
    curve = [
        (f"G from {step.start:.3f}", f"{bar(step.useful, 1.0, cells)}  useful {step.useful:.2f}  ({step.weight:g})")
        for step in calibration.steps
    ]
    rows = [("labels", f"{labels:,}"), *_qualities(calibration)]
    return "\n\n".join([table(curve), table(rows)])


def _qualities(calibration: Calibration) -> Iterator[tuple[str, str]]:
    yield "reference", _quality(calibration.at_reference)
    yield "fitted", _quality(calibration.at_threshold)


def _quality(quality: Quality) -> str:
    return f"threshold {quality.threshold:.3f}  precision {_share(quality.precision)}  recall {_share(quality.recall)}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


# ── for programs ─────────────────────────────────────────────────────────────────────────────────────────────────


def decision_form(decision: Decision, settings: GateSettings) -> dict[str, Any]:
    return {
        "heard": decision.heard,
        "durable": decision.durable,
        "g": decision.score,
        "threshold": decision.threshold,
        "margin": decision.score - decision.threshold,
        "signals": decision.signals(),
        "weights": {
            "conversational": dict(
                zip(("novelty", "repetition", "personal"), settings.conversational_weights, strict=True)
            ),
            "technical": dict(
                zip(("specificity", "actionability", "structure"), settings.technical_weights, strict=True)
            ),
        },
        "fired": [
            {
                "family": fired.family,
                "pattern": fired.pattern,
                "weight": fired.weight,
                "spans": [
                    {"start": start, "end": end, "text": decision.heard[start:end]} for start, end in fired.spans
                ],
            }
            for fired in decision.fired
        ],
    }


def calibration_form(calibration: Calibration, labels: int) -> dict[str, Any]:
    return {
        "labels": labels,
        "threshold": calibration.threshold,
        "fitted": asdict(calibration.at_threshold),
        "reference": asdict(calibration.at_reference),
        "steps": [asdict(step) for step in calibration.steps],
    }
