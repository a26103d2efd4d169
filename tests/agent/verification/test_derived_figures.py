"""Numbers that follow from others are in the evidence only with their inputs."""

import pytest

from agent.verification.composed_sentences import find_sentence_fault
from agent.verification.derived_figures import DerivationKind, DerivedFigure
from agent.verification.leg_evidence import SentenceEvidence
from agent.verification.supported_claims import ClaimFault

DAYS = ("2029-01-30", "2030-02-01")
EVIDENCE = SentenceEvidence(numbers=frozenset(), text="; ".join(DAYS))


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "That is 367 days apart."),
        ("de", "Dazwischen liegen 367 Tage."),
        ("fr", "Cela fait 367 jours d’écart."),
        ("es", "Hay 367 días de diferencia."),
    ],
)
def test_the_days_between_two_known_days_are_computed_again(language: str, sentence: str) -> None:
    derived = DerivedFigure(kind=DerivationKind.DAYS_BETWEEN, days=DAYS)
    known, unknown = EVIDENCE.with_derived([derived]), SentenceEvidence(numbers=frozenset(), text=DAYS[0])

    assert find_sentence_fault(sentence, known, language) is None
    assert find_sentence_fault(sentence.replace("367", "366"), known, language) is ClaimFault.FIGURE
    assert find_sentence_fault(sentence, unknown.with_derived([derived]), language) is ClaimFault.FIGURE


def test_a_change_in_percent_may_be_said_with_one_decimal() -> None:
    derived = DerivedFigure(kind=DerivationKind.CHANGE_PERCENT, inputs=(918.0, 998.0))  # -8.016
    known = SentenceEvidence(numbers=frozenset({918.0, 998.0}), text="").with_derived([derived])

    assert find_sentence_fault("from 998 to 918 (−8%)", known, "en") is None
    assert find_sentence_fault("from 998 to 918 (−8.1%)", known, "en") is ClaimFault.FIGURE
    assert find_sentence_fault("from 998 to 918 (−7%)", known, "en") is ClaimFault.FIGURE
