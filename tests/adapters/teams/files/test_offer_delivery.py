"""Offering files while the database fails: the answer stays, and its delivery is tried again."""

import pytest
from sqlalchemy import text

from adapters.teams.connector.client import TeamsConnectorClient
from adapters.teams.posting.outbox import TeamsOutbox, TeamsThread
from bot.surface.outbox import OutboxFailed
from bot.surface.replies import FullTextPart, Reply, TextPart
from storage.sql.database import SqlDatabase
from tests.adapters.teams.conftest import RecordedStops, thread_at
from tests.adapters.teams.files.conftest import TURN, ConsentDesk

pytestmark = pytest.mark.usefixtures("bot")


@pytest.fixture
def thread(desk: ConsentDesk, connector: TeamsConnectorClient) -> TeamsThread:
    outbox = TeamsOutbox(
        connector,
        files=desk.consents,
        service_urls=None,
        further_messages=desk.bot.further_messages,
        on_stop=RecordedStops(),
        log=desk.bot.log,
    )
    return thread_at(outbox, desk.address)


async def execute(database: SqlDatabase, statement: str) -> None:
    await database.run_write(lambda connection: connection.execute(text(statement)))


async def test_an_offer_that_cannot_be_stored_is_made_again_and_the_answer_stays(
    desk: ConsentDesk, thread: TeamsThread, database: SqlDatabase
) -> None:
    reply = Reply(turn=TURN, parts=(TextPart(markdown="Here are 42 receipts."), await desk.write_export()))
    message = await thread.post_message(reply)
    await execute(database, "ALTER TABLE file_offers RENAME TO file_offers_away")

    with pytest.raises(OutboxFailed) as failure:
        await thread.attach_files(message, reply)
    assert failure.value.retry
    [answer] = desk.messages()
    assert (answer.text, answer.button_titles(), answer.edits) == ("Here are 42 receipts.", [], 0)

    await execute(database, "ALTER TABLE file_offers_away RENAME TO file_offers")
    await thread.attach_files(message, reply)
    assert len(desk.offers()) == 1


async def test_a_text_that_cannot_be_stored_is_offered_again(
    desk: ConsentDesk, thread: TeamsThread, database: SqlDatabase
) -> None:
    whole = Reply(turn=TURN, parts=(FullTextPart(name="answer.txt", reply=Reply(turn=TURN, parts=())),))
    message = await thread.post_message(whole)
    await execute(database, "ALTER TABLE turns RENAME TO turns_away")

    with pytest.raises(OutboxFailed) as failure:
        await thread.attach_files(message, whole)

    assert failure.value.retry


async def test_an_offer_whose_message_cannot_be_noted_is_made_once(
    desk: ConsentDesk, thread: TeamsThread, database: SqlDatabase
) -> None:
    reply = Reply(turn=TURN, parts=(TextPart(markdown="Here are 42 receipts."), await desk.write_export()))
    message = await thread.post_message(reply)
    await execute(
        database, "CREATE TRIGGER no_update BEFORE UPDATE ON file_offers BEGIN SELECT RAISE(ABORT, 'full'); END"
    )

    for _ in range(2):
        await thread.attach_files(message, reply)

    assert len(desk.offers()) == 1
