"""Names of people for pages."""

import asyncio

from bot.admin.person_names import load_person_names
from bot.ids import PersonId
from bot.surface.directory import PersonProfile

ADA, BEN = PersonId("slack:T1:U1ADA"), PersonId("slack:T1:U2BEN")


class AddressList:
    """Knows Ada, and counts the look-ups."""

    def __init__(self) -> None:
        self.looked_up: list[PersonId] = []

    async def load_person_profile(self, person: PersonId) -> PersonProfile | None:
        self.looked_up.append(person)
        await asyncio.sleep(0)
        return PersonProfile(name="Ada Finch") if person == ADA else None


async def test_people_without_a_name_are_left_out_and_each_is_looked_up_once() -> None:
    profiles = AddressList()

    names = await load_person_names([ADA, BEN, ADA], profiles)

    assert names == {ADA: "Ada Finch"}
    assert profiles.looked_up == [ADA, BEN]


async def test_a_hundred_people_are_looked_up_at_most() -> None:
    profiles = AddressList()

    await load_person_names([PersonId(f"slack:T1:U{number}") for number in range(250)], profiles)

    assert len(profiles.looked_up) == 100
