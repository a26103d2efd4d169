"""The kinds of value that can answer a question, and the new values of these kinds in a sentence.

One question may be answered by values of several kinds: "by when" by a day, a time of day or a span of time.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from functools import lru_cache

from agent.english.function_words import STOP_WORDS
from agent.evidence.calendar_words import CALENDAR_WORDS
from agent.evidence.english_glosses import WordGlosses
from agent.evidence.stated_causes import asks_for_cause
from agent.retrieval.answer_type import AnswerType, answer_type_of, counted_noun_of, find_values_in
from storage.quantities.durations import find_durations
from storage.quantities.spelled_numbers import NUMBERS_BY_WORD, ORDINALS_BY_WORD, alternatives_of
from storage.search.analyser import fold_text


class TextValue(StrEnum):
    """A kind of value that only texts hold."""

    TIME_OF_DAY = "time of day"
    PHONE_NUMBER = "phone number"


_TIMES = frozenset({AnswerType.DAY, AnswerType.SPAN, TextValue.TIME_OF_DAY})
_AMOUNTS = frozenset({AnswerType.MONEY, AnswerType.SPAN, AnswerType.SHARE})
_FLAGS = re.IGNORECASE | re.VERBOSE
_PHONE_QUESTION = re.compile(
    r"""\b (?:phone|telephone|mobile|fax|emergency) [ ] (?:no\b|number) | \b numbers? \b .* \b (?:call|ring|phone|dial)
        | \b what [ ] (?:should|do|can) .* \b dial \b | \b wh(?:at|ich) [ ] (?:phone|telephone|extension|mobile|fax) \b
        | \b wh(?:at|ich) \b .* \b (?:phone|telephone|extension|mobile|fax) (?: [ ] (?:of|for) \b | \W* $ )""",
    _FLAGS,
)
_TIME_QUESTION = re.compile(
    r"""\b how [ ] (?:quick|quickly|soon|long|often|old|fast|early|late) \b | \b how [ ] far [ ] (?:ahead|before)
        | (?: ^ | [,;:?!.–-] \s* | \b (?:and|by|from|until|till|til|since|to|so) [ ] ) when \b | ^ when\W?s \b
        | ^ \W* (?: (?:what|which) (?: \W?s | [ ] is | [ ] was )? [ ] )? (?: the [ ] )?
            (?:very [ ])? (?:last|latest|first|earliest) (?: [ ] possible )? [ ] (?:day|date|moment)
            (?= [ ] (?:to|for|of|on|that|when|i|we|you|they) \b | \W* $ )
        | \b (?:deadline|opening [ ] (?:hours|times)) \b""",
    _FLAGS,
)
_CLOCK_QUESTION = re.compile(r"\b what [ ] time \b (?! [ ] of \b)", _FLAGS)
# "What do I get per km", "how much is it a night": a price for each of a unit.
_UNIT_PRICE_QUESTION = re.compile(
    r"""\b (?: how [ ] much (?: [ ] (?:is|are|do|does|did|will|can|it|i|we|you|they|get|pay|paid|money) )*
        | what \W? s? (?: [ ] (?:is|are|do|does|did|will|can|it|i|we|you|they|the|rate) )*
            [ ] (?:get|pay|paid|earn|rate|charge) )
        (?: [ ] \w+ ){0,4}? [ ] per [ ] \w+""",
    _FLAGS,
)
_TOTAL_QUESTION = re.compile(
    r"\b (?:altogether|all [ ] together|all [ ] told|in [ ] total|in [ ] all|overall|total) \b", _FLAGS
)
# In the languages of the packs too: a sentence is read as it is written.
_TOTAL_STATED = re.compile(
    r"""\b (?:altogether|together|all [ ] told|total\w*|in [ ] all|overall|sum|combined|insgesamt|gesamt\w*|zusammen
        |summe|somme|suma) \b""",
    _FLAGS,
)
_SUMMING_VERB = re.compile(r"\b (?:bring|come|add|make|spend|spent|pay|paid|cost|costs|earn|owe) \b", _FLAGS)
_RATE = re.compile(
    r"\d [\d.,]{0,15} \W{0,4} (?: [^\W\d_]{1,12} \W{1,4} )? \b (?:a|an|per|each|every|pro|je|par|por) \s \w", _FLAGS
)
# What was paid or done so far: "how much have we credited", "what did the jobs cost".
_PAST_AMOUNT_QUESTION = re.compile(
    r"""\b (?: how [ ] much | what ) [ ]
        (?: (?:have|has) [ ] \w+ [ ] (?!to\b) \w+ | did [ ] .{1,60} (?:cost|spend|pay|bring|earn) )""",
    _FLAGS,
)
# How long or how often something took or happened: "how long *were* they stuck", "when *did* he ring".
_PAST_TIME_QUESTION = re.compile(
    r"""\b (?: how [ ] (?:long|often|quickly|soon|fast|late|early) | when | what [ ] time ) [ ]
        (?: was | were | did | had (?! [ ] (?: \w+ [ ] )? (?:to|better) \b) ) \b""",
    _FLAGS,
)
_DEMAND = re.compile(r"\b (?: shall | must | will | may | should | (?:is|are|has|have) [ ] to [ ] [a-z]+ ) \b", _FLAGS)
_RULE = re.compile(r"\b (?: if | where | when | whenever | unless | shall | will | must | may ) \b", _FLAGS)
_PRICE_QUESTION = re.compile(
    r"""\b what s? \b .* \b (?:pay|wage|wages|earn|earns|owe|owes|charge|charged) \b
        | \b the [ ] (?:charge|fine|rent|deposit) \b""",
    _FLAGS,
)
_SUM_QUESTION = re.compile(
    r"""\b (?:what|which) [ ] (?:amount|sum) (?! [ ] of) \b | \b up [ ] to [ ] how [ ] much \b
        | \b what (?: \W?s | [ ] is ) [ ] the [ ] (?:most|maximum|least|minimum|highest|lowest) [ ]
            (?:that[ ])? (?: (?:an?|the|each|any) [ ] \w+ (?: [ ] \w+ )? | i | we | you | they | one | people ) [ ]
            (?: can | could | may | must | will | would | have [ ] to | has [ ] to ) [ ]
            (?: get | receive | claim | spend | pay | charge | ask [ ] for | apply [ ] for | borrow | earn ) \b""",
    _FLAGS,
)
# "How much *bar*": a number of what the noun measures.
_MEASURED_NOUN = re.compile(
    r"""\b how [ ] much [ ] (?!(?:is|was|are|were|do|does|did|has|have|had|can|could|may|must|should|will|would|of|
        for|more|it|he|she|they|we|you|i|the|a|an|my|our|per|to|in) \b) (?P<noun>[^\W\d_]{3,})""",
    _FLAGS,
)
# "How much is the firm *charging*": nobody charges minutes, while a *notice* of some weeks may be paid.
_PAID_QUESTION = re.compile(
    r"""\b how [ ] much \b (?! [ ] (?:time|notice|holiday|leave|warning|longer|sooner|later|earlier) \b) [^?.!]* \b
        (?: charg(?:e|es|ed|ing) | cost(?:s|ing)? | pay(?:s|ing)? | paid | earn(?:s|ed|ing)? | owe[sd]? | owing
        | spen(?:d|ds|t|ding) | bill(?:s|ed|ing)? | quot(?:e|es|ed|ing) | invoic(?:e|es|ed|ing) )
        (?= \W | $ )""",
    _FLAGS,
)
# "What did the roofer *quote*": the same without "how much".
_PAID_WHAT_QUESTION = re.compile(
    r"""\b what (?: \W?s | [ ] (?:is|are|was|were|do|does|did|will|would|has|have) ) [ ] [^?.!,;]{1,60}? \b
        (?: charg(?:e|es|ed|ing) | quot(?:e|ed|ing) | bill(?:ed|ing) | invoic(?:ed|ing) ) \b
        (?: [ ] (?:us|me|them|him|her|you|for|a|an|per) \b | \W* $ )""",
    _FLAGS,
)
# What is paid: no span of time is taken off a *bill*.
_MONEY_NOUN = re.compile(
    r"""\b (?: bills? | invoices? | rent | deposit | fines? | penalty | refunds? | salary | wages? | budget | discount
        | rebate | compensation | grants? | loan | money | cash ) \b""",
    _FLAGS,
)
# "The people *who* came late" asks for no name.
_NAME_QUESTION = re.compile(
    r"""(?: ^ \W* | [,;:?!.–-] \s* | \b (?:and|or|to|from|with|for|by|of|know|wonder|me|so|then) [ ] )
        who (?:m|se|s)? \b""",
    _FLAGS,
)
# Somebody's number tells whom to call as well as a name does.
_CALL_QUESTION = re.compile(
    r"""\b who (?:m|se|s)? \b [^?.!]* \b (?: call | ring | phone | telephone | dial | contact )
        (?: [ ] first )? \W* $""",
    _FLAGS,
)
_NAMED_QUESTION = re.compile(
    r"\b what (?: s | ['’]s | [ ] is | [ ] was )? [ ] (?:the|his|her) [ ] name [ ] of \b", _FLAGS
)
_HOUR_PATTERN = alternatives_of(NUMBERS_BY_WORD, high=12)
_TIME_OF_DAY = re.compile(
    rf"""\b \d{{1,2}} (?: [:.]\d\d (?![.\d]) | [ ]? (?:h\d\d|h|am|pm|o'clock|uhr|heures?|horas?) \b )
        | \b (?:noon|midnight|sunrise|sunset|daybreak|weekdays?|weekends?) \b
        | \b (?:mon|tues|wednes|thurs|fri|satur|sun) days? \b
        | \b (?:{_HOUR_PATTERN}|\d{{1,2}}) [ ] (?: in [ ] the [ ] (?:morning|afternoon|evening) | at [ ] night ) \b
        | \b (?:before|after|until|till|by|from|at) [ ] (?:{_HOUR_PATTERN}) (?= [,;.)] | \s* $ )
        | \b within [ ] (?:the|an?) [ ] (?:hour|day|week|fortnight|month|year) \b
        | \b the [ ] (?:very[ ])? same [ ] day \b
        | \b (?: at [ ] once | immediately | straight [ ]? away | right [ ] away | without [ ] delay ) \b
        | \b (?:once|twice|(?:{_HOUR_PATTERN}|\d+) [ ] times) [ ] (?:a|an|per|every|each) [ ] \w+""",
    _FLAGS,
)
# "From the *eighth calendar day* on": a day that is counted, not named.
_COUNTED_DAY = re.compile(
    rf"""\b (?: {alternatives_of(ORDINALS_BY_WORD)} | \d{{1,3}}(?:st|nd|rd|th) ) [ ]
        (?: (?:calendar|working|business|school|full|consecutive) [ ] )? (?:day|week|month|year) \b
        | \b day [ ] \d{{1,3}} \b""",
    _FLAGS,
)
_PHONE_NUMBER = re.compile(r"(?<![\w.]) \+? \d [\d ()/-]{5,} \d (?![\w.]) | \b extension \b \W* \d+", _FLAGS)
_NAME_VALUE = re.compile(r"\W*[^\W\d_a-z][\w'’-]+(?:[ ][^\W\d_a-z][\w.'’-]*){0,3}\W*")
_OWNER_QUESTION = re.compile(r"\bwhose\b", re.IGNORECASE)
_OWNER = re.compile(r"\b(?P<name>[^\W\d_a-z][^\W\d_]+)['’]s?\s+(?=[a-z])")
_FULL_NAME = re.compile(r"\b[A-Z][a-zà-ÿ]+ [A-Z][a-zà-ÿ'’-]+\b")
# "*Ada* keeps it", "ring *Ada* first", "told by *Ada*".
_ACTING_NAME = re.compile(
    r"""(?: ^ \W* | \b (?:tell|tells|told|ask|asks|ring|rings|call|calls|contact|inform|see|by) [ ] )
        (?P<name>[A-Z][a-zà-ÿ]+) (?= [ ] (?!of\b) [a-z] | [,.;] | \s* $ )""",
    re.VERBOSE,
)
_PHONE_HEADING = re.compile(
    r"\b(?:extension|phone|telephone|tel|durchwahl|telefon|poste|téléphone|teléfono)", re.IGNORECASE
)
_SHORT_NUMBER = re.compile(r"(?<![\w.])\d{2,5}(?![\w.])")
_WORDS_OF_NO_NAME = STOP_WORDS | CALENDAR_WORDS
_OPENING_QUOTES = ('"', "“", "„", "«", "« ", "‘")
_WORD = re.compile(r"[^\W_]+")

AskedKind = AnswerType | TextValue

_TIME_WORDS = frozenset(
    """deadline date dates time times hour hours period quick quickly soon fast long often far ahead until late
    latest early earliest""".split()
)
_KIND_WORDS: Mapping[AskedKind, frozenset[str]] = {
    AnswerType.DAY: _TIME_WORDS,
    AnswerType.MONEY: frozenset("cost costs price prices charge charges fee fees rate much expensive".split()),
    AnswerType.NUMBER: frozenset("many number amount".split()),
    AnswerType.NAME: frozenset("name person people someone".split()),
    TextValue.PHONE_NUMBER: frozenset("phone telephone mobile number numbers call ring dial reach".split()),
}


def kinds_asked_for(question: str) -> frozenset[AskedKind]:
    """Returns the kinds of value that can answer the question; empty where any sentence can."""
    if asks_for_cause(question):
        return frozenset()
    if _PHONE_QUESTION.search(question):
        return frozenset({TextValue.PHONE_NUMBER})
    if _CLOCK_QUESTION.search(question):
        return frozenset({TextValue.TIME_OF_DAY})
    if _UNIT_PRICE_QUESTION.search(question) and not _MEASURED_NOUN.search(question):
        return frozenset({AnswerType.MONEY})
    if _TIME_QUESTION.search(question):
        return _TIMES
    if _NAMED_QUESTION.search(question):
        return frozenset({AnswerType.NAME})
    kind = answer_type_of(question)
    if kind is AnswerType.NAME and _CALL_QUESTION.search(question):
        return frozenset({AnswerType.NAME, TextValue.PHONE_NUMBER})
    if kind is AnswerType.NAME and not _NAME_QUESTION.search(question):
        return frozenset()
    if _SUM_QUESTION.search(question):
        return frozenset({AnswerType.MONEY})
    if kind is AnswerType.NUMBER and _PAID_QUESTION.search(question) and not _MEASURED_NOUN.search(question):
        return _AMOUNTS - {AnswerType.SPAN}
    if kind is None and _PAID_WHAT_QUESTION.search(question):
        return frozenset({AnswerType.MONEY})
    if kind is AnswerType.NUMBER and re.search(r"\bhow much\b", question, re.IGNORECASE):
        amounts = _AMOUNTS - {AnswerType.SPAN} if _MONEY_NOUN.search(question) else _AMOUNTS
        return amounts | {AnswerType.NUMBER} if _MEASURED_NOUN.search(question) else amounts
    if kind is AnswerType.DAY:
        return _TIMES
    if kind is not None:
        return frozenset({kind})
    return frozenset({AnswerType.MONEY}) if _PRICE_QUESTION.search(question) else frozenset()


def asks_for_total(question: str) -> bool:
    """Whether an amount or a number over several things is asked for: "what do they pay *altogether*"."""
    is_amount = bool(kinds_asked_for(question) & {AnswerType.MONEY, AnswerType.NUMBER})
    return _TOTAL_QUESTION.search(question) is not None and (is_amount or _SUMMING_VERB.search(question) is not None)


def states_total(text: str) -> bool:
    """Whether a sentence says what several things come to."""
    return _TOTAL_STATED.search(text) is not None


def asks_for_past_amount(question: str) -> bool:
    """ "How much have we credited": whether the question asks what was paid, and not what is to be paid."""
    return _PAST_AMOUNT_QUESTION.search(question) is not None


def asks_for_past_time(question: str) -> bool:
    """ "How long *were* they stuck": whether the question asks when or how long something was, not what a rule says."""
    return _PAST_TIME_QUESTION.search(question) is not None


def states_demand(text: str) -> bool:
    """ "A person *shall be* released within an hour": whether a sentence says what is to be, not what was."""
    return _DEMAND.search(text) is not None


def states_rule(text: str) -> bool:
    """ "Where we miss a visit, we pay £25": whether a sentence says what happens in a case, not what has happened."""
    return _RULE.search(text) is not None


def states_rate(text: str) -> bool:
    """ "95 a month": whether a sentence says a number for each of a unit."""
    return _RATE.search(text) is not None


def words_for_kinds(kinds: Collection[AskedKind]) -> frozenset[str]:
    """Returns the folded words of a question that only say which kind of value is asked for."""
    return frozenset[str]().union(*(_KIND_WORDS.get(kind, frozenset()) for kind in kinds))


def find_new_values(
    text: str, kinds: Collection[AskedKind], question: str, question_words: Collection[str]
) -> list[tuple[int, int]]:
    """Returns the spans of values of `kinds` that hold a word that is not in the question, in order."""
    noun = _noun_of_number(question)
    spans = [span for kind in kinds for span in _spans_of(text, kind, noun) if _is_value(text, span, kind)]
    return sorted(
        (start, end)
        for start, end in dict.fromkeys(spans)
        if any(word not in question_words for word in _WORD.findall(fold_text(text[start:end])))
    )


@lru_cache(maxsize=64)
def _noun_of_number(question: str) -> str | None:
    """Returns the noun that is counted or measured. Each line of the texts is read with the same question."""
    measured = _MEASURED_NOUN.search(question)
    return counted_noun_of(question) or (measured["noun"] if measured else None)


def holds_single_name(text: str, question_words: Collection[str], glosses: WordGlosses, *, is_labelled: bool) -> bool:
    """Whether the text holds a name of one word that is not in the question: a value, or a word after "Mr".

    In a language with a vocabulary any word with a capital letter counts that the vocabulary does not know.
    """
    if is_labelled and _NAME_VALUE.fullmatch(text) and not set(_WORD.findall(fold_text(text))) <= set(question_words):
        return True
    words = list(_WORD.finditer(text))
    return any(
        word[0][0].isupper()
        and not word[0].isupper()
        and fold_text(word[0]) not in question_words
        and ((before is not None and fold_text(before[0]) in glosses.salutations) or glosses.may_be_name(word[0]))
        for before, word in zip((None, *words), words, strict=False)
    )


def names_owner(text: str, question: str) -> bool:
    """ "*Ada's* key" for "whose key": whether the text has the name of somebody whose something is."""
    if _OWNER_QUESTION.search(question) is None:
        return False
    asked = set(_WORD.findall(fold_text(question)))
    return any(
        (word := fold_text(match["name"])) not in asked and not _is_of_no_name(word) for match in _OWNER.finditer(text)
    )


def holds_known_name(text: str, known_names: Collection[str], question_words: Collection[str]) -> bool:
    """Whether somebody does something in the text who is known by a full name: "*Ada* keeps it", "ring *Ada*"."""
    return any(
        (word := fold_text(match["name"])) in known_names and word not in question_words
        for match in _ACTING_NAME.finditer(text)
    )


def find_full_names(text: str) -> Iterator[str]:
    """Yields the folded words of the full names of two words: "Ada Moor"."""
    for match in _FULL_NAME.finditer(text):
        words = fold_text(match[0]).split()
        if not any(_is_of_no_name(word) for word in words):
            yield from words


def holds_extension(heading: str, text: str) -> bool:
    """Whether a row of a table holds a short number under a heading that names telephones."""
    return _PHONE_HEADING.search(heading) is not None and _SHORT_NUMBER.search(text) is not None


def _spans_of(text: str, kind: AskedKind, noun: str | None) -> Iterator[tuple[int, int]]:
    if kind is TextValue.TIME_OF_DAY:
        yield from (match.span() for match in _TIME_OF_DAY.finditer(text))
    elif kind is TextValue.PHONE_NUMBER:
        yield from (match.span() for match in _PHONE_NUMBER.finditer(_blank_spans(text, _days_in(text))))
    elif kind is AnswerType.NUMBER:
        yield from find_values_in(_blank_dates(text), kind, noun)
    else:
        yield from find_values_in(text, AnswerType(kind))
        folded = fold_text(text)
        if kind is AnswerType.DAY:
            yield from (match.span() for match in _COUNTED_DAY.finditer(text))
        if kind is AnswerType.SPAN and len(folded) == len(text):  # so that the positions are those of the text
            yield from ((span.start, span.end) for span in find_durations(folded))


def _is_value(text: str, span: tuple[int, int], kind: AskedKind) -> bool:
    """Whether a name has two words that are neither function words nor months: "From November" is not a name.

    Nor is what appears in quotation marks the name of somebody.
    """
    if ".." in text[slice(*span)]:
        return False  # a label and its value
    if kind is AnswerType.NAME and text[: span[0]].endswith(_OPENING_QUOTES):
        return False
    words = [word.casefold() for word in _WORD.findall(text[slice(*span)])]
    return kind is not AnswerType.NAME or sum(not _is_of_no_name(word) for word in words) > 1


def _is_of_no_name(word: str) -> bool:
    return word in _WORDS_OF_NO_NAME or word.removesuffix("s") in CALENDAR_WORDS


def _blank_dates(text: str) -> str:
    """Returns the text of the same length without its dates, times of day and phone numbers."""
    spans = [match.span() for pattern in (_TIME_OF_DAY, _PHONE_NUMBER) for match in pattern.finditer(text)]
    return _blank_spans(text, [*spans, *_days_in(text)])


def _days_in(text: str) -> list[tuple[int, int]]:
    return find_values_in(text, AnswerType.DAY)


def _blank_spans(text: str, spans: Collection[tuple[int, int]]) -> str:
    for start, end in spans:
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text
