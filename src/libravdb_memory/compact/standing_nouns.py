"""Things whose manner is chosen by those who make or keep them, so that a sentence about the kind is a rule.

"Whales are mammals" tells of the world, "Table names are singular" of a choice: the noun makes the difference. Law: a
table of nouns by field of life, in the singular, and nothing else.
"""

from __future__ import annotations

_WRITING = """
    abbreviation abstract acronym adjective amount answer article axis bibliography blog boundary bracket bullet
    byline caption chapter character chart citation color colour comma comment conclusion currency date decimal
    diagram dialogue distance doc document documentation draft e-mail email endnote essay estimate example explanation
    figure font footnote format graph greeting heading headline height hyphen idiom illustration image introduction
    keyword label legend length letter level limit line list lyric mail map measurement message name newsletter note
    novel number paper paragraph percentage photo phrase picture poem post price punctuation question quotation quote
    range recap reference reply report response screenshot sentence signature size slide source spelling story style
    subject suggestion summary synonym table temperature template tense term text time title tone translation tweet
    typo unit voice width word wording
"""
_CODE = """
    alert api argument assertion attribute backup block boolean branch bug build button cache certificate change
    changelog class code column commit component config configuration connection constant container contribution
    cookie counter credential dashboard data database datum default dependency deploy deployment directory docstring
    endpoint entry enum environment error event exception export feature field file fixture flag folder form function
    handler header helper hook hotfix icon id identifier identity import incident indentation index input instance
    integer integration interface issue iteration job key layer layout library licence license link lint linter log
    logger logo loop macro menu merge method metric migration mock modal model module money namespace network object
    option order output package page parameter password patch path permission pipeline plugin port postmortem pr
    prefix primary process product prompt property pull push query queue record refactoring release repo repository
    request resource result retrie retry review role rollback route rule schema screen script secret semicolon server
    service session setting snapshot snippet spec state statement step story string suffix suite tab tag task test
    thread threshold ticket timeout timestamp todo token tool traffic transaction type update url uuid value variable
    version view warning webhook widget worker
"""
_WORK = """
    access agenda agreement appointment approval budget calendar call campaign complaint contract day deadline
    delivery demo discount document estimate event exam exercise expense fee flashcard friday grade guest holiday
    homework hour interview invoice laptop leave lesson material meeting minute monday month offer office overtime
    payment payroll phone presentation procedure project proposal purchase quarter quiz rate receipt refund reminder
    retro salary sale saturday schedule shift signature standup status sunday support target team thursday timesheet
    training travel trip tuesday vacation visit wednesday week weekend workshop year
"""
_HOME = """
    balcony bathroom bed bedtime bill birthday book breakfast cake car cat chore coffee cooking curtain dessert dinner
    dish dishe dog door drink drug family film flight floor food fridge furniture game garage garden gift grocerie
    grocery hotel house kid kitchen laundry light lunch meal meat medication music package parcel party pet plant
    playlist present recipe recycling rent restaurant room rubbish screen seat shoe shop shopping snack song sweet
    television thermostat toy travel tv vegetable wardrobe washing water window wine workout
"""
RULED = frozenset(f"{_WRITING} {_CODE} {_WORK} {_HOME}".split())


def is_ruled(noun: str) -> bool:
    """Whether the word, in singular or plural, names such a thing."""
    if noun in RULED or (noun.endswith("ies") and noun[:-3] + "y" in RULED):
        return True
    return noun.endswith("s") and (noun[:-1] in RULED or (noun.endswith("es") and noun[:-2] in RULED))
