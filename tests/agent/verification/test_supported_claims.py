"""What a sentence may say of the passages that it cites. Each way to break an answer is caught by its own rule."""

import pytest

from agent.review.written_answer import SourceText, SupportedClaim
from agent.verification.supported_claims import ClaimFault, find_claim_fault

LEASE = SourceText(
    title="Acme lease",
    text=(
        "The tenant Acme Ltd pays EUR 1,200 a month to Berta Klein, first on 12 June 2031. The notice period is three "
        "months. The deposit is 1 200,50 EUR. The boiler (B-120) draws 1.2 kW at an efficiency of 50 %. The reserve is "
        "USD 5 million. See section 4.2.1 and www.acme.example/terms. The house is let “as it is”. The office is open "
        "from 9:00 to 17:30 for its 25 employees. The third clause is void at -20 °C."
    ),
    url="https://files.example/lease.pdf",
)
VAT = SourceText(title="VAT rules", text="Bolt AG pays 19 % on 300 units.")


def fault_of(
    text: str,
    *sources: SourceText,
    quote: str = "",
    question: str = "What does Acme pay?",
    language: str = "en",
    min_sources: int = 1,
) -> ClaimFault | None:
    claim = SupportedClaim(
        text=text,
        sources=sources,
        question=question,
        language=language,
        quote=quote,
        min_sources=min_sources,
    )
    return find_claim_fault(claim)


@pytest.mark.parametrize(
    "sentence",
    [
        "Acme Ltd pays €1200 a month.",
        "It pays 1.2k euros.",
        "The first payment is due on 2031-06-12.",
        "The first payment is due on June 12, 2031.",
        "It is due on 12 June.",
        "It begins in June 2031.",
        "It begins in 2031.",
        "The notice period is 3 months.",
        "The deposit is EUR 1,200.50.",
        "The boiler draws 1200 W.",
        "Its efficiency is 50 per cent.",
        "There is a reserve of $5m.",
        "The reserve is USD 5,000,000.",
        "Section 4.2.1 applies to the boiler B-120.",
        "The office closes at 5:30 pm.",
        "It opens at 9 am.",
        "The 3rd clause is void at -20 °C.",
        "Twenty-five employees work there.",
        "The terms are at www.acme.example/terms.",
        "The house is let 'as it is' by Berta Klein.",
        "The house is let “as it is”.",
        "Payments go to Klein on a monthly basis.",
        "Employees may come on Monday to Friday.",
        "The file is https://files.example/lease.pdf.",
    ],
)
def test_a_figure_or_name_may_be_written_in_another_way(sentence: str) -> None:
    assert fault_of(sentence, LEASE) is None


@pytest.mark.parametrize(
    ("sentence", "fault"),
    [
        ("", ClaimFault.NO_TEXT),
        ("Acme Ltd pays EUR 1,300 a month.", ClaimFault.FIGURE),
        ("Acme Ltd pays USD 1,200 a month.", ClaimFault.FIGURE),
        ("Acme Ltd pays EUR 14,400 a year.", ClaimFault.FIGURE),  # a product of what is there
        ("The first payment is due on 13 June 2031.", ClaimFault.FIGURE),
        ("It begins in June 2032.", ClaimFault.FIGURE),
        ("It runs from 2031 to 2035.", ClaimFault.FIGURE),
        ("The notice period is four months.", ClaimFault.FIGURE),
        ("The boiler draws 1200 kW.", ClaimFault.FIGURE),
        ("Its efficiency is 0.5.", ClaimFault.FIGURE),
        ("The reserve is EUR 5m.", ClaimFault.FIGURE),
        ("Section 4.2.2 applies.", ClaimFault.FIGURE),
        ("The boiler is a B-121.", ClaimFault.FIGURE),
        ("The office closes at 5 pm.", ClaimFault.FIGURE),
        ("The 4th clause is void.", ClaimFault.FIGURE),
        ("The clause is void at -9 °C.", ClaimFault.FIGURE),
        ("The house is let “as it was”.", ClaimFault.QUOTATION),
        ("Globex Ltd pays the rent.", ClaimFault.NAME),
        ("Globex pays the rent.", ClaimFault.NAME),
        ("The rent goes to Berta Klein and Otto Braun.", ClaimFault.NAME),
        ("The rent goes to NATO.", ClaimFault.NAME),
        ("Read more at www.evil.example.", ClaimFault.ADDRESS),
        ("Read [the terms](https://evil.example/x).", ClaimFault.ADDRESS),
        ("Write to pay@evil.example.", ClaimFault.ADDRESS),
        ("Tell @channel and <!here> about it.", ClaimFault.ADDRESS),
    ],
)
def test_what_the_cited_passage_does_not_hold_is_a_fault(sentence: str, fault: ClaimFault) -> None:
    assert fault_of(sentence, LEASE) is fault


def test_a_sentence_without_a_citation_is_a_fault() -> None:
    assert fault_of("Acme Ltd pays the rent.") is ClaimFault.TOO_FEW_SOURCES


def test_a_contradiction_needs_two_sources() -> None:
    sentence = "One says 1,200, the other 300."

    assert fault_of(sentence, LEASE, min_sources=2) is ClaimFault.TOO_FEW_SOURCES
    assert fault_of(sentence, LEASE, VAT, min_sources=2) is None


def test_a_figure_of_another_passage_does_not_count() -> None:
    assert fault_of("Bolt AG pays 19 %.", LEASE) is ClaimFault.FIGURE
    assert fault_of("Bolt AG pays 19 %.", VAT) is None


def test_a_figure_of_the_question_is_no_evidence() -> None:
    question = "Is the rent of Acme 1,300?"

    assert fault_of("The rent is 1,300.", LEASE, question=question) is ClaimFault.FIGURE


def test_a_name_of_the_question_may_be_used() -> None:
    assert fault_of("Globex pays no rent.", LEASE, question="What does Globex pay?") is None


def test_a_given_quotation_is_word_for_word() -> None:
    sentence = "The house is let in its present state."

    assert fault_of(sentence, LEASE, quote='The house is let "as it is"') is None
    assert fault_of(sentence, LEASE, quote="The house … as it is") is None
    assert fault_of(sentence, LEASE, quote="The house is rented as it is") is ClaimFault.QUOTATION


@pytest.mark.parametrize(
    ("sentence", "fault"),
    [
        ("Die Miete beträgt 1.200 EUR im Monat.", None),
        ("Die Kaution beträgt 1.200,50 EUR.", None),
        ("Die Kündigungsfrist beträgt drei Monate, ab dem 12. Juni 2031.", None),
        ("Die Rücklage beträgt 5 Mio. USD.", None),
        ("Die Zahlung geht an Frau Klein.", None),
        ("Die Miete beträgt 1.300 EUR.", ClaimFault.FIGURE),
        ("Die Kündigungsfrist beträgt vier Monate.", ClaimFault.FIGURE),
        ("Die Zahlung geht an Frau Braun.", ClaimFault.NAME),
        ("Die Globex GmbH zahlt.", ClaimFault.NAME),
    ],
)
def test_german_sentences_are_checked_by_the_german_way_of_writing(sentence: str, fault: ClaimFault | None) -> None:
    assert fault_of(sentence, LEASE, language="de") is fault


@pytest.mark.parametrize("sentence", ["1.234", "12 34 567,89", "9" * 400, "“" * 50, "0/0/0", "1e999 km", "٣ ٤", "½ kg"])
def test_odd_texts_are_checked_without_an_error(sentence: str) -> None:
    fault_of(sentence, SourceText(title=sentence, text=sentence))
    fault_of(sentence, LEASE, quote=sentence)
