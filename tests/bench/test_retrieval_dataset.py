"""Labelled conversations: what is read, what is refused and with which words, and the filler between them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.bench.retrieval.dataset import Conversation, DataSet, Question, Said, limited, read, read_all
from libravdb_memory.bench.retrieval.filler import with_filler
from libravdb_memory.errors import InvalidInputError

DATA: dict[str, Any] = {
    "name": "harbour",
    "licence": "ours",
    "conversations": [
        {
            "id": "c1",
            "turns": [
                {"id": "a", "session": "s1", "role": "user", "speaker": "Ada", "ts": 1000, "text": "Hello", "x": 1},
                {"id": "b", "session": "s1", "role": "assistant", "speaker": None, "ts": 2000, "text": ""},
                {"id": "c", "session": "s2", "role": "user", "ts": 3000, "text": "We sail on Monday"},
            ],
            "questions": [
                {"id": "q1", "category": "dates", "text": "When?", "gold": ["c", "c"], "superseded": ["a"], "y": 2},
                {"id": "q2", "category": "adversarial", "text": "Who?", "gold": []},
            ],
        }
    ],
}


def written(folder: Path, value: object, name: str = "data.json") -> Path:
    file = folder / name
    file.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return file


def test_a_file_is_read_as_it_stands(tmp_path: Path) -> None:
    data = read(written(tmp_path, DATA))
    (conversation,) = data.conversations
    assert (data.name, data.file, data.turns, data.questions) == ("harbour", "data.json", 3, 2)
    assert conversation.turns[0] == Said("a", "s1", "user", "Ada", 1000, "Hello")
    assert conversation.turns[2].speaker is None
    assert conversation.questions[0] == Question("q1", "dates", "When?", frozenset("c"), frozenset("a"))
    assert len(data.sha256) == 64


def test_a_set_without_a_name_is_called_like_its_file(tmp_path: Path) -> None:
    nameless = {key: value for key, value in DATA.items() if key != "name"}
    assert read(written(tmp_path, nameless, "ship.json")).name == "ship"


def test_a_folder_stands_for_its_json_files_in_order(tmp_path: Path) -> None:
    for name in ("b", "a"):
        written(tmp_path, {**DATA, "name": name}, f"{name}.json")
    written(tmp_path, "no json", "notes.txt")
    assert [data.name for data in read_all([tmp_path])] == ["a", "b"]


def test_two_sets_of_one_name_are_refused(tmp_path: Path) -> None:
    files = [written(tmp_path, DATA, "one.json"), written(tmp_path, DATA, "two.json")]
    with pytest.raises(InvalidInputError, match=r"two\.json: has the name 'harbour', as one\.json has"):
        read_all(files)


def test_a_folder_without_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"without any \.json file"):
        read_all([tmp_path])


def first(value: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = value["conversations"][0]
    return found


BROKEN: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda value: value.pop("conversations"), 'data.json: has no "conversations"'),
    (lambda value: value.update(conversations={}), "data.json: conversations: must be an array, not an object"),
    (lambda value: value.update(name=" "), "data.json: name: must not be blank"),
    (lambda value: value["conversations"].append(1), "conversations[1]: must be an object, not a number"),
    (lambda value: value["conversations"].append(first(value)), "conversations[1].id: 'c1' is taken"),
    (lambda value: first(value)["turns"][1].pop("ts"), 'data.json: conversations[0].turns[1]: has no "ts"'),
    (lambda value: first(value)["turns"][1].update(ts="noon"), "turns[1].ts: must be whole milliseconds"),
    (lambda value: first(value)["turns"][1].update(ts=True), "turns[1].ts: must be whole milliseconds"),
    (lambda value: first(value)["turns"][1].update(ts=10**18), "turns[1].ts: 10"),
    (lambda value: first(value)["turns"][1].update(text=7), "turns[1].text: must be text, not int"),
    (lambda value: first(value)["turns"][1].update(id="a"), "turns[1].id: 'a' is taken by an earlier one"),
    (lambda value: first(value)["turns"][1].update(speaker=""), "turns[1].speaker: must not be blank"),
    (lambda value: first(value)["turns"][1].update(role=None), "turns[1].role: must be text, not NoneType"),
    (lambda value: first(value)["questions"][1].update(id="q1"), "questions[1].id: 'q1' is taken"),
    (lambda value: first(value)["questions"][0].update(text=""), "questions[0].text: must not be blank"),
    (lambda value: first(value)["questions"][0].update(gold="c"), "questions[0].gold: must be an array, not text"),
    (lambda value: first(value)["questions"][0].update(gold=["c", "z"]), "gold[1]: no turn of this conversation has"),
    (lambda value: first(value)["questions"][0].update(superseded=["z"]), "superseded[0]: no turn of this"),
    (lambda value: first(value)["questions"][0].update(superseded=["c"]), "superseded: names 'c', which is gold"),
]


@pytest.mark.parametrize(("damage", "message"), BROKEN, ids=[message for _, message in BROKEN])
def test_a_broken_file_is_refused_with_the_place(
    tmp_path: Path, damage: Callable[[dict[str, Any]], object], message: str
) -> None:
    value = copy.deepcopy(DATA)
    damage(value)
    with pytest.raises(InvalidInputError) as refused:
        read(written(tmp_path, value))
    assert message in str(refused.value) and str(refused.value).startswith("data.json")


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "[]", "null"], ids=repr)
def test_what_is_no_object_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidInputError, match=r"data\.json"):
        read(written(tmp_path, text))


def test_a_file_that_is_not_utf8_or_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.json").write_bytes(b'{"name": "\xe9"}')
    for name in ("latin.json", "nowhere.json"):
        with pytest.raises(InvalidInputError, match=name):
            read(tmp_path / name)


# ── fewer questions, more turns ──────────────────────────────────────────────────────────────────────────────────


def conversation_of(number: int, questions: int) -> Conversation:
    turn = Said("a", "s", "user", None, 0, "hello")
    asked = tuple(Question(str(place), "c", "what?", frozenset("a")) for place in range(questions))
    return Conversation(str(number), (turn,), asked)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=5), st.integers(1, 60))
def test_a_limit_keeps_so_many_questions_and_every_conversation(sizes: list[int], most: int) -> None:
    data = [DataSet(f"d{number}", "f", "", (conversation_of(number, size),)) for number, size in enumerate(sizes)]
    kept = limited(data, most)
    assert sum(part.questions for part in kept) == min(most, sum(sizes))
    assert [part.turns for part in kept] == [part.turns for part in data]
    assert limited(data, most) == kept


moments = st.integers(0, 10**12)


@given(st.lists(moments, min_size=1, max_size=12).map(sorted), st.integers(0, 200), st.integers(0, 3))
def test_filler_stands_between_the_turns_and_changes_none(times: list[int], count: int, seed: int) -> None:
    turns = [Said(f"filler{place}", "s", "user", None, ts, f"turn {place}") for place, ts in enumerate(times)]
    mixed = list(with_filler(turns, count, seed))
    assert [turn for turn in mixed if turn in turns] == turns
    assert len(mixed) == len(turns) + count
    assert len({turn.id for turn in mixed}) == len(mixed)
    assert [turn.ts for turn in mixed] == sorted(turn.ts for turn in mixed)
    assert "s" not in {turn.session for turn in mixed if turn not in turns}
    assert mixed == list(with_filler(turns, count, seed))


def test_filler_needs_a_conversation_to_stand_in() -> None:
    assert list(with_filler([], 10, 1)) == []
