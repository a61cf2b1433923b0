"""Which memory a question is about.

Law: a question whose topic is a dream is answered from dream memory only, and no other question ever is. The word is
the topic when it stands for what was dreamt, not in "dream job", "dream team" or a dream of becoming something.
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


def is_about_dreams(question: str) -> bool:
    return bool(_DREAM.search(_NOT_A_DREAM.sub(" ", question)))
