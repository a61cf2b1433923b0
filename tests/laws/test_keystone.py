"""The keystone: a memory on a real file, driven at random, and after each step all sixteen invariants.

What happens: several users and sessions ingest turns (bundles, rules, duplicates, times out of order, any script),
documents come and go, contexts are assembled, sessions are compacted by a summariser that fails in every way, turns,
sessions and users are erased, and the process ends without warning. `make keystone-long` runs many more cases.
"""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.laws.flaky_summariser import DEEDS, Deed, FlakySummariser, use
from tests.laws.keystone_checks import (
    CHECKS,
    COUNT,
    Asked,
    assert_only_whole_bundles_behind_the_tail,
    look,
)
from tests.laws.keystone_model import TOKEN, Document, Model, Place, Said, tail_begins

from libravdb_memory import Config, Memory, load_config
from libravdb_memory.compacting import CANCELLED, OVERTAKEN, Compaction
from libravdb_memory.errors import RulesOverrunError
from libravdb_memory.namespaces import guidance_of, history_of
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Equals

STARTUP, TAIL_SHARE, BASE = 200, 0.1, 4
CASES = int(os.environ.get("LIBRAVDB_LAW_CASES", "400"))
PLACES: tuple[Place, ...] = (("ada", "one"), ("ada", "two"), ("bob", "one"))
STANDING = "Always run the whole test suite before you push to main."
SENTENCES = (
    "the deploy key of billing moved to /etc/vault/keys",
    "port 8443 answers since Friday, 8080 does not any more",
    'she asked for tea & <b>biscuits</b> at "four"',
    "記憶は予算を守ります、金曜日まで",
    "память хранит всё, что было сказано",
    "we did not merge 4f2a91c because the test was red",
    "ünïcödé 🎉 and a lantern on the quay",
)


def configured(home: Path) -> Config:
    """Small clusters and a low bound for summaries, so that the graph grows deep; a model is asked whenever it can."""
    base = load_config(environ={"LIBRAVDB_HOME": str(home), "LIBRAVDB_EMBEDDING_BACKEND": "hashed"})
    compaction = replace(
        base.compaction,
        cluster_target=3,
        trigger_tokens=0,
        fold_tokens=40,
        fold_fan=2,
        abstractive_from=0.0,
        min_align=0.0,
    )
    assembly = replace(base.assembly, startup_budget=STARTUP, tail_share=TAIL_SHARE, kept_receipts=12)
    return replace(base, compaction=compaction, assembly=assembly)


places = st.sampled_from(PLACES)
seldom = st.sampled_from([False, False, False, True])
moments = st.one_of(st.none(), st.integers(1_600_000_000_000, 1_700_000_000_000))
kinds = st.sampled_from(["plain", "plain", "plain", "request", "tools", "bundle", "long", "blank", "rule", "again"])
batches = st.lists(st.tuples(kinds, st.integers(0, len(SENTENCES) - 1), moments), min_size=3, max_size=12)
rule_texts = st.sampled_from(["Never lose a key", "Keep every promise", "Count twice", "Ask before you delete"])
documents = st.builds(
    Document,
    hard=st.lists(rule_texts, max_size=2).map(tuple),
    soft=st.lists(st.sampled_from(["Prefer tea", "Prefer short answers", "Prefer plain words"]), max_size=3).map(tuple),
    lore=st.lists(st.sampled_from(["The lantern on the quay was lit.", "Tea grows on hills."]), max_size=2).map(tuple),
    hops=st.lists(st.sampled_from(["AGENTS.md", "notes.md"]), max_size=2, unique=True).map(tuple),
)
budgets = st.one_of(st.integers(0, 60), st.integers(60, 1500))
prompts = st.sampled_from(
    ["where is the deploy key?", "how many days since Friday?", "lantern", "dreams?", "", "tests"]
)
deeds = st.lists(st.sampled_from((*DEEDS, "good", "tells all", "tells all")), min_size=1, max_size=4).map(tuple)


class Keystone(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="keystone-"))
        self.config = configured(self.folder / "home")
        self.generation = 0
        self.memory = Memory.open(self.folder / "store-0", config=self.config)
        self.model = Model()
        self.numbers = itertools.count()
        self.asked: list[Asked] = []

    def teardown(self) -> None:
        self.memory.close()
        shutil.rmtree(self.folder)

    # ── turns in ─────────────────────────────────────────────────────────────────────────────────────────────────

    @initialize(place=places, kinds=st.lists(kinds, min_size=8, max_size=20))
    def begin_with_a_conversation(self, place: Place, kinds: list[str]) -> None:
        self.ingest(place, [(kind, number % len(SENTENCES), None) for number, kind in enumerate(kinds)])

    @rule(place=places, batch=batches)
    def ingest(self, place: Place, batch: list[tuple[str, int, int | None]]) -> None:
        for kind, sentence, ts in batch:
            for said in self._turns(place, kind, SENTENCES[sentence], ts):
                self._say(place, said)

    def _turns(self, place: Place, kind: str, sentence: str, ts: int | None) -> list[Said]:
        number = next(self.numbers)
        text = f"zq{place[0]}{number}x {sentence}"
        name = f"t{number}"
        if kind == "request":
            return [Said(name, text, "user", ts), Said(f"{name}a", f"noted: {sentence}", "assistant", ts)]
        if kind == "tools":
            call = Said(name, text, "assistant", ts, {"tool_calls": [f"c{number}"]})
            between = Said(f"{name}b", "meanwhile " + sentence, "user", ts)
            return [call, between, Said(f"{name}c", "42 rows", "tool", ts, {"tool_call_id": f"c{number}"})]
        if kind == "bundle":
            meta = {"bundle": f"b{number}"}
            return [Said(f"{name}{letter}", f"{text} {letter}", "user", ts, dict(meta)) for letter in "abc"]
        if kind == "again":
            known = self.model.session(place)
            return known[-1:]
        written = {"long": f"{text}. " * 25, "blank": " \n", "rule": f"{STANDING} ({text.split()[0]})"}
        role = "user" if number % 3 or kind == "rule" else "assistant"
        return [Said(name, written.get(kind, text), role, ts)]

    def _say(self, place: Place, said: Said) -> None:
        turn = self.memory.ingest(
            said.text, user=place[0], session=place[1], role=said.role, ts=said.ts, id=said.id, metadata=dict(said.meta)
        )
        assert (turn.text, turn.id) == (said.text, said.id)
        self.model.say(place, said)

    # ── documents ────────────────────────────────────────────────────────────────────────────────────────────────

    @rule(name=st.sampled_from(["AGENTS.md", "notes.md"]), document=documents, remove=seldom)
    def load_or_remove_a_document(self, name: str, document: Document, remove: bool) -> None:
        if remove and name in self.model.documents:
            self.memory.remove_document(name)
            del self.model.documents[name]
            return
        try:
            self.memory.load_document(name, document.text)
        except RulesOverrunError:
            assert COUNT(document.text) + COUNT("".join(d.text for d in self.model.documents.values())) > STARTUP * 0.35
            return
        self.model.documents[name] = document

    # ── prompts ──────────────────────────────────────────────────────────────────────────────────────────────────

    @rule(
        place=places,
        prompt=prompts,
        budget=budgets,
        shown=st.integers(0, 8),
        fresh=st.integers(0, 3),
        owns=st.booleans(),
    )
    def assemble(self, place: Place, prompt: str, budget: int, shown: int, fresh: int, owns: bool) -> None:
        if not owns:
            self._ask(place, prompt, budget, self._messages(place, shown, 0), owns=False)
            return
        messages = self._messages(place, shown, fresh)
        context = self._ask(place, prompt, budget, messages, owns=True)
        stored = every(self.memory._store, history_of(place[0]), Equals("group", place[1]))
        known = self.model.turns.get(place, {})
        held = []
        for record in stored:
            held.append(record.text)
            if record.id not in known:
                self.model.say(place, Said(record.id, record.text, str(record.metadata["role"]), record.ts))
                assert record.text in {message["content"] for message in messages}
        for message in messages:
            assert message in context.messages or message["content"] in held

    def _messages(self, place: Place, shown: int, fresh: int) -> tuple[dict[str, Any], ...]:
        known = [said for said in self.model.session(place) if not said.meta][-shown:] if shown else []
        new = [f"zq{place[0]}{next(self.numbers)}x said to the host alone" for _ in range(fresh)]
        said = [(turn.role, turn.text) for turn in known if turn.text.strip()]
        return tuple({"role": role, "content": text} for role, text in [*said, *(("user", text) for text in new)])

    def _ask(self, place: Place, prompt: str, budget: int, messages: tuple[dict[str, Any], ...], *, owns: bool) -> Any:
        mode: Any = "own" if owns else "augment"
        context = self.memory.context(
            prompt, user=place[0], session=place[1], budget=budget, messages=messages, mode=mode
        )
        self.asked.append(Asked(place, prompt, budget, context, messages, owns))
        return context

    # ── compaction ───────────────────────────────────────────────────────────────────────────────────────────────

    @precondition(lambda self: self.model.turns)
    @rule(data=st.data(), rebuild=seldom)
    def compact_by_extracts(self, data: st.DataObject, rebuild: bool) -> None:
        place = data.draw(st.sampled_from(sorted(self.model.turns)))
        use(self.memory, None)
        done = self._compact(place, rebuild)
        assert not done.reason or not done.summaries
        for _ in range(
            4
        ):  # what is said already decides what an extract repeats, so that a fold may help its neighbour
            again = self._compact(place, False)
            if not again.summaries and not again.folds:
                break
        else:
            raise AssertionError("compaction comes to no end")
        last = self.memory.compact(user=place[0], session=place[1])
        assert (last.summaries, last.folds, last.declined) == ((), (), again.declined)

    @precondition(lambda self: self.model.turns)
    @rule(deeds=deeds, rebuild=seldom, data=st.data())
    def compact_by_a_flaky_model(self, deeds: tuple[Deed, ...], rebuild: bool, data: st.DataObject) -> None:
        place = data.draw(st.sampled_from(sorted(self.model.turns)))
        erased: list[tuple[Place, Said]] = []

        def meanwhile() -> None:
            if self.model.turns and not erased:
                victim = self._some_turn(data)
                erased.append(victim)
                self.memory.erase(victim[1].id, user=victim[0][0], session=victim[0][1])

        assert self.memory.wait(60)
        use(self.memory, FlakySummariser(deeds, meanwhile))
        done = self._compact(place, rebuild, erased)
        for victim_place, said in erased:
            self.model.erase_turn(victim_place, said.id)
            self._assert_forgotten([said.text])
        if "cancels" not in deeds and not erased:
            assert done.reason not in (CANCELLED, OVERTAKEN)

    def _compact(self, place: Place, rebuild: bool, erased: Sequence[object] = ()) -> Compaction:
        """`erased` fills up meanwhile."""
        turns = self.model.session(place)
        tail = tail_begins(turns, [COUNT(turn.text) for turn in turns], BASE, int(STARTUP * TAIL_SHARE))
        before = set() if rebuild else self.model.covered(place)
        done = self.memory.compact(user=place[0], session=place[1], rebuild=rebuild)
        ended_early = done.reason in (CANCELLED, OVERTAKEN) and not done.summaries
        self.model.compacted(place, done, rebuilt=rebuild and not ended_early)
        covered = {node.id: self.model.summaries[place][node.id].turns for node in done.summaries}
        assert_only_whole_bundles_behind_the_tail(self.model, place, before, tail, covered)
        for node in (*done.summaries, *done.folds):
            assert node.tokens < node.source_tokens
        self._assert_guidance_is_kept(place, covered)
        if done.reason not in (CANCELLED, OVERTAKEN) and not erased:
            self._assert_all_is_covered_or_declined(place, tail, done)
        return done

    def _assert_all_is_covered_or_declined(self, place: Place, tail: int, done: Compaction) -> None:
        turns = self.model.session(place)
        bare = [turn for turn in turns[:tail] if turn.id not in self.model.covered(place)]
        declined = sum(each.count for each in done.declined if not each.first.startswith("sum"))
        assert declined == len(bare) or (len(bare) == 1 and done.reason)

    def _assert_guidance_is_kept(self, place: Place, covered: dict[str, tuple[str, ...]]) -> None:
        kept = {
            record.metadata["source_turn_id"]: record.text
            for record in every(self.memory._store, guidance_of(place[0]), Equals("group", place[1]))
        }
        for below in covered.values():
            for name in below:
                said = self.model.turns[place][name]
                if said.text.startswith(STANDING) and said.role == "user":
                    assert STANDING in kept[name]

    # ── forgetting ───────────────────────────────────────────────────────────────────────────────────────────────

    def erase_a_turn(self, data: st.DataObject) -> None:
        place, said = self._some_turn(data)
        assert self.memory.erase(said.id, user=place[0], session=place[1]).records >= 1
        self.model.erase_turn(place, said.id)
        self._assert_forgotten([said.text])

    @precondition(lambda self: self.model.turns)
    @rule(data=st.data(), much=seldom, whole_user=st.booleans())
    def erase(self, data: st.DataObject, much: bool, whole_user: bool) -> None:
        if not much:
            return self.erase_a_turn(data)
        place = data.draw(st.sampled_from(sorted(self.model.turns)))
        gone = [other for other in self.model.turns if other[0] == place[0]] if whole_user else [place]
        texts = [turn.text for other in gone for turn in self.model.session(other)]
        self.memory.erase(user=place[0], session=None if whole_user else place[1])
        for other in gone:
            self.model.erase_session(other)
        self._assert_forgotten(texts)

    def _assert_forgotten(self, texts: list[str]) -> None:
        """In no record is any word that only an erased turn held, and in no receipt."""
        live = self.model.tokens()
        gone = {found[0] for text in texts for found in TOKEN.finditer(text)} - live
        store = self.memory._store
        for info in store.collections():
            for record in every(store, info.name):
                assert not gone & {found[0] for found in TOKEN.finditer(f"{record.text} {record.metadata}")}, record
        for user in {place[0] for place in PLACES}:
            for receipt in self.memory.receipts(user=user, limit=50):
                assert not gone & {found[0] for found in TOKEN.finditer(str(receipt))}, receipt.id
        self.asked.clear()

    def _some_turn(self, data: st.DataObject) -> tuple[Place, Said]:
        place = data.draw(st.sampled_from(sorted(self.model.turns)))
        turns = self.model.session(place)
        return place, turns[data.draw(st.integers(0, len(turns) - 1))]

    # ── ends and beginnings ──────────────────────────────────────────────────────────────────────────────────────

    @rule(warning=st.booleans())
    def end_and_begin(self, warning: bool) -> None:
        """What the files hold when nobody has finished anything is what the next process finds."""
        if warning:
            self.memory.close()
            self.memory = Memory.open(self.folder / f"store-{self.generation}", config=self.config)
            return
        self.memory._indexer.stop()
        old, self.generation = self.folder / f"store-{self.generation}", self.generation + 1
        new = self.folder / f"store-{self.generation}"
        shutil.copytree(old, new)
        self.memory.close()
        shutil.rmtree(old)
        self.memory = Memory.open(new, config=self.config)

    # ── after each step ──────────────────────────────────────────────────────────────────────────────────────────

    @invariant()
    def all_sixteen_hold(self) -> None:
        assert self.memory.wait(60)
        for place in PLACES[: 1 + self.generation % len(PLACES)]:
            self._ask(place, "where is the lantern and the deploy key?", 400, (), owns=False)
        seen = look(self.memory, self.model, self.asked)
        for check in CHECKS:
            check(seen)
        self.asked.clear()


def run(cases: int, steps: int) -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        Keystone,
        settings=settings(
            max_examples=cases,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
        ),
    )


def test_all_sixteen_invariants_hold_after_every_step() -> None:
    run(cases=9, steps=24)


@pytest.mark.long
def test_all_sixteen_invariants_hold_in_a_long_run() -> None:
    run(cases=CASES, steps=40)
