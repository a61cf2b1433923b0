"""Names, preferences, homes and families in languages other than English: one row each, the plainest wordings only.

Law: a row fires on a statement about the speaker ("ich wohne", "je préfère", "我叫"), not on the language as such.
"""

from __future__ import annotations

from libravdb_memory.gate.patterns import Pattern, row
from libravdb_memory.gate.views import View

_WEIGHT = 0.8


def _spoken(language: str, triggers: str, *wordings: str) -> Pattern:
    return row(language, _WEIGHT, "|".join(wordings), View.PROSE, triggers)


OTHER_LANGUAGES = (
    _spoken(
        "german",
        "ich mein meine meinen bitte ab merk",
        r"ich (?:heiße|bin|wohne|lebe|arbeite|mag|liebe|hasse|bevorzuge|esse|trinke|spreche)\b",
        r"ich möchte (?:keine?|immer|nie)\b",
        r"ich habe (?:eine?n? )?(?:\w{1,15}allergie|allergie|sohn|tochter|hund|katze|zwei|drei)\b",
        r"mein(?:e|en)? (?:name|frau|mann|sohn|tochter|bruder|schwester|mutter|vater|chefin|chef|hund|katze)\b",
        r"mein(?:e|en)? (?:lieblings|geburtstag)\w{0,20}|bitte (?:immer|nie|nur)\b|ab (?:jetzt|sofort)\b|merk dir\b",
    ),
    _spoken(
        "french",
        "je j mon ma désormais dorénavant à",
        r"je (?:m'appelle|préfère|déteste|travaille|vis|mange|bois|parle|n'aime|ne (?:mange|bois|supporte|veux))",
        r"je suis (?!désolée?|d'accord|sûre?|perdue?|en train)\w",
        r"j'(?:aime (?!bien ça|ça)|adore|habite|ai (?:une?|deux|\d))",
        r"(?:mon|ma) (?:nom|femme|mari|fils|fille|frère|sœur|mère|père|chef|chien|chat|anniversaire)\b",
        r"désormais\b|dorénavant\b|à partir de maintenant\b",
    ),
    _spoken(
        "spanish",
        "me no prefiero odio vivo trabajo soy tengo mi a recuerda",
        r"(?:no )?me (?:llamo|gustan?|encantan?|mudé)\b|prefiero\b|odio\b|vivo (?:en|con|a)\b|trabajo (?:en|como|de)\b",
        r"soy (?!yo\b)\w|tengo (?:alergia|una?|dos|\d)|a partir de ahora\b|recuerda que\b",
        r"mi (?:nombre|esposa|esposo|marido|hijo|hija|hermano|hermana|madre|padre|jefe|jefa|perro|gato|cumpleaños)\b",
    ),
    _spoken(
        "italian",
        "mi non preferisco abito lavoro sono d",
        r"mi (?:chiamo|piace|piacciono)\b|non mi piac\w{1,5}|preferisco\b|abito\b|lavoro (?:come|in|a|per)\b",
        r"sono (?:allergic\w|di|una?|nat[oa]|vegetarian\w)\b|d'ora in poi\b",
    ),
    _spoken(
        "portuguese",
        "eu prefiro moro gosto não detesto trabalho sou meu minha lembre",
        r"(?:eu )?(?:prefiro|moro (?:em|no|na)|gosto de|não gosto|detesto|trabalho (?:como|em|no|na))\b",
        r"(?:eu )?sou (?:alérgic\w|de|uma?)\b|lembre-se\b",
        r"(?:meu|minha) (?:nome|esposa|marido|filh[oa]|irmão|irmã|mãe|pai|chefe|cachorro|gato)\b",
    ),
    _spoken(
        "dutch",
        "ik mijn",
        r"ik (?:heet|woon|werk|hou|ben (?:een|allergisch)|eet|drink|haat)\b",
        r"mijn (?:naam|vrouw|man|zoon|dochter|broer|zus)\b",
    ),
    _spoken(
        "polish",
        "mam wolę mieszkam pracuję lubię nie nazywam",
        r"mam na imię\b|wolę\b|mieszkam\b|pracuję\b|(?:nie )?lubię\b|nazywam się\b",
    ),
    _spoken(
        "russian",
        "меня я мой моя мою моего",
        r"меня зовут\b|я (?:предпочитаю|(?:не )?люблю|живу|работаю|ненавижу|не ем|не пью|родил)",
        r"(?:мой|моя|мою|моего) (?:жен|муж|сын|доч|брат|сестр|собак|кот|имя)",
    ),
    _spoken("arabic", "اسمي أفضل أعيش أعمل أحب لا", r"اسمي\b|أفضل\b|أعيش\b|أعمل\b|(?:لا )?أحب\b"),
    _spoken(
        "chinese",
        "",
        r"我(?:叫|不?喜欢|更喜欢|讨厌|不吃|不喝|住在|在[^。！？\n]{1,12}工作|是(?!说|不是|想问|的)|有(?:一个|两个|个))",
        r"我的(?:名字|妻子|丈夫|老公|老婆|儿子|女儿|生日|母亲|父亲|妈妈|爸爸)|过敏|请记住|以后(?:请|都)",
    ),
    _spoken(
        "japanese",
        "",
        r"(?:私|僕|俺|わたし)の(?:名前|妻|夫|息子|娘|誕生日|母|父)|[がは]大?(?:好き|嫌い|苦手)",
        r"に住んで|で働いて|と申します|アレルギー|覚えておいて|これからは",
    ),
    _spoken("korean", "", r"[제내] 이름은|좋아합니다|좋아해요|싫어합니다|싫어해요|살고 있|알레르기|기억해"),
    _spoken("hindi", "", r"मेरा नाम|मुझे [^।\n]{1,30} पसंद"),
)
