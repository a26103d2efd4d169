"""Replies, buttons and notices in the language of the question."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from agent.decomposition import PlannedQuestion
from bot.application import Application
from bot.bootstrap import open_application
from bot.settings import Settings
from bot.surface.replies import ChosenPart, ProgressPart
from bot.turns.turn_processor import FinishedTurn
from storage.embedded.index import EmbeddedIndex
from storage.search.conditions import AndCondition
from storage.search.errors import IndexUnavailable
from storage.search.ids import FieldName, LegId
from storage.search.plan import Leg, ListDocuments, Plan, ReadFields, Search
from storage.sql.database import SqlDatabase
from tests.bot.conftest import ConversationDriver
from tests.bot.fakes import Clock, FakeChat, ListingAgent
from tests.builders import RECEIPTS, a_document, a_search, where
from tests.scenarios.clicking import ScriptedReasoner

EVERY_RECEIPT, ACME_RECEIPTS = a_search(), a_search(where("vendor", "eq", "Acme"))
NO_RECEIPT = a_search(AndCondition((where("vendor", "eq", "Bolt"), where("paid", "eq", True))))


@pytest.fixture
def script() -> ScriptedReasoner:
    return ScriptedReasoner()


@pytest.fixture
async def answering_bot(
    settings: Settings,
    clock: Clock,
    database: SqlDatabase,
    index: EmbeddedIndex,
    chat: FakeChat,
    script: ScriptedReasoner,
) -> AsyncIterator[Application]:
    """A bot with the real agent, which lists at most 10 documents."""
    async with open_application(
        settings, clock=clock, database=database, index=index, reasoner=script, outboxes={"slack": chat}
    ) as bot:
        yield bot


def plan_of(question: str, search: Search, language: str) -> PlannedQuestion:
    leg = Leg(id=LegId("a"), question=question, search=search, answer_form=ListDocuments())
    return PlannedQuestion(plan=Plan(question=question, legs=(leg,), language=language))


def labels_of(turn: FinishedTurn) -> list[str]:
    return [choice["label"] for choice in turn.result["choices"]]


async def test_a_german_question_that_finds_nothing_gets_a_german_reply(answering_bot: Application) -> None:
    turn = await ConversationDriver(answering_bot).ask_question("Welche Verträge gibt es über Quallen und Tang?")

    assert turn.result["outcome"] == "no_results"
    assert turn.result["text"].startswith("Ich habe darauf keine Antwort gefunden.")
    assert turn.result["assumptions"] == []


async def test_an_empty_set_is_described_in_german_with_its_ways_out(
    answering_bot: Application, script: ScriptedReasoner
) -> None:
    script.plans["Was ist von Bolt bezahlt?"] = plan_of("Was ist von Bolt bezahlt?", NO_RECEIPT, "de")
    turn = await ConversationDriver(answering_bot).ask_question("Was ist von Bolt bezahlt?")

    assert turn.result["text"] == (
        "Ich finde keine Receipts mit vendor Bolt und mit Merkmal »paid«.\n\nStattdessen möglich:"
    )
    assert "Paid: ja oder nein" in labels_of(turn)


async def test_a_click_on_a_german_overload_stays_german(answering_bot: Application, script: ScriptedReasoner) -> None:
    script.plans["Alle Belege"] = plan_of("Alle Belege", EVERY_RECEIPT, "de")
    talk = ConversationDriver(answering_bot)
    question_turn = await talk.ask_question("Alle Belege")
    click_turn = await talk.click_choice(question_turn, "Bolt")

    assert question_turn.result["text"] == (
        "Ich finde **42 Receipts**, mehr als die 10, die ich lese.\n\nWelche davon? Nach vendor:"
    )
    assert labels_of(question_turn) == ["Acme", "Bolt", "Alle als CSV exportieren", "Einfach antworten"]
    assert click_turn.result["text"].startswith("**5 Receipts** mit vendor Bolt: ")


async def test_a_plan_that_asks_for_one_of_several_documents_asks_in_german(
    answering_bot: Application, script: ScriptedReasoner
) -> None:
    question = "Von welchem Datum ist der Beleg?"
    form = ReadFields(fields=((RECEIPTS, FieldName("date")),))
    leg = Leg(id=LegId("a"), question=question, search=ACME_RECEIPTS, answer_form=form)
    script.plans[question] = PlannedQuestion(plan=Plan(question=question, legs=(leg,), language="de"))
    turn = await ConversationDriver(answering_bot).ask_question(question)

    assert turn.result["outcome"] == "ambiguous"
    assert turn.result["text"] == ("**37 Receipts** mit vendor Acme kommen infrage.\n\nWelches Dokument ist gemeint?")
    assert "Ein anderes davon" in labels_of(turn)


@pytest.mark.parametrize("typed", ["die zweite", "Bolt", "bolt · 5", "Nummer 2", "2"])
async def test_a_german_choice_is_made_in_words(
    answering_bot: Application, script: ScriptedReasoner, typed: str
) -> None:
    script.plans["Alle Belege"] = plan_of("Alle Belege", EVERY_RECEIPT, "de")
    talk = ConversationDriver(answering_bot)
    await talk.ask_question("Alle Belege")

    assert (await talk.ask_question(typed)).result["text"].startswith("**5 Receipts** mit vendor Bolt: ")


async def test_an_action_is_chosen_by_its_german_label(answering_bot: Application, script: ScriptedReasoner) -> None:
    script.plans["Alle Belege"] = plan_of("Alle Belege", EVERY_RECEIPT, "de")
    talk = ConversationDriver(answering_bot)
    await talk.ask_question("Alle Belege")

    assert (await talk.ask_question("einfach antworten")).result["text"].startswith("**42 Receipts**. Die ersten 10")


async def test_german_commands_get_german_replies(answering_bot: Application, script: ScriptedReasoner) -> None:
    script.plans["Alle von Acme"] = plan_of("Alle von Acme", ACME_RECEIPTS, "de")
    talk = ConversationDriver(answering_bot)
    await talk.ask_question("Alle von Acme")
    file_turn = await talk.ask_question("bitte als CSV")
    texts = [(await talk.ask_question(text)).result["text"] for text in ("Vielen Dank!", "Hilfe", "neu anfangen")]

    assert file_turn.result["text"] == "Hier ist **receipts-37.csv** mit 37 Zeilen."
    assert texts[0] == "Gern geschehen."
    assert texts[1].startswith("Ich beantworte Fragen zu diesen Dokumenten:\n\n- **receipts**: 42 Dokumente")
    assert texts[2] == "Neu angefangen: Was bisher gesagt wurde, zählt nicht mehr."


async def test_a_short_follow_up_of_a_german_plan_stays_german(
    answering_bot: Application, script: ScriptedReasoner
) -> None:
    script.plans["Alle von Bolt"] = plan_of("Alle von Bolt", a_search(where("vendor", "eq", "Bolt")), "de")
    talk = ConversationDriver(answering_bot)
    await talk.ask_question("Alle von Bolt")
    kept_turn = await talk.ask_question("only paid")

    assert kept_turn.result["text"].startswith(
        "So habe ich das verstanden: Receipts mit vendor Bolt und mit Merkmal »paid«. Dazu habe ich nichts gefunden."
    )
    assert "Neu anfangen" in labels_of(kept_turn)


async def test_a_language_without_a_catalogue_is_answered_in_english(
    answering_bot: Application, script: ScriptedReasoner
) -> None:
    script.plans["Tutte le ricevute"] = plan_of("Tutte le ricevute", EVERY_RECEIPT, "it")
    talk = ConversationDriver(answering_bot)
    question_turn = await talk.ask_question("Tutte le ricevute")
    click_turn = await talk.click_choice(question_turn, "Bolt")

    assert question_turn.result["text"].startswith("I found **42 receipts**, more than the 10 that I read.")
    assert click_turn.result["text"].startswith("**5 receipts** from Bolt: ")


@pytest.mark.parametrize(
    ("language", "found", "listed", "typed"),
    [
        (
            "fr",
            "J’ai trouvé **42 receipts**, soit plus que les 10 que je lis.\n\nÀ préciser par vendor\u00a0:",
            "**5 receipts** ayant pour vendor Bolt\u00a0: ",
            "Tout exporter en CSV",
        ),
        (
            "es",
            "He encontrado **42 receipts**, más de los 10 que leo.\n\n¿Cuáles? Por vendor:",
            "**5 receipts** con vendor Bolt: ",
            "Exportar todo como CSV",
        ),
    ],
)
async def test_french_and_spanish_are_answered_in_their_language(
    answering_bot: Application, script: ScriptedReasoner, language: str, found: str, listed: str, typed: str
) -> None:
    script.plans["?"] = plan_of("?", EVERY_RECEIPT, language)
    talk = ConversationDriver(answering_bot)
    question_turn = await talk.ask_question("?")
    click_turn = await talk.click_choice(question_turn, "Bolt")

    assert question_turn.result["text"] == found
    assert typed in labels_of(question_turn)
    assert click_turn.result["text"].startswith(listed)


@pytest.mark.parametrize(
    ("language", "messages", "replies"),
    [
        (
            "fr",
            ["au format CSV, s'il vous plaît", "Merci !", "aide", "recommencer"],
            [
                "Voici **receipts-37.csv** avec 37 lignes.",
                "Je vous en prie.",
                "Je réponds aux questions sur ces documents\u00a0:\n\n- **receipts**\u00a0: 42 documents",
                "On repart de zéro\u00a0: ce qui a été dit avant ne compte plus.",
            ],
        ),
        (
            "es",
            ["como CSV, por favor", "¡Gracias!", "ayuda", "empezar de nuevo"],
            [
                "Aquí está **receipts-37.csv** con 37 filas.",
                "De nada.",
                "Respondo preguntas sobre estos documentos:\n\n- **receipts**: 42 documentos",
                "Empezamos de nuevo: lo dicho hasta ahora ya no cuenta.",
            ],
        ),
    ],
)
async def test_french_and_spanish_commands_get_replies_in_their_language(
    answering_bot: Application, script: ScriptedReasoner, language: str, messages: list[str], replies: list[str]
) -> None:
    script.plans["?"] = plan_of("?", ACME_RECEIPTS, language)
    talk = ConversationDriver(answering_bot)
    await talk.ask_question("?")
    texts = [(await talk.ask_question(message)).result["text"] for message in messages]

    assert [text[: len(reply)] for text, reply in zip(texts, replies, strict=True)] == replies


@pytest.mark.parametrize("typed", ["la segunda", "Bolt · 5", "número 2", "2"])
async def test_a_spanish_choice_is_made_in_words(
    answering_bot: Application, script: ScriptedReasoner, typed: str
) -> None:
    script.plans["?"] = plan_of("?", EVERY_RECEIPT, "es")
    talk = ConversationDriver(answering_bot)
    await talk.ask_question("?")

    assert (await talk.ask_question(typed)).result["text"].startswith("**5 receipts** con vendor Bolt: ")


@pytest.mark.parametrize(
    ("language", "locale", "amount"),
    [
        ("de", "en-US", "1.234,50"),
        ("de", "de-CH", "1’234.50"),
        ("es", "es-MX", "1,234.50"),
        ("en", "de-DE", "1,234.50"),
    ],
)
async def test_amounts_are_written_as_in_the_country_of_the_asker(
    answering_bot: Application, script: ScriptedReasoner, language: str, locale: str, amount: str
) -> None:
    script.plans["?"] = plan_of("?", a_search(where("total", "gt", 1234.5)), language)
    turn = await ConversationDriver(answering_bot, locale=locale).ask_question("?")

    assert f" {amount}." in turn.result["text"]


async def test_a_late_click_on_a_german_offer_is_refused_in_german(
    answering_bot: Application, chat: FakeChat, clock: Clock, script: ScriptedReasoner
) -> None:
    script.plans["Alle Belege"] = plan_of("Alle Belege", EVERY_RECEIPT, "de")
    talk = ConversationDriver(answering_bot, name="Ann")
    used_turn, expired_turn = [await talk.ask_question("Alle Belege") for _ in range(2)]
    await talk.click_choice(used_turn, "Bolt")
    second_click_turn = await talk.click_choice(used_turn, "Acme")
    clock.advance(timedelta(hours=25))
    late_click_turn = await talk.click_choice(expired_turn, "Bolt")
    await answering_bot.turn_processor.expire_clarifications()

    assert second_click_turn.error == "Hier wurde schon gewählt: Bolt, von Ann."
    assert late_click_turn.error == "Diese Auswahl ist abgelaufen; bitte die Frage noch einmal stellen."
    assert chat.messages_of_turn(expired_turn.turn)[0].chosen == ChosenPart(
        label="Dieses Angebot ist abgelaufen; bitte noch einmal fragen.", by=""
    )


async def test_a_count_that_has_changed_is_noted_in_german(
    answering_bot: Application, index: EmbeddedIndex, script: ScriptedReasoner
) -> None:
    script.plans["Alle Belege"] = plan_of("Alle Belege", EVERY_RECEIPT, "de")
    talk = ConversationDriver(answering_bot)
    question_turn = await talk.ask_question("Alle Belege")
    await index.put(RECEIPTS, [a_document("r100", "receipt 100", vendor="Bolt")])
    click_turn = await talk.click_choice(question_turn, "Bolt")

    assert click_turn.result["text"].startswith("_jetzt 6, vorher 5_\n\n**6 Receipts** mit vendor Bolt")


@pytest.mark.parametrize(
    ("question", "error"),
    [
        (
            "Welche Belege gibt es?",
            "Die Dokumente sind gerade nicht erreichbar. Bitte etwas später noch einmal fragen.",
        ),
        ("Which receipts are there?", "The documents cannot be reached right now. Please ask again a little later."),
    ],
)
async def test_a_failure_is_reported_in_the_language_of_the_question(
    bot: Application, agent: ListingAgent, question: str, error: str
) -> None:
    agent.failures = [IndexUnavailable("index:9200")]

    assert (await ConversationDriver(bot).ask_question(question)).error == error


async def test_the_first_progress_is_in_the_language_of_the_question(
    bot: Application, chat: FakeChat, agent: ListingAgent
) -> None:
    turn = await ConversationDriver(bot).ask_question("Welche Belege gibt es?")
    progress = [
        part.text
        for reply in chat.messages_of_turn(turn.turn)[0].replies
        for part in reply.parts
        if isinstance(part, ProgressPart)
    ]

    assert progress[0] == "Ich sehe nach …"
