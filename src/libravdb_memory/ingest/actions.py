"""What a rule is about: from a clause to its modality and a normal form of its action.

Two clauses state the same action when their normal forms are equal: modals, negation, politeness and determiners are
gone, words are lightly stemmed, and the order of words is kept ("prefer tabs over spaces" is not "prefer spaces over
tabs"). Conditions and exceptions are kept apart, since a rule for Fridays says nothing about Mondays. Law: when in
doubt a clause has no normal form. A contradiction that is not reported costs less than one that is not there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from libravdb_memory.ingest.deontic import Modality

Words: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Action:
    """`words` is the action, `condition` when it applies; both in normal form."""

    modality: Modality
    words: Words
    condition: Words
    explicit: bool  # said by a modal, a negation or the like; otherwise only by the verb's form


def _phrases(text: str) -> tuple[Words, ...]:
    return tuple(tuple(phrase.split()) for phrase in text.split("|"))


# What may open a clause, and what it does to the modality. "cancel" gives up: the clause means something subtler.
_OPENINGS: Mapping[str, tuple[Words, ...]] = {
    "filler": _phrases(
        ",|please|kindly|always|also|just|simply|strictly|then|and|but|so|ever|you|we|the agent|agents|the "
        "assistant|all agents|make sure to|make sure that|make sure|be sure to|be sure that|ensure that|ensure|"
        "remember to|take care to|try to|strive to|aim to|be careful to|it is important to|it is important "
        "that|at all times|in all cases"
    ),
    "oblige": _phrases(
        "must|shall|should|have to|has to|need to|needs to|ought to|are to|is to|are required to|is required "
        "to|are expected to|is expected to|it is required to|it is mandatory to|will|never forget to|do not "
        "forget to|never fail to|do not fail to|do not neglect to"
    ),
    "forbid": _phrases(
        "do not|do not ever|never|never ever|not|cannot|can not|may not|must not|avoid|refrain from|no|are not "
        "allowed to|is not allowed to|are not permitted to|is not permitted to|are forbidden to|are forbidden "
        "from|is forbidden to|it is forbidden to|are prohibited from|is prohibited from|under no circumstances|"
        "on no account|at no time|prefer not to|take care not to|make sure not to|be sure not to|be careful "
        "not to|try not to|ought not to"
    ),
    "permit": _phrases(
        "can|may|might|could|feel free to|are allowed to|is allowed to|are free to|do not need to|do not have "
        "to|need not|does not need to|does not have to|are not required to|is not required to|no need to|there "
        "is no need to|do not hesitate to|never hesitate to|it is not necessary to"
    ),
    "cancel": _phrases(
        "not only|do not only|must not only|do not just|never just|not just|not merely|do not merely|do not "
        "always|not always|do not necessarily|not necessarily|do not simply|never simply|never only|no matter|"
        "no longer|not all|not every|no one|no more|no less|no fewer|not until|not unless"
    ),
}
_EFFECT = {phrase: effect for effect, phrases in _OPENINGS.items() for phrase in phrases}
_LONGEST = max(map(len, _EFFECT))
_MODALS = frozenset("must shall should can may".split())
_SIGNS = frozenset(",:;()—")
_PARTICIPLES: Mapping[str, str] = {
    pair[0]: pair[1]
    for pair in _phrases(
        "written write|rewritten rewrite|run run|done do|made make|kept keep|sent send|built build|given give|"
        "taken take|shown show|hidden hide|set set|put put|read read|split split|broken break|thrown throw|"
        "held hold|left leave"
    )
}
_VERDICTS: Mapping[Words, Modality] = {
    **dict.fromkeys(
        _phrases("forbidden|prohibited|banned|disallowed|not allowed|not permitted|not acceptable"), "forbidden"
    ),
    **dict.fromkeys(_phrases("required|mandatory|obligatory|compulsory"), "obligatory"),
    **dict.fromkeys(_phrases("allowed|permitted|optional|fine|ok"), "permitted"),
}

_CONDITIONAL = frozenset("if when whenever unless until while except".split())
_FRONTED = frozenset("in on at for during under with without outside inside within before after from by upon".split())
_SUBORDINATE = _CONDITIONAL | frozenset("that which who where what how because whether".split())
_REASON = frozenset("because since as so it they this that which these those otherwise".split())
_DROPPED = frozenset("a an the any you your we our please always ever just simply use using used".split())
_UNIVERSAL = frozenset("all every each".split())
_POINTING = frozenset("this that these those".split())
_ANAPHORIC = frozenset(
    "it them they one ones such its their so here there he she him following above below same".split()
)
_PLAIN_LABELS = frozenset(
    "rule rules note important warning requirement requirements default hard must policy reminder critical "
    "required style convention always do security".split()
)
_NEGATIVE_PAIRS = frozenset(_phrases("do not|must not|should not|may not|not to|not allowed|anti patterns|off limits"))
_NEGATIVE_HEADINGS = frozenset("never avoid avoided forbidden prohibited dont donts don'ts bad wrong".split())
_NEGATIVE_LABELS = frozenset("never avoid forbidden prohibited dont bad wrong".split())

_WORD = re.compile(r"(?:--?)?\w(?:[^\s,:;()\[\]\"“”`—]|[:,](?=\w))*+|\.\w[^\s,;()\[\]\"“”`—]*+|[,:;()—]")
_DASH = re.compile(r"(?<=\s)(?:-{1,3}|–)(?=\s)")
_CONTRACTED = re.compile(r"(\w+)n't\Z")
_IRREGULAR = {"wo": "will", "ca": "can", "sha": "shall"}
_ALPHABETIC = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*+\Z")


def words_of(text: str) -> list[str]:
    """Lower-case words and the signs that divide a clause; contractions and hyphens resolved."""
    plain = _DASH.sub("—", text.replace("’", "'").replace("*", "").lower())
    return [word for found in _WORD.findall(plain) for word in _resolved(found)]


def normal_form(words: Iterable[str]) -> Words:
    return tuple(_stem(word) for word in words if word not in _DROPPED and word not in _SIGNS)


def action_of(clause: str, scanned: Modality | None, *, negative: bool = False) -> Action | None:
    """The action of one clause. `scanned` is what the scanner found in it; `negative` says that it stands under a
    heading or lead-in that forbids what follows."""
    words = words_of(clause)
    if not words or clause.rstrip(" \t\r\n*_\"'”").endswith("?"):
        return None
    words, condition, labelled_negative = _without_label(words)
    words, fronted, early = _without_front(words)
    words, late = _without_tail(words)
    parsed = _modality_and_rest(words)
    if parsed is None:
        return None
    modality, rest, subject = parsed
    explicit = modality is not None and not (subject and scanned is None)
    modality = modality or ("forbidden" if negative or labelled_negative else _bare(scanned))
    if modality is None:
        return None
    rest = _without_reason(rest, modality)
    said = _determined([*_active(subject, rest), *fronted])
    if not _speaks_for_itself(said):
        return None
    return Action(modality, normal_form(said), normal_form([*condition, *early, *late]), explicit)


def forbids_what_follows(words: list[str]) -> bool:
    """Whether a heading or a lead-in makes bare instructions below it prohibitions ("Never:", "What not to do")."""
    pairs = set(pairwise(words))
    negated = pairs & _NEGATIVE_PAIRS
    negative = bool(negated or set(words) & _NEGATIVE_HEADINGS)
    affirmative = bool(set(words) & {"always", "dos", "do's"}) or ("do", "and") in pairs
    return negative and not affirmative


def without_universals(words: Words) -> Words:
    return tuple(word for word in words if word not in _UNIVERSAL)


def _bare(scanned: Modality | None) -> Modality | None:
    # A prohibition without a negation that this reader can see has a shape that it does not understand.
    return None if scanned == "forbidden" else scanned


def _resolved(found: str) -> Iterable[str]:
    word = found.rstrip(".!?'_~") or found
    word = word.lstrip("_~")
    if contracted := _CONTRACTED.match(word):
        stem = contracted[1]
        return (_IRREGULAR.get(stem, stem), "not")
    if word == "cannot":
        return ("can", "not")
    if "-" in word and _ALPHABETIC.match(word):
        return word.split("-")
    return (word,) if word else ()


def _without_label(words: list[str]) -> tuple[list[str], list[str], bool]:
    """The clause after "Label:", the label when it narrows the rule, and whether the label forbids."""
    colon = words.index(":") if ":" in words else 0
    if not 0 < colon <= 4 or colon == len(words) - 1:
        return words, [], False
    label, rest = words[:colon], words[colon + 1 :]
    if set(label) <= _PLAIN_LABELS:
        return rest, [], False
    if set(label) & _NEGATIVE_LABELS or "not" in label:
        return rest, [], True
    return rest, label, False


def _without_front(words: list[str]) -> tuple[list[str], list[str], list[str]]:
    """The clause after "If …," or "On Fridays,": clause, fronted adverbial, condition."""
    if not words or words[0] not in _CONDITIONAL | _FRONTED or "," not in words or words[:2] == ["under", "no"]:
        return words, [], []
    comma = words.index(",")
    front, rest = words[:comma], words[comma + 1 :]
    return (rest, [], front) if front[0] in _CONDITIONAL else (rest, front, [])


def _without_tail(words: list[str]) -> tuple[list[str], list[str]]:
    """The clause before "… if X", "… (only X)" or a dash, and what narrows it there."""
    cut = next((at for at, word in enumerate(words) if at and (word in _CONDITIONAL or word in ("(", "—"))), len(words))
    tail = words[cut:]
    if tail[:1] == ["—"] and not set(tail) & (_CONDITIONAL | {"only"}):
        tail = []
    return words[:cut], tail


def _modality_and_rest(words: list[str]) -> tuple[Modality | None, list[str], list[str]] | None:
    """Modality said in so many words, the clause without it, and the subject it was said of; None: too subtle."""
    subject, rest = _split_subject(words)
    verdict = _verdict(rest if not subject else words)
    if verdict is not None:
        return verdict
    modality: Modality | None = None
    negated = False
    while (opening := _opening(rest)) is not None:
        effect, length = opening
        rest = rest[length:]
        if effect == "cancel" or (effect == "forbid" and negated):
            return None
        if effect == "forbid":
            modality, negated = "forbidden", True
        elif effect == "permit":
            modality = "permitted"
        elif effect == "oblige":
            modality = modality or "obligatory"
    return modality, rest, subject


def _opening(words: list[str]) -> tuple[str, int] | None:
    for length in range(min(_LONGEST, len(words)), 0, -1):
        if effect := _EFFECT.get(tuple(words[:length])):
            return effect, length
    return None


def _split_subject(words: list[str]) -> tuple[list[str], list[str]]:
    """ "Generated files must not …" into its subject and the rest; no subject when the clause opens otherwise."""
    if _opening(words) is not None:
        return [], words
    at = next((at for at, word in enumerate(words[:7]) if word in _MODALS or word in _SUBORDINATE or word == ","), 0)
    if at == 0 or words[at] not in _MODALS:
        return [], words
    return words[:at], words[at:]


def _verdict(words: list[str]) -> tuple[Modality, list[str], list[str]] | None:
    """ "Force pushes are forbidden": the verdict closes the clause."""
    for at, word in enumerate(words):
        if at and word in ("is", "are") and (verdict := _VERDICTS.get(tuple(words[at + 1 :]))):
            return verdict, words[:at], []
    return None


def _without_reason(words: list[str], modality: Modality) -> list[str]:
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        if at and word == "," and following in _REASON:
            return words[:at]
        # "Do not merge because it is late" may forbid the reason only, so only duties lose theirs.
        if at and modality == "obligatory" and (word == "because" or (word, following) in _PURPOSES):
            return words[:at]
    return words


_PURPOSES = {("so", "that"), ("in", "order"), ("instead", "of"), ("rather", "than")}


def _active(subject: list[str], rest: list[str]) -> list[str]:
    """ "secrets" + "be committed to git" as "commit secrets to git"."""
    if not subject or rest[:1] != ["be"] or len(rest) == 1:
        return [*subject, *rest]
    participle = rest[1]
    if participle in _PARTICIPLES or participle.endswith("ed"):
        return [_PARTICIPLES.get(participle, participle), *subject, *rest[2:]]
    return [*subject, *rest]


def _determined(words: list[str]) -> list[str]:
    """Without demonstratives that determine a following word; "this repository" is the repository."""
    last = len(words) - 1
    kept = [word for at, word in enumerate(words) if word not in _POINTING or at == last]
    if kept[:1] == ["prefer"] and not {"over", "to", "instead", "rather"} & set(kept):
        return kept[1:]
    return kept


def _speaks_for_itself(words: list[str]) -> bool:
    """Whether the action is told whole: "delete it" means another thing in every place."""
    told = [word for word in words if word not in _DROPPED and word not in _SIGNS]
    return _ANAPHORIC.isdisjoint(told) and not _UNIVERSAL.issuperset(told) and told[-1] not in _POINTING


def _stem(word: str) -> str:
    """Plural, -ing and -ed go, so does a final e; anything that is not plain letters stays as it is."""
    if len(word) <= 3 or not word.isalpha() or not word.isascii():
        return word
    if word.endswith("ies") or word.endswith("ied"):
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return _without_participle(word).removesuffix("e")


def _without_participle(word: str) -> str:
    for ending in ("ing", "ed"):
        root = word.removesuffix(ending)
        if root != word and len(root) >= 2 and re.search("[aeiouy]", root):
            doubled = len(root) > 2 and root[-1] == root[-2] and root[-1] not in "lsz"
            return root[:-1] if doubled else root
    return word
