"""How facts look in running text: the tables that `spans` is built from.

Law: every expression is linear (repeats are bounded, nothing nested can trade characters).
"""

from __future__ import annotations

import re

_ENGLISH = "January February March April May June July August September October November December".split()
_SHORT = "Jan Feb Mar Apr Jun Jul Aug Sept Sep Oct Nov Dec".split()
_NUMBERS = {name.lower(): number for number, name in enumerate(_ENGLISH, start=1)}
_SHORT_NUMBERS = {
    short.lower(): number for short in _SHORT for name, number in _NUMBERS.items() if name.startswith(short[:3].lower())
}
MONTHS = _NUMBERS | _SHORT_NUMBERS
"""The numbers of English names, long and short."""
_OTHER = """
    Januar Jänner Februar März Mai Juni Juli Oktober Dezember janvier février mars avril mai juin juillet août septembre
    octobre novembre décembre enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    января февраля марта апреля мая июня июля августа сентября октября ноября декабря
""".split()
_MONTH = f"(?:(?i:{'|'.join((*_ENGLISH, *_OTHER))})|(?:{'|'.join(_SHORT)})\\.?)"
_PLAIN_MONTH = f"(?:{'|'.join(name for name in _ENGLISH if name not in ('March', 'May'))})"
_DAY = "(?i:mon|tues|wednes|thurs|fri|satur|sun)day"
_UNIT_OF_TIME = "(?:day|week|weekend|month|quarter|year|night|sprint)s?"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?"
_ZONE = r"(?: ?(?:UTC|GMT|CES?T|[ECMP][SD]T|Z)\b)?"

DATE = "|".join(
    (
        rf"\d{{4}}-\d{{2}}-\d{{2}}(?:[T ]{_CLOCK}(?:Z|[+-]\d{{2}}:?\d{{2}})?)?",
        rf"\d{{1,2}}/\d{{1,2}}/\d{{2,4}}|\d{{1,2}}\.\d{{1,2}}\.\d{{4}}|{_CLOCK}(?: ?[AaPp]\.?[Mm]\b\.?)?{_ZONE}",
        rf"\d{{1,2}} ?[AaPp](?:m|M|\.m\.|\.M\.)(?![\w]){_ZONE}",
        rf"\d{{1,2}}(?:st|nd|rd|th|\.|er)?(?: of| de)? {_MONTH}(?!\w)(?:,? (?:de )?\d{{4}}(?![\d年]))?",
        rf"{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?![\w])(?:,? \d{{4}}(?![\d年]))?|{_MONTH},? \d{{4}}(?![\d年])",
        rf"{_PLAIN_MONTH}(?!\w)|(?<=[Ii]n )(?:March|May)(?!\w)|{_DAY}s?(?!\w)|Q[1-4](?: ?\d{{4}})?(?!\w)",
        rf"(?i:yesterday|tomorrow|tonight|(?:last|next|this) {_UNIT_OF_TIME})(?!\w)",
        rf"(?i:(?:\d{{1,3}}|an?|two|three|four|five|six) {_UNIT_OF_TIME} ago)(?!\w)",
        r"\d{2,4}年(?:\d{1,2}月(?:\d{1,2}日)?)?|\d{1,2}月\d{1,2}日",
    )
)

URL = (
    r"[A-Za-z][A-Za-z0-9+.-]{1,24}://[^\s<>\"'`]{1,300}|www\.[\w-]{1,63}\.[^\s<>\"'`]{1,200}"
    r"|git@[\w.-]{1,80}:[\w./-]{1,120}|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}"
)

UNITS = {
    "second": "s", "seconds": "s", "sec": "s", "secs": "s", "minute": "min", "minutes": "min", "mins": "min",
    "hour": "h", "hours": "h", "hr": "h", "hrs": "h", "day": "d", "days": "d", "percent": "%", "byte": "b",
    "bytes": "b",
}  # fmt: skip
"""Units that are written in several ways, and the way they are compared in."""

_MORE_UNITS = r"""
    ms µs us ns s min h d weeks? months? years? [kKMGTP]i?B [kMGT]?bit [kMG]?Hz km cm mm m kg mg g lbs? px rps qps x k K
    M bn rows? tokens? MB/s req/s threads? cores? workers? retries users? turns? EUR USD GBP € ° °C °F
""".split()
_FIGURE = r"(?:[1-9]\d{0,2}(?:[ \u00a0\u202f]\d{3}){1,4}(?!\d)|\d{1,30}(?:[_,.]\d{1,30}){0,8}(?:[eE][+-]?\d{1,3})?)"
NUMBER = (
    rf"[~≈]?(?:[-+](?=\d))?(?:[$€£¥] ?)?{_FIGURE}(?:[-–]{_FIGURE})?"
    rf"(?:[ -]?(?:%|(?:{'|'.join((*UNITS, *_MORE_UNITS))})(?![\w/])))?(?:/(?:s|sec|min|h|hour|day|month)\b)?"
    r"(?!\w)(?![.,:-]\d|\.\w)"
)

WORD = r"[A-Za-z0-9À-ɏ_@#/~.\\$+:=*&%-]{2,200}"
"""What may be an identifier or a path."""

ENDINGS = frozenset(
    """
    py pyi ipynb js jsx mjs cjs ts tsx go rs java kt scala c h cc cpp hpp cs rb php swift sh bash zsh ps1 sql json jsonl
    yaml yml toml ini cfg conf env lock xml htm html css scss md rst txt csv tsv log proto gradle tf vue svelte db
    sqlite so dll jar whl tar gz zip pem key service png jpg svg pdf
    """.split()
)
_ENDING = rf"\.(?:{'|'.join(sorted(ENDINGS))})"
_STEP = r"[A-Za-z0-9À-ɏ_@~/.\\+-]"
PLACE = (
    rf"(?:[A-Za-z]:(?=\\))?(?=[^\s:]{{0,200}}(?:[/\\]|{_ENDING}:)){_STEP}{{2,200}}:\d{{1,7}}(?::\d{{1,7}})?(?=:[^\s\d:])"
    rf"|{_STEP}{{1,200}}{_ENDING}(?=:[^\W\d])"
)
"""A path as tools print it before what stands there, with the line: "src/app.py:41:async def …"."""
PIECE = r"\d{1,7},\d{1,7}[A-Za-z](?!\w)"
"""A stretch of lines and what an editor does with it: "35,90p"."""
FOLDERS = frozenset(
    """
    src lib libs app apps api bin etc usr var opt home tmp docs test tests crates packages pkg cmd internal scripts
    tools services infra config migrations modules deploy build dist vendor refs origin upstream feature release hotfix
    docker k8s cli ops
    """.split()
)

_NEGATORS = """
    not never no none nothing neither nor without cannot nobody nowhere
    nicht nie niemals kein keine keinen keiner ohne ne jamais sans aucun aucune nunca sin ningún ninguna jamás
    не нет ни без никогда нельзя لا لم لن ليس ما नहीं मत
""".split()
NEGATION = re.compile(
    rf"(?<![\w'’])(?:(?i:{'|'.join(_NEGATORS)})|[A-Za-z]{{2,7}}n['’]t)(?![\w'’])"
    r"(?:[ \u00a0](?:[^\s.,;:!?()\[\]{}|]|[.:](?=[^\W\d])){1,60}){1,3}"
    r"|[不没沒别別未无無勿][\u4e00-\u9fff]{1,3}|[\u3040-\u9fff]{1,6}(?:ない|ません)"
)
FILLERS = frozenset(
    "a an the to be been being any it its is are was were have has had do does did of in on at for that this yet only "
    "just really even so der die das le la les de el los un una en".split()
)
PLEASANT_DENIALS = frozenset(
    "worry worries hurry rush problem problems trouble bother bothered matter mind doubt wonder thanks sweat stress "
    "idea sorry biggie kidding sorge sorgen eile stress ursache thema souci soucis inquiétez inquiète problème panique "
    "preocupes preocupe problema prisa preoccuparti fretta preoccupare pressa беспокойся волнуйся проблем спешите "
    "没关系 没事 没问题 別客气 别担心 不客气 不用谢".split()
)
"""What is denied out of kindness alone: "don't worry", "no hurry"."""
