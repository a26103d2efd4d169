"""Tokens for programs that call over HTTP: each stands for one person, and is shown once.

A token is `parley_ID_SECRET`. The database has the hash of its secret alone, so a copy of it lets nobody in.
"""

import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bot.access.subjects import parse_person
from bot.errors import InvalidSubject
from bot.http.secret_check import hash_secret
from bot.ids import PersonId
from storage.sql.administration.program_tokens import ProgramToken, ProgramTokenStore
from storage.sql.database import SqlDatabase

_TOKEN_PATTERN: Final = re.compile(r"parley_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_NO_HASH: Final = "0" * 64  # compared with where there is no such token, which then takes as long


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedToken:
    """A new token; `text` is shown once. `expires_at`: None means never."""

    id: str
    text: str
    person: PersonId
    expires_at: datetime | None


class ProgramTokens:
    def __init__(self, database: SqlDatabase) -> None:
        self._store, self._now = ProgramTokenStore(database), database.utc_now

    async def create_token(self, person: PersonId, *, lifetime: timedelta | None, by: str) -> IssuedToken:
        """Raises `SqlError`."""
        token_id, secret, now = secrets.token_hex(6), secrets.token_urlsafe(32), self._now()
        token = ProgramToken(
            id=token_id,
            secret_hash=hash_secret(secret).hex(),
            person=person,
            created_by=by,
            created_at=now,
            expires_at=None if lifetime is None else now + lifetime,
        )
        await self._store.add_token(token)
        text = f"parley_{token_id}_{secret}"
        return IssuedToken(id=token_id, text=text, person=person, expires_at=token.expires_at)

    async def list_tokens(self) -> list[ProgramToken]:
        """All tokens, oldest first, also expired ones. Raises `SqlError`."""
        return await self._store.list_tokens()

    async def revoke_token(self, token_id: str, *, by: str) -> bool:
        """From the next call on, the token lets nobody in; False if there is none. Raises `SqlError`."""
        return await self._store.remove_token(token_id, by=by)

    async def find_person(self, text: str) -> PersonId | None:
        """The person for whom the token stands; None if it is wrong, expired or revoked. Raises `SqlError`."""
        match = _TOKEN_PATTERN.fullmatch(text)
        if match is None:
            return None
        token = await self._store.find_token(match[1])
        expected = _NO_HASH if token is None else token.secret_hash
        is_right = hmac.compare_digest(hash_secret(match[2]).hex(), expected)
        if token is None or not is_right or (token.expires_at is not None and token.expires_at <= self._now()):
            return None
        return PersonId(token.person)


def parse_token_person(text: str) -> PersonId:
    """The person of a new token: as in `--as`, or as the subject `user:…`. Raises `InvalidSubject`."""
    if text.startswith(("group:", "channel:", "team:")) or text == "everyone":
        raise InvalidSubject(text, "is not a person; a token stands for one, such as local:NAME")
    return parse_person(text.removeprefix("user:"))
