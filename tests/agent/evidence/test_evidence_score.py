"""The evidence score rises with what a sentence and its passage hold of a question."""

from dataclasses import replace

import pytest

from agent.evidence.evidence_score import (
    MIN_ANSWER_SCORE,
    MIN_CLOSEST_SCORE,
    MIN_LIKELY_SCORE,
    MIN_NEAR_SCORE,
    MIN_SURE_LIKELY_SCORE,
    MIN_SURE_SCORE,
    EvidenceFeatures,
    score_evidence,
)

_ANSWERING = EvidenceFeatures(
    covered_share=0.9,
    asked_share=0.9,
    names_share=1.0,
    sentence_cosine=0.6,
    question_length=1.6,
    own_share=0.8,
    margin=0.3,
    passage_rank=1.0,
    value_agreement=1.0,
    sentence_length=0.5,
)
_UNRELATED = EvidenceFeatures(
    covered_share=0.1,
    asked_share=0.2,
    names_share=0.0,
    sentence_cosine=0.1,
    question_length=1.6,
    own_share=0.0,
    margin=0.0,
    passage_rank=0.1,
    value_agreement=-1.0,
    sentence_length=0.1,
)


def test_the_floors_stand_in_order() -> None:
    assert 0 < MIN_NEAR_SCORE < MIN_CLOSEST_SCORE < MIN_ANSWER_SCORE <= MIN_LIKELY_SCORE < 1
    assert MIN_ANSWER_SCORE < MIN_SURE_SCORE <= MIN_SURE_LIKELY_SCORE < 1
    assert MIN_LIKELY_SCORE < MIN_SURE_LIKELY_SCORE


def test_a_sentence_that_holds_what_is_asked_is_above_the_floor_and_an_unrelated_text_below_all() -> None:
    assert score_evidence(_ANSWERING) > MIN_LIKELY_SCORE
    assert score_evidence(_UNRELATED) < MIN_NEAR_SCORE


@pytest.mark.parametrize(
    "feature",
    [
        *("covered_share", "asked_share", "names_share", "sentence_cosine", "own_share", "margin"),
        *("value_agreement", "sentence_length"),
    ],
)
def test_more_evidence_never_lowers_the_score(feature: str) -> None:
    assert score_evidence(replace(_UNRELATED, **{feature: 0.8})) > score_evidence(_UNRELATED)
