"""Reviews and composes the plan of a loop: sets by the rules, which count; texts with what the model read in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agent.compose.composed_leg import ComposedLeg
from agent.forms.clarifications import AskedBackFacts, SeveralDocumentsFacts
from agent.forms.find_passages import NoAnswerFacts
from agent.model.answering.citations import locate_cited_values
from agent.model.answering.claim_checks import ClaimChecker
from agent.model.tool_loop.answer_plan import LoopAnswer
from agent.model.tool_loop.evidence_items import ToolEvidence, build_evidence, passages_in, record_of_hit
from agent.outcome import FoundPassage, OutcomeKind, SearchRoute
from agent.reasoner import PlanReasoner
from agent.refine import facets, refinements
from agent.refine.candidates import RefinementCandidate
from agent.review.leg_review import Decision, Enough, LegClarification, LegFacts, LegReview, More, build_leg_result
from agent.review.written_answer import SupportedClaim, UnansweredFacts, WrittenAnswerFacts, WrittenSentence
from agent.tools.collected_evidence import CollectedItem, CollectedRecord
from agent.verification.supported_claims import find_claim_fault
from prompts.outputs.written_answer import SentenceOutput
from storage.search.ids import ChunkId, DocId
from storage.search.index import DocumentRecord
from storage.search.plan import LegCombination

STAGE = "loop"
_MAX_OFFERED_DOCUMENTS = 20
_MAX_SENTENCES = 30
_UNSUPPORTED_REASON = "most sentences were not in the evidence"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopReviewer:
    """Implements `PlanReasoner` for one plan. `rules` review everything but what the model wrote."""

    loop_answer: LoopAnswer
    rules: PlanReasoner
    completeness: float  # 0 to 1, from which nothing is said to be missing

    async def review_legs(
        self, reviews: Sequence[LegReview], combination: LegCombination, *, is_last_round: bool
    ) -> Sequence[Decision]:
        """Decides the text leg in the first round, and asks what the model asks back."""
        decided: list[Decision] = []
        others: list[LegReview] = []
        for review in reviews:
            decision = await self._decide_leg(review)
            if decision is None:
                others.append(review)
            else:
                decided.append(decision)
        if others:
            decided += await self.rules.review_legs(others, combination, is_last_round=is_last_round)
        by_leg = {
            decision.leg.id if isinstance(decision, More) else decision.result.leg: decision for decision in decided
        }
        return [by_leg[review.leg.id] for review in reviews if review.leg.id in by_leg]

    async def compose_leg(self, facts: LegFacts, review: LegReview) -> ComposedLeg:
        return await self.rules.compose_leg(facts, review)

    async def _decide_leg(self, review: LegReview) -> Enough | LegClarification | None:
        """Returns None for what the rules decide."""
        answer, is_text = self.loop_answer.answer, review.leg.id == self.loop_answer.text_leg
        tool_evidence = build_evidence(self.loop_answer.items, review.question_context.schemas)
        checker = ClaimChecker(
            evidence=tool_evidence.evidence,
            question=review.leg.question,
            language=_code_of_language(answer.language),
        )
        if answer.outcome == "clarify" and review.may_ask_back and answer.clarification.kind != "too_many":
            return self._ask_back(review, checker) if is_text or review.count > 1 else None
        if not is_text:
            return None
        if answer.outcome == "not_found":
            return self._report_nothing(review, checker)
        sentences = self._verify_sentences(checker, tool_evidence)
        if not sentences or 2 * len(sentences) < len(answer.sentences):
            review.question_context.reasoning_log.record_fallback(STAGE, _UNSUPPORTED_REASON)
            return None
        return await self._build_answer(sentences, review, checker)

    # -- an answer from texts

    def _verify_sentences(self, checker: ClaimChecker, tool_evidence: ToolEvidence) -> tuple[WrittenSentence, ...]:
        """Returns the sentences that what they cite says."""
        verified = (
            checker.verify_sentence(
                SentenceOutput(text=line.text, evidence=tool_evidence.number_ids(line.evidence), quote="")
            )
            for line in self.loop_answer.answer.sentences[:_MAX_SENTENCES]
        )
        return tuple(sentence for sentence in verified if sentence is not None)

    async def _build_answer(
        self, sentences: tuple[WrittenSentence, ...], review: LegReview, checker: ClaimChecker
    ) -> Enough:
        answer = self.loop_answer.answer
        is_complete = answer.completeness >= self.completeness
        facts = WrittenAnswerFacts(
            sentences=sentences,
            language=checker.language,
            missing=() if is_complete else checker.verify_gaps(answer.missing),
        )
        facts = await locate_cited_values(facts, review)
        doc_ids = tuple(dict.fromkeys(cited.document.doc_id for cited in facts.quotes))
        return Enough(
            result=replace(build_leg_result(review, OutcomeKind.ANSWER, None), doc_ids=doc_ids),
            facts=facts,
            hits=self._rank_hits(review, first=doc_ids),
            route=SearchRoute.HYBRID,
        )

    def _rank_hits(self, review: LegReview, first: Sequence[DocId] = ()) -> tuple[FoundPassage, ...]:
        """Returns the passages that the tools found, those of the documents `first` before the others."""
        unique: Mapping[ChunkId, FoundPassage] = {
            passage.hit.chunk_id: passage for passage in passages_in(list(self.loop_answer.items.values()))
        }
        ranked = sorted(unique.values(), key=lambda passage: passage.hit.doc_id not in first)
        return tuple(ranked[: review.session.context.limits.reported_hits])

    # -- no answer

    def _report_nothing(self, review: LegReview, checker: ClaimChecker) -> LegClarification:
        answer = self.loop_answer.answer
        return LegClarification(
            kind=OutcomeKind.NO_RESULTS,
            result=build_leg_result(review, OutcomeKind.NO_RESULTS, None),
            facts=UnansweredFacts(
                rule_facts=NoAnswerFacts(),
                missing=checker.verify_gaps(answer.missing),
                language=checker.language,
            ),
            candidates=(),
            hits=self._rank_hits(review),
            route=SearchRoute.HYBRID,
        )

    def _ask_back(self, review: LegReview, checker: ClaimChecker) -> LegClarification:
        """Returns the model's question, with choices that are counted."""
        is_text = review.leg.id == self.loop_answer.text_leg
        candidates = self._document_candidates() if is_text else _set_candidates(review)
        return LegClarification(
            kind=OutcomeKind.AMBIGUOUS,
            result=build_leg_result(review, OutcomeKind.AMBIGUOUS, None),
            facts=self._build_question(review, checker, is_about_set=not is_text),
            candidates=tuple(candidates),
            hits=self._rank_hits(review),
            offer_just_answer=True,
        )

    def _build_question(self, review: LegReview, checker: ClaimChecker, *, is_about_set: bool) -> LegFacts:
        """Returns the model's question if it says nothing that the evidence does not; else a question by rules."""
        clarification = self.loop_answer.answer.clarification
        claim = SupportedClaim(
            text=" ".join(clarification.question.split()),
            sources=tuple(item.source for item in checker.evidence.items),
            question=review.leg.question,
            language=checker.language,
            min_sources=0,
        )
        if find_claim_fault(claim) is not None:
            return SeveralDocumentsFacts()
        missing = checker.verify_gaps(clarification.missing)
        return AskedBackFacts(question=claim.text, missing=missing, is_about_set=is_about_set)

    def _document_candidates(self) -> list[RefinementCandidate]:
        """Offers the documents that the tools brought, if they are few."""
        found = (record for item in self.loop_answer.items.values() if (record := _record_of_item(item)) is not None)
        records = {record.doc_id: record for record in found}
        if not 2 <= len(records) <= _MAX_OFFERED_DOCUMENTS:
            return []
        return refinements.document_candidates(list(records.values()), has_more=False)


def _code_of_language(written: str) -> str:
    """Returns `de` for `DE` and `de-AT`; empty for what is not a code."""
    code = written.strip().lower().replace("_", "-").partition("-")[0]
    return code if len(code) in (2, 3) and code.isascii() and code.isalpha() else ""


def _set_candidates(review: LegReview) -> Sequence[RefinementCandidate]:
    """Offers the documents of a small set by name, and the parts of a larger one."""
    if review.count <= _MAX_OFFERED_DOCUMENTS and review.records:
        return refinements.document_candidates(review.records[: review.count], has_more=False)
    if not review.requests.facets:
        return ()
    _, cells = facets.choose_best_facet(
        review.leg, review.answers, review.requests.facets, review.question_context.schemas
    )
    return cells


def _record_of_item(item: CollectedItem) -> DocumentRecord | None:
    if isinstance(item, CollectedRecord):
        return item.record
    passages = passages_in([item])
    return record_of_hit(passages[0].hit) if passages else None
