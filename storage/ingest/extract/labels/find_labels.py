"""Finds the labelled values of a document in all forms, in time linear in its length."""

from collections.abc import Iterator

from storage.ingest.extract.document_text import DocumentText
from storage.ingest.extract.labels.forms.heading_parts import REFERENCE_LABEL, find_heading_parts
from storage.ingest.extract.labels.forms.letter_parts import (
    DATE_LABEL,
    RECIPIENT_LABEL,
    SENDER_LABEL,
    find_letter_parts,
)
from storage.ingest.extract.labels.forms.line_labels import find_line_labels
from storage.ingest.extract.labels.forms.period_bounds import find_period_bounds
from storage.ingest.extract.labels.forms.table_labels import find_table_labels
from storage.ingest.extract.labels.labelled_texts import LabelForm, LabelledText, drop_repeated_texts

# The labels that a document may write for what a letter implies
_WRITTEN_LABELS = {SENDER_LABEL: "from", RECIPIENT_LABEL: "to", DATE_LABEL: "date"}


def find_labelled_texts(document: DocumentText) -> list[LabelledText]:
    """Returns the labels of a document with their values; written ones first, then implied ones that add something."""
    written = find_written_labels(document)
    signed = [part for part in find_letter_parts(document) if part.label != DATE_LABEL]
    written = [labelled for labelled in written if not _is_part_of_letter(labelled, signed)]
    return [*written, *_implied_texts(document, written)]


def find_written_labels(document: DocumentText) -> list[LabelledText]:
    """Returns the labels that a document writes, with their values, each once."""
    return list(drop_repeated_texts((*find_line_labels(document), *find_table_labels(document))))


def _is_part_of_letter(labelled: LabelledText, signed: list[LabelledText]) -> bool:
    """Whether two lines that look like label and value are a salutation or a signature: `Kind regards` above a name."""
    return labelled.form is LabelForm.BLOCK and any(
        (labelled.start or 0) < (part.end or 0) and (part.start or 0) < (labelled.end or 0) for part in signed
    )


def _implied_texts(document: DocumentText, written: list[LabelledText]) -> Iterator[LabelledText]:
    keys, values = {labelled.key for labelled in written}, {labelled.text for labelled in written}
    for labelled in written:
        yield from (bound for bound in find_period_bounds(labelled) if bound.key not in keys)
    for labelled in find_letter_parts(document):
        is_written = any(other.start == labelled.start or other.end == labelled.end for other in written)
        if labelled.key not in keys and _WRITTEN_LABELS[labelled.label] not in keys and not is_written:
            yield labelled
    for labelled in find_heading_parts(document):
        if labelled.key not in keys and (labelled.label != REFERENCE_LABEL or labelled.text not in values):
            yield labelled
