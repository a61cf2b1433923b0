"""Who carries out what a tool asks for: the daemon of the home, started where none runs, or else this process itself.

Laws: whoever asks waits for no more than one beginning, and one who leaves ends it for nobody else. A daemon that went
away is looked for again, and what may be repeated is asked once more. What waits on disk is delivered before anything
is asked. What this process opens itself it closes.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from libravdb_memory.errors import LibraVDBError
from libravdb_memory.identity import Json

if TYPE_CHECKING:
    from libravdb_memory.config import Config
    from libravdb_memory.memory import Memory
    from libravdb_memory.serve.client import AsyncClient

_log = logging.getLogger(__name__)
Answer = dict[str, Any]
ONCE = frozenset({"memory_forget"})
"""Not asked a second time when the answer was lost: the second would tell that there is nothing to erase."""


class Asks(Protocol):
    """Calls of the daemon's own methods, by name."""

    async def ask(self, method: str, params: Mapping[str, Json]) -> Answer: ...


class Backend(Asks, Protocol):
    async def close(self) -> None: ...


class Daemon:
    """A daemon that runs."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def ask(self, method: str, params: Mapping[str, Json]) -> Answer:
        if method in ONCE:
            await self.deliver()  # so that nothing comes back after it was erased
        return await self._client.call(method, params)

    async def deliver(self) -> None:
        """Hand over what hosts have said while no daemon was there."""
        from libravdb_memory.serve.client import UnavailableError

        delivery = await self._client.send_waiting()
        if not delivery.finished:
            raise UnavailableError(f"what waits on disk comes first: {delivery.note}")

    async def close(self) -> None:
        await self._client.close()


class Embedded:
    """A store that this process owns."""

    def __init__(self, memory: Memory, config: Config) -> None:
        from libravdb_memory.serve.methods import table_of
        from libravdb_memory.serve.own import METHODS
        from libravdb_memory.serve.service import Service

        self._memory = memory
        self._service = Service.of(memory, config, lambda: time.time_ns() // 1_000_000)
        self._table = table_of(METHODS)

    async def ask(self, method: str, params: Mapping[str, Json]) -> Answer:
        from libravdb_memory.serve.fields import parse

        known = self._table[method]
        return await asyncio.to_thread(known.run, self._service, parse(known.params, params))

    async def close(self) -> None:
        await asyncio.to_thread(self._memory.close)


class Asking:
    """`embedded` True: no daemon is looked for."""

    def __init__(self, config: Config, *, embedded: bool = False) -> None:
        self._config = config
        self._embedded = embedded
        self._finding: asyncio.Task[Backend] | None = None

    def warm(self) -> None:
        """Begin now, also where an earlier beginning failed; nobody waits for it."""
        finding = self._finding
        if finding is None or (finding.done() and finding.exception() is not None):
            self._finding = asyncio.get_running_loop().create_task(self._find())
            self._finding.add_done_callback(_tell)

    async def ask(self, method: str, params: Mapping[str, Json]) -> Answer:
        from libravdb_memory.serve.client import UnavailableError

        backend = await self._backend()
        try:
            return await backend.ask(method, params)
        except UnavailableError:
            await self._lose(backend)
            if method in ONCE:
                raise
        return await (await self._backend()).ask(method, params)

    async def close(self) -> None:
        finding, self._finding = self._finding, None
        if finding is not None:
            await asyncio.wait({finding})
            if not finding.exception():
                await finding.result().close()

    async def _backend(self) -> Backend:
        self.warm()
        finding = self._finding
        assert finding is not None
        return await asyncio.shield(finding)

    async def _lose(self, backend: Backend) -> None:
        finding = self._finding
        if finding is not None and finding.done() and not finding.exception() and finding.result() is backend:
            self._finding = None
            await backend.close()

    async def _find(self) -> Backend:
        if not self._embedded:
            try:
                return await self._daemon()
            except (LibraVDBError, OSError) as error:
                _log.warning("no daemon can be used (%s); the store is opened here", error)
        return await asyncio.to_thread(self._opened)

    async def _daemon(self) -> Backend:
        start, connect = await asyncio.to_thread(_loaded)
        found, _ = await asyncio.to_thread(start, self._config.home)
        daemon = Daemon(connect(found.endpoint, home=self._config.home))
        await daemon.deliver()
        return daemon

    def _opened(self) -> Backend:
        from libravdb_memory.memory import Memory

        return Embedded(Memory.open(config=self._config), self._config)


def _loaded() -> tuple[Any, type[AsyncClient]]:
    """Imported in a thread: it takes a while, and the first answers do not wait for it."""
    from libravdb_memory.serve.client import AsyncClient
    from libravdb_memory.serve.lifetime import start

    return start, AsyncClient


def _tell(finding: asyncio.Task[Backend]) -> None:
    error = None if finding.cancelled() else finding.exception()
    if error is not None:
        _log.warning("memory is not there: %s", error)
