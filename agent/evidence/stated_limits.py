"""Limits that a rule states, compared with the amount in a question: "a note is needed only after three days"."""

import re
from dataclasses import dataclass
from decimal import Decimal

from agent.english.function_words import STOP_WORDS
from storage.quantities.spelled_numbers import NUMBERS_BY_WORD, ORDINALS_BY_WORD, alternatives_of
from storage.search.analyser import fold_text

_FLAGS = re.IGNORECASE | re.VERBOSE
_NUMBER_PATTERN = rf"(?:\d{{1,3}}(?:,\d{{3}})+|\d{{1,9}}(?:\.\d{{1,2}})?|{alternatives_of(NUMBERS_BY_WORD)})"
_AMOUNT_PATTERN = rf"""(?: (?P<sign>[£$€]) [ ]? (?P<money>\d[\d,]{{0,12}}(?:\.\d\d)?)
    | (?<![\w.,]) (?P<number>{_NUMBER_PATTERN}) [ -]? (?P<nouns> % | [a-z]{{3,20}} (?: [ ] [a-z]{{3,20}} )? ) )"""
_AMOUNT = re.compile(_AMOUNT_PATTERN, _FLAGS)
_BEYOND = re.compile(
    r"""\b (?: (?: longer | more | greater | higher ) [ ] than | over | above | exceed(?:s|ed|ing)? | beyond
        | (?:rises|goes|is|climbs) [ ] (?:above|over) ) [ ] $""",
    _FLAGS,
)
_BELOW = re.compile(
    r"\b (?: (?: less | fewer | shorter | lower | younger ) [ ] than | under | below | falls [ ] to ) [ ] $", _FLAGS
)
_WITHIN = re.compile(
    r"\b (?: up [ ] to | at [ ] most | maximum [ ] of | (?:no|not [ ] (?:be [ ])?) [ ]? more [ ] than ) [ ] $",
    _FLAGS,
)
_NOT_MORE = re.compile(
    r"\b (?: no | (?:may|can|must|shall|do|does) [ ] not [ ] (?:\w+ [ ]){0,2} ) [ ]? more [ ] than \b", _FLAGS
)
_FROM = re.compile(r"\b (?: from | starting [ ] (?:with|on) ) (?: [ ] the )? [ ] $", _FLAGS)
# "Work *stops* when …", "the boat *does not leave* when …".
_STOP = re.compile(
    r"""\b (?: stop(?:s|ped)? | cease[sd]? | suspended | closed? | closes | forbidden | prohibited | banned | cancelled
        | halt(?:s|ed)? | called [ ] off | (?: do | does | may | must | shall | can | is | are | will ) [ ] not \b
        | cannot | (?:do|does|is|are|ca|must|wo)n['’]t ) \b""",
    _FLAGS,
)
_NEED = re.compile(r"\b (?: need(?:s|ed)? | require[sd]? | must | necessary | (?:have|has) [ ] to ) \b", _FLAGS)
_LEAVE = re.compile(r"\b (?: may | can | could | allowed | permitted | possible ) \b", _FLAGS)
_CASE = re.compile(r"\b (?: if | when | where | for | after | once | only ) \b", _FLAGS)
# A sentence with one of them holds in a part of the cases, or not at all.
_OTHER_CONDITION = re.compile(
    r"""\b (?: not | no | never | nobody | none | nothing | without | unless | except | but | until | otherwise | cannot
        | \w+n['’]t ) \b""",
    _FLAGS,
)
_STARTS_WITH_LIMIT = re.compile(r"^ \W* (?:above|over|below|under|beyond) [ ] $", _FLAGS)  # "Above £10,000 we need …"
_NARROWING_START = re.compile(r"\W* (?: not | no | but | except | unless | only | this | that | it | if ) \b", _FLAGS)
_CLAUSE_END = re.compile(r";\s")
# The same unit in one spelling.
_UNIT_SPELLINGS = tuple(
    (re.compile(pattern, _FLAGS), unit)
    for pattern, unit in (
        (r"\b miles? [ ] (?:per|an) [ ] hour \b", "mph"),
        (r"\b (?: (?:km|kilomet(?:re|er)s?) [ ]? (?:/ [ ]? h | per [ ] hour | an [ ] hour) | kph ) \b", "kmh"),
        (r"(?<=\d) [ ]? (?:kg|kgs|kilos?) \b", " kilograms"),
        (r"(?<=\d) [ ]? km \b", " kilometres"),
        (r"(?<=\d) [ ]? cm \b", " centimetres"),
        (r"(?<=\d) [ ]? mm \b", " millimetres"),
        (r"(?<=\d) [ ]? (?:hrs?|h) \b", " hours"),
        (r"(?<=\d) [ ]? mins? \b", " minutes"),
        (r"(?<=\d) [ ]? (?:°[ ]?c?|deg|degrees [ ] (?:celsius|centigrade)) (?!\w)", " degrees"),
        (r"(?<=\d) [ ]? (?:per [ ] cent|percent) \b", "%"),
        (r"(?<=\d) k \b", ",000"),
    )
)
UNIT_WORDS = frozenset(
    """mph kmh kph kg kgs kilo kilos km cm mm hr hrs min mins deg degrees miles hour hours day days week weeks month
    months year years metres meters percent cent""".split()
)
# What somebody asks for who wants to go on: "can we *carry on*?".
CONTINUING_WORDS = frozenset("carry continue keep going proceed work working stay".split())
_THOUSANDS = re.compile(r"\dk\b", re.IGNORECASE)
_SIGNS = frozenset("£$€")
_RANGE = re.compile(
    r"^ \W* (?:\w+[ ]){0,2} (?: from | between ) [ ] [^ ]+ (?:[ ][a-z]+)? [ ] (?: to | and | up [ ] to ) [ ] [£$€\d]",
    _FLAGS,
)
_MAX_RANGE_OPENING_WORDS = 4  # before the first amount of a sentence that begins with a range
_ORDINAL = re.compile(
    rf"\b (?P<ordinal> {alternatives_of(ORDINALS_BY_WORD)} | \d{{1,3}}(?:st|nd|rd|th) ) [ ] (?= [a-z]{{3,20}} )", _FLAGS
)
_KINDS_OF_DAYS = frozenset("working business school bank weekend".split())


@dataclass(frozen=True, slots=True)
class _StatedAmount:
    value: Decimal
    nouns: frozenset[str]  # a sign of a currency, or the nouns behind the number, in the singular
    start: int  # in the folded text
    is_ordinal: bool = False  # "the *eighth* day"

    def is_comparable(self, other: "_StatedAmount") -> bool:
        return bool(self.nouns & other.nouns) and self.nouns & _KINDS_OF_DAYS == other.nouns & _KINDS_OF_DAYS


def verdict_by_limit(sentence: str, claim: str) -> bool | None:
    """Whether an amount in the question is on the side of a limit for which the sentence says yes; None if unclear.

    Both must speak of a need, or both of leave: "needed only if you are away for *longer than three days*" says no to
    "do I need a note for *two days*?", and "*up to five days* may be carried over" says no to "can I carry over *six*
    days?". "Work stops when the wind exceeds 23 mph" says no to "can we go on at *27 mph*?". A sentence or a question
    with several amounts, or with another condition, tells nothing.
    """
    claim = _normalise_amounts(claim)
    clause = _clause_with_amount(_normalise_amounts(sentence))
    asked, told = _amounts_in(claim), _amounts_in(clause)
    if len(asked) != 1 or len(told) != 1 or not asked[0].is_comparable(told[0]):
        return None
    if _OTHER_CONDITION.search(claim):
        return None
    before = clause[: told[0].start]
    needs_asked = _NEED.search(claim) is not None
    leave_asked = _LEAVE.search(claim) is not None and not needs_asked
    if (is_within := _verdict_by_maximum(clause, before, asked[0], told[0])) is not None:
        return is_within if leave_asked else None
    is_met = _is_met(before, clause, asked[0], told[0])
    stops = _STOP.findall(clause)
    if is_met is not None and len(stops) == 1 and _OTHER_CONDITION.search(_STOP.sub(" ", clause)) is None:
        return (not is_met) if leave_asked and _CASE.search(clause) else None
    if is_met is None or _OTHER_CONDITION.search(clause):
        return None
    needs = needs_asked and _NEED.search(clause) is not None
    leaves = leave_asked and _LEAVE.search(clause) is not None
    return is_met if needs or leaves else None


def is_of_other_range(sentence: str, question: str) -> bool:
    """ "*From £1,000 to £10,000* two offers are needed": whether the sentence begins with a range of amounts, and the
    amount of the question is not in it. A sentence or a question with other amounts is of no range.
    """
    asked = _amounts_in(_normalise_amounts(question))
    folded = _normalise_amounts(sentence)
    told = _amounts_in(folded)
    if len(asked) != 1 or not told or told[0].is_ordinal:
        return False
    is_shortened = _THOUSANDS.search(question) is not None and bool(told[0].nouns & _SIGNS)
    if not (asked[0].is_comparable(told[0]) or is_shortened):
        return False
    told = [amount for amount in told if amount.is_comparable(told[0])]
    before = folded[: told[0].start]
    if len(before.split()) > _MAX_RANGE_OPENING_WORDS:
        return False
    value, low = asked[0].value, told[0].value
    if len(told) == 2 and _RANGE.search(folded) is not None:
        return not low <= value <= told[1].value
    if len(told) > 1:
        return False
    if _BEYOND.search(before):
        return value <= low
    if _FROM.search(before):
        return value < low
    return value > low if _WITHIN.search(before) or _BELOW.search(before) else False


def _verdict_by_maximum(clause: str, before: str, asked: "_StatedAmount", told: "_StatedAmount") -> bool | None:
    """ "Up to five days *may* be carried over", "it carries *no more than* two tonnes": whether as much is allowed."""
    is_limit = _NOT_MORE.search(clause) is not None and before.rstrip().casefold().endswith("more than")
    if is_limit:
        return asked.value <= told.value if _OTHER_CONDITION.search(_NOT_MORE.sub(" ", clause)) is None else None
    if _WITHIN.search(before) is None or _LEAVE.search(clause) is None or _OTHER_CONDITION.search(clause):
        return None
    return asked.value <= told.value


def _is_met(before: str, clause: str, asked: "_StatedAmount", told: "_StatedAmount") -> bool | None:
    """Whether the amount is one for which the case of the clause holds; None if the clause has no such case."""
    if told.is_ordinal:
        is_from, is_after = _FROM.search(before), re.search(r"\bafter (?:the )?$", before)
        if not (is_from or is_after):
            return None
        return asked.value > told.value if is_after else asked.value >= told.value
    if _BEYOND.search(before) and (_CASE.search(clause) or _STARTS_WITH_LIMIT.match(before)):
        return asked.value > told.value
    if _BELOW.search(before) and (_CASE.search(clause) or _STARTS_WITH_LIMIT.match(before)):
        return asked.value < told.value
    return asked.value >= told.value if _FROM.search(before) else None


def _normalise_amounts(text: str) -> str:
    """Returns the folded text with each unit in one spelling, and "12k" in digits."""
    folded = fold_text(text)
    for pattern, unit in _UNIT_SPELLINGS:
        folded = pattern.sub(unit, folded)
    return folded


def _clause_with_amount(sentence: str) -> str:
    """Returns the part before or behind a semicolon that holds the amount; all, if another part narrows it."""
    clauses = _CLAUSE_END.split(sentence)
    holding = [clause for clause in clauses if _amounts_in(clause)]
    narrows = any(_NARROWING_START.match(clause) for clause in clauses[1:])
    return holding[0] if len(holding) == 1 and not narrows else sentence


def _amounts_in(text: str) -> list[_StatedAmount]:
    ordinals = [
        _StatedAmount(
            value=_value_of_ordinal(match["ordinal"]),
            nouns=frozenset(_nouns_of(" ".join(text[match.end() :].split()[:1]).strip(".,;:?!"))),
            start=match.start(),
            is_ordinal=True,
        )
        for match in _ORDINAL.finditer(text)
        if _FROM.search(text[: match.start()]) or re.search(r"\bafter (?:the )?$", text[: match.start()])
    ]
    return ordinals + [
        _StatedAmount(
            value=_value_of(match["money"] or match["number"]),
            nouns=frozenset({match["sign"]} if match["sign"] else _nouns_of(match["nouns"])),
            start=match.start(),
        )
        for match in _AMOUNT.finditer(text)
    ]


def _value_of_ordinal(word: str) -> Decimal:
    spelled = ORDINALS_BY_WORD.get(word)
    return Decimal(re.sub(r"\D", "", word)) if spelled is None else Decimal(spelled)


def _value_of(number: str) -> Decimal:
    spelled = NUMBERS_BY_WORD.get(number)
    return Decimal(number.replace(",", "")) if spelled is None else Decimal(spelled)


def _nouns_of(words: str) -> set[str]:
    return {word.removesuffix("s") for word in words.split() if word not in STOP_WORDS}
