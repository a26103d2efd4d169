"""The check of a sentence that a template made: each of its figures, names and quotations is in the leg's evidence.

A number may be rounded to the digits that the sentence shows. A sentence that there is none of something needs a count
of zero, or words that no document holds. A derived number is in the evidence only if the check itself has computed it
(`agent.verification.derived_figures`).
"""

import re
from functools import cache

from agent.translation.languages import CATALOGUE_FOLDER
from agent.translation.message_catalogues import list_message_texts
from agent.verification.absence_sentences import find_absence_claims
from agent.verification.claimed_figures import find_unfounded_figure
from agent.verification.claimed_names import find_unsupported_name, find_unsupported_quotation, words_of_text
from agent.verification.leg_evidence import SentenceEvidence
from agent.verification.supported_claims import ClaimFault

_PLACEHOLDER = re.compile(r"\{[^}]*\}")


def find_sentence_fault(sentence: str, evidence: SentenceEvidence, language: str) -> ClaimFault | None:
    """Returns the first fault of a sentence as a reader sees it, without markers; None if it has none.

    `language`: ISO 639-1, of the sentence.
    """
    known_text = f"{evidence.text}\n{evidence.question}"
    if find_unsupported_quotation(sentence, "", known_text, evidence.question) is not None:
        return ClaimFault.QUOTATION
    if _has_unfounded_figure(sentence, evidence, known_text, language):
        return ClaimFault.FIGURE
    if any(not _is_absence_supported(words, evidence) for words in find_absence_claims(sentence, language)):
        return ClaimFault.ABSENCE
    template_words = _list_template_words(language)
    if find_unsupported_name(sentence, known_text, evidence.question, language, template_words) is not None:
        return ClaimFault.NAME
    return None


def _has_unfounded_figure(sentence: str, evidence: SentenceEvidence, known_text: str, language: str) -> bool:
    """Looks into the texts without digits only for numbers in words, and only where nothing else holds a figure."""
    scanned = evidence.figure_text
    return (
        find_unfounded_figure(sentence, evidence.numbers, scanned, known_text, language) is not None
        and find_unfounded_figure(sentence, evidence.numbers, known_text, known_text, language) is not None
    )


def _is_absence_supported(quoted_words: tuple[str, ...], evidence: SentenceEvidence) -> bool:
    is_known_absent = bool(quoted_words) and {word.casefold() for word in quoted_words} <= evidence.absent_words
    return evidence.empty_counts > 0 or is_known_absent


@cache
def _list_template_words(language: str) -> frozenset[str]:
    """The words that the templates of the language bring along, folded."""
    messages = list_message_texts(CATALOGUE_FOLDER, language)
    return words_of_text(" ".join(_PLACEHOLDER.sub(" ", message) for message in messages))
