"""The signs by which a standing rule is told from an order for the moment, as expressions over plain sentences.

A plain sentence is in lower case, has straight apostrophes and single spaces; `QUOTE` stands for each quotation and
`CODE` for each code span; "do not" is written "don't". Law: every expression is linear on it (bounded repetition).
"""

from __future__ import annotations

import re

QUOTE, CODE = "“”", "`"

_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
HAVE_DONE = r"have (?:[a-z]{2,12}ly )?(?:been|had|done|seen|known|told|said|put|gone|left|kept|[a-z]{2,14}(?:ed|en))\b"
KIND = r"(?:(?!\b(?:if|i|we|he|she|they|because|which|whether|when)\b).)"
"""A character of a subject: no other clause begins at it."""
_TALKED_ABOUT = (
    r"(?:answer|reply|response|question|result|output|text|task|topic|subject|user|weather|price|total|message|code|"
    r"trip|change|word|reader|customer|client)s?"
)
"""Things that "the" does not single out: they come with every task."""
_LASTING_PLACE = (
    r"(?:repo|repository|project|codebase|house|household|team|chat|conversation|family|company|org|workspace|"
    r"account|"
    r"thread|blog|book|channel|assistant|city|country|department|office|shop|folder|directory|machine)"
)
_WRITING = (
    r"(?:message|e?-?mail|answer|reply|response|article|text|post|letter|draft|summary|report|document|mockup|"
    r"slide|proposal|"
    r"session|meeting|commit|release|trip|meal|purchase|call)s?"
)

LEAD = re.compile(
    r"(?:(?:pretty please|please|pls|plz|also|and|so|but|ok|okay|yes|yeah|no(?=[,:!])|then|just|well|oh|kindly|"
    r"however|hey|hi|"
    r"again|btw|one (?:more )?thing|in short|actually|sorry|fyi|to be clear|for the record|reminder|heads[- ]up|by "
    r"the way|"
    r"note(?: to self)?(?: for the future)?(?=:)|note(?=:)|i(?:'ve| have)? (?:already )?(?:said|told you)(?: "
    r"it| this|"
    r" that)?(?: before)?(?=:)|"
    r"i repeat(?=:)|once and for all|not like that(?=[ ,:-])|you keep forgetting(?=:)|"
    r"how (?:often|many times) do i have to say (?:it|this|that)(?=:)|i should have (?:said|mentioned)(?: it| "
    r"that)?(?=[:,])|wrong(?= ?[-:,]))\b[ ,:!-]{1,3}){1,4}"
)
"""Words before the first that says something."""

PERMANENT = re.compile(
    r"\b(?:don't|never|stop|no)\b[^.!?]{1,60}\b(?:again|any ?more)\b"
    r"|\b(?:always|allways|never(?! mind\b)|from (?:now|here|then|tomorrow|this point)(?: on(?:wards?)?| forward)"
    r"|from today(?: on(?:wards?)?)?"
    r"|(?:going|moving) forward|in (?:the )?future|henceforth|whenever|(?:every|each|any) ?time|at all times|"
    r"by default"
    r"|as a (?:general )?rule|in general|unless (?:i|we) (?:say|tell|ask|specify|state)|unless (?:told|stated|asked)"
    r"|until further notice|no matter (?:what|how|who|when)|under no circumstances|without (?:asking|telling|"
    r"exception)"
    r"|without (?:my|our) (?:ok|okay|approval|consent|permission|knowledge)|for everything|in everything|often|"
    r"regularly|sparingly|consistently)\b"
    r"|\b(?:don't|no|not|nothing|nobody)\b[^.!?]{1,80}\bever\b|\bdon't ever\b"
    r"|\b(?:whatever|wherever|whichever) (?:i|you|we)\b|\bnext time,? (?!(?:i|we|he|she|they|it|the|i'll|"
    r"we'll)\b)[a-z]"
    r"|\b(?:in|for|on|with|of|before|after) (?:all|every|each|any) (?:(?:my|our|new|future)\b|"
    rf"(?:[a-z-]{{1,16}} )?{_WRITING}\b"
    r"(?! (?:in|on|from) ))"
    r"|\bevery [a-z-]{2,16} (?:i|you) (?:tell|mention|send|give|make|ask|write|plan|book|say)\b"
)
"""Words of permanence."""

RECURRING = re.compile(
    rf"\b(?:weekly|daily|monthly|always|every|each)\b.{{0,160}}\b(?:on|by|until) {_DAY}\b"
    rf"|\b(?:on|by|until) {_DAY}\b(?=.{{0,160}}\b(?:always|every|each)\b)"
)
"""A day that comes again."""

OCCASION = re.compile(
    r"\b(?:(?<!from )now(?! on\b)|again|this time|for now|for (?:the|a) (?:moment|minute)|at the moment|right "
    r"away|yet"
    r"|today|tonight|tomorrow|once more|asap|immediately|temporar(?:y|ily)"
    r"|this (?:morning|afternoon|evening|week|weekend|month|quarter|year|once|one)|just this|next (?:week|"
    r"weekend|month)"
    rf"|(?:on|by|until|next|this) {_DAY}(?!s)|in a (?:minute|moment|sec|second))\b|^first\b|\binstead[.!]?$"
)
"""Words of the moment."""

THIS_ONE = re.compile(
    rf"\b(?:this|these|those)\b(?! {_LASTING_PLACE}\b)|\b(?:in|with|on|for|of|to|about|from|at) that\b|\bthat[.!]?$"
    r"|\bthere\b(?! (?:is|are))|\bhere[.!]?$|^don't (?!assume|say|claim|forget|suggest|pretend|mention|"
    r"think)[a-z]{2,14} that\b"
)
"""A pointing finger; not at what lasts, like this project."""

DEFINITE = re.compile(
    r"\b(?:the (?!(?:active|passive|present|past|oxford|metric|imperial|imperative|formal|first|third)\b)|this|"
    r"that|these|those|"
    r"it|them|him|her|there|here)\b"
)
GENERAL = re.compile(
    r"\b(?:any|anything|anyone|anybody|nothing|nobody|no|every|everything|everyone|each|all|only|before|when|"
    r"whenever|unless|if)\b"
)
TO_A_FRIEND = re.compile(r"\b(?:some|too|more|an? )")
"""Advice rather than a demand: "you should get some rest"."""

REPORTED = re.compile(
    r"\b(?:says|(?<!i )(?<!you )(?<!just )(?:said|told|wrote)|writes|apparently|supposedly|allegedly|claims|"
    r"complains|warns|according to|used to|which is why|that (?:says|forbids|requires|bans|allows)|"
    r"(?:docs?|people|they|guides?|rules|books?|manuals?|doctors?|articles?|he|she|it) (?:always |all )?"
    r"(?:say|state|recommends?|tell))\b"
    r"|\b(?:notes|minutes|briefing|manual|readme|guide|sign|poster|text|paragraph|quote|e?-?mail|message|slogan|"
    r"following)\b[^:]{0,40}: ?[^ ]"
    r"|\b[a-z]{0,30}(?:error|exception|warning|fatal|panic|warn|err!|deprecated)(?: \[[^\]]{1,40}\])?: ?[^ ]"
    r"|^(?:write|draft|compose|translate|proofread|reply|post|text|print|say|send|tell|summari[sz]e|rephrase|"
    r"rewrite|make)"
    r"(?! the way)\b[^:]{0,80}: ?[^ ]"
)
"""Somebody else's rule, a program's complaint, or a rule that is to be written for somebody."""

MACHINE = re.compile(
    r"//|[{};]$|=>|==|^[$#>] |^(?:const|let|var|def|class|import|from [a-z.]{1,40} import|select|assert|return|"
    r"traceback"
    r"|diff --git|npm|git|curl|pip|docker)\b.{0,200}[=;({*_$@/-]"
)
"""Code, commands and what programs print."""

CONTRACT = re.compile(
    r"^(?:[a-z]{2,12}: )?\d{1,2}\.\d{1,2}\.? [a-z]|\b(?:licens(?:ee|or)|less(?:ee|or)|the (?:parties|contractor)|"
    r"hereby|hereunder|hereto|thereof) (?:shall|may|must|agrees?|undertakes?)\b"
)
"""Clauses of a contract, which bind those who signed it."""

KINDNESS = re.compile(
    r"\bkeep (?:on )?(?:going|pushing|trying|believing|dreaming|inspiring|motivating|shining|growing|fighting|"
    r"rocking|"
    r"persevering|working hard|being (?:positive|strong|you|yourself)|(?:it|your (?:head|chin|spirits?)) up)\b"
    r"|\b(?:don't|never)(?: ever)? (?:give up|quit(?=[,.! ]*$|, | and | on )|lose (?:hope|faith|heart)"
    r"|stop (?:dreaming|believing|trying|dancing)|be (?:afraid|scared|shy|too hard on)"
    r"|let (?:anything|anyone|it|them)\b|let the [a-z ]{2,30} (?:bring|get|stop|hold|pull) you"
    r"|forget to (?:take breaks?|have fun|enjoy|rest|breathe|smile))"
    r"|^you(?:'re| are) (?:so|such|really|super|incredibly|truly|very|doing|amazing|awesome|great|talented|strong"
    r"|welcome|headed|an? (?:inspiration|star|legend|rock|true|great|good|amazing) ?)\b"
    r"|^no prob(?:s|lem)?\b|\bfeel free to\b|\bbelieve in yourself\b|\b(?:after|for|follow|chase|make) your dreams?\b"
    r"|\bstay (?:true to|strong|positive|safe)\b|^(?:speak|talk|see)(?: to)? you (?:soon|later|then|there)\b"
    r"|^remember,? (?:[a-z]{2,14},? )?(?:just do it|failures?|that (?:sometimes|staying)"
    r"|(?:that )?(?:i'm|i am|we're) (?:always |all )?(?:here|behind|proud|with you|there)|(?:that )?you're "
    r"not alone)\b"
    r"|\bmust have (?:been|felt|unreal)\b"
)
"""Encouragement, compliments and farewells: said in the form of an order, and meant as none."""

EXCLAIMED = re.compile(
    r"always (?:the same\b(?! (?:way|order|format|style|tone|language|name|place|font|layout|structure|unit)s?\b)"
    r"|an? (?:pleasure|joy|delight|mess|pain|struggle|surprise|nightmare|bit|little)\b|(?:so|such|too|very|quite)\b"
    r"|(?:fun|nice|great|good|lovely|sad|funny|annoying|weird|strange|interesting|exciting|hard|tricky|easy|a treat)"
    r"(?:[,.!]|$| (?:when|how|to|if|with) ))"
)
"""What is said of how things go, with "always" and no verb."""

ALWAYS_WHEN = re.compile(r"always (?:when|if|whenever)\b")
"""Such a sentence orders by its main clause alone."""

HYPOTHETICAL = re.compile(
    r"(?:suppose|imagine|picture|assuming|pretend|what if|let's say|say we|if (?:i|you|he|she|they|we) (?:were|"
    r"was|had))\b"
    rf"|.{{0,200}}\b(?:should|must|could|would)(?:n't| not)? {HAVE_DONE}"
    r"|(?:in (?:the )?future|going forward),? (?:[a-z]{2,16} ){0,3}(?:will|looks?|seems?)\b"
)

POLITE = re.compile(
    r"(?:can|could|would) (?:you|we) (?:please )?make it a (?:habit|rule|point|custom)\b|"
    r"can we (?:please )?(?:stick to|keep to|stay with) .{2,80}\b(?:all|every|everywhere|always|throughout)\b|"
    r"would you mind not [a-z]{2,14}ing (?!the\b|this|that|it\b|so\b)|can we (?:agree|settle) on (?!the\b|this|that|"
    r"an?\b)|"
    r"(?:(?:can|could|would|will) you|would you mind)\b[ ,]{1,2}(?:please[ ,]{1,2})?(?:also )?(?:"
    r"(?:always|never|not ever|stop|from now on|in (?:the )?future|avoid|going forward|by default)\b|.{1,160}"
    r"\b(?:from now on|in (?:the )?future|going forward|every time|each time|whenever|by default)\b)"
)
"""A question that asks for a habit."""

# ── prohibitions, permissions, demands ───────────────────────────────────────────────────────────────────────────

FORBIDS = re.compile(r"(?:it's not|it is not|don't|stop|quit|avoid|refrain|you|i|we)\b")
ABSOLUTE = re.compile(r"(?:don't|never|always|stop|no|avoid|quit)\b")
NO_RULE = re.compile(
    r"no (?!.{0,12}ing\b)[a-z]{2,20}(?<!s) (?:in|on|at) the\b"
    r"|no (?:objections?|problem|idea|luck|worr(?:y|ies)|errors?|changes?|difference|news|response|answer|results?|"
    r"issues?|rush|hurry|need|way|doubt|clue|reason|longer|thanks|matter|wonder|one|such|data|output|warnings?|"
    r"failures?|hits?|match(?:es)?|pressure|comment|joke|shame|updates?|repl(?:y|ies)|messages?|mails?|surprise|"
    r"progress|sign|trace|chance|[a-z]*\d)"
)
"""What "no" reports rather than forbids."""
ONE_TIME = re.compile(
    r"don't [^,]{2,60}\b(?:the|my|our)\b[^,]{2,60}, (?:it's|it is|they're|they are|i still|i need|i'm|we still|we "
    r"need)\b|don't (?:bother\b(?! with [a-z]{2,16} [a-z]{2,16}s\b)|(?:start|leave|go|begin|eat) without\b|(?:cancel|"
    r"send|merge|submit|reply|book|wait|"
    r"start|stop|go|forget|close|sell|"
    r"do)\b.{0,60}\bthe\b)"
)
"""Prohibitions of an act that is done once."""
POINTED_OUT = re.compile(r"(?:\S{1,20} ){2,6}(?:this|that) [a-z-]{2,16}(?:[,.;!]|$)")
"""A demonstrative before a noun, where no clause can begin."""
LASTING = re.compile(rf"\b(?:in|for|of|across|throughout) (?:this|our|the whole) {_LASTING_PLACE}\b")
ITS_OBJECT = re.compile(
    r"(?:\S{1,20} ){1,3}(?:(?:it|them|these|those|him|her)\b(?! (?:anything|any)\b)|that(?:[.,!]|$| to\b)"
    rf"|this\b(?! {_LASTING_PLACE}\b))"
)

GO_AHEAD = re.compile(
    r"(?:you|u) (?:can|may) (?:go|merge|start|begin|proceed|stop|close|push|ship|continue|leave|see|find|tell|"
    r"take it|"
    r"delete|remove|drop|have|want)\b"
)
OF_YOU = re.compile(r"(?:you|u|ya)\b(?: (?:should|must|need to|have to|are to|will) )?|your (?:role|job|task)\b")
WISH = re.compile(
    r"(?:i|we)(?:'d| would)? (?:really )?(?:want|need|expect|like|prefer|ask) (?:for )?you to (?:please )?"
)
DEMAND = re.compile(
    rf"{KIND}{{1,200}}\b(?:(?:must|should|shall|need|can|may)n't|must|should|shall|needs?(?! (?:as|more|less|"
    r"about|some|a bit|"
    r"help|\d))|has to|have to|requires?|cannot|may not|is required|are required|is mandatory|are mandatory|"
    r"is forbidden|are forbidden|(?:is|are) not (?:allowed|permitted)|allowed)\b(?!.{0,60}\b(?:somewhere|"
    r"somehow|soon)\b)"
)
LABEL = re.compile(
    r"(?:[a-z]{1,16} ){0,2}(?:rule|convention|policy|preference|standard|practice|guideline|requirement|constraint|"
    r"forbidden|important)s?(?: \d+)? ?:"
)

# ── orders and their conditions ──────────────────────────────────────────────────────────────────────────────────

CONDITION = re.compile(r"(?:if|when|before|after|while|until|for|in|on|with|unless|as)\b([^,:]{1,200})[,:] ")
MET_ONCE = re.compile(r"(?:once|as soon as|after (?:the|that|this))\b")
TRAILING = re.compile(
    r".{3,200}?\b(?:before|when|after) ((?:(?:you|i|we)\b|(?:any|each|every|an?)\b|[a-z]{2,20}ing\b).{0,160})"
    r"|.{3,200}?\bunless\b(.{0,160})"
)
OFTEN = re.compile(
    r"\b(?:any|every|each|all|whatever|not sure|unsure|in doubt|uncertain|stuck|an? (?!minute|moment|second|sec|"
    r"chance|bit)[a-z])"
)
THRESHOLD = re.compile(r"\b(?:over|under|above|below|than|within|least|most) \S{0,4}\d\S{0,12}")
ONE_CASE = re.compile(
    r".{0,30}\b(?:cheaper|better|nicer|good) one\b| you (?:have|need|want|get) (?:any|an?) (?:questions?|time|"
    r"help|chance|minute|moment|idea)\b"
    rf"| ?(?:it|this|that|they|he|she|we|the (?!{_TALKED_ABOUT}\b))\b"
)
"""A condition with such a subject is about one case."""
POINTED_AT = re.compile(
    rf"\b(?:it|this|that|these|those|they|them|he|she|him|we|the (?!{_TALKED_ABOUT}\b))\b|\d|[{QUOTE}{CODE}_/]"
    r"|\b(?:done|ready|finished|free|back|home|a (?:minute|moment|second|sec|chance)|time|possible)\b"
    r"|\byou (?:get|arrive|land|finish|reach|come|wake|leave|have)\b"
)
"""What makes a condition one that is met once: "if it fails", "when you're done"."""

STANCE = re.compile(
    r"(?:prefer|favou?r|avoid|assume|treat (?!yourself)|stick (?:to|with)|default to|refrain|respect|"
    r"remember(?! (?:to|when|the|our|me|how)\b)"
    r"|(?:keep|bear) in mind|speak(?! (?:to|with) (?!me\b|us\b))|talk to me|address me|call (?:me|us) (?!when|if|at|"
    r"back|on|later|a\b|in|asap|before)"
    r"|(?:call|address|refer to) [a-z' ]{2,30}(?:, not|\bas)\b|keep (?:my|our) .{2,40}\b(?:out of|private|"
    r"secret|confidential|to)\b"
    r"|(?:write|speak|talk|reply|answer|e?-?mail)\b.{0,40}\b(?:formally|informally|casually|politely|briefly)\b"
    r"|keep it (?:short|brief|casual|formal|simple|light|friendly|professional|polite|concise)\b (?:when|with|"
    r"for|in)\b"
    r"|(?:answer|respond) (?:in|with) (?!the\b|just|only|an?\b|this|that)|get (?:straight )?to the point|"
    r"cut to the chase|act as|think of|err on|opt for|always|never"
    r"|be (?!there\b|here\b|back\b|right\b|quick\b|careful\b|on time|sure (?:the|it|this|that)\b)"
    r"|only (?!the\b|this|that|one\b)|ask (?:me |us )?(?:first|before)\b"
    r"|(?:skip|drop|omit|spare me|cut|lose|forget) (?:all )?(?:the |your )?(?:disclaimers?|pleasantries|"
    r"small talk|preambles?|"
    r"apologies|jargon|fluff|flattery|emojis?|caveats|filler|buzzwords|hedging)\b"
    r"|write (?:in (?:the )?(?:first|second|third|active|passive|present|past|plain|simple|short|full)|like|as if)\b"
    r"|(?:give|state|express|quote|write|put|keep)(?: me)? (?!(?:the|an?|this|that|it|some|two|"
    r"three)\b)(?:[a-z-]{2,16} )?"
    r"[a-z-]{2,16}s (?:[a-z-]{2,12} ){0,3}(?:in (?!the\b|an?\b|this|that)|as\b))"
)
"""Orders to be or to hold rather than to do."""

HABIT = re.compile(
    r"(?:(?:use|keep|answer|reply|respond|spell|format|name|cite|quote|express|indent|capitali[sz]e|abbreviate|greet"
    r"|round|limit|phrase|correct)"
    r" (?!(?:the (?!(?:active|passive|oxford|metric|imperial|imperative)\b)|(?:an?|this|that|these|those|it|"
    r"its|them|him|her|me|us"
    r"|one|two|three|some|another|both|more|whatever|port|option|version|plan|number|main|master|branch|to all|"
    r"[a-z]{2,20}ing(?=[.!,]|$| (?:it|the|this|on|at|until)\b))\b)"
    rf"|[{CODE}{QUOTE}]|(?!\d{{1,3}}-[a-z])\S{{0,20}}\d)"
    r"|(?:write|speak|explain|give|ask) (?:in (?!the\b|this|that|an?\b)|before\b|me (?:first|before)\b))"
)
"""Orders that are habits when their object is a kind of thing."""

ASSURE = re.compile(r"(?:make|be) (?:sure|certain) (?:that )?|see to it that |ensure (?:that )?")
SUBORDINATE = re.compile(
    r" (?:that|which|who|whose|where|why|how|what|whether|saying|because|so (?:that|it|the|they|we|i))\b"
)
"""Behind these an order tells of something else: "write a test that never fails"."""
