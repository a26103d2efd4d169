"""The arguments of the tools as a model writes them. Numbers beyond their bounds are cut to the bounds."""

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from agent.tools.excerpts import MAX_RESULT_CHARACTERS
from agent.tools.tool_filters import ToolFilter
from storage.search.plan import AggregateFunction, CalendarPeriod

MAX_TOP_K = 50
MAX_CONTEXT_CHARACTERS = 2000
_MIN_CONTEXT_CHARACTERS = 80
_FILTERS_TEXT = "Conditions that all must be true of a document. Empty: all documents of the bucket."
_DOCUMENT_TEXT = "Only this document: its doc_id, or an id of evidence such as d3 or p1. Empty: all documents."
_BUCKET_TEXT = "The name of the bucket."


def _none_as_absent(value: object) -> object:
    """Models that must fill in every argument write null where they mean none."""
    return "" if value is None else value


ToolFunction: TypeAlias = Literal[
    AggregateFunction.COUNT,
    AggregateFunction.SUM,
    AggregateFunction.AVERAGE,
    AggregateFunction.MINIMUM,
    AggregateFunction.MAXIMUM,
    AggregateFunction.MEDIAN,
    AggregateFunction.DISTINCT,
]
OptionalName = Annotated[str, BeforeValidator(_none_as_absent)]


class ToolArguments(BaseModel):
    """The arguments of any tool."""

    model_config = ConfigDict(extra="forbid")


class BucketArguments(ToolArguments):
    """What every tool for documents takes."""

    bucket: str = Field(description=_BUCKET_TEXT)


class PassageSearchArguments(BucketArguments):
    """The arguments of both searches for passages."""

    query: str = Field(description="What the passages are about, in a few words of the documents' language.")
    filters: list[ToolFilter] = Field(default_factory=list[ToolFilter], description=_FILTERS_TEXT)
    doc_id: OptionalName = Field(default="", description=_DOCUMENT_TEXT)
    top_k: int = Field(default=10, description=f"Passages to return, at most {MAX_TOP_K}; 10 if unsure.")
    context_chars: int = Field(
        default=500, description=f"Characters of each passage, at most {MAX_CONTEXT_CHARACTERS}; 500 if unsure."
    )

    @property
    def passage_limit(self) -> int:
        """Passages to return: fewer if they are long."""
        return min(bound_number(self.top_k, 1, MAX_TOP_K), MAX_RESULT_CHARACTERS // self.context_characters)

    @property
    def context_characters(self) -> int:
        return bound_number(self.context_chars, _MIN_CONTEXT_CHARACTERS, MAX_CONTEXT_CHARACTERS)


class TextSearchArguments(PassageSearchArguments):
    """The arguments of `search_text`."""

    code: bool = Field(
        default=False,
        description="Only blocks of code. The query names identifiers or their words: parseConfig, parse_config.",
    )
    top_k: int = Field(default=20, description=f"Passages to return, at most {MAX_TOP_K}; 20 if unsure.")
    context_chars: int = Field(
        default=400, description=f"Characters of each passage, at most {MAX_CONTEXT_CHARACTERS}; 400 if unsure."
    )


class RecordSearchArguments(BucketArguments):
    """The arguments of `annotations_search`."""

    filters: list[ToolFilter] = Field(default_factory=list[ToolFilter], description=_FILTERS_TEXT)
    doc_id: OptionalName = Field(default="", description=_DOCUMENT_TEXT)
    order_by: OptionalName = Field(default="", description="Name of a field. Empty: the usual order of the bucket.")
    descending: bool = Field(default=True, description="Largest or latest first.")
    limit: int = Field(default=10, description=f"Documents to show, at most {MAX_TOP_K}. All are counted.")
    fields: list[str] = Field(
        default_factory=list[str], description="Names of the fields to show. Empty: all short ones."
    )

    @property
    def record_limit(self) -> int:
        return bound_number(self.limit, 1, MAX_TOP_K)


class AggregateArguments(BucketArguments):
    """The arguments of `annotations_aggregate`."""

    function: ToolFunction = Field(description="For a share count both sets.")
    field: OptionalName = Field(
        default="", description="Name of a number or money field; for distinct, of any field. Empty for count."
    )
    filters: list[ToolFilter] = Field(default_factory=list[ToolFilter], description=_FILTERS_TEXT)
    group_by: OptionalName = Field(default="", description="Name of the field to group by. Empty: one number for all.")
    period: Annotated[CalendarPeriod | None, BeforeValidator(lambda value: value or None)] = Field(
        default=None, description="Only with a date field in group_by: the period that makes a group."
    )
    limit: int = Field(default=0, description="Only the first groups by their number, as in 'the top 3'. 0: all.")
    descending: bool = Field(default=True, description="Whether the largest numbers come first.")


class MetadataArguments(BucketArguments):
    """The arguments of `get_document_metadata`."""

    doc_id: str = Field(description="The doc_id of a document of the bucket, or an id of evidence such as d3 or p1.")
    context_chars: int = Field(
        default=500,
        description=f"Characters of its summary or beginning, at most {MAX_CONTEXT_CHARACTERS}; 500 if unsure.",
    )

    @property
    def context_characters(self) -> int:
        return bound_number(self.context_chars, _MIN_CONTEXT_CHARACTERS, MAX_CONTEXT_CHARACTERS)


class WebSearchArguments(ToolArguments):
    """The arguments of `search_web`."""

    query: str = Field(description="A few words of the question, as the person wrote them; all others are left out.")


def bound_number(number: int, low: int, high: int) -> int:
    return min(max(number, low), high)
