"""Commands and positions in German, French and Spanish."""

import pytest

from agent.languages.command_phrases import CommandKind, find_foreign_command, parse_foreign_position
from agent.new_topic import split_new_topic

MESSAGES = {
    ("de", CommandKind.START_OVER): ["Neu anfangen", "Bitte neu anfangen!", "Vergiss alles.", "neue Frage"],
    ("de", CommandKind.UNDO): ["zurück", "Einen Schritt zurück, bitte", "rückgängig machen"],
    ("de", CommandKind.HELP): ["Hilfe!", "Guten Tag", "Was kannst du?", "Welche Dokumente gibt es?"],
    ("de", CommandKind.THANKS): ["Danke!", "Vielen Dank.", "danke schön"],
    ("de", CommandKind.EXPORT): [
        "als CSV", "Exportieren", "Bitte alle als Excel exportieren", "Kannst du sie mir als CSV-Datei geben?",
    ],
    ("fr", CommandKind.START_OVER): ["Recommencer", "repartons de zéro", "Oubliez tout, svp", "nouvelle question"],
    ("fr", CommandKind.UNDO): ["retour", "Revenir en arrière", "annuler, s'il vous plaît"],
    ("fr", CommandKind.HELP): ["Aide", "Bonjour !", "Que pouvez-vous faire ?", "Quels documents y a-t-il ?"],
    ("fr", CommandKind.THANKS): ["Merci !", "merci beaucoup"],
    ("fr", CommandKind.EXPORT): ["au format CSV", "Exporter", "Exporte tout dans un fichier Excel, s'il te plaît"],
    ("es", CommandKind.START_OVER): ["Empezar de nuevo", "desde cero, por favor", "olvidalo todo", "otra pregunta"],
    ("es", CommandKind.UNDO): ["atrás", "Volver", "deshacer"],
    ("es", CommandKind.HELP): ["Ayuda", "¡Hola!", "¿Qué puedes hacer?", "¿Qué documentos hay?"],
    ("es", CommandKind.THANKS): ["¡Gracias!", "Muchas gracias"],
    ("es", CommandKind.EXPORT): ["como CSV", "Exportar todo a un archivo", "Envíame la lista en Excel, por favor"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("message", "language", "kind"), [(text, *key) for key, texts in MESSAGES.items() for text in texts]
)
def test_a_command_is_recognised_with_its_language(message: str, language: str, kind: CommandKind) -> None:
    assert find_foreign_command(message) == (language, kind)


def test_a_command_of_several_languages_is_taken_in_the_one_of_the_conversation() -> None:
    assert [find_foreign_command("en CSV", language) for language in ("fr", "es")] == [
        ("fr", CommandKind.EXPORT), ("es", CommandKind.EXPORT)
    ]  # fmt: skip


@pytest.mark.parametrize(
    "message",
    [
        "export", "csv", "excel", "Verträge als CSV", "Danke, und die von Acme?", "Hilfe zur Maschine B-120",
        "neue Verträge", "", "les contrats en CSV", "merci, et ceux d'Acme ?", "aide sur la machine B-120",
        "contratos en CSV",
        "gracias, ¿y los de Acme?", "help", "thanks", "go back", "por favor", "bitte",
    ],
)  # fmt: skip
def test_questions_and_english_commands_are_no_commands_of_other_languages(message: str) -> None:
    assert find_foreign_command(message) is None


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("die erste", 1), ("Der Zweite", 2), ("das dritte", 3), ("den fünften", 5), ("Nummer 4", 4), ("nr. 4", 4),
        ("die 2.", 2), ("Option 3", 3), ("zwölfte", 12), ("die letzte", 7),
        ("le premier", 1), ("la première", 1), ("le deuxième", 2), ("la seconde", 2), ("numéro 4", 4), ("le 3e", 3),
        ("l'option 2", 2), ("la dernière", 7),
        ("la primera", 1), ("el primero", 1), ("el tercer", 3), ("el séptimo", 7), ("número 4", 4), ("opción 2", 2),
        ("la 2.ª", 2), ("la última", 7),
    ],
)  # fmt: skip
def test_a_position_is_read_in_its_usual_forms(text: str, position: int) -> None:
    assert parse_foreign_position(text, 7) == position


@pytest.mark.parametrize(
    "text",
    [
        "die erste Rechnung",
        "erst",
        "der",
        "alle",
        "zweimal",
        "",
        "la première facture",
        "le",
        "premi",
        "la primera factura",
    ],
)
def test_other_texts_are_no_positions(text: str) -> None:
    assert parse_foreign_position(text, 7) is None


@pytest.mark.parametrize(
    ("message", "question"),
    [
        ("neues Thema: wie viele Verträge gibt es?", "wie viele Verträge gibt es?"),
        ("Nouveau sujet : combien de contrats y a-t-il ?", "combien de contrats y a-t-il ?"),
        ("otro tema, y ¿cuántos contratos hay?", "¿cuántos contratos hay?"),
        ("nouveau sujet", None),
        ("combien de contrats y a-t-il ?", None),
    ],
)
def test_a_question_after_a_new_topic_is_split_off(message: str, question: str | None) -> None:
    assert split_new_topic(message) == question
