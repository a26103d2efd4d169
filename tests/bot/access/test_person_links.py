"""People with ids in several products: what links open, and when they do not."""

from dataclasses import dataclass, replace

import pytest

from bot.application import Application
from bot.ids import OPERATOR, PersonId, Subject
from bot.settings import Settings, load_settings
from bot.surface.directory import PersonProfile
from bot.surface.inbound import ChannelAudience, PrivateAudience
from storage.search.subjects import email_subject_for
from tests.bot.access.test_audience_scope import grant_receipts, sees_receipts
from tests.bot.fakes import FakeChat, PartialSurface
from tests.builders import TENANT
from tests.stored_rows import list_audit_entries

ON_SLACK, ON_TEAMS = PersonId("slack:T1:ANN"), PersonId("teams:tenant:ann")
SLACK_GROUP = Subject("group:slack:T1:S1")


@dataclass(frozen=True, kw_only=True)
class ListedPerson:
    is_guest: bool = False
    is_deactivated: bool = False
    groups: frozenset[Subject] = frozenset()
    email: str = ""


class PeopleList:
    """Fulfils `bot.surface.directory.Directory` for the people that it lists; others are unknown."""

    def __init__(self, **people: ListedPerson) -> None:
        self.people = {PersonId(person.replace("_", ":")): listed for person, listed in people.items()}

    async def load_person_profile(self, person: PersonId) -> PersonProfile | None:
        listed = self.people.get(person)
        return None if listed is None else PersonProfile(name="Ann", verified_email=listed.email)

    async def refresh_private_audience(self, audience: PrivateAudience) -> PrivateAudience:
        listed = self.people.get(audience.person, ListedPerson(is_guest=True))
        return replace(audience, is_guest=listed.is_guest, is_deactivated=listed.is_deactivated, subjects=listed.groups)

    async def refresh_channel_audience(self, audience: ChannelAudience) -> ChannelAudience:
        return audience

    async def is_channel_reader(self, person: PersonId, channel: Subject) -> bool | None:
        return None


@pytest.fixture
def slack(bot: Application, chat: FakeChat) -> PeopleList:
    people = PeopleList(slack_T1_ANN=ListedPerson(groups=frozenset({SLACK_GROUP})))
    bot.register_surface(PartialSurface(name="slack", outbox=chat, directory=people))
    return people


@pytest.fixture
def teams(bot: Application, chat: FakeChat) -> PeopleList:
    people = PeopleList(teams_tenant_ann=ListedPerson())
    bot.register_surface(PartialSurface(name="teams", outbox=chat, directory=people))
    return people


async def link_both(bot: Application) -> None:
    assert await bot.person_links.link_persons(ON_SLACK, ON_TEAMS, by=OPERATOR)


async def sees_in_teams(bot: Application) -> bool:
    return await sees_receipts(bot, PrivateAudience(person=ON_TEAMS, is_guest=True))


@pytest.mark.parametrize("subject", [f"user:{ON_SLACK}", SLACK_GROUP, "group:staff"])
async def test_grants_of_one_id_and_its_groups_count_for_the_other(
    bot: Application, slack: PeopleList, teams: PeopleList, subject: str
) -> None:
    await bot.groups.create_group("staff", "Staff", by="test")
    await bot.groups.add_group_member("staff", ON_SLACK, by="test")
    await grant_receipts(bot, subject)
    assert not await sees_in_teams(bot)

    await link_both(bot)

    assert await sees_in_teams(bot)
    assert await bot.person_links.unlink_person(ON_TEAMS, by=OPERATOR)
    assert not await sees_in_teams(bot)


async def test_links_count_in_both_directions_and_never_in_channels(
    bot: Application, slack: PeopleList, teams: PeopleList
) -> None:
    await grant_receipts(bot, f"user:{ON_TEAMS}")
    await link_both(bot)

    assert await sees_receipts(bot, PrivateAudience(person=ON_SLACK, is_guest=True))
    assert not await sees_receipts(bot, PrivateAudience(person=PersonId("slack:T1:BOB"), is_guest=True))


async def test_an_admin_under_one_id_is_an_admin_under_the_other(
    bot: Application, slack: PeopleList, teams: PeopleList
) -> None:
    await bot.administration.add_admin(ON_SLACK, by=OPERATOR)
    await link_both(bot)

    assert await bot.administration.is_admin(ON_TEAMS)
    slack.people[ON_SLACK] = ListedPerson(is_deactivated=True)
    assert not await bot.administration.is_admin(ON_TEAMS)


@pytest.mark.parametrize("changed", [ListedPerson(is_guest=True), ListedPerson(is_deactivated=True), None])
@pytest.mark.parametrize("side", ["slack", "teams"])
async def test_a_guest_a_former_member_and_an_unknown_person_have_no_links(
    bot: Application, slack: PeopleList, teams: PeopleList, changed: ListedPerson | None, side: str
) -> None:
    await grant_receipts(bot, f"user:{ON_SLACK}")
    await link_both(bot)
    people, person = (slack, ON_SLACK) if side == "slack" else (teams, ON_TEAMS)
    people.people.pop(person)
    if changed is not None:
        people.people[person] = changed

    assert not await sees_in_teams(bot)


async def test_a_product_that_is_not_set_up_here_adds_nothing(bot: Application, teams: PeopleList) -> None:
    await grant_receipts(bot, f"user:{ON_SLACK}")
    await link_both(bot)

    assert not await sees_in_teams(bot)
    local = PersonId("local:ann")
    await bot.person_links.link_persons(local, ON_TEAMS, by=OPERATOR)
    await grant_receipts(bot, f"user:{local}")
    assert await sees_in_teams(bot)


async def test_the_links_of_more_than_two_ids_are_one(bot: Application) -> None:
    local, other = PersonId("local:ann"), PersonId("local:annie")
    links = bot.person_links
    await link_both(bot)
    assert await links.link_persons(local, other, by=OPERATOR)
    assert await links.link_persons(local, ON_TEAMS, by=OPERATOR)
    assert not await links.link_persons(other, ON_SLACK, by=OPERATOR)
    assert not await links.link_persons(local, local, by=OPERATOR)

    assert await links.list_linked_persons() == [[local, other, ON_SLACK, ON_TEAMS]]
    assert await links.find_linked_persons(local) == {other, ON_SLACK, ON_TEAMS}
    for person in (local, other):
        assert await links.unlink_person(person, by=OPERATOR)
        assert not await links.unlink_person(person, by=OPERATOR)
    assert await links.unlink_person(ON_SLACK, by=OPERATOR)
    assert await links.list_linked_persons() == []
    entries = await list_audit_entries(bot.database)
    assert [entry.action for entry in entries] == ["person.unlink"] * 3 + ["person.link"] * 3


# -- e-mail addresses


async def write_in_both(bot: Application) -> None:
    for person in (ON_SLACK, ON_TEAMS):
        await bot.access.scope_for_audience(PrivateAudience(person=person, is_guest=True))


def give_emails(slack: PeopleList, teams: PeopleList, on_slack: str, on_teams: str) -> None:
    slack.people[ON_SLACK] = ListedPerson(email=on_slack)
    teams.people[ON_TEAMS] = ListedPerson(email=on_teams)


async def test_the_same_address_links_nobody_unless_it_is_switched_on(
    bot: Application, slack: PeopleList, teams: PeopleList
) -> None:
    give_emails(slack, teams, "ann@example.org", "ann@example.org")
    await grant_receipts(bot, f"user:{ON_SLACK}")
    await write_in_both(bot)

    assert not await sees_in_teams(bot)
    scope = await bot.access.scope_for_audience(PrivateAudience(person=ON_SLACK, is_guest=True))
    assert email_subject_for("ann@example.org") not in scope.subjects


class TestLinkingByEmail:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        environ = {"PARLEY_TENANT": TENANT, "PARLEY_EMBEDDER": "none", "PARLEY_LINK_BY_EMAIL": "true"}
        return load_settings(settings.home, environ).settings

    @pytest.mark.parametrize(
        ("on_slack", "on_teams", "are_linked"),
        [
            ("ann@example.org", "Ann@Example.org ", True),
            ("ann@example.org", "anne@example.org", False),
            ("", "", False),
            ("ann@example.org", "", False),
        ],
    )
    async def test_the_same_verified_address_is_the_same_person_once_both_ids_wrote(
        self, bot: Application, slack: PeopleList, teams: PeopleList, on_slack: str, on_teams: str, are_linked: bool
    ) -> None:
        give_emails(slack, teams, on_slack, on_teams)
        await grant_receipts(bot, f"user:{ON_SLACK}")
        assert not await sees_in_teams(bot)

        await write_in_both(bot)

        assert await sees_in_teams(bot) is are_linked
        assert await bot.person_links.list_linked_persons() == []

    @pytest.mark.parametrize(
        "changed",
        [
            ListedPerson(email="other@example.org"),
            ListedPerson(),
            ListedPerson(email="ann@example.org", is_guest=True),
            ListedPerson(email="ann@example.org", is_deactivated=True),
        ],
    )
    async def test_the_address_must_be_the_same_at_this_moment(
        self, bot: Application, slack: PeopleList, teams: PeopleList, changed: ListedPerson
    ) -> None:
        give_emails(slack, teams, "ann@example.org", "ann@example.org")
        await grant_receipts(bot, f"user:{ON_SLACK}")
        await write_in_both(bot)
        assert await sees_in_teams(bot)

        slack.people[ON_SLACK] = changed

        assert not await sees_in_teams(bot)

    async def test_an_address_that_is_gone_is_forgotten(
        self, bot: Application, slack: PeopleList, teams: PeopleList
    ) -> None:
        give_emails(slack, teams, "ann@example.org", "ann@example.org")
        await write_in_both(bot)

        assert await bot.person_links.find_persons_of_same_email(ON_TEAMS) == {ON_SLACK}
        give_emails(slack, teams, "", "ann@example.org")
        await write_in_both(bot)
        assert await bot.person_links.find_persons_of_same_email(ON_TEAMS) == frozenset()

    @pytest.mark.parametrize(
        ("listed", "is_reader"),
        [
            (ListedPerson(email=" Ann@example.org"), True),
            (ListedPerson(email="other@example.org"), False),
            (ListedPerson(email=""), False),
            (ListedPerson(email="ann@example.org", is_guest=True), False),
            (ListedPerson(email="ann@example.org", is_deactivated=True), False),
        ],
    )
    async def test_documents_for_an_address_are_for_the_full_member_who_has_it_now(
        self, bot: Application, slack: PeopleList, listed: ListedPerson, is_reader: bool
    ) -> None:
        slack.people[ON_SLACK] = listed

        scope = await bot.access.scope_for_audience(PrivateAudience(person=ON_SLACK, is_guest=True))

        assert (email_subject_for("ann@example.org") in scope.subjects) is is_reader
