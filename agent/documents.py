"""What is known of one document, and what the text of documents says."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent import refine
from agent.compose import (
    SHOWN,
    Quote,
    amount_words,
    bearing,
    beginning_of,
    citation_of,
    currency_of,
    escaped,
    extracted,
    highlighted,
    quoted_once,
    read_from,
    sentence_with,
    written_forms,
)
from agent.decision import AskBack, Enough, Under, assumptions_of, hits_by_document, ids_of, result_of
from agent.gather import hits_of, weighted
from agent.long_text import names_a_long_one, of_the_best
from agent.named import confines, says_nothing_of, speaking_of
from agent.outcome import Citation, FoundPassage, OutcomeKind, Route
from agent.prune import RERANKED, coverage, fused, reranked, spotters_of
from agent.rerank import Weighted
from agent.sets import nothing_found
from agent.sought import sought_by
from agent.verify import verified
from agent.wording import count_words, value_words
from storage.search.conditions import TITLE, Compare, Condition, conjuncts, fields_of
from storage.search.documents import Document
from storage.search.ids import ChunkId, FieldName
from storage.search.index import Fetch, Hit, NearPassages, Passages, Record
from storage.search.plan import ReadFields
from storage.search.schema import Field, FieldType, Schema

_FLOOR = 0.42  # of a question's weight that the best passage must hold; below, nothing was found
_SUMMED_UP = 0.6  # of its weight that the best passage must hold together with the summary of its document
_NEAR = 0.62  # cosine at which a passage counts as found without sharing words (WordLlama, 256 dimensions)
_CITED = 10  # passages of one document whose sentences may be cited for a value
_SPOKEN_OF = 0.4  # what a sentence must hold of the question to be cited for a value that it does not hold
_CLEARLY = 0.1  # by how much more of the question passages elsewhere hold, to be taken in place of the set's
_NAMED = 20  # documents that a question about one may fit and still be offered by name


# -- values


async def values_read(under: Under) -> Enough | AskBack:
    wanted, count = under.leg.wanted, under.count
    assert isinstance(wanted, ReadFields) and under.asked.page  # noqa: PT018, S101
    if count == 0:
        by_title = any(TITLE in fields_of(clause.condition) for clause in under.leg.search.clauses)
        return await _anywhere(under) if by_title else nothing_found(under)
    records = under.answers[under.asked.page].records
    names = [name for bucket, name in wanted.fields if bucket == records[0].bucket]
    if count > 1 and not _agree(records, names, count):
        if under.may_ask:
            return which_document(under, records)
        return _taking_the_first(under, await _read_values(under, records[:1], names))
    return await _read_values(under, records, names)


def _taking_the_first(under: Under, decided: Enough | AskBack) -> Enough | AskBack:
    said = f"took the first of the {count_words(under.count, under.noun)} that fit"
    return replace(decided, assumptions=(*decided.assumptions, said))


def _agree(records: Sequence[Record], names: Sequence[FieldName], count: int) -> bool:
    said = {tuple(repr(one.values.get(name)) for name in names) for one in records}
    return len(said) == 1 and count == len(records)


async def _read_values(under: Under, records: Sequence[Record], names: Sequence[FieldName]) -> Enough | AskBack:
    fetch = Fetch(tuple(one.doc_id for one in records[:1]))
    document = (await under.desk.ask((fetch,)))[fetch][0]
    known = [name for name in names if document.values.get(name) is not None]
    question, ranked = await _ranked(under, under.asked.ranked, anywhere=False, judge=not known)
    ranked = [one for one in ranked if one.hit.doc_id == document.doc_id]
    if not known:  # not known as a value: what does its text say?
        return said_in(under, question, ranked, Route.LONG_TEXT)
    sentences = extracted(ranked, question, under.material.analysers, under.leg, under.asked.said, read=_CITED)
    schema = under.material.schemas[records[0].bucket]
    lines: list[str] = []
    citations: list[Citation] = []
    for name in known:
        line, citation = _value_line(document, schema.by_name[name], sentences, len(citations) + 1)
        lines.append(line)
        citations.append(citation)
    lines, citations, _ = verified(lines, citations)
    text = "\n\n".join(lines)
    result = replace(
        result_of(under, OutcomeKind.ANSWER, text, None), doc_ids=ids_of(records), records=tuple(records[:SHOWN])
    )
    return Enough(
        result=result,
        lines=(text,),
        citations=tuple(citations),
        hits=tuple(_cited_first(ranked, citations)[: under.desk.context.limits.hits]),
        assumptions=assumptions_of(under),
    )


def _value_line(
    document: Document, field: Field, sentences: Sequence[tuple[float, FoundPassage, Quote]], marker: int
) -> tuple[str, Citation]:
    """The value, with the sentence that holds it; else with the one that speaks of it, else with the beginning."""
    value = document.values[field.name]
    forms = written_forms(value, field)
    quote = read_from(document, field.name) or bearing(sentences, forms)
    quote = quote or sentence_with(document, forms, [field.label, *field.synonyms])
    if quote is None and sentences and sentences[0][0] >= _SPOKEN_OF:
        quote = sentences[0][2]
    currency = currency_of(document.values, field)
    said = amount_words(value, currency, field) if isinstance(value, (str, float)) else value_words(value, field)
    label = field.label[:1].upper() + field.label[1:]
    line = f"{escaped(label)} of {escaped(document.title)}: **{escaped(said)}**"
    line += f" — “{escaped(quote.text[:400])}” [{marker}]" if quote is not None else f" [{marker}]"
    return line, citation_of(marker, document, quote or beginning_of(document))


def _cited_first(ranked: Sequence[FoundPassage], citations: Sequence[Citation]) -> list[FoundPassage]:
    """The passages that hold what is cited, then the others, each in order."""

    def is_cited(hit: Hit) -> bool:
        return any(one.doc_id == hit.doc_id and hit.start <= one.start < hit.end for one in citations)

    return sorted(ranked, key=lambda one: not is_cited(one.hit))


def which_document(under: Under, records: Sequence[Record]) -> AskBack:
    text = f"**{count_words(under.count, under.noun)}** fit ({under.where}). Which one do you mean?"
    return AskBack(
        kind=OutcomeKind.AMBIGUOUS,
        result=result_of(under, OutcomeKind.AMBIGUOUS, text, None),
        lines=(text,),
        candidates=tuple(refine.documents(records, under.count > len(records))),
        hits=hits_by_document(under),
        assumptions=assumptions_of(under),
        anyway=True,
    )


# -- text


async def _anywhere(under: Under) -> Enough | AskBack:
    """No document is known by that name: what does any text say?"""
    question, ranked = await _ranked(under, under.asked.fallback or under.asked.ranked, anywhere=True)
    said = said_in(under, question, speaking_of(under, ranked), Route.HYBRID)
    nothing = isinstance(said, AskBack) and said.kind is OutcomeKind.NO_RESULTS
    return replace(said, hits=tuple(ranked[: under.desk.context.limits.hits])) if nothing else said


async def text_found(under: Under) -> Enough | AskBack:
    """What the passages of the set say; what any passage says, where those say nothing or clearly less.

    The words that chose the set may have been no names: then passages elsewhere hold more of the question. Where they
    name the documents for sure, no other is quoted.
    """
    question, ranked = await _ranked(under, under.asked.ranked, anywhere=False)
    if (checked := _checked(under, question, ranked)) is not None:
        return checked
    elsewhere = bool(under.asked.fallback) and not confines(under)
    if elsewhere:
        whole, others = await _ranked(under, under.asked.fallback, anywhere=True)
        of_them = speaking_of(under, others)
        in_set = bool(of_them) and of_them[0].hit.doc_id in {one.hit.doc_id for one in ranked}
        if not in_set and _held(under, whole, of_them) > _held(under, question, ranked) + _CLEARLY:
            return said_in(under, whole, of_them, Route.HYBRID)
    said = said_in(under, question, ranked, Route.LONG_TEXT if names_a_long_one(under) else Route.HYBRID)
    nothing = isinstance(said, AskBack) and said.kind is OutcomeKind.NO_RESULTS
    if isinstance(said, AskBack) and not nothing:
        return said
    if (best := await of_the_best(under, ranked, answers=not nothing)) is not None:
        by_summary = said_in(under, best.question, best.ranked, Route.LONG_TEXT, [*ranked, *best.others], best.held)
        if isinstance(by_summary, Enough):
            return by_summary
    return await _anywhere(under) if nothing and elsewhere else said


def _checked(under: Under, question: Sequence[Weighted], ranked: Sequence[FoundPassage]) -> Enough | None:
    """Yes or no, where one document is named and what is asked is known of it: a list or a flag is never unknown."""
    page = under.asked.page
    records = under.answers[page].records if page is not None else ()
    if not under.asked.checks or len(records) != 1:
        return None
    record, schema = records[0], under.material.schemas[records[0].bucket]
    if any(_is_unknown(one, record, schema) for one in under.asked.checks):
        return None
    holds = under.count == 1
    said = " and ".join(_claim_words(one, schema.by_name[one.field], record, holds) for one in under.asked.checks)
    line = f"**{'Yes' if holds else 'No'}**: {said}"
    sentences = extracted(ranked, question, under.material.analysers, under.leg, under.asked.said) if holds else []
    citations: list[Citation] = []
    if sentences:
        citations.append(citation_of(1, record, sentences[0][2]))
        line += f" — “{escaped(sentences[0][2].text[:400])}” [1]"
    lines, citations, _ = verified([line if citations else f"{line}."], citations)
    result = replace(result_of(under, OutcomeKind.ANSWER, lines[0], None), doc_ids=(record.doc_id,))
    hits = tuple(_cited_first(ranked, citations)[: under.desk.context.limits.hits])
    return Enough(result=result, lines=tuple(lines), citations=tuple(citations), hits=hits, route=Route.LONG_TEXT)


def _is_unknown(claim: Compare, record: Record, schema: Schema) -> bool:
    """Whether the document has no value to compare; a list or a flag always has one."""
    field = schema.by_name.get(claim.field)
    return field is None or (not field.absent_means_none and field.name not in record.values)


def _claim_words(claim: Compare, field: Field, record: Record, holds: bool) -> str:
    """ "Source code escrow is not among the clauses of …". Markdown."""
    denied, label, title = "" if holds else "not ", escaped(field.label.lower()), escaped(record.title)
    if field.type is FieldType.LIST:
        return f"{escaped(str(claim.value))} is {denied}among the {label} of {title}"
    if field.type is FieldType.FLAG:
        return f"{title} is {denied}{'marked' if claim.value else 'without'} {label}"
    return f"{label} of {title} is {escaped(value_words(record.values[field.name], field))}"


async def _ranked(
    under: Under, requests: Mapping[str, Passages | NearPassages], *, anywhere: bool, judge: bool = True
) -> tuple[Sequence[Weighted], list[FoundPassage]]:
    """The words that passages are ranked for, and the passages, best first. `judge`: the reranker is asked too."""
    question = weighted(under.asked, under.answers, under.material, anywhere=anywhere)
    found = fused(hits_of(requests, under.answers))
    judged = await under.desk.judged(under.leg.question, found[:RERANKED]) if judge else None
    return question, reranked(found, question, under.material.analysers, judged)


def said_in(
    under: Under,
    question: Sequence[Weighted],
    ranked: Sequence[FoundPassage],
    route: Route,
    others: Sequence[FoundPassage] = (),
    held: float | None = None,
) -> Enough | AskBack:
    """The sentences of the best passages that answer; nothing where those hold too little of the question.

    `others` are shown behind them as found. `held`: how much of the question they hold with their documents' summaries.
    """
    hits = _each_once([*ranked, *others])[: under.desk.context.limits.hits]
    if not (_holds_enough(under, question, ranked) or (held is not None and held >= _SUMMED_UP)):
        return _not_said(under, [one.word for one in question if not one.known], hits)
    sentences = extracted(ranked, question, under.material.analysers, under.leg, under.asked.said)
    if _tells_several(under, sentences) and under.asked.page is not None:
        return which_document(under, under.answers[under.asked.page].records)
    kind = sought_by(under.leg.question)
    lines: list[str] = []
    citations: list[Citation] = []
    for one in quoted_once(sentences)[:3]:
        if lines and one.score < 0.75 * sentences[0][0]:
            break
        first = len(citations) + 1
        citations += [
            citation_of(marker, _record_of(passage.hit), quote)
            for marker, (passage, quote) in enumerate(one.places, first)
        ]
        markers = "".join(f"[{marker}]" for marker in range(first, len(citations) + 1))
        lines.append(f"“{highlighted(one.places[0][1].text[:400], kind)}” {markers}")
    lines, citations, _ = verified(lines, citations)
    text = "\n\n".join(lines)
    result = replace(
        result_of(under, OutcomeKind.ANSWER, text, None), doc_ids=tuple(dict.fromkeys(one.doc_id for one in citations))
    )
    return Enough(result=result, lines=tuple(lines), citations=tuple(citations), hits=hits, route=route)


def _each_once(found: Sequence[FoundPassage]) -> tuple[FoundPassage, ...]:
    once = dict[ChunkId, FoundPassage]()
    for one in found:
        once.setdefault(one.hit.chunk_id, one)
    return tuple(once.values())


def _holds_enough(under: Under, question: Sequence[Weighted], ranked: Sequence[FoundPassage]) -> bool:
    """Whether some passage holds enough of the question's weight, or means much the same."""
    near = under.asked.ranked.get("semantic")
    cosine = max((hit.score for hit in under.answers[near][:1]), default=0.0) if near is not None else 0.0
    means_it = cosine >= _NEAR and any(one.known for one in question)
    return bool(ranked) and (_held(under, question, ranked) >= _FLOOR or means_it)


def _held(under: Under, question: Sequence[Weighted], ranked: Sequence[FoundPassage]) -> float:
    """The share (0 to 1) of the question's weight that one of the best passages holds."""
    spotters = spotters_of(question, under.material.analysers)
    return max((coverage(one.hit, question, spotters[one.hit.bucket]) for one in ranked[:5]), default=0.0)


def _record_of(hit: Hit) -> Record:
    return Record(doc_id=hit.doc_id, bucket=hit.bucket, title=hit.title, source=hit.source, values={})


def _tells_several(under: Under, sentences: Sequence[tuple[float, FoundPassage, Quote]]) -> bool:
    """A question about "the" one thing that several documents answer alike well, each otherwise."""
    if not under.may_ask or not 2 <= under.count <= _NAMED or not _speaks_of_one(under):
        return False
    best = [(one.hit.doc_id, quote.text) for score, one, quote in sentences if score >= 0.93 * sentences[0][0]]
    return len({doc for doc, _ in best}) > 1 and len({text for _, text in best}) > 1


def _speaks_of_one(under: Under) -> bool:
    """ "The battery cabinet": what narrows the search stands in the singular behind "the"."""
    question = under.leg.question.casefold()
    words = [_words_of(one) for clause in under.leg.search.clauses for one in conjuncts(clause.condition)]
    return any(f"the {word}" in question and not word.endswith("s") for word in words if word)


def _words_of(condition: Condition) -> str:
    return condition.words.casefold() if isinstance(condition, Compare) else ""


def _not_said(under: Under, unknown: Sequence[str], hits: tuple[FoundPassage, ...]) -> AskBack:
    """Nothing is quoted; what was ranked is there for whoever asks for hits."""
    text = "I found nothing that answers this."
    page = under.asked.page
    records = under.answers[page].records if page is not None else ()
    if len(records) == 1 and confines(under):
        text = escaped(says_nothing_of(under, records[0], list(under.asked.stems)))
    elif unknown:
        text += " No document mentions " + ", ".join(f"“{escaped(word)}”" for word in unknown[:5]) + "."
    return AskBack(
        kind=OutcomeKind.NO_RESULTS,
        result=result_of(under, OutcomeKind.NO_RESULTS, text, None),
        lines=(text,),
        candidates=(),
        hits=hits,
        route=Route.HYBRID,
    )
