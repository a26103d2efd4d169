"""Joins labels that documents use for the same field: "Start date", "Starts on" and "Commencement date".

Two labels are joined if no document has both, their values are of one type and agree, and either their words are the
same but for inflection and small words, or the thesaurus gives them one meaning, or one has a word more and they stand
in the same place. Labels that differ in any of this stay fields of their own.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from statistics import median

from storage.ingest.extract.labels.forms.heading_parts import REFERENCE_LABEL
from storage.ingest.extract.labels.labelled_texts import label_key_of
from storage.ingest.extract.labels.recurring_labels import RecurringLabel
from storage.ingest.schemas.profile import ValueProfile
from storage.search.schema import FieldType, SchemaField
from storage.text.snowball_analyser import SnowballAnalyser

_SMALL_WORDS = frozenset("a an the of on at in for to by per our your is full name exact".split())
_SMALL_WORDS_OF_DATES = frozenset("date day time dated".split())
_PLAIN_WORDS = {  # of each word the one that stands for it
    **dict.fromkeys(("nr", "number", "num"), "no"),
    "ref": "reference",
    **dict.fromkeys(("monthly", "pcm", "pm"), "month"),
    **dict.fromkeys(("yearly", "annual", "annually", "pa"), "year"),
    **dict.fromkeys(("weekly", "pw"), "week"),
}
_NUMBER_WORDS = frozenset({"no", "reference", "id"})
_BRACKETED = re.compile(r"\s*[(\[][^()\[\]]*[)\]]")
_MAX_FACTOR = 3.0  # between the medians of numbers that agree
_MIN_SHARED_VALUES = 0.25  # of the distinct values of the label with fewer, for short lists of values
_DIGIT = re.compile(r"\d")
_MAX_COMPARED_LABELS = 1_000
# What mails call what letters imply. `from` and `to` only where their values are people or addresses.
HEADER_KEYS = {"from": "sender", "to": "recipient", "sent": "date", "re": "subject"}

FieldOfLabel = Callable[[RecurringLabel], tuple[SchemaField, ValueProfile]]


KindsOfLabel = Callable[[RecurringLabel], frozenset[str]]


def join_labels(
    recurring: Sequence[RecurringLabel],
    rare: Sequence[RecurringLabel],
    field_of: FieldOfLabel,
    kinds_of: KindsOfLabel = lambda _: frozenset(),
) -> list[list[RecurringLabel]]:
    """Returns groups of labels, each of one field, the commonest label first.

    `field_of` gives the field that a label would be by itself, with its synonyms. A rare label only joins a recurring
    one; it makes no group. Labels of different kinds of documents (`kinds_of`; empty: all) stay separate.
    """
    ordered = sorted(recurring, key=lambda label: -len(label.texts_by_document))
    groups = list[list[RecurringLabel]]()
    for label in (*ordered, *rare[:_MAX_COMPARED_LABELS]):
        group = next(
            (group for group in groups if share_a_kind(label, group, kinds_of) and _belongs_to(label, group, field_of)),
            None,
        )
        if group is not None:
            group.append(label)
        elif len(groups) < len(ordered) and label in ordered:
            groups.append([label])
    order = {id(label): rank for rank, label in enumerate(recurring)}
    return sorted(groups, key=lambda group: order[id(group[0])])


def share_a_kind(label: RecurringLabel, group: Sequence[RecurringLabel], kinds_of: KindsOfLabel) -> bool:
    """Whether documents of one kind can have the label and those of the group."""
    kinds = kinds_of(label)
    return all(not kinds or not others or bool(kinds & others) for others in map(kinds_of, group))


def _belongs_to(label: RecurringLabel, group: Sequence[RecurringLabel], field_of: FieldOfLabel) -> bool:
    documents = label.texts_by_document.keys()
    if any(not documents.isdisjoint(other.texts_by_document) for other in group):
        return False
    if not _may_mean_the_same(label, group, field_of):
        return False
    field, profile = field_of(label)
    other_field, other_profile = field_of(group[0])
    has_one_value = len(label.texts_by_document) == 1
    return _are_compatible(field, other_field) and (has_one_value or _values_agree(profile, other_profile, field.type))


def _may_mean_the_same(label: RecurringLabel, group: Sequence[RecurringLabel], field_of: FieldOfLabel) -> bool:
    key = header_key_of(label)
    for other in group:
        if key == header_key_of(other) or words_of_label(label) == words_of_label(other):
            return True
        if _are_nested(label, other) and _have_one_position(label, other):
            return True
    if label.spelling == REFERENCE_LABEL:
        return any(words_of_label(other) & _NUMBER_WORDS and _have_one_shape(label, other) for other in group)
    synonyms = {stemmed_words_of(word.casefold()) for other in group[:2] for word in field_of(other)[0].synonyms}
    return words_of_label(label) in synonyms


def words_of_label(label: RecurringLabel) -> frozenset[str]:
    """Returns the stems of a label's words; what appears in brackets is a unit and does not count."""
    return stemmed_words_of(label_key_of(_BRACKETED.sub("", label.spelling)) or label.key)


def _have_one_shape(label: RecurringLabel, other: RecurringLabel) -> bool:
    """Whether references mostly have the same letters and marks around as many digits: `INV-204` and `INV-311`."""
    shapes, others = (_DIGIT.sub("9", each.first_texts[0].text) for each in (label, other))
    return shapes == others


def _are_nested(label: RecurringLabel, other: RecurringLabel) -> bool:
    """Whether one label only says more than the other: "Fee" and "Monthly fee", but not "Net fee" and "Gross fee"."""
    words, others = (
        set(label_key_of(_BRACKETED.sub("", each.spelling)).split()) - _SMALL_WORDS for each in (label, other)
    )
    return bool(words) and bool(others) and (words <= others or others <= words)


def header_key_of(label: RecurringLabel) -> str:
    """Returns the key of a label, for the head of a mail the key of what it means: `from` is the sender."""
    canonical = HEADER_KEYS.get(label.key)
    if canonical in ("sender", "recipient") and not _names_people(label):
        return label.key
    return canonical or label.key


def _names_people(label: RecurringLabel) -> bool:
    texts = [labelled.text for labelled in label.first_texts]
    return sum("@" in text or text.replace(" ", "").isalpha() for text in texts) >= 0.6 * len(texts)


@lru_cache(maxsize=10_000)
def stemmed_words_of(key: str) -> frozenset[str]:
    """Returns the stems of the words of a label without small words: of "starts on" and "start date" the same."""
    words = [_PLAIN_WORDS.get(word, word) for word in key.split()]
    content = [word for word in words if word not in _SMALL_WORDS] or words
    content = [word for word in content if word not in _SMALL_WORDS_OF_DATES] or content
    return frozenset(term.text for term in _english_analyser().extract_terms(" ".join(content)))


@lru_cache(maxsize=1)
def _english_analyser() -> SnowballAnalyser:
    return SnowballAnalyser("en")


def _have_one_position(label: RecurringLabel, other: RecurringLabel) -> bool:
    """Whether both labels appear at the same place among the labels of their documents, or between the same two."""
    is_between = label.usual_neighbours == other.usual_neighbours and all(label.usual_neighbours)
    return is_between or abs(median(label.ranks) - median(other.ranks)) < 1


def _are_compatible(field: SchemaField, other: SchemaField) -> bool:
    if field.type is not other.type:
        return {field.type, other.type} <= {FieldType.CATEGORY, FieldType.TEXT, FieldType.LIST}
    return field.type is not FieldType.NUMBER or bool(field.unit) == bool(other.unit)


def _values_agree(profile: ValueProfile, other: ValueProfile, kind: FieldType) -> bool:
    """Whether the values of two labels can be of one field: ranges that meet, numbers of one size, shared values."""
    match kind:
        case FieldType.NUMBER | FieldType.MONEY:
            return _have_one_size(_numbers_of(profile), _numbers_of(other))
        case FieldType.CATEGORY:
            values, others = (set(map(str.casefold, each.samples)) for each in (profile, other))
            least = min(len(values), len(others))
            are_names = len(values) > 0.5 * profile.value_count and len(others) > 0.5 * other.value_count
            return are_names or len(values & others) >= _MIN_SHARED_VALUES * least
        case _:
            return True


def _numbers_of(profile: ValueProfile) -> list[float]:
    return [bound for bound in (profile.low, profile.high) if isinstance(bound, (int, float))]


def _have_one_size(numbers: Sequence[float], others: Sequence[float]) -> bool:
    if not numbers or not others:
        return True
    low, high = sorted((abs(median(numbers)), abs(median(others))))
    return high <= _MAX_FACTOR * low or _overlap(numbers, others)


def _overlap(numbers: Iterable[float], others: Iterable[float]) -> bool:
    first, second = sorted(numbers), sorted(others)
    return first[0] <= second[-1] and second[0] <= first[-1]
