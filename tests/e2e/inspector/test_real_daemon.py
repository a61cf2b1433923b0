"""The page before a real daemon with a realistic store: what it shows is what the store holds."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.e2e.inspector.conftest import Visitor
from tests.e2e.inspector.stand_in_data import POISON
from tests.serve.process import Client, Daemon, short_folder

from libravdb_memory import Memory
from libravdb_memory.serve.access import TOKENS_FILE, Tokens

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.long

TALK = Path(__file__).resolve().parents[3] / "benchmarks" / "data" / "technical" / "ledgerline.json"
RULES = """# How we work

- You must run the smoke tests before a merge.
- Never run migrations on staging without a backup.
- Always squash commits before a merge.
- Never squash commits before a merge.
- You may skip the changelog for typos.

The ledger began in 2019 as a script that copied invoices between two systems.
"""
QUESTIONS = ("Which retry policy do webhooks have?", "What did we decide about the ledger's idempotency keys?")


class Place:
    """A daemon over a store of some hundred turns of ada's, the longest session compacted."""

    def __init__(self, home: Path) -> None:
        self.session = _remember(home)
        self.daemon = Daemon(home, SERVE_HTTP="127.0.0.1:0", EMBEDDING_BACKEND="bundled")
        assert self.daemon.endpoint, self.daemon.log
        self.client: Client = self.daemon.client()
        self.receipts = [self.call("assemble_context", prompt=one, budget=900)["receiptId"] for one in QUESTIONS]

    def call(self, method: str, **params: Any) -> Any:
        return self.client.call(method, **{"userId": "ada", "sessionId": self.session, **params})

    def address(self) -> str:
        return str(self.client.call("ui_link")["url"])

    def end(self) -> None:
        self.client.close()
        self.daemon.end()


def _remember(home: Path) -> str:
    conversation = json.loads(TALK.read_text())["conversations"][0]
    turns = conversation["turns"]
    last = max(turn["ts"] for turn in turns)
    shift = int(time.time() * 1000) - 3_600_000 - last
    sizes: dict[str, int] = {}
    with Memory.open(home) as memory:
        memory.load_document("AGENTS.md", RULES)
        memory.ingest(POISON, user="mallory", session="poison", ts=turns[0]["ts"])
        for turn in turns:
            session = f"{conversation['id']}-{turn['session']}"
            sizes[session] = sizes.get(session, 0) + len(turn["text"])
            memory.ingest(
                turn["text"], user="ada", session=session, role=turn["role"], ts=turn["ts"] + shift, id=turn["id"]
            )
        memory.wait()
        longest = max(sizes, key=lambda name: sizes[name])
        memory.compact(user="ada", session=longest)
        memory.wait(compaction=True)
    return longest


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with short_folder() as home:
        place = Place(home)
        yield place
        place.end()


@pytest.fixture
def guest(browser: Browser, place: Place) -> Iterator[Visitor]:
    guest = Visitor(browser, place.address().partition("/#")[0])
    guest.page.goto(place.address())
    guest.page.wait_for_selector("[role=option]")
    yield guest
    guest.leave()


def views(place: Place) -> dict[str, str]:
    return {
        "now": "now",
        "context": f"context?user=ada&receipt={place.receipts[0]}",
        "compare": f"context?user=ada&receipt={place.receipts[0]}&with={place.receipts[1]}",
        "search": f"search?user=ada&q={QUESTIONS[0]}",
        "history": f"history?user=ada&session={place.session}",
        "rules": "rules",
        "gate": "gate?user=ada&text=Always run the smoke tests before you merge.",
        "health": "health",
    }


def test_a_link_signs_in_once(browser: Browser, place: Place) -> None:
    address = place.address()
    for expected in ("Now", "That link has been used"):
        guest = Visitor(browser, address.partition("/#")[0])
        guest.page.goto(address)
        guest.until("title => document.querySelector('h1')?.textContent === title", expected)
        guest.complaints = [one for one in guest.complaints if "401" not in one]
        guest.leave()


def test_who_signs_out_is_out(guest: Visitor) -> None:
    guest.page.keyboard.press("?")
    guest.page.get_by_role("button", name="Sign out").click()
    guest.until("document.querySelector('h1')?.textContent === 'Sign in'")
    guest.page.reload()
    guest.until("document.querySelector('h1')?.textContent === 'Sign in'")
    guest.complaints = [one for one in guest.complaints if "401" not in one]


@pytest.mark.parametrize("size", [(360, 740), (1440, 900)], ids=["narrow", "wide"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_shows_a_real_store_without_complaint(
    browser: Browser, place: Place, size: tuple[int, int], scheme: str
) -> None:
    guest = Visitor(
        browser,
        place.address().partition("/#")[0],
        color_scheme=scheme,
        viewport={"width": size[0], "height": size[1]},
        reduced_motion="reduce",
    )
    guest.page.goto(place.address())
    guest.page.wait_for_selector("[role=option]")
    for name, where in views(place).items():
        page = guest.see(where)
        assert page.locator("[role=alert]").count() == 0, page.inner_text("[role=alert]")
        guest.shoot(f"real-{name}-{'narrow' if size[0] < 800 else 'wide'}-{scheme}")
        assert guest.serious_violations() == [], name
    guest.leave()


def test_a_limited_token_shows_its_own_and_says_what_it_does_not_show(browser: Browser, place: Place) -> None:
    tokens = Tokens(place.daemon.home / TOKENS_FILE)
    guest = Visitor(browser, place.address().partition("/#")[0])
    page = guest.page
    page.goto(guest.address)
    page.get_by_text("Sign in with a token").click()
    page.get_by_label("Token").fill("nobody-ever-made-this-one")
    page.keyboard.press("Enter")
    page.get_by_text("This token is not known.").wait_for()
    guest.complaints = [one for one in guest.complaints if "401" not in one]
    page.get_by_label("Token").fill(tokens.add("reader", frozenset({"mallory"})).secret)
    page.keyboard.press("Enter")
    page.wait_for_selector("[role=option]")
    assert "reaches mallory" in page.inner_text("#main .hint")
    assert page.locator("[role=option]").count() == 1 and "mallory" in page.inner_text("[role=option]")
    page.wait_for_selector(".live[data-state=open]")
    place.call("ingest_message", text="Only for ada.", sessionId="live")
    place.client.call("ingest_message", userId="mallory", sessionId="heard", text="Heard by mallory.")
    guest.until("document.querySelector('[role=option]')?.textContent.includes('Heard by mallory')")
    assert "Only for ada" not in page.inner_text("#main")
    for where in (
        "context",
        "search?q=markup",
        "history",
        "history?session=poison",
        "rules",
        "gate?text=Always.",
        "health",
    ):
        page = guest.see(where)
        assert page.locator("[role=alert]").count() == 0, (where, page.inner_text("#main"))
        assert guest.serious_violations() == [], where
        assert "ada" not in page.input_value("input[name=user]") if page.locator("input[name=user]").count() else True
    assert page.get_by_role("button", name="Verify").count() == 0 and "Not for this token" in page.inner_text("#main")
    page = guest.see(f"history?user=ada&session={place.session}")
    assert "does not reach that far" in page.inner_text("[role=alert]")
    page = guest.see("search?user=ada&q=ledger")
    assert "does not reach that far" in page.inner_text("[role=alert]") and not page.is_visible(".list")
    tokens.remove("reader")
    guest.page.goto(f"{guest.address}/#/rules")
    guest.until("document.querySelector('h1')?.textContent === 'Sign in'")
    guest.complaints = [one for one in guest.complaints if "401" not in one and "403" not in one]
    guest.leave()


def test_the_prompt_is_what_the_model_gets(guest: Visitor, place: Place) -> None:
    page = guest.see(views(place)["context"])
    assert page.text_content(".prompt-text") == place.client.call("replay", receiptId=place.receipts[0])["text"]


def test_the_slider_assembles_anew(guest: Visitor, place: Place) -> None:
    page = guest.see(views(place)["context"])
    slider = page.locator("#budget-slider")
    slider.fill("400")
    page.wait_for_selector(".change.left")
    told = place.client.call("receipt_view", receiptId=place.receipts[0], budget=400)
    assert page.text_content(".prompt-text") == told["text"]
    assert page.locator(".change.left").count() == len(told["left"])


def test_a_turn_that_is_said_appears_at_once(guest: Visitor, place: Place) -> None:
    guest.page.wait_for_selector(".live[data-state=open]")
    place.call("ingest_message", text="The courier of invoices moved to Oslo.", sessionId="live")
    guest.until("document.querySelector('[role=option]')?.textContent.includes('Oslo')")
    guest.until("/durable|passing/.test(document.querySelector('[role=option]').textContent)")


def test_a_summary_expands_to_the_turns_of_the_store(guest: Visitor, place: Place) -> None:
    page = guest.see(views(place)["history"])
    page.locator(".graph .node").first.click()
    page.get_by_role("button", name="Expand to").click()
    page.wait_for_selector("#panel [role=option]")
    node = place.call("session_graph")["nodes"][0]
    items = place.call("memory_expand", id=node["id"])["items"]
    page.focus("#panel [role=listbox]")
    for at, item in enumerate(items):
        page.keyboard.press("ArrowDown")
        assert page.text_content(f"#panel [data-index='{at}'][aria-selected=true] .whole-text") == item["text"]


def test_markup_that_was_remembered_stays_text(guest: Visitor) -> None:
    page = guest.see("history?user=mallory&session=poison")
    page.wait_for_selector("[role=option]")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector("#panel .said")
    assert page.text_content("#panel .said") == POISON
    assert page.evaluate("window.poisoned") is None


@pytest.mark.parametrize("name", ["Verify", "Back up"])
def test_a_job_is_done(guest: Visitor, name: str) -> None:
    page = guest.see("health")
    page.get_by_role("button", name=name).click()
    guest.until("document.querySelector('.job .badge.good')?.textContent === 'done'")


def test_what_is_erased_is_gone_from_the_store(guest: Visitor, place: Place) -> None:
    place.call("ingest_message", text="Forget this one soon.", sessionId="short", id="soon")
    page = guest.see("history?user=ada&session=short")
    page.get_by_role("button", name="Erase …").click()
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Type erase to go on").fill("erase")
    page.keyboard.press("Enter")
    guest.until("document.querySelector('h1').textContent === 'History'")
    told = place.call("sessions", sessionId=None)
    assert "short" not in {one["sessionId"] for one in told["sessions"]}
