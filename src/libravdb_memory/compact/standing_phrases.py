"""Rules that order nothing: likings, customs, demands on a kind of thing, and permanence in other tongues.

The expressions are matched at the beginning of a plain sentence (see `standing_signs`) or of a part of it. Law: linear,
by bounded repetition.
"""

from __future__ import annotations

import re

from libravdb_memory.compact.standing_signs import HAVE_DONE, KIND

_DAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days"
_NOT_US = r"(?:(?!\b(?:i|he|she|they|it|we|you)\b).)"
_RULE_NOUN = r"(?:rule|convention|policy|preference|standard|practice|default|habit|guideline|agreement|norm)"
_SPOKEN_OF = (
    r"(?:answer|repl(?:y|ie)|response|explanation|summar(?:y|ie)|date|time|price|unit|e?-?mail|message|commit|test|"
    r"comment|source|citation|flight|hotel|seat|room|meeting|recipe|report|table|example|name|number|amount|"
    r"measurement|temperature|suggestion|option|list|paragraph|sentence|word|variable|function|translation)s?"
)
_WISHED = r"(?:never|always|don't|only|no|avoid|keep|leave|skip|plan|stick|anything|nothing|list|cut)"
_DETERMINED = r"(?:the|this|that|it|its|them|an?|some|two|three|more|another|him|her|these|those)\b"

LIKINGS = (
    r"(?:when i (?:say|write|mention)|by)\b.{1,60}\bi mean\b",
    r"(?!always)(?:al+wa?ys|alwyas|nver|nevr) [a-z]",
    r"(?:.{0,60}\b)?(?:i|we) (?:(?:really|strongly|generally|usually|always|much|only|also) )?prefer (?!the\b|this|"
    r"that|it\b|to\b|him\b|her\b|them\b|you\b)",
    r"i(?:'d| would)?(?: much)? rather\b.{2,60}\bthan\b",
    r"my pronouns are\b",
    r"i(?:'d| would)? (?:want|like|expect|need) .{2,60}\b(?:in|for|on|with) (?:all|every|any|each)\b",
    r"i(?:'d| would)? (?:want|like|expect|need) (?:an? |my )?(?:weekly|daily|monthly)\b",
    r"i(?:'d like| would like| want| expect) (?!the\b|this|that|to\b|it\b)[^,]{3,60}, not\b",
    r"i don't want to be (?:called|reminded|asked|told|contacted|disturbed|interrupted|included|mentioned|quoted)\b",
    r"i (?:don't|can't|cannot|never|only) (?:eat|drink|drive|fly|do|use|have|take|work|like|own|wear|smoke|cook|"
    r"read|speak)"
    r"\b.{0,60}, so (?!(?:i|we|it|he|she|they|what|how|can|could|would|is|are|do|does|there|you|not)\b)[a-z]",
    r"i want to (?:approve|see|review|check|sign off|know|be (?:asked|told|informed))\b.{0,60}"
    r"\b(?:every|any|all|each|before you)\b",
    r"i(?:'d| would) (?:really )?(?:prefer|like|love) (?:it )?if you\b",
    r"i(?:'d| would)?(?: much)? rather (?:have|see|get|you)\b(?! (?:the|this|that|it)\b)",
    r"i(?:'d| would)? (?:only |really |always )?(?:want|like|expect|need) (?:all|every|any|no) .{2,40}\b(?:in|"
    r"as|with|to|on|under|"
    r"without|at)\b",
    rf"i(?:'d| would)? (?:only |really |always )?(?:want|like|expect) (?!{_DETERMINED}|to\b|"
    r"you\b)(?:[a-z'-]{1,16} ){0,3}"
    rf"{_SPOKEN_OF} (?:in|as|with|without|to|on|under|at|short|first|before|and)\b",
    r"i like my .{2,40}\b(?:in|on|at|with|without|as|before|after)\b",
    r"i only (?:ever )?(?:want (?!to\b)|(?:eat|drink|fly|use|take|read|accept|buy|stay|travel)\b)",
    rf"i don't (?:want|like|need) (?:any (?!trouble|more)|(?!to\b|you\b|{_DETERMINED})[a-z-]{{1,20}}s? (?:in|on|"
    r"with|at|from|as)\b)",
    rf"i (?:hate|can't stand|dislike)\b.{{1,80}}[,;] (?:so )?(?:please )?{_WISHED}\b",
    r"i don't want you to\b",
    r".{3,120}\bso (?:please |pls )?(?:never|always|don't|avoid|keep|leave|plan|stick)\b(?! (?:it|this|that|"
    r"them|the)\b)",
    rf"i(?:'m| am| can't| cannot| don't| only| have| hate| never| get)\b.{{2,80}}\bso (?:please |pls )?{_WISHED}\b",
    r"(?:.{0,40}\b)?i (?:always|never|only ever) (?:want|need|expect) ",
    r"remember(?::| that\b|,| i\b)(?! (?:bug|time|day|one))",
    r".{0,160}\b(?:(?:keep|bear) (?:this |that |it )?in mind|remember (?:that|this|it) (?:when|for|whenever))\b",
    r".{0,80}\bimportant (?:to me|that you)\b",
    r".{0,40}\b(?:great|nice|helpful|appreciate|love|good|prefer)\b.{0,40} you\b(?: [a-z]{2,10}){0,2} "
    r"(?:always|never|stop(?:ped)?|whenever|asked)\b",
    r"my (?:[a-z-]{2,16} ){1,3}(?:for|on) (?:any|every|each|all)\b",
    r".{1,80}\b(?:is|are) (?:always|never) .{1,60}\bfor me\b",
)

CUSTOMS = (
    r".{3,160}(?:\b(?:no|without) exceptions?\b|, always[.!]*$)",
    r"(?!(?:this|his|its|yes|thanks|sometimes|perhaps|always)\b)[a-z-]{2,16}s (?!are\b|were\b|went\b|was\b|is\b|"
    r"[a-z]{2,14}ed\b)[a-z]{3,14} "
    r"[^,]{1,60}, not\b",
    r"(?:.{0,40}\b)?(?:my|our|the|house|team|ground|new|one|another)"
    rf" (?:[a-z-]{{1,16}} ){{0,2}}{_RULE_NOUN}s?\b(?: [a-z`-]{{1,20}}){{0,5}}"
    r"(?: (?:is|are)\b(?! (?:broken|wrong|stupid|annoying|unclear|old|weird|fine|ok|good)\b)| ?:)",
    r"(?:tone|style|language|units?|voice|spelling|currency|diet|format) ?: ",
    r"(?:.{0,60}\b)?we (?:never|always|only) (?!(?:got|had|went|came|were|was|did|made|found|saw|knew|said|"
    r"thought|took|lost|"
    r"won|met|ate|ran|wrote|spoke|could|would|have|mind|need|want)\b)[a-z]{1,5}(?:(?!ed\b)[a-z]){0,14}\b",
    r"(?:in [a-z ]{1,30},? )?we (?!(?:were|had|went|did|could|should|would|can|might|will|got|came|saw|need|"
    r"want|have|"
    r"are|know|think|hope)\b|[a-z]{2,12}ed\b)[a-z]{2,12} .{1,100}[,;] (?:(?:and )?(?:we )?(?:don't|not|never)\b|"
    r"always\b)",
    r"(?!(?:i|we|it|he|she|they|you|this|that)\b)(?:[a-z'-]{2,16} ){1,3}(?:handles?|approves?|owns?|reviews?|"
    r"signs?|manages?|"
    r"books?|decides?(?: on)?|looks? after|takes? care of|deals? with|(?:is|are) (?:in charge of|responsible for))"
    r" (?:all|every|any|our|my|[a-z-]{2,16}s\b) ?[^,;]{0,60}[,;] (?:so|and) (?:please )?(?:always |never |don't )?"
    r"(?:forward|send|ask|cc|copy|pass|route|direct|refer|leave|talk|check|loop|include|put|assign|hand)\b",
    r"we (?:treat|consider|require|forbid|expect|allow) (?!it\b|this|that|them)",
    r"(?:in [a-z ]{1,30},? )?we don't (?!know|need|have|think|want|understand|see|care|like|get|remember|seem|"
    r"believe|agree)"
    r"[a-z]{2,14} (?!it\b|this|that|them|the\b|yet|to\b)[a-z]",
    r"(?:.{0,60}\b)?that's (?:how|the way) we\b",
    r"let's (?:never|always|avoid|not ever)\b(?!.{0,40}\b(?:this|that|it)\b)",
    r"(?:(?!(?:the|this|that|my|his|her|their|your|some|these|those) )[a-z-]{2,16} ){0,2}(?!this|his|its|it's|"
    r"was|is|has)"
    r"[a-z-]{2,16}s (?:always )?(?:live|go|belong|stay|get|need)\b(?! (?:to|help|more|a lot)\b).{1,100}(?:, not|"
    r"\bonly|nowhere|"
    r"at most|after|before|never|without|columns?|next to)\b",
    r"(?!i |he |she |it |they |you |we ).{3,80}\b(?:are|is)\b.{1,60}, (?:never|always)\b",
    r"(?:in [a-z ]{1,30},? )?(?:nobody|no one)(?: (?:but|except) [a-z]{2,16})? (?!knows|needs|cares|likes|reads|"
    r"understands|wants|uses|seems|"
    r"minds|answers|"
    r"thinks)[a-z]{2,14}s (?!it\b|me\b)",
)

DEMANDS = (
    r"(?:next time and|in general,|generally,|as always[,:])",
    r"for (?!(?:the|this|that|now|tonight|an?)\b)(?:[a-z-]{2,16} ){0,2}[a-z-]{2,16}s: ?[a-z]",
    r"(?:each|every|all|any|anything|everything|everyone|anyone)\b(?!.{0,80}\b(?:this|these)\b)(?! ?time|"
    r" of (?:them|us|the|these|"
    rf"those)\b){KIND}{{1,80}}"
    r"\b(?:must|should|shall|needs?|has to|have to|requires?|may not|cannot|gets?|goes?|has an?|"
    rf"have an?)\b(?! {HAVE_DONE})"
    r"(?! be (?:back|fine|ok|okay|good|there|done|ready|working|better|right)\b)",
    rf"(?:nothing|nobody|no one)\b{KIND}{{1,80}}\b(?:must|should|shall|may)\b(?! {HAVE_DONE})",
    r"(?:always|never) (?!an?\b|the\b|in\b|been|seen|had|got|thought|knew|heard|again|mind|say|happy|glad|nice|"
    r"good|fun|late|"
    r"true|wrong|easy|[a-z]{2,14}ed\b)[a-z]{2,14} (?:my|our|your|the|any|every|an?|in|for|with|on|as|me|"
    r"[a-z]{3,16}s)\b",
    r"nothing (?:[a-z]{2,16} ){0,2}(?:goes|leaves|gets|ships)\b",
    r"(?:nothing|nobody|no one|no [a-z]{2,20})\b.{1,60}\bwithout\b",
    r"all (?!the\b|of\b|these|those|my\b)(?:[a-z-]{2,20} ){1,3}(?:in|as|with|without|via|under|"
    r"rounded)\b(?=.{1,40}$)",
    r"(?:[a-z-]{2,20} ){1,3}only(?:,? (?:please|pls|ever))?(?:[.!,;]|$)",
    r"(?:nothing|no)\b.{2,60}\b(?:please|for me|ever)(?:,? (?:please|ever|thanks))?[.!]*$",
    r"no [a-z-]{2,20} in (?:any|my|our)\b|no new (?!messages?|e?-?mails?|errors?|info|news|results?|data|updates?|"
    r"issues?|findings)",
    r"no (?:[a-z-]{2,20} ){0,2}(?!results|errors|changes|hits|issues|problems|warnings|failures|news|matches|signs)"
    r"[a-z-]{2,20}(?:s|ing) (?:about|in|on|at|before|after|for|with|during|between|unless|over|under|to|without)\b"
    r"(?!.{0,60}\b(?:so far|was|were|found|left)\b)",
    r"no (?!results|errors|changes|hits|issues|problems|warnings|failures|news|matches|signs|worries|thanks|"
    r"complaints|regrets|"
    r"objections|tests|doubts|words|plans|ideas|clues)(?:[a-z-]{2,20} )?[a-z-]{3,20}s(?:,? (?:please|pls))?[.!]*$",
    r"(?:no|never|not) (?:more|fewer|less|longer) than\b",
    r"(?:at most|max(?:imum)?|one|two|three) .{2,60}\bper (?:day|week|month|line|slide|page|person|meal|message|"
    r"file|e?-?mail|"
    r"session|commit|chapter|paragraph|function|class|module)\b",
    r"(?:before|after|for|at the (?:start|end) of) (?:each|every|any) (?!.{0,60}\b(?:i|he|she|it|they|was|were)\b)",
    rf"on (?:weekdays|weekends|{_DAYS})\b(?!.{{0,60}}\b(?:i|he|she|it|they|we)\b)",
    rf"{_NOT_US}{{0,60}}\bonly (?:ever )?(?:suggest|recommend|propose|offer|use|book|show|send|call|buy|order|"
    r"pick|plan|write|"
    r"speak|answer)\b",
    r"(?:from now on|going forward|in (?:the )?future|henceforth|by default|as a rule)\b"
    r"(?!,? (?:i'll|i will|i'm|i am|he|she|they|it|looks|is|seems|the)\b)(?!.{0,40}\bwill\b)",
    r".{1,120}\b(?:from now on|going forward|in future)[.!]*$",
)

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

_STATED = tuple(re.compile("|".join(group)) for group in (LIKINGS, CUSTOMS, DEMANDS))


def states_rule(part: str) -> bool:
    """Whether a plain sentence, or a part of one, is a liking, a custom or a demand on a kind of thing."""
    return any(expression.match(part) for expression in _STATED)
