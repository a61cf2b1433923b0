"""What the methods of the inspector's views tell, as types that schemas are made from. Times are in milliseconds."""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias, TypedDict

from libravdb_memory.identity import Json

Tier: TypeAlias = Literal["hard", "soft", "tail", "elevated", "recalled", "recovered"]

# ── turns and summaries ──────────────────────────────────────────────────────────────────────────────────────────


class Judgement(TypedDict):
    """What the gate made of a turn."""

    score: float
    durable: bool
    echo: bool
    signals: dict[str, Json]


class TurnRow(TypedDict):
    """A turn as it is listed; a text may be cut, `length` is that of the whole."""

    id: str
    userId: str
    sessionId: str
    role: str
    speaker: str | None
    ts: int
    text: str
    length: int
    truncated: bool
    tokens: int
    masked: list[str]
    gate: Judgement | None
    regretted: bool
    coveredBy: str | None
    cursor: str


class FoundRow(TurnRow):
    """`bar` are the addends of the score."""

    score: float
    parts: dict[str, float]
    bar: dict[str, float]


class Certificate(TypedDict):
    """Which facts of the turns a summary still tells."""

    facts: int
    kept: int
    pinned: int
    dropped: list[Json]
    characters: int
    unread: int
    share: float


class NodeRow(TypedDict):
    """A summary."""

    id: str
    level: int
    turns: int
    tokens: int
    sourceTokens: int
    confidence: float
    align: float
    cover: float
    method: str
    engine: str
    compactedAt: int
    children: list[str]
    firstTs: int
    lastTs: int
    certificate: Certificate
    firstTurn: str
    lastTurn: str
    parent: str | None
    preview: str


class Tail(TypedDict):
    count: int
    firstTurn: str | None
    firstTs: int | None


class Boundary(TypedDict):
    turn: str
    ts: int


class LatestTurns(TypedDict):
    turns: list[TurnRow]
    sequence: int


class TurnsPage(TypedDict):
    turns: list[TurnRow]
    cursor: str | None
    tail: Tail


class SessionGraph(TypedDict):
    userId: str
    sessionId: str
    turns: int
    tail: Tail
    boundary: Boundary | None
    nodes: list[NodeRow]
    cursor: str | None


class Found(TypedDict):
    """`total` is how many were ranked, at most 200."""

    results: list[FoundRow]
    total: int
    cursor: str | None
    degraded: list[str]
    tookMs: float


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────


class NamespaceRow(TypedDict):
    userId: str
    turns: int
    sessions: int
    summaries: int
    lastTs: int | None


class NamespacesPage(TypedDict):
    namespaces: list[NamespaceRow]
    total: int
    cursor: str | None


class SessionRow(TypedDict):
    """`tokens` is an estimate by length."""

    sessionId: str
    turns: int
    tokens: int
    firstTs: int
    lastTs: int
    summaries: int


class SessionsPage(TypedDict):
    userId: str
    sessions: list[SessionRow]
    total: int
    cursor: str | None


# ── prompts ──────────────────────────────────────────────────────────────────────────────────────────────────────


class TierUse(TypedDict):
    limit: int
    used: int


class Place(TypedDict):
    """What an item is known by in several prompts."""

    tier: Tier
    sessionId: str
    id: str


class Offered(Place):
    """Something that was offered to a prompt."""

    score: float | None
    parts: dict[str, float]
    bar: dict[str, float]
    role: NotRequired[str]
    speaker: NotRequired[str | None]
    ts: NotRequired[int]
    text: NotRequired[str]


class PromptItem(Offered):
    """`start` and `end` are places in the text, in characters."""

    tokens: int
    start: int
    end: int


class PromptRejection(Offered):
    """`margin` is by how much it failed: tokens for "budget", similarity for the similarity bound."""

    reason: str
    margin: float


class Overrun(TypedDict):
    """The parts that must be there exceed the budget."""

    reason: str
    budget: int
    hardTokens: int
    tailTokens: int


class PromptFacts(TypedDict):
    receiptId: str
    userId: str
    sessionId: str | None
    prompt: str
    createdMs: int
    counterId: str
    notes: list[str]
    identical: bool
    reason: str
    originalBudget: int
    tokens: int | None
    budget: int
    tiers: dict[str, TierUse]
    degraded: Overrun | None


class PromptView(PromptFacts):
    """`text` is null where it cannot be assembled again."""

    text: str | None
    items: list[PromptItem]
    rejections: list[PromptRejection]
    entered: list[Place]
    left: list[Place]


class Side(TypedDict):
    tokens: int
    score: float | None


class Pair(Place):
    text: str
    left: Side
    right: Side


class Comparison(TypedDict):
    left: PromptFacts
    right: PromptFacts
    both: list[Pair]
    onlyLeft: list[PromptItem]
    onlyRight: list[PromptItem]


# ── rules ────────────────────────────────────────────────────────────────────────────────────────────────────────


class RulePlace(TypedDict):
    """`text` are the words of the rule; `node` is the ordinal of its block."""

    document: str
    line: int
    node: int
    text: str


class Contradiction(TypedDict):
    """`action` is what both are about, in normal form."""

    action: str
    obligatory: list[RulePlace]
    forbidden: list[RulePlace]


class Duplicate(TypedDict):
    """`rule` is in normal form."""

    rule: str
    places: list[RulePlace]


class TierTokens(TypedDict):
    hard: int
    soft: int
    lore: int


class DocumentRow(TypedDict):
    name: str
    core: bool
    lore: bool
    bytes: int
    blocks: int
    tokens: TierTokens
    contradictions: int
    duplicates: int
    problem: str | None


class RuleBudget(TypedDict):
    tokens: int
    hardLimit: int
    hardUsed: int
    softLimit: int
    softUsed: int


class Documents(TypedDict):
    documents: list[DocumentRow]
    budget: RuleBudget
    contradictions: list[Contradiction]
    duplicates: list[Duplicate]


class Marked(TypedDict):
    modality: str
    start: int
    end: int


class Block(TypedDict):
    id: str
    ordinal: int
    line: int
    kind: str
    tier: Literal["hard", "soft", "lore"]
    modalities: list[str]
    marks: list[Marked]
    tokens: int
    fits: bool
    promoted: bool
    text: str
    contradicts: bool
    repeats: bool


class Document(TypedDict):
    name: str
    core: bool
    lore: bool
    text: str
    blocks: list[Block]
    contradictions: list[Contradiction]
    duplicates: list[Duplicate]


# ── the gate ─────────────────────────────────────────────────────────────────────────────────────────────────────

Bin = TypedDict("Bin", {"from": float, "to": float, "count": int, "durable": int, "wanted": int})


class Regret(TypedDict):
    refused: int
    regretted: int
    kept: int
    used: int
    rate: float


class Step(TypedDict):
    start: float
    useful: float
    weight: float


class Calibration(TypedDict):
    steps: list[Step]
    proposed: float
    target: float


class GateReport(TypedDict):
    """`judged` and `durable` are of all turns, the rest of the newest `window`."""

    threshold: float
    judged: int
    durable: int
    window: int
    bins: list[Bin]
    regret: Regret
    calibration: Calibration | None


class Fired(TypedDict):
    family: str
    pattern: str
    weight: float
    spans: list[list[int]]


class Explanation(TypedDict):
    score: float
    durable: bool
    threshold: float
    signals: dict[str, float]
    fired: list[Fired]
    heard: str


# ── erasing, jobs, health ────────────────────────────────────────────────────────────────────────────────────────


class AlsoGone(TypedDict):
    kind: Literal["summary", "rule"]
    id: str
    preview: str


class ErasePreview(TypedDict):
    """`receipts` is the least that goes where `receiptsExact` is false."""

    turns: int
    sessions: int
    summaries: int
    rules: int
    receipts: int
    receiptsExact: bool
    copies: int
    sample: list[TurnRow]
    alsoNamed: list[AlsoGone]
    uncovered: int


class JobRow(TypedDict):
    """`total` is 0 where it is not known."""

    id: str
    kind: str
    state: Literal["running", "done", "failed"]
    done: int
    total: int
    startedMs: int
    endedMs: int | None
    result: dict[str, Json] | None
    error: str | None


class OneJob(TypedDict):
    job: JobRow


class AllJobs(TypedDict):
    jobs: list[JobRow]


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


class GateCounts(TypedDict):
    judged: int
    durable: int
    regretted: int
    threshold: float


class Sizes(TypedDict):
    diskBytes: int
    vectorBytes: int
    residentBytes: int


class Indexing(TypedDict):
    pending: int
    failure: str | None
    unembeddable: int


class Model(TypedDict):
    label: str
    ready: bool
    searchesByMeaning: bool


class Compacting(TypedDict):
    waiting: int
    running: bool
    failure: str | None


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
    sources: list[dict[str, Json]]
    jobs: list[JobRow]
    defaults: Defaults
