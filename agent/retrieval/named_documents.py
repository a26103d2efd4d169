"""Documents that a question names: only these documents may be quoted in the answer."""

from collections.abc import Iterator, Mapping, Sequence

from agent.decomposition import QuestionContext
from agent.outcome import FoundPassage
from agent.retrieval.fusion import matchers_by_bucket
from agent.retrieval.ranking_terms import FORM_WORDS
from agent.retrieval.relevance import QueryTerm, fold_text, matched_share_of
from agent.review.leg_review import LegReview
from storage.search.analyser import Analyser
from storage.search.conditions import (
    TITLE_FIELD,
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    conjuncts_of,
)
from storage.search.ids import BucketId
from storage.search.index import PassageHit
from storage.search.plan import Clause
from storage.search.schema import FieldType
from storage.text.identifiers import is_identifier

_NAMING_TYPES = (FieldType.CATEGORY, FieldType.LIST, FieldType.TEXT)
_EQUALITY_OPS = (ComparisonOperator.EQ, ComparisonOperator.HAS, ComparisonOperator.IN)
_MIN_CATEGORY_SIZE = 2.5  # documents per value, on average, from which a field classifies documents
_MIN_TITLE_SHARE = 0.3  # of the question's weight, that a title must hold to be named
_MAX_OTHER_TITLE_SHARE = 0.67  # of the named title's share, that another title may hold
_MAX_IDENTIFIER_SIZE = 1.1  # documents per value, on average, up to which a field identifies documents


def is_confined_to_named_documents(review: LegReview) -> bool:
    """Whether the question certainly names its documents: as the last results, by an identifier, by a value of an
    identifying field, by two names at once, or by a name that only one document has.

    One of several names in a document (a party, a heading) is not certain, since other documents have it too. Then all
    passages that mention every name may be quoted (`passages_mentioning_names`).
    """
    clauses = review.leg.search.clauses
    if review.alternatives.is_confined:
        return True
    if any(is_identifier(word) for clause in clauses for word in clause.required_terms):
        return True
    if len(clauses) != 1 or not review.count:
        return False  # no document has these names, so the words may not be names
    names = [
        comparison
        for comparison in _naming_conditions_of(clauses[0], review.question_context)
        if _is_document_name(comparison, clauses[0], review.question_context)
    ]
    alone = review.count == 1 and any(map(_is_written_as_name, names))
    return (
        alone
        or len(names) > 1
        or any(_identifies_document(comparison, clauses[0], review.question_context) for comparison in names)
    )


def passages_mentioning_names(review: LegReview, passages: Sequence[FoundPassage]) -> list[FoundPassage]:
    """Returns the passages of any document that mention every name in the question. The value of a classifying field
    need not be mentioned.
    """
    question_context = review.question_context
    name_words = [
        comparison.words
        for clause in review.leg.search.clauses
        for comparison in _naming_conditions_of(clause, question_context)
        if _is_written_as_name(comparison)
        and _documents_per_value(comparison, clause, question_context) < _MIN_CATEGORY_SIZE
    ]
    if not name_words:
        return list(passages)
    stems = {
        bucket: {term.text for words in name_words for term in analyser.extract_terms(words)}
        for bucket, analyser in question_context.analysers.items()
    }
    weighed = [QueryTerm(word=stem, stem=stem, weight=1.0, is_known=True) for stem in set[str]().union(*stems.values())]
    matchers = matchers_by_bucket(weighed, question_context.analysers)

    def mentions_all_names(hit: PassageHit) -> bool:
        return stems[hit.bucket] <= matchers[hit.bucket].find_stems(f"{hit.title}\n{hit.text}").keys()

    return [passage for passage in passages if mentions_all_names(passage.hit)]


def passages_under_named_title(
    passages: Sequence[FoundPassage], query_terms: Sequence[QueryTerm], analysers: Mapping[BucketId, Analyser]
) -> list[FoundPassage]:
    """Returns the passages of the documents whose title the question names; none if it names no single title.

    A title is named if it holds enough of the question, and clearly more than every other title.
    """
    matchers = matchers_by_bucket(query_terms, analysers)
    share_by_title = {
        fold_text(passage.hit.title): matched_share_of(
            query_terms, matchers[passage.hit.bucket].find_stems(passage.hit.title)
        )
        for passage in passages
    }
    best_title, *other_titles = sorted(share_by_title, key=lambda title: -share_by_title[title]) or [""]
    best_share = share_by_title.get(best_title, 0.0)
    if best_share < _MIN_TITLE_SHARE or any(
        share_by_title[title] > _MAX_OTHER_TITLE_SHARE * best_share for title in other_titles
    ):
        return []
    return [passage for passage in passages if fold_text(passage.hit.title) == best_title]


def names_whole_title(title: str, query_terms: Sequence[QueryTerm], analyser: Analyser) -> bool:
    """Whether the question holds all content words of the title, two at least: then it means this document."""
    pairs = zip(analyser.extract_words(title), analyser.extract_terms(title), strict=True)
    title_stems = {term.text for word, term in pairs if word.text not in FORM_WORDS}
    return len(title_stems) > 1 and title_stems <= {term.stem for term in query_terms}


def _naming_conditions_of(clause: Clause, question_context: QuestionContext) -> Iterator[ComparisonCondition]:
    """Yields the conditions that may name a document: values of text-like fields, and words of the title."""
    by_name = question_context.schemas[clause.bucket].by_name
    for comparison in _comparisons_in(clause.condition):
        field = by_name.get(comparison.field)
        if comparison.field == TITLE_FIELD or (
            field is not None and field.type in _NAMING_TYPES and comparison.op in _EQUALITY_OPS
        ):
            yield comparison


def _comparisons_in(condition: Condition) -> Iterator[ComparisonCondition]:
    for conjunct in conjuncts_of(condition):
        if isinstance(conjunct, ComparisonCondition):
            yield conjunct
        elif isinstance(conjunct, AndCondition):
            yield from _comparisons_in(conjunct)


def _is_document_name(comparison: ComparisonCondition, clause: Clause, question_context: QuestionContext) -> bool:
    """Whether the condition names the document itself, rather than one of its parts or its kind."""
    field = question_context.schemas[clause.bucket].by_name.get(comparison.field)
    is_own = field is None or field.type is not FieldType.LIST
    return is_own and _documents_per_value(comparison, clause, question_context) < _MIN_CATEGORY_SIZE


def _documents_per_value(comparison: ComparisonCondition, clause: Clause, question_context: QuestionContext) -> float:
    """Returns how many documents have a value of the field, on average."""
    values = _value_counts_of(comparison, clause, question_context)
    return sum(values.values()) / len(values) if values else 0.0


def _identifies_document(comparison: ComparisonCondition, clause: Clause, question_context: QuestionContext) -> bool:
    values = _value_counts_of(comparison, clause, question_context)
    alone = comparison.op is ComparisonOperator.IN or values.get(str(comparison.value), 0) == 1
    return alone and bool(values) and _documents_per_value(comparison, clause, question_context) <= _MAX_IDENTIFIER_SIZE


def _value_counts_of(
    comparison: ComparisonCondition, clause: Clause, question_context: QuestionContext
) -> dict[str, int]:
    known = question_context.vocabulary.field_of(clause.bucket, comparison.field)
    return {value.value: value.count for value in known.values} if known else {}


def _is_written_as_name(comparison: ComparisonCondition) -> bool:
    return any(c.isupper() or c.isdigit() for c in comparison.words)
