"""Rules that apply whatever a question is about: how to answer, what to call somebody, what somebody is.

A rule about invoices is wanted when invoices are; one about tone, language, length, units or honesty is wanted always.
So is what a person cannot eat, see or hear, since no question says that it matters, and what is to be done before any
work is begun, changes anything or is called done: a question names the work, and not how it goes. Law: pure; linear, by
bounded repetition; a table for English and one of a few words for each other tongue.
"""

from __future__ import annotations

import re

_ANSWERS = (
    r"\b(?:your|all|any|every|each|short|long|keep|prefer|with) (?:[\w-]{1,20} )?(?:answers?|repl(?:y|ies)|"
    r"responses?|"
    r"explanations?|messages?|sentences|paragraphs|claims?)\b",
    r"^(?:\W*\w{1,12},? ){0,2}(?:answers?|repl(?:y|ies)|responses?|explanations?|respond|sentences|paragraphs)\b",
    r"\b(?:answer|reply|respond|talk|speak|write|explain|show|say|tell)(?: things| everything| it)?(?: to| "
    r"with)? me\b",
    r"\b(?:everything|anything|whatever|all) (?:that )?you (?:write|say|send|tell|answer|make|produce)\b",
    r"\b(?:summary|question|recap|offer|disclaimer) at the end\b|\bending every\b|\bend (?:with|every|each)\b",
)
_MANNER = (
    r"\b(?:emojis?|emoticons?|jargon|buzzwords|slang|small talk|chit-?chat|disclaimers?|pleasantries|markdown|bold "
    r"text|"
    r"exclamation marks?|bullet (?:points|lists?)|abbreviations|acronyms|spoilers|swear(?:ing)?|sarcasm|puns|jokes|"
    r"lower ?case|upper ?case|plain (?:words|text|english|language)|preamble|fluff|filler|adjectives|adverbs)\b",
    r"\b(?:tone|wording|spelling|tl;?dr|short version|straight to|to the point|step by step|bottom line|conclusion "
    r"first|"
    r"result first|intro(?:duction)?s?|history lesson|lecture)\b",
    r"\b(?:british|american|plain|simple|my) english\b|\b(?:british|american) spelling\b|\bin (?:english|"
    r"german|french|"
    r"spanish|italian|portuguese|dutch|swedish|russian|chinese|japanese|korean|polish|hungarian)[.!]*$",
    r"\b(?:metric|imperial|celsius|fahrenheit|24-hour|12-hour)\b|\bdecimals?\b|\bunits\b",
    r"^\W*(?:please |just |and |so |always )?(?:be|stay) (?!there|here|back|right|at\b|on\b)\w+|\bkeep it (?:short|"
    r"brief|simple)"
    r"|\bkeep answers\b|\b(?:lead|begin|start|open) with (?:the |your )?(?:answer|conclusion|result|verdict)\b",
)
_HONESTY = (
    r"\b(?:guess(?:ing)?|in doubt|not sure|unsure|don't know|invent|make (?:things|stuff) up|a wrong one|"
    r"apologi[sz]\w*|"
    r"sugar-?coat\w*|flatter\w*|assumptions|(?:give|cite|name|quote)[^.]{0,20} sources?|your (?:reasoning|sources|"
    r"arithmetic|"
    r"work|facts)|correct (?:me|my)|if i'm wrong|challenge)\b",
    r"\b(?:repeat|rephrase) my question\b|\bunless i ask\b|\bask (?:if|when|me if)\b"
    r"|\b(?:ask|check with me|tell me|show me|warn me|confirm)\b[^.]{0,40}\bbefore\b|\b(?:give|tell|let|remind|warn) "
    r"me\b[^.]{0,30}\b(?:note|know|when|first)\b|\bwhat i ask\b",
)
_PERSON = (
    r"\b(?:call|address|greet) (?:me|us)\b|\bcalling me\b|\bcalled (?:buddy|sir|madam|dear)\b|\bi go by\b|"
    r"\bpronouns?\b"
    r"|\bmy (?:(?:first|last|nick|sur)?name|nickname|handle)\b|\bit's [\w' .-]{2,30}, not\b|\bthey/them\b|"
    r"\bsurname\b",
    r"\bi(?:'m| am) (?:\w{1,12} )?(?:allergic|intolerant|vegan|vegetarian|celiac|coeliac|diabetic|deaf|blind|"
    r"colou?r-?blind|"
    r"hard of hearing|dyslexic|left-handed|pregnant|lactose|a beginner|new to|on a (?:mac|pc|diet|budget)|on "
    r"an? (?:[\w-]{1,16} ){1,2}(?:diet|budget))\b",
    r"\bi (?:don't|can't|never) (?:eat|drink|have|drive|fly)\b|\bi (?:use|read on) (?:a |my )?(?:screen reader|phone|"
    r"mac)\b"
    r"|\bkosher\b|\bhalal\b|\bgluten\b|\bdairy\b|\bsugar\b|\bmeat\b|\ballerg\w*\b|\bmy (?:hearing|eyesight|"
    r"pronouns)\b",
    r"(?<!fine )(?<!okay )(?<!ok )(?<!good )(?<!important )\b(?:with|to|for) me[.!,]"
    r"|\b(?:nothing to me|tells? me nothing|work for me|drives? me|i think in|like i'm|as if "
    r"i)\b",
)
_ANY_WORK = (
    r"(?:any|every|each) (?:\w{1,16} )?(?:file|folder|command|commit|change|edit|step|task|work|migration|"
    r"code)s?|anything|something|"
    r"files|commands|changes|code|data|things"
)
_WORK = (
    r"\bbefore (?:you (?:start|begin)|starting|beginning)(?: (?:to )?(?:cod(?:e|ing)|work(?:ing)?|writ(?:e|ing) code|"
    r"implement(?:ing)?|edit(?:ing)?|chang(?:e|ing))| with (?:any|a) \w{1,16}| on (?:any|a)\w{0,5} ?\w{0,16})?"
    r"(?: anything| something| code| files)?[.!]*$",
    r"\bbefore (?:you )?(?:tell(?:ing)?|say(?:ing)?|report(?:ing)?|claim(?:ing)?|declar(?:e|ing)|call(?:ing)?|"
    r"announc(?:e|ing))\b[^.,;]{0,40}\b(?:done|finished|ready|complete)\b",
    r"\b(?:before|when|once|whenever|after) you(?:'re| are)? (?:done|finish(?:ed)?)(?: (?:with )?(?:anything|a task|"
    r"any task|the (?:task|job|work)|work|your work|coding))?(?:[.,!]|$)",
    rf"\bbefore (?:you )?(?:delet|remov|overwrit|chang|edit|modif|touch|mov|renam|creat|writ|add|install|run|"
    rf"execut|push|"
    rf"commit|send|mak|submit)\w{{0,4}} (?:or \w{{2,14}} )?(?:{_ANY_WORK})\b",
    r"\bbefore (?:(?:you )?commit(?:ting)?|(?:each|every|any|a) commit)[.!]*$",
)
_ELSEWHERE = (
    r"\b(?:antwort\w*|sprich|duze?|sieze?|nenne? mich|anglizismen|(?:auf|in) (?:deutsch|englisch)|kurz|vegetarier\w*|"
    r"veganer\w*|"
    r"allerg\w*|frag (?:nach|mich)|unsicher)\b",
    r"\b(?:répon\w*|tutoie\w*|vouvoie\w*|appelle-moi|en français|courtes?|brièvement|allergique|végétari\w*|"
    r"végan\w*)\b",
    r"\b(?:respond[eaos]\w*|respuestas?|tute\w*|llámame|en español|breves?|vegan[oa]|vegetarian[oa]|alérgic[oa]|"
    r"anglicismos)\b",
    r"\b(?:rispond\w*|risposte|dammi del|chiamami|in italiano|brevi|mangio|abbreviazioni|respostas?|me chame|em "
    r"português|curtas?|"
    r"emojis?)\b",
    r"\b(?:отвеча\w*|ответ\w*|обращай\w*|зови|называй|эмодзи|на русском|на «?ты|не ем|аллерги\w*|вегетариан\w*)",
    r"回答|回复|表情|用中文|繁体|繁體|叫我|称呼我|不吃|过敏|素食",
    r"回答|返事|返信|敬語|タメ口|絵文字|日本語で|短め|アレルギー|食べません|と呼んで",
    r"답변|대답|답해|이모지|존댓말|반말|한국어로|알레르기|안 먹|못 먹|라고 불러",
)
_OPENING = re.compile(
    r"(?:(?:from (?:now|here|today|this point)(?: on)?(?:wards?)?|(?:going|moving) forward|in (?:the )?future|"
    r"henceforth|please|and|so|ok(?:ay)?|also|again|"
    r"when(?:ever)? (?:we (?:talk|speak|chat)|you (?:talk|speak|answer|reply|respond|write)))\b[\s,:;.-]{1,4}){1,3}",
    re.I,
)
"""How a rule may begin that says no more than that it lasts."""
_OF_A_TOPIC = re.compile(
    r"\bwhen(?:ever)? (?:we|i|you) (?:are |were )?(?:talk|speak|chat)(?:ing)? (?:about|of) "
    r"(?!anything|something|everything|whatever|it\b|things)|"
    r"\bwhen(?:ever)? (?:we|i|you) discuss (?!anything|something|everything|it\b|things)|"
    r"\bwhen(?:ever)? (?:the (?:topic|subject) is|it(?:'s| is) about) |"
    r"\bwenn (?:wir über|es um) |"
    r"\b(?:quand|lorsqu[e']) ?(?:on|nous|tu|je) (?:parl\w{1,6}|discut\w{1,6}) (?:de|du|des|d')|"
    r"\bcuando (?:hablemos|hablamos|hables|tratemos|discutamos|estemos hablando) (?:de|del|sobre) |"
    r"\bquando (?:si parla|parliamo|parlo|discutiamo) (?:di|del\w{0,2}) |"
    r"\bquando (?:falarmos|falamos|falar|discutirmos) (?:de|do|da|sobre) |"
    r"\bкогда (?:мы )?(?:говорим|обсуждаем|речь) |(?:谈到|谈论|讨论|说到|聊到)[^，。]{1,20}(?:时|的时候)|"
    r"について(?:話す|聞く|尋ねる)(?:とき|時|場合)|에 (?:대해|관해) (?:이야기|말)할 때",
    re.I,
)
"""Of a rule that says itself what the talk must be about."""
_CONCERNS = tuple(
    re.compile("|".join(group), re.I) for group in (_ANSWERS, _MANNER, _HONESTY, _PERSON, _WORK, _ELSEWHERE)
)


def concerns_every_answer(text: str) -> bool:
    """Whether a rule applies whatever the topic is."""
    plain = text.replace("’", "'").strip()
    if _OF_A_TOPIC.search(plain):
        return False
    opening = _OPENING.match(plain)
    plain = plain[opening.end() :] if opening else plain
    return any(table.search(plain) for table in _CONCERNS)
