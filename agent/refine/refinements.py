"""Refinements: derives candidates, counts them all in one round trip, drops those without results, ranks the rest.

There are two round trips at most: one asks the index for nearest values and spellings, one counts. An overload needs
only the second, since its facets came with its count.
"""

from collections.abc import Mapping, Sequence

from agent.decomposition import AlternativeReading, LegAlternatives
from agent.refine.candidates import OfferedChoice, RefinementCandidate
from agent.refine.choice_labels import (
    AlsoUnclearLabel,
    ConditionsLabel,
    ExportLabel,
    GivenLabel,
    JustAnswerLabel,
    LikelyFieldLabel,
    OtherDocumentLabel,
    SearchByMeaningLabel,
)
from agent.retrieval.session import RetrievalSession
from storage.search.conditions import (
    DOC_ID_FIELD,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    NotCondition,
    Scalar,
)
from storage.search.ids import BucketId
from storage.search.index import CountRequest, DocumentRecord
from storage.search.plan import Leg
from storage.search.refinement import (
    AddBucket,
    ChooseDocument,
    ExportAll,
    IncludeMissing,
    JustAnswer,
    OpenTail,
    SearchByMeaning,
    UseForm,
    UseReading,
    apply_refinement,
)
from storage.search.schema import Schema

_SHOWN_VALUES = 6
SchemasByBucket = Mapping[BucketId, Schema]


async def count_refinements(
    session: RetrievalSession, leg: Leg, candidates: Sequence[RefinementCandidate]
) -> list[OfferedChoice]:
    """Returns the candidates that lead to documents as choices with counts, in the order given; one round trip.

    A candidate that changes nothing is left out, unless it is the reading that was taken: the user compares the other
    readings with it.
    """
    offered = [
        candidate
        for candidate in candidates
        if isinstance(candidate.refinement, (UseReading, UseForm))
        or apply_refinement(candidate.refinement, leg.search) != leg.search
    ]
    if not offered:
        return []
    counts = [CountRequest(apply_refinement(candidate.refinement, leg.search)) for candidate in offered]
    now = CountRequest(leg.search)
    answers = await session.ask_index((now, *counts))
    seen: set[object] = set()
    choices: list[OfferedChoice] = []
    for candidate, count in zip(offered, counts, strict=True):
        widens = not isinstance(candidate.refinement, (AddBucket, IncludeMissing)) or answers[count] > answers[now]
        leads_to = candidate.refinement if isinstance(candidate.refinement, UseForm) else count.search
        if answers[count] and leads_to not in seen and widens:
            seen.add(leads_to)
            choices.append(
                OfferedChoice(
                    label=candidate.label,
                    count=_count_after_click(leg, answers[count]),
                    leg=leg.id,
                    effect=candidate.refinement,
                )
            )
    return choices


def _count_after_click(leg: Leg, count: int) -> int:
    """Returns how many documents a click leads to: a limit of three stays a limit of three."""
    limit = leg.answer_form.list_limit
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


def document_candidates(records: Sequence[DocumentRecord], has_more: bool) -> list[RefinementCandidate]:
    """Returns candidates for single documents; the last one leads to the rest, if there are more."""
    shown = records[:_SHOWN_VALUES]
    candidates = [
        RefinementCandidate(
            label=GivenLabel(text=record.title or record.doc_id),
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
