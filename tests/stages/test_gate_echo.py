"""What memory said to a prompt does not come back as news; what the user says beside it survives."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.growth import grows_with_length

from libravdb_memory.gate.echo import MAX_SHINGLES, PASSAGE, SHINGLE, fingerprint, strip_echo

INJECTED = (
    "Ada prefers short answers without bullet points, lives in Porto with two cats, and keeps the spare key of the "
    "studio with her neighbour Tomasz on the second floor."
)
KNOWN = fingerprint(INJECTED)
NEW = "By the way, I sold the studio last week."

ours = st.lists(st.sampled_from([f"old{n}" for n in range(40)]), min_size=PASSAGE, max_size=40)
theirs = st.lists(st.sampled_from([f"new{n}" for n in range(40)]), max_size=20)


@pytest.mark.parametrize(
    "echo",
    [
        INJECTED,
        INJECTED.upper(),
        INJECTED.lower(),
        textwrap.fill(INJECTED, 30),
        textwrap.indent(textwrap.fill(INJECTED, 40), "> "),
        "  ".join(INJECTED.split()),
        f'"{INJECTED}"',
        f'<memory>\n  <item id="3" score="0.82">{INJECTED}</item>\n</memory>',
        INJECTED.replace(" ", "\u00a0"),
        INJECTED.replace(",", " –"),
        INJECTED.replace("answers", "**answers**"),
        "- " + INJECTED.replace(", ", "\n- "),
    ],
)
def test_an_echo_vanishes_however_it_is_wrapped(echo: str) -> None:
    assert strip_echo(echo, KNOWN) == ""
    for turn in (f"{NEW}\n\n{echo}", f"{echo}\n\n{NEW}", f"{NEW} {echo} {NEW}"):
        left = strip_echo(turn, KNOWN)
        assert left.split() == NEW.split() * turn.count(NEW)


def test_a_part_of_what_was_injected_is_recognised_too() -> None:
    part = " ".join(INJECTED.split()[4:18])
    assert strip_echo(f"You said: {part}. {NEW}", KNOWN) == f"You said: {NEW}"


def test_text_of_an_unspaced_script_is_recognised() -> None:
    injected = "我叫李娜，住在杭州，对花生过敏，喜欢喝绿茶，周末常去西湖边散步。"
    known = fingerprint(injected)
    assert strip_echo(f"记得：{injected}我昨天搬家了", known) == "记得： 我昨天搬家了"
    for short in ("我叫李娜，我昨天搬家了", "我叫李娜，住在杭州，对花生，我昨天搬家了"):
        assert strip_echo(short, known) is short


@pytest.mark.parametrize(
    "text",
    [
        "",
        NEW,
        "I prefer short answers too.",
        "Ada prefers short answers without bullet points",
        "lives in Porto with two cats",
        "Keep the spare key with the neighbour; Ada prefers short walks and lives in Braga with three dogs.",
        "if a < b and c > d then x <- y",
    ],
)
def test_ordinary_text_is_returned_untouched(text: str) -> None:
    assert strip_echo(text, KNOWN) is text


@given(st.text(max_size=300), st.text(max_size=300))
def test_text_without_a_shared_run_is_the_same_object(text: str, injected: str) -> None:
    known = fingerprint(injected)
    assume(not (fingerprint(text) & known))
    assert strip_echo(text, known) is text


@given(ours, theirs, theirs)
def test_new_words_survive_in_order_and_old_ones_go(old: list[str], before: list[str], after: list[str]) -> None:
    turn = " ".join([*before, *old, *after])
    assert strip_echo(turn, fingerprint(" ".join(old))).split() == [*before, *after]


@given(st.lists(theirs.map(" ".join), min_size=1, max_size=4), ours)
def test_several_echoes_in_one_turn_all_go(pieces: list[str], old: list[str]) -> None:
    turn = f" {' '.join(old)} ".join(pieces)
    assert strip_echo(turn, fingerprint(" ".join(old))).split() == " ".join(pieces).split()


@given(st.lists(st.sampled_from([f"old{n}" for n in range(9)]), max_size=PASSAGE - 1))
def test_a_short_passage_is_left_to_the_user(old: list[str]) -> None:
    text = "so " + " ".join(old) + " then"
    assert strip_echo(text, fingerprint(" ".join(old))) is text


@given(st.text(max_size=400))
def test_a_fingerprint_is_stable_bounded_and_fits_a_signed_integer(text: str) -> None:
    known = fingerprint(text)
    assert known == fingerprint(text.swapcase().swapcase() if text.isascii() else text)
    assert all(0 <= shingle < 2**63 for shingle in known)
    assert strip_echo(text, frozenset()) is text


def test_a_fingerprint_is_the_same_on_every_machine() -> None:
    assert fingerprint("One two, three FOUR five") == {2237958103129565683}
    assert fingerprint("one two three four") == frozenset()


def test_a_fingerprint_of_a_long_text_is_bounded_and_covers_its_beginning() -> None:
    long = " ".join(f"w{n}" for n in range(MAX_SHINGLES + 500))
    assert len(fingerprint(long)) == MAX_SHINGLES
    left = strip_echo(long, fingerprint(long)).split()
    assert left == [f"w{n}" for n in range(MAX_SHINGLES + SHINGLE - 1, MAX_SHINGLES + 500)]


def test_fingerprints_join() -> None:
    other = "The quarterly report for Contoso is due on Friday before noon and goes to Anneke."
    assert strip_echo(f"{other} {NEW} {INJECTED}", KNOWN | fingerprint(other)).split() == NEW.split()


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["<", "<a ", "<a>", "a ", "我", "old1 ", INJECTED], ids=lambda seed: seed[:8])
def test_stripping_takes_time_in_proportion_to_the_length(seed: str) -> None:
    assert grows_with_length(lambda text: strip_echo(text, KNOWN), seed, 50_000)
