"""Messages in other languages than English that are commands: start over, go back, help, thanks, export; and positions.

Each language is a file `commands/<language>.yaml`, data alone. English commands are in `agent.english.commands`.
"""

import re
from enum import StrEnum
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from storage.search.analyser import fold_text

_FOLDER = Path(__file__).with_name("commands")
_MAX_RECENT_TEXTS = 64
_WORD = re.compile(r"[^\W_]+")
_ENGLISH_FILE_WORDS = frozenset("csv excel xlsx export download in".split())  # a message of these alone is English


class CommandKind(StrEnum):
    START_OVER = "start_over"
    UNDO = "undo"  # asks for the state before the last message
    HELP = "help"  # greets, or asks what there is
    THANKS = "thanks"
    EXPORT = "export"  # asks for a file and names no documents


@lru_cache(maxsize=_MAX_RECENT_TEXTS)
def _words_in(text: str) -> tuple[str, ...]:
    """Remembered for recent messages: each language looks for its commands in the same words, several times a turn."""
    return tuple(_WORD.findall(fold_text(text)))


def _parse_words(value: object) -> object:
    """Words with blanks between them, as a set in the folded form."""
    return frozenset(word for part in value.split() for word in _words_in(part)) if isinstance(value, str) else value


def _parse_phrases(value: object) -> object:
    return frozenset(map(_words_in, value.split("|"))) if isinstance(value, str) else value


def _split_phrases(value: object) -> object:
    return tuple(" ".join(phrase.split()) for phrase in value.split("|")) if isinstance(value, str) else value


def _split_parts(value: object) -> object:
    return tuple(map(fold_text, value.split())) if isinstance(value, str) else value


_Words = Annotated[frozenset[str], BeforeValidator(_parse_words)]
_Phrases = Annotated[frozenset[tuple[str, ...]], BeforeValidator(_parse_phrases)]
_Parts = Annotated[tuple[str, ...], BeforeValidator(_split_parts)]


class CommandPhrases(BaseModel):
    """The commands of one language. Words and phrases are folded: case and accents do not matter."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    polite_words: _Words  # may appear in every command but thanks
    start_over: _Phrases
    undo: _Phrases
    help: _Phrases
    thanks: _Phrases
    new_topic: Annotated[
        tuple[str, ...], BeforeValidator(_split_phrases)
    ]  # may appear before a question that leaves the topic
    and_words: _Words
    file_words: _Words
    file_fillers: _Words  # other words of a message that asks for a file
    position_openings: _Parts
    position_closings: _Parts
    ordinals: _Parts  # stems, from the first on
    ordinal_endings: _Parts
    digit_endings: _Parts  # "2.", "2e"
    more_ordinals: dict[str, int] = Field(default_factory=dict[str, int])
    last: _Parts

    def find_command(self, message: str) -> CommandKind | None:
        words = _words_in(message)
        kind = self._kinds_by_content.get(self._content_of(words))
        if kind is not None:
            return kind
        if words in self.thanks:
            return CommandKind.THANKS
        asks_for_file = not self.file_words.isdisjoint(words) and set(words) <= self.file_words | self.file_fillers
        return CommandKind.EXPORT if asks_for_file and not set(words) <= _ENGLISH_FILE_WORDS else None

    @cached_property
    def _kinds_by_content(self) -> dict[tuple[str, ...], CommandKind]:
        groups = (
            (CommandKind.HELP, self.help), (CommandKind.UNDO, self.undo), (CommandKind.START_OVER, self.start_over)
        )  # fmt: skip
        contents = {self._content_of(phrase): kind for kind, phrases in groups for phrase in phrases}
        return {content: kind for content, kind in contents.items() if content}

    def _content_of(self, words: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(word for word in words if word not in self.polite_words)

    def parse_position(self, text: str, count: int) -> int | None:
        """The position that the whole text names, counted from 1; `count` is the number of the last one."""
        match = self._position_pattern.fullmatch(fold_text(text))
        if match is None:
            return None
        if match["number"]:
            return int(match["number"])
        if match["last"]:
            return count
        return self._numbers_by_ordinal.get(match["ordinal"]) or self.ordinals.index(match["stem"]) + 1

    @cached_property
    def _numbers_by_ordinal(self) -> dict[str | None, int]:
        return {fold_text(word): number for word, number in self.more_ordinals.items()}

    @cached_property
    def _position_pattern(self) -> re.Pattern[str]:
        others = [word for word in self._numbers_by_ordinal if word]
        return re.compile(
            rf"(?:(?:{_alternatives_of(self.position_openings)}) ?){{0,2}}"
            rf"(?:(?P<number>\d{{1,3}})(?:{_alternatives_of(self.digit_endings)})?"
            rf"|(?P<last>{_alternatives_of(self.last)})"
            rf"|(?P<ordinal>{_alternatives_of(others) or '(?!)'})"
            rf"|(?P<stem>{_alternatives_of(self.ordinals)})(?:{_alternatives_of(self.ordinal_endings)}))"
            rf"(?: (?:{_alternatives_of(self.position_closings)}))?"
        )


def _alternatives_of(words: tuple[str, ...] | list[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


@cache
def load_commands() -> dict[str, CommandPhrases]:
    """The commands by language, ISO 639-1."""
    return {
        path.stem: CommandPhrases.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
        for path in sorted(_FOLDER.glob("*.yaml"))
    }


def find_foreign_command(message: str, expected_language: str = "") -> tuple[str, CommandKind] | None:
    """The language and kind of a message that is a command in a language other than English; None for other messages.

    `expected_language`: what a message is in that could be in several: "en CSV".
    """
    for language, phrases in sorted(load_commands().items(), key=lambda item: item[0] != expected_language):
        kind = phrases.find_command(message)
        if kind is not None:
            return language, kind
    return None


def is_foreign_command(message: str, kind: CommandKind) -> bool:
    found = find_foreign_command(message)
    return found is not None and found[1] is kind


def parse_foreign_position(text: str, count: int) -> int | None:
    """The position that the whole text names in a language other than English: "die zweite", "le dernier"."""
    positions = (phrases.parse_position(text, count) for phrases in load_commands().values())
    return next((position for position in positions if position is not None), None)


@cache
def list_new_topic_phrases() -> tuple[str, ...]:
    """The phrases that leave a topic, with accents and without, longest first."""
    phrases = {phrase for language in load_commands().values() for phrase in language.new_topic}
    return tuple(sorted(phrases | set(map(fold_text, phrases)), key=len, reverse=True))


@cache
def list_polite_words() -> tuple[str, ...]:
    return tuple(sorted({word for language in load_commands().values() for word in language.polite_words}))


@cache
def list_conjunctions() -> tuple[str, ...]:
    """The words for "and"."""
    return tuple(sorted({word for language in load_commands().values() for word in language.and_words}))
