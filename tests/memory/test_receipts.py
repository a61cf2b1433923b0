"""Receipts: the same bytes again, whatever changed since; nothing left of what was erased."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from tests.memory.conversing import TOKENIZER, with_assembly

from libravdb_memory import AmbiguousIdError, Config, Memory, NotFoundError, receipts
from libravdb_memory.assemble.receipt import Reason
from libravdb_memory.model import Draft, Record
from libravdb_memory.namespaces import guidance_of, history_of
from libravdb_memory.store.protocol import Key, Put, Selection

SECRET = "xyzzyplughsecret"


@pytest.fixture
def memory(tmp_path: Path, hashed: Config) -> Iterator[Memory]:
    with Memory.open(tmp_path / "store.libravdb", config=hashed) as opened:
        yield opened


def fill_with_herons(memory: Memory) -> None:
    memory.load_document("AGENTS.md", "- Never force-push.\n\n> Prefer short answers.\n\nHerons are tall birds.\n")
    for number in range(12):
        memory.ingest(f"heron {number} nests near lake {number}", user="ada", session="old")
        memory.ingest(f"turn {number} <b>&amp;", user="ada", session="s", speaker='A"da')
    assert memory.wait(30)


def test_a_replay_gives_the_same_bytes_after_everything_has_changed(tmp_path: Path, hashed: Config) -> None:
    path = tmp_path / "store.libravdb"
    with Memory.open(path, config=hashed) as memory:
        fill_with_herons(memory)
        built = memory.context("where do herons nest?", user="ada", session="s", budget=900)
        assert memory.replay(built.receipt.id).identical
        memory.load_document("AGENTS.md", "- Always do the opposite.\n")
        for number in range(20):
            memory.ingest(f"heron news {number}", user="ada", session="s")
    with Memory.open(path, config=hashed) as memory:
        replayed = memory.replay(built.receipt.id)
        assert replayed.identical and replayed.assembly is not None
        assert replayed.assembly == built.assembly
        assert memory.why(built.receipt.id) == built.receipt
        assert memory.why(built.receipt.id).inputs_hash == built.receipt.inputs_hash


def test_the_hash_of_the_inputs_tells_inputs_apart(memory: Memory) -> None:
    fill_with_herons(memory)
    first = memory.context("where do herons nest?", user="ada", session="s", budget=900).receipt
    again = memory.context("where do herons nest?", user="ada", session="s", budget=900).receipt
    other = memory.context("where do herons nest?", user="ada", session="s", budget=901).receipt
    assert first.inputs_hash != other.inputs_hash
    assert first.text_hash == again.text_hash
    assert first.id != again.id


def test_another_counter_cannot_replay_and_says_so(tmp_path: Path, hashed: Config) -> None:
    path = tmp_path / "store.libravdb"
    with Memory.open(path, config=hashed) as memory:
        fill_with_herons(memory)
        receipt = memory.context("herons?", user="ada", session="s", budget=900).receipt
    with Memory.open(path, config=with_assembly(hashed, tokenizer=TOKENIZER)) as memory:
        replayed = memory.replay(receipt.id)
        assert not replayed.identical and replayed.assembly is None
        assert "estimate-1" in replayed.reason
        assert replayed.reason == memory.why_not(receipt.id, "anything").reason


def test_only_the_newest_receipts_are_kept(tmp_path: Path, hashed: Config) -> None:
    path = tmp_path / "store.libravdb"
    config = with_assembly(hashed, kept_receipts=5)
    with Memory.open(path, config=config) as memory:
        ids = [memory.context(f"question {number}", user="ada", session="s").receipt.id for number in range(90)]
        other = memory.context("question", user="bruno", session="s").receipt.id
        assert [receipt.id for receipt in memory.receipts(user="ada")] == ids[:-6:-1]
        with pytest.raises(NotFoundError):
            memory.why(ids[0])
    with Memory.open(path, config=config) as memory:
        memory.context("one more", user="ada", session="s")
        assert len(memory.receipts(user="ada")) == 5
        assert [receipt.id for receipt in memory.receipts(user="bruno")] == [other]


def test_an_erasure_reads_each_receipt_once_before_and_once_after_whatever_goes_with_the_turn(
    tmp_path: Path, hashed: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = replace(hashed, compaction=replace(hashed.compaction, cluster_target=3, fold_tokens=60, fold_fan=2))
    with Memory.open(tmp_path / "store", config=with_assembly(config, startup_budget=100)) as memory:
        for number in range(20):
            text = f"heron {number} on the quay was seen at {number + 3} and Oyelaran{number} wrote it down"
            memory.ingest(text, user="ada", session="s", id=f"t{number}")
        memory.compact(user="ada", session="s")
        for number in range(7):
            memory.context(f"which herons were seen at {number}?", user="ada", session="another")
        memory.wait()
        opened, unpacked = list[str](), receipts._unpacked

        def watched(record: Record) -> receipts.Receipt:
            opened.append(record.id)
            return unpacked(record)

        monkeypatch.setattr(receipts, "_unpacked", watched)
        assert memory.erase("t0", user="ada", session="s").records > 3, "the turn and summaries of several levels"
        assert len(opened) <= 2 * 7 and len(opened) - len(set(opened)) <= 7


def holds_secret(path: Path) -> bool:
    """Whether the secret is anywhere in the files, in plain or inside a packed receipt."""
    for file in path.parent.iterdir():
        if not file.is_file():
            continue
        raw = file.read_bytes()
        if SECRET.encode() in raw:
            return True
        start = raw.find(b"eAF")
        while start >= 0:
            packed = raw[start : start + 400_000]
            encoded = re.match(rb"[A-Za-z0-9+/]+", packed)
            assert encoded
            try:
                whole = encoded[0][: len(encoded[0]) // 4 * 4]
                unpacked = zlib.decompressobj().decompress(base64.b64decode(whole))
            except (ValueError, zlib.error):
                unpacked = b""
            if SECRET.encode() in unpacked:
                return True
            start = raw.find(b"eAF", start + 3)
    return False


@pytest.mark.parametrize("what", ["turn", "session", "user"])
def test_erasing_leaves_no_receipt_that_quotes_it(tmp_path: Path, hashed: Config, what: str) -> None:
    path = tmp_path / "alone" / "store.libravdb"
    path.parent.mkdir()
    with Memory.open(path, config=hashed) as memory:
        turn = memory.ingest(f"the code is {SECRET}", user="ada", session="s")
        memory.ingest("herons nest in April", user="ada", session="elsewhere")
        assert memory.wait(30)
        as_tail = memory.context("hello", user="ada", session="s", budget=900)
        recalled = memory.context("which code is it?", user="ada", session="elsewhere", budget=900)
        as_prompt = memory.context(turn.text, user="ada", session="third", budget=900)
        shown = memory.context(
            "and now?",
            user="ada",
            session="third",
            budget=900,
            messages=[{"role": "user", "content": f"I said: {turn.text}"}],
        )
        innocent = memory.context("where do herons nest?", user="bruno", session="s", budget=900)
        assert SECRET in as_tail.text and SECRET in recalled.text
        memory.receipts(user="ada")
        assert holds_secret(path)
        if what == "turn":
            assert memory.erase(turn.id, user="ada").records == 1
        elif what == "session":
            memory.ingest(f"the code was {SECRET}", user="ada", session="s")
            assert memory.erase(session="s", user="ada").records == 2
        else:
            assert memory.erase(user="ada").records == 2
        for built in (as_tail, recalled, as_prompt, shown):
            with pytest.raises(NotFoundError):
                memory.why(built.receipt.id)
        assert memory.why(innocent.receipt.id) == innocent.receipt
        assert not holds_secret(path)
        assert memory.verify().ok
    assert not holds_secret(path)


def test_a_prompt_that_became_an_erased_turn_goes_with_it(memory: Memory) -> None:
    prompt = f"please remember that the code is {SECRET}"
    receipt = memory.context(prompt, user="ada", session="s", budget=900).receipt
    other = memory.context("please remember the milk", user="ada", session="s", budget=900).receipt
    turn = memory.ingest(prompt, user="ada", session="s")
    memory.erase(turn.id, user="ada")
    with pytest.raises(NotFoundError):
        memory.why(receipt.id)
    assert memory.why(other.id) == other


def test_what_is_said_again_after_an_erasure_is_kept_again(memory: Memory) -> None:
    turn = memory.ingest(f"the code is {SECRET}", user="ada", session="s")
    memory.erase(turn.id, user="ada")
    again = memory.context(turn.text, user="ada", session="s", budget=900).receipt
    assert memory.receipts(user="ada") == (again,)


def test_a_receipt_may_quote_what_was_replaced_since_and_no_turn_that_is_gone(tmp_path: Path, hashed: Config) -> None:
    config = replace(hashed, compaction=replace(hashed.compaction, cluster_target=3, trigger_tokens=0))
    with Memory.open(tmp_path / "store", config=with_assembly(config, startup_budget=100)) as memory:
        memory.ingest("Never fly a drone near the herons.", user="ada", session="s", id="rule")
        for number in range(20):
            memory.ingest(f"heron {number} on the quay was seen at {number + 3}", user="ada", session="s")
        memory.compact(user="ada", session="s")
        assert memory.wait(30)
        built = memory.context("may I fly a drone near herons on the quay?", user="ada", session="s", budget=900)
        summaries = [item.id for item in built.receipt.offer.recalled if item.source == "summary"]
        assert summaries and [item.id for item in built.receipt.offer.elevated] == ["guidance:s:rule"]
        with pytest.raises(NotFoundError, match="is a summary"):
            memory.erase(summaries[0], user="ada", session="s")
        memory.compact(user="ada", session="s", rebuild=True)
        memory.load_document("AGENTS.md", "- Never force-push.\n")
        assert memory.receipts(user="ada") == (built.receipt,)
        found = memory.verify()
        assert found.ok and found.checked["receipts"] == 1
        rules = replace(built.receipt, offer=replace(built.receipt.offer, turns=(), recalled=(), recovered=()))
        memory._receipts.add(replace(rules, id="of rules"), built.assembly)
        assert len(memory.receipts(user="ada")) == 2
        memory.store.erase(Selection(keys=(Key(history_of("ada"), "rule", "s"),)))
        problems = [problem for problem in memory.verify().problems if problem.kind == "receipt"]
        assert "receipt 'of rules'" in {problem.where for problem in problems}
        assert {problem.remedy for problem in problems} == {"libravdb erase --user ada --session=s -- rule"}


def test_every_reason_for_staying_out_is_named_with_its_margin(memory: Memory) -> None:
    memory.ingest("herons and more herons " * 60, user="ada", session="old", id="long")
    memory.ingest("herons nest in April", user="ada", session="old", id="first")
    memory.ingest("herons  nest in April", user="ada", session="older", id="second")
    memory.ingest("herons at the mill", user="ada", session="old", id="shown")
    memory.ingest("herons in the tail", user="ada", session="s", id="newest")
    memory._store.commit([Put(Draft(guidance_of("ada"), "unrelated", "zzz qqq www", {"role": "user"}))])
    memory._indexer.notify()
    assert memory.wait(30)
    built = memory.context(
        "where do herons nest?",
        user="ada",
        session="s",
        budget=260,
        messages=[{"role": "user", "content": "herons at the mill"}],
    )
    name = built.receipt.id
    reasons = {
        record: memory.why_not(name, record) for record in ("long", "first", "second", "shown", "newest", "unrelated")
    }
    found = {record: answer.rejection.reason if answer.rejection else None for record, answer in reasons.items()}
    assert found["long"] == "budget"
    assert {found["first"], found["second"]} == {None, "duplicate"}
    assert found["shown"] == "visible"
    assert found["newest"] == "in the tail"
    assert found["unrelated"] == "below the similarity bound"
    assert set(filter(None, found.values())) == set(get_args(Reason))
    over, below = reasons["long"].rejection, reasons["unrelated"].rejection
    assert over is not None and over.margin > 0 and below is not None and below.margin > 0
    assert reasons["long"].reason == f"budget, {round(over.margin)} tokens over"
    assert reasons["unrelated"].reason == f"below the similarity bound by {below.margin:.2f}"
    assert reasons["newest"].reason == "in the tail"
    assert memory.why_not(name, "nothing").reason.startswith("it was not among")
    inside = next(record for record in ("first", "second") if found[record] is None)
    assert memory.why_not(name, inside).reason == "it is in the prompt"


def test_a_turn_whose_rule_was_kept_is_not_told_of_without_it(memory: Memory) -> None:
    rules = ["Never fly a drone near the herons.", "Never feed the herons " + "bread or rice or " * 80 + "crumbs."]
    for number, text in enumerate(rules):
        memory.ingest(text, user="ada", session="old", id=f"r{number}")
    for number in range(60):
        memory.ingest(f"Kiln {number} was fired for {number} hours at cone six.", user="ada", session="old")
    assert memory.compact(user="ada", session="old").guidance == 2
    assert memory.wait(30)
    built = memory.context("may I fly a drone near herons?", user="ada", session="s", budget=500)
    shown, kept_out = (memory.why_not(built.receipt.id, turn) for turn in ("r0", "old/r1"))
    assert shown.rule == "the rule kept of it is in the prompt"
    assert re.fullmatch(r"the rule kept of it is not in the prompt: budget, \d+ tokens over", kept_out.rule)
    assert shown.reason.endswith(f"; {shown.rule}") and kept_out.reason.endswith(f"; {kept_out.rule}")
    assert memory.why_not(built.receipt.id, "guidance:old:r0").rule == ""
    assert memory.why_not(built.receipt.id, "r0", session="s").rule == ""


def test_receipts_of_a_session_are_those_of_no_other(memory: Memory) -> None:
    asked = [(session, memory.context("x", user="ada", session=session).receipt.id) for session in "abcab" * 30]
    of_b = [receipt for session, receipt in asked if session == "b"]
    assert [receipt.id for receipt in memory.receipts(user="ada", session="b", limit=100)] == of_b[::-1]
    assert [receipt.id for receipt in memory.receipts(user="ada", session="b", limit=3)] == of_b[:-4:-1]
    assert len(memory.receipts(user="ada", limit=500)) == 150
    assert memory.receipts(user="ada", session="d") == ()


def test_an_id_that_two_sessions_have_is_explained_for_the_session_named(memory: Memory) -> None:
    memory.ingest("herons nest in April", user="ada", session="one", id="same")
    memory.ingest("herons and more herons " * 60, user="ada", session="two/2", id="same")
    assert memory.wait(30)
    name = memory.context("where do herons nest?", user="ada", session="s", budget=150).receipt.id
    with pytest.raises(AmbiguousIdError) as refusal:
        memory.why_not(name, "same")
    assert refusal.value.sessions == ("one", "two/2")
    inside, outside = memory.why_not(name, "same", session="one"), memory.why_not(name, "two/2/same")
    assert (inside.session, inside.reason) == ("one", "it is in the prompt")
    assert outside == memory.why_not(name, "same", session=" two/2 ")
    assert (outside.session, outside.record_id) == ("two/2", "same")
    assert outside.rejection is not None and outside.rejection.reason == "budget"
    assert memory.why_not(name, "same", session="three").reason.startswith("it was not among")
