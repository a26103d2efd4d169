"""Families of words, and the adjectives of comparatives and superlatives."""

import pytest

from agent.english.gradable_adjectives import ScaleKind, adjective_of_superlative, scale_of_superlative
from agent.english.inflection import root_of_word


@pytest.mark.parametrize(
    "family",
    [
        "carve carved carver carving",
        "restore restored restorer restoration",
        "kept keep keeper",
        "wrote written writer",
        "expire expiry expired expiration",
        "depart departed departure",
        "populous population",
        "corrosive corrosion corrosives",
    ],
)
def test_the_words_of_a_family_share_a_root(family: str) -> None:
    assert len({root_of_word(word) for word in family.split()}) == 1


@pytest.mark.parametrize(("left", "right"), [("county", "count"), ("salary", "sales"), ("city", "cite")])
def test_words_that_look_alike_have_roots_of_their_own(left: str, right: str) -> None:
    assert root_of_word(left) != root_of_word(right)


@pytest.mark.parametrize(
    ("word", "adjective"),
    [
        ("steepest", "steep"),
        ("muddiest", "muddy"),
        ("thinnest", "thin"),
        ("fullest", "full"),
        ("largest", "large"),
        ("priciest", "pricey"),
        ("harvest", None),
        ("priest", None),
        ("everest", None),
    ],
)
def test_a_superlative_is_known_by_its_inflection(word: str, adjective: str | None) -> None:
    assert adjective_of_superlative(word) == adjective


@pytest.mark.parametrize(
    ("words", "kind", "is_high_end"),
    [
        (("dearest",), ScaleKind.MONEY, True),
        (("least", "costly"), ScaleKind.MONEY, False),
        (("youngest",), ScaleKind.AGE, True),
        (("tiniest",), ScaleKind.SIZE, False),
        (("most", "corrosive"), ScaleKind.UNKNOWN, True),
    ],
)
def test_a_superlative_points_to_an_end_of_a_scale(words: tuple[str, ...], kind: ScaleKind, is_high_end: bool) -> None:
    found = scale_of_superlative(words)

    assert found is not None
    assert (found[1].kind, found[1].is_high_end) == (kind, is_high_end)


@pytest.mark.parametrize("words", [("most",), ("most", "barges"), ("fewest",)])
def test_a_word_for_an_amount_needs_a_noun(words: tuple[str, ...]) -> None:
    assert scale_of_superlative(words) is None
