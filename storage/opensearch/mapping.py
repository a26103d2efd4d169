"""How a bucket is stored in OpenSearch: index names, field codes, mapping.

A bucket is one strict index. It holds documents and, joined to them as children, their passages, because conditions on
whole documents (including phrases and absent words) then restrict a ranking in one round trip. An index has one shard
or several. All entries of a document are routed to the same shard, where they become visible in the same refresh.
Several shards give the same answers: counts fetch all values, and rankings weigh terms by the whole index.

Names are hashes of ids, so that the rules for index names never apply to a bucket's name. A field's code holds its type
and its position in the schema. Whenever types or positions change, a new version of the index is built and the alias is
swapped. A writer addresses a version by that version's own alias (`require_alias`), so that a write to a version that
is deleted or no longer in use fails instead of creating an index. The registry is written so as well: a cluster that
creates indexes for writes would give a lost one a mapping of its own invention.

Small buckets beyond a number share indexes. A version in a shared index is a filtered alias of that index, so that the
cluster confines every search to it. Each of its entries holds the name of the version and has it in its id. Text that
is weighed or expanded has a field of the version alone, because term statistics and the words near another are those of
a field: the rankings are the same as in an index of its own, and tell nothing of the other buckets. Codes give a field
the same type in all buckets of a shared index.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from storage.opensearch.connection import JsonObject
from storage.search.analyser import Analyser
from storage.search.codec import schema_to_json
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.term_weights import BM25_B, BM25_K1

FORMAT_VERSION = 3  # of indexes, and of versions in shared ones; those of a later version are refused
_FIRST_FORMAT = 1  # one shard, vectors of floats: the first Parley can read it
_SECOND_FORMAT = 2  # of several shards, or with vectors of bytes
PASSAGE, DOCUMENT = "passage", "document"  # kinds of entries, and the two sides of the join
TITLE_LABEL_PATH = "title_label"  # the title as written
BODY = "body"  # the text of a document, stored separately so that reading its values does not load it
MIN_GRAPH_CANDIDATES = 100  # a search in a graph of vectors considers at least so many of a shard
MAX_HITS = 100_000  # of one page
VERSION_PATH = "version"  # the name of the version, in the entries of a shared index
SHARED_KEY_LENGTH = 12  # hexadecimal digits
_SHARED_VERSION_END = re.compile(rf"-v\d+-s([0-9a-f]{{{SHARED_KEY_LENGTH}}})$")

_TYPE_CODES = {
    FieldType.NUMBER: "n",
    FieldType.MONEY: "m",
    FieldType.DATE: "d",
    FieldType.CATEGORY: "c",
    FieldType.LIST: "l",
    FieldType.ROWS: "r",
    FieldType.FLAG: "b",
    FieldType.TEXT: "t",
}
GRAPH_METHOD: JsonObject = {
    "name": "hnsw",
    "engine": "lucene",  # another engine needs native libraries, without which the node ends
    "space_type": "cosinesimil",
    "parameters": {"m": 32, "ef_construction": 256},
}
_WEIGHED_TERMS: JsonObject = {
    "type": "text",
    "analyzer": "whitespace",
    "similarity": "passages",
    "index_options": "freqs",
}
_KEYWORD, _DOUBLE, _LONG, _INTEGER = ({"type": name} for name in ("keyword", "double", "long", "integer"))


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def is_in_shared_index(version_name: str) -> bool:
    return _SHARED_VERSION_END.search(version_name) is not None


def version_query_for(version_name: str) -> JsonObject:
    """Returns the query for the entries of a version, in a search of several."""
    return {"term": {VERSION_PATH if is_in_shared_index(version_name) else "_index": version_name}}


@dataclass(frozen=True, slots=True)
class IndexNames:
    """The names of the indexes and aliases of one tenant."""

    tenant: TenantId
    installation: str = "parley"

    @property
    def name_prefix(self) -> str:
        return f"{self.installation}-{digest_of(self.tenant)[:16]}"

    @property
    def registry_index_name(self) -> str:
        """The index with one small entry per bucket (generation, layout) and one per document id (its bucket)."""
        return f"{self.name_prefix}-registry"

    @property
    def registry_write_alias(self) -> str:
        """The alias through which the registry is written."""
        return f"{self.registry_index_name}-w"

    @property
    def bucket_alias_pattern(self) -> str:
        """The pattern that matches the aliases of all buckets."""
        return f"{self.name_prefix}-bucket-*"

    def bucket_alias_for(self, bucket: BucketId) -> str:
        """Returns the alias of the version in use."""
        return self.bucket_alias_of(digest_of(bucket))

    def bucket_alias_of(self, bucket_digest: str) -> str:
        """Like `bucket_alias_for`, for the digest of a bucket's name."""
        return f"{self.name_prefix}-bucket-{bucket_digest}"

    def build_alias_for(self, bucket: BucketId) -> str:
        """Returns the alias of the version that is being built, if any."""
        return self.build_alias_of(digest_of(bucket))

    def build_alias_of(self, bucket_digest: str) -> str:
        """Like `build_alias_for`, for the digest of a bucket's name."""
        return f"{self.name_prefix}-build-{bucket_digest}"

    def version_pattern_for(self, bucket: BucketId) -> str:
        """Returns the pattern that matches all versions of the bucket: in use, being built, and earlier ones."""
        return self.version_pattern_of(digest_of(bucket))

    def version_pattern_of(self, bucket_digest: str) -> str:
        """Like `version_pattern_for`, for the digest of a bucket's name."""
        return f"{self.name_prefix}-{bucket_digest}-v*"

    def version_index_name(self, bucket: BucketId, version_number: int) -> str:
        return f"{self.name_prefix}-{digest_of(bucket)}-v{version_number}"

    def shared_version_name(self, bucket: BucketId, version_number: int, key: str) -> str:
        """Returns the name of a version in a shared index. `key`: random, so that no name is used again."""
        return f"{self.version_index_name(bucket, version_number)}-s{key}"

    @property
    def shared_index_pattern(self) -> str:
        return f"{self.name_prefix}-shared-*"

    def shared_index_name(self, dimensions: int, number: int) -> str:
        """Returns the name of a shared index, whose vectors all have so many dimensions."""
        return f"{self.name_prefix}-shared-{dimensions}-{number}"

    def layout_alias_for(self, version_name: str) -> str:
        """Returns the alias that holds the layout of a version in a shared index, and finds nothing."""
        return f"{version_name}-m"

    def write_alias_for(self, index: str) -> str:
        """Returns the alias through which writers address a version that is in use."""
        return f"{index}-w"

    def copy_alias_for(self, index: str) -> str:
        """Returns the alias through which writers address a version that is being built."""
        return f"{index}-c"


@dataclass(frozen=True)
class IndexedField:
    """A field and its paths in the index: `path` has the main value, the properties give the paths derived from it."""

    definition: SchemaField
    path: str

    @property
    def label_path(self) -> str:
        """The path of strings as written; the main value is their fold."""
        return f"{self.path}_r"

    @property
    def presence_path(self) -> str:
        """The path that is true where a flag has a value; without a value the main value is false."""
        return f"{self.path}_g"

    @property
    def windows_path(self) -> str:
        """The path of the windows of strings that are too long for one term."""
        return f"{self.path}_w"

    @property
    def unit_path(self) -> str:
        """The path of an amount's currency, which is empty if unknown."""
        return f"{self.path}_u"

    @property
    def scaled_paths(self) -> tuple[str, str, str]:
        """The paths of the amount in scaled units, split into ones, units of 10^9, and units of 10^18."""
        return f"{self.path}_0", f"{self.path}_1", f"{self.path}_2"

    def period_path(self, length: str) -> str:
        """Returns the path of a date's year, quarter or month, counted from year 0."""
        return f"{self.path}_{length[0]}"

    @cached_property
    def indexed_columns(self) -> Mapping[FieldName, "IndexedField"]:
        return index_schema_fields(self.definition.columns, f"{self.path}.")

    @property
    def row_marker_path(self) -> str:
        """The path that is true in every row, so that a row without values also exists."""
        return f"{self.path}.x"


def index_schema_fields(fields: Sequence[SchemaField], path_prefix: str = "") -> dict[FieldName, IndexedField]:
    return {
        field.name: IndexedField(field, f"{path_prefix}{_TYPE_CODES[field.type]}{position}")
        for position, field in enumerate(fields)
    }


class VectorStorage(StrEnum):
    """How an index stores the vectors of passages."""

    FLOATS = "floats"  # compared one by one; of indexes of an earlier Parley
    BYTES = "bytes"  # rounded to a byte a dimension, and compared one by one
    GRAPH = "graph"  # bytes in a graph, whose search finds nearly all of the most similar


@dataclass(frozen=True, kw_only=True)
class IndexLayout:
    """One version of a bucket's index."""

    index: str  # the name of this version's index; in a shared index, of the version's alias
    version_number: int
    schema: Schema
    analyser: Analyser
    analyser_version: str  # of the terms in the index
    embedder_name: str  # of the vectors in the index; empty for none
    dimensions: int
    has_outlines: bool = True  # documents can be ranked by outlines; False for indexes of an earlier Parley
    has_title_labels: bool = True  # the titles are in the vocabulary; False for indexes of an earlier Parley
    shard_count: int = 1
    vector_storage: VectorStorage = VectorStorage.FLOATS
    created_ms: int = 0  # when the index was created, in ms since 1970, by the clock of the cluster
    # The index that holds the versions of several buckets, or the pattern of such indexes before the version is there.
    shared_index: str = ""  # empty for an index of its own

    @property
    def is_shared(self) -> bool:
        return bool(self.shared_index)

    @property
    def physical_index(self) -> str:
        return self.shared_index or self.index

    @property
    def is_of_earlier_parley(self) -> bool:
        """Whether a Parley created it whose writers know nothing of a version that is being built."""
        return not (self.has_outlines and self.has_title_labels)

    @property
    def alias_options(self) -> JsonObject:
        """The options of the aliases through which the version is searched and written."""
        return {"filter": version_query_for(self.index)} if self.is_shared else {}

    @property
    def _shared_key(self) -> str:
        found = _SHARED_VERSION_END.search(self.index)
        return "" if found is None else found[1]

    def entry_id_of(self, doc_id: DocId) -> str:
        """Returns the id of a document's main entry. The ids of its other entries begin with it."""
        return self._shared_key + digest_of(doc_id)

    @property
    def passage_terms_path(self) -> str:
        return self._own_path_of("passage_terms")

    @property
    def outline_terms_path(self) -> str:
        return self._own_path_of("outline_terms")

    @property
    def words_path(self) -> str:
        return self._own_path_of("words")

    def _own_path_of(self, name: str) -> str:
        """Returns a path whose terms are of this version alone, also in a shared index."""
        return f"{name}_{self._shared_key}" if self.is_shared else name

    @cached_property
    def indexed_fields(self) -> Mapping[FieldName, IndexedField]:
        return index_schema_fields(self.schema.fields)

    @property
    def bucket(self) -> BucketId:
        return self.schema.bucket

    @cached_property
    def mapping_meta(self) -> JsonObject:
        """The layout as stored in the mapping's `_meta`."""
        return {
            "format": self._format_version,
            "number": self.version_number,
            "schema": schema_to_json(self.schema),
            "analyser": self.analyser_version,
            "embedder": self.embedder_name,
            "dimensions": self.dimensions,
            **({"outlined": True} if self.has_outlines else {}),
            **({"titled": True} if self.has_title_labels else {}),
            **({"shards": self.shard_count} if self.shard_count > 1 else {}),
            **({"vectors": self.vector_storage} if self.has_byte_vectors else {}),
            **({"shared": True} if self.is_shared else {}),
        }

    @property
    def _format_version(self) -> int:
        if self.is_shared:
            return FORMAT_VERSION
        return _SECOND_FORMAT if self.shard_count > 1 or self.has_byte_vectors else _FIRST_FORMAT

    @property
    def has_byte_vectors(self) -> bool:
        return bool(self.embedder_name) and self.vector_storage is not VectorStorage.FLOATS

    @cached_property
    def layout_digest(self) -> str:
        """A digest that changes with everything that a reader or a writer must know."""
        return digest_of(json.dumps([self.index, self.mapping_meta], sort_keys=True))

    @cached_property
    def schema_digest(self) -> str:
        """A digest that changes with the schema alone, not with the version of the index."""
        return digest_of(json.dumps(schema_to_json(self.schema), sort_keys=True))

    def is_compatible_with(self, other: "IndexLayout") -> bool:
        """Whether documents are indexed in the same way in both layouts."""
        return self._physical_layout == other._physical_layout

    @property
    def _physical_layout(self) -> tuple[object, ...]:
        shapes = tuple(map(_indexing_shape_of, self.schema.fields))
        entries = (self.has_outlines, self.has_title_labels)
        vectors = (self.embedder_name, self.dimensions, self.vector_storage if self.embedder_name else None)
        return (shapes, self.analyser_version, vectors, self.shard_count, *entries)

    @property
    def index_mapping(self) -> JsonObject:
        return {
            "dynamic": "strict",
            "_meta": self.mapping_meta,
            "_source": {"includes": ["stored"]},
            **({"_routing": {"required": True}} if self.shard_count > 1 else {}),
            "properties": self.mapping_properties,
        }

    @property
    def mapping_properties(self) -> JsonObject:
        properties: JsonObject = {
            "kind": _KEYWORD,
            "link": {"type": "join", "relations": {DOCUMENT: PASSAGE}, "eager_global_ordinals": True},
            "doc_id": _KEYWORD,
            "restricted": {"type": "boolean"},
            "readers": _KEYWORD,
            "title_terms": {"type": "text", "analyzer": "whitespace", "norms": False},
            **({TITLE_LABEL_PATH: _KEYWORD} if self.has_title_labels else {}),
            "text_terms": {"type": "text", "analyzer": "whitespace", "norms": False},
            self.words_path: _KEYWORD,
            "chunk": _KEYWORD,
            self.passage_terms_path: _WEIGHED_TERMS,
            self.outline_terms_path: _WEIGHED_TERMS,
            "stored": {"type": "object", "enabled": False},
            **({VERSION_PATH: _KEYWORD} if self.is_shared else {}),
        }
        if self.embedder_name:
            properties["vector"] = self._vector_mapping
        for field in self.indexed_fields.values():
            properties |= _mapping_properties_of(field)
        return properties

    @property
    def _vector_mapping(self) -> JsonObject:
        mapping: JsonObject = {"type": "knn_vector", "dimension": self.dimensions}
        if self.has_byte_vectors:
            mapping["data_type"] = "byte"
        if self.vector_storage is VectorStorage.GRAPH:
            mapping["method"] = GRAPH_METHOD
        return mapping

    @property
    def index_settings(self) -> JsonObject:
        return {
            "number_of_shards": self.shard_count,
            "auto_expand_replicas": "0-1",
            "refresh_interval": "-1",
            "index.knn": self.has_byte_vectors and self.vector_storage is VectorStorage.GRAPH,
            "index.max_result_window": MAX_HITS,
            "index.mapping.total_fields.limit": 20_000,
            "index.mapping.nested_fields.limit": 2_000,
            "index.mapping.nested_objects.limit": 1_000_000,
            "index.similarity.passages": {"type": "BM25", "k1": BM25_K1, "b": BM25_B},
        }


SHARED_INDEX_META: JsonObject = {"format": FORMAT_VERSION, "shared": True}  # each version in it has a layout of its own
REGISTRY_INDEX_BODY: JsonObject = {
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


def _indexing_shape_of(field: SchemaField) -> tuple[object, ...]:
    """Returns the properties of a field that decide how its values are indexed."""
    return (field.name, field.type, field.currency, field.currency_field, tuple(map(_indexing_shape_of, field.columns)))


def _mapping_properties_of(field: IndexedField) -> JsonObject:
    """Returns the mapping of a field's values; paths of columns are relative to their rows."""
    name = field.path.rpartition(".")[2]
    match field.definition.type:
        case FieldType.NUMBER:
            return {name: _DOUBLE}
        case FieldType.MONEY:
            return {name: _DOUBLE, f"{name}_u": _KEYWORD, f"{name}_0": _LONG, f"{name}_1": _LONG, f"{name}_2": _DOUBLE}
        case FieldType.DATE:  # days are counted from 1 January of year 1, which is day 1
            return {name: _INTEGER, f"{name}_y": _INTEGER, f"{name}_q": _INTEGER, f"{name}_m": _INTEGER}
        case FieldType.FLAG:
            return {name: {"type": "boolean"}, f"{name}_g": {"type": "boolean"}}
        case FieldType.CATEGORY | FieldType.TEXT | FieldType.LIST:
            return {name: _KEYWORD, f"{name}_r": _KEYWORD, f"{name}_w": _KEYWORD}
        case FieldType.ROWS:
            columns: JsonObject = {"x": {"type": "boolean"}}
            for column in field.indexed_columns.values():
                columns |= _mapping_properties_of(column)
            return {name: {"type": "nested", "properties": columns}}
