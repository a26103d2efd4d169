"""The check of a sentence that a model wrote: it says nothing that can be looked up and is not in what it cites.

What is looked up: its citations, numbers, amounts, days, times, quotations, names, identifiers and addresses. A figure
that would have to be computed from several others is not in the evidence, so the sentence fails.
"""

from enum import StrEnum

from agent.review.written_answer import SourceText, SupportedClaim
from agent.verification.claimed_figures import find_unsupported_figure
from agent.verification.claimed_names import (
    find_unsupported_address,
    find_unsupported_name,
    find_unsupported_quotation,
)


class ClaimFault(StrEnum):
    """Why a sentence is not posted; for operators."""

    NO_TEXT = "no text"
    TOO_FEW_SOURCES = "cites too little"
    FIGURE = "figure not in the evidence"
    QUOTATION = "quotation not in the evidence"
    ADDRESS = "address not in the evidence"
    NAME = "name not in the evidence"
    ABSENCE = "absence not in the evidence"


def find_claim_fault(claim: SupportedClaim) -> ClaimFault | None:
    """Returns the first fault of the claim; None if it has none."""
    if not claim.text.strip():
        return ClaimFault.NO_TEXT
    if len(claim.sources) < claim.min_sources:
        return ClaimFault.TOO_FEW_SOURCES
    evidence = "\n".join(text_of_source(source) for source in claim.sources)
    if find_unsupported_quotation(claim.text, claim.quote, evidence, claim.question) is not None:
        return ClaimFault.QUOTATION
    if find_unsupported_address(claim.text, evidence) is not None:
        return ClaimFault.ADDRESS
    if find_unsupported_figure(claim.text, evidence, claim.language) is not None:
        return ClaimFault.FIGURE
    if find_unsupported_name(claim.text, evidence, claim.question, claim.language) is not None:
        return ClaimFault.NAME
    return None


def text_of_source(source: SourceText) -> str:
    return f"{source.title}\n{source.text}\n{source.url}"
