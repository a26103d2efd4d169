"""What OpenSearch's client and server can say when something is wrong, and what Parley makes of it."""

import copy
from typing import Any

import pytest
from opensearchpy import exceptions as library

from storage.opensearch.connection import Connection, NoConnection, Refused, translated
from storage.opensearch.wire import found_in
from storage.search.errors import IndexTimedOut, IndexUnavailable

WHERE = "http://index:9200"
_WHOLE: dict[str, Any] = {
    "timed_out": False,
    "status": 200,
    "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
    "hits": {"total": {"value": 3, "relation": "eq"}, "hits": []},
}


def _exceptions() -> list[type[Exception]]:
    """Every exception of the library; its warnings are none."""
    named = [getattr(library, name) for name in library.__all__]
    return [one for one in named if issubclass(one, Exception) and not issubclass(one, Warning)]


@pytest.mark.parametrize("kind", _exceptions(), ids=lambda kind: kind.__name__)
def test_each_exception_of_the_library_has_a_translation(kind: type[Exception]) -> None:
    error = kind(500, "broken", {}) if issubclass(kind, library.TransportError) else kind("broken")

    assert isinstance(translated(error, WHERE), IndexUnavailable)
    assert WHERE in str(translated(error, WHERE))


def test_an_exception_of_another_library_is_not_hidden() -> None:
    with pytest.raises(KeyError):
        translated(KeyError("x"), WHERE)


def test_a_timeout_is_told_from_a_broken_connection() -> None:
    assert isinstance(translated(library.ConnectionTimeout("TIMEOUT", "slow", None), WHERE), IndexTimedOut)
    assert isinstance(translated(library.ConnectionError("N/A", "refused", None), WHERE), NoConnection)


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
def test_only_what_may_pass_is_tried_again(status: int, kind: str, is_transient: bool) -> None:
    info = {"error": {"type": kind, "reason": "no", "root_cause": [{"type": kind, "reason": "no"}]}}
    refused = translated(library.TransportError(status, kind, info), WHERE)

    assert isinstance(refused, Refused)
    assert (refused.kind, refused.is_transient) == (kind, is_transient)


def test_an_answer_of_all_shards_is_taken() -> None:
    (found,) = found_in({"responses": [_WHOLE]}, 1, WHERE)

    assert found.total == 3


def _changed(**changes: Any) -> dict[str, Any]:
    answer = copy.deepcopy(_WHOLE)
    for path, value in changes.items():
        inner, _, last = path.rpartition("__")
        target = answer[inner] if inner else answer
        target[last] = value
    return answer


@pytest.mark.parametrize(
    "item",
    [
        _changed(timed_out=True),
        {**_WHOLE, "_shards": {"total": 3, "successful": 2, "failed": 0}},
        {**_WHOLE, "_shards": {"total": 3, "successful": 2, "failed": 1}},
        {"status": 503, "error": {"type": "no_shard_available_action_exception", "reason": "gone"}},
        {"status": 200, "error": "odd"},
        {"status": 200},
        None,
    ],
)
def test_a_partial_answer_is_a_failure_never_a_smaller_count(item: Any) -> None:
    with pytest.raises(IndexUnavailable):
        found_in({"responses": [_WHOLE, item]}, 2, WHERE)


@pytest.mark.parametrize("answer", [{}, {"responses": []}, {"responses": [_WHOLE, _WHOLE]}, {"responses": "x"}])
def test_a_missing_answer_is_a_failure(answer: dict[str, Any]) -> None:
    with pytest.raises(IndexUnavailable):
        found_in(answer, 1, WHERE)


def test_a_total_that_is_not_exact_is_refused() -> None:
    about = _changed(hits__total={"value": 10_000, "relation": "gte"})
    (found,) = found_in({"responses": [about]}, 1, WHERE)

    with pytest.raises(ValueError, match="exact"):
        _ = found.total


@pytest.mark.parametrize("url", ["index:9200", "ftp://index", "http://", "http://index:port"])
def test_what_is_no_address_is_refused_by_name(url: str) -> None:
    with pytest.raises(IndexUnavailable, match="address"):
        Connection([url], user=None, password=None, ca=None)


async def test_the_password_in_an_address_is_not_shown() -> None:
    connection = Connection(["https://user:secret@index:9200"], user=None, password=None, ca=None)
    await connection.close()

    assert connection.where == "https://index:9200"


def test_a_certificate_that_cannot_be_read_is_named() -> None:
    with pytest.raises(IndexUnavailable, match="certificate"):
        Connection(["https://index:9200"], user=None, password=None, ca="/no/such/file.pem")
