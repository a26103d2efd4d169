"""Which ids of other chat products, and of this machine, belong to the same person.

An admin links ids (`parley group link`). Where PARLEY_LINK_BY_EMAIL is on, ids with the same verified e-mail address
are linked too, once the person has written to Parley under each of them.
"""

import hashlib

from bot.ids import PersonId
from storage.sql.stores.grants import PersonLinkStore


class PersonLinks:
    """Raises `SqlError`."""

    def __init__(self, store: PersonLinkStore, *, uses_email: bool) -> None:
        self._store, self.uses_email = store, uses_email

    async def find_linked_persons(self, person: PersonId) -> frozenset[PersonId]:
        """The ids that an admin has linked with this one."""
        return frozenset(map(PersonId, await self._store.find_linked_persons(person)))

    async def find_persons_of_email(self, person: PersonId, email: str) -> frozenset[PersonId]:
        """The ids that were last seen with the same address; whether they have it still must be asked.

        Keeps the person's own address, as a hash. `email`: verified by the product; empty for none.
        """
        await self._store.note_email(person, hash_email(email) if email else None)
        return frozenset(map(PersonId, await self._store.find_persons_of_same_email(person))) if email else frozenset()


def hash_email(email: str) -> str:
    return hashlib.sha256(fold_email(email).encode()).hexdigest()


def fold_email(email: str) -> str:
    """The same for addresses that differ in case alone."""
    return email.strip().casefold()
