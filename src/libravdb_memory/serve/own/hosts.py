"""reset_session, link_session, unlink_session, promote_diary: what else a host of conversations needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from libravdb_memory.ingest.turns import checked_name, checked_text
from libravdb_memory.serve import epochs, links
from libravdb_memory.serve.methods import Method, Result
from libravdb_memory.serve.own.where import Where, in_order, own_reach
from libravdb_memory.serve.results import conversation as results
from libravdb_memory.serve.service import Service


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked(Where):
    linked_key: str = field(metadata={"help": "the host's name for the conversation that shares this memory"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Diary(Where):
    source_doc: str = field(metadata={"help": "the diary's name; its earlier entries are replaced"})
    text: str = field(metadata={"help": "the diary, Markdown"})


def reset_session(service: Service, params: Where) -> Result:
    session = epochs.advance(service.store, params.namespace, params.session)
    return {"ok": True, "userId": params.namespace, "sessionId": session}


def link_session(service: Service, params: Linked) -> Result:
    links.link(service.store, params.linked_key.strip(), params.namespace, service.within)
    return {"ok": True, "userId": params.namespace}


def unlink_session(service: Service, params: Linked) -> Result:
    links.unlink(service.store, params.linked_key.strip(), params.namespace, service.within)
    return {"ok": True}


def promote_diary(service: Service, params: Diary) -> Result:
    from libravdb_memory.sources.diary import read_diary
    from libravdb_memory.sources.dreams import promote

    diary = checked_name("sourceDoc", params.source_doc)
    entries = read_diary(checked_text("text", params.text))
    masking = service.memory.masking
    done = promote(service.store, masking, params.namespace, diary, entries, service.now_ms())
    service.memory.stored_beside()
    rejected = [{"text": each.entry.text, "reason": each.reason} for each in done.rejected]
    return {"ok": True, "promoted": done.promoted, "rejected": rejected, "changed": done.changed}


METHODS: tuple[Method[Any], ...] = (
    Method(
        "reset_session",
        Where,
        reset_session,
        "Begin a conversation anew under its old name; what was said before stays searchable.",
        writes=True,
        order=in_order,
        reach=own_reach,
        result=results.Reset,
    ),
    Method(
        "link_session",
        Linked,
        link_session,
        "Let a conversation, such as a subagent's, share this memory.",
        writes=True,
        reach=own_reach,
        result=results.Shared,
    ),
    Method(
        "unlink_session",
        Linked,
        unlink_session,
        "Let a conversation that shared this memory be its own again.",
        writes=True,
        reach=own_reach,
        result=results.Done,
    ),
    Method(
        "promote_diary",
        Diary,
        promote_diary,
        "Make memory of the entries of a dream diary that are worth it, in the place of its earlier ones.",
        writes=True,
        order=lambda params: f"dream:{params.namespace}",
        reach=own_reach,
        result=results.PromotedDiary,
    ),
)
