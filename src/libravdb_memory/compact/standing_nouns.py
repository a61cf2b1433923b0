"""Things whose manner is chosen by those who make or keep them, so that a sentence about the kind is a rule.

"Whales are mammals" tells of the world, "Table names are singular" of a choice: the noun makes the difference. Law: a
table of nouns by field of life, in the singular, and nothing else.
"""

from __future__ import annotations

_WRITING = """
    boundary novel length level size limit width height abbreviation abstract acronym adjective answer article bibliography blog bracket bullet byline caption chapter
    character citation comma comment conclusion date decimal diagram dialogue document doc documentation draft e-mail email
    essay example explanation figure font footnote endnote format greeting heading headline hyphen idiom illustration
    image introduction keyword label letter line list lyric mail map measurement message name newsletter note number
    paper paragraph percentage phrase photo picture poem post punctuation question quotation quote range recap
    reference reply report response sentence signature slide source spelling story style subject suggestion summary
    synonym table template tense term text title tone translation tweet typo unit voice word wording chart graph axis colour
    color legend screenshot temperature distance price amount currency figure estimate time
"""
_CODE = """
    alert api argument assertion attribute backup boolean branch bug build cache certificate change changelog class code
    column commit component config configuration connection constant container contribution cookie counter credential
    dashboard database default dependency deploy deployment directory docstring endpoint enum entry environment error
    event exception export feature field file fixture flag folder function handler header helper hook hotfix id
    identifier identity import incident indentation index input instance integer integration interface issue iteration job key
    layer layout library licence license link lint linter log logger loop macro merge method metric migration mock
    model module money namespace network object option order output package page parameter password patch path
    permission pipeline plugin port postmortem pr prefix primary process product prompt property pull push query queue
    record refactoring release repo repository request resource result retry retrie review role rollback route rule schema script
    secret semicolon server service session setting snapshot snippet spec state statement step story string suffix suite tab tag
    task test thread threshold ticket timeout timestamp todo token tool traffic transaction type uuid update url 
    value variable version view warning webhook widget worker block button form modal screen menu icon logo datum data
"""
_WORK = """
    access agenda agreement appointment approval budget call calendar campaign   
    complaint contract day deadline delivery demo discount document estimate event expense fee
    friday guest holiday hour interview invoice laptop leave material meeting minute
    monday month offer office overtime payment payroll phone presentation procedure project proposal
    purchase quarter rate receipt refund reminder retro salary sale saturday schedule shift signature standup
    status sunday support target team thursday timesheet training travel trip tuesday vacation
 wednesday week weekend workshop year visit lesson homework exercise quiz grade exam flashcard
"""
_HOME = """
    balcony bathroom bed bedtime bill birthday book breakfast cake car cat chore coffee cooking curtain dessert dinner
    dish dishe dog door drink drug family flight floor food fridge furniture game garage garden gift grocery grocerie hotel
    house kid kitchen laundry light lunch meal meat medication music package parcel party pet plant present recipe
    recycling rent restaurant room rubbish screen seat shoe shop shopping snack sweet television thermostat toy tv
    wardrobe washing water window wine workout playlist song vegetable
"""
RULED = frozenset(f"{_WRITING} {_CODE} {_WORK} {_HOME}".split())


def is_ruled(noun: str) -> bool:
    """Whether the word, in singular or plural, names such a thing."""
    if noun in RULED or (noun.endswith("ies") and noun[:-3] + "y" in RULED):
        return True
    return noun.endswith("s") and (noun[:-1] in RULED or (noun.endswith("es") and noun[:-2] in RULED))
