"""Sessions that begin, begin anew and have children."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable

from tests.e2e.openclaw.model import ANSWER, ToolCall
from tests.e2e.openclaw.stage import RULE, Stage, check, frame, said_in

FACT = "The spare key of the boathouse hangs behind the blue lantern."


def a_reset_begins_anew_under_the_same_session_id(stage: Stage) -> None:
    stage.say("a", "The parcel number is 5512.")
    before = stage.session_id()
    stage.host.call("sessions.reset", key="agent:main:a")
    request = stage.say("a", "Good morning.")
    check(said_in(request) == ["Good morning."], json.dumps(said_in(request)))
    check("5512" not in frame(request, "recent_session_tail"), frame(request, "recent_session_tail"))
    after = stage.session_id()
    check(stage.texts(after) == ["Good morning.", ANSWER], json.dumps(stage.texts(after)))
    if before == after:
        check("The parcel number is 5512." in stage.texts(f"{before}~0"), "the old session is gone")
    check({"before_reset", "session_end"} <= set(stage.hooks()), json.dumps(stage.hooks()))


def new_and_reset_begin_anew_where_people_write_them(stage: Stage) -> None:
    for number, command in enumerate(("/new", "/reset")):
        secret = f"The locker number is {7300 + number}."
        stage.say("n", secret)
        before = stage.session_id()
        stage.host.command("agent", "--session-key", "agent:main:n", "--message", command)
        request = stage.say("n", "Good evening.")
        check(secret not in said_in(request), f"{command}: {said_in(request)}")
        check(
            secret not in frame(request, "recent_session_tail"), f"{command}: {frame(request, 'recent_session_tail')}"
        )
        after = stage.session_id()
        held = stage.texts(after)
        check("Good evening." in held and secret not in held, f"{command}: {held}")
        old = f"{before}~{number if before == after else 0}"
        check(secret in stage.texts(old), f"{command}: {old} has {stage.texts(old)}")


def a_subagent_has_its_parent_s_memory_and_a_session_of_its_own(stage: Stage) -> None:
    stage.say("parent", "The gate of the meadow squeaks.")
    parent, calls, requests = stage.session_id(), len(stage.wire.calls), len(stage.model.requests)
    task = "Find out where the spare key of the boathouse hangs."
    stage.model.next_calls.append(ToolCall("sessions_spawn", {"task": task, "cleanup": "delete"}))
    stage.host.say("parent", "Let somebody find out.")
    stage.until(lambda: stage.calls("unlink_session", calls), "the subagent did not end")
    linked, unlinked = stage.calls("link_session", calls), stage.calls("unlink_session", calls)
    check(len(linked) == 1 and linked[0]["linkedKey"] == unlinked[0]["linkedKey"], f"{linked}, {unlinked}")
    check("subagent_ended" in stage.hooks(), json.dumps(stage.hooks()))
    asked = next(each for each in stage.model.requests[requests:] if "[Subagent" in said_in(each)[0])
    check(RULE in frame(asked, "authored_context") and FACT in frame(asked, "recalled_memories"), json.dumps(asked))
    check("meadow" not in json.dumps(said_in(asked)), json.dumps(said_in(asked)))
    child = next(each["sessionId"] for each in stage.calls("after_turn", calls) if each["sessionId"] != parent)
    its_own = stage.texts(child) + stage.texts(f"{child}~0")
    check(any(task in text for text in its_own), f"the child's turn is not stored: {its_own}")
    later = stage.say("parent", "And now?")
    leaked = [text for text in (*stage.texts(parent), *said_in(later)) if "[Subagent" in text]
    check(not leaked, json.dumps(leaked))


def a_spawn_that_fails_is_rolled_back(stage: Stage) -> str:
    """It fails between the plugin's preparation and the start of the child."""
    calls = len(stage.wire.calls)
    links: list[dict[str, object]] = []
    way = _hung_up_on if stage.host.program.commits_turns else _named_at_length
    way(stage, lambda: links.append(_link(stage, stage.calls("link_session", calls)[0]["linkedKey"])))
    stage.until(lambda: stage.calls("unlink_session", calls), "nothing was rolled back")
    child = stage.calls("link_session", calls)[0]["linkedKey"]
    check(stage.calls("unlink_session", calls)[0]["linkedKey"] == child, "another was rolled back")
    stage.until(lambda: "linked" not in _link(stage, child), "the link is still there")
    check(links and links[0].get("linked"), f"there was nothing to roll back: {links}")
    check(not any(_TASK in said_in(each)[0] for each in stage.model.requests), "the child began")
    return way.__name__.strip("_").replace("_", " ")


_TASK = "Never to be begun."


def _hung_up_on(stage: Stage, meanwhile: Callable[[], None]) -> None:
    """Whoever asked goes away while the plugin prepares."""

    def hang_up() -> None:
        meanwhile()
        asked.sock.shutdown(socket.SHUT_RDWR)
        stage.until(lambda: "HTTP client disconnected" in stage.host.log, "the host did not notice")

    stage.wire.meanwhile["link_session"] = hang_up
    stage.model.next_calls.append(ToolCall("sessions_spawn", {"task": _TASK}))
    asked = stage.host.ask("quitter", "Let somebody find out.")
    stage.until(lambda: "link_session" not in stage.wire.meanwhile, "nothing was prepared")


def _named_at_length(stage: Stage, meanwhile: Callable[[], None]) -> None:
    """Older hosts find out after the preparation that a label is too long."""
    stage.wire.meanwhile["link_session"] = meanwhile
    stage.model.next_calls.append(ToolCall("sessions_spawn", {"task": _TASK, "label": "long " * 200}))
    stage.host.say("quitter", "Let somebody find out.")


def _link(stage: Stage, child: str) -> dict[str, object]:
    return stage.ask("bootstrap_session", agentId="main", linkedKey=child)
