"""How admins of a chat product enter the admin page: by a signed link, which is exchanged for a session.

A link is for one person of one tenant, is valid for ten minutes and can be used once. Whether the person is an admin is
checked when the link is made, when it is used, and at each request of the session.
"""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from itsdangerous import BadData, URLSafeSerializer

from bot.admin.administration import AdminOperations
from bot.errors import AdminLinkRefused, NotAdmin
from bot.ids import PersonId
from bot.settings import Settings
from storage.sql.database import SqlDatabase
from storage.sql.stores.admins import AdminStore

ENTRY_PATH: Final = "/admin/enter"
LINK_LIFETIME: Final = timedelta(minutes=10)
SESSION_LIFETIME: Final = timedelta(hours=8)
_LINK_SALT: Final = b"parley admin link, version 1"
_SESSION_SALT: Final = b"parley admin session, version 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminTicket:
    """What a link or a session says. `id` is random, and differs from ticket to ticket."""

    id: str
    person: PersonId


class AdminEntrance:
    """Tickets are signed with the ring of secret keys: the first signs, every key verifies."""

    def __init__(self, *, administration: AdminOperations, database: SqlDatabase, settings: Settings) -> None:
        self._administration, self._admins, self._now = administration, AdminStore(database), database.utc_now
        self._tenant, self._link_base, keys = settings.tenant, settings.link_base, settings.secret_keys
        self._links, self._sessions = _serializer_for(_LINK_SALT, keys), _serializer_for(_SESSION_SALT, keys)

    async def create_link(self, person: PersonId) -> str:
        """The address that opens the admin page for this person. Raises `NotAdmin`."""
        if not await self._administration.is_admin(person):
            raise NotAdmin()
        return f"{self._link_base}{ENTRY_PATH}/{self._sign_ticket(self._links, person, LINK_LIFETIME)}"

    async def find_link_person(self, signed: str) -> PersonId:
        """For whom the link is. Does not use it up. Raises `AdminLinkRefused`."""
        ticket = self._read_ticket(self._links, signed)
        if ticket is None or not await self._administration.is_admin(ticket.person):
            raise AdminLinkRefused()
        return ticket.person

    async def open_session(self, signed: str) -> str:
        """Uses the link up, and returns the signed session. Raises `AdminLinkRefused`."""
        person = await self.find_link_person(signed)
        ticket = self._read_ticket(self._links, signed)
        if ticket is None or not await self._admins.record_link_use(ticket.id, person):
            raise AdminLinkRefused()
        return self._sign_ticket(self._sessions, person, SESSION_LIFETIME)

    def find_session(self, signed: str) -> AdminTicket | None:
        """None where it is not a valid session (any more). The caller checks whether the person is still an admin."""
        return self._read_ticket(self._sessions, signed)

    def _sign_ticket(self, serializer: URLSafeSerializer, person: PersonId, lifetime: timedelta) -> str:
        expires_at = int((self._now() + lifetime).timestamp())
        return serializer.dumps([self._tenant, person, secrets.token_urlsafe(12), expires_at])

    def _read_ticket(self, serializer: URLSafeSerializer, signed: str) -> AdminTicket | None:
        try:
            tenant, person, id_, expires_at = serializer.loads(signed.encode(errors="replace"))
        except BadData:
            return None
        is_valid = tenant == self._tenant and self._now() < datetime.fromtimestamp(expires_at, self._now().tzinfo)
        return AdminTicket(id=id_, person=PersonId(person)) if is_valid else None


def _serializer_for(salt: bytes, keys: Sequence[bytes]) -> URLSafeSerializer:
    options = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
    return URLSafeSerializer([*reversed(keys)], salt=salt, signer_kwargs=options)  # itsdangerous signs with the last
