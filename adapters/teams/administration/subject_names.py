"""The names of the subjects of grants, as far as Teams tells them."""

import asyncio
from collections.abc import Collection, Mapping
from typing import Final, Protocol

from bot.admin.sentences import name_subject
from bot.ids import PersonId, Subject
from bot.surface.directory import PersonProfile

_LOOKUP_TIMEOUT_S: Final = 2.0  # for all names of a card; those that are missing are shown as ids
_PERSON_PREFIX: Final = "user:"
_TEAMS_PERSON_PREFIX: Final = "user:teams:"


class ProfileSource(Protocol):
    async def load_person_profile(self, person: PersonId) -> PersonProfile | None: ...


async def load_subject_names(subjects: Collection[Subject], profiles: ProfileSource) -> Mapping[Subject, str]:
    """A text for each subject: people of Teams by name with their id, because names are not unique."""
    names = {subject: name_subject(subject) for subject in subjects}

    async def load_name(subject: Subject) -> None:
        profile = await profiles.load_person_profile(PersonId(subject.removeprefix(_PERSON_PREFIX)))
        if profile is not None:
            names[subject] = f"{profile.name} ({subject})"

    try:
        async with asyncio.timeout(_LOOKUP_TIMEOUT_S), asyncio.TaskGroup() as group:
            for subject in names:
                if subject.startswith(_TEAMS_PERSON_PREFIX):
                    group.create_task(load_name(subject))
    except TimeoutError:
        pass
    return names
