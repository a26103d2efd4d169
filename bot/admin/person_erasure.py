"""Erases a person: from the database, from the exported files and from the log.

Each step can be repeated: after an interruption, the same call does what is left. It works beside running processes:
a turn of the person that one of them answers ends without a reply, and a file that one of them writes is not finished.
"""

import asyncio
import re
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

from bot.admin.retention import remove_turns
from bot.conversation.exports import delete_export_file
from bot.conversation.turn_result import failed_turn_result, turn_result_to_json
from bot.ids import OPERATOR, PersonId, TurnId
from bot.settings import Settings
from bot.surface.inbound import TextMessage
from bot.surface.json_codec import JsonObject, body_to_json, salvage_unreadable_inbound
from storage.sql.database import JsonMapping, SqlDatabase
from storage.sql.erasure.person_erasure import ErasureCounts, ErasureRequest, PersonErasure
from storage.sql.stores.grants import PersonLinkStore
from storage.sql.stores.turns import Turn

REMOVED_TEXT: Final = "[removed]"  # in place of a message, and of the reply to it
_LOG_FOLDER: Final = "logs"
_OPEN_TURNS_TIMEOUT: Final = timedelta(seconds=15)
_POLL_INTERVAL: Final = timedelta(milliseconds=200)
_LOG_BLOCK_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReport:
    """What was erased, or would be. `linked`: other ids of the same person, which were not erased. `remaining`: what
    stays, what can still be counted of it, and what the operator has to do, in sentences.
    """

    persons: tuple[PersonId, ...]
    is_trial: bool
    counts: ErasureCounts
    export_files: int = 0
    log_entries: int = 0
    linked: tuple[str, ...] = ()
    remaining: tuple[str, ...] = field(default=())

    @property
    def is_empty(self) -> bool:
        """Whether nothing is kept about the person."""
        counts = self.counts
        found = sum((*counts.deleted.values(), *counts.pseudonymised.values(), counts.marked))
        return not (found or self.export_files or self.log_entries)


async def count_person_rows(database: SqlDatabase, settings: Settings, persons: Collection[PersonId]) -> ErasureReport:
    """What `erase_person` would do now; changes nothing. Raises `SqlError`."""
    request = _request_for(persons)
    store = PersonErasure(database)
    files, counts = await store.list_exports(request), await store.count_rows(request)
    return ErasureReport(
        persons=tuple(sorted(persons)),
        is_trial=True,
        counts=counts,
        export_files=sum(_export_file_exists(settings, export_id) for export_id in files),
        log_entries=await asyncio.to_thread(_mask_logs, settings.home / _LOG_FOLDER, request.sought_ids, is_trial=True),
        linked=await _find_linked_ids(database, persons),
        remaining=_describe_remaining(settings, persons, counts, is_rewritten=True),
    )


async def erase_person(database: SqlDatabase, settings: Settings, persons: Collection[PersonId]) -> ErasureReport:
    """Erases what the database, the exported files and the log hold about the person. Raises `SqlError`, `OSError`."""
    request = _request_for(persons)
    store, linked = PersonErasure(database), await _find_linked_ids(database, persons)
    await _await_open_turns(store, request)
    # The files go first: without their rows, nobody would find them again after an interruption.
    export_ids = await store.list_exports(request)
    file_count = sum([delete_export_file(settings.exports_path, export_id) for export_id in export_ids])
    counts = await store.erase_person(request)
    log_entries = await asyncio.to_thread(_mask_logs, settings.home / _LOG_FOLDER, request.sought_ids)
    is_rewritten = await database.overwrite_deleted_rows()
    return ErasureReport(
        persons=tuple(sorted(persons)),
        is_trial=False,
        counts=counts,
        export_files=file_count,
        log_entries=log_entries,
        linked=linked,
        remaining=_describe_remaining(settings, persons, counts, is_rewritten=is_rewritten),
    )


async def find_linked_persons(database: SqlDatabase, person: PersonId) -> frozenset[PersonId]:
    """The other ids of the same person: linked by an admin, or with the same e-mail address."""
    links = PersonLinkStore(database)
    linked = await links.find_linked_persons(person) | await links.find_persons_of_same_email(person)
    return frozenset(map(PersonId, linked))


async def _find_linked_ids(database: SqlDatabase, persons: Collection[PersonId]) -> tuple[str, ...]:
    linked = [await find_linked_persons(database, person) for person in persons]
    return tuple(sorted(frozenset[PersonId]().union(*linked) - set(persons)))


def _request_for(persons: Collection[PersonId]) -> ErasureRequest:
    return ErasureRequest(
        persons=frozenset(persons),
        pseudonym=f"forgotten:{secrets.token_hex(6)}",
        by=OPERATOR,
        removed_text=REMOVED_TEXT,
        removed_body={**body_to_json(TextMessage(REMOVED_TEXT)), "name": "", "address": {}, "buckets": []},
        removed_outcome=_removed_outcome_of,
        text_of=_text_of_body,
        without_turns=remove_turns,
    )


def _removed_outcome_of(turn: Turn) -> JsonObject:
    result = failed_turn_result(salvage_unreadable_inbound(turn), TurnId(turn.id), REMOVED_TEXT)
    return turn_result_to_json(result)


def _text_of_body(body: JsonMapping) -> str:
    return str(body.get("said", ""))


async def _await_open_turns(store: PersonErasure, request: ErasureRequest) -> None:
    """Waits for answers to other people in the same conversations, which hold what the person said before."""
    for _ in range(_OPEN_TURNS_TIMEOUT // _POLL_INTERVAL):
        if not await store.count_open_turns_of_others(request):
            return
        await asyncio.sleep(_POLL_INTERVAL.total_seconds())


def _export_file_exists(settings: Settings, export_id: str) -> bool:
    return (settings.exports_path / f"{export_id}.csv").is_file()


def _mask_logs(folder: Path, ids: Collection[str], *, is_trial: bool = False) -> int:
    """Overwrites the ids in place by as many `x`, while others append to the files. Returns how many there were."""
    patterns = [re.escape(sought.encode()) for sought in sorted(ids, key=len, reverse=True)]
    pattern = re.compile(rb"(?<!\w)(?:" + b"|".join(patterns) + rb")(?!\w|[-.@]\w)")
    files = [path for path in sorted(folder.glob("*")) if path.is_file()] if folder.is_dir() else []
    return sum(_mask_file(path, pattern, is_trial=is_trial) for path in files)


def _mask_file(path: Path, pattern: re.Pattern[bytes], *, is_trial: bool) -> int:
    found_count = 0
    with path.open("rb" if is_trial else "r+b") as file:
        position = 0
        while lines := file.readlines(_LOG_BLOCK_BYTES):
            block = b"".join(lines)
            for found in pattern.finditer(block):
                found_count += 1
                if not is_trial:
                    file.seek(position + found.start())
                    file.write(b"x" * len(found[0]))
            position += len(block)
            file.seek(position)
    return found_count


def _describe_remaining(
    settings: Settings, persons: Collection[PersonId], counts: ErasureCounts, *, is_rewritten: bool
) -> tuple[str, ...]:
    sentences: Sequence[tuple[bool, str]] = (
        (not is_rewritten, "the database file still has deleted bytes, because others use it; run this again later"),
        (
            any(person in settings.admins for person in persons),
            "PARLEY_ADMINS still names this person; take the id out of it",
        ),
        (
            counts.marked > 0,
            "marks in conversations with others still count as questions in reports, with their time and their ending",
        ),
        (True, "sums of costs by month stay, without saying whose; conversations that are deleted count nowhere else"),
        (True, "messages in the chat product, earlier backups, and logs outside this home are not Parley's to change"),
        (True, "documents, and who may read them, stay as their sources say"),
    )
    return tuple(sentence for applies, sentence in sentences if applies)
