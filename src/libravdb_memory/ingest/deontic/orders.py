"""Is this word a verb in the imperative? The evidence is its form, the words after it, and how the clause ends.

Law: a listed verb is believed unless the words after it show a noun; a listed noun-or-verb and an unlisted word must
show an object or a complement, and no finite verb may follow in the same clause. Look-ahead is bounded.
"""

from __future__ import annotations

from . import lexicon as lex
from .clause import Clause
from .idioms import COMPOUNDS, phrase_at
from .tokens import CODE, NUMBER, QUOTE, SYMBOL
from .verbs import ADJECTIVE_VERBS, MOSTLY_VERBS, NOUN_VERBS, VERBS

LOOK_AHEAD = 40
BREAKS = frozenset({",", ";", ":", "—", ""})
BARE_ORDERS = frozenset({"stop", "wait", "focus", "repeat", "retry", "try", "start", "merge", "ship"})
PREDICATES = frozenset(
    "use live follow go run contain have need include take come start end depend return share belong require lead get"
    " stay remain work handle fail pass refer tend exist appear cover apply point map happen last wait matter show vary"
    " know eat describe make rise fall mean".split()
)
INTRANSITIVE = frozenset(
    "fail hang run work start stop break crash pass live take land sit stay end need cost look sound mean help spread"
    " travel flow fall rise grow move turn act bend melt boil freeze float sink drift glow shine burn".split()
)
MESSAGES = frozenset("update fix note change release guide request report draft".split())
SHORT_ORDERS = frozenset(
    "use run set pin sort fix update check log sign skip drop start stop name tag merge format document split bump"
    " rotate mark list link avoid add keep write".split()
)
COMPARED = frozenset({"faster", "slower", "better", "worse", "more", "less", "than", "well", "badly"})
OBJECTS = lex.ARTICLES | lex.OBJECT_PRONOUNS | {CODE, QUOTE, "all", "both", "no", "one"}
SAME_IN_PAST = frozenset("spread hit cut set put burst shut split cost hurt quit let".split())
LINKING = frozenset({"come", "stay", "get", "remain", "think", "dispose", "keep"})  # "Come prepared.", "Think of …"
USED_AS_ADJECTIVES = frozenset("lost written known broken stolen hidden built frozen chosen stuck sent spent".split())
HELPING = frozenset({"help", "go", "come", "try", "dare", "let"})
AGO = frozenset({"last", "yesterday", "again", "today", "early", "recently", "two", "three"})
PAST_FOLLOWERS = BREAKS | AGO | lex.OBJECT_PRONOUNS | lex.PREPOSITIONS | lex.ADVERBS | lex.ARTICLES | {NUMBER}
OPAQUE = frozenset({CODE, NUMBER, QUOTE, SYMBOL})


def is_order(clause: Clause, at: int, *, coordinated: bool = False) -> bool:
    """Whether the word at `at` is a verb in its base form with the sentence as its complement."""
    word = clause.word(at)
    kind = verb_kind(word, clause.shape(at))
    following = clause.word(at + 1)
    if kind == "none" or following in lex.FINITE or phrase_at(COMPOUNDS, clause.words, at):
        return False
    if plain_past(clause, at + 1) and word not in LINKING:
        return False
    if kind == "verb":
        listed = following == "and" and clause.word(at + 3) in lex.FINITE  # "Rob and Sue are coming"
        return not listed and (following != "of" or word in LINKING)
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
    if following in OBJECTS or (following == "that" and clause.word(at + 2) in BREAKS):
        after = clause.word(at + 2)
        if following == "a" and after.endswith("s") and after[:-1] in VERBS - NOUN_VERBS:
            return False  # "Buffer A contains …"
        return not (following == CODE and _finite_after(clause, at + 1))
    if (
        _verb_follows(clause, at)
        or following == "of"
        or _finite_after(clause, at + 1)
        or (following == "over" and word not in MOSTLY_VERBS)
    ):
        return False
    if following == NUMBER:
        return word in MOSTLY_VERBS and clause.word(at + 2) not in BREAKS
    if following in {"for", "from", "on", "by", "about"} and word in MESSAGES:
        return False
    return _complement_fits(clause, at)


def _verb_follows(clause: Clause, at: int) -> bool:
    """ "Fish swim in circles", "Fire spread to the roof": the next word is the verb of this one."""
    following, after = clause.word(at + 1), clause.word(at + 2)
    if following in SAME_IN_PAST or following.endswith("ed"):
        return after in lex.PREPOSITIONS
    return following in VERBS - NOUN_VERBS and clause.word(at) not in HELPING | MOSTLY_VERBS


def _complement_fits(clause: Clause, at: int) -> bool:
    """ "Cache results in Redis", "Stage files by name": a noun-or-verb with a bare word after it, as an order."""
    word, following, length = clause.word(at), clause.word(at + 1), len(clause.words) - at
    if following in lex.ADVERBS or following in {"toward", "towards"}:
        return word in MOSTLY_VERBS or clause.ended
    if length == 2 and not clause.ended:
        return word in SHORT_ORDERS
    plural = following.endswith("s") and not following.endswith("ss")
    if word in MOSTLY_VERBS or (following in lex.SUBORDINATORS and clause.word(at + 2) == "you"):
        return True
    after = clause.word(at + 2)
    if clause.ended and following in lex.PREPOSITIONS and after == CODE:
        return True  # "Build with `make`."
    linked = plural and (after in lex.PREPOSITIONS or after in lex.SUBORDINATORS)
    return length > 3 and (clause.ended or linked)


def _bare_verb(clause: Clause, at: int) -> bool:
    """One word or a word before a comma: only words that are hardly ever nouns there."""
    return clause.word(at) in BARE_ORDERS and clause.ended and clause.word(at + 1) == ""


def _unlisted_is_order(clause: Clause, at: int) -> bool:
    """ "Quiesce the replicas.", "Yeet stale pods before noon." """
    following = clause.word(at + 1)
    if following in lex.ARTICLES or following in {"them", "it", "all", "everything", "anything"}:
        return not _finite_after(clause, at + 2)
    if not clause.ended or _finite_after(clause, at + 1) or at > 0:
        return False
    if following.endswith("ly"):
        return True
    plural = following.endswith("s") and not following.endswith(("ss", "us", "is")) and "-" not in clause.word(at)
    return (plural or following == CODE) and len(clause.words) - at > 3


def _finite_after(clause: Clause, begin: int) -> bool:
    """A finite verb before the clause breaks: "Build output goes to …", "Commit messages follow …"."""
    words = clause.words
    inside_phrase = False  # behind a preposition a past form is a participle: "an interface named after the component"
    for index in range(begin, min(begin + LOOK_AHEAD, len(words))):
        word = words[index]
        if _clause_ends(words, index, begin):
            return word == "," and _list_is_subject(words, index)
        if word in lex.FINITE or _third_person(clause, index, begin) or _plural_verb(clause, index, begin):
            return True
        if index > begin and plain_past(clause, index):
            after = clause.word(index + 1)
            return not inside_phrase or after in BREAKS or after in lex.ARTICLES or after in AGO or word in lex.PAST
        inside_phrase = inside_phrase or word in lex.PREPOSITIONS
    return False


def _clause_ends(words: list[str], index: int, begin: int) -> bool:
    """At a sign, a subordinator, a new subject, or a contact clause: "Reply in the language the customer wrote in."."""
    word = words[index]
    if word in BREAKS or word in lex.SUBORDINATORS or word in {"i", "you", "we", "they", "he", "she"}:
        return True
    return index > begin and word in lex.ARTICLES and not _takes_object(words[index - 1])


def _takes_object(word: str) -> bool:
    """Whether an article may follow this word without opening a new clause."""
    return (
        word in lex.PREPOSITIONS or word in lex.ADVERBS or word in VERBS or word in {"and", "or", "not", "both", "all"}
    )


def _has_known_stem(past: str) -> bool:
    """ "shipped" comes from a verb, "sacred" does not."""
    stems = {past[:-1], past[:-2], past[:-3], past[:-3] + "y"}
    return any(stem in VERBS or stem in NOUN_VERBS for stem in stems)


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
    stems = (word[:-1], *((word[:-2], word[:-3] + "y") if word.endswith("es") else ()))
    stem = next((stem for stem in stems if stem in VERBS or stem in NOUN_VERBS), "")
    before, after = clause.word(index - 1), clause.word(index + 1)
    if not stem or before in lex.ARTICLES or before in lex.PREPOSITIONS:
        return False
    if stem in INTRANSITIVE or stem in ADJECTIVE_VERBS or after in COMPARED or after in {"that", "how", "why", "what"}:
        return True
    if stem in NOUN_VERBS:
        return after in lex.ARTICLES or after.endswith("ing")
    return True


def _plural_verb(clause: Clause, index: int, begin: int) -> bool:
    """ "Commit messages follow …": a base form right after a plural noun."""
    before, word = clause.word(index - 1), clause.word(index)
    if before.endswith("ly") or before in {"often", "never", "always", "seldom"}:
        before = clause.word(index - 2)
    plural = len(before) > 3 and before.endswith("s") and not before.endswith("ss") and index > begin
    if not plural or before in lex.PREPOSITIONS or before in lex.ADVERBS or before in lex.ARTICLES:
        return False
    if word in PREDICATES or word in VERBS - NOUN_VERBS:
        return True
    after = clause.word(index + 1)
    return word in NOUN_VERBS and (after in lex.ARTICLES or after in lex.PREPOSITIONS or after == CODE)


def plain_past(clause: Clause, index: int) -> bool:
    """ "Build finished in …" but not "Review changed files": a past form with no noun right after it."""
    word, after = clause.word(index), clause.word(index + 1)
    if word in lex.PAST - {"lay", "shot", "lit", "lent", "left", "beat"}:
        return word not in USED_AS_ADJECTIVES or after in PAST_FOLLOWERS
    if not word.endswith("ed") or word in VERBS or not _has_known_stem(word):
        return False
    return after in PAST_FOLLOWERS or after.endswith("ing")
