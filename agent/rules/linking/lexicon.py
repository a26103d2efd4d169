"""Entity linking: what words may mean in a bucket, i.e. its nouns, its fields and the values of its visible documents.

The lexicon is built from schema and vocabulary only, so another corpus needs another lexicon but no other code.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TypeAlias

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from agent.decomposition import VocabularyLookup
from agent.english.function_words import (
    AGGREGATE_WORDS,
    COMPARATORS,
    DISTINCT_WORDS,
    ENDED_WORDS,
    FILLER_WORDS,
    GENERIC_NOUNS,
    HAVING_VERBS,
    LEGAL_FORMS,
    LIST_VERBS,
    NEGATIONS,
    ORDERING_WORDS,
    PEOPLE_NOUNS,
    PERSON_NOUNS,
    STOP_WORDS,
)
from agent.rules.linking.degree_links import find_degree_values
from agent.rules.linking.end_fields import EndFields
from agent.rules.linking.field_roles import FieldRoles
from agent.rules.linking.question_phrases import PhraseMatch, QuestionPhraseIndex, choose_matches
from agent.rules.linking.value_phrase_index import (
    MAX_PHRASE_TERMS,
    FieldKey,
    PhraseValues,
    ValuePhraseIndex,
    ValueStyle,
)
from agent.rules.words.tokens import QuestionToken, looks_plural, singular_of_men
from storage.search.analyser import Analyser, fold_text
from storage.search.conditions import TITLE_FIELD
from storage.search.ids import BucketId, FieldName
from storage.search.index import FieldVocabulary, ValueCount
from storage.search.schema import FieldType, Schema, SchemaField

_MAX_LINKED_TEXTS = 128  # whose links are kept: more than one question has
_MAX_PARTIAL_VALUES = 400  # a word in more values than this links to them only in a large vocabulary
_MIN_CORRECTABLE_LETTERS = (
    5  # letters of a word from which its spelling is corrected; shorter words resemble too many others
)
_MIN_LETTERS_FOR_TWO_EDITS = 8  # letters of a word from which two edits are allowed
_MAX_REORDERED_WORDS = 5  # content words of a phrase that is recognised in any order of its words
_MAX_REORDERED_SPAN = 7  # tokens of a span that may contain these words
# Function words that may stand between the words of any phrase, and of a flag's phrase: "pets *are not* allowed".
_STOP_WORDS_IN_NAMES = frozenset({"of", "for", "to", "on", "the", "a", "an", "s"})
_STOP_WORDS_IN_FLAGS = frozenset({"is", "are", "was", "were", "be", "not", "t"})
_MEASURABLE_TYPES = (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE)
_NEGATIVE_PREFIXES = ("un", "non")
_PARTICIPLE_SUFFIXES = ("ed", "en", "wn", "id", "nt")  # "assigned", "given", "known", "paid", "sent"
_WORDS_AFTER_PARTICIPLE = frozenset({"or", "and", "but", "yet", "anywhere"})
_EXACT_VALUE_BONUS, _EXACT_NOUN_BONUS = 0.15, 0.3  # weight added to a meaning that is spelled exactly like the words
_NEGATED_WEIGHT = 1.9  # weight per word: more than a field's name, less than a value
_UNSET_FLAG = "false"  # how the schema writes the value of a flag that is not set
_CONJUNCTIONS = frozenset({"or", "and"})
_COORDINATED_WEIGHT = 2.4  # more than the weight of a number
_MAX_SHARING_FIELDS = 4  # fields that may share one question phrase
_HINT_WEIGHT = 0.4  # weight of a word that only hints at a field: less than every other meaning
_PEOPLE_WEIGHT = 1.5  # slightly less than the bucket's own noun
_PEOPLE_NOUNS = PEOPLE_NOUNS - {"somebody", "someone", "anybody", "anyone"} | frozenset(
    "employee employees colleague colleagues worker workers staff headcount".split()
)
_DISTINCT_PEOPLE_WEIGHT = 2.1  # more than a number of persons: "different people" have names
_COUNTING_WORDS = frozenset("many which different".split())  # before "people" they ask for the persons in documents
_MAX_SHORT_WORD_LETTERS = 3  # letters up to which a word hints at no field
_UNINFORMATIVE_WORDS = STOP_WORDS | FILLER_WORDS | AGGREGATE_WORDS | COMPARATORS
_MAX_ENDED_SHARE = 0.9  # of the documents may have an end date; where all have one, it may lie in the future
_END_LABEL_WORDS = frozenset(
    """left leaving departed departure end ended ends exit retired retirement deceased died death closed closing
    terminated termination disposed scrapped sold cancelled withdrawn discontinued""".split()
)
_MIN_RECORD_FIELDS = 4  # fields of a bucket whose documents are records
_MIN_MIRRORED_SHARE = 0.9  # share of the titles that a field holds too, from which the field stands for them
_TITLE = SchemaField(name=TITLE_FIELD, type=FieldType.TEXT)
_TITLE_BONUS = 0.25  # weight added to a title: the document of that name comes before those that mention the name
_MAX_DOCUMENTS_PER_VALUE = 1.1  # documents per value, on average, up to which a field identifies documents
_MAX_CATEGORY_VALUES = 50  # values that a categorical field may have even where there are few documents


@dataclass(frozen=True, slots=True)
class BucketNoun:
    """The span names the bucket's documents, by name or synonym."""


@dataclass(frozen=True, slots=True)
class FieldMention:
    """The span names a field by its name, title or synonym; `column` is a column of a rows field.

    `is_hint`: the span is a single word of these, or of the description, that belongs to no other field. `is_negated`:
    the word says that the value is missing or the flag is not set: "unassigned", "open" for a flag `resolved`.
    `is_question`: a question word and a verb or adjective ask for the field: "who … repaired".
    """

    field: FieldName
    column: FieldName | None = None
    is_hint: bool = False
    is_negated: bool = False
    is_question: bool = False


@dataclass(frozen=True, slots=True)
class ValueMatch:
    """The span names a whole value of a field, as in the documents or by a synonym of the schema."""

    field: FieldName
    column: FieldName | None
    value: str


@dataclass(frozen=True, slots=True)
class PartialMatch:
    """The span matches several values of a field, or a part of a value."""

    field: FieldName
    column: FieldName | None
    values: tuple[str, ...]
    by_head_words: bool = False  # categories that end in these words
    is_single_name: bool = False  # one name in several spellings


LinkMeaning: TypeAlias = BucketNoun | FieldMention | ValueMatch | PartialMatch


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanLink:
    """`tokens[first:last]` may mean `meaning`."""

    first: int
    last: int
    meaning: LinkMeaning
    weight: float
    phrase_tokens: frozenset[int] = frozenset()  # the tokens of a question phrase, also before `first`


class BucketLexicon:
    """The phrases of one bucket and their meanings. A phrase is a tuple of stems of the bucket's analyser."""

    def __init__(
        self,
        schema: Schema,
        vocabulary: Iterable[FieldVocabulary],
        analyser: Analyser,
        document_count: int,
        titles: Sequence[ValueCount] = (),
    ) -> None:
        self.schema, self.analyser, self.document_count = schema, analyser, document_count
        self.bucket: BucketId = schema.bucket
        self.vocabularies: Mapping[FieldName, FieldVocabulary] = {entry.field: entry for entry in vocabulary}
        # The meanings of each phrase of the schema, with their numbers of documents.
        self._schema_phrases: dict[tuple[str, ...], dict[LinkMeaning, int]] = defaultdict(dict)
        self._flag_phrases: dict[tuple[str, ...], FieldMention] = {}  # words, not stems: "open" is not "opened"
        self._value_index = ValuePhraseIndex(analyser)
        self._question_phrases = QuestionPhraseIndex[FieldMention](analyser)
        self._field_positions: dict[FieldName, int] = {field.name: index for index, field in enumerate(schema.fields)}
        self._counts_by_field: dict[FieldName, Mapping[str, int]] = {}
        self._folded_by_field: dict[FieldKey, Sequence[str]] = {}
        self._categorical_by_field: dict[FieldKey, bool] = {}
        self._stems_by_field: dict[FieldName, frozenset[str]] = {}
        self._label_stems_by_field: dict[FieldName, frozenset[str]] = {}
        self._name_stems_by_field: dict[FieldKey, tuple[Set[str], Set[str], Set[str]]] = {}
        self._links_of_recent = lru_cache(maxsize=_MAX_LINKED_TEXTS)(self._find_all_links)
        self._add_nouns()
        for field in schema.fields:
            self._add_field(field, None)
            for column in field.columns:
                self._add_field(column, field.name)
        self._add_titles(titles)
        self._hints = self._build_hints()

    def find_links(self, tokens: Sequence[QuestionToken]) -> Sequence[SpanLink]:
        """Returns every meaning of every span of tokens. A span includes a quotation completely or not at all.

        The links of recent texts are kept, since several steps look up the same text.
        """
        return self._links_of_recent(tuple(tokens))

    def _find_all_links(self, tokens: tuple[QuestionToken, ...]) -> tuple[SpanLink, ...]:
        return tuple(self._find_unexplained_links(tokens))

    def _find_unexplained_links(self, tokens: Sequence[QuestionToken]) -> Iterator[SpanLink]:
        """The words of a question phrase mention no other field: the "cost" in "what does it cost to hire"."""
        asking = list(self._question_phrase_links(tokens))
        yield from asking
        phrase_tokens = frozenset[int]().union(*(link.phrase_tokens for link in asking))
        verb_tokens = {index for link in asking if link.phrase_tokens for index in range(link.first, link.last)}
        for link in self._find_word_links(tokens):
            span = range(link.first, link.last)
            if isinstance(link.meaning, FieldMention) and not self.is_flag(link.meaning):
                is_explained = phrase_tokens.issuperset(span) or not verb_tokens.isdisjoint(span)
            else:
                is_explained = verb_tokens.issuperset(span) and not any(
                    token.is_name for token in tokens[link.first : link.last]
                )
            if not is_explained:
                yield link

    def _find_word_links(self, tokens: Sequence[QuestionToken]) -> Iterator[SpanLink]:
        stems = tuple(token.stem for token in tokens)
        for first in range(len(stems)):
            for last in range(first + 1, min(first + self._max_phrase_length(stems, first), len(tokens)) + 1):
                meanings = self._meanings_of(stems[first:last])
                if meanings and _keeps_quotations_whole(tokens, first, last):
                    for meaning, documents in meanings.items():
                        if _has_only_stop_words(meaning, tokens[first:last]):
                            continue
                        if BucketNoun() in meanings and _only_ends_in(meaning, tokens[first:last]):
                            continue  # "staff" names the documents, and not the role "bar staff"
                        weight = _link_weight(meaning, tokens[first:last], documents) + self._exact_form_bonus(
                            meaning, tokens[first:last]
                        )
                        yield SpanLink(first=first, last=last, meaning=meaning, weight=weight)
        if tokens and tokens[0].word == "who" and self._contains_people:
            yield SpanLink(first=0, last=1, meaning=BucketNoun(), weight=_HINT_WEIGHT)
        if self.roles.holds_people:
            yield from (
                SpanLink(first=index, last=index + 1, meaning=BucketNoun(), weight=_PEOPLE_WEIGHT)
                for index, token in enumerate(tokens)
                if token.word in _PEOPLE_NOUNS
            )
        elif len(self.roles.persons) == 1:
            yield from self._counted_people_links(tokens)
        yield from self._degree_links(tokens)
        yield from self._coordinated_links(tokens, stems)
        yield from self._negative_prefix_links(tokens)
        yield from self._negated_participle_links(tokens)
        yield from self._flag_phrase_links(tokens)
        yield from self._partial_links(tokens)
        yield from self._reordered_links(tokens)
        for index, token in enumerate(tokens):
            hint = None if token.is_quoted else self._hints.get(token.stem)
            if hint is not None:
                yield SpanLink(first=index, last=index + 1, meaning=hint, weight=_HINT_WEIGHT)

    @cached_property
    def _counts_people(self) -> bool:
        """Whether a number in the documents is a number of people."""
        return any(
            field.type is FieldType.NUMBER and bool(PEOPLE_NOUNS & set(fold_text(field.label).split()))
            for field in self.schema.fields
        )

    def _counted_people_links(self, tokens: Sequence[QuestionToken]) -> Iterator[SpanLink]:
        """ "How many *people* failed": yields links to the only field with the names of persons."""
        for index, token in enumerate(tokens):
            words_before = [word.word for word in tokens[max(index - 2, 0) : index]]
            if token.word in PEOPLE_NOUNS and _COUNTING_WORDS & set(words_before):
                is_distinct = words_before[-1] in DISTINCT_WORDS
                if self._counts_people and not is_distinct:
                    continue  # "how many people were hurt" asks for the number of injured persons
                weight = _DISTINCT_PEOPLE_WEIGHT if is_distinct else _PEOPLE_WEIGHT
                yield SpanLink(first=index, last=index + 1, meaning=FieldMention(self.roles.persons[0]), weight=weight)

    def _question_phrase_links(self, tokens: Sequence[QuestionToken]) -> Iterator[SpanLink]:
        """ "Who *fixed* …": yields links for question phrases; a verb without its question word is only a hint."""
        matches = [
            match for match in self._question_phrases.find_matches(tokens) if not _is_relative_clause(match, tokens)
        ]
        complete = choose_matches(matches, lambda match: self._count_support(match, tokens))
        owners = Counter((match.first, match.last) for match in complete)
        for match in complete:
            if owners[match.first, match.last] <= _MAX_SHARING_FIELDS:
                yield SpanLink(
                    first=match.first,
                    last=match.last,
                    meaning=match.meaning,
                    weight=match.weight,
                    phrase_tokens=match.tokens,
                )
        for match in matches:
            if not match.is_complete and (match.first, match.last) not in owners:
                hint = replace(match.meaning, is_hint=True)
                yield SpanLink(first=match.first, last=match.last, meaning=hint, weight=_HINT_WEIGHT)

    def _count_support(self, match: PhraseMatch[FieldMention], tokens: Sequence[QuestionToken]) -> int:
        """Returns how well the other words of the question fit the name of the field; a shorter name fits better."""
        whole_name, head_name, synonyms = self._name_stems_of((match.meaning.field, match.meaning.column))
        others = {token.stem for index, token in enumerate(tokens) if not match.first <= index < match.last}
        others -= self._stop_word_stems
        return 100 * len(whole_name & others) + 10 * len(synonyms & others) - len(head_name)

    def _name_stems_of(self, key: FieldKey) -> tuple[Set[str], Set[str], Set[str]]:
        """Returns the stems of the whole name, of its part before "per", and of the synonyms without these."""
        if key not in self._name_stems_by_field:
            field = self.get_field(*key)
            whole_name = frozenset(self._stems_in(f"{field.name.replace('_', ' ')} {field.title}"))
            head_name = frozenset(self._stems_in(field.label.casefold().split(" per ")[0])) or whole_name
            synonyms = frozenset(self._stems_in(" ".join(field.plain_synonyms))) - whole_name
            self._name_stems_by_field[key] = whole_name, head_name, synonyms
        return self._name_stems_by_field[key]

    def _degree_links(self, tokens: Sequence[QuestionToken]) -> Iterator[SpanLink]:
        """ "Low toxicity": yields links to the values of that degree, for the degree word and the field's name."""
        for index, name, values, weight in find_degree_values(tokens, self.schema, self.roles, self.vocabularies):
            meaning = (
                ValueMatch(name, None, values[0])
                if len(values) == 1
                else PartialMatch(name, None, tuple(sorted(values)), is_single_name=True)
            )
            yield SpanLink(first=index, last=index + 2, meaning=meaning, weight=weight)

    def _exact_form_bonus(self, meaning: LinkMeaning, tokens: Sequence[QuestionToken]) -> float:
        """Returns a bonus for a value or noun that is spelled exactly like the tokens.

        Other meanings may have the same stems: "Engineering" and "engineer", "listing" and "listed".
        """
        phrase = " ".join(token.word for token in tokens)
        if isinstance(meaning, BucketNoun):
            return _EXACT_NOUN_BONUS if phrase in self._ambiguous_nouns else 0.0
        return _EXACT_VALUE_BONUS if isinstance(meaning, ValueMatch) and fold_text(meaning.value) == phrase else 0.0

    @cached_property
    def _ambiguous_nouns(self) -> frozenset[str]:
        """Nouns of the bucket that share their stems with a phrase of a field."""
        field_names = (name for field in self.schema.fields for name in (field.label, *field.plain_synonyms))
        folded_names = {fold_text(name) for name in field_names}
        nouns = {fold_text(noun) for noun in (self.schema.title, *self.schema.synonyms)} - folded_names
        return frozenset(noun for noun in nouns if len(self._meanings_of(self._stems_in(noun))) > 1)

    def _coordinated_links(self, tokens: Sequence[QuestionToken], stems: tuple[str, ...]) -> Iterator[SpanLink]:
        """ "Phase 1 or 2": yields links for a number or letter that completes the words before it."""
        for index in range(2, len(tokens) - 1):
            if (
                tokens[index].word not in _CONJUNCTIONS
                or not _is_number_or_letter(tokens[index - 1])
                or not _is_number_or_letter(tokens[index + 1])
            ):
                continue
            for first in range(max(index - _MAX_REORDERED_WORDS, 0), index - 1):
                meanings_before = self._meanings_of(stems[first:index])
                for meaning in self._meanings_of((*stems[first : index - 1], stems[index + 1])):
                    if isinstance(meaning, ValueMatch) and any(
                        _has_same_field(other, meaning) for other in meanings_before
                    ):
                        yield SpanLink(first=index + 1, last=index + 2, meaning=meaning, weight=_COORDINATED_WEIGHT)

    def _negative_prefix_links(self, tokens: Sequence[QuestionToken]) -> Iterator[SpanLink]:
        """ "Unassigned", "unfurnished": yields links to a field without a value, or to a flag that is not set."""
        for index, token in enumerate(tokens):
            base = next(
                (token.word[len(prefix) :] for prefix in _NEGATIVE_PREFIXES if token.word.startswith(prefix)), ""
            )
            if len(base) <= _MAX_SHORT_WORD_LETTERS or token.is_quoted or self._knows_stem(token.stem):
                continue
            name = self._field_by_stem.get("".join(self._stems_in(base)))
            if name is not None:
                yield SpanLink(
                    first=index, last=index + 1, meaning=FieldMention(name, is_negated=True), weight=_NEGATED_WEIGHT
                )

    def _negated_participle_links(self, tokens: Sequence[QuestionToken]) -> Iterator[SpanLink]:
        """ "Not assigned", "not yet paid": yields links to a field without a value, if no value follows."""
        for index, token in enumerate(tokens[:-1]):
            participle_index = index + 1 + (tokens[index + 1].word in ("yet", "been") and index + 2 < len(tokens))
            word_after = tokens[participle_index + 1].word if participle_index + 1 < len(tokens) else ""
            if token.word not in ("not", "never") or not tokens[participle_index].word.endswith(_PARTICIPLE_SUFFIXES):
                continue
            if tokens[participle_index].word in ENDED_WORDS:
                continue  # "not expired" compares the end date with today
            field_name = self._field_by_stem.get(tokens[participle_index].stem)
            ends_clause = word_after in _WORDS_AFTER_PARTICIPLE or not word_after
            if (
                field_name is not None
                and ends_clause
                and self.get_field(field_name).type in (FieldType.DATE, FieldType.CATEGORY)
            ):
                yield SpanLink(
                    first=index,
                    last=participle_index + 1,
                    meaning=FieldMention(field_name, is_negated=True),
                    weight=2 * _NEGATED_WEIGHT,
                )

    def _flag_phrase_links(self, tokens: Sequence[QuestionToken]) -> Iterator[SpanLink]:
        words = tuple(token.word for token in tokens)
        for phrase, meaning in self._flag_phrases.items():
            for first in range(len(words) - len(phrase) + 1):
                last = first + len(phrase)
                if words[first:last] == phrase and _keeps_quotations_whole(tokens, first, last):
                    yield SpanLink(first=first, last=last, meaning=meaning, weight=_NEGATED_WEIGHT * len(phrase))

    @cached_property
    def _field_by_stem(self) -> Mapping[str, FieldName]:
        """Maps each stem in the names of exactly one field to this field; function words are included."""
        owners: dict[str, set[FieldName]] = defaultdict(set)
        for field in self.schema.fields:
            for name in (field.name.replace("_", " "), field.title, *field.plain_synonyms):
                for stem in self._stems_in(name):
                    owners[stem].add(field.name)
        whole_names = {stem: field.name for field in self.schema.fields for stem in self._whole_name_stems(field)}
        return {stem: next(iter(names)) for stem, names in owners.items() if len(names) == 1} | whole_names

    def _whole_name_stems(self, field: SchemaField) -> Iterator[str]:
        """Yields the stems that are the whole name of the field: of `vaccinated`, not of `vaccination_due`."""
        names = (self._stems_in(name) for name in (field.name.replace("_", " "), field.title))
        yield from (stems[0] for stems in names if len(stems) == 1)

    def get_field(self, name: FieldName, column: FieldName | None = None) -> SchemaField:
        """Returns the field or column; the title of the documents counts as a text field."""
        field = _TITLE if name == TITLE_FIELD else self.schema.by_name[name]
        return field if column is None else next(candidate for candidate in field.columns if candidate.name == column)

    @cached_property
    def roles(self) -> FieldRoles:
        """The fields with values by what they hold."""
        return FieldRoles(self.schema, self.vocabularies, self.is_identifying)

    def meanings_of_text(self, text: str) -> Sequence[LinkMeaning]:
        """Returns what the whole text may mean: a noun, fields it names, values."""
        return tuple(self._meanings_of(self._stems_in(text)))

    @cached_property
    def measurable_fields(self) -> Sequence[tuple[SchemaField, FieldName | None]]:
        """The fields that a number, amount or date may belong to, then such columns with their rows field."""
        fields = [(field, None) for field in self.schema.fields]
        columns = [(column, field.name) for field in self.schema.fields for column in field.columns]
        return [pair for pair in (*fields, *columns) if pair[0].type in _MEASURABLE_TYPES]

    @cached_property
    def field_units(self) -> frozenset[str]:
        """The units of its number fields."""
        return frozenset(field.unit for field, _ in self.measurable_fields if field.unit)

    def vocabulary_of(self, name: FieldName, column: FieldName | None = None) -> FieldVocabulary | None:
        return self.vocabularies.get(name if column is None else FieldName(f"{name}.{column}"))

    def count_documents_with(self, name: FieldName, value: str) -> int:
        """Returns how many documents have the value according to the vocabulary."""
        return self._value_counts(name).get(value, 0)

    def _value_counts(self, name: FieldName) -> Mapping[str, int]:
        if name not in self._counts_by_field:
            vocabulary = self.vocabulary_of(name)
            self._counts_by_field[name] = (
                {value.value: value.count for value in vocabulary.values} if vocabulary else {}
            )
        return self._counts_by_field[name]

    def folded_values_of(self, name: FieldName, column: FieldName | None = None) -> Sequence[str]:
        """Returns the values of a field, folded for comparison."""
        key = (name, column)
        if key not in self._folded_by_field:
            vocabulary = self.vocabulary_of(name, column)
            self._folded_by_field[key] = [fold_text(value.value) for value in vocabulary.values] if vocabulary else []
        return self._folded_by_field[key]

    @cached_property
    def noun_stems(self) -> frozenset[str]:
        """The stems of the nouns for the bucket's documents."""
        nouns = (self.schema.bucket.replace("_", " "), self.schema.title, *self.schema.synonyms)
        return frozenset(stem for noun in nouns for stem in self._stems_in(noun))

    def stems_of(self, name: FieldName) -> frozenset[str]:
        """Returns the stems of a field's name, title, synonyms and description."""
        if name not in self._stems_by_field:
            field = self.get_field(name)
            text = " ".join((name.replace("_", " "), field.title, *field.synonyms, field.description))
            self._stems_by_field[name] = frozenset(self._stems_in(text))
        return self._stems_by_field[name]

    def label_stems_of(self, name: FieldName) -> frozenset[str]:
        """Returns the stems of the content words of a field's name and title."""
        if name not in self._label_stems_by_field:
            field = self.get_field(name)
            stems = frozenset(self._stems_in(f"{name.replace('_', ' ')} {field.title}"))
            self._label_stems_by_field[name] = stems - self._stop_word_stems
        return self._label_stems_by_field[name]

    def _build_hints(self) -> Mapping[str, FieldMention]:
        """Maps each stem that belongs to a single field to this field ("dissipate": power dissipation); names take
        precedence over descriptions.
        """
        hints: dict[str, FieldMention] = {}
        nouns = frozenset[str]().union(
            *(phrase for phrase, meanings in self._schema_phrases.items() if BucketNoun() in meanings)
        )
        for from_description in (False, True):
            owners: dict[str, set[FieldName]] = defaultdict(set)
            for field in self.schema.fields:
                for stem in self._informative_stems(field, from_description=from_description) - nouns:
                    owners[stem].add(field.name)
            hints |= {
                stem: FieldMention(next(iter(names)), is_hint=True)
                for stem, names in owners.items()
                if len(names) == 1 and stem not in hints
            }
        return hints

    def _informative_stems(self, field: SchemaField, *, from_description: bool) -> set[str]:
        text = (
            field.description
            if from_description
            else " ".join((field.name.replace("_", " "), field.title, *field.plain_synonyms))
        )
        words, terms = self.analyser.extract_words(text), self.analyser.extract_terms(text)
        return {
            term.text
            for word, term in zip(words, terms, strict=True)
            if len(word.text) > _MAX_SHORT_WORD_LETTERS
            and word.text not in _UNINFORMATIVE_WORDS
            and not word.text.isdigit()
        }

    def is_categorical(self, name: FieldName, column: FieldName | None = None) -> bool:
        """Whether the field classifies documents instead of naming each of them."""
        if name == TITLE_FIELD:
            return False
        vocabulary = self.vocabulary_of(name, column)
        return vocabulary is not None and len(vocabulary.values) <= max(
            _MAX_CATEGORY_VALUES, vocabulary.document_count / 10
        )

    @property
    def holds_records(self) -> bool:
        """Whether the documents are records with several fields, and not texts with a few labels."""
        return len(self.schema.fields) >= _MIN_RECORD_FIELDS

    @cached_property
    def has_end_dates(self) -> bool:
        """Whether a date that some documents lack says when they ended: "left on", "retired", "deceased"."""
        return any(
            field.type is FieldType.DATE
            and (entry := self.vocabulary_of(field.name)) is not None
            and entry.document_count < _MAX_ENDED_SHARE * self.document_count
            and bool(_END_LABEL_WORDS & {*fold_text(field.label).split(), *field.name.split("_")})
            for field in self.schema.fields
        )

    @cached_property
    def end_fields(self) -> EndFields:
        """The fields that say whether something is over."""
        nouns = (word for noun in (self.schema.title, *self.schema.synonyms) for word in fold_text(noun).split())
        return EndFields(self.schema, self.vocabularies, self.document_count, frozenset(nouns))

    def is_identifying(self, name: FieldName) -> bool:
        """Whether nearly every document has its own value, even where there are few documents.

        What names documents elsewhere, as a neighbour or an owner, is no name of the document itself.
        """
        vocabulary = self.vocabulary_of(name)
        return (
            vocabulary is not None
            and name not in self.schema.references
            and len(vocabulary.values) > 1
            and vocabulary.document_count <= _MAX_DOCUMENTS_PER_VALUE * len(vocabulary.values)
        )

    def normalize_plural(self, token: QuestionToken) -> QuestionToken:
        """Returns the token, in the singular if the lexicon has only the singular: "PNPs"."""
        stem = token.stem
        of_men = singular_of_men(token.word)
        if (of_men is None and not token.word.endswith("s")) or self._knows_stem(stem):
            return token
        word = token.word
        singulars = (of_men or word[:-1], f"{word[:-3]}y" if word.endswith("ies") else word)
        return next((replace(token, stem=singular) for singular in singulars if self._knows_stem(singular)), token)

    def _knows_stem(self, stem: str) -> bool:
        return (
            stem in self._max_length_by_stem or self._value_index.has_term(stem) or self._value_index.has_prefix(stem)
        )

    def knows_word(self, word: str) -> bool:
        """Whether a name or a value of the bucket contains the word, in any inflection."""
        return all(map(self._knows_stem, self._stems_in(word)))

    def correct_spelling(self, token: QuestionToken) -> tuple[str, str] | None:
        """Returns the known word that `token` misspells, and its stem; None for a word that is known, too short or
        not close to a known word.
        """
        word = token.word
        if (
            len(word) < _MIN_CORRECTABLE_LETTERS
            or not word.isalpha()
            or word in _UNINFORMATIVE_WORDS | GENERIC_NOUNS | PEOPLE_NOUNS | HAVING_VERBS
            or token.stem in self._known_stems
        ):
            return None
        max_edits = 1 if len(word) < _MIN_LETTERS_FOR_TWO_EDITS else 2
        candidates = [
            candidate
            for size in range(-max_edits, max_edits + 1)
            for candidate in self._words_by_initial_and_length.get((word[0], len(word) + size), ())
        ]
        matches = extract(word, candidates, scorer=OSA.distance, score_cutoff=max_edits, limit=4)
        corrections = sorted((distance, candidate) for candidate, distance, _ in matches)
        return (corrections[0][1], self._stem_by_known_word[corrections[0][1]]) if corrections else None

    @cached_property
    def _max_length_by_stem(self) -> Mapping[str, int]:
        """Maps the first stem of the schema's phrases to the length of the longest of them, in tokens."""
        longest: dict[str, int] = {}
        for phrase in self._schema_phrases:
            longest[phrase[0]] = max(longest.get(phrase[0], 0), len(phrase))
        return longest

    def _max_phrase_length(self, stems: tuple[str, ...], first: int) -> int:
        """Returns the number of tokens of the longest possible phrase that starts at `first`."""
        longest = self._max_length_by_stem.get(stems[first], 0)
        while (
            longest < MAX_PHRASE_TERMS
            and first + longest < len(stems)
            and self._value_index.has_prefix(" ".join(stems[first : first + longest + 1]))
        ):
            longest += 1
        return longest

    def _meanings_of(self, phrase: tuple[str, ...]) -> Mapping[LinkMeaning, int]:
        """Returns the meanings with their document counts, in the order of the schema's fields; names before values."""
        schema_meanings = self._schema_phrases.get(phrase, {})
        value_meanings = {
            _meaning_for(values): values.document_count for values in self._value_index.match_phrase(" ".join(phrase))
        }
        if not schema_meanings or not value_meanings:
            return schema_meanings or value_meanings
        return {
            meaning: value_meanings.get(meaning, schema_meanings.get(meaning, 0))
            for meaning in sorted([*schema_meanings, *value_meanings], key=self._schema_position)
        }

    def _schema_position(self, meaning: LinkMeaning) -> int:
        return -1 if isinstance(meaning, BucketNoun) else self._field_positions[meaning.field]

    @cached_property
    def _stem_by_known_word(self) -> Mapping[str, str]:
        """Maps every word of names and values to its stem."""
        texts = [*self._value_index.values_for_spelling(), list(self._schema_names())]
        words = sorted(set[str]().union(*(self.analyser.index_terms_of("\n".join(part)).words for part in texts)))
        return dict(zip(words, self.analyser.joined_terms_of(words), strict=True))

    @cached_property
    def _known_stems(self) -> frozenset[str]:
        return frozenset(self._stem_by_known_word.values())

    @cached_property
    def _words_by_initial_and_length(self) -> Mapping[tuple[str, int], Sequence[str]]:
        """The known words by first letter and length; a misspelling is rarely in the first letter."""
        words: dict[tuple[str, int], list[str]] = defaultdict(list)
        for word in self._stem_by_known_word:
            words[word[:1], len(word)].append(word)
        return dict(words)

    def _schema_names(self) -> Iterator[str]:
        """Yields the names of the bucket, its fields and the schema's values."""
        yield from (self.schema.title, *self.schema.synonyms)
        for field in self.schema.fields:
            yield from (
                field.label,
                *field.plain_synonyms,
                *field.values,
                *(synonym for synonyms in field.values.values() for synonym in synonyms),
            )

    def _stems_in(self, text: str) -> tuple[str, ...]:
        return tuple(self.analyser.index_terms_of(text).joined_terms.split())

    def _add_phrase(self, text: str, meaning: LinkMeaning, document_count: int = 0) -> None:
        stems = self._stems_in(text)
        if stems and len(stems) <= MAX_PHRASE_TERMS:
            self._schema_phrases[stems][meaning] = max(document_count, self._schema_phrases[stems].get(meaning, 0))

    def _add_nouns(self) -> None:
        for noun in (self.schema.bucket.replace("_", " "), self.schema.title, *self.schema.synonyms):
            self._add_phrase(noun, BucketNoun())

    def _add_field(self, field: SchemaField, row_field: FieldName | None) -> None:
        name, column = (field.name, None) if row_field is None else (row_field, field.name)
        for phrase in (field.name.replace("_", " "), field.title, *field.plain_synonyms):
            self._add_phrase(phrase, FieldMention(name, column))
        for phrase in field.question_phrases:
            self._question_phrases.add_phrase(phrase, FieldMention(name, column, is_question=True))
        vocabulary = self.vocabulary_of(name, column)
        counts = {value.value: value.count for value in vocabulary.values} if vocabulary and field.values else {}
        if field.type is FieldType.FLAG:
            self._add_flag_phrases(field)
            return
        for phrase, values in _values_by_phrase(field).items():
            meaning = (
                ValueMatch(name, column, values[0])
                if len(values) == 1
                else PartialMatch(name, column, values, is_single_name=True)
            )
            self._add_phrase(phrase, meaning, max(counts.get(value, 0) for value in values))
        if field.type in (FieldType.CATEGORY, FieldType.LIST, FieldType.TEXT) and vocabulary and vocabulary.values:
            self._value_index.add_values(
                (name, column), vocabulary.values, is_categorical=self.is_categorical(name, column)
            )

    def _add_titles(self, titles: Sequence[ValueCount]) -> None:
        """Adds the titles of the documents, unless a field holds the same names."""
        folded_titles = {fold_text(title.value) for title in titles}
        names = (
            field.name
            for field in self.schema.fields
            if field.type in (FieldType.TEXT, FieldType.CATEGORY) and self.is_identifying(field.name)
        )
        if not titles or any(
            len(folded_titles & set(self.folded_values_of(name))) >= _MIN_MIRRORED_SHARE * len(folded_titles)
            for name in names
        ):
            return
        self.vocabularies = {
            **self.vocabularies,
            TITLE_FIELD: FieldVocabulary(
                bucket=self.bucket, field=TITLE_FIELD, document_count=self.document_count, values=tuple(titles)
            ),
        }
        self._field_positions[TITLE_FIELD] = -1
        self._value_index.add_whole_values((TITLE_FIELD, None), titles)

    def _add_flag_phrases(self, field: SchemaField) -> None:
        """Adds the synonyms of the two values as words, not stems: an inflected form may refer to a date instead."""
        for value, synonyms in field.values.items():
            for synonym in synonyms:
                words = tuple(word.text for word in self.analyser.extract_words(synonym))
                self._flag_phrases[words] = FieldMention(field.name, is_negated=value == _UNSET_FLAG)

    def _partial_links(self, tokens: Sequence[QuestionToken]) -> Iterator[SpanLink]:
        runs: dict[FieldKey, tuple[int, int, Set[int]]] = {}
        for index, token in enumerate(tokens):
            postings = self._postings_for(token)
            for key in list(runs):
                if key not in postings or runs[key][2].isdisjoint(postings[key]):
                    yield from self._partial_match_links(key, runs.pop(key), tokens)
            for key, values in postings.items():
                first, _, common_values = runs.get(key, (index, index, values))
                runs[key] = (first, index + 1, common_values & values)
        for key, run in runs.items():
            yield from self._partial_match_links(key, run, tokens)

    def _reordered_links(self, tokens: Sequence[QuestionToken]) -> Iterator[SpanLink]:
        """ "Assign IP ownership" for an ownership assignment: yields links for the words of a phrase in another order,
        with function words between them.
        """
        content_indexes = [
            index for index, token in enumerate(tokens) if token.word not in STOP_WORDS and not token.is_quoted
        ]
        for start, first in enumerate(content_indexes):
            stems = {tokens[first].stem}
            for last in content_indexes[start + 1 : start + _MAX_REORDERED_WORDS]:
                between = tokens[first : last + 1]
                stop_words = [token.word for token in between if token.word in STOP_WORDS]
                if (
                    last - first > _MAX_REORDERED_SPAN
                    or not set(stop_words) <= _STOP_WORDS_IN_NAMES | _STOP_WORDS_IN_FLAGS
                ):
                    break
                needs_flag = bool(set(stop_words) & _STOP_WORDS_IN_FLAGS)
                stems.add(tokens[last].stem)
                for meaning in self._meanings_by_stem_set.get(frozenset(stems), ()):
                    if needs_flag and not (self.is_flag(meaning) or self._is_count_field(meaning)):
                        continue
                    if not self._meanings_of(tuple(token.stem for token in between)):
                        is_field = isinstance(
                            meaning, FieldMention
                        )  # slightly less than the same words in their own order
                        weight = (1.8 if is_field else 2.0) * len(stems) + 0.2 * (len(stems) - 1) - 0.1
                        yield SpanLink(first=first, last=last + 1, meaning=meaning, weight=weight)

    @cached_property
    def _meanings_by_stem_set(self) -> Mapping[frozenset[str], Sequence[LinkMeaning]]:
        """Maps the stems of each phrase of a field or category, without order, to its meanings."""
        meanings_by_stems: dict[frozenset[str], dict[LinkMeaning, None]] = defaultdict(dict)
        for phrase, meaning in self._reorderable_phrases():
            stems = frozenset(phrase) - self._stop_word_stems if len(phrase) > 1 else frozenset[str]()
            if 1 < len(stems) <= _MAX_REORDERED_WORDS:
                meanings_by_stems[stems][meaning] = None
        return {
            stems: tuple(sorted(meanings, key=self._schema_position)) for stems, meanings in meanings_by_stems.items()
        }

    def is_flag(self, meaning: LinkMeaning) -> bool:
        """Whether the meaning is a mention of a flag field."""
        is_mention = isinstance(meaning, FieldMention)
        return is_mention and self.get_field(meaning.field, meaning.column).type is FieldType.FLAG

    def _is_count_field(self, meaning: LinkMeaning) -> bool:
        """ "How many *tickets were sold*": whether the meaning is a number field without a unit."""
        is_plain_mention = isinstance(meaning, FieldMention) and meaning.column is None and not meaning.is_hint
        field = self.get_field(meaning.field) if is_plain_mention and isinstance(meaning, FieldMention) else None
        return field is not None and field.type is FieldType.NUMBER and not field.unit

    def is_named_by(self, name: FieldName, stem: str) -> bool:
        """Whether the name or title of the field contains the stem."""
        field = self.schema.by_name[name]
        return stem in self._stems_in(f"{name.replace('_', ' ')} {field.title}")

    def most_hinted_fields(self, stems: Iterable[str]) -> tuple[FieldName, ...]:
        """Returns the field that most of the stems hint at, if there are several and no tie; else nothing."""
        counts = Counter(self._hints[stem].field for stem in set(stems) if stem in self._hints)
        best = counts.most_common(2)
        is_clear = bool(best) and best[0][1] > 1 and (len(best) == 1 or best[0][1] > best[1][1])
        return (best[0][0],) if is_clear else ()

    def field_hinted_by(self, stem: str) -> FieldName | None:
        """Returns the single field that the stem hints at, even if the stem has other meanings; or None."""
        hint = self._hints.get(stem)
        return None if hint is None or hint.column is not None else hint.field

    @cached_property
    def person_field(self) -> FieldName | None:
        """The first categorical field for a person: the assignee, the agent."""
        for field in self.schema.fields:
            words = {word for name in (field.label, *field.plain_synonyms) for word in fold_text(name).split()}
            if field.type is FieldType.CATEGORY and words & PERSON_NOUNS and not self.is_identifying(field.name):
                return field.name
        return None

    @property
    def sole_person_field(self) -> FieldName | None:
        """The field for a person, unless question phrases show that several fields answer "who …"."""
        answering = [
            field for field in self.schema.fields if any(phrase.startswith("who ") for phrase in field.question_phrases)
        ]
        return self.person_field if len(answering) <= 1 else None

    @cached_property
    def _contains_people(self) -> bool:
        return self.roles.holds_people or any(
            BucketNoun() in self._meanings_of(self._stems_in(noun)) for noun in ("people", "person", "employee")
        )

    def find_date_fields(self, phrases: Iterable[str]) -> tuple[FieldName, ...]:
        """Returns the date field named by the first phrase that names one; else nothing."""
        for phrase in phrases:
            mentions = [
                mention for mention in self._meanings_of(self._stems_in(phrase)) if isinstance(mention, FieldMention)
            ]
            for mention in mentions:
                if mention.column is None and self.get_field(mention.field).type is FieldType.DATE:
                    return (mention.field,)
        return ()

    def _reorderable_phrases(self) -> Iterator[tuple[Sequence[str], LinkMeaning]]:
        for phrase, meanings in self._schema_phrases.items():
            yield from (
                (phrase, meaning)
                for meaning in meanings
                if isinstance(meaning, FieldMention) or self._is_category_value(meaning)
            )
        for field in self.schema.fields:
            if self.is_categorical(field.name):
                for phrase, value in self._value_index.unambiguous_phrases((field.name, None)):
                    yield phrase.split(), ValueMatch(field.name, None, value)

    @cached_property
    def _stop_word_stems(self) -> frozenset[str]:
        return frozenset(term.text for term in self.analyser.extract_terms(" ".join(STOP_WORDS)))

    def _is_category_value(self, meaning: LinkMeaning) -> bool:
        if not isinstance(meaning, ValueMatch):
            return False
        key = (meaning.field, meaning.column)
        if key not in self._categorical_by_field:
            self._categorical_by_field[key] = meaning.column is None and self.is_categorical(meaning.field)
        return self._categorical_by_field[key] or meaning.value in self.get_field(*key).values

    def _postings_for(self, token: QuestionToken) -> Mapping[FieldKey, Set[int]]:
        is_skipped = len(token.stem) < 2 or token.is_quoted or token.word in STOP_WORDS or token.word in FILLER_WORDS
        is_skipped = is_skipped or token.word in LEGAL_FORMS or token.word in ORDERING_WORDS or token.word in NEGATIONS
        if is_skipped or token.word in AGGREGATE_WORDS or token.word in COMPARATORS:
            return {}
        return self._value_index.postings_for(token.stem)

    def _partial_match_links(
        self, field_key: FieldKey, token_run: tuple[int, int, Set[int]], tokens: Sequence[QuestionToken]
    ) -> Iterator[SpanLink]:
        (name, column), (first, last, values) = field_key, token_run
        vocabulary = self.vocabulary_of(name, column)
        distinct_count = len(vocabulary.values) if vocabulary else 0
        if len(values) > _MAX_PARTIAL_VALUES and len(values) > distinct_count / 4:
            return
        words = tokens[first:last]
        if all(token.word.isdigit() for token in words):
            return  # a number alone does not identify a name
        if self._value_index.style_of(field_key) is ValueStyle.NAMES and not any(token.is_name for token in words):
            return
        if self._value_index.style_of(field_key) is ValueStyle.PLAIN:
            return  # the last words of a category are phrases of their own in the index
        meaning = PartialMatch(name, column, tuple(sorted(self._value_index.values_at(field_key, values))))
        yield SpanLink(first=first, last=last, meaning=meaning, weight=_link_weight(meaning, words, len(values)))


def _is_relative_clause(match: PhraseMatch[FieldMention], tokens: Sequence[QuestionToken]) -> bool:
    """ "Islands *where* nobody lives": whether "where" follows a plural, so that it asks nothing."""
    first = min(match.tokens)
    return first > 0 and tokens[first].word == "where" and looks_plural(tokens[first - 1])


def _values_by_phrase(field: SchemaField) -> Mapping[str, tuple[str, ...]]:
    """Returns the values that each phrase of the schema stands for: "former" may be "left" and "retired"."""
    values_by_phrase: dict[str, dict[str, None]] = defaultdict(dict)
    for value, synonyms in field.values.items():
        for synonym in synonyms:
            values_by_phrase[fold_text(synonym)][value] = None
    for value in field.values:
        values_by_phrase[fold_text(value)] = {value: None}
    return {phrase: tuple(sorted(values)) for phrase, values in values_by_phrase.items()}


def _is_number_or_letter(token: QuestionToken) -> bool:
    """Whether the token is a number or a single letter."""
    return (token.word.isdigit() or len(token.word) == 1) and not token.is_quoted


def _has_same_field(meaning: LinkMeaning, value_match: ValueMatch) -> bool:
    return isinstance(meaning, ValueMatch) and (meaning.field, meaning.column) == (
        value_match.field,
        value_match.column,
    )


def _meaning_for(phrase_values: PhraseValues) -> LinkMeaning:
    """Returns the meaning of the values of one phrase. "Transistor" matches the category "power transistor" too."""
    name, column = phrase_values.field_key
    if len(phrase_values.values) == 1:
        return ValueMatch(name, column, phrase_values.values[0])
    return PartialMatch(
        name,
        column,
        tuple(sorted(phrase_values.values)),
        by_head_words=phrase_values.by_head_words,
        is_single_name=not phrase_values.by_head_words,
    )


def _keeps_quotations_whole(tokens: Sequence[QuestionToken], first: int, last: int) -> bool:
    """Whether the span includes quotations completely or not at all."""
    quoted_flags = [token.is_quoted for token in tokens[first:last]]
    if not any(quoted_flags):
        return True
    cuts_quotation = (first > 0 and tokens[first - 1].is_quoted) or (last < len(tokens) and tokens[last].is_quoted)
    return all(quoted_flags) and not cuts_quotation


def _has_only_stop_words(meaning: LinkMeaning, tokens: Sequence[QuestionToken]) -> bool:
    """Whether the tokens are only function words, and not written as a name: "or" is one, "OR" may be a place.

    A verb of requests in a longer name is no function word: "on display".
    """
    has_only_form = all(token.word in STOP_WORDS or len(token.word) == 1 for token in tokens)
    has_only_form = has_only_form and not (len(tokens) > 1 and tokens[-1].word in LIST_VERBS)
    if not has_only_form or isinstance(meaning, BucketNoun):
        return False
    return isinstance(meaning, FieldMention) or not any(token.is_name or token.is_quoted for token in tokens)


def _only_ends_in(meaning: LinkMeaning, tokens: Sequence[QuestionToken]) -> bool:
    """Whether the tokens are only the last words of the only value that ends in them."""
    return isinstance(meaning, ValueMatch) and len(fold_text(meaning.value).split()) > len(tokens)


def _link_weight(meaning: LinkMeaning, tokens: Sequence[QuestionToken], document_count: int) -> float:
    """Returns the weight of a link: longer spans and whole values weigh more, then values of more documents."""
    content_length = sum(1.0 if token.word not in STOP_WORDS else 0.3 for token in tokens)
    frequency_bonus = 0.01 * min(math.log10(1 + document_count), 5)
    match meaning:
        case BucketNoun():
            return 1.6 * content_length
        case ValueMatch():
            is_number = all(token.word.isdigit() for token in tokens)
            frequency_bonus += _TITLE_BONUS * (meaning.field == TITLE_FIELD)
            return (0.8 if is_number else 2.0) * content_length + 0.2 * (len(tokens) - 1) + frequency_bonus
        case FieldMention(is_hint=True):
            return _HINT_WEIGHT
        case FieldMention():
            return 1.8 * content_length
        case PartialMatch(by_head_words=True) | PartialMatch(is_single_name=True):
            return 2.0 * content_length + 0.2 * (len(tokens) - 1) * meaning.is_single_name + frequency_bonus
        case PartialMatch(column=column, values=values):
            return (1.2 if column is None else 1.1) * content_length - 0.1 - min(len(values), 100) / 1000


def build_lexicons(
    schemas: Mapping[BucketId, Schema], vocabulary: VocabularyLookup, analysers: Mapping[BucketId, Analyser]
) -> Mapping[BucketId, BucketLexicon]:
    """Returns a lexicon for each bucket."""
    return {
        bucket: BucketLexicon(
            schema,
            vocabulary.fields_of(bucket),
            analysers[bucket],
            vocabulary.document_count_of(bucket),
            vocabulary.titles_of(bucket),
        )
        for bucket, schema in schemas.items()
    }
