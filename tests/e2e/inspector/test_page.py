"""What the page does with what it is told, in a real browser: for stores, jobs and events that are made up."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest
from tests.e2e.inspector.conftest import Visitor
from tests.e2e.inspector.stand_in import StandIn
from tests.e2e.inspector.stand_in_data import POISON, World

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.long

VIEWS = {
    "now": "now",
    "context": "context?user=ada&receipt=rcpt-0",
    "compare": "context?user=ada&receipt=rcpt-0&with=rcpt-2",
    "search": "search?user=ada&q=staging database port",
    "sessions": "history?user=ada",
    "history": "history?user=ada&session=billing-migration",
    "rules": "rules",
    "gate": "gate?user=ada&text=Always run the smoke tests",
    "health": "health",
}
SIZES = {"narrow": (360, 740), "wide": (1440, 900), "widest": (1600, 1000)}


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.closest('[role=listbox]')?.getAttribute('aria-activedescendant')"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_no_view_has_a_serious_violation_of_accessibility(
    browser: Browser, site: StandIn, view: str, scheme: str
) -> None:
    visitor = Visitor(browser, site.address, color_scheme=scheme, reduced_motion="reduce")
    visitor.see(VIEWS[view])
    assert visitor.serious_violations() == []
    visitor.leave()


@pytest.mark.parametrize("size", SIZES)
def test_every_view_fits_its_screen(browser: Browser, site: StandIn, size: str) -> None:
    width, height = SIZES[size]
    for scheme in ("light", "dark"):
        visitor = Visitor(
            browser, site.address, color_scheme=scheme, viewport={"width": width, "height": height}, locale="en-GB"
        )
        for name, where in VIEWS.items():
            page = visitor.see(where)
            visitor.shoot(f"{name}-{size}-{scheme}")
            wider = "e => e.scrollWidth > e.clientWidth"
            assert not page.eval_on_selector("#main", wider), name
            assert not page.eval_on_selector("html", wider), name
        visitor.leave()


def test_a_page_signs_in_once_and_leaves_no_token_behind(visitor: Visitor, site: StandIn) -> None:
    visitor.page.goto(f"{visitor.address}/#sign-in=once")
    visitor.page.wait_for_selector("[role=listbox] [role=option]")
    assert ("sign-in", {"token": "once"}) in site.calls
    assert "once" not in visitor.page.url


def test_the_keyboard_alone_reaches_every_view(visitor: Visitor) -> None:
    page = visitor.see("now")
    for key, title in {"c": "Context", "s": "Search", "h": "History", "r": "Rules", "e": "Health", "n": "Now"}.items():
        page.keyboard.press("Escape")  # out of a field that has the keyboard
        page.keyboard.press("g")
        page.keyboard.press(key)
        visitor.until("title => document.querySelector('h1')?.textContent === title", title)
    page.keyboard.press("g")
    page.keyboard.press("g")
    visitor.until("document.querySelector('h1')?.textContent === 'Gate'")


def test_a_list_is_walked_opened_and_closed_by_keys(visitor: Visitor) -> None:
    page = visitor.see("now")
    page.wait_for_selector("[role=option]")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert focused(page).endswith("-0")
    page.keyboard.press("ArrowDown")
    assert focused(page).endswith("-1")
    page.keyboard.press("Enter")
    page.wait_for_selector("#panel:not([hidden]) .said")
    page.keyboard.press("Escape")
    page.wait_for_selector("#panel", state="hidden")
    assert focused(page).endswith("-1")


def test_keys_are_shown_by_a_question_mark_and_typed_into_fields_otherwise(visitor: Visitor) -> None:
    page = visitor.see("now")
    page.keyboard.press("?")
    assert "previous in a list" in page.inner_text("dialog[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.keyboard.press("/")
    page.wait_for_selector("input[type=search]:focus")
    page.keyboard.type("g n? j")
    assert page.input_value("input[type=search]") == "g n? j"


def test_the_prompt_is_shown_sign_for_sign(visitor: Visitor, site: StandIn) -> None:
    page = visitor.see(VIEWS["context"])
    view = site.world.receipt_view({"receiptId": "rcpt-0"})
    assert page.text_content(".prompt-text") == view["text"]
    for item in view["items"]:
        pieces = page.locator(f".prompt-text .tier-{item['tier']}").all_text_contents()
        assert item["text"] in pieces  # places count characters, though one before takes two units


def test_the_slider_tells_what_enters_and_leaves(visitor: Visitor, site: StandIn) -> None:
    page = visitor.see(VIEWS["context"])
    slider = page.locator("#budget-slider")
    slider.focus()
    for _ in range(3):
        slider.press("ArrowLeft")
    view = site.world.receipt_view({"receiptId": "rcpt-0", "budget": 250})
    visitor.until("text => document.querySelector('.prompt-text').textContent === text", view["text"])
    assert page.locator(".change.left").count() == len(view["left"]) > 0
    assert "budget=250" in page.url
    page.get_by_role("button", name="As given").click()
    page.wait_for_selector(".change", state="detached")


def test_an_item_of_the_prompt_opens_its_score(visitor: Visitor) -> None:
    page = visitor.see(VIEWS["context"])
    page.locator(".prompt-text .tier-recalled").first.click()
    assert "meaning" in page.inner_text("#panel .parts")
    page.keyboard.press("Escape")
    page.wait_for_selector("#panel", state="hidden")
    assert focused(page).endswith("-6")
    page.keyboard.press("Enter")
    page.wait_for_selector("#panel:not([hidden]) .parts")


def test_two_prompts_are_compared(visitor: Visitor) -> None:
    page = visitor.see(VIEWS["compare"])
    assert "Only in the first: 2" in page.inner_text("#main")
    assert "In both: 18" in page.inner_text("#main")


def test_the_parts_of_every_score_are_told_in_words_too(visitor: Visitor) -> None:
    page = visitor.see(VIEWS["search"])
    told = page.locator("[role=option] .stack").first.get_attribute("aria-label") or ""
    assert "meaning +" in told
    assert "who and when −" in told


def test_filters_are_asked_of_the_daemon_and_kept_in_the_address(visitor: Visitor, site: StandIn) -> None:
    page = visitor.see(VIEWS["search"])
    page.click("summary")
    page.get_by_label("Said by").select_option("assistant")
    visitor.until("location.hash.includes('role=assistant')")
    visitor.settled()
    assert [params.get("role") for name, params in site.calls if name == "search_explained"][-1:] == ["assistant"]
    assert set(page.locator("[role=option] .role").all_text_contents()) == {"assistant"}


def test_a_search_brings_more_as_one_scrolls(visitor: Visitor, site: StandIn) -> None:
    page = visitor.see(VIEWS["search"])
    assert "108 results" in page.inner_text("#main")
    for _ in range(2):
        page.evaluate("document.querySelector('.list').scrollTop = document.querySelector('.list').scrollHeight")
        page.wait_for_timeout(100)
    visitor.until("document.querySelector('.list-rows').offsetHeight >= 108 * 74")
    assert [params.get("after") for name, params in site.calls if name == "search_explained"] == [None, "50", "100"]
    assert page.locator("[role=option]").count() < 60
    page.focus(".list")
    page.keyboard.press("End")
    assert focused(page).endswith("-107")


def test_a_list_that_cannot_be_read_further_says_so_and_tries_again(visitor: Visitor, site: StandIn) -> None:
    world, broken = site.world, [True]
    site.world.search_explained, search = (  # type: ignore[method-assign]
        lambda params: None if params.get("after") and broken[0] else search(params),
        world.search_explained,
    )
    page = visitor.see(VIEWS["search"])
    to_the_end = "document.querySelector('.list').scrollTop = document.querySelector('.list').scrollHeight"
    page.evaluate(to_the_end)
    page.wait_for_selector("[role=alert]")
    broken[0] = False
    page.wait_for_timeout(1600)
    page.evaluate("document.querySelector('.list').scrollTop -= 10")
    visitor.until("document.querySelector('.list-rows').offsetHeight > 50 * 74")
    visitor.complaints = [one for one in visitor.complaints if "404" not in one]


def test_an_answer_that_comes_too_late_is_shown_nowhere(visitor: Visitor, site: StandIn) -> None:
    asked, may_answer = threading.Event(), threading.Event()
    graph = site.world.session_graph

    def slowly(params: dict[str, Any]) -> dict[str, Any] | None:
        asked.set()
        may_answer.wait(10)
        return graph(params)

    site.world.session_graph = slowly  # type: ignore[method-assign]
    page = visitor.page
    page.goto(f"{visitor.address}/#/{VIEWS['history']}")
    assert asked.wait(10)
    page.keyboard.press("g")
    page.keyboard.press("r")
    visitor.until("document.querySelector('h1')?.textContent === 'Rules'")
    with page.expect_response("**/api/session_graph"):
        may_answer.set()
    visitor.settled()
    page.wait_for_timeout(100)
    assert page.inner_text("h1") == "Rules"


def test_of_how_many_turns_the_pictures_of_the_gate_are_is_said(visitor: Visitor, site: StandIn) -> None:
    report = site.world.gate_report
    site.world.gate_report = lambda _: {**report(_), "window": 2500, "judged": 50_000}  # type: ignore[method-assign]
    page = visitor.see("gate")
    assert "of the newest 2,500" in page.inner_text("#main")


def test_signs_that_are_not_seen_are_told(visitor: Visitor, site: StandIn) -> None:
    for turn in site.world.said["ada", "monday"]:
        turn["text"] = "pay \u202emallory\u202c now\u200b 👩\u200d💻"
    page = visitor.see("history?user=ada&session=monday")
    page.wait_for_selector("[role=option]")
    assert "hidden signs" in page.inner_text("[role=option] >> nth=0")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    assert page.inner_text("#panel .hint").endswith("U+202E, U+202C, U+200B")


def test_rules_that_are_said_twice_are_told_in_their_own_words(visitor: Visitor, site: StandIn) -> None:
    documents = site.world.documents
    place = {"document": "AGENTS.md", "line": 3, "node": 1, "text": "Never run migrations on staging."}
    twice = {"rule": "forbidden: run migration on stag", "places": [place, {**place, "line": 9}]}
    site.world.documents = lambda _: {**documents(_), "duplicates": [twice]}  # type: ignore[method-assign]
    page = visitor.see("rules")
    assert "Said 2 times: “Never run migrations on staging.”" in page.inner_text("#main")


def test_a_node_of_the_graph_opens_and_expands_to_its_turns(visitor: Visitor) -> None:
    page = visitor.see(VIEWS["history"])
    page.locator(".graph .node[tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_selector("#panel:not([hidden])")
    assert "8 of 9 kept" in page.inner_text("#panel")
    page.get_by_role("button", name="Expand to 12 turns").click()
    visitor.until("document.querySelector('#panel [role=option]')?.getAttribute('aria-setsize') === '12'")


def test_tail_and_boundary_are_marked(visitor: Visitor) -> None:
    page = visitor.see(VIEWS["history"])
    assert page.locator(".graph .boundary").count() == 1
    assert page.locator(".row.tail-row").count() == 4
    assert "tail, 4 turns" in (page.text_content(".graph") or "")


def test_a_turn_appears_while_one_looks_and_is_judged_in_place(visitor: Visitor, site: StandIn) -> None:
    page = visitor.see("now")
    page.wait_for_selector(".live[data-state=open]")
    turn = site.world.turn("ada", "monday", "user", "The gateway moved to Oslo.")
    judged, turn["gate"] = turn["gate"], None
    site.tell("turn", turn)
    visitor.until("document.querySelector('[role=option]')?.textContent.includes('Oslo')")
    assert "judging" in page.locator("[role=option]").first.inner_text()
    site.tell("gate", {"id": turn["id"], "userId": "ada", "sessionId": "monday", **judged})
    visitor.until("/durable|passing/.test(document.querySelector('[role=option]').textContent)")


def test_what_one_reads_stays_in_place_when_turns_come_in(visitor: Visitor, site: StandIn) -> None:
    page = visitor.see("now")
    page.wait_for_selector(".live[data-state=open]")
    page.wait_for_selector("[role=option]")  # what is empty does not scroll
    page.evaluate("document.querySelector('[role=listbox]').scrollTop = 620")
    page.wait_for_selector("[data-index='12']")
    before = page.inner_text("[data-index='12']")
    site.tell("turn", site.world.turn("ada", "monday", "user", "One more."))
    page.get_by_role("button", name="1 new turn").wait_for()
    assert page.inner_text("[data-index='12']") == before
    page.get_by_role("button", name="1 new turn").click()
    visitor.until("document.querySelector('[data-index=\"0\"]')?.textContent.includes('One more.')")


@pytest.mark.parametrize("place", ["now", "search", "history", "context", "rules", "gate", "panel", "erase"])
def test_markup_in_a_memory_is_shown_as_text(visitor: Visitor, site: StandIn, place: str) -> None:
    for said in site.world.said.values():
        for turn in said:
            turn["text"] = turn["speaker"] = POISON
    for node in site.world.nodes:
        node["preview"] = node["engine"] = POISON
    page = visitor.see({**VIEWS, "panel": "now", "erase": "now", "gate": f"gate?user=ada&text=Always {POISON}"}[place])
    if place in ("panel", "erase"):
        page.wait_for_selector("[role=option]")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
    if place == "erase":
        page.get_by_role("button", name="Erase …").click()
        page.wait_for_selector("dialog .samples")
    if place == "history":
        page.locator(".graph .node").first.click()
    if place != "rules":
        visitor.until("document.body.textContent.includes('<script>window.poisoned')")
    assert page.evaluate("window.poisoned") is None
    assert page.locator("main img, main b > script, body > script, aside img, dialog img").count() == 0


def test_erasing_asks_twice_and_shows_what_goes(visitor: Visitor, site: StandIn) -> None:
    page = visitor.see("history?user=ada&session=monday")
    page.get_by_role("button", name="Erase …").click()
    dialog = page.locator("dialog[open]")
    dialog.locator(".gone").wait_for()
    assert "24\nturns" in dialog.inner_text()
    assert visitor.serious_violations() == []
    visitor.shoot("erase-wide-light")
    dialog.get_by_role("button", name="Continue").click()
    final = dialog.get_by_role("button", name="Erase 24 turns for good")
    assert final.is_disabled()
    dialog.get_by_label("Type erase to go on").fill("erase")
    assert site.world.erased == 0
    final.click()
    visitor.until("document.querySelector('h1').textContent === 'History'")
    assert site.world.erased == 24
    assert "monday" not in page.inner_text("#main")


def test_a_session_is_erased_by_the_keyboard_alone(visitor: Visitor, site: StandIn) -> None:
    page = visitor.see("history?user=ada")
    page.keyboard.press("j")
    while "monday" not in page.inner_text("[aria-selected=true]"):
        page.keyboard.press("j")
    page.keyboard.press("Enter")
    visitor.until("document.querySelector('h1')?.textContent === 'monday'")
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Erase …":
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog .gone")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog input:focus")
    page.keyboard.press("Enter")
    assert site.world.erased == 0
    page.keyboard.type("erase")
    page.keyboard.press("Enter")
    visitor.until("document.querySelector('h1').textContent === 'History'")
    assert site.world.erased == 24


def test_everything_of_a_user_is_erased_only_when_asked_for_by_name(visitor: Visitor, site: StandIn) -> None:
    page = visitor.see("history?user=bert")
    page.get_by_role("button", name="Erase all …").click()
    page.locator("dialog .gone").wait_for()
    assert "Erase everything of bert?" in page.inner_text("dialog h2")
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Type erase to go on").fill("erase")
    page.keyboard.press("Enter")
    visitor.until("document.querySelector('[role=option]')?.textContent.includes('billing-migration')")
    assert ("memory_forget", {"userId": "bert", "all": True}) in site.calls


@pytest.mark.parametrize("step", [1, 2])
def test_nothing_is_erased_when_one_thinks_better_of_it(visitor: Visitor, site: StandIn, step: int) -> None:
    page = visitor.see("history?user=ada&session=monday")
    page.get_by_role("button", name="Erase …").click()
    page.locator("dialog .gone").wait_for()
    if step == 2:
        page.get_by_role("button", name="Continue").click()
        page.get_by_label("Type erase to go on").fill("erase")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    assert not any(name == "memory_forget" for name, _ in site.calls)


def test_a_job_shows_its_progress_and_its_outcome(visitor: Visitor, site: StandIn) -> None:
    page = visitor.see("health")
    page.get_by_role("button", name="Verify").click()
    page.wait_for_selector("progress")
    assert "40 of 160" in page.inner_text(".job")
    assert site.world.job_state is not None
    result = {"ok": True, "checked": {"records": 199}, "problems": []}
    site.world.job_state |= {"state": "done", "done": 160, "endedMs": site.world.job_state["startedMs"] + 900}
    site.world.job_state["result"] = result
    site.tell("job", site.world.job_state)
    visitor.until("document.querySelector('.job').textContent.includes('199 checked, all sound')")


def test_a_hundred_thousand_turns_scroll_without_a_hundred_thousand_rows(browser: Browser) -> None:
    site = StandIn(World(turns=100_000))
    visitor = Visitor(browser, site.address)
    page = visitor.see("history?user=ada&session=billing-migration")
    page.wait_for_selector("[role=option]")
    pages = "document.querySelector('.list').scrollTop = document.querySelector('.list').scrollHeight"
    for _ in range(12):
        known = page.eval_on_selector(".list-rows", "e => e.offsetHeight")
        page.evaluate(pages)
        visitor.until("h => document.querySelector('.list-rows').offsetHeight > h", known)
    assert page.locator("[role=option]").count() < 60
    visitor.leave()
    site.close()


@pytest.mark.parametrize("view", ["now", "context", "search", "history", "rules", "gate"])
def test_an_empty_store_teaches_the_first_command(browser: Browser, view: str) -> None:
    site = StandIn(_nothing())
    visitor = Visitor(browser, site.address)
    page = visitor.see(view)
    page.wait_for_selector(".empty .command")
    assert "libravdb " in page.inner_text(".command >> nth=0")
    assert visitor.serious_violations() == []
    visitor.leave()
    site.close()


def _nothing() -> World:
    class Nothing(World):
        def documents(self, _: dict[str, Any]) -> dict[str, Any]:
            return {"documents": [], "budget": {}, "contradictions": [], "duplicates": []}

        def gate_report(self, _: dict[str, Any]) -> dict[str, Any]:
            return {**super().gate_report(_), "judged": 0}

    world = Nothing()
    world.said = {}
    world.sessions_of = {}
    return world


def test_a_failure_is_told_with_its_hint(visitor: Visitor, site: StandIn) -> None:
    page = visitor.see("history?user=ada&session=never-was")
    assert "nothing there" in page.inner_text("[role=alert]")
    visitor.complaints = [one for one in visitor.complaints if "404" not in one]


def test_the_theme_turns_by_a_key_and_is_kept(visitor: Visitor) -> None:
    page = visitor.see("now")
    page.keyboard.press("t")
    page.keyboard.press("t")
    assert page.get_attribute("html", "data-theme") == "dark"
    page = visitor.see("gate")
    assert page.get_attribute("html", "data-theme") == "dark"
    assert (
        json.loads(page.evaluate("JSON.stringify(getComputedStyle(document.body).backgroundColor)"))
        != "rgb(246, 246, 243)"
    )
