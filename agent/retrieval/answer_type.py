"""The kind of value that answers a question, and where a sentence holds such values."""

import re
from enum import StrEnum

from agent.english.function_words import KINDS_OF_WRITING, LIST_VERBS, QUESTION_WORDS, STOP_WORDS, YES_NO_VERBS
from storage.quantities.days import CLEAR_MONTH_PATTERN
from storage.quantities.money import BARE_SIGN_PATTERN, CURRENCY_WORD_PATTERN, LETTER_SIGN_PATTERN
from storage.quantities.spelled_numbers import NUMBERS_BY_WORD, alternatives_of


class AnswerType(StrEnum):
    """A kind of value."""

    SPAN = "span"
    SHARE = "share"
    MONEY = "money"
    DAY = "day"
    NUMBER = "number"
    NAME = "name"


_NUMBER_PATTERN = rf"(?: (?<!\w) (?: \d[\d.,]*\d | \d ) | \b(?:{alternatives_of(NUMBERS_BY_WORD)}|hundred)\b )"
# "Three *school* days" is a span of time; "900 per week" is none.
_BETWEEN_AMOUNTS = r"(?:and|or|per|the|for|out|all|any|each|every|to|by|from|of|on|in|at) \b"
_MONTH_PATTERN = rf"{CLEAR_MONTH_PATTERN}\.?"

_QUESTION_PATTERNS = {  # the first that matches counts
    AnswerType.SPAN: r"""\b how [ ] (?:long|often|soon|old) \b
        | \b (?: duration | notice [ ] period | warranty [ ] period | time [ ]? frame ) \b""",
    AnswerType.SHARE: r"\b (?:what|which) [ ] (?:\w+ [ ])? (?:percent|percentage|share|rate) \b",
    AnswerType.MONEY: r"""\b how [ ] much \b .* \b (?:cost|pay|paid|charge|worth|fee|price)
        | \b (?:price|cost|costs|fee|fees|salary|fare) \b""",
    AnswerType.DAY: r"""^ (?:since|until|from|by)? \s* when \b
        | \b (?:what|which) [ ] (?:day|date|year|month|time) \b""",
    AnswerType.NUMBER: r"""\b how [ ] (?:many|much|far|high|big|large|wide|deep|heavy|fast|tall|hot|cold) \b
        | \b (?:number|amount) [ ] of \b""",
    AnswerType.NAME: r"\b who (?:m|se)? \b",
}
# Words as short as a unit: "shaft 3 at noon" has no number in at
_SHORT_WORDS = rf"""(?: {
    "|".join("am an and are as at but by did do for had has he if in is it no not of off on or our out she so".split())
    + "|the|to|up|us|was|we|who"
} )"""
_VALUE_PATTERNS = {
    AnswerType.SPAN: rf"""{_NUMBER_PATTERN} (?: [ ]? \( \d+ \) )? [ -]* (?: (?!{_BETWEEN_AMOUNTS}) [a-z]{{3,}} [ ] )?
            (?:second|minute|hour|day|night|week|month|quarter|year|kilomet[a-z]+|km|mile)s? \b
        | \b (?:daily|weekly|monthly|quarterly|yearly|annually|perpetual\w*|indefinite\w*) \b""",
    AnswerType.SHARE: rf"""{_NUMBER_PATTERN} (?: [ ]? \( \d+ %? \) )?
            [ ]? (?: % | (?: percent | per[ ]cent | prozent | pour[ ]cent | por[ ]ciento ) \b )""",
    AnswerType.MONEY: rf"""(?: {BARE_SIGN_PATTERN} | \b(?: {LETTER_SIGN_PATTERN} | {CURRENCY_WORD_PATTERN} )\b )
            \.? [ ]? \d[\d.,]*
            (?: [ ]? (?:million|billion|thousand|lakh|crore|k|m) \b )?
        | {_NUMBER_PATTERN} [ ]?
            (?: {BARE_SIGN_PATTERN} | (?: {CURRENCY_WORD_PATTERN} | lakh | crore | cents? | pence | ct ) \b )
        | (?<![\w.]) \d{{1,2}}p \b""",
    AnswerType.DAY: rf"""\b (?: \d{{1,2}} (?:st|nd|rd|th)? [ ] (?:day[ ])? (?:of[ ])? {_MONTH_PATTERN} ,?
            (?: [ ] \d{{4}} )?
        | {_MONTH_PATTERN} [ ] \d{{1,2}} (?:st|nd|rd|th)? (?: ,? [ ] \d{{4}} )? | {_MONTH_PATTERN} [ ] \d{{4}}
        | \d{{4}} - \d\d - \d\d | \d{{1,2}} [/.] \d{{1,2}} [/.] \d{{2,4}} | (?:19|20)\d\d ) \b""",
    AnswerType.NUMBER: rf"{_NUMBER_PATTERN} (?: [ ]? (?! {_SHORT_WORDS} \b ) [a-zµ°%Ω]{{1,3}} \b )?",
    AnswerType.NAME: r"(?-i: \b [A-Z][\w.&'-]+ (?: [ ] (?:(?:of|and|&|the)[ ])? [A-Z][\w.&'-]+ )+ )",
}
_FLAGS = re.IGNORECASE | re.VERBOSE
_MIN_NOUN_STEM, _MAX_NOUN_ENDING = 3, 2  # code points of a noun that its forms share, and that may differ at its end
_MAX_NOUN_DISTANCE = 20  # code points after a number in which the noun that it counts begins
_LETTERS = re.compile(r"[^\W\d_]+")
# Words in "s" that one value may answer: "what *days* is it open", "*whats* the fee", "what *does* it cost".
_SINGULARS_IN_S = frozenset(
    """whats whos wheres hows goes comes makes gets needs says hours days times weeks months years fees costs charges
    rates percents words steps rules thanks pls terms conditions happens applies becomes follows belongs remains exists
    occurs begins matters stands seems appears arises depends""".split()
)
# "What *colour* gloves": a property of the things that follow.
_PROPERTY_NOUNS = frozenset("colour color size shape brand make model flavour flavor strength".split())
_PLURAL_VERBS = frozenset("are were".split())  # "what *are* options"; "what did the Hendersons pay" asks for no list
_WORDS_OF_NO_PLURAL = STOP_WORDS | QUESTION_WORDS | YES_NO_VERBS | _SINGULARS_IN_S
_DIGIT = re.compile(r"\d")
_COUNTED_NOUN = re.compile(
    r"\b(?:how many|number of)(?: of)?(?: (?:the|our|these|those|all|different))* (?P<noun>[^\W\d_]{3,})", re.IGNORECASE
)
_ASKED_DOCUMENTS = re.compile(
    r"(?:\W*(?:in |from )?(?:which|what)|.*\b(?:how many|number of))(?: of)?(?: (?:the|our|your|my|these|those|all))*"
    r"(?P<words>(?: [^\W\d_][\w'’-]*){1,3})",
    re.IGNORECASE,
)
_QUESTION_REGEXES = tuple((kind, re.compile(pattern, _FLAGS)) for kind, pattern in _QUESTION_PATTERNS.items())
_VALUE_REGEXES = {kind: re.compile(pattern, _FLAGS) for kind, pattern in _VALUE_PATTERNS.items()}


def answer_type_of(question: str) -> AnswerType | None:
    """The kind of value that answers the question; None where any sentence can answer it."""
    return next((kind for kind, pattern in _QUESTION_REGEXES if pattern.search(question)), None)


def asks_for_documents(question: str) -> bool:
    """Whether all documents of a kind are asked for, or their number.

    "Which *letters* mention …", "in which of our *reports* …", "number of inspection *reports*".
    """
    match = _ASKED_DOCUMENTS.match(question)
    words = [] if match is None else match["words"].casefold().replace("-", "").split()
    return any(word in KINDS_OF_WRITING for word in words)


def asks_for_several(question: str) -> bool:
    """Whether a list is asked for: "*vacancies* one can apply for", "which *rooms* are broken", "*show* the keys"."""
    words = _LETTERS.findall(question.casefold())
    first = words[0] if words else ""
    nouns = words[1:3] if first in ("which", "what", "any", "all") else words[:1]
    is_of_verb = bool(nouns) and nouns[0] in YES_NO_VERBS - _PLURAL_VERBS
    nouns = [] if (nouns[:1] and nouns[0] in _PROPERTY_NOUNS) or is_of_verb else nouns
    return (
        any(phrase in question.casefold() for phrase in ("all of them", "list of "))
        or first in LIST_VERBS
        or any(_is_plural_of_things(word) for word in nouns)
    )


def _is_plural_of_things(word: str) -> bool:
    is_plural = word.endswith("s") and not word.endswith(("ss", "us", "is", "as"))
    return is_plural and word not in _WORDS_OF_NO_PLURAL


def counted_noun_of(question: str) -> str | None:
    """ "How many *litres* …", "number of *tests*": the noun whose number is asked; None for other questions."""
    match = _COUNTED_NOUN.search(question)
    return match["noun"] if match is not None else None


def find_values_in(text: str, answer_type: AnswerType, counted_noun: str | None = None) -> list[tuple[int, int]]:
    """The spans of the values of that kind in `text`, in order; only those before `counted_noun`, if there is one."""
    spans = [match.span() for match in _VALUE_REGEXES[answer_type].finditer(text)]
    if counted_noun is None:
        return spans
    stem = counted_noun.casefold()[: max(_MIN_NOUN_STEM, len(counted_noun) - _MAX_NOUN_ENDING)]

    def counts_noun(start: int, end: int) -> bool:
        following = _DIGIT.split(text[end : end + _MAX_NOUN_DISTANCE], maxsplit=1)[0]
        return stem in f"{text[start:end]}{following}".casefold()

    return [span for span in spans if counts_noun(*span)]
