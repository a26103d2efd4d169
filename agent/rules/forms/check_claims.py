"""Recognises questions for yes or no."""

from agent.english.function_words import YES_NO_VERBS
from agent.rules.cues.question_cues import QuestionCues
from storage.search.plan import CheckClaims


def recognise_claims(cues: QuestionCues) -> CheckClaims | None:
    """ "Is parcel 12 insured?", "does the lease allow pets": the claim may also be one that only the text confirms."""
    return CheckClaims() if cues.words[:1] and cues.words[0] in YES_NO_VERBS else None
