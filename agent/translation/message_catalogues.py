"""Message catalogues: the sentences of the code in other languages, one `.po` file a language.

The English message in the code is the key. Babel reads the `.po` file when its language is first used; nothing is
compiled beforehand.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path
from string import Formatter

from agent.translation.languages import CATALOGUE_FOLDER, get_reply_language, is_reply_in_english
from agent.translation.local_wording import get_wording


@cache
def load_translations(folder: Path, language: str) -> NullTranslations:
    """The catalogue `<language>.po` of the folder; an empty one if there is none. Reading one takes some 20 ms."""
    path = folder / f"{language}.po"
    if not path.is_file():
        return NullTranslations()
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    compiled = BytesIO()
    with path.open("rb") as file:
        write_mo(compiled, read_po(file, locale=language))
    compiled.seek(0)
    return GNUTranslations(compiled)


@cache
def list_message_texts(folder: Path, language: str) -> tuple[str, ...]:
    """The messages as the language has them; the English ones for English and a language without a catalogue."""
    from babel.messages.pofile import read_po

    path = folder / f"{language}.po"
    source = path if path.is_file() else min(folder.glob("*.po"))
    texts: list[str] = []
    with source.open("rb") as file:
        for message in read_po(file):
            forms = message.string if path.is_file() else message.id
            texts += [forms] if isinstance(forms, str) else list(forms or ())
    return tuple(texts)


class MessageTranslator:
    """Translates the messages of one package into the language of the reply, with the catalogues in `folder`.

    Messages have named placeholders, as in `str.format`: "I found no {documents}.". A translation may use any of the
    placeholders of its message, and attributes of them, such as `{documents.dative}`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def translate_message(self, message: str, /, **values: object) -> str:
        """The message in the language of the reply, with the values in place of the placeholders."""
        if not is_reply_in_english():
            message = self._translations.gettext(message)
        return format_message(message, values) if values else message

    def translate_in_context(self, context: str, message: str, /, **values: object) -> str:
        """Like `translate_message`, for a message whose translation depends on where it is used."""
        if not is_reply_in_english():
            message = self._translations.pgettext(context, message)
        return format_message(message, values) if values else message

    def translate_plural(self, singular: str, plural: str, number: int, /, **values: object) -> str:
        """The message in the form for the number, which is not a placeholder by itself."""
        if is_reply_in_english():
            message = singular if number == 1 else plural
        else:
            message = self._translations.ngettext(singular, plural, number)
        return format_message(message, values) if values else message

    @property
    def _translations(self) -> NullTranslations:
        return load_translations(self._folder, get_reply_language())


_FORMATTER = Formatter()


def format_message(message: str, values: Mapping[str, object]) -> str:
    """The message with the values in place of its placeholders.

    Words before a value change as the language needs: "pas d’options".
    """
    wording = get_wording()
    if not wording.adjustments:
        return message.format(**values)
    parts = list[str]()
    for literal, name, _, _ in _FORMATTER.parse(message):
        value = "" if name is None else str(_FORMATTER.get_field(name, (), values)[0])
        parts += [wording.adjust_before(literal, value), value]
    return "".join(parts)


def join_with(conjunction: str, words: Sequence[str]) -> str:
    """Joins the words by the conjunction, with blanks around it: "a y b", but "a e i"."""
    wording, joined = get_wording(), "".join(words[:1])
    for word in words[1:]:
        joined += wording.adjust_before(conjunction, word) + word
    return joined


_TRANSLATOR = MessageTranslator(CATALOGUE_FOLDER)
translate_message = _TRANSLATOR.translate_message
translate_in_context = _TRANSLATOR.translate_in_context
translate_plural = _TRANSLATOR.translate_plural


def mark_message(message: str) -> str:
    """Marks a constant for the catalogue and returns it unchanged; it is translated where it is used."""
    return message
