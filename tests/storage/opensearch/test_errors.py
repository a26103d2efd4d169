"""The errors of OpenSearch's client and server, and their translation into Parley's errors."""

import copy
from typing import Any

import pytest
from opensearchpy import exceptions as library

from storage.opensearch.connection import (
    ClusterConnection,
    JsonObject,
    NoConnection,
    RequestRefused,
    parse_error_detail,
    translate_client_error,
)
from storage.opensearch.responses import parse_multi_search_response
from storage.search.errors import IndexTimedOut, IndexUnavailable

LOCATION = "http://index:9200"
_COMPLETE_RESPONSE: dict[str, Any] = {
    "timed_out": False,
    "status": 200,
    "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
    "hits": {"total": {"value": 3, "relation": "eq"}, "hits": []},
}


def _library_exceptions() -> list[type[Exception]]:
    """Returns every exception of the library, without its warnings."""
    public_classes = [getattr(library, name) for name in library.__all__]
    return [
        public_class
        for public_class in public_classes
        if issubclass(public_class, Exception) and not issubclass(public_class, Warning)
    ]


@pytest.mark.parametrize("kind", _library_exceptions(), ids=lambda kind: kind.__name__)
def test_each_exception_of_the_library_has_a_translation(kind: type[Exception]) -> None:
    error = kind(500, "broken", {}) if issubclass(kind, library.TransportError) else kind("broken")

    assert isinstance(translate_client_error(error, LOCATION), IndexUnavailable)
    assert LOCATION in str(translate_client_error(error, LOCATION))


def test_an_exception_of_another_library_is_not_hidden() -> None:
    with pytest.raises(KeyError):
        translate_client_error(KeyError("x"), LOCATION)


def test_a_timeout_and_a_broken_connection_are_different_errors() -> None:
    assert isinstance(
        translate_client_error(library.ConnectionTimeout("TIMEOUT", "slow", None), LOCATION), IndexTimedOut
    )
    assert isinstance(translate_client_error(library.ConnectionError("N/A", "refused", None), LOCATION), NoConnection)


@pytest.mark.parametrize(
    ("status", "kind", "is_transient"),
    [
        (429, "rejected_execution_exception", True),
        (429, "cluster_block_exception", False),
        (503, "too_many_buckets_exception", False),
        (503, "no_shard_available_action_exception", True),
        (400, "parsing_exception", False),
    ],
)
def test_only_temporary_refusals_are_transient(status: int, kind: str, is_transient: bool) -> None:
    info = {"error": {"type": kind, "reason": "no", "root_cause": [{"type": kind, "reason": "no"}]}}
    refusal = translate_client_error(library.TransportError(status, kind, info), LOCATION)

    assert isinstance(refusal, RequestRefused)
    assert (refusal.error_type, refusal.is_transient) == (kind, is_transient)


def test_a_response_of_all_shards_is_accepted() -> None:
    (response,) = parse_multi_search_response({"responses": [_COMPLETE_RESPONSE]}, 1, LOCATION)

    assert response.total == 3


def _changed_response(**changes: Any) -> dict[str, Any]:
    response = copy.deepcopy(_COMPLETE_RESPONSE)
    for path, value in changes.items():
        parent, _, key = path.rpartition("__")
        target = response[parent] if parent else response
        target[key] = value
    return response


@pytest.mark.parametrize(
    "item",
    [
        _changed_response(timed_out=True),
        {**_COMPLETE_RESPONSE, "_shards": {"total": 3, "successful": 2, "failed": 0}},
        {**_COMPLETE_RESPONSE, "_shards": {"total": 3, "successful": 2, "failed": 1}},
        {"status": 503, "error": {"type": "no_shard_available_action_exception", "reason": "gone"}},
        {"status": 200, "error": "odd"},
        {"status": 200},
        None,
    ],
)
def test_a_partial_response_is_a_failure_and_never_a_smaller_count(item: Any) -> None:
    with pytest.raises(IndexUnavailable):
        parse_multi_search_response({"responses": [_COMPLETE_RESPONSE, item]}, 2, LOCATION)


@pytest.mark.parametrize(
    "answer", [{}, {"responses": []}, {"responses": [_COMPLETE_RESPONSE, _COMPLETE_RESPONSE]}, {"responses": "x"}]
)
def test_a_missing_response_is_a_failure(answer: dict[str, Any]) -> None:
    with pytest.raises(IndexUnavailable):
        parse_multi_search_response(answer, 1, LOCATION)


def test_a_total_that_is_not_exact_is_refused() -> None:
    inexact_response = _changed_response(hits__total={"value": 10_000, "relation": "gte"})
    (response,) = parse_multi_search_response({"responses": [inexact_response]}, 1, LOCATION)

    with pytest.raises(ValueError, match="exact"):
        _ = response.total


@pytest.mark.parametrize("url", ["index:9200", "ftp://index", "http://", "http://index:port"])
def test_an_invalid_address_is_refused_by_name(url: str) -> None:
    with pytest.raises(IndexUnavailable, match="address"):
        ClusterConnection([url])


async def test_the_password_in_an_address_is_not_shown() -> None:
    connection = ClusterConnection(["https://user:secret@index:9200"])
    await connection.close()

    assert connection.location == "https://index:9200"


def test_a_certificate_that_cannot_be_read_is_named() -> None:
    with pytest.raises(IndexUnavailable, match="certificate"):
        ClusterConnection(["https://index:9200"], ca_file="/no/such/file.pem")


def test_a_failure_to_put_the_answers_of_shards_together_has_its_cause() -> None:
    cause = {"type": "too_many_buckets_exception", "reason": "Trying to create too many buckets."}
    error: JsonObject = {"root_cause": [], "type": "search_phase_execution_exception", "reason": "", "caused_by": cause}

    refusal = parse_error_detail(LOCATION, 503, error)

    assert (refusal.error_type, refusal.is_transient) == ("too_many_buckets_exception", False)
