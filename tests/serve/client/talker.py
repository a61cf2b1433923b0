"""A host in a process of its own: says numbered things in several sessions, and prints each that was acknowledged.

Arguments: the home, the kind of client, how many things in each session. Standard input: per session, where to begin.
"""

from __future__ import annotations

import asyncio
import json
import sys

from libravdb_memory.serve.client import AsyncClient, Client


def acknowledge(session: str, number: int) -> None:
    sys.stdout.write(f"{session} {number}\n")
    sys.stdout.flush()


def talk(home: str, begin: dict[str, int], total: int) -> None:
    with Client(home=home) as client:
        for number in range(total):
            for session, first in begin.items():
                if number >= first:
                    client.ingest(f"{number}", user="ada", session=session, id=f"t{number}")
                    acknowledge(session, number)


async def talk_at_once(home: str, begin: dict[str, int], total: int) -> None:
    async with AsyncClient(home=home) as client:

        async def one(session: str) -> None:
            for number in range(begin[session], total):
                await client.ingest(f"{number}", user="ada", session=session, id=f"t{number}")
                acknowledge(session, number)

        await asyncio.gather(*map(one, begin))


if __name__ == "__main__":
    place, way, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    starts: dict[str, int] = json.load(sys.stdin)
    if way == "async":
        asyncio.run(talk_at_once(place, starts, count))
    else:
        talk(place, starts, count)
