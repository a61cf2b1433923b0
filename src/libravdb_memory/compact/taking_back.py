"""Which sentences of a user take back a rule that was given before.

"Always use tabs." … "Forget the tabs thing, spaces are fine." The second states no rule, and without it the first would
be shown for ever. So a sentence with a sign of change (see `changes`), or one that allows again what was asked for, is
kept too when it speaks of what a kept rule speaks of: by its words where it shares half of those of either that tell
something; where it shares fewer, a model may say that both mean the same.

    tell nothing   words that go with any matter: use, keep, thing, rule
    tell little    what many rules are about (answer, file), and what more than `RARE` of them name: one such word is
                   not enough, unless the rule has no other
    tell the same  what stands for the other of its kind: German for English, short for long
    weak signs     "actually, let's use …", "you can … now": two words in common, or all that the rule has
    begins now     "from now on …": another rule beside those there are, or the same again; one that was given before
                   is taken back only by its contrary (see `contrary`)

Laws: pure, deterministic, linear in the text for a bounded number of rules. A question takes nothing back, nor does
what is not to be forgotten.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from libravdb_memory.compact.changes import changes, topics
from libravdb_memory.compact.salience import content_words, words
from libravdb_memory.compact.sentences import Span, sentence_spans
from libravdb_memory.compact.standing import CHARACTERS_READ

Sign: TypeAlias = Literal["freed", "changed", "weak", "begun"]
"""What was forbidden or asked for is left free; something changed; perhaps one of these; something begins to hold."""

ENOUGH = 0.5
"""Of the words that tell something, in the sentence or in the rule, whichever has fewer."""
SAME_MEANING = 0.5
"""Cosine from which a sentence and a rule that share a word are about the same."""
RARE = 3
"""Rules that may name a word which tells alone what they are about."""
_NOT_ENOUGH = 0.25
"""The share of a word that tells little."""

_FINE = r"(?:fine|ok|okay|alright|allowed|permitted|welcome|possible|good)"
_AGAIN = r"(?:again|after all|from (?:now|today|here)(?: on)?|too|as well)"
_WITHIN = r"[^.!?;]{1,80}?"
_SIGN = re.compile(
    rf"\bany longer\b|\b{_FINE},? (?:for (?:me|us),? |with (?:me|us),? |by (?:me|us),? )?{_AGAIN}\b"
    r"|\b(?:allowed|permitted|welcome) (?:now|(?:with|for) immediate effect)\b|\bnow (?:allowed|permitted|welcome)\b"
    rf"|\b(?:{_FINE}|free)(?= to \w{_WITHIN} (?:again|now|after all)\b)"
    r"|\b(?:ignore|disregard)\b(?= (?:the|that|my|our|what|all)\b)|\bforget(?= (?!to\b|how\b|why\b|me\b|you\b)\w)"
    rf"|\b(?:you|one) (?:can|may|could)(?={_WITHIN} (?:again|after all)\b)"
    r"|(?:\b(?:you|we) (?:can|may|could)|\b(?:please|just|let's)|^)\W{0,3}(?:now )?stop(?= \w{2,14}ing\b)"
    r"|\bno need (?:for|to)\b|\b(?:rule|ban|requirement|restriction|convention)s? (?:is|are) (?:off|lifted|gone|void)\b"
    r"|\b(?:go|going|went) back to\b"
    rf"|\bi (?:can |do )?(?=(?:eat|drink|work|speak|drive|smoke|wear){_WITHIN} again\b)"
    r"|\bi(?:'m| am) (?!(?:stuck|lost|here|back|in|at|on|sorry|confused|\w{1,14}ing)\b)(?=[\w -]{2,30} again\b)"
    r"|^(?!.*\b(?:was|were|did|had|has|have)\b).*\bafter all\b"
    r"|\b(?:wieder (?:erlaubt|okay?|in ordnung|gern|möglich)|vergiss|ignoriere?|musst (?:du )?nicht|darfst wieder)\b"
    r"|\b(?:à nouveau|de nouveau) (?:permis|autorisée?s?|possible)|\b(?:oublie|ignore) (?:la|le|les|l'|ce|cette)\b"
    r"|\b(?:otra vez|de nuevo) (?:permitid[oa]s?|está bien)|\b(?:olvida|ignora) (?:la|el|los|las|lo|eso|esa|ese)\b",
    re.I,
)
"""Signs by which something is allowed again or no longer asked for; of no use for what else was said."""
_WEAK = re.compile(
    r"\b(?:actually|on reflection|thinking about it)\b[, ]{1,2}(?:(?:please|let's|let us|i'd(?: rather)?|we) ){0,2}"
    r"(?:use|go (?:with|back)|prefer|have|write|call|answer|reply|keep|make it|stick (?:to|with)|do)\b"
    rf"|\b(?:you|we) (?:can|may)(?={_WITHIN} now\b)|\b{_FINE} now\b|\bnow {_FINE}\b",
    re.I,
)
_REPAIRED = re.compile(
    r"\b(?:(?:the|this|that|our) (?:[\w-]{1,20} ){1,3}|it |everything |all )(?:is|are|looks?) (?:\w{1,12} )?"
    r"(?:fine|ok|okay|good|alright) (?:again|now)\b|\bit's (?:fine|ok|okay|good) (?:again|now)(?! to\b)\b"
    r"|\b(?:hope|glad|thank \w{2,5}) [^.!?;]{0,60}\bagain\b",
    re.I,
)
"""What works again was broken, and nobody had forbidden it."""


def _stems(content: Iterable[str]) -> frozenset[str]:
    """ "entry" and "entries", "file" and "files" have one."""
    return frozenset(word[:-1] if len(word) > 3 and word[-1] in "ey" else word for word in content)


def _of(listed: str) -> frozenset[str]:
    return _stems(content_words(listed.split()))


_GENERAL = _of(
    "use uses using used like liked want wanted make making made get getting take takes taking taken give gives "
    "giving given put puts putting do doing done keep keeps keeping kept need needs needed needing thing things "
    "way ways please time times try trying let go going come start starting started stop stopping stopped begin "
    "forget ignore ignoring disregard allow allowed allowing permit permitted welcome possible possibly whenever "
    "wherever always never ever since full rule rules convention policy habit ban requirement decided decide "
    "agreed idea stuff everybody everyone anybody nobody future today tomorrow now longer anymore instead "
    "different same other others prefer preferred bother immer nie bitte wieder erlaubt machen toujours jamais "
    "siempre nunca guess hope"
)
"""Words that go with any matter."""
_COMMON = _of(
    "answer answers answering reply replies replying respond responses response write writes writing written say "
    "tell telling show showing ask asking code coding file files test tests testing work works working name names "
    "naming text texts message messages document documents change changes changing run runs running add adding "
    "call calling day days week weeks month months line lines page pages word words part parts list lists plan "
    "plans check checking user users project repo team report reports number numbers data speak speaking talk "
    "talking eat eating drink send sending read reading explain explaining commit commits committing work works "
    "task tasks function functions"
)
"""What so many rules are about that one such word says little."""
_LONGER = re.compile(r"\b(?:no|any|much) longer\b|\bafter all\b", re.I)
_KINDS = {
    "language": "english german french spanish italian portuguese dutch swedish danish norwegian polish russian "
    "chinese japanese korean hungarian turkish arabic hindi greek czech finnish ukrainian deutsch englisch",
    "indentation": "tabs spaces",
    "length": "short shorter brief briefly concise long longer lengthy detail detailed terse",
    "measure": "metric imperial celsius fahrenheit kilometres kilometers miles",
    "spelling": "british american",
    "diet": "vegan vegetarian pescatarian meat",
    "form of address": "formal formally informal informally du sie tu vous usted",
}
_KIND_OF = {word: f"a {kind}" for kind, own in _KINDS.items() for word in own.split()}
"""Of words that exclude each other in a rule, their kind."""

_WISHED = "agreed better decided free going happy have like love need plan prefer rather ready time us want".split()
"""Words before "to drop" that make it a wish or a decision, where "to reduce the cost" is a purpose."""
_TO = "".join(f"(?<!{word} )" for word in _WISHED) + "to"
_DOING = "(?<!'m )(?<!'re )(?<!am )(?<!are )(?<!be )"
_OF_FACTS = re.compile(
    r"\b(?:turn(?:s|ed) out|end(?:ed)? up|becomes?|became|(?:steps?|stepped) in|postponed|rescheduled|verschoben|"
    r"reporté\w?|spostat\w|adiad\w|перенес\w{0,4}|"
    rf"{_TO} (?:reduce|increase|raise|lower|switch|drop|change)|"
    r"(?:and|further|can|could|would|helps?) (?:reduce|increase|raise|lower)|"
    r"(?:this|an?) (?:reduce|increase|raise|lower|switch)|"
    rf"{_DOING}(?:reduc|increas|rais|lower|switch|dropp)ing|"
    r"(?:those|these|some|many|any) changes|how (?:\w{1,20} ){1,4}changes|"
    r"(?:a lot|so much|everything) has changed|switch(?:ed|es)? up|drop(?:s|ped|ping)? (?:off|by|in)|"
    r"drop (?:the details|me|us))\b|"
    r"(?:n['’]t|\b(?:not|never|ever|i|you|we|they|to|always|often|might)) (?:ever )?"
    r"(?:forget|ignore|disregard)\w{0,3}\b",
    re.I,
)
"""Signs of change that tell how things went or what is tried, and take nothing back that somebody asked for."""


_BEGINS = re.compile(r"\b(?:from now on|as of (?:today|now|this)|ab sofort|désormais)\b", re.I)
"""Signs of change that many a new rule has too."""
_NOT = re.compile(
    r"n't\b|\b(?:no|not|never|none|nothing|without|avoid|stop|kein\w{0,2}|nicht|nie|niemals|ohne|ne|pas|jamais|sans|nunca|"
    r"jamás|sin|non|mai|senza|não|sem|niet|geen|nooit|inte|aldrig|не|никогда|нельзя|без)\b"
    r"|不要|不能|禁止|别|勿|ない|ません|지 마|금지",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Change:
    """A sentence with a sign of change, and what it and its neighbours in the turn are about."""

    span: Span
    about: frozenset[str]
    sign: Sign = "changed"


def changes_in(text: str) -> tuple[Change, ...]:
    """What a sign is about may stand in the sentence before it or behind it."""
    spans = sentence_spans(text[:CHARACTERS_READ])
    said = [_OF_FACTS.sub(" ", text[slice(*span)].replace("’", "'")) for span in spans]
    changed, also_without = (_changed(each) for each in (said, [_BEGINS.sub(" ", each) for each in said]))
    about = [_about(each) for each in said]
    return tuple(
        Change(spans[place], frozenset[str]().union(*about[max(place - 1, 0) : place + 2]), found)
        for place, is_change in enumerate(changed)
        if (found := _sign(said[place]) or (_of_change(also_without[place]) if is_change else None)) is not None
    )


def _changed(said: Sequence[str]) -> list[bool]:
    return [sign == 1.0 for sign in changes(said, [0] * len(said), [content_words(words(each)) for each in said])]


def _of_change(also_without_its_beginning: bool) -> Sign:
    return "changed" if also_without_its_beginning else "begun"


def _sign(sentence: str) -> Sign | None:
    """The sign that is of use for rules alone, if there is any."""
    if sentence.rstrip().endswith(("?", "？", "؟")):
        return None
    told = _REPAIRED.sub(" ", sentence)
    return "freed" if _SIGN.search(told) else "weak" if _WEAK.search(told) else None


def _about(sentence: str) -> frozenset[str]:
    own = words(_LONGER.sub(" ", sentence))
    [told] = topics([sentence], [content_words(own)])
    return _stems(told) | {_KIND_OF[word] for word in own if word in _KIND_OF}


def subject(rule: str) -> frozenset[str]:
    return _about(rule)


def contrary(one: str, other: str) -> bool:
    """Whether two rules about the same exclude each other: only one of them forbids, or they name different words of
    those that exclude each other."""
    if (_NOT.search(one.replace("’", "'")) is None) != (_NOT.search(other.replace("’", "'")) is None):
        return True
    mine, others = _exclusive(one), _exclusive(other)
    return any(mine[kind] != others[kind] for kind in mine.keys() & others.keys())


def _exclusive(rule: str) -> dict[str, set[str]]:
    named: dict[str, set[str]] = {}
    for word in words(rule):
        if word in _KIND_OF:
            named.setdefault(_KIND_OF[word], set()).add(word)
    return named


def shared(change: Change, subjects: Sequence[frozenset[str]]) -> list[float]:
    """For each subject of a rule the share of it, or of the change, that both have in common."""
    named = Counter(word for own in subjects for word in change.about & own)
    little = _COMMON | {word for word, rules in named.items() if rules > RARE}
    return [_share(change, own, little) for own in subjects]


def _share(change: Change, subject: frozenset[str], little: frozenset[str]) -> float:
    """What changed may be anything: there the words that go with anything count in the size of both."""
    about, own = change.about - _GENERAL, subject - _GENERAL
    common = about & own
    if not common:
        return 0.0
    if common == own:
        return 1.0
    fewer = min(len(about), len(own))
    if common <= little or (len(common) == 1 and change.sign == "weak"):
        return min(len(common) / fewer, _NOT_ENOUGH)
    if change.sign == "changed":
        fewer = len(own) if len(common) == 1 else min(len(change.about), len(subject))
    return len(common) / fewer
