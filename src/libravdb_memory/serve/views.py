"""The public collections of the reference protocol, as views over the store. Here alone is said what a name means.

    session:<sid>           turns that nothing covers, and the summaries that no other covers
    session_raw:<sid>       every turn
    session_summary:<sid>   every summary; session_edge:<sid> what covers what; session_state:<sid> how often compacted
    turns:<ns>              turns in the repetition index, and what hosts put there
    user:<ns>               durable turns, and what hosts put there
    elevated:user:<ns>, elevated:session:<sid>, dream:<ns>, authored:hard|soft|variant, _internal:lifecycle_journal
    anything else           what hosts put there, `global` for instance

Laws: a name leads to records of the namespaces in its `reach` and to no others; a name that means nothing here leads to
no records. Ids are unique inside a collection. What a host put into `turns:` or `user:` stands for the turn that it is
a copy of, so that nothing is shown twice. Names by which the store keeps its own records are reserved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeAlias, TypeVar

from libravdb_memory import lineage, sessions
from libravdb_memory.authored import DOCUMENTS
from libravdb_memory.gating import DURABLE, REPETITION
from libravdb_memory.identity import Json
from libravdb_memory.journal import COLLECTION as JOURNAL
from libravdb_memory.journal import Entry, Journal
from libravdb_memory.model import Record
from libravdb_memory.namespaces import dreams_of, guidance_of, history_of, states_of, summaries_of
from libravdb_memory.serve import showing
from libravdb_memory.serve.methods import EVERYTHING
from libravdb_memory.serve.showing import Item, Show
from libravdb_memory.sessions import Reach
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import AllOf, Covered, Equals, Filter, Key, Marked, Not, OneOf, Store
from libravdb_memory.summaries import node_of

T = TypeVar("T")
Kind: TypeAlias = Literal[
    "session", "raw", "summary", "edge", "state", "turns", "user", "elevated", "dream", "authored", "journal", "plain",
    "reserved",
]  # fmt: skip

COPIED = {"turns": "in-turns", "user": "in-user"}
"""The mark on a turn of which a host put a copy into `turns:` or `user:`; the copy is shown, the turn is not."""

_SESSION_KINDS: dict[str, Kind] = {
    "session": "session",
    "session_raw": "raw",
    "session_summary": "summary",
    "session_edge": "edge",
    "session_state": "state",
}
_AUTHORED = ("authored:hard", "authored:soft", "authored:variant")
_OWN_NAMES = ("history:", "summary:", "receipt:", "_internal:", "authored:", "elevated:")
_MARKS = {"turns": REPETITION, "user": DURABLE}
_PROVENANCE = {"turns": showing.SESSION_TURN, "user": showing.DURABLE_MEMORY}


@dataclass(frozen=True, slots=True)
class Source:
    """Records of the store that a view shows. `ids` are those that a record may have there if it is shown by a
    given id."""

    collection: str
    show: Show
    where: Filter | None = None
    ids: Callable[[str], tuple[str, ...]] = lambda shown: (shown,)


@dataclass(frozen=True, slots=True)
class View:
    """`about` is the session or the namespace in the name. `made` gives items that are no records."""

    name: str
    kind: Kind
    about: str = ""
    namespaces: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    made: Callable[[Store], list[Item]] | None = None


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────


def view_of(store: Store, name: str, within: Reach) -> View:
    """As a caller has it that reaches these namespaces: of a session it is shown what is theirs."""
    name = name.strip()
    head, _, rest = name.partition(":")
    about = rest.strip()
    if (kind := _SESSION_KINDS.get(head)) is not None and about:
        return _session_view(store, name, kind, about, within)
    if head in COPIED and about:
        return _kept_view(head, about)
    if name in _AUTHORED:
        return View(name, "authored", sources=(Source(name, showing.authored(name)),))
    if head == "elevated" and (namespace := _elevated_namespace(about)):
        return View(
            name, "elevated", namespace, (namespace,), (Source(guidance_of(namespace), showing.guidance(name)),)
        )
    if head == "dream" and about:
        collection = dreams_of(about)
        return View(name, "dream", about, (about,), (Source(collection, showing.plain(collection)),))
    if name == JOURNAL:
        return View(name, "journal", made=_hints)
    if _is_reserved(name, head):
        return View(name, "reserved")
    return View(name, "plain", sources=(Source(name, showing.plain(name)),))


def _is_reserved(name: str, head: str) -> bool:
    """Blank, a kind of view without whose, or a name of the store's own."""
    kinds = (*_SESSION_KINDS, *COPIED, "dream", "elevated")
    return name in ("", DOCUMENTS) or (head in kinds and ":" in name) or name.startswith(_OWN_NAMES)


def reach_of(store: Store, name: str, within: Reach, *, writes: bool = False) -> frozenset[str]:
    """The namespaces that a call on this collection touches. What everybody may read is in none."""
    view = view_of(store, name, within)
    if view.namespaces or view.kind in _SESSION_KINDS.values():  # of others the session holds nothing
        return frozenset(view.namespaces)
    shared = view.kind in ("authored", "reserved") or view.name == "global"
    return frozenset() if shared and not writes else EVERYTHING


def _elevated_namespace(about: str) -> str:
    of, _, rest = about.partition(":")
    owner = rest.strip()
    if not owner or of not in ("user", "session"):
        return ""
    return owner if of == "user" else f"session:{owner}"


def _kept_view(head: str, namespace: str) -> View:
    name = f"{head}:{namespace}"
    kind: Kind = "turns" if head == "turns" else "user"

    def ids(shown: str) -> tuple[str, ...]:
        bare = shown.removeprefix(f"{namespace}:")
        return (bare, *(bare[:place] for place, sign in enumerate(bare) if sign == "@"))

    where = AllOf((Marked(_MARKS[head]), Not(Marked(COPIED[head]))))
    turns = Source(history_of(namespace), showing.kept_turns(name, _PROVENANCE[head]), where, ids)
    return View(name, kind, namespace, (namespace,), (Source(name, showing.plain(name)), turns))


def _session_view(store: Store, name: str, kind: Kind, session: str, within: Reach) -> View:
    owners = sessions.owners(store, session, within)
    if kind in ("edge", "state"):
        made = _edges if kind == "edge" else _states
        return View(name, kind, session, owners, made=lambda store: made(store, name, owners, session))
    sources: list[Source] = []
    for namespace in owners:
        mine = Equals("group", session)
        bare: Filter = mine if kind == "raw" else AllOf((mine, Not(Covered())))
        if kind != "summary":
            show = showing.session_turns(name, raw=kind == "raw")
            sources.append(Source(history_of(namespace), show, bare, _turn_ids(session)))
        if kind != "raw":
            where = mine if kind == "summary" else bare
            sources.append(Source(summaries_of(namespace), showing.summaries(name), where))
    return View(name, kind, session, owners, tuple(sources))


def _turn_ids(session: str) -> Callable[[str], tuple[str, ...]]:
    return lambda shown: (shown, shown.removeprefix(f"{session}:"))


def turn_id_in(owner: str, given: str) -> str:
    """The id of a turn inside its session, from the one that a client gives it: `<session>:<turn>`, `<ns>:<turn>`."""
    return given.removeprefix(f"{owner}:") or given


def session_in(name: str) -> str | None:
    """The session to whose turns a collection leads, if it does."""
    head, _, rest = name.strip().partition(":")
    return rest.strip() or None if head in ("session", "session_raw") else None


# ── items ────────────────────────────────────────────────────────────────────────────────────────────────────────


def items_of(store: Store, view: View) -> list[Item]:
    """All of a view, in the order of the protocol: by id, nodes of documents by their place."""
    found = [] if view.made is None else view.made(store)
    for source in view.sources:
        found += items_in(store, source)
    if view.kind == "authored":
        return sorted(found, key=_place)
    return found if view.kind == "journal" else sorted(found, key=lambda item: item.id)


def items_in(store: Store, source: Source) -> Iterator[Item]:
    for page in _pages(every(store, source.collection, source.where)):
        yield from source.show(store, page)


def items_named(store: Store, view: View, ids: Sequence[str]) -> list[Item]:
    """Those of a view that have one of these ids, or are known by it inside their session."""
    wanted = set(ids)
    found: list[Item] = []
    for source in view.sources:
        inside = {own for shown in wanted for own in source.ids(shown)}
        for page in _pages(iter(sorted(inside)), size=500):
            named = OneOf("id", tuple(page))
            where = named if source.where is None else _both(source.where, named)
            records = list(every(store, source.collection, where))
            shown = source.show(store, records)
            found += [item for item in shown if item.id in wanted or _is_known_by(view, item, wanted)]
    return found


def _is_known_by(view: View, item: Item, wanted: set[str]) -> bool:
    """In its session a turn is known by its own id too."""
    return view.kind in ("session", "raw") and item.record is not None and item.record.id in wanted


def _both(where: Filter, more: Filter) -> Filter:
    return AllOf((*where.of, more)) if isinstance(where, AllOf) else AllOf((where, more))


def _pages(items: Iterator[T], size: int = 1000) -> Iterator[list[T]]:
    while page := list(islice(items, size)):
        yield page


def _place(item: Item) -> tuple[str, int, int, str]:
    def whole(key: str) -> int:
        value = item.metadata.get(key)
        return value if isinstance(value, int) else 0

    return str(item.metadata.get("source_doc", "")), whole("position"), whole("ordinal"), item.id


# ── what is no record ────────────────────────────────────────────────────────────────────────────────────────────


def _edges(store: Store, name: str, owners: Sequence[str], session: str) -> list[Item]:
    return [
        _edge(name, record, child)
        for namespace in owners
        for record in every(store, summaries_of(namespace), Equals("group", session))
        for child in lineage.children(store, node_of(record).key)
    ]


def _edge(name: str, summary: Record, child: Record) -> Item:
    below = showing.child_id(child)
    facts: dict[str, Json] = {
        "type": "continuity_edge",
        "sessionId": summary.group,
        "summary_id": summary.id,
        "child_id": below,
        "ts": summary.ts,
    }
    return Item(name, f"edge:{summary.id}:{below}", "", facts)


def _states(store: Store, name: str, owners: Sequence[str], session: str) -> list[Item]:
    found = [store.get(Key(states_of(namespace), "state", session)) for namespace in owners]
    facts: dict[str, Json] = {"type": "session_state", "sessionId": session}
    return [
        Item(name, "__session_state__", record.text, facts, record.version)
        for record in found[-1:]
        if record is not None
    ]


def hint_item(entry: Entry) -> Item:
    facts: dict[str, Json] = {"type": "lifecycle_hint", "sessionId": entry.session, "ts": entry.ts, **entry.facts}
    return Item(JOURNAL, entry.id, entry.hook, {**facts, "hook": entry.hook})


def _hints(store: Store) -> list[Item]:
    return [hint_item(entry) for entry in Journal(store).entries()]
