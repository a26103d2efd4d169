"""Objects that occur in several payloads of Slack.

Every model of this folder has the fields that Parley reads, and ignores those that Slack adds.
"""

from pydantic import BaseModel


class ObjectReference(BaseModel):
    """An object of which only the id is read."""

    id: str


class UserReference(BaseModel):
    id: str
    team_id: str | None = None


class SlackFile(BaseModel):
    """A file. In channels shared between organisations, Slack sends only its id (`file_access`: `check_file_info`).

    For a deleted file, Slack sends only the id, too.
    """

    id: str
    name: str | None = None
    mimetype: str | None = None
    mode: str | None = None
    size: int | None = None
    permalink: str | None = None


class EnclosedMessage(BaseModel):
    """A message inside of a payload: before or after a change, or the message that a shortcut was used on."""

    ts: str
    text: str = ""
    user: str | None = None
    user_team: str | None = None
    team: str | None = None
    thread_ts: str | None = None
    bot_id: str | None = None
    subtype: str | None = None
    files: list[SlackFile] = []


def id_of_reference(reference: ObjectReference | str | None) -> str | None:
    """Returns the id of an object that Slack sends as an object or as its id alone."""
    return reference.id if isinstance(reference, ObjectReference) else reference
