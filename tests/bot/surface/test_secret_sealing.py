"""A sealed secret opens with the key ring that sealed it, and with no other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.surface.secret_sealing import SecretSeal

SECRET = "xoxb-a-token"


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_a_sealed_secret_opens_again(secret: str) -> None:
    seal = SecretSeal([b"key"])
    assert seal.open_secret(seal.seal_secret(secret)) == secret


def test_a_sealed_secret_cannot_be_read() -> None:
    assert SECRET not in SecretSeal([b"key"]).seal_secret(SECRET)


def test_an_older_key_of_the_ring_opens_what_it_sealed() -> None:
    sealed = SecretSeal([b"old"]).seal_secret(SECRET)

    assert SecretSeal([b"new", b"old"]).open_secret(sealed) == SECRET
    assert SecretSeal([b"old"]).open_secret(SecretSeal([b"new", b"old"]).seal_secret(SECRET)) is None


@pytest.mark.parametrize("keys", [[b"other"], [b"other", b"another"]])
def test_no_other_key_opens_it(keys: list[bytes]) -> None:
    assert SecretSeal(keys).open_secret(SecretSeal([b"key"]).seal_secret(SECRET)) is None


@pytest.mark.parametrize("damage", ["", "x", "gAAAAA", "ü"])
def test_a_damaged_or_invalid_seal_does_not_open(damage: str) -> None:
    assert SecretSeal([b"key"]).open_secret(damage) is None
    assert SecretSeal([b"key"]).open_secret(SecretSeal([b"key"]).seal_secret(SECRET)[:-4] + damage) is None
