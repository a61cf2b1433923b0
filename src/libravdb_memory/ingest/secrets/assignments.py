"""Values that a name gives away: `password = …`, `"apiKey": "…"`, `SECRET=…`, `--token …`, `<password>…</password>`.

Law: the name must end in a word of ASSIGNED, so `token_count`, `password_hash` and `primary_key` are none; how strictly
a value is judged depends on the name, because people choose passwords and machines make tokens. A long value that is
no secret is not searched again, so reading is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from .plausible import is_passphrase, is_password, is_secret, is_token
from .view import FILL, Secret, lowered

Strictness: TypeAlias = Literal["password", "secret", "api key", "token"]

ASSIGNED: tuple[tuple[Strictness, str], ...] = (
    (
        "password",
        "password|passwd|passwort|passphrase|passcode|kennwort|contraseña|wachtwoord|pswd|(?:store|key)pass|pwd|pass|psk|pw",
    ),
    (
        "secret",
        "client_?-?secret|secret_?-?(?:access_?-?)?key(?:_?-?base)?|secrets?"
        "|(?:master|encryption|encrypt|signing|private|hmac|session|cookie)_?-?key",
    ),
    (
        "api key",
        "(?:api|access|account|app|application|auth|service|storage|subscription|license|rapidapi|admin|deploy|consumer)"
        "[ ._-]?key|appid|api[_-]?secret",
    ),
    ("token", "token|auth|credentials?|sessid"),
)
_NAME = re.compile("|".join(f"(?P<k{place}>{words})" for place, (_, words) in enumerate(ASSIGNED)))
_STEMS = "pass secret token key auth pwd psk pw pswd kennwort contraseña wachtwoord appid credential sessid".split()
"""Every name holds one of these; most texts hold none, and are not searched."""
_KINDS: tuple[Strictness, ...] = tuple(kind for kind, _ in ASSIGNED)
_LINK = re.compile(
    r"(?:[_-]?(?:prod|production|dev|staging|live|test|\d{1,2}))?(?:"
    r"(?P<call>\()[ \t]{0,3}(?=[\"'`])"
    r"|(?P<below>[\"']?,?[ \t]{0,8}(?:\r?\n[ \t]{0,24})?\\?[\"']?\bvalue\b\\?[\"']?[ \t]{0,3}[:=][ \t]{0,3})"
    r"|(?P<declared>[\"'] \{\s{0,8}(?:[^}\n\uffa0]{0,80}\n\s{0,8}){0,4}?default[ \t]{0,8}=[ \t]{0,3})"
    r"|(?P<comma>\\?[\"'`],)[ \t]{0,3}(?=\\?[\"'`])"
    r"|(?P<xml>>)"
    r"|(?P<spaced>[ ]{1,2})(?=[\"'])"
    r"|(?P<flag>[ ]{1,2}(?![ =<>:|-]))"
    r"|(?P<equals>(?:\\?[\"'`]\]?)?[ \t]{0,8}"
    r"(?::[ \t]{0,3}[A-Za-z0-9_.\[\]|]{1,20}[ \t]{0,3})?(?:=>|:=|=)[ \t]{0,8})(?![=>~])"
    r"|(?P<colon>\\?[\"'`]?[ \t]{0,8}:[ \t]{0,8})"
    r")"
)
_VALUE = re.compile(
    rf"[bBrRuU]?(?P<open>\\?[\"'`])(?:base64:)?(?P<quoted>[^\"'`\n{FILL}]*?(?:'[^\"'`\n{FILL}]+?)??)(?P=open)(?!\w)"
    rf"|(?:base64:)?(?P<bare>[^\s\"'`<>,;|(){{}}\[\]\\\u2000-\U0010ffff]{{1,4096}}+)(?![(\[{{{FILL}])"
)
_NAME_SIGNS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$-"
_NEXT_PARAMETER = re.compile(r"&[\w.-]+=.*$|&$", re.S)
_OTHER_NAMES = re.compile(
    r"(?:(?<![A-Za-z])|(?<=[a-z])(?=[A-Z]))(?i:next|page|csrf|xsrf|pad|eos|bos|unk|sep|cls|mask|max|min|num|total"
    r"|cancellation|continuation|sync|lock|change|request|client|idempotency|public|no|is|has|show|forgot|reset)[_-]?$"
)
_OTHER_PASSES = re.compile(
    rf"(?:{FILL}|(?<!\w)(?!and|with|pass|user|login|my|the|db|admin|root|smtp)[A-Za-z]{{2,20}}) $"
)
_ALONE = frozenset(("pass", "pwd", "pw", "psk", "auth", "secrets", "credential", "credentials"))
_CHOSEN = frozenset(("equals", "call", "declared"))
"""Links behind which even a plain word in quotes is a password; behind others it may be a label or another name."""
_LONG, _LONGEST_NAME = 256, 40


class Value(NamedTuple):
    text: str
    start: int
    quoted: bool


def assigned(view: str) -> Iterator[Secret]:
    """Every value that its name and its look make a secret."""
    resume = 0
    low = lowered(view)
    for name in _NAME.finditer(low) if any(stem in low for stem in _STEMS) else ():
        if name.start() < resume:
            continue
        link = _LINK.match(view, name.end())
        value = _value(view, link) if link and _names_a_secret(view, name, link) else None
        if link is None or value is None:
            continue
        kind = _KINDS[(name.lastindex or 1) - 1]
        if _judged(kind, name.group(), link, value):
            yield Secret(kind, value.start, value.start + len(value.text))
            resume = value.start + len(value.text)
        elif len(value.text) > _LONG:
            resume = value.start + len(value.text)


def _names_a_secret(view: str, name: re.Match[str], link: re.Match[str]) -> bool:
    start = name.start()
    before = view[max(start - _LONGEST_NAME, 0) : start]
    before = before[len(before.rstrip(_NAME_SIGNS)) :]
    ahead = view[max(start - len(before) - 2, 0) : start - len(before)]
    if ahead[-1:] == FILL or ahead == "::" or (before and _OTHER_NAMES.search(before)):
        return False
    if name.group() in _ALONE and not _alone(view, start, before):
        return False
    match link.lastgroup:
        case "flag":
            return before.startswith("-")
        case "spaced":
            return bool(before) or _KINDS[(name.lastindex or 1) - 1] == "password"
        case "comma":
            return ahead[-1:] in ('"', "'", "`")
        case "xml":
            return ahead[-1:] == "<"
        case _:
            return True


def _alone(view: str, start: int, before: str) -> bool:
    """Whether a short word is the whole name, or its last hump or part: not compass, not a boarding pass."""
    if not before:
        return not _OTHER_PASSES.search(view, max(start - 24, 0), start)
    return not before[-1].isalpha() or (view[start].isupper() and before[-1].islower())


def _value(view: str, link: re.Match[str]) -> Value | None:
    found = _VALUE.match(view, link.end())
    if found is None:
        return None
    if found["quoted"] is not None:
        return Value(found["quoted"], found.start("quoted"), True)
    bare = _NEXT_PARAMETER.sub("", found["bare"]).rstrip(".:?")
    return Value(bare, found.start("bare"), False)


def _judged(kind: Strictness, name: str, link: re.Match[str], value: Value) -> bool:
    match kind:
        case "password":
            chosen = value.quoted and link.lastgroup in _CHOSEN
            return is_password(value.text, quoted=chosen) or (
                value.quoted and name in ("passphrase", "password") and is_passphrase(value.text)
            )
        case "secret":
            return is_secret(value.text)
        case _:
            return is_token(value.text)
