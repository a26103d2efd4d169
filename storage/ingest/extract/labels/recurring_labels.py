"""The labels of a bucket's documents, with their values, and which of them recur often enough to become fields.

A label must appear in two documents of up to ten, in three of up to sixty, and in one of twenty of more: two documents
rarely share a label by chance, but among many a few do. Labels without a mark of their own (`Label – value`, the value
on the line below) must also appear in a fifth of the documents, with different values.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from storage.ingest.extract.labels.labelled_texts import LabelForm, LabelledText

_FEW_DOCUMENTS, _MIN_OF_FEW, _MIN_OF_MANY, _MIN_SHARE = 10, 2, 3, 0.05
_MIN_WEAK_SHARE = 0.2
_WEAK_FORMS = frozenset({LabelForm.DASH, LabelForm.PLAIN, LabelForm.BLOCK})
_MAX_REPEATS = 1.3  # labels of one key in a document, on average; more are lines of a table or of a dialogue
_MAX_LIST_CHARACTERS = 60  # of the members of a list whose label is repeated
_MAX_PROSE_SHARE = 0.5  # of the values that are sentences
_MIN_ALONE_SHARE = 0.9
_MIN_PROSE_WORDS, _MIN_SENTENCE_WORDS = 9, 4
MAX_LABELS_PER_DOCUMENT = 400
FIRST_COUNTS = frozenset("from to cc date sent subject".split())  # a mail repeats them in what it quotes


def min_documents_for(document_count: int) -> int:
    """Returns in how many documents a label must stand to become a field."""
    if document_count <= _FEW_DOCUMENTS:
        return _MIN_OF_FEW
    return max(_MIN_OF_MANY, -int(-document_count * _MIN_SHARE // 1))


@dataclass(slots=True, kw_only=True)
class RecurringLabel:
    """A label with its values by the number of the document."""

    key: str
    spellings: Counter[str] = field(default_factory=Counter[str])
    forms: Counter[LabelForm] = field(default_factory=Counter[LabelForm])
    texts_by_document: dict[int, list[LabelledText]] = field(default_factory=lambda: defaultdict(list))
    ranks: list[int] = field(default_factory=list[int])  # its position among the labels of each document
    neighbours: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])  # labels before and after

    @property
    def first_texts(self) -> list[LabelledText]:
        """The first value of each document."""
        return [texts[0] for texts in self.texts_by_document.values()]

    @property
    def is_repeated(self) -> bool:
        """Whether documents give the label several values."""
        return sum(map(len, self.texts_by_document.values())) > _MAX_REPEATS * len(self.texts_by_document)

    @property
    def stands_alone(self) -> bool:
        """Whether the label is mostly a paragraph of its own near the top, as the heading of a document is."""
        alone = sum(labelled.stands_alone for labelled in self.first_texts)
        return alone >= _MIN_ALONE_SHARE * len(self.texts_by_document)

    @property
    def usual_neighbours(self) -> tuple[str, str]:
        """The labels before and after it in most documents; empty at the ends."""
        return max(self.neighbours, key=lambda pair: (self.neighbours[pair], pair))

    @property
    def usual_sides(self) -> tuple[str, str]:
        """The label most often before it, and the one most often after it; empty at the ends."""
        before, after = Counter[str](), Counter[str]()
        for (previous, following), count in self.neighbours.items():
            before[previous] += count
            after[following] += count
        return (max(before, key=lambda key: (before[key], key)), max(after, key=lambda key: (after[key], key)))

    @property
    def spelling(self) -> str:
        """The commonest spelling; of several the first in the alphabet."""
        return min(self.spellings, key=lambda label: (-self.spellings[label], label))

    def recurs_in(self, document_count: int) -> bool:
        """Whether enough of the documents have the label, with values that can be a field's."""
        found = len(self.texts_by_document)
        if found < min_documents_for(document_count):
            return False
        lengths = [len(labelled.text) for texts in self.texts_by_document.values() for labelled in texts]
        if self.is_repeated and max(lengths) > _MAX_LIST_CHARACTERS:
            return False
        is_weak = all(form in _WEAK_FORMS for form in self.forms)
        if is_weak and (found < _MIN_WEAK_SHARE * document_count or len(self.distinct_texts) < 2):
            return False
        if any(labelled.items for labelled in self.first_texts):
            return True
        if len(self.distinct_texts) == 1 and found > 2 and len(self.first_texts[0].text.split()) >= _MIN_SENTENCE_WORDS:
            return False  # the same words in every document say nothing of any
        prose = sum(_reads_as_prose(labelled.text) for labelled in self.first_texts)
        return prose <= _MAX_PROSE_SHARE * found

    @property
    def distinct_texts(self) -> frozenset[str]:
        return frozenset(labelled.text.casefold() for labelled in self.first_texts)


class LabelTally:
    """Counts the labels of documents, one document after the other."""

    def __init__(self) -> None:
        self.document_count = 0
        self._labels = dict[str, RecurringLabel]()
        self._texts_by_document = dict[int, Sequence[LabelledText]]()

    def add_document(self, texts: Sequence[LabelledText]) -> None:
        """Adds the labels of one document, in the order of its text."""
        self._count_labels(self.document_count, texts)
        self.document_count += 1

    def tally_of(self, documents: Collection[int]) -> "LabelTally":
        """Returns the tally of some of the documents, which keep their numbers."""
        part = LabelTally()
        for number in sorted(documents):
            part._count_labels(number, self._texts_by_document[number])
        part.document_count = len(documents)
        return part

    def find_label(self, key: str) -> RecurringLabel | None:
        return self._labels.get(key)

    def _count_labels(self, number: int, texts: Sequence[LabelledText]) -> None:
        self._texts_by_document[number] = texts
        shown = texts[:MAX_LABELS_PER_DOCUMENT]
        keys = [labelled.key for labelled in shown]
        for rank, labelled in enumerate(shown):
            label = self._labels.setdefault(labelled.key, RecurringLabel(key=labelled.key))
            if labelled.key in FIRST_COUNTS and number in label.texts_by_document:
                continue
            label.spellings[labelled.label] += 1
            label.forms[labelled.form] += 1
            label.texts_by_document[number].append(labelled)
            label.ranks.append(rank)
            label.neighbours[_neighbours_at(keys, rank)] += 1

    def recurring_labels(self) -> list[RecurringLabel]:
        """Returns the labels that recur, in the order of their first appearance."""
        return [label for label in self._labels.values() if label.key and label.recurs_in(self.document_count)]

    def rare_labels(self, known: Iterable[str]) -> list[RecurringLabel]:
        """Returns the other labels, which may be further spellings of a recurring label."""
        recurring = set(known)
        return [label for label in self._labels.values() if label.key and label.key not in recurring]


def _reads_as_prose(text: str) -> bool:
    """Whether a value is a sentence rather than a name, a number or a day."""
    words = len(text.split())
    is_ended = text.endswith((".", "?", "!")) and (words >= _MIN_SENTENCE_WORDS or text[-1] in "?!")
    return is_ended or (words >= _MIN_PROSE_WORDS and not any(mark in text for mark in ",;|"))


def _neighbours_at(keys: Sequence[str], rank: int) -> tuple[str, str]:
    return (keys[rank - 1] if rank else "", keys[rank + 1] if rank + 1 < len(keys) else "")
