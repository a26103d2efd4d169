"""What is sealed opens with the ring that sealed it, and with nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.sealing import Seal

SECRET = "xoxb-a-token"


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_what_is_sealed_opens_again(secret: str) -> None:
    seal = Seal([b"key"])
    assert seal.opened(seal.sealed(secret)) == secret


def test_a_sealed_secret_cannot_be_read() -> None:
    assert SECRET not in Seal([b"key"]).sealed(SECRET)


def test_an_older_key_of_the_ring_opens_what_it_sealed() -> None:
    sealed = Seal([b"old"]).sealed(SECRET)

    assert Seal([b"new", b"old"]).opened(sealed) == SECRET
    assert Seal([b"old"]).opened(Seal([b"new", b"old"]).sealed(SECRET)) is None


@pytest.mark.parametrize("keys", [[b"other"], [b"other", b"another"]])
def test_no_other_key_opens_it(keys: list[bytes]) -> None:
    assert Seal(keys).opened(Seal([b"key"]).sealed(SECRET)) is None


@pytest.mark.parametrize("damage", ["", "x", "gAAAAA", "ü"])
def test_what_nobody_sealed_opens_as_nothing(damage: str) -> None:
    assert Seal([b"key"]).opened(damage) is None
    assert Seal([b"key"]).opened(Seal([b"key"]).sealed(SECRET)[:-4] + damage) is None
