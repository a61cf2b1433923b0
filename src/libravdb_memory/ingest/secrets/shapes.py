"""Secrets whose shape is not a mere prefix: parts in a fixed order, or an address before them.

SHAPES rows are (kind, something every match holds, pattern); the group
`secret` is masked, or the whole match.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .forms import H, N, W
from .plausible import is_filler
from .view import FILL, Secret

_ENDS = f"(?!-?[A-Za-z0-9_{FILL}])"

SHAPES: tuple[tuple[str, str, str], ...] = (
    (
        "slack webhook",
        "hooks.slack.com/",
        rf"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Z0-9]{{8,14}}/[\w/]{{20,80}}){_ENDS}",
    ),
    (
        "discord webhook",
        "/webhooks/",
        rf"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/(?P<secret>\d{{17,20}}/{W}{{60,80}}){_ENDS}",
    ),
    ("teams webhook", "webhook.office.com/", rf"webhook\.office\.com/webhookb2/(?P<secret>[\w@/-]{{80,300}}){_ENDS}"),
    (
        "zapier webhook",
        "hooks.zapier.com/",
        rf"hooks\.zapier\.com/hooks/catch/(?P<secret>\d{{4,12}}/{N}{{5,12}}){_ENDS}",
    ),
    ("telegram token", ":AA", rf"(?:(?<![A-Za-z0-9_{FILL}])|(?<=/bot))\d{{8,10}}:AA{W}{{32,34}}{_ENDS}"),
    ("discord token", ".", rf"(?<![\w.{FILL}-])[MNO]{W}{{23,27}}\.{W}{{6}}\.{W}{{27,40}}{_ENDS}"),
    ("azure key", "Q~", rf"(?<![\w.~{FILL}-])[\w.~-]{{3}}\dQ~[\w.~-]{{30,33}}{N}{_ENDS}"),
    ("azure key", "sig=", rf"[?&;]sig=(?P<secret>[A-Za-z0-9%+/]{{38,80}}(?:=|%3[dD])){_ENDS}"),
    ("terraform token", ".atlasv1.", rf"(?<![\w.{FILL}-]){N}{{14}}\.atlasv1\.{W}{{60,70}}{_ENDS}"),
    ("new relic key", "NRAL", rf"(?<![\w{FILL}]){H}{{36}}NRAL{_ENDS}"),
    ("mailchimp key", "-us", rf"(?<![\w{FILL}]){H}{{32}}-us\d{{1,2}}{_ENDS}"),
    ("mailgun key", "-", rf"(?<![\w{FILL}-]){H}{{32}}-{H}{{8}}-{H}{{8}}(?![\w{FILL}-])"),
)

_SHAPED = tuple((kind, held, re.compile(pattern, re.A)) for kind, held, pattern in SHAPES)


def shaped(view: str) -> Iterator[Secret]:
    """Every secret of the table of shapes; those of different rows may overlap."""
    for kind, held, pattern in _SHAPED:
        if held not in view:
            continue
        for match in pattern.finditer(view):
            group = "secret" if "secret" in pattern.groupindex else 0
            if not is_filler(match.group(group)):
                yield Secret(kind, match.start(group), match.end(group))
