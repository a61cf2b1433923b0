"""How daemon, store and model are doing."""

from __future__ import annotations

from typing import Literal, TypedDict

from libravdb_memory.serve.results.keeping import Indexing, JobRow
from libravdb_memory.serve.results.summaries import Spent


class Alive(TypedDict):
    ok: bool
    message: str
    version: str
    pid: int


class Ready(TypedDict):
    ok: bool
    message: str
    sequence: int


class Counts(TypedDict):
    namespaces: int
    turns: int
    summaries: int
    documents: int
    records: int
    edges: int
    receipts: int


class JudgedCounts(TypedDict):
    judged: int
    durable: int
    regretted: int


class GateCounts(JudgedCounts):
    threshold: float


class Sizes(TypedDict):
    diskBytes: int
    vectorBytes: int
    residentBytes: int


class Model(TypedDict):
    label: str
    ready: bool
    searchesByMeaning: bool


class SessionAtWork(TypedDict):
    userId: str
    sessionId: str


class Compacting(TypedDict):
    """By itself, or because it was asked for. `failure` is that of the last that happened by itself, `modelFailure`
    says why the last summary that a model was wanted for is not its own, `sessions` are compacted at this time,
    `spent` tells what those by themselves asked of a model since the daemon began."""

    waiting: int
    running: bool
    failure: str | None
    modelFailure: str | None
    sessions: list[SessionAtWork]
    spent: Spent


class MethodLatency(TypedDict):
    """`buckets`: one for each bound and one beyond, not added up."""

    method: str
    count: int
    failed: int
    meanS: float | None
    p50S: float | None
    p95S: float | None
    buckets: list[int]


class Latency(TypedDict):
    boundsS: list[float]
    methods: list[MethodLatency]


class JournalEntry(TypedDict):
    id: str
    sessionId: str | None
    ts: int
    hook: str


class Defaults(TypedDict):
    budget: int
    tailTurns: int


class UnreadFile(TypedDict):
    """`path` is relative to the folder, empty for the folder itself."""

    path: str
    reason: str


class WatchedSource(TypedDict):
    """A watched folder. `failure` says why it is not up to date, `note` why it is polled."""

    root: str
    mode: Literal["starting", "watching", "polling", "missing", "stopped"]
    passes: int
    documents: int
    changes: int
    problems: list[UnreadFile]
    failure: str | None
    note: str


class Overview(TypedDict):
    version: str
    pid: int
    path: str
    http: str | None
    uptimeS: float
    counts: Counts
    gate: GateCounts
    sizes: Sizes
    indexing: Indexing
    indexes: dict[str, str]
    model: Model
    compaction: Compacting
    latency: Latency
    failures: dict[str, int]
    journal: list[JournalEntry]
    sources: list[WatchedSource]
    jobs: list[JobRow]
    defaults: Defaults


class VectorSpace(TypedDict):
    """Vectors of one model, of which one is in use."""

    key: int
    fingerprint: str
    label: str
    dimensions: int
    active: bool
    tokens: str


class StoreFacts(TypedDict):
    records: int
    collections: int
    edges: int
    sequence: int
    bytesOnDisk: int
    residentVectorBytes: int
    unembedded: int
    spaces: list[VectorSpace]
    indexes: dict[str, str]


class State(TypedDict):
    """The first eight are those of the reference."""

    ok: bool
    message: str
    turnCount: int
    memoryCount: int
    lifecycleHintCount: int
    gatingThreshold: float
    abstractiveReady: bool
    embeddingProfile: str
    version: str
    pid: int
    path: str
    namespaces: int
    turns: int
    summaries: int
    summariser: str
    modelReady: bool
    searchesByMeaning: bool
    indexing: Indexing
    compaction: Compacting
    gate: JudgedCounts
    store: StoreFacts
    sources: list[WatchedSource]
    http: str | None


class Figures(TypedDict):
    """In the text format of Prometheus."""

    text: str
    contentType: str


class Identified(TypedDict):
    """`namespaces` is null where everything is reached."""

    ok: bool
    name: str
    namespaces: list[str] | None


class PageLink(TypedDict):
    url: str
    expiresInS: float
