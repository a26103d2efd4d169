"""The filters as a model writes them, and the protocol that turns them into conditions."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from agent.assumptions import Assumption
from storage.search.conditions import Condition
from storage.search.ids import BucketId


class FilterOperator(StrEnum):
    """How a filter compares."""

    EQ = "eq"
    NOT_EQ = "not_eq"
    CONTAINS = "contains"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    BETWEEN = "between"
    IN = "in"
    MISSING = "missing"
    EXISTS = "exists"


class ToolFilter(BaseModel):
    """One condition on a field."""

    model_config = ConfigDict(extra="forbid")

    field: str = Field(description="Name of a field of the bucket, or `title`, `text` (title and text), `rows.column`.")
    op: FilterOperator = Field(description="between: both ends included. missing, exists: without values.")
    values: list[str] = Field(
        default_factory=list[str],
        description="The values as text: `Acme`, `12.5 kg`, `USD 1000`, `2024-03-01`, a period such as `2024`, "
        "`2024-03` or `2024-Q1`, `true`. between takes two; of several values for the others any may hold.",
    )
    words: str = Field(default="", description="The words of the question that say this; empty if there are none.")


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedFilters:
    """The conjunction of all filters that could be linked, and what is to be known about them."""

    condition: Condition
    problems: tuple[str, ...] = ()  # why filters could not be linked, in words for the model
    notes: tuple[str, ...] = ()  # what is remarkable about those that were, such as a value that no document has
    assumptions: tuple[Assumption, ...] = ()  # made in linking them, which an answer with them must tell


class FilterLinker(Protocol):
    """Turns filters into conditions on the fields and values of a bucket."""

    def link_filters(self, bucket: BucketId, filters: Sequence[ToolFilter]) -> LinkedFilters:
        """Links the filters with the schema and the values of a visible bucket.

        A filter that names no field, does not suit the type of its field, or whose values cannot be read as values of
        that type is a problem. A value that no document has is none: it leads to an empty set, and is noted.
        """
        ...
