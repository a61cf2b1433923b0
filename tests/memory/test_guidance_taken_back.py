"""A rule that the user took back later does not stand alone: what took it back is kept and shown with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from libravdb_memory import Config, Memory, load_config, shards
from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.elevating import Elevation
from libravdb_memory.engines.hashed import HashedEmbedder
from libravdb_memory.errors import ModelUnavailableError
from libravdb_memory.forgetting import derived_from
from libravdb_memory.model import Record
from libravdb_memory.namespaces import guidance_of, history_of
from libravdb_memory.shards import mark_of, taken_back_by
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Store
from libravdb_memory.tokens import EstimatingCounter

RULE, CHANGE = "Always use tabs in the parser.", "Forget the tabs in the parser, spaces are fine."
NEW_RULE = "From now on use spaces in the parser, forget the tabs."
OTHER = "Finance changed their minds: the invoices go out on the 15th."


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return load_config(
        environ={
            "LIBRAVDB_HOME": str(tmp_path),
            "LIBRAVDB_COMPACTION_TRIGGER_TOKENS": "0",
            "LIBRAVDB_ASSEMBLY_TAIL_SHARE": "0.01",
        }
    )


@pytest.fixture
def memory(config: Config) -> Iterator[Memory]:
    with Memory.open(config=config) as opened:
        yield opened


def talk(memory: Memory, session: str, *said: str, role: str = "user") -> None:
    """What was said, each time with talk about something else behind it."""
    for text in said:
        memory.ingest(text, user="ada", session=session, role=role)
        for number in range(6):
            memory.ingest(f"The tests of module {number} pass again.", user="ada", session=session, role="assistant")


def kept(memory: Memory) -> dict[str, object]:
    rules = every(memory._store, guidance_of("ada"))
    return {rule.text: rule.metadata["protection_reason"] for rule in rules}


def in_one_session(memory: Memory) -> None:
    talk(memory, "s", RULE, OTHER, CHANGE)
    memory.compact(user="ada", session="s")


def in_a_later_compaction(memory: Memory) -> None:
    talk(memory, "s", RULE, OTHER)
    memory.compact(user="ada", session="s")
    talk(memory, "s", CHANGE)
    memory.compact(user="ada", session="s")


def in_another_session(memory: Memory) -> None:
    talk(memory, "s", RULE, OTHER)
    memory.compact(user="ada", session="s")
    talk(memory, "other", CHANGE)
    memory.compact(user="ada", session="other")


@pytest.mark.parametrize("live", [in_one_session, in_a_later_compaction, in_another_session])
def test_what_takes_back_a_rule_is_kept_with_it_and_nothing_else_is(
    memory: Memory, live: Callable[[Memory], None]
) -> None:
    live(memory)
    assert kept(memory) == {RULE: "rule", CHANGE: "takes back a rule"}
    assert memory.wait(60)
    shown = memory.context("Write the parser.", user="ada", session="new", budget=2000).text
    assert 0 < shown.index(RULE) < shown.index(CHANGE) < shown.index("</elevated_guidance>")
    assert memory.verify().ok
    memory.compact(user="ada", session="s", rebuild=True)
    assert set(kept(memory)) == {RULE, CHANGE}


@pytest.mark.parametrize("prompt", ["Write the parser.", "Are the tests of module 3 green?", "Indent it with tabs"])
def test_a_rule_that_was_taken_back_is_never_shown_without_what_takes_it_back(memory: Memory, prompt: str) -> None:
    in_another_session(memory)
    assert memory.wait(60)
    shown = set[tuple[bool, bool]]()
    for budget in range(100, 1500, 50):
        context = memory.context(prompt, user="ada", session="new", budget=budget)
        texts = [context.text[item.start :] for item in context.assembly.items if item.tier == "elevated"]
        shown.add((any(RULE in text[:150] for text in texts), any(CHANGE in text[:150] for text in texts)))
        assert memory.replay(context.receipt.id).identical
    assert (True, False) not in shown
    assert (True, True) in shown or prompt != "Write the parser."


@pytest.mark.parametrize("prompt", ["What did I say about tabs in the parser?", "Shall we use tabs in the parser?"])
def test_a_recalled_turn_whose_rule_was_taken_back_comes_with_what_takes_it_back(memory: Memory, prompt: str) -> None:
    in_another_session(memory)
    assert memory.wait(60)
    tiers = set[str]()
    for session in ("new", "s"):
        for budget in range(60, 1500, 30):
            context = memory.context(prompt, user="ada", session=session, budget=budget)
            assert (RULE in context.text) <= (CHANGE in context.text), (session, budget)
            tiers |= {item.tier for item in context.assembly.items if RULE in context.text[item.start :][:150]}
            assert memory.replay(context.receipt.id).identical
    assert "recalled" in tiers or "recovered" in tiers


def test_a_rule_that_changes_another_says_which(memory: Memory) -> None:
    later = "From now on use spaces in the parser, forget the tabs."
    talk(memory, "s", RULE, later, OTHER)
    memory.compact(user="ada", session="s")
    assert kept(memory) == {RULE: "rule", later: "rule"}
    first, second = every(memory._store, guidance_of("ada"))
    assert taken_back_by(second) == {mark_of(first.id)} and not taken_back_by(first)


def test_a_rule_from_now_on_takes_back_its_contrary_and_neither_the_same_nor_another(memory: Memory) -> None:
    foods = ("shellfish", "celery", "mustard seeds")
    rules = [
        "Never suggest recipes with peanuts.",
        *(f"From now on never suggest recipes with {food}." for food in foods),
    ]
    contrary = "From now on do suggest recipes with celery."
    talk(memory, "s", *rules, rules[-1], contrary, OTHER)
    memory.compact(user="ada", session="s")
    *others, last = memory.guidance(user="ada").rules
    assert [rule.text for rule in others] == [*rules, rules[-1]] and last.text == contrary
    assert [rule.takes_back for rule in others] == [()] * 5
    assert others[2].id in last.takes_back


def relations(memory: Memory) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    return [(rule.text, rule.takes_back, rule.taken_back_by) for rule in memory.guidance(user="ada").rules]


@pytest.mark.parametrize("sessions", [("s", "s", "s"), ("a", "b", "c")])
def test_a_rebuild_finds_the_same_of_rules_that_were_all_given_at_one_time(
    memory: Memory, sessions: tuple[str, ...]
) -> None:
    said = (RULE, NEW_RULE, "From now on use tabs in the parser, forget the spaces.")
    for session, text in zip(sessions, said, strict=True):
        memory.ingest(text, user="ada", session=session, ts=1_000)
    for session in dict.fromkeys(sessions):
        for number in range(8):
            memory.ingest(f"Module {number} is done.", user="ada", session=session, role="assistant", ts=1_000)
        memory.compact(user="ada", session=session)
    before = relations(memory)
    assert [len(takes_back) for _, takes_back, _ in before] == [0, 1, 2]
    for session in dict.fromkeys(sessions):
        assert memory.compact(user="ada", session=session, rebuild=True).guidance == 0
    assert relations(memory) == before


@pytest.mark.parametrize("live", [in_one_session, in_a_later_compaction, in_another_session])
def test_a_list_of_rules_tells_which_takes_back_which(memory: Memory, live: Callable[[Memory], None]) -> None:
    live(memory)
    whole = memory.guidance(user="ada")
    rule, change = whole.rules
    assert (rule.text, rule.takes_back, rule.taken_back_by) == (RULE, (), (change.id,))
    assert (change.text, change.takes_back, change.taken_back_by) == (CHANGE, (rule.id,), ())
    first = memory.guidance(user="ada", limit=1)
    second = memory.guidance(user="ada", limit=1, after=first.cursor)
    assert (*first.rules, *second.rules) == whole.rules, "also from another page"
    assert [page.total for page in (whole, first, second)] == [2, 2, 2]
    sessions = dict.fromkeys(each.session for each in whole.rules)
    of_each = [memory.guidance(user="ada", session=session) for session in sessions]
    assert tuple(each for page in of_each for each in page.rules) == whole.rules, "also from another session"
    assert sum(page.total for page in of_each) == 2


def test_a_list_of_rules_does_not_name_one_that_was_erased(memory: Memory) -> None:
    memory.ingest(RULE, user="ada", session="s", id="the-secret-name")
    talk(memory, "s", OTHER, NEW_RULE)
    memory.compact(user="ada", session="s")
    assert memory.guidance(user="ada").rules[1].takes_back
    memory.erase("the-secret-name", user="ada", session="s")
    page = memory.guidance(user="ada")
    [change] = page.rules
    assert (change.reason, change.takes_back, page.total) == ("rule", (), 1)


def test_rules_of_others_are_neither_counted_nor_named(memory: Memory) -> None:
    for user in ("ada", "adam"):
        memory.ingest(RULE, user=user, session="s", id="rule")
        memory.ingest(OTHER, user=user, session="s")
        memory.ingest(NEW_RULE, user=user, session="s", id="change")
        for number in range(12):
            memory.ingest(f"The tests of module {number} pass.", user=user, session="s", role="assistant")
        memory.compact(user=user, session="s")
    memory.erase("rule", user="adam", session="s")
    assert [memory.guidance(user=user, limit=1).total for user in ("ada", "adam", "ad")] == [2, 1, 0]
    [change] = memory.guidance(user="adam").rules
    assert change.takes_back == ()


def test_who_takes_back_a_rule_that_was_erased_does_not_tell_which_it_was(memory: Memory) -> None:
    memory.ingest(RULE, user="ada", session="s", id="the-secret-name")
    talk(memory, "s", OTHER, NEW_RULE)
    memory.compact(user="ada", session="s")
    memory.erase("the-secret-name", user="ada", session="s")
    [change] = every(memory._store, guidance_of("ada"))
    assert change.text == NEW_RULE and taken_back_by(change) and "secret" not in str(change)
    assert memory.verify().ok


# ── one of the two is erased ─────────────────────────────────────────────────────────────────────────────────────


def turn_saying(memory: Memory, text: str) -> Record:
    return next(record for record in every(memory._store, history_of("ada")) if record.text == text)


def erase(memory: Memory, text: str) -> None:
    turn = turn_saying(memory, text)
    memory.erase(turn.id, user="ada", session=turn.group)


def erase_the_turn_of_the_rule(memory: Memory) -> None:
    erase(memory, RULE)


def erase_the_session_of_the_rule(memory: Memory) -> None:
    memory.erase(user="ada", session="s")


@pytest.mark.parametrize(
    ("live", "erasing"),
    [
        (in_one_session, erase_the_turn_of_the_rule),
        (in_a_later_compaction, erase_the_turn_of_the_rule),
        (in_another_session, erase_the_turn_of_the_rule),
        (in_another_session, erase_the_session_of_the_rule),
    ],
)
def test_what_only_takes_back_a_rule_goes_with_it_and_its_turn_stays(
    memory: Memory, live: Callable[[Memory], None], erasing: Callable[[Memory], None]
) -> None:
    live(memory)
    change = turn_saying(memory, CHANGE)
    erasing(memory)
    assert kept(memory) == {} and turn_saying(memory, CHANGE) == change
    assert memory.verify().ok
    for rebuild in (False, True):
        talk(memory, change.group, OTHER)
        memory.compact(user="ada", session=change.group, rebuild=rebuild)
        assert kept(memory) == {}, "it does not come back"
    assert memory.wait(60)
    assert RULE not in memory.context("Write the parser.", user="ada", session="new", budget=4000).text


def test_what_takes_back_another_rule_too_stays_until_that_goes(memory: Memory) -> None:
    second = "Never use spaces in the parser, tabs only."
    talk(memory, "s", RULE, second, OTHER, CHANGE)
    memory.compact(user="ada", session="s")
    assert kept(memory) == {RULE: "rule", second: "rule", CHANGE: "takes back a rule"}
    erase(memory, RULE)
    memory.compact(user="ada", session="s")
    assert set(kept(memory)) == {second, CHANGE}
    erase(memory, second)
    assert kept(memory) == {}


def test_what_takes_back_a_rule_that_is_gone_stays_while_the_turn_of_that_may_be_recalled(memory: Memory) -> None:
    second = "Never use spaces in the parser, tabs only."
    talk(memory, "s", RULE, second, OTHER, CHANGE)
    memory.compact(user="ada", session="s")
    [rule] = [record for record in every(memory._store, guidance_of("ada")) if record.text == second]
    memory.erase_beside(rule)
    erase(memory, RULE)
    assert set(kept(memory)) == {CHANGE}
    assert memory.verify().ok


def test_what_takes_back_only_turns_that_go_goes_though_the_rule_of_one_was_gone_before(memory: Memory) -> None:
    second = "Never use spaces in the parser, tabs only."
    talk(memory, "s", RULE, second, OTHER)
    talk(memory, "other", CHANGE)
    for session in ("s", "other"):
        memory.compact(user="ada", session=session)
    [rule] = [record for record in every(memory._store, guidance_of("ada")) if record.text == second]
    memory.erase_beside(rule)
    assert set(kept(memory)) == {RULE, CHANGE}
    erase_the_session_of_the_rule(memory)
    assert kept(memory) == {}


def test_the_turns_of_a_user_are_read_once_however_many_take_back_the_rule_that_goes(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(memory, "s", RULE, "Never use spaces in the parser, tabs only.", *[CHANGE] * 4, OTHER)
    memory.compact(user="ada", session="s")
    assert len(memory.guidance(user="ada").rules) == 6
    read: list[str] = []

    def noted(store: Store, collection: str) -> Iterator[Record]:
        read.append(collection)
        return every(store, collection)

    monkeypatch.setattr(shards, "every", noted)
    erase(memory, RULE)
    assert read.count(history_of("ada")) == 1
    assert len(memory.guidance(user="ada").rules) == 5


def test_what_was_kept_for_its_own_words_stays_without_the_rule_that_it_takes_back(memory: Memory) -> None:
    talk(memory, "s", RULE, NEW_RULE, OTHER)
    memory.compact(user="ada", session="s")
    erase(memory, RULE)
    assert kept(memory) == {NEW_RULE: "rule"}


@pytest.mark.parametrize("live", [in_one_session, in_another_session])
def test_a_rule_stands_again_once_nothing_takes_it_back(memory: Memory, live: Callable[[Memory], None]) -> None:
    live(memory)
    turn, change = turn_saying(memory, RULE), turn_saying(memory, CHANGE)
    session = change.group
    assert [each.text for each in derived_from(memory._store, change).aftermath.standing] == [RULE]
    erase(memory, CHANGE)
    assert kept(memory) == {RULE: "rule"} and turn_saying(memory, RULE) == turn
    memory.compact(user="ada", session=session)
    assert memory.wait(60) and memory.verify().ok
    assert RULE in memory.context("Write the parser.", user="ada", session="new", budget=2000).text


def test_a_rule_that_something_else_takes_back_does_not_stand_again(memory: Memory) -> None:
    talk(memory, "s", RULE, OTHER, CHANGE, NEW_RULE)
    memory.compact(user="ada", session="s")
    assert not derived_from(memory._store, turn_saying(memory, CHANGE)).aftermath.standing
    erase(memory, NEW_RULE)
    assert [each.text for each in derived_from(memory._store, turn_saying(memory, CHANGE)).aftermath.standing] == [RULE]


def test_neither_what_was_said_before_a_rule_nor_by_another_takes_it_back(memory: Memory) -> None:
    talk(memory, "s", CHANGE, RULE)
    talk(memory, "s", CHANGE, role="assistant")
    memory.ingest(CHANGE, user="bob", session="s")
    talk(memory, "s", OTHER)
    memory.compact(user="ada", session="s")
    memory.compact(user="bob", session="s")
    assert kept(memory) == {RULE: "rule"}


def test_what_was_said_in_another_session_before_the_rule_does_not_take_it_back(memory: Memory) -> None:
    for number, text in enumerate((CHANGE, *(f"The tests of module {each} pass again." for each in range(9)))):
        memory.ingest(text, user="ada", session="old", ts=1_000 + number)
    for number, text in enumerate((RULE, *(f"The linter of module {each} is content." for each in range(9)))):
        memory.ingest(text, user="ada", session="new", ts=900_000 + number)
    memory.compact(user="ada", session="new")
    memory.compact(user="ada", session="old")
    assert kept(memory) == {RULE: "rule"}


def test_where_the_model_fails_the_words_decide() -> None:
    elevation = Elevation(
        Failing(), EstimatingCounter(), CompactionSettings(), rules_of=lambda _: [said("rule", RULE, ts=1)]
    )
    turns = [said("a", CHANGE, ts=2), said("b", "The parser was replaced, and what else they told us of Oslo.", ts=3)]
    found = elevation.shards(turns, {}, np.zeros((2, 8), np.float32))
    assert [(shard.turn, shard.reason) for shard in found] == [("a", "takes back a rule")]


def test_what_is_made_anew_is_not_counted_beside_what_is_kept_of_it() -> None:
    turns = [said("rule", "Always quote prices in euros.", ts=1)]
    turns += [said(f"c{ts}", f"We changed the price of item {ts} from 10 to 12 euros.", ts=ts) for ts in range(2, 7)]
    kept: list[Record] = []
    elevation = Elevation(HashedEmbedder(), EstimatingCounter(), CompactionSettings(), rules_of=lambda _: kept)
    vectors = np.zeros((len(turns), 8), np.float32)
    first = elevation.shards(turns, {}, vectors)
    assert [shard.turn for shard in first] == ["rule", "c2", "c3", "c4"]
    kept += [
        Record(ref, draft.collection, draft.group, draft.id, draft.ts, draft.text, draft.metadata, "", 1)
        for ref, draft in enumerate((shard.draft("ada") for shard in first), start=1)
    ]
    assert elevation.shards(turns, {}, vectors) == first


class Failing(HashedEmbedder):
    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise ModelUnavailableError("failing", "gone")


def said(name: str, text: str, ts: int) -> Record:
    return Record(ts, "history:ada", "s", name, ts, text, {"role": "user"}, "", 1)


def test_where_few_words_are_shared_the_meaning_decides(memory: Memory) -> None:
    talk(memory, "s", "Invoices are sent on the 1st of the month.", OTHER)
    talk(memory, "s", "The invoices of Hansen and of the shipyard were replaced by one that lists the whole summer.")
    memory.compact(user="ada", session="s")
    assert list(kept(memory)) == ["Invoices are sent on the 1st of the month.", OTHER]


def test_without_a_model_the_words_decide(config: Config) -> None:
    with Memory.open(config=replace(config, embedding=replace(config.embedding, backend="hashed"))) as memory:
        in_one_session(memory)
        assert kept(memory) == {RULE: "rule", CHANGE: "takes back a rule"}


def test_of_a_long_sentence_only_a_clause_that_is_about_a_rule_takes_it_back(memory: Memory) -> None:
    story = (
        "I read a lot about the parser and its tabs last week, we have changed our minds about the venue no longer than"
        " an hour ago, and the caterer wants to know how many of us come by Friday, which nobody can tell before the"
        " train times are out, so it stays open, and Mia asks whether the parser people bring their dog"
    )
    talk(memory, "s", RULE, story)
    memory.compact(user="ada", session="s")
    assert list(kept(memory)) == [RULE]
    back = f"{story}, also forget the tabs in the parser from today, spaces are fine with everybody here"
    talk(memory, "t", back)
    memory.compact(user="ada", session="t")
    [taken] = [text for text in kept(memory) if text != RULE]
    assert "forget the tabs in the parser" in taken and "caterer" not in taken


def test_reports_of_what_changed_do_not_crowd_out_the_rule_that_they_share_words_with(memory: Memory) -> None:
    rule = "Always quote prices in euros."
    talk(memory, "s", rule, *(f"We changed the price of item {number} from 10 to 12 euros." for number in range(9)))
    memory.compact(user="ada", session="s")
    assert memory.wait(60)
    assert sorted(map(str, kept(memory).values())) == ["rule", *["takes back a rule"] * 3]
    context = memory.context("What is the price of item 5?", user="ada", session="new", budget=2000)
    assert rule in context.text[context.text.index("<elevated_guidance>") : context.text.index("</elevated_guidance>")]
    talk(memory, "s", "We changed the price of item 9 from 10 to 12 euros.")
    memory.compact(user="ada", session="s")
    assert len(kept(memory)) == 4
    freed = "Forget the euros for prices."
    talk(memory, "s", freed)
    memory.compact(user="ada", session="s")
    assert kept(memory)[freed] == "takes back a rule"


def test_what_takes_back_a_rule_is_not_taken_back_itself_by_what_only_shares_words_with_it(memory: Memory) -> None:
    rule, change = "Always quote prices in euros.", "Forget the euros for prices, pesos are fine."
    talk(memory, "s", rule, change, "The pesos were moved to the till.")
    memory.compact(user="ada", session="s")
    assert kept(memory) == {rule: "rule", change: "takes back a rule"}


def test_a_rule_is_about_what_the_sentence_says_that_states_it(memory: Memory) -> None:
    rule = "I raised the timeout of the importer. Never deploy on a Friday."
    talk(memory, "s", rule, "I raised the timeout of the importer once more, to 90 s.")
    memory.compact(user="ada", session="s")
    assert list(kept(memory)) == [rule]
