"""Old turns are covered by summaries, and every one of them comes back exact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.compactors import compactor_of
from tests.laws.flaky_summariser import FlakySummariser, use

from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.compacting import CANCELLED, TRIVIAL
from libravdb_memory.config import Config
from libravdb_memory.engines.summarising.protocol import Summary, SummaryRequest
from libravdb_memory.errors import InvalidInputError, NotFoundError
from libravdb_memory.lineage import Branch
from libravdb_memory.memory import Memory
from libravdb_memory.model import Turn
from libravdb_memory.namespaces import guidance_of, summaries_of
from libravdb_memory.overflow import AtWork, OverflowState
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Commit, Store, Write
from libravdb_memory.summaries import Node, node_of

SMALL = CompactionSettings(cluster_target=4, trigger_tokens=0, fold_tokens=0)
PLACES = ("harbour", "station", "museum", "market", "library", "garden", "bridge", "tower")


def said(number: int) -> str:
    place = PLACES[number % len(PLACES)]
    return (
        f"On day {number} we walked to the {place} and paid {number * 3 + 10} euros for ticket T-{number:04d}. "
        f"The way back from the {place} took longer than we had thought, because of the rain."
    )


@pytest.fixture
def memory(hashed: Config) -> Iterator[Memory]:
    with Memory.open(config=replace(hashed, compaction=SMALL)) as opened:
        yield opened


def fill(memory: Memory, number: int, session: str = "s", user: str = "ada") -> list[Turn]:
    return [memory.ingest(said(n), user=user, session=session, id=f"t{n}") for n in range(number)]


def branches(memory: Memory, session: str = "s") -> list[Branch]:
    return [entry for entry in memory.history(user="ada", session=session).entries if isinstance(entry, Branch)]


def expanded(memory: Memory, node: Node, **options: int) -> list[Turn | Node]:
    found: list[Turn | Node] = []
    after: str | None = None
    while True:
        page = memory.expand(node.id, user="ada", after=after, **options)
        found += page.items
        if (after := page.cursor) is None:
            return found


def test_a_compaction_covers_what_lies_behind_the_tail_and_nothing_else(memory: Memory) -> None:
    turns = fill(memory, 60)
    done = memory.compact(user="ada", session="s")
    history = memory.history(user="ada", session="s")
    covered = [turn for branch in branches(memory) for turn in expanded(memory, branch.node)]
    bare = [entry for entry in history.entries if isinstance(entry, Turn)]
    assert covered + bare == turns
    assert done.turns == len(covered) >= 20
    assert history.tail == len(bare) >= 4
    assert history.turns == 60
    for node in done.summaries:
        assert node.tokens < node.source_tokens
        assert node.loss.share >= 0.98
    assert memory.verify().ok


def test_a_page_goes_on_only_where_a_page_of_the_same_summary_ended(memory: Memory) -> None:
    fill(memory, 60)
    first, second, *_ = memory.compact(user="ada", session="s").summaries
    cursor = memory.expand(first.id, limit=3).cursor
    rest = memory.expand(first.id, after=cursor)
    assert len(rest.items) == first.turns - 3 and rest.cursor is None
    for foreign in (memory.expand(second.id, limit=1).cursor, "0", "-1", "", "x", "9" * 5000):
        with pytest.raises(InvalidInputError, match="no cursor of this expansion"):
            memory.expand(first.id, after=foreign)


def test_compacting_again_changes_nothing(memory: Memory) -> None:
    fill(memory, 60)
    memory.compact(user="ada", session="s")
    before = memory.history(user="ada", session="s")
    again = memory.compact(user="ada", session="s")
    assert not again.summaries
    assert "behind the tail" in again.reason
    assert memory.history(user="ada", session="s") == before


def test_a_rebuild_that_ends_early_leaves_every_summary_as_it_was(memory: Memory) -> None:
    fill(memory, 60)
    memory.compact(user="ada", session="s")
    before = memory.history(user="ada", session="s")
    asked = iter([False] * 6)
    ended = memory._compactor().compact("ada", "s", 1, lambda: next(asked, True), rebuild=True)
    assert ended.reason == CANCELLED and not ended.summaries
    assert memory.history(user="ada", session="s") == before


def test_a_rebuild_that_ends_early_while_it_folds_leaves_the_new_ones_and_the_next_compaction_folds_them(
    hashed: Config,
) -> None:
    with Memory.open(config=replace(hashed, compaction=replace(SMALL, fold_tokens=300, fold_fan=3))) as memory:
        fill(memory, 120)
        before = memory.compact(user="ada", session="s")
        assert len(before.folds) > 1
        anew = memory._compactor().compact("ada", "s", 2, lambda: False, rebuild=True)
        clusters, now = len(anew.summaries), 0

        def look(done: int, _: int) -> None:
            nonlocal now
            now = done

        ended = memory._compactor().compact("ada", "s", 3, lambda: now > clusters, look, rebuild=True)
        assert ended.reason == CANCELLED and ended.summaries and 0 < len(ended.folds) < len(anew.folds)
        nodes = [node_of(record) for record in every(memory.store, summaries_of("ada"))]
        assert {node.compacted_at for node in nodes} == {3}
        rest = memory.compact(user="ada", session="s")
        assert not rest.summaries and len(rest.folds) + len(ended.folds) == len(anew.folds)
        assert memory.verify().ok


def test_progress_is_not_through_before_the_folding_is(hashed: Config) -> None:
    with Memory.open(config=replace(hashed, compaction=replace(SMALL, fold_tokens=300, fold_fan=3))) as memory:
        fill(memory, 120)
        told: list[tuple[int, int]] = []
        done = memory.compact(user="ada", session="s", progress=lambda *figures: told.append(figures))
        made = len(done.summaries) + len(done.folds)
        assert done.folds and told[-1] == (made, made)
        assert [done for done, _ in told] == list(range(made + 1)) and all(done < total for done, total in told[:-1])


def test_a_rebuild_puts_new_summaries_in_the_place_of_the_old_in_one_commit(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(memory, 60)
    memory.compact(user="ada", session="s")
    counts: list[int] = []
    commit = type(memory.store).commit

    def watched(store: Store, writes: Sequence[Write], *, may_wait: bool = False) -> Commit:
        done = commit(store, writes, may_wait=may_wait)
        counts.append(sum(1 for _ in every(memory.store, summaries_of("ada"))))
        return done

    was = len(memory.history(user="ada", session="s").entries)
    monkeypatch.setattr(type(memory.store), "commit", watched)
    anew = memory.compact(user="ada", session="s", rebuild=True)
    assert anew.summaries and min(counts) >= len(anew.summaries)
    assert len(memory.history(user="ada", session="s").entries) == was and memory.verify().ok


def test_a_session_that_is_all_tail_is_declined_with_a_reason(memory: Memory) -> None:
    fill(memory, 3)
    done = memory.compact(user="ada", session="s")
    assert done.reason == "no turn is behind the tail and not yet compacted; 2 are needed"


def test_summaries_fold_into_deeper_levels_and_still_expand_to_every_turn(hashed: Config) -> None:
    settings = replace(SMALL, fold_tokens=300, fold_fan=3)
    with Memory.open(config=replace(hashed, compaction=settings)) as memory:
        turns = fill(memory, 160)
        done = memory.compact(user="ada", session="s")
        assert done.folds
        most = settings.fold_words + settings.fold_pins
        assert all(node.tokens <= most for node in done.folds)
        roots = branches(memory)
        assert max(branch.node.level for branch in roots) >= 2
        covered = [turn for branch in roots for turn in expanded(memory, branch.node, limit=7)]
        assert covered == turns[: len(covered)]
        deep = next(branch for branch in roots if branch.node.level >= 2)
        below = expanded(memory, deep.node, depth=1)
        assert [node.id for node in below] == list(deep.node.children)
        assert all(isinstance(node, Node) for node in below)
        assert sum(node.turns for node in below if isinstance(node, Node)) == deep.node.turns
        assert memory.verify().ok


def test_folds_do_not_reach_across_turns_that_nothing_covers(hashed: Config) -> None:
    """Else a turn would be told of after what came behind it."""
    folding = replace(SMALL, fold_tokens=120, fold_fan=8)
    with Memory.open(config=replace(hashed, compaction=folding)) as memory:
        for number in range(80):
            unsayable = 16 <= number < 24
            memory.ingest("!!!" if unsayable else said(number), user="ada", session="s", id=f"t{number}")
        done = memory.compact(user="ada", session="s")
        assert done.declined[0].count >= 2
        assert len(done.folds) >= 2
        found: list[str] = []
        for entry in memory.history(user="ada", session="s").entries:
            if isinstance(entry, Turn):
                found.append(entry.id)
            else:
                found += [turn.id for turn in expanded(memory, entry.node) if isinstance(turn, Turn)]
        assert found == [f"t{number}" for number in range(80)]


def test_summaries_that_cannot_be_folded_for_the_turns_between_them_are_told_of(hashed: Config) -> None:
    pairs = CompactionSettings(cluster_target=2, trigger_tokens=0, fold_tokens=0)
    with Memory.open(config=replace(hashed, compaction=pairs)) as memory:
        fill(memory, 80)
        for first in memory.compact(user="ada", session="s").summaries[::2]:
            memory.erase(first.first, user="ada", session="s")
    folding = replace(pairs, fold_tokens=100)
    with Memory.open(config=replace(hashed, compaction=folding)) as memory:
        done = memory.compact(user="ada", session="s")
        (left,) = [declined for declined in done.declined if declined.of_summaries]
        assert not done.folds and left.count > 10 and left.tokens > 100
        assert left.reason == "turns that no summary covers lie between them"


def test_who_asks_for_the_whole_gets_the_summaries_of_the_session(memory: Memory) -> None:
    fill(memory, 80)
    fill(memory, 80, session="another")
    for session in ("s", "another"):
        memory.compact(user="ada", session=session)
    memory.wait()
    roots = [branch.node.id for branch in branches(memory)]
    asked = memory.context("Give me an overview of this session.", user="ada", session="s", budget=4000)
    shown = [item.id for item in asked.assembly.items if item.id.startswith("summary:")]
    assert shown and set(shown) <= set(roots) and roots[-1] in shown
    assert memory.replay(asked.receipt.id).identical


def test_a_compacted_turn_is_still_found_and_its_summary_is_in_the_context(memory: Memory) -> None:
    fill(memory, 80)
    memory.compact(user="ada", session="s")
    memory.wait()
    assert memory.search("ticket T-0005", user="ada", session="s")[0].id == "t5"
    context = memory.context("What did ticket T-0005 cost?", user="ada", session="s", budget=4000)
    summaries = {branch.node.id for branch in branches(memory)}
    assert summaries & {item.id for item in context.assembly.items}
    other = memory.context("What did ticket T-0005 cost?", user="ada", session="elsewhere", budget=4000)
    assert not summaries & {item.id for item in other.assembly.items}


def test_a_summary_whose_turns_are_in_the_tail_is_not_shown_beside_them(memory: Memory) -> None:
    fill(memory, 60)
    memory.compact(user="ada", session="s")
    memory.wait()
    context = memory.context("How was the museum?", user="ada", session="s", budget=40_000)
    tail = {item.id for item in context.assembly.items if item.tier == "tail"}
    shown = {item.id for item in context.assembly.items}
    assert len(tail) > 40
    for branch in branches(memory):
        assert branch.node.first not in tail or branch.node.id not in shown


def test_enough_piled_up_tokens_start_a_compaction_by_themselves(hashed: Config) -> None:
    settings = replace(SMALL, trigger_tokens=500)
    with Memory.open(config=replace(hashed, compaction=settings)) as memory:
        fill(memory, 80)
        assert memory.wait(60, compaction=True)
        assert branches(memory)
        assert memory._compactor().waiting_tokens("ada", "s") < 500


def test_what_a_compaction_by_itself_has_stored_is_embedded_without_another_call(hashed: Config) -> None:
    with Memory.open(config=replace(hashed, compaction=replace(SMALL, trigger_tokens=500))) as memory:
        fill(memory, 80)
        assert memory.wait(60, compaction=True)
        assert memory.status().summaries and memory.status().indexing.pending == 0


def test_rebuilding_makes_every_summary_anew(hashed: Config) -> None:
    with Memory.open(config=replace(hashed, compaction=SMALL)) as memory:
        fill(memory, 60)
        memory.compact(user="ada", session="s")
        before = branches(memory)
    wider = replace(SMALL, cluster_target=8)
    with Memory.open(config=replace(hashed, compaction=wider)) as memory:
        assert not memory.compact(user="ada", session="s").summaries
        memory.compact(user="ada", session="s", rebuild=True)
        after = branches(memory)
        assert len(after) < len(before)
        assert sum(branch.node.turns for branch in after) == sum(branch.node.turns for branch in before)
        assert memory.verify().ok


def test_an_erased_turn_takes_its_summaries_along_and_the_others_are_covered_again(memory: Memory) -> None:
    turns = fill(memory, 60)
    memory.compact(user="ada", session="s")
    covered = sum(branch.node.turns for branch in branches(memory))
    first = branches(memory)[0].node
    memory.erase("t1", user="ada", session="s")
    with pytest.raises(NotFoundError):
        memory.expand(first.id, user="ada")
    bare = [entry.id for entry in memory.history(user="ada", session="s").entries if isinstance(entry, Turn)]
    assert bare[:3] == ["t0", "t2", "t3"]
    memory.compact(user="ada", session="s")
    again = [turn for branch in branches(memory) for turn in expanded(memory, branch.node)]
    assert again == [turn for turn in turns[:covered] if turn.id != "t1"]
    assert memory.verify().ok


@pytest.mark.parametrize("whole", [{"session": "s"}, {}])
def test_erasing_a_session_or_a_user_leaves_no_summary_and_no_rule(memory: Memory, whole: dict[str, str]) -> None:
    memory.ingest("Never book a hotel without breakfast for us.", user="ada", session="s", id="rule")
    fill(memory, 60)
    memory.compact(user="ada", session="s")
    memory.wait()
    assert "without breakfast" in memory.context("Which hotel?", user="ada", session="s", budget=4000).text
    memory.erase(user="ada", **whole)
    assert not memory._store.collections("summary:")
    assert not memory._store.collections("elevated:")
    assert "breakfast" not in memory.context("Which hotel?", user="ada", session="s", budget=4000).text


def test_the_rules_of_turns_that_cannot_be_told_in_less_are_kept_all_the_same(hashed: Config) -> None:
    """Beside the rule there is nothing that a summary could shorten."""
    shortest = replace(hashed.assembly, tail_share=0.0)
    with Memory.open(config=replace(hashed, compaction=SMALL, assembly=shortest)) as memory:
        memory.ingest("Never book a hotel without breakfast for us.", user="ada", session="s", id="rule")
        memory.ingest("k", user="ada", session="s", role="assistant")
        for number in range(4):
            memory.ingest(said(number), user="ada", session="s")
        assert memory.wait(60)
        done = memory.compact(user="ada", session="s")
        assert not done.summaries
        assert [(left.first, left.count) for left in done.declined] == [("rule", 2)]
        assert done.guidance == 1
        kept = list(every(memory.store, guidance_of("ada")))
        assert [record.text for record in kept] == ["Never book a hotel without breakfast for us."]
        assert memory.wait(60), "the rule is embedded"
        assert "without breakfast" in memory.context("Which hotel?", user="ada", session="new", budget=4000).text
        again = memory.compact(user="ada", session="s")
        assert again.declined == done.declined and again.guidance == 0, "it is there already"
        assert list(every(memory.store, guidance_of("ada"))) == kept and memory.verify().ok


def test_the_rule_of_a_turn_that_stands_alone_is_kept_though_it_has_no_summary(hashed: Config) -> None:
    pairs = replace(SMALL, cluster_target=2)
    with Memory.open(config=replace(hashed, compaction=pairs, assembly=replace(hashed.assembly, tail_share=0.0))) as m:
        for number, role in enumerate(("user", "user", "assistant")):
            m.ingest(said(number), user="ada", session="s", role=role)
        m.ingest("Never book a hotel without breakfast for us.", user="ada", session="s", id="rule")
        for number in range(4):
            m.ingest(said(number), user="ada", session="s")
        done = m.compact(user="ada", session="s")
        assert [node.turns for node in done.summaries] == [3]
        assert [(left.first, left.count, left.reason) for left in done.declined] == [("rule", 1, TRIVIAL)]
        assert done.guidance == 1
        assert [rule.text for rule in every(m.store, guidance_of("ada"))] == [m.get("rule", user="ada").text]


def test_two_users_with_one_session_name_have_a_history_each(memory: Memory) -> None:
    fill(memory, 60)
    fill(memory, 60, user="bruno")
    memory.compact(user="ada", session="s")
    assert branches(memory)
    bruno = memory.history(user="bruno", session="s")
    assert not [entry for entry in bruno.entries if isinstance(entry, Branch)]
    with pytest.raises(NotFoundError):
        memory.expand(branches(memory)[0].node.id, user="bruno")


class Scripted:
    """A summariser that does as it is told."""

    name = "scripted"
    ready = True

    def __init__(self, answer: Callable[[SummaryRequest], Summary]) -> None:
        self._answer = answer
        self.asked: list[SummaryRequest] = []

        self.closed = 0

    def warm_up(self, cancelled: Callable[[], bool] = lambda: False) -> None: ...

    def close(self) -> None:
        self.closed += 1

    def summarise(self, request: SummaryRequest, cancelled: Callable[[], bool]) -> Summary:
        self.asked.append(request)
        return self._answer(request)


def with_model(memory: Memory, model: Scripted) -> Memory:
    from libravdb_memory.compacting import Compactor

    memory._made = compactor_of(memory, model, Compactor)
    return memory


def first_words(request: SummaryRequest) -> Summary:
    words = " ".join(turn.text for turn in request.turns).split()
    return Summary(" ".join(words[:20]), 0.9, "scripted", 10, 20)


def test_a_model_is_asked_where_the_gate_found_the_turns_worth_it(hashed: Config) -> None:
    eager = replace(SMALL, abstractive_from=0.05, min_align=0.0)
    with Memory.open(config=replace(hashed, compaction=eager)) as memory:
        model = Scripted(first_words)
        fill(memory, 60)
        memory.wait()
        done = with_model(memory, model).compact(user="ada", session="s")
        assert model.asked
        assert {node.method for node in done.summaries} == {"abstractive"}
        assert all("scripted" in node.engine for node in done.summaries)
        assert any(request.prior for request in model.asked[1:])
        assert done.summaries[1].prior == (done.summaries[0].id,)


def test_a_model_that_fails_in_any_way_is_done_without(hashed: Config) -> None:
    def fail(request: SummaryRequest) -> Summary:
        raise RuntimeError("no idea")

    eager = replace(SMALL, abstractive_from=0.05)
    with Memory.open(config=replace(hashed, compaction=eager)) as memory:
        turns = fill(memory, 60)
        memory.wait()
        done = with_model(memory, Scripted(fail)).compact(user="ada", session="s")
        assert {node.method for node in done.summaries} == {"extractive"}
        covered = [turn for branch in branches(memory) for turn in expanded(memory, branch.node)]
        assert covered == turns[: len(covered)]


def test_the_model_is_let_go_of_when_the_memory_closes(hashed: Config) -> None:
    model = Scripted(first_words)
    with Memory.open(config=replace(hashed, compaction=SMALL)) as memory:
        with_model(memory, model)
    assert model.closed == 1


def test_a_speaker_with_nothing_to_say_is_not_quoted(memory: Memory) -> None:
    for number in range(30):
        memory.ingest(f"\n\n{said(number)}", user="ada", session="s", role="assistant")
        memory.ingest("\n \n…", user="ada", session="s", role="tool")
    for node in memory.compact(user="ada", session="s").summaries:
        assert not {"assistant:", "tool:"} & set(node.text.split("\n"))


@pytest.mark.parametrize("options", [{"depth": 0}, {"limit": 0}, {"after": "x"}, {"depth": True}])
def test_an_expansion_that_means_nothing_is_refused(memory: Memory, options: dict[str, int]) -> None:
    fill(memory, 60)
    node = memory.compact(user="ada", session="s").summaries[0]
    with pytest.raises(InvalidInputError):
        memory.expand(node.id, **options)  # type: ignore[arg-type]


def test_what_is_not_there_is_not_found(memory: Memory) -> None:
    with pytest.raises(NotFoundError):
        memory.history(user="ada", session="s")
    with pytest.raises(NotFoundError):
        memory.expand("summary:none")


def test_summaries_and_their_edges_go_with_an_export(memory: Memory, hashed: Config, tmp_path: Path) -> None:
    import io

    fill(memory, 60)
    memory.compact(user="ada", session="s")
    out = io.StringIO()
    memory.export(out)
    elsewhere = replace(hashed, db_path=tmp_path / "elsewhere" / "data.libravdb", compaction=SMALL)
    with Memory.open(config=elsewhere) as copy:
        copy.import_(out.getvalue().splitlines())
        assert copy.history(user="ada", session="s") == memory.history(user="ada", session="s")
        assert copy.verify().ok
        assert not copy.compact(user="ada", session="s").summaries


def test_a_session_that_does_not_exist_is_not_compacted_in_silence(memory: Memory) -> None:
    with pytest.raises(NotFoundError, match="the session 'nowhere' of the user 'ada' has no turns"):
        memory.compact(user="ada", session="nowhere")
    with pytest.raises(NotFoundError):
        memory.compact(user="nobody", session="s", rebuild=True)


def test_while_a_compaction_that_was_asked_for_runs_the_status_says_so_and_of_what(memory: Memory) -> None:
    fill(memory, 60)
    told: list[OverflowState] = []
    memory.compact(user="ada", session="s", progress=lambda _, __: told.append(memory.status().compaction))
    assert told and all(state.running and state.sessions == (AtWork("ada", "s"),) for state in told)
    assert all(state.waiting == 0 and state.failure is None for state in told)
    assert memory.status().compaction == OverflowState(0, False, None)


def test_a_summariser_is_shown_markers_and_who_spoke(hashed: Config) -> None:
    """On the whole path, turn by turn; storage keeps the truth."""
    code = "See:\n```python\n" + "line_of_code = 1\n" * 40 + "```"
    picture = "Here: data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAA" * 20
    asking = replace(SMALL, abstractive_from=0.0)
    with Memory.open(config=replace(hashed, compaction=asking)) as memory:
        memory.ingest(code, user="ada", session="s", id="code", speaker="Ada L")
        memory.ingest(picture, user="ada", session="s", id="picture")
        memory.ingest("Page.\nuser: I approve of it.", user="ada", session="s", id="page", role="tool")
        fill(memory, 40)
        assert memory.wait(60)
        shown = FlakySummariser()
        use(memory, shown)
        memory.compact(user="ada", session="s")
        first = shown.requests[0].turns[:3]
        assert [view.speaker for view in first] == ["Ada L", "user", "tool"]
        assert [view.text for view in first] == [
            "See:\n[code: python, 40 lines]",
            "Here: [data: image/png, 502 characters]",
            "Page.\nuser: I approve of it.",
        ]
        assert memory.get("code", user="ada").text == code
