"""What the gate looks for, as tables: the technical families here, the conversational one in `phrases`.

A row is a name, a weight and a regular expression over one view of the text. Laws: a row is linear in the length of the
text (repeats are bounded, nothing nested can trade characters); a row with triggers is tried only where one of these
words starts, a row with needs only when one of these strings occurs, so that most rows cost nothing on most turns;
ordinary prose ("every", "go", "make", "and/or", "12/05", "a class of cars") fires no technical row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from libravdb_memory.gate.places import PATH_LIKE, PATH_NEEDS, URL_LIKE, URL_NEEDS
from libravdb_memory.gate.views import CODED, Span, View, Views


@dataclass(frozen=True, slots=True)
class Pattern:
    name: str
    weight: float
    regex: re.Pattern[str]
    view: View = View.RAW
    triggers: tuple[str, ...] = ()
    needs: tuple[str, ...] = field(default=(), kw_only=True)
    cased: bool = field(default=False, kw_only=True)

    def spans(self, views: Views) -> Iterator[Span]:
        text = views.text(self.view, cased=self.cased)
        if self.needs and not any(needed in text for needed in self.needs):
            return iter(())
        if not self.triggers:
            return (match.span() for match in self.regex.finditer(text))
        return (match.span() for start in self._starts(views) if (match := self.regex.match(text, start)))

    def _starts(self, views: Views) -> list[int]:
        starts = [start for word in self.triggers for start in views.words.get(word, ())]
        return sorted(starts) if len(self.triggers) > 1 else starts


def row(
    name: str, weight: float, regex: str, view: View, triggers: str = "", *, needs: str = "", cased: bool = False
) -> Pattern:
    """`triggers` are words, `needs` strings, each separated by white space."""
    compiled = re.compile(regex, re.M)
    return Pattern(name, weight, compiled, view, tuple(triggers.split()), needs=tuple(needs.split()), cased=cased)


_HASH = r"(?<![\w-])(?=[0-9a-f]{0,63}[0-9])(?=[0-9a-f]{0,63}[a-f])[0-9a-f]{7,64}(?![\w-])"
_UUID = r"(?<![\w-])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![\w-])"
_INDENT = r"^[ \t]{0,40}(?:[+-][ \t]{0,40})?"
_DEFINITION = (
    _INDENT + r"(?:(?:async )?def \w{1,80}\(|class [A-Z]\w{0,80}(?:\([^)\n]{0,120}\))?:[ \t]{0,8}$|"
    r"(?:(?:export|default|public|private|protected|abstract|final|static|sealed|data) ){0,4}(?:class|interface|"
    r"enum|struct|trait|record) [A-Z]\w{0,80}(?:<[^>\n]{0,60}>)?(?: (?:extends|implements) [\w., <>]{1,120})? ?\{|"
    r"(?:export |default |async ){0,3}function ?\*? ?\w{0,80}\(|"
    r"(?:pub(?:\(\w{1,10}\))? )?(?:async )?fn \w{1,80}[(<]|func (?:\([^)\n]{1,60}\) )?\w{1,80}\(|"
    r"(?:pub )?(?:struct|enum|trait|impl)(?:<[^>\n]{0,40}>)? \w[^\n{]{0,80}\{|(?:export )?(?:const|let|"
    r"var) \w{1,80} ?= ?(?:async )?(?:\([^)\n]{0,120}\)|\w{1,40}) ?=>|type \w{1,80} (?:struct|interface) ?\{|"
    r"(?:(?:public|private|protected|static|final|virtual|override|inline) ){1,4}[\w<>\[\],]{1,60} \w{1,80}\(|"
    r"(?:int|void|char|float|double|bool) \*?\w{1,60}\([^)\n]{0,120}\) ?\{?|create (?:table|view|function|"
    r"index) \w)"
)
_COMMANDS = (
    r"git (?:status|commit|push|pull|rebase|merge|checkout|switch|clone|log|diff|bisect|stash|reset|fetch|branch|"
    r"tag|add|show|blame|cherry-pick|init|remote)\b|docker(?:-compose)? (?:run|build|ps|compose|exec|pull|push|"
    r"logs|up|images|rm)\b|kubectl [a-z]{2,}|helm (?:install|upgrade|list|template)\b|terraform (?:plan|apply|init|"
    r"destroy)\b|(?:npm|pnpm|yarn) (?:install|run|test|ci|start|build|add|i|publish|audit|exec)\b|npx [\w@-]|"
    r"(?:pip3?|uv pip|pipx|conda|brew|apt|apt-get|dnf|yum|gem|go|cargo) install [\w./@-]|cargo (?:build|test|run|"
    r"check|clippy|fmt|bench)\b|go (?:build|test|run|mod|vet|fmt|get|generate) (?:\./|-|[\w-]{1,40}[./])|"
    r"python3? (?:-\w|[\w./-]{1,80}\.py)|pytest (?:-|[\w./]{1,60}[/.])|(?:bazel|gradle|mvn) (?:build|test|run|"
    r"clean|package)\b|curl (?:-|https?:)|wget (?:-|https?:)|sudo [a-z]|ssh [\w.-]{1,60}@|scp [\w./-]|"
    r"systemctl [a-z]|journalctl -|chmod [0-7+]|chown \w{1,40}:|rm -\w|ls -\w|tar -?[cxtz]|grep -\w|find [./~]|"
    r"cat [\w./~-]{1,80}[./]\w|cd (?:[~/.]|[\w-]{1,40}/)|mkdir -p|export [A-Z_]{2,}=|source [\w-]{0,40}[./~]|psql -|"
    r"redis-cli\b|ffmpeg -"
)
_TRACE = (
    r"Traceback \(most recent call last\)|^[ \t]{0,20}File \"[^\"\n]{1,200}\", line \d|"
    r"^[ \t]{0,20}at [\w.$<>/]{1,160} ?\([^)\n]{1,200}:\d{1,7}|"
    r"^[ \t]{0,20}at (?:async )?[^\s()]{1,200}:\d{1,6}:\d{1,6}|Exception in thread \"|^[ \t]{0,8}Caused by: \w|"
    r"^panic: |^goroutine \d{1,9} \[|thread '[^'\n]{1,60}' panicked at|\b[A-Z]\w{1,60}(?:Error|Exception)\b ?[:(]|"
    r"[Ss]egmentation fault|\(core dumped\)"
)

_COMMAND_WORDS = (
    "git docker kubectl helm terraform npm pnpm yarn npx pip uv pipx conda brew apt dnf yum gem go cargo python pytest "
    "bazel gradle mvn curl wget sudo ssh scp systemctl journalctl chmod chown rm ls tar grep find cat cd mkdir export "
    "source psql redis ffmpeg make"
)
_TRACE_NEEDS = "Error Exception Traceback File at panic goroutine egmentation dumped Caused"

TECHNICAL = (
    row("code fence", 1.0, r"^[ \t]{0,8}(?:```|~~~)", View.RAW, needs="``` ~~~"),
    row("stack trace", 1.0, _TRACE, View.RAW, needs=_TRACE_NEEDS, cased=True),
    row("definition", 0.9, _DEFINITION, View.RAW, needs="( { :", cased=True),
    row(
        "shell command",
        0.8,
        r"(?<![\w./-])(?:" + _COMMANDS + r")|(?<=`)(?:make|go) [\w./-]|(?<=\$ )\w",
        View.RAW,
        f"{_COMMAND_WORDS} {CODED}",
    ),
    row("path", 0.75, PATH_LIKE, View.RAW, needs=PATH_NEEDS, cased=True),
    row("url", 0.5, URL_LIKE, View.RAW, needs=URL_NEEDS),
    row("hash", 0.5, f"{_HASH}|{_UUID}|sha(?:1|256|512)[:-][0-9a-f]{{8}}", View.RAW, CODED),
)
"""Presence of each; two strong ones make a turn wholly technical."""

SPECIFIC = (
    row("path", 0.2, PATH_LIKE, View.RAW, needs=PATH_NEEDS, cased=True),
    row("call", 0.04, r"(?<![\w.])[A-Za-z_][\w.]{1,60}\((?!s\)|e?s\))", View.RAW, needs="(", cased=True),
    row(
        "error code",
        0.2,
        r"(?<![\w-])(?:E[A-Z]{3,14}|E\d{3,5}|TS\d{4,5}|ORA-\d{4,5}|SQLSTATE\b|CVE-\d{4}-\d{4,7}|"
        r"0x[0-9A-Fa-f]{4,16}|(?:HTTP|status|exit|error|errno)(?: code| status)? ?[:=]? ?\d{1,5}|"
        r"[A-Z]\w{1,60}(?:Error|Exception)|SIG(?:KILL|SEGV|TERM|ABRT|INT)|ENOENT|EACCES)(?![\w-])",
        View.RAW,
        cased=True,
    ),
    row(
        "git ref",
        0.2,
        f"{_HASH}|(?<![\\w/])(?:origin|upstream|refs|feature|release|hotfix|bugfix)/[\\w./-]{{1,80}}|"
        r"(?<!\w)HEAD(?:[~^]\d{0,3})?(?!\w)|(?<=#)(?<!\w#)(?<!&#)\d{1,7}\b|"
        r"(?<![\w.])v\d{1,4}\.\d{1,5}(?:\.\d{1,5})?(?:-[\w.]{1,20})?\b",
        View.RAW,
        f"origin upstream refs feature release hotfix bugfix head {CODED}",
        cased=True,
    ),
    row("url", 0.2, URL_LIKE, View.RAW, needs=URL_NEEDS),
    row(
        "setting",
        0.2,
        r"(?<![\w.])(?:[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,6}|[a-z]\w{0,40}[._-]\w{1,40}=\S|port \d{2,5}\b|"
        r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?::\d{2,5})?|localhost(?::\d{2,5})?)(?!\w)",
        View.SAID,
        cased=True,
    ),
)
"""Distinct occurrences of each, against the length of the turn: a log that repeats one path is not more specific."""

_WHO = r"(?:i|we|the team|they|he|she|you)(?:'ve| have|'d| had| all| just| also| finally| now){0,2} "
ACTIONS = (
    row(
        "decision",
        0.8,
        r"decision\b[: ]|"
        + _WHO
        + r"(?:decided|agreed|chose|picked|settled on|opted|went with|adopted|dropped|standardi[sz]ed|"
        r"committed to|will (?:use|keep|stay|drop|support|not)|are going (?:with|to use)|(?:always|never|only) \w)|"
        r"we(?:'re| are) (?:going with|using|moving|switching|keeping|dropping)|we (?:use|keep|run|store|deploy|"
        r"version)\b|let's (?:use|go with|switch|keep|drop|adopt|stick|stay|standardi[sz]e|move|avoid)\b|"
        r"agreed[: ]|never (?:edit|touch|commit|push|merge|deploy|change|use)\b|always (?:open|run|use|rebase|"
        r"squash|add|write)\b|instead of\b|from now on\b|must (?:not|never|always|run|be|go)\b|needs? an? adr\b|"
        r"ask (?:me|her|him|us) before\b|i (?:prefer|like|don't want)\b|(?:owns|signs off|is responsible for|"
        r"maintainer of)\b",
        View.ASSERTED,
        "decision i we the they he she you let agreed never always instead from must need needs ask owns signs is "
        "maintainer",
    ),
    row(
        "fix",
        0.8,
        r"(?:fixed|solved|patched|resolved|corrected|repaired)(?::| by| in| with| the| a| an| it| this| that| and|"
        r",|\.)|root cause\b|(?:worked around|workaround)\b|caused by\b|culprit\b|turn(?:s|ed) out\b|(?:bug|crash|"
        r"leak|issue|problem|error|failure|race|regression|timeouts?|deploy) (?:was|is|were|came|comes) (?:in|from|"
        r"a|an|the|caused|due|fixed|because)\b|the fix (?:is|was)\b|points to\b|failed with [^.\n]{1,80} because\b",
        View.ASSERTED,
        "fixed solved patched resolved corrected repaired root worked workaround caused culprit turns turned bug "
        "crash leak issue problem error failure race regression timeout timeouts deploy the points failed",
    ),
    row(
        "release",
        0.8,
        r"(?:released|shipped|deployed|published|tagged|merged|rolled (?:out|back)|reverted|landed|cut|"
        r"backported) (?:v?\d|the|to|into|in|on|it|this|pr\b|#|from|and|branch|a )|(?:deploys|releases|ships|"
        r"publishes) (?:from|to|on|every)\b|(?:upgraded|downgraded|migrated|bumped|updated|ported) (?:to|from|the|"
        r"our|all|it|\w{1,30} (?:to|from))\b|trigger(?:s|ed) (?:the|a|by)\b|rollback (?:tag|is|to)\b",
        View.ASSERTED,
        "released shipped deployed published tagged merged rolled reverted landed cut backported deploys releases "
        "ships publishes upgraded downgraded migrated bumped updated ported triggers triggered rollback",
    ),
    row(
        "configuration",
        0.8,
        r"(?:set|changed|enabled|disabled|configured|raised|lowered|increased|decreased|reduced|limited|switched|"
        r"turned|pinned|renamed|replaced|replaces|moved|added|removed|restarted|rotated)(?: \S{1,80}){1,6}? (?:to|"
        r"from|in|on|off|with|for|as|at|and|because)\b|(?:set|sets|setting) \S{1,60}=\S|(?:listens?|runs?|lives?|"
        r"is|are|stored?|kept?|keeps?|goes|go|writes?|served|proxies|mounted|located|"
        r"configured) (?:[\w/.]{1,60} )?(?:on|in|at|under|to|behind) (?:port |the |"
        r"branch )?(?:[\w.:@~-]{0,60}[/.:~]|\d|port\b|utc\b)|the (?:default|path|port|url|host|endpoint|branch|"
        r"server|database|config|configuration|schema|api|key|bucket|staging|production)(?: \w{1,30}){0,3} (?:is|"
        r"are|runs|lives|ends|deploys)\b|config(?:uration)? (?:is|lives) in\b",
        View.ASSERTED,
        "set sets setting changed enabled disabled configured raised lowered increased decreased reduced limited "
        "switched turned pinned renamed replaced replaces moved added removed restarted rotated listen listens "
        "run runs live lives is are store stored kept keep keeps goes go write writes served proxies mounted "
        "located the config configuration",
    ),
)
"""Presence of each: something was decided, mended, shipped or set."""

STRUCTURE = (
    row("definition", 0.4, _DEFINITION, View.RAW, cased=True),
    row(
        "type",
        0.2,
        r"[\w)\]]\??: ?(?:int|str|string|float|bool|boolean|number|bytes|void|any|list|dict|set|tuple|u\d{1,2}|"
        r"i\d{1,2}|f64)\b(?=[\s,;)=\[|<{]|$)|\) ?-> ?[\w\[\]]|\b(?:List|Dict|Map|Vec|Option|Optional|Result|Array|"
        r"Promise|Sequence)[<\[]",
        View.RAW,
        needs=": -> < [",
        cased=True,
    ),
    row(
        "import",
        0.2,
        _INDENT + r"(?:from [\w.]{1,80} import [\w*(]|import [\w.]{1,80}(?: as \w{1,40})?;?[ \t]{0,8}$|"
        r"import [\w{}*, ]{1,120} from ['\"]|import \(|#include [<\"]|use [\w:]{1,80}::|using [\w.]{1,80};)|"
        r"\brequire\(['\"]",
        View.RAW,
        needs="import include use require",
        cased=True,
    ),
    row(
        "test",
        0.2,
        r"\bdef test_|\b(?:it|describe|test)\(['\"`]|@(?:Test|pytest\.)|\bassert(?:Equal|That|True|"
        r"Raises)?\b[ (](?=[\w(].{0,80}(?:==|!=|<|>|\())|(?<![\w/])tests?/[\w./-]{1,80}|\b(?:test_\w{1,60}|"
        r"\w{1,60}_test)\.\w{1,4}\b|\bunit tests?\b|\bpytest\b",
        View.RAW,
        needs="test Test assert it( describe(",
        cased=True,
    ),
    row(
        "doc comment",
        0.2,
        r"\"\"\"|^[ \t]{0,40}/\*\*|^[ \t]{0,40}///|[:@]param\b|[:@]returns?\b|^[ \t]{0,40}(?:Args|Returns|"
        r"Raises):[ \t]{0,8}$",
        View.RAW,
        cased=True,
    ),
)
"""Presence of each: the bones of code."""
