"""Finds clauses that restrict the documents and that the plan has nothing of: "the invoices *that we haven't paid*"."""

import re
from collections.abc import Iterator, Sequence, Set

from agent.english.function_words import (
    AGGREGATE_WORDS,
    EMPTY_WORDS,
    FORMS_OF_BE,
    GROUPING_WORDS,
    LINKING_VERBS,
    MENTION_WORDS,
    NEGATIONS,
    PREPOSITIONS,
    PRONOUNS,
    RELATIVE_PRONOUNS,
    STOP_WORDS,
)
from agent.english.gradable_adjectives import scale_of_superlative
from agent.english.light_words import is_light_verb, is_particle
from agent.rules.words.tokens import QuestionToken
from storage.search.plan import AnswerForm

_WORDS_OF_NO_NOUN = STOP_WORDS | LINKING_VERBS | MENTION_WORDS | NEGATIONS | RELATIVE_PRONOUNS
_SUBJECTS = PRONOUNS | {"nobody", "everybody", "people"}
_AUXILIARIES = frozenset("did do does have has had".split())
_STATE_ADVERBS = frozenset({"still", "yet", "not", "never"})  # right behind a noun they open a state: "still open"
_ENDS_OF_CLAUSES = frozenset({"and", "but", "or", "then", "please", "per"})
# "That there are", "that we have so far": words that say of a thing only that it is there.
_EXISTENCE_WORDS = (
    LINKING_VERBS
    | PRONOUNS
    | PREPOSITIONS
    | RELATIVE_PRONOUNS
    | frozenset(
        """there here now today so far already the a an our us been being will would can could in total altogether
        exist exists existing existed available contained included listed recorded registered stored issued made found
        database system list lists file files records""".split()
    )
)
_PAUSE = re.compile(r"[,;:.?!]")
_MAX_NAMED_WORDS = 5
_MIN_WORDS = 2  # before a clause stand a noun and a word that asks for it
_MIN_LETTERS = 3


def find_dropped_clause(
    question: str, tokens: Sequence[QuestionToken], used_words: Set[str], form: AnswerForm
) -> Sequence[QuestionToken]:
    """Returns the first words of the first such clause, from one that says something on; empty if there is none.

    `used_words`: those that conditions of the plan were read from. A clause with one of them is not dropped; what else
    it says, the count of unused words tells. A clause with a superlative may be what the form orders by.
    """
    is_ordered = form.list_order is not None or form.list_limit is not None or form.computes
    is_divided = form.grouping is not None or form.list_order is not None  # "are there by region"
    ends = _ENDS_OF_CLAUSES | GROUPING_WORDS if is_divided else _ENDS_OF_CLAUSES
    for clause in _find_clauses(question, tokens, ends):
        words = [token.word for token in clause]
        is_order = is_ordered and any(word in AGGREGATE_WORDS or scale_of_superlative((word,)) for word in words)
        if is_order or not used_words.isdisjoint(words):
            continue
        content = [
            index
            for index, word in enumerate(words)
            if _says_something(word) and not (index and is_particle(words[index - 1], word))
        ]
        if not all(is_light_verb(words[index]) for index in content):
            return clause[content[0] :][:_MAX_NAMED_WORDS]
    return ()


def _find_clauses(question: str, tokens: Sequence[QuestionToken], ends: Set[str]) -> Iterator[Sequence[QuestionToken]]:
    """Yields relative clauses, with and without a pronoun, what follows "are", and what follows "did we"."""
    words = [token.word for token in tokens]
    for index in range(1, len(tokens) - 1):
        before, word, after = words[index - 1], words[index], words[index + 1]
        if not _may_be_noun(before):
            continue
        is_relative = word in RELATIVE_PRONOUNS and index + 1 < len(words)
        is_question = word in _AUXILIARIES and after in _SUBJECTS
        is_state = word in FORMS_OF_BE and after not in PREPOSITIONS and index >= _MIN_WORDS
        if is_relative or is_question or is_state:
            yield _clause_from(question, tokens, index + 1, ends)
        elif word in _SUBJECTS or word in _STATE_ADVERBS:
            yield _clause_from(question, tokens, index, ends)


def _may_be_noun(word: str) -> bool:
    return word not in _WORDS_OF_NO_NOUN


def _clause_from(question: str, tokens: Sequence[QuestionToken], first: int, ends: Set[str]) -> Sequence[QuestionToken]:
    stops = (
        index
        for index in range(first, len(tokens))
        if tokens[index].word in ends
        or (index > first and _PAUSE.search(question[tokens[index - 1].end : tokens[index].start]))
    )
    return tokens[first : next(stops, len(tokens))]


def _says_something(word: str) -> bool:
    if word in _EXISTENCE_WORDS | EMPTY_WORDS or word.isdigit():
        return False
    return len(word) >= _MIN_LETTERS
