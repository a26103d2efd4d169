"""Language detection: by function words, and by the general vocabularies of the languages that are read.

A question in a language without a pack is searched by its words.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache

from agent.english.function_words import COURTESY_WORDS, REQUEST_VERBS, STOP_WORDS
from agent.languages.command_phrases import find_foreign_command
from agent.languages.language_pack import LanguagePack, list_packs, load_pack
from storage.search.plan import Plan
from storage.text.vocabulary import fold_letters

_LETTER_RUN = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"\w+")
_QUOTATION = re.compile(r"[\"“”„«»][^\"“”„«»]{1,300}[\"“”„«»]")
UNDETERMINED_LANGUAGE = "und"  # ISO 639-2
# Function words of other languages that nearly every question in them contains, by ISO 639-1.
_FUNCTION_WORDS_BY_LANGUAGE = {
    "fr": """le la les un une des du et ou est sont était combien quel quelle quels quelles qui où quand pourquoi
        avec dans sur pour par entre tous toutes il y nous avons ont montre montrez liste moi aux cette ces de en""",
    "es": """el los las un una unos unas y es son fue cuántos cuántas cuanto cuánto cuál cuáles quién dónde cuándo
        por qué con para de del sobre entre todos todas hay tenemos muestra lista que la en""",
    "it": """il lo gli la le i un uno una di e è sono era quanti quante quanto quale quali chi dove quando perché con
        per tra tutti tutte ci abbiamo mostra mostrami elenca che della delle dei del al alla nel nella da non più""",
    "pt": """os o as a um uma e é são foi quantos quantas quanto qual quais quem onde quando por que com para de do da
        dos das sobre entre todos todas há temos mostre liste não mais em no na""",
    "nl": """de het een en of niet is zijn was waren hoe veel hoeveel welke wie waar wanneer waarom met van naar
        voor alle er wij hebben toon lijst in op die dat te""",
}  # fmt: skip
_ENGLISH_FUNCTION_WORDS = (STOP_WORDS | COURTESY_WORDS) - frozenset("s re ve ll d m t".split())
_MIN_FUNCTION_WORDS = 2  # function words that identify English
_VOCABULARY_WEIGHT = 0.5  # of a word of the vocabulary; a function word of one language alone counts 1
_MIN_WORDS = 2  # words and numbers of a message whose language can be told
_MIN_CLOSED_LETTERS = 4  # of a word of a closed class that tells a language
_MIN_SCORE = 1.0  # from which a message may be in a language
_MIN_LEAD = 0.5  # before English
_WORDS_OF_ONE_LETTER = frozenset("aàeéioóuy")  # others are codes or the rest of an elision: "N-channel"
_MAX_CACHED_WORDS = 10_000  # whose languages are known; a turn detects the language of its message several times
_MAX_RECENT_QUESTIONS = 64
_DOCUMENT_WEIGHT = 0.5  # of the only language of the documents
_LETTERS_OF_LANGUAGES = {"ß": "de", "ñ": "es", "¿": "es", "¡": "es", "œ": "fr"}
_LETTERS_OF_WORDS = {frozenset("äöü"): "de", frozenset("èêçûôî"): "fr"}


def detect_foreign_language(question: str, document_languages: Collection[str] = ()) -> str | None:
    """Returns the language of the question; None for English or if it is unclear.

    ISO 639-1; `UNDETERMINED_LANGUAGE` for scripts other than Latin. A word counts the less, the more languages have it.
    Quoted text does not count. If all documents are in one language, short messages are likelier in it.
    """
    return _detect_foreign_language(question, frozenset(document_languages))


@lru_cache(maxsize=_MAX_RECENT_QUESTIONS)
def _detect_foreign_language(question: str, document_languages: frozenset[str]) -> str | None:
    """Remembered for recent questions: a turn asks for the language of its message several times."""
    question = _QUOTATION.sub(" ", question)
    words = _words_of(question)
    if not words:
        return None
    letters = "".join(words)
    if not letters.isascii() and sum(map(_is_latin_letter, letters)) < len(letters) / 2:
        return UNDETERMINED_LANGUAGE
    if len(_WORD.findall(question)) < _MIN_WORDS:
        return None
    scores = dict.fromkeys(("en", *_function_words()), 0.0)
    for word in _words_outside_names(question):
        if len(word) == 1 and word not in _WORDS_OF_ONE_LETTER:
            continue
        for language, score in _score_word(word).items():
            scores[language] += score
    uncapitalised = " ".join(word for word in _LETTER_RUN.findall(question) if word.islower())
    for letter, language in _LETTERS_OF_LANGUAGES.items():
        if letter in question.lower() and language in scores:
            scores[language] += 1
    for letters, language in _LETTERS_OF_WORDS.items():  # names have them in messages of any language
        if language in scores and not letters.isdisjoint(uncapitalised):
            scores[language] += 1
    if len(document_languages) == 1:
        scores |= {name: scores[name] + _DOCUMENT_WEIGHT for name in document_languages if name in scores}
    english = scores.pop("en")
    name = max(scores, key=scores.__getitem__)
    return name if scores[name] >= max(_MIN_SCORE, english + _MIN_LEAD) else None


def _words_outside_names(question: str) -> Sequence[str]:
    """The words without those of names: "with Das Haus der Kunst".

    A function word with a capital letter inside a message belongs to a name. In a message with English function words
    every word with a capital letter does, and one between two of them.
    """
    words = _LETTER_RUN.findall(question)
    is_name = [word[0].isupper() and not word.isupper() and index > 0 for index, word in enumerate(words)]
    if _certain_english_words().isdisjoint(word.casefold() for word in words):
        functional = frozenset[str]().union(*_function_words().values())
        return [
            word.casefold()
            for index, word in enumerate(words)
            if not (is_name[index] and word.casefold() in functional)
        ]
    return [
        word.casefold()
        for index, word in enumerate(words)
        if not is_name[index] and not (0 < index < len(words) - 1 and is_name[index - 1] and is_name[index + 1])
    ]


@cache
def _certain_english_words() -> frozenset[str]:
    """Function words of English that no other language has."""
    return _ENGLISH_FUNCTION_WORDS - frozenset[str]().union(*_function_words().values())


@lru_cache(maxsize=_MAX_CACHED_WORDS)
def _score_word(word: str) -> Mapping[str, float]:
    """What a word adds to the score of each language."""
    folded = fold_letters(word)
    spellings = {pack.language: pack.spellings_of(word) for pack in _packs()}
    having = [
        language
        for language, function_words in _function_words().items()
        if word in function_words or not function_words.isdisjoint(spellings.get(language, (folded,)))
    ]
    is_english = word in _ENGLISH_FUNCTION_WORDS or word in REQUEST_VERBS or word in _english_words()
    if having or is_english:
        weight = 1 / (len(having) + is_english)
        return dict.fromkeys((*having, *(["en"] if is_english else [])), weight)
    knowing = [pack.language for pack in _packs() if any(_knows_word(form, pack) for form in spellings[pack.language])]
    if word in _english_words():
        return {language: _VOCABULARY_WEIGHT / (len(knowing) + 1) for language in ("en", *knowing)}
    return {language: _VOCABULARY_WEIGHT / len(knowing) for language in knowing}


def _knows_word(form: str, pack: LanguagePack) -> bool:
    """Whether the vocabulary holds the word or the parts of the compound, or the word is of a closed class."""
    linking_letters = pack.content.linking_letters
    return (
        form in pack.vocabulary
        or (len(form) >= _MIN_CLOSED_LETTERS and pack.is_closed_class(form))
        or (pack.content.compounds and bool(pack.vocabulary.split_compound(form, linking_letters)))
    )


@cache
def _packs() -> tuple[LanguagePack, ...]:
    return tuple(pack for pack in map(load_pack, list_packs()) if pack is not None)


@cache
def _function_words() -> Mapping[str, frozenset[str]]:
    """The function words of each language but English, with accents and without."""
    own = {pack.language: pack.content.function_words for pack in _packs()}
    others = {name: words.split() for name, words in _FUNCTION_WORDS_BY_LANGUAGE.items() if name not in own}
    return {name: _with_folded(words) for name, words in (own | others).items()}


def _with_folded(words: Iterable[str]) -> frozenset[str]:
    members = [word.casefold() for word in words]
    return frozenset((*members, *map(fold_letters, members)))


@cache
def _english_words() -> frozenset[str]:
    return frozenset[str]().union(*(pack.vocabulary.english_words for pack in _packs()))


def choose_reply_language(question: str, last_plan: Plan | None, document_languages: Collection[str] = ()) -> str:
    """Returns the language of the reply: that of the question; that of the conversation if the question's is unclear.

    ISO 639-1. `document_languages`: of the documents that may answer.
    """
    command = find_foreign_command(question, last_plan.language if last_plan is not None else "")
    if command is not None:
        return command[0]
    return detect_language(question, document_languages) or (last_plan.language if last_plan is not None else "en")


def detect_language(question: str, document_languages: Collection[str] = ()) -> str | None:
    """Returns the language of the question, English included; None if it is unclear."""
    foreign = detect_foreign_language(question, document_languages)
    if foreign is not None:
        return None if foreign == UNDETERMINED_LANGUAGE else foreign
    words = _words_of(question)
    english_count = sum(word in _certain_english_words() for word in words)
    return "en" if english_count >= _MIN_FUNCTION_WORDS else None


def _words_of(question: str) -> list[str]:
    return [word.casefold() for word in _LETTER_RUN.findall(question)]


def _is_latin_letter(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith("LATIN")
