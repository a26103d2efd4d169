"""Parses the persons and subjects that grants, `--as` and admin lists name."""

from bot.errors import InvalidSubject
from bot.ids import PersonId, Subject
from storage.search.subjects import PERSON_PATTERN, SUBJECT_PATTERN

_PERSON_FORMS = "local:NAME, slack:TEAM:USER or teams:TENANT:OBJECT"
_SUBJECT_FORMS = (
    "everyone, user:slack:T1:U1, user:teams:TENANT:OBJECT, user:local:NAME, channel:slack:T1:C1, team:teams:TENANT:ID, "
    "group:ID or group:slack:T1:S1"
)


def parse_person(text: str) -> PersonId:
    """A person as `--as` and the admin list name them. A bare NAME means `local:NAME`. Raises `InvalidSubject`."""
    person = text if ":" in text else f"local:{text}"
    if not PERSON_PATTERN.fullmatch(person):
        raise InvalidSubject(text, f"is not a person; write {_PERSON_FORMS}")
    return PersonId(person)


def parse_subject(text: str) -> Subject:
    """A subject as a grant or a reader list names it. Raises `InvalidSubject`."""
    if not SUBJECT_PATTERN.fullmatch(text):
        raise InvalidSubject(text, f"is not a subject; write {_SUBJECT_FORMS}")
    return Subject(text)


def is_channel_subject(subject: Subject) -> bool:
    return subject.startswith(("channel:", "team:"))


def check_grant_subject(subject: Subject, *, include_external: bool) -> None:
    """Raises `InvalidSubject` where `include_external` has no meaning: only channels and teams have outsiders."""
    if include_external and not is_channel_subject(subject):
        raise InvalidSubject(subject, "is not a channel or team, and only those can include external people")
