"""Which messages are about saved searches, and which are questions to the documents."""

from datetime import time

import pytest

from bot.saved_searches.schedule import ChangeSchedule, WeeklySchedule
from bot.saved_searches.search_requests import ListRequest, SaveLastRequest, SaveRequest, StopRequest, recognise_request

MONDAY_NINE = WeeklySchedule(weekdays=frozenset({0}), time_of_day=time(9))


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Tell me when a new contract with ACME arrives", "List every contract with ACME"),
        ("tell me when a new job in the south is logged", "List every job in the south"),
        ("tell me when new contracts with ACME arrive.", "List all contracts with ACME"),
        ("Please let me know as soon as another receipt over 5,000 comes in!", "List every receipt over 5,000"),
        ("Notify us whenever there is a new contract under Texas law", "List every contract under Texas law"),
        ("Could you tell me if a new invoice is added?", "List every invoice"),
        ("Let me know when we get a new order from Bolt", "List every order from Bolt"),
        ("Watch for new receipts from Acme", "List all receipts from Acme"),
    ],
)
def test_new_documents_are_watched_for(text: str, question: str) -> None:
    assert recognise_request(text) == SaveRequest(question=question, schedule=ChangeSchedule())


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("every Monday 9:00: receipts over 5,000 of last week", "Receipts over 5,000 of last week"),
        ("Every Monday at 9:00, tell me how many receipts there are", "How many receipts there are"),
        ("Every Monday at 9 list the receipts of last week", "List the receipts of last week"),
        ("Each Monday 9am: send me receipts over 5,000", "Receipts over 5,000"),
    ],
)
def test_a_question_is_asked_by_schedule(text: str, question: str) -> None:
    assert recognise_request(text) == SaveRequest(question=question, schedule=MONDAY_NINE)


@pytest.mark.parametrize(
    "text",
    [
        "What are you watching for me?",
        "list my saved searches",
        "Which saved searches do I have?",
        "my saved searches",
    ],
)
def test_saved_searches_are_listed(text: str) -> None:
    assert recognise_request(text) == ListRequest()


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("stop telling me", StopRequest()),
        ("Stop watching", StopRequest()),
        ("stop watching 12", StopRequest(number=12)),
        ("Please delete saved search no. 3.", StopRequest(number=3)),
        ("stop saved search #4", StopRequest(number=4)),
        ("stop watching everything", StopRequest(stops_all=True)),
        ("cancel all my saved searches", StopRequest(stops_all=True)),
    ],
)
def test_saved_searches_are_stopped(text: str, request_: StopRequest) -> None:
    assert recognise_request(text) == request_


@pytest.mark.parametrize(
    "text",
    [
        "Tell me when the contract with ACME ends",
        "Tell me when the delivery arrives",
        "Tell me when a contract ends",
        "Tell me about new contracts with ACME",
        "Tell me if there are new contracts with ACME",
        "Tell me if a contract is filed under Texas law",
        "When did the last receipt arrive?",
        "Tell me when a tax return is filed",
        "Show me every Friday delivery",
        "Every contract: which have no end date?",
        "Every Monday meeting: who took part?",
        "List every receipt of Monday",
        "Monday: what is due?",
        "Who watches the store?",
        "Which searches were saved?",
        "stop",
        "cancel everything",
        "delete the contract with ACME",
        "stop telling lies about receipts",
        "every Monday 9:00:",
        "",
    ],
)
def test_other_messages_are_questions_to_the_documents(text: str) -> None:
    assert recognise_request(text) is None


def test_a_very_long_message_is_a_question() -> None:
    assert recognise_request(f"Tell me when a new {'very ' * 400}long contract arrives") is None


# -- German


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Sag mir Bescheid, wenn ein neuer Vertrag mit ACME eintrifft", "Liste jeden Vertrag mit ACME auf"),
        ("Sag uns bitte Bescheid, sobald eine neue Rechnung von Bolt kommt.", "Liste jede Rechnung von Bolt auf"),
        ("Geben Sie mir Bescheid, wenn neue Verträge vorliegen", "Liste alle Verträge auf"),
        ("Bitte benachrichtige mich, wenn ein neues Gutachten erscheint", "Liste jedes Gutachten auf"),
    ],
)
def test_german_words_watch_for_new_documents(text: str, question: str) -> None:
    assert recognise_request(text) == SaveRequest(question=question, schedule=ChangeSchedule())


@pytest.mark.parametrize(
    ("text", "weekdays", "time_of_day"),
    [
        ("Jeden Montag um 9 Uhr: Rechnungen über 5.000", {0}, time(9)),
        ("jeden Montag und Freitag um 8:30: Rechnungen über 5.000", {0, 4}, time(8, 30)),
        ("jeden Werktag: Rechnungen über 5.000", {0, 1, 2, 3, 4}, time(9)),
        ("täglich um 17.30 Uhr: rechnungen über 5.000", {0, 1, 2, 3, 4, 5, 6}, time(17, 30)),
    ],
)
def test_german_words_ask_by_the_clock(text: str, weekdays: set[int], time_of_day: time) -> None:
    request = recognise_request(text)

    schedule = WeeklySchedule(weekdays=frozenset(weekdays), time_of_day=time_of_day)
    assert request == SaveRequest(question="Rechnungen über 5.000", schedule=schedule)


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("Zeige mir meine gespeicherten Suchen", ListRequest()),
        ("Speichere diese Suche", SaveLastRequest()),
        ("Beobachte 7 nicht mehr", StopRequest(number=7)),
        ("Bitte beende die gespeicherte Suche 7", StopRequest(number=7)),
        ("Beende alle gespeicherten Suchen", StopRequest(stops_all=True)),
    ],
)
def test_german_words_save_list_and_stop(text: str, request_: object) -> None:
    assert recognise_request(text) == request_


@pytest.mark.parametrize(
    "text",
    [
        "Sag mir Bescheid, wenn der Vertrag mit ACME endet",
        "Sag mir, wann der Vertrag mit ACME endet",
        "Welche Verträge beginnen jeden Montag?",
        "Jeden Montag um 25 Uhr: Rechnungen",
        "Jeden Montag um 9 Uhr: ",
    ],
)
def test_other_german_words_are_questions(text: str) -> None:
    assert recognise_request(text) is None
