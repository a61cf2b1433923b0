"""What one clause is: the places where its main clause may begin, and the families of rules tried there.

Law: a question is no rule unless it asks for something to hold from now on; a fronted phrase belongs to the clause it
introduces; the number of places tried is bounded, so the cost of a clause does not grow with its commas.
"""

from __future__ import annotations

from collections.abc import Iterator

from . import lexicon as lex
from .clause import Clause, Modality
from .idioms import STANDING, is_talk, phrase_at
from .imperatives import explicit_imperative, imperative
from .orders import BREAKS, could_be_verb, is_order
from .requirements import (
    acceptable_subject,
    assistant_habit,
    called_out,
    impersonal,
    inverted,
    required,
    subjectless,
    there_must,
    we_always,
)
from .second_person import addressed, from_now_on, standing_request, wanted, your_part
from .tokens import CODE, QUOTE
from .verbs import MOSTLY_VERBS, NOUN_VERBS, VERBS

COMMAS_TRIED = 6
UNBROKEN_WORDS = 15  # how far a phrase without its comma may reach
SCENES = frozenset({"in", "for", "on", "with", "during", "when", "while", "before", "after", "at", "from"})
TRIGGERS = frozenset({"when", "whenever", "if", "once", "after", "before", "unless", "until"})
NO_ORDER_AFTER = (
    lex.SUBJECT_PRONOUNS
    | lex.FINITE
    | lex.PREPOSITIONS
    | lex.DETERMINERS
    | lex.PEOPLE
    | {
        "to",
        "and",
        "or",
        "not",
        "do",
        "does",
        "did",
        "let",
        "make",
        "help",
        "always",
        "never",
        "who",
        "anyone",
        "everyone",
    }
)
ATTENTION = (["note", "that"], ["remember", "that"], ["keep", "in", "mind", "that"], ["bear", "in", "mind", "that"])


def modality_of(clause: Clause, *, after_rule: bool = True) -> Modality | None:
    """What the clause is: the first family that recognises it at one of its possible beginnings."""
    if clause.question or _asks(clause):
        return _tagged(clause) or standing_request(clause)
    if clause.word(0) == "in" and clause.word(2) in {"story", "film", "book", "novel", "tale", "dream", "play", "song"}:
        return None  # "In the story, a fox must choose …"
    if clause.words[-3:-2] == [","] and clause.words[-1] in lex.REPORTING:
        return None  # "Everyone should have a hobby, he says"
    if clause.word(0) in {"but", "and", "never", "always"} and not after_rule and not _free_standing(clause):
        return None
    for at in _beginnings(clause):
        for family in FAMILIES:
            modality = family(clause, at)
            if modality:
                return modality
    return _embedded_you(clause) or _later_modal(clause) or _later_condition(clause)


FAMILIES = (
    imperative,
    addressed,
    your_part,
    wanted,
    impersonal,
    inverted,
    we_always,
    there_must,
    called_out,
    assistant_habit,
    subjectless,
    required,
    from_now_on,
)


def explicit_modality_of(clause: Clause) -> Modality | None:
    """The families allowed in headings, tables and glosses."""
    if clause.question or _asks(clause):
        return None
    if set(clause.words[:12]) & {"must", "never", "always", "not", "forbidden", "mandatory", "prohibited"}:
        return explicit_imperative(clause, 0) or addressed(clause, 0) or required(clause, 0)
    return None


def _free_standing(clause: Clause) -> bool:
    return clause.word(0) in {"never", "always"} or could_be_verb(clause, 1)


def _asks(clause: Clause) -> bool:
    """A question by its word order: "should you …", "what must I …"."""
    first, second = clause.word(0), clause.word(1)
    subject = second in lex.SUBJECT_PRONOUNS or second in lex.DETERMINERS
    if first in lex.AUXILIARIES - {"do", "have"}:
        return subject and "," not in clause.words[:30]
    if first in {"do", "have"}:
        return second in lex.SUBJECT_PRONOUNS - {"it", "this", "that", "these", "those", "one"}
    return (first in lex.WH_WORDS and second in lex.AUXILIARIES and clause.word(2) not in {"not"}) or first == "why"


def _tagged(clause: Clause) -> Modality | None:
    """ "Use double quotes, ok?": an order with a tag behind its last comma."""
    words = clause.words
    if words and words[-1] in {"ok", "okay", "please"} and words[-2:-1] != [","]:
        return imperative(Clause(words[:-1], clause.shapes[:-1], ended=True, question=False), 0)
    if "," not in words[-6:]:
        return None
    comma = len(words) - 1 - words[::-1].index(",")
    if comma == 0 or clause.word(comma + 1) not in lex.TAGS:
        return None
    head = Clause(words[:comma], clause.shapes[:comma], ended=True, question=False)
    return None if _asks(head) else imperative(head, next(_beginnings(head)))


def _beginnings(clause: Clause) -> Iterator[int]:
    """Where the main clause may begin: at the start, after leading adverbs, after a fronted phrase."""
    at = 0
    while _leads(clause, at):
        at += 2 if clause.word(at + 1) == "," else 1
    yield at
    for attention in ATTENTION:
        if clause.words[at : at + len(attention)] == attention:
            at += len(attention)
            yield at
    if clause.words[at : at + 2] in (["next", "time"], ["this", "time"], ["every", "time"], ["each", "time"]):
        yield at + 2
    if clause.word(at) == "always" and clause.word(at + 1) in lex.DETERMINERS:
        return  # "Always the same trouble, sigh."
    if clause.word(at) in lex.OPENERS or clause.word(at).endswith("ing") or phrase_at(STANDING, clause.words, at):
        yield from _after_fronted(clause, at)


def _leads(clause: Clause, at: int) -> bool:
    """An adverb, an interjection or a name before the main clause: "Also …", "OK, …", "Claude, …"."""
    word = clause.word(at)
    following = clause.word(at + 1)
    if word in lex.VOCATIVES:
        return following in {",", "please"}
    if (word, following) in {("next", "time"), ("so", "that")}:
        return False
    return word in lex.LEADERS and not is_talk(clause.words, at)


def _after_fronted(clause: Clause, at: int) -> Iterator[int]:
    """The words after the commas of "If X, Y, do Z", after "then", or at "just", "always" and "never"."""
    tried = 0
    unbroken = "," not in clause.words
    for index in range(at + 1, len(clause.words)):
        word = clause.word(index)
        if word in {",", "then", ":"}:
            begin = index + 1
            while _leads(clause, begin):
                begin += 1
            yield begin
        elif _you_must(clause, index) or _follows_name(clause, index):  # noqa: SIM114
            yield index
        elif unbroken and index - at < UNBROKEN_WORDS and _answers_condition(clause, index, at):
            yield index
        elif _resumes(clause, index, at):
            yield index + 1 if word in {"just", "please"} else index
        else:
            continue
        tried += 1
        if tried >= COMMAS_TRIED:
            return


def _you_must(clause: Clause, index: int) -> bool:
    """ "For releases you must …": the subject of the main clause without a comma before it."""
    if clause.word(index) != "you" or clause.word(index + 1) not in {"must", "should", "may", "shall"}:
        return False
    return clause.word(index - 1) not in lex.SUBORDINATORS and clause.word(index - 1) not in lex.PREPOSITIONS


def _follows_name(clause: Clause, index: int) -> bool:
    """ "whenever I say "brief" give me three lines": an order right behind a quotation or code."""
    return clause.word(index - 1) in {QUOTE, CODE} and clause.word(index) in VERBS and is_order(clause, index)


def _answers_condition(clause: Clause, index: int, at: int) -> bool:
    """ "if Anna calls tell her I'm out", "at night use dark mode": an order behind a phrase without its comma."""
    before, word, after = clause.word(index - 1), clause.word(index), clause.word(index + 1)
    if index < at + 2 or (word not in VERBS - NOUN_VERBS and word not in MOSTLY_VERBS):
        return False
    if before in NO_ORDER_AFTER or after in lex.FINITE or after in BREAKS - {""}:
        return False
    said = clause.words[at + 1 : index]
    spoken = any(part in lex.SUBJECT_PRONOUNS or part in lex.FINITE or _is_verb_in_s(part) for part in said[:-1])
    third = before.endswith("s") and (before[:-1] in VERBS or (spoken and before[:-1] in NOUN_VERBS))
    if clause.word(at) in TRIGGERS:
        return third or (spoken and not before.endswith("s"))
    return clause.word(at) in SCENES and clause.shape(0).islower() and not spoken and len(said) <= 3 and not third


def _is_verb_in_s(word: str) -> bool:
    return word.endswith("s") and (word[:-1] in VERBS or word[:-1] in NOUN_VERBS)


def _resumes(clause: Clause, index: int, at: int) -> bool:
    """ "When writing tests always use …", "if it fails just restart …": the order needs no comma."""
    word, before = clause.word(index), clause.word(index - 1)
    negated = word == "do" and clause.word(index + 1) == "not"
    if not negated and word not in {"just", "please", "always", "never"}:
        return False
    if before in lex.SUBJECT_PRONOUNS or before in {"to", "and"} or not could_be_verb(clause, index + 1 + negated):
        return False
    between = set(clause.words[at:index])
    if clause.word(at) in TRIGGERS and before not in lex.FINITE and not before.endswith("s"):
        return True
    bare = clause.word(at) in SCENES and not between & (lex.FINITE | lex.SUBJECT_PRONOUNS | lex.PAST | {"do"})
    return word in {"just", "please"} or bare


def _embedded_you(clause: Clause) -> Modality | None:
    """ "The API is slow, so you must …", "This means you should never …" """
    words = clause.words
    for index in range(2, min(len(words), 60)):
        if words[index] != "you" or not _opens_main_clause(words, index):
            continue
        told = any(
            word in lex.REPORTING or word in lex.PAST or word in {"i", "we", "he", "she"} for word in words[:index]
        )
        modal = words[index + 1 : index + 2]
        if (
            not told
            and QUOTE not in words[:1]
            and modal
            and modal[0] in {"must", "should", "need", "have", "are", "may"}
        ):
            return (
                None
                if words[0] in {"if", "when", "how", "what"} and "," not in words[:index]
                else addressed(clause, index)
            )
    return None


def _later_modal(clause: Clause) -> Modality | None:
    """ "The file is generated and must not be committed", "…, but the change must be announced"."""
    words = clause.words
    for index in range(2, min(len(words) - 1, 80)):
        if words[index] not in {"must", "should", "shall"} or clause.word(index + 1) not in {
            "not",
            "never",
            "always",
            "be",
        }:
            continue
        begin = _clause_start(words, index)
        if begin is None or not acceptable_subject(words[:begin]) or {"they", "it", "you"} & set(words[begin:index]):
            return None
        subject = Clause([*words[: begin - 1][:3], *words[index:]], [], clause.ended, clause.question)
        return required(clause, begin) if begin < index else required(subject, 0)
    return None


def _later_condition(clause: Clause) -> Modality | None:
    """ "Memory is short, so if you want to keep a thing, write it down." """
    words = clause.words
    for index in range(2, min(len(words) - 2, 60)):
        if words[index - 1] == "," and words[index] in {"so", "but"} and words[index + 1] in TRIGGERS:
            rest = Clause(words[index + 1 :], clause.shapes[index + 1 :], clause.ended, clause.question)
            return next((found for at in _after_fronted(rest, 0) if (found := imperative(rest, at))), None)
    return None


def _clause_start(words: list[str], modal: int) -> int | None:
    """Where the coordinated clause with this modal begins: right after "and", "but" or "so", or at the modal itself."""
    for index in range(modal - 1, max(modal - 8, 0), -1):
        if words[index] in {"and", "but", "so"} and (words[index - 1] == "," or index == modal - 1):
            return index + 1
        if words[index] in lex.SUBORDINATORS or words[index] == ",":
            return None
    return None


def _opens_main_clause(words: list[str], index: int) -> bool:
    before = words[index - 1]
    if before in {",", "so", "but", "therefore", "means", "mean"}:
        return True
    return before == "and" or (before == "that" and words[index - 2] in {"means", "note", "sure", "mind", "remember"})
