"""What some chat surfaces can do and others cannot. A scenario names what it needs; elsewhere it is skipped by name."""

from enum import StrEnum


class SurfaceAbility(StrEnum):
    """The value completes the sentence "The surface has no …"."""

    PEOPLE = "second person with rights of their own"
    CHANNELS = "channels"
    GUESTS = "guests"
    DEACTIVATION = "people who can be deactivated"
    REPEATED_DELIVERIES = "deliveries that come again"
    CHANGED_MESSAGES = "messages that can be changed after they were sent"
    EDITS = "messages that people can edit or delete"
    ATTACHMENTS = "attached files"
    MEDIA_TYPES = "media types of attached files"
    REMOVABLE_ATTACHMENTS = "files that can be taken off a message that stays"
    CHANNEL_ATTACHMENTS = "files that people attach in channels"
    PRIVATE_NOTICES = "notices in a channel that only one person sees"
    PRIVATE_THREADS = "threads in a private chat"
    PRIVATE_CONTINUATION = "questions that go on in a private chat"
    REMOVAL = "app that can be removed from it"
