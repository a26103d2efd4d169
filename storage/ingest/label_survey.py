"""Surveys the texts of a bucket's documents before its schema is decided: their labels and their kinds."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from storage.ingest.extract.candidates import ExtractionInput
from storage.ingest.extract.document_text import DocumentText
from storage.ingest.extract.kinds.kind_inference import (
    InferredKinds,
    SurveyedDocument,
    infer_kinds,
    nouns_of_documents,
    survey_document,
)
from storage.ingest.extract.kinds.usual_fields import UsualField, find_usual_fields
from storage.ingest.extract.labels.find_labels import find_labelled_texts
from storage.ingest.extract.labels.label_fields import LabelledFields, fields_of_labels
from storage.ingest.extract.labels.recurring_labels import LabelTally
from storage.ingest.files import SourceFile
from storage.ingest.records import SourceRecord
from storage.search.ids import BucketId

_MAX_DOCUMENTS = 200  # that are read for their labels; of more files as many evenly spread ones
_MAX_FILE_BYTES = 5_000_000
_MAX_CHARACTERS = 200_000  # of each document
_MAX_SEARCHED_DOCUMENTS, _MAX_SEARCHED_CHARACTERS = (
    60,
    20_000,
)  # that are searched for usual fields


def spread_sample(files: Sequence[SourceFile]) -> Iterator[SourceFile]:
    """Yields up to two hundred of the files that are one document each, evenly spread over their order."""
    candidates = [file for file in files if not file.is_table and file.size_bytes <= _MAX_FILE_BYTES]
    step = max(1.0, len(candidates) / _MAX_DOCUMENTS)
    yield from (candidates[int(number * step)] for number in range(min(len(candidates), _MAX_DOCUMENTS)))


class LabelSurvey:
    """Counts the labels of up to two hundred documents of one bucket, and collects what names their kinds."""

    def __init__(self) -> None:
        self._tally = LabelTally()
        self._documents = list[SurveyedDocument]()
        self._texts = list[ExtractionInput]()  # of the first documents

    @property
    def is_complete(self) -> bool:
        return self._tally.document_count >= _MAX_DOCUMENTS

    def add_record(self, record: SourceRecord) -> None:
        """Counts the labels of a document; further documents than two hundred are left out."""
        if not self.is_complete:
            document = DocumentText(ExtractionInput(title=record.title, text=record.text[:_MAX_CHARACTERS]))
            texts = find_labelled_texts(document)
            self._tally.add_document(texts)
            self._documents.append(survey_document(record.origin.file, document, texts))
            if len(self._texts) < _MAX_SEARCHED_DOCUMENTS:
                self._texts.append(ExtractionInput(title=record.title, text=record.text[:_MAX_SEARCHED_CHARACTERS]))

    def decide_kinds(self, table_paths: Iterable[str], bucket: BucketId) -> InferredKinds:
        """Returns the kinds of the documents and of the rows of the tables; none if all are of one kind."""
        return infer_kinds(self._documents, table_paths, bucket)

    def decide_fields(self, taken_names: Collection[str], kinds: InferredKinds) -> LabelledFields:
        """Returns the fields of the labels that recur; `taken_names` are names that the bucket has already."""
        return fields_of_labels(self._tally, taken_names, kinds.kind_by_document, are_of_one_kind=kinds.are_of_one_kind)

    def find_usual_fields(self, kinds: InferredKinds, bucket: BucketId, language: str) -> list[UsualField]:
        """Returns the fields that documents of these kinds usually have, of those that the texts give."""
        nouns = nouns_of_documents(self._documents, kinds, bucket)
        return list(find_usual_fields(dict(enumerate(self._texts)), nouns, language, kinds.kind_by_document))
