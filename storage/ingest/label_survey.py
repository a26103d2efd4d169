"""Surveys the labels in the texts of a bucket's documents, before its schema is decided."""

from collections.abc import Collection, Iterator, Sequence

from storage.ingest.extract.candidates import ExtractionInput
from storage.ingest.extract.document_text import DocumentText
from storage.ingest.extract.labels.find_labels import find_labelled_texts
from storage.ingest.extract.labels.label_fields import LabelledFields, fields_of_labels
from storage.ingest.extract.labels.recurring_labels import LabelTally
from storage.ingest.files import SourceFile
from storage.ingest.records import SourceRecord

_MAX_DOCUMENTS = 200  # that are read for their labels; of more files as many evenly spread ones
_MAX_FILE_BYTES = 5_000_000
_MAX_CHARACTERS = 200_000  # of each document


def spread_sample(files: Sequence[SourceFile]) -> Iterator[SourceFile]:
    """Yields up to two hundred of the files that are one document each, evenly spread over their order."""
    candidates = [file for file in files if not file.is_table and file.size_bytes <= _MAX_FILE_BYTES]
    step = max(1.0, len(candidates) / _MAX_DOCUMENTS)
    yield from (candidates[int(number * step)] for number in range(min(len(candidates), _MAX_DOCUMENTS)))


class LabelSurvey:
    """Counts the labels of up to two hundred documents of one bucket."""

    def __init__(self) -> None:
        self._tally = LabelTally()

    @property
    def is_complete(self) -> bool:
        return self._tally.document_count >= _MAX_DOCUMENTS

    def add_record(self, record: SourceRecord) -> None:
        """Counts the labels of a document; further documents than two hundred are left out."""
        if not self.is_complete:
            document = DocumentText(ExtractionInput(title=record.title, text=record.text[:_MAX_CHARACTERS]))
            self._tally.add_document(find_labelled_texts(document))

    def decide_fields(self, taken_names: Collection[str]) -> LabelledFields:
        """Returns the fields of the labels that recur; `taken_names` are names that the bucket has already."""
        return fields_of_labels(self._tally, taken_names)
