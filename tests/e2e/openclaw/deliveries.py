"""Turns arrive once, whoever falls."""

from __future__ import annotations

import contextlib
import http.client
import json
from collections.abc import Iterator
from pathlib import Path

from tests.e2e.openclaw.stage import ID, Stage, check, said_in

NO_OUTBOX = "this host delivers a turn once, and keeps none"


def a_turn_whose_answer_was_lost_is_delivered_again_and_stored_once(stage: Stage) -> None:
    stage.wire.lose = "after_turn"
    stage.say("f", "Count me once.")
    stage.say("f", "Go on.")
    twice = _keys(stage, "Count me once.")
    check(len(twice) >= 2 and len(set(twice)) == 1, f"keys: {twice}")
    texts = stage.texts(stage.session_id())
    check(texts.count("Count me once.") == 1, json.dumps(texts))


def a_daemon_that_is_killed_loses_nothing_and_fails_no_reply(stage: Stage) -> None:
    stage.say("g", "Before the fall.")
    stage.kill_daemon()
    for text in ("During, one.", "During, two.", "During, three."):
        request = stage.say("g", text)
    check(said_in(request)[-1] == "During, three." and "During, one." in said_in(request), json.dumps(said_in(request)))
    stage.start_daemon()
    _until_delivered(stage, "g")
    texts = [text for text in stage.texts(stage.session_id()) if text.startswith(("Before", "During"))]
    check(texts == ["Before the fall.", "During, one.", "During, two.", "During, three."], json.dumps(texts))


def a_daemon_that_is_slow_holds_no_reply_up(stage: Stage) -> None:
    stage.wire.delay_s = 30
    stage.say("g", "Slowly now.")
    stage.wire.delay_s = 0
    _until_delivered(stage, "g")
    check("Slowly now." in stage.texts(stage.session_id()), "a turn was lost")


def a_turn_that_nothing_took_is_delivered_again_by_the_host_and_stored_once(stage: Stage) -> str | None:
    """No daemon, and no folder to keep it in: the host's own outbox has it."""
    if not stage.host.program.commits_turns:
        return NO_OUTBOX
    stage.say("h", "Before nobody listened.")
    stage.kill_daemon()
    with _without_a_folder(_spool(stage)):
        stage.say("h", "During, kept by the host alone.")
        check("remains queued" in stage.host.log, stage.host.log[-2000:])
    stage.start_daemon()
    _until_delivered(stage, "h")
    texts = [text for text in stage.texts(stage.session_id()) if text.startswith(("Before", "During"))]
    check(texts == ["Before nobody listened.", "During, kept by the host alone."], json.dumps(texts))
    return None


def a_host_that_falls_before_it_knows_that_a_turn_is_stored_delivers_it_again(stage: Stage) -> str:
    if not stage.host.program.commits_turns:
        return NO_OUTBOX
    said = "Stored, and not known to be."
    stage.say("k", "Before the host fell.")
    stage.wire.meanwhile["after_turn"] = stage.host.kill
    with (
        contextlib.suppress(OSError, http.client.HTTPException),
        contextlib.closing(stage.host.ask("k", said)) as asked,
    ):
        asked.getresponse().read()
    stage.until(lambda: not stage.host.runs, "the host did not fall")
    again = stage.host.start()
    stage.say("k", "After it stood up again.")
    texts = [text for text in stage.texts(stage.session_id()) if text.startswith(("Before", "Stored", "After"))]
    keys = _keys(stage, said)
    check(len(keys) == 2 and len(set(keys)) == 1, f"keys: {keys}, held: {texts}")
    check(texts == ["Before the host fell.", said, "After it stood up again."], json.dumps(texts))
    return f"the gateway answers again after {again:.0f} s"


def _keys(stage: Stage, said: str) -> list[str]:
    """Under which keys a turn went to the daemon, each time it did."""
    return [params["advancementKey"] for params in stage.calls("after_turn") if said in json.dumps(params["messages"])]


def _spool(stage: Stage) -> Path:
    return stage.host.run / "state" / ID / "spool"


@contextlib.contextmanager
def _without_a_folder(folder: Path) -> Iterator[None]:
    """A file in its place, which no user can write into."""
    folder.parent.mkdir(exist_ok=True)
    aside = folder.with_name("aside")
    if folder.exists():
        folder.rename(aside)
    folder.write_text("")
    yield
    folder.unlink()
    if aside.exists():
        aside.rename(folder)


def _until_delivered(stage: Stage, session: str) -> None:
    """A conversation that goes on delivers what waits; after an absence the plugin lets some seconds pass first."""
    for number in range(40):
        stage.say(session, f"Deliver, {number}.")
        if not list(_spool(stage).glob("[0-9]*.json")):
            return
    raise AssertionError("turns still wait")
