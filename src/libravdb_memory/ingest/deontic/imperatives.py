"""Imperatives: does an order begin at this word, and is it a command, a prohibition or a permission?

Law: openings that have a grammar of their own (never, always, do, be, let …) have a row in `SPECIAL`; every other word
is asked of `orders`, which knows verbs by form and company rather than from a closed list.
"""

from __future__ import annotations

from . import lexicon as lex
from .clause import Clause, Modality
from .idioms import is_talk
from .orders import BREAKS, LOOK_AHEAD, OPAQUE, could_be_verb, is_order, plain_past, verb_kind
from .tokens import CODE
from .verbs import VERBS


def imperative(clause: Clause, at: int) -> Modality | None:
    """The modality of an order that begins at word `at`: "Run the tests." is obligatory, "Avoid globals." forbidden."""
    words = clause.words
    if is_talk(words, at):
        return None
    word = clause.word(at)
    special = SPECIAL.get(word)
    if special is not None:
        return special(clause, at)
    if not is_order(clause, at):
        return None
    return _negated_complement(clause, at) or _modality_of_verb(clause, at)


def explicit_imperative(clause: Clause, at: int) -> Modality | None:
    """Only orders that say so: always, never, do not. For headings, tables and glosses of commands."""
    word = clause.word(at)
    if word in {"never", "always"} or (word == "do" and clause.word(at + 1) == "not"):
        return imperative(clause, at)
    return None


# -- special openings ---------------------------------------------------------------------------------------------


def _never(clause: Clause, at: int) -> Modality | None:
    """ "Never commit secrets." but not "Never heard of it." """
    at = _skip(clause, at + 1, {"ever", "again", "again,", ","})
    if clause.word(at) in {"forget", "fail", "hesitate"}:
        return "obligatory"
    return "forbidden" if could_be_verb(clause, at) or clause.word(at) == CODE else None


def _always(clause: Clause, at: int) -> Modality | None:
    """ "Always run lint." but not "Always happy to help.", "Always fun, these lists." """
    at = _skip(clause, at + 1, {"please", "first", ",", "try", "to"} if clause.word(at + 1) != "try" else {","})
    if clause.word(at) in {"never", "do"}:
        return imperative(clause, at)
    return "obligatory" if _acts(clause, at) or clause.word(at) == CODE else None


def _acts(clause: Clause, at: int) -> bool:
    """An order, where a word that no table knows must have behind it what a verb has: not "Always fun, these lists"."""
    following = clause.word(at + 1)
    listed = clause.word(at) in VERBS or verb_kind(clause.word(at), clause.shape(at)) != "unlisted"
    return could_be_verb(clause, at) and (
        listed or not (following in BREAKS | {"to"} or following in lex.SUBORDINATORS)
    )


def _only(clause: Clause, at: int) -> Modality | None:
    """ "Only use approved licences." but not "Only three tests fail." """
    return "obligatory" if is_order(clause, at + 1) else None


def _do(clause: Clause, at: int) -> Modality | None:
    """ "Do not edit." / "Do keep it small." / "Do the migration first." but not "Do you …"."""
    following = clause.word(at + 1)
    if following == "not":
        if clause.word(at + 2) in {"forget", "neglect", "fail", "miss", "hesitate"}:
            return "permitted" if clause.word(at + 2) == "hesitate" else "obligatory"
        return "forbidden" if clause.word(at + 2) and clause.word(at + 2) not in lex.SUBJECT_PRONOUNS else None
    if following in lex.DETERMINERS or following in lex.OBJECT_PRONOUNS or following in lex.ADVERBS | {"things"}:
        return "obligatory"
    return "obligatory" if following != "do" and is_order(clause, at + 1) else None


def _be(clause: Clause, at: int) -> Modality | None:
    """ "Be concise." / "Be careful not to …" """
    if not clause.word(at + 1):
        return None
    return _negated_complement(clause, at) or "obligatory"


def _let(clause: Clause, at: int) -> Modality | None:
    """ "Let the formatter decide." """
    return "obligatory" if clause.word(at + 1) not in BREAKS else None


def _have(clause: Clause, at: int) -> Modality | None:
    """ "Have opinions." but not "Have you …", "Have to go"."""
    following = clause.word(at + 1)
    if following in BREAKS or following in lex.SUBJECT_PRONOUNS or following in lex.PAST or following.endswith("ed"):
        return None
    return "obligatory" if clause.ended or following in lex.DETERMINERS else None


def _feel(clause: Clause, at: int) -> Modality | None:
    """ "Feel free to disagree." """
    return "permitted" if clause.word(at + 1) == "free" else None


def _stop(clause: Clause, at: int) -> Modality | None:
    """ "Stop apologising." is a prohibition, "Stop the server." an order."""
    if clause.word(at + 1).endswith("ing"):
        return "forbidden"
    return "obligatory" if is_order(clause, at) else None


def _no(clause: Clause, at: int) -> Modality | None:
    """ "No secrets in the repo." but not "No problem.", "No tests were run." """
    window = clause.words[at + 1 : at + LOOK_AHEAD]
    if not window or window[0] in lex.NOTHING_WRONG or window[0] in OPAQUE - {CODE} or window[0] in BREAKS:
        return None
    if window[0] in lex.DETERMINERS or window[0] in lex.SUBJECT_PRONOUNS or clause.question:
        return None
    stated = any(word in lex.FINITE or word in lex.FOUND or word in lex.PAST for word in window)
    return None if stated or plain_past(clause, at + 1) else "forbidden"


def _note(clause: Clause, at: int) -> Modality | None:
    """ "Note down the serial number." but not "Note the minus sign", "Note that the cache is shared"."""
    return "obligatory" if clause.word(at + 1) == "down" else None


def _go(clause: Clause, at: int) -> Modality | None:
    """ "Go through the list." but not "Go 1.22"."""
    following = clause.word(at + 1)
    if len(clause.words) - at < 3:
        return None
    return (
        "obligatory" if following in lex.PREPOSITIONS or following in {"the", "and", "deep", "easy", "slow"} else None
    )


def _take(clause: Clause, at: int) -> Modality | None:
    """ "Take care to release the lock." but not "Take care!" """
    if clause.word(at + 1) in {"", "care"} and clause.word(at + 2) == "":
        return None
    return _negated_complement(clause, at) or "obligatory"


SPECIAL = {
    "take": _take,
    "go": _go,
    "never": _never,
    "always": _always,
    "only": _only,
    "do": _do,
    "be": _be,
    "let": _let,
    "have": _have,
    "feel": _feel,
    "stop": _stop,
    "quit": _stop,
    "no": _no,
    "note": _note,
}
CAREFUL = frozenset("make ensure be see take remember try mind watch learn choose prefer aim strive check".split())
FORBIDDING_VERBS = frozenset({"avoid", "refrain", "beware", "resist", "forbid", "abstain", "cease", "eschew"})


def _modality_of_verb(clause: Clause, at: int) -> Modality:
    return "forbidden" if clause.word(at) in FORBIDDING_VERBS - {"beware", "forbid"} else "obligatory"


def _negated_complement(clause: Clause, at: int) -> Modality | None:
    """ "Try not to …", "Make sure you never …", "Be careful not to …" """
    if clause.word(at) not in CAREFUL:
        return None
    window = clause.words[at + 1 : at + 6]
    for index, word in enumerate(window):
        if word in BREAKS or word in lex.ARTICLES:
            return None
        following = window[index + 1] if index + 1 < len(window) else ""
        if (word, following) == ("not", "to") or (word == "never" and following in {"to", *VERBS}):
            return "forbidden"
        if word == "you" and following == "do" and window[index + 2 : index + 3] == ["not"]:
            return "forbidden"
    return None


def _skip(clause: Clause, at: int, passing: set[str]) -> int:
    while clause.word(at) in passing:
        at += 1
    return at
