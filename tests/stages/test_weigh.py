"""Every kind of evidence counts as much as its law says, and the scores are finite for every input."""

from __future__ import annotations

import calendar
import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from libravdb_memory.retrieve.question import Question, read_question
from libravdb_memory.retrieve.weigh import (
    Pool,
    Signals,
    Weighed,
    Weights,
    first_pass,
    prefer_latest,
    supersede,
    supported,
    weigh,
)

Floats = NDArray[np.float64]
PLAIN = read_question("port of staging")
WEIGHTS = Weights()
OWN_SESSION = 1 + WEIGHTS.session
"""Who stands alone in a session is the best of it."""


def ms(year: int, month: int, day: int = 1) -> int:
    return calendar.timegm((year, month, day, 12, 0, 0)) * 1000


def pool_of(size: int, *sessions: Sequence[int], **columns: Any) -> Pool:
    """So many turns of ten words by users; each of the sessions is a chain of rows, who is in none has his own."""
    before, after = np.full(size, -1, np.intp), np.full(size, -1, np.intp)
    group = np.arange(size, dtype=np.intp) + len(sessions)
    for number, rows in enumerate(sessions):
        group[list(rows)] = number
        before[list(rows[1:])] = rows[:-1]
        after[list(rows[:-1])] = rows[1:]
    given: dict[str, Any] = {
        "ts": np.zeros(size, np.int64),
        "words": np.full(size, 10.0),
        "asks": np.zeros(size, np.bool_),
        "roles": ["user"] * size,
        "speakers": [""] * size,
    }
    given |= {name: np.array(value) if name in ("ts", "words", "asks") else value for name, value in columns.items()}
    return Pool(before=before, after=after, group=group, **given)


def signals_of(size: int, **columns: Any) -> Signals:
    given: dict[str, Any] = {
        "wording": np.zeros(size),
        "cosine": np.zeros(size),
        "identifiers": np.zeros(size),
        "match": np.zeros((size, 0)),
        "count": np.zeros((size, 0)),
        "lengths": np.full(size, 10, np.intp),
        "embedded": np.ones(size, np.bool_),
        "read": np.ones(size, np.bool_),
    }
    return Signals(**given | {name: np.array(value) for name, value in columns.items()})


def shares(values: Floats) -> list[float]:
    """Standardised values as shares of the way from the lowest to the highest."""
    return ((values - values.min()) / (values.max() - values.min())).tolist()


def chained(*, topic: int, size: int, **columns: Any) -> Weighed:
    """One session of `size` turns and, last of all, a stranger; one token, met and held by the topic alone."""
    meets = np.zeros((size + 1, 1))
    meets[topic] = 1.0
    signals = signals_of(size + 1, match=meets, count=meets, cosine=meets[:, 0])
    return weigh(pool_of(size + 1, range(size), **columns), signals, PLAIN, WEIGHTS)


MET = {"match": [[0.9], [0.1], [0.0]], "count": [[1.0], [0.0], [0.0]]}


@pytest.mark.parametrize("wording", [0.0, 3.0])
@pytest.mark.parametrize(
    ("signal", "known", "columns"),
    [
        ("meaning", "embedded", {**MET, "cosine": [0.9, 0.1, 0.0]}),
        ("meaning_around", "embedded", {**MET, "cosine": [0.9, 0.1, 0.0]}),
        ("tokens", "read", MET),
        ("tokens_around", "read", MET),
        ("pieces", "read", MET),
    ],
)
def test_half_of_the_wording_stands_for_what_is_not_known_yet(
    signal: str, known: str, columns: dict[str, Any], wording: float
) -> None:
    def parts(*whose: bool) -> dict[str, Floats]:
        signals = signals_of(3, **columns, wording=[1.0, 1.0, wording], **{known: list(whose)})
        return dict(weigh(pool_of(3), signals, PLAIN, WEIGHTS).parts)

    assert parts(True, True, True)[signal][2] < 0.0
    some = parts(True, True, False)
    share = getattr(WEIGHTS, signal) / WEIGHTS.wording
    assert some[signal][2] == pytest.approx(0.5 * share * some["wording"][2])
    assert some[signal][0] == pytest.approx(-some[signal][1])
    assert parts(False, False, False)[signal].tolist() == parts(True, True, True)[signal].tolist()


# ── for every input ──────────────────────────────────────────────────────────────────────────────────────────────

any_float = st.floats(width=64) | st.sampled_from([0.0, 1.0, float("nan"), float("inf"), -float("inf"), 1e308])
QUESTIONS = [
    read_question(text, ("Ada", "Bo"))
    for text in (
        "port of staging",
        "What did I say in May 2023?",
        "What did you tell Ada about E1042 in June?",
        "Is Bo's v2.3.1 still the latest?",
    )
]


@st.composite
def cases(draw: st.DrawFn, numbers: st.SearchStrategy[float] = any_float, least: int = 0) -> tuple[Pool, Signals]:
    size = draw(st.integers(least, 7))
    tokens = draw(st.integers(0, 3))

    def column(elements: st.SearchStrategy[Any], kind: Any = np.float64, shape: Any = size) -> Any:
        return draw(arrays.arrays(kind, shape, elements=elements))

    def names(*known: str) -> list[str]:
        return draw(st.lists(st.sampled_from(known), min_size=size, max_size=size))

    links = st.integers(-1, size - 1) if size else st.just(-1)
    pool = Pool(
        before=column(links, np.intp),
        after=column(links, np.intp),
        group=column(st.integers(0, 2), np.intp),
        ts=column(st.sampled_from([0, ms(2023, 5), ms(2024, 5), ms(2023, 6)]), np.int64),
        words=column(st.sampled_from([0.0, 0.2, 10.0, 25.0, 26.0, 400.0])),
        asks=column(st.booleans(), np.bool_),
        roles=names("user", "assistant", "tool", "system", ""),
        speakers=names("Ada", "BO", "", "nobody"),
    )
    signals = Signals(
        wording=column(numbers),
        cosine=column(numbers),
        identifiers=column(st.floats(0, 1)),
        match=column(st.floats(0, 1), shape=(size, tokens)),
        count=column(st.sampled_from([0.0, 1.0, 2.0, 9.0]), shape=(size, tokens)),
        lengths=column(st.integers(0, 126), np.intp),
        embedded=column(st.booleans(), np.bool_),
        read=column(st.booleans(), np.bool_),
    )
    return pool, signals


@given(cases(), st.sampled_from(QUESTIONS))
def test_scores_are_finite_for_every_input(case: tuple[Pool, Signals], question: Question) -> None:
    pool, signals = case
    with np.errstate(all="ignore"):
        weighed = weigh(pool, signals, question, WEIGHTS)
        quick = first_pass(pool, signals.wording, signals.cosine, signals.identifiers, question)
    assert weighed.scores.shape == quick.shape == (len(pool),)
    assert np.isfinite(weighed.scores).all()
    assert np.isfinite(quick).all()
    assert all(np.isfinite(values).all() for values in weighed.parts.values())


@given(cases(st.floats(-1, 60)), st.sampled_from(QUESTIONS), st.randoms(use_true_random=False))
def test_the_order_in_which_candidates_come_changes_no_score(
    case: tuple[Pool, Signals], question: Question, chance: Any
) -> None:
    pool, signals = case
    order = np.arange(len(pool))
    chance.shuffle(order)
    moved, moved_signals = shuffled(pool, signals, order)
    scores = weigh(pool, signals, question, WEIGHTS).scores
    assert weigh(moved, moved_signals, question, WEIGHTS).scores.tolist() == pytest.approx(
        scores[order].tolist(), abs=1e-9
    )
    quick = first_pass(pool, signals.wording, signals.cosine, signals.identifiers, question)
    again = first_pass(moved, moved_signals.wording, moved_signals.cosine, moved_signals.identifiers, question)
    assert again.tolist() == pytest.approx(quick[order].tolist(), abs=1e-9)


def shuffled(pool: Pool, signals: Signals, order: NDArray[np.intp]) -> tuple[Pool, Signals]:
    """Row i of the result is row order[i] of the given one."""
    new_place = np.append(np.argsort(order), -1)
    moved = Pool(
        before=new_place[pool.before[order]],
        after=new_place[pool.after[order]],
        group=pool.group[order],
        ts=pool.ts[order],
        words=pool.words[order],
        asks=pool.asks[order],
        roles=[pool.roles[row] for row in order],
        speakers=[pool.speakers[row] for row in order],
    )
    return moved, Signals(**{name: getattr(signals, name)[order] for name in Signals.__dataclass_fields__})


@given(cases(st.floats(-1, 60), least=1), st.sampled_from(QUESTIONS))
def test_the_parts_add_up_to_the_score_and_the_kinds_to_what_sets_it_above_the_lowest(
    case: tuple[Pool, Signals], question: Question
) -> None:
    weighed = weigh(*case, question, WEIGHTS)
    assert np.sum(list(weighed.parts.values()), axis=0).tolist() == pytest.approx(weighed.scores.tolist(), abs=1e-9)
    rows = np.argsort(-weighed.scores)[:3]
    lowest = int(np.argmin(weighed.scores))
    kinds = weighed.kinds(rows)
    assert set(kinds) == {"dense", "lexical", "around"}
    who_and_when = {"speaker", "role", "month", "short_question"} & set(weighed.parts)
    fit = sum((weighed.parts[name][rows] - weighed.parts[name][lowest] for name in who_and_when), np.zeros(len(rows)))
    total = fit + sum(kinds.values())
    assert total.tolist() == pytest.approx((weighed.scores[rows] - weighed.scores[lowest]).tolist(), abs=1e-9)


def test_where_all_are_alike_nothing_is_told() -> None:
    for size in (0, 1, 5):
        signals = signals_of(size, wording=[7.0] * size, cosine=[0.3] * size)
        assert weigh(pool_of(size), signals, PLAIN, WEIGHTS).scores.tolist() == [0.0] * size


# ── evidence ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("signal", "weight"), [("wording", 0.10), ("cosine", 0.10 + 0.20), ("match", 0.05 + 0.35), ("count", 0.10)]
)
def test_more_evidence_raises_by_its_weight_in_units_of_the_spread(signal: str, weight: float) -> None:
    """Of two, one lies a spread above the mean and the other one below; .16 is the worth of a spread."""
    values = np.array([0.2, 0.9])
    table = {"match": values[:, None], "count": np.array([[0.0], [1.0]])}
    columns = {"match": np.zeros((2, 1)), "count": np.zeros((2, 1)), signal: table.get(signal, values)}
    scores = weigh(pool_of(2), signals_of(2, **columns), PLAIN, WEIGHTS).scores
    assert scores[1] - scores[0] == pytest.approx(2 * 0.16 * weight * OWN_SESSION)


def test_evidence_counts_by_its_spread_and_not_by_its_units() -> None:
    wording = np.array([0.0, 1.0, 5.0, 2.0])
    once = weigh(pool_of(4), signals_of(4, wording=wording), PLAIN, WEIGHTS).scores
    again = weigh(pool_of(4), signals_of(4, wording=1000 * wording + 17), PLAIN, WEIGHTS).scores
    assert again.tolist() == pytest.approx(once.tolist())


def test_a_turn_lends_its_tokens_to_the_three_after_it_and_the_one_before() -> None:
    weighed = chained(topic=1, size=7)
    assert shares(weighed.parts["tokens_around"]) == pytest.approx([0.6, 1.0, 0.8, 0.65, 0.5, 0.0, 0.0, 0.0])
    assert shares(weighed.parts["tokens"]) == pytest.approx([0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def test_a_question_lends_nearly_all_to_its_answer() -> None:
    weighed = chained(topic=0, size=4, asks=[True, False, False, False, False])
    assert shares(weighed.parts["tokens_around"]) == pytest.approx([1.0, 0.95, 0.65, 0.5, 0.0])


def test_a_turn_lends_its_pieces_to_the_two_after_it_and_the_one_before() -> None:
    for asks in (False, True):
        weighed = chained(topic=1, size=5, asks=[asks] * 6)
        assert shares(weighed.parts["pieces"]) == pytest.approx([0.5, 1.0, 0.7, 0.5, 0.0, 0.0])


def test_a_turn_lends_a_quarter_of_its_meaning_to_either_side() -> None:
    assert shares(chained(topic=1, size=4).parts["meaning_around"]) == pytest.approx([0.25, 1.0, 0.25, 0.0, 0.0])


@pytest.mark.parametrize(("words", "share"), [(1.0, 0.8), (40.0, 0.8), (80.0, 0.4), (400.0, 0.08)])
def test_a_short_answer_borrows_and_a_turn_that_stands_for_itself_hardly(words: float, share: float) -> None:
    weighed = chained(topic=0, size=2, words=[10.0, words, 10.0])
    assert shares(weighed.parts["tokens_around"]) == pytest.approx([1.0, share, 0.0])
    assert shares(weighed.parts["pieces"]) == pytest.approx([1.0, share / 0.8 * 0.7, 0.0])


def test_what_a_turn_says_itself_is_worth_more_than_what_it_borrows() -> None:
    meets = np.array([[1.0], [0.9], [0.0]])
    weighed = weigh(pool_of(3, [0, 1]), signals_of(3, match=meets, count=np.zeros((3, 1))), PLAIN, WEIGHTS)
    assert shares(weighed.parts["tokens_around"]) == pytest.approx([1.0, 0.9, 0.0])


def test_a_token_of_few_candidates_tells_more_than_one_of_all() -> None:
    count = np.ones((10, 2))
    count[1:, 1] = 0.0
    match = np.zeros((10, 2))
    match[0, 1] = match[1, 0] = 1.0
    parts = weigh(pool_of(10), signals_of(10, match=match, count=count), PLAIN, WEIGHTS).parts
    rarest, least = math.sqrt(math.log(1 + 9.5 / 1.5)), 0.3
    assert shares(parts["tokens"])[:3] == pytest.approx([1.0, least / rarest, 0.0])


def test_a_piece_counts_less_each_time_and_less_in_a_longer_turn() -> None:
    often = weigh(pool_of(3), signals_of(3, match=np.zeros((3, 1)), count=[[1], [3], [0]]), PLAIN, WEIGHTS)
    assert shares(often.parts["pieces"]) == pytest.approx([(2.2 / 2.2) / (6.6 / 4.2), 1.0, 0.0])
    signals = signals_of(3, match=np.zeros((3, 1)), count=[[1], [1], [0]], lengths=[30, 10, 20])
    long = weigh(pool_of(3), signals, PLAIN, WEIGHTS)
    assert shares(long.parts["pieces"]) == pytest.approx([(1 + 1.2 * 0.625) / (1 + 1.2 * 1.375), 1.0, 0.0])


# ── who and when ─────────────────────────────────────────────────────────────────────────────────────────────────


def prior(name: str, text: str, participants: Sequence[str] = (), **columns: Any) -> list[float] | None:
    size = len(next(iter(columns.values())))
    identifiers = columns.pop("identifiers", [0.0] * size)
    question = read_question(text, participants)
    parts = weigh(pool_of(size, **columns), signals_of(size, identifiers=identifiers), question, WEIGHTS).parts
    return parts[name].tolist() if name in parts else None


def test_turns_of_the_one_who_is_named_are_raised() -> None:
    said = ["Ada", "Bo", "ADA", ""]
    assert prior("speaker", "What did Ada say?", ("Ada", "Bo"), speakers=said) == pytest.approx([0.3, 0, 0.3, 0])
    assert prior("speaker", "What did Ada tell Bo?", ("Ada", "Bo"), speakers=said) is None
    assert prior("speaker", "What was said?", ("Ada", "Bo"), speakers=said) is None


@pytest.mark.parametrize(
    ("text", "worth"),
    [
        ("What did I say?", [0.2, 0.0, 0.0, 0.1]),
        ("What did you say?", [0.0, 0.2, 0.0, 0.1]),
        ("What was said?", [0.1, 0.0, 0.0, 0.05]),
    ],
)
def test_people_ask_about_what_they_said_or_were_told(text: str, worth: list[float]) -> None:
    assert prior("role", text, roles=["user", "assistant", "tool", "system"]) == pytest.approx(worth)


def test_without_an_assistant_the_role_tells_nothing() -> None:
    assert prior("role", "What did I say?", roles=["user", "tool", "system"]) == [0.0, 0.0, 0.0]


def test_turns_of_the_month_are_raised_and_those_of_another_year_less() -> None:
    ts = [ms(2023, 5, 31), ms(2024, 5), ms(2023, 6), 0]
    assert prior("month", "What did we do in May 2023?", ts=ts) == pytest.approx([0.3, 0.09, 0, 0])
    assert prior("month", "What did we do in May?", ts=ts) == pytest.approx([0.3, 0.3, 0, 0])
    assert prior("month", "What did we do in 2023?", ts=ts) is None


def test_who_holds_the_identifiers_is_raised_by_his_share_of_them() -> None:
    assert prior("identifier", "What is E1042?", identifiers=[1.0, 0.5, 0.0]) == pytest.approx([0.4, 0.2, 0])
    assert prior("identifier", "What is it?", identifiers=[1.0, 0.5, 0.0]) is None


def test_short_turns_that_ask_are_lowered() -> None:
    asks, words = [True, True, False, True], [10.0, 26.0, 10.0, 25.0]
    assert prior("short_question", "port of staging", asks=asks, words=words) == pytest.approx([-0.12, 0, 0, -0.12])


def test_the_first_pass_knows_wording_meaning_and_who_and_when() -> None:
    question = read_question("What did Ada say?", ("Ada", "Bo"))
    nothing = np.zeros(2)

    def gap(pool: Pool, wording: Floats, cosine: Floats) -> float:
        low, high = first_pass(pool, wording, cosine, nothing, question)
        return float(high - low)

    assert gap(pool_of(2), np.array([1.0, 2.0]), nothing) == pytest.approx(2 * 0.16 * 0.3)
    assert gap(pool_of(2), nothing, np.array([0.1, 0.2])) == pytest.approx(2 * 0.16 * 0.4)
    assert gap(pool_of(2, speakers=["Bo", "Ada"]), nothing, nothing) == pytest.approx(0.3)


# ── session and neighbours ───────────────────────────────────────────────────────────────────────────────────────


def test_the_best_of_a_session_raises_all_of_it_and_its_neighbours_by_distance() -> None:
    question = read_question("What is E1042?")
    pool = pool_of(8, range(6), [6, 7])
    weighed = weigh(pool, signals_of(8, identifiers=[0, 1.0, 0, 0, 0, 0, 0.5, 0]), question, WEIGHTS)
    assert weighed.parts["session"].tolist() == pytest.approx([0.35 * 0.4] * 6 + [0.35 * 0.2] * 2)
    lent = [0.2 * 0.4 * fading for fading in (0.6, 0, 0.6, 0.36, 0.216, 0)]
    assert weighed.parts["neighbours"].tolist() == pytest.approx([*lent, 0, 0.2 * 0.2 * 0.6])


def test_a_poor_neighbour_does_not_lower_anybody() -> None:
    weighed = weigh(pool_of(3, range(3), asks=[True, False, True]), signals_of(3), PLAIN, WEIGHTS)
    assert weighed.parts["neighbours"].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("name", sorted(asdict(WEIGHTS)))
def test_a_weight_of_zero_takes_its_signal_out(name: str) -> None:
    parts_of = {"question": "short_question", "neighbour": "neighbours"}
    if name in ("time", "latest"):  # these are not weighed here but after the records are read
        return
    question = read_question("What did Ada say about E1042 in May?", ("Ada",))
    pool = pool_of(
        4, [0, 1], [2, 3], asks=[True, False] * 2, roles=["user", "assistant"] * 2, speakers=["Ada", "Bo"] * 2,
        ts=[ms(2023, 5), 0] * 2,
    )  # fmt: skip
    columns = {name: np.linspace(0, 1, 4) ** 2 for name in ("wording", "cosine", "identifiers")}
    signals = signals_of(4, **columns, match=np.eye(4)[:, :2], count=np.eye(4)[:, :2])
    part = parts_of.get(name, name)
    assert weigh(pool, signals, question, WEIGHTS).parts[part].any()
    assert not weigh(pool, signals, question, replace(WEIGHTS, **{name: 0.0})).parts[part].any()


# ── newer first ──────────────────────────────────────────────────────────────────────────────────────────────────

ranked = st.integers(1, 40).flatmap(
    lambda size: st.tuples(
        arrays.arrays(np.float64, size, elements=st.floats(-5, 5)),
        arrays.arrays(np.int64, size, elements=st.integers(0, 9)),
    )
)


def best_first(scores: Floats) -> list[int]:
    return np.argsort(-scores, kind="stable").tolist()


def test_of_two_that_are_equal_the_newer_comes_first() -> None:
    scores, ts = np.array([1.0, 1.0, 0.2]), np.array([10, 20, 30])
    assert best_first(prefer_latest(scores, ts, 1.0)) == [1, 0, 2]
    assert prefer_latest(scores, ts, 1.0).tolist() == pytest.approx([1.0, 0.2 + 0.8 * (1 + 1 / 3), 0.2])
    assert prefer_latest(scores, ts, 0.5).tolist() == pytest.approx([1.0, 0.2 + 0.8 * (1 + 1 / 6), 0.2])


def test_a_much_better_old_turn_stays_before_a_poor_new_one() -> None:
    scores = np.array([1.0, 0.3, 0.0])
    assert best_first(prefer_latest(scores, np.array([1, 2, 3]), 1.0)) == [0, 1, 2]


@given(ranked, st.sampled_from([0.0, -1.0]))
def test_without_strength_nothing_changes(case: tuple[Floats, NDArray[np.int64]], strength: float) -> None:
    scores, ts = case
    assert prefer_latest(scores, ts, strength).tolist() == scores.tolist()


@given(ranked, st.floats(0.01, 2))
def test_only_the_best_twenty_move_and_they_stay_above_the_others(
    case: tuple[Floats, NDArray[np.int64]], strength: float
) -> None:
    scores, ts = case
    given_scores = scores.copy()
    raised = prefer_latest(scores, ts, strength)
    assert scores.tolist() == given_scores.tolist(), "what was given stays as it was"
    order = np.argsort(-scores, kind="stable")
    best, others = order[:20], order[20:]
    assert raised[others].tolist() == scores[others].tolist()
    assert (raised[best] >= scores[best] - 1e-9).all()
    assert (raised[best] >= scores[order[: len(best)]].min() - 1e-9).all()
    high, low = scores[best].max(), scores[best].min()
    assert (raised <= low + (high - low) * (1 + strength) + 1e-9).all()


@given(ranked, st.floats(0, 2))
def test_who_is_better_and_newer_stays_before(case: tuple[Floats, NDArray[np.int64]], strength: float) -> None:
    scores, ts = case
    best = np.argsort(-scores, kind="stable")[:20]
    raised = prefer_latest(scores, ts, strength)
    for better in best:
        ahead = (scores[better] >= scores[best]) & (ts[better] >= ts[best])
        assert (raised[better] >= raised[best][ahead] - 1e-9).all()


@given(ranked, st.floats(0.01, 2))
def test_times_count_by_their_order_alone(case: tuple[Floats, NDArray[np.int64]], strength: float) -> None:
    scores, ts = case
    stretched = ts**3 * 86_400_000
    assert prefer_latest(scores, ts, strength).tolist() == prefer_latest(scores, stretched, strength).tolist()


def test_the_twenty_first_gets_nothing_from_being_new() -> None:
    scores = np.linspace(1.0, 0.0, 22)
    raised = prefer_latest(scores, np.arange(22), 1.0)
    assert (raised > scores + 1e-12).tolist() == [False] + [True] * 18 + [False] * 3


# ── whom to show at all ──────────────────────────────────────────────────────────────────────────────────────────


def test_only_who_is_near_or_shares_a_word_is_shown_and_who_stands_beside_such_a_one() -> None:
    pool = pool_of(8, range(8))
    nothing = np.zeros((8, 1))
    piece = nothing.copy()
    piece[3] = 1.0
    middle = np.array([0, 0, 0, 1.0, 0, 0, 0, 0])
    shown = [False, False, True, True, True, False, False, False]
    assert supported(pool, signals_of(8, cosine=0.05 * middle)).tolist() == shown
    assert supported(pool, signals_of(8, wording=0.1 * middle)).tolist() == shown
    assert supported(pool, signals_of(8, match=nothing, count=piece)).tolist() == shown
    assert not supported(pool, signals_of(8, cosine=0.049 * middle, match=piece, count=nothing)).any()
    assert not supported(pool, signals_of(8)).any()


def test_who_holds_an_identifier_letter_by_letter_is_shown() -> None:
    assert supported(pool_of(2), signals_of(2, identifiers=[1.0, 0.0])).tolist() == [True, False]


@given(cases(), st.randoms(use_true_random=False))
def test_who_is_shown_does_not_depend_on_the_order(case: tuple[Pool, Signals], chance: Any) -> None:
    order = np.arange(len(case[0]))
    chance.shuffle(order)
    assert supported(*shuffled(*case, order)).tolist() == supported(*case)[order].tolist()


# ── what was corrected ───────────────────────────────────────────────────────────────────────────────────────────

HOUR = 3_600_000


def superseded(scores: list[float], moments: list[int], met: list[list[float]]) -> list[float]:
    return supersede(np.array(scores), np.array(moments, np.int64), np.array(met)).tolist()


def test_what_meets_the_same_tokens_later_ranks_just_above() -> None:
    older, newer, other = superseded([1.0, 0.85, 0.0], [0, 2 * HOUR, 0], [[0.9, 0.8], [0.85, 0.8], [0.1, 0.9]])
    assert (older, other) == (1.0, 0.0)
    assert older < newer < older + 0.05


@pytest.mark.parametrize(
    ("score", "moment", "met"),
    [
        (0.79, 2 * HOUR, [0.9, 0.8]),  # too far below
        (0.85, HOUR, [0.9, 0.8]),  # not an hour later
        (0.85, -2 * HOUR, [0.9, 0.8]),  # earlier
        (0.85, 2 * HOUR, [0.1, 0.9]),  # about something else
    ],
)
def test_nothing_else_is_superseded(score: float, moment: int, met: list[float]) -> None:
    scores = [1.0, score, 0.0]
    assert superseded(scores, [0, moment, 0], [[0.9, 0.8], met, [0.0, 0.1]]) == scores


def test_of_several_newer_ones_the_newest_comes_first() -> None:
    same = [0.9, 0.8]
    scores = superseded([1.0, 0.9, 0.95, 0.0], [0, 4 * HOUR, 2 * HOUR, 0], [same, same, same, [0.1, 0.9]])
    assert scores[1] > scores[2] > scores[0] > scores[3]


@given(st.lists(st.tuples(st.floats(-2, 2), st.integers(0, 10)), max_size=30), st.integers(0, 3))
def test_superseding_keeps_everybody_and_lowers_nobody(rows: list[tuple[float, int]], tokens: int) -> None:
    scores = np.array([score for score, _ in rows])
    moments = np.array([hour * HOUR for _, hour in rows], np.int64)
    after = supersede(scores, moments, np.ones((len(rows), tokens)))
    assert after.shape == scores.shape and np.isfinite(after).all() and (after >= scores).all()
    if not tokens:
        assert (after == scores).all()
