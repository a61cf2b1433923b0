"""From one sentence to the marks of its clauses.

Law: a sentence is cut at semicolons, dashes, and before "…, and never …" and its like; every part that is a rule gives
one mark. A conditional or fronted phrase belongs to the clause it introduces.
"""

from __future__ import annotations

from collections.abc import Iterator

from . import lexicon as lex
from .clause import Clause, Modality
from .main_clause import explicit_modality_of, modality_of
from .orders import OBJECTS
from .tokens import CODE, SYMBOL, Sentence, Token
from .verbs import NOUN_VERBS, VERBS

LABEL_WORDS = 7
WORDS_READ = 400  # of one clause; the rest cannot change what its beginning is
CUTS = frozenset({";", "—"})
OUTCOMES = lex.NEVER_SAID | frozenset("see find hear feel get win notice mind fear lose regret".split())
SIGNS = frozenset({SYMBOL, ",", "—", ";", ":", "'"})

Found = tuple[Modality, int, int]  # modality, start, end
Part = tuple[tuple[Token, ...], str]  # the tokens of a part and the sign before it


def rules(sentence: Sentence, *, strict: bool) -> Iterator[Found]:
    """The rules of one sentence, in order."""
    tokens = _without_signs(sentence.tokens)
    if not tokens:
        return
    gloss = False
    label = _label_length(tokens)
    if label:
        found = _labelled(tokens, label, sentence, strict=strict)
        if found:
            yield found
            return
        gloss = _is_gloss(tokens, label)
        if _is_told(tokens[:label]):
            return
        tokens = _without_signs(tokens[label + 1 :])
    yield from _rules_of_parts(list(_parts(tokens)), sentence, strict=strict, gloss=gloss)


def _rules_of_parts(parts: list[Part], sentence: Sentence, *, strict: bool, gloss: bool) -> Iterator[Found]:
    held: Found | None = None  # a rule that takes in what follows its colon: "Check three things: a, b and c."
    ruled = False
    for index, (part, separator) in enumerate(parts):
        last = index == len(parts) - 1
        end = sentence.end if last else part[-1].end
        clause = _clause(part, sentence.terminal if last or sentence.terminal == "?" else ".")
        explained = strict or (gloss and index == 0)
        orders = ruled or index == 0 or _turns_to_you(parts[index - 1][0], clause)
        modality = explicit_modality_of(clause) if explained else modality_of(clause, after_rule=orders)
        if index and modality == "permitted" and clause.words[:2] == ["you", "can"]:
            modality = None  # "The town is tiny; you can cross it in ten minutes."
        ruled = ruled or modality is not None
        if held and not modality and separator == ":":
            held = (held[0], held[1], end)
            continue
        if held:
            yield held
        held = (modality, part[0].start, end) if modality else None
    if held:
        yield held


def _turns_to_you(before: tuple[Token, ...], clause: Clause) -> bool:
    """ "You may ask, but never guess", "The cache is warm, but never trust it": the clause before is about you, or its
    subject would need another form of the verb. Not "It is fast, but never idle", "You may look, but never find it"."""
    said = [token.text for token in before[:WORDS_READ]]
    at = 1 if clause.word(0) in {"but", "and", "so"} else 0
    verb = clause.word(at + 1)
    if clause.word(at) not in {"never", "always"} or verb not in VERBS or verb in OUTCOMES:
        return False
    if said[:1] == ["you"] and said[1:2] in (["may"], ["can"], ["must"], ["should"]):
        return True
    others = (lex.FINITE | lex.PAST | lex.SUBORDINATORS | lex.SUBJECT_PRONOUNS) - {"is", "has", "it", "this", "that"}
    singular = not {"is", "has"}.isdisjoint(said) and others.isdisjoint(said)
    return singular and clause.word(at + 2) in OBJECTS


def _without_signs(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Drop emoji, stray signs and commas from the front."""
    begin = 0
    while begin < len(tokens) and (tokens[begin].text in SIGNS or tokens[begin].shape.startswith("@")):
        begin += 1
    return tokens[begin:]


def _clause(tokens: tuple[Token, ...], terminal: str) -> Clause:
    read = tokens[:WORDS_READ]
    shouted = all(not t.shape or t.shape.isupper() or t.shape.isdigit() for t in read)
    if shouted:
        return Clause([t.text for t in read], [t.text for t in read], terminal in {".", "!", "…"}, terminal == "?")
    return Clause([t.text for t in read], [t.shape for t in read], terminal in {".", "!", "…"}, terminal == "?")


# -- labels ----------------------------------------------------------------------------------------------------------


def _label_length(tokens: tuple[Token, ...]) -> int:
    """How many tokens stand before a label's colon or dash; 0 when there is no label."""
    for index, token in enumerate(tokens[: LABEL_WORDS + 1]):
        if token.text == ":" or (token.text == "—" and _dash_labels(tokens[:index])):
            return index if index < len(tokens) - 1 else 0
        if token.text in {",", ";"}:
            return 0
    return 0


def _dash_labels(heading: tuple[Token, ...]) -> bool:
    """A dash makes a label of "Constraint" and of `make test`; in "Be brief — …" it is punctuation."""
    words = [token.text for token in heading]
    return len(words) <= 3 and bool(words) and (words[0] == CODE or _label_modality(words) is not None)


def _labelled(tokens: tuple[Token, ...], label: int, sentence: Sentence, *, strict: bool) -> Found | None:
    """ "PERFORMANCE TARGET: p99 < 50 ms", "Rule 3: one class per file", "Forbidden: eval"."""
    heading = [token.text for token in tokens[:label]]
    head = _clause(tokens[:label], ".")
    body = _clause(_without_signs(tokens[label + 1 :]), sentence.terminal)
    if not body.words or body.question:
        return None
    modality = _label_modality(heading)
    if modality:
        stated = modality_of(body) if modality == "obligatory" else None
        return stated or modality, tokens[0].start, sentence.end
    command = strict or body.words[0] == CODE or heading[0] == CODE  # "Run tests: `make test`" names a command
    long_enough = label > 2 or (label == 2 and heading[0] in VERBS - NOUN_VERBS)
    stated = modality_of(head) if long_enough and tokens[label].text == ":" and not command else None
    return (stated, tokens[0].start, sentence.end) if stated else None


def _label_modality(heading: list[str]) -> Modality | None:
    """A label obliges by its last noun: "Default requirement", "Rule 3"."""
    words = set(heading)
    if len(heading) > 5 or words & (lex.FINITE | lex.SUBJECT_PRONOUNS | lex.PAST):
        return None
    if words & lex.PROHIBITION_LABELS:
        return "forbidden"
    if words & lex.PERMISSION_LABELS and len(heading) <= 2:
        return "permitted"
    return "obligatory" if words & lex.REQUIREMENT_LABELS else None


def _is_told(heading: tuple[Token, ...]) -> bool:
    """ "I told her one thing: …", "There are two options: …": what follows is somebody's words or a list."""
    words = {token.text for token in heading}
    return bool(words & (lex.REPORTING | lex.PAST | {"i", "he", "she", "they", "there"}))


def _is_gloss(tokens: tuple[Token, ...], label: int) -> bool:
    """ "`make test`: run the tests" explains a command; "TODO: add tests" is a note."""
    return tokens[0].text == CODE or tokens[label - 1].text == CODE or tokens[0].text in lex.IDLE_LABELS


# -- clauses ---------------------------------------------------------------------------------------------------------


def _parts(tokens: tuple[Token, ...]) -> Iterator[Part]:
    """Cut at semicolons, dashes and colons, and at a comma with an explicit order behind it.

    Each part comes with the sign before it. A colon does not cut a fronted phrase from its clause.
    """
    begin, separator = 0, ""
    fronted = bool(tokens) and tokens[0].text in lex.OPENERS
    for index, token in enumerate(tokens):
        if token.text in CUTS or (token.text == ":" and not fronted) or _order_follows(tokens, index):
            part = _without_signs(tokens[begin:index])
            if part:
                yield part, separator
            begin, separator = index + 1, token.text
    part = _without_signs(tokens[begin:])
    if part:
        yield part, separator


def _order_follows(tokens: tuple[Token, ...], index: int) -> bool:
    """ "…, and never V", "…, do not V", "…, please V", "…, but don't V", "…, so always V"."""
    if tokens[index].text != "," or tokens[0].text in lex.OPENERS:
        return False
    after = [token.text for token in tokens[index + 1 : index + 5]]
    if after[:1] and after[0] in {"and", "but", "so", "or"}:
        after = after[1:]
    return after[:2] == ["do", "not"] or after[:1] in (["never"], ["always"], ["please"])
