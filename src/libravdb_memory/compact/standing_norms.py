"""Rules that are told as if they were facts: "Invoices go out on the first", "Titles in sentence case".

A sentence is read as subject, predicate and rest. It states a norm when its subject is a kind of thing rather than one
thing, and its predicate says how such things are to be, and nothing in it tells of a moment or of trouble:

    kinds       bare plurals and substances · anything, every … · what is mine or ours · with more reserve, "the …"
    predicates  demands · what is done to them ("are shown without VAT") · where they belong ("go to stderr") · how
                they are ("are in euros", and for things that one makes "are singular") · never, always, only

The words of each group are tables below. Law: pure, linear; a plain English sentence (see `standing_signs`) is read.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from libravdb_memory.compact.standing_signs import CODE, DEFINITE, QUOTE

Kind: TypeAlias = Literal["things", "substance", "any", "own", "the"]

_LONGEST_SUBJECT, _LONGEST_FRAGMENT = 9, 12
_WORD = re.compile(rf"[a-z0-9](?:[\w'./-]*\w)?|[{QUOTE}]{{2}}|{CODE}|[,;:]")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_PREPOSITIONS = _set(
    "in on at as by with without within for from to into onto under over above below between before after until "
    "through via per of against behind beside outside inside instead than like around out about only"
)
_NO_KIND = _set(
    "a an this that these those some it its it's he she they we you i him her them his their your there here what "
    "which who whose why how where when if while because so then and but or not yes two three four five six seven "
    "eight nine ten one both half most many few several another more less thanks always never sometimes perhaps maybe "
    "let's please was is as us has does sounds looks seems works makes in on at by for with after before from to of don't "
    "do can could would will did i'm i've i'd i'll you're you've we're we've he's she's they're that's there's what's no nothing "
    "nobody name search far time skip stop give get"
)
_NO_SUBJECT = _NO_KIND - _PREPOSITIONS - _set("a an")
_ANY = _set("anything everything all every each any whoever anyone everyone whatever")
_OWN = _set("my our")

_DEMANDS = _set("must mustn't should shouldn't shall need needs require requires cannot have-to has-to may can")
_BE = _set("are is aren't isn't")
_BELONG = _set(
    "go goes live lives stay stays belong belongs come comes start starts end ends begin begins follow follows count "
    "counts happen happens get gets serve serves carry carries run runs show shows skip skips explain explains use "
    "uses have has contain contains default defaults keep keeps take takes don't doesn't mean means decide decides "
    "fix fixes"
)
_OFTEN = _set("always never only")
_SINGULAR = frozenset(word for word in _BE | _BELONG | _DEMANDS if word.endswith("s")) | _set("isn't doesn't has-to")
_PREDICATES = _DEMANDS | _BE | _BELONG | _OFTEN

_FIXED = _set(
    "mandatory forbidden banned prohibited taboo required obligatory compulsory allowed permitted optional welcome "
    "off-limits confidential private sacred fine-by-me spelled spelt pronounced unacceptable"
)
"""What only a rule says of a thing."""
_MADE = re.compile(
    r"(?:\w*(?:name|title|heading|date|time|id|key|commit|pr|test|log|doc|slide|table|column|chart|graph|price|amount|"
    r"estimate|invoice|report|answer|repl(?:y|ie)|response|summar(?:y|ie)|e?-?mail|message|comment|example|review|note|"
    r"postmortem|release|branch|migration|image|label|button|link|path|file|url|unit|number|figure|quote|reference|"
    r"recipe|workout|meeting|presentation|document|paragraph|sentence|variable|function|class|module|endpoint|error|"
    r"deadline|entr(?:y|ie)|ticket|version|translation|caption|signature|password|token|measurement|currenc(?:y|ie)))"
    r"(?:s|es)?"
)
"""Things that one makes or handles in work, whose manner is chosen."""
_TOLD_ITS_WAYS = _set("narrator hero heroine protagonist character voice text story brand logo product interface tone mascot bot")
_STATE = _set(
    "broken missing green red down up slow wrong fine ok okay good great bad nice late early ready done here there "
    "back full empty outdated old new gone stuck ill sick tired asleep open closed out off away online offline dead "
    "weird strange boring fun cheap expensive free busy available identical different similar enough correct right "
    "true false attached installed finished flaky still already now just mostly so too very really almost quite "
    "delayed broke pretty also currently probably usually often sometimes mutable immutable faster slower better worse"
)
_TROUBLE = re.compile(
    r"\b(?:fail(?:s|ing|ed)?|crash\w*|hang(?:s|ing)?|time(?:s|d)? ?out|timeouts?|error(?:s|ed)? (?:when|since|after|"
    r"on)|an error|loads?|works?|respond(?:s|ed)?|complain\w*|since|late|slow\w*|stuck|fires?|again|went|was|were|had|"
    r"did|didn't|has been|have been|i'm|i was|will|won't|he|she|they|him|her|what now|right|so far|all the time|seems?|used to|last (?:night|week|"
    r"month|year)|yesterday|forgets?|hours? a day|sea level|my (?:machine|phone|laptop|screen|mind))\b|\?"
)
"""A sentence with these tells of what happened, not of what is to be."""
_POINTING = re.compile(
    r"\b(?:this|these|those|here|there)\b(?! (?:repo|repository|project|codebase|house|team|office|family|company|shop))"
    r"|\bthat\b(?! (?:way|is|are|need|have|do|don't|can)\b)"
)
_PARTICIPLE = re.compile(
    r"(?:[a-z-]{2,16}ed|(?:re|un|over)?(?:held|kept|written|shown|paid|given|sent|told|made|done|built|run|put|set|"
    r"split|cut|taken|drawn|left|read|spoken|chosen|bought|sold|hidden|frozen|stored|begun|sung|worn|met|dealt|meant|"
    r"driven|eaten|drunk|thrown|grown|known|found|brought|wound|bound|sewn|laid|led|lit|fed|spelt))"
)
_FRAGMENT = re.compile(
    r"\b(?:in|without|with|over|under|below|above|before|after|instead of|as|at|per|by|no longer than|no more than|"
    r"at most|only|first|each|on)\b"
)
_MORE_OF = re.compile(
    r"(?:less|fewer|shorter|simpler|more) [a-z-]{2,20}(?: [a-z-]{2,20})?, (?:more|fewer|less|no|please,? in)\b"
    r"|(?:less|fewer|shorter|simpler|more) [a-z -]{2,30} than [a-z]"
)
_NOT_BEFORE = re.compile(r"(?:nothing|no [a-z-]{2,20}) (?:before|after|over|under|above|below|past|on|between) (?!the\b)")


def states_norm(said: str) -> bool:
    """Whether a plain sentence tells how a kind of thing is to be."""
    if _TROUBLE.search(said) or _POINTING.search(said):
        return False
    if _MORE_OF.match(said) or _NOT_BEFORE.match(said):
        return True
    words = _WORD.findall(said.replace("have to ", "have-to ").replace("has to ", "has-to ").replace("off limits", "off-limits"))
    place = _predicate_at(words)
    if place is None:
        return _fragment_is_norm(words, said)
    kind = _kind(words[:place])
    return kind is not None and _is_norm(kind, words[:place], words[place], words[place + 1 :])


def _predicate_at(words: list[str]) -> int | None:
    for place, word in enumerate(words[1 : _LONGEST_SUBJECT + 1], 1):
        if word in _PREDICATES and not (word == "only" and place + 1 == len(words)):
            return place
    return None


def _kind(subject: list[str]) -> Kind | None:
    """What sort of subject this is; None for one thing, for a person, and for what is no subject."""
    first = subject[0]
    if any(word in _NO_SUBJECT or word in ",;:" for word in subject[1:]) or subject[-1].isdigit():
        return None
    if first in _ANY:
        return None if subject[1:2] == ["of"] else "any"
    if first in _OWN:
        return "own" if len(subject) > 1 else None
    if first == "the":
        return "the"
    if first in _NO_KIND:
        return None
    if _is_plural(_head(subject)):
        return "things"
    return None if "the" in subject else "substance"


def _head(subject: list[str]) -> str:
    for place, word in enumerate(subject):
        if place and word in _PREPOSITIONS:
            return subject[place - 1]
    return subject[-1]


def _is_plural(word: str) -> bool:
    return len(word) > 2 and word.endswith("s") and not word.endswith(("ss", "us", "is", "'s"))


def _is_norm(kind: Kind, subject: list[str], predicate: str, rest: list[str]) -> bool:
    if not rest or not _agrees(kind, predicate):
        return False
    if predicate in _DEMANDS:
        return _demands(kind, predicate, rest)
    if predicate in _OFTEN:
        return rest[0] not in _STATE and not _is_past(rest[0]) and _acts_by_rule(kind, subject, predicate)
    if predicate in _BE:
        return _is_to_be(kind, subject, rest)
    return _belongs(kind, predicate, rest)


def _agrees(kind: Kind, predicate: str) -> bool:
    """One substance does, many things do; a verb that disagrees belongs to something else."""
    if kind == "substance":
        return predicate in _SINGULAR or predicate in _DEMANDS - _set("need require have-to") or predicate in _OFTEN
    return kind != "things" or predicate not in _SINGULAR


def _acts_by_rule(kind: Kind, subject: list[str], predicate: str) -> bool:
    """Persons and machines do things always and never; that tells of their ways. What one makes is told its ways."""
    if kind in ("own", "the"):
        head = _head(subject)
        return _MADE.fullmatch(head) is not None or head in _TOLD_ITS_WAYS or (kind == "the" and predicate == "only")
    return kind == "things"


def _demands(kind: Kind, predicate: str, rest: list[str]) -> bool:
    if predicate in ("may", "can"):
        return rest[0] in ("be", "not", "only") and (kind != "the" or {"any", "time"} <= set(rest))
    if rest[0] == "be" and rest[1:2] and rest[1] in _STATE:
        return False
    if predicate in ("need", "needs") and rest[0] in ("to", "help", "more", "some", "your"):
        return rest[0] == "to" and kind != "the"
    return kind != "the" or rest[0] in ("never", "always", "not")


def _is_past(word: str) -> bool:
    return word.endswith("ed") or word in ("got", "went", "ate", "saw", "came", "had", "found", "made", "did", "got")


def _is_to_be(kind: Kind, subject: list[str], rest: list[str]) -> bool:
    often = rest[0] in _OFTEN or rest[0] == "not"
    after = rest[1:] if often else rest
    if not after or after[0] in _STATE or after[0].endswith("ing"):
        return False
    if after[0] in _FIXED or after[:2] in (["a", "no-go"], ["to", "be"]):
        return True
    if _PARTICIPLE.fullmatch(after[0]):
        told_how = any(word in _PREPOSITIONS or word == "not" for word in after[1:])
        return often or (told_how and (kind != "the" or after[1] in ("for", "in", "as", "without", "by")))
    if kind == "the":
        return False
    if after[0] in _PREPOSITIONS:
        return not DEFINITE.search(" ".join(after))
    return often or _is_chosen(kind, subject, after)


def _is_chosen(kind: Kind, subject: list[str], after: list[str]) -> bool:
    """How a thing is that one makes: somebody chose that it is so."""
    contrasts = "not" in after or "never" in after or after[-1] in ("tops", "max", "most")
    if kind in ("own", "any"):
        return contrasts
    return contrasts or (kind == "things" and _MADE.fullmatch(_head(subject)) is not None and after[0] != "the")


def _belongs(kind: Kind, predicate: str, rest: list[str]) -> bool:
    if predicate in ("don't", "doesn't"):
        return kind in ("things", "substance", "any") and len(rest) > 1 and rest[0] in _NOT_DONE
    if kind == "the":
        return rest[-2:] in (["for", "us"], ["for", "me"]) or (predicate == "decides" and len(rest) > 1)
    if predicate in ("get", "gets") and kind != "own":
        return not rest[0].endswith("ing") and rest[0] not in _STATE
    if predicate in _TRANSITIVE:
        return kind in ("things", "any") and rest[0] not in _GIVEN
    return (rest[0] in _PREPOSITIONS or rest[0] in _OFTEN or kind == "any" or predicate in _HOW) and rest[0] != "up"


_NOT_DONE = _set("leave go get belong count need ship enter touch contain use carry appear show exceed start end mention")
_TRANSITIVE = _set(
    "follow follows serve serves carry carries show shows skip skips explain explains use uses have has contain "
    "contains keep keeps take takes mean means decide decides fix fixes"
)
_GIVEN = _set("the a an no some trouble problems up time long ages forever it him her to more less twenty two three")
_HOW = _set("stay stays start starts end ends")


def _fragment_is_norm(words: list[str], said: str) -> bool:
    """A kind of thing and how it is to be, with no verb between."""
    if not 2 < len(words) <= _LONGEST_FRAGMENT or DEFINITE.search(said) or words[0] in _NO_KIND:
        return False
    told = [word for word in words if word not in ("please", ",", "pls")]
    if ":" in told[1:3]:
        return _is_plural(told[0]) or _is_plural(told[1])
    opening = told[: next((place for place, word in enumerate(told) if word in _PREPOSITIONS), 3)][:3]
    plural = next((place for place, word in enumerate(opening) if _is_plural(word)), None)
    if plural is None or any(word.isdigit() for word in told[:2]) or len(told) < plural + 2:
        return False
    if any(word in _PRONOUNS or word in _NO_SUBJECT - _set("more less two three one") or _PARTICIPLE.fullmatch(word) for word in told):
        return False
    return _FRAGMENT.match(" ".join(told[plural + 1 :])) is not None


_PRONOUNS = _set("i you he she it they we me him her them us is are was were look looks died")
