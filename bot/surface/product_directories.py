"""Looks people and channel readers up in the directory of their product."""

from dataclasses import replace
from typing import assert_never

from bot.ids import PersonId, Subject
from bot.surface.directory import Directory
from bot.surface.inbound import Audience, ChannelAudience, Inbound, OperatorAudience, PrivateAudience
from bot.surface.surface_registry import SurfaceRegistry


class ProductDirectories:
    """The directories of all products. People and channels of a product without a directory stay as they are given."""

    def __init__(self, surfaces: SurfaceRegistry) -> None:
        """A product's surface has the product's name: `slack` or `teams`, the first part of a person's id."""
        self._surfaces = surfaces

    async def refresh_audience(self, audience: Audience) -> Audience:
        """The stored audience with its present status and readers."""
        if isinstance(audience, OperatorAudience):
            return audience
        if isinstance(audience, ChannelAudience):
            directory = self._directory_of_channel(audience.channel)
            return audience if directory is None else await directory.refresh_channel_audience(audience)
        directory = self._directory_of_person(audience.person)
        return audience if directory is None else await directory.refresh_private_audience(audience)

    async def is_audience_member(self, person: PersonId, audience: Audience) -> bool | None:
        """Whether the person is (still) among the audience. None where the product cannot say."""
        match audience:
            case OperatorAudience():
                return True
            case PrivateAudience(person=member):
                return person == member
            case ChannelAudience(channel=channel):
                directory = self._directory_of_channel(channel)
                return True if directory is None else await directory.is_channel_reader(person, channel)
            case _:
                assert_never(audience)

    async def refresh_inbound(self, inbound: Inbound) -> Inbound:
        """The inbound with its present audience, and with its person's profile."""
        directory = self._directory_of_person(inbound.person)
        profile = None if directory is None else await directory.load_person_profile(inbound.person)
        refreshed = replace(inbound, audience=await self.refresh_audience(inbound.audience))
        if profile is None:
            return refreshed
        return replace(refreshed, person_name=profile.name, locale=profile.locale, time_zone=profile.time_zone)

    def _directory_of_person(self, person: PersonId) -> Directory | None:
        return self._surfaces.directory_for(person.partition(":")[0])

    def _directory_of_channel(self, channel: Subject) -> Directory | None:
        return self._surfaces.directory_for(channel.split(":")[1])
