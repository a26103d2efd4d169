"""Which form of answer a question wants: a list, numbers, a value, a summary, or what the text says."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from agent.rules.amounts import CURRENCIES
from agent.rules.language import (
    ALL_WORDS,
    APART,
    BREAKDOWNS,
    DIMENSIONS,
    FILLER,
    FUNCTIONS,
    GROUP_BEFORE,
    LIST_VERBS,
    MEASURES,
    OF_DAYS,
    OF_MONEY,
    PERIODS,
    POINTERS,
    QUESTION_WORDS,
    SMALL_NUMBERS,
    SUMMARISE,
    SUPERLATIVES,
    YES_NO,
)
from agent.rules.lexicon import Lexicon, Link, Mention, Noun, Partly, Valued
from agent.rules.reading import Reading
from agent.rules.tokens import is_plural
from agent.rules.units import converted
from storage.search.ids import FieldName
from storage.search.plan import (
    Compute,
    FindPassages,
    Function,
    Group,
    ListDocuments,
    Period,
    ReadFields,
    Summarise,
    Wanted,
)
from storage.search.schema import Field, FieldType, SchemaOrder

_NUMERIC = (FieldType.NUMBER, FieldType.MONEY)
_MEASURED = (*_NUMERIC, FieldType.DATE)
_EARLY = 6  # tokens within which what is asked about stands
_SHORTEST_UNIT = 3  # letters of a unit that is counted: "how many mm"
_INTRODUCE = LIST_VERBS | ALL_WORDS | APART | frozenset("me us the our of a are were is there kinds types".split())
_SORTS = frozenset("sort sorted order ordered rank ranked arrange arranged".split())
_LONE_SUPERLATIVES = frozenset(words[0] for words in SUPERLATIVES if len(words) == 1)


@dataclass(frozen=True, slots=True)
class _Said:
    """A function word at `words[first:last]`."""

    function: Function
    words: tuple[str, ...]
    first: int
    last: int


def wanted_of(reading: Reading, lexicon: Lexicon) -> Wanted:
    """The form of answer that the question wants of this bucket."""
    words = [token.word for token in reading.tokens]
    if set(words) & SUMMARISE:
        return Summarise()
    if words[:1] == ["why"]:
        return FindPassages()
    values = _values_apart(words, reading, lexicon)
    if values is not None:
        return values
    said = list(_functions(words, reading))
    group = _group(words, reading, lexicon)
    extreme = next((one for one in said if one.words in SUPERLATIVES), None)
    if group is None and (fields := _told_of_one(words, said, reading, lexicon)):
        return ReadFields(fields=tuple((reading.bucket, name) for name in fields))
    most = _most_of(words, reading, lexicon) if extreme is None and group is None else None
    if most is not None:
        return most
    if extreme is not None and _compares(extreme, words, reading, lexicon):
        return _extreme(extreme, words, reading, lexicon, group)
    if (summed := _counted_measure(words, said, reading, lexicon)) is not None:
        return summed
    if said and not _asks_for_one_value(said[0], words, reading, lexicon):
        computed = _computed(said, reading, lexicon, group, words)
        if computed is not None:
            return computed
    if group is not None and _tells_kinds_apart(words, reading):
        return Compute(functions=(Function.COUNT,), group=group)
    if group is not None and (_top(words, reading) is not None or set(words) & BREAKDOWNS):
        computed = _computed([], reading, lexicon, group, words)
        if computed is not None:
            return computed
    if words[:1] == ["when"] and "last" in words and not reading.has_noun and (newest := lexicon.schema.natural_order):
        return ListDocuments(order=newest, limit=1)  # "when did we last …"
    if _is_list(words, reading, lexicon):
        return ListDocuments(order=_order(words, reading, lexicon), limit=_top(words, reading))
    asked = _asked_fields(words, reading, lexicon)
    if asked and (reading.conditions or reading.leftovers):
        return ReadFields(fields=tuple((reading.bucket, name) for name in asked))
    if words[:1] == ["what"] and reading.conditions and not reading.leftovers and _only_kinds(reading, lexicon):
        return ListDocuments(limit=_top(words, reading))  # nothing is said but which documents
    return FindPassages()


def _values_apart(words: Sequence[str], reading: Reading, lexicon: Lexicon) -> Compute | None:
    """ "How many different vendors", "list all vendors": the values of a field, each once."""
    if _names_one(reading, lexicon) or _top(words, reading) is not None or set(words) & {"most", "fewest", "least"}:
        return None
    counts = ("how", "many") in pairwise(words[:_EARLY])
    lists = words[:1] and (words[0] in LIST_VERBS | {"which", "what"} or bool(set(words[:2]) & ALL_WORDS))
    start = words.index("many") + 1 if counts else 0
    mention = _value_mention(start, words, reading, lexicon) if counts or lists else None
    if mention is None or len(reading.leftovers) > bool(set(words) & APART) + ("us" in words):
        return None  # "which vendors *sold* us …": a verb may be left over
    group = None if counts else Group(field=mention.field)
    return Compute(functions=(Function.DISTINCT,), field=mention.field, group=group)


def _value_mention(start: int, words: Sequence[str], reading: Reading, lexicon: Lexicon) -> Mention | None:
    """The field, in the plural, that is spoken of at the place, after words that only introduce it."""
    at = start
    while at < len(words) and words[at] in _INTRODUCE:
        at += 1
    apart = bool(set(words[start:at]) & APART)
    for link in reading.links:
        mention = link.meaning
        if not isinstance(mention, Mention) or mention.column is not None or link.first != at:
            continue
        kind = lexicon.field(mention.field).type
        sorts = kind in (FieldType.CATEGORY, FieldType.LIST) or (apart and kind in (*_MEASURED, FieldType.TEXT))
        if sorts and is_plural(reading.tokens[link.last - 1]) and mention in reading.asked:
            return mention
    return None


def _tells_kinds_apart(words: Sequence[str], reading: Reading) -> bool:
    """ "Receipts by category": how many there are of each; no list, no sum."""
    if not reading.has_noun or _top(words, reading) is not None or set(words) & (BREAKDOWNS | OF_MONEY):
        return False
    return bool(words) and words[0] not in LIST_VERBS | QUESTION_WORDS | YES_NO


def _told_of_one(
    words: Sequence[str], said: Sequence[_Said], reading: Reading, lexicon: Lexicon
) -> tuple[FieldName, ...]:
    """The fields asked of the one document that is named, however tersely: "BUL48A Ic max?"; none otherwise."""
    if not _names_one(reading, lexicon) or reading.plural_noun:
        return ()
    functions = {one.function for one in said if one.words != ("how", "much")}
    if not functions <= {Function.MINIMUM, Function.MAXIMUM} and not _counts_measure(said, words, lexicon):
        return ()
    measured = _asked_day(words, lexicon) or _counts_measure(said, words, lexicon)
    if measured:
        return measured
    if said and said[0].words == ("how", "much"):
        named = _named_after(said[0], reading)
        return tuple(one.field for one in reading.asked) if named else ()
    if words[:1] and words[0] in YES_NO and not set(words) & LIST_VERBS:
        return ()
    return tuple(dict.fromkeys(one.field for one in reading.asked)) or _of_dimension(reading, lexicon)


_ENDING = ("end date", "ends", "expires", "expiry date", "valid until", "due date", "deadline")
_BEGINNING = ("start date", "starts", "begins", "valid from", "effective date")
_ENDS = frozenset("end ends ending expire expires finish finishes lapse lapses over stop stops terminate".split())
_BEGINS = frozenset("start starts started begin begins began commence commences commenced".split())


def _asked_day(words: Sequence[str], lexicon: Lexicon) -> tuple[FieldName, ...]:
    """ "Until when …", "since when …", "when does … end": the day of the end, or of the beginning, if there is one."""
    if words[:2] == ["until", "when"] or (words[:1] == ["when"] and set(words) & _ENDS):
        return lexicon.days_called(_ENDING)
    if words[:2] == ["since", "when"] or (words[:1] == ["when"] and set(words) & _BEGINS):
        return lexicon.days_called(_BEGINNING)
    return ()


def _of_dimension(reading: Reading, lexicon: Lexicon) -> tuple[FieldName, ...]:
    """ "What *current* …": all that is measured in amperes, where no field is called so; no document has them all."""
    left = {word for one in reading.leftovers for word in one.casefold().split()}
    units = [unit for word, unit in DIMENSIONS.items() if word in left]
    measured = [field for field, row in lexicon.measured if row is None and field.unit]
    fits = (one.name for one in measured for unit in units if converted(Decimal(1), unit, one.unit) is not None)
    return tuple(dict.fromkeys(fits))


def _counts_measure(said: Sequence[_Said], words: Sequence[str], lexicon: Lexicon) -> tuple[FieldName, ...]:
    """ "How many watts …": the fields measured in what is counted."""
    counted = next((one for one in said if one.words in (("how", "many"), ("how", "much"))), None)
    if counted is None or counted.last >= len(words):
        return ()
    unit = words[counted.last]
    if len(unit) < _SHORTEST_UNIT:
        return ()
    return tuple(
        field.name
        for field, row in lexicon.measured
        if row is None and field.unit and converted(Decimal(1), unit, field.unit) is not None
    )


def _counted_measure(words: Sequence[str], said: Sequence[_Said], reading: Reading, lexicon: Lexicon) -> Compute | None:
    """ "How many *hours* were spent on tickets …": the sum of what is measured in what is counted."""
    fields = _counts_measure(said, words, lexicon) if reading.has_noun and reading.plural_noun else ()
    spoken = [one.field for one in reading.asked if one.field in fields]
    name = spoken[0] if spoken else fields[0] if len(fields) == 1 else None
    return Compute(functions=(Function.SUM,), field=name) if name is not None else None


def _names_one(reading: Reading, lexicon: Lexicon) -> bool:
    """Whether one document is named: by a value that it alone has, or by two names at once."""
    named = [
        link.meaning
        for link in reading.links
        if isinstance(link.meaning, (Valued, Partly))
        and link.meaning.column is None
        and (isinstance(link.meaning, Valued) or link.meaning.whole)
        and not lexicon.tells_kinds(link.meaning.field)
    ]
    alone = any(isinstance(one, Valued) and lexicon.documents_with(one.field, one.value) == 1 for one in named)
    lists = [one for one in named if lexicon.field(one.field).type is FieldType.LIST]
    return alone or len(lists) > 1


def _named_after(said: _Said, reading: Reading) -> FieldName | None:
    """ "The maximum *collector current* of the …", "how much *notice* …": a field's value, nothing to compute."""
    if said.words == ("how", "many") or said.function is Function.AVERAGE:
        return None
    following = (link for link in reading.links if isinstance(link.meaning, Mention) and link.first == said.last)
    return next((link.meaning.field for link in following if isinstance(link.meaning, Mention)), None)


def _is_about_one(words: Sequence[str], reading: Reading, lexicon: Lexicon) -> bool:
    """ "… of the supply agreement between …": one document is spoken of, by what it is or by a value of its own."""
    if reading.plural_noun or set(words) & {"all", "every", "each", "per"}:
        return False
    nouns = [link for link in reading.links if isinstance(link.meaning, Noun)]
    definite = "any" not in words and any(
        {"the", "this", "that", "our"} & set(words[max(link.first - 10, 0) : link.first]) for link in nouns
    )
    return definite or _names_one(reading, lexicon)


def _only_kinds(reading: Reading, lexicon: Lexicon) -> bool:
    """Whether all that was said sorts documents into kinds."""
    values = [link.meaning for link in reading.links if isinstance(link.meaning, (Valued, Partly))]
    return not reading.asked and all(lexicon.tells_kinds(one.field, one.column) for one in values)


def _functions(words: Sequence[str], reading: Reading) -> Iterator[_Said]:
    inside = {at for link in reading.links if link.last - link.first > 1 for at in range(link.first + 1, link.last)}
    inside |= {link.first for link in reading.links if _begins_with_extreme(link, words)}
    inside |= reading.in_literals
    inside |= {at for at in range(len(words)) if set(words[max(at - 3, 0) : at]) & _SORTS and words[at - 1] == "by"}
    mentions = [link for link in reading.links if isinstance(link.meaning, Mention)]
    inside |= {link.last for link in mentions if link.last < len(words) and words[link.last] == "number"}
    inside |= {at for at, word in enumerate(words) if word == "mean" and set(words[:at]) & {"does", "do", "did"}}
    at = 0
    while at < len(words):
        for size in (2, 1):
            phrase = tuple(words[at : at + size])
            if phrase in FUNCTIONS and len(phrase) == size and at not in inside:
                yield _Said(FUNCTIONS[phrase], phrase, at, at + size)
                at += size - 1
                break
        at += 1


def _begins_with_extreme(link: Link, words: Sequence[str]) -> bool:
    """ "Maximum collector current" may be what a field is called, "minimum commitment" what a clause is."""
    several = link.last - link.first > 1 and not isinstance(link.meaning, Noun)
    return several and FUNCTIONS.get((words[link.first],)) in (Function.MINIMUM, Function.MAXIMUM)


def _extreme(said: _Said, words: Sequence[str], reading: Reading, lexicon: Lexicon, group: Group | None) -> Wanted:
    """A superlative orders a list ("the cheapest panel"), or is the number itself ("the lowest price")."""
    field = _measured_field(said, words, reading, lexicon)
    descending = said.function is Function.MAXIMUM
    limit = _top(words, reading) or 1
    leading = _leading_category(words, reading, lexicon)
    if leading is not None and field is not None and field.type in _NUMERIC:
        return Compute(functions=(Function.SUM,), field=field.name, group=Group(field=leading), limit=limit,
                       descending=descending)  # fmt: skip
    if field is None:
        return ListDocuments(limit=_top(words, reading))
    follows = any(
        isinstance(link.meaning, Mention) and link.meaning.field == field.name and 0 <= link.first - said.last <= 1
        for link in reading.links
    )
    asks_which = words[0] == "which" or (_noun_before(said, reading) and words[0] in ("what", "list", "show", "find"))
    of_number = follows and not asks_which
    if field.type in _NUMERIC and (group is not None or (of_number and not _noun_at(said.last, reading))):
        return Compute(functions=(said.function,), field=field.name, group=group, descending=descending)
    return ListDocuments(order=SchemaOrder(field=field.name, descending=descending), limit=limit)


def _compares(said: _Said, words: Sequence[str], reading: Reading, lexicon: Lexicon) -> bool:
    """Whether it compares documents: not "the maximum … of" the one that is named, nor whether "a minimum …" exists."""
    if not _names_one(reading, lexicon):
        return True
    return words[0] not in YES_NO and _measured_field(said, words, reading, lexicon) is not None


def _noun_before(said: _Said, reading: Reading) -> bool:
    return any(isinstance(link.meaning, Noun) and link.last <= said.first for link in reading.links)


def _noun_at(at: int, reading: Reading) -> bool:
    return any(isinstance(link.meaning, Noun) and link.first == at for link in reading.links)


def _measured_field(said: _Said, words: Sequence[str], reading: Reading, lexicon: Lexicon) -> Field | None:
    """The field a superlative measures: the one spoken of nearest, else the only one of its dimension."""
    mentions = [
        (abs(link.first - said.first), lexicon.field(link.meaning.field))
        for link in reading.links
        if isinstance(link.meaning, Mention) and link.meaning.column is None
    ]
    spoken = [field for _, field in sorted(mentions, key=lambda pair: pair[0]) if field.type in _MEASURED]
    if spoken:
        return spoken[0]
    text = set(said.words)
    if text & OF_DAYS:
        natural = lexicon.schema.natural_order
        return lexicon.schema.by_name[natural.field] if natural else None
    amounts = [one for one in lexicon.schema.fields if one.type is FieldType.MONEY]
    if amounts and (text & OF_MONEY or set(words) & OF_MONEY or not text & set(MEASURES)):
        return amounts[0]
    numbers = [one for one in lexicon.schema.fields if one.type is FieldType.NUMBER]
    return numbers[0] if len(numbers) == 1 else None


def _asks_for_one_value(said: _Said, words: Sequence[str], reading: Reading, lexicon: Lexicon) -> bool:
    """ "What was the total on the receipt of 28 May": the value of one document, not a sum over a set."""
    if said.words == ("how", "many"):
        following = [link.meaning for link in reading.links if said.last <= link.first <= said.last + 3]
        counts = any(isinstance(one, (Noun, Valued, Partly)) for one in following) or any(
            isinstance(one, Mention) and lexicon.field(one.field, one.column).type is FieldType.FLAG
            for one in following
        )
        return not counts and not set(words[said.last : said.last + 2]) & (FILLER | POINTERS)
    if said.function is not Function.SUM:
        return False
    if (reading.has_noun and reading.plural_noun) or set(words) & {"all", "every", "altogether", "sum", "overall"}:
        return False
    on_the = any(pair in pairwise(words) for pair in (("on", "the"), ("of", "the"), ("for", "the")))
    return reading.has_noun and on_the and said.words != ("sum",)


def _computed(
    said: Sequence[_Said], reading: Reading, lexicon: Lexicon, group: Group | None, words: Sequence[str]
) -> Compute | None:
    """None where there is nothing to compute: a sum of no number."""
    functions = tuple(dict.fromkeys(one.function for one in said)) or (Function.SUM,)
    field = _number_field(reading, lexicon, words, skip=group.field if group else None)
    if not said and field is None:
        functions = (Function.COUNT,)
    if field is None and Function.COUNT not in functions:
        return None
    if field is None or functions == (Function.COUNT,):
        return Compute(functions=(Function.COUNT,), group=group, limit=_top(words, reading))
    if Function.SUM in functions and len(functions) > 1:
        functions = tuple(one for one in functions if one is not Function.SUM or _is_summed(said, words))
    return Compute(functions=functions, field=field, group=group, limit=_top(words, reading))


def _is_summed(said: Sequence[_Said], words: Sequence[str]) -> bool:
    """ "Average total": the total is the field's name then, no sum; "the total and the average" are both."""
    sums = [one for one in said if one.function is Function.SUM]
    return any(one.words not in (("total",), ("totals",)) or _is_beside_another(one, said, words) for one in sums)


def _is_beside_another(one: _Said, said: Sequence[_Said], words: Sequence[str]) -> bool:
    """Whether "and" alone stands between it and another function."""
    gaps = [words[one.last : other.first] if other.first >= one.last else words[other.last : one.first]
            for other in said if other.function is not one.function]  # fmt: skip
    return any("and" in gap and set(gap) <= {"and", "the", "also"} for gap in gaps)


def _number_field(reading: Reading, lexicon: Lexicon, words: Sequence[str], skip: FieldName | None) -> FieldName | None:
    """The field to compute over: the one spoken of, else the money field, else the only number."""
    grouped = {link.meaning for link in reading.links if link.first and words[link.first - 1] in GROUP_BEFORE}
    for mention in reading.asked:
        if mention in grouped:
            continue  # "by year"
        if mention.column is None and mention.field != skip and lexicon.field(mention.field).type in _NUMERIC:
            return mention.field
    spoken = (link.meaning for link in reading.links if isinstance(link.meaning, Mention))
    for mention in spoken:
        if (
            mention not in grouped
            and mention.column is None
            and lexicon.field(mention.field).type in _NUMERIC
            and mention.field != skip
        ):
            return mention.field
    amounts = [one.name for one in lexicon.schema.fields if one.type is FieldType.MONEY]
    numbers = [one.name for one in lexicon.schema.fields if one.type is FieldType.NUMBER]
    return amounts[0] if amounts else numbers[0] if len(numbers) == 1 else None


def _group(words: Sequence[str], reading: Reading, lexicon: Lexicon) -> Group | None:
    for at, word in enumerate(words[:-1]):
        if word not in GROUP_BEFORE and (word, words[at + 1]) != ("for", "each"):
            continue
        start = at + 1 + (words[at + 1] in ("each", "every", "the"))
        for link in reading.links:
            if isinstance(link.meaning, Mention) and link.meaning.column is None and link.first == start:
                field = lexicon.field(link.meaning.field)
                if field.type in (FieldType.CATEGORY, FieldType.LIST, FieldType.FLAG):
                    return Group(field=field.name)
                if field.type is FieldType.DATE:
                    return Group(field=field.name, period=Period.MONTH)
        period = PERIODS.get(words[start]) if start < len(words) else None
        natural = lexicon.schema.natural_order
        dates = [one.name for one in lexicon.schema.fields if one.type is FieldType.DATE]
        if period is not None and dates:
            name = natural.field if natural and natural.field in dates else dates[0]
            return Group(field=name, period=period)
    leading = _leading_category(words, reading, lexicon)
    return Group(field=leading) if leading is not None and _top(words, reading) is not None else None


def group_of(reading: Reading, lexicon: Lexicon) -> Group | None:
    """ "By year", "per vendor": what numbers are to be grouped by."""
    return _group([token.word for token in reading.tokens], reading, lexicon)


def _most_of(words: Sequence[str], reading: Reading, lexicon: Lexicon) -> Compute | None:
    """ "Which vendor do we buy the *most* tires from?": the group with the most, or the fewest, documents."""
    at = next(
        (at for at, word in enumerate(words) if word in ("most", "fewest") and at not in reading.in_literals), None
    )
    leading = _leading_category(words, reading, lexicon)
    if at is None or leading is None or tuple(words[at : at + 2]) in SUPERLATIVES:
        return None
    if words[at - 1 : at] != ["the"] and words[0] not in QUESTION_WORDS:
        return None
    fields = [link.meaning.field for link in reading.links if isinstance(link.meaning, Mention) and link.first > at]
    numeric = next((one for one in fields if lexicon.field(one).type in _NUMERIC), None)
    if numeric is None and _speaks_of_money(at, words, reading, lexicon):
        numeric = next((one.name for one in lexicon.schema.fields if one.type is FieldType.MONEY), None)
    function = Function.COUNT if numeric is None else Function.SUM
    limit = _top(words, reading) or 1
    return Compute(functions=(function,), field=numeric, group=Group(field=leading), limit=limit,
                   descending=words[at] == "most")  # fmt: skip


def _speaks_of_money(at: int, words: Sequence[str], reading: Reading, lexicon: Lexicon) -> bool:
    """ "The most *euros*", "cost us the most"."""
    currencies = {one.currency_field for one in lexicon.schema.fields if one.currency_field}
    named = any(
        isinstance(link.meaning, (Valued, Partly)) and link.meaning.field in currencies and link.first > at
        for link in reading.links
    )
    return named or bool(set(words) & OF_MONEY) or any(word in CURRENCIES for word in words[at + 1 : at + 3])


def _leading_category(words: Sequence[str], reading: Reading, lexicon: Lexicon) -> FieldName | None:
    """ "Which vendor …", "top 5 vendors": a category that the question is after, in place of documents."""
    for link in reading.links:
        if not isinstance(link.meaning, Mention) or link.meaning.column is not None:
            continue
        field = lexicon.field(link.meaning.field)
        before = words[max(link.first - 3, 0) : link.first]
        leads = bool(set(before) & {"which", "what", "who", "top", "biggest"}) and link.first <= 4
        if leads and field.type in (FieldType.CATEGORY, FieldType.LIST) and link.meaning in reading.asked:
            return field.name
    return None


def _top(words: Sequence[str], reading: Reading) -> int | None:
    """ "Top 5", "the 3 cheapest", "first ten"."""
    for at, word in enumerate(words):
        number = int(word) if word.isdigit() and len(word) <= 3 else SMALL_NUMBERS.get(word)
        if not number or at in reading.in_literals:
            continue  # "the last 2 years"
        before = words[at - 1] if at else ""
        after = tuple(words[at + 1 : at + 3])
        if before in ("top", "first", "last", "bottom") or after[:1] in SUPERLATIVES or after in SUPERLATIVES:
            return number
        if before == "the" and any(word in _LONE_SUPERLATIVES for word in words[at + 1 :]):
            return number  # "the 5 panels with the highest efficiency"
    return None


def _is_list(words: Sequence[str], reading: Reading, lexicon: Lexicon) -> bool:
    if not words:
        return False
    lead = words[0]
    if any(words[at] in LIST_VERBS and reading.tokens[at].begins_sentence for at in range(1, len(words))):
        return bool(reading.conditions) or reading.has_noun  # "Where is our liability capped? Give me the contracts."
    if "how" in words[:2] or lead in ("when", "where", "who", "why", "whose"):
        return False
    nouns = [link for link in reading.links if isinstance(link.meaning, Noun)]
    if lead in ("which", "what"):
        return _asks_which(words, reading, lexicon)
    if lead in LIST_VERBS or (lead in ("can", "could", "please") and set(words[:5]) & LIST_VERBS):
        return bool(nouns) or bool(reading.conditions) or bool(set(words[:4]) & ALL_WORDS)
    if lead in YES_NO:
        return _asks_for_any(words, reading, lexicon)
    if lead in ALL_WORDS or (set(words[:4]) & {"all", "every"}):
        return True
    if set(words) & QUESTION_WORDS & {"what", "when", "how", "why", "who"}:
        return False
    if reading.asked and _is_about_one(words, reading, lexicon):
        return False  # "Supply agreement between … and …: governing law?"
    return (bool(nouns) and (reading.plural_noun or bool(reading.conditions))) or bool(reading.conditions)


def _asks_for_any(words: Sequence[str], reading: Reading, lexicon: Lexicon) -> bool:
    """ "Are there …", "do we have any …": documents of a kind, in the plural; else a question about what they say."""
    if any(words[at] in LIST_VERBS and _begins_sentence(at, words, reading) for at in range(1, len(words))):
        return True  # "Are there …? Show them."
    starts = [at + 1 for at, word in enumerate(words[:6]) if word in ("there", "any", "have", "other")]
    heads = [link for link in reading.links if _stands_for_documents(link, lexicon)]
    if any(_plural_run(start, words, reading, heads) is not None for start in starts):
        return True
    exists = "any" in words[:5] or words[1:2] == ["there"] or bool({"anything", "something"} & set(words[:4]))
    about = any(link.first <= _EARLY for link in heads) or "anything" in words
    return exists and about and bool(reading.conditions) and not _is_about_one(words, reading, lexicon)


def _begins_sentence(at: int, words: Sequence[str], reading: Reading) -> bool:
    """Whether a sentence that is told rather than asked begins at the token."""
    return reading.tokens[at].begins_sentence or (words[at - 1] in ("and", "please", "then") and at > len(words) // 2)


def _stands_for_documents(link: Link, lexicon: Lexicon) -> bool:
    """Nouns, and values of which a document has one and that sort documents into kinds."""
    if isinstance(link.meaning, Noun):
        return True
    if isinstance(link.meaning, Mention):
        return lexicon.field(link.meaning.field, link.meaning.column).type is FieldType.FLAG
    if link.meaning.column is not None:
        return False
    single = lexicon.field(link.meaning.field).type is not FieldType.LIST
    return single and lexicon.tells_kinds(link.meaning.field)


def _is_flag(link: Link, lexicon: Lexicon) -> bool:
    """ "Solvents" are the documents that have the flag."""
    mention = link.meaning
    return isinstance(mention, Mention) and lexicon.field(mention.field, mention.column).type is FieldType.FLAG


def _asks_which(words: Sequence[str], reading: Reading, lexicon: Lexicon) -> bool:
    """ "Which panels …", "what are the contracts …", "what NPN transistors …": documents, not what they say."""
    within = 4 if set(words[1:2]) & {"are", "were"} else 2
    heads = [
        link for link in reading.links if isinstance(link.meaning, (Noun, Valued, Partly)) or _is_flag(link, lexicon)
    ]
    nouns = [link for link in heads if isinstance(link.meaning, Noun)]
    leading = [link for link in heads if link.first <= within + (link in nouns and link.first <= 6)]
    if _opens_with_kinds(words, reading, heads):
        return True
    direct = any(within > 2 or not _is_owned(words, link.first) for link in leading)
    of_them = "are" in words[1:3] and bool(nouns)
    return (direct or of_them) and (
        reading.plural_noun or "all" in words or (words[0] == "which" and not reading.asked)
    )


def _opens_with_kinds(words: Sequence[str], reading: Reading, heads: Sequence[Link]) -> bool:
    """ "What NPN transistors with …", "what are the bills under 5": kinds and nouns, the last in the plural."""
    after = _plural_run(1, words, reading, heads)
    if after is None:
        return False
    follows = words[after] if after < len(words) else ""
    return follows not in ("is", "was", "of", "for") and (bool(reading.conditions) or words[1] == "are")


def _plural_run(start: int, words: Sequence[str], reading: Reading, heads: Sequence[Link]) -> int | None:
    """Where a run of heads ends that begins at `start` and ends in the plural; None where there is none."""
    at = start
    while at < len(words) and words[at] in ("are", "were", "the", "all", "our", "other", "any", "of"):
        at += 1
    first = at
    while (here := next((link for link in heads if link.first == at), None)) is not None:
        at = here.last
    return at if at > first and is_plural(reading.tokens[at - 1]) else None


def _is_owned(words: Sequence[str], at: int) -> bool:
    """ "What is the law of the contract": the noun stands in a phrase about something else."""
    return "of" in words[:at] or "is" in words[:at] or "was" in words[:at]


def _order(words: Sequence[str], reading: Reading, lexicon: Lexicon) -> SchemaOrder | None:
    """ "… sorted by price", "newest first"."""
    text = " ".join(words)
    descending = any(
        word in text for word in ("descending", "highest first", "largest first", "newest first", "latest")
    )
    for link in reading.links:
        if isinstance(link.meaning, Mention) and link.meaning.column is None:
            before = words[max(link.first - 3, 0) : link.first]
            if set(before) & {"sorted", "ordered", "order", "sort", "ranked"}:
                return SchemaOrder(field=link.meaning.field, descending=descending)
    dates = [one.name for one in lexicon.schema.fields if one.type is FieldType.DATE]
    if dates and ("oldest first" in text or "newest first" in text or "latest first" in text):
        return SchemaOrder(field=dates[0], descending="oldest" not in text)
    return None


def _asked_fields(words: Sequence[str], reading: Reading, lexicon: Lexicon) -> tuple[FieldName, ...]:
    """The fields whose values are asked for: those spoken of, else what "when" and "how much" must mean."""
    named = [*_asked_day(words, lexicon)] or [one.field for one in reading.asked]
    if named:
        return tuple(dict.fromkeys(named))
    fields = lexicon.schema.fields
    if words and words[0] == "when":
        natural = lexicon.schema.natural_order
        dates = [one.name for one in fields if one.type is FieldType.DATE]
        return ((natural.field,) if natural and natural.field in dates else tuple(dates[:1])) if dates else ()
    if words[:2] == ["how", "much"]:
        return tuple(one.name for one in fields if one.type is FieldType.MONEY)[:1]
    return ()
