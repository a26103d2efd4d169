"""The facts of an answer that a language model wrote from the evidence, sentence by sentence.

All texts are raw: they are escaped where they are composed.
"""

from dataclasses import dataclass
from enum import StrEnum

from agent.retrieval.quotations import CitedQuote
from agent.review.leg_review import LegFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceText:
    """All that a model read of one item of evidence: a passage, the values of a document, or computed figures."""

    title: str
    text: str
    url: str = ""  # of the document


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportedClaim:
    """A sentence as a model wrote it, with the items that it cites. `question` and `language` are those of the leg."""

    text: str
    sources: tuple[SourceText, ...]
    question: str
    language: str  # ISO 639-1, of the sentence; empty: unknown
    quote: str = ""  # a passage that it quotes beside its own words
    min_sources: int = 1  # items that it must cite


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSentence:
    """A claim, and the sentences of documents that support it best; none if only computed figures do."""

    claim: SupportedClaim
    quotes: tuple[CitedQuote, ...]


class AnswerLayout(StrEnum):
    """How the sentences of a written answer are joined."""

    PROSE = "prose"
    STEPS = "steps"  # a numbered list
    LIST = "list"
    TABLE = "table"  # a row each; the cells are parted by `CELL_SEPARATOR`


CELL_SEPARATOR = "|"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenAnswerFacts(LegFacts):
    """An answer whose sentences have been verified."""

    sentences: tuple[WrittenSentence, ...]
    language: str  # ISO 639-1; empty: unknown
    layout: AnswerLayout = AnswerLayout.PROSE
    columns: tuple[str, ...] = ()  # of a table
    verdict: bool | None = None  # to a yes-or-no question
    settles_question: bool = True  # False: a yes-or-no question that the evidence does not settle
    contradiction: WrittenSentence | None = None  # says in what the sources disagree
    missing: tuple[str, ...] = ()  # what the evidence does not answer
    is_cut_short: bool = False  # the model stopped in the middle

    @property
    def quotes(self) -> tuple[CitedQuote, ...]:
        """Each quote once, in order."""
        sentences = (*self.sentences, *((self.contradiction,) if self.contradiction is not None else ()))
        unique: dict[tuple[str, int, int], CitedQuote] = {}
        for cited in (cited for sentence in sentences for cited in sentence.quotes):
            unique.setdefault((cited.document.doc_id, cited.quote.start, cited.quote.end), cited)
        return tuple(unique.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class UnansweredFacts(LegFacts):
    """The evidence does not answer. `rule_facts` say so by rules; `missing` is what was looked for."""

    rule_facts: LegFacts
    missing: tuple[str, ...]
    language: str
