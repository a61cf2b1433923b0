"""Lists of thousands: few rows are there, all can be reached by keys, and each opens, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from tests.e2e.inspector.conftest import Visitor
from tests.e2e.inspector.stand_in import StandIn
from tests.e2e.inspector.stand_in_long import BLOCKS, ITEMS, Long

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.long

MOST_ROWS = 200
BLOCKS_LIST, ITEMS_LIST, REJECTED_LIST = "Blocks, in their order", "In the prompt", "Left out"


@pytest.fixture(scope="module")
def long_site() -> Iterator[StandIn]:
    site = StandIn(Long())
    yield site
    site.close()


@pytest.fixture(params=[(1280, 860), (360, 740)], ids=["wide", "narrow"])
def reader(browser: Browser, long_site: StandIn, request: pytest.FixtureRequest) -> Iterator[Visitor]:
    width, height = request.param
    reader = Visitor(browser, long_site.address, viewport={"width": width, "height": height}, reduced_motion="reduce")
    yield reader
    reader.leave()


def listed(page: Page, label: str) -> Locator:
    return page.get_by_role("listbox", name=label, exact=True)


def chosen(reader: Visitor, label: str, index: int) -> Locator:
    """The row that is chosen: told to screen readers with its place, whole in sight or from its beginning."""
    box = listed(reader.page, label)
    row = box.locator("[aria-selected=true]")
    assert row.count() == 1
    assert row.get_attribute("data-index") == str(index)
    assert row.get_attribute("id") == box.get_attribute("aria-activedescendant")
    assert row.get_attribute("aria-posinset") == str(index + 1)
    seen, inside = box.bounding_box(), row.bounding_box()
    assert seen is not None and inside is not None
    assert inside["y"] >= seen["y"] - 1
    fits = inside["y"] + inside["height"] <= seen["y"] + seen["height"] + 1
    assert fits or abs(inside["y"] - seen["y"]) < 3, (seen, inside)
    assert reader.page.locator("[role=option]").count() < MOST_ROWS
    return row


def without_gaps(page: Page, label: str) -> None:
    """Rows follow each other: none covers another, none is missing."""
    rows = (
        listed(page, label)
        .locator("[role=option]")
        .evaluate_all(
            "rows => rows.map(row => [+row.dataset.index, row.getBoundingClientRect()])"
            ".map(([index, { top, bottom }]) => [index, top, bottom])"
        )
    )
    for (one, _, bottom), (other, top, _) in pairwise(rows):
        assert other == one + 1 and abs(top - bottom) < 1.5, (one, bottom, top)


def walked(reader: Visitor, label: str, total: int) -> None:
    """By keys to the end and back."""
    page, box = reader.page, listed(reader.page, label)
    assert box.locator("[role=option]").first.get_attribute("aria-setsize") == str(total)
    box.focus()
    for key, index in [("End", total - 1), ("Home", 0), ("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1)]:
        page.keyboard.press(key)
        chosen(reader, label, index)
        without_gaps(page, label)
    before = 1
    for _ in range(3):
        page.keyboard.press("PageDown")
        after = int(box.locator("[aria-selected=true]").get_attribute("data-index") or 0)
        assert before < after <= before + 40
        chosen(reader, label, after)
        before = after
    page.keyboard.press("PageUp")
    assert int(box.locator("[aria-selected=true]").get_attribute("data-index") or 0) < before
    page.keyboard.press("End")
    page.keyboard.press("PageUp")
    page.keyboard.press("PageDown")
    page.keyboard.press("ArrowDown")
    chosen(reader, label, total - 1)
    without_gaps(page, label)


def test_a_document_of_thousands_of_blocks_is_walked_by_keys(reader: Visitor) -> None:
    page = reader.see("rules?name=AGENTS.md")
    walked(reader, BLOCKS_LIST, BLOCKS)
    row = chosen(reader, BLOCKS_LIST, BLOCKS - 1)
    assert f"Rule {BLOCKS - 1} must hold." in row.inner_text() and row.locator("mark").inner_text() == "must"
    page.keyboard.press("Enter")
    page.wait_for_selector("#panel:not([hidden]) .said mark")
    assert page.inner_text("#panel h2") == f"AGENTS.md, line {1 + 3 * (BLOCKS - 1)}"
    page.keyboard.press("Escape")
    page.wait_for_selector("#panel", state="hidden")
    reader.until("document.activeElement.getAttribute('aria-label') === 'Blocks, in their order'")
    page.wait_for_timeout(100)
    chosen(reader, BLOCKS_LIST, BLOCKS - 1)
    assert reader.serious_violations() == []


def test_every_block_is_shown_whole_wherever_one_scrolls(reader: Visitor) -> None:
    page = reader.see("rules?name=AGENTS.md")
    box = listed(page, BLOCKS_LIST)
    for share in (0.31, 0.77, 0.5, 1.0, 0.0):
        box.evaluate("(list, share) => { list.scrollTop = share * (list.scrollHeight - list.clientHeight) }", share)
        page.wait_for_timeout(80)
        without_gaps(page, BLOCKS_LIST)
        clipped = "rows => rows.filter(row => row.scrollHeight > row.clientHeight + 1).length"
        assert box.locator("[role=option]").evaluate_all(clipped) == 0
        top, bottom = box.evaluate(
            "list => { const seen = list.getBoundingClientRect(), rows = [...list.querySelectorAll('[role=option]')];"
            " return [rows[0].getBoundingClientRect().top - seen.top,"
            " rows.at(-1).getBoundingClientRect().bottom - seen.bottom] }"
        )
        assert top <= 2 and bottom >= -2, "there is an empty place"
        assert page.locator("[role=option]").count() < MOST_ROWS


@pytest.mark.parametrize("index", [0, 2, 2500, BLOCKS - 1])
def test_the_address_of_a_line_leads_to_its_block(reader: Visitor, index: int) -> None:
    reader.see(f"rules?name=AGENTS.md&line={2 + 3 * index}")
    reader.until("document.querySelectorAll('.block-row[aria-selected=true]').length === 1")
    assert f"Rule {index} must" in chosen(reader, BLOCKS_LIST, index).inner_text()


def test_what_is_looked_at_stays_when_the_page_gets_another_width(browser: Browser, long_site: StandIn) -> None:
    reader = Visitor(browser, long_site.address)
    page = reader.see("rules?name=AGENTS.md&line=6001")
    reader.until("document.querySelectorAll('.block-row[aria-selected=true]').length === 1")
    for width in (700, 360, 1600):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(150)
        chosen(reader, BLOCKS_LIST, 2000)
        without_gaps(page, BLOCKS_LIST)
    reader.leave()


def test_thousands_of_findings_and_documents_are_few_rows_too(reader: Visitor) -> None:
    page = reader.see("rules?name=AGENTS.md")
    walked(reader, "Contradictions and repetitions", 1500 + 1501)
    walked(reader, "Documents", 1502)
    findings = listed(page, "Contradictions and repetitions")
    findings.focus()
    page.keyboard.press("Home")
    for _ in range(3):
        page.keyboard.press("PageDown")
    findings.evaluate("list => { list.scrollTop = list.scrollHeight * 0.5 }")
    findings.get_by_text("Said 5,000 times").click()
    page.wait_for_selector("#panel [role=option]")
    walked(reader, "Where it is said", BLOCKS)
    page.keyboard.press("Enter")
    reader.until("document.querySelectorAll('.block-row[aria-selected=true]').length === 1")
    assert f"line={BLOCKS}" in page.url
    if page.viewport_size and page.viewport_size["width"] < 860:
        assert page.locator("#panel").is_hidden(), "it would cover what was asked for"


def test_a_prompt_of_thousands_of_items_is_walked_by_keys(reader: Visitor) -> None:
    page = reader.see("context?user=ada&receipt=rcpt-0")
    walked(reader, ITEMS_LIST, ITEMS)
    page.keyboard.press("Enter")
    page.wait_for_selector("#panel:not([hidden]) .parts")
    assert page.inner_text("#panel .said") == f"Item {ITEMS - 1} was remembered."
    assert reader.serious_violations() == []
    page.keyboard.press("Escape")
    page.wait_for_timeout(100)
    chosen(reader, ITEMS_LIST, ITEMS - 1)
    page.get_by_role("tab", name="Left out").click()
    walked(reader, REJECTED_LIST, ITEMS)
    page.keyboard.press("Enter")
    page.wait_for_selector("#panel:not([hidden]) .said")
    assert "4,000 tokens short" in page.inner_text("#panel")
    page.keyboard.press("Escape")
    assert reader.serious_violations() == []


def test_a_piece_of_the_prompt_leads_to_its_item_however_far_down(reader: Visitor) -> None:
    page = reader.see("context?user=ada&receipt=rcpt-0")
    page.locator(".prompt-text .piece").nth(3456).click()
    page.wait_for_selector("#panel:not([hidden]) .said")
    assert page.inner_text("#panel .said") == "Item 3456 was remembered."
    page.keyboard.press("Escape")
    page.wait_for_timeout(100)
    chosen(reader, ITEMS_LIST, 3456)


def test_j_and_k_move_in_the_list_that_is_shown(reader: Visitor) -> None:
    page = reader.see("context?user=ada&receipt=rcpt-0")
    for _ in range(2):
        page.keyboard.press("j")
    chosen(reader, ITEMS_LIST, 1)
    page.get_by_role("tab", name="Left out").click()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    chosen(reader, REJECTED_LIST, 0)


def test_a_budget_that_throws_out_thousands_names_a_few(reader: Visitor) -> None:
    page = reader.see("context?user=ada&receipt=rcpt-0&budget=250")
    assert page.locator(".change").count() == 41
    assert f"{ITEMS - 40:,} more" in page.inner_text(".changes")


def test_two_prompts_of_thousands_are_compared_in_few_rows(reader: Visitor) -> None:
    page = reader.see("context?user=ada&receipt=rcpt-0&with=rcpt-2")
    assert f"In both: {ITEMS - 2:,}" in page.inner_text("#main")
    walked(reader, "In both", ITEMS - 2)
    page.keyboard.press("Enter")
    page.wait_for_selector("#panel:not([hidden]) .said")
    assert page.inner_text("#panel .said") == f"Item {ITEMS - 1} was remembered."
    page.keyboard.press("Escape")
    assert reader.serious_violations() == []


def test_a_summary_of_thousands_of_turns_expands_page_by_page(reader: Visitor) -> None:
    page = reader.see("history?user=ada&session=billing-migration")
    page.locator(".graph .node").first.click()
    page.get_by_role("button", name="Expand to").click()
    page.wait_for_selector("#panel [role=option]")
    box = listed(page, "The exact turns, oldest first")
    for _ in range(20):
        box.evaluate("list => { list.scrollTop = list.scrollHeight }")
        page.wait_for_timeout(60)
        if box.locator("[data-index='2999']").count():
            break
    assert "Turn 2999." in box.locator("[data-index='2999']").inner_text()
    without_gaps(page, "The exact turns, oldest first")
    assert page.locator("[role=option]").count() < MOST_ROWS
    assert reader.serious_violations() == []
