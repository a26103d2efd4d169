"""`auth.*`: whose a token is."""

from typing import Any, Final

from tests.stand_ins.slack.methods import Caller, Methods
from tests.stand_ins.slack.workspace import BOT_ID

METHODS = Methods()
TOKEN: Final = "xoxb-parley-token"


@METHODS.method("auth.test", reads=True)
def test(caller: Caller) -> dict[str, Any]:
    place = caller.workspace
    found = {"team_id": place.team, "team": place.name, "user_id": place.bot_user, "bot_id": BOT_ID}
    return {**found, "url": caller.slack.origin, "enterprise_id": place.enterprise, "is_enterprise_install": False}
