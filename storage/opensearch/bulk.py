"""Writing many entries at once: what the server was too busy for is sent again, and nothing else."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from storage.opensearch.connection import WRITE_S, Connection, Object, Refused, lines_of, refusal
from storage.search.errors import IndexUnavailable

_ATTEMPTS = 6
_FIRST_PAUSE_S = 0.2
_LARGEST = 8_000_000  # characters of one request


@dataclass(frozen=True, slots=True)
class Action:
    """One write, as the lines of a bulk."""

    verb: str
    lines: str


def index(target: str, entry: str, source: Object, *, routing: str, **conditions: object) -> Action:
    """`target` is an alias for writing. `conditions`: `if_seq_no` with `if_primary_term`."""
    meta = {"_index": target, "_id": entry, "routing": routing, "require_alias": True, **conditions}
    return Action("index", lines_of([{"index": meta}, source]))


def create(target: str, entry: str, source: Object, *, routing: str) -> Action:
    """Refused where the entry exists."""
    meta = {"_index": target, "_id": entry, "routing": routing, "require_alias": True}
    return Action("create", lines_of([{"create": meta}, source]))


def claim(registry: str, entry: str, source: Object) -> Action:
    """Of an entry of the registry, which has no alias. Refused where it exists."""
    return Action("create", lines_of([{"create": {"_index": registry, "_id": entry}}, source]))


def delete(target: str, entry: str, *, routing: str | None = None) -> Action:
    meta = {"_index": target, "_id": entry} | ({"routing": routing} if routing else {})
    return Action("delete", lines_of([{"delete": meta}]))


async def write(connection: Connection, actions: Sequence[Action]) -> list[Refused | None]:
    """What became of each: None for done. Raises `IndexUnavailable` when the server cannot be reached."""
    results = list[Refused | None]()
    for part in _requests(actions):
        results += await _write_part(connection, part)
    return results


async def _write_part(connection: Connection, actions: Sequence[Action]) -> list[Refused | None]:
    results: dict[int, Refused | None] = {}
    waiting = list(range(len(actions)))
    for attempt in range(_ATTEMPTS):
        answered = await _send(connection, [actions[at] for at in waiting])
        results |= dict(zip(waiting, answered, strict=True))
        waiting = [at for at in waiting if (refused := results[at]) is not None and refused.is_transient]
        if not waiting:
            break
        await connection.pause(_FIRST_PAUSE_S * 2**attempt)
    return [results[at] for at in range(len(actions))]


async def _send(connection: Connection, actions: Sequence[Action]) -> list[Refused | None]:
    body = "".join(action.lines for action in actions)
    answer = await connection.call("POST", "/_bulk", body, timeout_s=WRITE_S)
    items = cast(list[Object], answer.get("items") or [])
    if len(items) != len(actions):
        raise IndexUnavailable(connection.where, "it did not answer every write")
    return [_outcome(connection.where, item[action.verb]) for action, item in zip(actions, items, strict=True)]


def _outcome(where: str, item: Object) -> Refused | None:
    return refusal(where, item["status"], item["error"]) if "error" in item else None


def _requests(actions: Sequence[Action]) -> Iterator[list[Action]]:
    part, size = list[Action](), 0
    for action in actions:
        if part and size + len(action.lines) > _LARGEST:
            yield part
            part, size = [], 0
        part.append(action)
        size += len(action.lines)
    if part:
        yield part
