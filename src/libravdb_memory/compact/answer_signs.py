"""How people answer what was said just before: the tables that `answers` is built from, in ten languages.

Law: every expression is linear (repeats are bounded, nothing nested can trade characters). Apostrophes are straight.
"""

from __future__ import annotations

import re

_OPENING = (
    r"^\W{0,3}(?:(?:hmm+|hm|oh|ah|well|wait|sorry|ok(?:ay)?|nah|but|and|then|fine|right|please)\b[,.!… ]{1,3}){0,3}"
)
_CLAUSE = r"(?:^\W{0,3}|[,;:.!–—-] |\b(?:please|then|so|but|let's|rather|just|better|and|can we|could you|we) )"
_NO = r"(?:no|nope|nah|nein|nee|non|não|нет)"
_DENSE_NO = r"(?:不是?|不要|不行|不用|いいえ|いや|아니요?|아뇨)"
_WITHOUT_CHOICE = r"(?:how|as|what|where|who|that|if|i|so|yes|because|and|but|sure|this|there|wherever|whatever|think)"

NO = re.compile(
    rf"{_OPENING}{_NO}\b\W{{1,3}}"
    r"(?!(?:he|she|it|they|that|this|there|you|nothing|not|never|er|sie|es|il|elle|он|она|это)\b)"
    r"(?!i\b(?! (?:want|need|prefer|meant|said|like|would|will)))(?!i'(?!d|ll))\w"
    rf"|^{_DENSE_NO}[，,、。.！! ]{{1,2}}\w",
    re.I,
)
"""A "no" with what is wanted behind it, and not with what happened ("No, I was in Lisbon")."""
BARE_NO = re.compile(rf"{_OPENING}{_NO}\W*$|^{_DENSE_NO}\W*$", re.I)
"""A "no" for which what is wanted is the next sentence."""

SIGN = re.compile(
    rf"{_CLAUSE}make (?:it|that|this|them|those) (?!work|clear|so\b|happen|possible|sure|look|easier|better|up\b)\S"
    rf"|{_OPENING}(?!{_WITHOUT_CHOICE}\b)(?:[^\s,;:]{{1,40}} ){{1,4}}it is(?: then)?\b(?=\W*$|[.,;:!–-])"
    rf"|{_CLAUSE}rather (?!than\b)\S|\b(?:i|we)(?:'d| would)(?: much)? (?:rather|prefer)\b|\bi(?: do)? prefer\b"
    rf"|{_CLAUSE}better (?:\d|to|use|take|the|an?|go|make|not|have)\b"
    r"|(?<=\w )lieber\b|\b(?:mach|machen wir|nimm|nehmen wir) (?:doch|besser|bitte|daraus)\b"
    r"|\b(?:mets|mettons|prends|prenons|utilise|fais)(?:-\w{2,5})? plutôt\b|\bplutôt (?!que\b|qu'|bien\b)\w"
    r"|(?<!el )(?<!la )(?<!lo )\bmejor (?!que\b|de\b)\w|\bque sean? \w|\bmás bien\b"
    r"|(?<!il )(?<!la )\bmeglio (?!di\b|che\b)\w|\bpiuttosto (?!che\b)\w|\bfacciamo \w|\bpreferi(?:sco|amo)\b"
    r"|(?<!o )(?<!a )\bmelhor (?!que\b|do\b)\w|\bprefiro\b|\bque sejam? \w"
    r"|\b(?:давай(?:те)?|лучше|скорее) \w"
    r"|还是用|還是用|还是(?=.{1,12}吧)|還是(?=.{1,12}吧)|やっぱり|やはり|にしましょう|にしてください"
    r"|차라리|로 (?:하자|해 ?주세요|합시다)",
    re.I,
)
"""What somebody chooses: "make it …", "… it is", "rather …"."""

WEAKER = re.compile(
    r"^\W{0,3}(?:hmm+|hm|wait|sorry|oops|on reflection|actually|in fact|moment|ach|attends|espera|aspetta|подожди)\b"
    r"|\bso (?:the(?! \w{1,20}er\b)|on|at|in|with|by|from|it's|let's|we'll|we (?:take|use|go|do|need)|make|not|please|"
    r"[\d`]|(?-i:[A-Z_]{2}))"
    r"|\b(?:another|(?:one|two|a few) more|an extra) (?:second|minute|hour|day|week|month|year|quarter|sprint)s?\b"
    r"|\b(?:push|delay|slip|extend|shorten|prolong)(?:e?s|p?ed|ing)?\b"
    r"|\b(?:brought|bring|put) (?:it )?(?:forward|back|off)\b"
    r"|\b(?:is|are|'s|'re|be) (?:enough|plenty|too \w)|\bmust be\b|\b(?:should|has to|have to|needs? to) be\b"
    r"|^\W{0,3}(?:(?:please|just|then|let's|we(?:'ll)?) ){0,2}(?:use|take|go (?:with|for)|keep|pick|choose|stay with|"
    r"stick (?:to|with)|set|call|name)\b"
    r"|\b(?:zu (?:kurz|lang|wenig|viel|früh|spät)|reicht|noch eine? (?:woche|tag|monat)|also (?:der|die|das|am|\d))\b"
    r"|\b(?:donc|trop|suffit|encore une? (?:semaine|jour|mois))\b"
    r"|\b(?:así que|demasiado|basta|otra semana|troppo|quindi|então)\b"
    r"|\b(?:слишком|хватит|значит|ещё (?:неделя|неделю|день|месяц))\b"
    r"|太(?=[长長短多少早晚])|所以|足够|だから|十分です|그래서|충분",
    re.I,
)
"""What may go on from what was said as well as change it."""

CONTRAST = re.compile(
    r"\w[.\"'”’`)]{0,2}, (?:and )?(?:not|nicht|kein\w?|no|non|não|не|niet) "
    r"(?!(?:sure|yet|only|even|really|that|this|because|just|at|to|too|so|very|much|more|less|nur|mehr|problem|hurry|one|"
    r"is|it|i|we|me|you|he|she|they|solo|più|más|mais|только|was|if|when|as|like|unless|until|necessarily|counting)\b)\S"
    r"|\bafter all\W*$|\bdoch (?:nicht|lieber)\b|，(?:不是|而不是)|ではなく|말고",
    re.I,
)
"""What holds against what does not."""

AGREES = re.compile(
    r"^\W{0,3}(?:yes|yep|yeah|ok(?:ay)?|good|great|fine|sure|agreed|exactly|perfect|right|thanks|cool|ja|gut|genau|oui|"
    r"parfait|sí|si|vale|sì|va bene|sim|да|хорошо|согласен)\b(?!.{0,40}\bbut\b)|^(?:好|是的|可以|はい|네|좋아)",
    re.I,
)

PROPOSES = re.compile(
    r"\b(?:i(?:'d| would)|i (?:suggest|propose|recommend|plan|think|vote)|we (?:could|should|might|can)|how about|"
    r"what about|why not|shall (?:i|we)|should (?:i|we)|do you want|would you like|let's|"
    r"suggest(?:ion|ed)|propos(?:al|ed|e)|by default|defaults? to|would be|"
    r"ich (?:würde|schlage|empfehle)|vorschlag|wir könnten|soll(?:en)? (?:ich|wir)|wie wäre|"
    r"je (?:propose|suggère|dirais|mettrais|prendrais)|on pourrait|sugiero|propongo|podríamos|recomiendo|"
    r"usaría|pondría|suggerirei|proporrei|potremmo|consiglio|sugiro|poderíamos|recomendo|предлагаю|я бы|"
    r"можно|советую)\b|建议|建議|推荐|推薦|提案|おすすめ|どうでしょう|どうですか|제안|추천|어떨까",
    re.I,
)
INTENDS = re.compile(
    r"\b(?:i|we)(?:'ll| will|'m going to|'re going to)\b|\bich (?:werde|nehme)\b|\bje vais\b|\bvoy a\b", re.I
)
"""What gives way to a sign, and not to a weaker one."""
