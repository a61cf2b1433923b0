"""The conversational family: preferences, people, dates, numbers, facts about the speaker's world.

Law: presence of each row counts once, over prose only; on pure code nothing fires, and a question asserts nothing.
"""

from __future__ import annotations

from libravdb_memory.gate.languages import OTHER_LANGUAGES
from libravdb_memory.gate.patterns import row
from libravdb_memory.gate.views import CODED, View

_OFTEN = (
    r"(?: (?:really|also|still|always|usually|generally|mostly|much|strongly|absolutely|actually|personally|just|"
    r"quite|do))"
)
_NOT_THIS = r"(?! (?:it|this|that|these|those|how|your|the way|to know|you|what)\b)"
_KIN = (
    r"(?:wife|husband|partner|spouse|girlfriend|boyfriend|fianc[eé]e?|mother|father|mum|mom|dad|parents?|sister|"
    r"brother|son|daughter|kids?|child(?:ren)?|baby|twins?|aunt|uncle|cousin|niece|nephew|grand(?:ma|pa|mother|"
    r"father|son|daughter|parents)|(?:mother|father|sister|brother)-in-law|friend|roommate|flatmate|neighbou?rs?|"
    r"boss|manager|colleagues?|coworker|team(?:mate| lead)?|mentor|teacher|professor|doctor|dentist|therapist|"
    r"landlord|lawyer|accountant|dog|cat|cats|dogs|horse|parrot|rabbit)"
)
_MONTH_WORDS = (
    "january february march april may june july august september october november december jan feb mar apr jun jul "
    "aug sep sept oct nov dec januar februar märz mai juni juli oktober dezember janvier février mars avril juin "
    "juillet août septembre octobre novembre décembre enero febrero marzo mayo junio julio agosto octubre diciembre"
)
_MONTH = f"(?:{'|'.join(_MONTH_WORDS.split())})"
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_HELD = (
    _KIN
    + r"|allergy|intolerance|appointment|meeting|interview|exam|degree|licen[cs]e|diploma|house|flat|apartment|car|"
    r"garden|job|class on|lesson|surgery|birthday"
)

CONVERSATIONAL = (
    row(
        "to be remembered",
        0.8,
        r"(?:(?<![a-z] )|(?<=please ))remember(?: that\b|:| my\b| i\b| we\b| our\b| the\b|,)|keep (?:that |"
        r"this )?in mind\b|don't forget (?:that|my|i|we|our|the)\b|for the record\b|for (?:future|"
        r"your) (?:reference|information)\b|note(?: that\b|:| to self)|fyi\b|you should know\b|just so you know\b|"
        r"good to know about me\b",
        View.SAID,
        "remember keep don for note fyi you just good",
    ),
    row(
        "standing instruction",
        0.8,
        r"from (?:now|today|here) on\b|(?<![a-z] )going forward\b|in (?:the )?future,|by default,|(?<![a-z] )(?:always|"
        r"never) (?!mind\b|ever\b|been\b)[a-z]{2,}|please (?:always|never|don't|do not|only|stop)\b|"
        r"(?<![a-z] )(?:don't|do not) (?:ever |you )?(?:use|add|write|call|suggest|include|give (?!up)|"
        r"send|mention|put|"
        r"touch|commit|change|ask|reply|answer|recommend|start|end)\b|whenever (?:you|i)\b|every time you\b|(?:ask|"
        r"check with|talk to) (?:me|her|him|them|us) (?:first|before)\b|(?<![a-z] )call me (?!back|later|when|"
        r"tomorrow|at\b|on\b|in\b|if\b|a\b|crazy|maybe)[a-z]",
        View.SAID,
        "from going in by always never please don do whenever every ask check talk call",
    ),
    row(
        "preference",
        0.8,
        r"i"
        + _OFTEN
        + r"{0,2} (?:prefer|like|love|hate|dislike|enjoy|adore|loathe|detest|avoid|favou?r|swear by)\b"
        + _NOT_THIS
        + r"|"
        r"i(?: do not| don't| can't| cannot| never| no longer| won't)(?: really| ever| usually)? (?:like|want|eat|"
        r"drink|use|do|"
        r"stand|enjoy|care for|watch|wear|trust|have|tolerate|smoke|drive|fly)\b" + _NOT_THIS + r"|"
        r"i(?:'d| would) (?:much )?rather\b|i(?:'m| am) (?:not )?a (?:big |huge )?fan of\b|(?:my|"
        r"our)(?: [a-z]{1,20})? (?:favou?rites?|preference|preferred)\b",
        View.PROSE,
        "i my our",
    ),
    row(
        "identity",
        0.8,
        r"(?:my|our) (?:full |first |last |middle |user|maiden |nick)?name(?:'s| is)\b|i(?:'m| am)(?: also|"
        r" actually| currently| now| mostly)? (?:an?|the) (?!(?:bit|little|lot|few|tad|mess|fool|idiot|loss|"
        r"big fan)\b)[a-z]|i(?:'m| am)(?: also| actually| currently| now| not)? (?:from|based|allergic|married|"
        r"divorced|single|engaged|vegan|vegetarian|diabetic|lactose|colou?r.?blind|deaf|pregnant|retired|"
        r"self-employed|unemployed|left-handed|called|fluent|intolerant|training|studying|learning|working|"
        r"responsible|writing|building|\d{1,3}\b)|i (?:currently |now |also |mostly |still )?(?:work|live|study|"
        r"reside|teach|volunteer|speak|grew up|was born|come from|maintain|manage|lead|own|coach|play the|"
        r"look after|weigh|earn|take \d|suffer from)\b",
        View.PROSE,
        "my our i",
    ),
    row(
        "habit",
        0.5,
        r"i (?:usually|always|never|normally|typically|mostly|only|often|sometimes|regularly) (?!mind|knew|"
        r"thought)[a-z]{2,}|i (?:use|run (?!into|out)|wear|wake up|sleep|drive|cycle|commute)\b|"
        r"every (?:(?:other|second|third|"
        r"single) )?(?:" + _DAY + r"|morning|evening|night|week|month|year|spring|summer|autumn|winter)\b|"
        r"on (?:mon|tues|wednes|thurs|fri|satur|sun)days\b|each (?:morning|week|month|year)\b",
        View.STATEMENTS,
        "i every on each",
    ),
    row(
        "named person",
        0.5,
        r"(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er) (?:\w{1,12} ){0,2}"
        + _KIN
        + r"(?:,| is| are| was| called| named|'s name is|s called)?(?: called| named)? [A-Z][\w-]{1,30}|"
        r"(?:Mrs?|Ms|Dr|Prof|Herr|Frau|Mme|Sra?)\.? [A-Z][\w-]{1,30}",
        View.PROSE,
        "my our his her mr mrs ms dr prof herr frau mme sr sra",
        cased=True,
    ),
    row(
        "person",
        0.3,
        r"(?:my|our) (?:\w{1,12} ){0,2}" + _KIN + r"(?:'s)?\b|(?:mum|mom|dad)'s \w",
        View.STATEMENTS,
        "my our mum mom dad",
    ),
    row(
        "own fact",
        0.5,
        r"(?:my|our)(?: [\w'.-]{1,30}){1,6}? (?:is|are|was|were|has|have|will be|ends|starts|leaves|lives?|runs|uses|"
        r"costs|wants|needs|works|turns|keeps|goes|speaks|plays|takes|studies|comes|died|passed|got|moved|owns)\b|"
        r"(?:my|our) [a-z]{2,20} (?:number|address|size|birthday|account|budget|password|allergy)\b",
        View.PROSE,
        "my our",
    ),
    row(
        "event",
        0.5,
        r"(?:i|we)(?: just| recently| finally| also| already)? (?:bought|moved|started|quit|stopped|joined|adopted|"
        r"graduated|booked|signed|got (?:a|an|married|engaged|promoted|divorced)|sold|switched|retired|became|"
        r"registered|gave up|broke up|decided|agreed|chose|named|hired|founded|inherited|cancelled|canceled|"
        r"renewed)\b|(?:i|we)(?:'ve| have)(?: already| just| currently| recently| also| now| never)? "
        r"(?:been (?!thinking|trying|wondering)[a-z]{3,20}|(?!seen|been|heard|noticed|tried|looked|wondered)"
        r"[a-z]{2,18}(?:ed|en|un|ne|ght|lt)|begun|made|set up|won|lost)\b|"
        r"(?:i|we)(?:'m| am|'re| are) (?:planning|moving|getting married|expecting|saving|"
        r"going to (?:move|have|get|start|be))\b|"
        r"i(?:'ve got| have| had| have got|'ve had)(?: [\w'-]{1,20}){1,4}? (?:" + _HELD + r")\b|"
        r"we (?:have|use|own|run|keep|meet|live|speak|work)\b(?! to\b)",
        View.PROSE,
        "i we",
    ),
    row(
        "past",
        0.4,
        r"(?:i|we)(?: just| recently| also| finally| actually| even| once)? (?:went|took|visited|met|"
        r"attended|finished|won|"
        r"lost|learned|learnt|volunteered|painted|wrote|built|made|ran|hosted|organi[sz]ed|passed|failed|applied|"
        r"travell?ed|camped|celebrated|watched|read an?|signed up|had an?|saw an?|spent|completed|presented|"
        r"performed|interviewed|injured|broke)\b",
        View.STATEMENTS,
        "i we",
    ),
    row(
        "change",
        0.5,
        r"(?<![a-z] )(?:switched|set|fixed|moved|bumped|renamed|released|deployed|shipped|merged|upgraded|disabled|"
        r"enabled|changed|replaced|added|removed|pinned|updated|raised|lowered|configured|migrated) (?!up\b|"
        r"of\b)[^.!?\n]{3}|decision:|let's (?:use|go with|switch|keep (?!going|in)|drop|adopt|stick|stay with|avoid)\b|"
        r"root cause\b|(?:caused by|resolved (?:by|with))\b|(?<![a-z] )(?:it )?turn(?:s|ed) out\b",
        View.STATEMENTS,
        "switched set fixed moved bumped renamed released deployed shipped merged upgraded disabled enabled "
        "changed replaced added removed pinned updated raised lowered configured migrated decision let root "
        "caused resolved it turns turned",
    ),
    row(
        "outside fact",
        0.4,
        r"the (?:[\w'-]{1,30} ){1,4}?(?:is|are|was|runs?|ends?|starts?|leaves?|lives?|takes place|opens?|closes?|"
        r"belongs?|must) (?:on|at|in|called|named|due|with|from|by|under|to|run|always|only|\d)",
        View.STATEMENTS,
        "the",
    ),
    row(
        "about someone",
        0.4,
        r"(?<![\w.'-])(?!(?:It|This|That|There|What|He|She|They|You|We|The|These|Those|Everything|Nothing|"
        r"Something|Someone|Here|Who|How|Why|Where|When|Which|My|Our|Your|His|Her|Their|Its|One|And|But|So|"
        r"If)\b)[A-Z][a-z][\w-]{0,30}(?: [A-Z][\w-]{1,30})? (?:works|lives|owns|leads|handles|manages|joined|moved|"
        r"married|prefers|likes|hates|speaks|teaches|studies|signs|runs|wants|turns|is (?:my|our|"
        r"responsible|in charge|from|allergic|getting|called))\b",
        View.STATEMENTS,
        cased=True,
    ),
    row(
        "date",
        0.4,
        r"(?<![\w/.-])(?:\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{2,4})(?![\w/-])|"
        rf"(?<!\w)\d{{1,2}}(?:st|nd|rd|th|\.)?(?: of| de)? {_MONTH}\b|{_MONTH} (?:the )?\d{{1,4}}(?:st|nd|rd|th)?\b|"
        r"the \d{1,2}(?:st|nd|rd|th)\b|\d{4}年|\d{1,2}月\d{1,2}日|"
        r"(?:in|since|by|until|from|till|before|after|seit|en|depuis|desde|im) (?:(?:early|late|mid|last|next) )?"
        rf"(?:(?:19|20)\d{{2}}\b|{_MONTH}\b(?! i\b)|christmas|easter)|"
        rf"(?:on|by|this|next|until|every) {_DAY}\b|"
        r"(?:next|last|this) (?:week|month|year|spring|summer|autumn|fall|winter)\b|(?:days|weeks|months|years) ago\b|"
        r"yesterday\b|last (?:night|weekend|" + _DAY + r")\b|this weekend\b",
        View.STATEMENTS,
        f"the in since by until from till before after seit en depuis desde im on this next every last days weeks "
        f"months years yesterday {_MONTH_WORDS} {CODED}",
    ),
    row(
        "time",
        0.25,
        r"(?<![\w:])(?:[01]?\d|2[0-3]):[0-5]\d(?![\w:])|(?<!\w)\d{1,2} ?(?:am|pm|uhr)\b|noon\b|midnight\b",
        View.STATEMENTS,
        f"noon midnight {CODED}",
    ),
    row(
        "number",
        0.25,
        r"(?<![\w./:-])\d{1,3}(?:[ ,.]\d{3}){0,4}(?:[.,]\d{1,4})? ?(?:%|€|\$|£|eur|euros?|dollars?|usd|pounds?|kg|km|"
        r"cm|mg|ml|gb|tb|mb|ms|hours?|minutes?|days?|weeks?|months?|years?|people|m2|sqm)(?!\w)|"
        r"(?<=[$€£¥])\d|(?<![\w./:-])\d{2,}(?:[ -]\d{2,8}){0,4}(?![\w:/-])|"
        r"(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|hundred) [a-z]{3}",
        View.STATEMENTS,
        f"two three four five six seven eight nine ten eleven twelve twenty thirty hundred {CODED}",
    ),
    row("contact", 0.4, r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,63}", View.PROSE, needs="@"),
    *OTHER_LANGUAGES,
)
