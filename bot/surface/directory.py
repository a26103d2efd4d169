"""People and channel readers, as the chat product reports them at this moment.

An inbound is stored with ids alone, so that it can be acknowledged without a lookup. The ids are looked up when a turn
runs, at each page of an export, and at a download.
"""

from dataclasses import dataclass
from typing import Protocol

from bot.ids import PersonId, Subject
from bot.surface.inbound import ChannelAudience, PrivateAudience


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonProfile:
    """A person's name as the product writes it (data, to be escaped), and their locale and time zone.

    None: the product says them with each message alone, so those of the inbound hold.
    """

    name: str
    locale: str | None = None
    time_zone: str | None = None  # IANA
    verified_email: str = ""  # of a full member, whose address the product or its administrators have verified


class Directory(Protocol):
    """The people and channels of one chat product. May answer from a cache of the last minute.

    Never raises when the product does not answer: what is unknown grants nothing.
    """

    async def load_person_profile(self, person: PersonId) -> PersonProfile | None:
        """None where the product cannot say."""
        ...

    async def refresh_private_audience(self, audience: PrivateAudience) -> PrivateAudience:
        """The same person with their present status: guest, deactivated, groups."""
        ...

    async def refresh_channel_audience(self, audience: ChannelAudience) -> ChannelAudience:
        """The same channel with its present readers."""
        ...

    async def is_channel_reader(self, person: PersonId, channel: Subject) -> bool | None:
        """Whether the person reads the channel now; a deactivated person does not. None where the product cannot
        say.
        """
        ...
