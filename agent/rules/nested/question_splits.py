"""Splits of a question into words for an inner set and the words around them.

An inner set is named in one of four ways: by a noun of its bucket with words around it ("towns on *rivers longer than
300 km*"), behind a field that refers to other documents ("the mayor of *the largest town*"), behind a field that refers
to it ("whose *owner lives in Porto*"), or by conditions alone that fit no field of the outer bucket ("orders from
*Spain*").
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from agent.english.function_words import (
    ENDED_WORDS,
    NEGATIONS,
    PREPOSITIONS,
    PRESENT_WORDS,
    RELATIVE_PRONOUNS,
    VAGUE_ADJECTIVES,
)
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, SpanLink, ValueMatch
from agent.rules.linking.link_filter import is_content_word
from agent.rules.nested.joins import ANY_NUMBER, BucketJoin, DocumentCount, JoinTable
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.words.tokens import QuestionToken, find_quotations, tokenize_question
from storage.search.ids import BucketId

_ARTICLES = frozenset("the a an all any every each some our those these".split())
_VERBS_BETWEEN = frozenset("is are was were has have had do does did".split())
_LINKING_OF = frozenset("of in for at from on".split())
_STATE_WORDS = ENDED_WORDS | PRESENT_WORDS | VAGUE_ADJECTIVES
_CLAUSE_OPENERS = RELATIVE_PRONOUNS | PREPOSITIONS | frozenset({"and", "but", "or", "since", "before", "after"})
_MAX_MODIFIERS = 5  # words before a noun that may belong to it
_MIN_LINK_WEIGHT = 0.5  # more than a hint


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSplit:
    """`question[start:end]` names an inner set of `join`; `outer_words` come before what stands for it."""

    join: BucketJoin
    start: int
    end: int
    inner_text: str
    is_dereference: bool = False  # "the F of …": the field F names the documents that are asked about
    needs_noun: bool = True  # the inner words hold a noun of the bucket
    count: DocumentCount = ANY_NUMBER
    is_left_out: bool = False  # the rest of the question is read without the inner set, which is one more condition
    is_clause: bool = False  # a clause behind the noun holds the words: "a driver *who lives in Porto*"

    @property
    def is_counted(self) -> bool:
        return self.count != ANY_NUMBER

    @property
    def is_structural(self) -> bool:
        """Whether the words around the inner set leave no doubt that there is one."""
        return self.is_dereference or self.is_counted or self.is_clause


class SplitFinder:
    """Finds the splits of one question. Links of a bucket are looked up once."""

    def __init__(self, question: str, lexicons: Mapping[BucketId, BucketLexicon], joins: JoinTable) -> None:
        self._question, self._lexicons = question, lexicons
        self._joins, self._sibling_joins = joins.direct, joins.between_siblings
        self._quotations = find_quotations(question)
        self._links_by_bucket: dict[BucketId, Sequence[SpanLink]] = {}
        self._value_links: dict[BucketId, Sequence[SpanLink]] = {}

    def find_noun_splits(self, outer: BucketId | None = None) -> Iterator[QuestionSplit]:
        """Yields splits at nouns of the inner bucket; the outer set is in the bucket, or in any."""
        for join in self._joins:
            if outer in (None, join.outer):
                yield from self._noun_splits(join)

    def find_dereferences(self, outer: BucketId | None = None) -> Iterator[QuestionSplit]:
        """Yields splits behind a field of the inner bucket that refers to what the question asks about."""
        for join in self._joins:
            if outer in (None, join.outer) and not join.is_forward:
                yield from self._dereferences(join)
        for join in self._sibling_joins:
            if outer in (None, join.outer):
                yield from (split for split in self._dereferences(join) if not self._begins_with_noun(split))

    def find_field_splits(self, outer: BucketId | None = None) -> Iterator[QuestionSplit]:
        """Yields splits behind a field of the outer bucket that refers to the inner set."""
        for join in self._joins:
            if outer in (None, join.outer) and join.is_forward:
                yield from self._field_splits(join)

    def find_value_splits(self, reading: BucketReading) -> Iterator[QuestionSplit]:
        """Yields splits at the words that the reading in the outer bucket does not explain."""
        joins = [join for join in self._joins if join.outer == reading.bucket and not join.is_within_bucket]
        for join in sorted(joins, key=lambda join: not join.is_forward):
            yield from self._value_splits(reading, join)

    def _value_splits(self, reading: BucketReading, join: BucketJoin) -> Iterator[QuestionSplit]:
        tokens = self._tokens_of(join.inner)
        unlinked = {word.casefold() for words in reading.unlinked_words for word in words.split()}
        indexes = [index for index, token in enumerate(tokens) if token.word in unlinked]
        if indexes:
            runs = list(_runs_of(indexes))
            spans = [(indexes[0], len(tokens)), (indexes[0], indexes[-1] + 1), *runs]
            spans += [(first, len(tokens)) for first, _ in runs]
            for first, last in dict.fromkeys(spans):
                if not join.is_forward and last - first == 1 and tokens[first].word in _STATE_WORDS:
                    continue  # "former members": no word for the documents that refer to them
                if not join.is_forward and not _may_explain_all(reading, tokens, indexes, (first, last)):
                    continue  # a backward join that no noun names must explain every word
                yield self._split_at(join, tokens, first, last, needs_noun=False)

    def _tokens_of(self, bucket: BucketId) -> Sequence[QuestionToken]:
        return tokenize_question(self._question, self._lexicons[bucket].analyser, self._quotations)

    def _links_of(self, bucket: BucketId) -> Sequence[SpanLink]:
        if bucket not in self._links_by_bucket:
            links = self._lexicons[bucket].find_links(self._tokens_of(bucket))
            self._links_by_bucket[bucket] = [
                link
                for link in links
                if isinstance(link.meaning, (BucketNoun, FieldMention)) and link.weight >= _MIN_LINK_WEIGHT
            ]
        return self._links_by_bucket[bucket]

    def _noun_splits(self, join: BucketJoin) -> Iterator[QuestionSplit]:
        tokens = self._tokens_of(join.inner)
        for link in self._links_of(join.inner):
            if isinstance(link.meaning, BucketNoun):
                starts = dict.fromkeys((_start_of_phrase(tokens, link.first), link.first))
                for start in starts:
                    ends = (*_ends_of_phrase(tokens, link.last), *self._value_ends(join.inner, link.last))
                    for end in dict.fromkeys(ends):
                        if _has_content(tokens[:start]) or _has_content(tokens[end:]):
                            yield self._split_at(join, tokens, start, end)

    def _dereferences(self, join: BucketJoin) -> Iterator[QuestionSplit]:
        """ "… *the mayor of* the largest town": the inner set follows the field."""
        tokens = self._tokens_of(join.inner)
        for link in self._links_of(join.inner):
            if not isinstance(link.meaning, FieldMention) or link.meaning.field != join.inner_key:
                continue
            if self._is_noun_of(join.outer, link):
                continue  # "cities in states …": the cities are those asked for
            start = _start_of_phrase(tokens, link.first)
            if link.last < len(tokens) - 1 and tokens[link.last].word in _LINKING_OF:
                ends = (*_ends_of_phrase(tokens, link.last + 2), *self._value_ends(join.inner, link.last + 1))
                for end in dict.fromkeys(ends):
                    if not _has_content((*tokens[:start], *tokens[end:])):
                        continue
                    inner = self._question[tokens[link.last + 1].start : tokens[end - 1].end]
                    yield QuestionSplit(
                        join=join,
                        start=tokens[start].start,
                        end=tokens[end - 1].end,
                        inner_text=inner,
                        is_dereference=True,
                        needs_noun=False,
                    )

    def _is_noun_of(self, bucket: BucketId, link: SpanLink) -> bool:
        return any(
            isinstance(other.meaning, BucketNoun) and (other.first, other.last) == (link.first, link.last)
            for other in self._links_of(bucket)
        )

    def _value_ends(self, bucket: BucketId, first: int) -> Sequence[int]:
        """Returns where values of the bucket end that begin at the token or behind it."""
        if bucket not in self._value_links:
            links = self._lexicons[bucket].find_links(self._tokens_of(bucket))
            self._value_links[bucket] = [link for link in links if isinstance(link.meaning, ValueMatch)]
        return [link.last for link in self._value_links[bucket] if link.first >= first]

    def _begins_with_noun(self, split: QuestionSplit) -> bool:
        """Whether the words that name the field are a noun for the documents of some bucket."""
        return any(
            isinstance(link.meaning, BucketNoun) and split.start <= self._tokens_of(bucket)[link.last - 1].start
            for bucket in self._lexicons
            for link in self._links_of(bucket)
            if self._tokens_of(bucket)[link.last - 1].end + len(split.inner_text) < split.end
        )

    def _field_splits(self, join: BucketJoin) -> Iterator[QuestionSplit]:
        """ "… whose *owner* lives in Porto": conditions of the inner set follow the field that refers to it."""
        tokens = self._tokens_of(join.outer)
        for link in self._links_of(join.outer):
            if isinstance(link.meaning, FieldMention) and link.meaning.field in join.outer_fields:
                for end in _ends_of_phrase(tokens, link.last):
                    if end > link.last and _has_content(tokens[link.last : end]):
                        is_clause = tokens[link.last].word in RELATIVE_PRONOUNS
                        split = self._split_at(join, tokens, link.last, end, needs_noun=False)
                        split = replace(split, is_clause=is_clause)
                        yield split
                        if end > link.last + 1:  # "whose owner *lives* in Porto": the verb may be no condition itself
                            predicate = self._question[tokens[link.last + 1].start : split.end]
                            yield replace(split, inner_text=predicate)

    def _split_at(
        self, join: BucketJoin, tokens: Sequence[QuestionToken], first: int, last: int, *, needs_noun: bool = True
    ) -> QuestionSplit:
        start, end = tokens[first].start, tokens[last - 1].end
        return QuestionSplit(
            join=join, start=start, end=end, inner_text=self._question[start:end], needs_noun=needs_noun
        )


def _may_explain_all(
    reading: BucketReading, tokens: Sequence[QuestionToken], unlinked: Sequence[int], span: tuple[int, int]
) -> bool:
    """Whether no unlinked word appears outside the span but those that connect it with a noun before it."""
    first, last = span
    if unlinked[-1] >= last:
        return False
    if unlinked[0] >= first or [token.word for token in reading.tokens] != [token.word for token in tokens]:
        return True
    relation = start_of_relation(reading, reading.tokens[first].start)
    return relation is not None and reading.tokens[unlinked[0]].start >= relation


def _runs_of(indexes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yields first and last token of each run of neighbours, and of each of its tails: "*went to Spain*", "*Spain*"."""
    first = indexes[0]
    for index, following in pairwise((*indexes, indexes[-1] + 2)):
        if following != index + 1:
            yield from ((start, index + 1) for start in range(first, index + 1))
            first = following


def _start_of_phrase(tokens: Sequence[QuestionToken], noun: int) -> int:
    """Returns where the phrase of the noun begins: at its article, or behind a preposition, a pronoun or a verb."""
    for index in range(noun - 1, max(noun - 1 - _MAX_MODIFIERS, -1), -1):
        if tokens[index].word in _ARTICLES:
            return index
        if tokens[index].word in PREPOSITIONS | RELATIVE_PRONOUNS | _VERBS_BETWEEN:
            return index + 1
    return noun


def _ends_of_phrase(tokens: Sequence[QuestionToken], first: int) -> list[int]:
    """Returns where a phrase may end: at the end of the question, or before a verb about what it belongs to."""
    verbs = [
        index
        for index in range(first + 1, len(tokens) - 1)
        if tokens[index].word in _VERBS_BETWEEN and tokens[index - 1].word not in RELATIVE_PRONOUNS
    ]
    clauses = [
        index
        for index in range(first, len(tokens) - 1)
        if tokens[index].word in _CLAUSE_OPENERS and tokens[index - 1].word not in _CLAUSE_OPENERS
    ]
    return list(dict.fromkeys((len(tokens), *verbs, *reversed(clauses), *([first] if first < len(tokens) else []))))


def _has_content(tokens: Sequence[QuestionToken]) -> bool:
    return any(map(is_content_word, tokens))


def start_of_relation(reading: BucketReading, end: int) -> int | None:
    """Returns where the words begin that connect a noun of the bucket with the phrase at `end`; None if none do.

    They follow the noun, no other link is among them, and none of them negates or names anything. A word between a
    preposition and the phrase is a part of it: "open at *sycamore* house".
    """
    tokens = [token for token in reading.tokens if token.end <= end]
    last_link_end = max(
        (
            *(link.last for link in reading.links if link.last <= len(tokens) and link.weight >= _MIN_LINK_WEIGHT),
            *(index + 1 for index in reading.literal_tokens if index < len(tokens)),
        ),
        default=0,
    )
    between = tokens[last_link_end:]
    follows_noun = last_link_end - 1 in reading.literal_tokens or any(
        isinstance(link.meaning, (BucketNoun, ValueMatch)) and link.last == last_link_end for link in reading.links
    )
    is_plain = not any(token.is_name or token.is_quoted or token.word in NEGATIONS for token in between)
    ends_in_preposition = not between or between[-1].word in PREPOSITIONS | _ARTICLES
    is_whole = ends_in_preposition or len(between) == 1 or between[-2].word not in PREPOSITIONS | _ARTICLES
    is_used = any(index in reading.literal_tokens for index in range(last_link_end, len(tokens)))
    return between[0].start if between and follows_noun and is_plain and is_whole and not is_used else None
