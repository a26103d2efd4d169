"""The contract of language packs: every pack has every part that the reading of questions needs."""

import pytest

from agent.languages.language_pack import LanguagePack, list_packs, load_pack
from storage.text.vocabulary import list_vocabularies

# English words that every pack must be able to say, by the part of a question that they belong to.
_REQUIRED_PHRASES = {
    "question words": ("who", "what", "when", "where", "which", "how many", "how much", "how long", "why"),
    "comparators": ("more than", "less than", "at least", "at most", "between", "since", "older than"),
    "negation": ("not", "no", "without", "except", "not yet", "no longer"),
    "aggregates": ("number of", "sum of", "average", "in total", "most", "fewest"),
    "groupings": ("per", "sorted by"),
    "conjunctions": ("and", "or", "only", "also"),
    "follow-ups": ("what about", "of them", "the second one", "the last one"),
    "requests": ("show me", "list", "please", "are there", "as csv", "export", "summarise", "compare"),
    "relative days": ("today", "yesterday", "last month", "this year", "last year", "next week", "Q1", "Q4"),
    "units of time": ("day", "days", "week", "weeks", "month", "months", "year", "years"),
    "numbers": ("two", "three", "ten", "million"),
}
_REQUIRED_DEGREES = (
    "most expensive", "cheapest", "highest", "lowest", "largest", "smallest", "oldest", "newest", "longest", "best",
)  # fmt: skip
_REQUIRED_NOUNS = (
    "contract", "invoice", "supplier", "customer", "employee", "salary", "city", "country", "amount", "price", "date",
    "end", "start", "department", "status", "colour", "name", "number", "product", "project", "term", "address",
)  # fmt: skip
_MIN_VOCABULARY_WORDS = 300


@pytest.fixture(params=list_packs())
def pack(request: pytest.FixtureRequest) -> LanguagePack:
    loaded = load_pack(request.param)
    assert loaded is not None
    return loaded


def test_every_pack_has_a_vocabulary_and_every_vocabulary_a_pack() -> None:
    assert set(list_packs()) == set(list_vocabularies())


def test_a_language_without_a_pack_has_none() -> None:
    assert load_pack("xx") is None
    assert load_pack("../de") is None


@pytest.mark.parametrize("part", _REQUIRED_PHRASES)
def test_a_pack_says_the_words_of_each_part_of_a_question(pack: LanguagePack, part: str) -> None:
    missing = [english for english in _REQUIRED_PHRASES[part] if not pack.content.phrases.get(english)]

    assert not missing


def test_a_pack_has_the_degrees_of_common_adjectives(pack: LanguagePack) -> None:
    assert not [degree for degree in _REQUIRED_DEGREES if degree not in pack.degrees]


def test_a_pack_has_the_closed_classes_that_the_order_of_words_needs(pack: LanguagePack) -> None:
    content = pack.content
    for members in (content.articles, content.auxiliaries, content.prepositions, content.ago, content.inverting_words):
        assert members
    assert {use.other for use in content.prepositions.values()} >= {"of"}
    assert content.decimal_mark in (",", ".")


def test_a_vocabulary_has_the_words_of_everyday_business(pack: LanguagePack) -> None:
    english = {word for entry in pack.vocabulary.list_entries() for word in entry.english}

    assert not [noun for noun in _REQUIRED_NOUNS if noun not in english]
    assert len(english) >= _MIN_VOCABULARY_WORDS


def test_words_with_accents_are_known_without_them(pack: LanguagePack) -> None:
    for form in pack.content.function_words:
        assert pack.fold_word(form) in pack.function_words
