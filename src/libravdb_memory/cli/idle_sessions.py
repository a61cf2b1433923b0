"""Why sessions were not compacted, or not further, told to people."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence

from libravdb_memory.assemble.budget import AssemblySettings
from libravdb_memory.cli.render import harmless
from libravdb_memory.compacting import Compaction, Declined
from libravdb_memory.tokens import share_of
from libravdb_memory.wording import counted

_NAMED = 3
_TAIL = "the tail"


def why_idle(many: Sequence[Compaction], settings: AssemblySettings, width: int, *, told: bool) -> str:
    """The reasons of those where there was nothing to do, unless they were told, and what a tail is; empty where there
    are none."""
    idle = [done for done in many if not (done.summaries or done.folds or done.ended_early)]
    reasons = Counter(done.reason for done in idle if done.reason)
    common = reasons.most_common(_NAMED)
    lines = [] if told else [f"{counted(number, 'session')}: {harmless(reason)}" for reason, number in common]
    if any(_TAIL in reason for reason in reasons):
        lines.append(_what_a_tail_is(settings))
    return "\n".join(textwrap.fill(line, width) for line in lines)


def declined_in_brief(declined: Sequence[Declined]) -> str:
    """How much was declined, and the most frequent reason."""
    turns, nodes = (sum(each.count for each in declined if each.of_summaries is folds) for folds in (False, True))
    what = [counted(turns, "turn")] if turns else []
    what += [f"{nodes:,} {'summary' if nodes == 1 else 'summaries'}"] if nodes else []
    [(reason, _), *others] = Counter(each.reason for each in declined).most_common()
    more = f", and for {counted(len(others), 'other reason')}" if others else ""
    return f"declined {' and '.join(what)}: {harmless(reason)}{more}"


def _what_a_tail_is(settings: AssemblySettings) -> str:
    tokens = share_of(settings.startup_budget, settings.tail_share)
    size = f"at least {counted(settings.tail_turns, 'turn')} and up to about {counted(tokens, 'token')}"
    return f"the tail: the newest turns, {size}, which prompts show word for word; assembly.tail_share sets its size"
