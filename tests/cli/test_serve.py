"""`parley serve` as a process: its health and metrics pages, its port, and its end."""

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

from aiohttp import ClientSession

from adapters.slack.events.http_endpoint import EVENTS_PATH
from tests.adapters.web.serving import find_free_port, serve_parley
from tests.cli.conftest import run_parley
from tests.stand_ins.slack.server import SIGNING_SECRET, TOKEN, SlackServer
from tests.stand_ins.slack.workspace import SlackMember


async def test_health_readiness_metrics_and_downloads_are_served(home: Path) -> None:
    async with serve_parley(home) as address, ClientSession() as session:
        for path, text in (("/healthz", "alive"), ("/readyz", "ready")):
            async with session.get(address + path) as answer:
                assert (answer.status, text in await answer.text()) == (200, True)
        async with session.post(
            f"{address}/?c=a-conversation-key", data={"text": "List all receipts"}, headers={"Origin": address}
        ) as answer:
            assert answer.status == 200
        assert 'parley_turns_total{outcome="overload",surface="web"} 1.0' in await wait_for_metrics(session, address)
        async with session.get(f"{address}/download/forged") as answer:
            assert answer.status == 403


async def test_metrics_are_for_this_machine_or_with_a_token_and_liveness_is_for_all(home: Path) -> None:
    proxied, token = {"X-Forwarded-For": "203.0.113.9"}, {"Authorization": "Bearer a-metrics-token"}
    async with serve_parley(home, {"PARLEY_METRICS_TOKEN": "a-metrics-token"}) as address, ClientSession() as session:

        async def status_of(path: str, headers: dict[str, str]) -> int:
            async with session.get(address + path, headers=headers) as answer:
                return answer.status

        for headers in ({"Host": "evil.example"}, proxied, {"Forwarded": "for=203.0.113.9"}):
            assert [await status_of(path, headers) for path in ("/healthz", "/readyz", "/metrics")] == [200, 200, 403]
            assert await status_of("/metrics", headers | token) == 200
        assert await status_of("/metrics", {"Authorization": "Bearer a-guess"}) == 403
        assert await status_of("/metrics", {}) == 200


async def test_beside_a_chat_product_the_worker_answers_the_questions_of_the_web_chat(home: Path) -> None:
    async with (
        SlackServer() as slack,
        serve_parley(home, environment_of(slack)) as address,
        ClientSession() as session,
    ):
        async with session.post(
            f"{address}/?c=a-conversation-key", data={"text": "List all receipts"}, headers={"Origin": address}
        ) as answer:
            assert answer.status == 200
        metrics = await wait_for_metrics(session, address)

    log_lines = [json.loads(line) for line in (home / "logs" / "parley.log").read_text().splitlines()]
    worker_pids = {line["pid"] for line in log_lines if line["event"] == "answering process started"}
    last_turn = [line for line in log_lines if line["event"] == "turn"][-1]
    assert 'parley_turns_total{outcome="overload",surface="web"} 1.0' in metrics
    assert (last_turn["surface"], last_turn["process"] in worker_pids) == ("web", True)
    for sample in (
        "parley_ready 1.0",
        "parley_turn_slots 8.0",
        'parley_worker_processes{state="configured"} 1.0',
        'parley_queue_turns{state="waiting"} 0.0',
        'parley_http_requests_total{route="/",status="200"} 1.0',
        'parley_index_requests_total{operation="search",outcome="ok"}',
        'parley_deliveries_total{operation="open",outcome="ok",surface="web"} 1.0',
    ):
        assert sample in metrics


async def test_a_message_that_comes_while_the_program_is_loading_is_acknowledged_and_answered(home: Path) -> None:
    assert run_parley(home, "grant", "receipts", "everyone").status == 0
    port = find_free_port()
    async with SlackServer() as slack:
        slack.app_url = f"http://127.0.0.1:{port}{EVENTS_PATH}"
        person = slack.workspace.add_user(SlackMember(id="U1", name="Pat"))
        async with serve_parley(home, environment_of(slack), port=port, awaits_start=False):
            channel = slack.workspace.direct_channel_of(person.id)
            _, outcomes = await slack.post_as_person(person, channel, "How many receipts from Kestrel?")
            await slack.wait_until(lambda: any("40" in message.text for message in slack.workspace.bot_messages()), 60)

            posted = [message.text for message in slack.workspace.bot_messages()]

    assert [outcome.statuses[-1] for outcome in outcomes] == [200] * len(outcomes)
    assert len([text for text in posted if "40" in text]) == 1


def environment_of(slack: SlackServer) -> dict[str, Any]:
    return {"SLACK_BOT_TOKEN": TOKEN, "SLACK_SIGNING_SECRET": SIGNING_SECRET, "SLACK_API_URL": slack.api_url}


async def wait_for_metrics(session: ClientSession, address: str) -> str:
    """The metrics, once a turn has ended."""
    async with session.get(f"{address}/chat/events?c=a-conversation-key") as events:
        async with asyncio.timeout(30):
            async for line in events.content:
                if b"Export all as CSV" in line:
                    break
    async with asyncio.timeout(30):
        while "parley_turns_total{" not in (text := await fetch_text(session, f"{address}/metrics")):  # noqa: ASYNC110
            await asyncio.sleep(0.05)  # the turn is counted just after its answer is posted
    return text


async def fetch_text(session: ClientSession, address: str) -> str:
    async with session.get(address) as answer:
        return await answer.text()


def test_a_port_in_use_is_reported_in_one_sentence(home: Path) -> None:
    with socket.socket() as listening_socket:
        listening_socket.bind(("127.0.0.1", 0))
        listening_socket.listen()
        port = listening_socket.getsockname()[1]

        ended = run_parley(home, "serve", "--port", str(port))

    assert (ended.status, ended.stdout) == (1, "")
    assert f"port {port} on 127.0.0.1 is taken" in ended.stderr
