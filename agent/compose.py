"""From evidence to words: lists, numbers, values, and the sentences that answer. Only from what was found.

Text is Markdown; all that came from documents or people is escaped.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.outcome import Citation, Figure, FoundPassage, Grid, GroupLine
from agent.prune import Weighted
from agent.wording import condition_words, count_words, money_words, number_words, plural, value_words
from storage.search.conditions import EVERYTHING, Compare, Condition, InRow, Op, conjuncts, fields_of
from storage.search.documents import Document, Values
from storage.search.ids import BucketId, FieldName
from storage.search.index import Aggregated, Record
from storage.search.numbers import plain
from storage.search.plan import Compute, Function, Leg, Period, Search
from storage.search.schema import Field, FieldType, Schema
from storage.search.text import Analyser, fold

SHOWN = 10  # documents of a list that are shown
_COLUMNS = 4
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+(?=[\"“(A-Z0-9•-])|\n+")
_LONGEST_QUOTE = 400


def escaped(text: str) -> str:
    """Data within Markdown: every special character behind a backslash, line breaks as blanks."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def noun_of(schema: Schema) -> str:
    """What one document of the bucket is called."""
    noun = schema.synonyms[0] if schema.synonyms else schema.label.lower()
    return noun[:-1] if noun.endswith("s") and not noun.endswith("ss") else noun


def set_words(search: Search, schemas: Mapping[BucketId, Schema]) -> str:
    """ "receipts where category = tires": what the set is, in words. Raw text."""
    return "; ".join(_clause_words(search, bucket, schemas[bucket]) for bucket in search.buckets[:3])


def _clause_words(search: Search, bucket: BucketId, schema: Schema) -> str:
    clause = search.clause(bucket)
    if clause is None:
        return ""
    parts = (
        [condition_words(one, schema) for one in conjuncts(clause.condition)] if clause.condition != EVERYTHING else []
    )
    parts += [f"mentions “{word}”" for word in clause.required]
    return plural(noun_of(schema)) + (" where " + " and ".join(parts) if parts else "")


# -- lists


def grid_of(records: Sequence[Record], search: Search, schemas: Mapping[BucketId, Schema], caption: str) -> Grid:
    """The first documents as a table: title, then the fields that the question speaks of and the telling ones."""
    shown = records[:SHOWN]
    schema = schemas[shown[0].bucket]
    same = all(one.bucket == schema.bucket for one in shown)
    fields = _telling(search, schema, shown) if same else []
    columns = ("Document", *(one.label[:1].upper() + one.label[1:] for one in fields))
    rows = tuple((one.title, *(_cell(one.values, field, schema) for field in fields)) for one in shown)
    return Grid(caption=caption, columns=columns, rows=rows)


def _telling(search: Search, schema: Schema, records: Sequence[Record]) -> list[Field]:
    spoken: list[FieldName] = []
    clause = search.clause(schema.bucket)
    for condition in conjuncts(clause.condition) if clause else ():
        spoken += [name for name in fields_of(condition) if not _is_fixed(condition)]
    natural = [schema.natural_order.field] if schema.natural_order else []
    rest = [one.name for one in schema.fields if one.type in (FieldType.MONEY, FieldType.NUMBER, FieldType.CATEGORY)]
    names = [name for name in dict.fromkeys([*spoken, *natural, *rest]) if name in schema.by_name]
    currencies = {one.currency_field for one in schema.fields if one.currency_field}
    fields = [schema.by_name[name] for name in names if name not in currencies]
    filled = [one for one in fields if one.type is not FieldType.ROWS and any(one.name in r.values for r in records)]
    return filled[:_COLUMNS]


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
}


def figures_of(compute: Compute, lines: Sequence[Aggregated], count: int) -> tuple[Figure, ...]:
    """One figure per function and unit. A count is the set's own."""
    figures: list[Figure] = []
    for function in compute.functions:
        if function is Function.COUNT:
            figures.append(Figure(function=function, field=None, value=float(count), unit=None, count=count))
            continue
        figures += [
            Figure(function=function, field=compute.field, value=_of(function, line), unit=line.unit, count=line.count)
            for line in lines
            if line.count
        ]
    return tuple(figures)


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
        if line.count and not (compute.limit and line.group is None)
    ]
    if compute.limit is not None or function is not Function.COUNT:
        result.sort(key=lambda one: (-one.value if compute.descending else one.value, one.label))
    if group.period is not None and compute.limit is None:
        result.sort(key=lambda one: one.label)
    return tuple(result[: compute.limit] if compute.limit else result)


def _of(function: Function, line: Aggregated) -> float:
    return {
        Function.SUM: line.sum,
        Function.COUNT: float(line.count),
        Function.AVERAGE: line.average,
        Function.MINIMUM: line.minimum,
        Function.MAXIMUM: line.maximum,
    }[function]


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


def figure_words(figure: Figure, schema: Schema, noun: str) -> str:
    """ "Sum of total: USD 1,042.50 (37 receipts)". Markdown."""
    field = schema.by_name.get(figure.field) if figure.field is not None else None
    if figure.function is Function.COUNT:
        return f"**{count_words(figure.count, noun)}**"
    label = escaped(field.label.lower() if field and field.label.istitle() else field.label if field else "")
    return (
        f"{_FUNCTION_WORDS[figure.function]} of {label}: **{escaped(amount_words(figure.value, figure.unit, field))}** "
        f"({count_words(figure.count, noun)})"
    )


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
    result: list[Quote] = []
    at = 0
    ends = [(match.start(), match.end()) for match in _SENTENCE_END.finditer(text)] + [(len(text), len(text))]
    for stop, following in ends:
        piece = text[at:stop]
        if piece.strip():
            start = at + len(piece) - len(piece.lstrip())
            end = at + len(piece.rstrip())
            result.append(Quote(start=offset + start, end=offset + end, page=page, text=text[start:end]))
        at = following
    return result


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
        f"{number}/{month}/{year}",
    ]  # fmt: skip


def citation_of(marker: int, document: Document | Record, quote: Quote) -> Citation:
    url = document.source if document.source.startswith(("http://", "https://")) else None
    return Citation(
        marker=str(marker), doc_id=document.doc_id, title=document.title, page=quote.page, start=quote.start,
        end=quote.end, text=quote.text[:_LONGEST_QUOTE], url=url,
    )  # fmt: skip


# -- what text says


def extracted(
    found: Sequence[FoundPassage], question: Sequence[Weighted], analysers: Mapping[BucketId, Analyser], leg: Leg
) -> list[tuple[float, FoundPassage, Quote]]:
    """The sentences of the best passages that hold most of the question, best first, with how much they hold."""
    wants_number = bool(
        re.match(r"(?i)\s*(how (many|much|often|long|far|old|high|big)|when|what (year|date|time))", leg.question)
    )
    total = sum(one.weight for one in question) or 1.0
    scored: list[tuple[float, FoundPassage, Quote]] = []
    for rank, one in enumerate(found[:8]):
        hit = one.hit
        titles = {term.text for term in analysers[hit.bucket].terms(hit.title)}
        for quote in split_sentences(hit.text, hit.start, hit.page):
            stems = {term.text for term in analysers[hit.bucket].terms(quote.text)}
            held = sum(w.weight * (1.0 if w.stem in stems else 0.5 if w.stem in titles else 0.0) for w in question)
            bonus = 0.15 if wants_number and any(c.isdigit() for c in quote.text) else 0.0
            short = 0.25 if len(stems) < 4 or stems <= titles else 0.0  # a heading says nothing
            scored.append((held / total + bonus - short - 0.03 * rank, one, quote))
    return sorted(scored, key=lambda triple: -triple[0])
