"""Whether everything that a question needs can be read and written."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.health.database_check import DatabaseContentCheck
from bot.health.folder_check import find_unwritable_folder
from bot.health.index_record import IndexRecord
from storage.search.errors import IndexDamaged, SearchError
from storage.search.index import SearchIndex
from storage.sql.errors import SqlError
from storage.sql.health_store import HealthStore

_DATABASE_SUMMARY: Final = "the database does not answer"
_TIMEOUT_S: Final = 8.0  # of all checks together, unless they are thorough


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadinessProblem:
    """`summary` names no host, path or bucket. `detail` is for the operator."""

    summary: str
    detail: str


class ReadinessChecks:
    """`folders`: where files are written."""

    def __init__(self, *, index: SearchIndex, store: HealthStore, record: IndexRecord, folders: Sequence[Path]) -> None:
        self._index, self._store, self.record, self._folders = index, store, record, folders
        self._database_check = DatabaseContentCheck(store)

    async def find_problems(self, *, thorough: bool = False) -> list[ReadinessProblem]:
        """What is wrong. Writes a little to the disk, the database and the index, and reads it back.

        `thorough`: reads everything that the index has stored, however long that takes.
        """
        try:
            async with asyncio.timeout(None if thorough else _TIMEOUT_S):
                return [
                    *await self._find_disk_problems(),
                    *await self._find_database_problems(thorough=thorough),
                    *await self._find_index_problems(thorough=thorough),
                ]
        except TimeoutError:
            return [
                ReadinessProblem(
                    summary="the checks do not end",
                    detail=f"the disk, the database or the index did not answer within {_TIMEOUT_S:.0f} seconds",
                )
            ]

    async def _find_disk_problems(self) -> list[ReadinessProblem]:
        problem = await asyncio.to_thread(find_unwritable_folder, self._folders)
        return [] if problem is None else [ReadinessProblem(summary="the disk cannot be written", detail=problem)]

    async def _find_database_problems(self, *, thorough: bool) -> list[ReadinessProblem]:
        try:
            if not await self._store.check_write():
                return [ReadinessProblem(summary=_DATABASE_SUMMARY, detail="it does not keep what is written")]
            damage = await self._database_check.find_damage(thorough=thorough)
        except SqlError as exc:
            return [ReadinessProblem(summary=_DATABASE_SUMMARY, detail=str(exc))]
        if damage is None:
            return []
        return [ReadinessProblem(summary="the database is damaged", detail=damage)]

    async def _find_index_problems(self, *, thorough: bool) -> list[ReadinessProblem]:
        try:
            await self._index.ping(thorough=thorough)
            missing = await self.record.find_missing_documents()
        except IndexDamaged as exc:
            return [ReadinessProblem(summary="the index is damaged", detail=str(exc))]
        except SearchError as exc:
            return [ReadinessProblem(summary="the index does not answer", detail=str(exc))]
        except SqlError as exc:
            return [ReadinessProblem(summary=_DATABASE_SUMMARY, detail=str(exc))]
        return [ReadinessProblem(summary="the index lacks documents", detail=problem) for problem in missing]
