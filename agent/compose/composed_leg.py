"""The composed text of a leg, before verification, and the composers that produce it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from agent.outcome import Citation, ResultPicture, ResultTable
from agent.retrieval.quotations import CitedQuote, build_citation
from agent.review.leg_review import LegFacts, LegReview
from agent.review.written_answer import SupportedClaim
from agent.verification.derived_figures import DerivedFigure

FactsT = TypeVar("FactsT", bound=LegFacts)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonCell:
    """A cell of a comparison: its text, and its value if that is a number or a day."""

    row_label: str
    text: str
    value: float | str | None = None
    unit: str | None = None
    format_value: Callable[[float], str] = str  # formats the difference of two such values
    is_context: bool = False  # a number that the sentences of the sides say beside what is compared


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonColumn:
    """One side of a comparison. Raw text, not escaped."""

    title: str
    cells: tuple[ComparisonCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FallbackSentence:
    """Follows the sentences that pass verification, if none of them has a citation."""

    text: str
    citation: Citation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposedLeg:
    """Markdown sentences, each verified separately, with citations, tables and pictures. Markers start at 1 in each
    leg.
    """

    sentences: tuple[str, ...]
    separator: str = "\n\n"
    citations: tuple[Citation, ...] = ()
    tables: tuple[ResultTable, ...] = ()
    pictures: tuple[ResultPicture, ...] = ()
    fallback: FallbackSentence | None = None
    is_result_first_sentence: bool = False  # the text of the leg's result is only the first sentence
    closing_question: str = ""  # asked after the sentences, if there are several choices
    prefix: str = ""  # goes before the sentences in the answer
    is_prefix_in_result: bool = False  # also in the text of the leg's result
    column: ComparisonColumn | None = None
    # What a model wrote of each sentence, to be checked against what it cites; None for a sentence of a template
    claims: tuple[SupportedClaim | None, ...] = ()
    derived_figures: tuple[DerivedFigure, ...] = ()  # numbers of the sentences that follow from numbers of the facts


class FactsComposer(Protocol):
    """Makes sentences of facts."""

    async def compose_leg(self, facts: LegFacts, review: LegReview) -> ComposedLeg:
        """Returns the sentences for the facts of a leg, with citations. They are verified afterwards."""
        ...


@dataclass(frozen=True, slots=True)
class LegComposer(Generic[FactsT]):
    """Composes facts of one class."""

    facts_class: type[FactsT]
    compose: Callable[[FactsT, LegReview], ComposedLeg]


def cite_quotes(quotes: Sequence[CitedQuote]) -> tuple[Citation, ...]:
    """A citation for each quote, numbered from 1."""
    return tuple(build_citation(marker, cited.document, cited.quote) for marker, cited in enumerate(quotes, 1))
