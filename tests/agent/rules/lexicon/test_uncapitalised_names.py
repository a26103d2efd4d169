"""Parts of names that people type without capitals."""

import pytest

from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import PartialMatch, ValueMatch
from agent.rules.words.tokens import tokenize_question
from storage.search.ids import BucketId, FieldName
from storage.search.index import FieldVocabulary, ValueCount
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.snowball_analyser import analyser_for

BOATS, OWNER = BucketId("boats"), FieldName("owner")
OWNERS = ("Paul Kerr", "Sean O'Brien", "Mary St. Clair", "Strand Electrical", "Ann Long", "Anders Lund", "Eva Lund")


@pytest.fixture(scope="module")
def lexicon() -> BucketLexicon:
    vocabulary = FieldVocabulary(
        bucket=BOATS,
        field=OWNER,
        document_count=len(OWNERS),
        values=tuple(ValueCount(value=value, count=1) for value in OWNERS),
    )
    schema = Schema(bucket=BOATS, fields=(SchemaField(name=OWNER, type=FieldType.CATEGORY),))
    return BucketLexicon(schema, [vocabulary], analyser_for("en"), len(OWNERS), ())


def owners_in(lexicon: BucketLexicon, question: str) -> set[str]:
    links = lexicon.find_links(tokenize_question(question, lexicon.analyser))
    return {value for link in links if isinstance(link.meaning, PartialMatch) for value in link.meaning.values}


@pytest.mark.parametrize(
    ("question", "owners"),
    [
        ("boats of kerr", {"Paul Kerr"}),
        ("which boats does kerr own", {"Paul Kerr"}),
        ("what does mr kerr want", {"Paul Kerr"}),
        ("how many boats does obrien have", {"Sean O'Brien"}),
        ("boats of o'brien", {"Sean O'Brien"}),
        ("boats of o’brien", {"Sean O'Brien"}),
        ("boats that belong to st clair since march", {"Mary St. Clair"}),
        ("anything from strand?", {"Strand Electrical"}),
        ("who has more boats, kerr or obrien?", {"Paul Kerr", "Sean O'Brien"}),
        ("and kerr?", {"Paul Kerr"}),
        ("what about st clair", {"Mary St. Clair"}),
        ("boats owned by lund", {"Anders Lund", "Eva Lund"}),
        ("is kerr still insured", {"Paul Kerr"}),
        ("who speaks for the obrien?", {"Sean O'Brien"}),
        ("boats that strand electrical repaired", {"Strand Electrical"}),
    ],
)
def test_a_part_of_a_name_stands_for_it_where_a_name_would_stand(
    lexicon: BucketLexicon, question: str, owners: set[str]
) -> None:
    assert owners_in(lexicon, question) == owners


@pytest.mark.parametrize(
    "question",
    [
        "faults with electrical wiring",
        "which boats are electrical",
        "boats for long",
        "Boats of kerr with Tansy",
        "strand boats",
        "strand or sell",
        "boats by strand",
    ],
)
def test_an_ordinary_word_is_no_part_of_a_name(lexicon: BucketLexicon, question: str) -> None:
    assert owners_in(lexicon, question) == set()


def test_a_name_is_known_without_its_apostrophe(lexicon: BucketLexicon) -> None:
    links = lexicon.find_links(tokenize_question("boats of sean obrien", lexicon.analyser))

    assert ValueMatch(OWNER, None, "Sean O'Brien") in [link.meaning for link in links]
