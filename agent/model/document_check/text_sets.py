"""Finds the sets of a plan that words in texts define, and what of their conditions the index decides."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from agent.assumptions import WordsDecide
from storage.search.conditions import (
    DOC_ID_FIELD,
    TEXT_FIELD,
    TITLE_FIELD,
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    NotCondition,
    OrCondition,
    SemiJoinCondition,
    conjunction_of,
    conjuncts_of,
    fields_of,
)
from storage.search.ids import BucketId, DocId
from storage.search.plan import (
    AnswerForm,
    CheckClaims,
    ClaimQuantifier,
    Clause,
    ComputeNumbers,
    Leg,
    ReadFields,
    Search,
    SummariseDocuments,
)

_NO_DOCUMENT = DocId("")  # the id of no document


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSet:
    """The set of a leg, of whose documents texts must mention words. `known`: the conditions that the index decides.

    `sufficient`: what fields alone say instead of the texts; documents that meet it belong to the set unread.
    """

    leg: Leg
    known: tuple[Condition, ...]
    mentions: tuple[str, ...]  # in the other conditions
    sufficient: tuple[Condition, ...] = ()

    @property
    def bucket(self) -> BucketId:
        return self.leg.search.clauses[0].bucket

    @property
    def candidates(self) -> Search:
        """The documents that may fit: all that meet the known conditions."""
        return self._search_with(*self.known)

    @property
    def certain(self) -> Search:
        """The candidates that belong to the set by their fields; all of them if no fields decide that."""
        return self._search_with(*self.known, *([OrCondition(self.sufficient)] if self.sufficient else []))

    def search_of(self, doc_ids: Sequence[DocId], words: str = "") -> Search:
        """Returns the set of these documents. `words`: those of the question that they fit."""
        ids = tuple(str(doc_id) for doc_id in doc_ids) or (str(_NO_DOCUMENT),)
        chosen = ComparisonCondition(field=DOC_ID_FIELD, op=ComparisonOperator.IN, value=ids, words=words)
        return self._search_with(*self.known, chosen)

    def _search_with(self, *conditions: Condition) -> Search:
        return replace(self.leg.search, clauses=(Clause(bucket=self.bucket, condition=conjunction_of(*conditions)),))


def find_text_set(leg: Leg) -> TextSet | None:
    """Returns the set of the leg if it is of one bucket, and reading its documents can decide what is in it."""
    if len(leg.search.clauses) != 1 or not _answers_by_set(leg.answer_form):
        return None
    [clause] = leg.search.clauses
    conjuncts = conjuncts_of(clause.condition)
    known = tuple(condition for condition in conjuncts if TEXT_FIELD not in fields_of(condition))
    opened = [condition for condition in conjuncts if condition not in known]
    if not opened and not clause.required_terms:
        return None
    mentions = (*clause.required_terms, *(word for condition in opened for word in _mentions_in(condition)))
    sufficient = _members_without_text(opened[0]) if len(opened) == 1 and not clause.required_terms else ()
    return TextSet(leg=leg, known=known, mentions=tuple(dict.fromkeys(mentions)), sufficient=sufficient)


def find_deciding_words(leg: Leg) -> WordsDecide | None:
    """Returns the words that decide what is in the leg's set, but for required ones, which are told anyway."""
    form = leg.answer_form
    is_counted_claim = isinstance(form, CheckClaims) and form.quantifier is not None
    if not (form.names_a_set or is_counted_claim or _answers_by_set(form)):
        return None
    required = {word for clause in leg.search.clauses for word in clause.required_terms}
    searches = [leg.search, *(search for search in (_whole_of(form),) if search is not None)]
    words = [word for search in searches for clause in search.clauses for word in _mentions_in(clause.condition)]
    words += [word for search in searches[1:] for clause in search.clauses for word in clause.required_terms]
    told = tuple(dict.fromkeys(word for word in words if word not in required))
    return WordsDecide(words=told) if told else None


def _whole_of(form: AnswerForm) -> Search | None:
    """Returns the set of which a share or a claim is told."""
    match form:
        case CheckClaims(scope=scope):
            return scope
        case ComputeNumbers(share_base=share_base):
            return share_base
        case _:
            return None


def _members_without_text(condition: Condition) -> tuple[Condition, ...]:
    """Returns the alternatives that fields alone decide."""
    members = condition.members if isinstance(condition, OrCondition) else ()
    return tuple(member for member in members if not {TEXT_FIELD, TITLE_FIELD} & fields_of(member))


def _answers_by_set(form: AnswerForm) -> bool:
    """Whether the answer is about all documents of the leg's set, and of no other set that words define."""
    match form:
        case SummariseDocuments():
            return False
        case CheckClaims(quantifier=quantifier, scope=scope):
            return quantifier is ClaimQuantifier.ANY and scope is None
        case ReadFields(of_each=of_each):
            return of_each
        case ComputeNumbers(share_base=Search() as whole):
            return not any(clause.required_terms or list(_mentions_in(clause.condition)) for clause in whole.clauses)
        case _:
            return form.names_a_set


def _mentions_in(condition: Condition) -> Iterator[str]:
    """Yields the words that texts must mention, also those of inner sets."""
    match condition:
        case ComparisonCondition(field=name, value=value) if name == TEXT_FIELD:
            yield str(value)
        case AndCondition(members) | OrCondition(members):
            for member in members:
                yield from _mentions_in(member)
        case NotCondition(inner) | SemiJoinCondition(condition=inner):
            yield from _mentions_in(inner)
        case _:
            return
