"""Which form of answer a question wants: a list, numbers, a value, a summary, or what the text says."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

from agent.rules.functions import Saying, functions_in, is_summed, named_after, top_of
from agent.rules.groups import group_in, most_of, tells_kinds_apart, values_apart
from agent.rules.language import (
    BREAKDOWNS,
    FILLER,
    LIST_VERBS,
    POINTERS,
    RATES,
    SUMMARISE,
    SUPERLATIVES,
    YES_NO,
)
from agent.rules.lexicon import Lexicon, Mention, Noun, Partly, Valued
from agent.rules.listing import is_list, order_asked
from agent.rules.reading import Reading
from agent.rules.spoken import (
    NUMERIC,
    asked_day,
    asked_fields,
    day_hinted,
    hinted_fields,
    leading_category,
    measured_field,
    names_one,
    noun_at,
    noun_before,
    number_field,
    of_dimension,
    only_kinds,
)
from agent.rules.tokens import Token, is_plural
from agent.rules.units import converted
from storage.search.ids import FieldName
from storage.search.plan import (
    Compute,
    FindPassages,
    Function,
    Group,
    ListDocuments,
    ReadFields,
    Summarise,
    Wanted,
)
from storage.search.schema import Field, FieldType, SchemaOrder

_HOW_TO = {("how", "can"), ("how", "do"), ("how", "to"), ("how", "should"), ("how", "could")}
_SEVERAL = 10  # of "the newest tickets"
_SHORTEST_UNIT = 3  # letters of a unit that is counted: "how many mm"


def wanted_of(reading: Reading, lexicon: Lexicon) -> Wanted:
    """The form of answer that the question wants of this bucket."""
    words = [token.word for token in reading.tokens]
    if set(words) & SUMMARISE:
        return Summarise()
    if words[:1] == ["why"]:
        return FindPassages()
    values = values_apart(words, reading, lexicon)
    if values is not None:
        return values
    said = list(functions_in(words, reading))
    group = group_in(words, reading, lexicon)
    extreme = next((one for one in said if one.words in SUPERLATIVES), None)
    if group is None and (fields := _told_of_one(words, said, reading, lexicon)):
        return ReadFields(fields=tuple((reading.bucket, name) for name in fields))
    most = most_of(words, reading, lexicon) if extreme is None and group is None else None
    if most is not None:
        return most
    if extreme is None and group is None and (first := _with_the_most(words, reading, lexicon)) is not None:
        return first
    if extreme is not None and _compares(extreme, words, reading, lexicon):
        return _extreme(extreme, said, reading, lexicon, group)
    if (summed := _counted_measure(words, said, reading, lexicon)) is not None:
        return summed
    if said and not _asks_for_one_value(said[0], words, reading, lexicon):
        computed = _computed(said, reading, lexicon, group, words)
        if computed is not None:
            return computed
    if group is not None and (measure := _opening_measure(words, reading, lexicon)) is not None:
        function = Function.AVERAGE if _is_rate(measure) else Function.SUM
        return Compute(functions=(function,), field=measure.name, group=group)
    if group is not None and tells_kinds_apart(words, reading):
        return Compute(functions=(Function.COUNT,), group=group)
    if group is not None and (top_of(words, reading) is not None or set(words) & BREAKDOWNS):
        computed = _computed([], reading, lexicon, group, words)
        if computed is not None:
            return computed
    if words[:1] == ["when"] and "last" in words and not reading.has_noun and (newest := lexicon.schema.natural_order):
        return ListDocuments(order=newest, limit=1)  # "when did we last …"
    if is_list(words, reading, lexicon):
        return ListDocuments(order=order_asked(words, reading, lexicon), limit=top_of(words, reading))
    asked = asked_fields(words, reading, lexicon)
    if asked and (reading.conditions or reading.leftovers):
        return ReadFields(fields=tuple((reading.bucket, name) for name in asked))
    if words[:1] == ["what"] and reading.conditions and not reading.leftovers and only_kinds(reading, lexicon):
        return ListDocuments(limit=top_of(words, reading))  # nothing is said but which documents
    return FindPassages()


def _opening_measure(words: Sequence[str], reading: Reading, lexicon: Lexicon) -> Field | None:
    """ "*Price* per city": the number that a question begins with, which no function is named for."""
    first = next((at for at, word in enumerate(words) if word not in ("the", "a", "an")), 0)
    for link in reading.links:
        if isinstance(link.meaning, Mention) and link.first == first and link.meaning.column is None:
            field = lexicon.field(link.meaning.field)
            return field if field.type in NUMERIC else None
    hinted = lexicon.hinted_field(reading.tokens[first].stem)
    field = lexicon.field(hinted) if hinted is not None and words[first] in reading.leftovers else None
    return field if field is not None and field.type in NUMERIC else None


def _is_rate(field: Field) -> bool:
    """Whether it means nothing to add the field's values up."""
    said = {word.casefold() for word in (*field.label.split(), *field.name.split("_"))}
    return bool(said & RATES) or field.unit in ("degC", "degF", "K", "percent")


def _told_of_one(
    words: Sequence[str], said: Sequence[Saying], reading: Reading, lexicon: Lexicon
) -> tuple[FieldName, ...]:
    """The fields asked of the one document that is named, however tersely: "BUL48A Ic max?"; none otherwise."""
    if not names_one(reading, lexicon) or reading.plural_noun or tuple(words[:2]) in _HOW_TO:
        return ()
    functions = {one.function for one in said if one.words != ("how", "much")}
    if said and said[0].words == ("how", "many") and (fields := hinted_fields(reading, lexicon)):
        return fields  # "how many leave days does … have left"
    if not functions <= {Function.MINIMUM, Function.MAXIMUM} and not _counts_measure(said, words, lexicon):
        return ()
    measured = day_hinted(reading, lexicon) if words[:1] == ["when"] else ()
    measured = measured or asked_day(words, lexicon) or _counts_measure(said, words, lexicon)
    if measured:
        return measured
    if said and said[0].words == ("how", "much"):
        named = named_after(said[0], reading)
        return tuple(one.field for one in reading.asked) if named else ()
    if words[:1] and words[0] in YES_NO and not set(words) & LIST_VERBS:
        return ()
    asked = tuple(dict.fromkeys(one.field for one in reading.asked))
    person = (lexicon.person_field,) if words[:1] == ["who"] and lexicon.person_field is not None else ()
    hinted = (day_hinted(reading, lexicon) if words[:1] == ["when"] else ()) or person
    return asked or hinted or of_dimension(reading, lexicon) or hinted_fields(reading, lexicon)


def _counts_measure(said: Sequence[Saying], words: Sequence[str], lexicon: Lexicon) -> tuple[FieldName, ...]:
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


def _with_the_most(words: Sequence[str], reading: Reading, lexicon: Lexicon) -> ListDocuments | None:
    """ "Who *earns the most*?": the document with the most, or the least, of a number that is spoken of before."""
    if words[-2:] not in (["the", "most"], ["the", "least"]) or not reading.has_noun:
        return None
    spoken = [link.meaning for link in reading.links if link.last == len(words) - 2]
    names = [one.field for one in spoken if isinstance(one, Mention) and one.column is None]
    number = next((name for name in names if lexicon.field(name).type in NUMERIC), None)
    if number is None:
        return None
    return ListDocuments(order=SchemaOrder(field=number, descending=words[-1] == "most"), limit=1)


def _counted_measure(
    words: Sequence[str], said: Sequence[Saying], reading: Reading, lexicon: Lexicon
) -> Compute | None:
    """ "How many *hours* were spent on tickets …": the sum of what is measured in what is counted."""
    if (name := _counted_field(said, reading, lexicon)) is not None:
        return Compute(functions=(Function.SUM,), field=name)
    fields = _counts_measure(said, words, lexicon) if reading.has_noun and reading.plural_noun else ()
    spoken = [one.field for one in reading.asked if one.field in fields]
    name = spoken[0] if spoken else fields[0] if len(fields) == 1 else None
    return Compute(functions=(Function.SUM,), field=name) if name is not None else None


def _counted_field(said: Sequence[Saying], reading: Reading, lexicon: Lexicon) -> FieldName | None:
    """ "How many *passengers* flew …": a number that counts such things."""
    if not said or said[0].words != ("how", "many") or not reading.conditions:
        return None
    at = said[0].last
    for link in reading.links:
        if link.first == at and isinstance(link.meaning, Mention) and link.meaning.column is None:
            return (
                link.meaning.field if link.meaning in reading.asked and _counts(link.meaning.field, lexicon) else None
            )
    token = reading.tokens[at] if at < len(reading.tokens) else None
    hinted = lexicon.hinted_field(token.stem) if token is not None and token.word in reading.leftovers else None
    return hinted if hinted is not None and is_plural(reading.tokens[at]) and _counts(hinted, lexicon) else None


def _counts(name: FieldName, lexicon: Lexicon) -> bool:
    """Whether the field holds how many there are of something."""
    field = lexicon.field(name)
    return field.type is FieldType.NUMBER and not field.unit and not _is_rate(field)


def _extreme(said: Saying, beside: Sequence[Saying], reading: Reading, lexicon: Lexicon, group: Group | None) -> Wanted:
    """A superlative orders a list ("the cheapest panel"), or is the number itself ("the lowest price"); or the groups
    by what stands `beside` it ("the longest average delay").
    """
    words = [token.word for token in reading.tokens]
    field = measured_field(said, words, reading, lexicon)
    descending = said.function is Function.MAXIMUM
    most = top_of(words, reading)
    leading = leading_category(words, reading, lexicon)
    if leading is not None and field is not None and field.type in NUMERIC:
        averages = any(one.function is Function.AVERAGE for one in beside)
        function = said.function if _is_singular_at(said.last, reading) else Function.SUM
        function = Function.AVERAGE if averages else function
        return Compute(functions=(function,), field=field.name, group=Group(field=leading), limit=most or 1,
                       descending=descending)  # fmt: skip
    if field is None:
        return ListDocuments(limit=most)
    last, functions = _ends(said, beside, words)
    follows = any(
        isinstance(link.meaning, Mention) and link.meaning.field == field.name and 0 <= link.first - last <= 1
        for link in reading.links
    )
    leads = words[0] in ("what", "list", "show", "find") or noun_at(0, reading) or noun_at(1, reading)
    asks_which = words[0] == "which" or (noun_before(said, reading) and leads)
    of_number = follows and not asks_which
    if field.type in NUMERIC and (group is not None or (of_number and not noun_at(last, reading))):
        return Compute(functions=functions, field=field.name, group=group, descending=descending)
    limit = most or (_SEVERAL if _is_plural_at(said.last, reading) or _are_before(said, words, reading) else 1)
    return ListDocuments(order=SchemaOrder(field=field.name, descending=descending), limit=limit)


def _ends(said: Saying, beside: Sequence[Saying], words: Sequence[str]) -> tuple[int, tuple[Function, ...]]:
    """ "The shortest *and longest* distance": where the words for it end, and what is asked for."""
    last, functions = said.last, [said.function]
    for one in beside:
        if one.words in SUPERLATIVES and words[last : last + 1] == ["and"] and one.first - last in (1, 2):
            last, functions = one.last, [*functions, one.function]
    return last, tuple(dict.fromkeys(functions))


def _is_singular_at(at: int, reading: Reading) -> bool:
    """ "Which agent has the most expensive *listing*": one document is compared, not all of a group."""
    return any(not is_plural(token) for token in _nouns_at(at, reading))


def _is_plural_at(at: int, reading: Reading) -> bool:
    """ "The newest *tickets*"."""
    return any(map(is_plural, _nouns_at(at, reading)))


def _are_before(said: Saying, words: Sequence[str], reading: Reading) -> bool:
    """ "*Flights* with the shortest distance"; not "which of the *flights* is the shortest"."""
    for link in reading.links:
        if isinstance(link.meaning, Noun) and link.last <= said.first and is_plural(reading.tokens[link.last - 1]):
            return not {"of", "among"} & set(words[: link.first]) and "is" not in words[link.last : said.first]
    return False


def _nouns_at(at: int, reading: Reading) -> list[Token]:
    return [
        reading.tokens[link.last - 1] for link in reading.links if isinstance(link.meaning, Noun) and link.first == at
    ]


def _compares(said: Saying, words: Sequence[str], reading: Reading, lexicon: Lexicon) -> bool:
    """Whether it compares documents: not "the maximum … of" the one that is named, nor whether "a minimum …" exists."""
    if not names_one(reading, lexicon):
        return True
    return words[0] not in YES_NO and measured_field(said, words, reading, lexicon) is not None


def _asks_for_one_value(said: Saying, words: Sequence[str], reading: Reading, lexicon: Lexicon) -> bool:
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
    said: Sequence[Saying], reading: Reading, lexicon: Lexicon, group: Group | None, words: Sequence[str]
) -> Compute | None:
    """None where there is nothing to compute: a sum of no number."""
    functions = tuple(dict.fromkeys(one.function for one in said)) or (Function.SUM,)
    field = number_field(reading, lexicon, words, skip=group.field if group else None)
    if not said and field is None:
        functions = (Function.COUNT,)
    if field is None and Function.COUNT not in functions:
        return None
    if field is None or functions == (Function.COUNT,):
        return Compute(functions=(Function.COUNT,), group=group, limit=top_of(words, reading))
    if Function.SUM in functions and len(functions) > 1:
        functions = tuple(one for one in functions if one is not Function.SUM or is_summed(said, words))
    return Compute(functions=functions, field=field, group=group, limit=top_of(words, reading))
