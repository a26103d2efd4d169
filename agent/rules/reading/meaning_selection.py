"""Selects the meanings of the words of a question, before they become conditions."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from datetime import date

from agent.english.function_words import SUPERLATIVE_PHRASES, YES_NO_VERBS
from agent.rules.binding.deadline_conditions import find_due_links
from agent.rules.binding.field_fit import candidate_fields_for, field_key_of
from agent.rules.binding.field_ranking import mentioned_keys_near
from agent.rules.binding.number_roles import is_identifier, is_rank_or_count
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, SpanLink, ValueMatch
from agent.rules.linking.candidate_links import (
    counts_something_else,
    find_homonyms,
    find_measure_links,
    find_similar_field_links,
    is_grouping_period,
    modifies_measure,
)
from agent.rules.linking.context_weights import (
    names_documents,
    names_documents_in_plural,
    weigh_as_date,
    weigh_in_context,
)
from agent.rules.linking.exclusions import find_exclusions
from agent.rules.linking.flag_links import find_flag_links
from agent.rules.linking.label_similarity import WordSimilarities
from agent.rules.linking.link_filter import filter_links
from agent.rules.linking.role_weights import weigh_by_role
from agent.rules.linking.span_selection import (
    SpanSelection,
    SpanUsage,
    find_negated_tokens,
    has_known_unit,
    literal_extent_in,
    select_spans,
    token_range_in,
)
from agent.rules.linking.state_spans import StateSpan, find_states
from agent.rules.literals.literal_types import DateLiteral, LiteralSpan, QuantityLiteral, QuestionLiteral
from agent.rules.words.tokens import QuestionToken, QuotedPhrase, tokenize_question
from storage.search.conditions import TITLE_FIELD, ComparisonOperator
from storage.search.ids import FieldName
from storage.search.schema import SchemaField


def select_meanings(
    lexicon: BucketLexicon,
    question: str,
    literals: Sequence[QuestionLiteral],
    quotations: Sequence[QuotedPhrase],
    corrected_stems: Mapping[str, str],
    similarities: WordSimilarities,
    today: date | None,
) -> SpanSelection:
    """Returns the selected meanings of the question's words, before they become conditions."""
    tokens = tokenize_question(question, lexicon.analyser, tuple(quotations))
    tokens = (
        tuple(replace(token, stem=corrected_stems.get(token.stem, token.stem)) for token in tokens)
        if corrected_stems
        else tokens
    )
    tokens = tuple(map(lexicon.normalize_plural, tokens))
    links = [link for link in lexicon.find_links(tokens) if not is_grouping_period(link, tokens)]
    links = [link for link in links if not counts_something_else(link, links, tokens)]
    links += [*find_flag_links(tokens, links, lexicon)]
    links += find_similar_field_links(tokens, links, similarities)
    measure_links = [link for link in find_measure_links(lexicon, tokens) if not modifies_measure(link, links, lexicon)]
    asking_tokens = frozenset[int]().union(*(link.phrase_tokens for link in links))
    measure_links = [link for link in measure_links if link.first not in asking_tokens]
    links += [*measure_links, *find_due_links(lexicon, tokens)]
    literal_spans = [(literal, *token_range_in(tokens, *literal_extent_in(literal, lexicon))) for literal in literals]
    date_tokens = {first for literal, first, last in literal_spans if isinstance(literal, DateLiteral) and first < last}
    links = [weigh_in_context(link, links, tokens, lexicon) for link in links]
    links = [
        link if names_documents(link, links, tokens) else weigh_as_date(link, date_tokens, tokens, lexicon)
        for link in links
    ]
    links = [weigh_by_role(link, links, tokens, lexicon) for link in links]
    noun_boundaries = _find_noun_boundaries(links, tokens, lexicon) if literal_spans else frozenset[int]()
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
    stated_tokens = {index for span in found.spans for index in range(span.first, span.last)}
    return SpanSelection(
        lexicon=lexicon,
        question=question,
        tokens=tokens,
        links=tuple(selected_links),
        measure_links=(*measure_links, *find_homonyms(selected_links, mentions)),
        rival_links=tuple(link for link in links if isinstance(link.meaning, ValueMatch)),
        literal_spans=tuple(kept_literals),
        negated_tokens=negated_tokens ^ exclusions.negated_tokens,
        doubly_negated_tokens=negated_tokens & exclusions.negated_tokens,
        exclusions=exclusions,
        states=found.spans,
        today=today,
        similarities=similarities,
        usage=SpanUsage(tokens=stated_tokens | found.empty_tokens | exclusions.phrase_tokens),
    )


def _find_noun_boundaries(
    links: Sequence[SpanLink], tokens: Sequence[QuestionToken], lexicon: BucketLexicon
) -> Set[int]:
    """Returns where nouns and superlatives begin, and the negative of where nouns end: a number beside them counts."""
    of_nouns = {
        boundary
        for link in links
        if isinstance(link.meaning, BucketNoun) or names_documents_in_plural(link, tokens, lexicon)
        for boundary in (link.first, -link.last)
    }
    return of_nouns | {
        index
        for index, token in enumerate(tokens)
        if (token.word,) in SUPERLATIVE_PHRASES or token.word in ("most", "least")
    }  # "the 3 cheapest"


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


def _may_bind(literal_span: LiteralSpan, lexicon: BucketLexicon, links: Sequence[SpanLink]) -> bool:
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
