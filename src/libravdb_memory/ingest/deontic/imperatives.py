"""Imperatives: does an order begin at this word, and is it a command or a prohibition?

Law: a listed verb is believed unless the words after it show a noun; a listed noun-or-verb and an unlisted word must
show an object or a complement, and no finite verb may follow in the same clause. Look-ahead is bounded.
"""

from __future__ import annotations

from . import lexicon as lex
from .clause import Clause
from .idioms import COMPOUNDS, IDIOMS, phrase_at
from .tokens import CODE, NUMBER, QUOTE, SYMBOL
from .verbs import MOSTLY_VERBS, NOUN_VERBS, VERBS

LOOK_AHEAD = 40
BREAKS = frozenset({",", ";", ":", "—", ""})
BARE_ORDERS = frozenset({"stop", "wait", "focus", "repeat", "retry", "try", "start", "merge", "ship"})
PREDICATES = frozenset(
    "use live follow go run contain have need include take come start end depend return share belong require lead get"
    " stay remain work handle fail pass refer tend exist appear cover apply point map".split()
)
OPAQUE = frozenset({CODE, NUMBER, QUOTE, SYMBOL})


def imperative(clause: Clause, at: int) -> str | None:
    """The modality of an order that begins at word `at`: "Run the tests." is obligatory, "Avoid globals." forbidden."""
    words = clause.words
    if phrase_at(IDIOMS, words, at):
        return None
    word = clause.word(at)
    special = SPECIAL.get(word)
    if special is not None:
        return special(clause, at)
    if not is_order(clause, at):
        return None
    return _negated_complement(clause, at) or _modality_of_verb(clause, at)


def explicit_imperative(clause: Clause, at: int) -> str | None:
    """Only orders that say so: always, never, do not. For headings, tables and glosses of commands."""
    word = clause.word(at)
    if word in {"never", "always"} or (word == "do" and clause.word(at + 1) == "not"):
        return imperative(clause, at)
    return None


# -- special openings ---------------------------------------------------------------------------------------------


def _never(clause: Clause, at: int) -> str | None:
    """ "Never commit secrets." but not "Never heard of it." """
    at = _skip(clause, at + 1, {"ever", "again", "again,", ","})
    if clause.word(at) in {"forget", "fail", "hesitate"}:
        return "obligatory"
    return "forbidden" if could_be_verb(clause, at) or clause.word(at) == CODE else None


def _always(clause: Clause, at: int) -> str | None:
    """ "Always run lint." but not "Always happy to help." """
    at = _skip(clause, at + 1, {"please", "first", ",", "try", "to"} if clause.word(at + 1) != "try" else {","})
    if clause.word(at) in {"never", "do"}:
        return imperative(clause, at)
    return "obligatory" if could_be_verb(clause, at) else None


def _only(clause: Clause, at: int) -> str | None:
    """ "Only use approved licences." but not "Only three tests fail." """
    return "obligatory" if is_order(clause, at + 1) else None


def _do(clause: Clause, at: int) -> str | None:
    """ "Do not edit." / "Do keep it small." / "Do the migration first." but not "Do you …"."""
    following = clause.word(at + 1)
    if following == "not":
        if clause.word(at + 2) in {"forget", "neglect", "fail", "miss", "hesitate"}:
            return "permitted" if clause.word(at + 2) == "hesitate" else "obligatory"
        return "forbidden" if clause.word(at + 2) and clause.word(at + 2) not in lex.SUBJECT_PRONOUNS else None
    if following in lex.DETERMINERS or following in lex.OBJECT_PRONOUNS or following in lex.ADVERBS:
        return "obligatory"
    return "obligatory" if following != "do" and is_order(clause, at + 1) else None


def _be(clause: Clause, at: int) -> str | None:
    """ "Be concise." / "Be careful not to …" """
    if not clause.word(at + 1):
        return None
    return _negated_complement(clause, at) or "obligatory"


def _let(clause: Clause, at: int) -> str | None:
    """ "Let the formatter decide." """
    return "obligatory" if clause.word(at + 1) not in BREAKS else None


def _have(clause: Clause, at: int) -> str | None:
    """ "Have opinions." but not "Have you …", "Have to go"."""
    following = clause.word(at + 1)
    if following in BREAKS or following in lex.SUBJECT_PRONOUNS or following in lex.PAST or following.endswith("ed"):
        return None
    return "obligatory" if clause.ended or following in lex.DETERMINERS else None


def _feel(clause: Clause, at: int) -> str | None:
    """ "Feel free to disagree." """
    return "permitted" if clause.word(at + 1) == "free" else None


def _stop(clause: Clause, at: int) -> str | None:
    """ "Stop apologising." is a prohibition, "Stop the server." an order."""
    if clause.word(at + 1).endswith("ing"):
        return "forbidden"
    return "obligatory" if is_order(clause, at) else None


def _no(clause: Clause, at: int) -> str | None:
    """ "No secrets in the repo." but not "No problem.", "No tests were run." """
    window = clause.words[at + 1 : at + LOOK_AHEAD]
    if not window or window[0] in lex.NOTHING_WRONG or window[0] in OPAQUE - {CODE} or window[0] in BREAKS:
        return None
    if window[0] in lex.DETERMINERS or window[0] in lex.SUBJECT_PRONOUNS or clause.question:
        return None
    stated = any(word in lex.FINITE or word in lex.FOUND or word in lex.PAST for word in window)
    return None if stated or _plain_past(clause, at + 1) else "forbidden"


def _note(clause: Clause, at: int) -> str | None:
    """ "Note the exit code in the report." but not "Note that the cache is shared." """
    following = clause.word(at + 1)
    return "obligatory" if following in lex.ARTICLES - {"this", "these"} and clause.word(at + 2) else None


def _go(clause: Clause, at: int) -> str | None:
    """ "Go through the list." but not "Go 1.22"."""
    following = clause.word(at + 1)
    return "obligatory" if following in lex.PREPOSITIONS or following in {"and", "deep", "easy", "slow"} else None


SPECIAL = {
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
FORBIDDING_VERBS = frozenset({"avoid", "refrain", "beware", "resist", "forbid", "abstain", "cease", "eschew"})


def _modality_of_verb(clause: Clause, at: int) -> str:
    return "forbidden" if clause.word(at) in FORBIDDING_VERBS - {"beware", "forbid"} else "obligatory"


def _negated_complement(clause: Clause, at: int) -> str | None:
    """ "Try not to …", "Make sure you never …", "Be careful not to …" """
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


# -- is this word a verb in the imperative? -------------------------------------------------------------------------


def is_order(clause: Clause, at: int, *, coordinated: bool = False) -> bool:
    """Whether the word at `at` is a verb in its base form with the sentence as its complement."""
    word = clause.word(at)
    kind = verb_kind(word, clause.shape(at))
    following = clause.word(at + 1)
    if (
        kind == "none"
        or following in lex.FINITE
        or _plain_past(clause, at + 1)
        or phrase_at(COMPOUNDS, clause.words, at)
    ):
        return False
    if kind == "verb":
        return not (following == "of" or _is_subject(clause, at, plain=True))
    if kind == "either":
        return _ambiguous_is_order(clause, at, coordinated=coordinated)
    return _unlisted_is_order(clause, at)


def could_be_verb(clause: Clause, at: int) -> bool:
    """After always and never any base form will do: "Never yeet the pod." """
    word = clause.word(at)
    return word in {"be", "have", "do", "let", "see"} or verb_kind(word, clause.shape(at)) != "none"


def verb_kind(word: str, shape: str = "") -> str:
    """verb, either (noun or verb), unlisted (could be a verb by its shape) or none."""
    if word in NOUN_VERBS:
        return "either"
    if word in VERBS:
        return "verb"
    if (
        not word[:1].isalpha()
        or word in lex.NOT_VERBS
        or word in lex.PAST
        or word in lex.FINITE
        or word in lex.FIRST_NAMES
    ):
        return "none"
    return _kind_by_shape(word, shape)


def _kind_by_shape(word: str, shape: str) -> str:
    if "-" in word:
        first, last = word.split("-", 1)[0], word.rsplit("-", 1)[1]
        if first in lex.VERB_PREFIXES:
            return verb_kind(last)
        return "either" if last in MOSTLY_VERBS or last in VERBS - NOUN_VERBS else "unlisted"
    if word.endswith(lex.VERB_SUFFIXES) and len(word) > 5:
        return "verb"
    for prefix in lex.VERB_PREFIXES:
        if word.startswith(prefix) and len(word) - len(prefix) > 2 and word[len(prefix) :] in VERBS:
            return "either" if word[len(prefix) :] in NOUN_VERBS else "verb"
    inflected = word.endswith(("ing", "ed", "s")) and not word.endswith("ss")
    odd = not word.isascii() or len(word) < 3 or (len(shape) > 1 and shape[1:] != shape[1:].lower())
    return "none" if inflected or odd or word.endswith(lex.NOUN_SUFFIXES) else "unlisted"


def _ambiguous_is_order(clause: Clause, at: int, *, coordinated: bool) -> bool:
    """ "Test every change." and "Log errors with context." but not "Test coverage is low." """
    word, following = clause.word(at), clause.word(at + 1)
    if following in BREAKS:
        return _bare_verb(clause, at)
    if following in {"and", "or", "&"}:
        if word in MOSTLY_VERBS and not _finite_after(clause, at + 2):
            return True
        return not coordinated and is_order(clause, at + 2, coordinated=True)
    if following in lex.ARTICLES or following in lex.OBJECT_PRONOUNS or following in {CODE, QUOTE, "all", "both", "no"}:
        return not (following == CODE and _finite_after(clause, at + 2))
    if following == "of" or _is_subject(clause, at, plain=False) or (following == "over" and word not in MOSTLY_VERBS):
        return False
    if following == NUMBER:
        return word in MOSTLY_VERBS and clause.word(at + 2) not in BREAKS
    length = len(clause.words) - at
    if following in lex.ADVERBS:
        return word in MOSTLY_VERBS or clause.ended
    plural = following.endswith("s") and not following.endswith("ss")
    return word in MOSTLY_VERBS or (length > 3 and (clause.ended or plural))


def _bare_verb(clause: Clause, at: int) -> bool:
    """One word or a word before a comma: only words that are hardly ever nouns there."""
    return clause.word(at) in BARE_ORDERS and clause.ended and clause.word(at + 1) == ""


def _unlisted_is_order(clause: Clause, at: int) -> bool:
    """ "Quiesce the replicas.", "Yeet stale pods before noon." """
    following = clause.word(at + 1)
    if following in lex.ARTICLES or following in {"them", "it", "all", "everything", "anything"}:
        return not _finite_after(clause, at + 2)
    if not clause.ended or _is_subject(clause, at, plain=False) or at > 0:
        return False
    plural = following.endswith("s") and not following.endswith(("ss", "us", "is")) and "-" not in clause.word(at)
    return (plural or following == CODE) and len(clause.words) - at > 3


def _is_subject(clause: Clause, at: int, *, plain: bool) -> bool:
    """Whether the words after `at` carry a finite verb, which makes the first word (part of) a subject."""
    if not plain:
        return _finite_after(clause, at + 1)
    following = clause.word(at + 1)
    return following in lex.FINITE


def _finite_after(clause: Clause, begin: int) -> bool:
    """A finite verb before the clause breaks: "Build output goes to …", "Commit messages follow …"."""
    words = clause.words
    for index in range(begin, min(begin + LOOK_AHEAD, len(words))):
        word = words[index]
        if word == "," and _list_is_subject(words, index):
            return True
        if word in BREAKS or word in lex.SUBORDINATORS:
            return False
        if word in lex.FINITE or _third_person(clause, index, begin) or _plural_verb(clause, index, begin):
            return True
        if index > begin and _plain_past(clause, index):
            return True
    return False


def _list_is_subject(words: list[str], comma: int) -> bool:
    """ "Retry logic, fallback chains, and circuit breakers are …": the commas separate subjects."""
    for index in range(comma + 1, min(comma + 15, len(words))):
        if words[index] in lex.SUBORDINATORS:
            return False
        if words[index] in {"and", "or"}:
            following = words[index + 1 : index + 5]
            stops = [place for place, word in enumerate(following) if word in lex.FINITE]
            return bool(stops) and not set(following[: stops[0]]) & (
                lex.SUBORDINATORS | lex.SUBJECT_PRONOUNS | lex.ARTICLES
            )
    return False


def _third_person(clause: Clause, index: int, begin: int) -> bool:
    """goes, holds, lives: the -s form of a verb that is not a plural noun here."""
    word = clause.word(index)
    if not word.endswith("s") or word.endswith("ss"):
        return False
    stem = next((stem for stem in (word[:-1], word[:-2], word[:-3] + "y") if stem in VERBS or stem in NOUN_VERBS), "")
    before, after = clause.word(index - 1), clause.word(index + 1)
    if not stem or before in lex.ARTICLES or before in lex.PREPOSITIONS:
        return False
    if stem in NOUN_VERBS:
        return after in lex.ARTICLES or (index == begin and after in {"at", "to", "every"})
    return True


def _plural_verb(clause: Clause, index: int, begin: int) -> bool:
    """ "Commit messages follow …": a base form right after a plural noun."""
    before, word = clause.word(index - 1), clause.word(index)
    plural = len(before) > 3 and before.endswith("s") and not before.endswith("ss") and index > begin
    if not plural or before in lex.PREPOSITIONS or before in lex.ADVERBS or before in lex.ARTICLES:
        return False
    return word in PREDICATES or (word in VERBS and (word not in NOUN_VERBS or clause.word(index + 1) in lex.ARTICLES))


def _plain_past(clause: Clause, index: int) -> bool:
    """ "Build finished in …" but not "Review changed files": a past form with no noun right after it."""
    word, after = clause.word(index), clause.word(index + 1)
    if word in lex.PAST - {"lay", "shot", "lit", "lent", "left", "beat"}:
        return True
    if not word.endswith("ed") or word in VERBS:
        return False
    return (
        after in BREAKS or after in lex.PREPOSITIONS or after in lex.ADVERBS or after in lex.ARTICLES or after == NUMBER
    )


def _skip(clause: Clause, at: int, passing: set[str]) -> int:
    while clause.word(at) in passing:
        at += 1
    return at
