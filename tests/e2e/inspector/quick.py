"""Which of the inspector's tests `make test` plays too, in about a minute; `make e2e-inspector` plays them all.

Together they visit every view at 360 and 1600 pixels in both colour schemes, with the checks of axe, and do what would
harm most if it broke: show markup that was remembered, erase, move the budget's slider, sign in, do without a mouse.
The last of them do so before a real daemon. A test belongs here if none of the others would notice what it guards; it
stays out if it is long, or about one view's details.
"""

from __future__ import annotations

from pathlib import Path

import pytest

_HERE = Path(__file__).parent
QUICK = {
    "test_page.py": (
        "test_every_view_fits_its_screen[narrow]",
        "test_every_view_fits_its_screen[widest]",
        "test_the_keyboard_alone_reaches_every_view",
        "test_a_list_is_walked_opened_and_closed_by_keys",
        "test_markup_in_a_memory_is_shown_as_text",
        "test_the_slider_tells_what_enters_and_leaves",
        "test_erasing_asks_twice_and_shows_what_goes",
        "test_a_session_is_erased_by_the_keyboard_alone",
        "test_a_failure_is_told_with_its_hint",
    ),
    "test_real_daemon.py": (
        "test_a_link_signs_in_once",
        "test_every_view_shows_a_real_store_without_complaint[light-narrow]",
        "test_every_view_shows_a_real_store_without_complaint[dark-wide]",
        "test_the_slider_assembles_anew",
        "test_a_turn_that_is_said_appears_at_once",
        "test_markup_that_was_remembered_stays_text",
        "test_what_is_erased_is_gone_from_the_store",
    ),
}
"""By file: a test with all its cases, or one case of it."""


def mark_quick(items: list[pytest.Item]) -> None:
    for item in items:
        listed = QUICK.get(item.path.name, ()) if item.path.parent == _HERE else ()
        if item.name in listed or item.name.partition("[")[0] in listed:
            item.add_marker(pytest.mark.quick)
