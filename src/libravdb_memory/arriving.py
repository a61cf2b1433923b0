"""What an import brings, without its secrets.

Laws: what was exported without secrets arrives unchanged. What is masked on arrival is masked as if it had been stored
here: a turn keeps its original only if that is configured, and a document is masked whole and divided again, for parts
of a secret may stand in different nodes. A secret of a turn is one in the summaries and rules that come with it.
Importing again changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice

from libravdb_memory.authored import DOCUMENTS, AuthoredDocuments, document_of, is_node
from libravdb_memory.errors import ConflictError, RulesOverrunError
from libravdb_memory.ingest.turns import turn_of
from libravdb_memory.masking import MASKED, Content, Masking
from libravdb_memory.model import Draft
from libravdb_memory.namespaces import guided_namespace_of, namespace_of, summarised_namespace_of
from libravdb_memory.store.protocol import Key, Link, Mark, Put, Store, Write

_MOST_KNOWN = 2_000


class Arrivals:
    def __init__(self, store: Store, masking: Masking, documents: AuthoredDocuments) -> None:
        self._store = store
        self._masking = masking
        self._documents = documents
        self._known: dict[str, str] = {}
        self._divided: dict[str, Mapping[Key, str] | None] = {}

    def writes(self, arrived: Write) -> tuple[Write, ...]:
        """What is written for it; nothing for a node that its document, masked, no longer has."""
        if not self._masking.settings.mask:
            return (arrived,)
        match arrived:
            case Put():
                return self._record(arrived)
            case Mark():
                return (self._mark(arrived),) if self._stands(arrived.key) else ()
            case Link():
                return (arrived,) if self._stands(arrived.parent) and self._stands(arrived.child) else ()
            case _:
                return (arrived,)

    def _record(self, put: Put) -> tuple[Write, ...]:
        draft = put.draft
        key = Key(draft.collection, draft.id, draft.group)
        if not self._stands(key, draft.text) or self._is_divided_already(key):
            return ()
        if draft.collection == DOCUMENTS:
            return self._document(put)
        if namespace_of(draft.collection) is not None:
            return self._turn(put)
        content = self._content(draft)
        return (replace(put, draft=replace(draft, text=content.text, metadata=content.facts)),)

    def _turn(self, put: Put) -> tuple[Write, ...]:
        draft, said = put.draft, turn_of(put.draft)
        content = self._masking.content(said.text, said.metadata)
        if not content.kinds:
            return (put,)
        self._known = dict(islice((dict(content.values) | self._known).items(), _MOST_KNOWN))
        facts = {**draft.metadata, "meta": content.facts} if said.metadata else draft.metadata
        masked = replace(put, draft=replace(draft, text=content.text, metadata=facts))
        note = self._masking.note(said, content.kinds)
        return masked, Mark(Key(draft.collection, draft.id, draft.group), MASKED, note, overwrite=False)

    def _content(self, draft: Draft) -> Content:
        """The summary and the facts pinned to it are two texts; its metadata tells where the second begins."""
        made = summarised_namespace_of(draft.collection) or guided_namespace_of(draft.collection)
        known = self._known if made is not None else {}
        pins_at = draft.metadata.get("pins_at")
        if made is None or not isinstance(pins_at, int):
            return self._masking.content(draft.text, draft.metadata, known)
        said = self._masking.content(draft.text[:pins_at], draft.metadata, known)
        pinned = self._masking.content(draft.text[pins_at:], {}, known)
        return replace(said, text=said.text + pinned.text, facts={**said.facts, "pins_at": len(said.text)})

    def _document(self, put: Put) -> tuple[Write, ...]:
        draft, text = put.draft, self._masking.text(put.draft.text)
        if text == draft.text:
            return (put,)
        there = self._store.get(Key(DOCUMENTS, draft.id))
        if there is None:
            (outcome,) = self._documents.change([document_of(draft)])
            if isinstance(outcome, RulesOverrunError):
                raise outcome
        elif there.text != text:
            raise ConflictError(draft.id)
        return ()

    def _mark(self, mark: Mark) -> Mark:
        brought = self._masking.brought(mark.data) if mark.label == MASKED else self._masking.facts(mark.data)
        return replace(mark, data=brought)

    def _is_divided_already(self, key: Key) -> bool:
        """Its place and price are those in the masked document, and may be others in the one that arrives."""
        return is_node(key) and self._divided[key.group] is not None and self._store.get(key) is not None

    def _stands(self, key: Key, text: str | None = None) -> bool:
        """Whether it may be there: a node of a masked document only as that document is divided."""
        if not is_node(key):
            return True
        if key.group not in self._divided:
            self._divided[key.group] = self._documents.divided_masked(key.group)
        nodes = self._divided[key.group]
        return nodes is None or (key in nodes and text in (None, nodes[key]))
