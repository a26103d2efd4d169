"""The kinds of documents: "Complaint" or "Offer", as headings and lines like `Complaint: late delivery` say."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from storage.ingest.extract.kinds.kind_phrases import kind_phrase_in
from storage.ingest.extract.labels.forms.heading_parts import KIND_LABEL
from storage.ingest.extract.labels.label_concepts import names_concept
from storage.ingest.extract.labels.labelled_texts import LabelForm, LabelledText
from storage.ingest.extract.labels.recurring_labels import RecurringLabel, min_documents_for
from storage.ingest.schemas.names import singular_and_plural_of
from storage.ingest.schemas.values import RawValue

_MIN_KIND_SHARE = 0.5  # of the documents that give one of several recurring kinds
_MIN_NOUN_SHARE = 0.6  # of the documents whose heading gives the same kind, which then is what all are called

_MIN_MARKED_SHARE = 0.1  # of the documents in which a mark or a reference shows that the kind is a heading


def is_kind_label(label: RecurringLabel) -> bool:
    """Whether the label is the kind that headings imply, not a written one."""
    return label.spelling == KIND_LABEL and all(form is LabelForm.HEADING for form in label.forms)


def read_alternating_kinds(labels: Sequence[RecurringLabel]) -> list[RecurringLabel]:
    """Returns the labels; those that alternate in the place of a heading become values of the documents' kind.

    `Complaint: late delivery`, in other documents `Offer: new prices`, each a paragraph by itself: the words before the
    colon say what the document is.
    """
    alone = [label for label in labels if label.stands_alone and not names_concept(label.spelling)]
    alternating = [label for label in alone if _alternates(label, alone)]
    if not alternating:
        return list(labels)
    others = [label for label in labels if label not in alternating]
    kind = next((label for label in others if is_kind_label(label)), None)
    if kind is None:
        kind = RecurringLabel(key=KIND_LABEL.casefold())
        others.append(kind)
    for label in alternating:
        _add_kinds(kind, label)
    return others


def _alternates(label: RecurringLabel, alone: Sequence[RecurringLabel]) -> bool:
    """Whether other labels take its place in other documents: after or before the same label, never beside it."""
    documents = label.texts_by_document.keys()
    return any(
        other is not label
        and documents.isdisjoint(other.texts_by_document)
        and any(own == others for own, others in zip(label.usual_sides, other.usual_sides, strict=True))
        for other in alone
    )


def kind_texts_in(texts: Iterable[LabelledText], kinds: Iterable[str]) -> list[LabelledText]:
    """Returns the kinds that lines by themselves give: of `Complaint: late delivery` the kind "Complaint"."""
    known = {kind.casefold() for kind in kinds}
    return [_as_kind(labelled) for labelled in texts if labelled.stands_alone and labelled.label.casefold() in known]


def _add_kinds(kind: RecurringLabel, label: RecurringLabel) -> None:
    for document, texts in label.texts_by_document.items():
        first = texts[0]
        kind.texts_by_document[document] = [_as_kind(first)]
        kind.spellings[KIND_LABEL] += 1
        kind.forms[LabelForm.HEADING] += 1
        kind.ranks.append(0)
        kind.neighbours["", ""] += 1


def _as_kind(labelled: LabelledText) -> LabelledText:
    return replace(labelled, label=KIND_LABEL, text=labelled.label, form=LabelForm.HEADING, items=())


def select_recurring_kinds(label: RecurringLabel, values: Mapping[int, RawValue], count: int) -> dict[int, RawValue]:
    """Returns the kinds that recur among the documents, of which there are `count`.

    There are none if most headings give no such kind, or all the same. A line without more words is a kind only if it
    has a noun for documents: a letterhead is none.
    """
    marked = _kind_counts(labelled.text for labelled in label.first_texts if _is_marked(labelled))
    values = {document: value for document, value in values.items() if _may_be_kind(str(value), marked)}
    return _select_alternating(values, count)


def _may_be_kind(text: str, marked: Mapping[str, int]) -> bool:
    phrase = kind_phrase_in(text)
    return phrase is not None and (bool(phrase.noun) or text.casefold() in marked)


def _select_alternating(values: Mapping[int, RawValue], document_count: int) -> dict[int, RawValue]:
    counts = _kind_counts(values.values())
    recurring = {
        document: value
        for document, value in values.items()
        if counts[str(value).casefold()] >= min_documents_for(document_count)
    }
    several = len({str(value).casefold() for value in recurring.values()}) > 1
    return recurring if several and len(recurring) >= _MIN_KIND_SHARE * document_count else {}


def nouns_of_kinds(labels: Sequence[RecurringLabel], document_count: int) -> tuple[str, ...]:
    """Returns the nouns for documents that nearly all have one kind: of "Inspection report" also "report"."""
    label = next((label for label in labels if is_kind_label(label)), None)
    counts = _kind_counts(labelled.text for labelled in (label.first_texts if label else []))
    marked = sum(map(_is_marked, label.first_texts)) if label else 0
    is_kind = counts and counts.most_common(1)[0][1] >= _MIN_NOUN_SHARE * document_count
    if not is_kind or marked < _MIN_MARKED_SHARE * document_count:
        return ()
    *first_words, last = counts.most_common(1)[0][0].split()
    if not last.isalpha():
        return ()
    nouns = singular_and_plural_of(last)
    full = [" ".join([*first_words, noun]) for noun in nouns] if first_words else []
    return tuple(dict.fromkeys([*full, *nouns]))


def _is_marked(labelled: LabelledText) -> bool:
    """Whether a mark or more words are in the line of the kind: the name at the head of every letter has neither."""
    return (labelled.end or 0) - (labelled.start or 0) > len(labelled.text)


def _kind_counts(values: Iterable[RawValue]) -> Counter[str]:
    return Counter(str(value).casefold() for value in values)
