"""What kind of value a question is after, and where a sentence holds one."""

import re
from enum import StrEnum


class Sought(StrEnum):
    """A kind of value."""

    SPAN = "span"
    SHARE = "share"
    MONEY = "money"
    DAY = "day"
    NUMBER = "number"
    NAME = "name"


_WORDS = "one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty sixty ninety hundred"
_COUNT = rf"(?: \d[\d.,]*\d | \d | \b(?:{_WORDS.replace(' ', '|')})\b )"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)(?:[a-z]*)\.?"
_COINS = r"dollars|euros?|pounds|rupees|yen|francs|usd|eur|gbp|inr|chf|cad|aud|myr|lakh|crore"

_ASKED = {  # the first that the question holds
    Sought.SPAN: r"""\b how [ ] (?:long|often|soon|old) \b
        | \b (?: duration | notice [ ] period | warranty [ ] period | time [ ]? frame ) \b""",
    Sought.SHARE: r"\b (?:what|which) [ ] (?:\w+ [ ])? (?:percent|percentage|share|rate) \b",
    Sought.MONEY: r"""\b how [ ] much \b .* \b (?:cost|pay|paid|charge|worth|fee|price)
        | \b (?:price|cost|costs|fee|fees|salary|fare) \b""",
    Sought.DAY: r"""^ (?:since|until|from|by)? \s* when \b
        | \b (?:what|which) [ ] (?:day|date|year|month|time) \b""",
    Sought.NUMBER: r"""\b how [ ] (?:many|much|far|high|big|large|wide|deep|heavy|fast|tall|hot|cold) \b
        | \b (?:number|amount) [ ] of \b""",
    Sought.NAME: r"\b who (?:m|se)? \b",
}
_HELD = {
    Sought.SPAN: rf"""{_COUNT} (?: [ ]? \( \d+ \) )? [ -]* (?:business[ ]|calendar[ ]|working[ ])?
            (?:second|minute|hour|day|night|week|month|quarter|year|kilomet[a-z]+|km|mile)s? \b
        | \b (?:daily|weekly|monthly|quarterly|yearly|annually|perpetual\w*|indefinite\w*) \b""",
    Sought.SHARE: rf"{_COUNT} (?: [ ]? \( \d+ %? \) )? [ ]? (?: % | percent\b | per[ ]cent\b )",
    Sought.MONEY: rf"""(?: [$€£¥₹] | \b(?:usd|eur|gbp|inr|chf|cad|aud|myr|rs|rm)\b ) \.? [ ]? \d[\d.,]*
            (?: [ ]? (?:million|billion|thousand|lakh|crore|k|m) \b )?
        | {_COUNT} [ ]? (?:{_COINS}) \b""",
    Sought.DAY: rf"""\b (?: \d{{1,2}} (?:st|nd|rd|th)? [ ] (?:day[ ])? (?:of[ ])? {_MONTH} ,? (?: [ ] \d{{4}} )?
        | {_MONTH} [ ] \d{{1,2}} (?:st|nd|rd|th)? (?: ,? [ ] \d{{4}} )? | {_MONTH} [ ] \d{{4}}
        | \d{{4}} - \d\d - \d\d | \d{{1,2}} [/.] \d{{1,2}} [/.] \d{{2,4}} | (?:19|20)\d\d ) \b""",
    Sought.NUMBER: rf"{_COUNT} (?: [ ]? [a-zµ°%Ω]{{1,3}} \b )?",
    Sought.NAME: r"(?-i: \b [A-Z][\w.&'-]+ (?: [ ] (?:(?:of|and|&|the)[ ])? [A-Z][\w.&'-]+ )+ )",
}
_FLAGS = re.IGNORECASE | re.VERBOSE
_QUESTIONS = tuple((kind, re.compile(pattern, _FLAGS)) for kind, pattern in _ASKED.items())
_VALUES = {kind: re.compile(pattern, _FLAGS) for kind, pattern in _HELD.items()}


def sought_by(question: str) -> Sought | None:
    """The kind of value that answers the question; None where any sentence may."""
    return next((kind for kind, pattern in _QUESTIONS if pattern.search(question)), None)


def held_in(text: str, kind: Sought) -> list[tuple[int, int]]:
    """Where `text` holds values of the kind, in order."""
    return [match.span() for match in _VALUES[kind].finditer(text)]
