"""Rules in the first person and to the second: what somebody is, likes and never does; how to be answered; corrections.

Each table holds expressions that are matched at the beginning of a plain English sentence (see `standing_signs`) or of
a part of it. Law: pure; linear, by bounded repetition; a sentence that points at one thing or tells of the past states
nothing here.
"""

from __future__ import annotations

import re

from libravdb_memory.compact.standing_signs import CODE, DEFINITE, POINTED_AT, QUOTE

_PAST_OR_POINTING = re.compile(
    r"\b(?:this|these|those|was|were|had|did|didn't|yesterday|last (?:night|week|month|year|time)|will|i'll "
    r"(?!ask))\b"
    r"(?! (?:repo|repository|project|codebase|house|team|office|family|company|shop)\b)|\?"
    r"|\b(?:haven't|hasn't|but still|vs)\b|^do that\b"
)
_ONE_OR_KNOWN = (
    r"(?!(?:the|this|that|these|those|it|how|what|why|when|where|to|him|her|them|you|your|an?|any idea|access|"
    r"much|enough|one|two|three|more|some|another|my|all of)\b)"
)

SELF = (
    r"i (?:keep|store|have) (?:all )?my [a-z]{3,16}s? (?:in|on|at|with) (?!the\b|this|that)[a-z]",
    r"i (?:always |often |easily )?get (?:migraines?|sick|headaches?|hives|seasick|carsick|dizzy|nauseous|anxious)\b",
    r"i only (?:trust|accept|believe|buy|eat|use|wear|watch|fly|listen to) (?!the\b|this|that|it\b|one\b)[a-z]",
    r"i(?:'m| am) (?:more of an?|[a-z]{4,14}, not [a-z])",
    r"(?:at|in|on) [a-z]{3,12},? i(?:'m| am) [a-z]{2,14}, (?:to|at|in|for|otherwise|elsewhere)\b",
    r"i(?:'m| am) (?:an? )?(?:(?:strict|severely|very|strictly|also|partially|mostly) )?(?:allergic|intolerant|vegan|"
    r"vegetarian|pescatarian|celiac|coeliac|diabetic|pregnant|deaf|blind|colou?r-?blind|hard of hearing|dyslexic|"
    r"autistic|left-handed|right-handed|lactose|gluten|muslim|jewish|hindu|buddhist|teetotal|beginner|newbie|novice|"
    r"minimalist|night owl|early bird|morning person|non-?native|new to|sensitive to|not (?:a (?:fan|native|morning)|"
    r"comfortable with|into|good with|on (?:facebook|social|whatsapp)))\b",
    rf"i (?:don't|never|can't|cannot|no longer|only)(?: ever| really)? (?:eat|drink|work|use|fly|drive|speak|travel|"
    rf"own|"
    rf"smoke|wear|buy|watch|cook|accept|answer|read|take|do|touch|handle)\b {_ONE_OR_KNOWN}[a-z]",
    rf"i (?:don't|never) (?:like|want|need) {_ONE_OR_KNOWN}(?:[a-z-]{{2,16}} ){{0,2}}[a-z-]{{2,20}}s\b",
    r"i don't want an? (?:summary|intro|introduction|lecture|conclusion|recap|disclaimer|preamble|table)\b",
    rf"i (?:go by|think in|bill in|count in|prefer|dislike|avoid|favou?r|swear by|insist on|live by) {_ONE_OR_KNOWN}",
    rf"i (?:hate|dislike|can't stand|love|like|prefer) {_ONE_OR_KNOWN}[^,;]{{2,60}}"
    r"(?:\b(?:better|more|over|to) .{0,20}\b(?:than\b|[a-z])|[,;] )",
    rf"(?:around|with|at|to) (?:my |the )?[a-z]{{2,16}},? i go by {_ONE_OR_KNOWN}",
    r"i(?:'m| am) on (?:an? |my )?(?:(?!the\b)[a-z-]{2,16} ){0,2}(?:diet|medication|budget|antibiotics|blood "
    r"thinners)\b",
    r"i(?:'m| am) (?:on (?:an? )?(?:mac|pc|diet|budget|linux|windows|ubuntu|android|iphone|slow|metered|blood|"
    r"medication)|trying to "
    r"(?:avoid|cut|quit|save|lose))\b",
    rf"i (?:use|drink|eat|take|drive|speak|wear|own|ride|play|code in|write in|work from|answer|live on) (?:an? "
    rf")?{_ONE_OR_KNOWN}"
    r"(?!.{0,80}\b(?:and (?:it|then|i)|but|because|the)\b)[a-z]",
    r"i (?:have no (?!idea|time|clue|access|luck|choice|problem|doubt|words|questions?|opinion|more|energy)|can't "
    r"have )[a-z]",
    r"i (?:don't|never) (?:drink|smoke|drive|cook|swear|gamble|fly|eat out)[.!]*$",
    r"i only (?:speak|read|understand|know|have) (?!the\b|this|that|it\b|one\b)[a-z]",
    r"i (?:like|take|want|prefer|need|drink|eat|have) my [a-z-]{2,20}s? [a-z]{3,16}",
    r"i (?:hate|love|like|dislike|can't stand)(?: it)? (?:being|when you|when people)\b",
    r"(?:i|i'm|we|we're|our|my)\b.{2,60}\b(?:on|at|in the) (?:(?:mon|tues|wednes|thurs|fri|satur|sun)days|weekends|"
    r"weekdays|mornings|evenings)\b",
    rf"i (?:like|love|dislike|enjoy|want|need) (?:(?:honest|short|long|simple|good|clear|full|complete|detailed|"
    rf"direct|plain) )?{_ONE_OR_KNOWN}"
    r"[a-z-]{3,20}[^s\W]s[.!]*$",
    r"i want (?:everything|all|nothing|no) [a-z]{3,}",
    r"i(?:'m| am) (?:fine|ok|okay|happy|good|cool) with (?!the\b|this|that|it\b|you|my\b)[a-z]",
    r"i(?:'m| am) the only one who\b|only i (?:may|can)\b|i can only (?:read|open|use|eat|hear|speak|work|"
    r"meet|pay)\b",
    r"i(?:'ve| have) (?:stopped|quit|given up) [a-z]{2,12}ing (?!the\b|this|that|it\b)|i(?:'ve| have)(?: got)? (?:a |"
    r"an )?[a-z]{0,16} ?"
    r"(?:disease|allergy|intolerance|asthma|diabetes|dyslexia|adhd|migraines?|hearing|disability)\b",
    r"(?:i'm|i am|you're|you are|i|this [a-z]{4,10})\b.{2,60}, so (?!(?:i|we|it|he|she|they|what|how|can|could|would|"
    r"is|are|do|does|there|not|that|"
    r"far|the|my|now|let's|you)\b)[a-z]",
    r"my (?:name|surname|nickname|last name|first name|handle|pronouns?|title) (?:is|are) (?:(?:spelled|written|"
    r"pronounced)\b|[a-z' -]{2,40}, not\b)",
    r"it's (?:spelled |written |pronounced )?[a-z“”' .-]{2,30}, not [a-z“”' .-]{2,30}[.!]*$|it's (?:spelled|"
    r"pronounced) [a-z“”' .-]{2,30}[.!]*$",
    r"(?:i )?already know\b.{2,60}\b(?:no need|skip|don't)\b",
)
"""What somebody is, does and does not do."""

BEARABLE = re.compile(
    r".{2,160}\b(?:doesn't work for me|don't work for me|means? nothing to me|tells? me nothing|(?:is|are) (?:out of "
    r"the "
    r"question|a no-?go|fine for me|off[- ]limits|not an option|taboo|not my thing|a must|a deal-?breaker)|"
    r"drives? me "
    r"(?:mad|crazy|"
    r"nuts|up the wall)|(?:works?|suits?) (?:me )?(?:best|better|fine|well|great|okay)(?: for me)?|annoys? me|"
    r"bothers? me|makes? me (?:nervous|sick|uncomfortable)|is fine (?:with|by) me|"
    r"stays? between us|keep (?:that|it|this) (?:in mind|that way)|get (?:that|it|this) right)\b"
)
"""What is no good, or fine, for somebody."""

WISHES = (
    r"i need (?:everything|all|any [a-z]+s?) (?:in|as|with|on|by|to|printed|typed|written)\b(?!.{0,40}\b(?:noon|"
    r"tonight|meeting)\b)",
    r"i(?:'d| would)? (?:want|like|expect) to be (?:asked|told|informed|consulted|warned|notified)\b",
    r"i(?:'d| would) (?:really |much )?appreciate it if you\b",
    r"[^,]{3,80},? so (?:please )?(?:no|nothing|never|only|always|avoid|use|skip|[a-z]{2,12} [a-z]{2,12} it is)\b(?! "
    r"(?:idea|problem|luck|far))",
    r"for me,? (?:an? )?[a-z“” -]{2,30} (?:matters?|is|are|means?|comes first)\b(?! (?:crash|broken|down|slow|not "
    r"work))",
    r"(?:only|max|just) (?:[a-z-]{2,16} ){1,4}(?:please|at a time|at once|each time)\b",
    r"(?:as (?:little|few) [a-z ]{2,30} as possible|where(?:ver)? possible,|rather an? [a-z ]{2,30} than|better [a-z "
    r"]{2,30} than)\b",
    r"unless it(?:'s| is) [a-z]{3,14}, (?!(?:i|it|he|she|they|we)\b)[a-z]",
    r"no more (?:[a-z-]{2,16} ){0,2}[a-z-]{2,16}s\b(?!.{0,30}\b(?:left|today|now)\b)",
    r"i(?:'d| would)? (?:want|like|expect|need|love) .{2,60}\b(?:whatever|with every|for every|every time|for each|"
    r"for any)\b",
    r"i(?:'d| would) rather (?:have|get|see|read|hear|wait|pay)\b.{2,60}\bthan\b",
    r"(?:when|if|whenever) i\b [^,]{2,80}, i (?:want|need|expect|mean|prefer|like)\b",
    r"when(?:ever)? i (?:say|write|type|send|mention|ask for) [“”`]{1,2}[^,]{0,30}, ",
    r"(?:what|all) i (?:want|need|expect|like)(?: from you)? (?:is|are) (?!the\b|to\b|this|that|an?\b|some|"
    r"more)[a-z]",
    r"i(?:'d| would)? (?:only |really |always )?(?:want|like|expect|need) (?:all|every|each|any) (?!of\b|"
    r"the\b|these|those)"
    r"(?:[a-z-]{2,16} ){1,3}(?:(?!(?:fix|delet|remov|finish|solv|resolv|mov|chang|convert|updat|renam|replac|"
    r"check|answer|"
    r"clos|return|migrat)ed\b|need|speed)[a-z-]{2,16}ed|written|shown|spelt|signed|given|optional|private|"
    r"readable|short|"
    r"explicit|[a-z]{2,16}-(?:free|safe|proof|case))[.!]*$",
    r"it(?:'s| is) (?:very |really |super )?important (?:to me|that (?!the\b|this|it\b|we\b|i\b|he\b|she\b))|it "
    r"matters to me\b",
    r"no need to (?!(?:reply|hurry|worry|rush|thank|answer|call|wait|go|come|be there|panic)\b)[a-z]\b",
    r"enough (?:with|of) (?:the|your|all)\b",
    r"(?:spare me|skip|quit|cut|drop|lose|save me|stop with) (?:all )?(?:the |your )?(?:[a-z-]{2,14} "
    r")?(?:intro(?:duction)?s?|"
    r"lectures?|history lessons?|small talk|chit-?chat|preambles?|fluff|filler|apolog(?:y|ies)|disclaimers?|"
    r"pleasantries|"
    r"explanations?|boilerplate|emojis?|jargon|praise|compliments|recaps?|niceties|theory|basics|warnings)\b",
)

_TELL = (
    r"(?:answer|reply|respond|explain|write|talk|speak|think|phrase|word|describe|summari[sz]e|comment|format|greet|"
    r"cite|"
    r"quote|round|sign|review|translate|present|report|argue|criticise|criticize|teach|communicate|structure|"
    r"structur)"
)
_HOW_TO = (
    r"(?:like|as (?:if|though|short|simple|little|few|an?\b)|the way i|step by step|briefly|plainly|concisely|"
    r"directly|"
    r"honestly|formally|informally|casually|politely|slowly|clearly|with(?:out)? (?!the\b|this|that|an?\b|him|"
    r"her|me\b|"
    r"yes\b|just\b|only\b)|in (?!the\b|this|that|an?\b|one word|\d)|to (?:two|one|three|the nearest|the point)|at "
    r"most|only in|"
    r"only (?:with|what))"
)
MANNER = (
    r"(?:say|put|tell|write|explain) it (?:[a-z]{3,12}ly|straight)\b|write for (?:an? )?[a-z]",
    rf"{_TELL} .{{2,40}}, not [a-z]",
    rf"{_TELL}(?: (?:me|to me|with me|things|things to me|everything|everything to me|numbers|code|texts?|mails?))? "
    rf"{_HOW_TO}",
    rf"(?:say|write|call it|spell it|use|put) [{QUOTE}{CODE}]{{1,2}}[^,;]{{0,20}}(?:,? (?:not|never|instead "
    rf"of|rather "
    rf"than)) ",
    r"(?:give|show|tell|send) me (?:only |just |always )?the (?:short(?: version)?|brief|long|conclusion|results?|"
    r"answers?|"
    r"bottom line|gist|code|fix|commands?|plan|summary|diff|reasons?|source)\b[^.]{0,30}\b(?:first|before you|"
    r"only)\b",
    r".{0,60}\bshow me only\b|.{0,40}\bonly (?:show|tell|give) me\b",
    r"(?:put|start with|begin with|lead with|open with|end with|finish with) (?:the |an? )?(?:answer|"
    r"conclusion|result|"
    r"summary|bottom line|point|recommendation|question|source)s?\b",
    r"tell me (?:when|if|whenever) you(?:'re\b| are\b|(?! are\b)) (?!done|ready|finish|free|back|home|have|"
    r"get|arrive|"
    r"land|know|there)",
    r"(?:go|take it) (?:easy|light|slow) (?:on|with) ",
    r"(?:if|when|whenever) (?:you(?:'re| are)? (?:don't know|can't tell|unsure|not sure|in doubt|guess|"
    r"guessing|stuck|"
    r"uncertain)|in doubt|unsure|not sure)\b,? ",
    r"[a-z-]{2,14} [^,;]{2,80} before (?:you (?:tell|say|report|claim|declare|call|announce)|telling|saying|"
    r"reporting|"
    r"claiming|declaring|calling|announcing)\b[^,;]{0,40}\b(?:done|finished|ready|complete|completed|fixed|"
    r"works|solved)"
    r"[.!]*$",
    r"(?:check|talk|speak|confirm|consult|clear it) with me (?:before|first)\b(?!.{0,60}\b(?:this|the)\b)",
    r"(?:ask|show|tell|warn|ping|notify)(?: me)?\b.{0,30}\bbefore (?:you )?[a-z]{2,14}(?:ing)? (?!the\b|this|that|"
    r"it\b|him|"
    r"her|them)",
)
"""How to be answered."""

ORDERS = (
    r"[a-z]{3,12} nothing (?:in|on|under|outside|below|of)\b|[a-z]{3,12} me instead of [a-z]{2,12}ing\b",
    r"(?:we (?:say|write|call|use|prefer) )?[^,]{0,30}instead of [“”]{2}",
    r"let's (?:write|use|do|keep|name|call|store|put|make) [a-z ]{2,40} in (?!the\b|this|that|a\b)[a-z]|let's agree "
    r"that\b",
    r"we have (?:an? )?(?:no-|zero|strict|rule|policy|four-eyes|clean|open|flat)",
    r"we (?:bill|pay|charge|count|measure|sell|buy) by the [a-z]{3,8}\b",
    r"it(?:'s| is) (?:company|house|our|my|team|family) (?:policy|rule|practice|custom|habit|tradition) to\b",
    r"(?:this (?:project|repo|repository|codebase|team|company) is [a-z]{3,12}ly [a-z]{3,12}ed|in this (?:house|"
    r"family|team|company|project|repo) we)\b",
    r"(?:for|when) [a-z]{3,14}ing,? (?:use|take|prefer|we use|always|never|go with)\b",
    r"you have my (?:permission|ok|okay|consent|blessing)\b|you should never\b",
    r"(?:any|every)thing (?:under|over|above|below|from|with|about) [^,]{2,40} you (?:can|may|must|should)\b",
    r"test (?:on|with|in|against) [a-z]{3,16},? (?:too|as well|also)\b",
    r"(?!(?:the|this|that|no|yes|it|he|she|i|we|you)\b)[a-z-]{2,20}(?: [a-z-]{2,20})?, not [a-z -]{2,30}(?:, (?:when|"
    r"for|in|please)\b|[.!]*$)",
    r"(?:[a-z-]{2,16} ){1,3}(?:first|last|only)? ?when(?:ever)? you (?:suggest|recommend|book|order|write|cook|plan|"
    r"quote|send|buy)\b",
    r"(?:window|aisle|front|back|single|double|small|large) [a-z]{3,12} (?:for|on|in) (?:[a-z-]{2,12} "
    r")?[a-z-]{3,16}s\b",
    r"give me (?:code|facts|numbers|examples|options|links|names|sources|answers|hints|results|solutions)\b(?:,? "
    r"not\b|,? (?:only|first)|[.!]*$)",
    r"(?:prioriti[sz]e|value|rank|place) [a-z -]{2,30} (?:over|above|before|higher than) [a-z]",
    r"[a-z]{3,12} (?!(?:the|this|that|it|a|an|my)\b)[a-z -]{3,40} (?:instead of|rather than) [a-z]{2,14}ing\b",
    r"keep (?:the [a-z]{3,16}s|an?) [a-z]{3,14}(?: tone| style| voice)?[.!]*$",
    r"call (?:the|my|our) [a-z]{2,16} (?!(?:and|when|if|at|on|about|to|back|now|in|for|asap|tomorrow|again|today|"
    r"please)\b)[a-z]{2,16}[.!]*$",
    r"answer in the language\b|answer only\b|(?:reply|answer) in (?:whatever|the same) language\b",
    r"(?:whenever|if|when) (?:we|i|you) (?:talk|write|speak|discuss|ask) [^,]{2,50}, (?!(?:i|it|he|she|they|we)\b)",
    r"if it(?:'s| is) about [a-z ]{2,30}, [a-z]",
    r"(?:for|in|with|on) (?!(?:the|this|that|now|an?|my)\b)(?:[a-z-]{2,16} ){0,2}[a-z-]{2,16}s(?: to [a-z]{2,16})?,? "
    r"(?:the [a-z]{2,12} is|use|we|i prefer|i don't|"
    r"i never|i want|always|never|only)\b",
    r"for the [a-z-]{2,16}(?: [a-z-]{2,16})?, (?:always|never|only|use|no)\b|as for [a-z ]{2,20}[:,] [a-z]",
    r"you(?:'ll)? need my (?:ok|okay|approval|permission|consent)\b|you're talking to\b",
    r"this (?:project|repo|repository|codebase|team|company|house|shop) (?:uses|follows|targets|supports|requires|"
    r"needs|runs on|is written in|is public|is "
    r"private|sticks to|only|never|always)\b",
    r"it (?:should|must) always\b|that kind of [a-z]{2,16} (?:is|isn't)\b",
    rf"(?:use|reuse|write|choose|pick|take|favou?r|rebase|opt for|go for|go with|buy|cook|book|order|put|call|name) "
    rf"(?!{_TELL})"
    r"(?:the existing |existing )?(?:(?!\b(?:the|this|that|it|one|two|first|second|third|old|other|last|same|my|"
    r"your|an?|above|below)\b|\d)[^,.;]){2,60}(?:,? (?:rather than|instead of|not|never|don't) |,? over )(?!the\b|"
    r"this|that"
    r"|\S{0,6}\d)",
    r"use [a-z0-9.-]{2,20}(?: [a-z-]{2,16})? (?:for (?:anything|everything|all|any|every)|everywhere|throughout)\b",
    r"(?:use|write|keep) (?!the\b|an?\b|this|that).{2,80}\b(?:in|for|with) (?:every|all|any|each|everything|anything|"
    r"(?:my|our) [a-z]{2,20}s)\b(?!.{0,40}\b(?:today|now)\b)",
    r"use (?:placeholders|metric|imperial|celsius|british|american|plain|simple)\b",
    r"let's (?:stay (?:with|on)|stick (?:to|with)|keep [a-z]{3,16} (?:out|off|short|simple|private|apart)|not use|"
    r"leave "
    r"[a-z]{3,16} out)\b",
    r"leave (?:my|our) [a-z -]{2,30}s (?:alone|as they are|untouched)",
    r"(?:keep|hold) (?:my|our|your|all|variable|file|function|answers?|replies|commits?|functions|sentences|names?) "
    r".{2,60}",
    r"(?:consider|regard|treat|assume|count|handle) (?:everything|anything|all|whatever|my|our|i|we|every)\b",
    r"(?:squash|rebase|format|lint|test|review|ask|check|commit|document|measure|think) (?:before|first|after) "
    r"[a-z]{2,16}ing\b",
    r"(?:in|for|on|with|around|during|at) (?!(?:the|this|that|now|an?|case|fact|addition|short|any case|example)\b)"
    r"(?:[a-z-]{1,16} ){0,2}[a-z-]{2,16}(?:, |: )"
    r"(?:use|wrap|keep|write|say|avoid|never|always|don't|prefer|put|add|make|set|only|name|call|stick|speak|be|no|"
    r"all|every|assume|"
    r"round|give|start|end|[a-z0-9“`-]{1,12} (?:at the top|first|only))\b",
    rf"[{QUOTE}]{{2}} (?:means?|stands for|is short for)\b",
    r"by [a-z“” -]{2,30} i mean\b",
    r"[a-z -]{2,30} is what (?:we|i) call\b",
    r"(?:feel free|it's (?:ok|okay|fine|alright)|you're (?:free|allowed|welcome)) to (?!(?:merge|close|go|"
    r"leave|start|"
    r"reach out|ask|contact)\b)[a-z]{2,14} (?!(?:the|this|that|it|now)\b)",
)
"""Orders about kinds of things."""

_WE_DO = re.compile(
    r"(?:(?:in|on|at|for|here|around) ?[a-z -]{0,30},? )?we(?:'re an?|'re on| go by| keep| call| write| spell|"
    r" speak| "
    r"say| name| pronounce| do| "
    r"store| log| bill| count| measure| ship| pay| deploy| use| follow| target| support| stick to| test| "
    r"review| sign|"
    r" tag|"
    r" version| release| prefer| avoid| eat| cook| publish| quote| round| number| indent)\b "
    r"(?!(?:it (?!“)|the|this|that|him|her|have|need|want|not|an?|two|three|one|our|to|you|for|about|goodbye|hello|"
    r"more|less)\b)[a-z0-9“`]"
)
_WE_WAY = re.compile(
    r"we (?!(?:are|were|have|had|need|want|will|can|could|should|would|might|may|know|think|hope|met|went|got|came|"
    r"saw|sat|ran|"
    r"spoke|took|left|lost|won|found|made|did|do|fell|drove|flew|ate|slept|stood|began|were|just|also|still|already|"
    r"both|all|"
    r"[a-z]{2,12}ed)\b)[a-z]{2,12} (?:on|before|after|by|with|without|per|only|in|at) "
    r"(?!(?:the|this|that|it|him|her|them|you|us|an?|one|my)\b|\d)[a-z]"
)
_LASTING_PLACE = re.compile(r"\bthis (?:repo|repository|project|codebase|house|team|office|family|company|shop)\b")
_WE_TOLD = re.compile(r"\b(?:and (?:it|then|they|that)|but|because|since|crashed|failed|so far|currently|still)\b")

_CORRECTION = re.compile(
    r"(?:(?:no,? )+|wrong\b[ ,:-]{1,3}|again[:,] )?(?:(?:as|like) )?(?:i (?:already |just )?(?:said|told you|"
    r"asked(?: "
    r"you)? "
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
_CASE = re.compile(
    r"(?:when|if|whenever) ((?:(?:i|you|something|someone|anything|any|an?)|(?:i'm|i am|you're|you are) "
    r"(?!(?:wonder|look|hav|go|run|feel|try|do)ing)[a-z]{2,12}ing (?:an?|any|some|somebody|something|"
    r"[a-z-]{2,16}s)) [^,:]{2,100}"
    r"|(?:i'm|i am|you're|you are) (?!(?:wonder|look|hav|go|run|feel|try|do)ing)[a-z]{2,12}ing (?:(?:an?|any|some) )?"
    r"[a-z-]{3,16})[,:] (.*)"
)
_TOLD_OF = re.compile(
    r"(?:i (?!want|need|expect|prefer|mean)|it\b|he\b|she\b|they\b|we\b|the\b|there\b|what\b|how\b|something\b|"
    r"nothing\b|my\b|"
    r"that\b)"
)


def states_of_persons(said: str) -> bool:
    """Whether a plain sentence says how its speaker is, lives, or wants to be dealt with."""
    if insisted := _CORRECTION.match(said):
        rest = said[insisted.end() :]
        return bool(
            _INSISTED.match(rest)
            or (said[insisted.end() - 2] == ":" and _ONE_WORD.match(rest))
            or (rest != said and states_of_persons(rest))
        )
    if _PAST_OR_POINTING.search(said):
        return False
    if any(table.match(said) for table in _TABLES) or BEARABLE.match(said):
        return True
    if (
        (_WE_DO.match(said) or _WE_WAY.match(said))
        and not _WE_TOLD.search(said)
        and not DEFINITE.search(_LASTING_PLACE.sub("", said))
    ):
        return True
    return _ORDERS.match(said) is not None or _recurs(said)


def _recurs(said: str) -> bool:
    """An order or a wish for a case that can be met often."""
    case = _CASE.match(said)
    return case is not None and not POINTED_AT.search(_MEASURE.sub("", case[1])) and not _TOLD_OF.match(case[2])
