"""How likely it is that a computed answer is right: one score for lists, numbers and values of fields.

Nothing is wrong with such an answer but the plan: it may answer another question. The score is a logistic model over
what the plan leaves out, which is known without the truth. `python -m tests.rounds.confidence` fits it on rounds of
questions by fresh writers and measures it on those that it was not fitted on; docs/eval.md has the figures.
"""

import math
from dataclasses import astuple, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingFeatures:
    """What the plan of a leg leaves out or rests on. Counts are capped; features of kind yes or no are 0 or 1."""

    unused_words: float  # content words of the question that the plan makes no use of; at most 2
    unused_everyday_words: float  # such words that restrict a set less often: "come", "available"; at most 2
    misses_asked_word: float  # one of both kinds appears behind "which", "what", "how many" or "whose"
    misses_operation: float  # the question has a superlative, a total or "per", and the form of the answer has none
    searches_words: float  # a condition looks for words in a text or a title, or divides the rows of documents
    is_followup: float
    finds_nothing: float = 0.0  # the set is empty, which is known after the search alone


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingAssessment:
    """The features of a leg's plan, and the words that they count, in the order of the question."""

    features: ReadingFeatures
    unused_words: tuple[str, ...] = ()
    guesses_condition: bool = False  # the question has hardly a word of some condition


# Weights of the features in their order. Source: `python -m tests.rounds.confidence`, all rounds.
_WEIGHTS = ReadingFeatures(
    unused_words=-1.25,
    unused_everyday_words=-0.76,
    misses_asked_word=-0.98,
    misses_operation=-2.41,
    searches_words=-1.32,
    is_followup=-1.04,
    finds_nothing=-1.53,  # of 25 empty sets in five rounds, 6 were right: see docs/eval.md
)
_INTERCEPT = 2.79
# From 0.75 to 0.79 the limit holds back the same answers but for three: see docs/eval.md.
MIN_CONFIDENCE = 0.77  # below, the answer is not stated as a fact: the reply says how it read the question, and asks


def score_reading(features: ReadingFeatures) -> float:
    """Returns the probability (0 to 1) that the answer is right."""
    logit = _INTERCEPT + sum(weight * value for weight, value in zip(astuple(_WEIGHTS), astuple(features), strict=True))
    return 1 / (1 + math.exp(-logit))
