"""Answers a leg from its evidence with one call, which reviews the evidence and writes the answer.

The sentences are verified while they arrive, and each is shown once it has passed. Where the model does not answer, or
most of what it writes does not pass, the decision of the rules stands.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import cast

from agent.assumptions import AnyTextSearched, Assumption, BestPassagesListed
from agent.compose.replies import WRITING_PROGRESS
from agent.errors import AgentError, ModelUnavailable, StreamCut, UnusableReply
from agent.forms.find_passages import NoAnswerFacts
from agent.gateway.call_budget import BudgetedModel
from agent.gateway.json_stream import JsonArrayStream
from agent.gateway.language_model import LanguageModel
from agent.gateway.messages import ModelRequest
from agent.gateway.structured_output import (
    build_structured_request,
    parse_structured,
    request_repair,
    request_structured,
)
from agent.model.answering.answer_prompts import EvidenceQuestion, render_answer_prompt
from agent.model.answering.citations import locate_cited_values
from agent.model.answering.claim_checks import ClaimChecker
from agent.model.answering.evidence import LegEvidence, collect_evidence
from agent.model.answering.leg_call import VERDICTS, LegCall, ShownSentences, layout_of
from agent.outcome import OutcomeKind, SearchRoute
from agent.reasoning_log import EvidenceReview
from agent.retrieval.search_context import ignore_partial_answer
from agent.review.leg_review import Enough, LegClarification, LegDraft, LegReview, More, build_leg_result
from agent.review.written_answer import AnswerLayout, UnansweredFacts, WrittenAnswerFacts, WrittenSentence
from prompts.outputs.written_answer import OutputVerdict, WrittenAnswerOutput
from prompts.prompt_library import RenderedPrompt
from storage.search.analyser import fold_text
from storage.search.plan import Leg

_STAGE = "review"
_MAX_QUERIES = 3
_MAX_QUERY_CHARACTERS = 200
_UNSUPPORTED_REASON = "most sentences were not in the evidence"
_BUDGET_REASON = "no calls left"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOptions:
    """When evidence is enough, and the limits of a call."""

    completeness: float = 0.8  # 0 to 1, from which evidence is enough
    floor: float = 0.2  # 0 to 1, under which what the evidence gives is not an answer
    max_rounds: int = 3  # of searches
    max_calls: int = 4  # of models in one turn, those for planning included
    simple_calls: int = 2  # the same for a question of one part; beyond it there is no further search, only repairs
    evidence_tokens: int = 3_000
    max_output_tokens: int = 1_500
    timeout_s: float | None = None  # None: that of the gateway


@dataclass(slots=True)
class _ReceivedReply:
    """What a model replied: the whole reply, or the sentences that came before it was cut."""

    reply: WrittenAnswerOutput
    is_cut_short: bool = False


class EvidenceAnswerer:
    """Answers legs whose answer is text. Keeps nothing between calls, so that all turns may share it."""

    def __init__(self, model: LanguageModel, options: AnswerOptions | None = None) -> None:
        self._options = options or AnswerOptions()
        self._model = BudgetedModel(model, self._options.max_calls)

    async def answer_leg(
        self,
        review: LegReview,
        decision: Enough | LegClarification,
        *,
        is_last_round: bool,
        may_ask_again: bool = True,
        is_simple: bool = False,
    ) -> Enough | More | LegClarification:
        """Returns an answer, a further search, or a report of nothing found; `decision` where the model fails.

        `decision` is that of the rules. `may_ask_again`: there are calls for a second request, if the reply to the
        first cannot be used. `is_simple`: the question has one part. Why the rules took over is in the log. Raises only
        the errors of the index.
        """
        draft, log = review.draft, review.question_context.reasoning_log
        evidence = await collect_evidence(review, decision, self._options.evidence_tokens)
        if not evidence.items:
            return decision
        if draft is not None and evidence.passages <= draft.seen_passages:  # the refined queries found nothing new
            return draft.best_answer or _report_unanswered(review, decision, draft.missing)
        if log.model_requests >= self._options.max_calls:
            log.record_fallback(_STAGE, _BUDGET_REASON)
            return (draft.best_answer if draft is not None else None) or decision
        may_search_again = not is_last_round and self._may_search_again(review, is_simple=is_simple)
        call = LegCall(
            review=review,
            decision=decision,
            evidence=evidence,
            checker=ClaimChecker(evidence=evidence, question=review.leg.question, language=review.language),
            log=log,
            prompt=self._render_prompt(review, evidence, may_search_again=may_search_again),
            may_search_again=may_search_again,
            may_ask_again=may_ask_again,
        )
        try:
            received = await self._ask(call)
        except (ModelUnavailable, UnusableReply) as exc:
            log.record_failure(_STAGE, exc)
            return self._withdraw(call)
        return await self._decide(call, received)

    def _may_search_again(self, review: LegReview, *, is_simple: bool) -> bool:
        """Whether there are a round and a call for the answer to a further search."""
        round_ = 1 if review.draft is None else 2
        max_calls = min(self._options.max_calls, self._options.simple_calls if is_simple else self._options.max_calls)
        requests_until_now = review.question_context.reasoning_log.model_requests
        has_round = round_ < self._options.max_rounds and not review.alternatives.is_confined
        return has_round and requests_until_now + 1 < max_calls

    def _render_prompt(self, review: LegReview, evidence: LegEvidence, *, may_search_again: bool) -> RenderedPrompt:
        context = review.question_context
        asked = EvidenceQuestion(
            question=review.leg.question,
            language=review.language,
            today=context.now.date(),
            summary="" if context.reasoning_log.leaves_topic else context.conversation_summary,
            searches=review.leg.probes,
            missing=review.draft.missing if review.draft is not None else (),
            may_search_again=may_search_again,
        )
        return render_answer_prompt(asked, evidence.items, self._options.completeness)

    # -- asking

    async def _ask(self, call: LegCall) -> _ReceivedReply:
        """Returns the reply; if its stream is cut or unusable, that to a second request. Raises `ModelUnavailable`,
        `UnusableReply`.
        """
        call.review.session.context.report_progress(WRITING_PROGRESS)
        if call.review.session.context.report_partial_answer is ignore_partial_answer:
            return _ReceivedReply(await self._request_whole(call, allows_repair=call.may_ask_again))
        shown = ShownSentences(call=call, threshold=self._options.completeness, floor=self._options.floor)
        stream, pieces = JsonArrayStream("sentences"), list[str]()
        request = build_structured_request(
            call.prompt,
            WrittenAnswerOutput,
            max_output_tokens=self._options.max_output_tokens,
            timeout_s=self._options.timeout_s,
        )
        try:
            async with _closed_stream(self._model.stream_text(request, call.log)) as texts:
                async for text in texts:
                    pieces.append(text)
                    for element in stream.read_piece(text):
                        shown.add_element(element, stream.members)
            return _ReceivedReply(parse_structured("".join(pieces), WrittenAnswerOutput))
        except (StreamCut, UnusableReply) as exc:
            try:
                return _ReceivedReply(await self._request_again(call, request, "".join(pieces), exc))
            except (ModelUnavailable, UnusableReply):
                if not shown.sentences or not isinstance(exc, StreamCut):
                    raise
                return _ReceivedReply(shown.build_reply(stream.members), is_cut_short=True)

    async def _request_again(
        self, call: LegCall, request: ModelRequest, received: str, failure: AgentError
    ) -> WrittenAnswerOutput:
        """Asks for the whole reply after a cut, else for a corrected one. Raises `failure` if there are no calls for
        it, `ModelUnavailable`, `UnusableReply`.
        """
        if not call.may_ask_again:
            raise failure
        if not isinstance(failure, StreamCut):
            return await request_repair(self._model, request, received, WrittenAnswerOutput, call.log)
        return await self._request_whole(call, allows_repair=False)

    async def _request_whole(self, call: LegCall, *, allows_repair: bool) -> WrittenAnswerOutput:
        reply = await request_structured(
            self._model,
            call.prompt,
            WrittenAnswerOutput,
            call.log,
            max_output_tokens=self._options.max_output_tokens,
            timeout_s=self._options.timeout_s,
            allows_repair=allows_repair,
        )
        return reply.value

    # -- deciding

    async def _decide(self, call: LegCall, received: _ReceivedReply) -> Enough | More | LegClarification:
        reply, draft = received.reply, call.review.draft
        missing = call.checker.verify_gaps(reply.missing)
        verified = [call.checker.verify_sentence(sentence) for sentence in reply.sentences]
        sentences = tuple(sentence for sentence in verified if sentence is not None)
        is_procedure = layout_of(reply, call.review.leg, ()) is AnswerLayout.STEPS  # of which no step may be left out
        if 2 * len(sentences) < len(verified) or (is_procedure and len(sentences) < len(verified)):
            call.log.record_fallback(_STAGE, _UNSUPPORTED_REASON)
            return self._withdraw(call)
        is_above_floor = received.is_cut_short or reply.completeness >= self._options.floor
        answer = await self._build_answer(call, received, sentences, missing) if sentences and is_above_floor else None
        is_complete = reply.completeness >= self._options.completeness
        may_search_again = call.may_search_again and not is_complete and not received.is_cut_short
        queries = _select_queries(reply.queries, call.review.leg) if may_search_again else ()
        call.log.reviews.append(_review_in(reply, call.review.leg, queries))
        if queries:
            earlier = draft.best_answer if draft is not None else None
            seen = call.evidence.passages.union(draft.seen_passages if draft is not None else ())
            return More(
                leg=replace(call.review.leg, probes=(*call.review.leg.probes, *queries)),
                ignored_words=call.review.ignored_words,
                assumptions=call.review.assumptions,
                draft=LegDraft(missing=missing, seen_passages=seen, best_answer=answer or earlier),
            )
        if answer is None and draft is not None and draft.best_answer is not None:
            return draft.best_answer
        if answer is None:
            call.review.session.context.report_partial_answer(call.review.leg.id, "")
        return answer or _report_unanswered(call.review, call.decision, missing)

    async def _build_answer(
        self,
        call: LegCall,
        received: _ReceivedReply,
        sentences: tuple[WrittenSentence, ...],
        missing: tuple[str, ...],
    ) -> Enough:
        reply = received.reply
        is_complete = reply.completeness >= self._options.completeness and not received.is_cut_short
        columns = call.checker.verify_columns(reply.columns, sentences)
        facts = WrittenAnswerFacts(
            sentences=sentences,
            language=call.review.language,
            layout=layout_of(reply, call.review.leg, columns),
            columns=columns,
            verdict=VERDICTS.get(reply.verdict),
            settles_question=reply.verdict is not OutputVerdict.UNCLEAR,
            contradiction=call.checker.verify_contradiction(reply.contradiction),
            missing=() if is_complete else missing,
            is_cut_short=received.is_cut_short,
        )
        facts = await locate_cited_values(facts, call.review)
        decision = call.decision
        count = decision.result.count if isinstance(decision, Enough) else None
        return Enough(
            result=replace(
                build_leg_result(call.review, OutcomeKind.ANSWER, count),
                doc_ids=tuple(dict.fromkeys(cited.document.doc_id for cited in facts.quotes)),
                records=decision.result.records,
            ),
            facts=facts,
            hits=decision.hits,
            candidates=decision.candidates if isinstance(decision, Enough) else (),
            export_count=decision.export_count,
            assumptions=(*decision.assumptions, *_assumptions_of(call, facts)),
            route=SearchRoute.HYBRID if decision.route is SearchRoute.STRUCTURED else decision.route,
        )

    def _withdraw(self, call: LegCall) -> Enough | LegClarification:
        """Withdraws what was shown; returns the best answer of earlier rounds, or the decision of the rules."""
        call.review.session.context.report_partial_answer(call.review.leg.id, "")
        draft = call.review.draft
        return (draft.best_answer if draft is not None else None) or call.decision


def _review_in(reply: WrittenAnswerOutput, leg: Leg, queries: tuple[str, ...]) -> EvidenceReview:
    return EvidenceReview(
        question=leg.question,
        completeness=reply.completeness,
        reasoning=reply.reasoning,
        missing=tuple(reply.missing),
        queries=queries,
    )


@asynccontextmanager
async def _closed_stream(pieces: AsyncIterator[str]) -> AsyncGenerator[AsyncIterator[str]]:
    """Ends the request of the stream also where it is not read to its end."""
    try:
        yield pieces
    finally:
        if isinstance(pieces, AsyncGenerator):
            await cast(AsyncGenerator[str], pieces).aclose()


def _assumptions_of(call: LegCall, facts: WrittenAnswerFacts) -> Iterator[Assumption]:
    """Says so if no document fits the conditions of the question, so that the answer is from others; and if a list is
    drawn from several documents, of which only the best passages were read.
    """
    any_text = AnyTextSearched(search=call.review.leg.search)
    is_empty = call.review.count == 0 and bool(call.review.requests.fallback_requests)
    if is_empty and any_text not in call.decision.assumptions:
        yield any_text
    documents = {cited.document.doc_id for cited in facts.quotes}
    if facts.layout in (AnswerLayout.LIST, AnswerLayout.TABLE) and len(documents) > 1:
        yield BestPassagesListed()


def _select_queries(queries: Sequence[str], leg: Leg) -> tuple[str, ...]:
    """Returns the queries that have not been searched yet."""
    searched = {fold_text(text) for text in (leg.question, leg.search.ranking_text, *leg.probes)}
    cleaned = (" ".join(query.split())[:_MAX_QUERY_CHARACTERS] for query in queries)
    unique = {fold_text(query): query for query in cleaned if query and fold_text(query) not in searched}
    return tuple(unique.values())[:_MAX_QUERIES]


def _report_unanswered(
    review: LegReview, decision: Enough | LegClarification, missing: tuple[str, ...]
) -> LegClarification:
    """Reports nothing found, without a quotation. The choices are those of the rules."""
    if isinstance(decision, LegClarification) and decision.kind is not OutcomeKind.NO_RESULTS:
        return decision
    if isinstance(decision, LegClarification):
        facts = UnansweredFacts(rule_facts=decision.facts, missing=missing, language=review.language)
        return replace(decision, facts=facts)
    return LegClarification(
        kind=OutcomeKind.NO_RESULTS,
        result=build_leg_result(review, OutcomeKind.NO_RESULTS, None),
        facts=UnansweredFacts(rule_facts=NoAnswerFacts(), missing=missing, language=review.language),
        candidates=(),
        hits=decision.hits,
        assumptions=decision.assumptions,
        route=SearchRoute.HYBRID,
    )
