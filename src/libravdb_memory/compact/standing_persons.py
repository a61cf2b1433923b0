"""Rules in the first person and to the second: what somebody is, likes and never does; how to be answered; corrections.

Each table holds expressions that are matched at the beginning of a plain English sentence (see `standing_signs`) or of
a part of it. Law: pure; linear, by bounded repetition; a sentence that points at one thing or tells of the past states
nothing here.
"""

from __future__ import annotations

import re

from libravdb_memory.compact.standing_signs import CODE, DEFINITE, POINTED_AT, QUOTE

_PAST_OR_POINTING = re.compile(
    r"\b(?:this|these|those|was|were|had|did|didn't|yesterday|last (?:night|week|month|year|time)|will|i'll (?!ask))\b"
    r"(?! (?:repo|repository|project|codebase|house|team|office|family|company|shop)\b)|\?"
)
_ONE_OR_KNOWN = r"(?!(?:the|this|that|these|those|it|how|what|why|when|where|to|him|her|them|you|your|an?|any idea|access|"
_ONE_OR_KNOWN += r"much|enough|one|two|three|more|some|another|my|all of)\b)"

SELF = (
    r"i(?:'m| am) (?:an? )?(?:(?:strict|severely|very|strictly|also|partially|mostly) )?(?:allergic|intolerant|vegan|"
    r"vegetarian|pescatarian|celiac|coeliac|diabetic|pregnant|deaf|blind|colou?r-?blind|hard of hearing|dyslexic|"
    r"autistic|left-handed|right-handed|lactose|gluten|muslim|jewish|hindu|buddhist|teetotal|beginner|newbie|novice|"
    r"minimalist|night owl|early bird|morning person|non-?native|new to|sensitive to|not (?:a (?:fan|native|morning)|"
    r"comfortable with|into|good with|on (?:facebook|social|whatsapp)))\b",
    rf"i (?:don't|never|can't|cannot|no longer|only)(?: ever| really)? (?:eat|drink|work|use|fly|drive|speak|travel|own|"
    rf"smoke|wear|buy|watch|cook|accept|answer|read|take|do|touch|handle)\b {_ONE_OR_KNOWN}[a-z]",
    rf"i (?:don't|never) (?:like|want|need) {_ONE_OR_KNOWN}(?:[a-z-]{{2,16}} ){{0,2}}[a-z-]{{2,20}}s\b",
    r"i don't want an? (?:summary|intro|introduction|lecture|conclusion|recap|disclaimer|preamble|table)\b",
    rf"i (?:go by|think in|bill in|count in|prefer|dislike|avoid|favou?r|swear by|insist on|live by) {_ONE_OR_KNOWN}",
    rf"i (?:hate|dislike|can't stand|love|like|prefer) {_ONE_OR_KNOWN}[^,;]{{2,60}}"
    r"(?:\b(?:better|more|over|to) .{0,20}\b(?:than\b|[a-z])|[,;] )",
    rf"(?:around|with|at|to) (?:my |the )?[a-z]{{2,16}},? i go by {_ONE_OR_KNOWN}",
    r"my (?:name|surname|nickname|last name|first name|handle|pronouns?|title) (?:is|are) (?:(?:spelled|written|"
    r"pronounced)\b|[a-z' -]{2,40}, not\b)",
    r"it's [a-z' .-]{2,30}, not [a-z' .-]{2,30}[.!]*$",
    r"(?:i )?already know\b.{2,60}\b(?:no need|skip|don't)\b",
)
"""What somebody is, does and does not do."""

BEARABLE = re.compile(
    r".{2,160}\b(?:doesn't work for me|don't work for me|means? nothing to me|tells? me nothing|(?:is|are) (?:out of the "
    r"question|a no-?go|off[- ]limits|not an option|taboo|not my thing|a must|a deal-?breaker)|drives? me (?:mad|crazy|"
    r"nuts|up the wall)|annoys? me|bothers? me|makes? me (?:nervous|sick|uncomfortable)|is fine (?:with|by) me|"
    r"stays? between us|keep (?:that|it|this) (?:in mind|that way)|get (?:that|it|this) right)\b"
)
"""What is no good, or fine, for somebody."""

WISHES = (
    r"i(?:'d| would)? (?:want|like|expect|need|love) .{2,60}\b(?:whatever|with every|for every|every time|for each|for any)\b",
    r"i(?:'d| would) rather (?:have|get|see|read|hear|wait|pay)\b.{2,60}\bthan\b",
    r"(?:when|if|whenever) i\b [^,]{2,80}, i (?:want|need|expect|mean|prefer|like)\b",
    r"when(?:ever)? i (?:say|write|type|send|mention|ask for) [“”`]{1,2}[^,]{0,30}, ",
    r"no need to (?:explain|ask|apologi[sz]e|repeat|summari[sz]e|mention|remind|tell me|be polite)\b",
    r"enough (?:with|of) (?:the|your|all)\b",
    r"(?:spare me|skip|quit|cut|drop|lose|save me|stop with) (?:all )?(?:the |your )?(?:[a-z-]{2,14} )?(?:intro(?:duction)?s?|"
    r"lectures?|history lessons?|small talk|chit-?chat|preambles?|fluff|filler|apolog(?:y|ies)|disclaimers?|pleasantries|"
    r"explanations?|boilerplate|emojis?|jargon|praise|compliments|recaps?|niceties|theory|basics|warnings)\b",
)

_TELL = (
    r"(?:answer|reply|respond|explain|write|talk|speak|think|phrase|word|describe|summari[sz]e|comment|format|greet|cite|"
    r"quote|round|sign|review|translate|present|report|argue|criticise|criticize|teach|communicate|structure|structur)"
)
_HOW_TO = (
    r"(?:like|as (?:if|though|short|simple|little|few|an?\b)|the way i|step by step|briefly|plainly|concisely|directly|"
    r"honestly|formally|informally|casually|politely|slowly|clearly|with(?:out)? (?!the\b|this|that|an?\b|him|her|me\b|"
    r"yes\b|just\b|only\b)|in (?!the\b|this|that|an?\b|one word|\d)|to (?:two|one|three|the nearest|the point)|at most|only in|"
    r"only (?:with|what))"
)
MANNER = (
    rf"{_TELL}(?: (?:me|to me|with me|things|things to me|everything|everything to me|numbers|code|texts?|mails?))? {_HOW_TO}",
    rf"(?:say|write|call it|spell it|use|put) [{QUOTE}{CODE}]{{1,2}}[^,;]{{0,20}}(?:,? (?:not|never|instead of|rather than)) ",
    r"(?:give|show|tell|send) me (?:only |just |always )?the (?:short(?: version)?|brief|long|conclusion|results?|answers?|"
    r"bottom line|gist|code|fix|commands?|plan|summary|diff|reasons?|source)\b[^.]{0,30}\b(?:first|before you|only)\b",
    r".{0,60}\bshow me only\b|.{0,40}\bonly (?:show|tell|give) me\b",
    r"(?:put|start with|begin with|lead with|open with|end with|finish with) (?:the |an? )?(?:answer|conclusion|result|"
    r"summary|bottom line|point|recommendation|question|source)s?\b",
    r"tell me (?:when|if|whenever) you(?:'re\b| are\b|(?! are\b)) (?!done|ready|finish|free|back|home|have|get|arrive|land|know|there)",
    r"(?:go|take it) (?:easy|light|slow) (?:on|with) ",
    r"(?:if|when|whenever) (?:you(?:'re| are)? (?:don't know|can't tell|unsure|not sure|in doubt|guess|guessing|stuck|"
    r"uncertain)|in doubt|unsure|not sure)\b,? ",
    r"(?:check|talk|speak|confirm|consult|clear it) with me (?:before|first)\b(?!.{0,60}\b(?:this|the)\b)",
    r"(?:ask|show|tell|warn|ping|notify)(?: me)?\b.{0,30}\bbefore (?:you )?[a-z]{2,14}(?:ing)? (?!the\b|this|that|it\b|him|"
    r"her|them)",
)
"""How to be answered."""

ORDERS = (
    rf"(?:use|reuse|write|choose|pick|take|favou?r|rebase|opt for|go for|go with|buy|cook|book|order|put|call|name) (?!{_TELL})"
    r"(?:the existing |existing )?(?:(?!\b(?:the|this|that|it|one|two|first|second|third|old|other|last|same|my|"
    r"your|an?|above|below)\b|\d)[^,.;]){2,60}(?:,? (?:rather than|instead of|not|never|don't) |,? over )(?!the\b|this|that"
    r"|\S{0,6}\d)",
    r"use [a-z0-9.-]{2,20}(?: [a-z-]{2,16})? (?:for (?:anything|everything|all|any|every)|everywhere|throughout)\b",
    r"(?:use|write|keep) (?!the\b|an?\b|this|that).{2,80}\b(?:in|for|with) (?:every|all|any|each|everything|anything|"
    r"(?:my|our) [a-z]{2,20}s)\b(?!.{0,40}\b(?:today|now)\b)",
    r"use (?:placeholders|metric|imperial|celsius|british|american|plain|simple)\b",
    r"let's (?:stay (?:with|on)|stick (?:to|with)|keep [a-z]{3,16} (?:out|off|short|simple|private|apart)|not use|leave "
    r"[a-z]{3,16} out)\b",
    r"leave (?:my|our) [a-z -]{2,30}s (?:alone|as they are|untouched)",
    r"(?:keep|hold) (?:my|our|your|all|variable|file|function|answers?|replies|commits?|functions|sentences|names?) .{2,60}",
    r"(?:consider|regard|treat|assume|count|handle) (?:everything|anything|all|whatever|my|our|i|we|every)\b",
    r"(?:squash|rebase|format|lint|test|review|ask|check|commit|document|measure|think) (?:before|first|after) [a-z]{2,16}ing\b",
    rf"(?:in|for|on|with|around|during|at) (?!(?:the|this|that|now|an?|case|fact|addition|short|any case|example)\b)"
    r"(?:[a-z-]{1,16} ){0,2}[a-z-]{2,16}(?:, |: )"
    r"(?:use|wrap|keep|write|say|avoid|never|always|don't|prefer|put|add|make|set|only|name|call|stick|speak|be|no|all|every|assume|"
    r"round|give|start|end|[a-z0-9“`-]{1,12} (?:at the top|first|only))\b",
    rf"[{QUOTE}]{{2}} (?:means?|stands for|is short for)\b",
    r"by [a-z“” -]{2,30} i mean\b",
    r"[a-z -]{2,30} is what (?:we|i) call\b",
    r"(?:feel free|it's (?:ok|okay|fine|alright)|you're (?:free|allowed|welcome)) to (?!(?:merge|close|go|leave|start|"
    r"reach out|ask|contact)\b)[a-z]{2,14} (?!(?:the|this|that|it|now)\b)",
)
"""Orders about kinds of things."""

_WE_DO = re.compile(
    r"(?:(?:in|on|at|for|here|around) ?[a-z -]{0,30},? )?we(?:'re on| go by| keep| call| write| spell| speak| say| name| "
    r"store| log| bill| count| measure| ship| pay| deploy| use| follow| target| support| stick to| test| review| sign| tag|"
    r" version| release| prefer| avoid| eat| cook| publish| quote| round| number| indent)\b "
    r"(?!(?:it|the|this|that|him|her|an?|two|three|one|our|to|you|for|about|goodbye|hello|more|less)\b)[a-z0-9“`]"
)
_LASTING_PLACE = re.compile(r"\bthis (?:repo|repository|project|codebase|house|team|office|family|company|shop)\b")
_WE_TOLD = re.compile(r"\b(?:and (?:it|then|they|that)|but|because|since|crashed|failed|so far|currently|still)\b")

_CORRECTION = re.compile(
    r"(?:(?:no,? )+|wrong\b[ ,:-]{1,3}|again[:,] )?(?:(?:as|like) )?(?:i (?:already |just )?(?:said|told you|asked(?: you)? "
    r"for|mentioned|wrote)|we (?:said|agreed(?: on)?))(?: (?:before|already|earlier|last time|that))?[ ,:-]{1,3}"
)
_INSISTED = re.compile(
    r"(?:no|not|only|always|never|don't) (?!(?:the|this|that|it|yet|idea|one|problem)\b)[a-z]"
    r"|(?!(?:the|this|that|it|my|his|her|an?|in|on|at|so|what|how|if|yes|no|we|you|he|she|they|i)\b)[^,]{2,40}, not "
    r"(?!the\b|this|that|\d|on\b|at\b)"
)
_ONE_WORD = re.compile(r"(?!(?:so|yes|no|that|it|\S{2,6}day)\b)[a-z-]{3,16}[.!]*$")

_TABLES = tuple(re.compile("|".join(group)) for group in (SELF, WISHES, MANNER))
_ORDERS = re.compile("|".join(ORDERS))
_MEASURE = re.compile(r"\bthan (?:an? )?\S{1,12}")
_CASE = re.compile(r"(?:when|if|whenever) ((?:i|you|something|someone|anything|any|an?) [^,:]{2,100})[,:] (.*)")
_TOLD_OF = re.compile(r"(?:i (?!want|need|expect|prefer|mean)|it\b|he\b|she\b|they\b|we\b|the\b|there\b|what\b|how\b|nothing\b|my\b|that\b)")


def states_of_persons(said: str) -> bool:
    """Whether a plain sentence says how its speaker is, lives, or wants to be dealt with."""
    if insisted := _CORRECTION.match(said):
        rest = said[insisted.end() :]
        return bool(_INSISTED.match(rest) or (said[insisted.end() - 2] == ":" and _ONE_WORD.match(rest)) or (
            rest != said and states_of_persons(rest)
        ))
    if _PAST_OR_POINTING.search(said):
        return False
    if any(table.match(said) for table in _TABLES) or BEARABLE.match(said):
        return True
    if _WE_DO.match(said) and not _WE_TOLD.search(said) and not DEFINITE.search(_LASTING_PLACE.sub("", said)):
        return True
    return _ORDERS.match(said) is not None or _recurs(said)


def _recurs(said: str) -> bool:
    """An order or a wish for a case that can be met often."""
    case = _CASE.match(said)
    return case is not None and not POINTED_AT.search(_MEASURE.sub("", case[1])) and not _TOLD_OF.match(case[2])
