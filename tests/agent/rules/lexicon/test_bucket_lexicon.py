"""The lexicon links the words of questions to the titles of documents."""

from collections.abc import Sequence

from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, ValueMatch
from agent.rules.words.tokens import tokenize_question
from storage.search.conditions import TITLE_FIELD
from storage.search.ids import BucketId, FieldName
from storage.search.index import FieldVocabulary, ValueCount
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.snowball_analyser import analyser_for

LIGHTHOUSES = BucketId("lighthouses")
NEIGHBOURS, NAME = FieldName("neighbours"), FieldName("name")


def _lexicon(
    field: SchemaField, values: Sequence[str], titles: Sequence[str], others: Sequence[SchemaField] = ()
) -> BucketLexicon:
    vocabulary = FieldVocabulary(
        bucket=LIGHTHOUSES,
        field=field.name,
        document_count=len(titles),
        values=tuple(ValueCount(value=value, count=1) for value in values),
    )
    schema = Schema(bucket=LIGHTHOUSES, fields=(field, *others))
    title_counts = [ValueCount(value=title, count=1) for title in titles]
    return BucketLexicon(schema, [vocabulary], analyser_for("en"), len(titles), title_counts)


def _value_matches(lexicon: BucketLexicon, question: str) -> list[ValueMatch]:
    tokens = tokenize_question(question, lexicon.analyser)
    links = sorted(lexicon.find_links(tokens), key=lambda link: -link.weight)
    return [link.meaning for link in links if isinstance(link.meaning, ValueMatch)]


def test_a_title_comes_before_the_same_name_as_a_value_of_others() -> None:
    neighbours = SchemaField(name=NEIGHBOURS, type=FieldType.LIST)
    lexicon = _lexicon(neighbours, ["Skarholm", "Vitgrund"], ["Skarholm", "Vitgrund"])

    matches = _value_matches(lexicon, "how tall is Skarholm")

    assert [match.field for match in matches] == [TITLE_FIELD, NEIGHBOURS]


def test_titles_that_a_field_repeats_are_linked_once() -> None:
    name = SchemaField(name=NAME, type=FieldType.TEXT)
    lexicon = _lexicon(name, ["Skarholm", "Vitgrund"], ["Skarholm", "Vitgrund"])

    assert [match.field for match in _value_matches(lexicon, "how tall is Skarholm")] == [NAME]


def test_a_word_of_a_title_does_not_stand_for_it() -> None:
    neighbours = SchemaField(name=NEIGHBOURS, type=FieldType.LIST)
    lexicon = _lexicon(neighbours, ["Elsewhere"], ["Old Skarholm Light", "Vitgrund"])

    assert _value_matches(lexicon, "the light of Skarholm") == []


def test_the_name_of_a_bucket_stands_for_all_its_documents_and_not_for_a_value() -> None:
    kind = SchemaField(name=FieldName("kind"), type=FieldType.CATEGORY)
    lexicon = _lexicon(kind, ["lighthouse", "buoy"], ["Skarholm", "Vitgrund"])

    assert _value_matches(lexicon, "which lighthouses are tall") == []
    assert [match.value for match in _value_matches(lexicon, "which buoys are tall")] == ["buoy"]


def test_words_written_as_one_or_as_two_are_the_same_value() -> None:
    channel = SchemaField(name=FieldName("channel"), type=FieldType.CATEGORY)
    lexicon = _lexicon(channel, ["signal tower", "foghorn", "e-post"], ["Skarholm", "Vitgrund", "Elsewhere"])

    for question, value in (
        ("which report by signaltower", "signal tower"),
        ("which report by fog horn", "foghorn"),
        ("which report by fog-horn", "foghorn"),
        ("which report by epost", "e-post"),
    ):
        assert [match.value for match in _value_matches(lexicon, question)] == [value]


def test_function_words_are_not_joined() -> None:
    channel = SchemaField(name=FieldName("channel"), type=FieldType.CATEGORY)
    lexicon = _lexicon(channel, ["apart", "foghorn"], ["Skarholm", "Vitgrund"])

    assert _value_matches(lexicon, "which is a part of it") == []


def test_initials_stand_for_a_column_and_for_a_value() -> None:
    item = SchemaField(name=FieldName("item"), type=FieldType.CATEGORY)
    values = ["Blood pressure monitor", "Fire alarm panel"]
    lexicon = _lexicon(item, values, ["Skarholm", "Vitgrund", "Elsewhere", "Nowhere", "Anywhere", "Somewhere"])

    assert [match.value for match in _value_matches(lexicon, "when is the bp machine due")] == [values[0]]
    assert _value_matches(lexicon, "when is the fap due") == []  # has a vowel, so that it may be a word


def test_the_words_for_an_acronym_mention_its_column() -> None:
    received = SchemaField(name=FieldName("RA received"), type=FieldType.FLAG)
    lexicon = _lexicon(received, [], ["Skarholm", "Vitgrund"])
    tokens = tokenize_question("who has sent no risk assessment", lexicon.analyser)

    meanings = {(link.first, link.last): link.meaning for link in lexicon.find_links(tokens)}

    assert meanings[4, 6] == FieldMention(FieldName("RA received"))


def test_the_plural_of_what_a_column_numbers_names_the_documents() -> None:
    others = [SchemaField(name=FieldName(name), type=FieldType.NUMBER) for name in ("From", "To", "Pay")]
    shift = SchemaField(name=FieldName("Shift"), type=FieldType.CATEGORY)
    lexicon = _lexicon(shift, ["V001", "V002"], ["Skarholm", "Vitgrund"], others)

    def names_documents(question: str) -> bool:
        tokens = tokenize_question(question, lexicon.analyser)
        return any(link.meaning == BucketNoun() for link in lexicon.find_links(tokens))

    assert names_documents("how many shifts are there")
    assert not names_documents("which shift is V001")


def test_a_noun_of_the_documents_is_no_part_of_a_value_that_shares_its_stem() -> None:
    notes = SchemaField(name=NAME, type=FieldType.CATEGORY)
    vocabulary = FieldVocabulary(
        bucket=LIGHTHOUSES,
        field=notes.name,
        document_count=3,
        values=(ValueCount(value="second season", count=1), ValueCount(value="third season", count=1)),
    )
    schema = Schema(bucket=LIGHTHOUSES, synonyms=("seasonal", "seasonals"), fields=(notes,))
    lexicon = BucketLexicon(schema, [vocabulary], analyser_for("en"), 3, [])

    def meanings_at(index: int, question: str) -> set[str]:
        links = lexicon.find_links(tokenize_question(question, lexicon.analyser))
        return {type(link.meaning).__name__ for link in links if (link.first, link.last) == (index, index + 1)}

    assert meanings_at(2, "how many seasonal keepers") == {"BucketNoun"}
    assert "PartialMatch" in meanings_at(3, "keepers in their season")
