"""From evidence to words: lists, numbers, values, and the sentences that answer. Only from what was found.

Text is Markdown; all that came from documents or people is escaped.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.bounds import without_implied
from agent.outcome import Citation, Figure, FoundPassage, Grid, GroupLine
from agent.rerank import Weighted, share, spotter_of
from agent.sought import Sought, held_in, sought_by
from agent.wording import condition_words, count_words, listed, lowered, money_words, number_words, plural, value_words
from storage.search.conditions import (
    DOC_ID,
    EVERYTHING,
    TEXT,
    TITLE,
    Any,
    Compare,
    Condition,
    InRow,
    Missing,
    Op,
    conjuncts,
    fields_of,
)
from storage.search.documents import Document, Values
from storage.search.ids import BucketId, FieldName
from storage.search.index import Aggregated, Record
from storage.search.numbers import plain
from storage.search.plan import Clause, Compute, Function, Leg, Period, Search
from storage.search.schema import Field, FieldType, Schema, SchemaOrder
from storage.search.sentences import sentence_spans
from storage.search.text import Analyser, fold

SHOWN = 10  # documents of a list that are shown
_COLUMNS = 4
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
_LONGEST_QUOTE = 400
_READ = 8  # passages whose sentences are weighed
_IN_TITLE = 0.5  # what a word of the title counts for, beside one of the sentence
_OF_SCHEMA, _ENOUGH_SAID = 0.2, 3  # for words of the schema in a sentence, and how many are enough
_OF_KIND = 0.15  # for a value of the kind asked for
_HEADING = 0.25
_FEWEST_WORDS = 4
_SAID = re.compile(r"\w+")
_MOST_PLACES = 5  # that one sentence is cited from
_PER_RANK = 0.03
_PER_NEEDLE = 0.2  # for each value that a sentence holds


def escaped(text: str) -> str:
    """Data within Markdown: every special character behind a backslash, line breaks as blanks."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def noun_of(schema: Schema) -> str:
    """What one document of the bucket is called."""
    noun = schema.synonyms[0] if schema.synonyms else schema.label.lower()
    return noun[:-1] if noun.endswith("s") and not noun.endswith("ss") else noun


def set_words(search: Search, schemas: Mapping[BucketId, Schema], *, of_one: bool = False) -> str:
    """ "receipts where category = tires": what the set is. Raw text. `of_one`: its verb is in the singular."""
    nouns = dict[str, list[str]]()
    for clause in search.clauses:
        noun = plural(noun_of(schemas[clause.bucket]))
        nouns.setdefault(_narrowed(clause, schemas[clause.bucket], of_one), []).append(noun)
    if len(nouns) == 1 and len(search.clauses) > 1:
        return f"documents{next(iter(nouns))}"
    return "; ".join(f"{listed(own)}{words}" for words, own in nouns.items())


def _narrowed(clause: Clause, schema: Schema, of_one: bool) -> str:
    """ " with no date where total > 5, that mention “rim”"; empty for a whole bucket."""
    told = without_implied(conjuncts(clause.condition)) if clause.condition != EVERYTHING else ()
    lacks = [condition_words(one, schema) for one in told if isinstance(one, Missing)]
    said = [one for one in told if isinstance(one, Compare) and one.field in (TEXT, TITLE)]
    where = [
        condition_words(one, schema) for one in told if not (isinstance(one, Missing) or one in said or _picks(one))
    ]
    words = " of these" if any(map(_picks, told)) else ""
    words += f" with {' and '.join(lacks)}" if lacks else ""
    words += f" where {' and '.join(where)}" if where else ""
    if mentioned := dict.fromkeys([*(str(one.value) for one in said), *clause.required]):
        verb = "mentions" if of_one else "mention"
        words += f"{',' if words else ''} that {verb} {listed([f'“{word}”' for word in mentioned])}"
    return words


def _picks(condition: Condition) -> bool:
    """Whether it names documents by their ids, which say nothing to people; or by a place that no list has."""
    return condition == Any(()) or (isinstance(condition, Compare) and condition.field == DOC_ID)


# -- lists


def grid_of(
    records: Sequence[Record],
    search: Search,
    schemas: Mapping[BucketId, Schema],
    caption: str,
    order: SchemaOrder | None = None,
) -> Grid:
    """The first documents as a table: title, then what they are in order of, the fields that the question speaks of
    and the telling ones.
    """
    shown = records[:SHOWN]
    schema = schemas[shown[0].bucket]
    same = all(one.bucket == schema.bucket for one in shown)
    fields = _telling(search, schema, shown, order) if same else []
    columns = ("Document", *(one.label[:1].upper() + one.label[1:] for one in fields))
    rows = tuple((one.title, *(_cell(one.values, field, schema) for field in fields)) for one in shown)
    return Grid(caption=caption, columns=columns, rows=rows)


def _telling(search: Search, schema: Schema, records: Sequence[Record], order: SchemaOrder | None) -> list[Field]:
    clause = search.clause(schema.bucket)
    conditions = conjuncts(clause.condition) if clause else ()
    fixed = {one.field for one in conditions if isinstance(one, Compare) and one.op is Op.EQ}
    spoken: list[FieldName] = [order.field] if order is not None else []
    for condition in conditions:
        spoken += [name for name in fields_of(condition) if not _is_fixed(condition)]
    natural = [schema.natural_order.field] if schema.natural_order else []
    rest = [one.name for one in schema.fields if one.type in (FieldType.MONEY, FieldType.NUMBER, FieldType.CATEGORY)]
    names = [name for name in dict.fromkeys([*spoken, *natural, *rest]) if name in schema.by_name]
    currencies = {one.currency_field for one in schema.fields if one.currency_field}
    fields = [schema.by_name[name] for name in names if name not in currencies | fixed]
    filled = [one for one in fields if one.type is not FieldType.ROWS and any(one.name in r.values for r in records)]
    return [one for one in filled if any(r.values.get(one.name) != r.title for r in records)][:_COLUMNS]


def _is_fixed(condition: Condition) -> bool:
    """Every document of the set has the same value: not worth a column."""
    return (isinstance(condition, Compare) and condition.op is Op.EQ) or isinstance(condition, InRow)


def _cell(values: Values, field: Field, schema: Schema) -> str:
    value = values.get(field.name)
    if value is None:
        return ""
    if field.type is FieldType.MONEY and isinstance(value, float):
        return money_words(value, currency_of(values, field))
    return value_words(value, field)


def currency_of(values: Values, field: Field) -> str | None:
    """The currency of a document's amount, if it is known."""
    if field.currency:
        return field.currency
    named = values.get(field.currency_field) if field.currency_field is not None else None
    return named if isinstance(named, str) else None


# -- numbers

_FUNCTION_WORDS = {
    Function.SUM: "Sum",
    Function.COUNT: "Count",
    Function.AVERAGE: "Average",
    Function.MINIMUM: "Minimum",
    Function.MAXIMUM: "Maximum",
    Function.MEDIAN: "Median",
}


def figures_of(compute: Compute, lines: Sequence[Aggregated], count: int) -> tuple[Figure, ...]:
    """One figure per function and unit. A count is the set's own."""
    figures: list[Figure] = []
    for function in compute.functions:
        if function is Function.COUNT:
            figures.append(Figure(function=function, field=None, value=float(count), unit=None, count=count))
            continue
        if function is Function.DISTINCT:
            figures.append(_values_counted(compute, lines, count))
            continue
        figures += [
            Figure(function=function, field=compute.field, value=_of(function, line), unit=line.unit, count=line.count)
            for line in lines
            if line.count
        ]
    return tuple(figures)


def _values_counted(compute: Compute, lines: Sequence[Aggregated], count: int) -> Figure:
    """How many values there are; `lines` has one for each, and one of the documents that have none."""
    lacking = sum(line.count for line in lines if line.group is None)
    values = sum(line.group is not None for line in lines)
    return Figure(
        function=Function.DISTINCT, field=compute.field, value=float(values), unit=None, count=count - lacking
    )


def share_of(part: int, whole: int) -> Figure:
    """In percent; `whole` is at least 1."""
    return Figure(function=Function.SHARE, field=None, value=round(100 * part / whole, 2), unit="percent", count=part)


def groups_of(compute: Compute, lines: Sequence[Aggregated]) -> tuple[GroupLine, ...]:
    """A line per group and unit; by value where that was asked, periods by time, else by count."""
    group = compute.group
    if group is None:
        return ()
    function = compute.functions[0]
    result = [
        GroupLine(
            label=_group_words(line.group, group.period), value=_of(function, line), unit=line.unit, count=line.count
        )
        for line in lines
        if line.count and not ((compute.limit or function is Function.DISTINCT) and line.group is None)
    ]
    if group.period is not None and compute.limit is None:
        return tuple(sorted(result, key=lambda one: one.label))
    if compute.limit is not None or function not in (Function.COUNT, Function.DISTINCT):
        result.sort(key=lambda one: (-one.value if compute.descending else one.value, one.label))
    return _by_unit(result, compute.limit)


def _by_unit(lines: Sequence[GroupLine], limit: int | None) -> tuple[GroupLine, ...]:
    """Amounts of two currencies have no order: each has its own first ones, the commonest currency before the rest."""
    units = dict.fromkeys(one.unit for one in lines)
    commonest = sorted(units, key=lambda unit: -sum(one.count for one in lines if one.unit == unit))
    return tuple(one for unit in commonest for one in [each for each in lines if each.unit == unit][:limit])


def _of(function: Function, line: Aggregated) -> float:
    return {
        Function.SUM: line.sum,
        Function.AVERAGE: line.average,
        Function.MINIMUM: line.minimum,
        Function.MAXIMUM: line.maximum,
        Function.MEDIAN: line.median or 0.0,
    }.get(function, float(line.count))


def _group_words(group: str | float | bool | None, period: Period | None) -> str:
    if group is None:
        return "(none)"
    if isinstance(group, bool):
        return "yes" if group else "no"
    if not isinstance(group, str):
        return str(plain(group))
    if period is None or period is Period.DAY:
        return group
    if period is Period.QUARTER:
        return f"{group[:4]} Q{(int(group[5:7]) + 2) // 3}"
    return group[:4] if period is Period.YEAR else group[:7]


def figure_words(figure: Figure, schema: Schema, noun: str, told: str = "") -> str:
    """ "Sum of total: USD 1,042.50 (37 receipts where year = 2031)". Markdown.

    `told`: what follows the noun, escaped.
    """
    field = schema.by_name.get(figure.field) if figure.field is not None else None
    of = f"({count_words(figure.count, noun)}{told})"
    if figure.function is Function.COUNT:
        return f"**{count_words(figure.count, noun)}**{told}"
    if figure.function is Function.DISTINCT and field is not None:
        values = count_words(int(figure.value or 0), lowered(field.label))
        return f"**{escaped(values)}** {of}"
    if figure.function is Function.SHARE:
        return f"**{number_words(float(figure.value or 0))}%** {of}"
    label = escaped(field.label.lower() if field and field.label.istitle() else field.label if field else "")
    shown = escaped(computed_words(figure.function, figure.value, figure.unit, field))
    return f"{_FUNCTION_WORDS[figure.function]} of {label}: **{shown}** {of}"


def computed_of(functions: Sequence[Function], field: Field) -> str:
    """ "Sum and average of total"; Markdown."""
    names = [_FUNCTION_WORDS[one].lower() for one in functions if one in _FUNCTION_WORDS]
    return f"{listed(names).capitalize()} of {escaped(lowered(field.label))}"


def computed_words(function: Function, value: float | str | None, unit: str | None, field: Field | None) -> str:
    """What a function came to; an average rounded as people read it."""
    averaged = function is Function.AVERAGE and isinstance(value, float)
    if averaged and isinstance(value, float):
        value = round(value, 2 if abs(value) >= 1 else 4)
    return amount_words(value, unit, field)


def amount_words(value: float | str | None, unit: str | None, field: Field | None) -> str:
    if value is None:
        return "none"
    if isinstance(value, str):
        return value
    if field is not None and field.type is FieldType.MONEY:
        return money_words(value, unit)
    return value_words(value, field) if field is not None else number_words(value)


# -- values of one document


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A sentence of a document that bears the answer: offsets into its text, the page it stands on."""

    start: int
    end: int
    page: int | None
    text: str


def sentence_with(document: Document, needles: Sequence[str], labels: Sequence[str]) -> Quote | None:
    """The sentence that holds a value, preferring one that also speaks of the field; None where none does."""
    wanted = [folded for one in needles if (folded := fold(one))]  # control characters fold to nothing
    spoken = [folded for one in labels if (folded := fold(one))]
    best: tuple[int, Quote] | None = None
    for quote in sentences_of(document):
        text = fold(quote.text)
        if not any(_holds(text, one) for one in wanted):
            continue
        score = 1 + sum(one in text for one in spoken)
        if best is None or score > best[0]:
            best = (score, quote)
    return best[1] if best else None


def read_from(document: Document, name: FieldName) -> Quote | None:
    """The sentence that a value was extracted from, the surest of a field's; of a very long one the evidence alone."""
    spans = [one for one in document.annotations if one.field == name and one.start is not None and one.end is not None]
    best = max(spans, key=lambda one: one.confidence, default=None)
    if best is None or best.start is None or best.end is None:
        return None
    passage = next((one for one in document.passages if one.start <= best.start < one.end), None)
    if passage is None:
        return None
    for quote in split_sentences(document.text[passage.start : passage.end], passage.start, passage.page):
        if quote.start <= best.start and best.end <= quote.end and quote.end - quote.start <= _LONGEST_QUOTE:
            return quote
    return Quote(start=best.start, end=best.end, page=passage.page, text=document.text[best.start : best.end])


def beginning_of(document: Document) -> Quote:
    """What to cite for a value that is known of the document but stands nowhere in its text."""
    first = document.passages[0] if document.passages else None
    end = min(first.end, first.start + 160) if first else 0
    start = first.start if first else 0
    return Quote(start=start, end=end, page=first.page if first else None, text=document.text[start:end])


def _holds(text: str, needle: str) -> bool:
    at = text.find(needle)
    while at >= 0:
        before = text[at - 1] if at else " "
        after = text[at + len(needle)] if at + len(needle) < len(text) else " "
        if not (before.isalnum() and needle[0].isalnum()) and not (after.isalnum() and needle[-1].isalnum()):
            return True
        at = text.find(needle, at + 1)
    return False


def sentences_of(document: Document) -> list[Quote]:
    """All sentences with their place in the document's text."""
    quotes: list[Quote] = []
    for passage in document.passages:
        quotes += split_sentences(document.text[passage.start : passage.end], passage.start, passage.page)
    return quotes


def split_sentences(text: str, offset: int, page: int | None) -> list[Quote]:
    """Sentences and lines of `text`, whose first character stands at `offset`."""
    return [
        Quote(start=offset + start, end=offset + end, page=page, text=text[start:end])
        for start, end in sentence_spans(text)
    ]


def written_forms(value: float | str | bool | tuple[object, ...], field: Field) -> list[str]:
    """How a value may stand in a text: numbers with and without separators, days in words."""
    if isinstance(value, bool):
        return [field.label]
    if isinstance(value, tuple):
        return [one for one in value if isinstance(one, str)]
    if not isinstance(value, str):
        exact = str(plain(value))
        forms = [f"{value:,.2f}", f"{value:.2f}", exact, number_words(value)]
        if field.unit.isalpha() and len(field.unit) <= 3:
            forms += [f"{value * 1e3:.12g} m{field.unit}", f"{value * 1e6:.12g} µ{field.unit}"]
            forms += [f"{value / 1e3:.12g} k{field.unit}"]
        return list(dict.fromkeys(forms))
    if field.type is FieldType.DATE:
        return _day_forms(value)
    return [value]


_MONTHS = "January February March April May June July August September October November December".split()


def _day_forms(day: str) -> list[str]:
    year, month, number = day[:4], int(day[5:7]), int(day[8:10])
    name = _MONTHS[month - 1]
    return [
        day, f"{number} {name} {year}", f"{name} {number}, {year}", f"{number:02d}/{month:02d}/{year}",
        f"{number:02d}.{month:02d}.{year}", f"{month:02d}/{number:02d}/{year}", f"{number} {name[:3]} {year}",
        f"{number}/{month}/{year}", f"{number}{_ordinal(number)} day of {name}, {year}",
        f"{number}{_ordinal(number)} day of {name} {year}", f"{name} {number}{_ordinal(number)}, {year}",
        f"{number}{_ordinal(number)} {name} {year}", f"{number}{_ordinal(number)} of {name}, {year}",
        f"{name[:3]}. {number}, {year}", f"{name[:3]} {number}, {year}", f"{month}/{number}/{year}",
    ]  # fmt: skip


def _ordinal(number: int) -> str:
    return "th" if 10 < number < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def citation_of(marker: int, document: Document | Record, quote: Quote) -> Citation:
    url = document.source if document.source.startswith(("http://", "https://")) else None
    return Citation(
        marker=str(marker), doc_id=document.doc_id, title=document.title, page=quote.page, start=quote.start,
        end=quote.end, text=quote.text[:_LONGEST_QUOTE], url=url,
    )  # fmt: skip


# -- what text says


def extracted(
    found: Sequence[FoundPassage],
    question: Sequence[Weighted],
    analysers: Mapping[BucketId, Analyser],
    leg: Leg,
    said: Sequence[str] = (),
    *,
    read: int = _READ,
) -> list[tuple[float, FoundPassage, Quote]]:
    """The sentences of the best passages that hold most of the question, best first, with how much they hold.

    `said`: how the schema speaks of what is asked; it counts beside the question's own words. A sentence that holds a
    value of the kind asked for ("when", "how much") is preferred, a heading is not.
    """
    kind, stems = sought_by(leg.question), frozenset(one.stem for one in question)
    scored: list[tuple[float, FoundPassage, Quote]] = []
    for rank, one in enumerate(found[:read]):
        analyser = analysers[one.hit.bucket]
        own, schemas = spotter_of(stems, analyser), spotter_of(_stems(said, analyser), analyser)
        title = own.found(one.hit.title)
        for quote in split_sentences(one.hit.text, one.hit.start, one.hit.page):
            held = own.found(quote.text)
            score = _IN_TITLE * share(question, {**title, **held}) + (1 - _IN_TITLE) * share(question, held)
            score += _OF_SCHEMA * min(len(schemas.found(quote.text)), _ENOUGH_SAID) / _ENOUGH_SAID if said else 0.0
            score += _OF_KIND if kind is not None and held_in(quote.text, kind) else 0.0
            score -= _HEADING if _says_nothing(quote.text, held, title) else 0.0
            scored.append((score - _PER_RANK * rank, one, quote))
    return sorted(scored, key=lambda triple: -triple[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotable:
    """A sentence and where it stands: one place a document, the best first."""

    score: float
    places: tuple[tuple[FoundPassage, Quote], ...]


def quoted_once(sentences: Sequence[tuple[float, FoundPassage, Quote]]) -> list[Quotable]:
    """Each sentence once, in the order given: copies of a document, in whatever format, say the same words."""
    once: dict[str, list[tuple[float, FoundPassage, Quote]]] = {}
    for score, passage, quote in sentences:
        said = " ".join(_SAID.findall(fold(quote.text))) or quote.text
        same = once.setdefault(said, [])
        if all(one.hit.doc_id != passage.hit.doc_id for _, one, _ in same):
            same.append((score, passage, quote))
    return [
        Quotable(score=same[0][0], places=tuple((passage, quote) for _, passage, quote in same[:_MOST_PLACES]))
        for same in once.values()
    ]


def bearing(sentences: Sequence[tuple[float, FoundPassage, Quote]], needles: Sequence[str]) -> Quote | None:
    """The sentence that holds a value and, among those, most of the question; None where none does."""
    wanted = [folded for one in needles if (folded := fold(one))]
    best: tuple[float, Quote] | None = None
    for score, _, quote in sentences:
        text = fold(quote.text)
        held = sum(_holds(text, one) or _holds(_bare(text), one) for one in wanted)
        total = score + _PER_NEEDLE * min(held, 3)
        if held and (best is None or total > best[0]):
            best = (total, quote)
    return best[1] if best else None


def _bare(text: str) -> str:
    """ "Thirty (30) days" holds "30 days"."""
    return text.replace("(", "").replace(")", "")


def _stems(said: Sequence[str], analyser: Analyser) -> frozenset[str]:
    return frozenset(term.text for phrase in said for term in analyser.terms(phrase))


def _says_nothing(text: str, held: Mapping[str, object], title: Mapping[str, object]) -> bool:
    """A heading: a few words, or a short repetition of the title."""
    words = len(text.split())
    return words < _FEWEST_WORDS or text.startswith("#") or (words < 2 * _FEWEST_WORDS and held.keys() <= title.keys())


def highlighted(text: str, kind: Sought | None) -> str:
    """A quotation as Markdown, with the first value of the kind in bold."""
    spans = held_in(text, kind) if kind is not None else []
    if not spans:
        return escaped(text)
    start, end = spans[0]
    end = start + len(text[start:end].rstrip())
    before, after = text[:start], text[end:]
    gap_before, gap_after = " " * before[-1:].isspace(), " " * after[:1].isspace()
    return f"{escaped(before)}{gap_before}**{escaped(text[start:end])}**{gap_after}{escaped(after)}"
