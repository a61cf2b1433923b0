"""Words that decide whether a full stop ends a sentence, in the languages the splitter knows.

Law: every entry is in lower case and without its last stop.
"""

from __future__ import annotations

NEVER_LAST = frozenset(
    """
    mr mrs ms mx dr prof gen sen rep gov capt cmdr lt col sgt rev hon pres messrs mt st e.g i.e eg ie cf vs viz approx
    resp incl excl esp al
    hr fr frl z.b d.h u.a u.ä o.ä s.o s.u bzw ca evtl ggf inkl exkl vgl sog bspw zzgl d.i i.d.r fa dipl ing
    m mm mme mlle mgr p.ex ex env
    sr sra srta dra ud uds av avda pza prov gral p.ej ej aprox lic
    т.е т.н т.к т.п напр см ср ул пр им акад проф г-н г-жа тов просп пл корп обл д
    डॉ श्री पं प्रो मो कु
    """.split()
)
"""Titles and the like: something always follows."""

BEFORE_NUMBERS = frozenset(
    """
    no nos nr fig figs sec secs ch chap vol art p pp par para eq tab ref rev rel ver ext op lit ed
    abb kap bd s ziff abs num núm pág págs cap n
    рис стр табл гл ст п № т
    jan feb mar apr jun jul aug sep sept oct nov dec
    """.split()
)
"""Only before a figure: "no. 5", but "I said no."."""

SELDOM_LAST = frozenset(
    """
    etc inc ltd co corp bros jr sr dept est min max avg hrs hr secs mins wk mo yr yrs ft lb lbs oz tel ext a.m p.m am pm
    usw usf mwst ff
    г гг руб коп тыс млн млрд шт др чел мин час сек кг км
    रु
    """.split()
)
"""May stand at the end: then a capital follows."""

STARTERS = frozenset(
    """
    a an the this that these those it its it's he she they we i you there here then now so but and or if when while
    because after before since in on at by for from with as to not no yes what why who how where which my our your his
    her their one some all most many both each every nobody nothing everything others please let's let also still
    however
    der die das er sie es wir ich dann und aber il elle nous on et mais le la les un une el ella los las y pero luego
    он она они мы я это там потом и но а
    """.split()
)
"""Words that begin sentences and no names: what decides after an initial or "U.S."."""

MONTHS = frozenset(
    """
    january february march april may june july august september october november december
    januar jänner februar märz mai juni juli oktober dezember
    """.split()
)

DAYS_AND_ZONES = frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday today tomorrow sharp
    eastern pacific central mountain utc gmt est edt cst cdt pst pdt cet cest bst ist jst
    """.split()
)
"""What follows "5 p.m." without beginning anything."""

BEFORE_ORDINALS = frozenset(
    "der die das dem den des am im vom zum zur beim jeder jede jedes seit und bis ihr sein mein".split()
)
"""German words after which "2." is an ordinal."""
