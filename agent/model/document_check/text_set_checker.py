"""Reads the documents of the sets that a model's plan defines by words, and makes each set those that fit."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent.assumptions import Assumption, DocumentsRead
from agent.compose.phrases.conditions import describe_condition
from agent.compose.replies import READING_PROGRESS
from agent.decomposition import AlternativeReading, LegAlternatives, PlannedQuestion, QuestionContext
from agent.errors import ModelUnavailable, UnusableReply
from agent.gateway.call_budget import BudgetedModel
from agent.gateway.language_model import LanguageModel
from agent.gateway.structured_output import request_structured
from agent.model.document_check.candidate_documents import SetCandidates, load_candidates
from agent.model.document_check.check_calls import CheckedSet, read_reply, render_check_prompt
from agent.model.document_check.document_items import ItemBuilder
from agent.model.document_check.text_sets import TextSet, find_deciding_words, find_text_set
from agent.model.options import ModelOptions
from agent.retrieval.session import RetrievalSession
from prompts.outputs.document_check import DocumentCheckOutput
from storage.search.conditions import MissingCondition, NotCondition, conjuncts_of
from storage.search.ids import LegId
from storage.search.plan import Plan

STAGE = "check"
_READ_TOKENS = 6_000  # of all documents of one set
_MAX_REPLY_TOKENS = 3_000
_MAX_WORDS_CHARS = 120
_BUDGET_REASON = "no calls left"


class TextSetChecker:
    """Implements `DocumentChecker`. Keeps nothing between calls."""

    def __init__(self, model: LanguageModel, options: ModelOptions) -> None:
        self._model, self._options = BudgetedModel(model, options.max_calls), options

    async def check_documents(
        self, session: RetrievalSession, planned: PlannedQuestion, question_context: QuestionContext
    ) -> PlannedQuestion:
        """Returns the plan with the sets that were read. The others stay, with the assumption that words decide."""
        if not planned.is_of_model:
            return planned
        asked_about = {each.leg for each in planned.alternatives if each.unknown_words or each.equal_readings}
        text_sets = [
            text_set
            for leg in planned.plan.legs
            if leg.id not in asked_about and (text_set := find_text_set(leg)) is not None
        ]
        checked = await self._check_sets(session, text_sets, question_context)
        for candidates, result in checked.values():
            planned = _apply_check(planned, candidates.text_set, result)
        by_words = [words for leg in planned.plan.legs if (words := find_deciding_words(leg)) is not None]
        read = [_describe_check(candidates, result) for candidates, result in checked.values()]
        return replace(planned, assumptions=tuple(dict.fromkeys((*planned.assumptions, *by_words, *read))))

    async def _check_sets(
        self, session: RetrievalSession, text_sets: Sequence[TextSet], question_context: QuestionContext
    ) -> Mapping[LegId, tuple[SetCandidates, CheckedSet]]:
        """Returns what was found of each set that could be read. The sets share the calls that are left."""
        if not text_sets:
            return {}
        started, log = time.perf_counter(), question_context.reasoning_log
        calls_left = max(self._options.max_calls - log.model_requests, 0)
        candidates = await load_candidates(session, text_sets if calls_left else ())
        affordable = candidates[:calls_left]
        if len(affordable) < len(candidates) or not calls_left:
            log.record_fallback(STAGE, _BUDGET_REASON)
        if affordable:
            session.context.report_progress(READING_PROGRESS)
        results = await asyncio.gather(
            *(
                self._read_documents(each, question_context, allows_repair=calls_left >= 2 * len(affordable))
                for each in affordable
            )
        )
        session.record_stage(STAGE, started)
        return {
            each.text_set.leg.id: (each, result)
            for each, result in zip(affordable, results, strict=True)
            if result is not None
        }

    async def _read_documents(
        self, candidates: SetCandidates, question_context: QuestionContext, *, allows_repair: bool
    ) -> CheckedSet | None:
        """Returns which documents fit; None, with the reason in the log, if the model does not say."""
        text_set, log = candidates.text_set, question_context.reasoning_log
        schema, analyser = (
            question_context.schemas[text_set.bucket],
            question_context.analysers[text_set.bucket],
        )
        texts = (text_set.leg.question, *text_set.mentions)
        stems = frozenset(term.text for text in texts for term in analyser.extract_terms(text))
        builder = ItemBuilder(schema=schema, analyser=analyser, stems=stems)
        items = builder.build_items(candidates.documents, _READ_TOKENS)
        conditions = [describe_condition(known, schema, question_context.schemas) for known in text_set.known]
        prompt = render_check_prompt(text_set.leg.question, conditions, items, question_context.now.date())
        try:
            reply = await request_structured(
                self._model,
                prompt,
                DocumentCheckOutput,
                log,
                max_output_tokens=_MAX_REPLY_TOKENS,
                timeout_s=self._options.call_timeout_s,
                allows_repair=allows_repair,
            )
        except (ModelUnavailable, UnusableReply) as exc:
            log.record_failure(STAGE, exc)
            return None
        read = [candidate.document.doc_id for candidate in candidates.documents]
        return read_reply(reply.value, items).with_certain(candidates.certain, read)


def _apply_check(planned: PlannedQuestion, text_set: TextSet, result: CheckedSet) -> PlannedQuestion:
    """Returns the plan with the set as the documents that fit, and the unclear ones as a way on."""
    leg = text_set.leg
    by_leg = {each.leg: each for each in planned.alternatives}
    alternatives = by_leg.get(leg.id, LegAlternatives(leg=leg.id))
    search = text_set.search_of(result.fitting, _words_of_set(planned.plan, leg.id, alternatives))
    checked = replace(
        alternatives,
        wider_readings=tuple(_unclear_readings(text_set, result)),
        equal_forms=tuple(
            replace(form, search=search.with_condition(NotCondition(MissingCondition(field=form.field)), form.bucket))
            for form in alternatives.equal_forms
        ),
        is_understood=True,
        is_checked=True,
    )
    return replace(
        planned,
        plan=planned.plan.with_search(leg.id, search),
        alternatives=tuple((by_leg | {leg.id: checked}).values()),
    )


def _unclear_readings(text_set: TextSet, result: CheckedSet) -> list[AlternativeReading]:
    if not result.unclear:
        return []
    search = text_set.search_of((*result.fitting, *result.unclear))
    reading = AlternativeReading(
        bucket=text_set.bucket,
        conditions=conjuncts_of(search.clauses[0].condition)[len(text_set.known) :],
        search=search,
        unclear_count=len(result.unclear),
    )
    return [reading]


def _words_of_set(plan: Plan, leg_id: LegId, alternatives: LegAlternatives) -> str:
    """Returns the words of the question that the documents fit: those that only texts decide, else all of them."""
    words = ", ".join(alternatives.text_words) or plan.leg_by_id(leg_id).question.strip(" ?!.")
    return words if len(words) <= _MAX_WORDS_CHARS else f"{words[:_MAX_WORDS_CHARS].rstrip()}…"


def _describe_check(candidates: SetCandidates, result: CheckedSet) -> Assumption:
    return DocumentsRead(
        bucket=candidates.text_set.bucket,
        read_count=result.read_count,
        fit_count=len(result.fitting),
        unclear_count=len(result.unclear),
        has_all=candidates.has_all,
    )
