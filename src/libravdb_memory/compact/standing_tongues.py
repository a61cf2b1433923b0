"""Standing rules in other tongues than English, by a small table of cues for each.

    lasting   words that make a rule by themselves ("ab jetzt", "désormais")
    always    words of permanence; they make a rule beside an order or a custom, not in a complaint
    asked     how an order, a demand or a custom of ours sounds
    stated    likings, what somebody is, prohibitions of a kind of thing, how to be answered
    passing   one thing, one moment, the past, somebody else: with these nothing stands, but for what is lasting

Law: pure; linear, by bounded repetition; read in lower case. Where a tongue is not known nothing is found. The tables
know the common turns of phrase and no grammar: they find fewer rules than the reading of English does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tongue:
    lasting: re.Pattern[str]
    always: re.Pattern[str]
    asked: re.Pattern[str]
    stated: re.Pattern[str]
    passing: re.Pattern[str]

    def states_rule(self, said: str) -> bool:
        if self.lasting.search(said):
            return True
        if self.passing.search(said):
            return False
        if self.stated.search(said):
            return True
        return self.always.search(said) is not None and self.asked.search(said) is not None


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _tongue(lasting: str, always: str, asked: str, stated: str, passing: str) -> Tongue:
    return Tongue(*map(re.compile, (lasting, always, asked, stated, passing)))


_IS_FOR_GOOD = (
    r"(?:vegetari|vegan|allerg|alérg|celia|celí|zöliaki|diab|musulm|ebre|jud|juif|daltoni|farbenblind|sourd|sord)"
)

GERMAN = _tongue(
    r"\b(?:ab jetzt|ab sofort|ab heute|künftig|in zukunft|zukünftig|von nun an|ein für alle mal)\b",
    r"\b(?:immer|nie|niemals|grundsätzlich|stets|generell|prinzipiell|ausschließlich|jedes mal|jedesmal|nur)\b",
    r"^(?:bitte )?(?!(?:er|sie|es|das|dies|ich|mein|der|warum|wieso)\b)\w{3,16}(?:e|en|ib|ich|imm|ies|ör|ag|ach|eb|"
    r"utz|s)?\b"
    r".{0,80}(?:\w{3,}en[.!]*$|\bbitte\b|!$)|^(?:bitte )?(?:antworte|schreib|sprich|nimm|nutze|verwende|benutze|frag|"
    r"gib|"
    r"mach|sag|zeig|nenn|setz|lass|lösche?|prüfe?|halte?)\b|\bwir\b|\bmüssen\b|\bsollen\b|\bdürfen\b|\bwerden\b"
    r"|^(?:nie|niemals|immer|nur)\b"
    r"|^(?:bitte )?(?!(?:er|sie|es|das|dies|ich|mein|der|warum|wieso|habe|hatte|wurde|heute|gestern)\b)\w{2,16}e "
    r"(?:bitte )?(?:nie|niemals)\b",
    r"\bich (?:will|möchte|mag|brauche|esse|trinke|benutze|nutze|lese|arbeite|fliege|fahre) (?:\w{1,12} )?(?:keine?n?|"
    r"nie|"
    r"kein|nur|lieber|nicht am|nicht vor|nicht nach)\b|\bich bevorzuge\b|\b(?:mir|uns) (?:ist|sind) \w.{2,50} lieber\b"
    rf"|\bich (?:bin|habe) (?:\w{{1,12}} ){{0,2}}\w*(?:{_IS_FOR_GOOD}|unverträglich|gehörlos|linkshänder|anfänger)"
    r"|^(?:bitte )?(?:duze?|sieze?|nenne?) (?:mich|uns|einander)\b"
    r"|^(?:bitte )?(?:antworte|schreibe?|sprich|rede|erkläre?|formuliere)\b(?: \w{1,12}){0,3} (?:kurz|knapp|auf|in|"
    r"ohne|wie|"
    r"einfach|förmlich|ausführlich|sachlich)\b"
    r"|^(?:bitte )?\w{3,16} (?:bitte |mir )?keine?n? (?!sorge|angst|ahnung|panik|stress)\w{3,}"
    r"|^(?:bitte )?keine?n? (?!ahnung|problem|sorge|zeit|lust|angst|idee|fehler|änderung|antwort|wunder)\w{3,}.{0,40}"
    r"\b(?:in|bei|mit|vor|nach|für|bitte|ohne)\b"
    r"|^(?:wenn|falls|bevor|sobald) du\b.{2,80}, (?!dann (?:ist|war)\b)\w|^(?!der|das|dies|ich|er|sie|"
    r"es)\w{3,}.{0,60}\b"
    r"(?:müssen|dürfen nicht|dürfen nur|dürfen keine|sollen|sollten|gehören|gehen bei mir nicht|sind tabu)\b"
    r"|\b(?:der|die|unsere?|mein|meine) (?:chef|chefin|kunde|kundin|kunden) (?:mag|mögen|hasst|hassen|will|wollen) "
    r"(?:keine?n?|nur|immer)\b|\bich hätte (?:es )?(?:gern|lieber)\b.{0,80}\b(?:antworten|texte|mails|zuerst|ohne)\b"
    r"|^ohne (?:rücksprache|rückfrage|absprache|freigabe|zustimmung)\b.{0,60}\b(?:nichts|keine?n?|nie|niemand)\b"
    r"|\bnicht ohne (?:rückfrage|meine|unsere|zu fragen)\b|\bbei uns (?:gilt|heißt|ist|sind|wird|werden)\b",
    r"\b(?:diese[rsnm]?|heute|gestern|jetzt|gerade|noch (?:einmal|mal|nie)|nochmal|morgen|war|waren|hatte|hatten|wurde|"
    r"wurden|gesehen|gewesen|vergisst|passiert|schon|leider|warum|wieso|sagt|sagte|er|hier)\b|\?$",
)
FRENCH = _tongue(
    r"\b(?:désormais|dorénavant|à partir de maintenant|à l'avenir|une fois pour toutes)\b",
    r"\b(?:toujours|jamais|systématiquement|uniquement|à chaque fois|chaque fois|en aucun cas|sans exception)\b",
    r"^(?:s'il (?:te|vous) pla[iî]t,? )?(?!(?:il|elle|ça|c'est|ce|je|j'|pourquoi|le|la)\b)(?:ne |n')?\w{3,}(?:-moi|e|"
    r"s|z)?\b"
    r"(?!.{0,20}\best\b)|\b(?:on|nous)\b|\bil faut\b|\bdoivent\b|\bdoit\b",
    r"\bje (?:préférerais|voudrais|souhaite|souhaiterais) que (?:tu|vous)\b|\bj'aimerais que (?:tu|vous)\b"
    r"|\b(?:le client|la cliente|les clients|mon chef|ma cheffe|le patron) (?:déteste|détestent|n'aime|veut|exige)\b"
    r"|^chez nous,? (?:on|nous)\b|\bdonc (?:pas de|pas d'|jamais|uniquement|rien)\b"
    r"|\bje (?:préfère|déteste|n'aime pas|ne (?:mange|bois|veux|travaille|prends|lis|supporte) (?:pas|jamais|que)) "
    r"(?:de |les |"
    rf"des |d'|qu)|\bje (?:suis|ne suis pas) (?:\w{{1,12}} )?(?:{_IS_FOR_GOOD}|végéta|végan|végane|gauch|débutant|"
    rf"juive)"
    r"|^(?:tutoie|vouvoie|appelle|appelez|tutoyez)-(?:moi|nous)\b"
    r"|^(?:ne|n')[ ]?\w{2,} (?:rien|jamais|pas (?:de|d'))\b|^pas (?:de |d')(?!problème|souci|chance|nouvelle|"
    r"réponse)\w{3,}.{0,40}"
    r"\b(?:dans|en|avec|avant|après|pour|sans|s'il)\b|^pas (?:de |d')\w{3,}s[,.! ]"
    r"|^(?:les|nos|mes) \w{3,}.{0,60}\b(?:doivent|ne doivent|sont toujours|restent|commencent|se font|s'écrivent|"
    r"vont)\b"
    r"|^(?:réponds|écris|parle|explique|répondez|écrivez|parlez)\b(?: \w{1,12}){0,2} (?:en (?!un mot)|sans|comme|"
    r"brièvement|"
    r"simplement|court)|\bsans me (?:demander|consulter|prévenir)\b|\b(?:demande|consulte|préviens)-moi avant\b|"
    r"^(?:si|quand) tu\b"
    r".{2,60}, (?!c'est|ça)\w",
    r"\b(?:ce|cet|cette|ces) (?!projet|dépôt|équipe|maison)\w|\b(?:aujourd'hui|hier|maintenant|encore|déjà vu|vu|"
    r"était|étaient|"
    r"pourquoi|demain|deuxième|première|n'ai|n'a|avait|il dit)\b(?<!de maintenant)|\?$",
)
SPANISH = _tongue(
    r"\b(?:a partir de ahora|de ahora en adelante|en adelante|en el futuro|de una vez por todas)\b",
    r"\b(?:siempre|nunca|jamás|únicamente|sin excepción|cada vez|en ningún caso)\b",
    r"^(?:por favor,? )?(?:siempre|nunca|jamás) (?!(?:he|ha|han|había|fue|falla|hay|me|se|es|está|vi|supe)\b)\w{3,}"
    r"|^(?!(?:él|ella|esto|eso|el|la|yo|porque|siempre|nunca)\b)\w{3,}(?:me|nos|a|e|n)?\b.{0,40}\b(?:siempre|nunca)\b"
    r"|^(?:las|los|nuestros|nuestras|mis)\b|\b\w{3,}(?:amos|emos|imos)\b",
    r"\b(?:preferiría|quisiera|me gustaría) que (?:me |no |siempre |tus? )?\w{3,}|\bas[ií] que (?:nada|sin|máximo|solo|"
    r"sólo|nunca|siempre|no uses)\b"
    r"|\b(?:el jefe|la jefa|el cliente|la clienta|los clientes) (?:odian?|detestan?|exigen?)\b"
    r"|\bprefiero (?:que|los|las|\w+s\b|el (?:té|café|tren))|\bno me gustan?\b (?:los|las|que|el)|\bno (?:como|bebo|"
    r"trabajo|uso|"
    rf"quiero) (?!nada|que|ir|saber|esto|eso)\w{{3,}}|\bsoy (?:\w{{1,12}} )?(?:{_IS_FOR_GOOD}|zurd|principiante|judí)"
    r"|^(?:por favor,? )?no (?:uses|escribas|pongas|borres|toques|cambies|modifiques|hagas|añadas|incluyas|menciones|"
    r"me \w+es)\b"
    r"|^(?:tutéame|llámame|trátame|háblame)\b|^(?:responde|escribe|habla|contesta|explica)\b(?: \w{1,12}){0,2} (?:en "
    r"(?!una "
    r"palabra)|sin|como|breve|de forma)|^(?:los|las|nuestros|nuestras) \w{3,}.{0,60}\b(?:deben|tienen que|van en|se "
    r"escriben|no "
    r"pueden|han de)\b|\bsin preguntar(?:me)?\b|\bpregúntame (?:siempre |primero )?antes\b|^(?:si|cuando) (?:no|"
    r"tengas|dudes)\b"
    r".{2,60}, \w|^(?:nada de|sin) \w{3,}s\b",
    r"\b(?:est[aeo]s?|es[ae]s?) (?!proyecto|repositorio|equipo|casa)\w|\b(?:hoy|ayer|ahora|mañana|todavía|visto|era|"
    r"estaba|segund[oa]|"
    r"primer[oa]?|dice|dijo)\b|\?$",
)
ITALIAN = _tongue(
    r"\b(?:d'ora in poi|d'ora in avanti|da adesso in poi|in futuro|una volta per tutte)\b",
    r"\b(?:sempre|mai|esclusivamente|ogni volta|in nessun caso|senza eccezioni)\b",
    r"^(?:per favore,? )?(?!(?:sono|lui|lei|questo|sempre|mai|non (?:ho|ha|è|so))\b)\w{3,}(?:a|i|"
    r"e)\b(?!.{0,12}\bho\b)|\b\w{3,}iamo\b",
    r"\b(?:preferirei|vorrei|mi piacerebbe) che (?:tu |mi |non |le |i )?\w{3,}"
    r"|\bquindi (?:niente|senza|massimo|solo|mai)\b"
    r"|\b(?:il capo|la capa|il cliente|la cliente|i clienti) (?:odia|odiano|detesta|detestano|esige)\b"
    r"|\bpreferisco (?:le|i|gli|che|\w+[ie]\b)|\bnon mi piac(?:e|ciono)\b|\bnon (?:mangio|bevo|uso|lavoro|voglio) "
    r"(?!niente|che|"
    rf"andare|sapere|questo)\w{{3,}}|\bsono (?:\w{{1,12}} )?(?:{_IS_FOR_GOOD}|mancin|principiante)"
    r"|^(?:per favore,? )?non (?:usare|scrivere|mettere|cancellare|toccare|cambiare|modificare|fare|aggiungere|"
    r"chiamarmi|menzionare)\b"
    r"|^(?:dammi|diamoci) del (?:tu|lei)\b|^chiamami\b|^(?:rispondi|scrivi|parla|spiega)\b(?: \w{1,12}){0,2} (?:in "
    r"(?!una parola)|"
    r"senza|come|breve)|^(?:i|le|gli|nostri|nostre) \w{3,}.{0,60}\b(?:devono|vanno|si scrivono|non possono|restano)\b"
    r"|\bsenza chieder(?:mi|e)\b|\bchiedimi (?:sempre )?prima\b|^(?:se|quando) (?:non|hai)\b.{2,60}, \w|^niente \w{3,}",
    r"\b(?:quest[aeio]|quell[aeio]) (?!progetto|repository|squadra|casa)\w|\b(?:oggi|ieri|adesso|domani|ancora|visto|"
    r"era|second[oa]|"
    r"prim[oa] (?!di)|dice)\b(?<!da adesso)|\?$",
)
PORTUGUESE = _tongue(
    r"\b(?:de agora em diante|a partir de agora|daqui (?:em|para a) (?:diante|frente)|doravante|no futuro)\b",
    r"\b(?:sempre|nunca|jamais|exclusivamente|toda vez|sem exceção|em nenhum caso)\b",
    r"^(?:por favor,? )?(?:sempre|nunca|jamais) (?!(?:vi|tive|foi|falha|há|está|é|fui|soube|ouvi|consegui)\b)\w{3,}"
    r"|^(?!(?:ele|ela|isso|isto|o|a|eu|está|sempre|nunca)\b)\w{3,}\b.{0,40}\b(?:sempre|nunca)\b|^(?:os|as|nossos|"
    r"nossas)\b|\b\w{3,}"
    r"(?:amos|emos|imos)\b",
    r"\b(?:preferiria|gostaria|queria) que (?:você|vocês|tu|as|os)\b|\bentão (?:nada|sem|só|no máximo|nunca)\b"
    r"|\b(?:o chefe|a chefe|o cliente|a cliente|os clientes) (?:odeiam?|detestam?|exigem?)\b"
    r"|^aqui (?:a gente|nós) (?:sempre|nunca|só|não)\b"
    r"|\bprefiro (?:que|os|as|\w+s\b)|\bnão (?:gosto de|como|bebo|uso|trabalho|quero) (?!nada|que|ir|saber|isso|"
    r"isto)\w{3,}"
    rf"|\bsou (?:\w{{1,12}} )?(?:{_IS_FOR_GOOD}|canhot|iniciante)|^(?:por favor,? )?não (?:use|uses|escreva|coloque|"
    rf"apague|toque|mude|"
    r"altere|modifique|faça|adicione|mencione|me \w+e)\b|^(?:me chame|chame-me|me trate|trate-me)\b|^(?:responda|"
    r"escreva|fale|explique|"
    r"responde|escreve)\b(?: \w{1,12}){0,2} (?:em (?!uma palavra)|sem|como|breve)|^(?:os|as|nossos|nossas) "
    r"\w{3,}.{0,60}\b(?:devem|têm "
    r"que|ficam|não podem|vão em)\b|\bsem (?:me )?perguntar\b|\bpergunte(?:-me)? (?:sempre )?antes\b|^(?:se|quando) "
    r"(?:não|tiver)\b"
    r".{2,60}, \w|^nada de \w{3,}",
    r"\b(?:est[ae]s?|ess[ae]s?) (?!projeto|repositório|equipe|casa)\w|\b(?:hoje|ontem|agora|amanhã|ainda|visto|era|"
    r"estava|segund[oa]|"
    r"disse|diz)\b|\?$",
)
RUSSIAN = _tongue(
    r"\b(?:впредь|отныне|с этого момента|с сегодняшнего дня|в будущем|в дальнейшем|раз и навсегда)\b",
    r"\b(?:всегда|никогда|только|исключительно|каждый раз|ни в коем случае|постоянно)\b",
    r"^(?:пожалуйста,? )?(?:(?:всегда|никогда|только) )?(?:не )?\w{3,}(?:й|йте|ь|ьте|и|ите|йся|ись|ай|уй)\b|"
    r"\b\w{3,}(?:ем|им)\b"
    r"|\bнужно\b|\bнадо\b|\bдолжн[аыо]?\b",
    r"\bя (?:предпочитаю|не (?:ем|пью|люблю|использую|работаю|хочу|читаю|летаю)|вегетариан|веган|левша|новичок)|\bу "
    r"меня аллергия\b"
    r"|\bмне (?:нельзя|не нравятся|нравятся|удобнее)\b|^(?:пожалуйста,? )?не (?:используй|пиши|удаляй|трогай|меняй|"
    r"добавляй|ставь|"
    r"называй|упоминай|делай|изменяй|применяй|употребляй|присылай|предлагай)(?:те)?\b"
    r"|^(?:обращайся|обращайтесь|называй|зови|зовите|называйте)\b.{0,10}\b(?:меня|мне|ко мне)\b"
    r"|^(?:отвечай|пиши|говори|объясняй|отвечайте|пишите|говорите)\b|^\w{3,}(?:и|ы|ии|а|я) (?:\w{1,12} "
    r"){0,4}(?:должны|нельзя|нужно|надо|"
    r"следует)\b|\bбез (?:спроса|разрешения|моего)\b|\bспрашивай\b.{0,20}\bпрежде\b|\bпрежде чем\b.{2,60}, (?:спроси|"
    r"спрашивай)"
    r"|^(?:никаких|без) \w{3,}|^если (?:не|ты|что-то)\b.{2,60}, \w",
    r"\b(?:эт(?:от|у|о|и|ой|их)|сегодня|вчера|сейчас|завтра|ещё|пока|видел[аи]?|был[аои]?|тормозит|опаздывает|он|она|"
    r"почему|говорит|"
    r"сказал[аи]?)\b(?<!с этого)|\?$",
)
CHINESE = _tongue(
    r"从现在起|從現在起|从今以后|从今往后|以后(?:都|请|不要|别|要|用|一律|再也)|以後(?:都|請|不要|別|要|用)|今后(?:都|请|要|用)|请始终|請始終",
    r"总是|永远|始终|一直|每次|所有|任何|一律|都|只|绝不|从不|务必",
    r"请|請|要|必须|必須|应该|應該|得用|先|不要|别|不得|禁止|我们(?:用|写|不|只)|用\S{1,6}(?:回答|写|说)",
    r"(?:^|[,，])(?:请|請)?(?:不要|别|別|请勿|不得|禁止|不许|避免)(?!关|担心|急|走|忘)|一律|必须|必須|(?:要|得)(?:简短|简洁|用|写|有|先|保持|加|以|短)"
    r"|(?:叫|称呼|稱呼)我|之前(?:先|要|必须|请)|先(?:问|問|跟我|和我)|我(?:不吃|不喝|吃素|对\S{1,8}过敏|更?喜欢|不喜欢|讨厌|是(?:素食|左撇子|初学|色盲))"
    r"|用(?:中文|英文|英语|繁体|简体|汉语|敬语)\S{0,4}(?:回答|回复|写|说|交流)|我们(?:只|从不|不)用|(?:回答|回复)(?:请|尽量|要)",
    r"这个|这個|這個|那个|那個|这些|那些|这里|刚才|昨天|今天|现在(?!起)|明天|为什么|吗|嗎|呢|[?？]$|了[。.!！]?$|没见过|還沒|还没|他|她",
)
JAPANESE = _tongue(
    r"今後は|今後も|これからは|これからも|以後は|次回から",
    r"いつも|必ず|常に|毎回|絶対に?|決して|すべて|全て|原則",
    r"ください|下さい|お願い|(?:て|で)(?:ね|ほしい|欲しい)?[。.!！]?$|こと[。.!！]?$|べき|なければ|します[。.!！]?$|禁止|しない",
    r"(?:は|を|に|も|で)(?:\S{0,8})ないで(?:ください|下さい|ほしい|ね)?|(?:る|ない)こと[。.!！]?$|禁止|"
    r"べき(?:です|だ|では)|なければなりません|アレルギー|"
    r"ベジタリアン|ヴィーガン|菜食|左利き|初心者|(?:が|は)(?:苦手|嫌い|好き)(?:です|だ)|(?:食べ|飲み|使い)ません|食べられません|"
    r"(?:方|ほう)が(?:好き|いい|良い)|前に(?:は)?(?:必ず|まず)?(?:\S{0,6})(?:確認|聞い|相談)|と呼んで|"
    r"(?:回答|返事|返信|説明|答え|コメント|文章)は\S{1,12}"
    r"(?:お願い|ください|して|書いて)|(?:で|に)統一|敬語で|タメ口で|(?:日本語|英語)で(?:答え|書い|話し|返事)",
    r"この|その|あの|これ(?!から)|それ|まだ|今日|昨日|さっき|いま|明日|もう|分かりません|わかりません|ました|でした|遅い|ですか|[?？]$|彼",
)
KOREAN = _tongue(
    r"앞으로(?:는|도)?|이제부터|지금부터|다음부터",
    r"항상|언제나|반드시|꼭|절대|매번|늘|모든|무조건|오직|결코",
    r"세요|십시오|줘|주라|해라|하라|마라|(?:지) ?마|합니다|해야|할 것|하자|바랍니다|안 됩니다|안 돼",
    r"지 ?(?:마세요|말아|마십시오|마라|마[.!]*$|말 것)|금지|"
    r"(?:안|못) (?:먹어|먹습|마셔|마십|써요|씁니다)|알레르기|채식|비건|왼손잡이|초보|"
    r"(?:이|가|을|를) (?:더 )?(?:선호|좋아|싫어)|라고 불러|"
    r"전에 (?:꼭 |먼저 |반드시 )?(?:물어|확인|알려)|"
    r"(?:답변|대답|설명|답)은 .{1,12}(?:세요|줘|주십시오)|"
    r"(?:한국어|영어|존댓말|반말)로 .{0,8}(?:답|써|말|대답|설명)|야 (?:합니다|해요|한다|해[.!]*$)|안 (?:됩니다|돼요)",
    r"(?:^| )(?:이|그|저) |이거|그거|아직|지금(?!부터)|오늘|어제|내일|방금|느려|모르|했어|었어|았어|[?？]$|그는|그녀",
)

DUTCH = _tongue(
    r"\b(?:voortaan|vanaf nu|van nu af aan|in het vervolg|vanaf vandaag)\b",
    r"\b(?:altijd|nooit|uitsluitend|alleen|steeds|elke keer|telkens)\b",
    r"^(?:graag |alsjeblieft |a\.u\.b\. )?(?:schrijf|gebruik|antwoord|geef|noem|vraag|zet|houd|maak|toon|"
    r"laat|zeg|spreek)\b"
    r"|\bwij?\b|\bwe\b|\bmoeten\b|\bmogen\b|^(?:nooit|altijd|alleen)\b",
    r"\bik (?:wil|eet|drink|gebruik|werk|lees|vlieg) (?:\w{1,12} )?(?:geen|nooit|alleen|liever)\b|\bik heb liever\b"
    rf"|\bik ben (?:\w{{1,12}} )?(?:{_IS_FOR_GOOD}|kleurenblind|linkshandig|beginner)"
    r"|^(?:alsjeblieft )?(?:gebruik|schrijf|zet|geef|stuur|maak) (?:alsjeblieft )?geen\b"
    r"|^(?:tutoyeer|noem) (?:me|mij|ons)\b"
    r"|^(?:wij|we) \w{3,}en (?:\w{1,12} )?(?:geen|nooit|alleen|altijd)\b|^geen \w{3,} (?:in|bij|voor|na|op|aub)\b"
    r"|\bzonder (?:overleg|toestemming|te vragen)\b|^(?:alle|onze) \w{3,} (?:moeten|mogen|horen)\b",
    r"\b(?:deze|dit|vandaag|gisteren|nu|morgen|was|waren|had|hadden|waarom|hij|zei|zegt|"
    r"nog (?:een keer|nooit|eens))\b|\?$",
)
SWEDISH = _tongue(
    r"\b(?:från och med nu|hädanefter|i fortsättningen|från och med idag)\b",
    r"\b(?:alltid|aldrig|endast|bara|varje gång|enbart)\b",
    r"^(?:snälla,? )?(?:svara|skriv|använd|fråga|ge|visa|kalla|håll|sätt|säg|tala)\b|\bvi\b|\bmåste\b|\bska\b"
    r"|^(?:aldrig|alltid)\b",
    r"\bjag (?:vill|äter|dricker|använder|läser) (?:inte|inga|aldrig|bara|hellre)\b|\bjag föredrar\b"
    rf"|\bjag är (?:\w{{1,12}} )?(?:{_IS_FOR_GOOD}|färgblind|vänsterhänt|nybörjare)|^kalla mig\b"
    r"|^(?:använd|skriv|skicka|lägg|ta) (?:inte|inga|aldrig)\b|^inga \w{3,} (?:i|på|före|efter|tack)\b"
    r"|^vi \w{3,} (?:inte|inga|aldrig|alltid|bara)\b|\butan att fråga\b",
    r"\b(?:den här|det här|de här|idag|igår|nu|imorgon|var|hade|varför|han|hon|sa|en gång till)\b|\?$",
)
POLISH = _tongue(
    r"\b(?:od teraz|odtąd|na przyszłość|w przyszłości|od dziś|od dzisiaj)\b",
    r"\b(?:zawsze|nigdy|wyłącznie|tylko|za każdym razem)\b",
    r"^(?:proszę,? )?(?:(?:zawsze|nigdy) )?(?:nie )?\w{3,}(?:aj|uj|ij|yj|isz|sz|cie)\b|\b\w{3,}(?:emy|amy|imy|ymy)\b"
    r"|\bmusz\w+\b|\bproszę\b|\btrzeba\b",
    r"\bwolę\b|\bnie (?:jem|piję|lubię|używam|chcę) (?!wiedzieć|iść)\w{3,}"
    r"|\bjestem (?:\w{1,12} )?(?:wegetari|wegan|uczulon|alergi|daltonist|leworęczn|początkując)"
    r"|^(?:proszę,? )?nie (?:używaj|pisz|dodawaj|zmieniaj|usuwaj|ruszaj|wysyłaj|nazywaj|stosuj|wspominaj)\b"
    r"|^(?:zwracaj się|nazywaj|mów)\b.{0,10}\bm(?:i|nie)\b|^(?:żadnych|bez) \w{3,}"
    r"|\bbez (?:pytania|mojej|uzgodnienia)\b"
    r"|\bnie (?:używamy|piszemy|stosujemy|robimy)\b",
    r"\b(?:ten|ta|to|te|tego|tej|tym|dziś|dzisiaj|wczoraj|teraz|jutro|był\w{0,4}|dlaczego|czemu|ona?|powiedzia\w{1,3}|"
    r"jeszcze raz)\b|\?$",
)
TURKISH = _tongue(
    r"\b(?:bundan sonra|bundan böyle|ileride)\b",
    r"\b(?:her zaman|daima|hep|asla|sadece|yalnızca|her seferinde|hiçbir zaman)\b",
    r"\b(?:yaz|kullan|ver|sor|göster|söyle|cevapla|yap|ekle|koy|konuş|anlat)(?:ma|me)?(?:y?[ıiuü]n)?[.!]*$|\blütfen\b"
    r"|\b\w{2,}(?:[ıiuü]yoruz|m[ae]l[ıi]y[ıi]z|m[ae]l[ıi]s[ıi]n|m[ae]l[ıi])\b",
    r"\b(?:vejetaryenim|veganım|alerjim var|tercih ederim|tercih ediyorum|bana sormadan|diye hitap et)\b"
    r"|\b(?:kullan|yaz|sil|değiştir|ekle|gönder|söyle)(?:ma|me)(?:y[ıi]n)?[.!]*$",
    r"\b(?:bu|şu|o|bugün|dün|şimdi|yarın|neden|niye|dedi|bir daha)\b|\?$",
)

_SCRIPTS = ((re.compile(r"[\u3040-\u30ff]"), JAPANESE), (re.compile(r"[\uac00-\ud7af]"), KOREAN),
            (re.compile(r"[\u4e00-\u9fff]"), CHINESE), (re.compile(r"[\u0400-\u04ff]"), RUSSIAN))  # fmt: skip
_WORDS = re.compile(r"[^\W\d_]+")
_COMMON = (
    (
        GERMAN,
        _set(
            "ich und der die das nicht ist bitte immer nie niemals ein eine keine keinen kein auf mit wir du dich "
            "mich mir ohne wenn für von zu werden grundsätzlich auch nur im am bei sind den dem"
        ),
    ),
    (
        FRENCH,
        _set(
            "je le les des est pas une toujours jamais ne et dans en pour avec sans tu il nous vous que moi mes "
            "sur s te plaît réponds préfère désormais du au aux dorénavant rien d"
        ),
    ),
    (
        SPANISH,
        _set(
            "el los las una que siempre nunca no por favor en con sin para es y soy prefiero del mis al me antes "
            "de a partir ahora responde escribe jamás"
        ),
    ),
    (
        ITALIAN,
        _set(
            "il gli una che sempre mai non per favore in con senza sono e preferisco del dei le i nel di prima "
            "dammi poi ora d rispondi scrivi chiedimi"
        ),
    ),
    (
        PORTUGUESE,
        _set(
            "o os as uma que sempre nunca não por favor em com sem para é e sou prefiro do dos das ao meus de a "
            "agora diante responda escreva"
        ),
    ),
    (
        DUTCH,
        _set(
            "ik wij we je jij het een niet geen altijd nooit voor van op met zonder alsjeblieft graag zijn en dat mijn "
            "mij als naar voortaan gebruik schrijf bij aan"
        ),
    ),
    (
        SWEDISH,
        _set(
            "jag vi du det den en ett inte aldrig alltid och är på med utan för att som om mig ska av till svara skriv "
            "använd även hur från inga"
        ),
    ),
    (
        POLISH,
        _set(
            "w na nie się do z że jest ja my ty zawsze nigdy proszę bez dla od po przed mi mnie tylko teraz używaj "
            "pisz jak zanim coś"
        ),
    ),
    (
        TURKISH,
        _set(
            "ve bir ben sen biz lütfen her zaman asla için ile bana beni olarak değil sonra bundan hiç sadece önce "
            "cevapları yaz kullan"
        ),
    ),
)
_ENGLISH = _set("the and you is are of to it that for with my i be this we not do don't please use your")


def states_rule_elsewhere(said: str) -> bool:
    """Whether a sentence in another tongue than English states a standing rule, as far as the tables can tell."""
    for script, tongue in _SCRIPTS:
        if script.search(said):
            return tongue.states_rule(said)
    return any(tongue.states_rule(said) for tongue in _spoken(said))


def _spoken(said: str) -> list[Tongue]:
    """The tongues whose common words are most frequent in a sentence; none for English."""
    words = _WORDS.findall(said)
    english = sum(word in _ENGLISH for word in words)
    counts = [(sum(word in common for word in words), tongue) for tongue, common in _COMMON]
    most = max(count for count, _ in counts)
    return [tongue for count, tongue in counts if count == most] if most > english else []
