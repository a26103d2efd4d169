"""Pages of the web that were fetched for questions: kept until they expire, so that no page is fetched twice before."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from sqlalchemy import LargeBinary, delete, select
from sqlmodel import Field

from storage.sql import tables
from storage.sql.database import SqlDatabase

_MAX_PAGES: Final = 5_000  # the oldest beyond these are deleted


@dataclass(frozen=True, kw_only=True)
class StoredWebPage:
    """A page by the id of its document. `outline`: its title, description, keywords and headings, as JSON.

    `content` is compressed; `kind` is the suffix of its format.
    """

    page: tables.KeyText
    url: tables.PeopleText
    kind: str
    outline: tables.JsonColumn
    content: Annotated[bytes, Field(sa_type=LargeBinary)]
    fetched_at: tables.UtcColumn
    expires_at: Annotated[datetime, Field(sa_type=tables.UtcTime, index=True)]


class WebPageRow(tables.TableRow, StoredWebPage, frozen=True, table=True):
    __tablename__ = "web_pages"  # pyright: ignore[reportAssignmentType]


web_pages: Final = WebPageRow.__table__


class WebPageStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database, self.utc_now = database, database.utc_now

    async def load_pages(self, pages: Collection[str]) -> list[StoredWebPage]:
        """Returns those of the pages that are stored and have not expired, in no particular order."""
        query = select(*tables.columns_of(StoredWebPage, web_pages)).where(
            web_pages.c.page.in_(list(pages)), web_pages.c.expires_at > self.utc_now()
        )
        rows = await self._database.run_read(lambda connection: connection.execute(query).all())
        return [tables.value_from_row(StoredWebPage, row) for row in rows]

    async def store_page(self, page: StoredWebPage) -> None:
        """Store a page in place of what was fetched of it before."""
        values = tables.column_values_of(page)
        changed = {name: value for name, value in values.items() if name != "page"}
        statement = (
            self._database.insert_into(web_pages)
            .values(values)
            .on_conflict_do_update(index_elements=["page"], set_=changed)
        )
        await self._database.run_write(lambda connection: connection.execute(statement))

    async def delete_expired_pages(self) -> int:
        """Delete the expired pages, and the oldest if there are too many. Returns how many."""
        newest = select(web_pages.c.page).order_by(web_pages.c.fetched_at.desc(), web_pages.c.page).limit(_MAX_PAGES)
        statement = delete(web_pages).where(
            (web_pages.c.expires_at <= self.utc_now()) | web_pages.c.page.not_in(newest.scalar_subquery())
        )
        return await self._database.run_write(lambda connection: connection.execute(statement).rowcount)
