"""ingest_markdown_document, delete_authored_document: rules and lore that people wrote.

Law: a document that the daemon reads from a watched folder is what its file says; a client can neither replace nor
remove it, whatever root it names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from libravdb_memory.authored import DOCUMENTS
from libravdb_memory.errors import ConflictError, RulesOverrunError
from libravdb_memory.identity import Json
from libravdb_memory.model import Document
from libravdb_memory.serve.methods import Method, Result
from libravdb_memory.serve.results.conversation import Done
from libravdb_memory.serve.service import Service
from libravdb_memory.sources.loader import watched_root
from libravdb_memory.store.protocol import Key


@dataclass(frozen=True, slots=True)
class SourceMeta:
    source_root: str = ""
    source_path: str = ""
    source_kind: str = ""
    file_hash: str = ""
    source_size: float | None = None
    source_mtime_ms: float | None = field(default=None, metadata={"help": "may have a fraction"})
    ingest_version: Json = None
    hash_backend: str = ""

    def facts(self) -> dict[str, Json]:
        told: Mapping[str, Json] = {
            "source_root": self.source_root,
            "source_path": self.source_path,
            "source_kind": self.source_kind,
            "file_hash": self.file_hash,
            "source_size": self.source_size,
            "source_mtime_ms": self.source_mtime_ms,
            "ingest_version": self.ingest_version,
            "hash_backend": self.hash_backend,
        }
        return {key: value for key, value in told.items() if value not in ("", None)}


@dataclass(frozen=True, slots=True)
class Markdown:
    source_doc: str = field(metadata={"help": "the name of the document"})
    text: str = field(default="", metadata={"help": "all of it; what was loaded under this name before is replaced"})
    tokenizer_id: str = field(default="", metadata={"help": "taken and not used: the daemon counts by its own"})
    core_doc: bool | None = field(default=None, metadata={"help": "its lore has authority; absent: its name decides"})
    source_meta: SourceMeta = field(default_factory=SourceMeta)


def ingest_markdown_document(service: Service, params: Markdown) -> Result:
    _refuse_watched(service, params.source_doc)
    document = Document(params.source_doc, params.text, params.core_doc, source=params.source_meta.facts())
    (outcome,) = service.memory.change_documents([document])
    if isinstance(outcome, RulesOverrunError):
        raise outcome
    return {"ok": True}


@dataclass(frozen=True, slots=True)
class SourceDoc:
    source_doc: str = field(metadata={"help": "the name of the document"})


def delete_authored_document(service: Service, params: SourceDoc) -> Result:
    _refuse_watched(service, params.source_doc)
    service.memory.change_documents(remove=[params.source_doc])
    return {"ok": True}


def _refuse_watched(service: Service, name: str) -> None:
    """What is read from a watched folder follows its file, and nobody else."""
    found = service.store.get(Key(DOCUMENTS, name))
    root = None if found is None else watched_root(found.metadata)
    if root is not None:
        raise ConflictError(name, f"is read from the watched folder {root!r}: change its file")


def _order(params: Markdown | SourceDoc) -> str:
    return f"document\n{params.source_doc}"


METHODS: tuple[Method[Any], ...] = (
    Method(
        "ingest_markdown_document",
        Markdown,
        ingest_markdown_document,
        "Load or replace an authored document, in one step.",
        writes=True,
        order=_order,
        result=Done,
    ),
    Method(
        "delete_authored_document",
        SourceDoc,
        delete_authored_document,
        "Take an authored document away.",
        writes=True,
        order=_order,
        result=Done,
    ),
)
