"""Caches lexicons between questions, since building one reads every value of a bucket."""

from collections import OrderedDict
from collections.abc import Mapping
from typing import TypeAlias

from agent.decomposition import QuestionContext
from agent.rules.lexicon.bucket_lexicon import BucketLexicon, build_lexicons
from storage.search.ids import BucketId
from storage.search.index import FieldVocabulary, ValueCount

_MAX_CACHED_PER_BUCKET = 8  # lexicons per bucket of a question, since each scope may see other values in one bucket
_BucketVocabulary: TypeAlias = tuple[FieldVocabulary, ...]
_CacheKey: TypeAlias = tuple[BucketId, int, tuple[int, ...]]
_BucketTitles: TypeAlias = tuple[ValueCount, ...]


class LexiconCache:
    """An LRU cache of lexicons, one entry per bucket and vocabulary.

    A lexicon is built again when the schema or the visible values of its bucket change; the other buckets keep their
    lexicons. So a bucket that only one conversation sees adds one entry and evicts no others.
    """

    def __init__(self) -> None:
        # An entry holds its vocabulary and titles too, so that no other object gets the ids in the key.
        self._cached_lexicons = OrderedDict[_CacheKey, tuple[_BucketVocabulary, _BucketTitles, BucketLexicon]]()

    def lexicons_for(self, question_context: QuestionContext) -> Mapping[BucketId, BucketLexicon]:
        vocabularies = {bucket: question_context.vocabulary.fields_of(bucket) for bucket in question_context.schemas}
        titles = {bucket: question_context.vocabulary.titles_of(bucket) for bucket in question_context.schemas}
        keys = {bucket: _cache_key(bucket, vocabulary, question_context) for bucket, vocabulary in vocabularies.items()}
        missing = {
            bucket: schema
            for bucket, schema in question_context.schemas.items()
            if keys[bucket] not in self._cached_lexicons or self._cached_lexicons[keys[bucket]][2].schema != schema
        }
        built = build_lexicons(missing, question_context.vocabulary, question_context.analysers)
        lexicons = {
            bucket: built[bucket] if bucket in built else self._cached_lexicons[key][2] for bucket, key in keys.items()
        }
        for bucket, lexicon in lexicons.items():
            self._cached_lexicons[keys[bucket]] = (vocabularies[bucket], titles[bucket], lexicon)
            self._cached_lexicons.move_to_end(keys[bucket])
        while len(self._cached_lexicons) > _MAX_CACHED_PER_BUCKET * max(len(keys), 1):
            self._cached_lexicons.popitem(last=False)
        return lexicons


def _cache_key(bucket: BucketId, bucket_vocabulary: _BucketVocabulary, question_context: QuestionContext) -> _CacheKey:
    vocabulary = question_context.vocabulary
    identities = (*map(id, bucket_vocabulary), id(vocabulary.titles_of(bucket)))
    return bucket, vocabulary.document_count_of(bucket), identities
