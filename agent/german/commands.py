"""German messages that are commands: start over, go back, help, thanks, export. Everything else is read elsewhere."""

import re

_WORD = re.compile(r"[^\W_]+")
_POLITE_WORDS = frozenset("bitte jetzt ok okay also dann nun mal doch danke".split())


def _parse_phrases(text: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(phrase.split()) for phrase in text.replace("\n", " ").split("|"))


_START_OVER_PHRASES = _parse_phrases(
    """neu anfangen|neu beginnen|neustart|neu starten|von vorne|von vorn|von vorne anfangen|von vorn anfangen
    |fang neu an|fang von vorne an|nochmal von vorne|noch einmal von vorne|neue frage|andere frage|neue suche
    |neues thema|anderes thema|alles vergessen|vergiss alles|vergiss das alles|zurücksetzen"""
)
_UNDO_PHRASES = _parse_phrases(
    "zurück|geh zurück|einen schritt zurück|ein schritt zurück|rückgängig|rückgängig machen|mach das rückgängig"
)
_HELP_PHRASES = _parse_phrases(
    """hallo|guten tag|guten morgen|guten abend|moin|servus|grüezi|hilfe|hilf mir|ich brauche hilfe|was kannst du
    |was kannst du für mich tun|was weißt du|wer bist du|was bist du|was ist das hier|wie funktioniert das
    |wie funktionierst du|was kann ich fragen|was kann ich dich fragen|was gibt es hier|welche dokumente gibt es
    |welche dokumente hast du|welche unterlagen gibt es"""
)
_THANKS_PHRASES = _parse_phrases(
    """danke|danke schön|dankeschön|danke sehr|danke dir|danke euch|vielen dank|vielen lieben dank|besten dank
    |herzlichen dank|tausend dank|super danke|perfekt danke|prima danke|alles klar danke"""
)
_FILE_WORDS = frozenset("csv excel xlsx datei exportieren exportiere export herunterladen download".split())
_EXPORT_FILLER = _FILE_WORDS | frozenset(
    """als in tabelle eine einer einem ein das die der den alle alles sie es ergebnisse ergebnis liste davon mir uns ich
    möchte will hätte gern gerne brauche gib gebt geben schick
    schicke schicken kannst du können sie speichern speichere bitte nun
    jetzt mal und zum zur""".split()
)  # fmt: skip


def is_german_start_over_request(question: str) -> bool:
    return _content_words_of(question) in _START_OVER_PHRASES


def is_german_undo_request(question: str) -> bool:
    """ "Zurück": whether the message asks for the state before the last message."""
    return _content_words_of(question) in _UNDO_PHRASES


def is_german_help_request(question: str) -> bool:
    """ "Was kannst du?": whether the message is a greeting or asks for help."""
    return _content_words_of(question) in _HELP_PHRASES


def is_german_thanks(question: str) -> bool:
    return tuple(_words_of(question)) in _THANKS_PHRASES


def asks_for_file_in_german(question: str) -> bool:
    """ "Als CSV", "exportieren": whether the message asks for a file and names no documents.

    A single word that is also English is not German.
    """
    words = _words_of(question)
    return bool(_FILE_WORDS.intersection(words)) and set(words) <= _EXPORT_FILLER and not _is_english_file_word(words)


def is_german_command(question: str) -> bool:
    return (
        is_german_start_over_request(question)
        or is_german_undo_request(question)
        or is_german_help_request(question)
        or is_german_thanks(question)
        or asks_for_file_in_german(question)
    )


def _is_english_file_word(words: list[str]) -> bool:
    return set(words) <= {"csv", "excel", "xlsx", "export", "download", "in"}


def _content_words_of(question: str) -> tuple[str, ...]:
    return tuple(word for word in _words_of(question) if word not in _POLITE_WORDS)


def _words_of(question: str) -> list[str]:
    return _WORD.findall(question.lower())
