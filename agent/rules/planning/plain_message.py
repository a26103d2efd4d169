"""Brings a message into plain words before it is read: usual spelling, no small talk, no request frames, no
wishes about the form of the reply.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from agent.english.telling_words import tells_subject
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, SpanLink
from agent.rules.words.informal_spelling import KnowsWord, expand_informal_spelling
from agent.rules.words.mark_runs import shorten_mark_runs
from agent.rules.words.misspelt_function_words import correct_function_words
from agent.rules.words.open_alternatives import blank_open_alternatives
from agent.rules.words.output_wishes import blank_output_wishes
from agent.rules.words.request_frames import blank_holder_nouns, blank_request_frames
from agent.rules.words.small_talk import blank_small_talk
from agent.rules.words.tokens import QuestionToken, find_quotations, looks_plural, tokenize_question
from storage.search.analyser import fold_text
from storage.search.ids import BucketId

_WORDS_OF_LEAVE = frozenset("allowed permitted ok okay okey alright fine possible legal acceptable true right".split())


@dataclass(frozen=True, slots=True)
class PlainMessage:
    """The text to read, and the corrections in it as pairs: the word as written, the word as meant."""

    text: str
    corrections: tuple[tuple[str, str], ...]


def simplify_message(
    question: str, lexicons: Mapping[BucketId, BucketLexicon], kept_words: frozenset[str] = frozenset()
) -> PlainMessage:
    """Returns the message as the rules read it. Quoted text stays, and so do words that the documents know.

    `kept_words`: further words that are spelled as they should be, in small letters.
    """
    spelled, corrections = _correct_outside_quotations(
        shorten_mark_runs(question),
        lambda word: word in kept_words or any(lexicon.knows_word(word) for lexicon in lexicons.values()),
    )
    meanings = MessageMeanings(spelled, lexicons)
    text = blank_open_alternatives(spelled, meanings.has_meaning)
    text = blank_output_wishes(text, meanings.has_meaning)
    without_talk = blank_small_talk(text, meanings.has_meaning)
    text = without_talk if _says_what_is_meant(without_talk) or not _says_what_is_meant(text) else text
    text = blank_request_frames(text, meanings.names_set, meanings.has_meaning)
    text = blank_holder_nouns(text, meanings.names_set, meanings.has_meaning)
    return PlainMessage(shorten_mark_runs(text), corrections)


def _says_what_is_meant(text: str) -> bool:
    """Whether a word says what the message is about: none does in "is that ok?", so the words before it do."""
    return any(tells_subject(word) and word not in _WORDS_OF_LEAVE for word in re.findall(r"[^\W_]+", fold_text(text)))


def _correct_outside_quotations(question: str, knows_word: KnowsWord) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Returns the question in usual spelling, and the corrections of misspelt words."""
    parts: list[str] = []
    corrections: list[tuple[str, str]] = []
    end = 0
    for quotation in (*find_quotations(question), None):
        start = len(question) if quotation is None else quotation.start
        expanded = expand_informal_spelling(question[end:start], knows_word)
        corrected, part_corrections = correct_function_words(expanded, knows_word)
        end = start if quotation is None else quotation.end
        parts += [corrected, question[start:end]]
        corrections += part_corrections
    return "".join(parts), tuple(corrections)


class MessageMeanings:
    """Where in a message nouns, fields and values of the buckets stand; found when first asked for."""

    def __init__(self, text: str, lexicons: Mapping[BucketId, BucketLexicon]) -> None:
        self._text, self._lexicons = text, lexicons

    def has_meaning(self, start: int, end: int) -> bool:
        """Whether a part of the name of a bucket, of a field or of a value appears in `text[start:end]`."""
        return any(start < last and first < end for first, last in self._meaningful_spans)

    def names_set(self, start: int, end: int) -> bool:
        """Whether a plural noun for the documents of a bucket appears in `text[start:end]`."""
        return any(start <= first and last <= end for first, last in self._noun_spans)

    @cached_property
    def _links(self) -> Sequence[tuple[Sequence[QuestionToken], SpanLink]]:
        by_bucket = [(tokenize_question(self._text, lexicon.analyser), lexicon) for lexicon in self._lexicons.values()]
        return [(tokens, link) for tokens, lexicon in by_bucket for link in lexicon.find_links(tokens)]

    @cached_property
    def _meaningful_spans(self) -> Sequence[tuple[int, int]]:
        quotations = [(quotation.start, quotation.end) for quotation in find_quotations(self._text)]
        return quotations + [_characters_of(tokens, link) for tokens, link in self._links if not _is_hint(link)]

    @cached_property
    def _noun_spans(self) -> Sequence[tuple[int, int]]:
        return [
            _characters_of(tokens, link)
            for tokens, link in self._links
            if isinstance(link.meaning, BucketNoun) and looks_plural(tokens[link.last - 1])
        ]


def _is_hint(link: SpanLink) -> bool:
    return isinstance(link.meaning, FieldMention) and link.meaning.is_hint


def _characters_of(tokens: Sequence[QuestionToken], link: SpanLink) -> tuple[int, int]:
    return tokens[link.first].start, tokens[link.last - 1].end
