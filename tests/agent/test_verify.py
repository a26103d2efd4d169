"""A quotation may be shown without the marks of Markdown, and not otherwise than its source says."""

import pytest

from agent.compose.composed_leg import ComparisonCell, ComparisonColumn, ComposedLeg
from agent.compose.phrases.words import format_quotation
from agent.outcome import Citation
from agent.verification.leg_evidence import SentenceEvidence
from agent.verify import VerifiedLeg, verify_comparison, verify_leg
from storage.search.ids import DocId

SOURCE = "# Terms\n- **Report within:** **5** days\n| Courtesy car | for at most **21** days |\nsee `rule_7`"


def verify_quotation(quoted: str, source: str) -> tuple[str, ...]:
    citation = Citation(
        marker="1", doc_id=DocId("terms"), title="Terms", page=None, start=0, end=len(source), text=source, url=None
    )
    return verify_leg(ComposedLeg(sentences=(f"“{quoted}” [1]",), citations=(citation,))).sentences


@pytest.mark.parametrize("line", SOURCE.splitlines())
def test_a_line_passes_as_it_is_shown(line: str) -> None:
    assert len(verify_quotation(format_quotation(line), line)) == 1


@pytest.mark.parametrize(
    "quoted",
    [
        "Report within: 6 days",
        "Report within 5 weeks",
        "Courtesy car · for at most 12 days",
        "for at most 21 days · Courtesy car",
        "see rule_8",
        "Nothing of the kind",
    ],
)
def test_a_changed_line_does_not(quoted: str) -> None:
    assert not any(verify_quotation(quoted, line) for line in SOURCE.splitlines())


def build_side(title: str, price: float) -> VerifiedLeg:
    cell = ComparisonCell(row_label="Price", text=f"EUR {price:.2f}", value=price, unit="EUR")
    return VerifiedLeg(
        composed=ComposedLeg(sentences=(), column=ComparisonColumn(title=title, cells=(cell,))),
        sentences=(),
        citations=(),
        evidence=SentenceEvidence(numbers=frozenset({price}), text="EUR"),
    )


@pytest.mark.parametrize(
    ("line", "is_kept"),
    [
        ("- Price: more for **Lumo** (EUR 12.50) than for **Orlo** (EUR 10.00), a difference of EUR 2.50 (25%).", True),
        ("- Price: Lumo costs EUR 2.50 more than Orlo (+25%).", True),
        (
            "- Price: more for **Lumo** (EUR 12.50) than for **Orlo** (EUR 10.00), a difference of EUR 3.50 (25%).",
            False,
        ),
        ("- Price: Lumo costs EUR 2.50 more than Orlo (+30%).", False),
        ("- Price: more for **Lumo** (EUR 12.50) than for **Vesta** (EUR 10.00).", False),
        ("- Price: Lumo costs USD 2.50 more than Orlo.", False),
    ],
)
def test_the_differences_of_a_comparison_are_computed_again(line: str, is_kept: bool) -> None:
    sides = [build_side("Lumo", 12.5), build_side("Orlo", 10.0)]

    assert verify_comparison(f"They differ in price.\n{line}", sides) == (
        f"They differ in price.\n{line}" if is_kept else "They differ in price."
    )


def test_a_remark_is_not_said_without_the_sentence_that_it_continues() -> None:
    wrong = ComposedLeg(sentences=("Sum of total: **9** (4 vans).", " 1 of these 4 does not state the total."))
    evidence = SentenceEvidence(numbers=frozenset({1.0, 4.0}), text="vans total")

    assert verify_leg(wrong, evidence).sentences == ()


def test_a_quarter_is_checked_as_a_period_and_not_as_a_name() -> None:
    composed = ComposedLeg(sentences=("4 vans sold in Q1 2031.",))
    quarter = SentenceEvidence(numbers=frozenset({4.0}), text="vans sold 2031-01-01 2031-03-31")
    other_quarter = SentenceEvidence(numbers=frozenset({4.0}), text="vans sold 2031-04-01 2031-06-30")

    assert verify_leg(composed, quarter).sentences
    assert not verify_leg(composed, other_quarter).sentences
