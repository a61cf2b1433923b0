"""Words that tell nothing of the matter: those that hold sentences together, and pleasantries.

Law: lower case, without what follows an apostrophe ("don" for "don't", "that" for "that's").
"""

from __future__ import annotations

_BINDING = """
    a about after again all also am an and any anything are aren as at be because been before being but by can could
    couldn did didn do does doesn doing don down each even ever everything few for from further get gets getting go goes
    going gonna got had hadn has hasn have haven having he her here hers him his how i if in into is isn it its itself
    just kind know let lets like ll lot lots make makes maybe me might more most much must my myself no nor not now of
    off on once one only or other our ours out over own pretty quite rather re really same say see she should shouldn so
    some someone something sort still such sure take than that the their theirs them then there these they thing things
    think this those though through to too under until up us ve very wanna want was wasn way we well were weren what
    when where which while who whom whose why will with won would wouldn you your yours yourself actually bit
    aber als am auch auf aus bei bin bis da das dass dem den der des die du ein eine einen einer er es für habe haben
    hat ich ihr im in ist ja kann man mein mit nach nicht noch nur oder schon sein sich sie sind so über um und uns von
    vor war was wenn wie wir wird zu zum zur
    au aussi avec ce ces cette dans de des du elle en est et il ils je la le les leur lui mais ma me mes mon ne nous on
    ou par pas plus pour que qui sa se ses son sont sur te toi tu un une vous
    al algo como con cuando del desde donde el ella ellos entre era es esta este esto fue ha hay lo los las más mi muy
    nos o para pero por porque se si sin sobre su sus también te tiene todo tu un una y ya yo
    а без бы был была были было в вы да для до его ее если есть же за и из или их как к когда ли мне мой мы на не него
    но ну о об он она они от по при с со так там то только ты у уже что это я
"""
_PLEASANT = """
    absolutely agree agreed ah aha amazing appreciate appreciated aw awesome aww beautiful bet bravo bye certainly
    cheers congrats congratulations cool definitely exactly excellent excited exciting fantastic fine glad good goodbye
    great haha happy hear heard hello helpful helps hey hi hmm hope huh impressive incredible inspiring interesting
    kudos later lol long love lovely luck nice nope oh ok okay perfect please proud question right soon sorry sounds
    stunning super support thank thanks thrilled totally true understand understood welcome wish wonderful woohoo wow
    yay yeah yep yes yup
    bitte danke gerne gut hallo klasse nein prima schön super tschüss
    bonjour bravo cool merci oui salut super
    bueno claro gracias genial hola perfecto vale
    привет спасибо хорошо отлично пока круто
    谢谢 好的 你好 ありがとう はい
"""

PLEASANTRIES = frozenset(_PLEASANT.split())
IDLE = frozenset(_BINDING.split()) | PLEASANTRIES
