"""Similarity in meaning between the words of a question and the labels of a schema, by vectors of static embeddings.

A word that is not a label, but means nearly the same, is a hint at the field: "wage" for a field "salary". The cosine
of two unrelated English words lies around 0.1 in the model that ships with Parley, that of near synonyms above 0.4;
both were measured on some fifty pairs of words.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from heapq import nlargest
from typing import TYPE_CHECKING, TypeAlias, cast
from weakref import WeakKeyDictionary

from cachetools import LRUCache

from agent.evidence.word_meanings import TextEmbedder
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from storage.search.ids import BucketId, FieldName

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

MIN_SIMILARITY = 0.42  # cosine from which a word means nearly the same as a label
_MIN_SUGGESTED_SIMILARITY = 0.25  # cosine from which a field is a guess worth offering
_MIN_MARGIN = 0.08  # by which the best label must be nearer than that of any other field
MIN_NEAREST_SIMILARITY = 0.2  # cosine from which a word chooses among a few fields of the kind that is asked for
_MIN_NEAREST_MARGIN = 0.12  # by which that field must be nearer than the others
_MAX_VALUES = 30  # values of a field that are compared, if it has no more
_MIN_LIKE_VALUE = 0.35  # cosine from which a value may be what a word means: see agent.evidence.word_meanings
_MAX_LIKE_VALUES = 3  # kept for a word
_WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelVectors:
    """The vectors of the labels and values of one bucket.

    Row i belongs to `fields[i]`, None for a noun of the bucket. Names and titles come first, then synonyms from row
    `first_synonym` on, then values from row `first_value` on.
    """

    fields: tuple[FieldName | None, ...]
    values: tuple[str, ...]  # as documents hold them; of the rows from `first_value` on
    first_synonym: int
    first_value: int
    matrix: "Vectors"


Similarities: TypeAlias = Mapping[FieldName | None, float]
"""The cosine of a word and the nearest text of each field, and of the bucket's nouns (None)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LikeValue:
    """A value of a field that means nearly what a word means."""

    field: FieldName
    value: str
    cosine: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WordSimilarities:
    """The similarities of the words of one question to the schema of one bucket; empty without an embedder."""

    names_by_word: Mapping[str, Similarities] = field(default_factory=dict[str, Similarities])  # without synonyms
    labels_by_word: Mapping[str, Similarities] = field(default_factory=dict[str, Similarities])
    values_by_word: Mapping[str, Similarities] = field(default_factory=dict[str, Similarities])
    like_values_by_word: Mapping[str, tuple[LikeValue, ...]] = field(default_factory=dict[str, tuple[LikeValue, ...]])
    words_near_labels: Set[str] | None = None  # as near as MIN_SIMILARITY to some label; None: not known

    def like_values_of(self, word: str) -> tuple[LikeValue, ...]:
        """Returns the few values that are nearest to the word in meaning, the nearest first."""
        return self.like_values_by_word.get(word.casefold(), ())

    def find_similar_field(self, word: str) -> FieldName | None:
        """Returns the only field whose label means nearly the same as the word."""
        folded = word.casefold()
        if self.words_near_labels is not None and folded not in self.words_near_labels:
            return None
        scores = self.labels_by_word.get(folded)
        if not scores:
            return None
        ranked = sorted(((score, name) for name, score in scores.items()), key=_score_of, reverse=True)
        if not ranked or ranked[0][0] < MIN_SIMILARITY:
            return None
        is_clear = len(ranked) == 1 or ranked[0][0] - ranked[1][0] >= _MIN_MARGIN
        return ranked[0][1] if is_clear else None

    def nearest_of(self, word: str, among: Iterable[FieldName]) -> FieldName | None:
        """Returns the one of `among` whose label is nearest to the word; None if two are about as near."""
        scores = self.labels_by_word.get(word.casefold(), {})
        ranked = sorted(((scores.get(name, 0.0), name) for name in among), key=_score_of, reverse=True)
        if not ranked or ranked[0][0] < _MIN_SUGGESTED_SIMILARITY:
            return None
        is_clear = len(ranked) == 1 or ranked[0][0] - ranked[1][0] >= _MIN_MARGIN
        return ranked[0][1] if is_clear else None

    def find_nearest_field(
        self, words: Iterable[str], names: Sequence[FieldName], min_similarity: float = MIN_NEAREST_SIMILARITY
    ) -> FieldName | None:
        """Returns the one of a few fields whose name is clearly nearest to one of the words; less than a synonym will
        do, since one of them is asked for.
        """
        texts = [word.casefold() for word in words]
        scores = {
            name: max((self.names_by_word.get(word, {}).get(name, 0.0) for word in texts), default=0.0)
            for name in names
        }
        ranked = sorted(names, key=lambda name: -scores[name])
        if len(ranked) < 2 or scores[ranked[0]] < min_similarity:
            return None
        return ranked[0] if scores[ranked[0]] - scores[ranked[1]] >= _MIN_NEAREST_MARGIN else None

    def similarity_to_noun(self, word: str) -> float:
        """Returns the cosine of the word and the nearest noun of the bucket; 0 if it is not known."""
        return self.labels_by_word.get(word.casefold(), {}).get(None, 0.0)

    def rank_fields(self, words: Iterable[str]) -> tuple[FieldName, ...]:
        """Returns the fields with a label or a value similar to any of the words, the most similar first."""
        best: dict[FieldName, float] = {}
        for word in (word for text in words for word in text.casefold().split()):
            for scores in (self.labels_by_word.get(word, {}), self.values_by_word.get(word, {})):
                for name, score in scores.items():
                    if name is not None:
                        best[name] = max(score, best.get(name, -1.0))
        near = [name for name, score in best.items() if score >= _MIN_SUGGESTED_SIMILARITY]
        return tuple(sorted(near, key=lambda name: -best[name]))


NO_SIMILARITIES = WordSimilarities()


class LabelEmbeddings:
    """Computes similarities; keeps the vectors of words and labels."""

    def __init__(self, embedder: TextEmbedder | None, *, max_cached_texts: int = 50_000) -> None:
        self._embedder = embedder
        self._vector_by_text: LRUCache[str, Vectors] = LRUCache(max_cached_texts)
        self._labels_by_lexicon: WeakKeyDictionary[BucketLexicon, LabelVectors] = WeakKeyDictionary()

    async def compare_words(
        self, question: str, lexicons: Mapping[BucketId, BucketLexicon]
    ) -> Mapping[BucketId, WordSimilarities]:
        """Returns the similarities of the words of the question, by bucket."""
        words = list(dict.fromkeys(_WORD.findall(question.casefold())))
        if self._embedder is None or not words:
            return {}
        word_vectors = await self._embed_texts(words)
        labels = {bucket: await self._label_vectors_of(lexicon) for bucket, lexicon in lexicons.items()}
        return {
            bucket: _compare_with_labels(words, word_vectors, vectors)
            for bucket, vectors in labels.items()
            if vectors.fields
        }

    async def _label_vectors_of(self, lexicon: BucketLexicon) -> LabelVectors:
        cached = self._labels_by_lexicon.get(lexicon)
        if cached is not None:
            return cached
        names, synonyms, values = list(_names_of(lexicon)), list(_synonyms_of(lexicon)), list(_values_of(lexicon))
        texts = [*names, *synonyms, *values]
        vectors = LabelVectors(
            fields=tuple(name for name, _ in texts),
            values=tuple(value for _, value in values),
            first_synonym=len(names),
            first_value=len(names) + len(synonyms),
            matrix=await self._embed_texts([text.casefold() for _, text in texts]),
        )
        self._labels_by_lexicon[lexicon] = vectors
        return vectors

    async def _embed_texts(self, texts: Sequence[str]) -> "Vectors":
        """Other turns change the cache while this one waits, so the vectors that it needs are kept beside it."""
        import numpy as np

        vectors = {text: self._vector_by_text.get(text) for text in texts}
        missing = [text for text, vector in vectors.items() if vector is None]
        if missing and self._embedder is not None:
            embedded = dict(zip(missing, await self._embedder.embed_texts(missing), strict=True))
            vectors |= embedded
            self._vector_by_text.update(embedded)
        return np.array([vectors[text] for text in texts])


def _names_of(lexicon: BucketLexicon) -> Iterator[tuple[FieldName | None, str]]:
    schema = lexicon.schema
    for noun in (schema.bucket.replace("_", " "), schema.title, *schema.synonyms):
        if noun:
            yield None, noun.casefold()
    for schema_field in schema.fields:
        for text in (schema_field.name.replace("_", " "), schema_field.title):
            if text:
                yield schema_field.name, text.casefold()


def _synonyms_of(lexicon: BucketLexicon) -> Iterator[tuple[FieldName | None, str]]:
    """Yields the synonyms of the fields; no question phrases, whose words are those of any question."""
    for schema_field in lexicon.schema.fields:
        yield from ((schema_field.name, text.casefold()) for text in schema_field.plain_synonyms)


def _values_of(lexicon: BucketLexicon) -> Iterator[tuple[FieldName | None, str]]:
    for schema_field in lexicon.schema.fields:
        vocabulary = lexicon.vocabulary_of(schema_field.name)
        if vocabulary is not None and len(vocabulary.values) <= _MAX_VALUES:
            yield from ((schema_field.name, value.value) for value in vocabulary.values)


def _compare_with_labels(words: Sequence[str], word_vectors: "Vectors", labels: LabelVectors) -> WordSimilarities:
    cosines = word_vectors @ labels.matrix.T
    synonym, first = labels.first_synonym, labels.first_value
    rows = {word: row for row, word in enumerate(words)}
    highest = cast(list[float], cosines[:, :first].max(axis=1, initial=-1.0).tolist())
    return WordSimilarities(
        names_by_word=_BestScores(rows, labels.fields[:synonym], cosines[:, :synonym]),
        labels_by_word=_BestScores(rows, labels.fields[:first], cosines[:, :first]),
        values_by_word=_BestScores(rows, labels.fields[first:], cosines[:, first:]),
        like_values_by_word=_LikeValues(rows, labels, cosines[:, first:]),
        words_near_labels={word for word, cosine in zip(words, highest, strict=True) if cosine >= MIN_SIMILARITY},
    )


class _LikeValues(Mapping[str, tuple[LikeValue, ...]]):
    """The values with the largest cosines by word, if they are large enough. Computed for a word that is asked for."""

    def __init__(self, rows: Mapping[str, int], labels: LabelVectors, cosines: "Vectors") -> None:
        self._rows = rows
        self._fields, self._values = labels.fields[labels.first_value :], labels.values
        self._cosines = cosines

    def __getitem__(self, word: str) -> tuple[LikeValue, ...]:
        cosines = cast(list[float], self._cosines[self._rows[word]].tolist())
        likes = (
            LikeValue(field=name, value=value, cosine=cosine)
            for name, value, cosine in zip(self._fields, self._values, cosines, strict=True)
            if name is not None and cosine >= _MIN_LIKE_VALUE
        )
        return tuple(nlargest(_MAX_LIKE_VALUES, likes, key=lambda like: like.cosine))

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


class _BestScores(Mapping[str, Similarities]):
    """The largest cosine of each field by word. It is computed for a word that is asked for: of most, none asks."""

    def __init__(self, rows: Mapping[str, int], fields: Sequence[FieldName | None], cosines: "Vectors") -> None:
        self._rows = rows
        self._fields, self._cosines = fields, cosines
        self._scores_by_word: dict[str, Similarities] = {}

    def __getitem__(self, word: str) -> Similarities:
        scores = self._scores_by_word.get(word)
        if scores is None:
            scores = self._scores_by_word[word] = self._find_scores(self._rows[word])
        return scores

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def _find_scores(self, row: int) -> Similarities:
        best: dict[FieldName | None, float] = {}
        for name, score in zip(self._fields, cast(list[float], self._cosines[row].tolist()), strict=True):
            if name not in best or score > best[name]:
                best[name] = score
        return best


def _score_of(scored: tuple[float, FieldName | None]) -> float:
    return scored[0]
