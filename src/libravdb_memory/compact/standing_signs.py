"""The signs by which a standing rule is told from an order for the moment, as expressions over plain sentences.

A plain sentence is in lower case, has straight apostrophes and single spaces; `QUOTE` stands for each quotation and
`CODE` for each code span. Law: every expression is linear on it (bounded repetition, no nesting).
"""

from __future__ import annotations

import re

QUOTE, CODE = "“”", "`"

_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_TALKED_ABOUT = (
    r"(?:answer|reply|response|question|result|output|text|task|topic|subject|user|weather|price|total|message|code|"
    r"trip|change|word|reader|customer|client)s?"
)
_LASTING_PLACE = (
    r"(?:repo|repository|project|codebase|house|household|team|chat|conversation|family|company|org|workspace|account|"
    r"thread|blog|book|channel|assistant|city|country|department|office|shop)"
)
_RULE_NOUN = r"(?:rule|convention|policy|preference|standard|practice|default|habit|guideline|agreement|norm)"
_SPOKEN_OF = (
    r"(?:answer|repl(?:y|ie)|response|explanation|summar(?:y|ie)|date|time|price|unit|e?-?mail|message|commit|test|"
    r"comment|source|citation|flight|hotel|seat|room|meeting|recipe|report|table|example|name|number|amount|"
    r"measurement|temperature|suggestion|option|list|paragraph|sentence|word|variable|function|translation)s?"
)

_HAVE_DONE = r"have (?:[a-z]{2,12}ly )?(?:been|had|done|seen|known|told|said|put|gone|left|kept|[a-z]{2,14}(?:ed|en))\b"
_KIND = r"(?:(?!\b(?:if|i|we|he|she|they|because|which|whether|when)\b).)"
"""A character of a subject: no other clause begins at it."""

LEAD = re.compile(
    r"(?:(?:pretty please|please|pls|plz|also|and|so|but|ok|okay|yes|yeah|no(?=[,:!])|then|just|well|oh|kindly|however|hey|hi|again|btw|"
    r"one (?:more )?thing|in short)\b[ ,:!-]{1,3}){1,4}"
)
"""Words before the first that says something."""

PERMANENT = re.compile(
    r"\b(?:always|allways|never(?! mind\b)|from (?:now|here|then|today|tomorrow|this point)(?: on(?:wards?)?| forward)"
    r"|(?:going|moving) forward|in (?:the )?future|henceforth|whenever|(?:every|each|any) ?time|at all times|by default"
    r"|as a (?:general )?rule|in general|unless (?:i|we) (?:say|tell|ask|specify|state)|unless (?:told|stated|asked)"
    r"|until further notice|no matter (?:what|how|who|when)|under no circumstances|without (?:asking|exception)"
    r"|without (?:my|our) (?:ok|okay|approval|consent|permission|knowledge)|for everything|in everything)\b"
    r"|\b(?:don't|no|not|nothing|nobody)\b[^.!?]{1,80}\bever\b|\bdon't ever\b"
    r"|\b(?:don't|never|stop|no)\b[^.!?]{1,60}\b(?:again|any ?more)\b|\b(?:whatever|wherever|whichever) (?:i|you|we)\b"
    r"|\b(?:in|for|on|with|of) (?:all|every|each|any) (?:(?:my|our|new|future)\b|(?:[a-z-]{1,16} )?(?:message|e?-?mail|"
    r"answer|reply|response|article|text|post|letter|draft|summary|report|document|mockup|slide)s?\b(?! (?:in|on|from) ))"
)
"""Words of permanence."""

OCCASION = re.compile(
    r"\b(?:(?<!from )now(?! on\b)|again|this time|for now|for (?:the|a) (?:moment|minute)|at the moment|right away|yet"
    r"|today|tonight|tomorrow|once more|asap|immediately|temporar(?:y|ily)|as well"
    r"|this (?:morning|afternoon|evening|week|weekend|month|quarter|year|once|one)|just this|next (?:week|weekend|month)"
    rf"|(?:on|by|until|next|this) {_DAY}(?!s)|in a (?:minute|moment|sec|second))\b|^first\b|\binstead[.!]?$"
)
"""Words of the moment."""

THIS_ONE = re.compile(
    rf"\b(?:this|these|those)\b(?! {_LASTING_PLACE}\b)|\b(?:in|with|on|for|of|to|about|from|at) that\b|\bthat[.!]?$"
    r"|\bthere\b(?! (?:is|are))|\bhere[.!]?$"
)
"""A pointing finger; not at what lasts, like this project."""

POINTED_AT = re.compile(
    rf"\b(?:it|this|that|these|those|they|them|he|she|him|we|the (?!{_TALKED_ABOUT}\b))\b|\d|[{QUOTE}{CODE}_/]"
    r"|\b(?:done|ready|finished|free|back|home|a (?:minute|moment|second|sec|chance)|time|possible)\b"
    r"|\byou (?:get|arrive|land|finish|reach|come|wake|leave|have)\b"
)
"""What makes a condition one that is met once: "if it fails", "when you're done"."""

DEFINITE = re.compile(r"\b(?:the|this|that|these|those|it|them|him|her|there|here)\b")
GENERAL = re.compile(
    r"\b(?:any|anything|anyone|anybody|every|everything|everyone|each|all|only|before|when|whenever|unless|if)\b"
)

REPORTED = re.compile(
    r"\b(?:says|said|(?<!i )told|(?<!i )wrote|writes|recommends|apparently|supposedly|allegedly|claims|complains|warns|according to|"
    r"(?:docs?|people|they|guides?|rules|books?|manuals?) (?:always |all )?(?:say|state|recommend|tell)|used to)\b"
    r"|\b(?:notes|minutes|briefing|manual|readme|guide|sign|poster|text|paragraph|quote|e?-?mail|message|slogan|"
    rf"following|translate|proofread)\b[^:]{{0,40}}: ?[^ ]|\bthat (?:says|forbids|requires|bans|allows)\b|\bwhich is why\b"
    r"|^(?:write|draft|compose|translate|proofread|reply|post|text|print|say|send|tell|summari[sz]e|rephrase|rewrite|make)"
    r"\b[^:]{0,80}: ?[^ ]"
)
"""Somebody else's rule."""

HYPOTHETICAL = re.compile(
    r"(?:suppose|imagine|picture|assuming|pretend|what if|let's say|say we|if (?:i|you|he|she|they|we) (?:were|was|had))\b"
    rf"|.{{0,200}}\b(?:should|must|could|would)(?:n't| not)? {_HAVE_DONE}"
)

POLITE = re.compile(
    r"(?:(?:can|could|would|will) you|would you mind)\b[ ,]{1,2}(?:please[ ,]{1,2})?(?:also )?(?:"
    r"(?:always|never|not ever|stop|from now on|in (?:the )?future|avoid|going forward|by default)\b|.{1,160}"
    r"\b(?:from now on|in (?:the )?future|going forward|every time|each time|whenever|by default)\b)"
)
"""A question that asks for a habit."""

STATED = re.compile(
    # likings
    r"(?:.{0,60}\b)?i (?:(?:really|strongly|generally|usually|always|much|only|also) )?prefer (?!the\b|this|that|it\b|to\b)"
    r"|i(?:'d| would)(?: much)? rather (?:have|see|get|you)\b(?! (?:the|this|that|it)\b)"
    rf"|i(?:'d| would)? (?:only |really |always )?(?:want|like|expect) (?:(?:all|every|any|no|my)\b|"
    rf"(?!(?:to|the|a|an|this|that|it|you|some|two|three|more|another)\b)(?:[a-z'-]{{1,16}} ){{0,3}}{_SPOKEN_OF}\b)"
    r"|i only (?:ever )?(?:want|eat|drink|fly|use|take|read|accept|buy|stay|work|travel|like)\b"
    r"|i don't (?:want|like|need) (?:any\b|(?!to\b|the\b|this|that|it\b|you\b|a\b|an\b|him|her|them)[a-z-]{1,20}s?"
    r" (?:in|on|with|at|from|for|as)\b)"
    r"|i (?:hate|can't stand|dislike)\b.{1,80}[,;] (?:so )?(?:leave|skip|avoid|don't|no|never|keep|cut)\b"
    r"|i (?:don't|never|can't|cannot) (?:eat|drink|work|fly|drive|do|use|take|read)\b.{0,80}"
    r"\b(?:in mind|so (?:please |pls )?(?:don't|never|plan|avoid|no|keep))\b"
    r"|i(?:'m| am| can't| cannot| don't| only| have| hate| never| get) .{2,80}\bso (?:please |pls )?(?:never|always|don't|only|no|avoid|"
    r"keep|leave|skip|plan|stick)\b"
    r"|i (?:always|never|only ever) (?:want|need|expect) "
    r"|remember(?::| that\b|,)(?! (?:bug|time|day|one))|.{0,160}\b(?:keep|bear) (?:this |that |it )?in mind\b"
    r"|.{0,40}\b(?:great|nice|helpful|appreciate|love|like|good|want|prefer)\b.{0,40} you\b(?: [a-z]{2,10}){0,2} "
    r"(?:always|never|stop(?:ped)?|whenever)\b"
    r"|my (?:[a-z-]{2,16} ){1,3}(?:for|on) (?:any|every|each|all)\b"
    r"|let's (?:never|always|avoid|agree|not ever)\b"
    r"|.{0,80}\bimportant (?:to me|that you)\b"
    # customs
    rf"|(?:.{{0,40}}\b)?(?:my|our|the|house|team|ground) (?:[a-z-]{{1,16}} ){{0,2}}{_RULE_NOUN}s?\b(?: [a-z`-]{{1,20}}){{0,5}}"
    r"(?: (?:is|are)\b(?! (?:broken|wrong|stupid|annoying|unclear|old|weird))| ?:)"
    r"|(?:.{0,60}\b)?we (?:never|always) (?!(?:got|had|went|came|were|was|did|made|found|saw|knew|said|thought|took|"
    r"lost|won|met|ate|ran|wrote|spoke|could|would|have|mind)\b)[a-z]{1,5}(?:(?!ed\b)[a-z]){0,14}\b"
    r"|(?:in [a-z ]{1,30},? )?we (?:only |always )?(?:use|write|do|keep|name|store|run|deploy|work|speak|call|put|go|"
    r"pay|buy|eat|cook|test|review|ship|sign|log)\b.{1,100}[,;] (?:and )?(?:not|never)\b"
    r"|that's (?:how|the way) we\b"
    r"|(?:in [a-z ]{1,30},? )?we don't (?!know|need|have|think|want|understand|see|care|like|get|remember|seem|believe|agree)"
    r"[a-z]{2,14} (?!it\b|this|that|them|the\b|yet|to\b)[a-z]"
    r"|(?:(?!the |this |that |my |his |her |their |your |some |these |those )[a-z-]{2,16} ){0,2}"
    r"(?!this|his|its|it's|was|is|has)[a-z-]{2,16}s (?:always )?(?:live|go|belong|stay|get|need)\b(?! (?:to|help|more|a lot)\b).{2,100}"
    r"(?:, not|\bonly|nowhere|at most|after|before|never|without|columns?|next to)\b"
    # demands on a kind
    rf"|(?:each|every|all|any|anything|everything|everyone|anyone)\b(?! ?time){_KIND}{{1,80}}\b(?:must|should|shall|"
    rf"needs?|has to|have to|requires?|may not|cannot|gets?|goes?|has an?|have an?)\b(?! {_HAVE_DONE})"
    r"(?! be (?:back|fine|ok|okay|good|there|done|ready|working|better|right)\b)"
    rf"|(?:nothing|nobody|no one)\b{_KIND}{{1,80}}\b(?:must|should|shall|may)\b(?! {_HAVE_DONE})"
    r"|nothing (?:[a-z]{2,16} ){0,2}(?:goes|leaves|gets|ships)\b"
    r"|(?:nothing|nobody|no one|no [a-z]{2,20})\b.{1,60}\bwithout\b"
    r"|all (?:[a-z-]{2,20} ){1,3}(?:in|as|with|without|via|under|rounded)\b(?=.{1,40}$)"
    r"|(?:[a-z-]{2,20} ){1,3}only(?:,? (?:please|pls|ever))?[.!]*$"
    r"|(?:nothing|no)\b.{2,60}\b(?:please|for me|ever)(?:,? (?:please|ever|thanks))?[.!]*$"
    r"|no [a-z-]{2,20} in (?:any|my|our)\b|no new\b"
    r"|no (?:[a-z-]{2,20} ){0,2}(?!results|errors|changes|hits|issues|problems|warnings|failures|news|matches|signs)"
    r"[a-z-]{2,20}(?:s|ing) (?:about|in|on|at|before|after|for|with|during|between|from|unless|over|under|to|without)\b"
    r"(?!.{0,60}\b(?:so far|was|were|found|left)\b)"
    r"|(?:no|never|not) (?:more|fewer|less|longer) than\b"
    r"|(?:at most|max(?:imum)?|one|two|three) .{2,60}\bper (?:day|week|month|line|slide|page|person|meal|message|file|e?-?mail|"
    r"session|commit|chapter|paragraph|function|class|module)\b"
    rf"|on (?:weekdays|weekends|{_DAY}s)\b(?!.{{0,60}}\b(?:i|he|she|it|they|we)\b)"
    r"|(?:(?!\b(?:i|he|she|they|it|we|you)\b).){0,60}\bonly (?:ever )?(?:suggest|recommend|propose|offer|use|book|show|send|"
    r"call|buy|order|pick|plan|write|speak|answer)\b"
    r"|(?:before|after|for|at the (?:start|end) of) (?:each|every|any) (?!.{0,60}\b(?:i|he|she|it|they|was|were)\b)"
    r"|(?:from now on|going forward|in (?:the )?future|henceforth|by default|as a rule)\b"
    r"(?!,? (?:i|he|she|they|it|looks|is|seems|the)\b)(?!.{0,40}\bwill\b)"
    r"|.{1,120}\b(?:from now on|going forward|in future)[.!]*$"
)
"""Rules that order nothing: likings, customs, demands."""

FOREIGN = re.compile(
    r"\b(?:ab jetzt|ab sofort|künftig|in zukunft|von nun an|désormais|dorénavant|à partir de maintenant|"
    r"a partir de ahora|de ahora en adelante|d'ora in poi|daqui em diante|a partir de agora|vanaf nu|voortaan|"
    r"впредь|отныне|с этого момента)\b"
    r"|从现在起|從現在起|以后请|以後請|请始终|请永远不要|今後は|これからは|앞으로는|من الآن فصاعدا|अब से"
    r"|\b(?:bitte|por favor|s'il (?:te|vous) plaît|пожалуйста|per favore|alsjeblieft)\b.{0,60}"
    r"\b(?:immer|nie|niemals|kein|keine|siempre|nunca|toujours|jamais|всегда|никогда|sempre|mai|altijd|nooit)\b"
    r"|\b(?:immer|nie|niemals|siempre|nunca|toujours|jamais|всегда|никогда|sempre|mai|altijd|nooit)\b.{0,60}"
    r"\b(?:bitte|por favor|s'il (?:te|vous) plaît|пожалуйста|per favore|alsjeblieft)\b"
)
"""A few words of permanence in other tongues."""

NO_RULE = re.compile(
    r"no (?!.{0,12}ing\b)[a-z]{2,20}(?<!s) (?:in|on|at) the\b|no (?:objections?|problem|idea|luck|worr(?:y|ies)|errors?|changes?|difference|news|response|answer|results?|"
    r"issues?|rush|hurry|need|way|doubt|clue|reason|longer|thanks|matter|wonder|one|such|data|output|warnings?|"
    r"failures?|hits?|match(?:es)?|pressure|comment|joke|shame|surprise|progress|sign|trace|chance|[a-z]*\d)"
)
"""What "no" reports rather than forbids."""

OF_YOU = re.compile(r"(?:you|u|ya)\b|your (?:role|job|task)\b")
WISH = re.compile(
    r"(?:i|we)(?:'d| would)? (?:really )?(?:want|need|expect|like|prefer|ask) (?:for )?you to (?:please )?"
)
DEMAND = re.compile(
    rf"{_KIND}{{1,200}}\b(?:(?:must|should|shall|need|can|may)n't|must|should|shall|needs?(?! (?:as|more|less|about|some|a bit|help|\d))|has to|have to|requires?|cannot|can't|may not|is required|"
    r"are required|is mandatory|are mandatory|is forbidden|are forbidden|(?:is|are) not (?:allowed|permitted)|allowed)\b"
    r"(?!.{0,60}\b(?:somewhere|somehow|soon)\b)"
)
LABEL = re.compile(
    rf"(?:[a-z]{{1,16}} ){{0,2}}(?:{_RULE_NOUN}|requirement|constraint|forbidden|important)s?(?: \d+)? ?:"
)
GO_AHEAD = re.compile(
    r"(?:you|u) (?:can|may) (?:go|merge|start|begin|proceed|stop|close|push|ship|continue|leave|see|find|tell|take it|"
    r"delete|remove|drop|have)\b"
)
ITS_OBJECT = re.compile(r"(?:\S{1,20} ){1,3}(?:it|this|that|them|these|those|him|her)\b(?! (?:anything|any)\b)")

CONDITION = re.compile(r"(?:if|when|before|after|while|until|for|in|on|with|unless|as)\b([^,]{1,200}),")
MET_ONCE = re.compile(r"(?:once|as soon as|after (?:the|that|this))\b")
TRAILING = re.compile(
    r".{3,200}?\b(?:before|when|while|after) ((?:(?:you|i|we)\b|(?:any|each|every|an?)\b|[a-z]{2,20}ing\b).{0,160})"
    r"|.{3,200}?\bunless\b(.{0,160})"
)

STANCE = re.compile(
    r"(?:prefer|favou?r|avoid|assume|treat|stick (?:to|with)|default to|refrain|respect|remember(?! to\b| when\b)"
    r"|(?:keep|bear) in mind|speak|talk to me|address me|call (?:me|us) (?!when|if|at|back|on|later|a\b|in|asap|before)"
    r"|act as|think of|err on|opt for|always|never|be (?!there\b|here\b|back\b|right\b|quick\b|careful\b|on time|sure (?:the|it|this|that)\b)"
    r"|only (?!the\b|this|that|one\b)|ask (?:me |us )?(?:first|before)\b"
    r"|(?:skip|drop|omit|spare me|cut|lose|forget) (?:all )?(?:the |your )?(?:disclaimers?|pleasantries|small talk|preambles?|"
    r"apologies|jargon|fluff|flattery|emojis?|caveats|filler|buzzwords|hedging)\b"
    r"|write (?:in (?:the )?(?:first|second|third|active|passive|present|past|plain|simple|short|full)|like|as if)\b"
    r"|(?:give|state|express|quote)(?: me)? (?!(?:the|an?|this|that|it|some|two|three)\b)(?:[a-z-]{2,16} )?[a-z-]{2,16}s (?:in|as)\b)"
)
"""Orders to be or to hold rather than to do."""

HABIT = re.compile(
    r"(?:(?:use|keep|answer|reply|respond|spell|format|name|cite|quote|express|indent|capitali[sz]e|abbreviate|greet"
    r"|round|limit|phrase|correct)"
    rf" (?!(?:the|an?|this|that|these|those|it|its|them|him|her|me|us|one|two|three|some|another|both|more|port|option"
    rf"|version|plan|number|main|master|branch|going|[a-z]{{2,20}}ing|[{CODE}{QUOTE}])\b|[{CODE}{QUOTE}]|\S{{0,20}}\d)"
    r"|(?:write|speak|explain|give|ask) (?:in (?!the\b|this|that|an?\b)|before\b|me (?:first|before)\b))"
)
"""Orders that are habits when their object is a kind of thing."""

ONE_TIME = re.compile(
    r"don't (?:cancel|send|merge|submit|reply|book|wait|start|stop|go|forget|close|sell)\b.{0,60}\bthe\b"
)
"""Prohibitions of an act that is done once."""

OFTEN = re.compile(
    r"\b(?:any|every|each|all|whatever|not sure|unsure|in doubt|uncertain|stuck|an? (?!minute|moment|second|sec|chance|bit)[a-z])"
)
ONE_CASE = re.compile(rf" ?(?:it|this|that|they|he|she|we|the (?!{_TALKED_ABOUT}\b))\b")
"""A condition with such a subject is about one case."""

ASSURE = re.compile(r"(?:make|be) (?:sure|certain) (?:that )?|see to it that |ensure (?:that )?")
SUBORDINATE = re.compile(
    r" (?:that|which|who|whose|where|why|how|what|whether|saying|because|so (?:that|it|the|they|we|i))\b"
)
"""Behind these an order tells of something else: "write a test that never fails"."""
