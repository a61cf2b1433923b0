"""A real browser for the inspector's page: Debian's chromium or the one that CHROMIUM names. quick.py marks some."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.e2e.inspector.fetch import browser_program
from tests.e2e.inspector.quick import mark_quick
from tests.e2e.inspector.stand_in import StandIn

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SHOTS = Path(os.environ.get("SCREENSHOTS") or Path(__file__).resolve().parents[3] / "build" / "screenshots")
AXE_SERIOUS = ("serious", "critical")
WAIT_MS = 15_000


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_quick(items)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright  # make e2e-inspector installs it

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_program(), args=["--no-sandbox"])
        yield browser
        browser.close()


class Visitor:
    """A person at the page. Law: an error or a breach of the policy that the console tells fails the test."""

    def __init__(self, browser: Browser, address: str, **context: Any) -> None:
        self.address = address
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 860}, **context})
        self.context.set_default_timeout(WAIT_MS)
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda told: self._heard(told.type, told.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _heard(self, kind: str, text: str) -> None:
        if kind == "error":
            self.complaints.append(text)

    def see(self, where: str) -> Page:
        """Shows a view anew, whatever was shown before."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.address}/#/{where}")
        self.page.wait_for_selector("h1")
        self.settled()
        return self.page

    def settled(self) -> None:
        self.page.wait_for_load_state("load")
        self.until("!document.querySelector('[aria-busy]')")

    def until(self, law: str, given: Any = None) -> None:
        """Waits for what holds in the page. Playwright's own way evaluates there, which the page's policy forbids."""
        end = time.monotonic() + WAIT_MS / 1000
        while not self.page.evaluate(law, given):
            assert time.monotonic() < end, f"never came true: {law}"
            self.page.wait_for_timeout(25)

    def serious_violations(self) -> list[str]:
        from axe_playwright_python.sync_playwright import Axe

        told = Axe().run(self.page).response["violations"]
        return [
            f"{one['id']}: {one['nodes'][0]['html'][:160]} ({len(one['nodes'])})"
            for one in told
            if one["impact"] in AXE_SERIOUS
        ]

    def shoot(self, name: str) -> None:
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{name}.png")

    def leave(self) -> None:
        self.context.close()
        assert self.complaints == []


@pytest.fixture
def site() -> Iterator[StandIn]:
    site = StandIn()
    yield site
    site.close()


@pytest.fixture
def visitor(browser: Browser, site: StandIn) -> Iterator[Visitor]:
    visitor = Visitor(browser, site.address)
    yield visitor
    visitor.leave()
