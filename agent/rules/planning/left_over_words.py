"""Words that a question leaves over: nothing in its plan expresses them."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent.assumptions import UnusedWords
from agent.decomposition import PlannedQuestion
from agent.english.function_words import (
    COURTESY_WORDS,
    EMPTY_WORDS,
    EVERYDAY_WORDS,
    FILLER_WORDS,
    LIST_VERBS,
    QUANTIFIERS,
    RELATING_VERBS,
    REQUEST_VERBS,
    SHORT_FORMS,
    STOP_WORDS,
)
from agent.english.light_words import is_light_word
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.planning.word_coverage import find_uncovered_words
from agent.rules.words.tokens import QuestionToken, tokenize_question
from storage.search.ids import BucketId

_ASKING_WORDS = frozenset({"which", "what"})
_MIN_UNUSED_WORDS = 2  # a single word is usually the verb of a field: "how heavy is it", "who won the race"
_MAX_NAMED_WORDS = 4
_WORDS_THAT_TELL_LITTLE = EVERYDAY_WORDS | EMPTY_WORDS | FILLER_WORDS | RELATING_VERBS | SHORT_FORMS.keys()
_WORDS_BEFORE_HEAD = STOP_WORDS | FILLER_WORDS | LIST_VERBS | QUANTIFIERS | REQUEST_VERBS | COURTESY_WORDS
_WORDS_BEFORE_ASKED_NOUN = frozenset({"many", "which", "what", "whose"})


def telling_words(
    words: Sequence[str], tokens: Sequence[QuestionToken], light_words: Sequence[str] = ()
) -> tuple[str, ...]:
    """Returns the words if they say more than how the question for a value is put; else nothing.

    A single word is often the verb of the value ("since when has it been *rented*"). One that names what is asked for
    ("which *driver*") or is a name says more, and so do several words, or one beside an everyday word.
    """
    if len(words) != 1 or light_words:
        return tuple(words)
    word = words[0].casefold()
    index = next((index for index, token in enumerate(tokens) if token.word == word), 0)
    is_asked_for = index > 0 and tokens[index - 1].word in _ASKING_WORDS
    return tuple(words) if is_asked_for or (index > 0 and tokens[index].is_name) else ()


def name_unused_words(planned: PlannedQuestion, lexicons: Mapping[BucketId, BucketLexicon]) -> PlannedQuestion:
    """Adds an assumption with the words, if they are several, or the noun that is asked for.

    Texts answer in words of their own, and a follow-up means more than it says: neither is judged by its words.
    """
    legs = planned.plan.legs
    if planned.is_followup or any(leg.answer_form.reads_text for leg in legs):
        return planned
    named = {word.casefold() for alternatives in planned.alternatives for word in alternatives.unknown_words}
    required = {term.casefold() for leg in legs for clause in leg.search.clauses for term in clause.required_terms}
    known = {word for phrase in named | required for word in phrase.split()}
    words = tuple(
        word
        for word in dict.fromkeys(find_uncovered_words(planned.plan, lexicons))
        if word not in _WORDS_THAT_TELL_LITTLE and word not in known and not word.isdigit() and len(word) > 1
    )
    if len(words) < _MIN_UNUSED_WORDS and not _holds_asked_noun(words, planned, lexicons):
        return planned
    telling = tuple(word for word in words if not is_light_word(word)) or words
    return replace(planned, assumptions=(*planned.assumptions, UnusedWords(words=telling[:_MAX_NAMED_WORDS])))


def _holds_asked_noun(
    words: Sequence[str], planned: PlannedQuestion, lexicons: Mapping[BucketId, BucketLexicon]
) -> bool:
    """Whether one of the words is what the question asks for.

    "How many *passengers* did line 14 carry", "*nurses* who speak Polish".
    """
    buckets = [bucket for bucket in planned.plan.read_buckets if bucket in lexicons]
    if not words or not buckets:
        return False
    tokens = tokenize_question(planned.plan.question, lexicons[buckets[0]].analyser)
    head = next((token.word for token in tokens if token.word not in _WORDS_BEFORE_HEAD), "")
    if head in words and head.endswith("s") and not head.endswith("ss"):
        return True
    return any(
        token.word in words and before.word in _WORDS_BEFORE_ASKED_NOUN for before, token in itertools.pairwise(tokens)
    )
