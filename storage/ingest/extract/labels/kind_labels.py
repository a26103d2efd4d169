"""The labels that recur in the documents of each kind of a mixed folder."""

from collections import defaultdict
from collections.abc import Mapping

from storage.ingest.extract.labels.recurring_labels import LabelTally, RecurringLabel

# Labels under which a document writes what it is
WRITTEN_KIND_KEYS = frozenset(
    ("document type", "doc type", "type of document", "kind of document", "document kind", "dokumentart", "dokumenttyp")
)


class LabelsByKind:
    """The labels of a tally, each with the kinds in whose documents it recurs."""

    def __init__(self, tally: LabelTally, kind_by_document: Mapping[int, str]) -> None:
        """`kind_by_document` leaves out the documents without a certain kind."""
        self._tally, self._kind_by_document = tally, kind_by_document
        self._documents_by_kind = defaultdict[str | None, set[int]](set)
        for number in range(tally.document_count) if kind_by_document else ():
            self._documents_by_kind[kind_by_document.get(number)].add(number)
        self._kinds_by_key = defaultdict[str, set[str | None]](set)
        for kind, documents in self._documents_by_kind.items():
            for label in tally.tally_of(documents).recurring_labels():
                self._kinds_by_key[label.key].add(kind)

    def recurring_labels(self) -> list[RecurringLabel]:
        """Returns the labels that recur in all documents or in those of a kind, the former first.

        A label of some kinds only has the values of their documents.
        """
        everywhere = self._tally.recurring_labels()
        keys = dict.fromkeys([*(label.key for label in everywhere), *self._kinds_by_key])
        labels = {label.key: label for label in everywhere}
        for key in keys:
            kinds = self._kinds_by_key.get(key, set())
            if kinds and None not in kinds:
                documents = set[int]().union(*(self._documents_by_kind[kind] for kind in kinds))
                label = self._tally.tally_of(documents).find_label(key)
                labels |= {key: label} if label is not None else {}
        return [labels[key] for key in keys if key in labels]

    def kinds_of(self, label: RecurringLabel) -> frozenset[str]:
        """Returns the kinds that have the label; empty: all, or some documents whose kind is unknown.

        A label that recurs nowhere has the kinds of its documents.
        """
        if not self._kind_by_document:
            return frozenset()
        kinds = self._kinds_by_key.get(label.key) or set(map(self._kind_by_document.get, label.texts_by_document))
        is_general = None in kinds or kinds >= self._documents_by_kind.keys()
        return frozenset() if is_general else frozenset(kind for kind in kinds if kind is not None)
