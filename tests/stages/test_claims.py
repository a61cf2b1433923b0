"""Each claim at its very edge: one token more or less, one turn more or less. Quick, and first to fail."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.assemble.budget import AssemblySettings
from libravdb_memory.assemble.fill import Candidate, Offer, Rule, fill
from libravdb_memory.assemble.messages import MESSAGE_OVERHEAD, keep_recent, message_cost
from libravdb_memory.assemble.receipt import Assembly
from libravdb_memory.assemble.tail import TailTurn, bundle_starts
from libravdb_memory.retrieve.temporal import Pickable, select
from libravdb_memory.tokens import EstimatingCounter, Pricing, share_of


class CharacterCounter:
    """One token a character: prices that can be reckoned by hand."""

    id = "characters"

    def count(self, text: str) -> int:
        return len(text)


COUNTER = CharacterCounter()
SETTINGS = AssemblySettings()
estimate = EstimatingCounter().count


def assembled(offer: Offer) -> Assembly:
    return fill(offer, COUNTER, SETTINGS)


def memory_of(text: str, name: str = "r", score: float = 0.9) -> Candidate:
    return Candidate(name, text, score, "user", "history")


def price(offer: Offer) -> int:
    return assembled(Offer(**{**{name: getattr(offer, name) for name in offer.__slots__}, "budget": 10**6})).tokens


def tier(result: Assembly, name: str) -> list[str]:
    return [item.id for item in result.items if item.tier == name]


@pytest.mark.parametrize(("length", "tokens"), [(1, 1), (4, 1), (5, 2), (16, 4), (17, 5), (100, 25)])
def test_four_plain_characters_are_a_token(length: int, tokens: int) -> None:
    assert estimate("x" * length) == tokens


@pytest.mark.parametrize(("budget", "share", "tokens"), [(180, 0.35, 63), (100, 0.29, 29), (7, 0.5, 3), (0, 1.0, 0)])
def test_a_share_is_reckoned_in_decimals(budget: int, share: float, tokens: int) -> None:
    assert share_of(budget, share) == tokens


@pytest.mark.parametrize("lines", [[], ["a"], ["ab", "cd"], ["ab", "привет"], ["日本", "привет", "ab"], ["", "", "x"]])
def test_lines_cost_what_their_text_costs(lines: list[str]) -> None:
    assert Pricing(EstimatingCounter()).price(lines) == estimate("\n".join(lines))
    assert Pricing(COUNTER).price(lines) == len("\n".join(lines))
    assert Pricing(COUNTER).measured(lines) is None


@given(st.lists(st.text(max_size=20)), st.lists(st.text(max_size=20)))
def test_lines_added_to_others_cost_what_the_whole_costs(before: list[str], added: list[str]) -> None:
    pricing = Pricing(EstimatingCounter())
    measured = pricing.measured(before)
    assert measured is not None
    assert pricing.plus(measured, added).price == pricing.price([*before, *added])


def test_a_memory_enters_at_its_exact_price_and_not_one_token_below() -> None:
    needed = price(Offer(0, recalled=(memory_of("the port is 5433"),)))
    assert tier(assembled(Offer(needed, recalled=(memory_of("the port is 5433"),))), "recalled") == ["r"]
    short = assembled(Offer(needed - 1, recalled=(memory_of("the port is 5433"),)))
    assert short.items == () and short.text == ""
    assert [(each.reason, each.margin) for each in short.rejections] == [("budget", 1)]


def test_mandatory_parts_may_take_the_whole_budget_and_not_one_token_more() -> None:
    offer = Offer(0, hard=(Rule("h", "never force-push"),), turns=(TailTurn("t", "user", "hello"),))
    needed = price(offer)
    whole = assembled(Offer(needed, hard=offer.hard, turns=offer.turns))
    assert whole.degraded is None and whole.tokens == needed
    assert assembled(Offer(needed - 1, hard=offer.hard, turns=offer.turns)).degraded is not None


def test_soft_rules_stop_at_their_share_though_there_is_room() -> None:
    soft = tuple(Rule(f"s{number}", "x" * 50) for number in range(10))
    result = assembled(Offer(1000, soft=soft))
    assert result.tiers["soft"].limit == 300
    assert tier(result, "soft") == ["s0", "s1", "s2", "s3", "s4"]
    assert 250 < result.tiers["soft"].used <= 300
    assert result.text.count("x" * 50) == 5


def test_a_base_tail_above_the_tail_share_stays_and_is_not_extended() -> None:
    turns = tuple(TailTurn(str(number), "system", "x" * 100) for number in range(9))
    result = assembled(Offer(1000, turns=turns))
    assert tier(result, "tail") == ["5", "6", "7", "8"]
    assert result.tiers["tail"].limit == result.tiers["tail"].used > 250


def test_the_tail_grows_to_the_last_turn_that_fits_its_share() -> None:
    turns = tuple(TailTurn(str(number), "system", "x" * 10) for number in range(99))
    used = {number: price(Offer(0, turns=turns[-number:])) for number in range(4, 60)}
    budget = 4000
    most = max(number for number, tokens in used.items() if tokens <= 1000)
    assert len(tier(assembled(Offer(budget, turns=turns)), "tail")) == most > 4


def test_guidance_stops_at_its_share_though_there_is_room() -> None:
    guidance = tuple(memory_of("x" * 100 + str(number), f"e{number}") for number in range(8))
    result = assembled(Offer(3000, elevated=guidance))
    assert result.tiers["elevated"].limit == 450
    assert 0 < result.tiers["elevated"].used <= 450
    assert len(tier(result, "elevated")) < 8
    assert {each.reason for each in result.rejections} == {"budget"}


def test_recall_leaves_the_reserve_to_recovery() -> None:
    recalled = tuple(memory_of("x" * 40 + str(number), f"r{number}") for number in range(60))
    without = assembled(Offer(1000, recalled=recalled))
    spared = assembled(Offer(1000, recalled=recalled, recovered=(memory_of("y" * 4, "v"),)))
    assert without.tiers["recalled"].limit == 1000
    assert spared.tiers["recalled"].limit == 900


def test_what_the_host_shows_stays_out_and_is_called_visible() -> None:
    shown = frozenset({"the port is 5433"})
    result = assembled(Offer(1000, recalled=(memory_of("the port is 5433"),), visible=shown))
    assert [(each.id, each.reason) for each in result.rejections] == [("r", "visible")]
    spaced = assembled(Offer(1000, recalled=(memory_of("the  port is 5433"),), visible=shown))
    assert [each.reason for each in spaced.rejections] == ["duplicate"]


def test_a_turn_of_the_tail_is_not_recalled_too() -> None:
    turns = (TailTurn("t", "user", "hello", session="s"),)
    again = Candidate("t", "hello", 0.9, "user", "session", session="s")
    other = Candidate("t", "good day", 0.9, "user", "history", session="another")
    for recalled in ((again, other), (other, again)):
        result = assembled(Offer(2000, turns=turns, recalled=recalled))
        assert [(each.session, each.reason) for each in result.rejections] == [("s", "in the tail")]
        assert tier(result, "recalled") == ["t"]


def test_a_request_binds_only_the_response_that_follows_it() -> None:
    turns = tuple(TailTurn(str(number), role, "x") for number, role in enumerate(("user", "user", "assistant", "tool")))
    assert bundle_starts(turns) == (0, 1, 1, 3)


def test_a_message_costs_its_text_and_the_template_around_it() -> None:
    assert message_cost({"role": "user", "content": "abcd"}, COUNTER) == 4 + MESSAGE_OVERHEAD == 8


def test_a_window_of_the_exact_price_keeps_everything_and_one_token_less_does_not() -> None:
    messages = [{"role": ("user", "assistant")[number % 2], "content": "x" * 10} for number in range(8)]
    whole = sum(message_cost(message, COUNTER) for message in messages)
    assert keep_recent(messages, whole, 4, COUNTER).indices == tuple(range(8))
    assert keep_recent(messages, whole - 1, 4, COUNTER).indices == tuple(range(2, 8))
    least = keep_recent(messages, 0, 4, COUNTER)
    assert least.indices == (4, 5, 6, 7) and least.over == least.tokens


@pytest.mark.parametrize(("score", "projected"), [(0.15, 0.19), (0.0, 0.1), (0.05, 0.13)])
def test_a_pick_is_worth_making_from_a_tenth_on(score: float, projected: float) -> None:
    (pick,) = select([Pickable(score, anchors=0.5)], 1.0, k_cov=3)
    assert pick.score == pytest.approx(projected)


def test_below_a_tenth_the_order_of_relevance_goes_on() -> None:
    (pick,) = select([Pickable(0.05, anchors=0.0)], 1.0, k_cov=3)
    assert pick.score == 0.05
