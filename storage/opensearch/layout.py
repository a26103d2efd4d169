"""How a bucket lies in OpenSearch: names, field codes, mapping.

A bucket is one strict index of one shard, which holds documents and, joined to them as children, their passages. One
shard, since facets over several are not exact; one index, since a ranking is confined by conditions on whole documents
(phrases and absent words among them) in one round trip, and since documents and passages become visible in one refresh.

Names are hashes of ids, so that no bucket's name meets the rules of index names. A field's code carries its type and
its place in the schema; whenever types or places change, a new version of the index is built and the alias is swapped.
Writers name the version they know by its own alias (`require_alias`), so that a write to a version that is gone fails
instead of making an index.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from storage.opensearch.connection import Object
from storage.search.codec import schema_to_json
from storage.search.ids import BucketId, FieldName, TenantId
from storage.search.schema import Field, FieldType, Schema
from storage.search.text import Analyser

FORMAT = 1  # of indexes; a later one is refused
PASSAGE, DOCUMENT = "passage", "document"  # kinds, and the two sides of the join
BODY = "body"  # the text of a document, kept apart so that reading its values does not load it
MOST_HITS = 100_000  # of one page

_LETTERS = {
    FieldType.NUMBER: "n",
    FieldType.MONEY: "m",
    FieldType.DATE: "d",
    FieldType.CATEGORY: "c",
    FieldType.LIST: "l",
    FieldType.ROWS: "r",
    FieldType.FLAG: "b",
    FieldType.TEXT: "t",
}
_KEYWORD, _DOUBLE, _LONG, _INTEGER = ({"type": name} for name in ("keyword", "double", "long", "integer"))
COMMON_WEIGHT = 1e-12  # lost beside any other score
# BM25 (k1 1.2, b 0.75), but a term of over a fifth of the passages counts for next to nothing (see `ranking`).
_TRIMMED_BM25 = f"""
double idf = Math.log(1.0 + (field.docCount - term.docFreq + 0.5) / (term.docFreq + 0.5));
double average = (double) field.sumTotalTermFreq / field.docCount;
double score = query.boost * idf * doc.freq * 2.2 / (doc.freq + 1.2 * (0.25 + 0.75 * doc.length / average));
return term.docFreq * 5 > field.docCount ? score * {COMMON_WEIGHT} : score;
"""


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Names:
    """Of the indexes and aliases of one tenant."""

    tenant: TenantId
    installation: str = "parley"

    @property
    def prefix(self) -> str:
        return f"{self.installation}-{digest_of(self.tenant)[:16]}"

    @property
    def registry(self) -> str:
        """One small document a bucket (generation, layout) and one a document id (its bucket)."""
        return f"{self.prefix}-registry"

    @property
    def buckets(self) -> str:
        """A pattern for the aliases of all buckets."""
        return f"{self.prefix}-bucket-*"

    def bucket(self, bucket: BucketId) -> str:
        """The alias of the version in use."""
        return f"{self.prefix}-bucket-{digest_of(bucket)}"

    def version(self, bucket: BucketId, number: int) -> str:
        return f"{self.prefix}-{digest_of(bucket)}-v{number}"

    def writing(self, version: str) -> str:
        """The alias through which one version is written."""
        return f"{version}-w"


@dataclass(frozen=True)
class Coded:
    """A field and its place in the index: the path of its main value; `part` gives those beside it."""

    field: Field
    code: str

    @property
    def raw(self) -> str:
        """Strings as written; the main value is their fold."""
        return f"{self.code}_r"

    @property
    def given(self) -> str:
        """Of a flag: true where there is a value. The main value is false where there is none."""
        return f"{self.code}_g"

    @property
    def windows(self) -> str:
        """Pieces of strings that are too long for one term."""
        return f"{self.code}_w"

    @property
    def unit(self) -> str:
        """The currency of an amount, empty where none is known."""
        return f"{self.code}_u"

    @property
    def scaled(self) -> tuple[str, str, str]:
        """The amount in scaled units: ones, milliards, and milliards of milliards."""
        return f"{self.code}_0", f"{self.code}_1", f"{self.code}_2"

    def period(self, length: str) -> str:
        """The year, quarter or month of a day, counted from year 0."""
        return f"{self.code}_{length[0]}"

    @cached_property
    def columns(self) -> Mapping[FieldName, "Coded"]:
        return coded(self.field.columns, f"{self.code}.")

    @property
    def row(self) -> str:
        """True in every row, so that a row without values is one too."""
        return f"{self.code}.x"


def coded(fields: Sequence[Field], prefix: str = "") -> dict[FieldName, Coded]:
    return {one.name: Coded(one, f"{prefix}{_LETTERS[one.type]}{at}") for at, one in enumerate(fields)}


@dataclass(frozen=True, kw_only=True)
class Layout:
    """One version of a bucket's index."""

    index: str  # the version's own name
    number: int
    schema: Schema
    analyser: Analyser
    analyser_version: str  # of the terms in the index
    embedder: str  # of the vectors in the index; empty for none
    dimensions: int
    outlined: bool = True  # documents are ranked by their outlines; an earlier Parley's are not

    @cached_property
    def fields(self) -> Mapping[FieldName, Coded]:
        return coded(self.schema.fields)

    @property
    def bucket(self) -> BucketId:
        return self.schema.bucket

    @cached_property
    def meta(self) -> Object:
        """What is kept in the mapping, as `_meta`."""
        return {
            "format": FORMAT,
            "number": self.number,
            "schema": schema_to_json(self.schema),
            "analyser": self.analyser_version,
            "embedder": self.embedder,
            "dimensions": self.dimensions,
            **({"outlined": True} if self.outlined else {}),
        }

    @cached_property
    def tag(self) -> str:
        """Changes with anything that a reader or a writer must know of."""
        return digest_of(json.dumps([self.index, self.meta], sort_keys=True))

    def holds(self, other: "Layout") -> bool:
        """Whether the documents of `other` would be indexed in the same way."""
        return self._physical == other._physical

    @property
    def _physical(self) -> tuple[object, ...]:
        shapes = tuple(map(_shape, self.schema.fields))
        return (shapes, self.analyser_version, self.embedder, self.dimensions, self.outlined)

    @property
    def mapping(self) -> Object:
        properties: Object = {
            "kind": _KEYWORD,
            "link": {"type": "join", "relations": {DOCUMENT: PASSAGE}, "eager_global_ordinals": True},
            "doc_id": _KEYWORD,
            "restricted": {"type": "boolean"},
            "readers": _KEYWORD,
            "title_terms": {"type": "text", "analyzer": "whitespace", "norms": False},
            "text_terms": {"type": "text", "analyzer": "whitespace", "norms": False},
            "words": _KEYWORD,
            "chunk": _KEYWORD,
            "passage_terms": {
                "type": "text",
                "analyzer": "whitespace",
                "similarity": "trimmed",
                "index_options": "freqs",
            },
            "outline_terms": {"type": "text", "analyzer": "whitespace", "index_options": "freqs"},
            "stored": {"type": "object", "enabled": False},
        }
        if self.embedder:
            properties["vector"] = {"type": "knn_vector", "dimension": self.dimensions}
        for one in self.fields.values():
            properties |= _properties(one)
        return {"dynamic": "strict", "_meta": self.meta, "_source": {"includes": ["stored"]}, "properties": properties}

    @property
    def settings(self) -> Object:
        return {
            "number_of_shards": 1,
            "auto_expand_replicas": "0-1",
            "refresh_interval": "-1",
            "index.knn": False,  # vectors are scanned, which is exact
            "index.max_result_window": MOST_HITS,
            "index.mapping.total_fields.limit": 20_000,
            "index.mapping.nested_fields.limit": 2_000,
            "index.mapping.nested_objects.limit": 1_000_000,
            "index.similarity.trimmed": {"type": "scripted", "script": {"source": _TRIMMED_BM25}},
        }


REGISTRY: Object = {
    "settings": {"number_of_shards": 1, "auto_expand_replicas": "0-1", "refresh_interval": "1s"},
    "mappings": {
        "dynamic": "strict",
        "properties": {
            "kind": _KEYWORD,
            "bucket": _KEYWORD,
            "stored": {"type": "object", "enabled": False},
        },
    },
}


def _shape(one: Field) -> tuple[object, ...]:
    """What of a field decides how its values are indexed."""
    return (one.name, one.type, one.currency, one.currency_field, tuple(map(_shape, one.columns)))


def _properties(one: Coded) -> Object:
    """The mapping of a field's values; the paths of columns are given within their rows."""
    name = one.code.rpartition(".")[2]
    match one.field.type:
        case FieldType.NUMBER:
            return {name: _DOUBLE}
        case FieldType.MONEY:
            return {name: _DOUBLE, f"{name}_u": _KEYWORD, f"{name}_0": _LONG, f"{name}_1": _LONG, f"{name}_2": _DOUBLE}
        case FieldType.DATE:  # days since 1 January of year 1 are 1 and up
            return {name: _INTEGER, f"{name}_y": _INTEGER, f"{name}_q": _INTEGER, f"{name}_m": _INTEGER}
        case FieldType.FLAG:
            return {name: {"type": "boolean"}, f"{name}_g": {"type": "boolean"}}
        case FieldType.CATEGORY | FieldType.TEXT | FieldType.LIST:
            return {name: _KEYWORD, f"{name}_r": _KEYWORD, f"{name}_w": _KEYWORD}
        case FieldType.ROWS:
            columns: Object = {"x": {"type": "boolean"}}
            for column in one.columns.values():
                columns |= _properties(column)
            return {name: {"type": "nested", "properties": columns}}
