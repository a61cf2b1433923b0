"""What a model is asked, when, and how sure its summary makes: through a whole compaction on a real store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.laws.flaky_summariser import FlakySummariser, use

from libravdb_memory import Config, Memory
from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.compacting import Compaction
from libravdb_memory.engines.summarising.protocol import Summary, SummaryRequest
from libravdb_memory.errors import ModelUnavailableError
from libravdb_memory.gating import JUDGED
from libravdb_memory.lineage import Branch
from libravdb_memory.namespaces import history_of
from libravdb_memory.store.protocol import Key, Mark
from libravdb_memory.summaries import Node

TAIL = 4
DEFAULTS = CompactionSettings()
Opening = Callable[..., Memory]


@pytest.fixture
def opened(tmp_path: Path, hashed: Config) -> Iterator[Opening]:
    """A memory that compacts clusters of four, behind the shortest tail, and only when asked."""
    memories: list[Memory] = []

    def opening(**settings: float) -> Memory:
        compaction = replace(hashed.compaction, cluster_target=4, trigger_tokens=0, fold_tokens=0, **settings)  # type: ignore[arg-type]
        config = replace(hashed, compaction=compaction, assembly=replace(hashed.assembly, tail_share=0.0))
        memories.append(Memory.open(tmp_path / f"store{len(memories)}", config=config))
        return memories[-1]

    yield opening
    for memory in memories:
        memory.close()


def say(memory: Memory, clusters: int) -> None:
    for number in range(4 * clusters + TAIL):
        text = (
            f"Crate {number} with {number + 30} lamps was carried from the quay to hall H-{number:03d}, "
            f"and the clerk of that hall wrote its weight, its owner and the hour into the book."
        )
        memory.ingest(text, user="ada", session="s", id=f"t{number}")
    assert memory.wait(60)


def scored(memory: Memory, *scores: float) -> None:
    """As if the gate had found so much in the turns, oldest first."""
    keys = [Key(history_of("ada"), f"t{number}", "s") for number in range(len(scores))]
    memory.store.commit([Mark(key, JUDGED, {"g": score}) for key, score in zip(keys, scores, strict=True)])


class Sure(FlakySummariser):
    """Of its own words, so much."""

    def __init__(self, *sure: float | None) -> None:
        super().__init__()
        self._sure = iter(sure)

    def summarise(self, request: SummaryRequest, cancelled: Callable[[], bool]) -> Summary:
        return replace(super().summarise(request, cancelled), confidence=next(self._sure))


def compacted(memory: Memory, model: FlakySummariser | None) -> Compaction:
    use(memory, model)
    return memory.compact(user="ada", session="s")


# ── what earlier summaries said ──────────────────────────────────────────────────────────────────────────────────


def nearest(memory: Memory, earlier: Sequence[Node], limit: int) -> list[Node]:
    """As many whole ones as fit, counted from the newest."""
    fitting = [
        size
        for size in range(len(earlier) + 1)
        if memory._counter.count("\n".join(node.parts[0] for node in earlier[len(earlier) - size :])) <= limit
    ]
    return list(earlier[len(earlier) - max(fitting) :])


@pytest.mark.parametrize("limit", [None, 30, 0])
def test_a_model_is_shown_no_more_of_earlier_summaries_than_the_setting_allows_and_the_adjacent_ones(
    opened: Opening, limit: int | None
) -> None:
    settings = {} if limit is None else {"prior_tokens": limit}
    memory = opened(abstractive_from=0.0, min_align=0.0, **settings)
    most = DEFAULTS.prior_tokens if limit is None else limit
    assert DEFAULTS.prior_tokens == 96
    say(memory, 30)
    made = compacted(memory, model := FlakySummariser()).summaries
    assert len(made) == len(model.requests) == 30
    assert {node.method for node in made} == {"abstractive"}
    told = "\n".join(node.parts[0] for node in made)
    assert memory._counter.count(told) > 2 * 96, "there is more than may be shown"
    for place, (node, request) in enumerate(zip(made, model.requests, strict=True)):
        assert memory._counter.count(request.prior) <= most
        if most:
            shown = nearest(memory, made[:place], most)
            assert bool(shown) == (place > 0), "one summary fits by itself"
            assert request.prior == "\n".join(each.parts[0] for each in shown)
            assert node.prior == tuple(each.id for each in shown)
    if most == 96:
        assert len(made[-1].prior) > 1, "several fit"


# ── how sure ─────────────────────────────────────────────────────────────────────────────────────────────────────


def space_of(memory: Memory, node: Node) -> float:
    """Reckoned anew from the texts: how near the words of a summary are to its turns."""
    texts = [memory.get(turn, user="ada").text for turn in node.children]
    rows = np.asarray(memory._embedder.embed_documents([node.parts[0], *texts]), np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    said, turns = rows[0], rows[1:]
    centroid = turns.mean(axis=0)
    align = float(said @ centroid / np.linalg.norm(centroid))
    return (align + float(np.maximum(turns @ said, 0.0).mean())) / 2


def test_the_confidence_of_a_models_summary_is_four_fifths_the_spaces_and_one_fifth_its_own(opened: Opening) -> None:
    memory = opened(abstractive_from=0.0, min_align=0.0)
    say(memory, 4)
    made = compacted(memory, Sure(0.0, 0.5, 1.0, None)).summaries
    assert {node.method for node in made} == {"abstractive"}
    spaces = [space_of(memory, node) for node in made]
    assert all(0.05 < space < 0.95 for space in spaces), "nothing is cut off at either end"
    wanted = [0.8 * space + 0.2 * sure for space, sure in zip(spaces[:3], (0.0, 0.5, 1.0), strict=True)]
    assert [node.confidence for node in made] == pytest.approx([*wanted, spaces[3]], abs=1e-3)


def test_the_confidence_of_an_extract_is_the_spaces_whatever_a_model_was_sure_of(opened: Opening) -> None:
    memory = opened(abstractive_from=0.0, min_align=1.0)
    say(memory, 2)
    made = compacted(memory, model := Sure(1.0, 1.0)).summaries
    assert len(model.requests) == 2 and {node.method for node in made} == {"extractive"}
    assert [node.confidence for node in made] == pytest.approx([space_of(memory, node) for node in made], abs=1e-3)


# ── when ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_model_is_asked_from_a_mean_score_of_three_fifths_on_and_for_nothing_less(opened: Opening) -> None:
    memory = opened(min_align=0.0)
    assert DEFAULTS.abstractive_from == 0.60
    say(memory, 5)
    scored(
        memory,
        *(0.6, 0.6, 0.6, 0.6),  # exactly
        *(0.599, 0.599, 0.599, 0.599),
        *(0.5, 0.7, 0.5, 0.7),  # in the mean
        *(0.99, 0.99, 0.4, 0.01),  # some are high, the mean is not
        *(0.9, 0.9, 0.9, 0.9),
    )
    made = compacted(memory, model := FlakySummariser()).summaries
    assert [node.method for node in made] == [
        "abstractive",
        "extractive",
        "abstractive",
        "extractive",
        "abstractive",
    ]
    asked = [request.turns[0].text for request in model.requests]
    assert asked == [memory.get(f"t{first}", user="ada").text for first in (0, 8, 16)]


def test_turns_in_which_the_gate_found_little_cost_no_call_of_a_model(opened: Opening) -> None:
    memory = opened(min_align=0.0)
    say(memory, 3)
    records = [memory.store.get(Key(history_of("ada"), f"t{number}", "s")) for number in range(12)]
    marks = memory.store.marks([record.ref for record in records if record is not None], JUDGED)
    scores = [data["g"] for data in marks.values()]
    assert len(scores) == 12 and all(isinstance(score, float) and 0.0 < score < 0.6 for score in scores)
    made = compacted(memory, model := FlakySummariser()).summaries
    assert len(made) == 3 and {node.method for node in made} == {"extractive"}
    assert model.requests == []


def test_turns_that_the_gate_never_judged_cost_no_call_of_a_model(opened: Opening) -> None:
    memory = opened(abstractive_from=0.0, min_align=0.0)
    for number in range(8 + TAIL):
        memory.ingest(f"Crate {number} stands in the hall at the quay.", user="ada", session="s", role="assistant")
    assert memory.wait(60)
    made = compacted(memory, model := FlakySummariser()).summaries
    assert made and model.requests == []


# ── made anew ────────────────────────────────────────────────────────────────────────────────────────────────────


class Away(FlakySummariser):
    """Answers so many times, and then no more."""

    def __init__(self, answers: int) -> None:
        super().__init__()
        self._answers = answers

    def summarise(self, request: SummaryRequest, cancelled: Callable[[], bool]) -> Summary:
        self._answers -= 1
        if self._answers < 0:
            raise ModelUnavailableError("away", "nobody answers")
        return super().summarise(request, cancelled)


@pytest.mark.parametrize("answers", [0, 1])
def test_what_a_model_wrote_is_not_made_anew_without_it(opened: Opening, answers: int) -> None:
    memory = opened(abstractive_from=0.0, min_align=0.0)
    say(memory, 3)
    written = compacted(memory, FlakySummariser()).summaries
    use(memory, Away(answers))
    done = memory.compact(user="ada", session="s", rebuild=True)
    assert not done.summaries and "nobody answers" in done.reason and "is kept" in done.reason
    assert done.ended_early
    left = [entry.node for entry in memory.history(user="ada", session="s").entries if isinstance(entry, Branch)]
    assert [(node.id, node.text, node.method) for node in left] == [
        (node.id, node.text, "abstractive") for node in written
    ]
    use(memory, None)
    assert {node.method for node in memory.compact(user="ada", session="s", rebuild=True).summaries} == {"extractive"}
    use(memory, Away(0))
    assert memory.compact(user="ada", session="s", rebuild=True).summaries, "no model wrote those there were"
    assert memory.verify().ok
