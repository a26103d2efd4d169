"""Five kinds of documents with no schema: each set and each number is held against the records that were written."""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import run

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


def listing(test: Callable[[Row], bool]) -> set[str]:
    return {f"listings.csv#{at}" for at, one in enumerate(LISTINGS, 1) if test(one)}


def trial(test: Callable[[Row], bool]) -> set[str]:
    return {one["doc_id"] for one in TRIALS if test(one["metadata"])}


def ticket(test: Callable[[Row], bool]) -> set[str]:
    return {one["doc_id"] for one in TICKETS if test(one["metadata"])}


def flight(test: Callable[[Row], bool]) -> set[str]:
    return {f"flights.csv#{at}" for at, one in enumerate(FLIGHTS, 1) if test(one)}


def project(test: Callable[[Row], bool]) -> set[str]:
    return {one["doc_id"] for one in PROJECTS if test(one["metadata"])}


LISTS = {
    "flights from LIS to FRA": flight(lambda one: one["origin"] == "LIS" and one["destination"] == "FRA"),
    "flights from FRA arriving in VIE or ARN": flight(
        lambda one: one["origin"] == "FRA" and one["destination"] in ("VIE", "ARN")
    ),
    "flights delayed by more than an hour": flight(lambda one: one["delay_minutes"] > 60),
    "flights in the month of March": flight(lambda one: one["departure"].startswith("2026-03")),
    "projects with a team of at least 20 people": project(lambda one: one["team_size"] >= 20),
    "ongoing projects with more than 1 million dollars": project(
        lambda one: one["status"] == "ongoing" and one["funding_usd"] > 1_000_000
    ),
    "projects not yet completed that started before 2020": project(
        lambda one: one["status"] != "completed" and one["start_date"] < "2020"
    ),
    "non-multi-site Geology projects": project(lambda one: not one["multi_site"] and one["department"] == "Geology"),
    "listings larger than 150 square metres with at least 4 bedrooms": listing(
        lambda one: one["area_m2"] > 150 and one["bedrooms"] >= 4
    ),
    "houses or apartments with at least 120 sqm in Porto": listing(
        lambda one: one["property_type"] in ("house", "apartment") and one["area_m2"] >= 120 and one["city"] == "Porto"
    ),
    "homes with 2 or 3 bedrooms between 200k and 450k": listing(
        lambda one: one["bedrooms"] in (2, 3) and 200_000 <= one["price_eur"] <= 450_000
    ),
    "unfurnished houses in Leipzig or Ghent": listing(
        lambda one: one["furnished"] == "no" and one["property_type"] == "house" and one["city"] in ("Leipzig", "Ghent")
    ),
    "studios that are not furnished": listing(
        lambda one: one["furnished"] == "no" and one["property_type"] == "studio"
    ),
    "trials in phase 1 or 2 that started in 2020 or later": trial(
        lambda one: one["phase"] in ("Phase 1", "Phase 2") and one["start_date"] >= "2020"
    ),
    "recruiting trials": trial(lambda one: one["status"] == "recruiting"),
    "active trials": trial(lambda one: one["status"] == "active, not recruiting"),
    "withdrawn trials not sponsored by Corvan Labs": trial(
        lambda one: one["status"] == "withdrawn" and one["sponsor"] != "Corvan Labs"
    ),
    "trials without a completion date started before 2018": trial(
        lambda one: "completion_date" not in one and one["start_date"] < "2018"
    ),
    "trials with more than 1000 participants": trial(lambda one: one["enrollment"] > 1000),
    "unassigned critical tickets": ticket(lambda one: "assignee" not in one and one["priority"] == "critical"),
    "tickets that are not resolved and not assigned": ticket(lambda one: not one["resolved"] and "assignee" not in one),
    "open tickets of the network team": ticket(lambda one: not one["resolved"] and one["team"] == "network"),
    "closed tickets of Amira Sol": ticket(lambda one: one["resolved"] and one.get("assignee") == "Amira Sol"),
    "tickets opened in March 2026": ticket(lambda one: one["opened"].startswith("2026-03")),
    "INC-1010": {"INC-1010"},
    "show me NCT00012": {"NCT00012"},
}
NUMBERS = {
    "How many hours were spent on high priority tickets?": sum(
        one["metadata"]["hours_spent"] for one in TICKETS if one["metadata"]["priority"] == "high"
    ),
    "median area of the lofts": sorted(one["area_m2"] for one in LISTINGS if one["property_type"] == "loft"),
    "how many passengers flew with Nordwind in June?": sum(
        one["passengers"] for one in FLIGHTS if one["airline"] == "Nordwind" and one["departure"].startswith("2026-06")
    ),
    "How much money did Dr. Lena Kraus get?": sum(
        one["metadata"]["funding_usd"]
        for one in PROJECTS
        if one["metadata"]["principal_investigator"] == "Dr. Lena Kraus"
    ),
    "how many tickets are still open?": len(ticket(lambda one: not one["resolved"])),
}
GROUPS = {
    "average hours per ticket by team": ("team", "hours_spent"),
    "hours by team": ("team", "hours_spent"),
}
SAID = {
    "what is the status of NCT00020?": str(TRIALS[20]["metadata"]["status"]),
    "how many people does NCT00012 enroll?": f"**{TRIALS[12]['metadata']['enrollment']}**",
    "who leads PRJ-017?": str(PROJECTS[17]["metadata"]["principal_investigator"]),
    "what is INC-1010 about?": str(TICKETS[10]["title"]),
}
FIRST = {  # of which, how many, what they are first by, and whether the highest are
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
    "listings": {f"listings.csv#{at}": one for at, one in enumerate(LISTINGS, 1)},
    "flights": {f"flights.csv#{at}": one for at, one in enumerate(FLIGHTS, 1)},
    "tickets": {one["doc_id"]: one["metadata"] for one in TICKETS},
    "projects": {one["doc_id"]: one["metadata"] for one in PROJECTS},
}
BUSIEST = "top 2 airlines by passengers"
ENDS = "shortest and longest distance"
LEFT_OUT = {
    "how many flights are there per airline and destination?": "grouped by airline alone, not by destination as well",
    "smallest and largest project": "“largest” was left out: a list has one end, so ask for the other by itself",
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
def told(home: Path) -> Mapping[str, Mapping[str, Any]]:
    """What is answered to each question."""
    folder = home.parent
    asked, out = folder / "asked.jsonl", folder / "out.jsonl"
    tables, records = _written(folder)
    questions = [*LISTS, *NUMBERS, *GROUPS, *SAID, *FIRST, *LEFT_OUT, *COMPARED, BUSIEST, ENDS, WHO, LATEST, HELP]
    asked.write_text("\n".join(json.dumps({"query_id": one, "query": one}) for one in questions), encoding="utf-8")
    for table in tables:
        assert run(home, "ingest", str(table), "--bucket", table.stem).status == 0
    assert run(home, "ingest", str(records)).status == 0
    assert run(home, "ask", "--batch", str(asked), "--out", str(out)).status == 0
    return {one["query_id"]: one for one in map(json.loads, out.read_text(encoding="utf-8").splitlines())}


def _written(folder: Path) -> tuple[Sequence[Path], Path]:
    """Tables, and the others as records without a schema."""
    tables = [folder / "listings.csv", folder / "flights.csv"]
    for table, rows in zip(tables, (LISTINGS, FLIGHTS), strict=True):
        with table.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows({name: str(value) for name, value in one.items()} for one in rows)
    records = folder / "records.jsonl"
    records.write_text("\n".join(map(json.dumps, [*TRIALS, *TICKETS, *PROJECTS])), encoding="utf-8")
    return tables, records


@pytest.mark.parametrize(("question", "expected"), LISTS.items())
def test_a_list_is_the_set_that_the_words_mean(
    told: Mapping[str, Mapping[str, Any]], question: str, expected: set[str]
) -> None:
    assert expected, "nothing would be found, whatever was understood"
    assert told[question]["outcome"] == "answer"
    assert set(told[question]["doc_ids"]) == expected


@pytest.mark.parametrize(("question", "expected"), NUMBERS.items())
def test_a_number_is_computed_over_the_whole_set(
    told: Mapping[str, Mapping[str, Any]], question: str, expected: float | list[float]
) -> None:
    result = told[question]
    if isinstance(expected, list):
        middle = len(expected) // 2
        expected = expected[middle] if len(expected) % 2 else (expected[middle - 1] + expected[middle]) / 2
    assert result["value"]["value"] == pytest.approx(expected)


@pytest.mark.parametrize(("question", "fields"), GROUPS.items())
def test_what_is_measured_need_not_be_mentioned_by_the_documents(
    told: Mapping[str, Mapping[str, Any]], question: str, fields: tuple[str, str]
) -> None:
    by: dict[str, list[float]] = {}
    for one in TICKETS:
        by.setdefault(one["metadata"][fields[0]], []).append(one["metadata"][fields[1]])
    averaged = question.startswith("average")
    expected = {group: sum(all_of) / (len(all_of) if averaged else 1) for group, all_of in by.items()}

    said = {one["label"]: one["value"] for one in told[question]["groups"]}

    assert said == {group: pytest.approx(value) for group, value in expected.items()}


@pytest.mark.parametrize(("question", "expected"), SAID.items())
def test_a_document_is_named_by_its_id(told: Mapping[str, Mapping[str, Any]], question: str, expected: str) -> None:
    assert told[question]["outcome"] == "answer"
    assert expected in told[question]["text"]


@pytest.mark.parametrize(("question", "first"), FIRST.items())
def test_the_first_of_a_list_are_told_from_those_that_are_level_with_the_last(
    told: Mapping[str, Mapping[str, Any]], question: str, first: tuple[str, int, str, bool]
) -> None:
    noun, many, field, highest = first
    records = RECORDS[noun]
    values = sorted((one[field] for one in records.values()), reverse=highest)
    shared = f"{values.count(values[many - 1])} {noun} share the {'last' if many > 1 else 'first'} place."

    result = told[question]

    assert [records[one][field] for one in result["doc_ids"]] == values[:many]
    assert result["text"].replace("*", "").startswith(f"{many} of {len(values)} {noun}")
    assert (shared in result["text"]) is (values[many] == values[many - 1])


def test_the_first_groups_are_those_of_the_largest_sums(told: Mapping[str, Mapping[str, Any]]) -> None:
    sums: dict[str, int] = {}
    for one in FLIGHTS:
        sums[one["airline"]] = sums.get(one["airline"], 0) + one["passengers"]

    said = [(one["label"], one["value"]) for one in told[BUSIEST]["groups"]]

    assert said == sorted(sums.items(), key=lambda pair: -pair[1])[:2]


def test_both_ends_of_a_number_are_told(told: Mapping[str, Mapping[str, Any]]) -> None:
    distances = [one["distance_km"] for one in FLIGHTS]

    assert [one["value"] for one in told[ENDS]["values"]] == [min(distances), max(distances)]


@pytest.mark.parametrize(("question", "left_out"), LEFT_OUT.items())
def test_what_is_not_done_is_said(told: Mapping[str, Mapping[str, Any]], question: str, left_out: str) -> None:
    assert told[question]["assumptions"] == [left_out]


@pytest.mark.parametrize(("question", "end"), COMPARED.items())
def test_the_first_of_one_set_is_compared_with_the_first_of_another(
    told: Mapping[str, Mapping[str, Any]], question: str, end: Callable[[list[int]], int]
) -> None:
    found = [RECORDS["listings"][one] for one in told[question]["doc_ids"]]

    assert [one["city"] for one in found] == ["Leipzig", "Porto"]
    for one in found:
        assert one["price_eur"] == end([other["price_eur"] for other in LISTINGS if other["city"] == one["city"]])


def test_who_asks_for_the_person_with_the_most(told: Mapping[str, Mapping[str, Any]]) -> None:
    counts: dict[str, int] = {}
    for one in TICKETS:
        if not one["metadata"]["resolved"] and "assignee" in one["metadata"]:
            counts[one["metadata"]["assignee"]] = counts.get(one["metadata"]["assignee"], 0) + 1

    [first] = told[WHO]["groups"]

    assert first["count"] == max(counts.values())
    assert counts[first["label"]] == first["count"]


def test_a_superlative_of_an_average_is_the_group_that_has_it(told: Mapping[str, Mapping[str, Any]]) -> None:
    by: dict[str, list[int]] = {}
    for one in FLIGHTS:
        by.setdefault(one["airline"], []).append(one["delay_minutes"])
    averages = {airline: sum(delays) / len(delays) for airline, delays in by.items()}

    [first] = told[LATEST]["groups"]

    assert averages[first["label"]] == max(averages.values())
    assert first["value"] == pytest.approx(max(averages.values()))


def test_who_asks_what_can_be_asked_is_offered_every_bucket_with_its_count(
    told: Mapping[str, Mapping[str, Any]],
) -> None:
    sizes = {
        "Flights": len(FLIGHTS),
        "Listings": len(LISTINGS),
        "Projects": len(PROJECTS),
        "Tickets": len(TICKETS),
        "Trials": len(TRIALS),
    }

    assert told[HELP]["outcome"] == "answer"
    assert {one["label"]: one["count"] for one in told[HELP]["choices"]} == sizes
    assert {one["kind"] for one in told[HELP]["choices"]} == {"bucket"}
    assert all(f"**{title}**: {size} documents" in told[HELP]["text"] for title, size in sizes.items())


def test_a_bucket_that_was_offered_is_what_it_said(told: Mapping[str, Mapping[str, Any]], home: Path) -> None:
    offered = next(one for one in told[HELP]["choices"] if one["label"] == "Trials")

    clicked = run(home, "ask", "--conversation", told[HELP]["conversation"], "--choose", offered["id"], "--json")

    assert clicked.json["count"] == offered["count"]


def test_thanks_change_nothing_that_was_spoken_of(told: Mapping[str, Mapping[str, Any]], home: Path) -> None:
    def say(words: str) -> Any:
        return run(home, "ask", words, "--conversation", "terminal:thanks", "--json").json

    listed = say("open tickets of the network team")
    thanked = say("thanks!")
    exported = say("export them")

    assert thanked["text"] == "You are welcome."
    assert listed["count"] == len(ticket(lambda one: not one["resolved"] and one["team"] == "network"))
    assert exported["files"][0]["rows"] == listed["count"]
