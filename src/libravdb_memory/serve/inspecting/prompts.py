"""receipt_view, compare_receipts: a prompt taken apart, with any budget, and two of them side by side.

Law: with another budget the same pure function runs on the same offer: nothing is recalled anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from libravdb_memory.arguments import check_count
from libravdb_memory.assemble.fill import Offer, fill
from libravdb_memory.assemble.receipt import Assembly, Item, Rejection
from libravdb_memory.identity import Json
from libravdb_memory.receipts import Receipt, Replay
from libravdb_memory.serve.forms import form, object_form
from libravdb_memory.serve.inspecting.ranked import bar_of
from libravdb_memory.serve.methods import Method, Result
from libravdb_memory.serve.own.explaining import OfReceipt, receipt_reach
from libravdb_memory.serve.results import prompts as results
from libravdb_memory.serve.service import Service

_END = "</entry>"
Place: TypeAlias = tuple[str, str, str]
"""Tier, session and id: what an item is known by in several prompts."""
_Shown: TypeAlias = Mapping[tuple[str, str], dict[str, Json]]


@dataclass(frozen=True, slots=True, kw_only=True)
class View(OfReceipt):
    budget: int | None = field(default=None, metadata={"help": "tokens; assemble with these instead"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    left: str = field(metadata={"help": "the id of a receipt"})
    right: str = field(metadata={"help": "the id of another"})


def receipt_view(service: Service, params: View) -> Result:
    receipt = service.memory.why(params.receipt_id)
    replayed = service.memory.replay(params.receipt_id)
    if params.budget is None or replayed.assembly is None:
        return _view(receipt, replayed, replayed.assembly)
    check_count("budget", params.budget)
    again = fill(replace(receipt.offer, budget=params.budget), service.memory.counter, receipt.settings)
    return _view(receipt, replayed, again)


def compare_receipts(service: Service, params: Pair) -> Result:
    views = [receipt_view(service, View(receipt_id=name)) for name in (params.left, params.right)]
    left, right = (_by_place(view["items"]) for view in views)
    return {
        "left": _without_contents(views[0]),
        "right": _without_contents(views[1]),
        "both": [_pair(place, item, right[place]) for place, item in left.items() if place in right],
        "onlyLeft": [item for place, item in left.items() if place not in right],
        "onlyRight": [item for place, item in right.items() if place not in left],
    }


def _view(receipt: Receipt, replayed: Replay, assembly: Assembly | None) -> Result:
    told: Result = {
        "receiptId": receipt.id,
        "userId": receipt.namespace,
        "sessionId": receipt.session,
        "prompt": receipt.prompt,
        "createdMs": receipt.created_ms,
        "counterId": receipt.counter_id,
        "notes": list(receipt.notes),
        "identical": replayed.identical,
        "reason": replayed.reason,
        "originalBudget": receipt.offer.budget,
    }
    if assembly is None or replayed.assembly is None:
        told |= dict.fromkeys(("text", "tokens", "degraded"))
        told |= {name: list[Json]() for name in ("items", "rejections", "entered", "left")}
        return {**told, "budget": receipt.offer.budget, "tiers": dict[str, Json]()}
    shown = _shown(receipt.offer)
    before, after = (_places(each.items) for each in (replayed.assembly, assembly))
    return told | {
        "text": assembly.text,
        "tokens": assembly.tokens,
        "budget": assembly.budget,
        "tiers": form(assembly.tiers),
        "degraded": form(assembly.degraded),
        "items": [_item_form(item, assembly.text, shown) for item in assembly.items],
        "rejections": [_part_form(each, shown) for each in assembly.rejections],
        "entered": [_place_form(place) for place in absent(after, before)],
        "left": [_place_form(place) for place in absent(before, after)],
    }


def _shown(offer: Offer) -> _Shown:
    """What is known of everything that was offered, by session and id."""
    rules = {("", rule.id): _known("", 0, rule.text, None) for rule in (*offer.hard, *offer.soft)}
    turns = {(turn.session, turn.id): _known(turn.role, turn.ts, turn.text, turn.speaker) for turn in offer.turns}
    candidates = {
        (each.session, each.id): _known(each.role, each.ts, each.text, each.speaker)
        for each in (*offer.elevated, *offer.recalled, *offer.recovered)
    }
    return rules | candidates | turns


def _known(role: str, ts: int, text: str, speaker: str | None) -> dict[str, Json]:
    return {"role": role, "ts": ts, "text": text, "speaker": speaker}


def _item_form(item: Item, text: str, shown: _Shown) -> dict[str, Json]:
    """A rule stands in the text as it is, an entry ends with its tag: inside, all tags are escaped."""
    if item.tier in ("hard", "soft"):
        end = item.start + len(str(shown[item.session, item.id]["text"]))
    else:
        end = text.index(_END, item.start) + len(_END)
    return {**_part_form(item, shown), "end": end}


def _part_form(part: Item | Rejection, shown: _Shown) -> dict[str, Json]:
    known = shown.get((part.session, part.id), {})
    return {**object_form(part), **known, "bar": dict[str, Json](bar_of(part.score, part.parts))}


def _places(items: Iterable[Item]) -> list[Place]:
    return [(item.tier, item.session, item.id) for item in items]


def absent(those: Iterable[Place], others: Iterable[Place]) -> list[Place]:
    """Those that are not among the others, in their order: a prompt may have thousands."""
    known = frozenset(others)
    return [place for place in those if place not in known]


def _place_form(place: Place) -> dict[str, Json]:
    return dict(zip(("tier", "sessionId", "id"), place, strict=True))


def _by_place(items: Any) -> dict[Place, dict[str, Json]]:
    return {(item["tier"], item["sessionId"], item["id"]): item for item in items}


def _pair(place: Place, left: Mapping[str, Json], right: Mapping[str, Json]) -> dict[str, Json]:
    sides: dict[str, Json] = {
        name: {"tokens": side["tokens"], "score": side["score"]} for name, side in (("left", left), ("right", right))
    }
    return {**_place_form(place), "text": left["text"], **sides}


def _without_contents(view: Result) -> Result:
    return {
        name: value for name, value in view.items() if name not in ("text", "items", "rejections", "entered", "left")
    }


def _both_reached(service: Service, params: Pair) -> frozenset[str]:
    return receipt_reach(service, OfReceipt(receipt_id=params.left)) | receipt_reach(
        service, OfReceipt(receipt_id=params.right)
    )


METHODS: tuple[Method[Any], ...] = (
    Method(
        "receipt_view",
        View,
        receipt_view,
        "Take a prompt apart, also with another budget.",
        reach=receipt_reach,
        result=results.PromptView,
    ),
    Method(
        "compare_receipts",
        Pair,
        compare_receipts,
        "Compare what two prompts were made of.",
        reach=_both_reached,
        result=results.Comparison,
    ),
)
