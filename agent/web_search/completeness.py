"""How completely the passages that were found answer a question, and what is missing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from agent.evidence.word_meanings import WordMeanings
from agent.web_search.asked_words import WebQuestion

_JUDGED_PASSAGES: Final = 5  # the best ones
_SINGLE_SHARE: Final = 0.5  # of the score: what one passage alone holds; the rest is what they hold together


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceCompleteness:
    """A score from 0 to 1 with its reason. `gaps`: the words of the question that no passage holds."""

    score: float
    reason: str
    gaps: tuple[str, ...]


async def measure_completeness(
    texts: Sequence[str], question: WebQuestion, meanings: WordMeanings
) -> EvidenceCompleteness:
    """Judges the first five texts, which are the best: the words of the question in one of them and in all together."""
    judged = texts[:_JUDGED_PASSAGES]
    coverages = [await question.cover_words(text, meanings) for text in judged]
    if not coverages:
        gaps = tuple(word.text for word in question.words)
        return EvidenceCompleteness(score=0.0, reason="no passage was found", gaps=gaps)
    held = {word for coverage in coverages for word in coverage.held_words}
    gaps = tuple(word.text for word in question.words if word.text not in held)
    together = await question.cover_words("\n".join(judged), meanings)
    best = max(coverage.share for coverage in coverages)
    score = best * _SINGLE_SHARE + together.share * (1 - _SINGLE_SHARE)
    reason = f"the best passages hold {', '.join(sorted(held)) or 'no word of the question'}"
    return EvidenceCompleteness(
        score=round(score, 2), reason=f"{reason}, not {', '.join(gaps)}" if gaps else reason, gaps=gaps
    )
