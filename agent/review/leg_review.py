"""The input and the decisions of a leg's review: enough to answer, search again, or ask back.

Decisions carry facts. `agent.compose` turns the facts into text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from agent.assumptions import (
    Assumption,
    IgnoredWord,
    RequiredWords,
    TakenField,
    TakenReading,
    UnboundedAdjective,
    UnknownWords,
)
from agent.decomposition import LegAlternatives, QuestionContext
from agent.outcome import (
    FoundPassage,
    LegResult,
    MissingCount,
    OutcomeKind,
    SearchRoute,
    UnstatedRole,
    UnstatedValues,
)
from agent.refine.candidates import RefinementCandidate
from agent.refine.unstated_values import read_unstated_values
from agent.retrieval.fusion import fuse_hits
from agent.retrieval.leg_requests import LegRequests, hits_by_collector
from agent.retrieval.quotations import CitedQuote
from agent.retrieval.session import RetrievalSession
from storage.search.conditions import Condition, conjuncts_of
from storage.search.ids import ChunkId, DocId
from storage.search.index import AggregateLine, DocumentRecord, IndexAnswers
from storage.search.plan import AnswerForm, Leg, LegCombination


@dataclass(frozen=True, slots=True, kw_only=True)
class LegFacts:
    """The facts found for a leg, as values. Each sentence pattern has its own subclass."""

    @property
    def quotes(self) -> tuple[CitedQuote, ...]:
        """The quotes of the leg, in the order of its citations."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Enough:
    """The decision to answer a leg. The text of `result` is composed later."""

    result: LegResult
    facts: LegFacts
    hits: tuple[FoundPassage, ...] = ()
    candidates: tuple[RefinementCandidate, ...] = ()  # possible refinements, not yet counted
    export_count: int | None = None  # documents in the export; None if no export is offered
    assumptions: tuple[Assumption, ...] = ()
    route: SearchRoute = SearchRoute.STRUCTURED
    shown_form: AnswerForm | None = None  # the form of the leg with what is shown now; None: the form is unchanged


@dataclass(frozen=True, slots=True, kw_only=True)
class LegClarification:
    """The decision to ask back about a leg. The text of `result` is composed later."""

    kind: OutcomeKind
    result: LegResult
    facts: LegFacts
    candidates: tuple[RefinementCandidate, ...]
    hits: tuple[FoundPassage, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    offer_just_answer: bool = False
    export_count: int | None = None
    route: SearchRoute = SearchRoute.STRUCTURED


@dataclass(frozen=True, slots=True, kw_only=True)
class LegDraft:
    """What a round of review knows of a leg that is searched again."""

    missing: tuple[str, ...]  # what the evidence did not answer
    seen_passages: frozenset[ChunkId]
    best_answer: Enough | None  # None: the evidence answered nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class More:
    """The decision to search again, with `leg`."""

    leg: Leg
    ignored_words: tuple[str, ...]  # words removed from the leg, since no document holds them
    assumptions: tuple[Assumption, ...] = ()
    draft: LegDraft | None = None


Decision: TypeAlias = Enough | More | LegClarification


@dataclass(frozen=True, slots=True, kw_only=True)
class LegReview:
    """One leg under review: its requests, and the answers of the index."""

    session: RetrievalSession
    question_context: QuestionContext
    leg: Leg
    alternatives: LegAlternatives
    requests: LegRequests
    answers: IndexAnswers
    may_ask_back: bool
    ignored_words: tuple[str, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    draft: LegDraft | None = None  # of the round before
    language: str = "en"  # ISO 639-1, of the reply

    @property
    def count(self) -> int:
        return self.answers[self.requests.count]

    @property
    def records(self) -> tuple[DocumentRecord, ...]:
        """The first documents of the set; empty if the form requests none."""
        page = self.requests.record_page
        return tuple(self.answers[page].records) if page is not None else ()

    @property
    def aggregate_lines(self) -> tuple[AggregateLine, ...]:
        """The numbers over the set; empty if the form requests none."""
        aggregate = self.requests.aggregate
        return tuple(self.answers[aggregate]) if aggregate is not None else ()

    @property
    def unstated_values(self) -> tuple[UnstatedValues, ...]:
        """What some documents do not state though the answer depends on it; empty if the form does not count them."""
        requests = self.requests.unstated
        lacking = {missing.field: missing.count for missing in missing_counts_of(self)}
        return read_unstated_values(requests, self.answers, self.count, lacking) if requests is not None else ()

    @property
    def unknown_documents(self) -> UnstatedValues | None:
        """The documents that may belong to the set, but do not state a value for one of its conditions."""
        return next((values for values in self.unstated_values if values.role is UnstatedRole.CONDITION), None)


class EvidenceReviewer(Protocol):
    """Decides whether what the index answered is enough. Raises only the errors of the index."""

    async def review_legs(
        self, reviews: Sequence[LegReview], combination: LegCombination, *, is_last_round: bool
    ) -> Sequence[Decision]:
        """Returns the decisions on all legs, in order; or, if that may help, only those to search again.

        A leg decided beside such is not reviewed again. In the last round no leg is searched again.
        """
        ...


def build_leg_result(review: LegReview, kind: OutcomeKind, count: int | None) -> LegResult:
    """Returns the result without its text."""
    return LegResult(
        leg=review.leg.id,
        question=review.leg.question,
        kind=kind,
        text="",
        count=count,
        document_count=review.count,
        condition=_shared_condition_of(review),
        missing_counts=missing_counts_of(review),
        unstated=review.unstated_values,
    )


def _shared_condition_of(review: LegReview) -> Condition | None:
    clauses = review.leg.search.clauses
    conditions = {clause.display_condition for clause in clauses}
    return clauses[0].display_condition if len(conditions) == 1 else None


def missing_counts_of(review: LegReview) -> tuple[MissingCount, ...]:
    counts = {name: review.answers[count] for name, count in review.requests.missing_counts.items()}
    return tuple(MissingCount(field=name, count=count) for name, count in counts.items() if count)


def assumptions_of(review: LegReview) -> tuple[Assumption, ...]:
    return tuple(_list_assumptions(review))


def _list_assumptions(review: LegReview) -> Iterator[Assumption]:
    yield from (IgnoredWord(word=word) for word in review.ignored_words)
    yield from review.assumptions
    if review.alternatives.unknown_words and not review.may_ask_back:
        yield UnknownWords(words=review.alternatives.unknown_words)
    required = sorted({word for clause in review.leg.search.clauses for word in clause.required_terms})
    if required:
        yield RequiredWords(words=tuple(required))
    if review.alternatives.equal_readings and not review.may_ask_back:
        yield TakenReading(
            bucket=review.leg.search.clauses[0].bucket,
            conditions=distinguishing_conditions_of(review),
            other_conditions=tuple(reading.conditions for reading in review.alternatives.equal_readings),
        )
    if not review.may_ask_back:
        yield from _assumptions_of_choice(review.alternatives, review.question_context)


def _assumptions_of_choice(alternatives: LegAlternatives, question_context: QuestionContext) -> Iterator[Assumption]:
    """Yields what was decided without asking: the field, and that an adjective narrows nothing."""
    labels = [question_context.schemas[form.bucket].by_name[form.field].label for form in alternatives.equal_forms]
    if len(labels) > 1:
        yield TakenField(field_label=labels[0], other_labels=tuple(labels[1:]))
    if alternatives.vague_condition is not None:
        yield UnboundedAdjective(word=alternatives.vague_condition.word)


def distinguishing_conditions_of(review: LegReview) -> tuple[Condition, ...]:
    """Returns the conditions of the chosen reading that some reading with the same score lacks."""
    chosen = conjuncts_of(review.leg.search.clauses[0].condition)
    others = [conjuncts_of(reading.search.clauses[0].condition) for reading in review.alternatives.equal_readings]
    return tuple(condition for condition in chosen if any(condition not in other for other in others))


def hits_by_document(review: LegReview) -> tuple[FoundPassage, ...]:
    """Returns the best passage of each document, best first. For the structured route."""
    passages = fuse_hits(hits_by_collector(review.requests.passage_requests, review.answers))
    best: dict[str, FoundPassage] = {}
    for passage in passages:
        best.setdefault(passage.hit.doc_id, passage)
    return tuple(best.values())[: review.session.context.limits.reported_hits]


def document_ids_of(records: Sequence[DocumentRecord]) -> tuple[DocId, ...]:
    return tuple(record.doc_id for record in records)
