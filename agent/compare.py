"""Several sides of one comparison: each decided by itself, then one table over all, and what differs in a sentence.

What all sides must read is fetched in one trip. Sides that are numbers over a set never ask back for being large; sides
that are to be read do, above the limit of reading.
"""

from collections.abc import Sequence
from dataclasses import replace

from agent.compose import (
    Quote,
    amount_words,
    beginning_of,
    citation_of,
    currency_of,
    escaped,
    extracted,
    sentence_with,
    written_forms,
)
from agent.decision import AskBack, Cell, Column, Enough, Under, assumptions_of, hits_by_document, ids_of, result_of
from agent.documents import text_found, values_read, which_document
from agent.gather import hits_of, weighted
from agent.outcome import Citation, Figure, FoundPassage, Grid, OutcomeKind, Route
from agent.prune import Weighted, fused
from agent.refine import facet_requests
from agent.sets import nothing_found, numbers, too_many
from agent.verify import verified
from agent.wording import condition_words, count_words, listed, lowered, value_words
from storage.search.conditions import EVERYTHING, TEXT, TITLE, Compare, Condition, Op, conjuncts
from storage.search.documents import Document, Value
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import Fetch, Hit, Record
from storage.search.plan import Compute, FindPassages, Function, ListDocuments, ReadFields, Summarise
from storage.search.schema import Field, FieldType, Schema

_MOST_ROWS = 8  # telling fields that are set side by side when none is asked for
_LONGEST_CELL = 160
_LONGEST_TITLE = 80
_SHOWN_VALUES = 3
_LEAST_SAID = 0.4  # of what is asked, that a sentence must hold
_IN_TEXT = "In the text"
_MOST_SAID = 6  # rows that the sentence names
_MEASURED = (FieldType.NUMBER, FieldType.MONEY)


async def sides_decided(sides: Sequence[Under]) -> list[Enough | AskBack]:
    """What each side comes to, in order. One round trip for all that is read, one more for a side that is too large."""
    wanted = {one.leg.id: _to_read(one) for one in sides}
    ids = tuple(dict.fromkeys(one for one in wanted.values() if one is not None))
    documents: dict[DocId, Document] = {}
    if ids:
        fetch = Fetch(ids)
        documents = {one.doc_id: one for one in (await sides[0].desk.ask((fetch,)))[fetch]}
    read = [documents.get(doc_id) if (doc_id := wanted[one.leg.id]) is not None else None for one in sides]
    titles = _titles(sides, read)
    lone = all(one.count == 1 for one in sides)  # "the range of one document" is its value
    names = [_lone_field(one) if lone and isinstance(one.leg.wanted, Compute) else _names(one, read) for one in sides]
    return [
        await _decided(one, document, own, title)
        for one, document, own, title in zip(sides, read, names, titles, strict=True)
    ]


async def _decided(under: Under, document: Document | None, names: Sequence[FieldName], title: str) -> Enough | AskBack:
    wanted = under.leg.wanted
    if isinstance(wanted, Compute) and names:
        return await _values(under, document, names, title)
    if isinstance(wanted, Compute):
        return _with_figures(under, wanted, numbers(under, document), title)
    if _is_too_large(under):
        return too_many(await _with_facets(under), under.desk.context.limits.read)
    match wanted:
        case ReadFields():
            return await _values(under, document, names, title)
        case ListDocuments():
            return _group(under, title)
        case FindPassages() | Summarise():
            return await _text(under, document, title)


def together(found: Sequence[Enough]) -> tuple[str, Grid | None]:
    """What differs between the sides, as Markdown, and the sides as columns of one table."""
    columns = [one.column for one in found if one.column is not None]
    rows = list(dict.fromkeys(cell.row for column in columns for cell in column.cells))
    if len(columns) < 2 or not rows:
        return "", None
    cells = {row: [_cell_of(column, row) for column in columns] for row in rows}
    titles = [column.title for column in columns]
    table = tuple((row, *(cell.text if cell else "–" for cell in cells[row])) for row in rows)
    return _said(titles, cells), Grid(caption=f"{listed(titles)} side by side", columns=("", *titles), rows=table)


# -- what must be read


def _to_read(under: Under) -> DocId | None:
    """The document whose text the side needs: where there is one, or where any of a few says the same."""
    if under.asked.page is None or not under.count:
        return None
    reads = isinstance(under.leg.wanted, ReadFields)
    if under.count == 1 or (reads and (_agree(under) or not under.may_ask)):
        return next(iter(ids_of(under.answers[under.asked.page].records)), None)
    return None


def _agree(under: Under) -> bool:
    """Whether all documents of a small set say the same of what is asked, so that any of them answers."""
    wanted, page = under.leg.wanted, under.asked.page
    if not isinstance(wanted, ReadFields) or page is None or _asks_everything(under):
        return False
    records = under.answers[page].records
    said = {tuple(repr(one.values.get(name)) for name in _wanted(under)) for one in records}
    return len(said) == 1 and under.count == len(records)


def _bucket(under: Under) -> BucketId:
    """Where the documents lie that were found; the search may span several."""
    records = under.answers[under.asked.page].records if under.asked.page is not None else ()
    return records[0].bucket if records else under.leg.search.clauses[0].bucket


def _schema(under: Under) -> Schema:
    return under.material.schemas[_bucket(under)]


def _asks_everything(under: Under) -> bool:
    """No field was named: the telling ones are meant."""
    every = {one.name for one in _schema(under).fields if one.type is not FieldType.ROWS}
    return len(every) > 1 and set(_wanted(under)) == every


def _wanted(under: Under) -> list[FieldName]:
    """The fields asked for, of the bucket that the documents lie in."""
    wanted, bucket = under.leg.wanted, _bucket(under)
    return [name for own, name in wanted.fields if own == bucket] if isinstance(wanted, ReadFields) else []


def _names(under: Under, read: Sequence[Document | None]) -> list[FieldName]:
    """The fields to set side by side: those asked for, else those in which the documents differ."""
    names = _wanted(under)
    known = [one for one in read if one is not None]
    if not _asks_everything(under) or len(known) < 2:
        return names[:_MOST_ROWS] if _asks_everything(under) else names
    differing = [name for name in names if len({repr(one.values.get(name)) for one in known}) > 1]
    return (differing or names)[:_MOST_ROWS]


def _lone_field(under: Under) -> list[FieldName]:
    wanted = under.leg.wanted
    if not isinstance(wanted, Compute):
        return []
    name = wanted.group.field if wanted.group is not None and wanted.field is None else wanted.field
    return [name] if name is not None and Function.SUM not in wanted.functions else []


def _is_too_large(under: Under) -> bool:
    """Only a set that something narrows can be; what any text says is no set to read."""
    narrowed = any(clause.everything != EVERYTHING for clause in under.leg.search.clauses)
    whole = isinstance(under.leg.wanted, ListDocuments)
    many = _many(under) > under.desk.context.limits.read
    return many and (narrowed or whole) and under.may_ask and not _agree(under)


async def _with_facets(under: Under) -> Under:
    """With what may split the set, which only lists have asked for."""
    if under.asked.facets:
        return under
    facets = tuple(facet_requests(under.leg.search, under.material.schemas))
    asked = replace(under.asked, facets=facets)
    if not facets:
        return replace(under, asked=asked)
    answers = await under.desk.ask([*asked.requests()])
    return replace(under, asked=asked, answers=answers)


# -- what a side is called


def _titles(sides: Sequence[Under], read: Sequence[Document | None]) -> list[str]:
    """The document's title, or that of all of them, else what tells this set from the others, else the question."""
    titles = [
        document.title if document is not None and under.count == 1 else _one_title(under) or _apart(under, sides)
        for under, document in zip(sides, read, strict=True)
    ]
    if len(set(titles)) < len(titles):
        titles = [one.leg.question for one in sides]
    return [one if len(one) <= _LONGEST_TITLE else one[: _LONGEST_TITLE - 1] + "…" for one in titles]


def _one_title(under: Under) -> str:
    """What all documents of the side are called; empty where they differ, or not all are known."""
    records = _listed(under)
    titles = {one.title for one in records}
    return titles.pop() if len(titles) == 1 and len(records) == _many(under) else ""


def _many(under: Under) -> int:
    """Documents of the side: of "the cheapest panel", one."""
    wanted = under.leg.wanted
    most = wanted.limit if isinstance(wanted, ListDocuments) else None
    return under.count if most is None else min(under.count, most)


def _listed(under: Under) -> Sequence[Record]:
    """As many of the side's documents as are known."""
    records = under.answers[under.asked.page].records if under.asked.page is not None else ()
    return records[: _many(under)]


def _apart(under: Under, sides: Sequence[Under]) -> str:
    each = [{one for clause in side.leg.search.clauses for one in conjuncts(clause.everything)} for side in sides]
    shared = set[Condition].intersection(*each)
    clause = under.leg.search.clauses[0]
    schema = under.material.schemas[clause.bucket]
    apart = [one for one in conjuncts(clause.condition) if one not in shared]
    own = [_short(one, schema) for one in apart if not _mentions(one)]
    said = " ".join(str(one.value) for one in apart if isinstance(one, Compare) and _mentions(one))
    words = [f"“{word}”" for word in clause.required if len(under.leg.search.clauses) == 1]
    return " and ".join([*own, *filter(None, (said,)), *words]) or under.leg.question


def _mentions(condition: Condition) -> bool:
    return isinstance(condition, Compare) and condition.field in (TITLE, TEXT)


def _short(condition: Condition, schema: Schema) -> str:
    """A value by itself, where a value it is."""
    plain = isinstance(condition, Compare) and condition.op in (Op.EQ, Op.HAS) and isinstance(condition.value, str)
    words = condition_words(condition, schema)
    if plain:
        return str(condition.value) if isinstance(condition, Compare) else words
    _, within, period = words.partition(" in ")
    return period if within and isinstance(condition, Compare) and condition.op is Op.BETWEEN else words


# -- sides that are numbers


def _with_figures(under: Under, compute: Compute, decided: Enough | AskBack, title: str) -> Enough | AskBack:
    if isinstance(decided, AskBack):
        return decided
    schema = _schema(under)
    field = schema.by_name.get(compute.field) if compute.field is not None else None
    label = lowered(field.label) if field is not None else under.noun
    if compute.group is not None:
        cells = [
            Cell(row=one.label, text=amount_words(one.value, one.unit, field), value=one.value, unit=one.unit,
                 field=field)
            for one in decided.result.groups
        ]  # fmt: skip
    else:
        cells = [
            Cell(
                row=_row_of(one.function, label, under),
                text=_figure(one, field),
                value=one.value,
                unit=one.unit,
                field=field if one.function is not Function.COUNT else None,
            )
            for one in decided.result.values
        ]
    if not any(one.row == _documents_row(under) for one in cells):
        cells.append(Cell(row=_documents_row(under), text=f"{under.count:,}"))
    several = "\n" if decided.lines[0].startswith("- ") else " "
    lines = (f"**{escaped(title)}**:{several}{decided.lines[0]}", *decided.lines[1:])
    return replace(decided, lines=lines, grids=(), column=Column(title=title, cells=tuple(cells)))


def _figure(figure: Figure, field: Field | None) -> str:
    if figure.function is Function.COUNT:
        return f"{figure.count:,}"
    rounds = figure.function is Function.AVERAGE and isinstance(figure.value, float)
    value = round(figure.value, 2) if rounds and isinstance(figure.value, float) else figure.value
    return amount_words(value, figure.unit, field)


def _row_of(function: Function, label: str, under: Under) -> str:
    if function is Function.COUNT:
        return _documents_row(under)
    return f"{function.value.capitalize()} of {label}"


def _documents_row(under: Under) -> str:
    return count_words(0, under.noun).removeprefix("0 ").capitalize()


# -- sides that are groups


def _group(under: Under, title: str) -> Enough | AskBack:
    """The telling fields of a few documents: the range of a number, the values of a kind."""
    if under.count == 0 or under.asked.page is None:
        return nothing_found(under)
    records, many = _listed(under), _many(under)
    cells = [Cell(row=_documents_row(under), text=f"{many:,}", value=float(many))]
    for field in _schema(under).fields:
        cell = _range(field, records) if field.type in (*_MEASURED, FieldType.DATE) else _kinds(field, records)
        cells += [cell] if cell is not None else []
    text = f"**{escaped(title)}**: {count_words(many, under.noun)}."
    result = replace(result_of(under, OutcomeKind.ANSWER, text, many), doc_ids=ids_of(records))
    return Enough(
        result=result,
        lines=(text,),
        hits=hits_by_document(under),
        export=under.count if many == under.count else None,
        assumptions=assumptions_of(under),
        column=Column(title=title, cells=tuple(cells)),
    )


def _range(field: Field, records: Sequence[Record]) -> Cell | None:
    values = [value for one in records if isinstance(value := one.values.get(field.name), (float, str))]
    currencies = {currency_of(one.values, field) for one in records if field.name in one.values}
    if not values or len(currencies) > 1:
        return None
    unit = next(iter(currencies))
    low, high = min(values, key=_sorted_as), max(values, key=_sorted_as)
    words = amount_words(low, unit, field)
    return Cell(row=field.label, text=words if low == high else f"{words} to {amount_words(high, unit, field)}")


def _sorted_as(value: float | str) -> tuple[float, str]:
    return (0.0, value) if isinstance(value, str) else (value, "")


def _kinds(field: Field, records: Sequence[Record]) -> Cell | None:
    if field.type not in (FieldType.CATEGORY, FieldType.LIST, FieldType.FLAG):
        return None
    said = [part for one in records for part in _parts(one.values.get(field.name))]
    common = sorted(dict.fromkeys(said), key=lambda one: (-said.count(one), one))
    if not common:
        return None
    more = f" and {len(common) - _SHOWN_VALUES} more" if len(common) > _SHOWN_VALUES else ""
    return Cell(row=field.label, text=", ".join(common[:_SHOWN_VALUES]) + more)


def _parts(value: Value | None) -> list[str]:
    if isinstance(value, tuple):
        return [one for one in value if isinstance(one, str)]
    return [] if value is None else [value_words(value, None)]


# -- sides that are one document


async def _values(under: Under, document: Document | None, names: Sequence[FieldName], title: str) -> Enough | AskBack:
    page = under.asked.page
    if document is None or page is None:
        if under.count > 1 and page is not None:
            return which_document(under, under.answers[page].records)
        return _with_quote(await values_read(under), title)
    schema = _schema(under)
    lines: list[str] = []
    citations: list[Citation] = []
    cells: list[Cell] = []
    for name in names:
        field, value = schema.by_name[name], document.values.get(name)
        quote = _quote_of(under, document, field, value)
        if value is None and (quote is None or len(names) > 1):
            continue
        cells.append(_cell(document, field, value, quote))
        citations.append(citation_of(len(citations) + 1, document, quote or beginning_of(document)))
        lines.append(_line(field, value, document, quote, len(citations)))
    if not cells:
        return _with_quote(await _text(under, document, title), title)
    kept, used, _ = verified(lines, citations)
    text = f"**{escaped(title)}**: " + "; ".join(kept)
    records = under.answers[page].records
    said = (f"took the first of the {count_words(under.count, under.noun)} that fit",) if under.count > 1 else ()
    result = replace(
        result_of(under, OutcomeKind.ANSWER, text, None), doc_ids=(document.doc_id,), records=tuple(records[:1])
    )
    return Enough(
        result=result,
        lines=(text,),
        citations=tuple(used),
        hits=_hits(under, document, used),
        assumptions=(*assumptions_of(under), *(() if _agree(under) else said)),
        column=Column(title=title, cells=tuple(cells)),
    )


def _quote_of(under: Under, document: Document, field: Field, value: Value | None) -> Quote | None:
    """The sentence that holds the value; where none is known, the one that says most of what is asked."""
    if value is not None:
        return sentence_with(document, written_forms(value, field), [field.label, *field.synonyms])
    best = _sentences(under)
    return best[0][1] if best else None


def _cell(document: Document, field: Field, value: Value | None, quote: Quote | None) -> Cell:
    if value is None:
        return Cell(row=field.label, text=_cut(quote.text) if quote else "")
    unit = currency_of(document.values, field) or field.unit or None
    text = amount_words(value, unit, field) if isinstance(value, (str, float)) else value_words(value, field)
    day = value if isinstance(value, str) and field.type is FieldType.DATE else None
    measured = value if isinstance(value, float) and field.type in _MEASURED else day
    return Cell(row=field.label, text=text, value=measured, unit=unit, field=field)


def _line(field: Field, value: Value | None, document: Document, quote: Quote | None, marker: int) -> str:
    label = escaped(lowered(field.label))
    said = f"“{escaped(quote.text[:400])}”" if quote is not None else ""
    if value is None:
        return f"{label}: {said} [{marker}]"
    words = escaped(_cell(document, field, value, None).text)
    return f"{label} **{words}**" + (f" — {said}" if said else "") + f" [{marker}]"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…"


def _hits(under: Under, document: Document, citations: Sequence[Citation]) -> tuple[FoundPassage, ...]:
    """The passages that are cited, then the document's best."""
    bucket = _bucket(under)
    cited = [_passage(document, bucket, one.start) for one in citations]
    ranked = fused(hits_of(under.asked.ranked, under.answers))
    unique = {one.hit.chunk_id: one for one in reversed([*(one for one in cited if one is not None), *ranked])}
    return tuple(reversed(unique.values()))[: under.desk.context.limits.hits]


def _passage(document: Document, bucket: BucketId, start: int) -> FoundPassage | None:
    for at, one in enumerate(document.passages):
        if one.start <= start < one.end:
            hit = Hit(
                doc_id=document.doc_id, bucket=bucket, chunk_id=document.chunk_id(at), title=document.title,
                source=document.source, page=one.page, start=one.start, end=one.end,
                text=document.text[one.start : one.end], score=0.0,
            )  # fmt: skip
            return FoundPassage(hit=hit, score=0.0, found_by=("annotations",))
    return None


# -- sides that are text


async def _text(under: Under, document: Document | None, title: str) -> Enough | AskBack:
    """What the side's documents say of the topic. The side is named by its set, so only the topic must be found."""
    narrowed = any(clause.everything != EVERYTHING for clause in under.leg.search.clauses)
    if narrowed and not under.count:
        return nothing_found(under)
    best = _sentences(under) if narrowed else []
    if not best:
        return _with_quote(await text_found(under), title)
    passage, quote = best[0]
    hit = passage.hit
    record = Record(doc_id=hit.doc_id, bucket=hit.bucket, title=hit.title, source=hit.source, values={})
    citation = citation_of(1, record, quote)
    text = f"**{escaped(title)}**: “{escaped(quote.text[:400])}” [1]"
    result = replace(result_of(under, OutcomeKind.ANSWER, text, None), doc_ids=(hit.doc_id,))
    ranked = [passage, *(one for one in fused(hits_of(under.asked.ranked, under.answers)) if one.hit != hit)]
    enough = Enough(
        result=result,
        lines=(text,),
        citations=(citation,),
        hits=tuple(ranked[: under.desk.context.limits.hits]),
        assumptions=assumptions_of(under),
        route=Route.LONG_TEXT,
    )
    return _with_quote(enough, title)


def _sentences(under: Under) -> list[tuple[FoundPassage, Quote]]:
    """Sentences of the side's set that hold something of the topic, best first."""
    topic = _topic(under)
    found = fused(hits_of(under.asked.ranked, under.answers))
    ranked = extracted(found, topic, under.material.analysers, under.leg) if topic else []
    return [(passage, quote) for score, passage, quote in ranked if score >= _LEAST_SAID][:3]


def _topic(under: Under) -> tuple[Weighted, ...]:
    """The words asked about, without those that name the side."""
    if not under.asked.stems:
        return ()
    bucket = under.leg.search.buckets[0]
    spoken = {one.text for one in under.material.analysers[bucket].terms(under.leg.search.ranking)}
    return tuple(one for one in weighted(under.asked, under.answers, under.material) if one.stem in spoken)


def _with_quote(decided: Enough | AskBack, title: str) -> Enough | AskBack:
    if isinstance(decided, AskBack) or not decided.citations:
        return decided
    said = Cell(row=_IN_TEXT, text=_cut(decided.citations[0].text))
    return replace(decided, column=Column(title=title, cells=(said,)))


# -- what differs


def _cell_of(column: Column, row: str) -> Cell | None:
    return next((one for one in column.cells if one.row == row), None)


def _said(titles: Sequence[str], cells: dict[str, list[Cell | None]]) -> str:
    """In what the sides differ, in what they do not, and which of them has more."""
    texts = {row: {cell.text if cell else "" for cell in sides} for row, sides in cells.items() if row != _IN_TEXT}
    differ = [row for row, said in texts.items() if len(said) > 1]
    same = [row for row, said in texts.items() if len(said) == 1]
    lines: list[str] = []
    if len(differ) > _MOST_SAID:
        lines.append(f"They differ in {len(differ)} of {len(cells)} rows.")
    elif differ:
        lines.append(f"They differ in {_rows(differ)}" + (f"; the same: {_rows(same)}." if same else "."))
    elif same:
        first = next(iter(texts[same[0]]))
        lines.append(f"No difference in {_rows(same)}" + (f": **{escaped(first)}**." if len(same) == 1 else "."))
    lines += [f"- {said}" for row in differ if (said := _most(row, titles, cells[row]))][:3]
    return "\n".join(lines)


def _rows(rows: Sequence[str]) -> str:
    return listed([escaped(lowered(one)) for one in rows])


def _most(row: str, titles: Sequence[str], cells: Sequence[Cell | None]) -> str:
    """ "Notice days: most for A (90 days), least for B (60 days); 30 days apart." Empty for what has no measure."""
    known = [(cell, title) for cell, title in zip(cells, titles, strict=True) if cell is not None]
    measured = [(cell.value, cell, title) for cell, title in known if cell.value is not None]
    units = {cell.unit for _, cell, _ in measured}
    if len(measured) < len(cells) or len(units) > 1 or len({type(value) for value, _, _ in measured}) > 1:
        return ""
    low = min(measured, key=lambda one: _sorted_as(one[0]))
    high = max(measured, key=lambda one: _sorted_as(one[0]))
    more, less = ("latest", "earliest") if isinstance(high[0], str) else ("most", "least")
    said = (
        f"{escaped(row)}: {more} for **{escaped(high[2])}** ({escaped(high[1].text)}), "
        f"{less} for **{escaped(low[2])}** ({escaped(low[1].text)})"
    )
    if isinstance(high[0], float) and isinstance(low[0], float):
        apart = amount_words(round(high[0] - low[0], 9), high[1].unit, high[1].field)
        said += f"; {escaped(apart)} apart"
    return said + "."
