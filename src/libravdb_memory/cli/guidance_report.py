"""Rules kept word by word, shown to people.

Law: texts, ids and names come from conversations; they are shown harmless.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import click

from libravdb_memory.cli.dates import local_time
from libravdb_memory.cli.render import harmless, in_one_line, wrapped
from libravdb_memory.shards import Guidance, KeptRule, turn_of_rule
from libravdb_memory.wording import counted


def render_guidance(page: Guidance, width: int) -> str:
    """Of each when and where it was said, the rule, and why it is kept."""
    shown = {rule.id: rule for rule in page.rules}
    return "\n\n".join(_rule(rule, shown, width) for rule in page.rules)


def guidance_words(page: Guidance, whose: Sequence[str], limit: int, none: str, again: Callable[..., str]) -> str:
    """How many are shown, and how to go on; where there are none, the words `none`."""
    if not page.rules:
        return f"no rules after this cursor, of {counted(page.total, 'rule')} in all" if page.total else none
    some = f"{len(page.rules):,} of " if len(page.rules) < page.total else ""
    told = f"\n{some}{counted(page.total, 'rule')}; a wrong one goes with its turn: {again('erase', 'TURN', *whose)}"
    if page.cursor is None:
        return told
    return f"{told}\nmore: {again('guidance', *whose, '--limit', str(limit), '--after', page.cursor)}"


def _rule(rule: KeptRule, shown: Mapping[str, KeptRule], width: int) -> str:
    when, session = (click.style(part, dim=True) for part in (local_time(rule.ts), in_one_line(rule.session)))
    lines = [f"{when}  {in_one_line(rule.turn)}  {session}", *wrapped(rule.text, width)]
    return "\n".join([*lines, *(click.style(line, dim=True) for line in wrapped(_why(rule, shown), width))])


def _why(rule: KeptRule, shown: Mapping[str, KeptRule]) -> str:
    like = "" if rule.likeness is None else f", likeness {rule.likeness:.2f}"
    back, by = (", ".join(_turn(name, rule, shown) for name in ids) for ids in (rule.takes_back, rule.taken_back_by))
    is_said = bool(back) and rule.reason == "takes back a rule"
    told = [f"kept: {f'takes back {back}' if is_said else harmless(rule.reason)}{like}"]
    told += ["concerns every answer"] if rule.for_every_answer else []
    told += [f"takes back {back}"] if back and not is_said else []
    told += [f"taken back by {by}"] if by else []
    return "; ".join(told)


def _turn(name: str, rule: KeptRule, shown: Mapping[str, KeptRule]) -> str:
    """Of the rule of this id, as far as it can be told without that rule."""
    if (other := shown.get(name)) is not None and other.session != rule.session:
        return in_one_line(f"{other.turn} of {other.session}")
    return in_one_line(turn_of_rule(rule.session, name) or name)
