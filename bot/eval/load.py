"""What to measure with: the sets of a folder, their documents, questions and schemas, read and checked."""

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
from storage.ingest.schema_file import parsed, read
from storage.search.ids import BucketId
from storage.search.schema import Schema

READ = ("constraint_extraction", "decompose")
"""The kinds of questions that a reading alone is judged by."""
_SUFFIXES = (".jsonl.gz", ".jsonl")
_DOCS, _QUERIES = "_docs", "_queries"
_HITS, _HITS_OF_RANKINGS = 10, 100  # ranked passages to ask for


class UnreadableSet(BotError):
    """A file of the folder that is not what it should be: where, and why."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}")
        self.where, self.reason = where, reason


class Evidence(BaseModel):
    """A passage that holds the answer. Offsets into the document's text; None where it was not located."""

    doc_id: str
    text: str = ""
    start: int | None = None
    end: int | None = None
    page: int | None = None

    @property
    def is_located(self) -> bool:
        return self.page is not None or (self.start is not None and self.end is not None)


class Gold(BaseModel):
    """What is right."""

    behaviour: str | None = None  # answer, list, no_result, clarify_too_many
    doc_ids: tuple[str, ...] = ()
    answer: Json = None
    unit: str | None = None
    currency: str | None = None
    count: int | None = None
    evidence: tuple[Evidence, ...] = ()
    filter: dict[str, Json] | None = None
    unjudged_doc_ids: tuple[str, ...] = ()  # could match but lack the value: neither right nor wrong
    sub_questions: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()  # that a message is made of
    select: str | None = None  # the column asked for
    aggregate: str | None = None  # count, sum, avg, min, max


class Question(BaseModel):
    """One question of a set, as its line has it."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    query_id: str
    query: str = Field(min_length=1)
    kind: str
    category: str | None = None
    table_id: str | None = None  # the table that a question without documents is about
    fields: tuple[str, ...] = ()  # its columns
    gold: Gold


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalSet:
    """Documents and the questions about them. `schema`: as an admin wrote it; None: to be inferred."""

    name: str
    documents: Path
    buckets: tuple[BucketId, ...]  # those that the documents name; that of the set's name where one names none
    bucket: BucketId | None  # where the documents name none
    questions: tuple[Question, ...]
    schema: Schema | None

    @property
    def hits(self) -> int:
        """How many ranked passages its questions are asked with."""
        return _HITS_OF_RANKINGS if any(one.kind == "qrels" for one in self.questions) else _HITS


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """All that a folder has, and which of its sets are wanted.

    `read`: questions without documents that a reading alone is judged by, by file. `unscored`: the other files of
    such questions, by the number of their lines.
    """

    every: tuple[EvalSet, ...]  # those that are not wanted without their questions
    wanted: frozenset[str]
    read: Mapping[str, tuple[Question, ...]]
    unscored: Mapping[str, int]

    @property
    def sets(self) -> tuple[EvalSet, ...]:
        """Those wanted, by name."""
        return tuple(one for one in self.every if one.name in self.wanted)

    def schema_of(self, bucket: BucketId) -> Schema | None:
        """The fields of every set of the bucket, wanted or not, so that a kept home keeps it; of one name the first.

        None where none has a schema.
        """
        found = [one.schema for one in self.every if bucket in one.buckets and one.schema is not None]
        if not found:
            return None
        fields = {field.name: field for schema in reversed(found) for field in schema.fields}
        ordered = dict.fromkeys(field.name for schema in found for field in schema.fields)
        nouns = tuple(dict.fromkeys(noun for schema in found for noun in schema.synonyms))
        return replace(found[0], bucket=bucket, fields=tuple(fields[name] for name in ordered), synonyms=nouns)

    def is_inferred(self, bucket: BucketId) -> bool:
        """Whether a set of the bucket has no schema, so that what its metadata shows is added."""
        return any(bucket in one.buckets and one.schema is None for one in self.every)


def read_suite(folder: Path, names: Sequence[str] | None = None, limit: int | None = None) -> Suite:
    """The sets of a folder, by name; `names`: only these; `limit`: as many questions of each.

    Raises `UnreadableSet`, `UnreadableSchema`.
    """
    if not folder.is_dir():
        raise UnreadableSet(str(folder), "it is no folder")
    found = {name: path for name, path in _files(folder) if name.endswith(_DOCS)}
    there = sorted(name.removesuffix(_DOCS) for name in found if _file(folder, name.removesuffix(_DOCS) + _QUERIES))
    lone = {name: kinds for name, path in _files(folder) if (kinds := _kinds_of_lone(name, path))}
    read = {name for name, kinds in lone.items() if set(kinds) <= set(READ)}
    if unknown := sorted(set(names or ()) - set(there) - read):
        every = ", ".join([*there, *sorted(read)])
        raise UnreadableSet(str(folder), f"it has no set {unknown[0]!r}; there are {every or 'none'}")
    if not there:
        raise UnreadableSet(str(folder), "it has no set: NAME_docs.jsonl.gz beside NAME_queries.jsonl.gz")
    wanted = frozenset(there if names is None else names) & set(there)
    every = tuple(_set(folder, name, found[name + _DOCS], asked=name in wanted, limit=limit) for name in there)
    return Suite(
        every=every,
        wanted=wanted,
        read={
            name: _picked(_questions(dict(_files(folder))[name]), limit) for name in sorted(read & set(names or read))
        },
        unscored={} if names else {name: len(kinds) for name, kinds in lone.items() if name not in read},
    )


def _set(folder: Path, name: str, documents: Path, *, asked: bool, limit: int | None) -> EvalSet:
    queries = _file(folder, name + _QUERIES)
    named = {str(data.get("bucket") or "") for _, data in lines(documents)}
    own = BucketId(name)
    return EvalSet(
        name=name,
        documents=documents,
        buckets=tuple(sorted(BucketId(one) if one else own for one in named)),
        bucket=own if "" in named else None,
        questions=_picked(_questions(queries), limit) if asked and queries else (),
        schema=_schema(folder, name),
    )


def _picked(questions: tuple[Question, ...], limit: int | None) -> tuple[Question, ...]:
    """As many as wanted, evenly spread: neighbours are often of one kind."""
    if limit is None or limit >= len(questions):
        return questions
    return tuple(questions[at * len(questions) // limit] for at in range(limit))


def _schema(folder: Path, name: str) -> Schema | None:
    """The folder's own, else the one that comes with Parley, by the set's name."""
    file = f"{name}.schema.yaml"
    if (folder / file).exists():
        return read(folder / file)
    shipped = files("bot.eval") / "schemas" / file
    return parsed(shipped.read_text(encoding="utf-8"), Path(file)) if shipped.is_file() else None


def _questions(path: Path) -> tuple[Question, ...]:
    found: dict[str, Question] = {}
    for number, data in lines(path):
        where = f"{path}, line {number}"
        try:
            question = Question.model_validate(data)
        except ValidationError as exc:
            first = exc.errors(include_url=False, include_input=False)[0]
            raise UnreadableSet(where, f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from exc
        if question.query_id in found:
            raise UnreadableSet(where, f"the query_id {question.query_id!r} stands twice")
        found[question.query_id] = question
    return tuple(found.values())


def lines(path: Path) -> Iterator[tuple[int, dict[str, Json]]]:
    """The objects of a file, with the numbers of their lines from 1. Raises `UnreadableSet`."""
    number = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            for number, raw in enumerate(file, start=1):
                if raw.strip():
                    yield number, _object(raw, f"{path}, line {number}")
    except (EOFError, zlib.error, gzip.BadGzipFile) as exc:
        raise UnreadableSet(f"{path}, after line {number}", f"it cannot be unpacked ({exc})") from exc
    except UnicodeDecodeError as exc:
        raise UnreadableSet(f"{path}, after line {number}", "it is not UTF-8 text") from exc


def _object(raw: str, where: str) -> dict[str, Json]:
    try:
        data = cast(object, json.loads(raw))
    except ValueError as exc:
        raise UnreadableSet(where, f"it is not JSON ({exc})") from exc
    if not isinstance(data, dict):
        raise UnreadableSet(where, "it is no JSON object")
    return cast(dict[str, Json], data)


def _kinds_of_lone(name: str, path: Path) -> list[str]:
    """Of a file whose lines are questions without documents, the kind of each; of any other file none."""
    if name.endswith((_DOCS, _QUERIES)):
        return []
    kinds: list[str] = []
    for _, data in lines(path):
        if "kind" not in data or "query" not in data:
            return []
        kinds.append(str(data["kind"]))
    return kinds


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Name without suffix, and path; sorted."""
    for path in sorted(folder.iterdir()):
        for suffix in _SUFFIXES:
            if path.name.endswith(suffix):
                yield path.name.removesuffix(suffix), path
                break


def _file(folder: Path, name: str) -> Path | None:
    return next((folder / f"{name}{suffix}" for suffix in _SUFFIXES if (folder / f"{name}{suffix}").exists()), None)
