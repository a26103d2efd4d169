"""The names of the subjects of grants, as far as Teams tells them."""

from collections.abc import Collection, Mapping
from typing import Final

from bot.admin.person_names import ProfileSource, load_person_names
from bot.admin.sentences import name_subject
from bot.ids import PersonId, Subject

_PERSON_PREFIX: Final = "user:"
_TEAMS_PERSON_PREFIX: Final = "user:teams:"


async def load_subject_names(subjects: Collection[Subject], profiles: ProfileSource) -> Mapping[Subject, str]:
    """A text for each subject: people of Teams by name with their id, because names are not unique."""
    persons = {
        subject: PersonId(subject.removeprefix(_PERSON_PREFIX))
        for subject in subjects
        if subject.startswith(_TEAMS_PERSON_PREFIX)
    }
    told = await load_person_names(persons.values(), profiles)
    names = {subject: name_subject(subject) for subject in subjects}
    return names | {subject: f"{told[person]} ({person})" for subject, person in persons.items() if person in told}
