"""Combines the legs into an Answer, or into a Clarify, which also holds the answered legs."""

from collections.abc import Sequence
from dataclasses import replace

from agent.answer_combination import JointAnswer
from agent.assumptions import Assumption
from agent.compose.choices.distinct_labels import compose_choices
from agent.compose.compare_sides import compose_comparison
from agent.compose.composed_leg import ComposedLeg, FactsComposer
from agent.compose.phrases.assumptions import (
    describe_assumption,
    describe_kept_condition,
    drop_words_of_reply,
    repeats_reply,
)
from agent.compose.phrases.words import escape_markdown
from agent.outcome import Answer, Choice, Citation, Clarify, GroupLine, LegResult, OutcomeKind, SearchTrace
from agent.refine.refinements import SchemasByBucket
from agent.review.leg_review import Enough, LegClarification, LegReview, build_leg_result
from agent.review.review import ReviewedPlan
from agent.translation.message_catalogues import translate_message
from agent.verify import VerifiedLeg, number_citations, verify_comparison
from storage.search.plan import LegCombination, Plan


async def compose_legs(reviewed: ReviewedPlan, composer: FactsComposer) -> list[ComposedLeg]:
    """Composes the text of each leg. It is not verified yet."""
    pairs = zip(reviewed.reviews, reviewed.decisions, strict=True)
    return [await composer.compose_leg(decision.facts, review) for review, decision in pairs]


def assemble_outcome(
    reviewed: ReviewedPlan, legs: Sequence[VerifiedLeg], trace: SearchTrace, joint: JointAnswer | None = None
) -> Answer | Clarify:
    """`trace` covers all stages; this function sets its route. `joint` takes the place of the answers that it joins."""
    asking = reviewed.clarification
    if asking is None and legs and all(leg.has_lost_everything for leg in legs):
        return _withhold_answer(reviewed, trace)
    if asking is None:
        return _assemble_answer(reviewed, legs, trace, joint)
    return _assemble_clarification(reviewed, legs, asking[0], asking[1], trace)


def _assemble_answer(
    reviewed: ReviewedPlan, legs: Sequence[VerifiedLeg], trace: SearchTrace, joint: JointAnswer | None
) -> Answer:
    plan, decisions = reviewed.plan, reviewed.decisions
    lines, citations = _join_lines(number_citations(legs), plan, joint)
    tables = tuple(table for leg in legs for table in leg.composed.tables)
    pictures = tuple(picture for leg in legs for picture in leg.composed.pictures)
    if plan.combination is LegCombination.COMPARE:
        columns = [leg.composed.column for leg in legs if leg.composed.column is not None]
        differences, table = compose_comparison(columns)
        differences = verify_comparison(differences, legs)
        lines = [differences, *lines] if differences else lines
        tables = (table,) if table is not None else tables
    return Answer(
        plan=_plan_with_shown(reviewed),
        text="\n\n".join(_drop_repeated_lines(lines))
        or ("" if tables else translate_message("I did not find an answer to this.")),
        legs=tuple(map(_with_compared_number, _results_of(decisions, legs), legs)),
        citations=tuple(citations),
        tables=tables,
        pictures=pictures,
        hits=reviewed.hits,
        choices=_choices_of(reviewed),
        assumptions=_describe_assumptions(reviewed, decisions, lines),
        kept_conditions=_describe_kept_conditions(reviewed),
        is_undo=reviewed.planned.is_undo,
        trace=replace(trace, route=decisions[0].route),
        generation=reviewed.reviews[0].answers.generation,
    )


def _plan_with_shown(reviewed: ReviewedPlan) -> Plan:
    """Returns the plan with its assumptions as sentences, and with what is shown of each list."""
    plan = with_described_assumptions(reviewed.plan, reviewed.planned.assumptions, _schemas_of(reviewed))
    for decision in reviewed.decisions:
        if isinstance(decision, Enough) and decision.shown_form is not None:
            plan = plan.with_answer_form(decision.result.leg, decision.shown_form)
    return plan


def _withhold_answer(reviewed: ReviewedPlan, trace: SearchTrace) -> Clarify:
    """Says that no sentence of the answer passed its check, which is a fault of the program. Nothing is claimed."""
    plan, review = reviewed.plan, reviewed.reviews[0]
    return Clarify(
        plan=with_described_assumptions(plan, reviewed.planned.assumptions, _schemas_of(reviewed)),
        kind=OutcomeKind.NO_RESULTS,
        leg=review.leg.id,
        text=translate_message("I found something, but could not verify my answer, so I do not show it."),
        legs=tuple(build_leg_result(review, OutcomeKind.NO_RESULTS, None) for review in reviewed.reviews),
        choices=_choices_of(reviewed),
        hits=reviewed.hits,
        assumptions=_describe_assumptions(reviewed, reviewed.decisions),
        kept_conditions=_describe_kept_conditions(reviewed),
        is_undo=reviewed.planned.is_undo,
        trace=replace(trace, route=reviewed.decisions[0].route),
        generation=review.answers.generation,
    )


def _assemble_clarification(
    reviewed: ReviewedPlan,
    legs: Sequence[VerifiedLeg],
    review: LegReview,
    clarification: LegClarification,
    trace: SearchTrace,
) -> Clarify:
    pairs = list(zip(reviewed.decisions, legs, strict=True))
    answered = [leg for decision, leg in pairs if isinstance(decision, Enough)]
    asking = [leg for decision, leg in pairs if decision is clarification]
    others = [
        _shorten_unanswered(leg)
        for decision, leg in pairs
        if isinstance(decision, LegClarification) and decision is not clarification
    ]
    choices = _choices_of(reviewed)
    numbered = number_citations([*answered, *others, *asking])
    lines, citations = _join_lines(numbered[: len(answered)], reviewed.plan, None)
    for leg in numbered[len(answered) :]:
        lines += leg.sentences
        citations += leg.citations
    headings = [leg.composed.closing_question for leg in asking if leg.composed.closing_question and len(choices) > 1]
    if clarification.kind is OutcomeKind.NO_RESULTS and choices:
        headings.append(translate_message("Instead, I can show:"))
    lines += headings
    asked_back = review.session.context.clarifications_in_a_row if reviewed.planned.is_followup else 0
    return Clarify(
        plan=_plan_with_shown(reviewed),
        kind=clarification.kind,
        leg=review.leg.id,
        text="\n\n".join(_drop_repeated_lines(lines)),
        legs=_results_of(reviewed.decisions, legs),
        choices=choices,
        citations=tuple(citations),
        tables=tuple(table for leg in answered for table in leg.composed.tables),
        pictures=tuple(picture for leg in answered for picture in leg.composed.pictures),
        hits=reviewed.hits,
        assumptions=_describe_assumptions(reviewed, [clarification], lines),
        kept_conditions=_describe_kept_conditions(reviewed),
        is_undo=reviewed.planned.is_undo,
        choices_heading=headings[-1] if headings else "",
        clarifications_in_a_row=asked_back + 1,
        trace=replace(trace, route=clarification.route),
        generation=review.answers.generation,
    )


def _shorten_unanswered(leg: VerifiedLeg) -> VerifiedLeg:
    """Returns the leg beside one that asks back with its first sentence; whole, if this introduces quotations."""
    return leg if leg.citations else replace(leg, sentences=leg.sentences[:1])


def _results_of(decisions: Sequence[Enough | LegClarification], legs: Sequence[VerifiedLeg]) -> tuple[LegResult, ...]:
    pairs = zip(decisions, legs, strict=True)
    return tuple(replace(decision.result, text=leg.result_text) for decision, leg in pairs)


def _with_compared_number(result: LegResult, leg: VerifiedLeg) -> LegResult:
    """Adds the number of a side as a group with the title of the side, if a comparison is of one number."""
    column = leg.composed.column
    cells = [cell for cell in column.cells if isinstance(cell.value, float)] if column is not None else []
    if column is None or len(cells) != 1 or result.groups:
        return result
    cell, count = cells[0], result.document_count or 0
    group = GroupLine(label=column.title, value=float(cell.value or 0.0), unit=cell.unit, count=count)
    return replace(result, groups=(group,))


def _choices_of(reviewed: ReviewedPlan) -> tuple[Choice, ...]:
    schemas = _schemas_of(reviewed)
    questions = {review.leg.id: review.leg.question for review in reviewed.reviews}
    return compose_choices(reviewed.choices, schemas, questions)


def _schemas_of(reviewed: ReviewedPlan) -> SchemasByBucket:
    return reviewed.reviews[0].question_context.schemas


def with_described_assumptions(plan: Plan, assumptions: Sequence[Assumption], schemas: SchemasByBucket) -> Plan:
    """Adds the assumptions as sentences, so that the answer after a click repeats them."""
    described = (describe_assumption(assumption, schemas) for assumption in assumptions)
    return replace(plan, assumptions=tuple(dict.fromkeys((*plan.assumptions, *described))))


def _describe_assumptions(
    reviewed: ReviewedPlan, decisions: Sequence[Enough | LegClarification], lines: Sequence[str] = ()
) -> tuple[str, ...]:
    """Returns the remarks, without those that only repeat what the reply says."""
    text, schemas = "\n".join(lines), _schemas_of(reviewed)
    assumptions = [
        assumption
        for assumption in drop_words_of_reply(
            *reviewed.planned.assumptions,
            *(assumption for decision in decisions for assumption in decision.assumptions),
            text=_remove_questions(text, reviewed),
        )
        if not repeats_reply(assumption, text, schemas)
    ]
    return with_described_assumptions(reviewed.plan, assumptions, _schemas_of(reviewed)).assumptions


def _remove_questions(text: str, reviewed: ReviewedPlan) -> str:
    """Returns the text without the parts of the question that it repeats as titles: they use no word."""
    for review in reviewed.reviews:
        text = text.replace(escape_markdown(review.leg.question), "")
    return text


def _drop_repeated_lines(lines: Sequence[str]) -> list[str]:
    """Returns the lines without those that another line says as well, perhaps with more: parts often say the same."""
    distinct = list(dict.fromkeys(lines))
    return [line for line in distinct if not any(other.startswith(f"{line} ") for other in distinct)]


def _describe_kept_conditions(reviewed: ReviewedPlan) -> tuple[str, ...]:
    schemas, shown = _schemas_of(reviewed), reviewed.planned.compared_count
    kept = [describe_kept_condition(condition, schemas) for condition in reviewed.planned.kept_conditions]
    if shown is not None:
        kept.append(translate_message("the first {count} of them", count=shown))
    return tuple(dict.fromkeys(kept))


def _join_lines(legs: Sequence[VerifiedLeg], plan: Plan, joint: JointAnswer | None) -> tuple[list[str], list[Citation]]:
    """Returns the text of each leg, with the joint answer in place of those that it joins, and all citations."""
    citations = [citation for leg in legs for citation in leg.citations]
    if joint is None:
        return [leg.text for leg in legs], citations
    if not joint.sentences:
        not_joined = translate_message("I could not join this into one answer, so here is each part:")
        return [not_joined, *(leg.text for leg in legs)], citations
    others = [leg.text for leg, planned in zip(legs, plan.legs, strict=True) if planned.id not in joint.legs]
    return [" ".join(joint.sentences), *others], citations
