"""What a language needs for sentences besides its messages: one file `wordings/<language>.toml`, data alone.

English has none: its sentences are in the code.
"""

import re
import tomllib
from functools import cache, cached_property
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from agent.translation.languages import DEFAULT_LANGUAGE, get_reply_language

WORDING_FOLDER = Path(__file__).parent / "wordings"


class WordAdjustment(BaseModel):
    """A word that changes before what follows: " de " becomes " d’" before a vowel."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ending: str  # of the text before a value
    becomes: str
    before: str  # regular expression for the beginning of the value

    def fits(self, text: str, value: str) -> bool:
        return f" {text}".endswith(self.ending) and re.match(self.before, value, re.IGNORECASE) is not None


class LocalWording(BaseModel):
    """The words and endings of one language. Labels and words are in lower case."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    place_labels: frozenset[str] = frozenset()  # of fields whose value says where a document is
    document_date_labels: frozenset[str] = frozenset()
    year_words: tuple[str, ...] = ()
    time_prepositions: frozenset[str] = frozenset()  # at the end of a label such as "bezahlt am"
    agent_prepositions: frozenset[str] = frozenset()  # at the end of a label such as "erstellt von"
    label_prepositions: frozenset[str] = frozenset()  # at the end of a label that is not a noun
    plural_endings: tuple[str, ...] = ()
    capitalize_nouns: bool = False
    dative_plural_endings: tuple[str, ...] = ()  # that get a suffix in the dative
    dative_plural_suffix: str = ""
    noun_complements: frozenset[str] = frozenset()  # words after which a noun phrase is not inflected
    singular_endings: tuple[tuple[str, str], ...] = ()  # of plurals, with those of their singulars
    adjustments: tuple[WordAdjustment, ...] = ()
    colon: str = ":"  # with the blank that appears before it
    first_of_month: str = ""  # how the first day is written, if not as "1"

    @cached_property
    def year_pattern(self) -> re.Pattern[str]:
        return re.compile(rf"(?:{'|'.join(map(re.escape, self.year_words)) or '(?!)'})\b", re.IGNORECASE)

    def singular_of_plural(self, noun: str) -> str | None:
        """ "facture impayée" of "factures impayées"; None if no word of it has the ending of a plural."""
        words = noun.split(" ")
        count = next((index for index, word in enumerate(words) if word in self.noun_complements), len(words))
        singulars = [self._singular_of_word(word) for word in words[:count]]
        if not any(singulars):
            return None
        return " ".join([*(single or word for single, word in zip(singulars, words, strict=False)), *words[count:]])

    def _singular_of_word(self, word: str) -> str | None:
        return next(
            (word.removesuffix(plural) + single for plural, single in self.singular_endings if word.endswith(plural)),
            None,
        )

    def dative_of_plural(self, plural: str) -> str:
        return f"{plural}{self.dative_plural_suffix}" if plural.endswith(self.dative_plural_endings) else plural

    def adjust_before(self, text: str, value: str) -> str:
        """Returns the text as it appears before the value: "plus d’" before "options"."""
        fitting = (adjustment for adjustment in self.adjustments if adjustment.fits(text, value))
        adjustment = next(fitting, None)
        if adjustment is None:
            return text
        return (f" {text}".removesuffix(adjustment.ending) + adjustment.becomes)[1:]


@cache
def load_wording(language: str) -> LocalWording:
    """The wording of the language; an empty one for English and for languages without a file."""
    path = WORDING_FOLDER / f"{language}.toml"
    if language == DEFAULT_LANGUAGE or not path.is_file():
        return LocalWording()
    return LocalWording.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))


def get_wording() -> LocalWording:
    """The wording of the language of the reply."""
    return load_wording(get_reply_language())
