"""Lexicons kept from question to question, since making one looks at every value that a bucket holds."""

from collections import OrderedDict, defaultdict
from collections.abc import Mapping
from typing import TypeAlias

from agent.reasoner import Material
from agent.rules.lexicon import Lexicon, lexicons
from storage.search.ids import BucketId
from storage.search.index import FieldVocabulary

_KEPT = 8  # times the buckets of a question: as many scopes see other values in the same buckets
_Held: TypeAlias = tuple[FieldVocabulary, ...]
_Key: TypeAlias = tuple[BucketId, int, tuple[int, ...]]


class KeptLexicons:
    """Those asked for last, bucket by bucket.

    A bucket's is made anew when its schema or what is seen in it changed, whatever else the dictionary holds: a bucket
    that only one conversation sees takes one place, and the others stay.
    """

    def __init__(self) -> None:
        self._kept = OrderedDict[_Key, tuple[_Held, Lexicon]]()  # what is held, too: no other object gets its id

    def of(self, material: Material) -> Mapping[BucketId, Lexicon]:
        held = _held(material)
        keys = {bucket: _key(bucket, held.get(bucket, ()), material) for bucket in material.schemas}
        missing = {
            bucket: schema
            for bucket, schema in material.schemas.items()
            if keys[bucket] not in self._kept or self._kept[keys[bucket]][1].schema != schema
        }
        made = lexicons(missing, material.vocabulary, material.analysers)
        found = {bucket: made[bucket] if bucket in made else self._kept[key][1] for bucket, key in keys.items()}
        for bucket, lexicon in found.items():
            self._kept[keys[bucket]] = (held.get(bucket, ()), lexicon)
            self._kept.move_to_end(keys[bucket])
        while len(self._kept) > _KEPT * max(len(keys), 1):
            self._kept.popitem(last=False)
        return found


def _key(bucket: BucketId, held: _Held, material: Material) -> _Key:
    return bucket, material.vocabulary.documents.get(bucket, 0), tuple(map(id, held))


def _held(material: Material) -> dict[BucketId, _Held]:
    fields = defaultdict[BucketId, list[FieldVocabulary]](list)
    for one in material.vocabulary.fields:
        fields[one.bucket].append(one)
    return {bucket: tuple(some) for bucket, some in fields.items()}
