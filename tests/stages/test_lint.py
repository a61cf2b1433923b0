"""The linter finds rules that contradict or repeat each other, and leaves the others alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import takes_eightfold

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.ingest.actions import action_of
from libravdb_memory.ingest.lint import LintReport, RuleBudget, lint
from libravdb_memory.ingest.partition import Tier, partition
from libravdb_memory.tokens import EstimatingCounter

AMPLE = RuleBudget(tokens=1_000_000)

CONTRADICTORY = [
    ("Always run the tests before committing.", "Never run the tests before committing."),
    ("Run tests before you commit", "Do not run tests before you commit"),
    ("Use tabs for indentation.", "Don't use tabs for indentation."),
    ("Use tabs", "No tabs."),
    ("You must sign every commit.", "You must not sign every commit."),
    ("You should squash commits.", "You should never squash commits."),
    ("Always deploy on Fridays.", "Never deploy on Fridays."),
    ("On Fridays, always deploy.", "Please do not deploy on Fridays."),
    ("Before merging, rebase onto main.", "Never rebase onto main before merging."),
    ("If the build fails, notify the team.", "Do not notify the team if the build fails."),
    ("Secrets must not be committed to the repository.", "Commit secrets to the repository."),
    ("Generated files must be edited by hand.", "Never edit generated files by hand."),
    ("Force-push to main.", "Never force push to main."),
    ("Write comments in English.", "Avoid writing comments in English."),
    ("Ask before deleting files.", "You should not ask before deleting files."),
    ("Cache responses.", "You may not cache responses."),
    ("Log passwords.", "You cannot log passwords."),
    ("Make sure to pin dependencies.", "Make sure not to pin dependencies."),
    ("Don't forget to update the changelog.", "Don't update the changelog."),
    ("Prefer global variables.", "Avoid global variables."),
    ("Log all requests.", "Never log requests."),
    ("Use `eval` in templates.", "Do not use `eval` in templates."),
    ("Pass `--no-verify` to git.", "Never pass `--no-verify` to git."),
    ("Tests must run in parallel.", "Tests must not run in parallel."),
    ("Code should be formatted with black.", "Code should not be formatted with black."),
    ("Answer in German.", "Refrain from answering in German."),
    ("Speak to the press.", "Under no circumstances speak to the press."),
    ("Use emojis, because they are friendly.", "Never use emojis, they are distracting."),
    ("Use spaces instead of tabs.", "Do not use spaces."),
    ("Rule: mock the database.", "Never mock the database."),
    ("**Always** push directly to `main`.", "**Never** push directly to `main`."),
    ("Commit without running tests.", "Never commit without running tests."),
    ("Python: use wildcard imports.", "Python: never use wildcard imports."),
    ("The agent must read the notes first.", "You must not read the notes first."),
    ("Skip the linter.", "Never skip the linter."),
    ("Always merge pull requests yourself.", "DO NOT MERGE PULL REQUESTS YOURSELF."),
]  # fmt: skip

COMPATIBLE = [
    ("Always run the tests.", "Never skip the tests."),
    ("Run the tests.", "Do not run the benchmarks."),
    ("Use tabs in Makefiles.", "Never use tabs in Python files."),
    ("Prefer tabs over spaces.", "Never prefer spaces over tabs."),
    ("Push to main if asked.", "Never push to main."),
    ("Never push to main unless asked.", "Push to main."),
    ("Push to feature branches.", "Do not push to main."),
    ("When in doubt, ask.", "Do not ask."),
    ("If the tests pass, merge.", "If the tests fail, do not merge."),
    ("Merge when CI is green.", "Never merge when CI is red."),
    ("You must run the linter.", "You do not need to run the linter."),
    ("You must run the linter.", "You don't have to run the linter."),
    ("You may use recursion.", "You must not use recursion."),
    ("Feel free to ask questions.", "Never ask questions."),
    ("Don't just read the code.", "Read the code."),
    ("Do not only test the happy path.", "Test the happy path."),
    ("Don't always agree.", "Agree."),
    ("Never commit without tests.", "Commit with tests."),
    ("Never commit without running the tests.", "Commit."),
    ("Do not deploy on Fridays.", "Deploy on Mondays."),
    ("Do not log all requests.", "Log requests."),
    ("Do not reply to every message.", "Reply to messages."),
    ("Copy from staging to production.", "Never copy from production to staging."),
    ("Read the file before editing.", "Never read the file after editing."),
    ("Delete it.", "Do not delete it."),
    ("Do this first.", "Do not do this."),
    ("Keep them.", "Never keep them."),
    ("Use it sparingly.", "Never use it sparingly."),
    ("Be brief.", "Never be rude."),
    ("Write tests for new code.", "Do not write tests for generated code."),
    ("Use `yarn`.", "Do not use `npm`."),
    ("Use version 2.", "Do not use version 1."),
    ("Wait 30 seconds.", "Never wait 60 seconds."),
    ("Use `rm -i`.", "Never use `rm -rf`."),
    ("Set `debug` to false.", "Never set `debug` to true."),
    ("Open a pull request.", "Never close a pull request."),
    ("Enable caching.", "Never disable caching."),
    ("Do not merge because it is late.", "Merge."),
    ("Never rebase to avoid conflicts.", "Rebase."),
    ("Only deploy on Fridays.", "Never deploy on Fridays."),
    ("Use only tabs.", "Do not use only spaces."),
    ("Python: use spaces.", "Go: never use spaces."),
    ("Good: return early.", "Bad: return early."),
    ("Users must log in.", "You must not log in."),
    ("Tests must pass.", "Builds must not pass."),
    ("Should you commit secrets?", "Never commit secrets."),
    ("Never forget to log errors.", "Log errors."),
    ("Don't hesitate to ask for help.", "Ask for help."),
    ("Use tabs, not spaces.", "Never use spaces."),
    ("Use A instead of B.", "Never use B."),
    ("Don't use A instead of B.", "Use A."),
    ("Keep functions short.", "Do not keep functions long."),
    ("Answer in the language of the user.", "Do not answer in a foreign language."),
    ("Store secrets in the vault.", "Never store secrets in the repository."),
    ("Reply within an hour.", "Do not reply after hours."),
    ("Never guess.", "Say so when you guess."),
    ("Ask for confirmation (only in production).", "Never ask for confirmation."),
    ("Retry once.", "Never retry twice."),
    ("Run migrations — unless the table is locked.", "Never run migrations."),
    ("No more than three retries.", "Use three retries."),
    ("Never use mocks except for the network.", "Use mocks."),
    ("Avoid long functions.", "Avoid short names."),
    ("Never say never.", "Say hello."),
    ("You are a careful reviewer.", "You are not a lawyer."),
    ("Send mail to the team.", "Never send mail from the team."),
    ("Never avoid hard questions.", "Avoid hard feelings."),
    ("Run the build in CI.", "Do not run the build locally."),
    ("Never avoid logging errors.", "Log errors."),
    ("Never use spaces - unless asked.", "Use spaces."),
    ("Use spaces; except in Makefiles.", "Never use spaces."),
    ("It is fine to use globals.", "Never use globals."),
]  # fmt: skip


def check(*sources: str, budget: RuleBudget = AMPLE) -> LintReport:
    counter = EstimatingCounter()
    documents = {f"{at}.md": partition(source.encode(), counter) for at, source in enumerate(sources)}
    return lint(documents, budget, false_positive_rate=0.02)


def test_there_are_enough_pairs() -> None:
    assert len(CONTRADICTORY) >= 30
    assert len(COMPATIBLE) >= 60


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("pair", CONTRADICTORY, ids=" / ".join)
def test_a_contradiction_is_found_with_both_places(pair: tuple[str, str], swap: bool) -> None:
    first, second = pair[::-1] if swap else pair
    found = check(f"# Rules\n\n- {first}\n", f"- {second}\n").contradictions
    assert len(found) == 1
    places = {place.document: place.line for place in (*found[0].obligatory, *found[0].forbidden)}
    assert places == {"0.md": 3, "1.md": 1}


@pytest.mark.parametrize("pair", COMPATIBLE, ids=" / ".join)
def test_no_contradiction_is_claimed(pair: tuple[str, str]) -> None:
    assert check(f"- {pair[0]}\n- {pair[1]}\n").contradictions == ()


def test_a_contradiction_names_every_place_once() -> None:
    found = check("- Use tabs.\n- Use tabs!\n- Never use tabs.\n\nYou must not use tabs.").contradictions
    assert [place.line for place in found[0].obligatory] == [1, 2]
    assert [place.line for place in found[0].forbidden] == [3, 5]
    assert found[0].obligatory[0].text == "Use tabs."


def test_the_line_of_a_nested_rule_is_its_own() -> None:
    found = check("- Style\n  - Use tabs.\n  - more\n\n    Never use tabs.").contradictions
    assert (found[0].obligatory[0].line, found[0].forbidden[0].line) == (2, 5)


@pytest.mark.parametrize(
    "source",
    [
        "## Never\n\n- push to main\n\n## Rules\n\n- Never push to main.",
        "## Don't\n\n- push to main\n\n## Git\n\n- Do not push to main.",
        "You must not:\n\n- push to main\n\nOther\n\n- Do not push to main.",
        "- Never:\n  - push to main\n- Never push to main.",
        "- ❌ Push to main\n- ✅ Never push to main.",
        "## Do's\n\n- Smile.\n\n## Don'ts\n\n- Push to main\n\n## Git\n\n- Never push to main.",
        "## Anti-patterns\n\n- Pushing to main\n\n## Git\n\n- Never push to main.",
        "## What not to do\n\n### Git\n\n- Push to main\n\n## Git\n\n- Never push to main",
    ],
)
def test_an_instruction_under_a_prohibition_is_a_prohibition(source: str) -> None:
    report = check(source)
    assert report.contradictions == ()
    assert [duplicate.rule for duplicate in report.duplicates] == ["forbidden: push to main"]


@pytest.mark.parametrize(
    "source",
    [
        "## Never\n\n- push to main\n\n## Rules\n\n- Push to main.",
        "- Never:\n  - push to main\n- Push to main.",
        "Avoid the following:\n\n- push to main\n\n# Git\n\n- Push to main.",
    ],
)
def test_a_prohibition_by_heading_contradicts_a_duty_elsewhere(source: str) -> None:
    assert [found.action for found in check(source).contradictions] == ["push to main"]


def test_a_heading_for_both_sides_forbids_nothing() -> None:
    assert check("## Do's and don'ts\n\n- Push to main.\n\n## Git\n\n- Push to main.").contradictions == ()


@pytest.mark.parametrize(
    "source",
    [
        "## Python\n\n- Use tabs.\n\n## Go\n\n- Never use tabs.",
        "When reviewing:\n\n- Edit files.\n\nWhen planning:\n\n- Never edit files.",
        "- In production:\n  - Never restart the server.\n- In development:\n  - Restart the server.",
        "Python\n======\n\n- Use tabs.\n\nGo\n==\n\n- Never use tabs.",
    ],
)
def test_rules_for_different_settings_do_not_meet(source: str) -> None:
    assert check(source).clean


def test_a_setting_ends_with_its_section() -> None:
    assert check("## Python\n\n- Be kind.\n\n## General\n\n- Use tabs.\n\n## Style\n\n- Never use tabs.").contradictions


def test_code_in_an_item_states_no_rule() -> None:
    assert check("- Use tabs.\n- Example\n\n  ```\n  Never use tabs.\n  ```\n").contradictions == ()


def test_a_prohibition_of_unknown_shape_has_no_normal_form() -> None:
    assert action_of("Keep out of the vault.", "forbidden") is None
    assert action_of("Keep out of the vault.", "obligatory") is not None


def test_lore_is_never_contradicted() -> None:
    assert check("- Use tabs.\n\n```\nNever use tabs.\n```\n\n# Never use tabs\n").contradictions == ()


def test_a_repeated_rule_is_reported_once_with_its_places() -> None:
    report = check(
        "- Always run the tests.\n- Be kind to users.", "* Please run the tests\n\nYou must always run tests."
    )
    assert [[(p.document, p.line) for p in found.places] for found in report.duplicates] == [
        [("0.md", 1), ("1.md", 1), ("1.md", 3)]
    ]


def test_a_repeated_item_is_reported_as_a_whole_and_not_again_by_its_rules() -> None:
    item = "- Run the tests.\n  - Never skip the linter.\n"
    report = check(item + "- Be kind to users.\n" + item)
    assert [[place.line for place in found.places] for found in report.duplicates] == [[1, 4]]


def test_items_that_state_no_rule_repeat_by_their_words() -> None:
    assert len(check("- Tabs: four columns\n- tabs, four columns").duplicates) == 1
    assert check("- Tabs: four columns\n- Tabs: eight columns").duplicates == ()


def test_a_clean_set_of_rules_is_clean() -> None:
    report = check("---\nname: x\n---\n\n- Run the tests.\n- Never skip the linter.\n\nLore.\n")
    assert report.clean
    assert [(node.node.tier, node.modalities, node.fits) for node in report.nodes] == [
        (Tier.HARD, (), True),
        (Tier.HARD, ("obligatory",), True),
        (Tier.HARD, ("forbidden",), True),
        (Tier.VARIANT, (), True),
    ]


def test_hard_rules_that_overrun_are_flagged_with_figures() -> None:
    report = check("- " + "word " * 100, budget=RuleBudget(tokens=100))
    assert report.hard_overrun is not None
    assert report.hard_overrun.limit == 35
    assert not report.clean
    assert [node.fits for node in report.nodes] == [False]


def test_soft_rules_are_cut_by_position_within_their_share_and_within_what_hard_rules_leave() -> None:
    quotes = "> " + "a" * 38 + "\n\n> " + "b" * 38 + "\n\n> c\n"
    report = check(quotes, budget=RuleBudget(tokens=50))
    assert report.soft_limit == 15
    assert [placed.node.line for placed in report.soft_cut] == [3, 5]
    assert [node.fits for node in report.nodes] == [True, False, False]
    squeezed = check("- " + "a" * 358 + "\n\n" + quotes, budget=RuleBudget(tokens=100, hard_share=1.0))
    assert squeezed.soft_limit == 10
    assert check("- " + "a" * 1000, budget=RuleBudget(tokens=100)).soft_limit == 0


def test_front_matter_that_cannot_be_read_is_flagged() -> None:
    report = check("---\nhop_targets: [a\n---\n")
    assert [(found.document, "never closed" in found.problem) for found in report.unread_front_matter] == [
        ("0.md", True)
    ]
    assert not report.clean


def test_expected_waste_is_rate_times_lore_paragraphs_times_mean_tokens() -> None:
    waste = check("aaaa aaa\n\nbbbb bbbb bbbb bbb\n\n# no paragraph\n\n- no lore\n").waste
    assert (waste.lore_paragraphs, waste.mean_tokens) == (2, 3.5)
    assert waste.expected_tokens == pytest.approx(0.02 * 2 * 3.5)
    assert check("").waste.expected_tokens == 0


def test_bad_rates_and_budgets_are_refused() -> None:
    with pytest.raises(InvalidInputError):
        lint({}, AMPLE, false_positive_rate=1.5)
    with pytest.raises(InvalidInputError):
        RuleBudget(tokens=-1)
    with pytest.raises(InvalidInputError):
        RuleBudget(hard_share=1.5)


PIECES = st.sampled_from(
    "- |  - |> |# |## Never|Use |never |do not |must |not |only |if |unless |tabs|. |: |, |; |— |(|)|\n|\n\n|`x`|?|it |"
    "is |forbidden|you |No |```|don't |all |---|é|\x00".split("|")
)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_no_text_breaks_the_linter_and_its_answer_is_stable(text: str) -> None:
    report = check(text, text)
    assert check(text, text) == report
    assert all(found.obligatory and found.forbidden for found in report.contradictions)
    assert all(len(found.places) > 1 for found in report.duplicates)


def test_five_thousand_rules_are_compared_in_linear_time() -> None:
    counter = EstimatingCounter()

    def linting(count: int) -> Callable[[], object]:
        rules = "\n".join(f"- {'Always' if at % 2 else 'Never'} restart service {at // 3}." for at in range(count))
        documents = {"AGENTS.md": partition(rules.encode(), counter)}
        assert len(lint(documents, AMPLE).contradictions) == -(-count // 3)
        return lambda: lint(documents, AMPLE)

    assert takes_eightfold(linting(600), linting(4800))


def test_one_rule_stated_ten_thousand_times_is_not_compared_pair_by_pair() -> None:
    counter = EstimatingCounter()
    document = partition(b"- Use tabs.\n- Never use tabs.\n" * 2500, counter)
    report = lint({"AGENTS.md": document}, AMPLE)
    assert len(report.contradictions) == 1
    assert len(report.contradictions[0].forbidden) == 2500
