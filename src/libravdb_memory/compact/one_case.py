"""What is worded like a rule and speaks of one case: an order to better one thing, or where somebody is stuck.

Weights know words, not what they point at. A comparative without "than" compares a thing with what it is now ("Give the
variable a better name"), and who is stuck, lost or blocked "at the" step is so for the moment.

Law: pure; linear, by bounded repetition. What has a word of permanence, asks for anything, or betters what
comes with every task (an answer, its tone) is not of one case.
"""

from __future__ import annotations

import re

from libravdb_memory.compact.standing_signs import LEAD, PERMANENT

_COMPARATIVE = (
    r"(?:(?:more|less) [a-z-]{3,16}|better|worse|longer|(?!(?:number|order|user|filter|header|folder|letter|buffer|"
    r"container|layer|parser|server|offer|paper|other|never|after|under|over)\b)[a-z]{3,12}er)"
)
_EVERY_TASK = (
    r"(?:answer|repl(?:y|ie)|response|explanation|example|summar(?:y|ie)|message|sentence|paragraph|tone|style|"
    r"language|wording|text|output|code)s?\b"
)
_BETTERED = re.compile(
    rf"(?:give|make|find|pick|choose) (?:the|this|that) (?!{_EVERY_TASK})[a-z-]{{2,20}}(?: "
    rf"(?!{_EVERY_TASK})[a-z-]{{2,20}})?"
    rf" (?:an? )?(?:a (?:bit|little) |much |slightly )?{_COMPARATIVE}(?: [a-z-]{{2,20}})?[.!]*$"
)
_STUCK = re.compile(
    r"i(?:'m| am) (?:still |now |really |totally |completely |a bit |a little )?"
    r"(?:stuck|lost|blocked|confused|puzzled|baffled|at a loss|struggling) "
    r"(?:(?:at|on|in|with|by|about) )?(?:the|this|that|these|those|my)\b"
)
_ASKS = re.compile(r"\b(?:please|so|you|when|if|whenever)\b|[,;:.] (?:don't|do not|never|always)\b")
_STRAIGHT = str.maketrans({"’": "'", "‘": "'"})


def speaks_of_one_case(sentence: str) -> bool:
    said = " ".join(sentence.translate(_STRAIGHT).lower().split())
    lead = LEAD.match(said)
    said = said[lead.end() :] if lead else said
    if PERMANENT.search(said):
        return False
    if _BETTERED.match(said):
        return True
    return _STUCK.match(said) is not None and _ASKS.search(said) is None
