"""Invokes are answered in the response, and never with what Teams shows as an error."""

import asyncio
from dataclasses import dataclass, field

import pytest

from adapters.teams.events.listeners import InvokeAnswer
from adapters.teams.events.received_activity import ReceivedActivity
from tests.adapters.teams.reception import TeamsReception, serve_reception
from tests.stand_ins.teams.server import TeamsServer
from tests.stand_ins.teams.tenancy import TenantPerson


@dataclass
class EchoHandler:
    """Answers with the value of the invoke; `is_slow`: never."""

    invoke_names: tuple[str, ...] = ("fileConsent/invoke",)
    is_slow: bool = False
    names: list[str] = field(default_factory=list[str])

    async def answer_invoke(self, received: ReceivedActivity) -> InvokeAnswer:
        self.names.append(received.activity.name)
        if self.is_slow:
            await asyncio.Event().wait()
        return InvokeAnswer(body={"echo": received.activity.value})


async def test_an_invoke_is_answered_by_its_handler(teams: TeamsServer, ada: TenantPerson) -> None:
    handler = EchoHandler()
    async with serve_reception(TeamsReception(), teams, invoke_handlers=[handler]):
        message, _ = await teams.say(ada, None, "List receipts")
        delivery = await teams.send_invoke(ada, message, "fileConsent/invoke", {"action": "accept"})

    assert delivery.statuses == [200]
    assert delivery.read_answer() == {"echo": {"action": "accept"}}


@pytest.mark.parametrize(
    "name", ["message/submitAction", "message/fetchTask", "task/fetch", "adaptiveCard/action", "signin/verifyState", ""]
)
async def test_an_unknown_invoke_shows_the_person_no_error(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson, name: str
) -> None:
    message, _ = await teams.say(ada, None, "List receipts")

    delivery = await teams.send_invoke(ada, message, name, {"any": "value"})

    assert delivery.is_accepted
    assert delivery.client_error == ""
    assert len(reception.accepted) == 1


async def test_an_invoke_that_takes_too_long_is_answered_empty(teams: TeamsServer, ada: TenantPerson) -> None:
    handler, reception = EchoHandler(is_slow=True), TeamsReception(invoke_timeout_s=0.01)
    async with serve_reception(reception, teams, invoke_handlers=[handler]):
        message, _ = await teams.say(ada, None, "List receipts")
        delivery = await teams.send_invoke(ada, message, "fileConsent/invoke", {})

    assert delivery.read_answer() == {}
    assert "teams invoke not answered in time" in [line["event"] for line in reception.log_lines]
