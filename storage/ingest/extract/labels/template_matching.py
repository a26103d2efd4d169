"""Joins labels of different templates: forms that ask for the same in other words, such as two versions of a contract.

A template is a set of documents with mostly the same labels. A label of one template matches a label of another by what
it asks for, its words, its values, their rank among the values of their type, and its neighbours. A pair needs several
of these, and each label must be the best of its template for the other. Labels that ask for different things, or that
stand together in a document, never match.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from statistics import median

from storage.ingest.extract.labels.label_concepts import LabelConcepts, ValueDomain, are_opposite, concepts_of
from storage.ingest.extract.labels.labelled_texts import label_key_of
from storage.ingest.extract.labels.person_names import is_person_name
from storage.ingest.extract.labels.plain_values import plain_value_of
from storage.ingest.extract.labels.recurring_labels import RecurringLabel
from storage.ingest.schemas.literals import is_missing_value
from storage.quantities.days import parse_date
from storage.quantities.money import parse_money
from storage.quantities.numbers import parse_number
from storage.quantities.units import parse_quantity
from storage.search.schema import FieldType, SchemaField

MIN_MATCH_SCORE = 0.8
_WHOLE_CONCEPT, _PARTIAL_CONCEPT, _SHARED_STEM = 0.8, 0.5, 0.4
_MOSTLY_SHARED_VALUES, _SHARED_VALUES, _SOME_SHARED_VALUES, _SHARED_SHAPE = 0.5, 0.4, 0.25, 0.3
_SAME_RANK, _NEIGHBOUR, _ALIGNED = 0.35, 0.15, 0.2
_MIN_MARGIN = 0.1  # of the score over that of the next best pair
_MIN_LIKELY_SCORE = 0.5  # of neighbours that count as evidence
_MIN_TEMPLATE_LIKENESS = 0.4  # of the labels of a document and of a template
_MIN_CORE_SHARE, _MIN_MEMBER_SHARE = 0.5, 0.25  # of the documents of a template that have a label
_MIN_TEMPLATE_DOCUMENTS = 2
_MIN_CONSISTENT_SHARE = 0.8  # of the documents in which values of a type have the same order
_MIN_ALIGNED = 3  # matches from which two templates ask for the same in the same order
_MIN_ALIGNED_SHARE = 0.4  # of the labels of the smaller template
_MIN_DOMAIN_SHARE = 0.6  # of the values of a label
_MIN_MOSTLY_SHARED_SHARE, _MIN_SHARED_SHARE, _MIN_SOME_SHARED_SHARE = (
    0.6,
    0.25,
    0.1,
)  # of the distinct values of the label with fewer
_MAX_SIZE_FACTOR = 5.0  # between the medians of numbers that agree
_MEASURED = (ValueDomain.DATE, ValueDomain.MONEY, ValueDomain.NUMBER)
_WORDED = {ValueDomain.NAME, ValueDomain.TEXT}  # which names of things are is a matter of chance
_DECIDED = (*_MEASURED, ValueDomain.NAME)  # domains in which different concepts exclude each other

FieldOfGroup = Callable[[RecurringLabel], SchemaField]
ShareAKind = Callable[[Sequence[RecurringLabel], Sequence[RecurringLabel]], bool]
StemsOf = Callable[[RecurringLabel], frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _MatchedLabel:
    """Labels that are one field already, with what they are compared by."""

    number: int
    group: Sequence[RecurringLabel]
    documents: frozenset[int]
    domain: ValueDomain
    unit: str
    concepts: LabelConcepts
    stems: frozenset[str]
    words: Sequence[str]
    values: frozenset[str]
    measures: Mapping[int, float]  # of each document, for measured domains
    shape: str  # of references


@dataclass(slots=True, kw_only=True)
class _FormTemplate:
    documents: set[int] = field(default_factory=set[int])
    labels: Counter[int] = field(default_factory=Counter[int])

    @property
    def core(self) -> set[int]:
        return {number for number, count in self.labels.items() if count >= _MIN_CORE_SHARE * len(self.documents)}

    @property
    def members(self) -> list[int]:
        least = max(_MIN_MEMBER_SHARE * len(self.documents), 1)
        return [number for number, count in self.labels.items() if count >= least]


def match_templates(
    groups: Sequence[list[RecurringLabel]], field_of: FieldOfGroup, stems_of: StemsOf, share_a_kind: ShareAKind
) -> list[list[RecurringLabel]]:
    """Returns the groups; those of templates that ask for the same are joined, the label with most documents first."""
    labels = [_matched_label_of(number, group, field_of(group[0]), stems_of) for number, group in enumerate(groups)]
    matches = list[tuple[float, int, int]]()
    for first, second in combinations(_templates_of(labels), 2):
        matches += _TemplatePair(labels, first, second).find_matches()
    return _joined_groups(groups, labels, matches, share_a_kind)


def _joined_groups(
    groups: Sequence[list[RecurringLabel]],
    labels: Sequence[_MatchedLabel],
    matches: Iterable[tuple[float, int, int]],
    share_a_kind: ShareAKind,
) -> list[list[RecurringLabel]]:
    members = {label.number: {label.number} for label in labels}
    for _, first, second in sorted(matches, key=lambda match: (-match[0], match[1], match[2])):
        mine, others = members[first], members[second]
        if mine is others or not _may_be_one_field(mine, others, labels, groups, share_a_kind):
            continue
        mine |= others
        for number in others:
            members[number] = mine
    joined = list[list[RecurringLabel]]()
    for number in range(len(groups)):
        if number == min(members[number]):
            ordered = sorted(members[number], key=lambda each: (-len(labels[each].documents), each))
            joined.append([label for each in ordered for label in groups[each]])
    return joined


def _may_be_one_field(
    mine: Iterable[int],
    others: Iterable[int],
    labels: Sequence[_MatchedLabel],
    groups: Sequence[list[RecurringLabel]],
    share_a_kind: ShareAKind,
) -> bool:
    return all(
        labels[first].documents.isdisjoint(labels[second].documents)
        and not _exclude_each_other(labels[first], labels[second])
        and share_a_kind(groups[first], groups[second])
        for first in mine
        for second in others
    )


# -- templates


def _templates_of(labels: Sequence[_MatchedLabel]) -> list[_FormTemplate]:
    """Returns the templates, each with two documents or more, in the order of their first document."""
    labels_by_document = defaultdict[int, set[int]](set)
    for label in labels:
        for document in label.documents:
            labels_by_document[document].add(label.number)
    templates = list[_FormTemplate]()
    for document, own in sorted(labels_by_document.items()):
        likeness, best = max(
            ((_likeness_of(own, template.core), -rank) for rank, template in enumerate(templates)), default=(0.0, 0)
        )
        if likeness < _MIN_TEMPLATE_LIKENESS:
            templates.append(_FormTemplate())
        template = templates[-best] if likeness >= _MIN_TEMPLATE_LIKENESS else templates[-1]
        template.documents.add(document)
        template.labels.update(own)
    return [template for template in templates if len(template.documents) >= _MIN_TEMPLATE_DOCUMENTS]


def _likeness_of(labels: set[int], others: set[int]) -> float:
    return len(labels & others) / len(labels | others) if labels or others else 0.0


class _TemplatePair:
    """The labels of two templates, and how well those of the one match those of the other."""

    def __init__(self, labels: Sequence[_MatchedLabel], first: _FormTemplate, second: _FormTemplate) -> None:
        self._labels = labels
        self._sequences = [_sequence_of(template, labels) for template in (first, second)]
        self._ranks = [_value_ranks_of(template, labels) for template in (first, second)]
        self._shared = set(self._sequences[0]) & set(self._sequences[1])
        self._base = {
            (mine, other): score
            for mine in self._sequences[0]
            for other in self._sequences[1]
            if labels[mine].documents.isdisjoint(labels[other].documents)
            and (score := self._base_score(mine, other)) is not None
        }

    def find_matches(self) -> list[tuple[float, int, int]]:
        """Returns the pairs of labels that match, with their scores."""
        scores = {pair: score + self._neighbour_score(pair) for pair, score in self._base.items()}
        certain = [(first, second) for _, first, second in _best_pairs(scores)]
        aligned = {*certain, *((number, number) for number in self._shared)}
        least = max(_MIN_ALIGNED, _MIN_ALIGNED_SHARE * min(map(len, self._sequences)))
        if len(aligned) >= least:
            scores = {
                pair: score + (_ALIGNED if not self._crosses(pair, aligned) else 0.0) for pair, score in scores.items()
            }
        return list(_best_pairs(scores))

    def _base_score(self, first: int, second: int) -> float | None:
        """Returns what meaning, words and values say of a pair; None: they exclude it."""
        mine, other = self._labels[first], self._labels[second]
        if mine.unit != other.unit or _exclude_each_other(mine, other):
            return None
        if mine.domain is not other.domain and not (
            {mine.domain, other.domain} == _WORDED and (_value_score(mine, other) or _word_score(mine, other))
        ):
            return None
        if mine.domain in (ValueDomain.MONEY, ValueDomain.NUMBER) and not _have_one_size(mine.measures, other.measures):
            return None
        return _word_score(mine, other) + _value_score(mine, other) + self._rank_score(first, second)

    def _rank_score(self, first: int, second: int) -> float:
        own, others = self._ranks[0].get(first), self._ranks[1].get(second)
        return _SAME_RANK if own is not None and own == others else 0.0

    def _neighbour_score(self, pair: tuple[int, int]) -> float:
        score = 0.0
        for step in (-1, 1):
            beside = [
                _neighbour_of(number, sequence, step) for number, sequence in zip(pair, self._sequences, strict=True)
            ]
            first, second = beside
            if first is None or second is None:
                score += _NEIGHBOUR if first is second else 0.0
            elif (first == second and first in self._shared) or self._base.get((first, second), 0) >= _MIN_LIKELY_SCORE:
                score += _NEIGHBOUR
        return score

    def _crosses(self, pair: tuple[int, int], aligned: Iterable[tuple[int, int]]) -> bool:
        """Whether the pair appears in another order than most of the pairs that match."""
        places = [
            [sequence.index(number) for number, sequence in zip(each, self._sequences, strict=True)] for each in aligned
        ]
        first, second = (sequence.index(number) for number, sequence in zip(pair, self._sequences, strict=True))
        crossed = sum((first - place) * (second - other) < 0 for place, other in places)
        return crossed > 0.2 * len(places)


def _best_pairs(scores: Mapping[tuple[int, int], float]) -> Iterator[tuple[float, int, int]]:
    """Yields the pairs with a sufficient score whose labels have no other pair that is nearly as good."""
    for (first, second), score in scores.items():
        rivals = (
            other
            for pair, other in scores.items()
            if pair != (first, second) and (pair[0] == first or pair[1] == second)
        )
        if round(score, 3) >= MIN_MATCH_SCORE and score >= max(rivals, default=0.0) + _MIN_MARGIN:
            yield score, first, second


def _neighbour_of(number: int, sequence: Sequence[int], step: int) -> int | None:
    place = sequence.index(number) + step
    return sequence[place] if 0 <= place < len(sequence) else None


def _sequence_of(template: _FormTemplate, labels: Sequence[_MatchedLabel]) -> list[int]:
    """Returns the labels of a template in their usual order."""
    ranks = {number: median(_ranks_in(labels[number], template.documents)) for number in template.members}
    return sorted(ranks, key=lambda number: (ranks[number], number))


def _ranks_in(label: _MatchedLabel, documents: set[int]) -> list[int]:
    return [
        rank
        for each in label.group
        for (document, texts), rank in zip(_texts_with_ranks(each), each.ranks, strict=False)
        if document in documents and texts
    ] or [0]


def _texts_with_ranks(label: RecurringLabel) -> Iterator[tuple[int, object]]:
    """Yields the document of each text, in the order of the label's ranks."""
    for document, texts in label.texts_by_document.items():
        for text in texts:
            yield document, text


def _value_ranks_of(template: _FormTemplate, labels: Sequence[_MatchedLabel]) -> dict[int, tuple[int, int]]:
    """Returns, for labels of a type, how many the template has of it, and the rank of the values among them.

    Only a rank that nearly all documents agree on counts: the deposit is always more than the rent.
    """
    by_domain = defaultdict[tuple[ValueDomain, str], list[_MatchedLabel]](list)
    for number in template.core:
        by_domain[labels[number].domain, labels[number].unit].append(labels[number])
    ranks = dict[int, tuple[int, int]]()
    for (domain, _), own in by_domain.items():
        if domain is ValueDomain.TEXT:
            continue
        if len(own) == 1:
            ranks[own[0].number] = (1, 0)
        elif domain in _MEASURED:
            ranks |= {label.number: (len(own), rank) for label, rank in _ordered_by_value(own, template.documents)}
    return ranks


def _ordered_by_value(labels: Sequence[_MatchedLabel], documents: Iterable[int]) -> Iterator[tuple[_MatchedLabel, int]]:
    """Yields the labels with their ranks if nearly all documents have their values in one order."""
    measures = [
        [label.measures[document] for label in labels]
        for document in documents
        if all(document in label.measures for label in labels)
    ]
    if not measures:
        return
    order = sorted(range(len(labels)), key=lambda place: median(row[place] for row in measures))
    rows = [[row[place] for place in order] for row in measures]
    is_ordered = [all(low <= high for low, high in pairwise(row)) for row in rows]
    is_strict = any(low < high for row in rows for low, high in pairwise(row))
    if is_strict and sum(is_ordered) >= _MIN_CONSISTENT_SHARE * len(rows):
        yield from ((labels[place], rank) for rank, place in enumerate(order))


# -- pairs of labels


def _exclude_each_other(label: _MatchedLabel, other: _MatchedLabel) -> bool:
    if are_opposite(label.words, other.words):
        return True
    concepts, others = label.concepts, other.concepts
    is_decided = label.domain in _DECIDED and not (concepts.is_generic or others.is_generic)
    return is_decided and bool(concepts.whole and others.whole) and concepts.whole.isdisjoint(others.whole)


def _word_score(label: _MatchedLabel, other: _MatchedLabel) -> float:
    if label.concepts.whole & other.concepts.whole:
        return _WHOLE_CONCEPT
    is_near = bool(label.concepts.partial & other.concepts.partial)
    shares_stem = bool(label.stems & other.stems)
    return _PARTIAL_CONCEPT if is_near else _SHARED_STEM if shares_stem else 0.0


def _value_score(label: _MatchedLabel, other: _MatchedLabel) -> float:
    if label.domain is ValueDomain.REFERENCE:
        return _SHARED_SHAPE if label.shape == other.shape else 0.0
    if label.domain in (*_MEASURED, ValueDomain.FLAG):
        return 0.0
    shared, least = len(label.values & other.values), min(len(label.values), len(other.values))
    if shared > 1 and shared >= _MIN_MOSTLY_SHARED_SHARE * least:
        return _MOSTLY_SHARED_VALUES
    if shared and shared >= _MIN_SHARED_SHARE * least and least > 1:
        return _SHARED_VALUES
    return _SOME_SHARED_VALUES if shared > 1 and shared >= _MIN_SOME_SHARED_SHARE * least else 0.0


def _have_one_size(measures: Mapping[int, float], others: Mapping[int, float]) -> bool:
    if not measures or not others:
        return False
    low, high = sorted((abs(median(measures.values())), abs(median(others.values()))))
    return high <= _MAX_SIZE_FACTOR * low


def _matched_label_of(
    number: int, group: Sequence[RecurringLabel], schema_field: SchemaField, stems_of: StemsOf
) -> _MatchedLabel:
    texts = {document: texts[0].text for label in group for document, texts in label.texts_by_document.items()}
    plain = {document: plain_value_of(text) for document, text in texts.items()}
    given = {document: value for document, value in plain.items() if not is_missing_value(value)}
    domain = _domain_of(schema_field, list(given.values()))
    measures = {document: measure for document, value in given.items() if (measure := _measure_of(value)) is not None}
    spelling = group[0].spelling
    return _MatchedLabel(
        number=number,
        group=group,
        documents=frozenset(texts),
        domain=domain,
        unit=schema_field.unit,
        concepts=concepts_of(spelling, domain),
        stems=stems_of(group[0]),
        words=label_key_of(spelling).split(),
        values=frozenset(map(str.casefold, given.values())),
        measures=measures if domain in _MEASURED else {},
        shape=_usual_shape_of(given.values()),
    )


def _domain_of(schema_field: SchemaField, values: Sequence[str]) -> ValueDomain:
    match schema_field.type:
        case FieldType.DATE:
            return ValueDomain.DATE
        case FieldType.MONEY:
            return ValueDomain.MONEY
        case FieldType.NUMBER:
            return ValueDomain.NUMBER
        case FieldType.FLAG:
            return ValueDomain.FLAG
        case _:
            return _named_domain_of(values)


def _named_domain_of(values: Sequence[str]) -> ValueDomain:
    least = _MIN_DOMAIN_SHARE * max(len(values), 1)
    if (
        sum(
            value.casefold().split(",")[0].split(" ")[0] in ("yes", "no", "ja", "nein", "oui", "non", "sí")
            for value in values
        )
        >= least
    ):
        return ValueDomain.FLAG
    if sum(any(c.isdigit() for c in value) and " " not in value for value in values) >= least:
        return ValueDomain.REFERENCE
    return ValueDomain.NAME if sum(map(is_person_name, values)) >= least else ValueDomain.TEXT


def _usual_shape_of(values: Iterable[str]) -> str:
    shapes = Counter("".join("9" if c.isdigit() else c for c in value) for value in values)
    return shapes.most_common(1)[0][0] if shapes else ""


def _measure_of(value: str) -> float | None:
    if (day := parse_date(value, day_first=True)) is not None:
        return float(day.toordinal())
    if (number := parse_number(value)) is not None:
        return float(number)
    if (money := parse_money(value)) is not None:
        return float(money.amount)
    quantity = parse_quantity(value)
    return None if quantity is None else float(quantity.number)
