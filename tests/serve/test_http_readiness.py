"""Readiness is asked of store and model once in a while, however often it is asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from libravdb_memory.identity import Json
from libravdb_memory.serve.access import Access
from libravdb_memory.serve.dispatch import Dispatcher
from libravdb_memory.serve.http.asking import Asking, Told
from libravdb_memory.serve.http.readiness import HOLDS_S, Readiness
from libravdb_memory.serve.methods import table_of
from libravdb_memory.serve.service import Service


@dataclass(frozen=True)
class Counted(Asking):
    """Answers by itself, and counts."""

    asked: list[str] = field(default_factory=list[str])
    answers: list[Told] = field(default_factory=list[Told])

    async def ask(self, method: str, params: Mapping[str, Json], access: Access) -> Told:
        self.asked.append(method)
        await asyncio.sleep(0)
        return self.answers[min(len(self.asked), len(self.answers)) - 1]


def test_a_thousand_who_ask_at_once_cost_one_question_and_what_was_heard_holds_for_a_while(service: Service) -> None:
    async def watched() -> None:
        now = [100.0]
        asking = Counted(service, table_of([]), cast(Dispatcher, None), answers=[Told(200, {}), Told(500, None, {})])
        readiness = Readiness(asking, lambda: now[0])
        assert set(await asyncio.gather(*(readiness.told() for _ in range(1000)))) == {(True, "ok")}
        now[0] += HOLDS_S * 0.9
        assert await readiness.told() == (True, "ok") and asking.asked == ["ready"]
        now[0] += HOLDS_S * 0.2
        told = set(await asyncio.gather(*(readiness.told() for _ in range(1000))))
        assert told == {(False, "store or model do not answer")} and asking.asked == ["ready", "ready"]
        service.stopping.set()
        assert await readiness.told() == (False, "draining") and len(asking.asked) == 2

    asyncio.run(watched())


def test_one_who_leaves_while_it_is_asked_keeps_nobody_waiting(service: Service) -> None:
    async def watched() -> None:
        asking = Counted(service, table_of([]), cast(Dispatcher, None), answers=[Told(200, {})])
        readiness = Readiness(asking)
        leaving = asyncio.create_task(readiness.told())
        await asyncio.sleep(0)
        leaving.cancel()
        assert await readiness.told() == (True, "ok")

    asyncio.run(watched())
