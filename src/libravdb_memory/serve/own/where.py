"""Whose memory a call is about, and which conversation; what most parameters begin with."""

from __future__ import annotations

from dataclasses import dataclass, field

from libravdb_memory.namespaces import given_session, resolve_namespace, session_name
from libravdb_memory.serve.service import Service


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Named by the user; else by what stands for the user."""

    user_id: str | None = field(default=None, metadata={"help": "whose memory it is"})
    session_id: str | None = field(
        default=None, metadata={"help": "the conversation; where one is needed and none is named, `default`"}
    )
    session_key: str | None = field(default=None, metadata={"help": "stands for the user where none is named"})
    agent_id: str | None = field(default=None, metadata={"help": "stands for the user where nothing else is named"})

    @property
    def namespace(self) -> str:
        return resolve_namespace(self.user_id, self.session_id, session_key=self.session_key, agent_id=self.agent_id)

    @property
    def names_anybody(self) -> bool:
        """Whether the call says whose memory it is, by whatever stands for the user."""
        named = (self.user_id, self.session_id, self.session_key, self.agent_id)
        return any(name is not None and name.strip() for name in named)

    @property
    def session(self) -> str:
        return session_name(self.session_id)

    @property
    def given_session(self) -> str | None:
        return given_session(self.session_id)


def own_reach(_: Service, params: Where) -> frozenset[str]:
    """One namespace, whatever is asked."""
    return frozenset({params.namespace})


def in_order(params: Where) -> str:
    """What happens to one session happens in the order in which it was sent."""
    return f"{params.namespace}\n{params.session}"
