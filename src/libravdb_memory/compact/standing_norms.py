"""Rules that are told as if they were facts: "Invoices go out on the first", "Titles in sentence case".

A sentence is read as subject, predicate and rest. It states a norm when its subject is a kind of thing rather than one
thing, and its predicate says how such things are to be, and nothing in it tells of a moment or of trouble:

    kinds       bare plurals and substances · anything, every … · what is mine or ours · with more reserve, "the …"
    predicates  demands · what is done to them ("are shown without VAT") · where they belong ("go to stderr") · how
                they are ("are in euros", and of things that one makes "are singular") · never, always, only

The words of each group are tables below. Law: pure, linear; a plain English sentence (see `standing_signs`) is read.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from libravdb_memory.compact.standing_nouns import is_ruled
from libravdb_memory.compact.standing_signs import CODE, DEFINITE, QUOTE

Kind: TypeAlias = Literal["things", "substance", "any", "own", "the"]

_LONGEST_SUBJECT, _LONGEST_FRAGMENT = 9, 12
_WORD = re.compile(rf"[a-z0-9](?:[\w'./-]*\w)?|[{QUOTE}]{{2}}|{CODE}|[,;:]")
_JOINED = re.compile(r"\b(have|has) to (?=\w)|\b(off) (?=limits\b)")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_PREPOSITIONS = _set(
    "in on at as by with without within for from to into onto under over above below between before after until "
    "through via per of against behind beside outside inside instead than like around out about only off every"
)
_NO_KIND = _set(
    "a an this that these those some it its it's he she they we you i him her them his their your there here what "
    "which who whose why how where when if while because so then and but or not yes two three four five six seven "
    "eight nine ten one both half most many few several another more less thanks always never sometimes perhaps maybe "
    "let's please was is as us has does sounds looks seems works makes in on at by for with after before from to of "
    "don't do can could would will did i'm i've i'd i'll you're you've we're we've he's she's they're that's there's "
    "what's no nothing nobody name search far time skip stop give get keep"
)
_NO_SUBJECT = _NO_KIND - _PREPOSITIONS - _set("a an")
_ANY = _set("anything everything all every each any whoever anyone everyone whatever")
_OWN = _set("my our")

_DEMANDS = _set("must mustn't should shouldn't shall need needs require requires cannot can't have-to has-to may can")
_BE = _set("are is aren't isn't")
_BELONG = _set(
    "go goes live lives stay stays belong belongs come comes start starts end ends begin begins follow follows count "
    "counts happen happens get gets serve serves carry carries run runs show shows skip skips explain explains use "
    "uses have has contain contains default defaults keep keeps take takes don't doesn't mean means decide decides "
    "fix fixes read reads link links expire expires point points forbid forbids refer refers list lists open opens "
    "owns approves handles reviews signs close closes describe describes wait waits respect respects support supports "
    "speak speaks say says"
)
_OFTEN = _set("always never only")
_SINGULAR = frozenset(w for w in _BE | _BELONG | _DEMANDS if w.endswith("s")) | _set("isn't doesn't has-to")
_PREDICATES = _DEMANDS | _BE | _BELONG | _OFTEN
_TRANSITIVE = _set(
    "follow follows serve serves carry carries show shows skip skips explain explains use uses have has contain "
    "contains keep keeps take takes mean means decide decides fix fixes read reads link links forbid forbids list "
    "lists "
    "describe describes respect respects support supports speak speaks say says"
)
_NOT_DONE = _set(
    "leave go get belong count need ship enter touch contain use carry appear show exceed start end mention"
)
_GIVEN = _set("no some trouble problems up time long ages forever it him her to more less twenty been so errors")
_OF_THE_WORLD = _set("run live come happen begin")
_IN_CHARGE = _set("decides owns approves handles reviews signs")
_HOW = _set("stay stays start starts end ends")

_FIXED = _set(
    "mandatory forbidden banned prohibited taboo required obligatory compulsory allowed permitted optional welcome "
    "off-limits confidential private sacred spelled spelt pronounced unacceptable read-only fixed binding "
    "protected reserved non-negotiable a-must due"
)
"""What only a rule says of a thing."""
_STATE = _set(
    "broken missing green red down up slow wrong fine ok okay good great bad nice late early ready done here there "
    "back full empty outdated old new gone stuck ill sick tired asleep open closed out off away online offline dead "
    "weird strange boring fun cheap expensive free busy available identical different similar enough correct right "
    "true false attached installed finished flaky still already now just mostly so too very really almost quite "
    "delayed broke pretty also currently probably usually often sometimes mutable immutable faster slower better worse "
    "big small large high low long short hard easy important useful useless deprecated included"
)
_TROUBLE = re.compile(
    r"\b(?:fail(?:s|ing|ed)?|crash\w*|hang(?:s|ing)?|time(?:s|d)? ?out|error(?:s|ed)? (?:when|since|after|on)|an error"
    r"|loads?|works?|responds?|responded|complain\w*|since|late|slow\w*|stuck|fires?|again|went|was|were|had|did|didn't"
    r"|has been|have been|i'm|i was|will|won't|he|she|they|him|her|what now|right|so far|last (?:night|week|month|year)"
    r"|all the time|seems?|used to|yesterday|forgets?|hours? a day|sea level|my (?:machine|phone|laptop|screen|mind)"
    r"|i (?:think|guess|believe|suppose)|looks?|returned|still|currently|nearly|somewhere|somehow|apparently)\b|\?|#\d"
)
"""A sentence with these tells of what happened, not of what is to be."""
_POINTING = re.compile(
    r"\b(?:this|these|those|here|there)\b(?! (?:repo|repository|project|codebase|house|team|office|family|company|"
    r"shop))"
    r"|\bthat\b(?! (?:way|is|are|need|have|do|don't|can)\b)"
)
_IDENTIFIER = re.compile(r"\w[._/]\w|\d|[-\w]*_[-\w]*")
_PARTICIPLE = re.compile(
    r"(?:[a-z-]{2,16}ed|(?:re|un|over)?(?:held|kept|written|shown|paid|given|sent|told|made|done|built|run|put|set|"
    r"split|cut|taken|drawn|left|read|spoken|chosen|bought|sold|hidden|frozen|stored|begun|sung|worn|met|dealt|meant|"
    r"driven|eaten|drunk|thrown|grown|known|found|brought|wound|bound|sewn|laid|led|lit|fed|spelt))"
)
_NUMBERS = _set("one two three four five six seven eight nine ten eleven twelve")
_PAST = _set("got went ate saw came had found made did")
_TOLD_ITS_WAYS = _set("narrator hero heroine protagonist mascot bot brand garage thermostat")
_FRAGMENT = re.compile(
    r"(?:in|without|with|over|under|below|above|before|after|instead of|as|at|per|by|no longer than|no more than|"
    r"at most|only|first|each|on|off|of [a-z]{2,14} in)\b"
)
_MORE_OF = re.compile(
    r"(?:less|fewer|shorter|simpler|more) [a-z-]{2,20}(?: [a-z-]{2,20})?, (?:more|fewer|less|no|please,? in)\b"
    r"|(?:less|fewer|shorter|simpler|more) [a-z -]{2,30} than [a-z]"
    r"|(?:short|brief|long|plain|simple|direct|honest|concise|complete|full|detailed) [a-z-]{3,16}s,? (?:please|pls|"
    r"thanks|only)"
    r"|(?:just|only) (?:the )?(?:facts|code|answers?|essentials|basics|results?),? (?:please|pls|no)\b"
)
_NOT_BEFORE = re.compile(
    r"(?:nothing|no [a-z-]{2,20}) (?:before|after|over|under|above|below|past|on|between) (?!the\b)"
)
_PRONOUNS = _set("i you he she it they we me him her them is are was were look looks died leave leaves")


def states_norm(said: str, whole: bool = True) -> bool:
    """Whether a plain sentence tells how a kind of thing is to be; of a part of a sentence more is asked."""
    if _TROUBLE.search(said) or _POINTING.search(said):
        return False
    if _MORE_OF.match(said) or _NOT_BEFORE.match(said):
        return True
    words = _WORD.findall(_JOINED.sub(lambda found: found.group().strip().replace(" ", "-") + " ", said))
    place = _predicate_at(words)
    if place is None:
        return whole and (_fragment_is_norm(words, said) or _do_so(words))
    kind = _kind(words[:place])
    return kind is not None and _is_norm(kind, words[:place], words[place], words[place + 1 :])


def _predicate_at(words: list[str]) -> int | None:
    for place, word in enumerate(words[1 : _LONGEST_SUBJECT + 1], 1):
        if word in _PREDICATES and not (word == "only" and place + 1 == len(words)):
            return place
    return None


def _do_so(words: list[str]) -> bool:
    """Things that one makes, with a verb of no table: "Endpoints return JSON"."""
    if len(words) < 3:
        return False
    place = 1 if is_ruled(words[0]) and _is_plural(words[0]) else 2
    if (
        len(words) < place + 2
        or not (_is_plural(words[place - 1]) and is_ruled(words[place - 1]))
        or words[0] in _NO_KIND
    ):
        return False
    verb, rest = words[place], words[place + 1 :]
    done = _PARTICIPLE.fullmatch(verb) or verb in _PAST or verb in _PREPOSITIONS or verb in _NO_KIND or verb in _STATE
    odd = (
        done
        or verb.endswith(("ing", "ly", "s"))
        or not verb.isalpha()
        or verb in ("pile", "appear", "add", "look", "died")
    )
    return not odd and rest[0] not in _GIVEN | _set("the a an") and not any(map(_IDENTIFIER.search, rest))


def _kind(subject: list[str]) -> Kind | None:
    """What sort of subject this is; None for one thing, for a person, and for what is no subject."""
    first = subject[0]
    if any(word in _NO_SUBJECT or word in ",;:" for word in subject[1:]) or _IDENTIFIER.search(_head(subject)):
        return None
    if first in _ANY:
        return None if subject[1:2] in (["of"], ["time"]) else "any"
    if first in _OWN:
        return "own" if len(subject) > 1 else None
    if first == "the":
        return "the"
    if first in _NO_KIND:
        return None
    if _is_plural(_head(subject)):
        return "things"
    return None if "the" in subject and not is_ruled(_head(subject)) else "substance"


def _head(subject: list[str]) -> str:
    for place, word in enumerate(subject):
        if place and word in _PREPOSITIONS:
            return subject[place - 1]
    return subject[-1]


def _is_plural(word: str) -> bool:
    return len(word) > 2 and word.endswith("s") and not word.endswith(("ss", "us", "is", "'s"))


# ── predicates ───────────────────────────────────────────────────────────────────────────────────────────────────


def _is_norm(kind: Kind, subject: list[str], predicate: str, rest: list[str]) -> bool:
    if not _agrees(kind, predicate):
        return False
    if not rest:
        return predicate in ("stay", "stays") and kind == "things" and is_ruled(_head(subject))
    if predicate in _DEMANDS:
        return _demands(kind, predicate, rest)
    if predicate in _OFTEN:
        past = rest[0].endswith("ed") or rest[0] in _PAST
        return rest[0] not in _STATE and not past and _acts_by_rule(kind, subject, predicate)
    if predicate in _BE:
        return _is_to_be(kind, subject, rest)
    return _belongs(kind, subject, predicate, rest)


def _agrees(kind: Kind, predicate: str) -> bool:
    """One substance does, many things do; a verb that disagrees belongs to something else."""
    if kind == "substance":
        return predicate in _SINGULAR or predicate in _DEMANDS - _set("need require have-to") or predicate in _OFTEN
    return kind != "things" or predicate not in _SINGULAR


def _acts_by_rule(kind: Kind, subject: list[str], predicate: str) -> bool:
    """Persons and machines do things always and never; that tells of their ways. What one makes is told its ways."""
    if kind in ("own", "the"):
        head = _head(subject)
        return is_ruled(head) or head in _TOLD_ITS_WAYS or (kind == "the" and predicate == "only")
    return kind == "things"


def _demands(kind: Kind, predicate: str, rest: list[str]) -> bool:
    if predicate in ("can't", "cannot"):
        return rest[0] in ("be", "have", "eat") and (kind in ("own", "things") or rest[0] == "be") and len(rest) > 1
    if predicate in ("may", "can"):
        return rest[0] in ("be", "not", "only") and (kind != "the" or {"any", "time"} <= set(rest))
    if (rest[0] == "be" and rest[1:2] and rest[1] in _STATE) or rest[0] == "have":
        return False
    if predicate in ("need", "needs", "requires", "require") and rest[0] in ("help", "more", "some", "your", "as"):
        return False
    return kind != "the" or rest[0] in ("never", "always", "not")


def _is_to_be(kind: Kind, subject: list[str], rest: list[str]) -> bool:
    if kind == "own" and (rest[-1] in ("only", "everywhere") or rest[0] in _NUMBERS or rest[:2] == ["closed", "in"]):
        return True
    often = rest[0] in _OFTEN or rest[0] == "not"
    if kind in ("things", "any") and _PARTICIPLE.fullmatch(rest[0]) and rest[1:2] == ["by"]:
        return True
    after = rest[1:] if often else rest
    if after and after[0] in ("fine", "ok", "okay", "good") and {"isn't", "aren't", "not"} & set(after):
        return True
    if not after or after[0] in _STATE or after[0].endswith("ing"):
        return False
    if after[0] in _FIXED or after[:2] in (["a", "no-go"], ["to", "be"], ["the", "binding"]):
        return True
    if _PARTICIPLE.fullmatch(after[0]):
        return often or _is_done_so(kind, subject, after)
    if kind == "the":
        return after[0] == "for" and len(after) == 2
    if after[0] in _PREPOSITIONS:
        if len(after) == 1 or after[1:3] in (["the", "first"], ["the", "third"]):
            return False
        ruled = kind != "substance" or is_ruled(_head(subject))
        return ruled and (kind == "things" or is_ruled(_head(subject))) and not DEFINITE.search(" ".join(after))
    return often or _is_chosen(kind, subject, after)


def _is_done_so(kind: Kind, subject: list[str], after: list[str]) -> bool:
    """What is done to a thing, told with its manner; of things that one makes the manner may be missing."""
    told_how = any(word in _PREPOSITIONS or word == "not" or word.endswith("ly") for word in after[1:])
    if kind == "the":
        return told_how and after[1] in ("for", "in", "as", "without", "by")
    return told_how or (kind in ("things", "any") and is_ruled(_head(subject)) and len(subject) > 1)


def _is_chosen(kind: Kind, subject: list[str], after: list[str]) -> bool:
    """How a thing is that one makes: somebody chose that it is so."""
    contrasts = "not" in after or "never" in after or after[-1] in ("tops", "max", "most")
    if kind == "own":
        return contrasts or (
            len(after) == 1 and len(subject) > 2 and _is_plural(_head(subject)) and is_ruled(_head(subject))
        )
    if kind == "any":
        return contrasts
    made = is_ruled(_head(subject)) and after[0] != "the"
    return made and (kind == "things" or contrasts or after[0].isdigit() or after[0] in _NUMBERS)


def _belongs(kind: Kind, subject: list[str], predicate: str, rest: list[str]) -> bool:
    ruled = is_ruled(_head(subject))
    if predicate in ("don't", "doesn't"):
        told = len(rest) > 1 and rest[1] not in _GIVEN and (kind != "own" or "the" not in rest)
        return told and (rest[0] in _NOT_DONE if kind != "things" else is_ruled(_head(subject)) or rest[0] in _NOT_DONE)
    if kind == "the":
        stays = predicate in ("stays", "stay") and rest[0] not in _STATE
        return rest[-2:] in (["for", "us"], ["for", "me"]) or (predicate in _IN_CHARGE and len(rest) > 1) or stays
    if rest[0].endswith("ing") or (kind == "substance" and (not ruled or any(map(_IDENTIFIER.search, rest)))):
        return False
    if predicate in ("get", "gets"):
        return kind != "own" and rest[0] not in _GIVEN and rest[0] not in _STATE
    if predicate in _TRANSITIVE:
        if rest[0] in _GIVEN or any(re.search(r"\w[._/]\w", word) for word in rest):
            return False
        return kind == "any" or (ruled and kind in ("things", "own")) or predicate in ("forbids", "means")
    if not ruled and kind == "things" and (predicate in _OF_THE_WORLD or DEFINITE.search(" ".join(rest))):
        return False
    return rest[0] in _PREPOSITIONS or rest[0] in _OFTEN or kind == "any" or predicate in _HOW


# ── without a verb ───────────────────────────────────────────────────────────────────────────────────────────────


def _fragment_is_norm(words: list[str], said: str) -> bool:
    """A kind of thing and how it is to be, with no verb between."""
    told = [word for word in words if word not in ("please", ",", "pls")]
    if told and told[0] in ("one", "two", "three", "four"):
        told = told[1:]
    if not 2 < len(told) <= _LONGEST_FRAGMENT or told[0] in _NO_KIND or _IDENTIFIER.search(told[0]):
        return False
    if any(word in _PRONOUNS or word in _NO_SUBJECT - _SMALL or _PARTICIPLE.fullmatch(word) for word in told):
        return False
    if ":" in told[1:3]:
        return is_ruled(told[told.index(":") - 1]) and _is_plural(told[told.index(":") - 1])
    opening = told[: next((place for place, word in enumerate(told) if word in _PREPOSITIONS), 3)][:3]
    if opening == ["all"]:
        return False
    if opening and opening[0] in ("everything", "all"):
        return _FRAGMENT.match(" ".join(told[len(opening) :])) is not None
    if not opening or not _is_plural(opening[-1]) or "the" in opening or any(map(_IDENTIFIER.search, opening)):
        return False
    definite = DEFINITE.search(said) and "in the house" not in said
    return not definite and _FRAGMENT.match(" ".join(told[len(opening) :])) is not None


_SMALL = _set("more less two three one four five")
