"""Secrets told in a sentence: "my password is …", "the passcode for the door is …", "with password …".

Law: between the word and the value stand at most six plain words; a value without quotes must look like no word, or
close a sentence that says whose password it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .plausible import is_password, is_secret, is_token
from .view import FILL, Secret, lowered

_TOLD = re.compile(
    r"(?P<password>(?<![\w.-])(?:password|passwort|kennwort|passphrase|passcode|mot de passe|contraseña|wachtwoord"
    r"|senha|hasło|пароль|(?:wi-?fi|wlan|network) key)\b|密码|パスワード)"
    r"|\b(?P<pin>pin)(?: code| number)?\b|(?<![\w.-])(?P<token>api key|access key|token|secret key|secret)\b"
)
_GAP = rf"(?:[ ]{{1,2}}(?!is\b|was\b|are\b)[^\W\d_{FILL}](?:[^\W{FILL}]|['’-]){{0,19}}){{0,6}}?"
_IS = (
    r"[ ]{1,2}(?:is|was|ist|lautet|est|es|é|to|changed to|as)(?:[ ]{1,2}(?:now|just|still|currently|set to))?"
    r"[ ]{0,2}[:=]?[ ]{1,2}|[ ]?[:：][ ]{0,2}|[ ]?(?:は|是|это)[ ]?"
)
_BARE = r"[^\s\"'`<>()\[\]{}\u2000-\U0010ffff]"
_GIVEN = (
    rf"(?:“(?P<curly>[^”\n{FILL}]{{4,128}})”|\"(?P<double>[^\"\n{FILL}]{{4,128}})\"|'(?P<single>[^'\n{FILL}]{{4,128}})'"
    rf"|`(?P<tick>[^`\n{FILL}]{{4,128}})`|‘(?P<high>[^’\n{FILL}]{{4,128}})’"
    rf"|(?P<bare>{_BARE}{{4,200}}+)(?!{_BARE}|[{FILL}\"'`(\[{{]))"
)
_AHEAD = re.compile(r"(?<!\S)([!-~]{4,64}) (?:as|is) (?:the|my|our|your|its) $")
_LINKED = re.compile(rf"(?i:{_GAP}(?:{_IS})){_GIVEN}")
_DIRECT = re.compile(rf"[ ]{{1,2}}{_GIVEN}")
_OWNED = re.compile(r"\b(?:my|our|his|her|their|wi-?fi|root|admin|login|the [\w-]{1,20})[ ]$")
_HASH = re.compile(r"[0-9a-f]{32,}")
_ENDS = re.compile(r"[.,;!?)]|[ \t]*(?:[\r\n]|$)|[ ](?:for|to|of|on|and)\b")
_CLOSES = re.compile(r"[.!,;]?(?:\s|$)")
_NOT_CHOSEN = re.compile(r"\w+(?:ed|ing|ly|ful|less|ive|able|ible|ous|ent|ant|en|al|ic)")
_ADJECTIVES = frozenset(
    """strong stronger weaker longer shorter simple complex secure unsafe public private unique random secret correct
    incorrect wrong empty blank always never really almost exactly probably fine similar somewhere nothing something
    another everything anything above below inside outside there where needed because stored written either neither
    probably already enough longest shortest default gibberish leaked yours theirs tomorrow today yesterday older newer
    better terrible horrible awful alright garbage rubbish nonsense numeric alphanumeric optional required
    whatever whichever without within before after""".split()
)


def told(view: str) -> Iterator[Secret]:
    """Every secret that a sentence tells."""
    low = lowered(view)
    for word in _TOLD.finditer(low):
        for pattern in (_DIRECT, _LINKED):
            given = pattern.match(view, word.end())
            span = _taken(view, low, word, given, direct=pattern is _DIRECT) if given else None
            if span:
                yield Secret(_label(word.lastgroup or "", word.group()), *span)
                break
        if word.lastgroup == "password":
            yield from _told_ahead(view, word)


def _told_ahead(view: str, word: re.Match[str]) -> Iterator[Secret]:
    """ "Use hunter2Blue as the password." """
    if view.endswith((" the ", " my ", " our ", " your ", " its "), 0, word.start()) and _ENDS.match(view, word.end()):
        found = _AHEAD.search(view, max(word.start() - 90, 0), word.start())
        if found and any(map(str.isdigit, found[1])) and is_password(found[1]):
            yield Secret("password", *found.span(1))


def _label(kind: str, word: str) -> str:
    if kind != "token":
        return "password"
    return {"token": "token", "secret": "secret", "secret key": "secret"}.get(word, "api key")


def _taken(view: str, low: str, word: re.Match[str], given: re.Match[str], *, direct: bool) -> tuple[int, int] | None:
    group = given.lastgroup or ""
    quoted = group != "bare"
    value = given[group] if quoted else given[group].rstrip(".,;:?)]*_")
    span = (given.start(group), given.start(group) + len(value))
    match word.lastgroup:
        case "pin":
            fits = not direct and value.isdigit() and 4 <= len(value) <= 8
        case "token":
            fits = is_token(value) if word.group() != "secret" else is_secret(value) and len(value) >= 12
        case _:
            fits = _is_told_password(value, quoted=quoted, direct=direct) or (
                not quoted and not direct and _is_chosen_word(view, low, word, span)
            )
    return span if fits else None


def _is_told_password(value: str, *, quoted: bool, direct: bool) -> bool:
    if (direct and not re.search(r"\d", value)) or _HASH.fullmatch(value):
        return False
    if value.isdigit():
        return not direct and 4 <= len(value) <= 12
    return is_password(value, quoted=quoted)


def _is_chosen_word(view: str, low: str, word: re.Match[str], span: tuple[int, int]) -> bool:
    """ "My password is swordfish." """
    value = view[slice(*span)]
    return bool(
        len(value) >= 6
        and value.isalpha()
        and value.islower()
        and value not in _ADJECTIVES
        and not _NOT_CHOSEN.fullmatch(value)
        and is_password(value, quoted=True)
        and re.fullmatch(r"[ ]+(?:is|was|=|:)[ ]+", view[word.end() : span[0]])
        and _OWNED.search(low, max(word.start() - 30, 0), word.start())
        and _CLOSES.match(view, span[1])
    )
