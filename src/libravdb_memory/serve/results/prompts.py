"""Prompts: what they are made of, what was left out, and how two of them differ."""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias, TypedDict

from libravdb_memory.identity import Json

Tier: TypeAlias = Literal["hard", "soft", "tail", "elevated", "recalled", "recovered"]


class TierUse(TypedDict):
    limit: int
    used: int


class ContextItem(TypedDict):
    tier: str
    id: str
    tokens: int
    start: int
    sessionId: str
    score: float | None
    parts: dict[str, float]


class BuiltContext(TypedDict):
    """What a model should see, and the receipt that explains it."""

    text: str
    messages: list[dict[str, Json]]
    kept: list[Json]
    tokens: int
    budget: int
    degraded: list[str]
    receiptId: str
    tiers: dict[str, TierUse]
    items: list[ContextItem]


class ReceiptRow(TypedDict):
    id: str
    sessionId: str | None
    prompt: str
    createdMs: int


class Receipts(TypedDict):
    receipts: list[ReceiptRow]


class Rejected(TypedDict):
    """`margin` is by how much it failed: tokens for "budget", similarity for the similarity bound."""

    tier: Tier
    id: str
    reason: str
    margin: float
    sessionId: str
    score: float | None
    parts: dict[str, float]


class WhyNot(TypedDict):
    recordId: str
    reason: str
    sessionId: str | None
    rejection: Rejected | None


class Replayed(TypedDict):
    identical: bool
    reason: str
    text: str | None


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


class PromptSettings(TypedDict):
    """Those it was assembled by."""

    hardShare: float
    softShare: float
    tailShare: float
    elevatedShare: float
    tailTurns: int
    tokenBudgetFraction: float
    startupBudget: int
    keptReceipts: int
    tokenizer: str
    guidanceSimilarity: float


class Explained(TypedDict):
    """A receipt; with the prompt, where it can be assembled again."""

    id: str
    userId: str
    sessionId: str | None
    prompt: str
    createdMs: int
    counterId: str
    inputsHash: str
    textHash: str
    settings: PromptSettings
    notes: list[str]
    identical: bool
    reason: str
    text: NotRequired[str]
    tokens: NotRequired[int]
    budget: NotRequired[int]
    tiers: NotRequired[dict[str, TierUse]]
    items: NotRequired[list[ContextItem]]
    rejections: NotRequired[list[Rejected]]
    tailStart: NotRequired[int]
    degraded: NotRequired[Overrun | None]
