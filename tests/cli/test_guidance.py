"""guidance: the rules kept word by word, listed, marked in histories, and gone with their turns."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

Run: TypeAlias = Callable[..., Any]
RULES = {
    "t6": "Always run the migration tests before you merge anything.",
    "t12": "Always answer in English.",
}
TURNS = 44


def lines(session: str) -> str:
    def said(n: int) -> str:
        return RULES.get(f"t{n}", f"The importer build {1000 + n} failed in stage {n}; see /var/log/{n}.log there.")

    roles = ("user", "assistant")
    told = [
        {"text": said(n), "session": session, "id": f"t{n}", "role": roles[n % 2], "ts": n * 60_000}
        for n in range(TURNS)
    ]
    return "\n".join(map(json.dumps, told))


@pytest.fixture
def ada(cli: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A command line on a store with two compacted sessions of Ada, each with the same rules."""
    monkeypatch.setenv("LIBRAVDB_ASSEMBLY_TAIL_SHARE", "0")
    monkeypatch.setenv("LIBRAVDB_COMPACTION_TRIGGER_TOKENS", "0")
    for session in ("plan", "ops"):
        assert cli("add", "--jsonl", "-", "--user", "ada", stdin=lines(session)).code == 0
    assert cli("compact", "--all").code == 0
    return cli


def listed(cli: Run, *arguments: str) -> list[dict[str, Any]]:
    result = cli("guidance", *arguments, "--json")
    assert result.code == 0, result.err
    rules: list[dict[str, Any]] = json.loads(result.out)["rules"]
    return rules


def test_every_rule_is_listed_with_its_turn_and_why_it_is_kept(ada: Run) -> None:
    rules = listed(ada, "--user", "ada", "--session", "plan")
    assert [(rule["turn"], rule["text"]) for rule in rules] == list(RULES.items())
    assert {rule["session"] for rule in rules} == {"plan"} and {rule["user"] for rule in rules} == {"ada"}
    assert [rule["ts"] for rule in rules] == [6 * 60_000, 12 * 60_000]
    assert [rule["for_every_answer"] for rule in rules] == [False, True]
    assert all(rule["reason"] == "rule" and rule["likeness"] is None for rule in rules)
    assert [rule["session"] for rule in listed(ada, "--user", "ada")] == ["plan", "plan", "ops", "ops"]


def test_people_are_told_the_same_in_few_lines(ada: Run) -> None:
    result = ada("guidance", "-u", "ada", "-s", "plan")
    assert result.code == 0 and max(map(len, result.out.splitlines())) <= 80
    first, second = result.out.split("\n\n")
    assert "t6  plan" in first and RULES["t6"] in first and "kept: rule" in first and "every" not in first
    assert "concerns every answer" in second
    assert (
        "2 rules, in the order in which they were kept; a wrong one goes with its turn: libravdb erase TURN --user ada"
        in " ".join(result.err.split())
    )


def test_a_rule_that_is_only_like_one_says_how_much(ada: Run) -> None:
    ada("add", "With me it's oat milk or nothing.", "-u", "ada", "-s", "plan", "--id", "oat")
    ada("add", "--jsonl", "-", "--user", "ada", stdin=lines("plan").replace('"id": "t', '"id": "u'))
    ada("compact", "plan", "-u", "ada")
    [oat] = [rule for rule in listed(ada, "-u", "ada") if rule["turn"] == "oat"]
    assert oat["reason"] == "worded like a rule" and 0 < oat["likeness"] <= 1
    assert f"kept: worded like a rule, likeness {oat['likeness']:.2f}" in ada("guidance", "-u", "ada").out


def test_people_are_told_which_rule_is_taken_back_by_which(ada: Run) -> None:
    never = "From now on never run the migration tests before you merge."
    changes = ("Forget the migration tests, a merge is fine.", never)
    for session, prefix, change in zip(("plan", "new"), "uv", changes, strict=True):
        said = lines(session).replace('"id": "t', f'"id": "{prefix}').replace(RULES["t12"], "Build 12 failed.")
        ada("add", "--jsonl", "-", "--user", "ada", stdin=said.replace(RULES["t6"], change))
        ada("compact", session, "-u", "ada")
    out = ada("guidance", "-u", "ada").out
    rules = {" ".join(block.split()[2:4]): " ".join(block.split()) for block in out.split("\n\n")}
    assert rules["t6 plan"].endswith("kept: rule; taken back by u6, v6 of new")
    assert rules["u6 plan"].endswith("kept: takes back t6, t6 of ops; taken back by v6 of new")
    alone = " ".join(ada("guidance", "-u", "ada", "-s", "new").out.split())
    assert alone.endswith("takes back t6 of plan, t6 of ops, u6 of plan")
    paged = " ".join(ada("guidance", "-u", "ada", "--limit", "1").out.split())
    assert paged.endswith("kept: rule; taken back by u6, v6 of new")
    told = {rule["id"]: rule for rule in listed(ada, "-u", "ada")}
    assert told["guidance:plan:t6"]["taken_back_by"] == ["guidance:plan:u6", "guidance:new:v6"]
    assert told["guidance:new:v6"]["takes_back"] == ["guidance:plan:t6", "guidance:ops:t6", "guidance:plan:u6"]
    ada("erase", "t6", "-u", "ada", "-s", "plan", "--yes")
    assert [rule["takes_back"] for rule in listed(ada, "-u", "ada", "-s", "plan")] == [[], ["guidance:ops:t6"]]


def test_rules_come_in_pages(ada: Run) -> None:
    first = json.loads(ada("guidance", "-u", "ada", "--limit", "3", "--json").out)
    rest = json.loads(ada("guidance", "-u", "ada", "--after", first["cursor"], "--json").out)
    assert [len(first["rules"]), len(rest["rules"]), rest["cursor"]] == [3, 1, None]
    shown = ada("guidance", "-u", "ada", "--limit", "3").err
    assert f"more: libravdb guidance --user ada --limit 3 --after {first['cursor']}" in shown
    assert "\n3 of 4 rules, in the order in which they were kept;\n" in shown
    assert "\n1 of 4 rules;\n" in ada("guidance", "-u", "ada", "--after", first["cursor"]).err
    assert "\n2 rules, in the order in which they were kept;\n" in ada("guidance", "-u", "ada", "-s", "plan").err
    refused = ada("guidance", "-u", "ada", "--after", "yesterday")
    assert refused.code == 2 and "after: 'yesterday' is no cursor" in refused.err
    assert ada("guidance", "-u", "ada", "--limit", "0").code == 2


def test_a_cursor_that_no_page_had_is_refused_and_behind_the_last_rule_there_are_none(ada: Run) -> None:
    first = json.loads(ada("guidance", "-u", "ada", "--limit", "3", "--json").out)
    for odd in ("999999.1", "7fff.1", "1.1", "-1.1"):
        refused = ada("guidance", "-u", "ada", f"--after={odd}")
        assert refused.code == 2 and f"after: {odd!r} is no cursor" in refused.err
    ada("erase", "t12", "-u", "ada", "-s", "ops", "--yes")
    behind = ada("guidance", "-u", "ada", "--after", first["cursor"])
    assert (behind.code, behind.out) == (0, "") and "no rules after this cursor, of 3 rules in all" in behind.err


def test_where_there_are_none_it_says_whose_there_are(ada: Run) -> None:
    assert ada("guidance").code == 0
    assert "no rules are kept; there are some of --user ada" in ada("guidance").err
    said = lines("plan").replace(RULES["t6"], "Build 6 failed.").replace(RULES["t12"], "Build 12 failed.")
    ada("add", "--jsonl", "-", "--user", "bob", stdin=said)
    told = "no rules are kept yet: they are found when turns are compacted, which 'libravdb compact "
    assert ada("guidance", "--user", "bob").err == f"{told}--all --user bob' does\n"
    assert ada("guidance", "--user", "bob", "--session", "plan").err == f"{told}plan --user bob' does\n"
    ada("compact", "--all", "--user", "bob")
    assert ada("guidance", "--user", "bob").err == "no rules are kept\n"
    forgotten = ada("guidance", "--session", "plan")
    assert forgotten.code == 3 and "belongs to --user ada" in forgotten.err


def test_where_no_session_has_outgrown_its_tail_no_compaction_is_proposed(ada: Run) -> None:
    told = "no rules are kept yet: they are found when turns are compacted, and "
    ada("add", "Always answer in English.")
    assert ada("guidance").err == f"{told}default has not outgrown its tail; there are some of --user ada\n"
    ada("add", "Always answer in English.", "-u", "bob", "-s", "one")
    for arguments in ((), ("-s", "one")):
        assert ada("guidance", "-u", "bob", *arguments).err == f"{told}one has not outgrown its tail\n"
    ada("add", "Always answer in English.", "-u", "bob", "-s", "two")
    assert ada("guidance", "-u", "bob").err == f"{told}no session has outgrown its tail\n"
    ada("add", "--jsonl", "-", "--user", "bob", stdin=lines("long"))
    assert "which 'libravdb compact --all --user bob' does" in ada("guidance", "-u", "bob").err


def test_it_is_said_in_which_order_rules_are_listed(ada: Run) -> None:
    assert "in the order in which they were kept" in " ".join(ada("guidance", "--help").out.split())
    assert "in the order in which they were kept" in " ".join(ada("guidance", "-u", "ada").err.split())


def test_the_rules_of_a_user_without_turns_are_an_error_as_compacting_them_is(ada: Run) -> None:
    for arguments in ((), ("--json",)):
        refused, same = ada("guidance", "-u", "nobody", *arguments), ada("compact", "--all", "-u", "nobody", *arguments)
        assert (refused.code, refused.out, refused.err) == (3, "", same.err)
        assert "the user 'nobody' has no turns" in refused.err


def test_the_id_of_a_rule_leads_to_its_turn(ada: Run) -> None:
    name = listed(ada, "-u", "ada")[0]["id"]
    told = ada("get", name)
    assert told.code == 3 and "is the rule kept of the turn 't6'" in told.err and "guidance lists rules" in told.err
    assert "the rule kept" not in ada("get", name, "--user", "bob").err


def test_histories_mark_the_turns_whose_rule_is_kept(ada: Run) -> None:
    out = ada("history", "plan", "-u", "ada", "--turns").out
    marked = [line for line in out.splitlines() if "rule kept" in line]
    assert len(marked) == 2 and " t6 " in marked[0] and " t12 " in marked[1]
    assert max(map(len, out.splitlines())) <= 80
    told = json.loads(ada("history", "plan", "-u", "ada", "--turns", "--json").out)
    turns = [turn for entry in told["entries"] for turn in entry.get("below", [entry])]
    assert [turn["id"] for turn in turns if turn["rule"]] == list(RULES)


def test_a_rule_goes_with_its_turn(ada: Run) -> None:
    assert ada("erase", "t6", "--user", "ada", "--session", "plan", "--yes").code == 0
    assert [rule["turn"] for rule in listed(ada, "-u", "ada", "-s", "plan")] == ["t12"]


def test_erasing_says_what_becomes_of_the_rules_of_other_turns(ada: Run) -> None:
    for session in ("plan", "ops"):
        ada("erase", "t12", "-u", "ada", "-s", session, "--yes")
    said = lines("new").replace('"id": "t', '"id": "u').replace(RULES["t12"], "Build 12 failed.")
    change = "Forget the migration tests, a merge is fine."
    ada("add", "--jsonl", "-", "--user", "ada", stdin=said.replace(RULES["t6"], change))
    ada("compact", "--all", "-u", "ada")
    assert {rule["turn"]: rule["takes_back"] for rule in listed(ada, "-u", "ada")} == {
        "t6": [],
        "u6": ["guidance:plan:t6", "guidance:ops:t6"],
    }
    asked = " ".join(ada("erase", "u6", "-u", "ada").err.split())
    assert "The rules of t6 of plan, t6 of ops stand again. Erase this turn, and 1 summary and 1 rule made" in asked
    one = ada("erase", "t6", "-u", "ada", "-s", "ops", "--yes")
    assert one.code == 0 and one.err == "erased 1 turn, with 1 summary and 1 rule made from it\n"
    asked = " ".join(ada("erase", "t6", "-u", "ada").err.split())
    assert "The rule of u6 of new only takes back what is erased and goes too; its turn stays. Erase this turn" in asked
    told = json.loads(ada("erase", "u6", "-u", "ada", "--yes", "--json").out)
    assert told["standing"] == [{"turn": "t6", "session": "plan"}] and told["pointless"] == []
    ada("add", change, "-u", "ada", "-s", "plan", "--id", "w6")
    ada("add", "--jsonl", "-", "--user", "ada", stdin=said.replace('"id": "u', '"id": "x').replace("new", "plan"))
    ada("compact", "--all", "-u", "ada")
    asked = " ".join(ada("erase", "w6", "-u", "ada").err.split())
    assert "The rule of t6 stands again. Erase this turn" in asked
    whole = " ".join(ada("erase", "-u", "ada", "-s", "plan").err.split())
    assert "stands" not in whole and "goes too" not in whole
    last = ada("erase", "t6", "-u", "ada", "--yes")
    assert "\nthe rule of w6 only took back what was erased and is gone too; its turn stays\n" in last.err
    assert "w6" not in {rule["turn"] for rule in listed(ada, "-u", "ada")}
    assert ada("verify").code == 0


def test_a_rule_cannot_write_to_the_terminal(ada: Run) -> None:
    turn = {"text": "Always say\u001b[2J hello first.", "session": "evil", "id": "x\ny", "role": "user"}
    ada("add", "--jsonl", "-", "--user", "eve", stdin=json.dumps(turn) + "\n" + lines("evil"))
    ada("compact", "evil", "-u", "eve")
    out = ada("guidance", "-u", "eve").out
    assert "hello first" in out and "\x1b" not in out and "x⏎y" in out
