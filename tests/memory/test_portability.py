"""Export and import: exact, streaming, and loud about damage."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.growth import takes_eightfold

from libravdb_memory import Config, ConflictError, InvalidInputError, Memory
from libravdb_memory.identity import canonical_json
from libravdb_memory.model import Draft
from libravdb_memory.namespaces import Policy, policy_of
from libravdb_memory.portability import export_lines, import_lines
from libravdb_memory.sources.diary import Entry
from libravdb_memory.sources.dreams import promote
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Key, Link, Mark, Put, Selection
from libravdb_memory.store.sqlite.store import SqliteStore
from libravdb_memory.summaries import Node, draft_of

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
        *lines, end = [line for line in lines_of(exported(memory)) if '"type":"collection"' not in line]
        digest = hashlib.sha256("".join(lines).encode()).hexdigest()
        assert copy.import_([*lines, json.dumps({**json.loads(end), "digest": f"sha256:{digest}"})]).added == 1
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


# ── summaries ────────────────────────────────────────────────────────────────────────────────────────────────────

TOLD = ("source_turn_ids", "parent_summary_ids")


def folding(hashed: Config) -> Config:
    """A summary of every three turns; two of them are folded into the next."""
    compaction = replace(hashed.compaction, cluster_target=3, fold_tokens=40, fold_fan=2, trigger_tokens=0)
    return replace(hashed, compaction=compaction, assembly=replace(hashed.assembly, startup_budget=200))


def converse(memory: Memory, user: str = "ada", session: str = "s") -> None:
    for number in range(40):
        said = f"the lantern on quay {number} was lit at {number + 3} and harbour master Oyelaran{number} wrote it down"
        memory.ingest(said, user=user, session=session, id=f"t{number}")
    memory.compact(user=user, session=session)
    assert memory.wait(60)


def rows_of(export: str, collection: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in lines_of(export)]
    return [row for row in rows if row.get("type") == "record" and row["collection"] == collection]


def test_an_exported_summary_tells_all_that_it_comes_from(tmp_path: Path, hashed: Config) -> None:
    with Memory.open(tmp_path / "a", config=folding(hashed)) as memory:
        for session in ("s", "t"):  # which name their turns alike
            converse(memory, session=session)
        rows = rows_of(exported(memory), "summary:ada")
        levels = {row["id"]: row["metadata"]["level"] for row in rows}
        assert set(levels.values()) >= {1, 2, 3}
        for row in rows:
            told, level = row["metadata"]["continuity_lineage"], row["metadata"]["level"]
            direct = [item.id for item in memory.expand(row["id"], session=row["group"], depth=1).items]
            turns = [item.id for item in memory.expand(row["id"], session=row["group"], limit=1000).items]
            assert told["source_ids"] == row["metadata"]["source_ids"] == direct
            assert told["source_turn_ids"] == turns and len(turns) == row["metadata"]["turns"]
            assert told["parent_summary_ids"] == ([] if level == 1 else direct)
            assert all(levels[name] < level for name in told["parent_summary_ids"])
            rest = ("source_ts_min", "source_ts_max", "compacted_at", "method", "confidence")
            assert told.keys() == {"source_ids", *TOLD, *rest}
            times = [memory.get(turn, user="ada", session=row["group"]).ts for turn in turns]
            assert (told["source_ts_min"], told["source_ts_max"]) == (min(times), max(times))
            assert [told[name] for name in rest[2:]] == [row["metadata"][name] for name in rest[2:]]


def test_what_an_exported_summary_comes_from_is_never_stored(tmp_path: Path, hashed: Config) -> None:
    with (
        Memory.open(tmp_path / "a", config=folding(hashed)) as memory,
        Memory.open(tmp_path / "b", config=folding(hashed)) as copy,
    ):
        converse(memory)
        first = exported(memory)
        assert copy.import_(lines_of(first)).edges > 50
        assert copy.wait(60)
        assert exported(copy) == first
        assert copy.import_(lines_of(first)).added == 0
        assert memory.verify().ok and copy.verify().ok
        for store in (memory.store, copy.store):
            kept = [record.metadata["continuity_lineage"] for record in every(store, "summary:ada")]
            assert len(kept) > 10
            assert all(isinstance(each, dict) and each.keys().isdisjoint(TOLD) for each in kept)


def test_what_a_line_says_of_it_is_not_believed(tmp_path: Path, hashed: Config) -> None:
    with (
        Memory.open(tmp_path / "a", config=folding(hashed)) as memory,
        Memory.open(tmp_path / "b", config=folding(hashed)) as copy,
    ):
        converse(memory)
        first = exported(memory)
        lines = [json.loads(line) for line in lines_of(first)]
        for line in lines:
            if line.get("collection") == "summary:ada":
                line["metadata"]["continuity_lineage"] |= {"source_turn_ids": ["forged"], "parent_summary_ids": {}}
        forged = "".join(canonical_json(line) + "\n" for line in lines[:-1])
        lines[-1]["digest"] = f"sha256:{hashlib.sha256(forged.encode()).hexdigest()}"
        copy.import_([*forged.splitlines(keepends=True), canonical_json(lines[-1]) + "\n"])
        assert copy.wait(60)
        assert exported(copy) == first


def test_a_turn_is_told_once_however_many_ways_lead_to_it(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "a") as store:
        names = ["t0", *(f"{level}" for level in range(1, 13))]
        for level, (child, name) in enumerate(pairwise(names), 1):
            store.commit([Put(draft_of(bare_node(name, level, (child, child))))])
        top = rows_of("".join(f"{line}\n" for line in export_lines(store)), "summary:ada")[-1]
        assert top["metadata"]["continuity_lineage"]["source_turn_ids"] == ["t0"]


def bare_node(name: str, level: int, children: tuple[str, ...]) -> Node:
    return Node(name, "ada", "s", "text", level, children, 0, "", "", 0, 0, 1, 2, "", "", 0, 0, 0, 0)


def test_exporting_summaries_costs_as_much_as_there_are(tmp_path: Path) -> None:
    stores: list[SqliteStore] = []
    for size in (64, 512):
        store = SqliteStore.open(tmp_path / str(size))
        stores.append(store)
        names = [f"t{number}" for number in range(4 * size)]
        store.commit([Put(Draft("history:ada", name, "a turn", group="s")) for name in names])
        level = 1
        while len(names) > 1:
            fan = 4 if level == 1 else 2
            groups = [names[place : place + fan] for place in range(0, len(names), fan)]
            names = [f"{level}-{place}" for place in range(len(groups))]
            for name, children in zip(names, groups, strict=True):
                below = "history:ada" if level == 1 else "summary:ada"
                store.commit(
                    [
                        Put(draft_of(bare_node(name, level, tuple(children)))),
                        *(Link(Key("summary:ada", name, "s"), Key(below, child, "s")) for child in children),
                    ]
                )
            level += 1
    few, many = stores
    top = json.loads(next(line for line in export_lines(many) if f'"id":"{names[0]}"' in line))
    assert len(top["metadata"]["continuity_lineage"]["source_turn_ids"]) == 4 * 512
    assert takes_eightfold(lambda: list(export_lines(few)), lambda: list(export_lines(many)))
    for store in stores:
        store.close()


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
