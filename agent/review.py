"""Review what was found: enough to answer, more to fetch, or a question back.

Counts decide what counts can decide. Each leg concludes on its own; legs that succeeded are answered in the same reply
that asks about the first leg that did not.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agent import refine
from agent.compose import (
    SHOWN,
    Quote,
    amount_words,
    beginning_of,
    citation_of,
    currency_of,
    escaped,
    extracted,
    figure_words,
    figures_of,
    grid_of,
    groups_of,
    sentence_with,
    set_words,
    written_forms,
)
from agent.gather import Asked, asked_of, hits_of, weighted, without_unknown
from agent.outcome import (
    Answer,
    Choice,
    Citation,
    Clarify,
    FoundPassage,
    Grid,
    LegResult,
    MissingCount,
    Outcome,
    OutcomeKind,
    Route,
)
from agent.prune import coverage, fused, reranked
from agent.reasoner import Doubt, Material, Planned
from agent.refine import Candidate
from agent.tools import Desk
from agent.verify import verified
from agent.wording import condition_words, count_words, number_words, value_words
from storage.search.conditions import TITLE, Compare, Condition, conjuncts, fields_of
from storage.search.ids import DocId, FieldName, LegId
from storage.search.index import Answers, Fetch, Record
from storage.search.plan import Compute, FindPassages, Leg, ListDocuments, Plan, ReadFields, Summarise
from storage.search.refinement import TakeInMissing
from storage.search.schema import Field

_FLOOR = 0.42  # of a question's weight that the best passage must hold; below, nothing was found
_NAMED = 20  # documents that are offered by name at most, in the end
_NEAR = 0.62  # cosine at which a passage counts as found without sharing words (WordLlama, 256 dimensions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A leg that is answered."""

    result: LegResult
    lines: tuple[str, ...]
    citations: tuple[Citation, ...] = ()
    grids: tuple[Grid, ...] = ()
    hits: tuple[FoundPassage, ...] = ()
    candidates: tuple[Candidate, ...] = ()  # ways to narrow, to be counted
    export: int | None = None  # documents that an export would bring, where it is offered
    assumptions: tuple[str, ...] = ()
    route: Route = Route.STRUCTURED


@dataclass(frozen=True, slots=True, kw_only=True)
class AsksBack:
    """A leg that needs a choice."""

    kind: OutcomeKind
    result: LegResult
    lines: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    hits: tuple[FoundPassage, ...] = ()
    assumptions: tuple[str, ...] = ()
    anyway: bool = False
    export: int | None = None
    route: Route = Route.STRUCTURED


@dataclass(frozen=True, slots=True, kw_only=True)
class Under:
    """One leg under review."""

    desk: Desk
    material: Material
    leg: Leg
    doubt: Doubt
    asked: Asked
    answers: Answers
    may_ask: bool
    ignored: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        return self.answers[self.asked.count]

    @property
    def noun(self) -> str:
        return refine.noun(self.leg.search, self.material.schemas)

    @property
    def where(self) -> str:
        return escaped(set_words(self.leg.search, self.material.schemas))


async def reviewed(desk: Desk, planned: Planned, material: Material) -> Outcome:
    """Search for every leg at once, conclude each, and put together what they came to."""
    context = desk.context
    asked_back = context.asked_back if planned.follows else 0
    may_ask = not context.just_answer and asked_back < context.limits.clarifications_in_a_row
    context.progress("Searching")
    started = time.perf_counter()
    doubts = {doubt.leg: doubt for doubt in planned.doubts}
    under = await _gathered(desk, planned.plan.legs, doubts, material, may_ask)
    desk.stage("search", started)
    started = time.perf_counter()
    concluded = [await _conclude(one) for one in under]
    desk.stage("review", started)
    legs = tuple(one.leg for one in under)
    plan = replace(planned.plan, legs=legs)
    back = next(((u, one) for u, one in zip(under, concluded, strict=True) if isinstance(one, AsksBack)), None)
    started = time.perf_counter()
    outcome = await (
        _answered(plan, planned, under, [one for one in concluded if isinstance(one, Found)])
        if back is None
        else _asked_back(plan, planned, back[0], back[1], concluded)
    )
    desk.stage("compose", started)
    return replace(outcome, trace=desk.trace(outcome.trace.route))


async def _gathered(
    desk: Desk, legs: Sequence[Leg], doubts: Mapping[LegId, Doubt], material: Material, may_ask: bool
) -> list[Under]:
    """One round trip; a second where doubtful words that no document holds are taken out of a leg."""
    limits = desk.context.limits

    async def ask(legs: Sequence[Leg], ignored: Sequence[tuple[str, ...]]) -> list[Under]:
        asked = [
            asked_of(leg, doubts.get(leg.id, Doubt(leg=leg.id)), material, limits, narrowing=may_ask) for leg in legs
        ]
        answers = await desk.ask(
            [request for one in asked for request in one.requests()],
            note=[request for one in asked for request in one.noted()],
        )
        return [
            Under(
                desk=desk, material=material, leg=leg, doubt=doubts.get(leg.id, Doubt(leg=leg.id)), asked=one,
                answers=answers, may_ask=may_ask, ignored=words,
            )
            for leg, one, words in zip(legs, asked, ignored, strict=True)
        ]  # fmt: skip

    under = await ask(legs, [()] * len(legs))
    known = [without_unknown(one.leg, one.doubt, one.asked, one.answers) for one in under]
    if not any(words for _, words in known):
        return under
    return await ask([leg for leg, _ in known], [words for _, words in known])


async def _conclude(under: Under) -> Found | AsksBack:
    match under.leg.wanted:
        case FindPassages():
            return _text(under)
        case Compute():
            return await _computed(under)
        case ListDocuments():
            return _listed(under)
        case ReadFields():
            return await _values(under)
        case Summarise():
            return _summary(under)


# -- what every conclusion says


def _result(under: Under, kind: OutcomeKind, text: str, count: int | None) -> LegResult:
    return LegResult(
        leg=under.leg.id,
        question=under.leg.question,
        kind=kind,
        text=text,
        count=count,
        found=under.count,
        condition=_condition(under),
        missing=_missing(under),
    )


def _condition(under: Under) -> Condition | None:
    clauses = under.leg.search.clauses
    conditions = {clause.everything for clause in clauses}
    return clauses[0].everything if len(conditions) == 1 else None


def _missing(under: Under) -> tuple[MissingCount, ...]:
    counts = {name: under.answers[count] for name, count in under.asked.missing.items()}
    return tuple(MissingCount(field=name, count=count) for name, count in counts.items() if count)


def _assumptions(under: Under) -> tuple[str, ...]:
    said = [f"ignored, since no document holds it: “{word}”" for word in under.ignored]
    required = sorted({word for clause in under.leg.search.clauses for word in clause.required})
    said += [f"“{word}” fits no field, so the text must mention it" for word in required]
    return tuple(said)


def _hits(under: Under) -> tuple[FoundPassage, ...]:
    """The best passage of each document, on the structured route."""
    found = fused(hits_of(under.asked.ranked, under.answers))
    seen: dict[str, FoundPassage] = {}
    for one in found:
        seen.setdefault(one.hit.doc_id, one)
    return tuple(seen.values())[: under.desk.context.limits.hits]


def _ids(records: Sequence[Record]) -> tuple[DocId, ...]:
    return tuple(one.doc_id for one in records)


# -- nothing


def _nothing(under: Under) -> AsksBack:
    where = under.where
    schemas = under.material.schemas
    lines = [f"I found no {where}."]
    tried = [
        f"- {escaped(condition_words(one, schemas[clause.bucket]))}"
        for clause in under.leg.search.clauses
        for one in (*conjuncts(clause.condition),)
    ]
    tried += [f"- mentions “{escaped(word)}”" for clause in under.leg.search.clauses for word in clause.required]
    if len(tried) > 1:
        lines.append("All of this together leads to **0**:\n" + "\n".join(tried))
    result = replace(_result(under, OutcomeKind.NO_RESULTS, lines[0], 0))
    return AsksBack(
        kind=OutcomeKind.NO_RESULTS,
        result=result,
        lines=tuple(lines),
        candidates=(),
        assumptions=_assumptions(under),
    )


# -- lists


def _listed(under: Under) -> Found | AsksBack:
    wanted, count, limits = under.leg.wanted, under.count, under.desk.context.limits
    assert isinstance(wanted, ListDocuments) and under.asked.page is not None  # noqa: PT018, S101 - by dispatch
    if count == 0:
        return _nothing(under)
    alike = _alike(under)
    if alike is not None:
        return alike
    if wanted.limit is None and count > limits.overload and under.may_ask:
        return _overload(under, limits.overload)
    records = under.answers[under.asked.page].records
    shown = min(len(records), SHOWN)
    total = min(count, wanted.limit) if wanted.limit else count
    text = f"**{count_words(total, under.noun)}**: {under.where}."
    if total > shown:
        text += f" The first {shown}:"
    grid = grid_of(records, under.leg.search, under.material.schemas, caption=f"{shown} of {number_words(total)}")
    result = replace(
        _result(under, OutcomeKind.ANSWER, text, total),
        doc_ids=_ids(records)[: limits.documents],
        records=tuple(records[:SHOWN]),
    )
    candidates = [*_reading_candidates(under), *_missing_candidates(under)]
    if total > SHOWN and under.asked.facets:
        _, cells = refine.narrowing(under.leg, under.answers, under.asked.facets, under.material.schemas)
        candidates = [*cells, *candidates]
    return Found(
        result=result,
        lines=(text,),
        grids=(grid,),
        hits=_hits(under),
        candidates=tuple(candidates),
        export=count if total > SHOWN else None,
        assumptions=_assumptions(under),
    )


def _reading_candidates(under: Under) -> list[Candidate]:
    return [Candidate(label=one.words, does=refine.TakeReading(search=one.search)) for one in under.doubt.wider]


def _missing_candidates(under: Under) -> list[Candidate]:
    lacking = {one.field for one in _missing(under)}
    offered = refine.take_in_missing(under.leg, under.material.schemas)
    return [one for one in offered if isinstance(one.does, TakeInMissing) and one.does.field in lacking]


def _overload(under: Under, limit: int) -> AsksBack:
    by, cells = refine.narrowing(under.leg, under.answers, under.asked.facets, under.material.schemas)
    text = f"I found **{count_words(under.count, under.noun)}** ({under.where}), more than the {limit} that I list."
    ask = f"Which of them? By {escaped(by)}:" if by else "Narrow it in words, or take the file:"
    return AsksBack(
        kind=OutcomeKind.OVERLOAD,
        result=_result(under, OutcomeKind.OVERLOAD, text, under.count),
        lines=(text, ask),
        candidates=(*cells, *_missing_candidates(under)),
        hits=_hits(under),
        assumptions=_assumptions(under),
        anyway=True,
        export=under.count,
    )


def _alike(under: Under) -> AsksBack | None:
    """Two readings of a constraint that score alike are asked about, each counted."""
    leads = any(under.answers[count] for count in under.asked.alike)
    if not leads or not under.count or not under.may_ask:
        return None  # one reading alone leads somewhere: it is what was meant
    schemas = under.material.schemas
    clause = under.leg.search.clauses[0]
    others = [conjuncts(reading.search.clauses[0].condition) for reading in under.doubt.alike]
    own = [one for one in conjuncts(clause.condition) if any(one not in other for other in others)]
    taken = " and ".join(condition_words(one, schemas[clause.bucket]) for one in own)
    candidates = refine.readings(under.leg, under.doubt, schemas, taken)
    text = "This can be read in more than one way. Which do you mean?"
    return AsksBack(
        kind=OutcomeKind.AMBIGUOUS,
        result=_result(under, OutcomeKind.AMBIGUOUS, text, None),
        lines=(text,),
        candidates=tuple(candidates),
        assumptions=_assumptions(under),
        anyway=True,
    )


# -- numbers


async def _computed(under: Under) -> Found | AsksBack:
    compute, count = under.leg.wanted, under.count
    assert isinstance(compute, Compute) and under.asked.aggregate and under.asked.page  # noqa: PT018, S101 - by dispatch
    if count == 0:
        return _nothing(under)
    alike = _alike(under)
    if alike is not None:
        return alike
    schema = under.material.schemas[under.leg.search.clauses[0].bucket]
    lines = under.answers[under.asked.aggregate]
    groups = groups_of(compute, lines)
    figures = () if compute.group else figures_of(compute, lines, count)
    field = schema.by_name.get(compute.field) if compute.field is not None else None
    said = [figure_words(one, schema) for one in figures]
    if compute.group is not None:
        by = schema.by_name[compute.group.field].label.lower()
        said = [f"**{count_words(count, under.noun)}** by {escaped(by)}:"]
    text = "\n".join(f"- {one}" for one in said) if len(said) > 1 else "".join(said)
    if figures and len(said) <= 1:
        text += f", {under.where}."
    grids = ()
    if groups:
        rows = tuple(
            (one.label, amount_words(one.value, one.unit, field) if field else number_words(one.value), str(one.count))
            for one in groups
        )
        title = compute.functions[0].value.capitalize()
        columns = (schema.by_name[compute.group.field].label.capitalize(), title, "Documents") if compute.group else ()
        grids = (Grid(caption=set_words(under.leg.search, under.material.schemas), columns=columns, rows=rows),)
    records = under.answers[under.asked.page].records
    result = replace(
        _result(under, OutcomeKind.ANSWER, text, count), doc_ids=_ids(records), values=figures, groups=groups
    )
    quoted, citations = await _borne_out(under, records, field) if count == 1 else ("", ())
    return Found(
        result=result,
        lines=(text + quoted,),
        citations=citations,
        grids=grids,
        hits=_hits(under),
        candidates=(*_reading_candidates(under), *_missing_candidates(under)),
        export=count or None,
        assumptions=_assumptions(under),
    )


async def _borne_out(under: Under, records: Sequence[Record], field: Field | None) -> tuple[str, tuple[Citation, ...]]:
    """Where the one document that a number rests on says it."""
    fetch = Fetch(tuple(one.doc_id for one in records[:1]))
    document = (await under.desk.ask((fetch,)))[fetch][0]
    value = document.values.get(field.name) if field is not None else None
    quote = sentence_with(document, written_forms(value, field), [field.label]) if field and value is not None else None
    citation = citation_of(1, document, quote or beginning_of(document))
    return (f" — “{escaped(quote.text[:400])}” [1]" if quote else " [1]"), (citation,)


# -- values of a document


async def _values(under: Under) -> Found | AsksBack:
    wanted, count = under.leg.wanted, under.count
    assert isinstance(wanted, ReadFields) and under.asked.page  # noqa: PT018, S101 - by dispatch
    if count == 0:
        by_title = any(TITLE in fields_of(clause.condition) for clause in under.leg.search.clauses)
        return _anywhere(under) if by_title else _nothing(under)
    records = under.answers[under.asked.page].records
    names = [name for bucket, name in wanted.fields if bucket == records[0].bucket]
    if count > 1 and not _agree(records, names, count):
        if under.may_ask:
            return _which_document(under, records)
        records = records[:1]
    return await _read_values(under, records, names)


def _agree(records: Sequence[Record], names: Sequence[FieldName], count: int) -> bool:
    said = {tuple(repr(one.values.get(name)) for name in names) for one in records}
    return len(said) == 1 and count == len(records)


def _which_document(under: Under, records: Sequence[Record]) -> AsksBack:
    text = f"**{count_words(under.count, under.noun)}** fit ({under.where}). Which one do you mean?"
    return AsksBack(
        kind=OutcomeKind.AMBIGUOUS,
        result=_result(under, OutcomeKind.AMBIGUOUS, text, None),
        lines=(text,),
        candidates=tuple(refine.documents(records, under.count > len(records))),
        hits=_hits(under),
        assumptions=_assumptions(under),
        anyway=True,
    )


async def _read_values(under: Under, records: Sequence[Record], names: Sequence[FieldName]) -> Found | AsksBack:
    fetch = Fetch(tuple(one.doc_id for one in records[:1]))
    document = (await under.desk.ask((fetch,)))[fetch][0]
    schema = under.material.schemas[records[0].bucket]
    lines: list[str] = []
    citations: list[Citation] = []
    for name in names:
        field, value = schema.by_name[name], document.values.get(name)
        if value is None:
            continue
        quote = sentence_with(document, written_forms(value, field), [field.label, *field.synonyms])
        currency = currency_of(document.values, field)
        said = amount_words(value, currency, field) if isinstance(value, (str, float)) else value_words(value, field)
        line = f"{escaped(field.label[:1].upper() + field.label[1:])} of {escaped(document.title)}: **{escaped(said)}**"
        citations.append(citation_of(len(citations) + 1, document, quote or beginning_of(document)))
        said = f" — “{escaped(quote.text[:400])}”" if quote is not None else ""
        line += f"{said} [{len(citations)}]"
        lines.append(line)
    if not lines:
        return _said(under, list(_hits(under)), Route.LONG_TEXT)  # not known as a value: what does its text say?
    lines, citations, _ = verified(lines, citations)
    text = "\n\n".join(lines)
    result = replace(
        _result(under, OutcomeKind.ANSWER, text, None), doc_ids=_ids(records), records=tuple(records[:SHOWN])
    )
    return Found(
        result=result,
        lines=(text,),
        citations=tuple(citations),
        hits=_hits(under),
        assumptions=_assumptions(under),
    )


# -- text


def _anywhere(under: Under) -> Found | AsksBack:
    """No document is known by that name: what does any text say?"""
    requests = under.asked.fallback or under.asked.ranked
    return _said(under, fused(hits_of(requests, under.answers)), Route.HYBRID)


def _text(under: Under) -> Found | AsksBack:
    lists = hits_of(under.asked.ranked, under.answers)
    route = Route.HYBRID
    if not any(lists.values()) and under.asked.fallback:
        lists = hits_of(under.asked.fallback, under.answers)
    return _said(under, fused(lists), route)


def _said(under: Under, found: Sequence[FoundPassage], route: Route) -> Found | AsksBack:
    question = weighted(under.asked, under.answers, under.material) if under.asked.stems else ()
    analysers = {str(bucket): one for bucket, one in under.material.analysers.items()}
    ranked = reranked(found, question, analysers) if question else list(found)
    hits = tuple(ranked[: under.desk.context.limits.hits])
    best = max((coverage(one.hit, question, analysers[one.hit.bucket]) for one in ranked[:5]), default=0.0)
    near = under.asked.ranked.get("semantic")
    cosine = max((hit.score for hit in under.answers[near][:1]), default=0.0) if near is not None else 0.0
    known = any(one.known for one in question)
    if not ranked or not (best >= _FLOOR or (cosine >= _NEAR and known)):
        return _not_said(under, hits, [one.word for one in question if not one.known])
    sentences = extracted(ranked, question, under.material.analysers, under.leg)
    if _tells_several(under, sentences) and under.asked.page is not None:
        return _which_document(under, under.answers[under.asked.page].records)
    lines: list[str] = []
    citations: list[Citation] = []
    for score, passage, quote in sentences[:3]:
        if lines and score < 0.75 * sentences[0][0]:
            break
        hit = passage.hit
        record = Record(doc_id=hit.doc_id, bucket=hit.bucket, title=hit.title, source=hit.source, values={})
        citations.append(citation_of(len(citations) + 1, record, quote))
        lines.append(f"“{escaped(quote.text[:400])}” [{len(citations)}]")
    lines, citations, _ = verified(lines, citations)
    text = "\n\n".join(lines)
    result = replace(
        _result(under, OutcomeKind.ANSWER, text, None), doc_ids=tuple(dict.fromkeys(one.doc_id for one in citations))
    )
    return Found(result=result, lines=tuple(lines), citations=tuple(citations), hits=hits, route=route)


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


def _not_said(under: Under, hits: tuple[FoundPassage, ...], unknown: Sequence[str]) -> AsksBack:
    text = "I found nothing that answers this."
    if unknown:
        text += " No document mentions " + ", ".join(f"“{escaped(word)}”" for word in unknown[:5]) + "."
    return AsksBack(
        kind=OutcomeKind.NO_RESULTS,
        result=_result(under, OutcomeKind.NO_RESULTS, text, None),
        lines=(text,),
        candidates=(),
        route=Route.HYBRID,
    )


def _summary(under: Under) -> Found | AsksBack:
    count, limits = under.count, under.desk.context.limits
    if count == 0:
        return _nothing(under)
    if count > limits.read and under.may_ask:
        return _overload(under, limits.read)
    found = fused(hits_of(under.asked.ranked, under.answers))
    best: dict[DocId, FoundPassage] = {}
    for one in found:
        best.setdefault(one.hit.doc_id, one)
    lines = [f"{min(count, limits.read)} of {count_words(count, under.noun)}: {under.where}."]
    citations: list[Citation] = []
    for one in list(best.values())[: min(limits.read, SHOWN)]:
        hit = one.hit
        record = Record(doc_id=hit.doc_id, bucket=hit.bucket, title=hit.title, source=hit.source, values={})
        ranked = extracted([one], weighted(under.asked, under.answers, under.material) if under.asked.stems else (),
                           under.material.analysers, under.leg)  # fmt: skip
        if ranked:
            citations.append(citation_of(len(citations) + 1, record, ranked[0][2]))
            lines.append(f"- {escaped(hit.title)}: “{escaped(ranked[0][2].text[:300])}” [{len(citations)}]")
    kept, used, _ = verified(lines, citations)
    text = "\n".join(kept)
    result = replace(_result(under, OutcomeKind.ANSWER, text, count), doc_ids=tuple(best))
    return Found(result=result, lines=(text,), citations=tuple(used), hits=_hits(under), route=Route.LONG_TEXT)


# -- putting together


async def _answered(plan: Plan, planned: Planned, under: Sequence[Under], found: Sequence[Found]) -> Answer:
    desk = under[0].desk
    choices: list[Choice] = []
    for one, leg in zip(found, plan.legs, strict=True):
        choices += (await refine.counted(desk, leg, one.candidates)) if one.candidates else []
        choices += refine.actions(leg, one.export, export=True, anyway=False)
    lines, citations = _renumbered(found)
    return Answer(
        plan=plan,
        text="\n\n".join(lines),
        legs=tuple(one.result for one in found),
        citations=tuple(citations),
        grids=tuple(grid for one in found for grid in one.grids),
        hits=tuple(hit for one in found for hit in one.hits)[: desk.context.limits.hits],
        choices=tuple(choices),
        assumptions=tuple(dict.fromkeys((*plan.assumptions, *(a for one in found for a in one.assumptions)))),
        kept=planned.kept,
        trace=desk.trace(found[0].route),
        generation=under[0].answers.generation,
    )


def _renumbered(found: Sequence[Found]) -> tuple[list[str], list[Citation]]:
    """Markers run on through all legs."""
    lines: list[str] = []
    citations: list[Citation] = []
    for one in found:
        shift = len(citations)
        text = "\n\n".join(one.lines)
        for citation in reversed(one.citations):
            text = text.replace(f"[{citation.marker}]", f"[{int(citation.marker) + shift}]")
        citations += [replace(citation, marker=str(int(citation.marker) + shift)) for citation in one.citations]
        lines.append(text)
    return lines, citations


async def _asked_back(
    plan: Plan, planned: Planned, under: Under, back: AsksBack, concluded: Sequence[Found | AsksBack]
) -> Clarify:
    desk, leg = under.desk, under.leg
    choices = await _choices(under, back)
    found = [one for one in concluded if isinstance(one, Found)]
    lines, citations = _renumbered(found)
    lines += list(back.lines)
    if back.kind is OutcomeKind.NO_RESULTS and choices:
        lines.append("Ways out, each with what it leads to:")
    return Clarify(
        plan=plan,
        kind=back.kind,
        leg=leg.id,
        text="\n\n".join(lines),
        legs=tuple(one.result for one in concluded),
        choices=tuple(choices),
        citations=tuple(citations),
        grids=tuple(grid for one in found for grid in one.grids),
        hits=back.hits,
        assumptions=tuple(dict.fromkeys((*plan.assumptions, *back.assumptions))),
        kept=planned.kept,
        asked_back=(under.desk.context.asked_back if planned.follows else 0) + 1,
        trace=desk.trace(back.route),
        generation=under.answers.generation,
    )


async def _choices(under: Under, back: AsksBack) -> list[Choice]:
    desk, leg = under.desk, under.leg
    if back.kind is not OutcomeKind.NO_RESULTS:
        choices = await refine.counted(desk, leg, back.candidates)
        return [*choices, *refine.actions(leg, back.export, export=True, anyway=back.anyway)]
    if not under.may_ask:
        return []
    requests = refine.ways_out_requests(leg, under.material.schemas)
    answers = await desk.ask(requests) if requests else None
    candidates = refine.ways_out(leg, answers, under.doubt, under.material.schemas)
    choices = refine.offered_ways_out(await refine.counted(desk, leg, candidates))
    return [*choices, *refine.meaning_action(leg)]
