"""Reads a question for one bucket: which words give which condition, and which words stay unlinked.

Every span of words may have several meanings (`lexicon`), and every literal may belong to any field of its dimension.
The best set of meanings that do not overlap is selected (`span_selection`). Then literals are assigned to fields
(`literal_conditions`), and values and mentions become conditions, with negations and missing values
(`value_conditions`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from agent.assumptions import Assumption
from agent.english.function_words import (
    ARRIVAL_WORDS,
    DEPARTURE_WORDS,
    DESTINATION_FIELD_WORDS,
    DISTINCT_WORDS,
    FILLER_WORDS,
    GROUPING_WORDS,
    LACK_WORDS,
    MEASURE_NOUNS,
    ORIGIN_FIELD_WORDS,
    PERIOD_WORDS,
    PREPOSITIONS,
    SUPERLATIVE_PHRASES,
    YES_NO_VERBS,
)
from agent.english.gradable_adjectives import function_of_superlative
from agent.rules.binding.deadline_conditions import build_deadline_conditions, find_due_links
from agent.rules.binding.field_comparisons import build_field_comparisons
from agent.rules.binding.field_fit import candidate_fields_for, field_key_of
from agent.rules.binding.literal_conditions import (
    AlternativeCondition,
    LiteralAlternatives,
    build_literal_conditions,
    mentioned_keys_near,
)
from agent.rules.binding.number_roles import is_identifier, is_rank_or_count
from agent.rules.binding.present_conditions import build_present_conditions
from agent.rules.linking.exclusions import find_exclusions
from agent.rules.linking.label_similarity import NO_SIMILARITIES, WordSimilarities
from agent.rules.linking.lexicon import (
    BucketLexicon,
    BucketNoun,
    FieldMention,
    LinkMeaning,
    PartialMatch,
    SpanLink,
    ValueMatch,
)
from agent.rules.linking.link_filter import content_coverage, filter_links, has_whole_name, is_content_word
from agent.rules.linking.span_selection import (
    LITERAL_WEIGHT,
    SpanSelection,
    find_negated_tokens,
    has_known_unit,
    literal_extent_in,
    select_spans,
    token_range_in,
)
from agent.rules.linking.state_spans import StateSpan, find_states
from agent.rules.literals.literal_types import DateLiteral, QuantityLiteral, QuestionLiteral
from agent.rules.reading.rival_fields import consume_role_words, find_rival_readings, is_place_of_noun, weigh_by_role
from agent.rules.reading.state_conditions import build_state_conditions
from agent.rules.reading.unlinked_words import UnlinkedWords, find_unlinked_words
from agent.rules.reading.value_conditions import build_mention_conditions, build_value_conditions, merge_row_conditions
from agent.rules.reading.word_roles import WordRole
from agent.rules.words.tokens import QuestionToken, QuotedPhrase, looks_plural, tokenize_question
from storage.search.analyser import fold_text
from storage.search.conditions import (
    TITLE_FIELD,
    ComparisonOperator,
    Condition,
    NotCondition,
    OrCondition,
    conjunction_of,
    text_condition_for,
)
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, SchemaField

UNLINKED_PENALTY = 0.6  # of the score, for each word or phrase without a meaning
_STATE_WEIGHT = 0.5  # of words such as "former" and "still with us"
MIN_COVERAGE = 0.5  # share of the content words with a meaning, from which a reading is credible


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
    unlinked_quotations: tuple[str, ...]  # phrases in quotation marks that are no values
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
    selection = _select_meanings(lexicon, question, literals, quotations, corrected_stems or {}, similarities)
    selection.today, selection.similarities = today, similarities
    alternatives = LiteralAlternatives()
    comparisons = build_field_comparisons(selection, literals)
    conditions = [*comparisons, *build_literal_conditions(selection, alternatives)]
    conditions += build_deadline_conditions(selection)
    if not selection.states:
        conditions += build_present_conditions(selection)
    values = [*build_value_conditions(selection)]
    alternatives.equal_alternatives += find_rival_readings(selection, selection.rival_links, values)
    consume_role_words(selection, selection.rival_links)
    conditions = [*values, *conditions]
    conditions += build_mention_conditions(selection)
    conditions += build_state_conditions(selection)
    _release_empty_exclusions(selection)
    _drop_unused_hints(selection)
    unlinked = find_unlinked_words(selection, quotations)
    if unlinked.guessed_noun is not None:
        first, last = unlinked.guessed_noun
        selection.links.append(SpanLink(first=first, last=last, meaning=BucketNoun(), weight=0.0))
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
        if isinstance(link.meaning, BucketNoun) or _names_documents_in_plural(link, tokens, lexicon)
    ]
    is_exact = bool(literal_spans) or any(_is_whole_value(link.meaning) for link in links) or bool(selection.used_links)
    is_exact = is_exact or bool(selection.states)
    loose_verbs = [] if _names_subject(selection) else [link for link in links if _is_question(link.meaning)]
    score = sum(link.weight for link in links) - sum(link.weight for link in loose_verbs)
    score += _STATE_WEIGHT * len(selection.states)
    score += LITERAL_WEIGHT * len(literal_spans) - UNLINKED_PENALTY * len(unlinked.words)
    loose_words = [token.word for link in loose_verbs for token in tokens[link.first : link.last]]
    return BucketReading(
        bucket=lexicon.bucket,
        conditions=join_conditions(conditions),
        asked_mentions=_find_asked_mentions(selection),
        assumptions=tuple(dict.fromkeys(selection.assumptions)),
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
        has_whole_name=has_whole_name(links, tokens, lexicon),
        score=score + (0.5 if noun_links and unlinked.guessed_noun is None else _kind_score(unlinked, similarities)),
        tokens=tokens,
        links=tuple(links),
        stated_tokens=frozenset(index for span in selection.states for index in range(span.first, span.last)),
        literal_tokens=frozenset(index for _, first, last in literal_spans for index in range(first, last))
        | {
            index
            for used_link in selection.used_links
            for index in range(links[used_link].first, links[used_link].last)
        }
        | selection.consumed_tokens,
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


def _select_meanings(
    lexicon: BucketLexicon,
    question: str,
    literals: Sequence[QuestionLiteral],
    quotations: Sequence[QuotedPhrase],
    corrected_stems: Mapping[str, str],
    similarities: WordSimilarities,
) -> SpanSelection:
    """Returns the selected meanings of the question's words, before they become conditions."""
    tokens = tokenize_question(question, lexicon.analyser, tuple(quotations))
    tokens = (
        tuple(replace(token, stem=corrected_stems.get(token.stem, token.stem)) for token in tokens)
        if corrected_stems
        else tokens
    )
    tokens = tuple(map(lexicon.normalize_plural, tokens))
    links = [link for link in lexicon.find_links(tokens) if not _is_grouping_period(link, tokens)]
    links = [link for link in links if not _counts_something_else(link, links, tokens)]
    links += _similar_field_links(tokens, links, similarities)
    measure_links = [link for link in _measure_links(lexicon, tokens) if not _modifies_measure(link, links, lexicon)]
    asking_tokens = frozenset[int]().union(*(link.phrase_tokens for link in links))
    measure_links = [link for link in measure_links if link.first not in asking_tokens]
    links += [*measure_links, *find_due_links(lexicon, tokens)]
    literal_spans = [(literal, *token_range_in(tokens, *literal_extent_in(literal, lexicon))) for literal in literals]
    date_tokens = {first for literal, first, last in literal_spans if isinstance(literal, DateLiteral) and first < last}
    links = [_weigh_in_context(link, links, tokens, lexicon) for link in links]
    links = [
        link if _names_documents(link, links, tokens) else _weigh_as_date(link, date_tokens, tokens, lexicon)
        for link in links
    ]
    links = [weigh_by_role(link, links, tokens, lexicon) for link in links]
    noun_boundaries = {
        boundary
        for link in links
        if isinstance(link.meaning, BucketNoun) or _names_documents_in_plural(link, tokens, lexicon)
        for boundary in (link.first, -link.last)
    }
    noun_boundaries |= {
        index
        for index, token in enumerate(tokens)
        if (token.word,) in SUPERLATIVE_PHRASES or token.word in ("most", "least")
    }  # "the 3 cheapest"
    bindable_spans = [
        span
        for span in literal_spans
        if span[1] < span[2]
        and not is_rank_or_count(span, noun_boundaries, tokens)
        and not is_identifier(span, tokens, links, lexicon)
        and _may_bind(span, lexicon, links)
    ]
    links = filter_links(links, tokens, bindable_spans, lexicon)
    selected_links, kept_literals = select_spans(len(tokens), links, bindable_spans)
    compared_tokens = {index for _, first, last in kept_literals for index in range(first, last)}
    mentions = [link for link in links if isinstance(link.meaning, FieldMention) and not link.meaning.is_hint]
    found = find_states(tokens, question, selected_links, kept_literals, lexicon)
    if _asks_about_document(tokens, found.links, lexicon):
        found = found.without_lasting_states()
    selected_links = found.links
    stated_links = [*selected_links, *map(_link_to_state, found.spans)]
    exclusions = find_exclusions(tokens, question, stated_links, compared_tokens, lexicon)
    negated_tokens = find_negated_tokens(
        tokens, stated_links, compared_tokens, lexicon, already_read=exclusions.phrase_tokens
    )
    return SpanSelection(
        lexicon,
        question,
        tokens,
        selected_links,
        [*measure_links, *_find_homonyms(selected_links, mentions)],
        kept_literals,
        negated_tokens ^ exclusions.negated_tokens,
        doubly_negated_tokens=negated_tokens & exclusions.negated_tokens,
        exclusions=exclusions,
        rival_links=[link for link in links if isinstance(link.meaning, ValueMatch)],
        consumed_tokens={index for span in found.spans for index in range(span.first, span.last)}
        | found.empty_tokens
        | exclusions.phrase_tokens,
        states=found.spans,
    )


def _asks_about_document(tokens: Sequence[QuestionToken], links: Sequence[SpanLink], lexicon: BucketLexicon) -> bool:
    """ "What does Ida Berg do *now*": whether a document is named, and no yes or no about it is asked."""
    if not tokens or tokens[0].word in YES_NO_VERBS:
        return False
    names = (link.meaning for link in links if isinstance(link.meaning, ValueMatch) and link.meaning.column is None)
    return any(name.field == TITLE_FIELD or lexicon.is_identifying(name.field) for name in names)


def _link_to_state(span: StateSpan) -> SpanLink:
    """Returns the span as a link, for what looks at the meanings around a word."""
    return SpanLink(
        first=span.first, last=span.last, meaning=FieldMention(span.fields[0].name, is_negated=True), weight=0.0
    )


# -- the meanings of words

_MIN_CERTAIN_WEIGHT = 1.5  # weight from which a value link needs no support from its neighbours
_OWN_FIELD_BONUS = 1.0  # weight added to a value right after the name of its field
_TITLE_IN_SET_PENALTY = 0.6  # weight taken from a title, if another field of the set holds the name
_SIMILAR_WEIGHT = 0.3  # of a hint by similarity in meaning: less than that of a hint by a word of the schema
_SUPPORTED_HINT_WEIGHT = 1.7  # weight of a hint beside a literal of the field's type: less than the field's name
_ROUTE_BONUS = 1.2  # weight added to each of two places that "to" connects, if its field says from or to where
_WORDS_BEFORE_TO = frozenset("over across on through up down".split())
_MAX_DIRECTION_DISTANCE = 5  # tokens between a word of direction and its place
_COPULAS = frozenset("is are was were be of named called as the a an".split())


def _counts_something_else(link: SpanLink, links: Sequence[SpanLink], tokens: Sequence[QuestionToken]) -> bool:
    """ "How many *owners* …": whether "how many" counts a noun, and so is no name of the field for a quantity.

    "How many oak tables" does ask for it: what is counted is a value.
    """
    words = [token.word for token in tokens[link.first : link.last]]
    if words != ["how", "many"] or not isinstance(link.meaning, FieldMention) or link.last >= len(tokens):
        return False
    counted = link.last
    while counted < len(tokens) - 1 and tokens[counted].word in FILLER_WORDS | DISTINCT_WORDS:
        counted += 1
    counts_value = any(
        isinstance(other.meaning, (ValueMatch, PartialMatch)) and 0 <= other.first - counted <= 1 for other in links
    )
    return is_content_word(tokens[counted]) and not counts_value


def _names_documents_in_plural(link: SpanLink, tokens: Sequence[QuestionToken], lexicon: BucketLexicon) -> bool:
    """ "The four *jobs* …": whether the link is a mention, in the plural, of what identifies the documents."""
    meaning = link.meaning
    return (
        isinstance(meaning, FieldMention)
        and meaning.column is None
        and looks_plural(tokens[link.last - 1])
        and lexicon.is_identifying(meaning.field)
    )


def _weigh_in_context(
    link: SpanLink, links: Sequence[SpanLink], tokens: Sequence[QuestionToken], lexicon: BucketLexicon
) -> SpanLink:
    """Returns the link with its weight adjusted by its neighbours."""
    meaning = link.meaning
    if isinstance(meaning, FieldMention) and not meaning.is_hint:
        if _names_documents(link, links, tokens):
            return replace(link, weight=link.weight - 0.5)  # "parts" names the documents rather than a field
        is_likely = (
            _precedes_own_value(link, meaning, links, tokens)
            or _follows_asking_word(link, tokens)
            or _follows_lack_word(link, tokens)
        )
        return replace(link, weight=link.weight + 1.0) if is_likely else link
    if isinstance(meaning, ValueMatch) and _is_title_beside_set(link, meaning, links, tokens):
        return replace(link, weight=link.weight - _TITLE_IN_SET_PENALTY)
    if isinstance(meaning, (ValueMatch, PartialMatch)) and _follows_own_field(link, meaning, links, tokens):
        link = replace(link, weight=link.weight + _OWN_FIELD_BONUS)
    if not _is_whole_value(meaning) or not isinstance(meaning, (ValueMatch, PartialMatch)):
        return link
    link = _weigh_by_direction(link, meaning, tokens, lexicon)
    if isinstance(meaning, ValueMatch) and link.weight < _MIN_CERTAIN_WEIGHT:
        return replace(link, weight=3.0) if _follows_field_name(link, meaning, links) else link
    return replace(link, weight=link.weight - 1.5) if _is_plural_kind(link, meaning, links, tokens) else link


def _weigh_by_direction(
    link: SpanLink, meaning: ValueMatch | PartialMatch, tokens: Sequence[QuestionToken], lexicon: BucketLexicon
) -> SpanLink:
    """ "*From* Arvo *to* Belk": returns the link with more weight if its field fits the word of direction before it."""
    if meaning.column is not None:
        return link
    field = lexicon.get_field(meaning.field)
    field_words = {*fold_text(field.label).split(), *map(fold_text, field.plain_synonyms)}
    if _begins_route(link, tokens):
        return replace(link, weight=link.weight + _ROUTE_BONUS) if field_words & ORIGIN_FIELD_WORDS else link
    if _ends_route(link, tokens):
        return replace(link, weight=link.weight + _ROUTE_BONUS) if field_words & DESTINATION_FIELD_WORDS else link
    for index in range(link.first - 1, max(link.first - _MAX_DIRECTION_DISTANCE, 0) - 1, -1):
        word = tokens[index].word
        if word in DEPARTURE_WORDS | ARRIVAL_WORDS:
            fits_direction = field_words & (ORIGIN_FIELD_WORDS if word in DEPARTURE_WORDS else DESTINATION_FIELD_WORDS)
            return replace(link, weight=link.weight + 0.5) if fits_direction else link
    return link


def _begins_route(link: SpanLink, tokens: Sequence[QuestionToken]) -> bool:
    """ "*Arvo* to Belk", "*Arvo* over to Belk": whether a place right before "to" and another name."""
    last = link.last + (link.last < len(tokens) and tokens[link.last].word in _WORDS_BEFORE_TO)
    return last + 1 < len(tokens) and tokens[last].word == "to" and tokens[last + 1].is_name


def _ends_route(link: SpanLink, tokens: Sequence[QuestionToken]) -> bool:
    """ "Arvo to *Belk*": whether a place right after "to" and another name."""
    before = link.first - 2 - (link.first > 2 and tokens[link.first - 2].word in _WORDS_BEFORE_TO)
    return link.first > 1 and tokens[link.first - 1].word == "to" and tokens[before].is_name


def _weigh_as_date(
    link: SpanLink, date_tokens: set[int], tokens: Sequence[QuestionToken], lexicon: BucketLexicon
) -> SpanLink:
    """ "Closed in October": returns a mention of a date field with more weight if a date follows.

    Beside a date, a verb that only hints at the field is a mention of it: "let go after 2020".
    """
    meaning = link.meaning
    if (
        not isinstance(meaning, FieldMention)
        or lexicon.get_field(meaning.field, meaning.column).type is not FieldType.DATE
    ):
        return link
    next_index = link.last + (link.last < len(tokens) and tokens[link.last].word in PREPOSITIONS)
    if not {link.last, next_index} & date_tokens:
        return link
    if meaning.is_hint and meaning.is_question:
        return replace(link, meaning=replace(meaning, is_hint=False), weight=_SUPPORTED_HINT_WEIGHT)
    return link if meaning.is_hint else replace(link, weight=link.weight + 1.0)


def _is_title_beside_set(
    link: SpanLink, meaning: ValueMatch, links: Sequence[SpanLink], tokens: Sequence[QuestionToken]
) -> bool:
    """ "The *islands* bordering Ovra": whether a title restricts a set that another field relates to the title."""
    is_value_too = any(
        isinstance(other.meaning, ValueMatch)
        and (other.first, other.last) == (link.first, link.last)
        and other.meaning.field != TITLE_FIELD
        for other in links
    )
    if meaning.field != TITLE_FIELD or not is_value_too:
        return False
    if is_place_of_noun(link, links, tokens):
        return True
    nouns = (other for other in links if isinstance(other.meaning, BucketNoun) and other.last <= link.first)
    return any(looks_plural(tokens[noun.last - 1]) and link.first - noun.last > 0 for noun in nouns)


def _follows_own_field(
    link: SpanLink, meaning: ValueMatch | PartialMatch, links: Sequence[SpanLink], tokens: Sequence[QuestionToken]
) -> bool:
    """ "*Registered at* the Ashby branch": whether the name of its field and an article at most precede the value."""
    return not _is_inside_longer_value(link, links) and any(
        isinstance(other.meaning, FieldMention)
        and not other.meaning.is_hint
        and (other.meaning.field, other.meaning.column) == (meaning.field, meaning.column)
        and 0 <= link.first - other.last <= 2
        and all(token.word in _COPULAS | PREPOSITIONS for token in tokens[other.last : link.first])
        for other in links
    )


def _is_inside_longer_value(link: SpanLink, links: Sequence[SpanLink]) -> bool:
    """ "The *Exclusive* Supply Agreement": whether the words are a part of a longer value, which is what is meant."""
    return any(
        isinstance(other.meaning, ValueMatch)
        and other.first <= link.first
        and link.last <= other.last
        and other.last - other.first > link.last - link.first
        for other in links
    )


def _follows_field_name(link: SpanLink, meaning: ValueMatch, links: Sequence[SpanLink]) -> bool:
    """ "Group 3": whether the field of the value is mentioned right before it."""
    return any(
        isinstance(other.meaning, FieldMention)
        and other.meaning.field == meaning.field
        and 0 <= link.first - other.last <= 1
        for other in links
    )


def _precedes_own_value(
    link: SpanLink, meaning: FieldMention, links: Sequence[SpanLink], tokens: Sequence[QuestionToken]
) -> bool:
    """ "The shop is Acme": whether a value of the mentioned field follows the mention."""
    return any(
        isinstance(other.meaning, (ValueMatch, PartialMatch))
        and (other.meaning.field, other.meaning.column) == (meaning.field, meaning.column)
        and 0 <= other.first - link.last <= 2
        and all(token.word in _COPULAS for token in tokens[link.last : other.first])
        and not _is_inside_longer_value(other, links)
        for other in links
    )


_ASKING_WORDS = frozenset("which what per each every different by".split())


def _follows_asking_word(link: SpanLink, tokens: Sequence[QuestionToken]) -> bool:
    """ "Which shop", "per currency", "how many different vendors": whether such a word precedes the mention."""
    return link.first > 0 and tokens[link.first - 1].word in _ASKING_WORDS


def _follows_lack_word(link: SpanLink, tokens: Sequence[QuestionToken]) -> bool:
    """ "Without a completion date": whether a word such as "without" precedes a mention of several words."""
    word_before = tokens[link.first - 1].word if link.first else ""
    if word_before in ("a", "an", "any") and link.first > 1:
        word_before = tokens[link.first - 2].word
    return word_before in LACK_WORDS and link.last - link.first > 1


def _is_plural_kind(
    link: SpanLink, meaning: ValueMatch | PartialMatch, links: Sequence[SpanLink], tokens: Sequence[QuestionToken]
) -> bool:
    """ "Supply agreements": whether the words name a kind of document, although they equal one value in the plural."""
    is_name = all(token.is_name for token in tokens[link.first : link.last]) or meaning.field == TITLE_FIELD
    if not is_name and any(_splits_into_kind_and_noun(link, other, links) for other in links):
        return True
    last_token = tokens[link.last - 1]
    value = meaning.value if isinstance(meaning, ValueMatch) else meaning.values[0]
    is_plural = looks_plural(last_token) and last_token.word not in fold_text(value)
    ends_with_noun = any(
        isinstance(other.meaning, BucketNoun) and other.last == link.last and other.first > link.first
        for other in links
    )
    return is_plural and ends_with_noun


def _names_documents(link: SpanLink, links: Sequence[SpanLink], tokens: Sequence[QuestionToken]) -> bool:
    """ "Orders in 2024", "the oldest order": whether a noun for the documents stands on the span of the link."""
    is_compared = link.first > 0 and function_of_superlative((tokens[link.first - 1].word,)) is not None
    is_noun = is_compared or looks_plural(tokens[link.last - 1])
    return is_noun and any(_is_noun_on_same_span(other, link) for other in links)


def _is_noun_on_same_span(other_link: SpanLink, link: SpanLink) -> bool:
    return isinstance(other_link.meaning, BucketNoun) and (other_link.first, other_link.last) == (link.first, link.last)


def _splits_into_kind_and_noun(link: SpanLink, kind_link: SpanLink, links: Sequence[SpanLink]) -> bool:
    """Whether a category of another field and a noun of the bucket together cover the span of `link`."""
    is_kind = (
        isinstance(kind_link.meaning, (ValueMatch, PartialMatch))
        and kind_link is not link
        and _field_name_of(kind_link) != _field_name_of(link)
    )
    if not is_kind or kind_link.first != link.first or kind_link.last >= link.last:
        return False
    return any(
        isinstance(other.meaning, BucketNoun) and (other.first, other.last) == (kind_link.last, link.last)
        for other in links
    )


def _field_name_of(link: SpanLink) -> FieldName | None:
    return None if isinstance(link.meaning, BucketNoun) else link.meaning.field


def _is_whole_value(meaning: LinkMeaning) -> bool:
    return isinstance(meaning, ValueMatch) or (isinstance(meaning, PartialMatch) and meaning.is_single_name)


def _find_asked_mentions(selection: SpanSelection) -> tuple[FieldMention, ...]:
    """Returns the mentions that gave no condition; a word that names several fields gives a mention of each."""
    mentions: dict[FieldMention, None] = {}
    for index, link in enumerate(selection.links):
        is_mention = isinstance(link.meaning, FieldMention) and index not in selection.used_links
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


_WORDS_BEFORE_NEXT_FIELD = frozenset({"and", "or"})


def _is_object_of_question(link: SpanLink, selection: SpanSelection) -> bool:
    """ "How do I reach the *owner* of …": whether another question phrase asks, and the mention only belongs to it."""
    if _is_question(link.meaning) or link.first == 0:
        return False
    asking_starts = [min(other.phrase_tokens) for other in selection.links if other.phrase_tokens]
    joins_field = selection.tokens[link.first - 1].word in _WORDS_BEFORE_NEXT_FIELD
    return any(start < link.first for start in asking_starts) and not joins_field


def _find_homonyms(selected_links: Sequence[SpanLink], mention_links: Sequence[SpanLink]) -> list[SpanLink]:
    """Returns links to other fields with the same name as a selected mention: "voltage" may be input or output."""
    spans = {
        (link.first, link.last)
        for link in selected_links
        if isinstance(link.meaning, FieldMention) and not link.meaning.is_hint
    }
    asked_spans = {
        (link.first, link.last)
        for link in selected_links
        if isinstance(link.meaning, FieldMention) and link.meaning.is_question
    }
    return [
        link
        for link in mention_links
        if (link.first, link.last) in spans
        and link not in selected_links
        and ((link.first, link.last) not in asked_spans or _is_question(link.meaning))
    ]


def _is_question(meaning: LinkMeaning) -> bool:
    return isinstance(meaning, FieldMention) and meaning.is_question


def _category_links_in(links: Sequence[SpanLink], lexicon: BucketLexicon) -> list[SpanLink]:
    """Returns links to categories, which may name the documents: "transistors" as a category of parts."""
    value_links = [(link, link.meaning) for link in links if isinstance(link.meaning, (ValueMatch, PartialMatch))]
    return [link for link, value in value_links if value.column is None and lexicon.is_categorical(value.field)]


def _release_empty_exclusions(selection: SpanSelection) -> None:
    """Takes the words of an exclusion as not understood, if what it leaves out gave no condition."""
    unused_tokens = {
        token
        for index, link in enumerate(selection.links)
        if isinstance(link.meaning, FieldMention) and index not in selection.used_links
        for token in range(link.first, link.last)
    }
    for phrase, negated in selection.exclusions.members:
        if not negated.isdisjoint(unused_tokens - selection.consumed_tokens):
            selection.consumed_tokens -= phrase


def _drop_unused_hints(selection: SpanSelection) -> None:
    """Removes hints that gave no condition from the links of the selection."""
    unused_indexes = [
        index
        for index, link in enumerate(selection.links)
        if _is_hint(link.meaning) and index not in selection.used_links and not _follows_who(link, selection.tokens)
    ]
    kept_indexes = [index for index in range(len(selection.links)) if index not in unused_indexes]
    selection.used_links = {kept_indexes.index(index) for index in selection.used_links}
    selection.links = [selection.links[index] for index in kept_indexes]


def _follows_who(link: SpanLink, tokens: Sequence[QuestionToken]) -> bool:
    """ "Who handles …": whether the hint follows "who" and so asks for its field."""
    return link.first == 1 and tokens[0].word == "who"


def _is_hint(meaning: LinkMeaning) -> bool:
    return isinstance(meaning, FieldMention) and meaning.is_hint


def _is_grouping_period(link: SpanLink, tokens: Sequence[QuestionToken]) -> bool:
    """ "By month": whether the word is a period to group by rather than a part of a value."""
    is_single_period = (
        link.last - link.first == 1
        and isinstance(link.meaning, PartialMatch)
        and tokens[link.first].word in PERIOD_WORDS
    )
    return is_single_period and link.first > 0 and tokens[link.first - 1].word in GROUPING_WORDS


def _may_bind(
    literal_span: tuple[QuestionLiteral, int, int], lexicon: BucketLexicon, links: Sequence[SpanLink]
) -> bool:
    """Whether some field fits the literal. A bare number needs a mention of the field nearby, unless it has a unit."""
    literal, first, last = literal_span
    if isinstance(literal, QuantityLiteral) and literal.is_ordinal and not _precedes_mention(last, links):
        return False
    candidates = candidate_fields_for(literal, lexicon, mentioned_keys_near(links, first, last))
    if (
        isinstance(literal, QuantityLiteral)
        and literal.op is ComparisonOperator.EQ
        and not literal.unit
        and not literal.currency
    ):
        candidates = [
            candidate
            for candidate in candidates
            if not candidate[0].unit or _is_mentioned_before(candidate[0], candidate[1], first, links)
        ]
    if (
        isinstance(literal, DateLiteral)
        or not (literal.is_bare or literal.is_article)
        or literal.currency
        or literal.is_age
        or literal.is_rate
        or (literal.unit and has_known_unit(literal, lexicon))
    ):
        return bool(candidates)
    near_fields = {
        (link.meaning.field, link.meaning.column)
        for link in links
        if isinstance(link.meaning, FieldMention) and min(abs(first - link.last), abs(link.first - last)) <= 4
    }
    return any(field_key_of(field, row_field) in near_fields for field, row_field, _ in candidates)


def _precedes_mention(last: int, links: Sequence[SpanLink]) -> bool:
    return any(isinstance(link.meaning, FieldMention) and link.first == last for link in links)


def _is_mentioned_before(
    field: SchemaField, row_field: FieldName | None, first: int, links: Sequence[SpanLink]
) -> bool:
    """Whether a mention of the field precedes the literal: "Vceo of 40" needs no unit."""
    return any(
        isinstance(link.meaning, FieldMention)
        and (link.meaning.field, link.meaning.column) == field_key_of(field, row_field)
        and 0 <= first - link.last <= 2
        for link in links
    )


def _similar_field_links(
    tokens: Sequence[QuestionToken], links: Sequence[SpanLink], similarities: WordSimilarities
) -> list[SpanLink]:
    """Returns a hint for each word without a meaning that means nearly the same as the label of one field."""
    covered = {index for link in links for index in range(link.first, link.last)}
    similar_fields = (
        (index, similarities.find_similar_field(token.word))
        for index, token in enumerate(tokens)
        if index not in covered and not token.is_quoted and is_content_word(token)
    )
    return [
        SpanLink(first=index, last=index + 1, meaning=FieldMention(name, is_hint=True), weight=_SIMILAR_WEIGHT)
        for index, name in similar_fields
        if name is not None
    ]


def _modifies_measure(link: SpanLink, links: Sequence[SpanLink], lexicon: BucketLexicon) -> bool:
    """ "A *high* rating": whether a number is named right after the adjective, so that it measures this number."""
    return any(
        isinstance(other.meaning, FieldMention)
        and not other.meaning.is_hint
        and other.first == link.last
        and lexicon.get_field(other.meaning.field, other.meaning.column).type in (FieldType.NUMBER, FieldType.MONEY)
        for other in links
    )


def _measure_links(lexicon: BucketLexicon, tokens: Sequence[QuestionToken]) -> Iterator[SpanLink]:
    for index, token in enumerate(tokens):
        noun = MEASURE_NOUNS.get(token.word)
        if noun is None or (index and tokens[index - 1].word == "how" and token.word == "long"):
            continue  # "how long" asks for a duration
        for text in (noun, noun.split()[0]):
            noun_tokens = tokenize_question(text, lexicon.analyser)
            for link in lexicon.find_links(noun_tokens):
                if isinstance(link.meaning, FieldMention) and link.first == 0 and link.last == len(noun_tokens):
                    yield SpanLink(first=index, last=index + 1, meaning=link.meaning, weight=1.0)
