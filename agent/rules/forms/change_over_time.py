"""Recognises questions about change over time: how a number develops from period to period."""

import re
from collections.abc import Sequence
from itertools import pairwise

from agent.english.function_words import MONEY_WORDS, PERIOD_WORDS, SPENDING_NOUNS
from agent.rules.cues.computed_fields import computed_field
from agent.rules.cues.question_cues import QuestionCues
from storage.quantities.calendar_arithmetic import MONTHS
from storage.search.ids import FieldName
from storage.search.plan import AggregateFunction, CalendarPeriod, ChangeOverTime, GroupBy
from storage.search.schema import FieldType

_DEVELOPING_VERBS = frozenset("develop develops developed evolve evolves evolved grow grows grew grown".split())
_CHANGE_NOUNS = frozenset("growth trend trends development".split())
_CHANGE_WORDS = frozenset("change changes changed difference differences".split())  # only beside a period
_STEP_WORDS = frozenset("to over on by after".split())  # "from month *to* month"
_AUXILIARIES = frozenset("did has have does do is are was were".split())
_FUNCTIONS = frozenset({AggregateFunction.SUM, AggregateFunction.COUNT, AggregateFunction.AVERAGE})
_QUARTER, _YEAR = re.compile(r"q[1-4]"), re.compile(r"(?:19|20)\d\d")
_OTHER_WORDS = frozenset("time period periods previous compared".split())
FORM_WORDS = (
    _DEVELOPING_VERBS | _CHANGE_NOUNS | _CHANGE_WORDS | _OTHER_WORDS | SPENDING_NOUNS | MONEY_WORDS | set(PERIOD_WORDS)
)


def recognise_change_over_time(cues: QuestionCues) -> ChangeOverTime | None:
    """ "Growth from month to month", "how did spending develop", "revenue by quarter, and the change".

    "How did spending change from Q1 to Q2" is such a question too.
    """
    words, reading = cues.words, cues.reading
    day = _day_field(cues)
    if day is None or not _asks_for_change(cues):
        return None
    left = {word for phrase in reading.unlinked_words for word in phrase.casefold().split()}
    if left - FORM_WORDS or reading.unlinked_quotations:
        return None  # the question names something else, which may be what changes
    function = next((phrase.function for phrase in cues.functions if phrase.function in _FUNCTIONS), None)
    is_counted = function is AggregateFunction.COUNT or not (function or _speaks_of_number(cues))
    field = None if is_counted else computed_field(reading, cues.lexicon, words, excluded_field=None)
    if not reading.has_noun and field is None:
        return None
    function = AggregateFunction.COUNT if field is None else function or AggregateFunction.SUM
    return ChangeOverTime(functions=(function,), field=field, group=GroupBy(field=day, period=_asked_period(cues)))


def _asks_for_change(cues: QuestionCues) -> bool:
    words = cues.words
    if _repeated_period(words) is not None or ("over", "time") in pairwise(words):
        return True
    asks_how = words[:1] == ["how"] and len(words) > 2 and words[1] in _AUXILIARIES
    if asks_how and set(words) & _CHANGE_WORDS and _compared_period(words) is not None:
        return _speaks_of_money(cues) or any(phrase.function in _FUNCTIONS for phrase in cues.functions)
    has_period = _asked_period(cues) is not None
    if set(words) & _CHANGE_NOUNS:
        return has_period or words[0] in _CHANGE_NOUNS or words[:2] == ["what", "is"]
    if has_period and set(words) & _CHANGE_WORDS and words[0] not in _AUXILIARIES:
        return cues.group is not None
    return asks_how and bool(set(words) & _DEVELOPING_VERBS)


def _compared_period(words: Sequence[str]) -> CalendarPeriod | None:
    """ "From Q1 2024 to Q2 2024", "between 2023 and 2024": what each of two such words stands for."""
    if not {"from", "between"} & set(words):
        return None
    quarters = [word for word in words if _QUARTER.fullmatch(word)]
    months = [word for word in words if word in MONTHS]
    if quarters or months:  # their years only say which
        pairs = ((quarters, CalendarPeriod.QUARTER), (months, CalendarPeriod.MONTH))
        return next((period for named, period in pairs if len(named) > 1), None)
    return CalendarPeriod.YEAR if len({word for word in words if _YEAR.fullmatch(word)}) > 1 else None


def _repeated_period(words: Sequence[str]) -> CalendarPeriod | None:
    """ "Month to month", "year over year"."""
    triples = zip(words, words[1:], words[2:], strict=False)
    return next((PERIOD_WORDS[a] for a, b, c in triples if a in PERIOD_WORDS and b in _STEP_WORDS and c == a), None)


def _asked_period(cues: QuestionCues) -> CalendarPeriod | None:
    """Returns the period that the question asks for; None if it names none."""
    if (repeated := _repeated_period(cues.words)) is not None:
        return repeated
    if cues.group is not None and cues.group.period is not None:
        return cues.group.period
    pairs = pairwise(cues.words)
    named = (PERIOD_WORDS[word] for lead, word in pairs if lead in ("by", "per", "each") and word in PERIOD_WORDS)
    return next(named, None) or _compared_period(cues.words)


def _day_field(cues: QuestionCues) -> FieldName | None:
    """Returns the date field that assigns documents to periods; None if the group is not a date or there is none."""
    schema = cues.lexicon.schema
    days = [field.name for field in schema.fields if field.type is FieldType.DATE]
    if cues.group is not None:
        return cues.group.field if cues.group.field in days else None
    natural = schema.natural_order
    return natural.field if natural is not None and natural.field in days else next(iter(days), None)


def _speaks_of_money(cues: QuestionCues) -> bool:
    """Whether the question mentions money, which adds up; not "how did the law" or "the notice period change"."""
    return bool(set(cues.words) & (SPENDING_NOUNS | MONEY_WORDS)) or any(
        mention.column is None and cues.lexicon.get_field(mention.field).type is FieldType.MONEY
        for mention in cues.reading.asked_mentions
    )


def _speaks_of_number(cues: QuestionCues) -> bool:
    """Whether the question mentions money or a numeric field, and not only documents."""
    numeric = (FieldType.NUMBER, FieldType.MONEY)
    mentions = cues.reading.asked_mentions
    has_number = any(
        mention.column is None and cues.lexicon.get_field(mention.field).type in numeric for mention in mentions
    )
    return has_number or bool(set(cues.words) & (SPENDING_NOUNS | MONEY_WORDS))
