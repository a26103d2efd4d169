"""Writes many entries at once. Only the writes that the server was too busy for are sent again.

A request whose answer is lost is sent again as a whole. Its conflicts may then be with itself (`may_be_own`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from storage.opensearch.connection import (
    WRITE_TIMEOUT_S,
    ClusterConnection,
    JsonObject,
    NoConnection,
    RequestRefused,
    json_lines_of,
    parse_error_detail,
)
from storage.opensearch.request_slots import RequestSlots
from storage.search.errors import IndexUnavailable

_MAX_ATTEMPTS = 12  # within about a minute
_FIRST_BACKOFF_S, _MAX_BACKOFF_S = 0.2, 10.0
_MAX_REQUEST_CHARACTERS = 8_000_000
_RESPONSE_PARTS = {"filter_path": "errors,items.*.status,items.*.error"}
_CONFLICT = 409
_NO_ANSWER = 503  # stands for a connection that broke before the answer came
_UNKNOWN_RESULTS = frozenset({502, 503, 504})  # the server may have executed the request


@dataclass(frozen=True, slots=True)
class BulkAction:
    """One write, as the JSON lines of a bulk request. `guarded_alias`: what the request must not create as an index."""

    verb: str
    lines: str
    guarded_alias: str = ""


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


def claim_registry_entry_action(registry_alias: str, entry_id: str, source: JsonObject) -> BulkAction:
    """Returns a write of a registry entry, which is refused if the entry exists."""
    meta = {"_index": registry_alias, "_id": entry_id, "require_alias": True}
    return BulkAction("create", json_lines_of([{"create": meta}, source]))


def delete_entry_action(
    index_name: str, entry_id: str, *, routing: str | None = None, **conditions: object
) -> BulkAction:
    meta = {"_index": index_name, "_id": entry_id, **conditions} | ({"routing": routing} if routing else {})
    return BulkAction("delete", json_lines_of([{"delete": meta}]))


def delete_copied_entry_action(alias: str, entry_id: str, *, routing: str, version: int) -> BulkAction:
    """Returns a deletion of an entry unless it has a higher version, which is refused if the alias is gone.

    Of all deletions, those with a version create an index that is not there, where the cluster lets writes do that, and
    they cannot ask for an alias themselves. An index whose name another write of the request wants to be an alias is
    not created.
    """
    meta = {"_index": alias, "_id": entry_id, "routing": routing, "version": version, "version_type": "external_gte"}
    return BulkAction("delete", json_lines_of([{"delete": meta}]), guarded_alias=alias)


def _guard_lines_of(aliases: Iterable[str]) -> str:
    """Returns writes that want the aliases to exist. They change an entry that there never is."""
    metas = ({"_index": alias, "_id": "guard", "routing": "guard", "require_alias": True} for alias in aliases)
    return "".join(json_lines_of([{"update": meta}, {"doc": {}}]) for meta in metas)


async def write_bulk_actions(
    connection: ClusterConnection, actions: Sequence[BulkAction]
) -> list[RequestRefused | None]:
    """Send the writes; returns the refusal of each, or None if it succeeded.

    Raises `IndexUnavailable` if the server cannot be reached.
    """
    return [refusal for (refusal,) in await write_action_groups(connection, [[action] for action in actions])]


async def claim_registry_entries(
    connection: ClusterConnection, claims: Sequence[BulkAction]
) -> list[RequestRefused | None]:
    """Like `write_bulk_actions`, without waiting until documents are sent: the next ones need their claims before."""
    refusals = [
        await _write_batch(connection, connection.claim_slots, batch) for batch in _split_into_requests([claims])
    ]
    return [refusal for batch in refusals for refusal in batch]


async def write_action_groups(
    connection: ClusterConnection, groups: Sequence[Sequence[BulkAction]]
) -> list[list[RequestRefused | None]]:
    """Send the writes of several documents; returns the refusals of each group, like `write_bulk_actions`.

    The writes of a group are in one request, in their order, unless they alone are too many for one.
    """
    refusals = list[RequestRefused | None]()
    for batch in _split_into_requests(groups):
        refusals += await _write_batch(connection, connection.bulk_slots, batch)
    remaining = iter(refusals)
    return [[next(remaining) for _ in group] for group in groups]


async def _write_batch(
    connection: ClusterConnection, slots: RequestSlots, actions: Sequence[BulkAction]
) -> list[RequestRefused | None]:
    """Send the writes as one request. Sends what the server was too busy for again, after growing pauses."""
    results: list[RequestRefused | None] = [None] * len(actions)
    pending, is_repetition = list(range(len(actions))), False  # of writes that the server may have executed
    for attempt in range(_MAX_ATTEMPTS):
        if attempt:
            slots.report_refusal()
            await connection.pause_with_jitter(min(_FIRST_BACKOFF_S * 2 ** (attempt - 1), _MAX_BACKOFF_S))
        refusals = await _send_within_slot(connection, slots, [actions[index] for index in pending])
        for index, refusal in zip(pending, refusals, strict=True):
            results[index] = refusal
            if refusal is not None and refusal.status == _CONFLICT:
                refusal.may_be_own = is_repetition
        pending = [index for index in pending if (refusal := results[index]) is not None and refusal.is_transient]
        if not pending:
            slots.report_success()
            break
        is_repetition |= any(refusal is not None and refusal.status in _UNKNOWN_RESULTS for refusal in refusals)
    return results


async def _send_within_slot(
    connection: ClusterConnection, slots: RequestSlots, actions: Sequence[BulkAction]
) -> list[RequestRefused | None]:
    """Send the writes when there is room for them. Raises `RequestRefused` if the whole request is wrong."""
    async with slots.hold_slot(sum(len(action.lines) for action in actions)):
        try:
            return await _send_batch(connection, actions)
        except NoConnection as exc:
            return [RequestRefused(connection.location, _NO_ANSWER, "", str(exc)) for _ in actions]
        except RequestRefused as exc:
            if not exc.is_transient:
                raise
            return [exc for _ in actions]


async def _send_batch(connection: ClusterConnection, actions: Sequence[BulkAction]) -> list[RequestRefused | None]:
    guarded_aliases = dict.fromkeys(action.guarded_alias for action in actions if action.guarded_alias)
    body = _guard_lines_of(guarded_aliases) + "".join(action.lines for action in actions)
    response = await connection.send_without_retry("POST", "/_bulk", body, _RESPONSE_PARTS, WRITE_TIMEOUT_S)
    items = cast(list[JsonObject], response.get("items") or [])[len(guarded_aliases) :]
    if len(items) != len(actions):
        raise IndexUnavailable(connection.location, "it did not answer every write")
    return [
        _refusal_of_item(connection.location, item[action.verb]) for action, item in zip(actions, items, strict=True)
    ]


def _refusal_of_item(location: str, item: JsonObject) -> RequestRefused | None:
    return parse_error_detail(location, item["status"], item["error"]) if "error" in item else None


def _split_into_requests(groups: Sequence[Sequence[BulkAction]]) -> Iterator[list[BulkAction]]:
    batch, characters = list[BulkAction](), 0
    for group in groups:
        group_characters = sum(len(action.lines) for action in group)
        if batch and characters + group_characters > _MAX_REQUEST_CHARACTERS:
            yield batch
            batch, characters = [], 0
        for action in group:
            if batch and characters + len(action.lines) > _MAX_REQUEST_CHARACTERS:
                yield batch
                batch, characters = [], 0
            batch.append(action)
            characters += len(action.lines)
    if batch:
        yield batch
