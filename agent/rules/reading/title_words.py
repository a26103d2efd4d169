"""The words of a question that may be the title of a document, where they mean nothing else."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from agent.english.function_words import STOP_WORDS
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.words.tokens import QuestionToken
from storage.search.analyser import fold_text
from storage.search.conditions import TITLE_FIELD
from storage.text.identifiers import is_identifier

_WORD = re.compile(r"\w+")


def find_title_words(reading: BucketReading, lexicon: BucketLexicon) -> tuple[str, ...]:
    """Returns the unlinked words, as written, that may be a title.

    They are written as a name, stand together in a title that is known, or are all that is left of the question.
    Ordinary words from several places of a question are not a title: "what *number* do I *dial* for the *porter*".
    """
    words = reading.unlinked_words
    named = tuple(word for word in words if is_identifier(word) or _is_written_as_name(word, reading.tokens))
    if named:
        return named
    titles = lexicon.folded_values_of(TITLE_FIELD)
    runs = words if len(words) == 1 else tuple(_runs_of(words, reading.tokens))
    if not titles:
        return runs if len(runs) == 1 else ()
    joined = (run for run in runs if any(_holds_words(title, run) for title in titles))
    found = tuple(run for run in joined if len(words) == 1 or _count_content_words(run) > 1)
    return found or _words_of_only_title(words, titles)


def _words_of_only_title(words: Sequence[str], titles: Iterable[str]) -> tuple[str, ...]:
    """ "The *lease* on *unit* 4": returns the words, where there are several and a single title has all of them."""
    parts = tuple(dict.fromkeys(part for word in words for part in _split_words(word) if part not in STOP_WORDS))
    holders = [title for title in titles if all(_holds_words(title, part) for part in parts)]
    return parts if len(parts) > 1 and len(holders) == 1 else ()


def _runs_of(words: Sequence[str], tokens: Sequence[QuestionToken]) -> Iterator[str]:
    """Yields the longest phrases of the question, folded, that consist of the words alone."""
    known = {part for word in words for part in _split_words(word)}
    for is_known, run in groupby(tokens, key=lambda token: token.word in known):
        if is_known:
            yield " ".join(token.word for token in run)


def _is_written_as_name(words: str, tokens: Sequence[QuestionToken]) -> bool:
    """Whether a capital letter, a digit beside letters or quotation marks show that the words are a name."""
    names = {token.word for token in tokens if (token.is_name and not token.begins_sentence) or token.is_quoted}
    return any(word in names and not word.isdigit() for word in _split_words(words))


def _holds_words(folded_title: str, words: str) -> bool:
    return f" {' '.join(_split_words(words))} " in f" {' '.join(_split_words(folded_title))} "


def _count_content_words(words: str) -> int:
    return sum(word not in STOP_WORDS for word in _split_words(words))


def _split_words(text: str) -> list[str]:
    return _WORD.findall(fold_text(text))
