"""Rules kept word by word, shown to people.

Law: texts, ids and names come from conversations; they are shown harmless.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import click

from libravdb_memory.cli.dates import local_time
from libravdb_memory.cli.render import harmless, in_one_line, wrapped
from libravdb_memory.shards import Guidance, KeptRule
from libravdb_memory.wording import counted


def render_guidance(page: Guidance, width: int) -> str:
    """Of each when and where it was said, the rule, and why it is kept."""
    return "\n\n".join(_rule(rule, width) for rule in page.rules)


def guidance_words(page: Guidance, whose: Sequence[str], limit: int, others: str, again: Callable[..., str]) -> str:
    """How many are shown, and how to go on; where there are none, whose there are."""
    if not page.rules:
        return f"no rules are kept{f'; there are some of {others}' if others else ''}"
    told = f"\n{counted(len(page.rules), 'rule')}; a wrong one goes with its turn: {again('erase', 'TURN', *whose)}"
    if page.cursor is None:
        return told
    return f"{told}\nmore: {again('guidance', *whose, '--limit', str(limit), '--after', page.cursor)}"


def _rule(rule: KeptRule, width: int) -> str:
    when, session = (click.style(part, dim=True) for part in (local_time(rule.ts), in_one_line(rule.session)))
    lines = [f"{when}  {in_one_line(rule.turn)}  {session}", *wrapped(rule.text, width)]
    return "\n".join([*lines, *(click.style(line, dim=True) for line in wrapped(_why(rule), width))])


def _why(rule: KeptRule) -> str:
    like = "" if rule.likeness is None else f", likeness {rule.likeness:.2f}"
    return f"kept: {harmless(rule.reason)}{like}{'; concerns every answer' if rule.for_every_answer else ''}"
