"""The summariser's view of a text."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import grows_with_length

from libravdb_memory.compact.sanitise import LONGEST_FENCE, sanitise

BYTES = bytes((7 * number * number + 13 * number) % 256 for number in range(4000))
ENCODED = base64.b64encode(BYTES).decode()

pieces = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        ["```", "~~~~", "\n", "```py\n", "data:image/png;base64,", "0x", "ab ", "==", "/", "[hex: 3 digits]"]
    ),
    st.builds(lambda size: ENCODED[:size], st.integers(0, 200)),
    st.builds(lambda size: "deadbeef01" * size, st.integers(0, 12)),
    st.builds(lambda size: "0f " * size, st.integers(0, 40)),
    st.builds(lambda size: "line of code\n" * size, st.integers(0, 50)),
)


@given(st.lists(pieces, max_size=20).map("".join))
def test_doing_it_twice_changes_nothing_more(text: str) -> None:
    once = sanitise(text)
    assert sanitise(once) == once


@given(
    st.lists(st.sampled_from("a word, the end. 42 /etc/x v1.2 9c41e7a — привет 日本 (so) \n".split(" ")), max_size=60)
)
def test_ordinary_text_comes_back_as_it_is(words: list[str]) -> None:
    text = " ".join(words)
    assert sanitise(text) == text


@given(st.lists(pieces, max_size=20).map("".join))
def test_nothing_becomes_longer(text: str) -> None:
    assert len(sanitise(text)) <= len(text)


def test_a_long_code_block_becomes_its_language_and_its_lines() -> None:
    block = "```python\n" + "x = 1\n" * 80 + "```"
    assert sanitise(f"Look:\n{block}\nDone.") == "Look:\n[code: python, 80 lines]\nDone."


def test_a_code_block_stays_up_to_the_longest_length() -> None:
    body = "x" * (LONGEST_FENCE - len("```\n\n```"))
    assert sanitise(f"```\n{body}\n```") == f"```\n{body}\n```"
    assert sanitise(f"```\n{body}x\n```") == "[code: 1 line]"


def test_a_block_that_nobody_closes_reaches_to_the_end() -> None:
    assert sanitise("Log:\n~~~\n" + "row\n" * 200) == "Log:\n[code: 200 lines]"


def test_a_block_is_closed_by_its_own_mark_only() -> None:
    inner = "````md\n```\n" + "y\n" * 300 + "```\n````"
    assert sanitise(f"{inner}\nafter") == "[code: md, 302 lines]\nafter"


def test_embedded_files_and_encoded_bytes_become_markers() -> None:
    assert sanitise(f"img data:image/png;base64,{ENCODED} end") == "img [data: image/png, 5,358 characters] end"
    assert sanitise(f"key {ENCODED[:200]}== end") == "key [base64: 202 characters] end"
    wrapped = "\n".join(ENCODED[start : start + 76] for start in range(0, 760, 76))
    assert sanitise(f"PEM\n{wrapped}\nend") == f"PEM\n[base64: {len(wrapped)} characters]\nend"


@pytest.mark.parametrize(("length", "kept"), [(40, True), (47, True), (48, False), (64, False)])
def test_a_commit_hash_stays_and_a_digest_goes(length: int, kept: bool) -> None:
    digits = ("3fa91c7e" * 9)[:length]
    assert sanitise(f"at {digits}.") == (f"at {digits}." if kept else f"at [hex: {length} digits].")


def test_a_dump_of_bytes_goes_and_numbers_stay() -> None:
    assert sanitise("0f " * 23 + "0f") == "[hex: 24 bytes]"
    assert sanitise("0f " * 22 + "0f") == "0f " * 22 + "0f"
    assert sanitise("12 " * 40) == "12 " * 40
    assert sanitise("1" * 60) == "1" * 60


@pytest.mark.parametrize(
    "text",
    [
        "src/" * 30 + "Module1.py",
        "a_very_long_name_" * 6 + "With1",
        "https://example.org/" + "Part2/" * 20,
        "x" * 100,
        "X" * 70 + "1",
    ],
)
def test_long_paths_and_names_are_not_taken_for_encoded_bytes(text: str) -> None:
    assert sanitise(text) == text


def test_an_embedded_file_is_replaced_only_where_that_is_shorter() -> None:
    assert sanitise("data:," + "a" * 31) == "data:," + "a" * 31
    assert sanitise("data:," + "a" * 32) == "[data: text/plain, 38 characters]"


def test_encoded_runs_go_from_sixty_four_letters_on() -> None:
    assert sanitise(ENCODED[:63]) == ENCODED[:63]
    assert sanitise(ENCODED[:64]) == "[base64: 64 characters]"


@pytest.mark.parametrize("unit", ["```\n", "data:", "ab ", "aB1/", "A" * 63 + " ", "~~~\nx\n", "0x", "= "])
def test_time_grows_with_the_length_alone(unit: str) -> None:
    assert grows_with_length(sanitise, unit, 20_000)
