"""The reply to the prompt `plan_question`: the question as sets of documents and what is asked of them.

Nothing is optional, as strict structured output demands; what does not apply is an empty text, an empty list or 0.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict

ConditionOperator = Literal[
    "is",
    "is_not",
    "contains",
    "not_contains",
    "more_than",
    "at_least",
    "less_than",
    "at_most",
    "between",
    "missing",
    "present",
]
PartForm = Literal[
    "list",
    "count",
    "numbers",
    "change_over_time",
    "values",
    "values_of_each",
    "is_there_any",
    "is_true_of_all",
    "passages",
    "yes_or_no",
    "summary",
    "steps",
    "helper",
]
NumberFunction = Literal["sum", "average", "minimum", "maximum", "median", "distinct", "count", "share"]
PeriodName = Literal["", "year", "quarter", "month", "day"]


class PlanConditionOutput(BaseModel):
    """One condition on the documents of a part."""

    model_config = ConfigDict(extra="forbid")

    field: str  # a field of the bucket, `rows.column`, `title`, `text` or `doc_id`
    op: ConditionOperator
    values: list[str]  # any of them; two for `between`; none for `missing`, `present` and with a part
    texts_if_missing: list[str]  # it holds for a document without the field whose text has one of these words too
    other_field: str  # compare with this field of the same document instead of a value
    of_part: str  # compare with the `part_field` of the documents of this part instead of a value
    part_field: str
    min_count: int  # with `of_part`: at least so many documents of that part have the value; 0 or 1: any
    words: str  # the words of the question that say so, verbatim; empty if an earlier question says it
    any_group: int  # conditions with the same number above 0 are alternatives: one of them must hold


class PlanPartOutput(BaseModel):
    """One set of documents and what is asked of it."""

    model_config = ConfigDict(extra="forbid")

    id: str
    question: str  # this part as a question that can be understood alone
    form: PartForm
    buckets: list[str]
    conditions: list[PlanConditionOutput]
    functions: list[NumberFunction]
    fields: list[str]  # whose values are asked for, or which the functions compute
    group_by: str
    group_period: PeriodName
    second_group_by: str
    second_group_period: PeriodName
    order_by: str
    is_descending: bool
    limit: int  # at most so many documents or groups; 0: all
    search_queries: list[str]  # words to rank passages by, in the language of the documents
    whole_part: str  # the part whose set is the whole: of a share, of `is_true_of_all`
    alternative_to: str  # another possible meaning of that part, to be offered to the asker


class QuestionPlanOutput(BaseModel):
    """The whole plan."""

    model_config = ConfigDict(extra="forbid")

    reasoning: str
    language: str  # ISO 639-1, of the question
    continues_conversation: bool
    parts: list[PlanPartOutput]
    combine: Literal["one", "side_by_side", "compare", "in_sequence"]
    wants_file: bool  # the person asks for a file
    not_understood: list[str]  # words of the question that no condition, field or query expresses
