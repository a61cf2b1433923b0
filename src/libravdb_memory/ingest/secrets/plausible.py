"""Whether a value could be a secret, or stands for one: placeholders, references, names, code, words.

Laws: pure, linear in the value. `is_filler` judges what follows a known prefix, where only a template needs telling
apart; `is_password`, `is_secret` and `is_token` judge values that only their name makes suspicious, ever more strictly.
The cheap questions come first, because hostile text asks them a hundred thousand times.
"""

from __future__ import annotations

import re
from math import log2

_TEMPLATE = re.compile(
    r"example|your|xxxx|placeholder|change.?me|dummy|sample|insert|replace|redacted|goes.?here|\.\.\.|…|\*\*\*|•••"
)
_STANDS_FOR = re.compile(
    r"[<\[{]|\$[a-z_{(]|%\w+%|!(?:vault|ref|getatt|sub|secret|env)|@microsoft|enc\[|&(?:#|lt|gt|quot)"
    r"|[a-z_-]*(?:password|passwd|secret|token|api_?key)[a-z_-]*$"
    r"|(?:op|vault|ref\+\w*|arn|ssm|sm|env|file|https?|gcpsm|keyring|secret|projects)[:/]"
    r"|(?:os|process|env|config|settings|self|this|args|options|kwargs|request|req|ctx|credentials|user|app|data)\."
    r"|(?:~|\.{1,2})/|[a-z]:\\|/[a-z_.-]*$"
)
_PATH = re.compile(r"/?(?:[a-z_.][a-z0-9_.-]*/)+[\w.-]*$")
_FILE = re.compile(
    r"\.(?:md|txt|py|js|ts|json|ya?ml|toml|pem|key|crt|cer|env|ini|cfg|conf|html?|sh|go|rs|java|csv|log)$"
)
_FORMAT = re.compile(r"[{}<>]|%[srd]\b|\$\(|://")
_PART = r"(?:[A-Za-z]?[a-z]+|[A-Z]+|v?\d{1,4})"
_WORDS = re.compile(rf"{_PART}(?:[-_. /:#]{_PART})*")
_DOTTED = re.compile(r"[A-Za-z_]+\d{0,5}[A-Za-z_]*(?:\.[A-Za-z_]+\d{0,5}[A-Za-z_]*)+")
_CAMEL = re.compile(r"[A-Za-z]?[a-z]+(?:[A-Z][a-z]+)*\d{0,2}")
_AMOUNT = re.compile(r"[-+]?\d[\d.,:_]*(?:[a-zA-Z]{1,3}|%)?|PT?\d+[A-Z]|\d{4}-\d\d-\d\d(?:[T ][\d:.]+Z?)?")
_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[^\W\d_]")
_TOKEN = re.compile(r"[\w.~+/=:$!%|@#^&*?,-]+", re.A)
_SEPARATED = re.compile(r"[-_./:]")
_SIGNS = re.compile(r"[!@#$%^&*+=~?](?!$)|[!@#$%^&*+=~]$")
_CODE = re.compile(r"[()\[\]|]|=$|==|&&")
_NO_PASSWORD = frozenset(
    """password passwort passwd pass pwd secret token key admin root user username login test demo none null nil true
    false undefined string str bytes text bool int hidden masked required optional default empty blank unknown missing
    invalid expired wrong correct prompt ask asked stdin file env vault keychain keyring redacted plain plaintext
    encrypted hashed value field input basic bearer digest oauth anonymous guest yes no any all self this changed reset
    new old""".split()
)
_RUNS = ("0123456789", "1234567890", "abcdefghij", "qwertyuiop", "deadbeefdeadbeef")
_ENOUGH = 200
"""So many characters tell whether the rest is random."""


def is_filler(body: str) -> bool:
    """Whether what should be random is a template's: `xxxx…`, `YOUR_KEY_HERE`, `1234567890…`, one letter for ever."""
    body = body[:_ENOUGH]
    if len(set(body)) < min(8, len(body) // 3 + 1):
        return True
    small = body.lower()
    return bool(_TEMPLATE.search(small)) or (any(run in small for run in _RUNS) and entropy(body) < 3.8)


def entropy(value: str) -> float:
    """Bits a character, by the value's own letters."""
    size = len(value)
    return -sum((share := value.count(letter) / size) * log2(share) for letter in set(value)) if value else 0.0


def stands_for_another(value: str) -> bool:
    """Placeholder, reference, path, file or format: not the secret itself."""
    small = value.lower()
    return bool(
        len(set(value)) < 3
        or _STANDS_FOR.match(small)
        or _TEMPLATE.search(small)
        or ("/" in value and _PATH.match(value))
        or ("." in value and _FILE.search(value))
        or _FORMAT.search(value)
    )


def is_password(value: str, *, quoted: bool = False) -> bool:
    """People choose these: anything but a plain word, an amount, a name in code or a sentence.

    >>> is_password("hunter2"), is_password("required"), is_password("swordfish", quoted=True)
    (True, False, True)
    """
    if not 4 <= len(value) <= 128 or " " in value or (not quoted and value.isalpha()):
        return False
    if value.isdigit():
        return len(value) >= 6 and len(set(value)) > 2
    word, digit = quoted and value.isalpha(), _DIGIT.search(value)
    if not (word or digit or _SIGNS.search(value)) or value.lower().strip(".,:;=") in _NO_PASSWORD:
        return False
    if stands_for_another(value) or _AMOUNT.fullmatch(value):
        return False
    if digit:
        return bool(_LETTER.search(value))
    return _is_word(value) if word else _has_signs(value)


def _is_word(value: str) -> bool:
    return len(value) >= 6 and value.islower() and value.isascii()


def _has_signs(value: str) -> bool:
    """No digit, but signs that words in prose do not carry; those of code do not count."""
    return len(value) >= 6 and value.isascii() and not _CODE.search(value)


def is_passphrase(value: str) -> bool:
    """Four words and more, as such phrases are made."""
    words = value.split(" ")
    return 4 <= len(words) <= 12 and all(word.isalpha() and word.islower() for word in words)


def is_secret(value: str, *, least_entropy: float = 2.75) -> bool:
    """Made by a machine or with care: letters and digits mixed, not words with numbers."""
    if len(value) < 8 or " " in value or len(set(value[:_ENOUGH])) < 6 or not _mixed(value):
        return False
    if stands_for_another(value) or any(form.fullmatch(value) for form in (_AMOUNT, _WORDS, _CAMEL, _DOTTED)):
        return False
    return entropy(value[:_ENOUGH]) >= least_entropy and not _mostly_words(value[:_ENOUGH])


def _mostly_words(value: str) -> bool:
    """As names of things are: my-service-account-token-x7k2p."""
    words = [part for part in _SEPARATED.split(value) if len(part) > 2 and part.isalpha() and part.islower()]
    return sum(map(len, words)) > 0.6 * len(value)


def is_token(value: str) -> bool:
    """Made by a machine: long, mixed, without any order."""
    return len(value) >= 16 and bool(_TOKEN.fullmatch(value)) and is_secret(value, least_entropy=3.0)


def _mixed(value: str) -> bool:
    return bool(_DIGIT.search(value) and _LETTER.search(value))
