"""`auth.*`: whose a token is."""

from typing import Any, Final

from tests.stand_ins.slack.methods import ApiError, Caller, Methods
from tests.stand_ins.slack.state import State
from tests.stand_ins.slack.workspace import BOT_ID

METHODS = Methods()
TOKEN: Final = "xoxb-parley-token"


@METHODS.method("auth.test", reads=True, tier=0)
def test(caller: Caller) -> dict[str, Any]:
    place = caller.workspace
    found = {"team_id": place.team, "team": place.name, "user_id": place.bot_user, "bot_id": BOT_ID}
    return {**found, "url": caller.slack.origin, "enterprise_id": place.enterprise, "is_enterprise_install": False}


def caller_with(slack: State, token: str) -> Caller:
    if not token:
        raise ApiError("not_authed")
    if token != TOKEN:
        raise ApiError("invalid_auth")
    if slack.workspace.team in slack.dead:
        raise ApiError("token_revoked")
    return Caller(slack=slack, workspace=slack.workspace, scopes=slack.scopes)
