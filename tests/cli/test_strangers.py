"""Five kinds of documents without a schema: each set and each number is compared with the records in this module."""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import run_parley

Row = Mapping[str, Any]

CITIES = ("Leipzig", "Porto", "Ghent", "Turin")
KINDS = ("apartment", "house", "studio", "loft", "office")
LISTINGS: Sequence[Row] = [
    {
        "listing_id": f"L{n:03}",
        "city": CITIES[n * 7 % 4],
        "property_type": KINDS[n * 3 % 5],
        "price_eur": 60_000 + n * 37 % 80 * 10_000,
        "area_m2": 20 + n * 53 % 200,
        "bedrooms": n * 11 % 6,
        "listed_on": f"202{4 + n % 3}-{1 + n * 5 % 12:02}-15",
        "furnished": ("yes", "no", "no")[n % 3],
        "agent": ("Ines Duarte", "Karl Boom", "Petra Nowak")[n * 5 % 3],
        "energy_class": "ABCDEFG"[n * 9 % 7],
    }
    for n in range(80)
]
STATES = ("recruiting", "completed", "terminated", "active, not recruiting", "withdrawn")
TRIALS: Sequence[Row] = [
    {
        "doc_id": f"NCT{n:05}",
        "bucket": "trials",
        "title": f"Effects of compound {n * 13 % 40}",
        "text": f"The study measures its outcome after {4 + n % 9} weeks in people with {('asthma', 'gout')[n % 2]}.",
        "metadata": {
            "phase": f"Phase {1 + n * 3 % 4}",
            "status": STATES[n * 7 % 5],
            "sponsor": ("Acorn Institute", "Bluefield Pharma", "Corvan Labs")[n * 2 % 3],
            "enrollment": 12 + n * 97 % 2000,
            "start_date": f"20{15 + n % 10}-03-01",
        }
        | ({"completion_date": f"20{26 + n % 3}-06-30"} if n % 3 else {}),
    }
    for n in range(60)
]
TICKETS: Sequence[Row] = [
    {
        "doc_id": f"INC-{1000 + n}",
        "bucket": "tickets",
        "title": ("The connection drops every hour", "Mail comes hours late", "The disk is full")[n % 3],
        "text": "Reconnecting helps for a while." if n % 3 == 0 else "The cause is not known yet.",
        "metadata": {
            "priority": ("low", "medium", "high", "critical")[n * 3 % 4],
            "team": ("network", "desktop", "server")[n * 2 % 3],
            "opened": f"2026-{1 + n % 11:02}-10",
            "hours_spent": (n * 7 % 40) / 2,
            "resolved": n % 5 < 3,
            "tags": [("wifi", "email", "remote")[n % 3], ("hardware", "security")[n % 2]],
        }
        | ({"assignee": ("Amira Sol", "Bogdan Ree", "Chen Wu")[n * 5 % 3]} if n % 7 else {}),
    }
    for n in range(70)
]

TOWNS = ("LIS", "FRA", "VIE", "ARN", "MUC")
FLIGHTS: Sequence[Row] = [
    {
        "flight_no": f"NW{100 + n}",
        "airline": ("Nordwind", "SkyLink", "Volare")[n * 5 % 3],
        "origin": TOWNS[n % 5],
        "destination": TOWNS[(n + 1 + n * 7 % 4) % 5],
        "departure": f"2026-{1 + n % 11:02}-{1 + n * 3 % 28:02} 0{n % 10}:15",
        "delay_minutes": n * 29 % 130,
        "distance_km": 300 + n * 71 % 2500,
        "cancelled": ("false", "true")[n % 9 == 0],
        "passengers": 20 + n * 13 % 160,
    }
    for n in range(90)
]
PROJECTS: Sequence[Row] = [
    {
        "doc_id": f"PRJ-{n:03}",
        "bucket": "projects",
        "title": f"{('Soil', 'Glacier', 'Battery')[n % 3]} study {n}",
        "text": "A data set and a report are due at the end.",
        "metadata": {
            "principal_investigator": ("Dr. Hana Vesely", "Prof. Omar Idris", "Dr. Lena Kraus")[n * 2 % 3],
            "department": ("Geology", "Chemistry", "Biology")[n * 5 % 3],
            "funding_usd": (20 + n * 37 % 90) * 25_000,
            "start_date": f"20{16 + n % 10}-04-01",
            "status": ("ongoing", "completed", "on hold")[n * 7 % 3],
            "team_size": 1 + n * 11 % 25,
            "multi_site": n % 4 == 0,
        },
    }
    for n in range(50)
]


def listing_ids(test: Callable[[Row], bool]) -> set[str]:
    return {f"listings.csv#{number}" for number, row in enumerate(LISTINGS, 1) if test(row)}


def trial_ids(test: Callable[[Row], bool]) -> set[str]:
    return {row["doc_id"] for row in TRIALS if test(row["metadata"])}


def ticket_ids(test: Callable[[Row], bool]) -> set[str]:
    return {row["doc_id"] for row in TICKETS if test(row["metadata"])}


def flight_ids(test: Callable[[Row], bool]) -> set[str]:
    return {f"flights.csv#{number}" for number, row in enumerate(FLIGHTS, 1) if test(row)}


def project_ids(test: Callable[[Row], bool]) -> set[str]:
    return {row["doc_id"] for row in PROJECTS if test(row["metadata"])}


LISTS = {
    "flights from LIS to FRA": flight_ids(lambda row: row["origin"] == "LIS" and row["destination"] == "FRA"),
    "flights from FRA arriving in VIE or ARN": flight_ids(
        lambda row: row["origin"] == "FRA" and row["destination"] in ("VIE", "ARN")
    ),
    "flights delayed by more than an hour": flight_ids(lambda row: row["delay_minutes"] > 60),
    "flights in the month of March": flight_ids(lambda row: row["departure"].startswith("2026-03")),
    "projects with a team of at least 20 people": project_ids(lambda row: row["team_size"] >= 20),
    "ongoing projects with more than 1 million dollars": project_ids(
        lambda row: row["status"] == "ongoing" and row["funding_usd"] > 1_000_000
    ),
    "projects not yet completed that started before 2020": project_ids(
        lambda row: row["status"] != "completed" and row["start_date"] < "2020"
    ),
    "non-multi-site Geology projects": project_ids(
        lambda row: not row["multi_site"] and row["department"] == "Geology"
    ),
    "listings larger than 150 square metres with at least 4 bedrooms": listing_ids(
        lambda row: row["area_m2"] > 150 and row["bedrooms"] >= 4
    ),
    "houses or apartments with at least 120 sqm in Porto": listing_ids(
        lambda row: row["property_type"] in ("house", "apartment") and row["area_m2"] >= 120 and row["city"] == "Porto"
    ),
    "homes with 2 or 3 bedrooms between 200k and 450k": listing_ids(
        lambda row: row["bedrooms"] in (2, 3) and 200_000 <= row["price_eur"] <= 450_000
    ),
    "unfurnished houses in Leipzig or Ghent": listing_ids(
        lambda row: row["furnished"] == "no" and row["property_type"] == "house" and row["city"] in ("Leipzig", "Ghent")
    ),
    "studios that are not furnished": listing_ids(
        lambda row: row["furnished"] == "no" and row["property_type"] == "studio"
    ),
    "trials in phase 1 or 2 that started in 2020 or later": trial_ids(
        lambda row: row["phase"] in ("Phase 1", "Phase 2") and row["start_date"] >= "2020"
    ),
    "recruiting trials": trial_ids(lambda row: row["status"] == "recruiting"),
    "active trials": trial_ids(lambda row: row["status"] == "active, not recruiting"),
    "withdrawn trials not sponsored by Corvan Labs": trial_ids(
        lambda row: row["status"] == "withdrawn" and row["sponsor"] != "Corvan Labs"
    ),
    "trials without a completion date started before 2018": trial_ids(
        lambda row: "completion_date" not in row and row["start_date"] < "2018"
    ),
    "trials with more than 1000 participants": trial_ids(lambda row: row["enrollment"] > 1000),
    "unassigned critical tickets": ticket_ids(lambda row: "assignee" not in row and row["priority"] == "critical"),
    "tickets that are not resolved and not assigned": ticket_ids(
        lambda row: not row["resolved"] and "assignee" not in row
    ),
    "open tickets of the network team": ticket_ids(lambda row: not row["resolved"] and row["team"] == "network"),
    "closed tickets of Amira Sol": ticket_ids(lambda row: row["resolved"] and row.get("assignee") == "Amira Sol"),
    "tickets opened in March 2026": ticket_ids(lambda row: row["opened"].startswith("2026-03")),
    "INC-1010": {"INC-1010"},
    "show me NCT00012": {"NCT00012"},
}
NUMBERS = {
    "How many hours were spent on high priority tickets?": sum(
        row["metadata"]["hours_spent"] for row in TICKETS if row["metadata"]["priority"] == "high"
    ),
    "median area of the lofts": sorted(row["area_m2"] for row in LISTINGS if row["property_type"] == "loft"),
    "how many passengers flew with Nordwind in June?": sum(
        row["passengers"] for row in FLIGHTS if row["airline"] == "Nordwind" and row["departure"].startswith("2026-06")
    ),
    "How much money did Dr. Lena Kraus get?": sum(
        row["metadata"]["funding_usd"]
        for row in PROJECTS
        if row["metadata"]["principal_investigator"] == "Dr. Lena Kraus"
    ),
    "how many tickets are still open?": len(ticket_ids(lambda row: not row["resolved"])),
}
GROUPS = {
    "average hours per ticket by team": ("team", "hours_spent"),
    "hours by team": ("team", "hours_spent"),
}
TEXTS = {
    "what is the status of NCT00020?": str(TRIALS[20]["metadata"]["status"]),
    "how many people does NCT00012 enroll?": f"**{TRIALS[12]['metadata']['enrollment']}**",
    "who leads PRJ-017?": str(PROJECTS[17]["metadata"]["principal_investigator"]),
    "what is INC-1010 about?": str(TICKETS[10]["title"]),
}
RANKINGS = {  # bucket, count, the field to sort by, and whether the highest values come first
    "the newest tickets": ("tickets", 10, "opened", True),
    "the 5 most expensive listings": ("listings", 5, "price_eur", True),
    "which listing is the most expensive?": ("listings", 1, "price_eur", True),
    "What are the longest flights?": ("flights", 10, "distance_km", True),
    "flights with the shortest distance": ("flights", 10, "distance_km", False),
    "top 5 projects by funding": ("projects", 5, "funding_usd", True),
    "bottom 3 projects by team size": ("projects", 3, "team_size", False),
    "Which projects have the largest teams?": ("projects", 10, "team_size", True),
}
RECORDS: Mapping[str, Mapping[str, Row]] = {
    "listings": {f"listings.csv#{number}": row for number, row in enumerate(LISTINGS, 1)},
    "flights": {f"flights.csv#{number}": row for number, row in enumerate(FLIGHTS, 1)},
    "tickets": {row["doc_id"]: row["metadata"] for row in TICKETS},
    "projects": {row["doc_id"]: row["metadata"] for row in PROJECTS},
}
BUSIEST = "top 2 airlines by passengers"
ENDS = "shortest and longest distance"
LEFT_OUT = {
    "smallest and largest project": (
        "I left out “largest”: a list is sorted from one end, so ask for the other by itself"
    ),
}
COMPARED = {
    "compare the cheapest listing in Leipzig with the cheapest listing in Porto": min,
    "compare the most expensive listing in Leipzig with the most expensive listing in Porto": max,
}
WHO = "who has the most unresolved tickets?"
HELP = "What can you answer?"
LATEST = "which airline has the longest average delay?"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("strangers") / "home"


@pytest.fixture(scope="module")
def results(home: Path) -> Mapping[str, Mapping[str, Any]]:
    """The result of each question."""
    folder = home.parent
    questions_path, results_path = folder / "asked.jsonl", folder / "out.jsonl"
    tables, records = _write_collections(folder)
    questions = [*LISTS, *NUMBERS, *GROUPS, *TEXTS, *RANKINGS, *LEFT_OUT, *COMPARED, BUSIEST, ENDS, WHO, LATEST, HELP]
    questions_path.write_text(
        "\n".join(json.dumps({"query_id": question, "query": question}) for question in questions), encoding="utf-8"
    )
    for table in tables:
        assert run_parley(home, "ingest", str(table), "--bucket", table.stem).status == 0
    assert run_parley(home, "ingest", str(records)).status == 0
    assert run_parley(home, "ask", "--batch", str(questions_path), "--out", str(results_path)).status == 0
    return {
        result["query_id"]: result for result in map(json.loads, results_path.read_text(encoding="utf-8").splitlines())
    }


def _write_collections(folder: Path) -> tuple[Sequence[Path], Path]:
    """Write two collections as tables and the others as records without a schema; return the paths."""
    tables = [folder / "listings.csv", folder / "flights.csv"]
    for table, table_rows in zip(tables, (LISTINGS, FLIGHTS), strict=True):
        with table.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, table_rows[0].keys())
            writer.writeheader()
            writer.writerows({name: str(value) for name, value in row.items()} for row in table_rows)
    records = folder / "records.jsonl"
    records.write_text("\n".join(map(json.dumps, [*TRIALS, *TICKETS, *PROJECTS])), encoding="utf-8")
    return tables, records


@pytest.mark.parametrize(("question", "expected"), LISTS.items())
def test_a_list_is_exactly_the_set_that_the_question_means(
    results: Mapping[str, Mapping[str, Any]], question: str, expected: set[str]
) -> None:
    assert expected, "nothing would be found, whatever was understood"
    assert results[question]["outcome"] == "answer"
    assert set(results[question]["doc_ids"]) == expected


@pytest.mark.parametrize(("question", "expected"), NUMBERS.items())
def test_a_number_is_computed_over_the_whole_set(
    results: Mapping[str, Mapping[str, Any]], question: str, expected: float | list[float]
) -> None:
    result = results[question]
    if isinstance(expected, list):
        middle = len(expected) // 2
        expected = expected[middle] if len(expected) % 2 else (expected[middle - 1] + expected[middle]) / 2
    assert result["value"]["value"] == pytest.approx(expected)


@pytest.mark.parametrize(("question", "fields"), GROUPS.items())
def test_numbers_are_grouped_by_a_field(
    results: Mapping[str, Mapping[str, Any]], question: str, fields: tuple[str, str]
) -> None:
    values_by_group: dict[str, list[float]] = {}
    for row in TICKETS:
        values_by_group.setdefault(row["metadata"][fields[0]], []).append(row["metadata"][fields[1]])
    is_average = question.startswith("average")
    expected = {group: sum(values) / (len(values) if is_average else 1) for group, values in values_by_group.items()}

    actual = {group["label"]: group["value"] for group in results[question]["groups"]}

    assert actual == {group: pytest.approx(value) for group, value in expected.items()}


@pytest.mark.parametrize(("question", "expected"), TEXTS.items())
def test_a_question_can_name_a_document_by_its_id(
    results: Mapping[str, Mapping[str, Any]], question: str, expected: str
) -> None:
    assert results[question]["outcome"] == "answer"
    assert expected in results[question]["text"]


@pytest.mark.parametrize(("question", "ranking"), RANKINGS.items())
def test_the_first_of_a_list_come_with_a_note_on_ties_with_the_last(
    results: Mapping[str, Mapping[str, Any]], question: str, ranking: tuple[str, int, str, bool]
) -> None:
    bucket, count, field, highest = ranking
    records = RECORDS[bucket]
    values = sorted((record[field] for record in records.values()), reverse=highest)
    shared_place = f"{values.count(values[count - 1])} {bucket} share the {'last' if count > 1 else 'first'} place."

    result = results[question]

    assert [records[doc_id][field] for doc_id in result["doc_ids"]] == values[:count]
    text = result["text"].replace("*", "")
    assert text.startswith(f"{count} of {len(values)} {bucket}") or f"of the {len(values)} {bucket}: " in text
    assert (shared_place in result["text"]) is (values[count] == values[count - 1])


def test_the_first_groups_have_the_largest_sums(results: Mapping[str, Mapping[str, Any]]) -> None:
    sums: dict[str, int] = {}
    for row in FLIGHTS:
        sums[row["airline"]] = sums.get(row["airline"], 0) + row["passengers"]

    actual = [(group["label"], group["value"]) for group in results[BUSIEST]["groups"]]

    assert actual == sorted(sums.items(), key=lambda pair: -pair[1])[:2]


def test_an_answer_gives_both_ends_of_a_number(results: Mapping[str, Mapping[str, Any]]) -> None:
    distances = [row["distance_km"] for row in FLIGHTS]

    assert [value["value"] for value in results[ENDS]["values"]] == [min(distances), max(distances)]


@pytest.mark.parametrize(("question", "left_out"), LEFT_OUT.items())
def test_an_answer_says_what_it_leaves_out(
    results: Mapping[str, Mapping[str, Any]], question: str, left_out: str
) -> None:
    assert results[question]["assumptions"] == [left_out]


@pytest.mark.parametrize(("question", "end"), COMPARED.items())
def test_the_first_of_one_set_is_compared_with_the_first_of_another(
    results: Mapping[str, Mapping[str, Any]], question: str, end: Callable[[list[int]], int]
) -> None:
    listings = [RECORDS["listings"][doc_id] for doc_id in results[question]["doc_ids"]]

    assert [listing["city"] for listing in listings] == ["Leipzig", "Porto"]
    for listing in listings:
        assert listing["price_eur"] == end(
            [listing_row["price_eur"] for listing_row in LISTINGS if listing_row["city"] == listing["city"]]
        )


def test_a_question_for_the_person_with_the_most_gives_the_largest_group(
    results: Mapping[str, Mapping[str, Any]],
) -> None:
    counts: dict[str, int] = {}
    for row in TICKETS:
        if not row["metadata"]["resolved"] and "assignee" in row["metadata"]:
            counts[row["metadata"]["assignee"]] = counts.get(row["metadata"]["assignee"], 0) + 1

    [group] = results[WHO]["groups"]

    assert group["count"] == max(counts.values())
    assert counts[group["label"]] == group["count"]


def test_a_superlative_of_an_average_gives_the_group_that_has_it(results: Mapping[str, Mapping[str, Any]]) -> None:
    delays_by_airline: dict[str, list[int]] = {}
    for row in FLIGHTS:
        delays_by_airline.setdefault(row["airline"], []).append(row["delay_minutes"])
    averages = {airline: sum(delays) / len(delays) for airline, delays in delays_by_airline.items()}

    [group] = results[LATEST]["groups"]

    assert averages[group["label"]] == max(averages.values())
    assert group["value"] == pytest.approx(max(averages.values()))


def test_help_offers_every_bucket_with_its_count(
    results: Mapping[str, Mapping[str, Any]],
) -> None:
    sizes = {
        "Flights": len(FLIGHTS),
        "Listings": len(LISTINGS),
        "Projects": len(PROJECTS),
        "Tickets": len(TICKETS),
        "Trials": len(TRIALS),
    }

    assert results[HELP]["outcome"] == "answer"
    assert {choice["label"]: choice["count"] for choice in results[HELP]["choices"]} == sizes
    assert {choice["kind"] for choice in results[HELP]["choices"]} == {"bucket"}
    assert all(f"**{title}**: {size} documents" in results[HELP]["text"] for title, size in sizes.items())


def test_an_offered_bucket_has_the_count_of_its_button(results: Mapping[str, Mapping[str, Any]], home: Path) -> None:
    offered = next(choice for choice in results[HELP]["choices"] if choice["label"] == "Trials")

    clicked = run_parley(
        home, "ask", "--conversation", results[HELP]["conversation"], "--choose", offered["id"], "--json"
    )

    assert clicked.json["count"] == offered["count"]


def test_thanks_do_not_change_the_last_plan(results: Mapping[str, Mapping[str, Any]], home: Path) -> None:
    def say(words: str) -> Any:
        return run_parley(home, "ask", words, "--conversation", "terminal:thanks", "--json").json

    listed = say("open tickets of the network team")
    thanked = say("thanks!")
    exported = say("export them")

    assert thanked["text"] == "You are welcome."
    assert listed["count"] == len(ticket_ids(lambda row: not row["resolved"] and row["team"] == "network"))
    assert exported["files"][0]["rows"] == listed["count"]
