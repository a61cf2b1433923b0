"""Orders that hold for a kind of thing: "Sort imports alphabetically", told from "Sort the list".

What an order is for shows in its object. One thing is pointed at, counted or new ("the list", "three names", "a
test"); a kind stands bare, in the plural, with how it is to be done; and what is done to every lesson is done for good.
Law: pure; linear; a plain English clause (see `standing_signs`) that begins with its verb.
"""

from __future__ import annotations

import re

from libravdb_memory.compact.standing_signs import CODE, QUOTE

_ONCE = (
    r"(?:find|search|look|list|show|suggest|name (?:\w+ ){0,2}(?:for|of|in)|compare|give|fix|generate|create|order|"
    r"buy|get|plot|"
    r"recommend|run|send|open|print|tell|draft|book|bring|fetch|install|delete|remove|invite|download|upload|compute|"
    r"count|try|let|go|come|see|take|wait|thank|stop|restart|turn|play|pick|check|analy[sz]e|investigate|debug|plan|"
    r"imagine|ignore|copy|move|read|pay|water|feed|please|yes|no|is|are|do|does|can|what|who|how|why|where|"
    r"when|which|"
    r"some|many|most|more|less|two|three|all|thanks|there|i|we|you|he|she|it|they|my|our|the|a|an)"
)
"""Orders that are carried out and done with; and what begins no order."""
_MANNER = (
    r"(?:[a-z]{3,16}ly\b|(?:with|without|as|like|to|into|in|by|at|under|before|after|from|over|on|per) (?!(?:this|"
    r"that|these|those|"
    r"it|him|her|them|my|your|the (?!(?:top|bottom|end|start|beginning|first|left|right|same|present|past|active|"
    r"original|"
    r"passive|imperative|singular|plural|nearest|margin)\b)|\S{0,8}[/_#])\b))"
)
_BARE = (
    r"(?!(?:the|this|that|these|those|it|its|him|her|his|them|their|a|an|some|me|us|two|three|one|my|your|all|both|"
    r"more|"
    r"up|down|off)\b)"
)
_THINGS = rf"{_BARE}(?:[a-z-]{{2,16}} ){{0,2}}[a-z-]{{2,16}}(?:[^s\W]s|ses)\b"

_FIGURES = (
    r"(?:amounts|prices|numbers|figures|totals|sums|costs|dates|times|durations|distances|weights|sizes|temperatures|"
    r"percentages|measurements|quantities|currencies|units|rates|coordinates|names|headings|titles)"
)
"""What is the same thing however it is shown."""
_MADE = (
    r"(?:table|chart|list|report|letter|mail|e-?mail|message|answer|reply|summary|document|page|slide|section|"
    r"chapter|"
    r"article|post|note|invoice|quote|offer|recipe|plan|file|module|class|function|heading|title|caption|"
    r"diagram|commit|"
    r"headline|paragraph|entry|release|draft|script|query|example|review)"
)
"""What somebody makes who writes."""

_HOLDS = re.compile(
    "|".join(
        (
            rf"(?!{_ONCE}\b)[a-z-]{{2,14}} {_THINGS} {_MANNER}",
            rf"(?!{_ONCE}\b)[a-z-]{{2,14}} (?:me )?(?:[a-z]{{2,8}} )?(?:each|every) (?!(?:of|one|single|other|file|"
            rf"error|test)\b)[a-z-]{{2,16}} "
            r"(?:with|in|by|before|after|at|as|to|under|without)\b",
            rf"(?!{_ONCE}\b)[a-z-]{{3,14}} {_THINGS}[.!]*$",
            rf"(?:give|include|mention|state|add|list|show|cite|note|flag|provide|offer) (?:both |the (?=risks|"
            rf"sources|reasons|units|costs))?"
            rf"(?:{_BARE}(?:[a-z-]{{2,16}} ){{0,2}}[a-z-]{{2,16}}s|an? [a-z-]{{2,16}} (?:with|for|to) (?:every|each|"
            rf"any)\b.*|[a-z]{{3,12}} and [a-z]{{3,12}}|"
            r"[a-z ]{2,30} of (?:any|every|all|each)\b.*)[.!]*$",
            rf"(?!{_ONCE}\b)[a-z-]{{3,14}} (?:every|each) [a-z-]{{2,16}}(?: [a-z-]{{2,16}})?[.!]*$",
            rf"(?:show|print|display|give|list|write|render|report|state|put|express) (?:me )?(?:all )?{_BARE}"
            rf"(?:[a-z-]{{2,16}} ){{0,2}}{_FIGURES} (?:with|without|rounded|to the nearest|(?:after|before|"
            rf"behind) the|as "
            r"(?!of\b|soon\b))",
            rf"(?!(?:{_ONCE})\b(?<!show)(?<!list)(?<!give)(?<!print))[a-z-]{{2,14}} {_THINGS} with the "
            rf"(?:[a-z-]{{2,16}} ){{1,3}}"
            r"(?:first|last|before|after|behind|above|below|in front|next to|at the (?:top|bottom|end|start|"
            r"beginning|left|right)"
            r"|on the (?:left|right))\b",
            r"(?:put|place|show|spell|give|state|mark|mention|start|begin|end|open|close|sign|set|keep) "
            r"(?!(?:an?|one|two|three|some|this|that|these|those|it|them|all)\b)[^,;]{2,60} "
            rf"(?:in|on|of|with|for) (?:each|every|any) (?:[a-z-]{{2,16}} )?{_MADE}[.!]*$",
            r"(?:escape|validate|sanitise|sanitize|encrypt|cache|hash|mask|anonymi[sz]e|document|quote|test) "
            r"(?:user |"
            r"all |any )?(?:input|output|data|code|text)\b",
            r"(?:return|fail|ask|test|commit|release|deploy|merge|log) (?:early|first|fast|often|late)\b|log at "
            r"[a-z]{3,8} level\b",
            rf"explain {_THINGS} (?:the first time|when|on first)\b|sign (?:letters|mails?|e-?mails|texts) with\b|"
            rf"think about (?!it\b|this|that|the\b|what|how)[a-z]{{5,20}}[.!]*$",
            r"(?:tag|copy|cc|include|mention|quote|credit|ping|add) (?:me|us) (?:in|on|to|for|when) (?:every|"
            r"each|all|"
            r"any|you)\b",
            r"(?:double-?check|show|explain|cite|state|justify|verify|check|mark|link|name|give|list|keep|test|"
            r"proofread) your "
            r"(?!(?:last|previous|first|second|own|mail|e-?mail|calendar|inbox|phone|time|change|fix|"
            r"branch)s?\b)[a-z]",
            r"(?:ask|say so|tell me|warn me|let me know|speak up) (?:if|when|whenever) (?:something|anything|there's "
            r"(?:any|some)|"
            r"you(?:'re| are) (?:not sure|unsure|stuck|guessing|in doubt)|in doubt|a [a-z]{3,16} is)\b",
            r"(?:keep|make) (?:it|things|everything|sentences|answers|replies) (?:as )?(?:short|brief|simple|concise|"
            r"casual|formal|light|"
            r"civil|polite|friendly|professional|plain)\b[.!]*$",
            rf"(?:use|keep|write|say|add|put|prefer) [^,:]{{2,50}} (?:in|for|with) {_BARE}(?:[a-z-]{{2,16}} "
            rf"){{0,2}}[a-z-]{{2,16}}(?:s|code|"
            r"mail|documentation|prose|writing|work)[.!]*$",
            r"(?:drop|lose|cut|stop|no more|leave out|leave off) (?:the |all |your |with the )?[a-z-]{2,20}s?,? "
            r"(?:altogether|entirely|"
            r"completely|for good|everywhere)\b",
            r"link to (?:the )?[a-z]{2,16} when\b",
            rf"(?:use|write|spell|say) [{QUOTE}{CODE}]{{1,2}} (?:for|instead of|as) ",
        )
    )
)
_ONE_THING = re.compile(
    r"\b(?:this|these|those|here|there|above|attached|following|again|now|today|yet)\b(?! (?:repo|repository|project|"
    r"codebase|house|"
    r"team|office|family|company))|\b\w{1,40}[/_]\w|#\d|\b(?:in|of|from|for|on|at|into|to) the (?!(?:top|bottom|end|"
    r"start|beginning|"
    r"first|left|right|same|present|past|active|passive|original|imperative|singular|plural|nearest|margin)\b)"
)


def order_holds(order: str) -> bool:
    """Whether an order is for a kind of thing rather than for one."""
    return _HOLDS.match(order) is not None and _ONE_THING.search(order) is None
