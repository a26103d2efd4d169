"""The app is removed while a question waits: the turn ends undelivered and the log records it."""

import json
from pathlib import Path
from typing import Any

from sqlalchemy import text

from bot.ids import TurnId
from tests.bot.conftest import running_workers, wait_until_finished
from tests.scenarios.surfaces.abilities import SurfaceAbility
from tests.scenarios.surfaces.office import BotSetup, ChatOffice, ChatProduct
from tests.scenarios.surfaces.selection import needs


@needs(SurfaceAbility.CHANNELS, SurfaceAbility.REMOVAL)
async def test_a_question_from_a_place_that_removed_the_app_stays_undelivered(
    product: ChatProduct, tmp_path: Path
) -> None:
    async with product.connect_bot(tmp_path, BotSetup(with_workers=False)) as office:
        await office.send("How many receipts are there?")
        await office.driver.remove_app(office.general)
        async with running_workers(office.bot):
            finished_turn = await wait_until_finished(office.bot, await load_turn_id(office))

        assert finished_turn.error == "The answer could not be delivered."
        assert await office.list_answers() == []

    failed_turns = {line.get("turn") for line in log_lines(tmp_path, "turn failed") if line["error"] == "OutboxFailed"}
    assert finished_turn.turn in failed_turns


def log_lines(home: Path, event: str) -> list[dict[str, Any]]:
    lines = (home / "logs" / "parley.log").read_text(encoding="utf-8").splitlines()
    return [line for line in map(json.loads, lines) if line["event"] == event]


async def load_turn_id(office: ChatOffice) -> TurnId:
    query = text("SELECT id FROM turns")
    return TurnId(await office.bot.database.run_read(lambda connection: connection.execute(query).scalar_one()))
