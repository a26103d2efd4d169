"""An excerpt of a long message: its questions, since what the rules read is bounded.

The rules look at every pair of some words, so their work grows faster than a message does. A question of a person has
some ten to forty words; a longer message is a quoted letter or a mistake, and the question is one sentence of it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

MAX_READ_WORDS: Final = 120
MAX_READ_CHARS: Final = 900  # code points; longer than 120 words of any of the four languages as a rule
_QUESTION_START = re.compile(
    r"(?:(?:and|also|please|so)\s+)?(?:how|what|which|who|whose|when|where|why|list|show|find|count|compare|give|tell|summari[sz]e"
    r"|wie|was|welche[rsmn]?|wer|wann|wo|warum|zeige?|finde|combien|quel(?:le)?s?|qui|quand|où|pourquoi|cuánt[oa]s?|qué|quién"
    r"|cuándo|dónde|cuál(?:es)?)\b",
    re.IGNORECASE,
)
_SENTENCE_PATTERN = re.compile(r"[^.?!\n]+[.?!\n]*|[.?!\n]+")
_WORD_PATTERN = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class MessageExcerpt:
    """The part of a message that is read: whole sentences in their order; the last one may end early."""

    text: str
    is_cut: bool  # something was left out


def take_excerpt(message: str) -> MessageExcerpt:
    """Returns the message itself, or as many of its sentences that ask as fit; without any, its start."""
    if _fits(message):
        return MessageExcerpt(message, is_cut=False)
    sentences = list(_split_sentences(message))
    asking = [sentence for sentence in sentences if _asks(sentence)]
    taken: list[str] = []
    words_left, chars_left = MAX_READ_WORDS, MAX_READ_CHARS
    for sentence in asking or sentences:
        part = _cut_text(sentence, words_left, chars_left)
        taken.append(part.strip())
        words_left -= len(_WORD_PATTERN.findall(part))
        chars_left -= len(part) + 1
        if words_left <= 0 or chars_left <= 0:
            break
    return MessageExcerpt(" ".join(filter(None, taken)), is_cut=True)


def _fits(message: str) -> bool:
    if len(message) > MAX_READ_CHARS:
        return False
    return len(_WORD_PATTERN.findall(message)) <= MAX_READ_WORDS


def _split_sentences(message: str) -> Iterator[str]:
    for match in _SENTENCE_PATTERN.finditer(message):
        yield match[0]


def _asks(sentence: str) -> bool:
    return sentence.rstrip().endswith("?") or _QUESTION_START.match(sentence.strip()) is not None


def _cut_text(text: str, max_words: int, max_chars: int) -> str:
    """Returns whole words of the text as far as both bounds allow; one word that is too long is cut itself."""
    end = 0
    for count, match in enumerate(_WORD_PATTERN.finditer(text), 1):
        if count > max_words or match.end() > max_chars:
            return text[:end] if end else text[match.start() : match.start() + max_chars]
        end = match.end()
    return text
