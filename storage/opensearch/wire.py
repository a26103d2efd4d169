"""Answers of OpenSearch, parsed once. A part of an answer is never taken for the whole."""

from typing import Any as Json
from typing import TypeAlias, cast

from pydantic import BaseModel, Field, ValidationError

from storage.opensearch.connection import Object, refusal
from storage.search.errors import IndexUnavailable

Aggregations: TypeAlias = dict[str, Json]


class _Shards(BaseModel):
    total: int
    successful: int
    failed: int


class _Total(BaseModel):
    value: int
    relation: str


class WireHit(BaseModel):
    index: str = Field(alias="_index")
    score: float | None = Field(default=None, alias="_score")
    source: Object = Field(default_factory=dict[str, Json], alias="_source")

    @property
    def stored(self) -> Object:
        return self.source["stored"]


class _Hits(BaseModel):
    total: _Total | None = None
    hits: list[WireHit]


class Found(BaseModel):
    """The answer to one search."""

    timed_out: bool
    shards: _Shards = Field(alias="_shards")
    found: _Hits = Field(alias="hits")
    aggregations: Aggregations = Field(default_factory=dict[str, Json])

    @property
    def hits(self) -> list[WireHit]:
        return self.found.hits

    @property
    def total(self) -> int:
        """Exact: every search asks for it so."""
        if self.found.total is None or self.found.total.relation != "eq":
            raise ValueError("the answer has no exact total")
        return self.found.total.value


def found_in(answer: Object, asked: int, where: str) -> list[Found]:
    """One for each search of an `_msearch`. Raises `IndexUnavailable` unless all shards answered all of them."""
    items: Json = answer.get("responses")
    if not isinstance(items, list) or len(cast(list[Json], items)) != asked:
        raise IndexUnavailable(where, "it did not answer every search")
    return [found(item, where) for item in cast(list[Json], items)]


def found(item: Json, where: str) -> Found:
    one = cast(Object, item) if isinstance(item, dict) else {"error": item}
    if one.get("status", 200) != 200 or "error" in one:
        raise refusal(where, one.get("status", 0), one.get("error"))
    try:
        parsed = Found.model_validate(item)
    except ValidationError as exc:
        raise IndexUnavailable(where, "its answer is not OpenSearch's") from exc
    if parsed.timed_out or parsed.shards.failed or parsed.shards.successful != parsed.shards.total:
        raise IndexUnavailable(where, "it answered for a part of its shards only")
    return parsed
