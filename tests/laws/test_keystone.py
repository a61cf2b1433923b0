"""The keystone: a memory on a real file, driven at random, and after each step all sixteen invariants.

What happens: several users and sessions ingest turns (bundles, rules, duplicates, times out of order, any script),
documents come and go, contexts are assembled, sessions are compacted by a summariser that fails in every way, turns,
sessions and users are erased, and the process ends without warning: other processes, with the store open and at work on
it, are killed at a commit of turns, of a compaction or of an erasure. `make keystone-long` runs many more cases.
"""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
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
    Searched,
    assert_only_whole_bundles_behind_the_tail,
    look,
    occurred,
)
from tests.laws.keystone_model import TOKEN, Document, Model, Place, Said, tail_begins
from tests.laws.keystone_settings import BASE, STARTUP, TAIL_SHARE, configured
from tests.laws.killing import MOMENTS, Kind, Moment, Told
from tests.laws.victims import CAN_FORK, Job, Victims

from libravdb_memory import Memory
from libravdb_memory.arguments import Scope
from libravdb_memory.compacting import Compaction
from libravdb_memory.errors import RulesOverrunError
from libravdb_memory.namespaces import guidance_of, history_of, summaries_of
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Equals, Key
from libravdb_memory.summaries import Node, node_of

CASES = int(os.environ.get("LIBRAVDB_LAW_CASES", "400"))
PLACES: tuple[Place, ...] = (("ada", "one"), ("ada", "two"), ("bob", "one"))
NAMES = ("AGENTS.md", "notes.md", "map.md")
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


OVERVIEW = ("Give me an overview of this session.", 6000)
"""There is room for every summary."""
QUESTIONS = (
    ("where is the lantern and the deploy key?", 400),
    ("may I push to main before the whole test suite ran?", 2000),
    ("was the lantern on the quay lit?", 1200),
    ("and the tea?", 150),
    OVERVIEW,
)
"""What is asked after each step, and with which budget; one more or less than a multiple of the places, so that each
comes everywhere. Rules, hops and summaries answer some of them."""
SOFT = (
    "Prefer tea",
    "Prefer short answers to long ones, and plain words to learned ones, whenever both say the same",
    "Prefer to show the command that was run, with all that it printed, before you tell what it means",
)
LORE = {
    "map.md": Document((), SOFT[1:], ("The lantern on the quay was lit.",), ("notes.md",)),
    "notes.md": Document((), SOFT[:2], ("Tea grows on hills.",), ("AGENTS.md",)),
    "AGENTS.md": Document((), (), ("Herons nest in April.",)),
}
"""Each is reached from the one before; what the last one says answers no question."""
SEARCHED: tuple[tuple[bool, tuple[Scope, ...] | None], ...] = (
    (True, None),
    (False, None),
    (True, ("session", "summaries")),
    (False, ("summaries",)),
)
"""Whether a session is named to a search, and the scopes; as with questions, each comes everywhere."""
LONG = 54
"""Turns of a conversation of which a prompt is offered more than it recalls."""
Drawn = tuple[str, int, int | None]
"""Of a turn: its kind, the sentence it says, and when."""
places = st.sampled_from(PLACES)
seldom = st.sampled_from([False, False, False, True])
moments = st.one_of(st.none(), st.integers(1_600_000_000_000, 1_700_000_000_000))
kinds = st.sampled_from(["plain", "plain", "plain", "request", "tools", "bundle", "long", "blank", "rule", "again"])
batches = st.lists(st.tuples(kinds, st.integers(0, len(SENTENCES) - 1), moments), min_size=3, max_size=12)
rule_texts = st.sampled_from(["Never lose a key", "Keep every promise", "Count twice", "Ask before you delete"])
documents = st.builds(
    Document,
    hard=st.lists(rule_texts, max_size=2).map(tuple),
    soft=st.lists(st.sampled_from(SOFT), max_size=3).map(tuple),
    lore=st.lists(st.sampled_from(["The lantern on the quay was lit.", "Tea grows on hills."]), max_size=2).map(tuple),
    hops=st.lists(st.sampled_from(NAMES), max_size=2, unique=True).map(tuple),
)
budgets = st.one_of(st.integers(0, 60), st.integers(60, 1500))
prompts = st.sampled_from(
    ["where is the deploy key?", "how many days since Friday?", "lantern", "dreams?", "", "tests"]
)
deeds = st.lists(
    st.sampled_from((*DEEDS, "good", "tells all", "tells all", "overtaken", "overtaken")), min_size=1, max_size=4
).map(tuple)


moments_of_death = st.sampled_from(MOMENTS)


class Keystone(RuleBasedStateMachine):
    victims: ClassVar[Victims]
    happened: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="keystone-"))
        self.config = configured(self.folder / "home")
        self.generation = 0
        self.memory = Memory.open(self.folder / "store-0", config=self.config)
        self.model = Model()
        self.numbers = itertools.count()
        self.asked: list[Asked] = []
        self.searched: list[Searched] = []
        self.questions = itertools.cycle(QUESTIONS)
        self.searches = itertools.cycle(SEARCHED)

    def teardown(self) -> None:
        self.memory.close()
        shutil.rmtree(self.folder)

    # ── turns in ─────────────────────────────────────────────────────────────────────────────────────────────────

    @initialize(
        place=places,
        kinds=st.lists(kinds, min_size=8, max_size=20),
        batch=batches,
        documented=st.sampled_from([True, True, False]),
        much=st.sampled_from([True, True, True, False]),
        data=st.data(),
    )
    def begin_with_a_conversation(
        self, place: Place, kinds: list[str], batch: list[Drawn], documented: bool, much: bool, data: st.DataObject
    ) -> None:
        """Every history begins with a rule, with a conversation of another user that is compacted, and with a process
        that is killed while turns arrive and one that is killed while it compacts."""
        for name, document in LORE.items() if documented else ():
            self.load_or_remove_a_document(name, document, False)
        other: Place = ("bob", "one") if place[0] == "ada" else ("ada", "one")
        for where in (place, other):
            plain = ["plain"] * (LONG - len(kinds) if much and where[0] == "ada" else 0)
            drawn = enumerate(["rule", *kinds, *plain])
            self.ingest(where, [(kind, number % len(SENTENCES), None) for number, kind in drawn])
        self._compact(other, False)
        if CAN_FORK:
            self.kill_while_turns_arrive(place, batch, data)
            self.kill_while_compacting(place, data)
        assert self.memory.wait(60)
        self._ask(other, OVERVIEW[0], 20_000, (), owns=False)
        self.assemble(other, "lantern", 400, 6, 2, True)
        for new in [where for where in PLACES if where not in self.model.turns]:
            for budget in (1200, 2000):
                self._ask(new, "and the tea?", budget, (), owns=False)

    @rule(place=places, batch=batches)
    def ingest(self, place: Place, batch: list[Drawn]) -> None:
        for said in self._said(place, batch):
            self._say(place, said)

    def _said(self, place: Place, batch: list[Drawn]) -> list[Said]:
        """The turns of a batch, before any of them is said."""
        said = self.model.session(place)
        known = len(said)
        for kind, sentence, ts in batch:
            said += said[-1:] if kind == "again" else self._turns(place, kind, SENTENCES[sentence], ts)
        return said[known:]

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
        written = {"long": f"{text}. " * 25, "blank": " \n", "rule": f"{STANDING} ({text.split()[0]})"}
        role = "user" if number % 3 or kind == "rule" else "assistant"
        return [Said(name, written.get(kind, text), role, ts)]

    def _say(self, place: Place, said: Said) -> None:
        turn = self.memory.ingest(**_arguments(said), user=place[0], session=place[1])
        assert (turn.text, turn.id) == (said.text, said.id)
        self.model.say(place, said)

    # ── documents ────────────────────────────────────────────────────────────────────────────────────────────────

    @rule(name=st.sampled_from(NAMES), document=documents, remove=seldom)
    def load_or_remove_a_document(self, name: str, document: Document, remove: bool) -> None:
        if remove and name in self.model.documents:
            self.memory.remove_document(name)
            del self.model.documents[name]
            return
        try:
            self.memory.load_document(name, document.text)
        except RulesOverrunError:
            needed = [rule for each in (self.model.documents | {name: document}).values() for rule in each.needed]
            assert sum(map(COUNT, needed)) > STARTUP * 0.35
            return
        self.model.documents[name] = document

    # ── prompts ──────────────────────────────────────────────────────────────────────────────────────────────────

    @rule(
        place=places,
        prompt=prompts,
        budget=budgets,
        shown=st.integers(0, 8),
        fresh=st.integers(0, 3),
        owns=st.sampled_from([True, True, False]),
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
        said = tuple(self.model.session(place))
        context = self.memory.context(
            prompt, user=place[0], session=place[1], budget=budget, messages=messages, mode=mode
        )
        self.asked.append(Asked(place, prompt, budget, context, said, messages, owns))
        return context

    def _search(self, place: Place, query: str) -> None:
        here, scopes = next(self.searches)
        session = place[1] if here else None
        hits = self.memory.search(query, user=place[0], session=session, scopes=scopes, count_use=here)
        self.searched.append(Searched(place[0], session, "summaries" in (scopes or ()), hits))

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
        victim = self._some_turn(data) if "overtaken" in deeds else None  # drawn here: a model runs in another thread
        erased: list[tuple[Place, Said]] = []

        def meanwhile() -> None:
            if victim is not None and not erased:
                erased.append(victim)
                self.memory.erase(victim[1].id, user=victim[0][0], session=victim[0][1])
                self.happened["erased while compacting"] += 1

        assert self.memory.wait(60)
        use(self.memory, FlakySummariser(deeds, meanwhile))
        done = self._compact(place, rebuild, erased)
        for victim_place, said in erased:
            self.model.erase_turn(victim_place, said.id)
            self._assert_forgotten([said.text])
        if "cancels" not in deeds and not erased and done.ended_early:
            assert rebuild and "nothing was replaced: what a model wrote before is kept" in done.reason
            self.happened["kept what a model wrote"] += 1

    def _compact(self, place: Place, rebuild: bool, erased: Sequence[tuple[Place, Said]] = ()) -> Compaction:
        """`erased` fills up meanwhile."""
        tail = self._tail_begins(place)
        before = set() if rebuild else self.model.covered(place)
        done = self.memory.compact(user=place[0], session=place[1], rebuild=rebuild)
        made = (*done.summaries, *done.folds)
        self.model.compacted(place, made, rebuilt=rebuild and (bool(done.summaries) or not done.ended_early))
        self._assert_well_covered(place, before, tail, made, {said.id for where, said in erased if where == place})
        self._learn_guidance(place, None if erased else done.guidance)
        if not done.ended_early and not erased:
            self._assert_all_is_covered_or_declined(place, tail, done)
        return done

    def _assert_all_is_covered_or_declined(self, place: Place, tail: int, done: Compaction) -> None:
        turns = self.model.session(place)
        bare = [turn for turn in turns[:tail] if turn.id not in self.model.covered(place)]
        declined = sum(each.count for each in done.declined if not each.first.startswith("sum"))
        assert declined == len(bare) or (len(bare) == 1 and done.reason)

    def _tail_begins(self, place: Place) -> int:
        turns = self.model.session(place)
        return tail_begins(turns, [COUNT(turn.text) for turn in turns], BASE, int(STARTUP * TAIL_SHARE))

    def _assert_well_covered(
        self, place: Place, before: set[str], tail: int, made: Sequence[Node], erased: AbstractSet[str] = frozenset()
    ) -> None:
        """`made` are new, and what they cover was not among `before`; of turns `erased` since no rule is left."""
        covered = {node.id: self.model.summaries[place][node.id].turns for node in made if node.level == 1}
        assert_only_whole_bundles_behind_the_tail(self.model, place, before, tail, covered)
        for node in made:
            assert node.tokens < node.source_tokens
        kept = self._guidance(place)
        for name in (name for below in covered.values() for name in below):
            said = self.model.turns[place][name]
            if said.text.startswith(STANDING) and said.role == "user":
                assert STANDING in kept[name] if name not in erased else name not in kept

    def _guidance(self, place: Place) -> dict[str, str]:
        rules = every(self.memory._store, guidance_of(place[0]), Equals("group", place[1]))
        return {str(rule.metadata["source_turn_id"]): rule.text for rule in rules}

    def _learn_guidance(self, place: Place, new: int | None) -> None:
        """As many new rules as were told of; those known already stay as they are. Each is in the words of its turn."""
        kept, known = self._guidance(place), self.model.guidance.get(place, {})
        assert new is None or len(kept) - len(known) == new
        assert new is None or known.items() <= kept.items()
        for name, text in kept.items():
            assert new is None or text in self.model.turns[place][name].text
        self.model.guidance[place] = kept

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

    @precondition(lambda self: CAN_FORK and self.model.turns)
    @rule(place=places, batch=batches, work=st.sampled_from(["turns", "compaction", "erasure"]), data=st.data())
    def kill_at_work(self, place: Place, batch: list[Drawn], work: str, data: st.DataObject) -> None:
        if work == "turns":
            self.kill_while_turns_arrive(place, batch, data)
        elif work == "erasure":
            self.kill_while_erasing(data)
        else:
            self.kill_while_compacting(data.draw(st.sampled_from(sorted(self.model.turns))), data)

    def kill_while_turns_arrive(self, place: Place, batch: list[Drawn], data: st.DataObject) -> None:
        """What was acknowledged is there; of what was not, at most the one turn whose commit was through."""
        kind: Kind = data.draw(st.sampled_from(["turn", "turn", "indexing"]))
        moment = data.draw(moments_of_death)
        said = self._said(place, batch)
        number = data.draw(st.integers(0, 11)) % max(len(said), 1)
        job = self._job(place, kind, number, moment, turns=tuple(map(_arguments, said)))
        told = self._killed(job)
        acknowledged = [each["acknowledged"] for each in told if "acknowledged" in each]
        hit = kind == "turn" and bool(said)
        assert acknowledged == [turn.id for turn in (said[:number] if hit else said)]
        there = said[: number + (moment == "after")] if hit else said
        for turn in there:
            self.model.say(place, turn)

    def kill_while_compacting(self, place: Place, data: st.DataObject) -> None:
        """What its commits wrote until then is there, and nothing else; a rebuild exchanges all or nothing."""
        rebuild, number = data.draw(st.booleans()), data.draw(st.integers(0, 3))
        tail, before = self._tail_begins(place), self.model.covered(place)
        old = list(self.model.summaries.get(place, {}))
        job = self._job(
            place,
            "compaction",
            0 if rebuild and number < 2 else number,
            data.draw(moments_of_death),
            compact=True,
            rebuild=rebuild,
            deeds=data.draw(st.one_of(st.none(), deeds)),
        )
        told = self._killed(job)
        commits = [each for each in told if "summaries" in each]
        removed = [name for commit in commits for name in commit["removed"]]
        assert sorted(removed) in ([], sorted(old)) and (rebuild or not removed)
        made = [self._node(place, name) for commit in commits for name in commit["summaries"]]
        self.model.compacted(place, made, rebuilt=bool(removed))
        self._assert_well_covered(place, set() if removed else before, tail, made)
        rules = {name for commit in commits for name in commit["guidance"]}
        self._learn_guidance(place, len(rules - self.model.guidance.get(place, {}).keys()))
        for done in (each["compacted"] for each in told if "compacted" in each):
            assert [*done["summaries"], *done["folds"]] == [node.id for node in made]

    def kill_while_erasing(self, data: st.DataObject) -> None:
        """A turn is there with all that was made from it, or none of that is."""
        place, said = self._some_turn(data)
        number, moment = data.draw(st.integers(0, 1)), data.draw(moments_of_death)
        told = self._killed(self._job(place, "erasure", number, moment, erase=said.id))
        if any([history_of(place[0]), place[1], said.id] in each.get("erased", ()) for each in told):
            self.model.erase_turn(place, said.id)
            self._assert_forgotten([said.text])

    def _job(self, place: Place, kind: Kind, number: int, moment: Moment, **work: Any) -> Job:
        store, home = self.folder / f"store-{self.generation}", self.folder / "home"
        return Job(str(store), str(home), place[0], place[1], kind, number, moment, **work)

    def _killed(self, job: Job) -> list[Told]:
        """Let another process have the store, and take it up when that is dead."""
        self.memory.close()
        told = self.victims.killed(job)
        self.memory = Memory.open(job.store, config=self.config)
        through = any("all done" in each for each in told)
        self.happened["kills"] += 1
        self.happened[f"kills at a commit: {job.kind}"] += not through
        return told

    def _node(self, place: Place, name: str) -> Node:
        record = self.memory._store.get(Key(summaries_of(place[0]), name, place[1]))
        assert record is not None, "a commit that returned is there"
        return node_of(record)

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
        for place in PLACES:
            prompt, budget = next(self.questions)
            self._ask(place, prompt, budget, (), owns=False)
            self._search(place, prompt)
        seen = look(self.memory, self.model, self.asked, self.searched)
        for check in CHECKS:
            check(seen)
        self.happened.update(occurred(seen))
        self.asked.clear()
        self.searched.clear()


def _arguments(said: Said) -> dict[str, Any]:
    return {"text": said.text, "id": said.id, "role": said.role, "ts": said.ts, "metadata": dict(said.meta)}


WANTED = {
    "hops": 20,
    "a second hop possible": 5,
    "summaries with a quality below 1": 20,
    "summaries shown": 20,
    "summaries found": 20,
    "turns found": 200,
    "a summary whose first turn is in the tail": 3,
    "two users with summaries": 10,
    "guidance chosen": 20,
    "soft rules cut in part": 5,
    "tails shown": 20,
    "recovered": 2,
    "own mode with messages": 3,
    "degraded": 10,
}
"""How often at least: a third or less of what the poorest of eight runs had."""
KILLS = {"kills": 5, "kills at a commit: turn": 1, "kills at a commit: compaction": 1}
SELDOM = {
    "erased while compacting": 1,
    "kept what a model wrote": 1,
    "kills at a commit: indexing": 1,
    "kills at a commit: erasure": 1,
}


def run(cases: int, steps: int, wanted: Mapping[str, int] = WANTED | KILLS) -> None:
    """A law that holds of nothing says nothing: what is wanted happened so often in the whole run."""
    Keystone.happened = Counter()
    with Victims() as Keystone.victims:
        _run(cases, steps)
    possible = {what: least for what, least in wanted.items() if CAN_FORK or "kills" not in what}
    lacking = [what for what, least in possible.items() if Keystone.happened[what] < least]
    assert not lacking, dict(Keystone.happened)


def _run(cases: int, steps: int) -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        Keystone,
        settings=settings(
            max_examples=cases,
            stateful_step_count=steps,
            deadline=None,
            phases=(
                Phase.explicit,
                Phase.reuse,
                Phase.generate,
            ),  # to shrink such histories takes longer than a test may
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
        ),
    )


def test_all_sixteen_invariants_hold_after_every_step() -> None:
    run(cases=8, steps=16)


@pytest.mark.long
def test_all_sixteen_invariants_hold_in_a_long_run() -> None:
    run(cases=CASES, steps=40, wanted=WANTED | KILLS | SELDOM)
