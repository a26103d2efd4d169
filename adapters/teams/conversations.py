"""The newest service URL of each conversation: where to write, also long after a turn was stored.

It is kept in the database, for restarts and for worker processes, which receive nothing. Fulfils
`adapters.teams.posting.protocols.ServiceUrlSource`.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Final, Protocol

from cachetools import TTLCache

from adapters.teams.addresses import TeamsAddress, conversation_id_of
from adapters.teams.posting.protocols import ServiceUrlSource

_CACHE_LIFETIME_S: Final = 60.0  # another process may have received a newer URL
_MAX_CACHED: Final = 20_000  # conversations


class ServiceUrlRecords(Protocol):
    """The stored service URLs, by conversation. Never raises."""

    async def find_url(self, conversation: str) -> str | None: ...

    async def save_url(self, conversation: str, url: str) -> None: ...


class TeamsConversations:
    """The threads of a channel have the channel's URL. Call `close` in the end."""

    def __init__(self, records: ServiceUrlRecords, monotonic_clock: Callable[[], float] = time.monotonic) -> None:
        self._records, self._saves = records, set[asyncio.Task[None]]()
        self._known_urls = TTLCache[str, str](_MAX_CACHED, _CACHE_LIFETIME_S, timer=monotonic_clock)

    async def close(self) -> None:
        """Waits for what is being written."""
        if self._saves:
            await asyncio.wait(self._saves)

    def note_service_url(self, address: TeamsAddress) -> None:
        """The conversation's newest activity came from `address.service_url`. A change is written in the background:
        no delivery waits for it, and the turn has the URL as well.
        """
        key = _key_of(address.tenant, address.conversation)
        if self._known_urls.get(key) != address.service_url:
            self._known_urls[key] = address.service_url
            save = asyncio.create_task(self._save_changed_url(key, address.service_url))
            self._saves.add(save)
            save.add_done_callback(self._saves.discard)

    async def find_service_url(self, tenant: str, conversation: str) -> str | None:
        """Where the conversation's newest activity came from; None where it is not known. `conversation` is the id in
        Teams, in a channel with `;messageid=`.
        """
        key = _key_of(tenant, conversation)
        if (known_url := self._known_urls.get(key)) is not None:
            return known_url
        stored_url = await self._records.find_url(key)
        if stored_url is not None:
            self._known_urls.setdefault(key, stored_url)
        return stored_url

    async def _save_changed_url(self, key: str, service_url: str) -> None:
        if await self._records.find_url(key) != service_url:
            await self._records.save_url(key, service_url)


async def find_newest_url(
    service_urls: ServiceUrlSource | None, *, tenant: str, conversation: str, known_url: str
) -> str:
    """Where to write to the conversation. `known_url`: where an earlier activity of it came from. Does not raise."""
    newest_url = None
    if service_urls is not None:
        newest_url = await service_urls.find_service_url(tenant, conversation)
    return newest_url or known_url


def _key_of(tenant: str, conversation: str) -> str:
    return conversation_id_of(tenant, conversation.partition(";")[0])
