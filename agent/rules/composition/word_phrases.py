"""What the single words and names of a question may stand for, in all buckets."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

from agent.english.function_words import (
    AGGREGATE_WORDS,
    ENDED_WORDS,
    GROUPING_WORDS,
    ORDINALS,
    PREPOSITIONS,
    PRESENT_WORDS,
    RELATIVE_PRONOUNS,
    SMALL_NUMBERS,
    STOP_WORDS,
)
from agent.english.gradable_adjectives import is_comparative_of_scale, nouns_beside, scale_of_superlative
from agent.english.inflection import root_of_word
from agent.rules.composition.phrases import (
    ComparativePhrase,
    FieldPhrase,
    LinkingWords,
    LiteralPhrase,
    Phrase,
    SetPhrase,
    SpanPhrase,
    SuperlativePhrase,
    ThanWord,
    ValuePhrase,
)
from agent.rules.composition.short_names import longer_names, short_names_of
from agent.rules.cues.scale_fields import numbers_named_by
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import (
    BucketNoun,
    FieldMention,
    PartialMatch,
    SpanLink,
    ValueMatch,
)
from agent.rules.linking.link_filter import is_content_word
from agent.rules.literals.uncapitalised_names import is_ordinary_word
from agent.rules.nested.joins import BucketJoin
from agent.rules.reading.question_reader import QuestionReader
from agent.rules.words.tokens import QuestionToken, find_quotations, looks_plural, tokenize_question
from storage.search.analyser import fold_text
from storage.search.conditions import (
    TEXT_FIELD,
    TITLE_FIELD,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    NotCondition,
    conjunction_of,
    fields_of,
)
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType
from storage.text.irregular_verbs import base_form_of

_ARTICLES = frozenset("the a an our my your".split())
_AMOUNT_SUPERLATIVES = frozenset("most fewest least".split())
# Words that compare, compute, count, rank, leave out or offer a choice, and relations that are not "in" or "of": a
# reading that passes over them would be another question.
_NO_LINKING_WORDS = (
    _AMOUNT_SUPERLATIVES
    | PRESENT_WORDS
    | (ENDED_WORDS - {"run", "ran"})
    | (AGGREGATE_WORDS - {"number", "of", "many", "much", "how", "up", "add"})
    | (GROUPING_WORDS - {"by"})
    | SMALL_NUMBERS.keys()
    | ORDINALS.keys()
    | frozenset(
        """more less fewer than higher lower greater above below exceeding or nor either neither both except
        other others but apart aside besides instead unlike rather opposite outside beyond near nearby around
        almost nearly once twice thrice times half several few last first next top single only just even why
        avoid avoids avoiding miss misses missing fail fails failed skip skips bypass bypasses lack lacks
        lacking avoided missed skipped bypassed""".split()
    )
)
_SUPERLATIVES_BY_COMPARATIVE = {
    "more": "most", "fewer": "fewest", "less": "least", "better": "best", "worse": "worst", "further": "furthest",
    "farther": "farthest", "later": "latest", "earlier": "earliest", "before": "earliest", "after": "latest",
}  # fmt: skip
_MIN_NOUN_WEIGHT = 1.0  # of a noun that is one of the bucket's own names
_MAX_BEFORE_LITERAL, _MAX_BEHIND_LITERAL = 4, 3  # tokens that belong to a number or a day
_HINT_COST, _PARTIAL_COST, _RELATING_COST, _MENTION_COST = 0.5, 0.6, 0.5, 0.1
_MEASURE_COST = 0.3
_KIND_COST, _PARTIAL_KIND_COST = 0.1, 0.5
_SHORT_NAME_COST = 0.2
_MAX_LONGER_NAMES = 20  # names that hold a name among other words, and are distinguished from it
_MAX_NAME_WORDS = 6  # of a name without its noun
_OWN_VALUE_COST = 0.15  # of a value that is not a name: where it is the name of another document, that comes first
_WORDS_OF_NO_END = STOP_WORDS | PREPOSITIONS  # behind a literal
_LITERAL_COST = 0.02  # for each word beside the number


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionWords:
    """The tokens of a question without its articles, and what its words may stand for."""

    tokens: tuple[QuestionToken, ...]
    phrases: tuple[SpanPhrase, ...]


def find_word_phrases(question: str, reader: QuestionReader, joins: Sequence[BucketJoin]) -> QuestionWords | None:
    """Returns the phrases of single words and names; None if the buckets do not agree on what a word is."""
    quotations = find_quotations(question)
    by_bucket = {
        bucket: tokenize_question(question, lexicon.analyser, quotations) for bucket, lexicon in reader.lexicons.items()
    }
    all_tokens = next(iter(by_bucket.values()), ())
    if any([token.start for token in tokens] != [token.start for token in all_tokens] for tokens in by_bucket.values()):
        return None
    kept = [index for index, token in enumerate(all_tokens) if token.word not in _ARTICLES]
    positions = {index: position for position, index in enumerate(kept)}
    tokens = tuple(all_tokens[index] for index in kept)
    finder = _WordPhraseFinder(question, reader, joins, tokens)
    for bucket, lexicon in reader.lexicons.items():
        links = list(lexicon.find_links(tuple(map(lexicon.normalize_plural, by_bucket[bucket]))))
        finder.nouns |= {(bucket, link.first, link.last) for link in links if isinstance(link.meaning, BucketNoun)}
        for link in links:
            inside = [positions[index] for index in range(link.first, link.last) if index in positions]
            if inside:
                phrase_tokens = {positions[index] for index in link.phrase_tokens if index in positions}
                finder.add_link(link, inside[0], inside[-1] + 1, phrase_tokens, lexicon)
        finder.add_short_names(lexicon)
    finder.add_other_words()
    return QuestionWords(tokens=tokens, phrases=tuple(finder.certain_phrases()))


class _WordPhraseFinder:
    def __init__(
        self,
        question: str,
        reader: QuestionReader,
        joins: Sequence[BucketJoin],
        tokens: Sequence[QuestionToken],
    ) -> None:
        self._question, self._reader, self._tokens = question, reader, tokens
        self._keys = {(join.inner, join.inner_key) for join in joins if join.is_forward}
        self._referred = {(join.outer, join.inner) for join in joins if join.is_forward}
        self._references: dict[BucketId, tuple[FieldName, ...]] = {}
        for join in joins:
            if join.is_forward:
                self._references[join.outer] = (*self._references.get(join.outer, ()), *join.outer_fields)
        self._mentions: dict[int, set[tuple[BucketId, FieldName]]] = {}
        self._noun_tokens: set[int] = set()
        self._value_tokens: set[int] = set()  # whole values as written
        self._kinds: set[tuple[BucketId, int, int]] = set()  # spans that name a kind of documents of the bucket
        self.nouns: set[tuple[BucketId, int, int]] = set()  # links to nouns, by all tokens of the question
        self.phrases: list[SpanPhrase] = []

    def add_link(self, link: SpanLink, first: int, last: int, phrase_tokens: Set[int], lexicon: BucketLexicon) -> None:
        """Adds what the words of a link, `tokens[first:last]`, stand for; `phrase_tokens` are those of its question."""
        match link.meaning:
            case BucketNoun() if link.weight >= _MIN_NOUN_WEIGHT:
                self._noun_tokens.update(range(first, last))
                is_plural = looks_plural(self._tokens[last - 1])
                self._add(first, last, SetPhrase(bucket=lexicon.bucket, is_plural=is_plural))
            case FieldMention(column=None, is_negated=False):
                self._add_mention(link.meaning, first, last, phrase_tokens, lexicon)
            case ValueMatch(column=None):
                is_noun = (lexicon.bucket, link.first, link.last) in self.nouns
                if is_noun or (looks_plural(self._tokens[last - 1]) and not self._tokens[last - 1].is_name):
                    self._add_kind(link.meaning, first, last, lexicon)
                if fold_text(self._text_of(first, last)) == fold_text(link.meaning.value):
                    self._value_tokens.update(range(first, last))
                self._add_value(link.meaning, first, last, lexicon)
            case PartialMatch(column=None) if all(token.word.isalpha() for token in self._tokens[first:last]):
                self._add_partial_value(link.meaning, first, last, lexicon)
            case _:
                pass

    def certain_phrases(self) -> Iterator[SpanPhrase]:
        """Yields all phrases but the hints at fields by words that name documents or values, and values of what these
        documents refer to.
        """
        for phrase in self.phrases:
            if self._is_noun_of_referring(phrase):
                continue
            span_of_noun = (
                (phrase.phrase.bucket, phrase.first, phrase.last)
                if isinstance(phrase.phrase, SetPhrase) and phrase.phrase.is_bare
                else None
            )
            if span_of_noun in self._kinds:
                continue  # "lakes" of hills and lakes
            is_hint = isinstance(phrase.phrase, FieldPhrase) and phrase.phrase.is_hint
            if not (is_hint and (self._noun_tokens | self._value_tokens) & {*range(phrase.first, phrase.last)}):
                yield phrase

    def _is_noun_of_referring(self, span: SpanPhrase) -> bool:
        """ "The *frames* we sell": whether the words name documents, and are a value of what supplies them besides.

        Where the question names the suppliers as well, both may be meant.
        """
        phrase = span.phrase
        is_value = isinstance(phrase, ValuePhrase) or (
            isinstance(phrase, SetPhrase) and not phrase.is_bare and not phrase.is_named
        )
        if not isinstance(phrase, (SetPhrase, ValuePhrase)) or not is_value:
            return False
        nouns = [
            (other.phrase.bucket, other.first, other.last)
            for other in self.phrases
            if isinstance(other.phrase, SetPhrase) and other.phrase.is_bare
        ]
        return all(bucket != phrase.bucket for bucket, _, _ in nouns) and any(
            (bucket, phrase.bucket) in self._referred and (first, last) == (span.first, span.last)
            for bucket, first, last in nouns
        )

    def add_other_words(self) -> None:
        for index, token in enumerate(self._tokens):
            for superlative in self._superlatives_at(index):
                self._add(index, index + len(superlative.words), superlative)
            for comparative in self._comparatives_at(index):
                self._add(index, index + len(comparative.superlative), comparative)
            self._add_measure(index, token)
            if token.word == "than":
                self._add(index, index + 1, ThanWord())
            self._add_linking_word(index, token)
        self._add_literals()

    def _add(self, first: int, last: int, phrase: Phrase, cost: float = 0.0) -> None:
        self.phrases.append(SpanPhrase(first=first, last=last, phrase=phrase, cost=cost))

    def _text_of(self, first: int, last: int) -> str:
        return self._question[self._tokens[first].start : self._tokens[last - 1].end]

    def _add_mention(
        self, mention: FieldMention, first: int, last: int, phrase_tokens: Set[int], lexicon: BucketLexicon
    ) -> None:
        key = (lexicon.bucket, mention.field)
        for index in range(first, last) if not mention.is_hint else ():
            self._mentions.setdefault(index, set()).add(key)
        field = lexicon.get_field(mention.field)
        if field.type in (FieldType.ROWS, FieldType.FLAG):
            return
        phrase = FieldPhrase(
            bucket=lexicon.bucket,
            field=mention.field,
            is_plural=looks_plural(self._tokens[last - 1]),
            is_question=mention.is_question,
            is_hint=mention.is_hint,
        )
        self._add(first, last, phrase, _HINT_COST if mention.is_hint else 0.0)
        start = min(phrase_tokens, default=first)
        if start < first and {*range(start, last)} <= phrase_tokens:  # "how many people live"
            words = {token.word for token in self._tokens[start:first]}
            asks_amount = "how" in words and bool(words & {"many", "much"})
            self._add(start, last, replace(phrase, asks_amount=asks_amount))

    def _add_value(self, value: ValueMatch, first: int, last: int, lexicon: BucketLexicon) -> None:
        text = self._text_of(first, last)
        is_key = self._is_key(value.field, lexicon)
        if is_key:
            self._add(first, last, self._named_set(value.field, value.value, text, lexicon))
        else:
            is_list = lexicon.get_field(value.field).type is FieldType.LIST
            op = ComparisonOperator.HAS if is_list else ComparisonOperator.EQ
            condition = ComparisonCondition(field=value.field, op=op, value=value.value, words=text)
            self._add(first, last, ValuePhrase(bucket=lexicon.bucket, condition=condition), _OWN_VALUE_COST)

    def _add_kind(self, value: ValueMatch, first: int, last: int, lexicon: BucketLexicon) -> None:
        """ "*Nurses* who speak Polish": a category stands for the documents that have it."""
        if value.field == TITLE_FIELD or lexicon.get_field(value.field).type is not FieldType.CATEGORY:
            return
        if not lexicon.is_categorical(value.field):
            return
        is_plural = looks_plural(self._tokens[last - 1])
        condition = ComparisonCondition(
            field=value.field, op=ComparisonOperator.EQ, value=value.value, words=self._text_of(first, last)
        )
        self._noun_tokens.update(range(first, last))
        self._kinds.add((lexicon.bucket, first, last))
        self._add(first, last, SetPhrase(bucket=lexicon.bucket, condition=condition, is_plural=is_plural), _KIND_COST)

    def _is_key(self, field: FieldName, lexicon: BucketLexicon) -> bool:
        return field in (TITLE_FIELD, _name_field_of(lexicon)) or (lexicon.bucket, field) in self._keys

    def _named_set(self, key: FieldName, name: str, text: str, lexicon: BucketLexicon) -> SetPhrase:
        """Returns the document of that name, and none whose name only contains it."""
        op = ComparisonOperator.CONTAINS if key == TITLE_FIELD else ComparisonOperator.EQ
        condition: Condition = ComparisonCondition(field=key, op=op, value=name, words=text)
        is_shared = lexicon.count_documents_with(key, name) > 1
        others = longer_names(name, key, lexicon) if key == TITLE_FIELD else ()
        if len(others) > _MAX_LONGER_NAMES:
            is_shared = True
        elif others:
            comparisons = (ComparisonCondition(field=key, op=op, value=other, words=text) for other in others)
            condition = conjunction_of(condition, *map(NotCondition, comparisons))
        return SetPhrase(bucket=lexicon.bucket, condition=condition, key=key, name=name, is_shared_name=is_shared)

    def add_short_names(self, lexicon: BucketLexicon) -> None:
        """ "The *Mississippi*" of the Mississippi River."""
        own_names = {_name_field_of(lexicon) or TITLE_FIELD}
        own_names |= {key for bucket, key in self._keys if bucket == lexicon.bucket}
        people = set(lexicon.roles.people[:1]) if lexicon.roles.holds_people else set[FieldName]()
        for key in own_names | people:
            names = short_names_of(key, lexicon)
            if not names:
                continue
            for words, first, last in self._spans_of_names:
                name = names.get(words)
                if name is not None and self._may_mean_name(first, last, lexicon):
                    self._value_tokens.update(range(first, last))
                    text = self._text_of(first, last)
                    condition = ComparisonCondition(field=key, op=ComparisonOperator.EQ, value=name, words=text)
                    value = ValuePhrase(bucket=lexicon.bucket, condition=condition)
                    named = self._named_set(key, name, text, lexicon) if key in own_names else value
                    self._add(first, last, named, _SHORT_NAME_COST)

    def _may_mean_name(self, first: int, last: int, lexicon: BucketLexicon) -> bool:
        """Whether the words may be a short name; a first name alone only if no other table has people called so."""
        if last - first > 1 or not lexicon.roles.holds_people:
            return True
        token = self._tokens[first]
        if not token.is_name and is_ordinary_word(token.word):
            return False
        return not any(
            other.find_values_with(name, [token.stem])
            for bucket, other in self._reader.lexicons.items()
            if bucket != lexicon.bucket
            for name in other.roles.people
            if not other.get_field(name).references
        )

    @cached_property
    def _spans_of_names(self) -> Sequence[tuple[str, int, int]]:
        """The words of each span that is no longer than a name, and its tokens."""
        words, count = [token.word for token in self._tokens], len(self._tokens)
        return [
            (" ".join(words[first:last]), first, last)
            for first in range(count)
            for last in range(first + 1, min(first + _MAX_NAME_WORDS, count) + 1)
        ]

    def _add_partial_value(self, match: PartialMatch, first: int, last: int, lexicon: BucketLexicon) -> None:
        """ "The Mississippi" of a river called Mississippi River: as the words alone are read."""
        condition = self._read_condition(lexicon.bucket, f"the {self._text_of(first, last)}")
        if condition is None or set(fields_of(condition)) - {match.field}:
            return
        field = None if match.field == TITLE_FIELD else lexicon.get_field(match.field)
        is_kind = field is not None and field.type is FieldType.CATEGORY and lexicon.is_categorical(field.name)
        if is_kind and not self._tokens[last - 1].is_name:  # "the *actor* with the highest fee"
            is_plural = looks_plural(self._tokens[last - 1])
            kind = SetPhrase(bucket=lexicon.bucket, condition=condition, is_plural=is_plural)
            self._add(first, last, kind, _PARTIAL_KIND_COST)
        if self._is_key(match.field, lexicon):
            named = SetPhrase(bucket=lexicon.bucket, condition=condition, key=match.field, is_shared_name=True)
            self._add(first, last, named, _PARTIAL_COST)
        else:
            self._add(first, last, ValuePhrase(bucket=lexicon.bucket, condition=condition), _PARTIAL_COST)

    def _read_condition(self, bucket: BucketId, text: str) -> Condition | None:
        reading = self._reader.read_in_bucket(text, bucket)
        if reading.unlinked_words or reading.unlinked_quotations or not reading.conditions:
            return None
        condition = conjunction_of(*reading.conditions)
        return None if TEXT_FIELD in fields_of(condition) else condition

    def _superlatives_at(self, index: int) -> Iterator[SuperlativePhrase]:
        words = tuple(token.word for token in self._tokens[index : index + 2])
        if len(words) == 2 and (scale_of_superlative(words) is not None or self._is_measured(words)):
            yield SuperlativePhrase(words=words)
        if scale_of_superlative(words[:1]) is not None or words[0] in _AMOUNT_SUPERLATIVES:
            yield SuperlativePhrase(words=words[:1])

    def _add_measure(self, index: int, token: QuestionToken) -> None:
        """ "*People* in Boulder", where cities have a population: nouns for the same measure."""
        nouns = nouns_beside(token.word)
        for bucket, lexicon in self._reader.lexicons.items() if nouns else ():
            if not any(mentioned == bucket for mentioned, _ in self._mentions.get(index, ())):
                for name in numbers_named_by(nouns, lexicon):
                    phrase = FieldPhrase(bucket=bucket, field=name, is_hint=True)
                    self._add(index, index + 1, phrase, _MEASURE_COST)

    def _comparatives_at(self, index: int) -> Iterator[ComparativePhrase]:
        words = tuple(token.word for token in self._tokens[index : index + 2])
        amount = _SUPERLATIVES_BY_COMPARATIVE.get(words[0])
        if len(words) == 2 and amount in ("most", "least"):
            superlative = (amount, words[1])
            if scale_of_superlative(superlative) is not None or self._is_measured(superlative):
                yield ComparativePhrase(superlative=superlative)
        if amount is not None:
            yield ComparativePhrase(superlative=(amount,), awaits_than=words[0] not in ("before", "after"))
        elif is_comparative_of_scale(words[0]):
            yield ComparativePhrase(superlative=(f"{words[0].removesuffix('er')}est",))

    def _is_measured(self, words: tuple[str, ...]) -> bool:
        """ "Most *humid*" of houses with a humidity."""
        lexicons = self._reader.lexicons.values()
        return words[0] in ("most", "least") and any(
            lexicon.roles.fields_of_family(words[1], lexicon.roles.numbers) for lexicon in lexicons
        )

    def _add_linking_word(self, index: int, token: QuestionToken) -> None:
        if token.is_quoted or any(character.isdigit() for character in token.word):
            return
        if token.word in _NO_LINKING_WORDS or scale_of_superlative((token.word,)) is not None:
            return
        if is_comparative_of_scale(token.word):
            return
        mentions = frozenset((*self._mentions.get(index, ()), *self._references_named_by(token.word)))
        if not is_content_word(token) or token.word in PREPOSITIONS:
            self._add(index, index + 1, LinkingWords(words=(token.word,), mentions=mentions))
        elif index in self._noun_tokens or index in self._value_tokens:
            return
        elif mentions:
            self._add(index, index + 1, LinkingWords(words=(token.word,), mentions=mentions), _MENTION_COST)
        elif token.begins_sentence or not token.is_name:
            self._add(index, index + 1, LinkingWords(words=(token.word,), relating=(token.word,)), _RELATING_COST)

    def _references_named_by(self, word: str) -> Iterator[tuple[BucketId, FieldName]]:
        """ "Led": yields the fields that refer to other documents and whose names are of the family of the verb."""
        root = root_of_word(base_form_of(word))
        for bucket, fields in self._references.items():
            for name in fields:
                label = self._reader.lexicons[bucket].get_field(name).label
                if root in map(root_of_word, label.casefold().split()):
                    yield bucket, name

    def _add_literals(self) -> None:
        for literal in self._reader.literals_in(self._question):
            inside = [
                index
                for index, token in enumerate(self._tokens)
                if token.start < literal.end and token.end > literal.start
            ]
            if not inside:
                continue
            for first in range(max(inside[0] - _MAX_BEFORE_LITERAL, 0), inside[0] + 1):
                for last in range(inside[-1] + 1, min(inside[-1] + 1 + _MAX_BEHIND_LITERAL, len(self._tokens)) + 1):
                    if last > inside[-1] + 1 and self._tokens[last - 1].word in _WORDS_OF_NO_END:
                        continue  # "in 2025 *with*"
                    if RELATIVE_PRONOUNS & {token.word for token in self._tokens[first:last]}:
                        continue
                    beside = (last - first) - len(inside)
                    self._add(first, last, LiteralPhrase(text=self._text_of(first, last)), _LITERAL_COST * beside)


def _name_field_of(lexicon: BucketLexicon) -> FieldName | None:
    """Returns the first field in which every document has a name of its own, where the titles are not known."""
    if lexicon.vocabulary_of(TITLE_FIELD) is not None:
        return None
    textual = (field for field in lexicon.schema.fields if field.type in (FieldType.TEXT, FieldType.CATEGORY))
    return next((field.name for field in textual if lexicon.is_identifying(field.name)), None)
