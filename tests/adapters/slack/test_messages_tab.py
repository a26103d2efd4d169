"""The Messages tab: opened, it offers questions that the person alone may ask; words there are answered there."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from storage.search.ids import BucketId
from storage.search.schema import Schema
from tests.adapters.slack.office import Office, an_office
from tests.stand_ins.slack.server import Fault, SlackServer
from tests.stand_ins.slack.workspace import TEAM, Channel, User

NOTHING_YET = [{"title": "What can I ask?", "message": "What can you answer?"}]


@pytest.fixture
async def office(slack: SlackServer, tmp_path: Path) -> AsyncIterator[Office]:
    async with an_office(slack, tmp_path / "home") as office:
        yield office


async def test_prompts_come_from_what_the_person_alone_may_see(
    office: Office, slack: SlackServer, ada: User, bob: User
) -> None:
    await office.bot.index.set_schema(Schema(bucket=BucketId("salaries"), title="Salaries"))
    await office.grant(f"user:slack:{TEAM}:{ada.id}")

    delivered = [await slack.open_home(user, "messages") for user in (ada, bob)]

    assert [one.statuses for one in delivered] == [[200], [200]]
    hers, his = (slack.workspace.prompts[slack.workspace.direct(user.id).id] for user in (ada, bob))
    [prompt] = hers
    assert "receipt" in prompt["message"].casefold()
    assert his == NOTHING_YET


async def test_at_most_four_prompts_are_offered(office: Office, slack: SlackServer, ada: User) -> None:
    for number in range(6):
        bucket = BucketId(f"b{number}")
        await office.bot.index.set_schema(Schema(bucket=bucket, title="<!channel> " * 40))
        await office.bot.grants.grant(bucket, "everyone", by="operator")  # pyright: ignore[reportArgumentType]

    await slack.open_home(ada, "messages")

    assert len(slack.workspace.prompts[slack.workspace.direct(ada.id).id]) == 4


async def test_a_grant_to_a_channel_suggests_nothing_in_private(
    office: Office, slack: SlackServer, ada: User, general: Channel
) -> None:
    await office.open_channel(general)

    await slack.open_home(ada, "messages")

    assert slack.workspace.prompts[slack.workspace.direct(ada.id).id] == NOTHING_YET


async def test_somebody_deactivated_is_suggested_nothing(office: Office, slack: SlackServer, ada: User) -> None:
    await office.grant(f"user:slack:{TEAM}:{ada.id}")
    await slack.change_user(ada, deleted=True)

    await slack.open_home(ada, "messages")

    assert slack.workspace.prompts[slack.workspace.direct(ada.id).id] == NOTHING_YET


async def test_prompts_that_slack_does_not_take_are_not_delivered_again(
    office: Office, slack: SlackServer, ada: User
) -> None:
    slack.fail("assistant.threads.setSuggestedPrompts", Fault(status=429, retry_after=60))

    delivered = await slack.open_home(ada, "messages")

    assert delivered.statuses == [200]
    assert slack.workspace.prompts == {}


async def test_the_home_tab_has_no_prompts(office: Office, slack: SlackServer, ada: User) -> None:
    await slack.open_home(ada)

    assert slack.workspace.prompts == {}
    assert ada.id in slack.workspace.homes


async def test_each_message_in_the_tab_begins_a_thread_of_its_own(
    office: Office, slack: SlackServer, ada: User
) -> None:
    await office.grant(f"user:slack:{TEAM}:{ada.id}")
    direct = slack.workspace.direct(ada.id)

    asked = [(await slack.say(ada, direct, "List every receipt"))[0] for _ in range(2)]
    await office.answer(2)

    assert {one.thread_ts for one in office.answers()} == {one.ts for one in asked}
