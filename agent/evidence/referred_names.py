"""What the documents are called that values refer to: "E005" of a column "Rep" is the employee Sarah Whitlock."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from agent.retrieval.session import RetrievalSession
from storage.search.analyser import fold_text
from storage.search.conditions import ComparisonCondition, ComparisonOperator
from storage.search.documents import FieldValue
from storage.search.ids import BucketId, FieldName
from storage.search.index import RecordPageRequest
from storage.search.plan import Clause, Search
from storage.search.schema import Schema, SchemaField

_MAX_REFERRED = 50  # documents that are looked up for one reply

# The titles of the documents, by the value that refers to each.
NamesByValue = Mapping[str, str]


async def find_referred_names(
    values: Iterable[tuple[SchemaField, FieldValue | None]],
    session: RetrievalSession,
    schemas: Mapping[BucketId, Schema],
) -> NamesByValue:
    """Returns the title of each document that a value refers to, in one round trip.

    Only documents that the asker may read are found. A value has no name where several documents have it as their key,
    or if the title says no more than the value.
    """
    wanted = defaultdict[tuple[BucketId, FieldName], set[str]](set)
    for field, value in values:
        reference = field.reference
        if reference is not None and reference.bucket in schemas and isinstance(value, str):
            wanted[reference.bucket, reference.field].add(value)
    requests = {
        (bucket, key): RecordPageRequest(_search_by_key(bucket, key, sorted(keys)[:_MAX_REFERRED]), limit=_MAX_REFERRED)
        for (bucket, key), keys in wanted.items()
        if key in schemas[bucket].by_name
    }
    if not requests:
        return {}
    answers = await session.ask_index(tuple(requests.values()))
    titles = defaultdict[str, set[str]](set)
    for (_, key), request in requests.items():
        for record in answers[request].records:
            titles[str(record.values.get(key))].add(record.title)
    return {
        value: next(iter(named))
        for value, named in titles.items()
        if len(named) == 1 and not _says_no_more(next(iter(named)), value)
    }


def _search_by_key(bucket: BucketId, key: FieldName, values: list[str]) -> Search:
    condition = ComparisonCondition(field=key, op=ComparisonOperator.IN, value=tuple(values))
    return Search(clauses=(Clause(bucket=bucket, condition=condition),))


def _says_no_more(title: str, value: str) -> bool:
    return fold_text(title) in fold_text(value)
