"""Values of fields that mean nearly what words of a question mean."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.linking.label_similarity import LabelEmbeddings, WordSimilarities
from agent.rules.linking.like_conditions import find_like_conditions
from storage.search.conditions import ComparisonCondition, ComparisonOperator
from storage.search.ids import BucketId, FieldName
from storage.search.index import FieldVocabulary, ValueCount
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.snowball_analyser import analyser_for

CLAIMS = BucketId("claims")
STATE, TAGS = FieldName("state"), FieldName("tags")
_ANGLES = {"broken": 0.0, "shattered": 0.3, "late": 1.6, "overdue": 1.9}  # of unit vectors; any other text: 3


class AngleEmbedder:
    """Gives each text a unit vector of a known angle."""

    async def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        angles = np.array([_ANGLES.get(text, 3.0) for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def build_lexicon() -> BucketLexicon:
    fields = (SchemaField(name=STATE, type=FieldType.CATEGORY), SchemaField(name=TAGS, type=FieldType.LIST))
    vocabularies = [
        FieldVocabulary(bucket=CLAIMS, field=name, document_count=9, values=(ValueCount(value=value, count=9),))
        for name, value in ((STATE, "Broken"), (TAGS, "Late"))
    ]
    return BucketLexicon(Schema(bucket=CLAIMS, fields=fields), vocabularies, analyser_for("en"), 9)


async def compare_words(question: str, lexicon: BucketLexicon) -> WordSimilarities:
    return (await LabelEmbeddings(AngleEmbedder()).compare_words(question, {CLAIMS: lexicon}))[CLAIMS]


@pytest.mark.asyncio
async def test_the_likest_values_of_all_words_come_first_then_each() -> None:
    lexicon = build_lexicon()
    similarities = await compare_words("what shattered and was overdue", lexicon)
    broken = ComparisonCondition(field=STATE, op=ComparisonOperator.EQ, value="Broken")
    late = ComparisonCondition(field=TAGS, op=ComparisonOperator.HAS, value="Late")

    found = [*find_like_conditions(("shattered", "overdue"), similarities, lexicon, taken_fields=())]

    assert [set(like.conditions) for like in found] == [{broken, late}, {broken}, {late}]
    assert found[0].similarity == pytest.approx(2 * np.cos(0.3), abs=1e-3)


@pytest.mark.asyncio
async def test_a_field_that_is_restricted_already_and_an_unlike_word_give_nothing() -> None:
    lexicon = build_lexicon()
    similarities = await compare_words("what shattered in the garden", lexicon)

    assert not [*find_like_conditions(("shattered",), similarities, lexicon, taken_fields=(STATE,))]
    assert not [*find_like_conditions(("garden",), similarities, lexicon, taken_fields=())]
