"""A run: a daemon of its own is filled, pressed by many clients for a while, then compared with the library.

Everything happens in a temporary folder; no daemon and no store of the user is touched.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from libravdb_memory.bench import figures, machine
from libravdb_memory.bench.load.crowd import SHARES, Crowd
from libravdb_memory.bench.load.filling import fill, settle, settle_judged, write_synthetic
from libravdb_memory.bench.load.lines import Line
from libravdb_memory.bench.load.overhead import overhead
from libravdb_memory.bench.load.pressing import Pressed, growth, press
from libravdb_memory.bench.load.subject import Subject, config_of, running_subject
from libravdb_memory.bench.retrieval.run import Stage, settings_in_force
from libravdb_memory.memory import Memory
from libravdb_memory.serve.client import Client

MOST_GROWTH = 0.10
_COPY = "copy"
_EACH = 10


@dataclass(frozen=True, slots=True)
class Options:
    """`rounds` of a cheap and of a costly call are compared with the library. `synthetic`: the turns that are there
    before it begins get vectors that no model made; only for the bundled one."""

    turns: int = 20_000
    connections: int = 64
    seconds: int = 60
    engine: str = "bundled"
    synthetic: bool = False
    rounds: tuple[int, int] = (2_000, 200)
    folder: Path | None = None


def run(options: Options, stage: Stage) -> dict[str, Any]:
    started = time.monotonic()
    crowd = Crowd(options.turns)
    with tempfile.TemporaryDirectory(prefix="lv-", dir=options.folder) as name:
        home = Path(name) / "home"
        said = crowd.said()
        if options.synthetic:
            with stage("writing synthetic turns", "turns") as progress:
                write_synthetic(config_of(home, options.engine), said, progress)
        with running_subject(home, options.engine) as subject:
            with stage("filling the store", "turns") as progress:
                (settle_judged if options.synthetic else fill)(subject, said, progress)
            filled_s = time.monotonic() - started
            over = _overhead(subject, crowd, options, Path(name) / "beside", stage)
            with stage("pressing the daemon", "s") as progress:
                pressed = press(subject, crowd, options.connections, options.seconds, progress)
            with stage("settling", "turns") as progress:
                settle(subject, progress, pressed.answered)
        config = settings_in_force(config_of(home, options.engine))
    return {
        "results": {
            "load": _load(pressed),
            "errors": figures.at_most(sum(pressed.errors.values()), 0, words=_most(pressed)),
            "memory_growth": _memory(pressed),
            "overhead_over_library": over,
            "filled_s": round(filled_s, 1),
        },
        "targets_meant_for_these_sizes": options.turns >= 20_000 and options.seconds >= 60,
        "options": {**asdict(options), "folder": None, "shares": dict(SHARES)},
        "config": config,
        "machine": machine.describe(),
        "seconds": round(time.monotonic() - started, 1),
    }


def _overhead(subject: Subject, crowd: Crowd, options: Options, beside: Path, stage: Stage) -> dict[str, Any]:
    """The library works on a copy of the store, in this process."""
    with ExitStack() as opened:
        line = Line(subject)
        opened.callback(line.close)
        copy = Path(line.call("backup", name=_COPY)["path"])
        config = config_of(beside, options.engine)
        config.db_path.parent.mkdir(parents=True)
        copy.replace(config.db_path)
        memory = opened.enter_context(Memory.open(config=config))
        memory.wait()
        client = opened.enter_context(Client(str(subject.endpoint), home=subject.home))
        progress = opened.enter_context(stage("comparing with the library", "rounds"))
        return overhead(memory, line, client, crowd, options.rounds, progress)


def _load(pressed: Pressed) -> dict[str, Any]:
    per_call = None if pressed.cpu_s is None else round(pressed.cpu_s * 1e3 / max(pressed.answered, 1), 2)
    return {
        "calls_per_s": round(pressed.answered / pressed.seconds, 1),
        "cpu_ms_per_call": per_call,
        "processors_used": None if pressed.cpu_s is None else round(pressed.cpu_s / pressed.seconds, 2),
        **{method: _of_method(seconds, pressed.seconds) for method, seconds in sorted(pressed.latencies.items())},
    }


def _of_method(seconds: Sequence[float], during_s: float) -> dict[str, Any]:
    ordered = sorted(seconds)
    return {
        "calls": len(ordered),
        "calls_per_s": round(len(ordered) / during_s, 1),
        **{f"p{part}_ms": round(ordered[int(part / 100 * (len(ordered) - 1))] * 1e3, 2) for part in (50, 99)},
        "most_ms": round(ordered[-1] * 1e3, 2),
    }


def _memory(pressed: Pressed) -> dict[str, Any]:
    found = growth(pressed.resident)
    if found is None:
        return {"value": None, "reason": "this system does not tell what a process takes up"}
    after, last = found
    over_time = [[round(at, 1), round(size / 1e6, 1)] for at, size in pressed.resident[::_EACH]]
    return figures.at_most(
        last / after - 1, MOST_GROWTH, mb_after_warm_up=round(after, 1), mb_at_end=round(last, 1), s_and_mb=over_time
    )


def _most(pressed: Pressed) -> list[str]:
    return [f"{count} x {words}" for words, count in pressed.errors.most_common(5)]
