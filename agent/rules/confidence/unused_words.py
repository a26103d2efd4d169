"""The words of a question that its plan makes no use of, and how much each tells."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from agent.english.function_words import (
    COURTESY_WORDS,
    EMPTY_WORDS,
    EVERYDAY_WORDS,
    FILLER_WORDS,
    GREETING_WORDS,
    RELATING_VERBS,
    SHORT_FORMS,
)
from agent.english.light_words import is_light_word
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention
from agent.rules.planning.word_coverage import find_uncovered_words, used_fields_of
from agent.rules.reading.part_names import list_words_naming_part
from agent.rules.words.tokens import QuestionToken
from storage.search.ids import BucketId
from storage.search.plan import Leg, Plan

MAX_COUNTED_WORDS = 2
EVERYDAY_TALK = EVERYDAY_WORDS | FILLER_WORDS | GREETING_WORDS | RELATING_VERBS | SHORT_FORMS.keys()
_MIN_LETTERS = 3  # of a word that says something
_EMPTY_TALK = EMPTY_WORDS | COURTESY_WORDS


@dataclass(frozen=True, slots=True, kw_only=True)
class WordsLeftOut:
    """The unused words in the order of the question. Those that are not `telling` restrict a set less often."""

    words: tuple[str, ...]
    telling: tuple[str, ...]

    @property
    def telling_count(self) -> float:
        """Capped, as the model of the confidence counts them."""
        return min(len(self.telling), MAX_COUNTED_WORDS)

    @property
    def everyday_count(self) -> float:
        return min(len(self.words) - len(self.telling), MAX_COUNTED_WORDS)


def find_words_left_out(plan: Plan, explained: Set[str], lexicons: Mapping[BucketId, BucketLexicon]) -> WordsLeftOut:
    """Finds the words of the question that say something and are neither in its plan nor among the `explained`."""
    words = tuple(
        word
        for word in dict.fromkeys(find_uncovered_words(plan, lexicons))
        if word not in explained | _EMPTY_TALK and len(word) >= _MIN_LETTERS and not word.isdigit()
    )
    telling = tuple(word for word in words if word not in EVERYDAY_TALK and not is_light_word(word))
    return WordsLeftOut(words=words, telling=telling)


def list_words_linked_to_fields(
    leg: Leg,
    tokens: Sequence[QuestionToken],
    lexicons: Mapping[BucketId, BucketLexicon],
    *,
    with_nouns: bool = True,
) -> Iterator[str]:
    """Yields the words that mean a field which the leg uses, by a synonym or a question phrase, or its documents."""
    used = used_fields_of(leg)
    for bucket in leg.search.read_buckets:
        names = {name for own_bucket, name in used if own_bucket == bucket}
        if with_nouns and bucket in lexicons:
            yield from list_words_naming_part(tokens, bucket, lexicons)
        for link in lexicons[bucket].find_links(tokens) if bucket in lexicons else ():
            if (with_nouns and isinstance(link.meaning, BucketNoun)) or (
                isinstance(link.meaning, FieldMention) and link.meaning.field in names
            ):
                yield from (tokens[index].word for index in (*range(link.first, link.last), *link.phrase_tokens))
