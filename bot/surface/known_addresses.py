"""Where a surface heard of people and conversations last, from the stored turns, and the service URL of each one."""

from collections.abc import Mapping
from typing import Any as Json
from typing import Final, cast

from structlog.typing import FilteringBoundLogger

from bot.ids import ConversationId, PersonId
from storage.sql.database import SqlDatabase
from storage.sql.errors import SqlError
from storage.sql.stores.conversations import ServiceUrlStore
from storage.sql.stores.history import TurnOrigins

_MAX_TURNS: Final = 50  # turns of a person that are searched


class KnownAddresses:
    """The addresses (`Inbound.address`) of one surface's turns. Raises `SqlError`."""

    def __init__(self, surface: str, database: SqlDatabase) -> None:
        self._surface, self._origins = surface, TurnOrigins(database)

    async def list_addresses_of_person(self, person: PersonId) -> list[Mapping[str, str]]:
        """The addresses of the person's newest turns, newest first."""
        bodies = await self._origins.list_bodies_of_person(self._surface, person, _MAX_TURNS)
        return [address for address in map(_address_of, bodies) if address]

    async def find_newest_address(self, conversation: ConversationId) -> Mapping[str, str] | None:
        """The address of the newest turn of the conversation, or of a thread in it (`CONVERSATION;THREAD`)."""
        body = await self._origins.find_newest_body(self._surface, conversation)
        return (None if body is None else _address_of(body)) or None


class ServiceUrls:
    """For chat products that name with each message the address of the service through which to write back.

    Holds the newest one of each conversation. Never raises: every turn holds the URL that was the newest at its time.
    """

    def __init__(self, database: SqlDatabase, log: FilteringBoundLogger) -> None:
        self._store, self._log = ServiceUrlStore(database), log

    async def find_url(self, conversation: str) -> str | None:
        """None where it is not known, and where the database does not answer."""
        try:
            return await self._store.find_url(conversation)
        except SqlError as exc:
            self._log.warning("service url not found", error=type(exc).__name__)
            return None

    async def save_url(self, conversation: str, url: str) -> None:
        """Replaces the conversation's earlier URL."""
        try:
            await self._store.replace_url(conversation, url)
        except SqlError as exc:
            self._log.warning("service url not kept", error=type(exc).__name__)


def _address_of(body: Mapping[str, Json]) -> Mapping[str, str]:
    """Empty where the turn has no readable address."""
    address: object = body.get("address")
    if not isinstance(address, dict):
        return {}
    texts = cast(dict[object, object], address)
    return {str(key): value for key, value in texts.items() if isinstance(value, str)}
