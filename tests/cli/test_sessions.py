"""compact, history, expand, and what other commands tell of summaries, through the command line."""

from __future__ import annotations

import json
import re
import shlex
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from libravdb_memory.cli.history_tree import ASCII
from libravdb_memory.cli.idle_sessions import declined_in_brief
from libravdb_memory.cli.terminal import ProgressBar, Terminal
from libravdb_memory.cli.waiting import wait_for_compaction
from libravdb_memory.compacting import CANCELLED, Compaction, Declined
from libravdb_memory.compacting.covering import Covering
from libravdb_memory.compacting.folding import Folding
from libravdb_memory.config import load_config
from libravdb_memory.indexing import Indexer
from libravdb_memory.memory import Memory, Status
from libravdb_memory.model import Draft
from libravdb_memory.namespaces import summaries_of
from libravdb_memory.overflow import AtWork, OverflowState
from libravdb_memory.serve.bridge.line import DaemonGoneError
from libravdb_memory.serve.bridge.remote import RemoteMemory
from libravdb_memory.store.protocol import Put
from libravdb_memory.store.sqlite.store import SqliteStore

Run: TypeAlias = Callable[..., Any]
TURNS, TAIL = 44, 4
RULE = "t6"


def said(number: int) -> str:
    if f"t{number}" == RULE:
        return "Always run the migration tests before you merge anything."
    area = ("importer", "billing", "search", "login")[number % 4]
    return f"The {area} build {1000 + number} failed in stage {number}. The log is /var/log/{area}/{number}.log there."


def lines(session: str, turns: int = TURNS) -> str:
    told = [
        {
            "text": said(n),
            "session": session,
            "id": f"t{n}",
            "role": "user" if n % 2 == 0 else "assistant",
            "ts": n * 60_000,
        }
        for n in range(turns)
    ]
    return "\n".join(map(json.dumps, told))


@pytest.fixture
def ada(cli: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A command line on a store with one long session; its tail is four turns, and nothing is compacted by itself."""
    monkeypatch.setenv("LIBRAVDB_ASSEMBLY_TAIL_SHARE", "0")
    monkeypatch.setenv("LIBRAVDB_COMPACTION_TRIGGER_TOKENS", "0")
    assert cli("add", "--jsonl", "-", "--user", "ada", stdin=lines("plan")).code == 0
    return cli


def compacted(cli: Run, *arguments: str) -> list[dict[str, Any]]:
    result = cli("compact", *arguments, "--json")
    assert result.code == 0, result.err
    told: list[dict[str, Any]] = json.loads(result.out)["sessions"]
    return told


def tree(cli: Run, *arguments: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(cli("history", "plan", "-u", "ada", "--json", *arguments).out)
    return told


def expanded(cli: Run, *arguments: str) -> dict[str, Any]:
    result = cli("expand", *arguments, "--json")
    assert result.code == 0, result.err
    told: dict[str, Any] = json.loads(result.out)
    return told


def nodes(entries: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for entry in entries:
        if entry["kind"] == "summary":
            yield entry
            yield from nodes(entry["below"])


# ── compact ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_compact_covers_all_but_the_tail_and_tells_what_it_did(ada: Run) -> None:
    [done] = compacted(ada, "plan", "-u", "ada")
    assert done["turns"] == TURNS - TAIL == sum(node["turns"] for node in done["summaries"])
    assert 0 < done["tokens"] < done["source_tokens"] and done["guidance"] >= 1
    assert (done["user"], done["session"], done["declined"], done["reason"]) == ("ada", "plan", [], "")
    for node in done["summaries"]:
        certificate = node["certificate"]
        assert certificate["facts"] == certificate["kept"] + certificate["pinned"] + certificate["lost"]


def test_compact_tells_people_turns_tokens_and_rules(ada: Run) -> None:
    result = ada("compact", "plan", "--user", "ada")
    assert result.code == 0 and "compacting: " in result.err
    assert re.search(r"^embedding: \d+ texts in ", result.err, re.MULTILINE), "summaries are no turns"
    told = dict(re.split(r"\s{2,}", line, maxsplit=1) for line in result.out.splitlines())
    assert told["session"] == "ada / plan" and told["covered"] == "40 turns by 2 summaries"
    assert re.fullmatch(r"[\d,]+ → [\d,]+ \(\d+% left\)", told["tokens"]) and "word by word" in told["rules"]


def test_compacting_again_does_nothing_and_says_why(ada: Run) -> None:
    ada("compact", "plan", "-u", "ada")
    before = tree(ada)
    result = ada("compact", "plan", "-u", "ada")
    assert result.code == 0 and "nothing to do: no turn is behind the tail" in result.out
    assert tree(ada) == before


def test_rebuild_makes_the_summaries_anew_over_the_same_turns(ada: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {node["id"] for node in compacted(ada, "plan", "-u", "ada")[0]["summaries"]}
    monkeypatch.setenv("LIBRAVDB_COMPACTION_CLUSTER_TARGET", "10")
    [done] = compacted(ada, "plan", "-u", "ada", "--rebuild")
    assert done["turns"] == TURNS - TAIL and len(done["summaries"]) == 4
    assert before.isdisjoint(node["id"] for node in nodes(tree(ada)["entries"]))
    assert ada("verify").code == 0


def test_all_compacts_every_session_of_a_user_or_of_the_store(ada: Run) -> None:
    ada("add", "--jsonl", "-", "--user", "ada", stdin=lines("chat"))
    ada("add", "--jsonl", "-", "--user", "ada", stdin=lines("short", 3))
    ada("add", "--jsonl", "-", "--user", "bob", stdin=lines("plan"))
    result = ada("compact", "--all", "--user", "ada")
    assert result.code == 0 and "ada / plan" in result.out and "ada / chat" in result.out
    assert "nothing to do in 1 session" in result.out and "bob" not in result.out
    done = compacted(ada, "--all")
    assert [(each["user"], each["session"], each["turns"]) for each in done] == [
        ("ada", "plan", 0),
        ("ada", "chat", 0),
        ("ada", "short", 0),
        ("bob", "plan", TURNS - TAIL),
    ]


def test_what_is_declined_is_told_with_the_reason(ada: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIBRAVDB_COMPACTION_CLUSTER_TARGET", "2")
    ada("compact", "plan", "-u", "ada")
    for partner in ("t0", "t10"):
        ada("erase", partner, "--yes")
    result = ada("compact", "plan", "-u", "ada")
    assert result.code == 0 and "declined: t1 (" in result.out and "trivial" in result.out
    assert "covered" not in result.out and "declined 2" in ada("compact", "--all").out
    declined = compacted(ada, "plan", "-u", "ada")[0]["declined"]
    assert [(each["first"], each["last"], each["count"]) for each in declined] == [("t1", "t1", 1), ("t11", "t11", 1)]
    assert all(each["reason"] and each["tokens"] for each in declined)


def test_a_session_without_turns_is_not_found_and_its_owner_is_named(ada: Run) -> None:
    for command in ("compact", "history"):
        missing = ada(command, "nowhere", "--user", "ada")
        assert missing.code == 3 and "the session 'nowhere' of the user 'ada' has no turns" in missing.err
        forgotten = ada(command, "plan")
        assert forgotten.code == 3 and "belongs to --user ada" in forgotten.err
    assert ada("compact", "--all", "--user", "nobody").code == 3


def test_a_session_that_nobody_has_is_not_found_and_those_there_are_are_told(ada: Run) -> None:
    assert ada("history", "nope", "--user", "ada").err.endswith(" has no turns; there is plan\n")
    assert ada("history", "nope").err.endswith(" has no turns; there are sessions of --user ada\n")
    assert ada("history", "nope", "--user", "bob").err.endswith("of the user 'bob' has no turns\n")
    for session in "abcd":
        ada("add", "hello", "--user", "ada", "--session", session)
        ada("add", "hello", "--user", f"user {session}")
    assert ada("history", "nope", "--user", "ada").err.endswith("; there are d, c, b and 2 more\n")
    assert ada("compact", "nope").err.endswith(
        "; there are sessions of --user ada, --user user a, --user user b and 2 more\n"
    )


def test_a_summary_of_another_user_is_not_expanded_but_told_whose_it_is(ada: Run) -> None:
    whole = compacted(ada, "plan", "-u", "ada")[0]["summaries"][0]["id"]
    for name in (whole, whole.removeprefix("summary:")[:8]):
        for named in (["-u", "lou"], ["-u", "ada", "-s", "other"], ["-s", "other"]):
            refused = ada("expand", name, *named)
            assert refused.code == 3 and "is of the session 'plan' of --user ada, not of" in refused.err
    assert "there is no summary" in ada("expand", "summary:0123456789", "-u", "lou").err


@pytest.mark.parametrize(("arguments", "told"), [([], "or give --all"), (["plan", "--all"], "or give --all, not both")])
def test_compact_wants_a_session_or_all(ada: Run, arguments: list[str], told: str) -> None:
    result = ada("compact", *arguments)
    assert result.code == 2 and f"name a SESSION, {told} (" in result.err


def test_where_nothing_is_done_the_reason_and_the_tail_are_told(ada: Run) -> None:
    ada("add", "--jsonl", "-", "--user", "ada", stdin=lines("short", 3))
    for arguments in (["short", "--user", "ada"], ["--all", "--user", "ada"]):
        result = ada("compact", *arguments)
        told = " ".join(result.err.split())
        assert "the tail: the newest turns, at least 4 turns and up to about 0 tokens" in told
        assert "assembly.tail_share sets its size" in told and max(map(len, result.err.splitlines())) <= 80
    assert "1 session: no turn is behind the tail" in told
    assert "the tail:" not in ada("compact", "plan", "--user", "ada", "--rebuild").err


def test_turns_that_are_empty_are_declined_as_that_with_their_number(ada: Run) -> None:
    blank = [{"text": " \n" if n % 2 else "", "session": "mute", "id": f"b{n}"} for n in range(30)]
    assert ada("add", "--jsonl", "-", "--user", "ada", stdin="\n".join(map(json.dumps, blank))).code == 0
    for _ in range(2):
        told = ada("compact", "mute", "-u", "ada").out
        assert told.count("these turns are empty") == told.count("declined:") == 2 and "unusable" not in told
        brief = " ".join(ada("compact", "--all", "-u", "ada").out.split())
        assert "ada / mute declined 26 turns: these turns are empty" in brief
    [first, _] = json.loads(ada("compact", "mute", "-u", "ada", "--json").out)["sessions"][0]["declined"]
    assert (first["first"], first["reason"]) == ("b0", "these turns are empty")


def test_of_many_declined_for_several_reasons_the_most_frequent_is_told() -> None:
    many = [Declined(f"t{n}", f"t{n}", 2, 9, "too long" if n else "odd\x1b") for n in range(3)]
    assert declined_in_brief(many) == "declined 6 turns: too long, and for 1 other reason"
    folds = [Declined("s1", "s1", 1, 9, "odd\x1b", of_summaries=True)]
    assert declined_in_brief(folds) == "declined 1 summary: odd␛"


def test_a_bulk_add_waits_for_the_compaction_that_it_sets_off(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from libravdb_memory.overflow import Overflow

    waited, waits = threading.Event(), Memory.wait

    def waiting(memory: Memory, timeout_s: float | None = None, *, compaction: bool = False) -> bool:
        if compaction:
            waited.set()
        return waits(memory, timeout_s, compaction=compaction)

    monkeypatch.setattr(Memory, "wait", waiting)
    monkeypatch.setattr(Overflow, "_let_embedding_go_first", lambda _: waited.wait(60))  # nothing is made before
    result = cli("add", "--jsonl", "-", "--user", "ada", stdin=lines("plan", 300))
    told = re.search(r"^compacting: (\d+) summaries in [\d.]+ s$", result.err, re.M)
    assert result.code == 0 and told and int(told[1]) == json.loads(cli("status", "--json").out)["summaries"] > 3
    quick = cli("add", "--jsonl", "-", "--user", "bob", "--no-wait", stdin=lines("plan", 3))
    assert quick.code == 0 and "compacting" not in quick.err


def test_a_bulk_add_that_sets_off_no_compaction_says_nothing_of_one(cli: Run) -> None:
    line = json.dumps({"text": "Crate 4 was carried to the hall.", "session": "s"})
    result = cli("add", "--jsonl", "-", "--user", "ada", stdin=line)
    assert result.code == 0 and "compact" not in result.err


def test_with_a_daemon_it_is_said_that_this_goes_on_with_the_summaries(
    cli: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli("add", "We ship on the tenth.", "--user", "ada").code == 0
    with Memory.open(config=load_config()) as memory:
        status = memory.status()

    class Remote(RemoteMemory):
        def __init__(self, state: OverflowState) -> None:
            self._state = state

        def status(self) -> Status:  # type: ignore[override]
            return replace(status, compaction=self._state)

    for state, told in (
        (OverflowState(1, False, None), "the daemon goes on with the summaries\n"),
        (OverflowState(0, True, None), "the daemon goes on with the summaries\n"),
        (OverflowState(0, False, None), ""),
    ):
        wait_for_compaction(Remote(state), Terminal(), load_config(), "libravdb compact --all")
        assert capsys.readouterr().err == told


def test_an_interrupted_wait_for_compaction_keeps_every_turn(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from libravdb_memory.overflow import Overflow

    def interrupted(memory: Memory, timeout_s: float | None = None, *, compaction: bool = False) -> bool:
        if compaction:
            waited.set()
            raise KeyboardInterrupt
        return waits(memory, timeout_s)

    waited, waits = threading.Event(), Memory.wait
    monkeypatch.setattr(Memory, "wait", interrupted)
    monkeypatch.setattr(Overflow, "_let_embedding_go_first", lambda _: waited.wait(60))  # it is not done before
    result = cli("add", "--jsonl", "-", "--user", "ada", stdin=lines("plan", 300))
    monkeypatch.undo()
    assert result.code == 130 and "every turn is stored; 'libravdb compact --all' goes on" in result.err
    assert len(result.out.splitlines()) == 300 and "\n\n" not in result.err


def test_an_interrupted_wait_for_embedding_keeps_every_turn_and_the_report(
    cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(memory: Memory, timeout_s: float | None = None, *, compaction: bool = False) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setenv("LIBRAVDB_COMPACTION_TRIGGER_TOKENS", "0")
    monkeypatch.setattr(Indexer, "_embed", lambda *_: 0)
    monkeypatch.setattr(Indexer, "_run", lambda _: None)  # there is something to wait for
    monkeypatch.setattr(Memory, "wait", interrupted)
    added = cli("add", "--jsonl", "-", "--user", "ada", stdin=lines("plan", 300))
    assert added.code == 130 and "all is stored; the next command goes on with the embedding" in added.err
    assert len(added.out.splitlines()) == 300
    compacted = cli("compact", "plan", "-u", "ada")
    assert compacted.code == 130 and "all is stored" in compacted.err and "plan" in compacted.out


@pytest.mark.parametrize("failing", ["status", "wait"])
def test_a_daemon_that_ends_while_summaries_are_embedded_leaves_a_success(
    ada: Run, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    compact = Memory.compact

    def compacting(memory: Memory, **how: Any) -> Compaction:
        done = compact(memory, **how)
        monkeypatch.setattr(Memory, failing, gone)
        return done

    def gone(*_: object, **__: object) -> None:
        raise DaemonGoneError("the daemon (process 7) went away before it answered", "run the command again")

    monkeypatch.setattr(Memory, "compact", compacting)
    monkeypatch.setattr(Indexer, "_embed", lambda *_: 0)  # there is something to wait for
    result = ada("compact", "plan", "--user", "ada")
    assert result.code == 0 and "40 turns by 2 summaries" in result.out and "went away" not in result.err
    assert "all is stored; the daemon has ended, and the rest is embedded when the store is opened next" in result.err


def test_an_interrupted_compaction_says_what_is_there(ada: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(memory: Memory, **how: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Memory, "compact", interrupted)
        result = ada("compact", "plan", "--user", "ada")
    assert result.code == 130
    first, *rest = result.err.splitlines()
    assert first.startswith("compacting: stopped after")
    assert rest == ["0 summaries made; running it again goes on from there", "libravdb: interrupted"]


def test_an_interrupted_rebuild_says_whether_anything_was_replaced_and_what_to_do(
    ada: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada("compact", "plan", "--user", "ada")
    ada("add", "--jsonl", "-", "--user", "ada", stdin=lines("night-watch-of-the-harbour", 24))
    end = "libravdb: interrupted"

    def interrupted(*arguments: str) -> list[str]:
        result = ada("compact", *arguments, "--user", "ada", "--rebuild")
        first, *rest = result.err.splitlines()
        assert result.code == 130 and first.startswith("compacting: stopped after")
        assert max(map(len, rest)) <= 80
        return [" ".join(rest[:-1]), rest[-1]]

    def now(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Covering, "_cover", now)
        assert interrupted("plan") == ["nothing was replaced; run it again with --rebuild", end]
    with monkeypatch.context() as patch:
        patch.setattr(Folding, "run", now)
        assert interrupted("plan") == ["every summary was replaced; the next compaction folds them", end]
        told = "0 of 2 sessions are through; of plan every summary was replaced; the next compaction folds them"
        assert interrupted("--all") == [told, end]
    with monkeypatch.context() as patch:
        whole = Covering.run
        runs = iter([whole, now])
        patch.setattr(Covering, "run", lambda covering: next(runs)(covering))
        told = "1 of 2 sessions are through; of night-watch-of-the-harbour nothing was replaced; "
        assert interrupted("--all") == [f"{told}run it again with --rebuild", end]


def test_the_bar_of_many_sessions_tells_how_far_that_at_work_is(ada: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ada("add", "--jsonl", "-", "--user", "ada", stdin=lines("ops", TURNS))
    updates: list[tuple[int, int, str]] = []
    update = ProgressBar.update

    def updated(bar: ProgressBar, done: int, total: int, within: str = "", /) -> None:
        updates.append((done, total, within))
        update(bar, done, total, within)

    monkeypatch.setattr(ProgressBar, "update", updated)
    assert ada("compact", "--all", "--user", "ada").code == 0
    sessions = [told for told in updates if told[1] == 2]
    assert [told for told in sessions if not told[2]] == [(0, 2, ""), (1, 2, ""), (2, 2, "")]
    assert {(0, 2, "1 of 2 clusters"), (1, 2, "1 of 2 clusters")} <= set(sessions)


def test_a_compaction_that_ended_early_is_not_told_to_have_nothing_to_do(
    ada: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = Compaction("ada", "plan", reason=CANCELLED, ended_early=True)
    monkeypatch.setattr(Memory, "compact", lambda *_, **__: ended)
    for arguments in (["plan"], ["--all"]):
        result = ada("compact", *arguments, "--user", "ada")
        assert result.code == 0 and CANCELLED in " ".join(result.out.split())
        assert "nothing" not in result.out + result.err and CANCELLED not in result.err


def test_no_command_on_sessions_makes_a_store(cli: Run, tmp_path: Path) -> None:
    for arguments in (["compact", "s"], ["compact", "--all"], ["history", "s"], ["expand", "summary:0123456789"]):
        assert cli(*arguments).code == 5
    assert not list(tmp_path.glob("store*"))


# ── history ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_history_accounts_for_every_turn_once_and_in_order(ada: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIBRAVDB_COMPACTION_CLUSTER_TARGET", "8")
    monkeypatch.setenv("LIBRAVDB_COMPACTION_FOLD_TOKENS", "60")
    ada("compact", "plan", "-u", "ada")
    ada("add", "--jsonl", "-", "--user", "ada", stdin=lines("plan", TURNS + 4))
    told = tree(ada, "--turns")

    def turns(entries: list[dict[str, Any]]) -> list[str]:
        below = (turns(entry["below"]) if entry["kind"] == "summary" else [entry["id"]] for entry in entries)
        return [turn for part in below for turn in part]

    assert turns(told["entries"]) == [f"t{n}" for n in range(TURNS + 4)] and told["turns"] == TURNS + 4
    assert max(node["level"] for node in nodes(told["entries"])) > 1
    bare = [entry for entry in told["entries"] if entry["kind"] == "turn"]
    assert [entry["tail"] for entry in bare] == [False] * 4 + [True] * TAIL and told["tail"] == TAIL


@pytest.mark.parametrize("width", [40, 80])
def test_history_is_a_tree_that_fits_the_terminal(ada: Run, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("LIBRAVDB_COMPACTION_CLUSTER_TARGET", "8")
    monkeypatch.setenv("LIBRAVDB_COMPACTION_FOLD_TOKENS", "60")
    ada("compact", "plan", "-u", "ada")
    for out in (ada("history", "plan", "-u", "ada").out, ada("history", "plan", "-u", "ada", "--turns").out):
        assert max(map(len, out.splitlines())) <= width
        flat = " ".join(re.sub("[├─└│]", " ", out).split())
        assert "44 turns: 40 below" in flat and "tail: 4 turns" in flat and "level 2" in flat
        assert re.search(r"level 1, 8 turns, \d+ → \d+ tokens, confidence 0\.\d\d, \d+ facts: \d+ kept", flat)
    assert all(re.search(rf"\bt{n}\b", flat) for n in range(TURNS))


def test_long_runs_of_bare_turns_are_folded_unless_all_are_wanted(ada: Run) -> None:
    folded = ada("history", "plan", "-u", "ada").out
    assert "not covered: 40 turns" in folded and "… 36 turns" in folded and "t20 " not in folded
    whole = ada("history", "plan", "-u", "ada", "--turns").out
    assert "t20 " in whole and "36 turns" not in whole


def test_depth_shows_so_many_levels_and_counts_the_rest(ada: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIBRAVDB_COMPACTION_CLUSTER_TARGET", "8")
    monkeypatch.setenv("LIBRAVDB_COMPACTION_FOLD_TOKENS", "60")
    ada("compact", "plan", "-u", "ada")
    every = list(nodes(tree(ada)["entries"]))
    roots = [entry for entry in tree(ada, "--depth", "1")["entries"] if entry["kind"] == "summary"]
    assert all(root["below"] == [] for root in roots) and max(root["level"] for root in roots) > 1
    out = ada("history", "plan", "-u", "ada", "--depth", "1").out
    assert out.count("confidence") == len(roots) and f"… {len(every) - len(roots)} summaries" in out
    deepest = max(node["level"] for node in every)
    assert tree(ada, "--depth", str(deepest)) == tree(ada)
    assert ada("history", "plan", "-u", "ada", "--depth", "0").code == 2


def test_history_is_drawn_in_ascii_where_boxes_cannot_be_shown(ada: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ada("compact", "plan", "-u", "ada")
    boxes = ada("history", "plan", "-u", "ada").out
    monkeypatch.setattr("libravdb_memory.cli.commands.sessions.glyphs_of_output", lambda: ASCII)
    plain = ada("history", "plan", "-u", "ada").out
    assert plain.isascii() and "|- " in plain and "`- " in plain
    assert [len(line) for line in plain.splitlines()] == [len(line) for line in boxes.splitlines()]


def test_words_of_a_turn_cannot_draw_into_the_tree(ada: Run) -> None:
    ada("add", "first\n└─ forged\x1b[2J", "--user", "ada", "--session", "plan", "--id", "x\n└─ y")
    out = ada("history", "plan", "-u", "ada").out
    assert "\x1b" not in out and not any(line.lstrip().startswith("└─ forged") for line in out.splitlines())


# ── expand ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_expand_gives_the_exact_turns_in_order_page_by_page(ada: Run) -> None:
    [first, _] = compacted(ada, "plan", "-u", "ada")[0]["summaries"]
    turns: list[dict[str, Any]] = []
    cursor: list[str] = []
    while True:
        page = expanded(ada, first["id"], "--limit", "7", *cursor)
        assert len(page["items"]) <= 7
        turns += page["items"]
        if page["cursor"] is None:
            break
        cursor = ["--after", page["cursor"]]
    assert [(turn["id"], turn["text"]) for turn in turns] == [(f"t{n}", said(n)) for n in range(20)]
    assert page["summary"]["id"] == first["id"]


def test_expand_prints_exact_texts_and_says_how_to_go_on(ada: Run) -> None:
    ada("add", "code:\n\n    if x:\x1b[1m\n\tpass", "--user", "ada", "--session", "other", "--id", "c0")
    ada("add", "--jsonl", "-", "--user", "ada", stdin=lines("other"))
    [first, *_] = compacted(ada, "other", "-u", "ada")[0]["summaries"]
    result = ada("expand", first["id"], "--limit", "1")
    assert "code:\n\n    if x:\x1b[1m\n\tpass\n" in result.out and "user  c0" in result.out
    command = re.search(r"more: libravdb (expand .*)", result.err)
    assert command and said(0) in ada(*command[1].split()).out


def test_what_is_said_to_go_on_names_the_same_store_and_the_same_user(
    ada: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [first, *_] = compacted(ada, "plan", "-u", "ada")[0]["summaries"]
    monkeypatch.delenv("LIBRAVDB_DB_PATH")
    of_ada = ["--user", "ada", "--session", "plan"]
    at = ["--db", tmp_path / "store.libravdb"]
    page = ada("expand", first["id"], "--limit", "1", *of_ada, *at)
    command = re.search(r"more: libravdb (expand .*)", page.err)
    assert command and of_ada == shlex.split(command[1])[2:6]
    assert said(1) in ada(*shlex.split(command[1])).out
    built = ada("context", "--prompt", "which port?", "-u", "ada", *at)
    command = re.search(r"explained by: libravdb (why .*)", built.err)
    assert command and ada(*shlex.split(command[1])).code == 0


def test_depth_stops_at_summaries(ada: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIBRAVDB_COMPACTION_CLUSTER_TARGET", "8")
    monkeypatch.setenv("LIBRAVDB_COMPACTION_FOLD_TOKENS", "60")
    [done] = compacted(ada, "plan", "-u", "ada")
    fold = done["folds"][-1]
    below = expanded(ada, fold["id"], "--depth", "1")["items"]
    assert [item["kind"] for item in below] == ["summary"] * len(fold["children"])
    assert [item["id"] for item in below] == fold["children"]
    shown = ada("expand", fold["id"], "--depth", "1").out
    assert all(child in shown for child in fold["children"])


def test_the_first_characters_of_an_id_name_a_summary(ada: Run) -> None:
    [first, second] = compacted(ada, "plan", "-u", "ada")[0]["summaries"]
    own = first["id"].removeprefix("summary:")
    for given in (first["id"], first["id"][:16], own, own[:8]):
        assert expanded(ada, given)["summary"]["id"] == first["id"]
    shown = ada("history", "plan", "-u", "ada").out.split("├─ ")[1].split()[0]
    assert expanded(ada, shown)["summary"]["id"] == first["id"]
    assert ada("expand", own[:5]).code == 2
    assert ada("expand", "fffffffffff0").code == 3
    assert ada("expand", own, "--session", "other").code == 3
    assert ada("expand", own, "--user", "bob").code == 3
    assert expanded(ada, own, "--user", "ada", "--session", "plan")["summary"]["id"] == first["id"]
    assert second["id"] != first["id"]


def test_capitals_name_the_same_summary(ada: Run) -> None:
    [first, _] = compacted(ada, "plan", "-u", "ada")[0]["summaries"]
    own = first["id"].removeprefix("summary:")
    for given in (own.upper(), own[:8].upper(), first["id"].upper()):
        assert expanded(ada, given)["summary"]["id"] == first["id"]


def test_expanding_a_turn_tells_of_get(ada: Run) -> None:
    told = ada("expand", "t6")
    assert told.code == 3 and "'t6' is a turn, not a summary; 'libravdb get t6' shows it" in told.err
    assert "is a turn" not in ada("expand", "t6", "--user", "bob").err
    assert "at least 6 characters" in ada("expand", "abc").err


def test_expand_shows_the_summary_before_its_turns(ada: Run) -> None:
    [first, _] = compacted(ada, "plan", "-u", "ada")[0]["summaries"]
    page = ada("expand", first["id"], "--limit", "3")
    assert page.out.index(first["text"]) < page.out.index(said(0)) and page.out.startswith(first["id"])
    command = re.search(r"more: libravdb (expand .*)", page.err)
    assert command
    later = ada(*command[1].split())
    assert first["text"] not in later.out and said(3) in later.out and first["id"] in later.err


def test_what_two_summaries_begin_with_names_neither(cli: Run, tmp_path: Path) -> None:
    with closing(SqliteStore.open(tmp_path / "store.libravdb")) as store:
        for ending in "ab":
            store.commit([Put(Draft(summaries_of("ada"), f"summary:012345{ending}", "words", group="plan"))])
    result = cli("expand", "012345")
    assert result.code == 3 and "2 records" in result.err
    assert cli("expand", "012345a").code == 0


def test_a_bad_cursor_is_a_usage_error(ada: Run) -> None:
    [first, _] = compacted(ada, "plan", "-u", "ada")[0]["summaries"]
    assert ada("expand", first["id"], "--after", "yesterday").code == 2
    assert ada("expand", first["id"], "--limit", "0").code == 2


def test_getting_a_summary_tells_of_expand(ada: Run) -> None:
    [first, _] = compacted(ada, "plan", "-u", "ada")[0]["summaries"]
    for arguments in ([first["id"]], [first["id"], "--user", "ada"]):
        told = ada("get", *arguments)
        assert told.code == 3 and "is a summary, not a turn; expand shows the turns below it" in told.err
    assert "expand" not in ada("get", first["id"], "--user", "ben").err
    assert "expand" not in ada("get", "summary:0123456789abcdef").err


# ── what other commands tell ─────────────────────────────────────────────────────────────────────────────────────


def test_search_looks_in_summaries_when_asked(ada: Run) -> None:
    made = {node["id"] for node in compacted(ada, "plan", "-u", "ada")[0]["summaries"]}

    def found(*options: str) -> list[dict[str, Any]]:
        hits: list[dict[str, Any]] = json.loads(ada("search", "importer build", "-u", "ada", "--json", *options).out)[
            "hits"
        ]
        return hits

    assert "nothing found; there are summaries of --user ada" in ada("search", "importer", "--scope", "summaries").err
    assert "nothing found; there are turns of --user ada" in ada("search", "importer").err
    unknown = ada("search", "importer", "--user", "bob")
    assert (unknown.code, unknown.out) == (0, "") and unknown.err == "nothing found: the user 'bob' has no turns\n"
    for scope in ((), ("--scope", "history"), ("--scope", "summaries")):
        told = "nothing found: the session 'paln' of the user 'ada' has no turns; there is plan"
        wrong = ada("search", "heron", "--user", "ada", "--session", "paln", "--role", "tool", *scope)
        assert wrong.code == 0 and " ".join(wrong.err.split()) == told and max(map(len, wrong.err.splitlines())) <= 80
    other = ada("search", "importer", "--session", "plan")
    assert "the session 'plan' has no turns; one of that name belongs to --user ada" in " ".join(other.err.split())
    assert ada("search", "importer", "--user", "ada", "--role", "tool").err == "nothing found\n"
    mute = ada("search", "importer", "--user", "bob", "--json")
    assert json.loads(mute.out)["hits"] == [] and mute.err == ""
    alone = found("--scope", "summaries")
    assert {hit["id"] for hit in alone} == made
    assert {hit["turn"]["role"] for hit in alone} == {"summary"} and alone[0]["turn"]["user"] == "ada"
    assert {hit["turn"]["role"] for hit in found()} <= {"user", "assistant"}
    both = {hit["turn"]["role"] for hit in found("--scope", "summaries", "--scope", "history", "-k", "60")}
    assert both == {"summary", "user", "assistant"}
    assert found("--scope", "summaries", "--session", "elsewhere") == []
    assert ada("search", "x", "--scope", "session", "--user", "ada").code == 2


def test_status_counts_summaries(ada: Run) -> None:
    assert "0 summaries" in ada("status").out
    ada("compact", "plan", "-u", "ada")
    assert "2 summaries" in ada("status").out
    status = json.loads(ada("status", "--json").out)
    assert status["summaries"] == 2 and status["compaction"]["failure"] is None


def test_status_names_the_sessions_that_are_compacted(ada: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    states = [
        (OverflowState(0, True, None), "one session at work"),
        (OverflowState(1, True, None, None, (AtWork("ada", "pl\nan"),)), "at work on pl⏎an of ada; 1 session waiting"),
        (
            OverflowState(0, True, None, None, tuple(AtWork("ada", name) for name in "abcde")),
            "at work on a of ada, b of ada, c of ada and 2 more",
        ),
    ]
    for state, words in states:
        monkeypatch.setattr(Memory, "_compaction", lambda _, told=state: told)
        assert f"0 summaries; {words}\n" in ada("status").out
    form = json.loads(ada("status", "--json").out)["compaction"]
    assert form["running"] and form["sessions"][0] == {"user": "ada", "session": "a"}


def test_verify_checks_summaries(ada: Run) -> None:
    ada("compact", "plan", "-u", "ada")
    assert json.loads(ada("verify", "--json").out)["checked"]["summaries"] == 2


def test_erase_says_which_summaries_and_rules_go_with_it(ada: Run) -> None:
    ada("compact", "plan", "-u", "ada")
    assert "this turn, and 1 summary and 1 rule made from it, for good?" in ada("erase", RULE).err
    assert "this turn for good?" in ada("erase", f"t{TURNS - 1}").err
    whole = ada("erase", "--user", "ada", "--session", "plan").err
    assert "44 turns of 'ada', session 'plan', and 2 summaries and " in whole and "made from them, for good?" in whole
    result = ada("erase", RULE, "--yes")
    assert result.code == 0 and result.err == "erased 1 turn, with 1 summary and 1 rule made from it\n"
    assert len(list(nodes(tree(ada)["entries"]))) == 1
    assert ada("verify").code == 0
