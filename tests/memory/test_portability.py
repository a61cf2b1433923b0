"""Export and import: exact, streaming, and loud about damage."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libravdb_memory import Config, ConflictError, InvalidInputError, Memory
from libravdb_memory.model import Draft
from libravdb_memory.namespaces import Policy, policy_of
from libravdb_memory.portability import export_lines, import_lines
from libravdb_memory.sources.diary import Entry
from libravdb_memory.sources.dreams import promote
from libravdb_memory.store.protocol import Key, Link, Mark, Put, Selection
from libravdb_memory.store.sqlite.store import SqliteStore

any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=50)
any_name = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).filter(str.strip)


@pytest.fixture
def memory(tmp_path: Path, hashed: Config) -> Iterator[Memory]:
    with Memory.open(tmp_path / "store", config=hashed) as opened:
        for number in range(1200):
            opened.ingest(
                f"turn {number}\x00 \u2028 é 日本",
                user=f"u{number % 3}",
                session=f"s{number % 7}",
                ts=number,
                id=str(number),
            )
        yield opened


def exported(memory: Memory) -> str:
    out = io.StringIO()
    memory.export(out)
    return out.getvalue()


def lines_of(export: str) -> list[str]:
    return (
        export.splitlines(keepends=True)
        if "\u2028" not in export
        else [f"{line}\n" for line in export.split("\n")[:-1]]
    )


def test_an_export_imported_elsewhere_exports_to_the_same_bytes(memory: Memory, tmp_path: Path, hashed: Config) -> None:
    assert memory.wait(60)
    first = exported(memory)
    with SqliteStore.open(tmp_path / "copy") as store:
        report = import_lines(store, lines_of(first))
        assert (report.records, report.added, report.edges) == (1200, 1200, 0)
        assert "".join(f"{line}\n" for line in export_lines(store)) == first
    with Memory.open(tmp_path / "copy", config=hashed) as copy:
        again = copy.import_(lines_of(first))
        assert (again.records, again.added) == (1200, 0)
        assert copy.wait(60)
        assert copy.verify().ok
        with pytest.raises(ConflictError):
            copy.ingest("other", user="u1", session="s1", id="1")


@settings(max_examples=25)
@given(
    records=st.lists(
        st.tuples(
            any_name,
            any_name,
            any_name,
            any_text,
            st.integers(0, 10**12),
            st.dictionaries(any_text, any_text, max_size=2),
        ),
        unique_by=lambda record: record[:3],
        max_size=12,
    ),
    labels=st.lists(st.tuples(any_name, st.dictionaries(any_text, any_text, max_size=2)), max_size=4),
)
def test_any_store_round_trips_with_its_edges_and_marks(
    tmp_path_factory: pytest.TempPathFactory,
    records: list,  # type: ignore[type-arg]
    labels: list[tuple[str, dict[str, str]]],
) -> None:
    folder = tmp_path_factory.mktemp("roundtrip")
    keys = [Key(collection, record_id, group) for collection, group, record_id, *_ in records]
    puts = [
        Put(
            Draft(collection, record_id, text, metadata, ts, group),
            append_only=collection < "m",
            searchable=collection > "c",
        )
        for collection, group, record_id, text, ts, metadata in records
    ]
    links = [Link(parent, child) for parent, child in pairwise(keys)]
    source, target = SqliteStore.open(folder / "a"), SqliteStore.open(folder / "b")
    try:
        source.commit([*puts, *links])
        source.commit([Mark(key, label, data) for label, data in labels for key in reversed(keys)])
        lines = list(export_lines(source))
        report = import_lines(target, lines)
        assert report.marks == len(keys) * len({label for label, _ in labels})
        assert list(export_lines(target)) == lines
        assert target.collections() == source.collections()
        assert target.verify().ok
    finally:
        source.close()
        target.close()


def test_damage_is_refused_by_the_line(memory: Memory, tmp_path: Path, hashed: Config) -> None:
    good = lines_of(exported(memory))
    record = next(index for index, line in enumerate(good) if '"type":"record"' in line)
    forged = json.loads(good[record])
    forged["text"] += "!"
    cases = {
        "ends early": good[:-1],
        "not JSON": [*good[:5], good[5][:20] + "\n", *good[6:]],
        "not an export": ["hello\n"] if False else ['{"a": 1}\n'],
        "does not match its hash": [*good[:record], json.dumps(forged) + "\n", *good[record + 1 :]],
        "changed or cut": [*good[:record], *good[record + 1 :]],
        "unknown type": [good[0], '{"type":"ghost"}\n'],
        "must be a JSON object": [good[0], "[1]\n"],
        "not known here": ['{"format":"libravdb-memory","version":99}\n'],
        "must be text": [
            good[0],
            '{"type":"record","collection":"c","id":5,"group":"","text":"","ts":0,"metadata":{}}\n',
        ],
        "must be [collection": [good[0], '{"type":"edge","parent":[1,2],"child":[]}\n'],
        "data must be": [good[0], '{"type":"mark","record":["c","","1"],"label":"l","data":[]}\n'],
        "record must be [collection": [good[0], '{"type":"mark","record":"c","label":"l","data":{}}\n'],
        "": [],
    }
    for number, (reason, lines) in enumerate(cases.items()):
        with (
            Memory.open(tmp_path / f"copy{number}", config=hashed) as copy,
            pytest.raises(InvalidInputError, match="import line") as refusal,
        ):
            copy.import_(lines)
        assert reason in str(refusal.value)


SUMMARY, TURN = ["summary:eve", "s", "summary:1"], ["history:eve", "s", "e0"]
LEADING_OUT = {
    "to a turn of another user": (SUMMARY, ["history:ada", "s", "a0"]),
    "to a summary of another user": (SUMMARY, ["summary:ada", "s", "summary:2"]),
    "to a turn of another session": (SUMMARY, ["history:eve", "t", "e0"]),
    "to a summary of another session": (SUMMARY, ["summary:eve", "t", "summary:2"]),
    "to what is neither": (SUMMARY, ["user:eve", "s", "e0"]),
    "from a turn": (TURN, SUMMARY),
    "from a turn to a turn": (TURN, ["history:eve", "s", "e1"]),
}


@pytest.mark.parametrize("where", LEADING_OUT)
def test_an_edge_that_leads_out_of_a_session_is_refused_by_its_line(tmp_path: Path, hashed: Config, where: str) -> None:
    parent, child = LEADING_OUT[where]
    lines = ['{"format":"libravdb-memory","version":1}', json.dumps({"type": "edge", "parent": parent, "child": child})]
    with Memory.open(tmp_path / "copy", config=hashed) as copy, pytest.raises(InvalidInputError) as refusal:
        copy.import_(lines)
    assert "import line 2" in str(refusal.value) and "of its own session" in str(refusal.value)
    assert f"{parent[2]!r} of {parent[0]!r} / {parent[1]!r}" in str(refusal.value)
    assert f"{child[2]!r} of {child[0]!r} / {child[1]!r}" in str(refusal.value)


OTHER_POLICIES = {
    "history:eve": ("append-only and searchable", {"append_only": False}, {"searchable": False}),
    "summary:eve": ("editable and searchable", {"append_only": True}, {"searchable": False}),
    "elevated:user:eve": ("editable and searchable", {"append_only": True}, {"searchable": False}),
    "dream:eve": ("editable and searchable", {"append_only": True}, {"searchable": False}),
    "user:eve": ("editable and searchable", {"append_only": True}),
    "turns:eve": ("editable and searchable", {"append_only": True}),
    "global": ("editable and searchable", {"append_only": True}),
    "document": ("editable and unsearchable", {"searchable": True}, {"append_only": True}),
    "authored:hard": ("editable and unsearchable", {"searchable": True}),
    "authored:soft": ("editable and unsearchable", {"searchable": True}),
    "authored:variant": ("editable and searchable", {"searchable": False}),
}
HEADER = '{"format":"libravdb-memory","version":1}'


@pytest.mark.parametrize("name", OTHER_POLICIES)
def test_an_archive_does_not_decide_what_may_be_done_with_a_collection_of_ours(
    tmp_path: Path, hashed: Config, name: str
) -> None:
    expected, *changes = OTHER_POLICIES[name]
    fixed = {"append_only": expected.startswith("append-only"), "searchable": expected.endswith(" searchable")}
    with Memory.open(tmp_path / "copy", config=hashed) as copy:
        for change in changes:
            told = json.dumps({"type": "collection", "name": name, **fixed, **change})
            with pytest.raises(InvalidInputError, match=f"import line 2: .*{name}' is {expected}, not "):
                copy.import_([HEADER, told])
        assert copy.store.collections() == ()


def test_a_store_that_took_such_an_archive_is_told_of_and_mended_by_an_export(tmp_path: Path, hashed: Config) -> None:
    with SqliteStore.open(tmp_path / "a") as store:
        store.commit([Put(Draft("history:eve", "t", "herons", {"role": "user"}, 1, "s"))])
    with Memory.open(tmp_path / "a", config=hashed) as memory, Memory.open(tmp_path / "b", config=hashed) as copy:
        [problem] = memory.verify().problems
        assert (problem.kind, problem.where) == ("policy", "collection 'history:eve'")
        assert problem.detail == "is editable and searchable, and should be append-only and searchable"
        assert "export" in problem.remedy
        assert copy.import_(lines_of(exported(memory))).added == 1
        copy.ingest("more herons", user="eve", session="s")
        assert copy.verify().ok


def test_turns_whose_collection_no_line_tells_of_are_raw_history_all_the_same(tmp_path: Path, hashed: Config) -> None:
    with Memory.open(tmp_path / "a", config=hashed) as memory, Memory.open(tmp_path / "b", config=hashed) as copy:
        memory.ingest("herons", user="ada", session="s", id="t")
        lines = [line for line in lines_of(exported(memory)) if '"type":"collection"' not in line]
        with pytest.raises(InvalidInputError, match="changed or cut"):  # told at the end, when they are there
            copy.import_(lines)
        copy.ingest("more herons", user="ada", session="s")
        assert [info.append_only for info in copy.store.collections("history:")] == [True]


def test_what_is_written_here_has_the_policy_that_an_import_expects(tmp_path: Path, hashed: Config) -> None:
    config = replace(
        hashed,
        compaction=replace(hashed.compaction, trigger_tokens=0, cluster_target=4),
        assembly=replace(hashed.assembly, startup_budget=100),
    )
    with Memory.open(tmp_path / "a", config=config) as memory:
        for number in range(30):
            text = (
                f"Ferry {number} left at {number + 3} with Oyelaran{number}, and late. Never paint boat {number} red."
            )
            memory.ingest(text, user="ada", session="s")
        memory.compact(user="ada", session="s")
        memory.load_document("AGENTS.md", "> Be kind.\n\n- Never guess.\n\nThe quay is old.\n")
        promote(
            memory.store, memory.masking, "ada", "diary", [Entry("The harbour froze over.", 0.8, 3, 2, "Dreams", 1)], 1
        )
        found = {info.name: Policy(info.append_only, info.searchable) for info in memory.store.collections()}
    ours = {name: policy for name, policy in found.items() if not name.startswith(("_internal:", "receipt:"))}
    assert ours == {name: policy_of(name) for name in ours}
    kinds = {"history:ada", "summary:ada", "elevated:user:ada", "document", "authored:hard"}
    assert set(ours) >= kinds | {"authored:soft", "authored:variant", "dream:ada"}


def test_what_hosts_link_of_their_own_round_trips(tmp_path: Path, hashed: Config) -> None:
    note, turn = Key("notes", "n"), Key("history:ada", "t", "s")
    with Memory.open(tmp_path / "a", config=hashed) as memory, Memory.open(tmp_path / "b", config=hashed) as copy:
        memory.ingest("herons", user="ada", session="s", id="t")
        memory.store.commit([Put(Draft("notes", name, "a note")) for name in ("n", "m")])
        memory.store.commit([Link(note, turn), Link(turn, Key("notes", "m"))])
        assert copy.import_(lines_of(exported(memory))).edges == 2
        assert [record.id for record in copy.store.parents(turn)] == ["n"]
        assert [record.id for record in copy.store.children(turn)] == ["m"]


def test_progress_is_told(memory: Memory) -> None:
    seen: list[tuple[int, int]] = []
    memory.export(io.StringIO(), lambda done, total: seen.append((done, total)))
    assert seen[-1] == (1200, 1200)
    assert len(seen) >= 3


def test_a_mark_that_is_there_already_stays_as_it_is(tmp_path: Path) -> None:
    key = Key("c", "1")
    with SqliteStore.open(tmp_path / "a") as source, SqliteStore.open(tmp_path / "b") as target:
        for store, said in ((source, "theirs"), (target, "mine")):
            store.commit([Put(Draft("c", "1", "text")), Mark(key, "shared", {"said": said})])
        source.commit([Mark(key, "only theirs", {"said": "theirs"})])
        import_lines(target, export_lines(source))
        assert [(mark.label, mark.data["said"]) for mark in target.all_marks()] == [
            ("only theirs", "theirs"),
            ("shared", "mine"),
        ]


def test_an_export_of_a_store_in_use_is_whole_in_itself(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "a") as source, SqliteStore.open(tmp_path / "b") as target:
        source.commit([Put(Draft("c", name, "text")) for name in ("1", "2", "3")])
        source.commit([Mark(Key("c", name), "seen") for name in ("1", "2", "3")])
        lines = export_lines(source)
        begun = [next(lines) for _ in range(5)]
        assert '"id":"3"' in begun[-1]
        source.commit(
            [Put(Draft("c", "late", "text")), Mark(Key("c", "late"), "seen"), Link(Key("c", "late"), Key("c", "1"))]
        )
        source.erase(Selection(keys=(Key("c", "2"),)))
        report = import_lines(target, [*begun, *lines])
        assert (report.records, report.edges, report.marks) == (3, 0, 2)
