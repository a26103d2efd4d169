"""Finds the kind of a document by its labels, where nothing names it."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from storage.ingest.extract.labels.forms.letter_parts import RECIPIENT_LABEL
from storage.ingest.extract.labels.labelled_texts import LabelForm, LabelledText

_MAIL_HEAD_KEYS = frozenset({"from", "to", "subject"})
_MAX_MAIL_HEAD_LABELS = 8
_MIN_LABELS = 2  # of a kind that a document must have
_MIN_OWN_SHARE = 0.5  # of the usual labels of the kind
_MIN_FITTING_SHARE = 0.75  # of the document's labels that belong to some kinds
_MAX_RIVAL_SHARE = 0.6  # of the weight of the best kind


def kind_by_labels(keys: Collection[str], keys_by_kind: Mapping[str, Collection[str]]) -> str | None:
    """Returns the kind whose usual labels the document has; None if no kind fits, or several do.

    A label that several kinds have counts less for each of them.
    """
    kinds_of_key = Counter(key for kind_keys in keys_by_kind.values() for key in set(kind_keys))
    present = {key for key in keys if key in kinds_of_key}
    weights = {
        kind: sum(1 / kinds_of_key[key] for key in present & set(kind_keys)) for kind, kind_keys in keys_by_kind.items()
    }
    ranked = sorted(weights, key=lambda kind: (-weights[kind], kind))
    if not ranked or (len(ranked) > 1 and weights[ranked[1]] > _MAX_RIVAL_SHARE * weights[ranked[0]]):
        return None
    own = present & set(keys_by_kind[ranked[0]])
    fits = (
        len(own) >= max(_MIN_LABELS, _MIN_OWN_SHARE * len(set(keys_by_kind[ranked[0]])))
        and len(own) >= _MIN_FITTING_SHARE * len(present)
        and weights[ranked[0]] >= 1
    )
    return ranked[0] if fits else None


def kind_of_correspondence(texts: Sequence[LabelledText]) -> str | None:
    """Returns "email" for a text with the head of a mail, "letter" for one with a salutation; None for all others."""
    if {labelled.key for labelled in texts[:_MAX_MAIL_HEAD_LABELS]} >= _MAIL_HEAD_KEYS:
        return "email"
    is_letter = any(labelled.form is LabelForm.LETTER and labelled.label == RECIPIENT_LABEL for labelled in texts)
    return "letter" if is_letter else None
