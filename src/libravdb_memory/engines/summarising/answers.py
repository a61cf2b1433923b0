"""What of a model's answer can be kept as a summary.

Law: `usable` gives text that may stand for its sources, or raises AnswerUnusableError. It never repairs what the answer
says; it only takes off what stands around it: reasoning spoken aloud, a line that announces the summary, and characters
that are not seen. Whatever is exact in it (identifiers, numbers, dates, paths, addresses) stands in the turns or in
what was noted before; see `grounding` for what cannot be told from the truth.

No message shows the answer itself, which may hold anything.
"""

from __future__ import annotations

import json
import re

from libravdb_memory.compact.grounding import ungrounded
from libravdb_memory.compact.reading import read
from libravdb_memory.compact.views import label_of, names_of
from libravdb_memory.engines.summarising.language import is_foreign
from libravdb_memory.engines.summarising.looping import repeats
from libravdb_memory.engines.summarising.protocol import OVERLONG, SummaryRequest
from libravdb_memory.engines.windows import speakable
from libravdb_memory.errors import AnswerUnusableError
from libravdb_memory.tokens import TokenCounter

_THOUGHT = re.compile(r"\s*<(think|thinking|reasoning)>.*?</\1>", re.DOTALL)
_UNFINISHED_THOUGHT = re.compile(r"\s*<(?:think|thinking|reasoning)>")
_ANNOUNCEMENT = re.compile(
    r"\s*(?:(?:sure|certainly|of course|okay|ok)[!,.]?\s+)?"
    r"(?:here(?:'s| is| are)|below is)\s[^\n:]{0,80}\b(?:summary|note|notes|minutes)\b[^\n:]{0,80}:\s*",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\W*(?:(?:i['’]?m |i am )?(?:very |so )?sorry\b[^.\n]{0,20}\bi\b|"
    r"i(?:['’]?m| am) (?:unable|not able)\b|"
    r"i (?:can['’]?t|cannot|can not|won['’]?t|will not|must decline|have to decline|do not feel comfortable)\b|"
    r"as an? (?:ai|language model|large language model)\b|"
    r"es tut mir leid\b|ich kann (?:dabei|dir|ihnen|das|diese)\b[^.\n]{0,40}\bnicht\b|"
    r"je suis désolée?\b|désolée?, (?:mais )?je\b|je ne peux pas\b|"
    r"lo siento\b|no puedo (?:ayudar|resumir|cumplir)|"
    r"(?:mi dispiace|desculpe|sinto muito|het spijt me|извините|к сожалению, я)\b|"
    r"抱歉|很抱歉|对不起|申し訳|すみません|죄송)",
    re.IGNORECASE,
)
_COLOURS = re.compile(r"\x1b\[[0-9;:?]{0,20}[A-Za-z]")
_BREAKS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
"""Controls, what changes the direction of writing, and what hides text; joiners stay, which some scripts need."""
_FENCED = re.compile(r"```\w*\s*(.*?)\s*```", re.DOTALL)


def usable(answer: object, request: SummaryRequest, counter: TokenCounter, model: str) -> str:
    """The summary in the answer. Raises AnswerUnusableError."""
    if not isinstance(answer, str):
        raise AnswerUnusableError(model, "it is not text")
    text = _bare(answer)
    cost, most = counter.count(text), OVERLONG * request.tokens
    if cost > most and not _UNFINISHED_THOUGHT.match(text):
        told = f"it costs {cost} tokens, asked for were {request.tokens}"
        raise AnswerUnusableError(model, told, excess=(cost, most))
    if problem := _problem(text, request):
        raise AnswerUnusableError(model, problem)
    return text


def _bare(answer: str) -> str:
    seen = _UNSEEN.sub("", _BREAKS.sub("\n", _COLOURS.sub("", speakable(answer))))
    text = _THOUGHT.sub("", seen, count=1) if _THOUGHT.match(seen) else seen
    announced = _ANNOUNCEMENT.match(text)
    return (text[announced.end() :] if announced else text).strip()


def _problem(text: str, request: SummaryRequest) -> str:
    if not any(map(str.isalnum, text)):
        return "it is empty"
    if _UNFINISHED_THOUGHT.match(text):
        return "it ends before its reasoning does"
    if _REFUSAL.match(text):
        return "it declines to summarise"
    if _is_json(text):
        return "it is JSON, not prose"
    if repeats(text):
        return "it repeats itself"
    sources = read((*request.shown, request.prior))
    if is_foreign(text, "\n".join(sources)):
        return "it is in another language than the turns"
    return ungrounded(text, sources, names_of(label_of(turn.speaker) for turn in request.turns if turn.speaker))


def _is_json(text: str) -> bool:
    """Also inside a code fence, also cut off in the middle; a list in prose may begin with a bracket."""
    fenced = _FENCED.fullmatch(text)
    inner = fenced.group(1) if fenced else text
    if re.match(r'\{\s*"|\[\s*[{\["]', inner):
        return True
    try:
        return isinstance(json.loads(inner), dict | list)
    except (ValueError, RecursionError):
        return False
