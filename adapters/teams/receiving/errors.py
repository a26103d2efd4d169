"""Why a request is not accepted, beside what `bot.http.errors` refuses for every product.

HttpRefusal
├── ForeignSender       another channel than Teams, or a tenant that is not accepted: 403
└── UnprovenSender      no token, or not one that the Bot Connector issued for this activity: 401
    └── KeysUnavailable no signing key could be loaded yet, so nobody can be let in
"""

from bot.http.errors import HttpRefusal


class UnprovenSender(HttpRefusal):
    status = 401


class ForeignSender(HttpRefusal):
    status = 403


class KeysUnavailable(UnprovenSender):
    """No token can be checked, also not a valid one."""
