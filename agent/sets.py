"""What a set comes to: a list, numbers over it, a summary; too much of it, nothing, or two readings of what it is."""

from collections.abc import Sequence
from dataclasses import replace

from agent import refine
from agent.compose import (
    SHOWN,
    beginning_of,
    citation_of,
    computed_of,
    computed_words,
    escaped,
    figure_words,
    figures_of,
    grid_of,
    groups_of,
    sentence_with,
    set_words,
    share_of,
    written_forms,
)
from agent.currencies import first_of_each
from agent.decision import (
    AskBack,
    Enough,
    Under,
    assumptions_of,
    hits_by_document,
    ids_of,
    missing_of,
    result_of,
    taken_words,
)
from agent.gather import hits_of
from agent.outcome import Citation, FoundPassage, Grid, GroupLine, OutcomeKind, Route
from agent.prune import fused
from agent.refine import Candidate
from agent.telling import telling_sentences
from agent.verify import verified
from agent.wording import condition_words, count_words, lowered, number_words
from storage.search.conditions import Compare, Op, conjuncts
from storage.search.documents import Document
from storage.search.ids import BucketId, DocId
from storage.search.index import Count, Fetch, Hit, Record
from storage.search.plan import Compute, Function, ListDocuments
from storage.search.refinement import TakeInMissing
from storage.search.schema import Field, FieldType, Schema, SchemaOrder
from storage.search.text import fold

_OUTLINED = 6  # sentences of one document
_BRIEF = 2  # sentences of each of several
_LONGEST_SAID = 300
_ENDS = {  # of a field's values: the low one, the high one
    FieldType.MONEY: ("lowest", "highest"),
    FieldType.NUMBER: ("lowest", "highest"),
    FieldType.DATE: ("earliest", "latest"),
}
_ELSEWHERE = 3  # other buckets that a list offers


def nothing_found(under: Under) -> AskBack:
    where = under.where
    schemas = under.material.schemas
    lines = [f"I found no {where}."]
    tried = [
        f"- {escaped(condition_words(one, schemas[clause.bucket]))}"
        for clause in under.leg.search.clauses
        for one in (*conjuncts(clause.condition),)
    ]
    tried += [f"- mentions “{escaped(word)}”" for clause in under.leg.search.clauses for word in clause.required]
    tried = list(dict.fromkeys(tried))  # buckets that were searched for the same
    if len(tried) > 1:
        lines.append("All of this together leads to **0**:\n" + "\n".join(tried))
    result = replace(result_of(under, OutcomeKind.NO_RESULTS, lines[0], 0))
    return AskBack(
        kind=OutcomeKind.NO_RESULTS,
        result=result,
        lines=tuple(lines),
        candidates=(),
        assumptions=assumptions_of(under),
    )


def alike_readings(under: Under) -> AskBack | None:
    """Two readings of a constraint that score alike are asked about, each counted."""
    leads = any(under.answers[count] for count in under.asked.alike)
    if not leads or not under.count or not under.may_ask:
        return None  # one reading alone leads somewhere: it is what was meant
    candidates = refine.readings(under.leg, under.doubt, under.material.schemas, taken_words(under))
    text = "This can be read in more than one way. Which do you mean?"
    return AskBack(
        kind=OutcomeKind.AMBIGUOUS,
        result=result_of(under, OutcomeKind.AMBIGUOUS, text, None),
        lines=(text,),
        candidates=tuple(candidates),
        assumptions=assumptions_of(under),
        anyway=True,
    )


# -- lists


async def listed(under: Under) -> Enough | AskBack:
    wanted, count, limits = under.leg.wanted, under.count, under.desk.context.limits
    assert isinstance(wanted, ListDocuments) and under.asked.page is not None  # noqa: PT018, S101
    if count == 0:
        return nothing_found(under)
    alike = alike_readings(under)
    if alike is not None:
        return alike
    if wanted.skip:
        return await _shown_further(under, wanted)
    if wanted.limit is None and count > limits.overload and under.may_ask:
        return too_many(under, limits.overload)
    each = await first_of_each(under, wanted)
    page = under.answers[under.asked.page].records
    records = each or page[: wanted.limit]
    shown = min(len(records), SHOWN)
    total = len(each) or (min(count, wanted.limit) if wanted.limit else count)
    by, cells = "", list[Candidate]()
    if total > SHOWN and under.asked.facets:
        by, cells = refine.narrowing(under.leg, under.answers, under.asked.facets, under.material.schemas)
    text = _list_words(under, wanted, total)
    text += "" if each else await _alike_last(under, wanted, page)
    if each:
        text += " Amounts of several currencies are not compared: these are the first of each."
    if total > shown:
        text += f" The first {shown}" + (f", and choices by {escaped(by)}:" if cells else ":")
    caption = f"{shown} of {number_words(total)}"
    grid = grid_of(records, under.leg.search, under.material.schemas, caption, wanted.order)
    result = replace(
        result_of(under, OutcomeKind.ANSWER, text, total),
        doc_ids=ids_of(records)[: limits.documents],
        records=tuple(records[:SHOWN]),
    )
    candidates = [*cells, *_reading_candidates(under), *_missing_candidates(under), *_elsewhere_candidates(under)]
    return Enough(
        result=result,
        lines=(text,),
        grids=(grid,),
        hits=await _passage_of_each(under, records),
        candidates=tuple(candidates),
        export=count if total > SHOWN else None,
        assumptions=assumptions_of(under),
    )


def _list_words(under: Under, wanted: ListDocuments, total: int) -> str:
    """ "**5 of 240 listings** where city = Porto, highest price first."; the first ones alone are said to be some."""
    if wanted.order is None or wanted.limit is None:
        return f"**{count_words(total, under.noun)}**{under.narrowed}."
    some = "" if total == under.count else f"{total:,} of "
    ends = _end_of(under, wanted.order)
    order = f"{ends} first" if total > 1 else f"the {ends}"
    return f"**{some}{count_words(under.count, under.noun)}**{under.narrowed}" + (f", {order}." if ends else ".")


def _end_of(under: Under, order: SchemaOrder) -> str:
    """ "highest price", "latest date", "last name": which end of a field comes first. Empty where no bucket has it."""
    field = _field_of(under, order)
    if field is None:
        return ""
    ends = _ENDS.get(field.type, ("first", "last"))
    return f"{ends[order.descending]} {escaped(lowered(field.label))}"


def _field_of(under: Under, order: SchemaOrder) -> Field | None:
    fields = (under.material.schemas[bucket].by_name.get(order.field) for bucket in under.leg.search.buckets)
    return next(filter(None, fields), None)


async def _alike_last(under: Under, wanted: ListDocuments, records: Sequence[Record]) -> str:
    """That documents beyond a list have the value of its last one, which order alone keeps out; with their number."""
    if wanted.order is None or wanted.limit is None or len(records) <= wanted.limit:
        return ""
    last, beyond = (records[at].values.get(wanted.order.field) for at in (wanted.limit - 1, wanted.limit))
    field = _field_of(under, wanted.order)
    if field is None or last is None or isinstance(last, tuple) or last != beyond:
        return ""
    alike = Count(under.leg.search.narrowed(Compare(field=field.name, op=Op.EQ, value=last)))
    many = count_words((await under.desk.ask((alike,)))[alike], under.noun)
    return f" {many} share the {'last' if wanted.limit > 1 else 'first'} place."


async def _shown_further(under: Under, wanted: ListDocuments) -> Enough:
    """The documents of the set that come after those that were shown."""
    assert under.asked.page is not None  # noqa: S101 - as a list asks
    records = under.answers[under.asked.page].records[wanted.skip :][: wanted.limit]
    last, of = wanted.skip + len(records), f"{count_words(under.count, under.noun)}{under.narrowed}"
    text = f"**{wanted.skip + 1:,} to {last:,}** of {of}:" if records else f"That was all: {of}."
    schemas, caption = under.material.schemas, f"{len(records)} more"
    grids = (grid_of(records, under.leg.search, schemas, caption, wanted.order),) if records else ()
    result = replace(
        result_of(under, OutcomeKind.ANSWER, text, len(records)), doc_ids=ids_of(records), records=tuple(records)
    )
    return Enough(
        result=result,
        lines=(text,),
        grids=grids,
        hits=await _passage_of_each(under, records),
        export=under.count,
        assumptions=assumptions_of(under),
    )


async def _passage_of_each(under: Under, records: Sequence[Record]) -> tuple[FoundPassage, ...]:
    """The best passage of each document; the first of those that no word of the question points into."""
    found = hits_by_document(under)
    ranked = {one.hit.doc_id for one in found}
    wanted = under.desk.context.limits.hits
    silent = [one.doc_id for one in records[:wanted] if one.doc_id not in ranked][: max(wanted - len(found), 0)]
    if not silent:
        return found
    fetch = Fetch(tuple(silent))
    documents = (await under.desk.ask((fetch,)))[fetch]
    buckets = {one.doc_id: one.bucket for one in records}
    return (*found, *(_first_passage(one, buckets[one.doc_id]) for one in documents if one.passages))


def _first_passage(document: Document, bucket: BucketId) -> FoundPassage:
    passage = document.passages[0]
    hit = Hit(
        doc_id=document.doc_id, bucket=bucket, chunk_id=document.chunk_id(0), title=document.title,
        source=document.source, page=passage.page, start=passage.start, end=passage.end,
        text=document.text[passage.start : passage.end], score=0.0,
    )  # fmt: skip
    return FoundPassage(hit=hit, score=0.0, found_by=("annotations",))


def _reading_candidates(under: Under) -> list[Candidate]:
    return [Candidate(label=one.words, does=refine.TakeReading(search=one.search)) for one in under.doubt.wider]


def _missing_candidates(under: Under) -> list[Candidate]:
    lacking = {one.field for one in missing_of(under)}
    offered = refine.take_in_missing(under.leg, under.material.schemas)
    return [one for one in offered if isinstance(one.does, TakeInMissing) and one.does.field in lacking]


def _elsewhere_candidates(under: Under) -> list[Candidate]:
    """Other buckets that hold something of the kind, unless the question names the bucket that it means."""
    said = fold(under.leg.question)
    schemas = [under.material.schemas[bucket] for bucket in under.leg.search.buckets]
    nouns = [fold(noun) for schema in schemas for noun in (schema.label, schema.bucket, *schema.synonyms)]
    if any(noun in said for noun in nouns if noun) or not under.may_ask:
        return []
    return refine.elsewhere(under.leg, under.doubt, under.material.schemas)[:_ELSEWHERE]


def too_many(under: Under, limit: int) -> AskBack:
    by, cells = refine.narrowing(under.leg, under.answers, under.asked.facets, under.material.schemas)
    verb = "list" if isinstance(under.leg.wanted, ListDocuments) and limit > under.desk.context.limits.read else "read"
    text = f"I found **{count_words(under.count, under.noun)}**{under.narrowed}, more than the {limit} that I {verb}."
    ask = f"Which of them? By {escaped(by)}:" if by else "Narrow it in words, or take the file:"
    return AskBack(
        kind=OutcomeKind.OVERLOAD,
        result=result_of(under, OutcomeKind.OVERLOAD, text, under.count),
        lines=(text, ask),
        candidates=(*cells, *_missing_candidates(under)),
        hits=hits_by_document(under),
        assumptions=assumptions_of(under),
        anyway=True,
        export=under.count,
    )


# -- numbers


async def computed(under: Under) -> Enough | AskBack:
    """Numbers over the set. What the one document of a set of one says is fetched with them."""
    document: Document | None = None
    if under.count == 1 and under.asked.page is not None:
        fetch = Fetch(ids_of(under.answers[under.asked.page].records))
        document = next(iter((await under.desk.ask((fetch,)))[fetch]), None)
    return numbers(under, document)


def numbers(under: Under, document: Document | None) -> Enough | AskBack:
    """Numbers over the set; `document`: its only member, which bears them out."""
    compute, count = under.leg.wanted, under.count
    assert isinstance(compute, Compute) and under.asked.aggregate and under.asked.page  # noqa: PT018, S101
    if count == 0 and not _is_part(under):
        return nothing_found(under)
    alike = alike_readings(under)
    if alike is not None:
        return alike
    if under.asked.whole is not None:
        return _part(under, under.answers[under.asked.whole])
    schema = under.material.schemas[under.leg.search.clauses[0].bucket]
    lines = under.answers[under.asked.aggregate]
    groups = groups_of(compute, lines)
    apart = Function.DISTINCT in compute.functions
    figures = () if compute.group and not apart else figures_of(compute, lines, count)
    field = schema.by_name.get(compute.field) if compute.field is not None else None
    told = under.narrowed if len(figures) == 1 else ""
    said = [figure_words(one, schema, under.noun, told) for one in figures]
    if compute.group is not None and not apart:
        by = schema.by_name[compute.group.field].label.lower()
        what = f"{computed_of(compute.functions, field)} of " if field is not None else ""
        said = [f"{what}**{count_words(count, under.noun)}**{under.narrowed}, by {escaped(by)}:"]
    text = "\n".join(f"- {one}" for one in said) if len(said) > 1 else "".join(said)
    if figures and len(said) <= 1:
        text += "."
    result = replace(
        result_of(under, OutcomeKind.ANSWER, text, count),
        doc_ids=ids_of(under.answers[under.asked.page].records),
        values=figures,
        groups=groups,
    )
    quoted, citations = _borne_out(document, field) if document is not None else ("", ())
    return Enough(
        result=result,
        lines=(text + quoted,),
        citations=citations,
        grids=_grouped(under, compute, groups, field, schema),
        hits=hits_by_document(under),
        candidates=(*_reading_candidates(under), *_missing_candidates(under)),
        export=count or None,
        assumptions=assumptions_of(under),
    )


def _is_part(under: Under) -> bool:
    """Whether it is a share of something: of that, nothing is an answer too."""
    return under.asked.whole is not None and under.answers[under.asked.whole] > 0


def _part(under: Under, whole: int) -> Enough:
    """What share of a set this one is."""
    figure, said = share_of(under.count, whole), under.leg.wanted
    schema = under.material.schemas[under.leg.search.clauses[0].bucket]
    all_of_them = set_words(said.whole, under.material.schemas) if isinstance(said, Compute) and said.whole else ""
    text = f"{figure_words(figure, schema, under.noun)} of {number_words(whole)} {escaped(all_of_them)}."
    page = under.asked.page
    result = replace(
        result_of(under, OutcomeKind.ANSWER, text, under.count),
        doc_ids=ids_of(under.answers[page].records) if page is not None else (),
        values=(figure,),
    )
    return Enough(
        result=result,
        lines=(text,),
        hits=hits_by_document(under),
        candidates=(*_reading_candidates(under), *_missing_candidates(under)),
        export=under.count or None,
        assumptions=assumptions_of(under),
    )


def _grouped(
    under: Under, compute: Compute, groups: Sequence[GroupLine], field: Field | None, schema: Schema
) -> tuple[Grid, ...]:
    if not groups or compute.group is None:
        return ()
    label, caption = schema.by_name[compute.group.field].label.capitalize(), compute.functions[0].value.capitalize()
    if compute.functions[0] in (Function.COUNT, Function.DISTINCT):
        columns, rows = (label, "Documents"), tuple((one.label, number_words(one.count)) for one in groups)
    else:
        columns = (label, caption, "Documents")
        function = compute.functions[0]
        rows = tuple(
            (one.label, computed_words(function, one.value, one.unit, field), number_words(one.count)) for one in groups
        )
    return (Grid(caption=set_words(under.leg.search, under.material.schemas), columns=columns, rows=rows),)


def _borne_out(document: Document, field: Field | None) -> tuple[str, tuple[Citation, ...]]:
    """Where the one document that a number rests on says it."""
    value = document.values.get(field.name) if field is not None else None
    quote = sentence_with(document, written_forms(value, field), [field.label]) if field and value is not None else None
    citation = citation_of(1, document, quote or beginning_of(document))
    return (f" — “{escaped(quote.text[:400])}” [1]" if quote else " [1]"), (citation,)


# -- summaries


async def summarised(under: Under) -> Enough | AskBack:
    """What one document says, under its headings and pages; a sentence or two of each of a few."""
    count, limits = under.count, under.desk.context.limits
    if count == 0:
        return nothing_found(under)
    if count > limits.read and under.may_ask:
        return too_many(under, limits.read)
    records = _to_summarise(under)
    fetch = Fetch(ids_of(records))
    documents = (await under.desk.ask((fetch,)))[fetch]
    lines, citations = _outline(under, records[0], documents[0]) if len(documents) == 1 else _briefs(under, documents)
    kept, used, _ = verified(lines, citations)
    if not used and documents:
        used = [citation_of(1, documents[0], beginning_of(documents[0]))]
        kept = [*kept, f"“{escaped(used[0].text)}” [1]"]
    some = "" if len(records) == count else f"{len(records)} of "
    head = f"{some}{count_words(count, under.noun)}{under.narrowed}." if count > 1 else ""
    text = "\n".join(filter(None, (head, *kept)))
    result = replace(
        result_of(under, OutcomeKind.ANSWER, text, count), doc_ids=ids_of(records), records=tuple(records[:SHOWN])
    )
    return Enough(
        result=result,
        lines=(text,),
        citations=tuple(used),
        hits=hits_by_document(under),
        assumptions=assumptions_of(under),
        route=Route.LONG_TEXT,
    )


def _to_summarise(under: Under) -> list[Record]:
    """The whole set; of too large a one, those that rank best."""
    page, most = under.asked.page, under.desk.context.limits.read
    records = list(under.answers[page].records) if page is not None else []
    if under.count <= most:
        return records
    known = {one.doc_id: one for one in records}
    best: dict[DocId, Record] = {}
    for one in fused(hits_of(under.asked.ranked, under.answers)):
        hit = one.hit
        bare = Record(doc_id=hit.doc_id, bucket=hit.bucket, title=hit.title, source=hit.source, values={})
        best.setdefault(hit.doc_id, known.get(hit.doc_id, bare))
    return list((best | {one.doc_id: one for one in records if one.doc_id not in best}).values())[:most]


def _words_asked(under: Under) -> set[str]:
    """The words that a summary is to be about, folded."""
    required = " ".join(word for clause in under.leg.search.clauses for word in clause.required)
    return set(fold(required).split())


def _outline(under: Under, record: Record, document: Document) -> tuple[list[str], list[Citation]]:
    """The fields that tell most, then the sentences that do, by heading and page."""
    grid = grid_of([record], under.leg.search, under.material.schemas, caption="")
    known = zip(grid.columns[1:], grid.rows[0][1:], strict=True)
    lines = [f"**{escaped(document.title)}**"]
    fields = " · ".join(f"{escaped(label)}: {escaped(value)}" for label, value in known if value)
    lines += [fields] if fields else []
    citations: list[Citation] = []
    place = ""
    for one in telling_sentences(document, _OUTLINED, _words_asked(under)):
        citations.append(citation_of(len(citations) + 1, document, one.quote))
        here = one.heading or (f"Page {one.quote.page}" if one.quote.page is not None else "")
        if here and here != place:
            lines.append(f"\n**{escaped(here)}**")
        place = here
        lines.append(f"- “{escaped(one.quote.text[:_LONGEST_SAID])}” [{len(citations)}]")
    return lines, citations


def _briefs(under: Under, documents: Sequence[Document]) -> tuple[list[str], list[Citation]]:
    lines: list[str] = []
    citations: list[Citation] = []
    asked = _words_asked(under)
    for document in documents:
        said: list[str] = []
        for one in telling_sentences(document, _BRIEF, asked):
            citations.append(citation_of(len(citations) + 1, document, one.quote))
            said.append(f"“{escaped(one.quote.text[:_LONGEST_SAID])}” [{len(citations)}]")
        if not said and document.passages:
            citations.append(citation_of(len(citations) + 1, document, beginning_of(document)))
            said.append(f"“{escaped(citations[-1].text)}” [{len(citations)}]")
        lines.append(f"- **{escaped(document.title)}**: " + " ".join(said))
    return lines, citations
