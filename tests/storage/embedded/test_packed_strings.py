"""Strings are packed into bytes, and found again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.embedded import packed_strings
from storage.embedded.packed_strings import PackedStrings, StringTable
from storage.embedded.string_dictionary import StringDictionary
from storage.search.analyser import fold_text

TEXTS = st.lists(st.text(max_size=6), max_size=30)


@given(TEXTS, TEXTS)
def test_a_sequence_has_the_strings_that_were_added(earlier: list[str], later: list[str]) -> None:
    packed = PackedStrings(earlier).join_strings(PackedStrings(later))

    strings = [*earlier, *later]
    assert list(packed) == packed[:] == strings
    assert (len(packed), packed[-2:], packed[1:5]) == (len(strings), strings[-2:], strings[1:5])
    assert not strings or packed[-1] == strings[-1]


def test_an_index_beyond_the_end_is_refused() -> None:
    with pytest.raises(IndexError):
        _ = PackedStrings(["a"])[1]


@given(TEXTS, st.text(max_size=3))
def test_strings_are_found_by_a_part_that_does_not_cross_their_ends(strings: list[str], part: str) -> None:
    found = list(PackedStrings(strings).indexes_containing(part))

    assert found == [index for index, string in enumerate(strings) if part in string]


@given(st.sets(st.text(max_size=6)))
def test_ranks_are_in_order_of_code_points(strings: set[str]) -> None:
    packed = PackedStrings(strings)

    ranks = packed.rank_strings().tolist()

    assert [string for _, string in sorted(zip(ranks, packed, strict=True))] == sorted(strings)


@given(st.lists(st.lists(st.text(max_size=3), unique=True), max_size=8))
def test_a_table_has_each_string_once(batches: list[list[str]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed_strings, "_MIN_RECENT", 2)  # so that hashes are merged
        table = StringTable()

        for batch in batches:
            indexes = table.add_missing(batch)
            assert [table[index] for index in indexes] == batch

    distinct = list(dict.fromkeys(string for batch in batches for string in batch))
    assert list(table) == distinct
    assert [table.index_of(string) for string in distinct] == list(range(len(distinct)))
    assert table.index_of("not there") == -1


@given(st.lists(st.one_of(st.none(), st.sampled_from(["Ås", "ås", "As", "B", "b ", "c"]))))
def test_equal_folds_have_equal_codes(values: list[str | None]) -> None:
    dictionary = StringDictionary()

    codes = dictionary.encode_strings(values[:5])
    later_codes = dictionary.encode_strings(values)

    assert codes.tolist() == later_codes[:5].tolist()
    assert [None if code < 0 else dictionary.strings[code] for code in later_codes.tolist()] == values
    folds = [None if value is None else dictionary.code_of_fold(fold_text(value)) for value in values]
    assert [None if code < 0 else code for code in dictionary.fold_codes_of(later_codes).tolist()] == folds
