"""The relevance of candidates to a question, from every kind of evidence at once.

For candidate c, with z the standardised value over the candidates (0 where all are alike):

    e(c) = sum of w_k · z_k(c)   over wording, pieces, meaning, meaning around, tokens, tokens around
         + sum of w_b · b(c)     over speaker, role, month, identifier, time, less that of short questions
    f(c) = e(c) + w_s · max of e in its session + w_n · max over three neighbours each way of .6^distance · e

"Around" lends a short turn part of what its neighbours say, since an answer often leaves out what it is about: a token
of the question is met by the turn itself, or by an earlier turn at .8, .65, .5, or by the next one at .6; after a turn
that asks, at .95. A question about what is prefers the newer among the best; one that names nobody wants the state of
a fact, so that there what meets the same tokens later supersedes what did before.

Laws: scores are finite for every input, and nothing depends on the order in which candidates come. The constants were
set by measurement (docs/retrieval.md), one set for every kind of talk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from libravdb_memory.retrieve.question import Question

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Rows = NDArray[np.intp]

_SCALE = 0.16
_ALIKE = 1e-9
_LENT_BY_EARLIER = (0.8, 0.65, 0.5)
_LENT_BY_A_QUESTION = 0.95
_LENT_BY_LATER = 0.6
_PIECES_BY_EARLIER = (0.7, 0.5)
_PIECES_BY_LATER = 0.5
_MEANING_LENT = 0.25
_SELF_CONTAINED_WORDS = 40.0
_SHORT_WORDS = 25.0
_OTHER_YEAR = 0.3
_REACH, _FADING = 3, 0.6
_BM25_K, _BM25_B = 1.2, 0.75
_LEAST_RARITY = 0.3
_NEWEST_AMONG = 20
_LEAST_COSINE = 0.05
_SAME_FACT, _SUPERSEDED_WITHIN = 0.95, 0.2
_JUST_ABOVE = 0.02  # more than age and use can take away again
_AN_HOUR_MS = 3_600_000
_NOBODY_IN_PARTICULAR = 0.5
"""The share of the role's weight when the question is in nobody's person."""
_NEUTRAL_ROLE = 0.5
_TOLD = 0.5
"""How far wording tells what meaning and tokens would say, where these are not known yet."""
_OF_VECTORS = ("meaning", "meaning_around")
_OF_TOKENS = ("pieces", "tokens", "tokens_around")


_KINDS: Mapping[str, frozenset[str]] = {
    "dense": frozenset({"meaning", "meaning_around", "tokens", "tokens_around"}),
    "lexical": frozenset({"wording", "pieces", "identifier"}),
    "around": frozenset({"session", "neighbours"}),
}
"""What remains of a score is how it fits who and when the question is about."""


@dataclass(frozen=True, slots=True)
class Weights:
    wording: float = 0.10
    pieces: float = 0.10
    meaning: float = 0.10
    meaning_around: float = 0.20
    tokens: float = 0.05
    tokens_around: float = 0.35
    speaker: float = 0.30
    role: float = 0.20
    month: float = 0.30
    identifier: float = 0.40
    time: float = 0.12
    question: float = 0.12
    session: float = 0.35
    neighbour: float = 0.20
    latest: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Candidates as columns. `before` and `after` are rows of this pool, -1 where the neighbour is not in it; `group`
    numbers sessions from 0; `words` is an estimate."""

    before: Rows
    after: Rows
    group: Rows
    ts: NDArray[np.int64]
    words: Floats
    asks: NDArray[np.bool_]
    roles: Sequence[str]
    speakers: Sequence[str]

    def __len__(self) -> int:
        return len(self.roles)


@dataclass(frozen=True, slots=True, eq=False)
class Signals:
    """What the searches found: `wording` a text score (0 where not found), `cosine` 0 where unknown, `match` and
    `count` as `late.interact` gives them, `lengths` in tokens, `identifiers` the share of the question's identifiers
    that a candidate holds letter by letter. Whose vector is not made yet is not `embedded`, whose tokens are not is not
    `read`: as long as others are, its wording stands for what is not known."""

    wording: Floats
    cosine: Floats
    identifiers: Floats
    match: Floats
    count: Floats
    lengths: Rows
    embedded: NDArray[np.bool_]
    read: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Weighed:
    """`parts` are the addends of the score, by name; `met` tells how well each candidate meets each token of the
    question, by itself or with what its neighbours lend it."""

    scores: Floats
    parts: Mapping[str, Floats]
    met: Floats

    def kinds(self, rows: Rows) -> dict[str, Floats]:
        """The addends of these rows by kind of evidence, what all candidates share aside: above that of the lowest."""
        lowest = int(np.argmin(self.scores))
        kinds = {name: np.zeros(rows.shape[0]) for name in _KINDS}
        for name, values in self.parts.items():
            kind = next((kind for kind, members in _KINDS.items() if name in members), None)
            if kind is not None:
                kinds[kind] += values[rows] - values[lowest]
        return kinds


def first_pass(pool: Pool, wording: Floats, cosine: Floats, identifiers: Floats, question: Question) -> Floats:
    """A quick score from what the searches already know, to choose whom to look at closely."""
    weights = Weights()
    priors = _priors(pool, identifiers, question, weights)
    found: Floats = np.array([0.3, 0.4]) @ _standard(np.array([wording, cosine]))
    total: Floats = np.sum([found, *priors.values()], axis=0)
    return total


def weigh(pool: Pool, signals: Signals, question: Question, weights: Weights) -> Weighed:
    if not signals.match.shape[1]:
        weights = _without_tokens(weights)
    lend = np.minimum(1.0, _SELF_CONTAINED_WORDS / np.maximum(pool.words, 1.0))
    match = _as_usual(signals.match, signals.read)
    met = _spread(pool, match, lend, _LENT_BY_EARLIER, _LENT_BY_LATER, _LENT_BY_A_QUESTION)
    evidence = _evidence(pool, signals, met, lend, weights)
    parts = evidence | _priors(pool, signals.identifiers, question, weights)
    own: Floats = np.sum(list(parts.values()), axis=0)
    parts["session"] = weights.session * _best_of_group(pool, own)
    parts["neighbours"] = weights.neighbour * _best_nearby(pool, own)
    return Weighed(own + parts["session"] + parts["neighbours"], parts, met)


def supported(pool: Pool, signals: Signals) -> NDArray[np.bool_]:
    """Whom to show at all: who is near in meaning, or shares words with the question, or stands beside such a one."""
    shares = (signals.wording > 0.0) | (signals.identifiers > 0.0) | (signals.count > 0.0).any(axis=1)
    own = shares | (signals.cosine >= _LEAST_COSINE)
    near = own.astype(np.float64)
    return own | (_shifted(near, pool.before) > 0.0) | (_shifted(near, pool.after) > 0.0)


def prefer_latest(scores: Floats, ts: NDArray[np.int64], strength: float) -> Floats:
    """Among the best, raise each by the share of them that is older, the more the better it is already; what is not
    among them keeps its place below."""
    if strength <= 0.0 or scores.shape[0] < 2:
        return scores
    best = np.argsort(-scores, kind="stable")[:_NEWEST_AMONG]
    low, high = scores[best[-1]], scores[best[0]]
    if not high > low:
        return scores
    standing = (scores[best] - low) / (high - low)
    older = (ts[best][None, :] < ts[best][:, None]).mean(axis=1)
    raised = scores.copy()
    raised[best] = low + (high - low) * standing * (1.0 + strength * older)
    return raised


def supersede(scores: Floats, ts: NDArray[np.int64], met: Floats) -> Floats:
    """Among the best, what was said at least an hour later and meets the same tokens of the question nearly as well is
    taken for the newer state of one fact, and ranks just above the older."""
    best = np.argsort(-scores, kind="stable")[:_NEWEST_AMONG]
    if best.shape[0] < 2 or not met.shape[1]:
        return scores
    standing, moments = scores[best].copy(), ts[best]
    reach = _SUPERSEDED_WITHIN * (standing[0] - standing[-1])
    alike = _alike(met[best]) >= _SAME_FACT
    for older in np.argsort(-standing, kind="stable").tolist():
        below = (standing < standing[older]) & (standing[older] - standing <= reach)
        newer = np.flatnonzero(below & alike[older] & (moments > moments[older] + _AN_HOUR_MS))
        by_age = newer[np.argsort(moments[newer], kind="stable")].tolist()
        for step, row in enumerate(by_age, start=1):
            standing[row] = standing[older] + _JUST_ABOVE * step / len(by_age)
    superseded = scores.copy()
    superseded[best] = standing
    return superseded


def _alike(rows: Floats) -> Floats:
    """Cosines of rows with each other."""
    unit = rows / np.maximum(np.sqrt((rows * rows).sum(axis=1, keepdims=True)), _ALIKE)
    cosines: Floats = unit @ unit.T
    return cosines


# ── evidence ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _without_tokens(weights: Weights) -> Weights:
    """Where no tokens can be compared, what is left has to tell more."""
    lost = weights.pieces + weights.tokens + weights.tokens_around
    return replace(
        weights,
        wording=weights.wording + 0.4 * lost,
        meaning=weights.meaning + 0.2 * lost,
        meaning_around=weights.meaning_around + 0.2 * lost,
    )


def _evidence(pool: Pool, signals: Signals, met: Floats, lend: Floats, weights: Weights) -> dict[str, Floats]:
    rarity = _rarity(signals.count)
    share = np.maximum(rarity, _LEAST_RARITY)
    share = share / share.sum() if share.shape[0] else share
    match = _as_usual(signals.match, signals.read)
    pieces = _as_usual(_saturated(signals) * rarity, signals.read)
    cosine = _as_usual(signals.cosine, signals.embedded)
    around = cosine + _MEANING_LENT * lend * (_shifted(cosine, pool.before) + _shifted(cosine, pool.after))
    evidence: dict[str, tuple[float, Floats]] = {
        "wording": (weights.wording, signals.wording),
        "pieces": (
            weights.pieces,
            _spread(pool, pieces, lend, _PIECES_BY_EARLIER, _PIECES_BY_LATER, 0.0).sum(axis=1),
        ),
        "meaning": (weights.meaning, cosine),
        "meaning_around": (weights.meaning_around, around / (1.0 + 2.0 * _MEANING_LENT * lend)),
        "tokens": (weights.tokens, match @ share),
        "tokens_around": (weights.tokens_around, met @ share),
    }
    standard = dict(zip(evidence, _standard(np.array([values for _, values in evidence.values()])), strict=True))
    for known, names in ((signals.embedded, _OF_VECTORS), (signals.read, _OF_TOKENS)):
        if known.any():
            standard |= {name: np.where(known, standard[name], _TOLD * standard["wording"]) for name in names}
    return {name: weight * standard[name] for name, (weight, _) in evidence.items()}


def _as_usual(values: Floats, known: NDArray[np.bool_]) -> Floats:
    """The mean of those that are known in place of those that are not."""
    if known.all() or not known.any():
        return values
    filled = values.copy()
    filled[~known] = values[known].mean(axis=0)
    return filled


def _rarity(count: Floats) -> Floats:
    """The root of the inverse document frequency, by the candidates alone: what most of them share tells least."""
    having = (count > 0).sum(axis=0).astype(np.float64)
    rows = float(count.shape[0])
    rarity: Floats = np.sqrt(np.log(1.0 + (rows - having + 0.5) / (having + 0.5)))
    return rarity


def _saturated(signals: Signals) -> Floats:
    """BM25's law of diminishing returns, with the length in tokens."""
    lengths = np.maximum(signals.lengths, 1).astype(np.float64)
    usual = lengths.mean() if lengths.shape[0] else 1.0
    damping = _BM25_K * (1.0 - _BM25_B + _BM25_B * lengths / usual)
    return signals.count * (_BM25_K + 1.0) / (signals.count + damping[:, None])


def _spread(
    pool: Pool,
    values: Floats,
    lend: Floats,
    by_earlier: Sequence[float],
    by_later: float,
    by_a_question: float,
) -> Floats:
    """Each value, or what the turns around it lend, whichever is more."""
    lent: Floats = values.copy()
    row = pool.before
    for step, share in enumerate(by_earlier):
        shares = np.full(len(pool), share)
        if step == 0 and by_a_question:
            shares[_shifted(pool.asks.astype(np.float64), row) > 0] = by_a_question
        lent = np.maximum(lent, (lend * shares)[:, None] * _shifted(values, row))
        row = _step(pool.before, row)
    return np.maximum(lent, (lend * by_later)[:, None] * _shifted(values, pool.after))


# ── priors ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _priors(pool: Pool, identifiers: Floats, question: Question, weights: Weights) -> dict[str, Floats]:
    priors = {
        "role": weights.role * _role(pool, question),
        "short_question": -weights.question * (pool.asks & (pool.words <= _SHORT_WORDS)).astype(np.float64),
    }
    if len(question.named) == 1:
        said = [speaker.lower() == question.named[0] for speaker in pool.speakers]
        priors["speaker"] = weights.speaker * np.array(said, np.float64)
    if question.months:
        priors["month"] = weights.month * _month(pool, question)
    if question.identifiers:
        priors["identifier"] = weights.identifier * identifiers
    return priors


def _role(pool: Pool, question: Question) -> Floats:
    """People ask about what they said themselves, or about what they were told; without both sides it tells nothing."""
    if "assistant" not in pool.roles:
        return np.zeros(len(pool))
    wanted = "assistant" if question.person == "second" else "user"
    share = _NOBODY_IN_PARTICULAR if question.person == "other" else 1.0
    sides = ("user", "assistant", "tool")
    worth = [1.0 if role == wanted else 0.0 if role in sides else _NEUTRAL_ROLE for role in pool.roles]
    return share * np.array(worth)


def _month(pool: Pool, question: Question) -> Floats:
    worth = np.zeros(len(pool))
    for row, moment in enumerate(pool.ts.tolist()):
        said = datetime.fromtimestamp(moment / 1000, UTC) if moment else None
        if said is not None and said.month in question.months:
            worth[row] = 1.0 if not question.years or said.year in question.years else _OTHER_YEAR
    return worth


# ── session and neighbours ───────────────────────────────────────────────────────────────────────────────────────


def _best_of_group(pool: Pool, own: Floats) -> Floats:
    if not len(pool):
        return own
    best = np.full(int(pool.group.max()) + 1, -np.inf)
    np.maximum.at(best, pool.group, own)
    return best[pool.group]


def _best_nearby(pool: Pool, own: Floats) -> Floats:
    best = np.zeros(len(pool))
    earlier, later, fading = pool.before, pool.after, 1.0
    for _ in range(_REACH):
        fading *= _FADING
        best = np.maximum(best, fading * np.maximum(_shifted(own, earlier), _shifted(own, later)))
        earlier, later = _step(pool.before, earlier), _step(pool.after, later)
    return best


def _standard(values: Floats) -> Floats:
    """Along the last axis: centred, and scaled to the same spread; 0 where all are alike or something is no number."""
    if not values.shape[-1]:
        return values
    with np.errstate(invalid="ignore", over="ignore"):
        centred = values - values.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True))
        tellable = np.isfinite(spread) & (spread > _ALIKE)
        return np.where(tellable, centred * (_SCALE / np.where(tellable, spread, 1.0)), 0.0)


def _shifted(values: Floats, rows: Rows) -> Floats:
    """The values of those rows, 0 for none."""
    here = rows >= 0
    shape = (-1,) + (1,) * (values.ndim - 1)
    return np.where(here.reshape(shape), values[rows], 0.0)


def _step(links: Rows, rows: Rows) -> Rows:
    return np.where(rows >= 0, links[rows], -1)
