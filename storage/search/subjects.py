"""The syntax of persons and subjects, as grants, reader lists and admin lists name them."""

import hashlib
import re
from typing import Final

from storage.search.ids import Subject

_NAME = r"[^\s:\x00-\x1f]{1,200}"
_TEAMS_ID = r"[^\s\x00-\x1f]{1,300}"  # Teams' own ids hold colons: `19:…@thread.tacv2`
PERSON_PATTERN = re.compile(rf"slack:{_NAME}:{_NAME}|teams:{_NAME}:{_TEAMS_ID}|local:{_NAME}")
SUBJECT_PATTERN = re.compile(
    rf"everyone|user:(?:{PERSON_PATTERN.pattern})|channel:slack:{_NAME}:{_NAME}|channel:teams:{_NAME}:{_TEAMS_ID}"
    rf"|team:teams:{_NAME}:{_TEAMS_ID}|group:slack:{_NAME}:{_NAME}|group:teams:{_NAME}:{_TEAMS_ID}|group:{_NAME}"
)
NOBODY: Final = Subject("nobody")
"""The reader of a document that nobody may read. It is not a subject that a grant could name."""


def email_subject_for(email: str) -> Subject:
    """Returns the subject of all who have this verified address, in a form that does not show it.

    A scope has it where `PARLEY_LINK_BY_EMAIL` is on; a grant cannot name it.
    """
    return Subject(f"email:{hashlib.sha256(email.strip().casefold().encode()).hexdigest()}")
