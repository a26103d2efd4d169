"""What phrases mean in a bucket: the names of its fields, words of them, and the values of its documents."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cached_property

from agent.english.abbreviations import acronyms_in, initials_of, spell_out_label
from agent.english.amount_names import phrases_of_tax
from agent.english.function_words import AGGREGATE_WORDS, COMPARATORS, FILLER_WORDS, NEGATIONS, STOP_WORDS
from agent.rules.lexicon.bucket_fields import BucketFields
from agent.rules.lexicon.question_phrases import QuestionPhraseIndex
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, LinkMeaning, PartialMatch, ValueMatch
from agent.rules.lexicon.value_phrase_index import (
    MAX_PHRASE_TERMS,
    FieldKey,
    PhraseValues,
    ValuePhraseIndex,
    ValueStyle,
)
from agent.rules.words.tokens import QuestionToken, singular_of_men
from storage.search.analyser import Analyser, fold_text
from storage.search.conditions import TITLE_FIELD
from storage.search.ids import FieldName
from storage.search.index import FieldVocabulary, ValueCount
from storage.search.schema import FieldType, Schema, SchemaField

MAX_REORDERED_WORDS = 5  # content words of a phrase that is recognised in any order of its words
_UNSET_FLAG = "false"  # how the schema writes the value of a flag that is not set
MAX_SHORT_WORD_LETTERS = 3  # letters up to which a word hints at no field
_UNINFORMATIVE_WORDS = STOP_WORDS | FILLER_WORDS | AGGREGATE_WORDS | COMPARATORS
_WORDS_FOR_IDENTIFIERS = frozenset(
    "id ids no nr number num ref reference code key name title label date description notes note contact".split()
)
_MAX_INITIALLED_VALUES = 200  # of a field: the most common ones
_MIN_MIRRORED_SHARE = 0.9  # share of the titles that a field holds too, from which the field stands for them


class PhraseMeanings(BucketFields):
    """The phrases of one bucket and their meanings. A phrase is a tuple of stems of the bucket's analyser."""

    def __init__(
        self,
        schema: Schema,
        vocabulary: Iterable[FieldVocabulary],
        analyser: Analyser,
        document_count: int,
        titles: Sequence[ValueCount] = (),
    ) -> None:
        super().__init__(schema, vocabulary, document_count)
        self.analyser = analyser
        # The meanings of each phrase of the schema, with their numbers of documents.
        self._schema_phrases: dict[tuple[str, ...], dict[LinkMeaning, int]] = defaultdict(dict)
        self._flag_phrases: dict[tuple[str, ...], FieldMention] = {}  # words, not stems: "open" is not "opened"
        self._value_index = ValuePhraseIndex(analyser)
        self._question_phrases = QuestionPhraseIndex[FieldMention](analyser)
        self._field_positions: dict[FieldName, int] = {field.name: index for index, field in enumerate(schema.fields)}
        self._categorical_by_field: dict[FieldKey, bool] = {}
        self._stems_by_field: dict[FieldName, frozenset[str]] = {}
        self._label_stems_by_field: dict[FieldName, frozenset[str]] = {}
        self._name_stems_by_field: dict[FieldKey, tuple[Set[str], Set[str], Set[str]]] = {}
        self._add_nouns()
        for field in schema.fields:
            self._add_field(field, None)
            for column in field.columns:
                self._add_field(column, field.name)
        self._add_titles(titles)
        self._hints = self._build_hints()

    def meanings_of_text(self, text: str) -> Sequence[LinkMeaning]:
        """Returns what the whole text may mean: a noun, fields it names, values."""
        return tuple(self._meanings_of(self._stems_in(text)))

    def names_documents(self, text: str) -> bool:
        """Whether the whole text is a noun for the bucket's documents."""
        return BucketNoun() in self._schema_phrases.get(self._stems_in(text), {})

    @cached_property
    def noun_stems(self) -> frozenset[str]:
        """The stems of the nouns for the bucket's documents."""
        nouns = (self.schema.bucket.replace("_", " "), self.schema.title, *self.schema.synonyms)
        return frozenset(stem for noun in nouns for stem in self._stems_in(noun)) | self._identified_nouns

    def stems_in(self, text: str) -> tuple[str, ...]:
        """Returns the stems of the words of a text, without stop words."""
        return self._stems_in(text)

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

    def fields_named_by(self, stem: str) -> Sequence[SchemaField]:
        """Returns the fields whose name or title has the stem as its only content word."""
        return [field for field in self.schema.fields if self.label_stems_of(field.name) == frozenset({stem})]

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

    def knows_word(self, word: str) -> bool:
        """Whether a name or a value of the bucket contains the word, in any inflection."""
        return all(map(self._knows_stem, self._stems_in(word)))

    def is_part_of_name(self, word: str) -> bool:
        """Whether the word is one of several in a name that is a value of the bucket, in any inflection."""
        stems = self._stems_in(word)
        return bool(stems) and all(
            any(self._value_index.style_of(key) is ValueStyle.NAMES for key in self._value_index.postings_for(stem))
            for stem in stems
        )

    def normalize_plural(self, token: QuestionToken) -> QuestionToken:
        """Returns the token, in the singular if the lexicon has only the singular: "PNPs"."""
        word = token.word
        if not word.endswith(("s", "men")):
            return token
        of_men = singular_of_men(word)
        if (of_men is None and not word.endswith("s")) or self._knows_stem(token.stem):
            return token
        singulars = (of_men or word[:-1], f"{word[:-3]}y" if word.endswith("ies") else word)
        return next((replace(token, stem=singular) for singular in singulars if self._knows_stem(singular)), token)

    def _knows_stem(self, stem: str) -> bool:
        return (
            stem in self._max_length_by_stem or self._value_index.has_term(stem) or self._value_index.has_prefix(stem)
        )

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

    def find_whole_values(self, texts: Sequence[str]) -> Sequence[Mapping[FieldName, tuple[str, ...]]]:
        """Returns the values that each whole text stands for, by field; columns of rows are left out."""
        return [
            {
                values.field_key[0]: tuple(values.values)
                for values in self._value_index.match_phrase(phrase)
                if phrase and values.field_key[1] is None and not values.by_head_words
            }
            for phrase in self.analyser.joined_terms_of(texts)
        ]

    def _schema_position(self, meaning: LinkMeaning) -> int:
        return -1 if isinstance(meaning, BucketNoun) else self._field_positions[meaning.field]

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

    @cached_property
    def _field_by_stem(self) -> Mapping[str, FieldName]:
        """Maps each stem in the names of exactly one field to this field; function words are included."""
        owners: dict[str, set[FieldName]] = defaultdict(set)
        for field in self.schema.fields:
            for name in _names_of(field):
                for stem in self._stems_in(name):
                    owners[stem].add(field.name)
        whole_names = {stem: field.name for field in self.schema.fields for stem in self._whole_name_stems(field)}
        return {stem: next(iter(names)) for stem, names in owners.items() if len(names) == 1} | whole_names

    def _whole_name_stems(self, field: SchemaField) -> Iterator[str]:
        """Yields the stems that are the whole name of the field: of `vaccinated`, not of `vaccination_due`."""
        names = (self._stems_in(name) for name in (field.name.replace("_", " "), field.title))
        yield from (stems[0] for stems in names if len(stems) == 1)

    def _name_stems_of(self, key: FieldKey) -> tuple[Set[str], Set[str], Set[str]]:
        """Returns the stems of the whole name, of its part before "per", and of the synonyms without these."""
        if key not in self._name_stems_by_field:
            field = self.get_field(*key)
            whole_name = frozenset(self._stems_in(f"{field.name.replace('_', ' ')} {field.title}"))
            head_name = frozenset(self._stems_in(field.label.casefold().split(" per ")[0])) or whole_name
            synonyms = frozenset(self._stems_in(" ".join(field.plain_synonyms))) - whole_name
            self._name_stems_by_field[key] = whole_name, head_name, synonyms
        return self._name_stems_by_field[key]

    @cached_property
    def _ambiguous_nouns(self) -> frozenset[str]:
        """Nouns of the bucket that share their stems with a phrase of a field."""
        field_names = (name for field in self.schema.fields for name in (field.label, *field.plain_synonyms))
        folded_names = {fold_text(name) for name in field_names}
        nouns = {fold_text(noun) for noun in (self.schema.title, *self.schema.synonyms)} - folded_names
        return frozenset(noun for noun in nouns if len(self._meanings_of(self._stems_in(noun))) > 1)

    @cached_property
    def _label_words(self) -> frozenset[str]:
        """The folded words of the labels of all fields."""
        return frozenset(word for field in self.schema.fields for word in fold_text(field.label).split())

    @cached_property
    def _fields_by_acronym(self) -> Mapping[str, FieldMention]:
        """Maps the words in capitals in the title of a single field to this field: "ra" to "RA received"."""
        owners: dict[str, set[FieldName]] = defaultdict(set)
        for field in self.schema.fields:
            for acronym in acronyms_in(field.label):
                owners[acronym].add(field.name)
        return {acronym: FieldMention(next(iter(names))) for acronym, names in owners.items() if len(names) == 1}

    @cached_property
    def _identified_nouns(self) -> frozenset[str]:
        """The stems that say what the values of an identifying column number: "Shift", "Booking ref", "Appt no".

        Synonyms of such a column are left out, since they are of many kinds.
        """
        nouns: set[str] = set()
        for field in self.schema.fields if self.holds_records else ():
            if field.type not in (FieldType.CATEGORY, FieldType.NUMBER) or not self._numbers_documents(field.name):
                continue
            for name in (field.name.replace("_", " "), field.label, *spell_out_label(field.label)):
                words = [word for word in fold_text(name).split() if word not in _WORDS_FOR_IDENTIFIERS]
                nouns |= set(self._stems_in(words[0])) if len(words) == 1 else set()
        return frozenset(nouns)

    def _numbers_documents(self, name: FieldName) -> bool:
        """Whether the field is identifying, by values with a digit: numbers and codes, and no names."""
        if self.running_number is not None and name == self.running_number.name:
            return True
        vocabulary = self.vocabulary_of(name)
        has_digits = vocabulary is not None and all(any(map(str.isdigit, item.value)) for item in vocabulary.values)
        return has_digits and self.is_identifying(name)

    @cached_property
    def _values_by_initials(self) -> Mapping[str, LinkMeaning]:
        """Maps the initials of categories to these, if they are of one field: "bp" to "Blood pressure monitor"."""
        found: dict[str, dict[FieldName, set[str]]] = defaultdict(lambda: defaultdict(set))
        for field in self.schema.fields:
            vocabulary = self.vocabulary_of(field.name)
            if vocabulary is None or field.type is not FieldType.CATEGORY or not self.is_categorical(field.name):
                continue
            for counted in vocabulary.values[:_MAX_INITIALLED_VALUES]:
                for initials in initials_of(counted.value):
                    found[initials][field.name].add(counted.value)
        return {
            initials: _meaning_of_values(*next(iter(by_field.items())))
            for initials, by_field in found.items()
            if len(by_field) == 1
        }

    @cached_property
    def _contains_people(self) -> bool:
        return self.roles.holds_people or any(
            BucketNoun() in self._meanings_of(self._stems_in(noun)) for noun in ("people", "person", "employee")
        )

    @cached_property
    def _meanings_by_stem_set(self) -> Mapping[frozenset[str], Sequence[LinkMeaning]]:
        """Maps the stems of each phrase of a field or category, without order, to its meanings.

        A phrase with a negation keeps its order: "closed yet" is the contrary of "not yet closed".
        """
        meanings_by_stems: dict[frozenset[str], dict[LinkMeaning, None]] = defaultdict(dict)
        for phrase, meaning in self._reorderable_phrases():
            is_orderless = len(phrase) > 1 and NEGATIONS.isdisjoint(phrase)
            stems = frozenset(phrase) - self._stop_word_stems if is_orderless else frozenset[str]()
            if 1 < len(stems) <= MAX_REORDERED_WORDS:
                meanings_by_stems[stems][meaning] = None
        return {
            stems: tuple(sorted(meanings, key=self._schema_position)) for stems, meanings in meanings_by_stems.items()
        }

    @cached_property
    def _reorderable_stems(self) -> frozenset[str]:
        """The stems of these phrases: a word with another stem is in none of them."""
        return frozenset[str]().union(*self._meanings_by_stem_set)

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

    def _is_category_value(self, meaning: LinkMeaning) -> bool:
        if not isinstance(meaning, ValueMatch):
            return False
        key = (meaning.field, meaning.column)
        if key not in self._categorical_by_field:
            self._categorical_by_field[key] = meaning.column is None and self.is_categorical(meaning.field)
        return self._categorical_by_field[key] or meaning.value in self.get_field(*key).values

    @cached_property
    def _stop_word_stems(self) -> frozenset[str]:
        return frozenset(term.text for term in self.analyser.extract_terms(" ".join(STOP_WORDS)))

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
        for phrase in _names_of(field):
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

    def _build_hints(self) -> Mapping[str, FieldMention]:
        """Maps each stem that belongs to a single field to this field ("dissipate": power dissipation); labels take
        precedence over synonyms, and these over descriptions.
        """
        hints: dict[str, FieldMention] = {}
        nouns = frozenset[str]().union(
            *(phrase for phrase, meanings in self._schema_phrases.items() if BucketNoun() in meanings)
        )
        for names_of in (_labels_of, _names_of, _description_of):
            owners: dict[str, set[FieldName]] = defaultdict(set)
            for field in self.schema.fields:
                for stem in self._informative_stems(" ".join(names_of(field))) - nouns:
                    owners[stem].add(field.name)
            hints |= {
                stem: FieldMention(next(iter(names)), is_hint=True)
                for stem, names in owners.items()
                if len(names) == 1 and stem not in hints
            }
        return hints

    def _informative_stems(self, text: str) -> set[str]:
        words, terms = self.analyser.extract_words(text), self.analyser.extract_terms(text)
        return {
            term.text
            for word, term in zip(words, terms, strict=True)
            if len(word.text) > MAX_SHORT_WORD_LETTERS
            and word.text not in _UNINFORMATIVE_WORDS
            and not word.text.isdigit()
        }


def _labels_of(field: SchemaField) -> Iterator[str]:
    yield from (field.name.replace("_", " "), field.title)


def _description_of(field: SchemaField) -> Iterator[str]:
    yield field.description


def _names_of(field: SchemaField) -> Iterator[str]:
    """Yields the names of a field: as its documents and its schema write it, and without abbreviations."""
    names = (field.name.replace("_", " "), field.title, *field.plain_synonyms)
    yield from names
    if field.type in (FieldType.MONEY, FieldType.NUMBER):
        yield from phrases_of_tax(field.label)
    yield from dict.fromkeys(spelled for name in names for spelled in spell_out_label(name))


def _values_by_phrase(field: SchemaField) -> Mapping[str, tuple[str, ...]]:
    """Returns the values that each phrase of the schema stands for: "former" may be "left" and "retired"."""
    values_by_phrase: dict[str, dict[str, None]] = defaultdict(dict)
    for value, synonyms in field.values.items():
        for synonym in synonyms:
            values_by_phrase[fold_text(synonym)][value] = None
    for value in field.values:
        values_by_phrase[fold_text(value)] = {value: None}
    return {phrase: tuple(sorted(values)) for phrase, values in values_by_phrase.items()}


def _meaning_of_values(name: FieldName, values: Set[str]) -> LinkMeaning:
    if len(values) == 1:
        return ValueMatch(name, None, next(iter(values)))
    return PartialMatch(name, None, tuple(sorted(values)))


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
