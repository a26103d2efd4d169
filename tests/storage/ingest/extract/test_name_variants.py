"""Spellings of the same name."""

from hypothesis import given
from hypothesis import strategies as st

from storage.ingest.extract.name_variants import CanonicalNames

SPELLINGS = {
    "HARBOUR LIGHT SDN BHD": 9,
    "Harbour Light": 2,
    "Harbour Light Sdn. Bhd. (Quay)": 1,
    "HARB0UR L1GHT": 1,
    "HARBOUR LIHGT": 1,
    "Harbour Night Market": 4,
    "Store 12": 3,
    "Store 13": 2,
    "Bo": 1,
    "Bi": 1,
}


def test_variants_join_the_commonest_spelling_and_others_stay_apart() -> None:
    names = CanonicalNames().cluster_spellings(SPELLINGS)

    assert {spelling for spelling, name in names.items() if name == "HARBOUR LIGHT SDN BHD"} == {
        "HARBOUR LIGHT SDN BHD",
        "Harbour Light",
        "Harbour Light Sdn. Bhd. (Quay)",
        "HARB0UR L1GHT",
        "HARBOUR LIHGT",
    }
    assert (names["Harbour Night Market"], names["Store 12"], names["Store 13"]) == (
        "Harbour Night Market",
        "Store 12",
        "Store 13",
    )
    assert (names["Bo"], names["Bi"]) == ("Bo", "Bi")


@given(st.permutations(list(SPELLINGS.items())))
def test_the_order_of_the_spellings_changes_nothing(shuffled: list[tuple[str, int]]) -> None:
    assert CanonicalNames().cluster_spellings(dict(shuffled)) == CanonicalNames().cluster_spellings(SPELLINGS)


@given(st.dictionaries(st.text(max_size=12), st.integers(1, 5), max_size=20))
def test_a_later_run_with_known_names_decides_the_same(spellings: dict[str, int]) -> None:
    first = CanonicalNames().cluster_spellings(spellings)
    known_names = list(dict.fromkeys(first.values()))

    later = CanonicalNames.from_known_names(known_names)

    assert {spelling: later.canonical_name_of(spelling) for spelling in spellings} == first


def test_a_new_variant_joins_a_known_name_even_if_it_is_commoner() -> None:
    names = CanonicalNames.from_known_names(["Harbour Light"])

    assert names.cluster_spellings({"HARBOUR LIGHT LTD": 50}) == {"HARBOUR LIGHT LTD": "Harbour Light"}


def test_a_shop_name_with_a_place_after_it_is_the_same_shop() -> None:
    spellings = {"Lumoson": 1, "Torvald": 3, "Torvald Harbour": 2, "Torvald Old Town Lda": 1, "Lumoson Quay": 1}
    spellings |= {"Torvald II": 2, "Torvald 24": 1}

    names = CanonicalNames(has_branches=True).cluster_spellings(spellings)

    assert {names["Torvald Harbour"], names["Torvald Old Town Lda"]} == {"Torvald"}
    assert (names["Torvald II"], names["Torvald 24"]) == ("Torvald II", "Torvald 24")
    assert names["Lumoson Quay"] == "Lumoson Quay"  # a name that occurs once is no chain
    assert CanonicalNames().cluster_spellings(spellings)["Torvald Harbour"] == "Torvald Harbour"


def test_a_word_for_a_kind_of_shop_is_no_chain() -> None:
    spellings = {"Restaurant": 5, "Restaurant Miko": 2, "Restaurant Pelle": 1}

    assert CanonicalNames(has_branches=True).cluster_spellings(spellings)["Restaurant Miko"] == "Restaurant Miko"
