"""Compares the plans that the model and the rules made of one question."""

import json
from dataclasses import replace

from agent.decomposition import AlternativeReading, Decomposition, ExportRequest, LegAlternatives, PlannedQuestion
from agent.reasoning_log import PlanDifference
from storage.search.codec import plan_to_json
from storage.search.conditions import conjuncts_of
from storage.search.plan import Leg, Plan


def compare_plans(planned: PlannedQuestion, by_rules: Decomposition, *, rules_are_complete: bool) -> PlanDifference:
    """Returns how the model's plan differs from that of the rules. Ranking texts and words do not matter."""
    plan, rule_plan = planned.plan, _plan_of(by_rules)
    kind = "rules_incomplete" if rule_plan is None else _kind_of_difference(planned, rule_plan)
    if kind != "same" and not rules_are_complete:
        kind = "rules_incomplete"
    return PlanDifference(
        kind=kind, model_plan=describe_plan(plan), rule_plan="" if rule_plan is None else describe_plan(rule_plan)
    )


def describe_plan(plan: Plan) -> str:
    """Returns the plan as one line of JSON, for operators and for a model that continues it."""
    stored = plan_to_json(plan)
    legs = [
        {
            "question": leg["question"],
            "sets": [
                {
                    "bucket": clause["bucket"],
                    "condition": clause["condition"],
                    **({"text_contains": clause["required"]} if clause["required"] else {}),
                }
                for clause in leg["search"]["clauses"]
            ],
            "form": leg["wanted"],
        }
        for leg in stored["legs"]
    ]
    return json.dumps({"combine": stored["combine"], "parts": legs}, ensure_ascii=False, separators=(",", ":"))


def join_agreeing_plans(planned: PlannedQuestion, by_rules: PlannedQuestion) -> PlannedQuestion:
    """Returns the plan that both made, with the ways on that the rules know and the words that the model asks about."""
    model_alternatives = {alternatives.leg: alternatives for alternatives in planned.alternatives}
    joined = tuple(
        _join_alternatives(alternatives, model_alternatives.get(alternatives.leg))
        for alternatives in by_rules.alternatives
    )
    return replace(
        planned,
        alternatives=joined or planned.alternatives,
        kept_conditions=by_rules.kept_conditions or planned.kept_conditions,
        is_followup=planned.is_followup or by_rules.is_followup,
    )


def offer_other_reading(planned: PlannedQuestion, by_rules: PlannedQuestion) -> PlannedQuestion:
    """Returns the model's plan with the set of the rules as an equally likely meaning, if both are one set each."""
    if len(planned.plan.legs) != 1 or len(by_rules.plan.legs) != 1 or planned.passed_values:
        return planned  # what is passed on is not in the search yet
    leg, other = planned.plan.legs[0], by_rules.plan.legs[0]
    if not _may_be_offered(leg, other):
        return planned
    [clause], [other_clause] = leg.search.clauses, other.search.clauses
    own = conjuncts_of(clause.condition)
    reading = AlternativeReading(
        bucket=other_clause.bucket,
        conditions=tuple(condition for condition in conjuncts_of(other_clause.condition) if condition not in own),
        search=other.search,
        is_of_other_plan=True,
    )
    [alternatives] = planned.alternatives
    joined = replace(alternatives, equal_readings=(*alternatives.equal_readings, reading))
    return replace(planned, alternatives=(joined,))


def _plan_of(decomposition: Decomposition) -> Plan | None:
    return decomposition.plan if isinstance(decomposition, (PlannedQuestion, ExportRequest)) else None


def _kind_of_difference(planned: PlannedQuestion, rule_plan: Plan) -> str:
    plan = planned.plan
    if len(plan.legs) != len(rule_plan.legs):
        return "parts"
    pairs = list(zip(plan.legs, rule_plan.legs, strict=True))
    if any(leg.search.buckets != other.search.buckets for leg, other in pairs):
        return "bucket"
    if planned.passed_values or any(leg.search.clauses != other.search.clauses for leg, other in pairs):
        return "conditions"  # a value that another part gives is a condition too
    if any(leg.answer_form != other.answer_form for leg, other in pairs):
        return "form"
    return "same"


def _may_be_offered(leg: Leg, other: Leg) -> bool:
    """Whether the two legs ask the same of two different sets of one bucket."""
    return (
        len(leg.search.clauses) == len(other.search.clauses) == 1
        and leg.search.buckets == other.search.buckets
        and leg.search.clauses != other.search.clauses
        and leg.answer_form == other.answer_form
        and leg.answer_form.names_a_set
    )


def _join_alternatives(by_rules: LegAlternatives, by_model: LegAlternatives | None) -> LegAlternatives:
    return LegAlternatives(
        leg=by_rules.leg,
        fallback_readings=by_rules.fallback_readings,
        wider_readings=by_rules.wider_readings,
        other_bucket_clauses=by_rules.other_bucket_clauses,
        equal_readings=() if by_model is None else by_model.equal_readings,
        equal_forms=() if by_model is None else by_model.equal_forms,
        suggested_fields=by_rules.suggested_fields,
        is_understood=True,
        is_confined=by_rules.is_confined,
        unknown_words=() if by_model is None else by_model.unknown_words,
        text_words=() if by_model is None else by_model.text_words,
    )
