"""The verbs: where stages, store and engines meet.

    with Memory.open(path) as memory:
        memory.ingest("The deploy key moved to vault.", user="ada", session="s1")
        hits = memory.search("where is the deploy key?", user="ada")

Laws: `ingest` returns after the turn is on disk. Nothing is read from another namespace. A search that could not use
all its evidence says so in `degraded`.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Literal, Self

from libravdb_memory import lineage, receipts, shards, verifying
from libravdb_memory.arguments import Scope, check_count, nothing_to_erase, session_of, where_of
from libravdb_memory.arriving import Arrivals
from libravdb_memory.assemble.messages import Message
from libravdb_memory.authored import AuthoredDocuments
from libravdb_memory.beside import Beside
from libravdb_memory.config import Config, load_config
from libravdb_memory.context import Context, ContextBuilder, Mode, Request
from libravdb_memory.engines.protocol import Embedder
from libravdb_memory.engines.readings import Readings
from libravdb_memory.engines.select import make_embedder
from libravdb_memory.engines.summarising.select import check_folder, check_key, name_of
from libravdb_memory.engines.token_counter import make_counter
from libravdb_memory.errors import (
    AmbiguousIdError,
    ConflictError,
    EngineError,
    FingerprintMismatchError,
    InvalidInputError,
    NotFoundError,
    RulesOverrunError,
    StoreClosedError,
)
from libravdb_memory.excluding import Excluding
from libravdb_memory.forgetting import Forgetting, text_of
from libravdb_memory.gathering import Source
from libravdb_memory.gating import DURABLE, JUDGED, Gatekeeper
from libravdb_memory.hosting import Said, checked_messages, not_held
from libravdb_memory.identity import Json
from libravdb_memory.indexing import Indexer, IndexingState
from libravdb_memory.ingest.partition import Partition
from libravdb_memory.ingest.turns import checked_name, checked_text, checked_turn, draft_of, milliseconds, turn_of
from libravdb_memory.leaving import closed_at_exit, closed_before
from libravdb_memory.lineage import Expansion, History
from libravdb_memory.masking import MASKED, Masking, masked_in, original_of
from libravdb_memory.model import Document, Hit, Hits, Record, Turn
from libravdb_memory.namespaces import (
    given_session,
    given_user,
    guided_namespace_of,
    history_of,
    namespace_of,
    resolve_namespace,
    session_name,
    summaries_of,
    summarised_namespace_of,
)
from libravdb_memory.nimble import prompt
from libravdb_memory.overflow import AtWork, Overflow, OverflowState
from libravdb_memory.portability import ImportReport, export_to, import_lines
from libravdb_memory.quoting import Erased
from libravdb_memory.recall import Recall
from libravdb_memory.receipts import Receipt, ReceiptLog, Replay, WhyNot, why_not
from libravdb_memory.shards import Guidance
from libravdb_memory.store.forking import forks_held_back
from libravdb_memory.store.protocol import (
    Erasure,
    Key,
    Mark,
    Progress,
    Put,
    Selection,
    Space,
    Store,
    StoreStatus,
    Verification,
    Write,
)
from libravdb_memory.summaries import is_summary, node_of, spoken
from libravdb_memory.tailing import tail_of
from libravdb_memory.tokens import TokenCounter
from libravdb_memory.underway import UnderWay
from libravdb_memory.usage import ENOUGH, REGRET, Usage

if TYPE_CHECKING:
    from libravdb_memory.compacting import Compaction, Compactor
    from libravdb_memory.compacting.making import Making
    from libravdb_memory.gate.score import Decision

_TOGETHER = 128
"""Messages of a host that are stored in one commit."""
_READ = 3
"""Hits of a search that count as used: one who searches reads the first few."""


@dataclass(frozen=True, slots=True)
class GateStatus:
    """User turns judged so far, those that became durable, and refused ones that a later question wanted."""

    judged: int
    durable: int
    regretted: int


@dataclass(frozen=True, slots=True)
class Status:
    """`searches_by_meaning` is False while the store waits to be re-embedded with the configured model. `compaction`
    is what happens in this process, by itself or because it was asked for; `summariser` writes the summaries, where it
    can. `texts` are all records that searches can find, `rules` those that are kept word by word."""

    path: str
    namespaces: int
    turns: int
    model: str
    model_ready: bool
    searches_by_meaning: bool
    indexing: IndexingState
    gate: GateStatus
    texts: int
    summaries: int
    rules: int
    summariser: str
    compaction: OverflowState
    store: StoreStatus


class Memory:
    """A store, an embedder and a background indexer behind a handful of verbs. Safe to use from many threads."""

    def __init__(self, store: Store, embedder: Embedder, config: Config, *, as_configured: bool = False) -> None:
        """`as_configured`: the embedder is the one that the settings ask for, so that a second can be made of them."""
        self._store = store
        self._as_configured = as_configured
        self._embedder = embedder
        self._config = config
        counter, assembly = make_counter(config.assembly.tokenizer), config.assembly
        self._masking = Masking(config.secrets)
        self._documents = AuthoredDocuments(
            store, counter, self._masking, hard_share=assembly.hard_share, startup_budget=assembly.startup_budget
        )
        self._receipts = ReceiptLog(store, counter, keep=assembly.kept_receipts)
        self._gate = Gatekeeper(store, embedder, config.gating, self._receipts.echoes)
        self._usage = Usage(store)
        building, excluding = UnderWay(), Excluding()
        self._building = building
        self._forgetting = Forgetting(store, self._receipts, excluding, building)
        self._counter = counter
        self._excluding = excluding
        self._making = threading.Lock()
        self._made: Compactor | None = None
        self._overflow = Overflow(
            config.compaction,
            self._compactor,
            lambda seconds: self._indexer.wait(seconds),
            lambda: self._indexer.notify(),
        )
        self._owner = os.getpid()
        self._indexer = Indexer(
            store, embedder, then=self._after_embedding, elsewhere=self._read_elsewhere, later=self._made_meanwhile
        )
        self._beside = Beside()
        self._recall = Recall(store, embedder, config.retrieval, lambda: self._indexer.switched, self._beside)
        self._builder = ContextBuilder(
            store, self._documents, self._recall, self._receipts, counter, assembly, self._masking, self._beside
        )
        self._indexer.start()
        self._ending = closed_at_exit(self._overflow.ease, self._leave)

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        *,
        config: Config | None = None,
        embedder: Embedder | None = None,
        on_mismatch: Literal["refuse", "reindex"] = "refuse",
    ) -> Memory:
        """Open a store, creating it when it is not there; `path` is a folder or a file.

        A store embedded by another model is refused unless `on_mismatch` is "reindex": then it is re-embedded in the
        background, searched by wording only meanwhile, and switched over in one step.
        """
        from libravdb_memory.store.sqlite.store import SqliteStore

        config = config or load_config()
        check_folder(config.summary)
        as_configured, embedder = embedder is None, embedder or make_embedder(config.embedding)
        store = SqliteStore.open(Path(path) if path is not None else config.db_path, settings=config.store)
        try:
            if on_mismatch == "refuse":
                _refuse_other_space(store, embedder)
            return cls(store, embedder, config, as_configured=as_configured)
        except BaseException:
            store.close()
            raise

    def close(self) -> None:
        """Finish what is under way and release the data file. Records not yet embedded are caught up next time."""
        if self._owner != os.getpid():
            return  # a forked child: everything open is its parent's
        closed_before(self._ending)
        self._overflow.stop()
        self._indexer.stop()
        if self._made is not None:
            self._made.close()
        self._let_go()
        self._embedder.close()

    def _leave(self, patience_s: float) -> None:
        """Close at the end of the program. Work in the background that does not end in time is left to itself, and the
        models with it."""
        if self._owner != os.getpid():
            return
        patience_ends = time.monotonic() + patience_s
        ended = self._overflow.stop(patience_s)
        ended = self._indexer.stop(max(patience_ends - time.monotonic(), 0.0)) and ended
        if ended and self._made is not None:
            self._made.close()
        self._let_go()
        if ended:
            self._embedder.close()

    def _let_go(self) -> None:
        self._beside.close()
        self._usage.flush()
        self._receipts.flush()
        self._store.close()

    @property
    def store(self) -> Store:
        """What lies below the verbs, for those who serve more than these."""
        return self._store

    @property
    def embedder(self) -> Embedder:
        return self._embedder

    @property
    def counter(self) -> TokenCounter:
        """What prompts are priced with."""
        return self._counter

    @property
    def masking(self) -> Masking:
        """What every text passes that is put into the store past these verbs."""
        return self._masking

    def stored_beside(self) -> None:
        """Records were put into the store past these verbs: they are embedded soon, like any."""
        self._refuse_closed()
        self._indexer.notify()

    def used(self, refs: Iterable[int]) -> None:
        """Count records as used, beside those that searches and contexts count by themselves."""
        self._refuse_closed()
        self._usage.note(refs)
        self._usage.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # ── turns in ─────────────────────────────────────────────────────────────────────────────────────────────────

    def ingest(
        self,
        text: str,
        *,
        user: str | None = None,
        session: str | None = None,
        role: str = "user",
        ts: int | datetime | None = None,
        id: str | None = None,
        speaker: str | None = None,
        metadata: Mapping[str, Json] | None = None,
        session_key: str | None = None,
        agent_id: str | None = None,
    ) -> Turn:
        """Store one turn, exactly but for its secrets; it is on disk when this returns.

        The same id in the same session with the same content is accepted again and changes nothing; with other
        content it is a ConflictError. `ts` defaults to now (milliseconds or a zoned datetime). `masked` of the turn
        tells which secrets were masked.
        """
        self._refuse_closed()
        now = _now_ms()
        said = checked_turn(
            text,
            user=resolve_namespace(user, session, session_key=session_key, agent_id=agent_id),
            session=session_name(session),
            role=role,
            ts=now if ts is None else milliseconds("ts", ts),
            turn_id=_new_id(now) if id is None else id,
            speaker=speaker,
            metadata=metadata,
        )
        turn, writes = self._written(said, ts_given=ts is not None)
        with prompt():
            commit = self._store.commit(writes)
        if not commit.fresh[0]:
            return replace(turn_of(commit.records[0]), masked=turn.masked)
        self._indexer.notify()
        self._overflow.notice(turn.user, turn.session, self._counter.count(turn.text))
        return turn

    def ingest_messages(self, messages: Sequence[Message], *, user: str, session: str) -> tuple[Turn, ...]:
        """Store those messages of a host that the session does not hold yet; many cost little more than one."""
        self._refuse_closed()
        namespace, name = resolve_namespace(user), session_name(session)
        missing = not_held(self._store, self._masking, namespace, name, messages)
        stored: list[Turn] = []
        for start in range(0, len(missing), _TOGETHER):
            stored += self._stored_together(missing[start : start + _TOGETHER], namespace, name)
        return tuple(stored)

    def _stored_together(self, said: Sequence[Said], namespace: str, session: str) -> list[Turn]:
        now = _now_ms()
        turns = [
            checked_turn(
                each.text,
                user=namespace,
                session=session,
                role=each.role,
                ts=each.ts or now,
                turn_id=each.id or _new_id(now),
                speaker=None,
                metadata=each.facts,
            )
            for each in said
        ]
        written = [self._written(turn, ts_given=each.ts is not None) for turn, each in zip(turns, said, strict=True)]
        try:
            with prompt():
                self._store.commit([write for _, writes in written for write in writes])
        except ConflictError:  # a host that lets a message be edited keeps its id: both versions were said
            if len(said) > 1:
                return [turn for each in said for turn in self._stored_together([each], namespace, session)]
            return self._stored_together([replace(said[0], id=None)], namespace, session)
        self._indexer.notify()
        for turn, _ in written:
            self._overflow.notice(turn.user, turn.session, self._counter.count(turn.text))
        return [turn for turn, _ in written]

    def _written(self, said: Turn, *, ts_given: bool) -> tuple[Turn, list[Write]]:
        """The turn as it is kept, and what puts it there."""
        turn = self._masking.turn(said)
        writes: list[Write] = [Put(draft_of(turn), append_only=True, ts_given=ts_given)]
        if turn.masked:
            key = Key(history_of(turn.user), turn.id, turn.session)
            writes.append(Mark(key, MASKED, self._masking.note(said, turn.masked), overwrite=False))
        return turn, writes

    # ── turns out ────────────────────────────────────────────────────────────────────────────────────────────────

    def search(
        self,
        query: str,
        *,
        user: str | None = None,
        session: str | None = None,
        k: int = 10,
        scopes: Sequence[Scope] | None = None,
        role: str | None = None,
        since: int | datetime | None = None,
        until: int | datetime | None = None,
        session_key: str | None = None,
        agent_id: str | None = None,
        count_use: bool = True,
    ) -> Hits:
        """The turns that answer a question best, by meaning and wording, each with the parts of its score.

        Without `scopes`, naming a session searches that session and leaving it out the user's whole history. The scope
        "summaries" looks in those of that session or user, at every level; a summary is found as a turn of the role
        "summary", said when the last turn below it was. With `count_use` False nothing is noted of what was found, for
        those who look at the memory rather than use it.
        """
        self._refuse_closed()
        check_count("k", k)
        checked_text("query", query)
        namespace = resolve_namespace(user, session, session_key=session_key, agent_id=agent_id)
        where = where_of(session_of(given_session(session), scopes), role, since, until)
        if k == 0 or not query.strip():
            return Hits(())
        turns = Source(history_of(namespace), "history", "user", where)
        sources = [turns] if scopes is None or set(scopes) != {"summaries"} else []
        if "summaries" in (scopes or ()):
            sources.append(Source(summaries_of(namespace), "summary", "session", where))
        recalled = self._recall.ranked(self._recall.read(query, [turns]), sources, k, _now_ms())
        if count_use and self._usage.note(item.record.ref for item in recalled.items[:_READ]):
            self._indexer.notify()
        masked = self._store.marks([item.record.ref for item in recalled.items], MASKED)
        return Hits(
            tuple(
                Hit(item.record.id, item.record.text, item.score, item.parts, _as_turn(item.record, masked))
                for item in recalled.items
            ),
            recalled.degraded,
        )

    def get(self, id: str, *, user: str | None = None, session: str | None = None) -> Turn:
        """The turn with that id, exactly as it was stored."""
        self._refuse_closed()
        record = self._one_record(id, user, session)
        return masked_in(turn_of(record), self._store.marks([record.ref], MASKED).get(record.ref))

    def original(self, id: str, *, user: str | None = None, session: str | None = None) -> Turn:
        """The turn with that id as it was said, secrets included. Raises NotFoundError where it was not kept."""
        self._refuse_closed()
        record = self._one_record(id, user, session)
        return original_of(turn_of(record), self._store.marks([record.ref], MASKED).get(record.ref))

    # ── authored documents ───────────────────────────────────────────────────────────────────────────────────────

    def load_document(self, name: str | Path, text: str | None = None, *, core: bool | None = None) -> Partition:
        """Load or replace an authored document: the file at that path, or `text` under that name.

        Its rules are in the next assembled context. Raises RulesOverrunError when its hard rules do not fit.
        """
        self._refuse_closed()
        title = checked_name("document", str(name))
        if text is None:
            try:
                text = Path(name).read_bytes().decode()
            except (OSError, UnicodeDecodeError) as error:
                raise InvalidInputError("document", f"{name} cannot be read: {error}") from error
        loaded = self._documents.load(title, checked_text("text", text), core=core)
        self._indexer.notify()
        return loaded

    def remove_document(self, name: str | Path) -> None:
        self._refuse_closed()
        self._documents.remove(str(name))

    def change_documents(
        self, load: Sequence[Document] = (), remove: Sequence[str] = ()
    ) -> tuple[Partition | RulesOverrunError, ...]:
        """Load and remove authored documents in one commit. One outcome for each document to load: one whose hard rules
        do not fit is refused alone. Names that are not there are passed over."""
        self._refuse_closed()
        for document in load:
            checked_name("document", document.name)
            checked_text("text", document.text)
        outcomes = self._documents.change(load, remove)
        self._indexer.notify()
        return outcomes

    def sourced_documents(self, root: str | None = None) -> dict[str, Mapping[str, Json]]:
        """What is known of the documents that were read from a root of sources, or from any, by their names."""
        self._refuse_closed()
        return self._documents.sourced(root)

    def documents(self) -> dict[str, Partition]:
        """Every loaded document, divided into tiers, in the order in which they were first loaded."""
        self._refuse_closed()
        return self._documents.documents()

    # ── prompts ──────────────────────────────────────────────────────────────────────────────────────────────────

    def context(
        self,
        prompt: str,
        *,
        user: str | None = None,
        session: str | None = None,
        budget: int | None = None,
        messages: Sequence[Message] | None = None,
        mode: Mode = "augment",
        session_key: str | None = None,
        agent_id: str | None = None,
    ) -> Context:
        """Assemble what the model should see beside this prompt, within a budget of tokens.

        In mode `augment` the host's messages stay as they are and the budget is for memory's text. In mode `own` the
        budget covers everything: `messages` of the result are those to keep, and whatever leaves is stored first.
        """
        self._refuse_closed()
        checked_text("prompt", prompt)
        if mode not in ("augment", "own"):
            raise InvalidInputError("mode", f"must be augment or own, not {mode!r}")
        tokens = self._config.assembly.startup_budget if budget is None else budget
        check_count("budget", tokens)
        request = Request(
            prompt=prompt,
            namespace=resolve_namespace(user, session, session_key=session_key, agent_id=agent_id),
            session=session_name(session),
            budget=tokens,
            now_ms=_now_ms(),
            messages=checked_messages(messages),
            mode=mode,
        )
        if mode == "own":
            leaving = self._builder.dropped(request)
            self.ingest_messages(leaving, user=request.namespace, session=request.session)
        with self._building:
            built = self._builder.build(request)
        self._usage.note(built.used)
        self._indexer.notify()
        return built

    def why(self, receipt_id: str) -> Receipt:
        """The receipt of an assembly: everything that was offered, and by which settings."""
        self._refuse_closed()
        return self._receipts.get(receipt_id)

    def why_not(self, receipt_id: str, record_id: str, *, session: str | None = None) -> WhyNot:
        """Why a record is not in that prompt. Where two sessions have the id, name one, or write `session/id`."""
        replayed = self.replay(receipt_id)
        if replayed.assembly is None:
            return WhyNot(record_id, replayed.reason)
        return why_not(replayed.assembly, record_id, given_session(session))

    def replay(self, receipt_id: str) -> Replay:
        """Assemble once more from the receipt alone."""
        self._refuse_closed()
        return self._receipts.replay(self._receipts.get(receipt_id))

    def receipts(self, *, user: str | None = None, session: str | None = None, limit: int = 20) -> tuple[Receipt, ...]:
        """The newest receipts of a user, or of one session, newest first."""
        self._refuse_closed()
        check_count("limit", limit)
        return self._receipts.recent(resolve_namespace(user, session), limit, given_session(session))

    def explain_gate(self, text: str, *, user: str | None = None, session: str | None = None) -> Decision:
        """What the gate would decide on this text now, with every signal and the patterns that fired."""
        self._refuse_closed()
        namespace = resolve_namespace(user, session)
        return self._gate.explain(checked_text("text", text), namespace, history_of(namespace))

    # ── old turns ────────────────────────────────────────────────────────────────────────────────────────────────

    def compact(
        self,
        *,
        user: str | None = None,
        session: str | None = None,
        rebuild: bool = False,
        progress: Progress | None = None,
        session_key: str | None = None,
        agent_id: str | None = None,
    ) -> Compaction:
        """Cover the older turns of a session with summaries; every turn stays, exact, below them.

        Declines with a reason where there is nothing to do. `rebuild` makes all summaries of the session anew. Raises
        NotFoundError where the session has no turns.
        """
        self._refuse_closed()
        namespace = resolve_namespace(user, session, session_key=session_key, agent_id=agent_id)
        name = session_name(session)
        self._tail_of(namespace, name, given_user(user))
        try:
            return self._compactor().compact(
                namespace, name, _now_ms(), lambda: self._indexer.stopped, progress, rebuild=rebuild
            )
        finally:
            self._indexer.notify()

    def expand(
        self,
        id: str,
        *,
        user: str | None = None,
        session: str | None = None,
        depth: int | None = None,
        limit: int = 200,
        after: str | None = None,
    ) -> Expansion:
        """The exact turns below a summary, in order; with a depth, what lies so many levels below it.

        `after` is the cursor of the page before.
        """
        self._refuse_closed()
        for name, value in (("depth", 1 if depth is None else depth), ("limit", limit)):
            check_count(name, value, least=1)
        namespace = None if given_user(user) is None else resolve_namespace(user)
        node = lineage.find_summary(self._store, checked_name("id", id), namespace, given_session(session))
        return lineage.expand(self._store, node, depth=depth, limit=limit, after=after)

    def history(self, *, user: str | None = None, session: str | None = None) -> History:
        """A session as it stands: its summaries as trees, and the turns that nothing covers."""
        self._refuse_closed()
        namespace, name = resolve_namespace(user, session), session_name(session)
        return lineage.history(self._store, namespace, name, self._tail_of(namespace, name, given_user(user)))

    def guidance(
        self, *, user: str | None = None, session: str | None = None, limit: int = 200, after: str | None = None
    ) -> Guidance:
        """The rules of a user, or of one session, that are kept word by word, in the order in which they were kept.

        `after` is the cursor of the page before. A rule goes when its turn is erased.
        """
        self._refuse_closed()
        check_count("limit", limit, least=1)
        namespace = resolve_namespace(user, session)
        return shards.guidance(self._store, namespace, given_session(session), limit=limit, after=after)

    # ── forgetting ───────────────────────────────────────────────────────────────────────────────────────────────

    def erase(self, id: str | None = None, *, user: str | None = None, session: str | None = None) -> Erasure:
        """Erase for good: one turn by its id, a whole session, or everything of a user; and with it every summary,
        rule and receipt made from it, the copies that hosts made of it, and notes that name it.

        Raises NotFoundError when there is nothing to erase.
        """
        self._refuse_closed()
        if id is not None:
            gone = self._erased_turn(id, user, session)
        elif session is not None:
            name, namespace = session_name(checked_name("session", session)), resolve_namespace(user, session)
            gone = self._forgetting.session(namespace, name)
            self._overflow.forget(namespace, name)
        elif user is not None:
            namespace = resolve_namespace(checked_name("user", user))
            gone = self._forgetting.namespace(namespace)
            self._overflow.forget(namespace, None)
        else:
            raise InvalidInputError("erase", "name a turn, a session or a user")
        if gone.records == 0:
            raise nothing_to_erase(user, session) if id is None else NotFoundError(id)
        self._indexer.notify()
        return gone

    def erase_beside(self, record: Record) -> Erasure:
        """Erase for good what is no turn: a summary with all above it, a rule, a dream, what a host put there; and
        every receipt that quotes it. Turns stay, and what was made from them may be made from them again."""
        self._refuse_closed()
        if namespace_of(record.collection) is not None:
            raise InvalidInputError("record", f"{record.id!r} is a turn: erase takes it, with what was made from it")
        gone = self._forgetting.beside(record)
        self._indexer.notify()
        return gone

    def quoting(
        self,
        selection: Selection,
        said: Iterable[str] = (),
        patience_s: float = 0.15,
        *,
        made: Iterable[str] = (),
    ) -> tuple[int, bool]:
        """How many receipts quote any of these keys and groups, of the words `said` by these turns, or of what was
        `made` of them, and would go with them; as far as they could be read in that time, and whether all were."""
        self._refuse_closed()
        return self._receipts.foreseen(Erased(selection, said, made, partial(text_of, self._store)), patience_s)

    # ── keeping ──────────────────────────────────────────────────────────────────────────────────────────────────

    def wait(self, timeout_s: float | None = None, *, compaction: bool = False) -> bool:
        """Until everything stored so far is embedded, judged and counted, and compacted too if asked for; False when
        the time is up or an engine fails (see status)."""
        self._refuse_closed()
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        compacted = not compaction or self._overflow.wait(timeout_s)
        left = None if deadline is None else max(deadline - time.monotonic(), 0.0)
        done = self._indexer.wait(left) and compacted
        self._usage.flush()
        return done

    def status(self) -> Status:
        self._refuse_closed()
        collections = self._store.collections()
        histories = [info for info in collections if namespace_of(info.name) is not None]
        return Status(
            path=str(self._store.path),
            namespaces=len(histories),
            turns=sum(info.count for info in histories),
            model=self._embedder.space.label,
            model_ready=self._embedder.ready,
            searches_by_meaning=self._indexer.switched,
            indexing=self._indexer.state,
            gate=GateStatus(*(self._store.count_marks(None, label) for label in (JUDGED, DURABLE, REGRET))),
            texts=sum(info.count for info in collections if info.searchable),
            summaries=sum(info.count for info in collections if summarised_namespace_of(info.name) is not None),
            rules=sum(info.count for info in collections if guided_namespace_of(info.name) is not None),
            summariser=name_of(self._config.summary),
            compaction=self._compaction(),
            store=self._store.status(),
        )

    def verify(self, progress: Progress | None = None) -> Verification:
        """Re-derive every hash, and check every index, every summary and every receipt against the records."""
        self._refuse_closed()
        return receipts.verified(self._store, verifying.verified(self._store, self._store.verify(progress)))

    def backup(self, target: str | Path, progress: Progress | None = None) -> None:
        """A consistent copy of the store in one file, taken while it is in use."""
        self._refuse_closed()
        self._store.backup(Path(target), progress)

    def export(self, out: IO[str], progress: Progress | None = None) -> int:
        """Everything as JSON Lines; returns the number of lines."""
        self._refuse_closed()
        return export_to(out, self._store, progress)

    def import_(self, lines: Iterable[str], progress: Progress | None = None) -> ImportReport:
        """Add an export to this store, secrets masked; what is there already stays as it is."""
        self._refuse_closed()
        try:
            return import_lines(self._store, lines, progress, Arrivals(self._store, self._masking, self._documents))
        finally:
            self._documents.reread()
            self._indexer.notify()

    def reindex(self, progress: Progress | None = None) -> None:
        """Wait until every record is embedded with the configured model and searches use it.

        The work goes on in the background and survives a restart; this call only watches it.
        """
        self._refuse_closed()
        total = self._indexer.state.pending
        while not self._indexer.wait(timeout_s=0.2):
            state = self._indexer.state
            if state.failure is not None:
                raise EngineError(f"re-embedding stands still: {state.failure}")
            if progress:
                progress(max(total - state.pending, 0), max(total, state.pending))
        if progress:
            progress(total, total)

    def rebuild_indexes(self, progress: Progress | None = None) -> None:
        """Make the text index and the vector indexes anew from the records."""
        self._refuse_closed()
        self._store.rebuild_indexes(progress)

    # ── steps ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _after_embedding(self, space: Space) -> None:
        self._gate.advance(space)
        self._receipts.flush()
        self._usage.flush(least=ENOUGH)

    def _compactor(self) -> Compactor:
        """Made when it is first needed: reading and writing turns needs none of what it imports."""
        with forks_held_back():  # a child without this thread could never import what is only half there
            from libravdb_memory.compacting import Compactor

        with self._making:
            if self._made is None:
                config, space = self._config, self._embedder.space.fingerprint
                check_key(config.summary)
                self._made = Compactor(
                    self._store,
                    self._counter,
                    config.compaction,
                    config.assembly,
                    self._excluding,
                    self._maker(),
                    space,
                    self._indexer.notify,
                )
            return self._made

    def _compaction(self) -> OverflowState:
        """What happens by itself, and what was asked for."""
        state = self._overflow.state
        sessions = () if self._made is None else tuple(AtWork(*name) for name in self._made.sessions)
        return replace(state, running=state.running or bool(sessions), sessions=sessions)

    def _read_elsewhere(self, texts: Sequence[str]) -> Readings | None:
        """What is stored while something is compacted is embedded where that is done."""
        return None if self._made is None else self._made.read(texts)

    def _made_meanwhile(self) -> Sequence[str]:
        """Summaries are embedded once the compaction that makes them is done: they are long, and it would take half as
        long again."""
        return () if self._made is None or not self._made.busy else (summaries_of(""),)

    def _maker(self) -> Making:
        """In a process of its own, where the embedder can be made there too and takes any time."""
        with forks_held_back():
            from libravdb_memory.compacting import newest_rules
            from libravdb_memory.compacting.making_apart import MakingApart, Recipe, is_apart

        config, rules_of = self._config, partial(newest_rules, self._store)
        space = self._embedder.space.fingerprint
        recipe = Recipe(space, config.embedding, config.summary, config.compaction, config.assembly.tokenizer)
        here = partial(recipe.maker, self._embedder, self._counter, rules_of)
        if self._as_configured and is_apart(config.embedding, config.compaction):
            return MakingApart(recipe, rules_of, here, lambda: self._overflow.is_live)
        return here()

    def _refuse_closed(self) -> None:
        """Before a model is asked: in a forked child even loading one could wait for ever for a thread left behind."""
        if self._indexer.stopped or self._owner != os.getpid():
            raise StoreClosedError(self._store.path)

    def _tail_of(self, namespace: str, name: str, user: str | None) -> tuple[Record, ...]:
        """The newest turns of a session. Raises NotFoundError where there are none."""
        tail = tail_of(self._store, self._counter, self._config.assembly, history_of(namespace), name)
        if not tail:
            whose = f" of the user {user!r}" if user else ""
            raise NotFoundError(name, f"the session {name!r}{whose} has no turns")
        return tail

    def _erased_turn(self, turn_id: str, user: str | None, session: str | None) -> Erasure:
        try:
            return self._forgetting.turn(self._one_record(turn_id, user, session))
        except NotFoundError:
            if given_user(user) is None or given_session(session) is None:
                raise
            left = self._forgetting.left(resolve_namespace(user), session_name(session), turn_id)
            if left.records == 0:
                raise
            return left

    def _one_record(self, record_id: str, user: str | None, session: str | None) -> Record:
        checked_name("id", record_id)
        history = None if given_user(user) is None else history_of(resolve_namespace(user))
        group = given_session(session)
        found = self._store.find(record_id)
        turns = [
            record
            for record in found
            if namespace_of(record.collection) is not None
            and history in (None, record.collection)
            and group in (None, record.group)
        ]
        if not turns:
            raise NotFoundError(record_id, next((told for each in found if (told := _no_turn(each, history))), ""))
        if len(turns) > 1:
            raise AmbiguousIdError(record_id, len(turns))
        return turns[0]


def _refuse_other_space(store: Store, embedder: Embedder) -> None:
    active = next((space for space in store.spaces() if space.active), None)
    if active is not None and active.fingerprint != embedder.space.fingerprint and store.status().records:
        raise FingerprintMismatchError(active.label, embedder.space.label)


def _as_turn(record: Record, masked: Mapping[int, Mapping[str, Json]]) -> Turn:
    turn = spoken(node_of(record)) if is_summary(record) else turn_of(record)
    return masked_in(turn, masked.get(record.ref))


def _new_id(now_ms: int) -> str:
    return f"{now_ms:012x}{secrets.token_hex(5)}"


def _no_turn(record: Record, history: str | None) -> str:
    """What a record is that was made of turns in this history, or in any."""
    summarised, guided = (of(record.collection) for of in (summarised_namespace_of, guided_namespace_of))
    namespace = guided if summarised is None else summarised
    if namespace is None or history not in (None, history_of(namespace)):
        return ""
    if guided is None:
        return f"{record.id!r} is a summary, not a turn; expand shows the turns below it"
    rule = shards.rule_of(record)
    return f"{record.id!r} is the rule kept of the turn {rule.turn!r}: get the turn by that id; guidance lists rules"


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
