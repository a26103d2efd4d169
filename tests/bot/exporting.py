"""A process that claims a turn and writes its file until there are some rows, says so, and waits to be killed.

`python -m tests.bot.exporting HOME TURN NOW`.
"""

import asyncio
import sys
import time
from datetime import datetime
from pathlib import Path

from bot.bootstrap import build_bot
from bot.codec import inbound_from_row
from bot.delivery import LEASE
from bot.download import LinkSigner
from bot.exports import Exports, Wanted
from bot.ids import TurnId
from bot.settings import load_settings
from storage.search.ids import LegId
from storage.search.plan import Leg, ListDocuments, everything_in
from storage.sql.inbox import Inbox
from tests.bot.fakes import NO_REASONER, ListingAgent
from tests.builders import RECEIPTS, TENANT


def main(home: str, turn: str, now: str) -> None:
    asyncio.run(begun(Path(home), TurnId(turn), datetime.fromisoformat(now)))


async def begun(home: Path, turn: TurnId, now: datetime) -> None:
    settings = load_settings(home, {"PARLEY_TENANT": TENANT, "PARLEY_EMBEDDER": "none"}).settings
    async with build_bot(settings, clock=lambda: now, agent=ListingAgent(), reasoner=NO_REASONER) as bot:
        [claimed] = await Inbox(bot.database).claim("killed", LEASE, up_to=turn)
        exports = Exports(
            database=bot.database,
            attached=bot.attached,
            access=bot.access,
            signer=LinkSigner(settings.secret_keys),
            folder=settings.exports_path,
            link_base=settings.link_base,
            worker="killed",
            page_rows=5,
        )
        inbound = inbound_from_row(claimed.turn)
        leg = Leg(id=LegId("1"), question="", search=everything_in(RECEIPTS), wanted=ListDocuments())
        wanted = Wanted(
            turn=turn, conversation=inbound.conversation, person=inbound.person, audience=inbound.audience, leg=leg
        )
        await exports.write(wanted, told)


def told(text: str) -> None:
    if text.startswith("Writing the file: 10 of"):
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
        time.sleep(60)  # the whole process stands still until it is killed


if __name__ == "__main__":
    main(*sys.argv[1:])
