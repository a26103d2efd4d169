"""The forms of persons and subjects: who a grant, a reader list, `--as` or an admin list can name."""

import re

from bot.errors import InvalidSubject
from bot.ids import PersonId, Subject

_NAME = r"[^\s:\x00-\x1f]{1,200}"
_REST = r"[^\s\x00-\x1f]{1,300}"  # Teams' own ids hold colons: `19:…@thread.tacv2`
_PERSON = re.compile(rf"slack:{_NAME}:{_NAME}|teams:{_NAME}:{_REST}|local:{_NAME}")
_SUBJECT = re.compile(
    rf"everyone|user:(?:{_PERSON.pattern})|channel:slack:{_NAME}:{_NAME}|channel:teams:{_NAME}:{_REST}"
    rf"|team:teams:{_NAME}:{_REST}|group:slack:{_NAME}:{_NAME}|group:teams:{_NAME}:{_REST}|group:{_NAME}"
)
_PERSON_FORMS = "local:NAME, slack:TEAM:USER or teams:TENANT:OBJECT"
_SUBJECT_FORMS = (
    "everyone, user:slack:T1:U1, user:teams:TENANT:OBJECT, user:local:NAME, channel:slack:T1:C1, team:teams:TENANT:ID, "
    "group:ID or group:slack:T1:S1"
)


def parse_person(text: str) -> PersonId:
    """`--as` and admins. A bare NAME means `local:NAME`. Raises `InvalidSubject`."""
    person = text if ":" in text else f"local:{text}"
    if not _PERSON.fullmatch(person):
        raise InvalidSubject(text, f"is no person; write {_PERSON_FORMS}")
    return PersonId(person)


def parse_subject(text: str) -> Subject:
    """A subject as a grant or a reader list names it. Raises `InvalidSubject`."""
    if not _SUBJECT.fullmatch(text):
        raise InvalidSubject(text, f"is no subject; write {_SUBJECT_FORMS}")
    return Subject(text)


def is_channel(subject: Subject) -> bool:
    return subject.startswith(("channel:", "team:"))


def check_grant(subject: Subject, *, include_external: bool) -> None:
    """Raises `InvalidSubject` where including outsiders would mean nothing: they are readers of channels only."""
    if include_external and not is_channel(subject):
        raise InvalidSubject(subject, "is no channel or team, and only those can include external people")
