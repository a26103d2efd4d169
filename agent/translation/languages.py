"""The language of the reply that is being composed. `agent.loop` and the bot set it; all wording reads it."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

DEFAULT_LANGUAGE = "en"  # the language of the messages in the code
CATALOGUE_FOLDER = Path(__file__).parent / "catalogues"
_reply_language: ContextVar[str] = ContextVar("reply_language", default=DEFAULT_LANGUAGE)
_asker_locale: ContextVar[str] = ContextVar("asker_locale", default="")


@cache
def list_languages() -> tuple[str, ...]:
    """The languages that replies are written in: English, and those with a catalogue. ISO 639-1."""
    return (DEFAULT_LANGUAGE, *sorted(path.stem for path in CATALOGUE_FOLDER.glob("*.po")))


def get_reply_language() -> str:
    """The language that sentences are composed in at the moment; English outside `use_language`."""
    return _reply_language.get()


def is_reply_in_english() -> bool:
    return get_reply_language() == DEFAULT_LANGUAGE


@contextmanager
def use_language(language: str) -> Generator[None]:
    """Composes in `language` (`de`, `de-AT`) within the block; in English if it has no catalogue.

    It holds for the current task and for the tasks and threads that the block starts.
    """
    code = language.replace("_", "-").partition("-")[0].lower()
    token = _reply_language.set(code if code in list_languages() else DEFAULT_LANGUAGE)
    try:
        yield
    finally:
        _reply_language.reset(token)


@contextmanager
def use_asker_locale(locale: str) -> Generator[None]:
    """Writes numbers and days within the block as the asker's country does, in replies in the language of the locale.

    `locale`: `de-CH`, as the chat product gives it.
    """
    token = _asker_locale.set(locale.replace("-", "_"))
    try:
        yield
    finally:
        _asker_locale.reset(token)


def get_reply_locale() -> str:
    """The locale for numbers, amounts and days: `de_CH` in a German reply to somebody there, else `de`.

    The language decides, not the locale alone: in an English sentence `1.234` is not read as a thousand.
    """
    language, locale = get_reply_language(), _asker_locale.get()
    return locale if locale.partition("_")[0].lower() == language else language
