"""Streams end as in Slack, and methods have rate limits per minute."""

from typing import Any

import aiohttp
import pytest

from tests.stand_ins.slack.conftest import RecordingApp, WebApiClient
from tests.stand_ins.slack.server import TOKEN, SlackServer
from tests.stand_ins.slack.workspace import TEAM, SlackMember, SlackMessage


def a_task(**more: Any) -> dict[str, Any]:
    return {"type": "task_update", "id": "1", "title": "Looking", "status": "in_progress", **more}


@pytest.fixture
async def question(slack: SlackServer, ada: SlackMember) -> SlackMessage:
    message, _ = await slack.post_as_person(ada, slack.workspace.channels["C2"], "unheard")
    slack.workspace.channels["C1"].members.append("U2")
    message.channel = "C1"
    return message


class Streamer:
    """Calls the stream methods for Ada, in the thread of her question."""

    def __init__(self, client: WebApiClient, question: SlackMessage) -> None:
        self._client, self._question = client, question
        self.ts = ""

    async def start(self, **more: Any) -> dict[str, Any]:
        recipient: dict[str, Any] = {
            "recipient_user_id": "U1",
            "recipient_team_id": TEAM,
            "thread_ts": self._question.ts,
        }
        arguments = {name: value for name, value in {"channel": "C1", **recipient, **more}.items() if value is not None}
        response = await self._client.call_method("chat.startStream", as_json=True, **arguments)
        self.ts = response.get("ts", "")
        return response

    async def append(self, **more: Any) -> dict[str, Any]:
        return await self._client.call_method(
            "chat.appendStream", as_json=True, **{"channel": "C1", "ts": self.ts, **more}
        )

    async def stop(self, **more: Any) -> dict[str, Any]:
        return await self._client.call_method(
            "chat.stopStream", as_json=True, **{"channel": "C1", "ts": self.ts, **more}
        )


@pytest.fixture
def streamer(client: WebApiClient, question: SlackMessage) -> Streamer:
    return Streamer(client, question)


async def test_a_stream_grows_and_ends_as_one_message(slack: SlackServer, streamer: Streamer) -> None:
    await streamer.start(markdown_text="Twelve ")
    await streamer.append(markdown_text="receipts")
    growing = slack.workspace.bot_messages()[0].stream
    await streamer.stop(
        markdown_text=".",
        blocks=[{"type": "divider"}],
        metadata={"event_type": "turn", "event_payload": {"turn": "1"}},
    )

    [message] = slack.workspace.bot_messages()
    assert growing is not None
    assert (message.stream, message.text) == (None, "Twelve receipts.")
    assert [block["type"] for block in message.blocks] == ["markdown", "divider"]
    assert message.metadata is not None


@pytest.mark.parametrize(
    ("left_out", "error"),
    [
        ("recipient_user_id", "missing_recipient_user_id"),
        ("recipient_team_id", "missing_recipient_team_id"),
        ("thread_ts", "invalid_arguments"),
    ],
)
async def test_a_stream_in_a_channel_needs_a_thread_and_a_recipient(
    streamer: Streamer, left_out: str, error: str
) -> None:
    assert (await streamer.start(**{left_out: None}))["error"] == error


async def test_a_recipient_needs_their_own_workspace(streamer: Streamer) -> None:
    assert (await streamer.start(recipient_team_id="T9OTHER"))["error"] == "invalid_arguments"


async def test_a_stream_counts_as_a_new_message_of_its_channel(
    slack: SlackServer, client: WebApiClient, streamer: Streamer
) -> None:
    slack.limits_posts, slack.clock = True, lambda: 1_000.0
    await client.post_message()

    assert (await streamer.start())["error"] == "ratelimited"


async def test_a_stream_in_a_direct_message_needs_no_recipient(
    slack: SlackServer, client: WebApiClient, ada: SlackMember
) -> None:
    direct = slack.workspace.direct_channel_of("U1")
    message, _ = await slack.post_as_person(ada, slack.workspace.channels["C2"], "unheard")
    message.channel = direct.id
    assert (await client.call_method("chat.startStream", channel=direct.id, thread_ts=message.ts))["ok"]


async def test_a_stream_that_slack_ended_accepts_no_more_text(
    slack: SlackServer, streamer: Streamer, question: SlackMessage
) -> None:
    await streamer.start(markdown_text="Twelve")

    assert slack.end_streams(slack.workspace.channels["C1"], question.ts) == [streamer.ts]

    assert (await streamer.append(markdown_text=" more"))["error"] == "message_not_in_streaming_state"
    assert (await streamer.stop())["error"] == "message_not_in_streaming_state"
    assert slack.workspace.bot_messages()[0].text == "Twelve"


async def test_an_idle_stream_ends(slack: SlackServer, streamer: Streamer) -> None:
    now = 1_000.0
    slack.clock = lambda: now
    await streamer.start(markdown_text="Twelve")
    now += 301
    assert (await streamer.append(markdown_text=" more"))["error"] == "message_not_in_streaming_state"


async def test_a_message_can_be_updated_only_after_its_stream_has_ended(
    client: WebApiClient, streamer: Streamer
) -> None:
    await streamer.start(markdown_text="Twelve")
    arguments: dict[str, Any] = {"channel": "C1", "ts": streamer.ts, "text": "Thirteen"}
    update_during_stream = await client.call_method("chat.update", as_json=True, **arguments)
    await streamer.stop()
    update_after_stream = await client.call_method("chat.update", as_json=True, **arguments)

    assert (update_during_stream["error"], update_after_stream["ok"]) == ("streaming_state_conflict", True)


async def test_a_message_without_a_stream_accepts_no_text(client: WebApiClient, streamer: Streamer) -> None:
    streamer.ts = (await client.post_message())["ts"]
    assert (await streamer.append(markdown_text="x"))["error"] == "message_not_in_streaming_state"


async def test_the_total_text_of_a_stream_is_limited(slack: SlackServer, streamer: Streamer) -> None:
    await streamer.start(markdown_text="x" * 12_000)
    assert (await streamer.append(markdown_text="x"))["error"] == "msg_too_long"
    assert len(slack.workspace.bot_messages()[0].text) == 12_000


async def test_tasks_and_plans_are_stored(slack: SlackServer, streamer: Streamer) -> None:
    await streamer.start(chunks=[{"type": "plan_update", "title": "Plan"}, a_task()], task_display_mode="plan")
    await streamer.append(chunks=[a_task(status="complete", output="12"), {"type": "markdown_text", "text": "Twelve"}])

    [task] = slack.workspace.bot_messages()[0].tasks
    assert (task["status"], task["output"]) == ("complete", "12")


@pytest.mark.parametrize(
    "chunk",
    [
        {"type": "shout", "text": "x"},
        {"type": "markdown_text", "text": ""},
        {"type": "markdown_text", "text": "x", "colour": "red"},
        {"type": "plan_update"},
        a_task(status="late"),
        a_task(colour="red"),
        {"type": "task_update", "id": "1", "status": "complete"},
    ],
)
async def test_an_invalid_chunk_is_refused(slack: SlackServer, streamer: Streamer, chunk: dict[str, Any]) -> None:
    await streamer.start()
    response = await streamer.append(chunks=[{"type": "markdown_text", "text": "kept back"}, chunk])
    assert response["error"] == "invalid_chunks"
    assert slack.workspace.bot_messages()[0].text == ""


async def test_an_empty_call_is_refused(streamer: Streamer) -> None:
    await streamer.start()
    assert (await streamer.append())["error"] == "no_text"
    assert (await streamer.stop())["error"] == "no_text"


async def test_blocks_at_the_end_are_checked(streamer: Streamer) -> None:
    await streamer.start(markdown_text="Twelve")
    too_many = await streamer.stop(blocks=[{"type": "divider"}] * 51)
    too_long = await streamer.stop(
        markdown_text="x" * 11_000,
        blocks=[{"type": "section", "text": {"type": "plain_text", "text": "x" * 2_500}}],
    )
    assert (too_many["error"], too_long["error"]) == ("invalid_blocks", "msg_blocks_too_long")


async def test_the_stop_button_ends_the_streams_of_the_thread(
    slack: SlackServer,
    client: WebApiClient,
    streamer: Streamer,
    question: SlackMessage,
    ada: SlackMember,
    app: RecordingApp,
) -> None:
    slack.is_agent, slack.events = True, frozenset({"agent_session_stopped"})
    await client.call_method("agents.sessions.setStatus", channel_id="C1", thread_ts=question.ts, status="processing")
    await streamer.start(markdown_text="Twelve")

    await slack.press_stop(ada, slack.workspace.channels["C1"], question.ts)

    assert app.received[0]["event"]["streaming_message_ts"] == [streamer.ts]
    assert (await streamer.append(markdown_text="x"))["error"] == "message_not_in_streaming_state"


async def test_the_end_of_a_stream_sets_the_session_status(
    slack: SlackServer, streamer: Streamer, question: SlackMessage
) -> None:
    await streamer.start(markdown_text="Twelve")
    await streamer.stop(session_status="active")
    assert slack.workspace.sessions[("C1", question.ts)].status == "active"


@pytest.mark.parametrize(("method", "a_minute"), [("users.list", 20), ("conversations.open", 50), ("users.info", 100)])
async def test_a_method_is_limited_by_the_minute(
    slack: SlackServer, http: aiohttp.ClientSession, method: str, a_minute: int
) -> None:
    now = 1_000.0
    slack.limits_methods, slack.clock = True, lambda: now
    statuses: list[tuple[int, str | None]] = []
    for second in (0, *[5] * a_minute, 61):
        now = 1_000.0 + second
        async with http.post(slack.api_url + method, data={"token": TOKEN}) as response:
            statuses.append((response.status, response.headers.get("Retry-After")))

    assert statuses == [(200, None)] * a_minute + [(429, "55"), (200, None)]


async def test_without_tiers_there_are_no_rate_limits(client: WebApiClient) -> None:
    answers = [await client.call_method("users.list") for _ in range(21)]
    assert {answer["status"] for answer in answers} == {200}
