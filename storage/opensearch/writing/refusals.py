"""What the refusals of writes and lookups mean."""

from collections.abc import Sequence
from typing import cast

from storage.opensearch.connection import ClusterConnection, JsonObject, RequestRefused, parse_error_detail

_SHARD_STARTS = 503  # the status of a lookup in an index that has just been created; an item has no status
_FAULTS_OF_ENTRIES = frozenset({400, 413})
INDEX_GONE = "index_not_found_exception"  # also if the alias of a write is gone


class VersionSuperseded(Exception):
    """The version that was written to is no longer in use, or no longer being built."""


def is_conflict(refused: RequestRefused | None) -> bool:
    return refused is not None and refused.status == 409


def raise_first_refusal(refusals: Sequence[RequestRefused | None], *, ignore_missing: bool = False) -> None:
    """Raises `VersionSuperseded` where the version is gone, else the first refusal."""
    for refusal in refusals:
        if refusal is None or (ignore_missing and refusal.status == 404 and refusal.error_type != INDEX_GONE):
            continue
        raise VersionSuperseded if refusal.error_type == INDEX_GONE else refusal


def is_fault_of_document(refused: RequestRefused | None) -> bool:
    """Whether the cluster refuses this entry whenever it is sent, while it takes others."""
    return refused is not None and refused.status in _FAULTS_OF_ENTRIES and refused.error_type != INDEX_GONE


async def look_up_entries(
    connection: ClusterConnection, lookups: Sequence[JsonObject], *, only_visible: bool = False
) -> list[JsonObject]:
    """Returns the entries of an `_mget`, which include changes that no search can see yet, unless `only_visible`.

    Raises `VersionSuperseded` if an index is gone, else `IndexUnavailable` if a lookup fails.
    """
    if not lookups:
        return []

    params = {"realtime": "false"} if only_visible else None

    async def send_lookups() -> list[JsonObject]:
        response = await connection.send_without_retry("POST", "/_mget", {"docs": list(lookups)}, params)
        entries = cast(list[JsonObject], response["docs"])
        for entry in entries:
            if "error" in entry:
                refusal = parse_error_detail(connection.location, _SHARD_STARTS, entry["error"])
                raise VersionSuperseded if refusal.error_type == INDEX_GONE else refusal
        return entries

    return await connection.retry_transient_failures(send_lookups)
