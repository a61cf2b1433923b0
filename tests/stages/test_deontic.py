"""The deontic scanner: what every scan must satisfy, for any text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.ingest.deontic import Mark, Scan, scan

CORPUS = Path(__file__).parent / "corpus"
RULES = [
    row["text"]
    for name in ("dev", "test")
    for row in map(json.loads, (CORPUS / f"deontic_{name}.jsonl").read_text("utf-8").splitlines())
    if row["rule"]
]

FRAGMENTS = (
    "Never |always |do not |you must |you "
    "|if |when |, |. |; |: |\n|\n\n|- |# |* |> |```\n|`x` |\"|“|”|'|(|)|[|](|**|_|—|?|!|…"
    "|run the tests|code must |not |no |I |want you to |from now on |Rule 3: |\r\n|🚫 |don't |\u2028|<b>"
).split("|")
fragments = st.sampled_from([*FRAGMENTS, "|"])
texts = st.one_of(st.text(max_size=200), st.lists(fragments, max_size=40).map("".join))


def clauses(text: str) -> list[tuple[str, str]]:
    return [(mark.modality, text[mark.start : mark.end]) for mark in scan(text).marks]


@given(texts)
def test_marks_are_ordered_disjoint_trimmed_and_inside_any_text(text: str) -> None:
    marks = scan(text).marks
    edges = [edge for mark in marks for edge in (mark.start, mark.end)]
    assert edges == sorted(edges)
    for mark in marks:
        assert 0 <= mark.start < mark.end <= len(text)
        clause = text[mark.start : mark.end]
        assert clause == clause.strip()


@given(texts)
def test_the_same_text_gives_the_same_scan(text: str) -> None:
    assert scan(text) == scan(text)


@given(texts, st.sampled_from(["", " ", "\n", "\n\n", "  \r\n"]), st.sampled_from(["", " ", "\n", "\n\n\t"]))
def test_white_space_around_a_text_only_shifts_its_marks(text: str, before: str, after: str) -> None:
    text = text.strip()
    shifted = [Mark(m.modality, m.start + len(before), m.end + len(before)) for m in scan(text).marks]
    assert list(scan(before + text + after).marks) == shifted


@given(st.lists(st.sampled_from(RULES), min_size=1, max_size=4))
def test_paragraphs_of_rules_keep_all_their_rules(rules: list[str]) -> None:
    marks = scan("\n\n".join(rules)).marks
    assert len(marks) == sum(len(scan(rule).marks) for rule in rules)


def test_promoted_means_any_mark() -> None:
    assert not Scan(()).promoted
    assert not scan("").promoted
    assert scan("Run the tests.").promoted


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Run the tests.", [("obligatory", "Run the tests.")]),
        ("  - **Never** push to main.\n", [("forbidden", "**Never** push to main.")]),
        ("The app is small. Keep it so! It was fun.", [("obligatory", "Keep it so!")]),
        ("If CI is red, do not merge.", [("forbidden", "If CI is red, do not merge.")]),
        ("Always run lint; never skip tests.", [("obligatory", "Always run lint"), ("forbidden", "never skip tests.")]),
        (
            "Keep commits small, and never rewrite main.",
            [("obligatory", "Keep commits small"), ("forbidden", "and never rewrite main.")],
        ),
        ("1. Sign the tag.\n2. Push it.", [("obligatory", "Sign the tag."), ("obligatory", "Push it.")]),
        ("PERFORMANCE TARGET: p99 < 50 ms", [("obligatory", "PERFORMANCE TARGET: p99 < 50 ms")]),
        ("😀 You may skip it.\r\n", [("permitted", "You may skip it.")]),
        ("He said “never again”. Use\nboth hands.", [("obligatory", "Use\nboth hands.")]),
        ("(Always knock first.)", [("obligatory", "(Always knock first.)")]),
    ],
)
def test_a_mark_covers_the_clause_of_the_rule(text: str, expected: list[tuple[str, str]]) -> None:
    assert clauses(text) == expected


@pytest.mark.parametrize(
    ("text", "modality"),
    [
        ("You must sign it.", "obligatory"),
        ("You must not sign it.", "forbidden"),
        ("You mustn't sign it.", "forbidden"),
        ("You may sign it.", "permitted"),
        ("You may not sign it.", "forbidden"),
        ("You can’t sign it.", "forbidden"),
        ("You need not sign it.", "permitted"),
        ("You don't have to sign it.", "permitted"),
        ("You are allowed to sign it.", "permitted"),
        ("You are not allowed to sign it.", "forbidden"),
        ("No intern may sign it.", "forbidden"),
        ("Don't forget to sign it.", "obligatory"),
        ("Try not to sign it.", "forbidden"),
        ("Avoid signing it.", "forbidden"),
        ("Feel free to sign it.", "permitted"),
        ("Signing it is optional.", "permitted"),
    ],
)
def test_negation_flips_the_modality(text: str, modality: str) -> None:
    assert [mark.modality for mark in scan(text).marks] == [modality]


@pytest.mark.parametrize("text", [rule for rule in RULES if "`" not in rule and "." in rule][:120])
def test_shouted_rules_are_still_rules(text: str) -> None:
    assert scan(text.upper()).promoted == scan(text).promoted


@pytest.mark.parametrize(
    "text",
    [
        "```\nNever push.\n```",
        "~~~sh\nRun the tests.\n~~~",
        "`Run the tests.`",
        "<!-- Never push. -->",
        "![Never push](never.png)",
        "[docs](https://example.org/never/do/not/run)",
        "## Run the tests",
        "| `make` | Build the image |",
        "`make`: build the image",
    ],
)
def test_code_headings_tables_and_glosses_are_not_rules(text: str) -> None:
    assert clauses(text) == []
