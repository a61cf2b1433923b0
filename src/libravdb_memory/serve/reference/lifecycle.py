"""session_lifecycle_hint, list_lifecycle_journal: what hosts say about the life of sessions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from libravdb_memory import sessions
from libravdb_memory.identity import Json
from libravdb_memory.ingest.turns import checked_metadata, checked_name
from libravdb_memory.serve.methods import EVERYTHING, Method, Result
from libravdb_memory.serve.results import reference as results
from libravdb_memory.serve.service import Service
from libravdb_memory.serve.views import hint_item


@dataclass(frozen=True, slots=True)
class Hint:
    hook: str = field(metadata={"help": "before_reset, session_end or another"})
    reason: str = ""
    session_file: str = ""
    session_id: str = ""
    session_key: str = ""
    agent_id: str = ""
    workspace_dir: str = ""
    message_count: int | None = None
    duration_ms: float | None = None
    transcript_archived: bool | None = None
    next_session_id: str = ""
    next_session_key: str = ""

    def facts(self) -> dict[str, Json]:
        told: Mapping[str, Json] = {
            "reason": self.reason,
            "sessionFile": self.session_file,
            "sessionKey": self.session_key,
            "agentId": self.agent_id,
            "workspaceDir": self.workspace_dir,
            "messageCount": self.message_count,
            "durationMs": self.duration_ms,
            "transcriptArchived": self.transcript_archived,
            "nextSessionId": self.next_session_id,
            "nextSessionKey": self.next_session_key,
        }
        return {key: value for key, value in told.items() if value not in ("", None)}


def session_lifecycle_hint(service: Service, params: Hint) -> Result:
    """Advisory: written down, and nothing depends on it."""
    session, hook = params.session_id.strip(), checked_name("hook", params.hook.strip())
    facts = service.memory.masking.facts(checked_metadata(params.facts()))
    known = sessions.told if service.within is None else partial(sessions.owners, within=service.within)
    service.journal.append(session, hook, facts, service.now_ms(), known(service.store, session))
    return {"ok": True, "hook": hook, "sessionId": session, "reason": params.reason}


@dataclass(frozen=True, slots=True)
class Entries:
    session_id: str = field(default="", metadata={"help": "absent: of all sessions"})
    limit: int = field(default=0, metadata={"help": "the newest so many; 0: all"})


def list_lifecycle_journal(service: Service, params: Entries) -> Result:
    """Oldest first."""
    limit = params.limit if params.limit > 0 else None
    entries = service.journal.entries(params.session_id.strip() or None, limit, service.within)
    return {"results": [hint_item(entry).form() for entry in entries]}


def _reach(service: Service, params: Hint | Entries) -> frozenset[str]:
    """Whose session it is to the caller; one in which it finds nothing stands for itself."""
    session = params.session_id.strip()
    if not session:
        return EVERYTHING
    return frozenset(sessions.owners(service.store, session, service.within) or (f"session:{session}",))


METHODS: tuple[Method[Any], ...] = (
    Method(
        "session_lifecycle_hint",
        Hint,
        session_lifecycle_hint,
        "Note that a session begins, resets or ends.",
        writes=True,
        reach=_reach,
        result=results.Noted,
    ),
    Method(
        "list_lifecycle_journal",
        Entries,
        list_lifecycle_journal,
        "The notes about sessions, oldest first.",
        reach=_reach,
        result=results.Entries,
    ),
)
