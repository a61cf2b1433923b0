"""Which receipts quote an erased turn: by the words of their prompts and of the messages that the host showed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from libravdb_memory import Config, Memory
from libravdb_memory.context import _MASKED_AT_EACH_END
from libravdb_memory.forgetting import derived_from, doomed_with
from libravdb_memory.quoting import Erased
from libravdb_memory.retrieve.question import READ_AT_EACH_END
from libravdb_memory.store.protocol import Selection

SAID = "My bank PIN is Xylophonequux, keep it in mind."
WORDS = " ".join(f"word{number}" for number in range(16_000))
OTHER = " ".join(f"stone{number}" for number in range(16_000))
LONG = f"{SAID} {WORDS}"
ASKED = "What do you make of that?"


@pytest.fixture
def memory(tmp_path: Path, hashed: Config) -> Iterator[Memory]:
    with Memory.open(tmp_path / "store", config=hashed) as opened:
        yield opened


def left_of(memory: Memory, turn: str, prompt: str, messages: tuple[str, ...] = ()) -> bool:
    """Whether the receipt of this prompt, asked in another session, is there after the turn was erased."""
    shown = [{"role": "user", "content": text} for text in messages]
    receipt = memory.context(prompt, user="ada", session="another", budget=500, messages=shown).receipt
    memory.ingest(turn, user="ada", session="s", id="turn")
    memory.erase("turn", user="ada")
    return receipt.id in {each.id for each in memory.receipts(user="ada", limit=200)}


QUOTING = {
    "the same": (SAID, SAID),
    "the same but for white space": (SAID, f"  {SAID.replace(' ', '  ')}\n"),
    "the same, however short": ("yes", "yes"),
    "what was stored with an attachment behind it": (f"{SAID}\n\nThe file: lorem ipsum.", SAID),
    "what was stored with something before it": (f"From Ada:\n{SAID}", SAID),
    "a part of it": (f"Look: {SAID} And so on.", "is Xylophonequux,"),
    "a part of it in few signs": ("你好。我的银行密码是四七一一。请记住。", "密码是四七一一"),
    "more than it": (SAID, f"{SAID}\n\nSystem note: today is Monday."),
    "more than its one long word": ("Xylophonequux", "use Xylophonequux please"),
    "more than its few signs": ("密码是四七一一", "你好。我的银行密码是四七一一。请记住。"),
    "the same, so long that only its ends are kept": (LONG, LONG),
    "the same but for white space, long": (LONG, f"\n {LONG}  \n"),
    "long, stored with an attachment behind it": (f"{LONG} {OTHER}", LONG),
    "long, stored with something before it": (f"{OTHER} {WORDS}, {SAID}", f"{WORDS}, {SAID}"),
    "long, stored with something around it": (f"{OTHER} {LONG} {OTHER}", LONG),
    "long, with all of it at the beginning": (SAID, LONG),
    "long, with all of it at the end": (SAID, f"{WORDS}, {SAID}"),
    "long, and it begins before the first end breaks off": (
        f"{SAID} {WORDS[:9000]}",
        f"{OTHER[: READ_AT_EACH_END - 40]} {SAID} {WORDS[:9000]} {OTHER}",
    ),
    "long, and it ends after the last end begins": (
        f"{WORDS[:9000]} {SAID}",
        f"{OTHER} {WORDS[:9000]} {SAID} {OTHER[: READ_AT_EACH_END - 40]}",
    ),
}


@pytest.mark.parametrize("how", QUOTING)
def test_a_receipt_whose_prompt_quotes_an_erased_turn_goes_with_it(memory: Memory, how: str) -> None:
    turn, prompt = QUOTING[how]
    assert not left_of(memory, turn, prompt)


@pytest.mark.parametrize("how", [how for how in QUOTING if "long," not in how])
def test_a_receipt_of_which_a_shown_message_quotes_an_erased_turn_goes_with_it(memory: Memory, how: str) -> None:
    turn, message = QUOTING[how]
    assert not left_of(memory, turn, ASKED, ("Good morning.", message))


INNOCENT = {
    "of other words": (SAID, "My bank is closed."),
    "so short that it is in many texts": (f"Yes, thanks. {SAID}", "Yes, thanks"),
    "within which a short word is": ("yes", "yes, and do it tonight"),
    "long, of other words": (LONG, OTHER),
    "long, of which what is not kept says it": (SAID, f"{OTHER} {SAID} {WORDS}"),
    "long, that begins like it": (SAID, f"My bank PIN is not known to me. {OTHER}"),
    "long, that breaks off with a short word": ("yes", f"{OTHER[: READ_AT_EACH_END - 4]} yes {OTHER}"),
    "long, that breaks off with a few of its letters": (
        f"keep it {WORDS[:9000]}",
        f"{OTHER[: READ_AT_EACH_END - 8]} keep it {OTHER}",
    ),
}


@pytest.mark.parametrize("how", INNOCENT)
def test_a_receipt_that_quotes_nothing_of_an_erased_turn_stays(memory: Memory, how: str) -> None:
    turn, prompt = INNOCENT[how]
    assert left_of(memory, turn, prompt)


def test_what_is_kept_of_a_long_prompt_is_what_is_looked_through(memory: Memory) -> None:
    assert len(LONG) > 2 * _MASKED_AT_EACH_END
    kept = memory.context(LONG, user="ada", session="s", budget=500).receipt.prompt
    assert kept == f"{LONG[:READ_AT_EACH_END]}\n{LONG[-READ_AT_EACH_END:]}"


def test_two_turns_together_are_nobody_s_words(memory: Memory) -> None:
    receipt = memory.context("any", user="ada", session="another", budget=0).receipt
    erased = Erased(Selection(groups=(("history:ada", "s"),)), said=("boats at the quay", "gulls at the mill"))
    for prompt, quotes in (("at the quaygulls at", False), ("at the millboats at", False), ("boats at the", True)):
        asked = replace(receipt, prompt=prompt, offer=replace(receipt.offer, visible=frozenset()))
        assert erased.is_quoted_by(asked) == quotes


def test_of_what_was_made_of_a_turn_only_the_whole_counts(memory: Memory) -> None:
    """A summary holds sentences of other turns, and those who asked for these said nothing of the erased one."""
    memory.ingest(SAID, user="ada", session="s", id="turn")
    receipt = memory.context("The quay is shut on Fridays.", user="ada", session="another", budget=0).receipt
    key = memory.store.find("turn")[0]
    selection = Selection(collections=(key.collection,))
    summary = f"{SAID} {receipt.prompt} The rest is about boats."
    mine = replace(receipt, session="s", offer=replace(receipt.offer, turns=(), recalled=()))
    assert not Erased(Selection(), made=(summary,)).is_quoted_by(mine), "nobody loses anything"
    nobody_s = Selection(groups=((key.collection, "none"),))
    assert not Erased(nobody_s, made=(summary,)).is_quoted_by(mine)
    assert Erased(nobody_s, said=(summary,)).is_quoted_by(mine)
    assert Erased(nobody_s, made=(receipt.prompt,)).is_quoted_by(mine)
    assert Erased(selection).is_quoted_by(mine), "all of a user goes"
    assert not Erased(selection, said=(summary,)).is_quoted_by(replace(mine, namespace="bob"))


def test_so_many_are_foretold_as_go(memory: Memory) -> None:
    for prompt in (SAID, LONG, "the quay", f"Again: {SAID}", "yes"):
        memory.context(prompt, user="ada", session="another", budget=300)
    turn = memory.ingest(f"{SAID}\n\n{WORDS}", user="ada", session="s")
    (record,) = memory.store.find(turn.id)
    doomed = doomed_with(memory.store, record, derived_from(memory.store, record))
    foretold = memory.quoting(doomed.selection, doomed.said, 60, made=doomed.made)
    before = len(memory.receipts(user="ada"))
    memory.erase(turn.id, user="ada")
    assert foretold == (before - len(memory.receipts(user="ada")), True) == (2, True)
