"""The names of people, as their chat products tell them at this moment."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final, Protocol

from bot.ids import PersonId
from bot.surface.directory import PersonProfile

_LOOKUP_TIMEOUT_S: Final = 2.0  # for all names of a page; those that are missing are shown as ids
_MAX_LOOKUPS: Final = 100


class ProfileSource(Protocol):
    async def load_person_profile(self, person: PersonId) -> PersonProfile | None: ...


async def load_person_names(persons: Iterable[PersonId], profiles: ProfileSource) -> Mapping[PersonId, str]:
    """The names of the first hundred people, without those that no product tells in time. Names are not unique."""
    names: dict[PersonId, str] = {}

    async def load_name(person: PersonId) -> None:
        profile = await profiles.load_person_profile(person)
        if profile is not None and profile.name.strip():
            names[person] = profile.name

    try:
        async with asyncio.timeout(_LOOKUP_TIMEOUT_S), asyncio.TaskGroup() as group:
            for person in list(dict.fromkeys(persons))[:_MAX_LOOKUPS]:
                group.create_task(load_name(person))
    except TimeoutError:
        pass
    return names
