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


def rules_named(page: Guidance, read: Callable[[str | None], Guidance]) -> Mapping[str, KeptRule]:
    """By their ids the rules of a page and those that they take back or that take them back. `read` gives the page of
    all rules of the user behind a cursor."""
    known = {rule.id: rule for rule in page.rules}
    named = {name for rule in page.rules for name in (*rule.takes_back, *rule.taken_back_by)} - known.keys()
    cursor: str | None = None
    while named:
        other = read(cursor)
        known |= {rule.id: rule for rule in other.rules if rule.id in named}
        named -= known.keys()
        if (cursor := other.cursor) is None:
            break
    return known


def render_guidance(page: Guidance, known: Mapping[str, KeptRule], width: int) -> str:
    """Of each when and where it was said, the rule, and why it is kept; other rules are named by their turns."""
    return "\n\n".join(_rule(rule, known, width) for rule in page.rules)


def guidance_words(page: Guidance, whose: Sequence[str], limit: int, none: str, again: Callable[..., str]) -> str:
    """How many are shown, and how to go on; where there are none, the words `none`."""
    if not page.rules:
        return f"no rules after this cursor, of {counted(page.total, 'rule')} in all" if page.total else none
    some = f"{len(page.rules):,} of " if len(page.rules) < page.total else ""
    order = ", in the order in which they were kept" if len(page.rules) > 1 else ""
    rules = f"\n{some}{counted(page.total, 'rule')}{order};"
    told = f"{rules}\na wrong one goes with its turn: {again('erase', 'TURN', *whose)}"
    if page.cursor is None:
        return told
    return f"{told}\nmore: {again('guidance', *whose, '--limit', str(limit), '--after', page.cursor)}"


def _rule(rule: KeptRule, known: Mapping[str, KeptRule], width: int) -> str:
    when, session = (click.style(part, dim=True) for part in (local_time(rule.ts), in_one_line(rule.session)))
    lines = [f"{when}  {in_one_line(rule.turn)}  {session}", *wrapped(rule.text, width)]
    return "\n".join([*lines, *(click.style(line, dim=True) for line in wrapped(_why(rule, known), width))])


def _why(rule: KeptRule, known: Mapping[str, KeptRule]) -> str:
    like = "" if rule.likeness is None else f", likeness {rule.likeness:.2f}"
    back, by = (", ".join(_turn(name, rule, known) for name in ids) for ids in (rule.takes_back, rule.taken_back_by))
    is_said = bool(back) and rule.reason == "takes back a rule"
    told = [f"kept: {f'takes back {back}' if is_said else harmless(rule.reason)}{like}"]
    told += ["concerns every answer"] if rule.for_every_answer else []
    told += [f"takes back {back}"] if back and not is_said else []
    told += [f"taken back by {by}"] if by else []
    return "; ".join(told)


def _turn(name: str, rule: KeptRule, known: Mapping[str, KeptRule]) -> str:
    """Of the rule of this id, as far as it can be told without that rule."""
    if (other := known.get(name)) is not None and other.session != rule.session:
        return in_one_line(f"{other.turn} of {other.session}")
    return in_one_line(turn_of_rule(rule.session, name) or name)
