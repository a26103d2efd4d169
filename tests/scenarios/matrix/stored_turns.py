"""What the matrix needs of Parley's database: whether turns are open, what they offer, and a saved search to be due."""

import asyncio

from sqlalchemy import func, select

from bot.application import Application
from bot.ids import PersonId
from storage.sql.saved_search_store import SavedSearchStore
from storage.sql.stores.clarifications import clarifications
from storage.sql.stores.turns import turns


async def wait_until_no_turn_is_open(bot: Application) -> None:
    open_turns = select(func.count()).select_from(turns).where(turns.c.finished_at.is_(None))
    while await bot.database.run_read(lambda connection: connection.execute(open_turns).scalar_one()):  # noqa: ASYNC110 - no event
        await asyncio.sleep(0.02)


async def load_clarification_of(bot: Application, turn: str) -> str:
    """The id of the clarification that a turn offers."""
    query = select(clarifications.c.id).where(clarifications.c.turn == turn)
    return await bot.database.run_read(lambda connection: connection.execute(query).scalar_one())


async def run_saved_searches_of(bot: Application, person: PersonId) -> None:
    """Does what the periodic job does when the searches of this person are due."""
    store = SavedSearchStore(bot.database)
    for search in await store.list_searches(person=person):
        await store.make_due(search.position, bot.clock())
    await bot.due_searches.start_due_runs()
    await wait_until_no_turn_is_open(bot)


async def list_saved_numbers(bot: Application, person: PersonId) -> list[int]:
    """The numbers of the person's saved searches, and of three of other people."""
    searches = await SavedSearchStore(bot.database).list_searches()
    own, others = list[int](), list[int]()
    for search in searches:
        (own if search.person == person else others).append(search.position)
    return [*own, *others[:3]]
