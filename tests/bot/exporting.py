"""A process that claims a turn, writes its file until it has some rows, reports that, and waits to be killed.

`python -m tests.bot.exporting HOME TURN NOW`.
"""

import asyncio
import sys
import time
from datetime import datetime
from pathlib import Path

from bot.bootstrap import open_application
from bot.conversation.download import LinkSigner
from bot.conversation.exports import ExportFileRequest, ExportFiles
from bot.ids import TurnId
from bot.settings import load_settings
from bot.surface.json_codec import inbound_from_row
from bot.turns.delivery import TURN_LEASE
from storage.search.ids import LegId
from storage.search.plan import Leg, ListDocuments, unfiltered_search_of
from storage.sql.stores.inbox import TurnInbox
from tests.bot.fakes import NO_REASONER, ListingAgent
from tests.builders import RECEIPTS, TENANT


def main(home: str, turn: str, now: str) -> None:
    asyncio.run(write_export(Path(home), TurnId(turn), datetime.fromisoformat(now)))


async def write_export(home: Path, turn: TurnId, now: datetime) -> None:
    settings = load_settings(home, {"PARLEY_TENANT": TENANT, "PARLEY_EMBEDDER": "none"}).settings
    async with open_application(settings, clock=lambda: now, agent=ListingAgent(), reasoner=NO_REASONER) as bot:
        [claimed] = await TurnInbox(bot.database).claim_due_turns("killed", TURN_LEASE, up_to_turn=turn)
        exports = ExportFiles(
            database=bot.database,
            attachments=bot.attachments,
            access=bot.access,
            signer=LinkSigner(settings.secret_keys),
            folder=settings.exports_path,
            link_base=settings.link_base,
            worker="killed",
            page_rows=5,
        )
        inbound = inbound_from_row(claimed.turn)
        leg = Leg(id=LegId("1"), question="", search=unfiltered_search_of(RECEIPTS), answer_form=ListDocuments())
        request = ExportFileRequest(
            turn=turn, conversation=inbound.conversation, person=inbound.person, audience=inbound.audience, leg=leg
        )
        await exports.write_file(request, pause_while_writing)


def pause_while_writing(text: str) -> None:
    if text.startswith("Writing the file: 10 of"):
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
        time.sleep(60)  # blocks the whole process until it is killed


if __name__ == "__main__":
    main(*sys.argv[1:])
