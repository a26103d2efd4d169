"""Responses of OpenSearch, parsed once. A partial response is an error and never counts as a whole one."""

from typing import Any as Json
from typing import TypeAlias, cast

from pydantic import BaseModel, Field, ValidationError

from storage.opensearch.connection import JsonObject, parse_error_detail
from storage.opensearch.mapping import VERSION_PATH
from storage.search.errors import IndexUnavailable

Aggregations: TypeAlias = dict[str, Json]


class _ShardCounts(BaseModel):
    total: int
    successful: int
    failed: int


class _HitTotal(BaseModel):
    value: int
    relation: str


class OpenSearchHit(BaseModel):
    index: str = Field(alias="_index")
    entry_id: str = Field(default="", alias="_id")
    version: int = Field(default=0, alias="_version")  # where the search asks for it, as for `seq_no`
    seq_no: int = Field(default=0, alias="_seq_no")
    score: float | None = Field(default=None, alias="_score")
    source: JsonObject = Field(default_factory=dict[str, Json], alias="_source")
    fields: dict[str, list[Json]] = Field(default_factory=dict[str, list[Json]])  # values as they are indexed
    matched_queries: list[str] = Field(default_factory=list[str])  # the names of the named queries that match

    @property
    def stored_entry(self) -> JsonObject:
        return self.source["stored"]

    @property
    def version_name(self) -> str:
        """The version of a bucket's index that has the hit. In a shared index the entry tells, if that is fetched."""
        return self.source.get("stored", {}).get(VERSION_PATH) or self.index


class _HitList(BaseModel):
    total: _HitTotal | None = None
    hits: list[OpenSearchHit]


class OpenSearchResponse(BaseModel):
    """The response to one search."""

    timed_out: bool
    shards: _ShardCounts = Field(alias="_shards")
    hit_list: _HitList = Field(alias="hits")
    aggregations: Aggregations = Field(default_factory=dict[str, Json])

    @property
    def hits(self) -> list[OpenSearchHit]:
        return self.hit_list.hits

    @property
    def total(self) -> int:
        """The exact number of matches, which every search requests."""
        if self.hit_list.total is None or self.hit_list.total.relation != "eq":
            raise ValueError("the answer has no exact total")
        return self.hit_list.total.value

    def hits_in_bins(self, bins_name: str, hits_name: str) -> list[OpenSearchHit]:
        """Returns the hits of a `top_hits` aggregation in all bins of another; none if the search has no such bins."""
        bins: list[JsonObject] = self.aggregations.get(bins_name, {}).get("buckets", [])
        return [OpenSearchHit.model_validate(hit) for index_bin in bins for hit in index_bin[hits_name]["hits"]["hits"]]

    def with_counts(self, total: int, aggregations: Aggregations) -> "OpenSearchResponse":
        """Returns the response of a search that only counts and is a part of this one."""
        hit_list = _HitList(total=_HitTotal(value=total, relation="eq"), hits=[])
        return self.model_copy(update={"hit_list": hit_list, "aggregations": aggregations})


def parse_multi_search_response(response: JsonObject, expected_count: int, location: str) -> list[OpenSearchResponse]:
    """Returns one response for each search of an `_msearch`.

    Raises `IndexUnavailable` unless all shards answered every search.
    """
    items: Json = response.get("responses")
    if not isinstance(items, list) or len(cast(list[Json], items)) != expected_count:
        raise IndexUnavailable(location, "it did not answer every search")
    return [parse_search_response(item, location) for item in cast(list[Json], items)]


def parse_search_response(item: Json, location: str) -> OpenSearchResponse:
    detail = cast(JsonObject, item) if isinstance(item, dict) else {"error": item}
    if detail.get("status", 200) != 200 or "error" in detail:
        raise parse_error_detail(location, detail.get("status", 0), detail.get("error"))
    try:
        parsed = OpenSearchResponse.model_validate(item)
    except ValidationError as exc:
        raise IndexUnavailable(location, "its answer is not OpenSearch's") from exc
    if parsed.timed_out or parsed.shards.failed or parsed.shards.successful != parsed.shards.total:
        raise IndexUnavailable(location, "it answered for a part of its shards only")
    return parsed
