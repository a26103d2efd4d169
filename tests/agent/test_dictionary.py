"""The values of a bucket, found by their words."""

from hypothesis import given
from hypothesis import strategies as st

from agent.rules.dictionary import Called, Dictionary, Key, Kind
from storage.analysis import analyser_for
from storage.search.ids import FieldName
from storage.search.index import ValueCount

SHOP: Key = FieldName("shop"), None
KIND: Key = FieldName("kind"), None
ITEM: Key = FieldName("items"), FieldName("name")
ENGLISH = analyser_for("en")


def counted(*values: str) -> tuple[ValueCount, ...]:
    return tuple(ValueCount(value=value, count=at) for at, value in enumerate(values, 1))


def a_dictionary() -> Dictionary:
    made = Dictionary(ENGLISH)
    made.add(SHOP, counted("Blue Door Ltd", "Blue Door Inc", "Red Lion", "Lion"), are_kinds=False)
    made.add(KIND, counted("power transistor", "small signal transistor", "diode"), are_kinds=True)
    made.add(ITEM, counted("tea", "red tea"), are_kinds=False)
    return made


def test_a_value_is_found_as_it_is_written_and_without_its_legal_form() -> None:
    made = a_dictionary()

    assert list(made.called("red lion")) == [Called(key=SHOP, values=["Red Lion"], documents=3, by_head=False)]
    [bare] = made.called("blue door")
    assert (bare.values, bare.documents, bare.by_head) == (["Blue Door Ltd", "Blue Door Inc"], 3, False)
    assert list(made.called("door")) == []


def test_a_kind_is_found_by_its_last_words() -> None:
    [found] = a_dictionary().called("transistor")

    assert (found.key, found.values, found.by_head) == (KIND, ["power transistor", "small signal transistor"], True)


def test_a_phrase_may_begin_one_by_whole_terms_alone() -> None:
    made = a_dictionary()

    assert [made.begins(phrase) for phrase in ("blue", "blue door", "signal", "blu", "door", "")] == [
        *(True, True, True, False, False, False)
    ]


def test_a_word_of_several_points_at_its_values_field_by_field() -> None:
    made = a_dictionary()

    found = {key: set(made.values_at(key, at)) for key, at in made.places("red").items()}

    assert found == {SHOP: {"Red Lion"}, ITEM: {"red tea"}}
    assert (made.holds("lion"), made.holds("diod"), made.holds("tea")) == (True, False, True)
    assert set(made.values_at(ITEM, made.places("tea")[ITEM])) == {"tea", "red tea"}
    assert (made.kind(SHOP), made.kind(KIND), made.kind(ITEM)) == (Kind.NAMES, Kind.PLAIN, Kind.ITEMS)


def test_sentences_are_found_whole_or_not_at_all() -> None:
    made = Dictionary(ENGLISH)
    made.add(SHOP, counted("the gate is left of the yard"), are_kinds=False)

    assert [one.values for one in made.called("the gate is left of the yard")] == [["the gate is left of the yard"]]
    assert (made.holds("gate"), made.places("gate")) == (False, {})


@given(st.lists(st.text(max_size=12) | st.sampled_from(["Ende\n", "naïve Ünïon", "½ cup", "東京 Tower", "", "a_b"])))
def test_the_terms_of_many_texts_are_those_of_each(texts: list[str]) -> None:
    assert list(ENGLISH.each(texts)) == [" ".join(ENGLISH.unplaced(text).terms.split()) for text in texts]
