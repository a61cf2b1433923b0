"""Text to tokens, and tokens to sentences, with offsets kept.

Law: one pass, every character looked at a bounded number of times; the expressions use possessive or bounded
repetition only, so no input makes them backtrack. Markup (emphasis, link targets, tags) gives no token; code, numbers
and quotations give one opaque token each, so no family of rules can read inside them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

CODE, NUMBER, QUOTE, SYMBOL = "`", "0", "“”", "§"
TERMINALS = frozenset(".!?…")

PIECE = re.compile(
    r"""
      (?P<code>`++(?:[^`]++`++)?+)
    | (?P<url>(?:https?://|www\.)[^\s<>()\[\]"“”]++)
    | (?P<markup><!--[^>]{0,500}+> | </?[A-Za-z][^<>\n]{0,200}+> | !\[[^\]\n]{0,300}+\]
                | \]\([^()\s]{0,400}+\) | [*\[\]{}~]++)
    | (?P<mark>\.\.\.|[,;!?…—–|()"“”„«»])
    | (?P<colon>:)
    | (?P<chunk>[^\s`*\[\]{}~,;:!?…—–|()"“”„«»<>]++)
    | (?P<angle>[<>])
    """,
    re.VERBOSE,
)
PLAIN_WORD = re.compile(r"[^\W\d_]++(?:['-][^\W\d_]++)*+")
ABBREVIATIONS = frozenset("e.g i.e eg ie vs cf approx mr mrs ms dr prof st fig sec incl resp etc a.k.a".split())
QUOTATION_MARKS = {
    '"': "double",
    "“": "double",
    "”": "double",
    "„": "double",
    "«": "double",
    "»": "double",
    "'": "single",
}

EXPANSIONS = {
    "cannot": ("can", "not"), "can't": ("can", "not"), "cant": ("can", "not"), "won't": ("will", "not"),
    "wont": ("will", "not"), "shan't": ("shall", "not"), "dont": ("do", "not"), "doesnt": ("does", "not"),
    "didnt": ("did", "not"), "shouldnt": ("should", "not"), "mustnt": ("must", "not"), "isnt": ("is", "not"),
    "arent": ("are", "not"), "youre": ("you", "are"), "youll": ("you", "will"), "u": ("you",), "ur": ("your",),
    "pls": ("please",), "plz": ("please",), "let's": ("let", "us"), "gotta": ("got", "to"), "gonna": ("going", "to"),
    "y'all": ("you",), "ya": ("you",), "ain't": ("is", "not"), "c'mon": ("come", "on"), "donot": ("do", "not"),
}  # fmt: skip
SUFFIXES = {"'re": "are", "'ll": "will", "'ve": "have", "'d": "would", "'m": "am"}
IS_AFTER = frozenset("it that this he she there here what who how where when everything everyone".split())


class Token(NamedTuple):
    """One lower-cased word, or one of the signs above; several words of a contraction share their offsets.

    A named tuple, because a megabyte of text makes two hundred thousand of them.
    """

    text: str
    start: int
    end: int
    shape: str = ""  # the raw spelling of a word


@dataclass(frozen=True, slots=True)
class Sentence:
    """Tokens between two full stops; `terminal` is the sign that ended them, or the empty string."""

    tokens: tuple[Token, ...]
    terminal: str
    end: int


def tokenize(text: str, start: int, end: int) -> tuple[list[Token], list[list[Token]]]:
    """The tokens of text[start:end], quotations folded, and apart from them those of each parenthesis."""
    return _split_asides(_fold_quotations(list(_raw_tokens(text, start, end))))


def sentences(tokens: list[Token]) -> Iterator[Sentence]:
    """Cut after each run of terminal signs."""
    held: list[Token] = []
    for index, token in enumerate(tokens):
        if token.text in TERMINALS:
            if held:
                following = tokens[index + 1].text if index + 1 < len(tokens) else ""
                if following in TERMINALS:
                    continue
                yield Sentence(tuple(held), token.text, token.end)
                held = []
        elif token.text == "|":
            if held:
                yield Sentence(tuple(held), "", held[-1].end)
                held = []
        else:
            held.append(token)
            if token.text == QUOTE and _quotation_ends_sentence(token, tokens, index):
                yield Sentence(tuple(held), "", token.end)
                held = []
    if held:
        yield Sentence(tuple(held), "", held[-1].end)


def _quotation_ends_sentence(token: Token, tokens: list[Token], index: int) -> bool:
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    return token.shape in TERMINALS and following is not None and following.shape[:1].isupper()


def _raw_tokens(text: str, start: int, end: int) -> Iterator[Token]:
    for match in PIECE.finditer(text, start, end):
        kind = match.lastgroup
        piece, at = match.group(), match.start()
        if kind == "code":
            yield Token(CODE, at, match.end())
        elif kind == "url":
            yield from _code_with_stop(piece, at)
        elif kind == "mark":
            sign = {"–": "—", "...": "…"}.get(piece, piece)
            yield Token(sign, at, match.end(), _side(text, at, match.end(), start, end))
        elif kind == "colon":
            if match.end() == end or text[match.end()] in ' \t\r\n*_"“`)':
                yield Token(":", at, match.end())
        elif kind == "angle":
            yield Token(SYMBOL, at, match.end())
        elif kind == "chunk":
            yield from _chunk(piece, at)


def _side(text: str, at: int, after: int, start: int, end: int) -> str:
    """Whether a straight quotation mark at `at` can open or close, from the characters beside it."""
    opens = (at == start or not text[at - 1].isalnum()) and after < end and not text[after].isspace()
    closes = at > start and not text[at - 1].isspace()
    return ("o" if opens else "") + ("c" if closes else "")


def _code_with_stop(piece: str, at: int) -> Iterator[Token]:
    core = piece.rstrip(".,;:!?")
    yield Token(CODE, at, at + len(core))
    if core != piece:
        yield Token(piece[len(core)], at + len(core), at + len(core) + 1)


def _chunk(piece: str, at: int) -> Iterator[Token]:
    """A run of non-space characters without punctuation inside: a word, a number, a name or a sign."""
    core = piece.lstrip("_'‘’")
    if core != piece and "_" not in piece[: len(piece) - len(core)]:
        yield Token("'", at, at + 1, "o")
    begin = at + len(piece) - len(core)
    stripped = core.rstrip("_'’.")
    tail = core[len(stripped) :]
    stop = begin + len(stripped)
    if stripped:
        yield from _word(stripped, begin, stop)
    if "." in tail and stripped.lower() not in ABBREVIATIONS and (len(stripped) != 1 or not stripped.isalpha()):
        dot = stop + tail.index(".")
        yield Token(".", dot, dot + 1)
    if ("'" in tail or "’" in tail) and stripped:
        yield Token("'", stop, begin + len(core), "c")


def _word(raw: str, start: int, end: int) -> Iterator[Token]:
    lowered = raw.lower().replace("’", "'")
    if raw in {"-", "--"}:
        yield Token("—", start, end)
    elif PLAIN_WORD.fullmatch(lowered):
        for part in _expanded(lowered):
            yield Token(part, start, end, raw)
    elif not any(map(str.isalnum, raw)):
        yield Token(SYMBOL, start, end, raw)
    elif raw[0].isdigit():
        yield Token(NUMBER, start, end, raw)
    else:
        parts = lowered.split("/", 1)
        plain = len(parts) == 2 and all(map(str.isalpha, parts)) and raw[0].isupper()
        yield Token(parts[0] if plain else CODE, start, end, raw)


def _expanded(word: str) -> tuple[str, ...]:
    """The words of a contraction: "don't" is do + not, "you're" is you + are."""
    if word in EXPANSIONS:
        return EXPANSIONS[word]
    if word.endswith("n't"):
        return (word[:-3], "not")
    stem, apostrophe, ending = word.rpartition("'")
    if apostrophe:
        suffix = apostrophe + ending
        if suffix in SUFFIXES:
            return (stem, SUFFIXES[suffix])
        if suffix == "'s" and stem in IS_AFTER:
            return (stem, "is")
    return (word,)


def _fold_quotations(tokens: list[Token]) -> list[Token]:
    """Replace each closed quotation by one token; marks that never close are dropped."""
    folded: list[Token] = []
    opened: dict[str, int] = {}
    for token in tokens:
        family = QUOTATION_MARKS.get(token.text, "")
        if not family:
            folded.append(token)
        elif family in opened and "c" in _sides(token):
            _close(folded, opened, opened[family], token)
        elif family not in opened and "o" in _sides(token):
            opened[family] = len(folded)
            folded.append(token)
    return [token for token in folded if token.text not in QUOTATION_MARKS]


def _close(folded: list[Token], opened: dict[str, int], begin: int, token: Token) -> None:
    first, last = folded[begin], folded[-1].text
    del folded[begin:]
    for family in [family for family, position in opened.items() if position >= begin]:
        del opened[family]
    folded.append(Token(QUOTE, first.start, token.end, last if last in TERMINALS else ""))


def _sides(token: Token) -> str:
    """Which ends of a quotation this mark can be: o(pening), c(losing)."""
    if token.text in "“„«":
        return "o"
    return "c" if token.text in "”»" else token.shape


def _split_asides(tokens: list[Token]) -> tuple[list[Token], list[list[Token]]]:
    """Take what stands in closed parentheses out, unless a sentence begins with the parenthesis."""
    kept: list[Token] = []
    asides: list[list[Token]] = []
    opened: list[int] = []
    for token in tokens:
        if token.text == "(":
            opened.append(len(kept))
        elif token.text == ")" and opened:
            begin = opened.pop()
            if begin and kept[begin - 1].text not in TERMINALS and kept[begin - 1].text != ":":
                asides.append(kept[begin:])
                del kept[begin:]
        elif token.text != ")":
            kept.append(token)
    return kept, asides
