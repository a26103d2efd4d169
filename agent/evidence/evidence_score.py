"""How likely it is that a sentence answers a question: one score for all answers that are quoted from texts.

The score is a logistic model over features of the sentence and its passage, calibrated on questions that the documents
answer and questions that they do not. `python -m bench.evidence_floor DIR` measures it, and with `--fit` prints new
coefficients; it fits and measures on different documents. The page docs/eval.md has the figures.
"""

import math
from dataclasses import astuple, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceFeatures:
    """How far a sentence and its passage hold what is asked. Shares are 0 to 1, cosines -1 to 1."""

    covered_share: float  # of the question's rare words, by their stems in the passage, its title or its id
    asked_share: float  # of what is asked about the names, with words that mean nearly the same, in and by the sentence
    names_share: float  # of the names, in the passage, its title or its id
    sentence_cosine: float  # of the question and the sentence with its heading and title
    question_length: float  # natural logarithm of the number of its content words: no passage holds all of a long one
    own_share: float  # of what is asked, in the sentence itself or its heading
    margin: float  # 0 to 1, by which the sentence scores higher than those of all other documents
    passage_rank: float  # 1 for the best passage, 1/2 for the next …
    value_agreement: float  # 1 with a value of the asked kind, -1 without one, 0 if no kind is asked for
    sentence_length: float  # 0 to 1, of 30 words and more: a greeting answers nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessedSentence:
    """A sentence that may answer, by its document, and what its score rests on."""

    doc_id: str
    features: EvidenceFeatures
    is_enough: bool  # it is quoted as an answer, or as evidence that does not settle a yes-or-no question


# Weights of the features in their order. Source: `python -m bench.evidence_floor DIR --fit`.
_WEIGHTS = EvidenceFeatures(
    covered_share=1.01,
    asked_share=0.56,
    names_share=0.5,
    sentence_cosine=0.82,
    question_length=0.42,
    own_share=0.88,
    margin=1.51,
    passage_rank=1.17,
    value_agreement=0.89,
    sentence_length=1.34,
)
_INTERCEPT = -4.73
# The floors were chosen by hand, after a look at all rounds: see docs/eval.md.
MIN_ANSWER_SCORE = 0.55  # from which a sentence is quoted that holds a value of the asked kind
MIN_LIKELY_SCORE = 0.6  # from which any other sentence is quoted
MIN_SURE_SCORE = 0.7  # from which a sentence with a value of the asked kind is quoted without a reserve
MIN_SURE_LIKELY_SCORE = 0.8  # the same for any other sentence
MIN_SETTLING_SCORE = 0.7  # from which a sentence settles a yes-or-no question of which it holds only a part
MIN_CLOSEST_SCORE = 0.4  # from which it is quoted as what comes closest, with up to two others
MIN_NEAR_SCORE = 0.2  # from which its document is offered; below, it has nothing to do with the question


def score_evidence(features: EvidenceFeatures) -> float:
    """Returns the probability (0 to 1) that the sentence answers the question."""
    logit = _INTERCEPT + sum(weight * value for weight, value in zip(astuple(_WEIGHTS), astuple(features), strict=True))
    return 1 / (1 + math.exp(-logit))
