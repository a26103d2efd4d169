"""The inverted index of a bucket's values."""

from hypothesis import given
from hypothesis import strategies as st

from agent.rules.lexicon.value_phrase_index import FieldKey, PhraseValues, ValuePhraseIndex, ValueStyle
from storage.search.ids import FieldName
from storage.search.index import ValueCount
from storage.text.snowball_analyser import analyser_for

SHOP: FieldKey = FieldName("shop"), None
KIND: FieldKey = FieldName("kind"), None
ITEM: FieldKey = FieldName("items"), FieldName("name")
ENGLISH = analyser_for("en")


def value_counts_for(*values: str) -> tuple[ValueCount, ...]:
    return tuple(ValueCount(value=value, count=count) for count, value in enumerate(values, 1))


def a_value_index() -> ValuePhraseIndex:
    index = ValuePhraseIndex(ENGLISH)
    index.add_values(SHOP, value_counts_for("Blue Door Ltd", "Blue Door Inc", "Red Lion", "Lion"), is_categorical=False)
    index.add_values(
        KIND, value_counts_for("power transistor", "small signal transistor", "diode"), is_categorical=True
    )
    index.add_values(ITEM, value_counts_for("tea", "red tea"), is_categorical=False)
    return index


def test_a_value_is_found_as_it_is_written_and_without_its_legal_form() -> None:
    index = a_value_index()

    assert list(index.match_phrase("red lion")) == [
        PhraseValues(field_key=SHOP, values=["Red Lion"], document_count=3, by_head_words=False)
    ]
    [match] = index.match_phrase("blue door")
    assert (match.values, match.document_count, match.by_head_words) == (["Blue Door Ltd", "Blue Door Inc"], 3, False)
    assert list(index.match_phrase("door")) == []


def test_a_category_is_found_by_its_last_words() -> None:
    [match] = a_value_index().match_phrase("transistor")

    assert (match.field_key, match.values, match.by_head_words) == (
        KIND,
        ["power transistor", "small signal transistor"],
        True,
    )


def test_a_prefix_consists_of_whole_terms() -> None:
    index = a_value_index()

    assert [index.has_prefix(phrase) for phrase in ("blue", "blue door", "signal", "blu", "door", "")] == [
        *(True, True, True, False, False, False)
    ]


def test_a_term_has_postings_grouped_by_field() -> None:
    index = a_value_index()

    values_by_field = {
        key: set(index.values_at(key, positions)) for key, positions in index.postings_for("red").items()
    }

    assert values_by_field == {SHOP: {"Red Lion"}, ITEM: {"red tea"}}
    assert (index.has_term("lion"), index.has_term("diod"), index.has_term("tea")) == (True, False, True)
    assert set(index.values_at(ITEM, index.postings_for("tea")[ITEM])) == {"tea", "red tea"}
    assert (index.style_of(SHOP), index.style_of(KIND), index.style_of(ITEM)) == (
        ValueStyle.NAMES,
        ValueStyle.PLAIN,
        ValueStyle.ITEMS,
    )


def test_prose_is_found_only_by_the_whole_value() -> None:
    index = ValuePhraseIndex(ENGLISH)
    index.add_values(SHOP, value_counts_for("the gate is left of the yard"), is_categorical=False)

    assert [match.values for match in index.match_phrase("the gate is left of the yard")] == [
        ["the gate is left of the yard"]
    ]
    assert (index.has_term("gate"), index.postings_for("gate")) == (False, {})


@given(st.lists(st.text(max_size=12) | st.sampled_from(["Ende\n", "naïve Ünïon", "½ cup", "東京 Tower", "", "a_b"])))
def test_the_terms_of_a_batch_equal_the_terms_of_each_text(texts: list[str]) -> None:
    assert list(ENGLISH.joined_terms_of(texts)) == [
        " ".join(ENGLISH.index_terms_of(text).joined_terms.split()) for text in texts
    ]
