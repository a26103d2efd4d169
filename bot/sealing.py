"""Secrets that have to be kept: sealed with the ring of `PARLEY_SECRET_KEY`, unreadable in the database alone."""

import base64
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

_PURPOSE: Final = b"parley: secrets at rest, 1"  # the same keys sign download links


class Seal:
    """The first key of the ring seals, all open."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = keys

    def sealed(self, secret: str) -> str:
        return self._ring.encrypt(secret.encode()).decode("ascii")

    def opened(self, sealed: str) -> str | None:
        """None where no key of the ring has sealed it, or it was changed."""
        from cryptography.fernet import InvalidToken

        try:
            return self._ring.decrypt(sealed.encode()).decode()
        except InvalidToken:
            return None

    @cached_property
    def _ring(self) -> "MultiFernet":
        from cryptography.fernet import Fernet, MultiFernet

        return MultiFernet([Fernet(_derived(key)) for key in self._keys])


def _derived(key: bytes) -> bytes:
    """HKDF with SHA-256 (RFC 5869), in the form that Fernet takes."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return base64.urlsafe_b64encode(HKDF(algorithm=SHA256(), length=32, salt=None, info=_PURPOSE).derive(key))
