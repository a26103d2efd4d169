"""Plans as a model writes them, with what does not apply left empty."""

from typing import Any as Json

from prompts.outputs import QuestionPlanOutput
from prompts.outputs.question_plan import PlanConditionOutput, PlanPartOutput


def a_condition(field: str, op: str, *values: str, **others: Json) -> PlanConditionOutput:
    empty: dict[str, Json] = {
        "values": list(values),
        "texts_if_missing": [],
        "other_field": "",
        "of_part": "",
        "part_field": "",
        "min_count": 0,
        "words": "",
        "any_group": 0,
    }
    return PlanConditionOutput.model_validate({"field": field, "op": op, **empty, **others})


def a_part(form: str, bucket: str, *conditions: PlanConditionOutput, **others: Json) -> PlanPartOutput:
    empty: dict[str, Json] = {
        "id": "p1", "question": "", "functions": [], "fields": [], "group_by": "", "group_period": "",
        "second_group_by": "", "second_group_period": "", "order_by": "", "is_descending": False, "limit": 0,
        "search_queries": [], "whole_part": "", "alternative_to": "",
    }  # fmt: skip
    parts = {"form": form, "buckets": [bucket] if bucket else [], "conditions": list(conditions)}
    return PlanPartOutput.model_validate({**empty, **parts, **others})


def a_plan_output(*parts: PlanPartOutput, **others: Json) -> QuestionPlanOutput:
    empty: dict[str, Json] = {
        "reasoning": "", "language": "en", "continues_conversation": False, "combine": "one", "wants_file": False,
        "not_understood": [],
    }  # fmt: skip
    return QuestionPlanOutput.model_validate({**empty, "parts": list(parts), **others})
