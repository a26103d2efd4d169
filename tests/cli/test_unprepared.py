"""Questions in plain words about documents without a schema: the inferred schema must be enough."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.cli.conftest import run_parley

TENANTS = ("Ada Brandt", "Bo Castell", "Cy Dorner", "Di Ebner", "Ed Falk", "Fay Gruber")
ENDS = ("2019-05-31", "2021-08-31", "2099-01-31", "2023-02-28", "2098-12-31", "2097-06-30")
LEASES = [
    {
        "doc_id": f"lease-{number}",
        "bucket": "leases",
        "title": f"Lease {number}",
        "text": f"{tenant} rents a flat in {town}. {'Subletting is forbidden.' if number == 1 else ''}",
        "metadata": {
            "tenant": tenant,
            "town": town,
            "start_date": f"201{number}-03-01",
            "end_date": ENDS[number],
            "pets_allowed": number % 2 == 0,
            "monthly_rent": rent,
            "currency": currency,
        },
    }
    for number, (tenant, town, rent, currency) in enumerate(
        zip(
            TENANTS,
            ("Arvo", "Belk", "Arvo", "Belk", "Arvo", "Belk"),
            (900, 950, 700, 880, 1200, 300),
            ("EUR", "EUR", "GBP", "GBP", "EUR", "GBP"),
            strict=True,
        )
    )
]
STATES = ("open", "closed", "open", "on hold", "closed", "open", "closed", "open")
TICKETS = [
    {
        "doc_id": f"ticket-{number}",
        "bucket": "tickets",
        "title": f"Printer trouble {number}",
        "text": f"The printer of floor {number} jams." + (" The toner weighs 2 kg." if number == 3 else ""),
        "metadata": {
            "ticket_no": f"TCK-70{number:02}",
            "status": state,
            "assignee": ("Ines Lund", "Jo Maro", "Ines Lund", "Kim Neri")[number % 4],
            "opened": f"2026-0{number + 1}-10",
            "hours_spent": float(number + 1),
        }
        | ({"closed": "2026-09-20" if number == 4 else "2026-03-05"} if state == "closed" else {}),
    }
    for number, state in enumerate(STATES)
]
DEPARTMENTS = ("Engineering", "Sales", "Legal", "Sales", "Engineering", "Legal")
STAFF = [
    {
        "doc_id": f"staff-{number}",
        "bucket": "employees",
        "title": name,
        "text": f"{name} joined on the day of hiring.",
        "metadata": {
            "full_name": name,
            "department": DEPARTMENTS[number],
            "job_title": ("Manager", "Engineer", "Clerk")[number % 3],
            "languages": [["English", "Polish"], ["Polish"], ["English"]][number % 3],
            "yearly_salary_eur": 2000 + 500 * number,
            "hired_on": f"202{number}-07-01",
            "leave_days_left": number % 3,
        },
    }
    for number, name in enumerate(("Gil Adler", "Hal Boyd", "Ira Crane", "Jan Dufek", "Kay Egger", "Lia Fonda"))
]
LISTS = {
    "Who works in Legal?": {"staff-2", "staff-5"},
    "people in Engineering who speak Polish": {"staff-0", "staff-4"},
    "employees in Sales who do not speak English": {"staff-1"},
    "employees hired in July 2023": {"staff-3"},
    "employees with no leave days left": {"staff-0", "staff-3"},
    "employees who earn over 4000 euros": {"staff-5"},
    "who earns the most?": {"staff-5"},
    "leases that have expired": {"lease-0", "lease-1", "lease-3"},
    "leases in Arvo that are still in force": {"lease-2", "lease-4"},
    "leases that have not expired": {"lease-2", "lease-4", "lease-5"},
    "leases in Arvo where pets are allowed": {"lease-0", "lease-2", "lease-4"},
    "leases where pets are not allowed in Belk": {"lease-1", "lease-3", "lease-5"},
    "What is the latest end date?": {"lease-2"},
    "Which lease has the highest monthly rent?": {"lease-3", "lease-4"},
    "unresolved tickets": {"ticket-0", "ticket-2", "ticket-5", "ticket-7"},
    "tickets closed in September 2026": {"ticket-4"},
    "tickets that can take at least 7 hours": {"ticket-6", "ticket-7"},
}
TEXTS = {
    "How many leave days does Ira Crane have left?": "**2",
    "Until when does the lease of Cy Dorner run?": "2099-01-31",
    "Since when has Cy Dorner been renting?": "2012-03-01",
    "Is TCK-7003 still open?": "**No**: the status of Printer trouble 3 is on hold",
    "Is TCK-7002 still open?": "**Yes**: the status of Printer trouble 2 is open",
    "May Cy Dorner keep pets?": "**Yes**",
    "May Di Ebner keep pets?": "**No**",
    "How many hours were spent on tickets handled by Ines Lund?": "**16",
    "who is working on TCK-7001?": "Jo Maro",
}
NOTHING = {
    "What does the toner of TCK-7002 weigh?": "I did not find an answer in “Printer trouble 2”.",
    "What does the toner of TCK-9999 weigh?": "I did not find an answer to this. No document mentions “TCK-9999”.",
    "What is subletting like for Ada Brandt?": "I did not find an answer in “Lease 0”.",
}
UNKNOWN = {"list all purple tickets": "I am not sure what you mean by “purple”"}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Mapping[str, Any]]:
    """The result of each question."""
    folder = tmp_path_factory.mktemp("unprepared")
    source, questions_path, results_path = folder / "in.jsonl", folder / "asked.jsonl", folder / "out.jsonl"
    questions = [*LISTS, *TEXTS, *NOTHING, *UNKNOWN]
    source.write_text("\n".join(map(json.dumps, [*LEASES, *TICKETS, *STAFF])), encoding="utf-8")
    questions_path.write_text(
        "\n".join(json.dumps({"query_id": question, "query": question}) for question in questions), encoding="utf-8"
    )
    assert run_parley(folder / "home", "ingest", str(source)).status == 0
    assert run_parley(folder / "home", "ask", "--batch", str(questions_path), "--out", str(results_path)).status == 0
    return {
        result["query_id"]: result for result in map(json.loads, results_path.read_text(encoding="utf-8").splitlines())
    }


@pytest.mark.parametrize(("question", "expected"), LISTS.items())
def test_a_list_is_exactly_the_set_that_the_words_mean(
    results: Mapping[str, Mapping[str, Any]], question: str, expected: set[str]
) -> None:
    assert results[question]["outcome"] == "answer"
    assert set(results[question]["doc_ids"]) == expected


@pytest.mark.parametrize(("question", "expected"), TEXTS.items())
def test_a_question_about_one_document_can_use_other_words(
    results: Mapping[str, Mapping[str, Any]], question: str, expected: str
) -> None:
    assert results[question]["outcome"] == "answer"
    assert expected in results[question]["text"]


@pytest.mark.parametrize(("question", "expected"), NOTHING.items())
def test_another_document_is_not_quoted_for_the_named_document(
    results: Mapping[str, Mapping[str, Any]], question: str, expected: str
) -> None:
    assert results[question]["outcome"] == "no_results"
    assert expected in results[question]["text"]
    assert not results[question]["citations"]


@pytest.mark.parametrize(("question", "expected"), UNKNOWN.items())
def test_a_word_that_is_not_known_is_asked_about(
    results: Mapping[str, Mapping[str, Any]], question: str, expected: str
) -> None:
    assert results[question]["outcome"] == "ambiguous"
    assert expected in results[question]["text"]
    assert all(choice["count"] is None or choice["count"] > 0 for choice in results[question]["choices"])
