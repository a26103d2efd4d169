"""Every message of the code is in the catalogues, with the same placeholders."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import cast

import pytest
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from agent.languages.command_phrases import load_commands
from agent.translation.languages import CATALOGUE_FOLDER, DEFAULT_LANGUAGE, list_languages
from agent.translation.local_wording import load_wording
from agent.verification.claimed_figures import find_unfounded_figure

ROOT = Path(__file__).parents[3]
CATALOGUES = {"agent": CATALOGUE_FOLDER, "bot": ROOT / "bot" / "catalogues"}
SOURCES = {"agent": ("agent",), "bot": ("bot", "adapters")}  # the rooms whose messages are in the catalogue
KEYWORDS = {
    "translate_message": None,
    "mark_message": None,
    "translate_plural": (1, 2),
    "translate_in_context": ((1, "c"), 2),
}
MessageKey = tuple[str | None, tuple[str, ...]]
LANGUAGES = [language for language in list_languages() if language != DEFAULT_LANGUAGE]


COUNT_PLACEHOLDERS = frozenset("all_count count limit number others stated total".split())


class SampleValue(str):
    """A value with the forms that a translation may ask for."""

    @property
    def dative(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True)
class CataloguedMessage:
    """A message with its forms: one, or the singular and the plural."""

    key: MessageKey
    translations: tuple[str, ...]
    is_fuzzy: bool

    @property
    def forms(self) -> tuple[str, ...]:
        return self.key[1]


def forms_of(message: object) -> tuple[str, ...]:
    return tuple(map(str, cast(Iterable[object], message))) if isinstance(message, (tuple, list)) else (str(message),)


def messages_of_code(room: str) -> set[MessageKey]:
    return {
        (context, forms_of(message))
        for source in SOURCES[room]
        for _, _, message, _, context in extract_from_dir(
            ROOT / source, method_map=[("**.py", "python")], keywords=KEYWORDS
        )
    }


def read_messages(room: str, language: str) -> list[CataloguedMessage]:
    with (CATALOGUES[room] / f"{language}.po").open("rb") as file:
        catalogue = read_po(file, locale=language)
    return [
        CataloguedMessage((message.context, forms_of(message.id)), forms_of(message.string), message.fuzzy)
        for message in catalogue
        if message.id
    ]


def placeholders_of(text: str) -> set[str]:
    """The names of the placeholders, without the attributes that a language may need."""
    return {name.partition(".")[0] for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("room", CATALOGUES)
def test_the_catalogue_has_exactly_the_messages_of_the_code(room: str, language: str) -> None:
    catalogued = {message.key for message in read_messages(room, language)}

    assert catalogued == messages_of_code(room)
    assert len(catalogued) > 50


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("room", CATALOGUES)
def test_every_message_is_translated_in_all_its_forms(room: str, language: str) -> None:
    for message in read_messages(room, language):
        assert len(message.translations) == len(message.forms), message.key
        assert all(message.translations), message.key
        assert not message.is_fuzzy, message.key


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("room", CATALOGUES)
def test_a_translation_has_the_placeholders_of_its_message(room: str, language: str) -> None:
    for message in read_messages(room, language):
        *first_forms, last_form = message.translations  # "in a minute", "in {count} minutes"
        assert placeholders_of(last_form) == placeholders_of(message.forms[-1]), message.key
        assert all(placeholders_of(form) <= placeholders_of(last_form) for form in first_forms), message.key


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("room", CATALOGUES)
def test_a_translation_keeps_the_blanks_at_the_ends_of_its_message(room: str, language: str) -> None:
    """Messages are put together, so a blank that is missing joins two words."""
    for message in read_messages(room, language):
        for form, translation in zip(message.forms, message.translations, strict=True):
            ends = (form[:1].isspace(), form[-1:].isspace())
            assert (translation[:1].isspace(), translation[-1:].isspace()) == ends, message.key


def test_the_rooms_have_catalogues_of_the_same_languages() -> None:
    names = {room: {path.name for path in folder.glob("*.po")} for room, folder in CATALOGUES.items()}

    assert names["agent"] == names["bot"] == {"de.po", "es.po", "fr.po"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_with_catalogues_has_its_words_and_commands(language: str) -> None:
    wording = load_wording(language)

    assert wording.singular_endings
    assert wording.place_labels
    assert wording.document_date_labels
    assert language in load_commands()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_count_in_a_sentence_is_read_back_as_that_count(language: str) -> None:
    """Sentences are checked after they are composed: "15 des 45" would be the 15th of December there."""
    numbers = {name: float(number) for number, name in enumerate(sorted(COUNT_PLACEHOLDERS), 14)}
    units = "day month year hour week percent %"  # that a message may have beside a count
    for message in read_messages("agent", language):
        for form in message.translations:
            names = {name.partition(".")[0] for _, name, _, _ in Formatter().parse(form) if name is not None}
            if not names & COUNT_PLACEHOLDERS:
                continue
            values = {name: SampleValue(f"{numbers[name]:g}" if name in numbers else "Abc") for name in names}
            sentence = form.format(**values)
            evidence = f"{units} 10 %"
            known = frozenset(numbers.values()) | {10.0}
            assert find_unfounded_figure(sentence, known, evidence, evidence, language) is None, sentence
