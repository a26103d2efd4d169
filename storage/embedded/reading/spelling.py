"""Spelling suggestions: similar words among the words of visible documents."""

from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np
from rapidfuzz.distance import DamerauLevenshtein
from rapidfuzz.process import extract_iter

from storage.embedded.columns import Mask
from storage.embedded.reading.condition_masks import EmbeddedBucketReader
from storage.search.index import SpellingRequest, SpellingSuggestion

_MAX_EDITS = 2


def suggest_spellings(
    readers_and_masks: Sequence[tuple[EmbeddedBucketReader, Mask]], request: SpellingRequest
) -> tuple[SpellingSuggestion, ...]:
    """Suggest words. `readers_and_masks`: each requested bucket with its visible documents."""
    matches = dict[str, tuple[int, int]]()  # word -> distance, number of documents
    for reader, visible in readers_and_masks:
        words = [word.text for word in reader.analyser.extract_words(request.word)]
        if len(words) != 1:
            continue
        for word, distance in _find_similar_words(reader, words[0]):
            if document_count := _count_visible_documents(reader, word, visible):
                matches[word] = (distance, document_count + matches.get(word, (0, 0))[1])
    ranked = sorted(matches.items(), key=lambda item: (item[1][0], -item[1][1], item[0]))
    return tuple(
        SpellingSuggestion(word=word, distance=distance, document_count=document_count)
        for word, (distance, document_count) in ranked[: max(request.limit, 0)]
    )


def _find_similar_words(reader: EmbeddedBucketReader, misspelling: str) -> Iterator[tuple[str, int]]:
    similar_words = extract_iter(
        misspelling,
        _words_of(reader),
        scorer=DamerauLevenshtein.distance,
        processor=None,
        score_cutoff=_MAX_EDITS,
    )
    return ((word, int(distance)) for word, distance, _ in similar_words if distance > 0)


def _words_of(reader: EmbeddedBucketReader) -> Sequence[str]:
    """Returns all words of the bucket, also those of documents that are not visible.

    The caller must suggest only words with visible documents (`_count_visible_documents`).
    """

    def load_words() -> Sequence[str]:
        table = f"spelt_{reader.bucket.header.id:d}"
        return [row[0] for row in reader.connection.execute(f"SELECT term FROM {table}")]  # noqa: S608

    return cast(Sequence[str], reader.bucket.derived_cache.get_or_compute("words", load_words))


def _count_visible_documents(reader: EmbeddedBucketReader, word: str, visible: Mask) -> int:
    """Returns the number of visible documents with the word."""
    bucket = reader.bucket
    table = f"words_{bucket.header.id:d}"
    rows = reader.connection.execute(
        f"SELECT rowid FROM {table} WHERE {table} MATCH ?",  # noqa: S608
        (f'"{word}"',),
    ).fetchall()
    return int(visible[bucket.positions_of(np.array([row[0] for row in rows], dtype=np.int64))].sum())
