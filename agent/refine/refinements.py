"""Refinements: derives candidates, counts them all in one round trip, drops those without results, ranks the rest.

There are three round trips at most: one asks the index for nearest values and spellings, one counts, and one compares
the sets of choices with the same count. An overload does not need the first, since its facets came with its count, nor
do choices with different values or separate ranges of one field need the last.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent.decomposition import AlternativeReading, LegAlternatives
from agent.refine.candidates import OfferedChoice, RefinementCandidate
from agent.refine.choice_labels import (
    AlsoUnclearLabel,
    ConditionsLabel,
    DocumentLabel,
    ExportLabel,
    JustAnswerLabel,
    LikelyFieldLabel,
    ListThemLabel,
    OtherBucketLabel,
    OtherDocumentLabel,
    PossibleFormLabel,
    SearchByMeaningLabel,
)
from agent.refine.equal_sets import CountedSearch, find_repeated_sets
from agent.retrieval.session import RetrievalSession
from storage.search.conditions import (
    DOC_ID_FIELD,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    NotCondition,
    Scalar,
    conjunction_of,
    conjuncts_of,
)
from storage.search.documents import Document
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import CountRequest, DocumentRecord, IndexAnswers, PassageHit
from storage.search.plan import Clause, Leg, ListDocuments, Search, SummariseDocuments
from storage.search.refinement import (
    AddBucket,
    ChooseDocument,
    ExportAll,
    IncludeMissing,
    JustAnswer,
    OpenTail,
    Refinement,
    SearchByMeaning,
    UseForm,
    UseReading,
    apply_refinement,
)
from storage.search.schema import Schema

_SHOWN_VALUES = 6
_MAX_COUNTED = 40  # candidates; a plan with more conditions than a person writes would be counted without each of them
SchemasByBucket = Mapping[BucketId, Schema]


async def count_refinements(
    session: RetrievalSession,
    leg: Leg,
    candidates: Sequence[RefinementCandidate],
    *,
    shows_set: bool = True,
) -> list[OfferedChoice]:
    """Returns the candidates that lead to documents as choices with counts, in the order given; two round trips.

    Only the first 40 candidates are counted.

    Each choice leads to other documents than every choice before it, and than the set of the leg, if the reply shows
    this (`shows_set`). A reply that asks which set is meant offers it as well. Of choices that change the form of the
    answer, only those with the same form are compared.
    """
    offered = _searches_to_count(leg, candidates, shows_set=shows_set)
    if not offered:
        return []
    now = CountRequest(leg.search)
    answers = await session.ask_index((now, *(CountRequest(search) for _, search in offered)))
    found = [
        (candidate, CountedSearch(search=search, count=answers[CountRequest(search)]))
        for candidate, search in offered
        if answers[CountRequest(search)] and _widens_if_meant(candidate.refinement, answers, now, search)
    ]
    present = CountedSearch(search=leg.search, count=answers[now]) if shows_set and answers[now] else None
    repeated = await _find_repeated(session, found, present)
    return [
        OfferedChoice(
            label=candidate.label,
            count=_count_after_click(leg, candidate.refinement, counted.count),
            leg=leg.id,
            effect=candidate.refinement,
        )
        for position, (candidate, counted) in enumerate(found)
        if position not in repeated
    ]


def count_requests_for(leg: Leg, candidates: Sequence[RefinementCandidate]) -> list[CountRequest]:
    """Returns the requests by which `count_refinements` counts the candidates beside an answer."""
    offered = _searches_to_count(leg, candidates, shows_set=True)
    return [CountRequest(leg.search), *(CountRequest(search) for _, search in offered)] if offered else []


def _searches_to_count(
    leg: Leg, candidates: Sequence[RefinementCandidate], *, shows_set: bool
) -> list[tuple[RefinementCandidate, Search]]:
    """Returns the candidates that may be offered, at most 40, each with the search that it leads to."""
    candidates = candidates[:_MAX_COUNTED]
    searches = [apply_refinement(candidate.refinement, leg.search) for candidate in candidates]
    return [
        (candidate, search)
        for candidate, search in zip(candidates, searches, strict=True)
        if search != leg.search or _may_repeat_set(candidate.refinement, shows_set=shows_set)
    ]


def _may_repeat_set(refinement: Refinement, *, shows_set: bool) -> bool:
    """Whether the choice may lead to the set of the leg: as the reading that was taken, or in another form."""
    return isinstance(refinement, UseForm) or (isinstance(refinement, UseReading) and not shows_set)


def _widens_if_meant(refinement: Refinement, answers: IndexAnswers, now: CountRequest, search: Search) -> bool:
    """Whether a choice that says "also those …" adds documents."""
    return not isinstance(refinement, (AddBucket, IncludeMissing)) or answers[CountRequest(search)] > answers[now]


async def _find_repeated(
    session: RetrievalSession,
    found: Sequence[tuple[RefinementCandidate, CountedSearch]],
    present: CountedSearch | None,
) -> frozenset[int]:
    """Returns the positions of the candidates with the documents of an earlier one, or with those of `present`."""
    forms = [candidate.refinement for candidate, _ in found]
    of_sets = [position for position, form in enumerate(forms) if not isinstance(form, UseForm)]
    searches = [found[position][1] for position in of_sets]
    first = 0 if present is None else 1
    repeated = await find_repeated_sets(session, searches if present is None else [present, *searches])
    same_forms = {position for position, form in enumerate(forms) if form in forms[:position]}
    return frozenset(of_sets[position - first] for position in repeated) | same_forms


def _count_after_click(leg: Leg, refinement: Refinement, count: int) -> int:
    """Returns how many documents a click leads to: a limit of three stays a limit of three."""
    answer_form = refinement.answer_form if isinstance(refinement, UseForm) else leg.answer_form
    limit = answer_form.list_limit
    return count if limit is None else min(count, limit)


def form_candidates(leg_alternatives: LegAlternatives, schemas: SchemasByBucket) -> list[RefinementCandidate]:
    """Returns a choice for each field that the question may be about."""
    return [
        RefinementCandidate(
            label=LikelyFieldLabel(field=schemas[form.bucket].by_name[form.field]),
            refinement=UseForm(answer_form=form.answer_form, search=form.search),
        )
        for form in leg_alternatives.equal_forms
    ]


def possible_form_candidates(leg_alternatives: LegAlternatives, schemas: SchemasByBucket) -> list[RefinementCandidate]:
    """Returns a choice for each list or number that may be asked for."""
    return [
        RefinementCandidate(
            label=PossibleFormLabel(
                clause=_without_known_value(form.search.clauses[0], form.field),
                field=schemas[form.bucket].by_name[form.field],
                answer_form=form.answer_form,
            ),
            refinement=UseForm(answer_form=form.answer_form, search=form.search),
        )
        for form in leg_alternatives.possible_forms
    ]


def possible_set_candidates(leg_alternatives: LegAlternatives, leg: Leg) -> list[RefinementCandidate]:
    """Returns a choice for each set of documents that may be meant."""
    return [
        RefinementCandidate(
            label=OtherBucketLabel(clause=found.clause),
            refinement=UseForm(
                answer_form=found.answer_form,
                search=Search(clauses=(found.clause,), ranking_text=leg.search.ranking_text),
            ),
        )
        for found in leg_alternatives.possible_sets
        if not any(_is_same_set(found.clause, clause) for clause in leg.search.clauses)
    ]


def fuller_set_candidates(leg_alternatives: LegAlternatives, leg: Leg) -> list[RefinementCandidate]:
    """Returns those of `possible_set_candidates` that have more conditions than the leg, which is offered itself."""
    count = max(len(conjuncts_of(clause.condition)) for clause in leg.search.clauses)
    fuller = tuple(
        found for found in leg_alternatives.possible_sets if len(conjuncts_of(found.clause.condition)) > count
    )
    return possible_set_candidates(replace(leg_alternatives, possible_sets=fuller), leg)


def _is_same_set(clause: Clause, other: Clause) -> bool:
    """Whether the clauses have the same conditions, in any order, and no required terms."""
    return (
        clause.bucket == other.bucket
        and not clause.required_terms
        and not other.required_terms
        and set(conjuncts_of(clause.condition)) == set(conjuncts_of(other.condition))
    )


def _without_known_value(clause: Clause, name: FieldName) -> Clause:
    """Returns the clause without the condition that the field has a value: its label need not say so."""
    known = NotCondition(MissingCondition(field=name))
    others = (condition for condition in conjuncts_of(clause.condition) if condition != known)
    return replace(clause, condition=conjunction_of(*others))


def action_choices(
    leg: Leg, export_count: int | None, *, offer_just_answer: bool, question: str = ""
) -> list[OfferedChoice]:
    """Returns the choices that are not refinements: the export of `export_count` rows, if any, and the plain answer.

    `question`: the leg that the export belongs to, if several legs have one.
    """
    offered: list[OfferedChoice] = []
    if export_count:
        offered.append(
            OfferedChoice(label=ExportLabel(question=question), count=export_count, leg=leg.id, effect=ExportAll())
        )
    if offer_just_answer:
        offered.append(OfferedChoice(label=JustAnswerLabel(), count=None, leg=leg.id, effect=JustAnswer()))
    return offered


def search_by_meaning_choices(leg: Leg) -> list[OfferedChoice]:
    """Returns the choice to search by meaning, if required words may be the reason for an empty result."""
    asks = any(clause.required_terms for clause in leg.search.clauses)
    label = SearchByMeaningLabel()
    return [OfferedChoice(label=label, count=None, leg=leg.id, effect=SearchByMeaning())] if asks else []


def reading_candidates(
    leg: Leg, alternatives: LegAlternatives, distinguishing_conditions: tuple[Condition, ...]
) -> list[RefinementCandidate]:
    """Returns the reading that was taken, then the readings with an equal score."""
    label = ConditionsLabel(conditions=distinguishing_conditions, bucket=leg.search.clauses[0].bucket)
    first = RefinementCandidate(label=label, refinement=UseReading(search=leg.search))
    return [first, *map(reading_candidate, alternatives.equal_readings)]


def reading_candidate(reading: AlternativeReading) -> RefinementCandidate:
    label = (
        AlsoUnclearLabel(count=reading.unclear_count)
        if reading.unclear_count
        else ConditionsLabel(conditions=reading.conditions, bucket=reading.bucket)
    )
    return RefinementCandidate(label=label, refinement=UseReading(search=reading.search))


def list_candidate(leg: Leg) -> RefinementCandidate:
    """Returns the choice to see the documents that a number was computed from."""
    return RefinementCandidate(
        label=ListThemLabel(), refinement=UseForm(answer_form=ListDocuments(), search=leg.search)
    )


def shown_document_candidates(
    leg: Leg, hits: Sequence[PassageHit], found: Mapping[DocId, Document]
) -> list[RefinementCandidate]:
    """Returns a choice for each document of the hits, in their order: to see what it says, not to ask it again.

    `found`: the documents, whose values and first lines name those without a title.
    """
    first_hits = {hit.doc_id: hit for hit in reversed(hits)}
    documents = dict.fromkeys(hit.doc_id for hit in hits)
    return [
        RefinementCandidate(
            label=DocumentLabel(
                title=first_hits[doc_id].title,
                doc_id=doc_id,
                bucket=first_hits[doc_id].bucket,
                values=found[doc_id].values if doc_id in found else {},
                first_line=_first_line_of(found[doc_id].text) if doc_id in found else "",
            ),
            refinement=UseForm(
                answer_form=SummariseDocuments(is_for_question=True),
                search=Search(
                    clauses=(
                        Clause(
                            bucket=first_hits[doc_id].bucket,
                            condition=_document_condition(ComparisonOperator.EQ, doc_id),
                        ),
                    ),
                    ranking_text=leg.question,
                ),
            ),
        )
        for doc_id in documents
    ]


def _first_line_of(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def document_candidates(records: Sequence[DocumentRecord], has_more: bool) -> list[RefinementCandidate]:
    """Returns candidates for single documents; the last one leads to the rest, if there are more."""
    shown = records[:_SHOWN_VALUES]
    candidates = [
        RefinementCandidate(
            label=DocumentLabel(title=record.title, doc_id=record.doc_id, bucket=record.bucket, values=record.values),
            refinement=ChooseDocument(
                condition=_document_condition(ComparisonOperator.EQ, record.doc_id), bucket=record.bucket
            ),
        )
        for record in shown
    ]
    if has_more or len(records) > len(shown):
        other_documents = NotCondition(
            _document_condition(ComparisonOperator.IN, tuple(str(record.doc_id) for record in shown))
        )
        candidates.append(
            RefinementCandidate(label=OtherDocumentLabel(), refinement=OpenTail(condition=other_documents))
        )
    return candidates


def _document_condition(op: ComparisonOperator, value: Scalar | tuple[Scalar, ...]) -> ComparisonCondition:
    return ComparisonCondition(field=DOC_ID_FIELD, op=op, value=value)
