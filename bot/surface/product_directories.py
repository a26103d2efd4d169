"""Looks people and channel readers up in the directory of their product."""

from dataclasses import replace
from typing import Final, assert_never

from bot.ids import PersonId, Subject
from bot.person_links import PersonLinks, fold_email
from bot.surface.directory import Directory, PersonProfile
from bot.surface.inbound import Audience, ChannelAudience, Inbound, OperatorAudience, PrivateAudience
from bot.surface.surface_registry import SurfaceRegistry
from storage.search.subjects import email_subject_for

_MAX_LINKED_PERSONS: Final = 10  # further ids of a person do not count
_LOCAL_PREFIX: Final = "local:"


class ProductDirectories:
    """The directories of all products. People and channels of a product without a directory stay as they are given."""

    def __init__(self, surfaces: SurfaceRegistry, links: PersonLinks | None = None) -> None:
        """A product's surface has the product's name: `slack` or `teams`, the first part of a person's id."""
        self._surfaces, self._links = surfaces, links

    async def load_person_profile(self, person: PersonId) -> PersonProfile | None:
        """None where the product cannot say, and for people of no product."""
        directory = self._directory_of_person(person)
        return None if directory is None else await directory.load_person_profile(person)

    async def refresh_audience(self, audience: Audience) -> Audience:
        """The stored audience with its present status and readers."""
        if isinstance(audience, OperatorAudience):
            return audience
        if isinstance(audience, ChannelAudience):
            directory = self._directory_of_channel(audience.channel)
            return audience if directory is None else await directory.refresh_channel_audience(audience)
        directory = self._directory_of_person(audience.person)
        refreshed = audience if directory is None else await directory.refresh_private_audience(audience)
        return await self._add_linked_subjects(refreshed, directory)

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
        profile = await self.load_person_profile(inbound.person)
        refreshed = replace(inbound, audience=await self.refresh_audience(inbound.audience))
        if profile is None:
            return refreshed
        return replace(
            refreshed,
            person_name=profile.name,
            locale=profile.locale or inbound.locale,
            time_zone=profile.time_zone or inbound.time_zone,
        )

    async def _add_linked_subjects(self, audience: PrivateAudience, directory: Directory | None) -> PrivateAudience:
        """Adds the ids and groups that the person has elsewhere, and the verified address as a reader of documents.

        Links count for full members alone, on both sides.
        """
        if self._links is None or audience.is_guest or audience.is_deactivated:
            return audience
        persons, subjects = set(await self._links.find_linked_persons(audience.person)), audience.subjects
        if self._links.uses_email and directory is not None:
            email = await _load_email(directory, audience.person)
            persons |= await self._find_persons_of_same_email(audience.person, email, self._links)
            subjects |= frozenset({email_subject_for(email)} if email else ())
        for person in sorted(persons)[:_MAX_LINKED_PERSONS]:
            subjects |= await self._subjects_of_linked_person(person, may_be_unchecked=directory is None)
        return replace(audience, subjects=subjects - {Subject(f"user:{audience.person}")})

    async def _find_persons_of_same_email(self, person: PersonId, email: str, links: PersonLinks) -> set[PersonId]:
        """The ids whose product reports the same verified address at this moment."""
        found: set[PersonId] = set()
        for other in sorted(await links.find_persons_of_email(person, email))[:_MAX_LINKED_PERSONS]:
            other_directory = self._directory_of_person(other)
            if other_directory is not None and await _load_email(other_directory, other) == email:
                found.add(other)
        return found

    async def _subjects_of_linked_person(self, person: PersonId, *, may_be_unchecked: bool) -> frozenset[Subject]:
        """The id and the groups of a full member. `may_be_unchecked`: the person's own id has no directory either."""
        directory = self._directory_of_person(person)
        if directory is None:
            is_counted = may_be_unchecked or person.startswith(_LOCAL_PREFIX)
            return frozenset({Subject(f"user:{person}")}) if is_counted else frozenset()
        linked = await directory.refresh_private_audience(PrivateAudience(person=person, is_guest=True))
        if linked.is_guest or linked.is_deactivated:
            return frozenset()
        return linked.subjects | {Subject(f"user:{person}")}

    def _directory_of_person(self, person: PersonId) -> Directory | None:
        return self._surfaces.directory_for(person.partition(":")[0])

    def _directory_of_channel(self, channel: Subject) -> Directory | None:
        return self._surfaces.directory_for(channel.split(":")[1])


async def _load_email(directory: Directory, person: PersonId) -> str:
    profile = await directory.load_person_profile(person)
    return "" if profile is None else fold_email(profile.verified_email)
