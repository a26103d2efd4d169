"""Turns a model's sentences into verified ones. The same checks hold for streamed and for whole replies."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent.model.answering.evidence import EvidenceItem, LegEvidence, cite_item, clean_text
from agent.retrieval.quotations import CitedQuote
from agent.review.written_answer import CELL_SEPARATOR, SourceText, SupportedClaim, WrittenSentence
from agent.verification.claimed_names import find_unsupported_address
from agent.verification.supported_claims import find_claim_fault
from prompts.outputs.written_answer import SentenceOutput

_MAX_GAPS = 3
_MAX_GAP_CHARACTERS = 160
_MAX_SENTENCE_CHARACTERS = 1_200
_MIN_CONTRADICTING_ITEMS = 2
_MARKERS = re.compile(r"\s*\[\d{1,3}(?:\s*,\s*\d{1,3})*\]")  # ids that the model wrote into its text


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimChecker:
    """Checks sentences about one question against the items that they cite."""

    evidence: LegEvidence
    question: str
    language: str  # ISO 639-1; empty: unknown

    def verify_sentence(self, sentence: SentenceOutput) -> WrittenSentence | None:
        """Returns the sentence with its citations; None if it cites nothing, or says more than what it cites."""
        return self._verify(sentence, min_sources=1)

    def verify_contradiction(self, sentence: SentenceOutput | None) -> WrittenSentence | None:
        """Like `verify_sentence`, for a sentence on what items disagree about: it must cite two of them."""
        if sentence is None or not sentence.text.strip():
            return None
        return self._verify(sentence, min_sources=_MIN_CONTRADICTING_ITEMS)

    def verify_gaps(self, gaps: Sequence[str]) -> tuple[str, ...]:
        """Returns what is missing in a model's words, without those that name or count what nobody has mentioned."""
        cleaned = (" ".join(clean_text(gap).split())[:_MAX_GAP_CHARACTERS] for gap in gaps)
        return tuple(dict.fromkeys(gap for gap in cleaned if gap and self._is_supported_gap(gap)))[:_MAX_GAPS]

    def verify_columns(self, columns: Sequence[str], sources: Sequence[WrittenSentence]) -> tuple[str, ...]:
        """Returns the column titles of a table; none if one of them says what no row's source holds."""
        titles = tuple(" ".join(clean_text(column).split()) for column in columns)
        texts = tuple(source for sentence in sources for source in sentence.claim.sources)
        claim = SupportedClaim(
            text=" ; ".join(title.lower() for title in titles),
            sources=texts,
            question=self.question,
            language=self.language,
        )
        return titles if titles and find_claim_fault(claim) is None else ()

    def _verify(self, sentence: SentenceOutput, *, min_sources: int) -> WrittenSentence | None:
        items = self.evidence.find_items(sentence.evidence)
        if not items or len(sentence.text) > _MAX_SENTENCE_CHARACTERS:
            return None
        text = " ".join(_MARKERS.sub("", clean_text(sentence.text)).split()).strip(f" {CELL_SEPARATOR}")
        claim = SupportedClaim(
            text=text,
            sources=tuple(item.source for item in items),
            question=self.question,
            language=self.language,
            quote=clean_text(sentence.quote),
            min_sources=min_sources,
        )
        if find_claim_fault(claim) is not None:
            return None
        return WrittenSentence(claim=claim, quotes=_cite_items(items, text, claim.quote))

    def _is_supported_gap(self, gap: str) -> bool:
        """A gap cites nothing, so an address must be the asker's: one of the evidence would be shown without source."""
        if find_unsupported_address(gap, self.question) is not None:
            return False
        claim = SupportedClaim(
            text=gap,
            sources=(*(item.source for item in self.evidence.items), SourceText(title="", text=self.question)),
            question=self.question,
            language=self.language,
        )
        return find_claim_fault(claim) is None


def _cite_items(items: Sequence[EvidenceItem], text: str, quote: str) -> tuple[CitedQuote, ...]:
    return tuple(cited for item in items for cited in cite_item(item, text, quote))
