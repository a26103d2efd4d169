"""Who people are and who reads a channel, as the chat product says at this moment.

An inbound is stored with ids alone, so that nothing has to be looked up before it is acknowledged; what the ids mean is
asked when a turn runs, at each page of an export, and at a download.
"""

from dataclasses import dataclass, replace
from typing import Protocol, assert_never

from bot.ids import PersonId, Subject
from bot.inbound import Audience, Inbound, Operator, Private, Shared


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How a person is called, as the product writes it (data, to be escaped), and how they read."""

    name: str
    locale: str
    time_zone: str  # IANA


class Directory(Protocol):
    """Of one chat product. May answer from what it heard within the last minute.

    Never raises for a product that does not answer: what is not known closes.
    """

    async def profile(self, person: PersonId) -> Profile | None:
        """None where the product cannot say."""
        ...

    async def private(self, audience: Private) -> Private:
        """The same person, with what they are now: guest, gone, in which groups."""
        ...

    async def shared(self, audience: Shared) -> Shared:
        """The same channel, with who reads it now."""
        ...

    async def reads(self, person: PersonId, channel: Subject) -> bool | None:
        """Whether the person reads the channel now. None where the product cannot say."""
        ...


class Directories:
    """Of all products, each asked for its own people and channels. Others stay as they were given."""

    def __init__(self) -> None:
        self._by_product: dict[str, Directory] = {}

    def ask(self, product: str, directory: Directory) -> None:
        """`product`: `slack`, `teams`: the first part of a person's id."""
        self._by_product[product] = directory

    async def now(self, audience: Audience) -> Audience:
        """Whoever it was stored as, as they are now."""
        if isinstance(audience, Operator):
            return audience
        if isinstance(audience, Shared):
            directory = self._by_product.get(audience.channel.split(":")[1])
            return audience if directory is None else await directory.shared(audience)
        directory = self._of(audience.person)
        return audience if directory is None else await directory.private(audience)

    async def reads(self, person: PersonId, audience: Audience) -> bool | None:
        """Whether the person is (still) among the audience. None where the product cannot say."""
        match audience:
            case Operator():
                return True
            case Private(person=only):
                return person == only
            case Shared(channel=channel):
                directory = self._by_product.get(channel.split(":")[1])
                return True if directory is None else await directory.reads(person, channel)
            case _:
                assert_never(audience)

    async def present(self, inbound: Inbound) -> Inbound:
        """The inbound with its audience as it is now, and its person as the product describes them."""
        directory = self._of(inbound.person)
        profile = None if directory is None else await directory.profile(inbound.person)
        known = replace(inbound, audience=await self.now(inbound.audience))
        if profile is None:
            return known
        return replace(known, name=profile.name, locale=profile.locale, time_zone=profile.time_zone)

    def _of(self, person: PersonId) -> Directory | None:
        return self._by_product.get(person.partition(":")[0])
