"""Programs that talk to a daemon: one core without sockets, a blocking client, an asynchronous one, a spool on disk.

    from libravdb_memory.serve.client import Client

    with Client() as client:
        client.ingest("We deploy on Tuesdays.", user="ada", session="s1")

Law: memory is never a hard dependency of a conversation. With no daemon there, what was said waits on disk and a
context is the host's own messages.
"""

from libravdb_memory.serve.client.aio import AsyncClient
from libravdb_memory.serve.client.core import RefusedError, UnavailableError
from libravdb_memory.serve.client.delivering import Delivery, Stored
from libravdb_memory.serve.client.spool import SpoolError
from libravdb_memory.serve.client.sync import Client
from libravdb_memory.serve.client.verbs import HostContext

__all__ = [
    "AsyncClient",
    "Client",
    "Delivery",
    "HostContext",
    "RefusedError",
    "SpoolError",
    "Stored",
    "UnavailableError",
]
