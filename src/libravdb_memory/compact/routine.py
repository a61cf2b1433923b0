"""What is said in passing: that something is about to be run, that it went well, that somebody may go on.

    in passing = .15 for a call that an assistant announces · .15 for a tool's word that all is well
                 · .7 for its word of a failure or of something found, which may be the reason of all that follows
                 · .4 for other prose that it returns · .2 for code and lists
                 · .05 for what only lets somebody go on · 1 for everything else

Laws: within [0, 1]; whoever says so, what lets somebody go on is made of nothing else; only an assistant announces
calls and only a tool returns something. Linear in the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from libravdb_memory.compact.salience import content_words, words

TOOLS = frozenset(("tool", "function"))
MACHINES = TOOLS | frozenset(("assistant", "ai", "bot", "model", "agent", "system", "summary"))
"""Who decides nothing by saying it."""

ANNOUNCED, WENT_WELL, GOES_ON = 0.15, 0.15, 0.05
TROUBLE, PROSE, LISTED = 0.7, 0.4, 0.2
MOST_IDLE = 0.2
"""What is left of what is not told only because there is room."""
_FEW, _SEVERAL = 5, 10
"""Words that tell something, code aside, up to which "Running …" announces a call; up to which anything does."""

_CODE = re.compile(r"`[^`]{1,400}`")
_FIRST = r"^\W{0,4}(?:(?:ok(?:ay)?|now|next|first|then|alright|great|good|sure|so|and)\b[,.:;!]? ){0,2}"
_RUNNING = re.compile(
    rf"{_FIRST}(?:re-?)?(?:(?:runn|execut|call|check|read|open|look|search|fetch|list|inspect|apply|grepp|brows|query|"
    r"scann|test|verify|launch|invok|start|load|edit|writ|creat|updat|install|build|compil)ing"
    r"|(?:ejecuta|revisa|busca|leye|abrie|executa|roda|verifica|procura|le)ndo)\b"
    r"|^\W{0,4}(?:exécution|ausführung|esecuzione) ",
    re.I,
)
_VERB = (
    r"(?:re-?)?(?:run|execute|call|check|look|see|read|open|search|fetch|list|inspect|find|grep|verify|test|view|"
    r"browse)"
)
_ABOUT_TO = re.compile(
    rf"{_FIRST}(?:let me|i(?:'ll| will|'m going to| am going to|'m about to)) "
    rf"(?:(?:now|just|first|quickly|also|then|have a|take a|start by) ){{0,2}}{_VERB}(?:ing)?\b"
    rf"|{_FIRST}(?:ich (?:führe|starte|prüfe|lese|öffne|schaue|sehe|rufe|suche)"
    r"|je (?:lance|vérifie|regarde|lis|exécute|vais (?:lancer|vérifier|lire|regarder|exécuter|chercher))"
    r"|voy a (?:ejecutar|revisar|buscar|leer|mirar|ver)|vou (?:executar|verificar|procurar|ler|rodar)"
    r"|eseguo|controllo|leggo|cerco|запускаю|проверяю|смотрю|читаю|открываю|выполняю|ищу)\b"
    r"|^(?:正在|让我|讓我|我来|我來)(?:先)?(?:运行|運行|执行|執行|检查|檢查|查看|看|读|讀|搜索|打开|打開)"
    r"|(?:実行|確認|検索)(?:します|しています|中です)[。…]?$|(?:실행|확인|검색)(?:합니다|하겠습니다|중입니다)[.…]?$",
    re.I,
)
_TELLS = re.compile(
    r"\b(?:is|are|was|were|broke|breaks?|fail(?:s|ed)|would|takes?|took|means|meant|gives?|gave|shows?|showed|causes?|"
    r"caused|needs?|needed|because|costs?|made|makes|found|turned)\b",
    re.I,
)
"""Verbs by which "Running …" is what a sentence tells of."""

_PROSE = re.compile(r"(?:\b[^\W\d_]{2,40}[ ,]{1,2}){2}[^\W\d_]{2}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{4}")
_SIGNS = re.compile(r"[{};=<>]|\w\(|^\s*[-d][rwx-]{6,9}")
_NO_TROUBLE = re.compile(
    r"(?<![\w.,])(?:0|no|zero|without(?: any)?) (?:\w{1,20} )?"
    r"(?:errors?|failures?|failed|failing|issues?|warnings?|problems?|conflicts?|vulnerabilit\w{1,3}|duplicates?)\b",
    re.I,
)
_TROUBLE = re.compile(
    r"\b(?:fail(?:s|ed|ing|ures?)?|\w{0,40}errors?|\w{0,40}exceptions?|warn(?:ings?)?|fatal|panic(?:ked)?|critical|denied|"
    r"refused|rejected|missing|not (?:found|permitted|allowed|supported|defined)|no such|cannot|can't|couldn't|"
    r"could not|unable|invalid|illegal|unknown|unexpected|incompatible|time(?:d ?|[- ])?out|killed|aborted|conflicts?|"
    r"crash(?:ed)?|mismatch|traceback|(?:exit|return)(?:ed)?(?: with)? (?:code|status) [1-9]\d{0,4}|undefined|segfault|"
    r"deprecated|vulnerab\w{1,9}|duplicates?|leak(?:s|ed)?|regress\w{1,5}|corrupt\w{0,3}|out of memory)\b",
    re.I,
)
_WELL = re.compile(
    r"\b(?:pass(?:ed|es)?|success(?:ful|fully)?|succeeded|ok|done|completed?|finished|clean|up[- ]to[- ]date|unchanged|"
    r"nothing to|insertions?|deletions?|files? changed|installed|generat(?:ed|ing)|saved|written|wrote|created|updated|"
    r"built|compiled|healthy|ready|started|applied|formatted)\b|[✓✔✅]",
    re.I,
)
_GOING_ON = content_words(
    """
    look looks looking good next step steps continue proceed ahead carry lgtm ship merge done noted clear fine work
    works working works back brb morning evening please understood alright yours turn ready
    weiter weitermachen mach mache passt sieht aus alles klar verstanden suite continuez vas-y parfait compris
    adelante sigue seguimos entendido avanti procedi capito pode continuar entendi дальше продолжай понятно ясно
    继续 繼續 下一 步 明白 続け けて 次へ 계속 다음
    """.split()
)


def in_passing(sentence: str, speaker: str, content: Collection[str]) -> float:
    """What is left of the worth of a sentence; `content` are its words that tell something."""
    if _GOING_ON.issuperset(content):
        return GOES_ON
    who = speaker.casefold()
    if who in TOOLS:
        return _returned(sentence, content)
    return ANNOUNCED if who in MACHINES and _announces(sentence) else 1.0


def _returned(sentence: str, content: Collection[str]) -> float:
    quiet = _NO_TROUBLE.sub(" ok ", sentence)
    if _TROUBLE.search(quiet):
        return TROUBLE
    if len(content) <= _SEVERAL and _WELL.search(quiet):
        return WENT_WELL
    return PROSE if _PROSE.search(sentence) and not _SIGNS.search(sentence) else LISTED


def _announces(sentence: str) -> bool:
    said = sentence.replace("’", "'")
    running = _RUNNING.match(said) is not None
    if not running and not _ABOUT_TO.search(said):
        return False
    plain = _CODE.sub(" ", said)
    told = len(content_words(words(plain)))
    return told <= _FEW and not _TELLS.search(plain) if running else told <= _SEVERAL
