"""hook: called by the hooks of Claude Code, at the beginning of a session, before a prompt and after an answer."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from libravdb_memory.cli.exit_codes import OK
from libravdb_memory.cli.invocation import Invocation, command

if TYPE_CHECKING:
    from libravdb_memory.config import Config
    from libravdb_memory.hooks.claude_code import Event, Outcome

user_option = click.option("-u", "--user", help="Whose memory it is; mcp.user otherwise.")


@click.group("hook")
def hook() -> None:
    """Memory for Claude Code: its hooks call these, with JSON on stdin. They exit 0 whatever happens: a conversation
    goes on without memory, and a remark on stderr says why."""


@command("session-start", short_help="Have a daemon ready.", to_people_only=True)
@click.pass_obj
def session_start(invocation: Invocation) -> int:
    """Start the daemon unless it runs, so that prompts find one."""
    from libravdb_memory.hooks.claude_code import session_start as work

    return _run(invocation, None, lambda config, _: work(config), reads=False)


@command("user-prompt-submit", short_help="Add context to a prompt.", to_people_only=True)
@user_option
@click.option("--budget", type=click.IntRange(min=0), default=2_000, show_default=True, help="Tokens at most.")
@click.pass_obj
def user_prompt_submit(invocation: Invocation, user: str | None, budget: int) -> int:
    """Answer with what memory knows about the prompt."""
    from libravdb_memory.hooks.claude_code import user_prompt_submit as work

    return _run(invocation, user, lambda config, event: work(config, event, budget))


@command("stop", short_help="Remember what was said.", to_people_only=True)
@user_option
@click.pass_obj
def stop(invocation: Invocation, user: str | None) -> int:
    """Store what was said since the last time, each message once. With no daemon there it waits on disk."""
    from libravdb_memory.hooks.claude_code import stop as work

    return _run(invocation, user, work)


def _run(
    invocation: Invocation, user: str | None, work: Callable[[Config, Event], Outcome], *, reads: bool = True
) -> int:
    from libravdb_memory.config import load_config
    from libravdb_memory.hooks.claude_code import quietly, read_event

    def whole() -> Outcome:
        event = read_event(sys.stdin.buffer.read().decode(errors="replace") if reads else '{"session_id": "-"}')
        return work(load_config(overrides={"mcp.user": user}), event)

    outcome = quietly(whole)
    if outcome.out:
        click.echo(outcome.out)
    if outcome.remark and not invocation.terminal.quiet:
        click.echo(f"libravdb: {outcome.remark}", err=True)
    return OK


for each in (session_start, user_prompt_submit, stop):
    hook.add_command(each)
COMMANDS = {"hook": hook}
