"""Reads the form of a grant, and people who are typed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from adapters.teams.addresses import person_id_of
from adapters.teams.administration.submissions import TICKED_VALUE, AdminSubmission
from adapters.teams.administration.teams_links import read_channel_link
from bot.access.subjects import is_channel_subject, parse_person, parse_subject
from bot.admin.administration import LocalGroup
from bot.admin.sentences import CHANNEL_MISSING, GROUP_MISSING, SUBJECT_MISSING, opaque_key_of
from bot.errors import InvalidSubject
from bot.ids import EVERYONE, PersonId, Subject

_OBJECT_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
NOT_A_PERSON: Final = (
    "This is not a person: write the object ID from Microsoft Entra, or an id such as slack:T1:U1 or local:NAME."
)
NOT_A_CHANNEL: Final = "This is not a channel, group chat or team of this organisation: paste its link from Teams."


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantForm:
    """Whom a form names. With `errors`, nothing of it is granted."""

    subjects: Sequence[Subject]
    channel: Subject | None  # among the subjects; `include_external` is for it alone
    include_external: bool
    errors: Sequence[str]


def read_grant_form(submission: AdminSubmission, tenant: str, groups: Sequence[LocalGroup]) -> GrantForm:
    subjects: list[Subject] = [EVERYONE] if submission.everyone == TICKED_VALUE else []
    errors: list[str] = []
    channel = _read_channel(submission.typed_channel, tenant) if submission.typed_channel else None
    if submission.typed_person:
        person = read_typed_person(submission.typed_person, tenant)
        subjects += [] if person is None else [Subject(f"user:{person}")]
        errors += [NOT_A_PERSON] if person is None else []
    if submission.typed_channel:
        subjects += [] if channel is None else [channel]
        errors += [NOT_A_CHANNEL] if channel is None else []
    if submission.group:
        group = next((group for group in groups if submission.group in (opaque_key_of(group.id), group.id)), None)
        subjects += [] if group is None else [parse_subject(f"group:{group.id}")]
        errors += [GROUP_MISSING] if group is None else []
    include_external = submission.external == TICKED_VALUE
    if include_external and not submission.typed_channel:
        errors.append(CHANNEL_MISSING)
    if not subjects and not errors:
        errors.append(SUBJECT_MISSING)
    return GrantForm(subjects=subjects, channel=channel, include_external=include_external, errors=errors)


def read_typed_person(text: str, tenant: str) -> PersonId | None:
    """The person of an object ID within `tenant`, or of a whole id. None where the text is neither."""
    if _OBJECT_ID.fullmatch(text):
        return person_id_of(tenant, text.lower())
    if ":" not in text:
        return None
    try:
        return parse_person(text.removeprefix("user:"))
    except InvalidSubject:
        return None


def _read_channel(text: str, tenant: str) -> Subject | None:
    """A channel, group chat or team of a link from Teams, or of a whole subject."""
    linked = read_channel_link(text, tenant)
    if linked is not None:
        return linked
    try:
        subject = parse_subject(text)
    except InvalidSubject:
        return None
    return subject if is_channel_subject(subject) else None
