"""Language detection: the rules read only English; a question in another language is searched by its words."""

import re
import unicodedata

from agent.german.commands import is_german_command
from storage.search.plan import Plan

_LETTER_RUN = re.compile(r"[^\W\d_]+")
UNDETERMINED_LANGUAGE = "und"  # ISO 639-2
# Function words that nearly every question in the language contains, by ISO 639-1.
_FUNCTION_WORDS_BY_LANGUAGE = {
    "de": """der die das ein eine einen einem einer und oder nicht ist sind war waren wie viele welche welcher
        welches wer wo wann warum mit von vom zu zum zur auf aus bei nach über unter für alle gibt es ich wir haben hat
        kosten zeige zeig liste mir""",
    "fr": """le la les un une des du et ou est sont était combien quel quelle quels quelles qui où quand pourquoi
        avec dans sur pour par entre tous toutes il y nous avons ont montre montrez liste moi aux cette ces""",
    "es": """el los las un una unos unas y es son fue cuántos cuántas cuanto cuánto cuál cuáles quién dónde cuándo
        por qué con para de del sobre entre todos todas hay tenemos muestra lista que""",
    "it": """il lo gli uno una di e è sono era quanti quante quanto quale quali chi dove quando perché con per
        tra tutti tutte ci abbiamo mostra elenca che della delle dei""",
    "pt": """os uma um e é são foi quantos quantas quanto qual quais quem onde quando por que com para de do da
        dos das sobre entre todos todas há temos mostre liste""",
    "nl": """de het een en of niet is zijn was waren hoe veel hoeveel welke wie waar wanneer waarom met van naar
        voor alle er wij hebben toon lijst""",
}  # fmt: skip
_ENGLISH_FUNCTION_WORDS = frozenset(
    """the a an and or not is are was were how many much which what who where when why with of to from on in at by for
    all any every there we have has show list find me that this these those does do did it its""".split()
)
_FOREIGN_FUNCTION_WORDS = {
    name: frozenset(_LETTER_RUN.findall(words)) - _ENGLISH_FUNCTION_WORDS
    for name, words in _FUNCTION_WORDS_BY_LANGUAGE.items()
}
_AMBIGUOUS_WORDS = frozenset(  # of English and of another language
    word for words in (*_FUNCTION_WORDS_BY_LANGUAGE.values(), "in an was") for word in _LETTER_RUN.findall(words)
)
_MIN_FUNCTION_WORDS = 2  # function words that identify a language


def detect_foreign_language(question: str) -> str | None:
    """Returns the language of the question by its function words or script; None for English or if it is unclear.

    ISO 639-1; `UNDETERMINED_LANGUAGE` for scripts other than Latin.
    """
    words = _words_of(question)
    if not words:
        return None
    letters = "".join(words)
    if sum(_is_latin_letter(letter) for letter in letters) < len(letters) / 2:
        return UNDETERMINED_LANGUAGE
    english_count = sum(word in _ENGLISH_FUNCTION_WORDS for word in words)
    name, count = max(
        (
            (name, sum(word in function_words for word in words))
            for name, function_words in _FOREIGN_FUNCTION_WORDS.items()
        ),
        key=_count_of,
    )
    return (
        name
        if count >= _MIN_FUNCTION_WORDS and (not english_count or count >= english_count + _MIN_FUNCTION_WORDS)
        else None
    )


def choose_reply_language(question: str, last_plan: Plan | None) -> str:
    """Returns the language of the reply: that of the question; that of the conversation if the question's is unclear.

    ISO 639-1.
    """
    if is_german_command(question):
        return "de"
    return detect_language(question) or (last_plan.language if last_plan is not None else "en")


def detect_language(question: str) -> str | None:
    """Returns the language of the question, English included; None if it is unclear."""
    foreign = detect_foreign_language(question)
    if foreign is not None:
        return None if foreign == UNDETERMINED_LANGUAGE else foreign
    words = _words_of(question)
    english_count = sum(word in _ENGLISH_FUNCTION_WORDS and word not in _AMBIGUOUS_WORDS for word in words)
    return "en" if english_count >= _MIN_FUNCTION_WORDS else None


def _words_of(question: str) -> list[str]:
    return [word.casefold() for word in _LETTER_RUN.findall(question)]


def _count_of(language_and_count: tuple[str, int]) -> int:
    return language_and_count[1]


def _is_latin_letter(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith("LATIN")
