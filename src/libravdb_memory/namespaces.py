"""Whose memory a call is about, and the collection that holds it.

Laws: every path resolves a namespace here, in one order: the user, the session key, the agent, the session itself.
Names are trimmed, blank ones count as absent, and long ones are refused, wherever they are given. What may be done with
a collection of ours follows from its name alone, whoever brings the first record of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from libravdb_memory.errors import InvalidInputError

DEFAULT_SESSION = "default"
MAX_NAME_BYTES = 512
GLOBAL = "global"
"""The collection of what hosts put there for everybody."""
_HISTORY = "history:"
_SUMMARIES = "summary:"
_GUIDANCE = "elevated:user:"
_DREAMS = "dream:"


@dataclass(frozen=True, slots=True)
class Policy:
    """What may be done with a collection: whether its records are never edited, and whether searches find them."""

    append_only: bool = False
    searchable: bool = True

    def words(self) -> str:
        return f"{'append-only' if self.append_only else 'editable'} and {'' if self.searchable else 'un'}searchable"


_RAW, _USUAL, _APART = Policy(append_only=True), Policy(), Policy(searchable=False)
_OF_NAMES = {
    GLOBAL: _USUAL,
    "document": _APART,
    "authored:hard": _APART,
    "authored:soft": _APART,
    "authored:variant": _USUAL,
}
_OF_KINDS = {
    _HISTORY: _RAW,
    _SUMMARIES: _USUAL,
    _GUIDANCE: _USUAL,
    _DREAMS: _USUAL,
    "user:": _USUAL,
    "turns:": _USUAL,
}


def resolve_namespace(
    user: str | None = None,
    session: str | None = None,
    *,
    session_key: str | None = None,
    agent_id: str | None = None,
) -> str:
    """The durable namespace; blank values count as absent."""
    if name := _given("user", user):
        return name
    if name := _given("session_key", session_key):
        return f"session-key:{name}"
    if name := _given("agent_id", agent_id):
        return f"agent-id:{name}"
    return f"session:{_given('session', session) or DEFAULT_SESSION}"


def history_of(namespace: str) -> str:
    """The collection of every turn, of both sides, in all sessions of a namespace."""
    return _HISTORY + namespace


def guidance_of(namespace: str) -> str:
    """The collection of rules that a user stated in conversation."""
    return _GUIDANCE + namespace


def summaries_of(namespace: str) -> str:
    """The collection of summaries of a namespace; each belongs to the session whose turns it covers."""
    return _SUMMARIES + namespace


def states_of(namespace: str) -> str:
    """The collection that says how often each session was compacted; in no search."""
    return f"_internal:compaction:{namespace}"


def dreams_of(namespace: str) -> str:
    """The collection of dream memory; never part of ordinary recall."""
    return _DREAMS + namespace


def namespace_of(collection: str) -> str | None:
    return collection.removeprefix(_HISTORY) if collection.startswith(_HISTORY) else None


def summarised_namespace_of(collection: str) -> str | None:
    """Whose summaries a collection holds, if it holds any."""
    return collection.removeprefix(_SUMMARIES) if collection.startswith(_SUMMARIES) else None


def guided_namespace_of(collection: str) -> str | None:
    """Whose rules a collection holds, if it holds any."""
    return collection.removeprefix(_GUIDANCE) if collection.startswith(_GUIDANCE) else None


def dreaming_namespace_of(collection: str) -> str | None:
    """Whose dreams a collection holds, if it holds any."""
    return collection.removeprefix(_DREAMS) if collection.startswith(_DREAMS) else None


def policy_of(collection: str) -> Policy | None:
    """That of a collection which only we write; None of one that is its host's, who decides."""
    kind = next((policy for prefix, policy in _OF_KINDS.items() if collection.startswith(prefix)), None)
    return _OF_NAMES.get(collection, kind)


def check_place(collection: str, group: str) -> None:
    """Refuse a turn where no name leads to it."""
    namespace = namespace_of(collection)
    if namespace is not None and not (namespace and namespace == namespace.strip() and session_name(group) == group):
        raise InvalidInputError("session", f"no call can name {namespace!r} / {group!r}: names are trimmed, not blank")


def may_cover(parent: tuple[str, str], child: tuple[str, str]) -> bool:
    """Whether an edge may lead from one record to another, each by collection and group. A summary covers turns and
    summaries of its own session and nothing else, and a turn covers neither. What hosts link beside that is theirs."""
    namespace, session = summarised_namespace_of(parent[0]), parent[1]
    if namespace is None:
        return namespace_of(parent[0]) is None or not child[0].startswith((_HISTORY, _SUMMARIES))
    return child in ((history_of(namespace), session), (summaries_of(namespace), session))


def given_user(user: str | None) -> str | None:
    """The user that a call names, if it names one."""
    return _given("user", user) or None


def given_session(session: str | None) -> str | None:
    """The session that a call names, if it names one."""
    return _given("session", session) or None


def session_name(session: str | None) -> str:
    """The session a call is about."""
    return given_session(session) or DEFAULT_SESSION


def _given(field: str, value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidInputError(field, f"must be text, not {type(value).__name__}")
    name = value.strip()
    if (size := len(name.encode("utf-8", "surrogatepass"))) > MAX_NAME_BYTES:
        raise InvalidInputError(field, f"has {size} bytes; at most {MAX_NAME_BYTES} are taken")
    return name
