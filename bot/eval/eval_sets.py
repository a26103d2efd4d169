"""Reads and checks the evaluation sets of a folder: documents, questions and schemas."""

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any as Json
from typing import cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.errors import BotError
from storage.ingest.schemas.schema_file import parse_schema, read_schema_file
from storage.search.ids import BucketId
from storage.search.schema import Schema

READING_KINDS = ("constraint_extraction", "decompose")
"""The kinds of questions that are scored by their reading alone, without documents."""
_FILE_SUFFIXES = (".jsonl.gz", ".jsonl")
_DOCUMENTS_SUFFIX, _QUERIES_SUFFIX = "_docs", "_queries"
_DEFAULT_MAX_HITS, _RANKING_MAX_HITS = 10, 100  # ranked passages to request


class UnreadableEvalSet(BotError):
    """A file of the folder has an invalid format: its location and the reason."""

    def __init__(self, location: str, reason: str) -> None:
        super().__init__(f"{location}: {reason}")
        self.location, self.reason = location, reason


class GoldEvidence(BaseModel):
    """A passage with the answer. `start` and `end` are offsets in the document's text; None if it was not located."""

    doc_id: str
    text: str = ""
    start: int | None = None
    end: int | None = None
    page: int | None = None

    @property
    def is_located(self) -> bool:
        return self.page is not None or (self.start is not None and self.end is not None)


class GoldLabels(BaseModel):
    """The correct result of a question."""

    behaviour: str | None = None  # answer, list, no_result, clarify_too_many
    doc_ids: tuple[str, ...] = ()
    answer: Json = None
    unit: str | None = None
    currency: str | None = None
    count: int | None = None
    evidence: tuple[GoldEvidence, ...] = ()
    filter: dict[str, Json] | None = None
    unjudged_doc_ids: tuple[str, ...] = ()  # may match, but lack the value: neither right nor wrong
    sub_questions: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()  # the questions in a message
    select: str | None = None  # the requested column
    aggregate: str | None = None  # count, sum, avg, min, max


class EvalQuestion(BaseModel):
    """One question of a set, as in its line of the file."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    query_id: str
    query: str = Field(min_length=1)
    kind: str
    category: str | None = None
    table_id: str | None = None  # the table of a question without documents
    fields: tuple[str, ...] = ()  # the table's columns
    gold: GoldLabels


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalSet:
    """Documents and the questions about them. `schema`: as an admin wrote it; None if it is to be inferred."""

    name: str
    documents_path: Path
    buckets: tuple[BucketId, ...]  # the buckets that the documents name, with the set's name as the default
    default_bucket: BucketId | None  # for documents that name no bucket; None if all do
    questions: tuple[EvalQuestion, ...]
    schema: Schema | None

    @property
    def max_hits(self) -> int:
        """The number of ranked passages to request for each question."""
        return _RANKING_MAX_HITS if any(question.kind == "qrels" for question in self.questions) else _DEFAULT_MAX_HITS


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalSuite:
    """All sets of a folder, and the names of the selected ones.

    `reading_questions`: by file, the questions without documents that are scored by their reading alone.
    `unscored_counts`: by file, the number of the other questions without documents.
    """

    all_sets: tuple[EvalSet, ...]  # a set that is not selected has no questions
    selected_names: frozenset[str]
    reading_questions: Mapping[str, tuple[EvalQuestion, ...]]
    unscored_counts: Mapping[str, int]

    @property
    def selected_sets(self) -> tuple[EvalSet, ...]:
        """The selected sets, in order of their names."""
        return tuple(eval_set for eval_set in self.all_sets if eval_set.name in self.selected_names)

    def schema_of(self, bucket: BucketId) -> Schema | None:
        """The joined schema of all sets of the bucket; None if none has a schema.

        It includes sets that are not selected, so that a persistent home keeps its schema. Of several fields with the
        same name it has the first.
        """
        schemas = [
            eval_set.schema for eval_set in self.all_sets if bucket in eval_set.buckets and eval_set.schema is not None
        ]
        if not schemas:
            return None
        fields = {field.name: field for schema in reversed(schemas) for field in schema.fields}
        ordered = dict.fromkeys(field.name for schema in schemas for field in schema.fields)
        nouns = tuple(dict.fromkeys(noun for schema in schemas for noun in schema.synonyms))
        return replace(schemas[0], bucket=bucket, fields=tuple(fields[name] for name in ordered), synonyms=nouns)

    def has_inferred_schema(self, bucket: BucketId) -> bool:
        """Whether a set of the bucket has no schema, so that fields are inferred from its metadata."""
        return any(bucket in eval_set.buckets and eval_set.schema is None for eval_set in self.all_sets)


def read_suite(folder: Path, names: Sequence[str] | None = None, limit: int | None = None) -> EvalSuite:
    """The sets of a folder, in order of their names. `names`: only these; `limit`: at most so many questions of each.

    Raises `UnreadableEvalSet`, `UnreadableSchema`.
    """
    if not folder.is_dir():
        raise UnreadableEvalSet(str(folder), "it is not a folder")
    documents_paths = {name: path for name, path in _list_data_files(folder) if name.endswith(_DOCUMENTS_SUFFIX)}
    set_names = sorted(
        name.removesuffix(_DOCUMENTS_SUFFIX)
        for name in documents_paths
        if _find_data_file(folder, name.removesuffix(_DOCUMENTS_SUFFIX) + _QUERIES_SUFFIX)
    )
    kinds_by_file = {
        name: kinds for name, path in _list_data_files(folder) if (kinds := _kinds_without_documents(name, path))
    }
    reading_names = {name for name, kinds in kinds_by_file.items() if set(kinds) <= set(READING_KINDS)}
    if unknown := sorted(set(names or ()) - set(set_names) - reading_names):
        every = ", ".join([*set_names, *sorted(reading_names)])
        raise UnreadableEvalSet(str(folder), f"it has no set {unknown[0]!r}; there are {every or 'none'}")
    if not set_names:
        raise UnreadableEvalSet(str(folder), "it has no set: NAME_docs.jsonl.gz beside NAME_queries.jsonl.gz")
    selected_names = frozenset(set_names if names is None else names) & set(set_names)
    every = tuple(
        _read_eval_set(
            folder, name, documents_paths[name + _DOCUMENTS_SUFFIX], with_questions=name in selected_names, limit=limit
        )
        for name in set_names
    )
    return EvalSuite(
        all_sets=every,
        selected_names=selected_names,
        reading_questions={
            name: _sample_evenly(_read_questions(dict(_list_data_files(folder))[name]), limit)
            for name in sorted(reading_names & set(names or reading_names))
        },
        unscored_counts={}
        if names
        else {name: len(kinds) for name, kinds in kinds_by_file.items() if name not in reading_names},
    )


def _read_eval_set(folder: Path, name: str, documents: Path, *, with_questions: bool, limit: int | None) -> EvalSet:
    queries = _find_data_file(folder, name + _QUERIES_SUFFIX)
    bucket_names = {str(data.get("bucket") or "") for _, data in read_json_lines(documents)}
    set_bucket = BucketId(name)
    return EvalSet(
        name=name,
        documents_path=documents,
        buckets=tuple(sorted(BucketId(bucket_name) if bucket_name else set_bucket for bucket_name in bucket_names)),
        default_bucket=set_bucket if "" in bucket_names else None,
        questions=_sample_evenly(_read_questions(queries), limit) if with_questions and queries else (),
        schema=_find_schema(folder, name),
    )


def _sample_evenly(questions: tuple[EvalQuestion, ...], limit: int | None) -> tuple[EvalQuestion, ...]:
    """At most `limit` questions, evenly spread, because neighbouring questions are often of the same kind."""
    if limit is None or limit >= len(questions):
        return questions
    return tuple(questions[index * len(questions) // limit] for index in range(limit))


def _find_schema(folder: Path, name: str) -> Schema | None:
    """The schema file for the set's name in the folder, else the one in this package."""
    file = f"{name}.schema.yaml"
    if (folder / file).exists():
        return read_schema_file(folder / file)
    shipped = files("bot.eval") / "schemas" / file
    return parse_schema(shipped.read_text(encoding="utf-8"), Path(file)) if shipped.is_file() else None


def _read_questions(path: Path) -> tuple[EvalQuestion, ...]:
    question_by_id: dict[str, EvalQuestion] = {}
    for number, data in read_json_lines(path):
        location = f"{path}, line {number}"
        try:
            question = EvalQuestion.model_validate(data)
        except ValidationError as exc:
            error = exc.errors(include_url=False, include_input=False)[0]
            raise UnreadableEvalSet(location, f"{'.'.join(map(str, error['loc']))}: {error['msg']}") from exc
        if question.query_id in question_by_id:
            raise UnreadableEvalSet(location, f"the query_id {question.query_id!r} stands twice")
        question_by_id[question.query_id] = question
    return tuple(question_by_id.values())


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Json]]]:
    """The objects of a file with their line numbers, starting at 1. Raises `UnreadableEvalSet`."""
    number = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            for number, raw in enumerate(file, start=1):
                if raw.strip():
                    yield number, _parse_json_object(raw, f"{path}, line {number}")
    except (EOFError, zlib.error, gzip.BadGzipFile) as exc:
        raise UnreadableEvalSet(f"{path}, after line {number}", f"it cannot be unpacked ({exc})") from exc
    except UnicodeDecodeError as exc:
        raise UnreadableEvalSet(f"{path}, after line {number}", "it is not UTF-8 text") from exc


def _parse_json_object(raw: str, location: str) -> dict[str, Json]:
    try:
        data = cast(object, json.loads(raw))
    except ValueError as exc:
        raise UnreadableEvalSet(location, f"it is not JSON ({exc})") from exc
    if not isinstance(data, dict):
        raise UnreadableEvalSet(location, "it is not a JSON object")
    return cast(dict[str, Json], data)


def _kinds_without_documents(name: str, path: Path) -> list[str]:
    """The kind of each question in a file of questions without documents; empty for any other file."""
    if name.endswith((_DOCUMENTS_SUFFIX, _QUERIES_SUFFIX)):
        return []
    kinds: list[str] = []
    for _, data in read_json_lines(path):
        if "kind" not in data or "query" not in data:
            return []
        kinds.append(str(data["kind"]))
    return kinds


def _list_data_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """The data files of the folder, sorted: name without suffix, and path."""
    for path in sorted(folder.iterdir()):
        for suffix in _FILE_SUFFIXES:
            if path.name.endswith(suffix):
                yield path.name.removesuffix(suffix), path
                break


def _find_data_file(folder: Path, name: str) -> Path | None:
    return next(
        (folder / f"{name}{suffix}" for suffix in _FILE_SUFFIXES if (folder / f"{name}{suffix}").exists()), None
    )
