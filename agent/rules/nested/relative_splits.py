"""Splits at a noun that a document defines: "the studio *where G-104 is stored*", "the island *Frithstow is on*"."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent.english.function_words import LINKING_VERBS, PREPOSITIONS, RELATIVE_PRONOUNS, STOP_WORDS
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import SpanLink, ValueMatch
from agent.rules.nested.joins import BucketJoin
from agent.rules.nested.question_splits import QuestionSplit
from agent.rules.words.tokens import QuestionToken, find_quotations, tokenize_question
from storage.search.conditions import TITLE_FIELD
from storage.search.ids import BucketId, FieldName

_BEFORE_NAME = RELATIVE_PRONOUNS | frozenset({"the", "our"})
_ARTICLES = frozenset("the a an our that this".split())
_MAX_TAIL = 4  # words behind the name that say how the noun is related to it
_MAX_NAME_DISTANCE = 3  # words between the noun and the name: "the film *that was for* L-5"


@dataclass(frozen=True, slots=True)
class _NamedDocument:
    """Tokens `first` to `last` name a document of the bucket."""

    bucket: BucketId
    first: int
    last: int


class RelativeSplitFinder:
    """Finds the splits of one question."""

    def __init__(self, question: str, lexicons: Mapping[BucketId, BucketLexicon]) -> None:
        self._question, self._lexicons = question, lexicons
        self._quotations = find_quotations(question)
        self._named: dict[BucketId, Sequence[_NamedDocument]] = {}

    def find_splits(self, joins: Sequence[BucketJoin], outer: BucketId | None = None) -> Iterator[QuestionSplit]:
        """Yields splits of joins whose inner key holds what the noun names; the outer set is in the bucket, or any."""
        joins = [join for join in joins if outer in (None, join.outer)]
        for named in self._find_named_documents(joins):
            for join in joins:
                if join.inner == named.bucket:
                    yield from self._split_of(join, named)

    def find_name_splits(self, joins: Sequence[BucketJoin]) -> Iterator[QuestionSplit]:
        """Yields splits at the name of a document, for what the document refers to: "in which city is *G-104* kept"."""
        joins = [join for join in joins if not join.is_forward]
        for named in self._find_named_documents(joins):
            tokens = self._tokens_of(named.bucket)
            start, end = tokens[named.first].start, tokens[named.last - 1].end
            for join in joins:
                if join.inner == named.bucket:
                    text = self._question[start:end]
                    yield QuestionSplit(join=join, start=start, end=end, inner_text=text, needs_noun=False)

    def _tokens_of(self, bucket: BucketId) -> Sequence[QuestionToken]:
        return tokenize_question(self._question, self._lexicons[bucket].analyser, self._quotations)

    def _find_named_documents(self, joins: Iterable[BucketJoin]) -> Iterator[_NamedDocument]:
        """Yields the named documents of the inner buckets of the joins, in the order of the buckets."""
        inner_buckets = {join.inner for join in joins}
        for bucket in self._lexicons:
            if bucket in inner_buckets:
                yield from self._named_documents_of(bucket)

    def _named_documents_of(self, bucket: BucketId) -> Sequence[_NamedDocument]:
        if bucket not in self._named:
            lexicon = self._lexicons[bucket]
            self._named[bucket] = [
                _NamedDocument(bucket, link.first, link.last)
                for link in lexicon.find_links(self._tokens_of(bucket))
                if _names_document(link, lexicon)
            ]
        return self._named[bucket]

    def _split_of(self, join: BucketJoin, named: _NamedDocument) -> Iterator[QuestionSplit]:
        tokens = self._tokens_of(join.inner)
        noun_last = _end_of_noun(tokens, named.first)
        if noun_last is None or not self._names_relation(tokens[noun_last - 1], join):
            return
        start = noun_last - 1
        while start > 0 and self._names_relation(tokens[start - 1], join):
            start -= 1
        if start > 0 and tokens[start - 1].word in _ARTICLES:
            start -= 1
        end = _end_of_clause(tokens, named.last, self._question)
        has_clause = end > named.last or tokens[named.first - 1].word in RELATIVE_PRONOUNS
        if end <= len(tokens) and has_clause:
            yield QuestionSplit(
                join=join,
                start=tokens[start].start,
                end=tokens[end - 1].end,
                inner_text=self._question[tokens[named.first].start : tokens[named.last - 1].end],
                is_dereference=True,
                needs_noun=False,
            )

    def _names_relation(self, token: QuestionToken, join: BucketJoin) -> bool:
        """Whether the word is one of the field that holds the noun's documents, or a noun for these."""
        inner = self._lexicons[join.inner]
        reference = inner.schema.references.get(join.inner_key)
        stems = set(inner.stems_of(join.inner_key)) if join.inner_key != TITLE_FIELD else set[str]()
        if reference is not None and reference.bucket in self._lexicons:
            stems |= self._lexicons[reference.bucket].noun_stems
        return token.stem in stems and token.word not in STOP_WORDS


def _names_document(link: SpanLink, lexicon: BucketLexicon) -> bool:
    meaning = link.meaning
    if not isinstance(meaning, ValueMatch) or meaning.column is not None:
        return False
    name: FieldName = meaning.field
    if name == TITLE_FIELD:
        return True
    field = lexicon.schema.by_name.get(name)
    return field is not None and lexicon.is_identifying(name)


def _end_of_noun(tokens: Sequence[QuestionToken], name_first: int) -> int | None:
    """Returns the token behind the noun before the name, if only words of a relative clause appear between."""
    index = name_first
    while index > 0 and name_first - index < _MAX_NAME_DISTANCE and tokens[index - 1].word in _BEFORE_NAME:
        index -= 1
    return index or None


def _end_of_clause(tokens: Sequence[QuestionToken], name_last: int, question: str) -> int:
    """Returns where the words end that relate the noun to the name: auxiliaries, a verb and a preposition."""
    index, verb_count = name_last, 0
    while index < len(tokens) and index - name_last < _MAX_TAIL:
        if set(question[tokens[index - 1].end : tokens[index].start]) & set(",;:?!.()"):
            break
        token = tokens[index]
        is_function = token.word in LINKING_VERBS or token.word in PREPOSITIONS
        verb_count += not is_function
        if token.is_name or token.is_quoted or verb_count > 1:
            break
        if token.word in PREPOSITIONS and index + 1 < len(tokens) and not _ends_clause(tokens, index, question):
            break  # the preposition opens another phrase: "the studio Ada works at *in* May"
        index += 1
    return index


def _ends_clause(tokens: Sequence[QuestionToken], index: int, question: str) -> bool:
    between = question[tokens[index].end : tokens[index + 1].start]
    return bool(set(between) & set(",;:?!()")) or tokens[index + 1].word in LINKING_VERBS
