"""Reads a question for one bucket: which words give which condition, and which words stay unlinked.

Every span of words may have several meanings (`lexicon`), and every literal may belong to any field of its dimension.
The best set of meanings that do not overlap is selected (`span_selection`). Then literals are assigned to fields
(`literal_conditions`), and values and mentions become conditions, with negations and missing values
(`value_conditions`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from agent.assumptions import Assumption
from agent.rules.binding.deadline_conditions import build_arrival_conditions, build_deadline_conditions
from agent.rules.binding.field_comparisons import build_field_comparison
from agent.rules.binding.literal_conditions import AlternativeCondition, LiteralAlternatives, build_literal_conditions
from agent.rules.binding.row_numbers import build_row_number_conditions
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, LinkMeaning, PartialMatch, SpanLink, ValueMatch
from agent.rules.linking.candidate_links import asks_for_field
from agent.rules.linking.context_weights import is_whole_value, names_documents_in_plural
from agent.rules.linking.label_similarity import NO_SIMILARITIES, WordSimilarities
from agent.rules.linking.link_filter import content_coverage, has_whole_name
from agent.rules.linking.span_selection import LITERAL_WEIGHT, SpanSelection
from agent.rules.literals.literal_types import QuestionLiteral
from agent.rules.reading.meaning_selection import select_meanings
from agent.rules.reading.rival_fields import consume_role_words, find_rival_readings
from agent.rules.reading.state_conditions import build_called_off_conditions, build_state_conditions
from agent.rules.reading.unlinked_words import UnlinkedWords, find_unlinked_words
from agent.rules.reading.value_conditions import build_mention_conditions, build_value_conditions, merge_row_conditions
from agent.rules.reading.word_roles import WordRole
from agent.rules.words.tokens import QuestionToken, QuotedPhrase, looks_plural
from storage.search.conditions import Condition, NotCondition, OrCondition, conjunction_of, text_condition_for
from storage.search.ids import BucketId
from storage.search.schema import FieldType

UNLINKED_PENALTY = 0.6  # of the score, for each word or phrase without a meaning
_STATE_WEIGHT = 0.5  # of words such as "former" and "still with us"
MIN_COVERAGE = 0.5  # share of the content words with a meaning, from which a reading is credible
_WORDS_BEFORE_NEXT_FIELD = frozenset({"and", "or"})


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketReading:
    """A question as read for one bucket."""

    bucket: BucketId
    conditions: tuple[Condition, ...]
    asked_mentions: tuple[FieldMention, ...]  # mentions of fields that give no condition, in order
    assumptions: tuple[Assumption, ...]
    unlinked_words: tuple[str, ...]  # content words and phrases without a meaning here, as written
    word_roles: Mapping[str, WordRole]  # what each unlinked word does
    similarities: WordSimilarities  # of the words of the message to the labels of the bucket
    unlinked_quotations: tuple[str, ...]  # phrases in quotation marks that are not values
    equal_alternatives: tuple[AlternativeCondition, ...]  # readings with about the same score as the one taken
    fallback_alternatives: tuple[AlternativeCondition, ...]  # possible readings, if the one taken matches nothing
    wider_alternatives: tuple[AlternativeCondition, ...]  # "at least" for a bare value
    has_noun: bool
    has_plural_noun: bool
    is_exact: bool  # a condition rests on a whole value or on a literal
    coverage: float  # share (0 to 1) of the content words with a meaning here
    has_whole_name: bool
    score: float
    tokens: tuple[QuestionToken, ...]
    links: tuple[SpanLink, ...]
    stated_tokens: frozenset[int]  # tokens that say whether something lasts or is over
    literal_tokens: frozenset[int]  # tokens in a literal, or in the name of its field

    @property
    def is_credible(self) -> bool:
        """Whether the reading explains enough of the question to use its conditions."""
        return self.has_whole_name or self.coverage >= MIN_COVERAGE

    @property
    def required_words(self) -> tuple[str, ...]:
        """The unlinked words that the text of a document must hold."""
        return self._words_with_role(WordRole.REQUIRED)

    @property
    def unknown_words(self) -> tuple[str, ...]:
        """The unlinked words that restrict the documents in a way that was not understood."""
        return self._words_with_role(WordRole.UNKNOWN)

    @property
    def light_words(self) -> tuple[str, ...]:
        """The unlinked everyday words. If nothing else restricts the documents, they may be meant to."""
        return self._words_with_role(WordRole.LIGHT)

    def _words_with_role(self, role: WordRole) -> tuple[str, ...]:
        return tuple(word for word in self.unlinked_words if self.word_roles.get(word, WordRole.REQUIRED) is role)

    @property
    def condition(self) -> Condition:
        return conjunction_of(*self.conditions)


def read_question(
    lexicon: BucketLexicon,
    question: str,
    literals: Sequence[QuestionLiteral],
    quotations: Sequence[QuotedPhrase],
    corrected_stems: Mapping[str, str] | None = None,
    today: date | None = None,
    similarities: WordSimilarities = NO_SIMILARITIES,
) -> BucketReading:
    """Returns the best reading of `question` for the lexicon's bucket. Pure; takes some tenths of a millisecond.

    `corrected_stems` maps a misspelt stem to the correct one; `today` is the date in the asker's time zone.
    """
    selection = select_meanings(lexicon, question, literals, quotations, corrected_stems or {}, similarities, today)
    alternatives = LiteralAlternatives()
    comparison = build_field_comparison(selection, literals)
    if comparison is not None:
        selection = selection.without_literal(comparison.offset).without_states(comparison.tokens)
    conditions = [] if comparison is None else [comparison.condition]
    conditions += build_literal_conditions(selection, alternatives)
    conditions += build_deadline_conditions(selection)
    numbers = [*build_row_number_conditions(selection)]
    conditions += numbers
    conditions += build_arrival_conditions(selection)
    values = [*build_value_conditions(selection)]
    alternatives.equal_alternatives += find_rival_readings(selection, selection.rival_links, values)
    consume_role_words(selection, selection.rival_links)
    conditions = [*values, *conditions]
    conditions += build_mention_conditions(selection)
    conditions += build_state_conditions(selection)
    conditions += build_called_off_conditions(selection, conditions)
    _release_empty_exclusions(selection)
    selection = _without_unused_hints(selection)
    unlinked = find_unlinked_words(selection, quotations)
    if unlinked.guessed_noun is not None:
        first, last = unlinked.guessed_noun
        noun = SpanLink(first=first, last=last, meaning=BucketNoun(), weight=0.0)
        selection = replace(selection, links=(*selection.links, noun))
    text_conditions: list[Condition] = [NotCondition(text_condition_for(words)) for words in unlinked.negated]
    text_conditions += [OrCondition(tuple(map(text_condition_for, words))) for words in unlinked.alternatives]

    def join_conditions(parts: Sequence[Condition]) -> tuple[Condition, ...]:
        return tuple(dict.fromkeys([*merge_row_conditions(lexicon, parts), *text_conditions]))

    def complete_alternative(alternative: AlternativeCondition) -> AlternativeCondition:
        return replace(
            alternative,
            all_conditions=join_conditions(
                [
                    alternative.replacement if condition == alternative.original else condition
                    for condition in conditions
                ]
            ),
        )

    tokens, links, literal_spans = selection.tokens, selection.links, selection.literal_spans
    noun_links = [
        link
        for link in links
        if isinstance(link.meaning, BucketNoun) or names_documents_in_plural(link, tokens, lexicon)
    ]
    is_exact = bool(literal_spans) or any(is_whole_value(link.meaning) for link in links) or bool(selection.usage.links)
    is_exact = is_exact or bool(selection.states) or bool(numbers) or comparison is not None
    loose_verbs = [] if _names_subject(selection) else [link for link in links if asks_for_field(link.meaning)]
    score = sum(link.weight for link in links) - sum(link.weight for link in loose_verbs)
    score += _STATE_WEIGHT * len(selection.states) + LITERAL_WEIGHT * (comparison is not None)
    score += LITERAL_WEIGHT * (len(literal_spans) + len(numbers)) - UNLINKED_PENALTY * len(unlinked.words)
    loose_words = [token.word for link in loose_verbs for token in tokens[link.first : link.last]]
    return BucketReading(
        bucket=lexicon.bucket,
        conditions=join_conditions(conditions),
        asked_mentions=_find_asked_mentions(selection),
        assumptions=tuple(dict.fromkeys(selection.usage.assumptions)),
        unlinked_words=unlinked.words,
        word_roles=unlinked.roles,
        similarities=similarities,
        unlinked_quotations=unlinked.quotations,
        equal_alternatives=tuple(map(complete_alternative, alternatives.equal_alternatives)),
        fallback_alternatives=tuple(map(complete_alternative, alternatives.fallback_alternatives)),
        wider_alternatives=tuple(map(complete_alternative, alternatives.wider_alternatives)),
        has_noun=bool(noun_links),
        has_plural_noun=any(
            looks_plural(tokens[link.last - 1]) for link in (noun_links or _category_links_in(links, lexicon))
        ),
        is_exact=is_exact,
        coverage=content_coverage(
            tokens, (*unlinked.words, *loose_words, *(word for words in unlinked.alternatives for word in words))
        ),
        has_whole_name=bool(numbers) or has_whole_name(links, tokens, lexicon),
        score=score + (0.5 if noun_links and unlinked.guessed_noun is None else _kind_score(unlinked, similarities)),
        tokens=tokens,
        links=links,
        stated_tokens=frozenset(index for span in selection.states for index in range(span.first, span.last)),
        literal_tokens=frozenset(index for _, first, last in literal_spans for index in range(first, last))
        | {
            index
            for used_link in selection.usage.links
            for index in range(links[used_link].first, links[used_link].last)
        }
        | selection.usage.tokens,
    )


def _kind_score(unlinked: UnlinkedWords, similarities: WordSimilarities) -> float:
    """The score of a noun that means nearly the same as a noun of the bucket; its penalty as a word is undone."""
    kinds = (word for word, role in unlinked.roles.items() if role is WordRole.KIND)
    nearest = max(map(similarities.similarity_to_noun, kinds), default=0.0)
    return 1.1 + nearest if nearest else 0.0


def _names_subject(selection: SpanSelection) -> bool:
    """Whether a noun, value or literal of the bucket is in the question.

    Else a verb does not say that the question is about this bucket: "when does the pump start".
    """
    named = (BucketNoun, ValueMatch, PartialMatch)
    return bool(selection.literal_spans) or any(isinstance(link.meaning, named) for link in selection.links)


def _find_asked_mentions(selection: SpanSelection) -> tuple[FieldMention, ...]:
    """Returns the mentions that gave no condition; a word that names several fields gives a mention of each."""
    nouns = {link.first for link in selection.links if isinstance(link.meaning, BucketNoun)}
    mentions: dict[FieldMention, None] = {}
    for index, link in enumerate(selection.links):
        is_mention = isinstance(link.meaning, FieldMention) and index not in selection.usage.links
        if link.last in nouns and _names_somebody(link, selection.lexicon):
            continue  # "*customer* orders" are orders
        if isinstance(link.meaning, FieldMention) and is_mention and not _is_object_of_question(link, selection):
            mentions[link.meaning] = None
            homonyms = (
                other for other in selection.measure_links if (other.first, other.last) == (link.first, link.last)
            )
            mentions |= {
                homonym.meaning: None
                for homonym in homonyms
                if isinstance(homonym.meaning, FieldMention) and not homonym.meaning.is_hint
            }
    return tuple(mentions)


def _names_somebody(link: SpanLink, lexicon: BucketLexicon) -> bool:
    """Whether the link is the name of a field for a firm, a person or a thing, and no verb."""
    meaning = link.meaning
    if not isinstance(meaning, FieldMention) or meaning.is_question or meaning.column is not None:
        return False
    return lexicon.get_field(meaning.field).type is FieldType.CATEGORY


def _is_object_of_question(link: SpanLink, selection: SpanSelection) -> bool:
    """ "How do I reach the *owner* of …": whether another question phrase asks, and the mention only belongs to it."""
    if asks_for_field(link.meaning) or link.first == 0:
        return False
    asking_starts = [min(other.phrase_tokens) for other in selection.links if other.phrase_tokens]
    joins_field = selection.tokens[link.first - 1].word in _WORDS_BEFORE_NEXT_FIELD
    return any(start < link.first for start in asking_starts) and not joins_field


def _category_links_in(links: Sequence[SpanLink], lexicon: BucketLexicon) -> list[SpanLink]:
    """Returns links to categories, which may name the documents: "transistors" as a category of parts."""
    value_links = [(link, link.meaning) for link in links if isinstance(link.meaning, (ValueMatch, PartialMatch))]
    return [link for link, value in value_links if value.column is None and lexicon.is_categorical(value.field)]


def _release_empty_exclusions(selection: SpanSelection) -> None:
    """Takes the words of an exclusion as not understood, if what it leaves out gave no condition."""
    if not selection.exclusions.members:
        return
    unused_tokens = {
        token
        for index, link in enumerate(selection.links)
        if isinstance(link.meaning, FieldMention) and index not in selection.usage.links
        for token in range(link.first, link.last)
    }
    for phrase, negated in selection.exclusions.members:
        if not negated.isdisjoint(unused_tokens - selection.usage.tokens):
            selection.usage.tokens -= phrase


def _without_unused_hints(selection: SpanSelection) -> SpanSelection:
    """Returns the selection without the hints that gave no condition."""
    unused_indexes = [
        index
        for index, link in enumerate(selection.links)
        if _is_hint(link.meaning) and index not in selection.usage.links and not _follows_who(link, selection.tokens)
    ]
    if not unused_indexes:
        return selection
    kept_indexes = [index for index in range(len(selection.links)) if index not in unused_indexes]
    usage = replace(selection.usage, links={kept_indexes.index(index) for index in selection.usage.links})
    return replace(selection, links=tuple(selection.links[index] for index in kept_indexes), usage=usage)


def _follows_who(link: SpanLink, tokens: Sequence[QuestionToken]) -> bool:
    """ "Who handles …": whether the hint follows "who" and so asks for its field."""
    return link.first == 1 and tokens[0].word == "who"


def _is_hint(meaning: LinkMeaning) -> bool:
    return isinstance(meaning, FieldMention) and meaning.is_hint
