"""Which memory a question is about.

Law: a question whose topic is a dream is answered from dream memory only, and no other question ever is. The word is
the topic when it stands for what was dreamt, not in "dream job", "dream team" or a dream of becoming something. A
question about a conversation as a whole is told by its own words, never by a topic.
"""

from __future__ import annotations

import re

_DREAM = re.compile(r"\b(?:dreams?|dreamt|dreamed|dreaming|nightmares?)\b", re.I)
_NOT_A_DREAM = re.compile(
    r"\bdream (?:job|team|house|home|car|wedding|vacation|holiday|trip|school|college|university|role|company|life|"
    r"come true|catcher|date|partner|project|setup|machine)s?\b"
    r"|\bdream(?:s|t|ed|ing)? (?:of|about) (?:becoming|being|having|owning|moving|working|running|opening|starting|"
    r"living|travel\w*|visiting|going|getting|doing|making|building|writing|buying|a career|the day)\b"
    r"|\b(?:american|pipe|fever) dreams?\b|\bdream\s*(?:weaver|works|cast)\b|\bin your dreams\b",
    re.I,
)

_TALK = r"(?:this|our|the) (?:whole |entire )?(?:session|conversation|chat|discussion|thread|talk)"
_WHOLE = rf"(?:{_TALK}|so far|until now|up to now)"
_SHORT = r"(?:overview|recap|summary|summar[iy][sz]e\w*|sum up)"
_OVERVIEW = re.compile(
    rf"\b{_SHORT}\b[^.?!\n]{{0,60}}\b{_WHOLE}\b"
    rf"|\b{_WHOLE}\b[^.?!\n]{{0,40}}\b{_SHORT}\b"
    r"|\bwhat (?:(?:has |have )?happened"
    r"|(?:have|did) we (?:do|done|discuss\w*|decided?|talk\w*|cover\w*|agreed?|work\w*))"
    rf"\b[^.?!\n]{{0,30}}\b{_WHOLE}\b"
    r"|\b(?:where (?:were we|did we (?:leave off|stop|end up|get to)|have we got to)"
    r"|(?:catch|bring|fill|get) me (?:up(?: to (?:speed|date))?|in)(?: on| with)? (?:everything|what happened|all)"
    r"|(?:the )?story so far|what have i missed)\b",
    re.I,
)


def asks_for_the_whole(question: str) -> bool:
    return bool(_OVERVIEW.search(question))


def is_about_dreams(question: str) -> bool:
    return bool(_DREAM.search(_NOT_A_DREAM.sub(" ", question)))
