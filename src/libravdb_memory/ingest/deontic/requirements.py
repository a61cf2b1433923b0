"""Rules about things: "Code must …", "Smoking is forbidden", "Every PR needs …", "It is essential to …".

Law: the subject must be the subject of the main clause, and nobody's report, memory or plan; after the modal comes
neither a perfect ("must have crashed") nor a forecast ("should arrive tomorrow").
"""

from __future__ import annotations

from . import lexicon as lex
from .clause import Clause, Modality
from .orders import BREAKS, SAME_IN_PAST, could_be_verb
from .second_person import is_guess, negation
from .verbs import VERBS

SUBJECT_LIMIT = 25
PERSONS = lex.FIRST_PERSON | lex.THIRD_PERSON | lex.FIRST_NAMES | lex.WH_WORDS | {"you"}
OBLIGING = frozenset({"must", "should", "shall"})
WEAK_SUBJECTS = frozenset({"it", "this", "that", "they", "these", "those", "everything"})
PARTICIPLES = frozenset("run set put cut read split kept built sent made tested signed".split())
ARTEFACT_VERBS = frozenset(
    "pass include contain have return support match follow stay remain exist fit compile live build handle use carry"
    " start end run declare implement inherit accept define specify provide register".split()
)
FORMAL_PARTS = frozenset("argument arguments parameter parameters field fields key keys option property value".split())
PREDICTED_STARTS = frozenset("open start begin launch end close reopen ship hit reach rise drop resume".split())
TAUGHT = frozenset("get tell say look wait remember know understand agree learn recognise recognize".split())
LIVING = frozenset("kids plants cats dogs animals birds babies humans flowers trees bees boys girls".split())
TELLING = lex.REPORTING - frozenset("claim claims report reports state states order orders hope wish bet read".split())
DOUBTFUL_STATES = frozenset(
    "supported needed required displayed shown affected reached found covered seen detected recognised included loaded"
    " saved known visible updated noticed".split()
)
NEGATIVE = frozenset({"no", "nobody", "nothing", "none", "neither"})
RELATIVES = frozenset({"that", "which", "who", "whose"})


def required(clause: Clause, at: int) -> Modality | None:
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
    negative = subject[0] in NEGATIVE
    return "forbidden" if modality and negative else modality


def inverted(clause: Clause, at: int) -> Modality | None:
    """ "Under no circumstances may backups be stored unencrypted." """
    if clause.words[at : at + 2] not in (["under", "no"], ["at", "no"], ["in", "no"], ["on", "no"]):
        return None
    window = clause.words[at + 2 : at + 6]
    if clause.word(at + 2) == "account" and could_be_verb(clause, at + 3):
        return "forbidden"
    return "forbidden" if set(window) & {"must", "should", "may", "shall", "can", "is", "are", "do"} else None


def impersonal(clause: Clause, at: int) -> Modality | None:
    """ "It is essential to …", "It's fine to …", "It is forbidden to …" """
    if clause.word(at) != "it" or clause.word(at + 1) != "is":
        return None
    if clause.word(at + 2) == "your" and clause.word(at + 3) in lex.PERSONA_NOUNS and clause.word(at + 4) == "to":
        return "obligatory"
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


def there_must(clause: Clause, at: int) -> Modality | None:
    """ "There must not be …", "There should be exactly one …"; "there must be a mistake" is a guess."""
    if clause.word(at) != "there" or clause.word(at + 1) not in OBLIGING:
        return None
    negated, verb = negation(clause, at + 2)
    if negated or clause.words[verb : verb + 2] == ["be", "no"]:
        return "forbidden"
    counted = clause.word(verb + 1) in {"exactly", "at", "only", "one"} or {"every", "each"} & set(
        clause.words[verb + 2 : verb + 8]
    )
    return "obligatory" if counted else None


def called_out(clause: Clause, at: int) -> Modality | None:
    """ "nobody touch the pipeline", "everyone stay off staging": a call to all; a report would say "touches"."""
    verb = clause.word(at + 1)
    if verb not in VERBS or verb in SAME_IN_PAST or clause.question:
        return None
    if clause.word(at) == "nobody":
        return "forbidden"
    return "obligatory" if clause.word(at) in {"everyone", "everybody"} else None


def we_always(clause: Clause, at: int) -> Modality | None:
    """ "We must never share …", "We should always answer …": the rule of a group, unlike "we should meet"."""
    if clause.word(at) != "we" or clause.word(at + 1) not in OBLIGING | {"can", "may"}:
        return None
    if clause.word(at + 2) == "never":
        return "forbidden"
    return "obligatory" if clause.word(at + 2) == "always" else None


def assistant_habit(clause: Clause, at: int) -> Modality | None:
    """ "The assistant never reveals …": a persona in the third person."""
    begin = at + 1 if clause.word(at) in {"the", "this", "an"} else at
    if clause.word(begin) not in {"assistant", "agent", "bot", "claude", "agents", "model"}:
        return None
    if clause.word(begin + 1) == "never":
        return "forbidden"
    return "obligatory" if clause.word(begin + 1) == "always" else None


def subjectless(clause: Clause, at: int) -> Modality | None:
    """ "Must not break the API.", "Must have a changelog entry."; not "Must be the wind", "Must dash"."""
    if clause.word(at) not in OBLIGING or clause.question:
        return None
    negated, verb = negation(clause, at + 1)
    word, following = clause.word(verb), clause.word(verb + 1)
    if is_guess(clause, verb) or not following or word in lex.PERCEPTION or word in {"go", "run", "dash"}:
        return None
    if clause.word(at) == "should" and clause.word(at + 1) not in {"not", "never", "always"}:
        return None
    if word == "be" and not (negated or following.endswith("ed")):
        return None
    return "forbidden" if negated else "obligatory"


def _predicate(clause: Clause, at: int) -> int | None:
    """Where the first modal, copula or need of the main clause stands."""
    relative = False
    for index in range(at, min(at + SUBJECT_LIMIT, len(clause.words))):
        word = clause.word(index)
        if word in RELATIVES and index > at:
            relative = True
        elif _is_predicate(clause, index):
            inside = relative and clause.word(index - 1) in RELATIVES | lex.SUBJECT_PRONOUNS
            if inside:  # "files that must be kept" is a thing, no rule
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
    if head in PERSONS or head in BREAKS or (len(subject) > 1 and head == "they"):
        return False
    if subject[-1] in {"you", "i", "we", "they"} and len(subject) > 1:
        return False
    if "you" in subject and not set(subject) & RELATIVES and head not in {"everything", "anything", "all"}:
        return False
    told = any(word in TELLING or word in lex.PAST for word in subject[1:])  # "Written consent …" tells nothing
    return not told and head not in TELLING and not {"i", "he", "she"} & set(subject)


def _by_modal(clause: Clause, at: int, subject: list[str]) -> Modality | None:
    word = clause.word(at)
    if word in {"need", "needs"} and clause.word(at + 1) == "not":
        return "permitted"
    linked = 1 if word in {"ought", "need", "needs", "has", "have"} and clause.word(at + 1) == "to" else 0
    if word not in OBLIGING | {"may", "can"} and not linked:
        return None
    negated, verb = negation(clause, at + 1 + linked)
    firmly_denied = negated and (word == "must" or "never" in clause.words[at:verb])
    guessed = is_guess(clause, verb) and not firmly_denied
    if not clause.word(verb) or guessed or clause.words[verb:] == ["have", "to"]:
        return None
    if word in {"may", "can"}:
        return _permission(clause, at, subject, negated=negated, verb=verb)
    if clause.word(verb) in lex.PERCEPTION - TAUGHT:
        return None
    if linked and word != "ought" and not _lasting_need(clause, verb, subject):
        return None
    firm = clause.word(at + 1) in {"never", "always", "not", "only"}
    if len(subject) == 1 and subject[0] in WEAK_SUBJECTS and not _firm_about_it(clause, at, verb, firm=firm):
        return None
    if word == "should" and not firm and _is_forecast(clause, verb):
        return None
    return "forbidden" if negated else "obligatory"


def _lasting_need(clause: Clause, verb: int, subject: list[str]) -> bool:
    """ "Commits need to be signed", "The linter has to pass"; "the dog has to go to the vet" is somebody's errand."""
    if set(clause.words[verb : verb + 12]) & lex.PREDICTION_TIMES:
        return False
    counted = len(subject) > 1 and subject[0] in {"one", "two", "at"}
    lasting = counted or subject[0] in lex.UNIVERSALS or are_people(subject) or clause.word(verb) in ARTEFACT_VERBS
    following = clause.word(verb + 1)
    passive = clause.word(verb) == "be" and is_participle(following)
    return bool(lasting) or passive or (clause.word(verb) == "be" and is_bare_plural(subject))


def is_participle(word: str) -> bool:
    return word.endswith("ed") or word in lex.PAST or word in PARTICIPLES


def is_bare_plural(subject: list[str]) -> bool:
    """ "Backfills …", "Nullable columns …": things in general, and not people."""
    bare = subject[0] not in lex.DETERMINERS and subject[0] not in WEAK_SUBJECTS
    plural = any(word.endswith("s") and not word.endswith("ss") for word in subject)
    return bare and plural and not are_people(subject) and not set(subject) & LIVING


def are_people(subject: list[str]) -> bool:
    """Whether the subject names people: by the list, or by the ending of its words (players, parents, trainees)."""
    return any(
        word in lex.PEOPLE or (word.endswith(lex.PEOPLE_ENDINGS) and word not in lex.THINGS_IN_ERS) for word in subject
    )


def _firm_about_it(clause: Clause, at: int, verb: int, *, firm: bool) -> bool:
    """ "It must not be called …" is a rule, "it should work" and "it must be a mistake" are not."""
    if clause.word(at) in {"should", "ought"}:
        return clause.word(at + 1) in {"never", "always"}
    if firm:
        return True
    following = clause.word(verb + 1)
    if clause.word(verb) == "be":
        return is_participle(following)
    return following != ""


def _is_forecast(clause: Clause, verb: int) -> bool:
    """ "should arrive tomorrow", "should pass now", "should take a minute"."""
    if clause.word(verb) in lex.PREDICTED or clause.word(verb) == "take":
        return True
    if clause.word(verb) == "do" and clause.word(verb + 1) in {"it", "the", "for"}:
        return True
    if clause.word(verb) in PREDICTED_STARTS and clause.word(verb + 1) in {"in", "on", "next", "this", "at"}:
        return True
    return bool(set(clause.words[verb : verb + 12]) & lex.PREDICTION_TIMES)


def _permission(clause: Clause, at: int, subject: list[str], *, negated: bool, verb: int) -> Modality | None:
    """ "Contractors may not …", "PRs can't be merged without …"; "the build may fail" is no permission."""
    people = are_people(subject) or subject[0] in NEGATIVE | {"only"}
    if not people:
        state = clause.word(verb + 1)
        barred = clause.word(at) == "may" and clause.word(verb) == "be" and is_participle(state)
        if negated and barred and state not in DOUBTFUL_STATES and subject[0] not in WEAK_SUBJECTS:
            return "forbidden"
        without = negated and "without" in clause.words[verb : verb + 20]
        return "forbidden" if without else None
    if clause.word(verb) in lex.PERCEPTION | {"have", "need", "experience", "encounter"}:
        return None
    if clause.word(at) == "can" and not negated and subject[0] not in NEGATIVE | {"only"}:
        return None  # "Users can log in with a token" describes
    return "forbidden" if negated else "permitted"


def _by_status(clause: Clause, at: int, subject: list[str]) -> Modality | None:
    """ "Smoking is forbidden", "Tests are required", "Pets are allowed", "Endpoints are to be versioned"."""
    if clause.word(at) not in {"is", "are"} or (len(subject) == 1 and subject[0] in WEAK_SUBJECTS):
        return None
    negated, state = negation(clause, at + 1)
    word, following = clause.word(state), clause.word(state + 1)
    if (word, following) == ("to", "be"):
        return "forbidden" if negated else "obligatory"
    if word in lex.ASKED or word in lex.INVITED:
        people = (are_people(subject) or subject[0] in lex.UNIVERSALS) and following in {"to", "not"}
        if not people:
            return None
        permitted = word in lex.INVITED and following == "to"
        return "forbidden" if negated or following == "not" else ("permitted" if permitted else "obligatory")
    if word in lex.PROHIBITED:
        return "permitted" if negated else "forbidden"
    if word == "optional" and set(subject) & FORMAL_PARTS:
        return None
    if word in lex.ALLOWED - {"fine", "ok", "okay", "welcome", "encouraged"}:
        return "forbidden" if negated and word != "optional" else "permitted"
    if word in lex.REQUIRED and subject[0] != "no":
        return "permitted" if negated else "obligatory"
    return None


def _by_need(clause: Clause, at: int, subject: list[str]) -> Modality | None:
    """ "Every PR needs a linked issue", "Deploys require approval"."""
    if clause.word(at) not in {"need", "needs", "require", "requires"} or clause.word(at + 1) in {"to", ""}:
        return None
    universal = subject[0] in lex.UNIVERSALS
    approval = set(clause.words[at + 1 : at + 6]) & (lex.APPROVALS | {"receipt"})
    counted = is_bare_plural(subject) and clause.word(at + 1) in {"a", "an", "at", "one", "two", "three"}
    return "obligatory" if universal or approval or counted else None


def _shortened(clause: Clause, at: int) -> Modality | None:
    """ "Approval required before any production change." """
    window = clause.words[at : at + 12]
    if window[0] in {"no", "not", "if", "as"} or any(word in lex.FINITE or word in VERBS for word in window[:1]):
        return None
    for index in range(1, min(len(window), 6)):
        stands = clause.ended and (clause.word(at + index + 1) == "" or clause.word(at + index + 1) in lex.PREPOSITIONS)
        if window[index] in {"required", "mandatory", "forbidden", "prohibited"} and stands:
            return "obligatory" if window[index] in lex.REQUIRED else "forbidden"
        if window[index] in BREAKS or window[index] in lex.PREPOSITIONS or window[index] in lex.FINITE:
            return None
    return None
