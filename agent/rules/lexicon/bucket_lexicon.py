"""Entity linking: what words may mean in a bucket, i.e. its nouns, its fields and the values of its visible documents.

The lexicon is built from schema and vocabulary only, so another corpus needs another lexicon but no other code.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from itertools import chain

from agent.decomposition import VocabularyLookup
from agent.english.abbreviations import may_be_acronym
from agent.english.function_words import (
    AGGREGATE_WORDS,
    COMPARATORS,
    DISTINCT_WORDS,
    ENDED_WORDS,
    FILLER_WORDS,
    FORMS_OF_BE,
    IDENTIFYING_NOUNS,
    LEGAL_FORMS,
    LIST_VERBS,
    MEMBER_NOUNS,
    MODAL_VERBS,
    NEGATIONS,
    ORDERING_WORDS,
    OWING_WORDS,
    PEOPLE_NOUNS,
    PREPOSITIONS,
    QUESTION_WORDS,
    STOP_WORDS,
    VAGUE_ADJECTIVES,
    YES_NO_VERBS,
)
from agent.english.inflection import PARTICIPLE_ENDINGS
from agent.rules.lexicon.degree_links import find_degree_values
from agent.rules.lexicon.joined_spellings import JoinedSpellings
from agent.rules.lexicon.phrase_meanings import MAX_REORDERED_WORDS, MAX_SHORT_WORD_LETTERS, PhraseMeanings
from agent.rules.lexicon.question_phrases import PhraseMatch, choose_matches
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, LinkMeaning, PartialMatch, SpanLink, ValueMatch
from agent.rules.lexicon.spelling_correction import KnownWords, schema_names_of
from agent.rules.lexicon.value_phrase_index import FieldKey, ValueStyle
from agent.rules.literals.uncapitalised_names import find_partners, is_uncapitalised_name
from agent.rules.words.tokens import QuestionToken, looks_plural
from storage.search.analyser import Analyser, fold_text
from storage.search.conditions import TITLE_FIELD
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema

_MAX_ACRONYM_LETTERS = 4
_WORDS_OF_NO_NAME = STOP_WORDS | VAGUE_ADJECTIVES | frozenset({"other", "others", "another"})  # "*other* gyles"
_MAX_LINKED_TEXTS = 128  # whose links are kept: more than one question has
_MAX_PARTIAL_VALUES = 400  # a word in more values than this links to them only in a large vocabulary
_SUBJECT_PRONOUNS = frozenset("i we you he she they".split())
_MAX_UNCAPITALISED_VALUES = 3  # an ordinary word is a part of more names
_MAX_REORDERED_SPAN = 7  # tokens of a span that may contain these words
# Function words that may appear between the words of any phrase, and of a flag's phrase: "pets *are not* allowed".
_STOP_WORDS_IN_NAMES = frozenset({"of", "for", "to", "on", "the", "a", "an", "s"})
_STOP_WORDS_IN_FLAGS = FORMS_OF_BE | {"not", "t"}
_STOP_WORDS_IN_PHRASES = _STOP_WORDS_IN_NAMES | _STOP_WORDS_IN_FLAGS
_NEGATIVE_PREFIXES = ("un", "non")
_DERIVED_LETTERS = 2  # of an ending that makes another word, as in "season-al", and not a plural
_UNPAID_WORD, _OWING_SHARE = "unpaid", 0.6
_WORDS_AFTER_PARTICIPLE = frozenset({"or", "and", "but", "yet", "anywhere"})
_EXACT_VALUE_BONUS, _EXACT_NOUN_BONUS = 0.15, 0.3  # weight added to a meaning that is spelled exactly like the words
_NEGATED_WEIGHT = 1.9  # weight per word: more than a field's name, less than a value
_CONJUNCTIONS = frozenset({"or", "and"})
_COORDINATED_WEIGHT = 2.4  # more than the weight of a number
_MAX_SHARING_FIELDS = 4  # fields that may share one question phrase
_HINT_WEIGHT = 0.4  # weight of a word that only hints at a field: less than every other meaning
_ASKED_PERSON_WEIGHT = 0.95  # of "who" in a list of people; it may also ask for a person of other documents
# "The last invoice" is a document, also where a column is called so.
_DAYS_OF_WEEK = frozenset("monday tuesday wednesday thursday friday saturday sunday weekday weekend".split())
_WORDS_BEFORE_DOCUMENT = frozenset(
    "last latest newest first oldest earliest biggest largest smallest cheapest next previous".split()
)
_PEOPLE_WEIGHT = 1.5  # slightly less than the bucket's own noun
_IDENTIFIED_NOUN_WEIGHT = 1.9  # more than a mention of the column that numbers the documents
_ASKING_WORDS, _MIN_ASKING_WORDS, _PART_OF_LABEL_WEIGHT = frozenset({"which", "what"}), 3, 1.5
_WORDS_BEFORE_AMOUNT, _MIN_LABEL_LETTERS = frozenset({"much", "total"}), 5
_REVENUE_WORDS = frozenset({"revenue", "revenues", "turnover"})
_SOLD_STEMS, _BOUGHT_STEMS = (
    frozenset("order sale invoic transact book".split()),
    frozenset("purchas supplier vendor".split()),
)
_NUMBER_OF, _MAX_WORDS_COUNTED = ["number", "of"], 5  # "number of open jobs"
_PEOPLE_NOUNS = PEOPLE_NOUNS - {"somebody", "someone", "anybody", "anyone"} | frozenset(
    "employee employees colleague colleagues worker workers staff headcount".split()
)
_GROUPS_OF_PEOPLE, _MEMBERS_WEIGHT = frozenset({"staff", "team", "crew", "workforce"}), 3.0  # "a member of staff"
_DISTINCT_PEOPLE_WEIGHT = 2.1  # more than a number of persons: "different people" have names
_COUNTING_WORDS = frozenset("many which different".split())  # before "people" they ask for the persons in documents
# Words that do not show a part of a value: they are in the values of any field.
_WORDS_OF_NO_VALUE = (
    STOP_WORDS | FILLER_WORDS | LEGAL_FORMS | ORDERING_WORDS | NEGATIONS | AGGREGATE_WORDS | COMPARATORS
)
_MIN_NAME_LENGTH, _WHOLE_NOUN_WEIGHT = 2, 2.7  # content words of a noun, and the weight of each
_TITLE_BONUS = 0.25  # weight added to a title: the document of that name comes before those that mention the name


def _is_number_in_name(asking: SpanLink, tokens: Sequence[QuestionToken], word_links: Sequence[SpanLink]) -> bool:
    """ "What is our account *number*": whether a word for numbers belongs to a field's name."""
    if not IDENTIFYING_NOUNS.issuperset(token.word for token in tokens[asking.first : asking.last]):
        return False
    return any(
        isinstance(link.meaning, FieldMention)
        and not link.meaning.is_hint
        and link.first < asking.first
        and link.last == asking.last
        for link in word_links
    )


def _find_members(tokens: Sequence[QuestionToken], index: int) -> int | None:
    """ "Our newest *member of staff*", "*members of the team*": returns the first token of the words for the people."""
    words = [token.word for token in tokens[:index]]
    first = index - (3 if words[-1:] == ["the"] else 2)
    return first if first >= 0 and words[first] in MEMBER_NOUNS and words[first + 1] == "of" else None


def _weigh_owing(owing: Set[int], link: SpanLink) -> SpanLink:
    """Returns the link, weaker if it rests on a word for owing: a bucket that has the word itself comes first."""
    rests_on_owing = not owing.isdisjoint(range(link.first, link.last))
    return replace(link, weight=_OWING_SHARE * link.weight) if rests_on_owing else link


class BucketLexicon(PhraseMeanings):
    """What the words of a question may mean in one bucket."""

    @cached_property
    def _name_phrases(self) -> frozenset[tuple[str, ...]]:
        """The name of the bucket as a phrase, as it is and as its title writes it."""
        return frozenset(self._stems_in(name) for name in (self.schema.bucket.replace("_", " "), self.schema.title))

    @cached_property
    def _noun_words(self) -> frozenset[str]:
        """The single words of the nouns for the documents, as they are written."""
        nouns = (self.schema.bucket.replace("_", " "), self.schema.title, *self.schema.synonyms)
        return frozenset(word for noun in nouns for word in fold_text(noun).split())

    @cached_property
    def _links_of_recent(self) -> Callable[[tuple[QuestionToken, ...]], tuple[SpanLink, ...]]:
        return lru_cache(maxsize=_MAX_LINKED_TEXTS)(self._find_all_links)

    def find_links(self, tokens: Sequence[QuestionToken]) -> Sequence[SpanLink]:
        """Returns every meaning of every span of tokens. A span includes a quotation completely or not at all.

        The links of recent texts are kept, since several steps look up the same text.
        """
        read = tuple(map(self._read_owing, tokens))
        links = self._links_of_recent(read)
        owing = {index for index, token in enumerate(tokens) if token is not read[index]}
        return tuple(map(partial(_weigh_owing, owing), links)) if owing else links

    def _read_owing(self, token: QuestionToken) -> QuestionToken:
        """ "What do we *owe* them": what is not paid, unless the bucket has the word itself: "amount owed"."""
        if token.word not in OWING_WORDS or token.is_quoted or self._knows_stem(token.stem):
            return token
        return replace(token, word=_UNPAID_WORD, stem="".join(self._stems_in(_UNPAID_WORD)))

    def _find_all_links(self, tokens: tuple[QuestionToken, ...]) -> tuple[SpanLink, ...]:
        return tuple(self._find_unexplained_links(tokens))

    def _find_unexplained_links(self, tokens: Sequence[QuestionToken]) -> Iterator[SpanLink]:
        """The words of a question phrase mention no other field: the "cost" in "what does it cost to hire"."""
        partial_links = tuple(self._partial_links(tokens))
        word_links = tuple(self._find_word_links(tokens, partial_links))
        asking = [
            link
            for link in self._question_phrase_links(_mark_names(tokens, partial_links))
            if not _is_number_in_name(link, tokens, word_links)
        ]
        yield from asking
        phrase_tokens = frozenset[int]().union(*(link.phrase_tokens for link in asking))
        verb_tokens = {index for link in asking if link.phrase_tokens for index in range(link.first, link.last)}
        for link in word_links:
            span = range(link.first, link.last)
            if isinstance(link.meaning, FieldMention) and not self.is_flag(link.meaning):
                is_explained = phrase_tokens.issuperset(span) or not verb_tokens.isdisjoint(span)
                is_explained = is_explained and not self._is_whole_label(link.meaning, tokens[link.first : link.last])
            else:
                is_explained = verb_tokens.issuperset(span) and not any(
                    token.is_name for token in tokens[link.first : link.last]
                )
            if not is_explained:
                yield link

    def _is_whole_label(self, mention: FieldMention, tokens: Sequence[QuestionToken]) -> bool:
        """ "Who is our *main contact*": whether the words are all of a field's name, and not only a verb for it."""
        words = [token.word for token in tokens]
        label = fold_text(self.get_field(mention.field, mention.column).label).split()
        return len(words) > 1 and words == label and words[-1] not in PREPOSITIONS

    def _find_word_links(
        self, tokens: Sequence[QuestionToken], partial_links: Sequence[SpanLink]
    ) -> Iterator[SpanLink]:
        stems = tuple(token.stem for token in tokens)
        for first in range(len(stems)):
            for last in range(first + 1, min(first + self._max_phrase_length(stems, first), len(tokens)) + 1):
                meanings = self._meanings_of(stems[first:last])
                if meanings and _keeps_quotations_whole(tokens, first, last):
                    for meaning, documents in meanings.items():
                        if _has_only_stop_words(meaning, tokens[first:last]):
                            continue
                        if isinstance(meaning, BucketNoun) and _is_no_noun(tokens, first, last):
                            continue
                        if isinstance(meaning, ValueMatch) and _speaks_of_hours(tokens, first, last):
                            continue  # "open on Saturdays" is no status
                        names_field = any(isinstance(other, FieldMention) and not other.is_hint for other in meanings)
                        if (BucketNoun() in meanings or names_field) and _only_ends_in(meaning, tokens[first:last]):
                            continue  # "staff" names the documents, and not the role "bar staff"
                        if last - first == 1 and self._is_rather_label(meaning, tokens[first]):
                            continue
                        if (
                            last - first == 1
                            and isinstance(meaning, PartialMatch)
                            and self._is_rather_noun(tokens[first])
                        ):
                            continue
                        if self._counts_documents(meaning, tokens, first, last):
                            continue  # "the number of jobs" is not the job number
                        if isinstance(meaning, ValueMatch) and self._counts_everybody(tokens, first, last):
                            continue  # "how many people" are not those of the department "People"
                        if BucketNoun() in meanings and self._is_synonym_of_value(meaning, tokens[first:last]):
                            continue  # "bookings" are the documents, and not those that are "reserved"
                        if isinstance(meaning, ValueMatch) and stems[first:last] in self._name_phrases:
                            continue  # "leases" are all documents of `leases`, also those without a type
                        weight = _link_weight(meaning, tokens[first:last], documents) + self._exact_form_bonus(
                            meaning, tokens[first:last]
                        )
                        yield SpanLink(first=first, last=last, meaning=meaning, weight=weight)
        if tokens and tokens[0].word == "who" and self._contains_people:
            weight = _ASKED_PERSON_WEIGHT if self.roles.holds_people else _HINT_WEIGHT
            yield SpanLink(first=0, last=1, meaning=BucketNoun(), weight=weight)
        if self.roles.holds_people:
            yield from (
                SpanLink(first=index, last=index + 1, meaning=BucketNoun(), weight=_PEOPLE_WEIGHT)
                for index, token in enumerate(tokens)
                if token.word in _PEOPLE_NOUNS
            )
            yield from (
                SpanLink(first=first, last=index + 1, meaning=BucketNoun(), weight=_MEMBERS_WEIGHT)
                for index, token in enumerate(tokens)
                if token.word in _GROUPS_OF_PEOPLE and (first := _find_members(tokens, index)) is not None
            )
        elif len(self.roles.persons) == 1:
            yield from self._counted_people_links(tokens)
        yield from (
            SpanLink(first=index, last=index + 1, meaning=BucketNoun(), weight=_IDENTIFIED_NOUN_WEIGHT)
            for index, token in enumerate(tokens)
            if token.stem in self._identified_nouns
            and (looks_plural(token) or (index and tokens[index - 1].word in _WORDS_BEFORE_DOCUMENT))
        )
        yield from self._asked_label_links(tokens)
        yield from self._amount_links(tokens)
        yield from self._revenue_links(tokens)
        yield from self._joined_links(tokens)
        yield from self._acronym_links(tokens)
        yield from self._degree_links(tokens)
        yield from self._coordinated_links(tokens, stems)
        yield from self._negative_prefix_links(tokens)
        yield from self._negated_participle_links(tokens)
        yield from self._flag_phrase_links(tokens)
        yield from partial_links
        yield from self._reordered_links(tokens)
        for index, token in enumerate(tokens):
            hint = None if token.is_quoted else self._hints.get(token.stem)
            if hint is not None:
                yield SpanLink(first=index, last=index + 1, meaning=hint, weight=_HINT_WEIGHT)

    def _counts_documents(self, meaning: LinkMeaning, tokens: Sequence[QuestionToken], first: int, last: int) -> bool:
        """ "*Number of jobs*": whether the words ask how many documents there are, and a code is called so, too."""
        if not isinstance(meaning, FieldMention) or [token.word for token in tokens[first : first + 2]] != _NUMBER_OF:
            return False
        if self.get_field(meaning.field, meaning.column).type in (FieldType.NUMBER, FieldType.MONEY):
            return False
        counted = tokens[max(last - 1, first + 2) : first + _MAX_WORDS_COUNTED]
        return any(map(looks_plural, counted)) if last - first == 1 else looks_plural(tokens[last - 1])

    def _counts_everybody(self, tokens: Sequence[QuestionToken], first: int, last: int) -> bool:
        """Whether the span is a word for people in general, as the rows are."""
        token = tokens[first]
        return last - first == 1 and token.word in _PEOPLE_NOUNS and self.roles.holds_people and not token.is_name

    def _is_rather_label(self, meaning: LinkMeaning, token: QuestionToken) -> bool:
        """ "Rent" is what the column "Rent" holds, and not the status "let", which is called "rented" as well."""
        return (
            isinstance(meaning, ValueMatch)
            and token.word in self._label_words
            and token.stem not in self.stems_in(meaning.value)
        )

    def _is_synonym_of_value(self, meaning: LinkMeaning, tokens: Sequence[QuestionToken]) -> bool:
        """Whether the words are for a value that they are no part of."""
        return isinstance(meaning, ValueMatch) and not {token.stem for token in tokens}.intersection(
            self.stems_in(meaning.value)
        )

    def _acronym_links(self, tokens: Sequence[QuestionToken]) -> Iterator[SpanLink]:
        """Links words to the column that their initials name, and initials to the values that they stand for."""
        letters = [token.word[:1] for token in tokens]
        max_last = len(tokens) if self._fields_by_acronym else 0
        for first, token in enumerate(tokens):
            for last in range(first + 2, min(first + _MAX_ACRONYM_LETTERS, max_last) + 1):
                mention = self._fields_by_acronym.get("".join(letters[first:last]))
                span = tokens[first:last]
                if mention is not None and _WORDS_OF_NO_NAME.isdisjoint(other.word for other in span):
                    yield SpanLink(first=first, last=last, meaning=mention, weight=_link_weight(mention, span, 0))
            values = self._values_by_initials.get(token.word)
            if values is not None and may_be_acronym(token.word) and not self._knows_stem(token.stem):
                weight = _link_weight(values, [token], 0)
                yield SpanLink(first=first, last=first + 1, meaning=values, weight=weight)

    def _asked_label_links(self, tokens: Sequence[QuestionToken]) -> Iterator[SpanLink]:
        """ "Which *bay* is it in": yields a link to "Bay location", if only this field has the word in its name."""
        if len(tokens) <= _MIN_ASKING_WORDS or tokens[0].word not in _ASKING_WORDS or looks_plural(tokens[1]):
            return
        stem, verb = tokens[1].stem, tokens[2].word
        if verb not in YES_NO_VERBS or stem in self.noun_stems or self._meanings_of((stem,)):
            return
        owners = [field.name for field in self.schema.fields if stem in self.label_stems_of(field.name)]
        if len(owners) == 1:
            yield SpanLink(first=1, last=2, meaning=FieldMention(owners[0]), weight=_PART_OF_LABEL_WEIGHT)

    def _amount_links(self, tokens: Sequence[QuestionToken]) -> Iterator[SpanLink]:
        """ "How much *goodwill*": yields links to the "goodwill paid", if the name of only this amount has the word."""
        for index, token in enumerate(tokens):
            before = tokens[index - 1].word if index else ""
            if before not in _WORDS_BEFORE_AMOUNT or len(token.word) < _MIN_LABEL_LETTERS or token.is_name:
                continue
            if token.word in AGGREGATE_WORDS or token.stem in self.noun_stems or self._meanings_of((token.stem,)):
                continue
            owners = [field for field in self.schema.fields if token.stem in self.label_stems_of(field.name)]
            if len(owners) == 1 and owners[0].type in (FieldType.MONEY, FieldType.NUMBER):
                meaning = FieldMention(owners[0].name)
                yield SpanLink(first=index, last=index + 1, meaning=meaning, weight=_PART_OF_LABEL_WEIGHT)

    def _revenue_links(self, tokens: Sequence[QuestionToken]) -> Iterator[SpanLink]:
        """ "Our *revenue* by month": yields links to the amount of what was sold, where nothing is called revenue."""
        amounts = self.roles.main_amounts
        if len(amounts) != 1 or all(token.word not in _REVENUE_WORDS for token in tokens):
            return
        own = set(self.stems_in(f"{self.schema.bucket.replace('_', ' ')} {self.schema.title}"))
        labels = frozenset[str]().union(*(self.label_stems_of(field.name) for field in self.schema.fields))
        if own.isdisjoint(_SOLD_STEMS) or not (own | labels).isdisjoint(_BOUGHT_STEMS):
            return
        for index, token in enumerate(tokens):
            if token.word in _REVENUE_WORDS and not self._meanings_of((token.stem,)):
                mention = FieldMention(next(iter(amounts)))
                yield SpanLink(first=index, last=index + 1, meaning=mention, weight=_PART_OF_LABEL_WEIGHT)

    def _joined_links(self, tokens: Sequence[QuestionToken]) -> Iterator[SpanLink]:
        """ "Webshop", "e-mail": yields links for words that the bucket writes as two words or as one."""
        for first, last, phrase in self._joined_spellings.find_spellings(tokens):
            meanings = self._meanings_of(phrase)
            if not meanings or not _keeps_quotations_whole(tokens, first, last):
                continue
            span = tokens[first:last]
            if self._meanings_of(tuple(token.stem for token in span)):
                continue
            for meaning, documents in meanings.items():
                yield SpanLink(first=first, last=last, meaning=meaning, weight=_link_weight(meaning, span, documents))

    @cached_property
    def _joined_spellings(self) -> JoinedSpellings:
        values = chain.from_iterable(self._value_index.values_for_spelling())
        return JoinedSpellings([*schema_names_of(self.schema), *values], self.analyser)

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
        if not matches:
            return
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

    def _coordinated_links(self, tokens: Sequence[QuestionToken], stems: tuple[str, ...]) -> Iterator[SpanLink]:
        """ "Phase 1 or 2": yields links for a number or letter that completes the words before it."""
        for index in range(2, len(tokens) - 1):
            if (
                tokens[index].word not in _CONJUNCTIONS
                or not _is_number_or_letter(tokens[index - 1])
                or not _is_number_or_letter(tokens[index + 1])
            ):
                continue
            for first in range(max(index - MAX_REORDERED_WORDS, 0), index - 1):
                meanings_before = self._meanings_of(stems[first:index])
                for meaning in self._meanings_of((*stems[first : index - 1], stems[index + 1])):
                    if isinstance(meaning, ValueMatch) and any(
                        _has_same_field(other, meaning) for other in meanings_before
                    ):
                        yield SpanLink(first=index + 1, last=index + 2, meaning=meaning, weight=_COORDINATED_WEIGHT)

    def _negative_prefix_links(self, tokens: Sequence[QuestionToken]) -> Iterator[SpanLink]:
        """ "Unassigned", "unfurnished": yields links to a field without a value, or to a flag that is not set."""
        for index, token in enumerate(tokens):
            if not token.word.startswith(_NEGATIVE_PREFIXES):
                continue
            base = next(token.word[len(prefix) :] for prefix in _NEGATIVE_PREFIXES if token.word.startswith(prefix))
            if len(base) <= MAX_SHORT_WORD_LETTERS or token.is_quoted or self._knows_stem(token.stem):
                continue
            name = self._field_by_stem.get("".join(self._stems_in(base)))
            if name is not None:
                yield SpanLink(
                    first=index, last=index + 1, meaning=FieldMention(name, is_negated=True), weight=_NEGATED_WEIGHT
                )

    def _negated_participle_links(self, tokens: Sequence[QuestionToken]) -> Iterator[SpanLink]:
        """ "Not assigned", "not yet paid": yields links to a field without a value, if no value follows."""
        for index, token in enumerate(tokens[:-1]):
            if token.word not in ("not", "never"):
                continue
            participle_index = index + 1 + (tokens[index + 1].word in ("yet", "been") and index + 2 < len(tokens))
            word_after = tokens[participle_index + 1].word if participle_index + 1 < len(tokens) else ""
            if not tokens[participle_index].word.endswith(PARTICIPLE_ENDINGS):
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
            if tokens[first].stem not in self._reorderable_stems:
                continue
            stems = {tokens[first].stem}
            for last in content_indexes[start + 1 : start + MAX_REORDERED_WORDS]:
                if tokens[last].stem not in self._reorderable_stems:
                    break
                between = tokens[first : last + 1]
                stop_words = [token.word for token in between if token.word in STOP_WORDS]
                if last - first > _MAX_REORDERED_SPAN or not set(stop_words) <= _STOP_WORDS_IN_PHRASES:
                    break
                needs_flag = bool(set(stop_words) & _STOP_WORDS_IN_FLAGS)
                stems.add(tokens[last].stem)
                for meaning in self._meanings_by_stem_set.get(frozenset(stems), ()):
                    if needs_flag and not (self.is_flag(meaning) or self._is_count_field(meaning)):
                        continue
                    if self._counts_documents(meaning, tokens, first, last + 1):
                        continue
                    if not self._meanings_of(tuple(token.stem for token in between)):
                        is_field = isinstance(
                            meaning, FieldMention
                        )  # slightly less than the same words in their own order
                        weight = (1.8 if is_field else 2.0) * len(stems) + 0.2 * (len(stems) - 1) - 0.1
                        yield SpanLink(first=first, last=last + 1, meaning=meaning, weight=weight)

    def _is_rather_noun(self, token: QuestionToken) -> bool:
        """Whether the word is a noun of the documents, and shares only its stem with words of values.

        In a bucket of "seasonals" those of the "second season" are not meant by "seasonal workers".
        """
        is_derived = len(token.word.removesuffix("s")) - len(token.stem) >= _DERIVED_LETTERS
        return is_derived and token.word in self._noun_words

    def _postings_for(self, token: QuestionToken) -> Mapping[FieldKey, Set[int]]:
        if token.word in _WORDS_OF_NO_VALUE or len(token.stem) < 2 or token.is_quoted:
            return {}
        if self._is_rather_noun(token):
            return {}
        return self._value_index.postings_for(token.stem)

    def find_values_with(self, name: FieldName, stems: Sequence[str]) -> tuple[str, ...]:
        """Returns the values of the field, of several words each, that hold all the stems; sorted."""
        key = (name, None)
        found = [self._value_index.postings_for(stem).get(key, frozenset[int]()) for stem in stems]
        return tuple(sorted(self._value_index.values_at(key, set(found[0]).intersection(*found)))) if found else ()

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
            meaningful = [bool(self._meanings_of((token.stem,))) for token in words]
            is_known = any(meaningful) if len(words) == 1 else all(meaningful)
            partners = find_partners(tokens, first, last)
            has_partner = any(field_key in self._postings_for(token) for token in partners)
            if is_known or len(values) > _MAX_UNCAPITALISED_VALUES:
                return
            is_of_several_words = len(words) > 1 and self._follow_in_value(field_key, values, words)
            if not (is_of_several_words or is_uncapitalised_name(tokens, first, last, has_partner=has_partner)):
                return
        if self._value_index.style_of(field_key) is ValueStyle.PLAIN:
            return  # the last words of a category are phrases of their own in the index
        meaning = PartialMatch(name, column, tuple(sorted(self._value_index.values_at(field_key, values))))
        yield SpanLink(first=first, last=last, meaning=meaning, weight=_link_weight(meaning, words, len(values)))

    def _follow_in_value(self, field_key: FieldKey, positions: Set[int], words: Sequence[QuestionToken]) -> bool:
        """ "The sailing club": whether the words appear side by side in each of the values."""
        phrase = " ".join(token.stem for token in words)
        values = self._value_index.values_at(field_key, positions)
        return all(f" {phrase} " in f" {' '.join(self._stems_in(value))} " for value in values)

    def correct_spelling(self, token: QuestionToken) -> tuple[str, str] | None:
        """Returns the known word that `token` misspells, and its stem; None for a word that is known, too short or
        not close to a known word.
        """
        return self._known_words.correct_spelling(token)

    @cached_property
    def _known_words(self) -> KnownWords:
        return KnownWords(self.schema, self._value_index.values_for_spelling(), self.analyser)


def _mark_names(tokens: Sequence[QuestionToken], partial_links: Sequence[SpanLink]) -> tuple[QuestionToken, ...]:
    """ "Who has the *pixel*": returns the tokens with those as names that are a part of few names."""
    names = {
        index
        for link in partial_links
        if isinstance(link.meaning, PartialMatch) and len(link.meaning.values) <= _MAX_UNCAPITALISED_VALUES
        for index in range(link.first, link.last)
    }
    if not names:
        return tuple(tokens)
    return tuple(replace(token, is_name=True) if index in names else token for index, token in enumerate(tokens))


def _is_relative_clause(match: PhraseMatch[FieldMention], tokens: Sequence[QuestionToken]) -> bool:
    """ "Islands *where* nobody lives": whether "where" follows a plural, so that it asks nothing."""
    first = min(match.tokens)
    return first > 0 and tokens[first].word == "where" and looks_plural(tokens[first - 1])


def _is_number_or_letter(token: QuestionToken) -> bool:
    """Whether the token is a number or a single letter."""
    return (token.word.isdigit() or len(token.word) == 1) and not token.is_quoted


def _has_same_field(meaning: LinkMeaning, value_match: ValueMatch) -> bool:
    return isinstance(meaning, ValueMatch) and (meaning.field, meaning.column) == (
        value_match.field,
        value_match.column,
    )


def _keeps_quotations_whole(tokens: Sequence[QuestionToken], first: int, last: int) -> bool:
    """Whether the span includes quotations completely or not at all."""
    quoted_flags = [token.is_quoted for token in tokens[first:last]]
    if not any(quoted_flags):
        return True
    cuts_quotation = (first > 0 and tokens[first - 1].is_quoted) or (last < len(tokens) and tokens[last].is_quoted)
    return all(quoted_flags) and not cuts_quotation


def _speaks_of_hours(tokens: Sequence[QuestionToken], first: int, last: int) -> bool:
    """ "*Open* on Saturdays", "*closed* at the weekend": whether a day of the week follows."""
    words = [token.word for token in tokens[first:last]]
    following = {token.word.removesuffix("s") for token in tokens[last : last + 3]}
    return words in (["open"], ["closed"]) and not following.isdisjoint(_DAYS_OF_WEEK)


def _has_only_stop_words(meaning: LinkMeaning, tokens: Sequence[QuestionToken]) -> bool:
    """Whether the tokens are only function words, and not written as a name: "or" is one, "OR" may be a place.

    A verb of requests in a longer name is not a function word: "on display".
    """
    has_only_form = all(token.word in STOP_WORDS or len(token.word) == 1 for token in tokens)
    has_only_form = has_only_form and not (len(tokens) > 1 and tokens[-1].word in LIST_VERBS)
    if not has_only_form or isinstance(meaning, BucketNoun):
        return False
    return isinstance(meaning, FieldMention) or not any(token.is_name or token.is_quoted for token in tokens)


def _is_no_noun(tokens: Sequence[QuestionToken], first: int, last: int) -> bool:
    """ "*Who* is who", "did we *spend*": whether the word asks, or is the verb of a person."""
    if last - first > 1:
        return False
    word_before = tokens[first - 1].word if first else ""
    follows_modal = word_before in MODAL_VERBS and not looks_plural(tokens[first])
    return tokens[first].word in QUESTION_WORDS or word_before in _SUBJECT_PRONOUNS or follows_modal


def _only_ends_in(meaning: LinkMeaning, tokens: Sequence[QuestionToken]) -> bool:
    """Whether the tokens are only the last words of the only value that ends in them."""
    return isinstance(meaning, ValueMatch) and len(fold_text(meaning.value).split()) > len(tokens)


def _link_weight(meaning: LinkMeaning, tokens: Sequence[QuestionToken], document_count: int) -> float:
    """Returns the weight of a link: longer spans and whole values weigh more, then values of more documents."""
    content_length = sum(1.0 if token.word not in STOP_WORDS else 0.3 for token in tokens)
    frequency_bonus = 0.01 * min(math.log10(1 + document_count), 5)
    match meaning:
        case BucketNoun():
            is_whole_name = content_length >= _MIN_NAME_LENGTH  # "purchase orders" are not orders by some purchaser
            return (_WHOLE_NOUN_WEIGHT if is_whole_name else 1.6) * content_length
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
