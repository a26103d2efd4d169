"""Stored secrets: sealed with the key ring of `PARLEY_SECRET_KEY`, so that the database alone does not reveal them."""

import base64
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

_KEY_PURPOSE: Final = b"parley: secrets at rest, 1"  # the same keys sign download links


class SecretSeal:
    """The first key of the ring seals; every key opens."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = keys

    def seal_secret(self, secret: str) -> str:
        return self._key_ring.encrypt(secret.encode()).decode("ascii")

    def open_secret(self, sealed: str) -> str | None:
        """None where no key of the ring has sealed it, or where it was changed."""
        from cryptography.fernet import InvalidToken

        try:
            return self._key_ring.decrypt(sealed.encode()).decode()
        except InvalidToken:
            return None

    @cached_property
    def _key_ring(self) -> "MultiFernet":
        from cryptography.fernet import Fernet, MultiFernet

        return MultiFernet([Fernet(_derive_fernet_key(key)) for key in self._keys])


def _derive_fernet_key(key: bytes) -> bytes:
    """HKDF with SHA-256 (RFC 5869), as a Fernet key."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return base64.urlsafe_b64encode(HKDF(algorithm=SHA256(), length=32, salt=None, info=_KEY_PURPOSE).derive(key))
