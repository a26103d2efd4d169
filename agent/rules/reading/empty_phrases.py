"""Phrases that restrict nothing, by their place in a question: "at the moment", "we hold", "anywhere in the house"."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import TypeAlias

from agent.english.function_words import (
    EVERYWHERE_WORDS,
    FILLER_WORDS,
    FORMS_OF_BE,
    GENERIC_NOUNS,
    HAVING_VERBS,
    IDENTIFYING_NOUNS,
    KEEPING_NOUNS,
    PEOPLE_NOUNS,
    PREPOSITIONS,
    QUANTIFIERS,
    STOP_WORDS,
)
from agent.rules.words.tokens import QuestionToken
from storage.search.schema import FieldType, Schema

_Idiom: TypeAlias = tuple[str, ...]


def _places_by_word(idioms: Sequence[_Idiom]) -> Mapping[str, Sequence[tuple[int, _Idiom]]]:
    """Returns for each word the idioms that hold it, with its place in them."""
    places = defaultdict[str, list[tuple[int, _Idiom]]](list)
    for idiom in idioms:
        for place, word in enumerate(idiom):
            places[word].append((place, idiom))
    return dict(places)


_IDIOMS = (
    ("in", "the", "system"), ("in", "our", "system"), ("at", "the", "moment"), ("so", "far"), ("to", "date"),
    ("on", "the", "books"), ("on", "our", "books"), ("in", "our", "books"), ("right", "now"), ("in", "total"),
    ("at", "all"), ("in", "particular"), ("in", "question"), ("on", "record"), ("on", "file"), ("in", "existence"),
    ("going", "by"), ("judging", "by"), ("each", "time"), ("every", "time"), ("last", "one"), ("single", "one"),
    ("all", "told"), ("all", "in", "all"), ("each", "one"), ("at", "present"), ("by", "now"), ("as", "of", "now"),
    ("until", "now"), ("up", "to", "now"), ("for", "now"), ("these", "days"), ("as", "of", "today"), ("as", "yet"),
    ("in", "the", "end"), ("in", "fact"), ("on", "the", "whole"), ("as", "a", "whole"), ("in", "the", "first", "place"),
    ("by", "any", "chance"), ("if", "possible"), ("if", "you", "can"), ("over", "there"), ("out", "there"),
    ("for", "sure"), ("by", "the", "way"), ("a", "hand", "in"), ("so", "to", "speak"), ("one", "way", "or", "another"),
    ("all", "the", "time"), ("alone", "or", "with", "others"), ("on", "our", "hands"), ("in", "our", "hands"),
    ("on", "our", "side"), ("at", "our", "end"), ("in", "my", "head"), ("for", "me"),
    ("take", "part"), ("takes", "part"), ("took", "part"), ("taking", "part"), ("taken", "part"), ("at", "once"),
)  # fmt: skip
_IDIOMS_BY_WORD = _places_by_word(_IDIOMS)
# They say that an event happened; where documents have a state, it may not have: "visits that took place".
_EVENT_IDIOMS = tuple(
    (verb, particle)
    for particle, verbs in {"place": "take takes took taken taking", "ahead": "go goes went gone"}.items()
    for verb in verbs.split()
)
_EVENT_IDIOMS_BY_WORD = _places_by_word(_EVENT_IDIOMS)
_STATE_LABEL_WORDS = frozenset("status state stage outcome result phase".split())
_SCOPE_WORDS = frozenset({"whole", "entire"})  # "in the whole company"
_ARTICLES = frozenset("the our this that your my their".split())
_UNIVERSAL_QUANTIFIERS = frozenset({"all", "any", "every", "each"})
_SCOPE_PREPOSITIONS = frozenset("in at on across over among from for of through".split())
_PREPOSITIONS_OF_KEEPING = frozenset("in on from of into".split())
_MAX_WORDS_OF_KEEPING_NOUN = 3  # before it: "the yearly lab job book"
_NOUNS_OF_OWNERS = frozenset("i we us you they".split())
_EMPTY_ADVERBS = FILLER_WORDS | frozenset("also both all now".split())
_WORDS_BEFORE_GENERIC_NOUN = QUANTIFIERS | STOP_WORDS | frozenset({"many", "last", "single"})


def is_empty_phrase(tokens: Sequence[QuestionToken], index: int, schema: Schema, *, ends_clause: bool) -> bool:
    """Whether the token appears in a phrase that leaves out no document; `ends_clause`: a mark follows the token."""
    return (
        _is_in_idiom(tokens, index, _IDIOMS_BY_WORD)
        or (_is_in_idiom(tokens, index, _EVENT_IDIOMS_BY_WORD) and not _has_states(schema))
        or _is_everywhere(tokens, index)
        or _is_having_verb(tokens, index, ends_clause=ends_clause)
    )


_NOUNS_OF_PORTIONS = frozenset("bit bits piece pieces item items lump".split())
_NOUNS_OF_EQUIPMENT = frozenset("kit gear equipment machinery furniture stuff hardware work".split())


def list_words_of_portions(tokens: Sequence[QuestionToken]) -> Iterator[str]:
    """ "The dearest *bit of kit*": yields the words that stand for any document."""
    for index in range(2, len(tokens)):
        if tokens[index - 1].word == "of" and is_generic_noun(tokens, index):
            yield from (tokens[index - 2].word, tokens[index].word)


def find_keeping_phrases(tokens: Sequence[QuestionToken], noun_stems: Set[str]) -> frozenset[int]:
    """Returns the tokens of nouns for what keeps the documents: "the jobs in the *lab book*", "on our *register*".

    Words before such a noun are names of the documents; others may tell of another list.
    """
    found: set[int] = set()
    for index, token in enumerate(tokens):
        if token.word not in KEEPING_NOUNS or token.is_quoted:
            continue
        first = index
        while first > max(index - _MAX_WORDS_OF_KEEPING_NOUN, 0) and tokens[first - 1].stem in noun_stems:
            first -= 1
        words_before = [before.word for before in tokens[max(first - 2, 0) : first]]
        if len(words_before) == 2 and words_before[0] in _PREPOSITIONS_OF_KEEPING and words_before[1] in _ARTICLES:
            found.update(range(first, index + 1))
    return frozenset(found)


def is_identifying_noun(tokens: Sequence[QuestionToken], index: int, noun_stems: Set[str]) -> bool:
    """ "Stock *codes* that are …", "job *numbers* please": whether each document is meant by what identifies it."""
    return index > 0 and tokens[index].word in IDENTIFYING_NOUNS and tokens[index - 1].stem in noun_stems


def is_generic_noun(tokens: Sequence[QuestionToken], index: int) -> bool:
    """ "The *ones* from May", "in how many *cases*": whether a noun for any document has no modifier."""
    word_before = tokens[index - 1].word if index else ""
    if word_before == "of" and index > 1 and tokens[index - 2].word in _NOUNS_OF_PORTIONS:
        return tokens[index].word in _NOUNS_OF_EQUIPMENT  # "the dearest bit of *kit*"
    is_bare = not word_before or word_before in _WORDS_BEFORE_GENERIC_NOUN
    return tokens[index].word in GENERIC_NOUNS and is_bare and not tokens[index].is_name


def is_people_noun(tokens: Sequence[QuestionToken], index: int) -> bool:
    """ "The courses that *people* passed": whether the noun stands for people in general and is not asked for."""
    words_before = {token.word for token in tokens[max(index - 2, 0) : index]}
    is_asked_for = bool(words_before & (QUANTIFIERS | {"many", "different"}))
    return tokens[index].word in PEOPLE_NOUNS and not is_asked_for and not tokens[index].is_name


def _is_in_idiom(
    tokens: Sequence[QuestionToken], index: int, idioms_by_word: Mapping[str, Sequence[tuple[int, _Idiom]]]
) -> bool:
    """ "At the *moment*", "in our *system*": whether the word belongs to one of the idioms."""
    return any(
        tuple(token.word for token in tokens[index - place : index - place + len(idiom)]) == idiom
        for place, idiom in idioms_by_word.get(tokens[index].word, ())
        if place <= index
    )


def _has_states(schema: Schema) -> bool:
    return any(
        field.type is FieldType.CATEGORY and bool(_STATE_LABEL_WORDS & set(field.label.casefold().split()))
        for field in schema.fields
    )


def _is_everywhere(tokens: Sequence[QuestionToken], index: int) -> bool:
    """ "In the whole *company*", "anywhere in the *house*", "across all *branches*"."""
    before = [token.word for token in tokens[max(index - 4, 0) : index]]
    if not before or tokens[index].is_name:
        return False
    if before[-1] in _SCOPE_WORDS:
        return True
    if before[-1] in _UNIVERSAL_QUANTIFIERS:
        return before[-2:-1] != [] and before[-2] in _SCOPE_PREPOSITIONS
    while before and (before[-1] in _ARTICLES or before[-1] in PREPOSITIONS):
        before.pop()
    return bool(before) and before[-1] in EVERYWHERE_WORDS


def _is_having_verb(tokens: Sequence[QuestionToken], index: int, *, ends_clause: bool) -> bool:
    """ "The coins we *hold*", "what our sites *keep* in May": whether the verb has no object of its own."""
    if tokens[index].word not in HAVING_VERBS or tokens[index].is_name:
        return False
    after = index + 1
    while not ends_clause and after < len(tokens) and tokens[after].word in _EMPTY_ADVERBS:
        after += 1
    word_before = tokens[index - 1].word if index else ""
    is_statement = word_before in _NOUNS_OF_OWNERS or word_before in FORMS_OF_BE or word_before in _EMPTY_ADVERBS
    has_no_object = ends_clause or after == len(tokens) or tokens[after].word in PREPOSITIONS - {"by", "to", "with"}
    return has_no_object and (is_statement or ends_clause or after == len(tokens))
