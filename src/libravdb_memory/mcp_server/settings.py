"""Whose memory agents of this machine share, where nobody names another."""

from __future__ import annotations

from dataclasses import dataclass, field

from libravdb_memory.errors import ConfigError


@dataclass(frozen=True, slots=True)
class McpSettings:
    user: str = field(default="local", metadata={"help": "whose memory the MCP server and the hooks use"})
    session: str = field(
        default="mcp", metadata={"help": "the conversation that an MCP client adds to where it names none"}
    )

    def __post_init__(self) -> None:
        for name in ("user", "session"):
            if not getattr(self, name).strip():
                raise ConfigError(f"mcp.{name}", "must not be blank")
