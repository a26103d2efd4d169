"""Similarity of words and labels: concurrent turns share one cache of vectors."""

import asyncio
import gc
import weakref
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.linking.label_similarity import LabelEmbeddings
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.snowball_analyser import analyser_for

HOUSES = BucketId("houses")


class SlowEmbedder:
    """Gives each text a vector by its length; lets other turns run before it returns."""

    async def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        await asyncio.sleep(0)
        angles = np.array([len(text) / 10 for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def a_lexicon() -> BucketLexicon:
    rent = SchemaField(name=FieldName("rent"), type=FieldType.MONEY, synonyms=("monthly payment",))
    rooms = SchemaField(name=FieldName("rooms"), type=FieldType.NUMBER)
    return BucketLexicon(Schema(bucket=HOUSES, fields=(rent, rooms)), [], analyser_for("en"), 0)


async def test_a_full_cache_of_vectors_disturbs_no_other_turn() -> None:
    embeddings, lexicons = LabelEmbeddings(SlowEmbedder(), max_cached_texts=2), {HOUSES: a_lexicon()}
    questions = ("what wage here", "which garden is largest", "wage and garden")

    similarities = await asyncio.gather(*(embeddings.compare_words(question, lexicons) for question in questions))

    assert [set(found[HOUSES].labels_by_word) for found in similarities] == [
        {"what", "wage", "here"}, {"which", "garden", "largest"}, {"wage", "and", "garden"},
    ]  # fmt: skip


async def test_a_field_is_as_similar_as_the_nearest_of_its_labels() -> None:
    embeddings = LabelEmbeddings(SlowEmbedder())

    similarities = await embeddings.compare_words("wage", {HOUSES: a_lexicon()})

    by_field = similarities[HOUSES].labels_by_word["wage"]
    assert {name: round(score, 3) for name, score in by_field.items()} == {
        None: round(float(np.cos(0.2)), 3), "rent": 1.0, "rooms": round(float(np.cos(0.1)), 3),
    }  # fmt: skip


async def test_vectors_do_not_keep_an_outdated_lexicon_in_memory() -> None:
    embeddings, lexicon = LabelEmbeddings(SlowEmbedder()), a_lexicon()
    await embeddings.compare_words("wage", {HOUSES: lexicon})
    outdated = weakref.ref(lexicon)

    del lexicon
    gc.collect()

    assert outdated() is None
