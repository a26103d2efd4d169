"""Describes buckets to a model within a budget of tokens: what there is, in which types, with which values."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import lru_cache

from agent.decomposition import VocabularyLookup
from agent.english.function_words import STOP_WORDS
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.token_counts import estimate_tokens
from prompts.data_texts import drop_hidden_characters, quote_value
from storage.search.analyser import fold_text
from storage.search.ids import BucketId, FieldName
from storage.search.index import FieldVocabulary
from storage.search.numbers import to_json_number
from storage.search.schema import FieldType, SchemaField

_MAX_LISTED_VALUES = 12  # of a category; a field with more shows the first few
_FEW_VALUES = 3
_MAX_VALUE_CHARS = 40
_MAX_DESCRIPTION_CHARS = 120
_MAX_ROUTE_FIELDS = 12  # of a bucket, named to the router
_MAX_SYNONYMS = 4


@dataclass(frozen=True, slots=True)
class SchemaDetail:
    """How much is said about the fields of a bucket."""

    listed_values: int
    few_values: int
    has_descriptions: bool
    has_synonyms: bool


_DETAILS = (  # the most detailed that fits is taken
    SchemaDetail(listed_values=_MAX_LISTED_VALUES, few_values=_FEW_VALUES, has_descriptions=True, has_synonyms=True),
    SchemaDetail(listed_values=8, few_values=2, has_descriptions=True, has_synonyms=True),
    SchemaDetail(listed_values=5, few_values=1, has_descriptions=False, has_synonyms=True),
    SchemaDetail(listed_values=4, few_values=0, has_descriptions=False, has_synonyms=False),
    SchemaDetail(listed_values=0, few_values=0, has_descriptions=False, has_synonyms=False),
)


def describe_buckets(
    lexicons: Mapping[BucketId, BucketLexicon], vocabulary: VocabularyLookup, question: str, budget_tokens: int
) -> str | None:
    """Returns the schemas of the buckets in as much detail as the budget allows; None if it is too small.

    Of the synonyms of a field only those are named whose words appear in the question: most are inferred, and others
    would mislead.
    """
    asked_words = frozenset(fold_text(question).split())
    for detail in _DETAILS:
        text = "\n".join(_describe_bucket(lexicon, vocabulary, asked_words, detail) for lexicon in lexicons.values())
        if estimate_tokens(text) <= budget_tokens:
            return text
    return None


def describe_bucket_names(lexicons: Mapping[BucketId, BucketLexicon], budget_tokens: int) -> str:
    """Returns a line for each bucket, with the names of its fields as far as the budget allows."""
    text = ""
    for field_count in range(_MAX_ROUTE_FIELDS, -1, -3):
        text = "\n".join(_describe_briefly(lexicon, field_count) for lexicon in lexicons.values())
        if estimate_tokens(text) <= budget_tokens:
            break
    return text


def _describe_briefly(lexicon: BucketLexicon, field_count: int) -> str:
    schema = lexicon.schema
    names = ", ".join(field.name for field in schema.fields[:field_count])
    more = len(schema.fields) - field_count
    fields = f"; fields: {names}{f' and {more} more' if more > 0 else ''}" if names else ""
    return f"- {schema.bucket}: {_about(lexicon)}{fields}"


def _about(lexicon: BucketLexicon) -> str:
    schema = lexicon.schema
    own_names = {fold_text(schema.bucket), fold_text(schema.bucket).removesuffix("s")}
    names = [name for name in (schema.title, *schema.synonyms[:_MAX_SYNONYMS]) if fold_text(name) not in own_names]
    called = f"also called {', '.join(dict.fromkeys(filter(None, names)))}" if any(names) else ""
    described = _fit_line(schema.description, _MAX_DESCRIPTION_CHARS)
    return "; ".join(filter(None, (f"{lexicon.document_count} documents", called, described)))


def _describe_bucket(
    lexicon: BucketLexicon, vocabulary: VocabularyLookup, asked_words: Set[str], detail: SchemaDetail
) -> str:
    bucket = lexicon.schema.bucket
    known = {field.field: field for field in vocabulary.fields_of(bucket)}
    lines = [f"## {bucket}: {_about(lexicon)}"]
    if not lexicon.schema.fields:
        lines.append("(no fields: only the title and the text can be searched)")
    for field in lexicon.schema.fields:
        lines.append(_describe_field(field, known.get(field.name), asked_words, detail, lexicon.document_count))
        for column in field.columns:
            known_column = known.get(FieldName(f"{field.name}.{column.name}"))
            lines.append("  " + _describe_field(column, known_column, asked_words, detail, 0, field.name))
    titles = vocabulary.titles_of(bucket)
    if titles and detail.few_values:
        examples = _quote_values((title.value for title in titles), detail.few_values)
        lines.append(f"- title: name of the document, such as {examples}")
    return "\n".join(lines)


def _describe_field(
    field: SchemaField,
    known: FieldVocabulary | None,
    asked_words: Set[str],
    detail: SchemaDetail,
    document_count: int,
    rows: str = "",
) -> str:
    name = f"{rows}.{field.name}" if rows else field.name
    parts = [_type_of(field), _range_of(field, known), _values_of(field, known, detail)]
    called = list(_other_names(field, asked_words))
    if called and detail.has_synonyms:
        parts.append(f"also called {', '.join(called[:_MAX_SYNONYMS])}")
    if detail.has_descriptions and field.description:
        parts.append(_fit_line(field.description, _MAX_DESCRIPTION_CHARS))
    if field.reference is not None:
        parts.append(f"holds {field.reference.bucket}.{field.reference.field}")
    if known is not None and document_count and known.document_count < document_count:
        lacking = document_count - known.document_count
        parts.append(f"{lacking} {'documents lack' if lacking > 1 else 'document lacks'} it")
    return f"- {name}: {'; '.join(filter(None, parts))}"


def _other_names(field: SchemaField, asked_words: Set[str]) -> Iterator[str]:
    """Yields the label, if it says more than the name, and the synonyms that the question uses."""
    if _says_more(field.label, field.name):
        yield field.label
    yield from (synonym for synonym in field.plain_synonyms if _is_asked(synonym, asked_words))


@lru_cache(maxsize=20_000)
def _says_more(label: str, name: str) -> bool:
    own_name, folded = fold_text(name.replace("_", " ")), fold_text(label)
    return folded != own_name and not own_name.startswith(folded)


def _is_asked(synonym: str, asked_words: Set[str]) -> bool:
    telling_words = _telling_words_of(synonym)
    return bool(telling_words) and telling_words <= asked_words


@lru_cache(maxsize=20_000)
def _telling_words_of(synonym: str) -> frozenset[str]:
    return frozenset(fold_text(synonym).split()) - STOP_WORDS


def _type_of(field: SchemaField) -> str:
    match field.type:
        case FieldType.NUMBER:
            return f"number in {field.unit}" if field.unit else "number"
        case FieldType.MONEY:
            return f"money in {field.currency}" if field.currency else "money"
        case FieldType.LIST:
            return "list of values"
        case FieldType.ROWS:
            return "rows, with the columns"
        case _:
            return field.type.value


def _range_of(field: SchemaField, known: FieldVocabulary | None) -> str:
    if known is None:
        return "" if field.type in (FieldType.ROWS, FieldType.FLAG) else "no document has it"
    if known.low is None or known.high is None:
        return ""
    low, high = (to_json_number(end) if isinstance(end, float) else end for end in (known.low, known.high))
    return f"{low} to {high}"


def _values_of(field: SchemaField, known: FieldVocabulary | None, detail: SchemaDetail) -> str:
    if known is None or not known.values:
        return ""
    count, values = len(known.values), (value.value for value in known.values)
    if count <= detail.listed_values:
        return f"values: {_quote_values(values, count)}"
    if not detail.few_values:
        return ""
    return f"{count} values, such as {_quote_values(values, detail.few_values)}"


def _quote_values(values: Iterable[str], limit: int) -> str:
    return ", ".join(_quote_line(value) for value in _first(values, limit))


@lru_cache(maxsize=20_000)
def _quote_line(value: str) -> str:
    return quote_value(_fit_line(value, _MAX_VALUE_CHARS))


def _first(values: Iterable[str], limit: int) -> Iterator[str]:
    for index, value in enumerate(values):
        if index >= limit:
            return
        yield value


@lru_cache(maxsize=20_000)
def _fit_line(text: str, limit: int) -> str:
    """Returns one line of at most `limit` characters."""
    line = " ".join(drop_hidden_characters(text).split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def pick_lexicons(
    lexicons: Mapping[BucketId, BucketLexicon], buckets: Collection[str]
) -> dict[BucketId, BucketLexicon]:
    """Returns the lexicons of these buckets, in their order; those that do not exist are left out."""
    return {BucketId(bucket): lexicons[BucketId(bucket)] for bucket in buckets if bucket in lexicons}
