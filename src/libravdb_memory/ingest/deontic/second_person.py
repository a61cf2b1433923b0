"""Rules addressed to you: modals, persona statements, identity directives and requests.

Law: "you" counts only where a main clause can begin; what follows the modal decides whether it is a rule, a guess
("you must be tired") or talk ("you never know").
"""

from __future__ import annotations

from . import lexicon as lex
from .clause import Clause, Modality
from .idioms import STANDING, phrase_at
from .orders import could_be_verb, verb_kind
from .tokens import NUMBER

PERMISSION_MODALS = frozenset({"may", "can", "could", "might"})
OBLIGATION_MODALS = frozenset({"must", "should", "shall"})
LINKED = {
    ("ought", "to"),
    ("need", "to"),
    ("have", "to"),
    ("got", "to"),
    ("want", "to"),
    ("had", "better"),
    ("would", "better"),
}
PERFECT_ENDINGS = ("ed", "en", "wn", "ne")
STATUS_WORDS: dict[str, Modality] = {
    "required": "obligatory", "expected": "obligatory", "supposed": "obligatory", "asked": "obligatory",
    "obliged": "obligatory", "responsible": "obligatory", "encouraged": "obligatory", "advised": "obligatory",
    "allowed": "permitted", "permitted": "permitted", "free": "permitted", "welcome": "permitted",
    "authorised": "permitted", "authorized": "permitted", "forbidden": "forbidden", "prohibited": "forbidden",
    "to": "obligatory", "tasked": "obligatory", "entitled": "permitted", "instructed": "obligatory",
}  # fmt: skip
WANTING = frozenset("want need expect require would prefer like ask wanna".split())


def addressed(clause: Clause, at: int) -> Modality | None:
    """The modality of a clause whose subject, at word `at`, is you."""
    if clause.word(at) != "you":
        return None
    verb = skip_adverbs(clause, at + 1)
    word, following = clause.word(verb), clause.word(verb + 1)
    if (word, following) in LINKED and word != "want":
        return _obligation(clause, verb + 2)
    if (word, following, clause.word(verb + 2)) == ("have", "got", "to"):
        return _obligation(clause, verb + 3)
    if word == "need" and following == "not":
        return "permitted"
    for family in (_modal, _habit, _status, _future, _denial):
        modality = family(clause, verb, word)
        if modality:
            return modality
    return None


def skip_adverbs(clause: Clause, at: int) -> int:
    while clause.word(at) in lex.ADVERBS - {"never", "not", "always"} or clause.word(at).endswith("ly"):
        at += 1
    return at


def _modal(clause: Clause, verb: int, word: str) -> Modality | None:
    """ "You must run it", "you may not", "you can only …" """
    if word in OBLIGATION_MODALS:
        return _obligation(clause, verb + 1)
    if word in PERMISSION_MODALS:
        return _permission(clause, verb, word)
    return None


def _obligation(clause: Clause, at: int) -> Modality | None:
    negated, at = negation(clause, at)
    if is_guess(clause, at) or clause.word(at) in lex.PERCEPTION - {"get", "look", "wait", "remember", "say", "tell"}:
        return None
    if not clause.word(at):
        return None
    return "forbidden" if negated else "obligatory"


def _permission(clause: Clause, verb: int, word: str) -> Modality | None:
    """ "You may …", "you can …"; can see, may find and might be are no permissions."""
    negated, at = negation(clause, verb + 1)
    main = clause.word(at)
    if word == "might":
        return "permitted" if main in {"want", "consider"} else None
    if negated and main == "tell" and clause.word(at + 1) in lex.DETERMINERS | {"anyone", "anybody", "him", "them"}:
        return "forbidden"
    if not main or main in lex.PERCEPTION or is_guess(clause, at) or (main, clause.word(at + 1)) == ("do", "it"):
        return None
    if word == "may" and main in {"be", "have", "need", "ask", "encounter", "run"} and not (negated and main == "have"):
        return None
    if negated:
        return None if word == "could" or main in {"always", "go", "help", "please", "make"} else "forbidden"
    return "obligatory" if clause.word(verb + 1) == "only" else "permitted"


def _habit(clause: Clause, verb: int, word: str) -> Modality | None:
    """ "You never lie", "you always explain", "you speak plainly": a persona in the present tense."""
    if clause.question or set(clause.words[:20]) & {
        "was",
        "were",
        "had",
        "did",
        "went",
        "said",
        "told",
        "came",
        "knew",
    }:
        return None
    following = clause.word(verb + 1)
    if word == "never":
        return "forbidden" if could_be_verb(clause, verb + 1) and following not in lex.NEVER_SAID else None
    if word == "always":
        talk = following in lex.STATIVE or following in lex.NEVER_SAID
        return "obligatory" if could_be_verb(clause, verb + 1) and not talk else None
    persona = word in lex.PERSONA_VERBS and following not in {"that", "like"}
    return "obligatory" if persona and clause.words[:1] == ["you"] else None


def _status(clause: Clause, verb: int, word: str) -> Modality | None:
    """ "You are required to …", "you are not allowed to …", "you are a patient tutor"."""
    if word not in {"are", "have"}:
        return None
    negated, at = negation(clause, verb + 1)
    status = STATUS_WORDS.get(clause.word(at))
    if status and word == "are" and clause.word(at + 1) in {"to", "for", "from", "not", *_bases(clause, at)}:
        if clause.word(at + 1) == "not":
            return "forbidden"
        return _flip(status) if negated else status
    return _identity(clause, at) if word == "are" and clause.words[verb - 1] == "you" else None


def _bases(clause: Clause, at: int) -> set[str]:
    """For "you are to V": the word after `to`, when it can be a verb."""
    following = clause.word(at + 1)
    return {following} if clause.word(at) == "to" and could_be_verb(clause, at + 1) else set()


def _flip(status: Modality) -> Modality:
    flipped: dict[Modality, Modality] = {"permitted": "forbidden", "obligatory": "forbidden", "forbidden": "permitted"}
    return flipped[status]


def _identity(clause: Clause, at: int) -> Modality | None:
    """ "You are Wren, …", "You're a careful reviewer" at the start; "You are right" and "You're the best" are talk."""
    word = clause.word(at)
    if clause.words[0] != "you" or clause.question or not word:
        return None
    if word == "my":
        return "obligatory" if set(clause.words[at + 1 : at + 4]) & lex.ROLES else None
    if word in {"the", "a", "an", "our"}:
        return None if clause.word(at + 1) in lex.PRAISED or clause.word(at + 2) in lex.PRAISED else "obligatory"
    if word in lex.COMPLIMENTS or word in lex.EPISTEMIC_STATES - {"new"} or word in {NUMBER}:
        return None
    if word.endswith("ing"):
        return "obligatory" if word in lex.AGENT_STATES else None
    return "obligatory" if len(clause.words) > 2 or clause.ended else None


def _future(clause: Clause, verb: int, word: str) -> Modality | None:
    """ "You will act as …", "you'll need to …"; "you will see" is a forecast."""
    if word != "will":
        return None
    negated, at = negation(clause, verb + 1)
    main = clause.word(at)
    if (main, clause.word(at + 1)) in LINKED:
        return "permitted" if negated else "obligatory"
    steady = clause.word(verb + 1) in {"always", "never", "only", "not"} and main not in lex.PERCEPTION
    if steady or main in lex.PERSONA_VERBS - {"love", "enjoy", "understand", "hate"}:
        return "forbidden" if negated else "obligatory"
    role = main == "be" and clause.word(at + 1) in {"a", "an", "the", "acting", "working", "responsible", "helping"}
    return "obligatory" if role else None


def _denial(clause: Clause, verb: int, word: str) -> Modality | None:
    """ "You don't lecture people"; "you don't have to" permits; "you don't know" is talk."""
    if word != "do" or clause.word(verb + 1) != "not":
        return None
    main = clause.word(verb + 2)
    if (main, clause.word(verb + 3)) in LINKED:
        return "permitted" if main in {"have", "need"} else None
    if main == "need" and clause.word(verb + 3) not in {"", "me", "it", "this", "that"}:
        return "permitted"
    talk = main in lex.STATIVE or clause.question or clause.words[0] != "you"
    return "forbidden" if not talk and verb_kind(main) != "none" else None


def negation(clause: Clause, at: int) -> tuple[bool, int]:
    """Whether not or never stands here, and where the verb after it and after adverbs begins."""
    negated = False
    while clause.word(at) in lex.ADVERBS or clause.word(at).endswith("ly") or clause.word(at) in {"no", "longer"}:
        negated = negated or clause.word(at) in {"not", "never", "no"}
        at += 1
        if clause.word(at - 1) in {"not", "never"} and clause.word(at) in {"here", "there", "so"}:
            break
    return negated, at


def is_guess(clause: Clause, at: int) -> bool:
    """ "must have crashed", "should be fine", "must be joking": a guess or a forecast, no rule."""
    word, following = clause.word(at), clause.word(at + 1)
    if word == "have":
        return following in lex.PAST or following in {"been", "had"} or following.endswith(PERFECT_ENDINGS)
    if word != "be":
        return False
    soft = bool({"should", "need", "needs", "has", "have"} & set(clause.words[max(at - 3, 0) : at]))
    return following in lex.EPISTEMIC_STATES or (soft and following in lex.FORECAST_STATES)


# -- requests ------------------------------------------------------------------------------------------------------


def wanted(clause: Clause, at: int) -> Modality | None:
    """ "I want you to be brief", "I'd like you to …", "I'd rather you didn't …" """
    if clause.word(at) not in {"i", "we"}:
        return None
    window = clause.words[at + 1 : at + 9]
    for index, word in enumerate(window[:6]):
        before = window[:index]
        if word != "you" or not before or not set(before) & (WANTING | {"rather"}) or set(before) & lex.PAST:
            continue
        after = window[index + 1 : index + 4]
        if after[:1] == ["to"] or after[:2] in (["not", "to"], ["did", "not"], ["never", "to"]) or "rather" in before:
            negated = "not" in before or set(after[:3]) & {"not", "never"}
            return "forbidden" if negated else "obligatory"
        if "if" in before or "prefer" in before:
            return "obligatory"
    return None


def standing_request(clause: Clause) -> Modality | None:
    """ "Can you please always run the tests?": a polite question with a word of permanence."""
    words = clause.words
    asked = any(
        words[index] in {"can", "could", "would", "will"} and words[index + 1] in {"you", "we"}
        for index in range(min(len(words) - 1, 8))
    )
    if not asked or not any(phrase_at(STANDING, words, index) for index in range(min(len(words), 60))):
        return None
    return "forbidden" if {"never", "not", "stop"} & set(words[:12]) else "obligatory"


def from_now_on(clause: Clause, at: int) -> Modality | None:
    """ "Going forward the tests live next to the sources", "let's use pnpm from now on"; not "from now on I will …"."""
    words = clause.words[:60]
    marks = [index for index in range(len(words)) if words[index] in STANDING and phrase_at(STANDING, words, index)]
    lasting = [index for index in marks if words[index] in {"from", "going", "in", "henceforth", "starting"}]
    if not lasting or clause.word(at) in {"i", "my", "he", "she", "they"} or set(words) & (lex.PAST | {"i"}):
        return None
    return "forbidden" if {"never", "no", "not"} & set(words) else "obligatory"


def your_part(clause: Clause, at: int) -> Modality | None:
    """ "Your job is to …", "Your name is Tilda", "Your tone is dry"."""
    if clause.word(at) != "your" or clause.question:
        return None
    window = clause.words[at + 1 : at + 6]
    for index, word in enumerate(window):
        if word in {"is", "are", "will"}:
            head = window[index - 1] if index else ""
            named = head != "name" or clause.shape(at + 2 + index)[:1].isupper()
            return "obligatory" if head in lex.PERSONA_NOUNS and named else None
    return None
