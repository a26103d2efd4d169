"""Writes many entries at once. Only the writes that the server was too busy for are sent again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from storage.opensearch.connection import (
    WRITE_TIMEOUT_S,
    ClusterConnection,
    JsonObject,
    RequestRefused,
    json_lines_of,
    parse_error_detail,
)
from storage.search.errors import IndexUnavailable

_MAX_ATTEMPTS = 6
_FIRST_BACKOFF_S = 0.2
_MAX_REQUEST_CHARACTERS = 8_000_000


@dataclass(frozen=True, slots=True)
class BulkAction:
    """One write, as the JSON lines of a bulk request."""

    verb: str
    lines: str


def index_entry_action(
    write_alias: str, entry_id: str, source: str, *, routing: str, **conditions: object
) -> BulkAction:
    """Returns a write of an entry, whose `source` is JSON.

    `conditions`: `if_seq_no` and `if_primary_term`, or `version` and `version_type`.
    """
    meta = {"_index": write_alias, "_id": entry_id, "routing": routing, "require_alias": True, **conditions}
    return BulkAction("index", f"{json_lines_of([{'index': meta}])}{source}\n")


def create_entry_action(write_alias: str, entry_id: str, source: str, *, routing: str) -> BulkAction:
    """Returns a write that is refused if the entry exists."""
    meta = {"_index": write_alias, "_id": entry_id, "routing": routing, "require_alias": True}
    return BulkAction("create", f"{json_lines_of([{'create': meta}])}{source}\n")


def claim_registry_entry_action(registry_index: str, entry_id: str, source: JsonObject) -> BulkAction:
    """Returns a write of a registry entry, which is refused if the entry exists. The registry has no alias."""
    return BulkAction("create", json_lines_of([{"create": {"_index": registry_index, "_id": entry_id}}, source]))


def delete_entry_action(
    index_name: str, entry_id: str, *, routing: str | None = None, **conditions: object
) -> BulkAction:
    meta = {"_index": index_name, "_id": entry_id, **conditions} | ({"routing": routing} if routing else {})
    return BulkAction("delete", json_lines_of([{"delete": meta}]))


async def write_bulk_actions(
    connection: ClusterConnection, actions: Sequence[BulkAction]
) -> list[RequestRefused | None]:
    """Send the writes; returns the refusal of each, or None if it succeeded.

    Raises `IndexUnavailable` if the server cannot be reached.
    """
    results = list[RequestRefused | None]()
    for batch in _split_into_requests(actions):
        results += await _write_batch(connection, batch)
    return results


async def _write_batch(connection: ClusterConnection, actions: Sequence[BulkAction]) -> list[RequestRefused | None]:
    results: dict[int, RequestRefused | None] = {}
    pending = list(range(len(actions)))
    for attempt in range(_MAX_ATTEMPTS):
        refusals = await _send_batch(connection, [actions[index] for index in pending])
        results |= dict(zip(pending, refusals, strict=True))
        pending = [index for index in pending if (refusal := results[index]) is not None and refusal.is_transient]
        if not pending:
            break
        await connection.pause_with_jitter(_FIRST_BACKOFF_S * 2**attempt)
    return [results[index] for index in range(len(actions))]


async def _send_batch(connection: ClusterConnection, actions: Sequence[BulkAction]) -> list[RequestRefused | None]:
    body = "".join(action.lines for action in actions)
    response = await connection.send_request("POST", "/_bulk", body, timeout_s=WRITE_TIMEOUT_S)
    items = cast(list[JsonObject], response.get("items") or [])
    if len(items) != len(actions):
        raise IndexUnavailable(connection.location, "it did not answer every write")
    return [
        _refusal_of_item(connection.location, item[action.verb]) for action, item in zip(actions, items, strict=True)
    ]


def _refusal_of_item(location: str, item: JsonObject) -> RequestRefused | None:
    return parse_error_detail(location, item["status"], item["error"]) if "error" in item else None


def _split_into_requests(actions: Sequence[BulkAction]) -> Iterator[list[BulkAction]]:
    batch, characters = list[BulkAction](), 0
    for action in actions:
        if batch and characters + len(action.lines) > _MAX_REQUEST_CHARACTERS:
            yield batch
            batch, characters = [], 0
        batch.append(action)
        characters += len(action.lines)
    if batch:
        yield batch
