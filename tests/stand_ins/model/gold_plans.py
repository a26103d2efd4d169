"""A planner that knows the answers: it replies to `plan_question` with the plan of the gold of a question.

`python -m tests.stand_ins.model.gold_plans DATA SET … [--port N]` serves it, so that a run of `parley eval` over the
same sets shows what is lost after the question has been decomposed. Questions whose gold says no conditions get a
search of the text.
"""

import argparse
import asyncio
import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any as Json
from typing import cast

from prompts.outputs import QuestionPlanOutput
from prompts.outputs.question_plan import PlanConditionOutput, PlanPartOutput
from tests.stand_ins.model.request_bodies import ChatBody, UserBody
from tests.stand_ins.model.server import ScriptedModelServer

_QUESTION = re.compile(r"^# Question\n(.*)\Z", re.DOTALL | re.MULTILINE)
_OPERATORS: Mapping[str, str] = {
    "eq": "is", "in": "is", "has": "is", "contains": "contains", "gt": "more_than", "gte": "at_least",
    "lt": "less_than", "lte": "at_most", "between": "between", "text_contains": "contains",
}  # fmt: skip
_AGGREGATE_FIELD = "total"
_FIELD_BY_CATEGORY = {"notice_period_to_terminate_renewal": "notice_days"}


class GoldPlanner:
    """Plans by the gold of the questions it was given."""

    def __init__(self, queries: Sequence[Mapping[str, Json]]) -> None:
        self._queries = {str(query["query"]): query for query in queries}
        self.unknown_questions: list[str] = []

    def answer_chat(self, body: ChatBody) -> str:
        """Returns the plan as JSON. Questions that are not in the sets are kept in `unknown_questions`."""
        [text] = [str(message.content) for message in body.messages if isinstance(message, UserBody)][:1]
        match = _QUESTION.search(text)
        question = match[1].strip() if match else ""
        query = self._queries.get(question)
        if query is None:
            self.unknown_questions.append(question)
            return "I do not know this question."
        return plan_by_gold(query).model_dump_json()


def plan_by_gold(query: Mapping[str, Json]) -> QuestionPlanOutput:
    """Returns the plan of a query of the evaluation sets (their README says what the gold holds)."""
    question = str(query["query"])
    gold_filter = cast(Mapping[str, list[Mapping[str, Json]]] | None, query["gold"].get("filter"))
    conditions = gold_filter.get("all", []) if gold_filter else []
    plan: dict[str, Json] = {"form": "passages", "search_queries": [question]}
    documents = [{"field": "doc_id", "op": "in", "value": query["gold"]["doc_ids"]}]
    match query["kind"]:
        case "list":
            plan = {"form": "list"}
        case "aggregate":
            plan = {"form": "numbers", "functions": ["sum"], "fields": [_AGGREGATE_FIELD]}
        case "lookup":
            plan = {"form": "values", "fields": [_field_of(str(query["category"]))]}
            conditions = documents
        case "yes_no":
            plan |= {"form": "yes_or_no"}
            conditions = documents
        case _:
            conditions = []
    part = PlanPartOutput.model_validate(
        _empty_part()
        | {
            "question": question,
            "buckets": [query["bucket"]],
            "conditions": [linked.model_dump() for linked in _linked_conditions(conditions)],
        }
        | plan
    )
    return QuestionPlanOutput(
        reasoning="gold", language="en", continues_conversation=False, parts=[part], combine="one", wants_file=False,
        not_understood=[],
    )  # fmt: skip


def _field_of(category: str) -> str:
    name = category.lower().replace(" ", "_")
    return _FIELD_BY_CATEGORY.get(name, name)


def _empty_part() -> dict[str, Json]:
    return {
        "id": "a", "question": "", "form": "list", "buckets": [], "conditions": [], "functions": [], "fields": [],
        "group_by": "", "group_period": "", "second_group_by": "", "second_group_period": "", "order_by": "",
        "is_descending": False, "limit": 0, "search_queries": [], "whole_part": "", "alternative_to": "",
    }  # fmt: skip


def _linked_conditions(conditions: Sequence[Mapping[str, Json]]) -> Iterator[PlanConditionOutput]:
    for condition in conditions:
        value: Json = condition["value"]
        values = cast(list[Json], value) if isinstance(value, list) else [value]
        yield PlanConditionOutput.model_validate(
            {
                "field": "text" if condition["op"] == "text_contains" else condition["field"],
                "op": _OPERATORS[condition["op"]],
                "values": [_written(member) for member in values],
                "texts_if_missing": [],
                "other_field": "",
                "of_part": "",
                "part_field": "",
                "min_count": 0,
                "words": "",
                "any_group": 0,
            }
        )


def _written(value: Json) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def load_queries(folder: Path, sets: Sequence[str]) -> list[dict[str, Json]]:
    """Returns the queries of the sets, each file `NAME_queries.jsonl.gz`."""
    queries: list[dict[str, Json]] = []
    for name in sets:
        with gzip.open(folder / f"{name}_queries.jsonl.gz", "rt", encoding="utf-8") as lines:
            queries += [json.loads(line) for line in lines]
    return queries


async def serve_gold(folder: Path, sets: Sequence[str], port: int) -> None:
    """Serves until it is cancelled."""
    planner = GoldPlanner(load_queries(folder, sets))
    server = ScriptedModelServer(answer_chat=planner.answer_chat, api_key=None, models=None)
    await server.start(port)
    print(server.url, flush=True)  # noqa: T201
    try:
        await asyncio.Event().wait()
    finally:
        await server.stop()
        print(f"{len(planner.unknown_questions)} questions were not in the sets")  # noqa: T201


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    try:
        asyncio.run(serve_gold(options.data, options.sets, options.port))
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
