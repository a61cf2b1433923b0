"""Rules about things: "Code must …", "Smoking is forbidden", "Every PR needs …", "It is essential to …".

Law: the subject must be the subject of the main clause, and nobody's report, memory or plan; after the modal comes
neither a perfect ("must have crashed") nor a forecast ("should arrive tomorrow").
"""

from __future__ import annotations

from . import lexicon as lex
from .clause import Clause
from .imperatives import BREAKS
from .second_person import is_guess, negation
from .verbs import VERBS

SUBJECT_LIMIT = 25
OBLIGING = frozenset({"must", "should", "shall"})
WEAK_SUBJECTS = frozenset({"it", "this", "that", "they", "these", "those", "everything"})
RELATIVES = frozenset({"that", "which", "who", "whose"})


def required(clause: Clause, at: int) -> str | None:
    """The modality of a clause whose subject begins at word `at` and whose predicate obliges, forbids or permits."""
    if at >= len(clause.words) or clause.question:
        return None
    found = _predicate(clause, at)
    if found is None:
        return _shortened(clause, at)
    subject = clause.words[at:found]
    if not acceptable_subject(subject):
        return None
    modality = (
        _by_modal(clause, found, subject) or _by_status(clause, found, subject) or _by_need(clause, found, subject)
    )
    negative = subject[0] in {"no", "nobody", "nothing", "none", "neither"}
    return "forbidden" if modality and negative else modality


def inverted(clause: Clause, at: int) -> str | None:
    """ "Under no circumstances may backups be stored unencrypted." """
    if clause.words[at : at + 2] not in (["under", "no"], ["at", "no"], ["in", "no"]):
        return None
    window = clause.words[at + 2 : at + 6]
    return "forbidden" if set(window) & {"must", "should", "may", "shall", "can", "is", "are", "do"} else None


def impersonal(clause: Clause, at: int) -> str | None:
    """ "It is essential to …", "It's fine to …", "It is forbidden to …" """
    if clause.word(at) != "it" or clause.word(at + 1) != "is":
        return None
    negated, state = negation(clause, at + 2)
    word, following, verb = clause.word(state), clause.word(state + 1), clause.word(state + 2)
    if following not in {"to", "that"} or verb in {
        "note",
        "be",
        "cry",
        "feel",
        "say",
        "know",
        "think",
        "see",
        "imagine",
    }:
        return None
    if word in lex.PROHIBITED:
        return "permitted" if negated else "forbidden"
    if word in lex.ALLOWED:
        return "forbidden" if negated else "permitted"
    if word in lex.REQUIRED | {"important", "crucial", "critical", "vital", "best", "recommended"}:
        return "permitted" if negated else "obligatory"
    return None


def we_always(clause: Clause, at: int) -> str | None:
    """ "We must never share …", "We should always answer …": the rule of a group, unlike "we should meet"."""
    if clause.word(at) != "we" or clause.word(at + 1) not in OBLIGING | {"can", "may"}:
        return None
    if clause.word(at + 2) == "never":
        return "forbidden"
    return "obligatory" if clause.word(at + 2) == "always" else None


def assistant_habit(clause: Clause, at: int) -> str | None:
    """ "The assistant never reveals …": a persona in the third person."""
    begin = at + 1 if clause.word(at) in {"the", "this", "an"} else at
    if clause.word(begin) not in {"assistant", "agent", "bot", "claude", "agents", "model"}:
        return None
    return {"never": "forbidden", "always": "obligatory"}.get(clause.word(begin + 1))


def _predicate(clause: Clause, at: int) -> int | None:
    """Where the first modal, copula or need of the main clause stands."""
    relative = False
    for index in range(at, min(at + SUBJECT_LIMIT, len(clause.words))):
        word = clause.word(index)
        if word in RELATIVES and index > at:
            relative = True
        elif _is_predicate(clause, index):
            inside = relative and clause.word(index - 1) in RELATIVES  # "files that must be kept" is a thing, no rule
            if inside or (relative and word in {"is", "are", "has", "have", "can", "may", "need", "needs"}):
                relative = False
                continue
            return index if index > at else None
        elif word in {";", ":", "—", "if", "when", "because", "whether", "unless", "how", "what", "why"}:
            return None
    return None


def _is_predicate(clause: Clause, index: int) -> bool:
    word, following = clause.word(index), clause.word(index + 1)
    if word in OBLIGING or word in {"may", "can", "ought"}:
        return True
    if word in {"is", "are"}:
        return True
    return word in {"need", "needs", "require", "requires"} or (word in {"has", "have"} and following == "to")


def acceptable_subject(subject: list[str]) -> bool:
    """Nobody's report, memory or plan, and no person of a story."""
    head = subject[0]
    if head in lex.FIRST_PERSON or head in lex.THIRD_PERSON or head in lex.FIRST_NAMES or head in lex.WH_WORDS:
        return False
    if head == "you" or (len(subject) > 1 and head == "they"):
        return False
    told = any(word in lex.REPORTING or word in lex.PAST or word in {"i", "he", "she"} for word in subject)
    return not told and head not in BREAKS


def _by_modal(clause: Clause, at: int, subject: list[str]) -> str | None:
    word = clause.word(at)
    if word in {"need", "needs"} and clause.word(at + 1) == "not":
        return "permitted"
    linked = 1 if word in {"ought", "need", "needs", "has", "have"} and clause.word(at + 1) == "to" else 0
    if word not in OBLIGING | {"may", "can"} and not linked:
        return None
    negated, verb = negation(clause, at + 1 + linked)
    if not clause.word(verb) or is_guess(clause, verb):
        return None
    if word in {"may", "can"}:
        return _permission(clause, at, subject, negated=negated, verb=verb)
    firm = clause.word(at + 1) in {"never", "always", "not", "only"}
    if len(subject) == 1 and subject[0] in WEAK_SUBJECTS and not _firm_about_it(clause, at, verb, firm=firm):
        return None
    if word == "should" and not firm and _is_forecast(clause, verb):
        return None
    return "forbidden" if negated else "obligatory"


def _firm_about_it(clause: Clause, at: int, verb: int, *, firm: bool) -> bool:
    """ "It must not be called …" is a rule, "it should work" and "it must be a mistake" are not."""
    if clause.word(at) in {"should", "ought"}:
        return clause.word(at + 1) in {"never", "always"}
    article = clause.word(verb) == "be" and clause.word(verb + 1) in lex.ARTICLES
    return firm or not article


def _is_forecast(clause: Clause, verb: int) -> bool:
    """ "should arrive tomorrow", "should pass now", "should take a minute"."""
    if clause.word(verb) in lex.PREDICTED or clause.word(verb) == "take":
        return True
    return bool(set(clause.words[verb : verb + 12]) & lex.PREDICTION_TIMES)


def _permission(clause: Clause, at: int, subject: list[str], *, negated: bool, verb: int) -> str | None:
    """ "Contractors may not …", "PRs can't be merged without …"; "the build may fail" is no permission."""
    people = bool(set(subject) & lex.PEOPLE) or subject[0] == "no"
    if not people:
        without = negated and "without" in clause.words[verb : verb + 20]
        return "forbidden" if without else None
    if clause.word(verb) in lex.PERCEPTION | {"have", "need", "experience", "encounter"}:
        return None
    if clause.word(at) == "can" and negated and clause.word(verb) not in {"be"}:
        return "forbidden"
    return "forbidden" if negated else "permitted"


def _by_status(clause: Clause, at: int, subject: list[str]) -> str | None:
    """ "Smoking is forbidden", "Tests are required", "Pets are allowed", "Endpoints are to be versioned"."""
    if clause.word(at) not in {"is", "are"} or (len(subject) == 1 and subject[0] in WEAK_SUBJECTS):
        return None
    negated, state = negation(clause, at + 1)
    word, following = clause.word(state), clause.word(state + 1)
    if (word, following) == ("to", "be"):
        return "forbidden" if negated else "obligatory"
    if word == "expected":
        people = bool(set(subject) & (lex.PEOPLE | lex.UNIVERSALS)) and following == "to"
        return ("forbidden" if negated else "obligatory") if people else None
    if word in lex.PROHIBITED:
        return "permitted" if negated else "forbidden"
    if word in lex.ALLOWED - {"fine", "ok", "okay", "welcome", "encouraged"}:
        return "forbidden" if negated and word != "optional" else "permitted"
    if word in lex.REQUIRED and subject[0] != "no":
        return "permitted" if negated else "obligatory"
    return None


def _by_need(clause: Clause, at: int, subject: list[str]) -> str | None:
    """ "Every PR needs a linked issue", "Deploys require approval"."""
    if clause.word(at) not in {"need", "needs", "require", "requires"} or clause.word(at + 1) in {"to", ""}:
        return None
    universal = subject[0] in lex.UNIVERSALS
    approval = set(clause.words[at + 1 : at + 6]) & (lex.APPROVALS | {"receipt"})
    return "obligatory" if universal or approval else None


def _shortened(clause: Clause, at: int) -> str | None:
    """ "Approval required before any production change." """
    window = clause.words[at : at + 12]
    if window[0] in {"no", "not", "if", "as"} or any(word in lex.FINITE or word in VERBS for word in window[:1]):
        return None
    for index in range(1, min(len(window), 6)):
        if window[index] in {"required", "mandatory", "forbidden", "prohibited"} and clause.ended:
            return "obligatory" if window[index] in lex.REQUIRED else "forbidden"
        if window[index] in BREAKS or window[index] in lex.PREPOSITIONS or window[index] in lex.FINITE:
            return None
    return None
