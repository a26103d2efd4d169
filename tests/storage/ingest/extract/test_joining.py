"""Spellings of one name."""

from hypothesis import given
from hypothesis import strategies as st

from storage.ingest.extract.joining import Names

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
    names = Names().take(SPELLINGS)

    assert {one for one, name in names.items() if name == "HARBOUR LIGHT SDN BHD"} == {
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
    assert Names().take(dict(shuffled)) == Names().take(SPELLINGS)


@given(st.dictionaries(st.text(max_size=12), st.integers(1, 5), max_size=20))
def test_a_later_run_that_knows_the_names_decides_the_same(spellings: dict[str, int]) -> None:
    first = Names().take(spellings)
    known = list(dict.fromkeys(first.values()))

    later = Names.of(known)

    assert {one: later.canonical(one) for one in spellings} == first


def test_a_new_variant_joins_a_name_that_is_known_though_it_is_commoner() -> None:
    names = Names.of(["Harbour Light"])

    assert names.take({"HARBOUR LIGHT LTD": 50}) == {"HARBOUR LIGHT LTD": "Harbour Light"}


def test_a_shop_with_its_place_behind_its_name_is_the_shop() -> None:
    spellings = {"Lumoson": 1, "Torvald": 3, "Torvald Harbour": 2, "Torvald Old Town Lda": 1, "Lumoson Quay": 1}
    spellings |= {"Torvald II": 2, "Torvald 24": 1}

    taken = Names(has_branches=True).take(spellings)

    assert {taken["Torvald Harbour"], taken["Torvald Old Town Lda"]} == {"Torvald"}
    assert (taken["Torvald II"], taken["Torvald 24"]) == ("Torvald II", "Torvald 24")
    assert taken["Lumoson Quay"] == "Lumoson Quay"  # what was read once tells no chain
    assert Names().take(spellings)["Torvald Harbour"] == "Torvald Harbour"


def test_a_word_for_a_kind_of_shop_makes_no_chain_of_those_that_begin_with_it() -> None:
    spellings = {"Restaurant": 5, "Restaurant Miko": 2, "Restaurant Pelle": 1}

    assert Names(has_branches=True).take(spellings)["Restaurant Miko"] == "Restaurant Miko"
