"""The Messages tab suggests questions about the person's own buckets, and messages there are answered there."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from storage.search.ids import BucketId
from storage.search.schema import Schema
from tests.adapters.slack.office import SlackOffice, open_slack_office
from tests.stand_ins.slack.server import Fault, SlackServer
from tests.stand_ins.slack.workspace import TEAM, SlackChannel, SlackMember

NOTHING_YET = [{"title": "What can I ask?", "message": "What can you answer?"}]


@pytest.fixture
async def office(slack: SlackServer, tmp_path: Path) -> AsyncIterator[SlackOffice]:
    async with open_slack_office(slack, tmp_path / "home") as office:
        yield office


async def test_prompts_come_from_the_persons_own_buckets(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, bob: SlackMember
) -> None:
    await office.bot.index.set_schema(Schema(bucket=BucketId("salaries"), title="Salaries"))
    await office.grant_receipts(f"user:slack:{TEAM}:{ada.id}")

    delivered = [await slack.open_home(user, "messages") for user in (ada, bob)]

    assert [delivery.statuses for delivery in delivered] == [[200], [200]]
    prompts_of_ada, prompts_of_bob = (
        slack.workspace.prompts[slack.workspace.direct_channel_of(user.id).id] for user in (ada, bob)
    )
    [prompt] = prompts_of_ada
    assert "receipt" in prompt["message"].casefold()
    assert prompts_of_bob == NOTHING_YET


async def test_at_most_four_prompts_are_offered(office: SlackOffice, slack: SlackServer, ada: SlackMember) -> None:
    for number in range(6):
        bucket = BucketId(f"b{number}")
        await office.bot.index.set_schema(Schema(bucket=bucket, title="<!channel> " * 40))
        await office.bot.grants.grant_bucket_access(bucket, "everyone", by="operator")  # pyright: ignore[reportArgumentType]

    await slack.open_home(ada, "messages")

    assert len(slack.workspace.prompts[slack.workspace.direct_channel_of(ada.id).id]) == 4


async def test_a_grant_to_a_channel_adds_no_prompts(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, general: SlackChannel
) -> None:
    await office.grant_receipts_to_channel(general)

    await slack.open_home(ada, "messages")

    assert slack.workspace.prompts[slack.workspace.direct_channel_of(ada.id).id] == NOTHING_YET


async def test_a_deactivated_person_gets_no_prompts(office: SlackOffice, slack: SlackServer, ada: SlackMember) -> None:
    await office.grant_receipts(f"user:slack:{TEAM}:{ada.id}")
    await slack.change_user_fields(ada, deleted=True)

    await slack.open_home(ada, "messages")

    assert slack.workspace.prompts[slack.workspace.direct_channel_of(ada.id).id] == NOTHING_YET


async def test_the_event_is_acknowledged_when_slack_refuses_the_prompts(
    office: SlackOffice, slack: SlackServer, ada: SlackMember
) -> None:
    slack.plan_faults("assistant.threads.setSuggestedPrompts", Fault(status=429, retry_after=60))

    delivered = await slack.open_home(ada, "messages")

    assert delivered.statuses == [200]
    assert slack.workspace.prompts == {}


async def test_the_home_tab_has_no_prompts(office: SlackOffice, slack: SlackServer, ada: SlackMember) -> None:
    await slack.open_home(ada)

    assert slack.workspace.prompts == {}
    assert ada.id in slack.workspace.homes


async def test_each_message_in_the_tab_begins_its_own_thread(
    office: SlackOffice, slack: SlackServer, ada: SlackMember
) -> None:
    await office.grant_receipts(f"user:slack:{TEAM}:{ada.id}")
    direct = slack.workspace.direct_channel_of(ada.id)

    questions = [(await slack.post_as_person(ada, direct, "List every receipt"))[0] for _ in range(2)]
    await office.wait_for_answer(2)

    assert {answer.thread_ts for answer in office.posted_answers()} == {question.ts for question in questions}
