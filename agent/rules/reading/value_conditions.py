"""Builds conditions from links to values and fields, and joins conditions on the columns of one row."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent.english.date_roles import DUE_WORDS, END_WORDS, SETTLED_WORDS
from agent.english.function_words import (
    CONTRACTED_NEGATIONS,
    DAY_ORDER_WORDS,
    DISJUNCTIONS,
    DISTINCT_WORDS,
    ENDED_WORDS,
    FILLER_WORDS,
    HAVE_WORDS,
    LACK_WORDS,
    MISSING_ADJECTIVES,
    OWING_WORDS,
    PRESENT_WORDS,
    STOP_WORDS,
    YES_NO_VERBS,
)
from agent.english.gradable_adjectives import scale_of_superlative
from agent.english.state_words import CALLED_OFF_STATUSES, WORDS_OF_THE_PENDING
from agent.english.stock_words import PHRASES_FOR_NONE, names_quantity_at_place
from agent.rules.binding.field_fit import is_deadline, words_of_label
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.end_fields import PAID_VALUES, is_status
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, PartialMatch, SpanLink, ValueMatch
from agent.rules.linking.flag_links import tells_failure
from agent.rules.linking.span_selection import SpanSelection
from storage.search.analyser import fold_text
from storage.search.conditions import (
    TITLE_FIELD,
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    FieldComparisonCondition,
    MissingCondition,
    NotCondition,
    OrCondition,
    RowCondition,
    SemiJoinCondition,
    conjunction_of,
)
from storage.search.ids import FieldName
from storage.search.schema import FieldType, SchemaField
from storage.text.irregular_verbs import base_form_of

_MAX_LISTED_VALUES = 50
_MAX_PENDING_DISTANCE = 4  # tokens from "still" to the status that is not reached


def build_value_conditions(selection: SpanSelection) -> Iterator[Condition]:
    groups: dict[tuple[FieldName, FieldName | None, bool], list[SpanLink]] = defaultdict(list)
    for link in selection.links:
        meaning = link.meaning
        if isinstance(meaning, (ValueMatch, PartialMatch)):
            is_negated = any(index in selection.negated_tokens for index in range(link.first, link.last))
            if not _repeats_the_present(selection, link, meaning):
                groups[meaning.field, meaning.column, is_negated].append(link)
            _use_mentions_of_field(selection, link, meaning)
    for (name, column, is_negated), links in groups.items():
        if not is_negated and column is None and (owed := _owed_condition(selection, name, links)) is not None:
            yield owed
            continue
        condition = _group_condition(selection, name, column, links, is_negated=is_negated)
        if is_negated and column is None and isinstance(condition, ComparisonCondition):
            condition = _with_called_off(selection, condition, links)
        yield NotCondition(condition) if is_negated else condition


def _owed_condition(selection: SpanSelection, name: FieldName, links: Sequence[SpanLink]) -> Condition | None:
    """ "Who *owes* us": returns that the status is not "paid", nor that of what was called off; an overdue bill is owed
    as well as an unpaid one. None for other words, and for a status without "paid".
    """
    words = {token.word for link in links for token in selection.tokens[link.first : link.last]}
    vocabulary = selection.lexicon.vocabulary_of(name)
    if not words <= OWING_WORDS or vocabulary is None:
        return None
    paid = [value.value for value in vocabulary.values if fold_text(value.value) in PAID_VALUES]
    called_off = [value.value for value in vocabulary.values if fold_text(value.value) in CALLED_OFF_STATUSES]
    if not paid:
        return None
    written = selection.question[selection.tokens[links[0].first].start : selection.tokens[links[0].last - 1].end]
    return NotCondition(
        ComparisonCondition(field=name, op=ComparisonOperator.IN, value=(*paid, *called_off), words=written)
    )


def _repeats_the_present(selection: SpanSelection, link: SpanLink, meaning: ValueMatch | PartialMatch) -> bool:
    """ "On hold *at the moment*": whether the words say when, and another value of the status is named."""
    return {token.word for token in selection.tokens[link.first : link.last]} <= PRESENT_WORDS and any(
        isinstance(other.meaning, (ValueMatch, PartialMatch))
        and other is not link
        and other.meaning.field == meaning.field
        for other in selection.links
    )


def _with_called_off(
    selection: SpanSelection, condition: ComparisonCondition, links: Sequence[SpanLink]
) -> ComparisonCondition:
    """ "*Still* not delivered", "not delivered *yet*": returns the condition with the statuses of what was called off.

    That is neither done nor pending.
    """
    field, vocabulary = selection.lexicon.get_field(condition.field), selection.lexicon.vocabulary_of(condition.field)
    near = {
        token.word
        for link in links
        for token in selection.tokens[max(link.first - _MAX_PENDING_DISTANCE, 0) : link.last + 1]
    }
    named = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    if vocabulary is None or not is_status(field) or not near & WORDS_OF_THE_PENDING:
        return condition
    if CALLED_OFF_STATUSES & {fold_text(str(value)) for value in named}:
        return condition
    called_off = (value.value for value in vocabulary.values if fold_text(value.value) in CALLED_OFF_STATUSES)
    values = tuple(dict.fromkeys((*map(str, named), *called_off)))
    return replace(condition, op=ComparisonOperator.IN, value=values) if len(values) > len(named) else condition


def _use_mentions_of_field(selection: SpanSelection, link: SpanLink, meaning: ValueMatch | PartialMatch) -> None:
    for index, other in enumerate(selection.links):
        if not isinstance(other.meaning, FieldMention) or other.meaning.field != meaning.field:
            continue
        if other.meaning.column in (meaning.column, None) and _token_gap(other, link) <= 3:
            selection.usage.links.add(index)


def _token_gap(link: SpanLink, other_link: SpanLink) -> int:
    return max(link.first, other_link.first) - min(link.last, other_link.last)


def _group_condition(
    selection: SpanSelection, name: FieldName, column: FieldName | None, links: Sequence[SpanLink], *, is_negated: bool
) -> Condition:
    field = selection.lexicon.get_field(name, column)
    parts = [_value_condition(selection, field, link) for link in links]
    if len(parts) > 1:
        tokens_between = range(links[0].last, links[-1].first)
        is_disjunction = is_negated or any(selection.tokens[index].word in DISJUNCTIONS for index in tokens_between)
        has_many_values = field.type is FieldType.LIST or column is not None
        merged = (
            _merge_values(field, parts)
            if not has_many_values
            else (OrCondition(tuple(parts)) if is_disjunction else AndCondition(tuple(parts)))
        )
        if column is not None and not is_disjunction:
            return AndCondition(
                tuple(RowCondition(rows_field=name, condition=part, words=_words_of(part)) for part in parts)
            )
        parts = [merged]
    return parts[0] if column is None else RowCondition(rows_field=name, condition=parts[0], words=_words_of(parts[0]))


def _words_of(condition: Condition) -> str:
    match condition:
        case (
            ComparisonCondition(words=words)
            | FieldComparisonCondition(words=words)
            | MissingCondition(words=words)
            | RowCondition(words=words)
        ):
            return words
        case AndCondition(members) | OrCondition(members):
            return " ".join(filter(None, map(_words_of, members)))
        case SemiJoinCondition(words=words):
            return words
        case NotCondition(inner):
            return _words_of(inner)


def _merge_values(field: SchemaField, parts: Sequence[Condition]) -> Condition:
    values: list[str] = []
    for part in parts:
        if not isinstance(part, ComparisonCondition) or part.op is ComparisonOperator.CONTAINS:
            return OrCondition(tuple(parts))
        values += [str(value) for value in (part.value if isinstance(part.value, tuple) else (part.value,))]
    words = ", ".join(filter(None, (_words_of(part) for part in parts)))
    return ComparisonCondition(
        field=field.name, op=ComparisonOperator.IN, value=tuple(dict.fromkeys(values)), words=words
    )


def _equality_operator(field: SchemaField) -> ComparisonOperator:
    if field.name == TITLE_FIELD:
        return ComparisonOperator.CONTAINS
    return ComparisonOperator.HAS if field.type is FieldType.LIST else ComparisonOperator.EQ


def _value_condition(selection: SpanSelection, field: SchemaField, link: SpanLink) -> Condition:
    words = selection.question[selection.tokens[link.first].start : selection.tokens[link.last - 1].end]
    equality_op = _equality_operator(field)
    if isinstance(link.meaning, ValueMatch):
        return ComparisonCondition(field=field.name, op=equality_op, value=link.meaning.value, words=words)
    assert isinstance(link.meaning, PartialMatch)  # noqa: S101 - the caller's groups hold no other
    values = link.meaning.values
    folded_words = fold_text(words)
    if field.type is not FieldType.LIST and all(folded_words in fold_text(value) for value in values):
        folded_values = selection.lexicon.folded_values_of(link.meaning.field, link.meaning.column)
        matching_count = sum(folded_words in value for value in folded_values)
        if len(values) > 1 and (matching_count == len(values) or len(values) > _MAX_LISTED_VALUES):
            return ComparisonCondition(field=field.name, op=ComparisonOperator.CONTAINS, value=words, words=words)
    if len(values) == 1:
        return ComparisonCondition(field=field.name, op=equality_op, value=values[0], words=words)
    if field.name == TITLE_FIELD:
        return ComparisonCondition(field=TITLE_FIELD, op=ComparisonOperator.CONTAINS, value=words, words=words)
    return ComparisonCondition(field=field.name, op=ComparisonOperator.IN, value=values, words=words)


# -- mentions of fields


def build_mention_conditions(selection: SpanSelection) -> Iterator[Condition]:
    yield from _single_word_conditions(selection)
    for index, link in enumerate(selection.links):
        meaning = link.meaning
        if not isinstance(meaning, FieldMention) or index in selection.usage.links or meaning.column is not None:
            continue
        if _names_what_nobody_does(selection, link):
            selection.usage.links.add(index)
            words = selection.question[selection.tokens[link.first].start : selection.tokens[link.last - 1].end]
            yield MissingCondition(field=meaning.field, words=words)
            continue
        if meaning.is_question and not selection.lexicon.is_flag(meaning):
            continue  # it asks for the value
        if any(field.name == meaning.field for state in selection.states for field in state.fields):
            continue  # "still valid" says all of it
        if _is_contrasted_field(selection, link):
            selection.usage.links.add(index)
            continue
        op = _term_operator(selection, link, meaning)
        if op is None and meaning.is_hint:
            op = _hinted_validity_operator(selection, link, meaning)
        if op is not None:
            selection.usage.links.add(index)
            words = selection.question[selection.tokens[link.first].start : selection.tokens[link.last - 1].end]
            yield ComparisonCondition(field=meaning.field, op=op, value=str(selection.today), words=words)
            continue
        if meaning.is_hint and not (
            _hints_at_flag(selection, link, meaning) or _hints_at_missing(selection, link, meaning)
        ):
            continue
        field = selection.lexicon.get_field(meaning.field)
        words = selection.question[selection.tokens[link.first].start : selection.tokens[link.last - 1].end]
        is_negated = any(token_index in selection.negated_tokens for token_index in range(link.first, link.last))
        words_before = _words_right_before(selection, link)
        lack_words = {token.word for token in selection.tokens[: link.first]} & (
            LACK_WORDS | HAVE_WORDS | CONTRACTED_NEGATIONS | _NEVER_WORDS
        )
        words_after = [token.word for token in selection.tokens[link.last : link.last + 2]]
        if field.type is FieldType.FLAG:
            selection.usage.links.add(index)
            yield ComparisonCondition(
                field=field.name, op=ComparisonOperator.EQ, value=is_negated == meaning.is_negated, words=words
            )
            if meaning.is_negated and not is_negated and tells_failure(fold_text(words).split()):
                yield from _known_where(selection, field, words)
        elif is_deadline(field) and _tells_settling(selection, link, field):
            continue  # "not *paid*": the day by which it is due tells of no payment
        elif meaning.is_negated:
            selection.usage.links.add(index)
            missing = MissingCondition(field=field.name, words=words)
            yield NotCondition(missing) if is_negated else missing
        elif field.type is FieldType.NUMBER and "out" in {
            token.word for token in selection.tokens[link.first : link.last]
        }:
            selection.usage.links.add(index)
            yield ComparisonCondition(
                field=field.name, op=ComparisonOperator.EQ, value=0.0, words=words
            )  # "sold out", of a number in stock
        elif field.type is FieldType.DATE and (op := _validity_operator(selection, link)) is not None:
            selection.usage.links.add(index)
            comparison = ComparisonCondition(field=field.name, op=op, value=str(selection.today), words=words)
            yield NotCondition(comparison) if is_negated else comparison
        elif field.type is FieldType.DATE and _is_participle_of_noun(selection, link):
            selection.usage.links.add(index)
            missing = MissingCondition(field=field.name, words=words)
            yield missing if is_negated else NotCondition(missing)
        elif is_negated and lack_words and _has_unlinked_modifier(selection, link):
            continue  # "without a termination clause": this kind of clause, not every clause
        elif is_negated and lack_words and _may_be_zero(selection, field):
            selection.usage.links.add(index)
            yield ComparisonCondition(
                field=field.name, op=ComparisonOperator.EQ, value=0.0, words=words
            )  # "with no days left"
        elif (is_negated and lack_words) or set(words_after) & MISSING_ADJECTIVES:
            selection.usage.links.add(index)
            yield MissingCondition(field=field.name, words=words)
        elif names_quantity_at_place(field.label) and (none := _find_words_for_none(selection)):
            selection.usage.links.add(index)
            selection.usage.tokens.update(none)
            yield ComparisonCondition(field=field.name, op=ComparisonOperator.EQ, value=0.0, words=words)
        elif not is_negated and _counts_pieces(selection, field):
            continue  # "how many have we got at Harbury": the number itself is asked for
        elif not is_negated and set(words_before) & _GETTING_WORDS and _may_be_zero(selection, field):
            selection.usage.links.add(index)
            yield ComparisonCondition(
                field=field.name, op=ComparisonOperator.GT, value=0.0, words=words
            )  # "a discount"
        elif link.first in selection.doubly_negated_tokens or (
            set(words_before) & HAVE_WORDS and not is_negated and not _is_asked_for(selection, link)
        ):
            selection.usage.links.add(index)
            yield NotCondition(MissingCondition(field=field.name, words=words))
        elif _tells_end(selection, link, meaning):
            selection.usage.links.add(index)
            missing = MissingCondition(field=field.name, words=words)
            yield missing if is_negated else NotCondition(missing)
        elif set(words_before) & HAVE_WORDS and not _is_asked_for(selection, link):
            selection.usage.links.add(index)
            yield NotCondition(MissingCondition(field=field.name, words=words))


def _tells_settling(selection: SpanSelection, link: SpanLink, field: SchemaField) -> bool:
    """Whether the words say that something has been done, as only a synonym of the field does: "without a *completion*
    date" names the field "Completion date" itself.
    """
    words = {token.word for token in selection.tokens[link.first : link.last]}
    return bool((words & SETTLED_WORDS) - words_of_label(field)) and not words & DUE_WORDS


def _known_where(selection: SpanSelection, flag: SchemaField, words: str) -> Iterator[Condition]:
    """ "Tickets that *missed* the target": yields that a matter is over, if the flag is empty until then.

    An empty flag counts as no, but what is still open has missed nothing.
    """
    vocabulary = selection.lexicon.vocabulary_of(flag.name)
    if vocabulary is None or selection.lexicon.is_known_of_all(flag.name):
        return
    for name in selection.lexicon.end_fields.dates:
        ends = selection.lexicon.vocabulary_of(name)
        if ends is not None and ends.document_count == vocabulary.document_count:
            yield NotCondition(MissingCondition(field=name, words=words))
            return


def _is_contrasted_field(selection: SpanSelection, link: SpanLink) -> bool:
    """ "The actual cost, not *the estimate*": whether the name only says which other field is not meant."""
    words_before = [token.word for token in selection.tokens[max(link.first - 2, 0) : link.first]]
    return words_before == ["not", "the"] and any(
        isinstance(other.meaning, FieldMention) and other.meaning.field != link.meaning.field and other is not link
        for other in selection.links
        if isinstance(link.meaning, FieldMention)
    )


def _names_what_nobody_does(selection: SpanSelection, link: SpanLink) -> bool:
    """ "That nobody is *handling*": whether an exclusion of people ends in the word for their field."""
    return any(
        link.first in negated
        and any(selection.tokens[index].word in _NOBODY_WORDS | {"one"} for index in phrase)
        and not selection.lexicon.is_flag(link.meaning)
        for phrase, negated in selection.exclusions.members
    )


def _single_word_conditions(selection: SpanSelection) -> Iterator[Condition]:
    """ "Undated", "upcoming", "that nobody uses": yields conditions on the natural order's date and on the person."""
    natural_order, person_field = selection.lexicon.schema.natural_order, selection.lexicon.person_field
    for index, token in enumerate(selection.tokens):
        words = selection.question[token.start : token.end]
        if token.word == "undated" and natural_order:
            yield MissingCondition(field=natural_order.field, words=words)
        elif (
            token.word in _UPCOMING_WORDS
            and natural_order
            and selection.today is not None
            and _is_date_field(selection, natural_order.field)
        ):
            selection.usage.tokens.add(index)
            yield ComparisonCondition(
                field=natural_order.field, op=ComparisonOperator.GTE, value=str(selection.today), words=words
            )
        elif (
            token.word in _NOBODY_WORDS
            and index not in selection.usage.tokens
            and person_field is not None
            and index not in selection.negated_tokens
        ):
            selection.usage.tokens.add(index)
            yield MissingCondition(field=person_field, words=words)


def _is_date_field(selection: SpanSelection, name: FieldName) -> bool:
    return selection.lexicon.get_field(name).type is FieldType.DATE


_UPCOMING_WORDS = frozenset("upcoming forthcoming".split())
_NOBODY_WORDS = frozenset("nobody noone".split())
_NEVER_WORDS = frozenset({"never", *_NOBODY_WORDS})
_STILL_VALID_WORDS = frozenset("still currently force effect".split())
_OPEN_QUESTION_WORDS = frozenset("when until since how what".split())


def _validity_operator(selection: SpanSelection, link: SpanLink) -> ComparisonOperator | None:
    """Returns how an end date compares with today, if no other date is given: "that have expired", "still in force"."""
    words = {token.word for token in selection.tokens[link.first : link.last]}
    words_before = {token.word for token in selection.tokens[: link.first]}
    if selection.today is None or words_before & _OPEN_QUESTION_WORDS:
        return None
    if words & _STILL_VALID_WORDS:
        return ComparisonOperator.GTE
    return ComparisonOperator.LT if words & ENDED_WORDS else None


def _term_operator(selection: SpanSelection, link: SpanLink, meaning: FieldMention) -> ComparisonOperator | None:
    """ "*Out of* warranty", "still *in* guarantee": returns how the day on which a term ends compares with today."""
    field = selection.lexicon.get_field(meaning.field)
    words = [token.word for token in selection.tokens]
    is_end_date = field.type is FieldType.DATE and bool(END_WORDS & set(fold_text(field.label).split()))
    if not is_end_date or selection.today is None or words[0] in _WORDS_ASKING_FOR_DAYS:
        return None
    first = link.first - (words[link.first - 1] in _WORDS_BEFORE_TERM) if link.first else 0
    if words[max(first - 2, 0) : first] == ["out", "of"]:
        selection.usage.tokens.update(range(first - 2, link.first))
        is_negated = first - 2 in selection.negated_tokens or link.first in selection.negated_tokens
        return ComparisonOperator.GTE if is_negated else ComparisonOperator.LT
    if first and words[first - 1] in _WORDS_WITHIN_TERM and link.last - link.first == 1:
        is_negated = link.first in selection.negated_tokens
        return ComparisonOperator.LT if is_negated else ComparisonOperator.GTE
    return None


_WORDS_ASKING_FOR_DAYS = frozenset({"when", "until", "since"})
_WORDS_BEFORE_TERM = frozenset("the its their a".split())
_WORDS_WITHIN_TERM = frozenset("in under within".split())


def _hinted_validity_operator(
    selection: SpanSelection, link: SpanLink, meaning: FieldMention
) -> ComparisonOperator | None:
    """ "Whose *warranty* has expired", "still under *warranty*": returns how the end date compares with today."""
    field = selection.lexicon.get_field(meaning.field)
    is_end_date = field.type is FieldType.DATE and bool(END_WORDS & set(fold_text(field.label).split()))
    if not is_end_date or selection.today is None or selection.tokens[0].word in _OPEN_QUESTION_WORDS:
        return None
    words_after = [token.word for token in selection.tokens[link.last : link.last + 4]]
    words_before = [token.word for token in selection.tokens[max(link.first - 2, 0) : link.first]]
    ended_indexes = [
        index
        for index in range(link.last, min(link.last + 4, len(selection.tokens)))
        if selection.tokens[index].word in ENDED_WORDS
    ]
    if ended_indexes:
        selection.usage.tokens.update(ended_indexes)
        return ComparisonOperator.GTE if set(words_after) & {"not", "t"} else ComparisonOperator.LT
    return (
        ComparisonOperator.GTE
        if "under" in words_before[-1:] or "in" in words_before[-1:] or set(words_after) & {"valid", "runs"}
        else None
    )


def _hints_at_flag(selection: SpanSelection, link: SpanLink, meaning: FieldMention) -> bool:
    """ "May they keep *pets*?": whether a word of a flag's name is in a yes-or-no question or follows "with".

    A word that means nearly the same as the name will do: "bike" for "bicycles".
    """
    if not selection.lexicon.is_flag(meaning):
        return False
    token = selection.tokens[link.first]
    is_named = selection.lexicon.is_named_by(meaning.field, token.stem)
    if not is_named and selection.similarities.find_similar_field(token.word) != meaning.field:
        return False
    return selection.tokens[0].word in YES_NO_VERBS or bool(set(_words_right_before(selection, link)[:1]) & HAVE_WORDS)


def _tells_end(selection: SpanSelection, link: SpanLink, meaning: FieldMention) -> bool:
    """ "Already *returned*", "that were *settled*": whether a participle says that something ended, with no day."""
    tokens = selection.tokens
    if meaning.is_question or meaning.field not in selection.lexicon.end_fields.dates:
        return False
    if {token.word for token in tokens} & DAY_ORDER_WORDS:
        return False  # "who resigned most recently"
    words = [token.word for token in tokens[link.first : link.last]]
    is_participle = any(word.endswith("ed") or base_form_of(word) != word for word in words)
    word_before = tokens[link.first - 1].word if link.first else ""
    word_after = tokens[link.last].word if link.last < len(tokens) else ""
    is_name = word_before in _WORDS_BEFORE_FIELD_NAME or word_after in _WORDS_AFTER_DAY_NAME
    return is_participle and not is_name and not {token.word for token in tokens} & _OPEN_QUESTION_WORDS


_GETTING_WORDS = HAVE_WORDS | frozenset("get gets getting got receive receives receiving given".split())
_WORDS_BEFORE_FIELD_NAME = frozenset("by per the their its of what and".split())
_WORDS_AFTER_DAY_NAME = frozenset("date dates day days time times on at of".split())


def _hints_at_missing(selection: SpanSelection, link: SpanLink, meaning: FieldMention) -> bool:
    """ "Without an *approver*": whether a word of a field's name stands for a missing value of the field."""
    is_negated = any(index in selection.negated_tokens for index in range(link.first, link.last))
    words_before = {token.word for token in selection.tokens[: link.first]}
    return (
        is_negated
        and bool(words_before & LACK_WORDS)
        and selection.lexicon.is_named_by(meaning.field, selection.tokens[link.first].stem)
    )


def _is_participle_of_noun(selection: SpanSelection, link: SpanLink) -> bool:
    """ "*Retired* members": whether a participle before the noun says that the event of a date has happened."""
    word = selection.tokens[link.first].word
    is_participle = link.last - link.first == 1 and (word.endswith("ed") or base_form_of(word) != word)
    nouns = (other for other in selection.links if isinstance(other.meaning, BucketNoun))
    return is_participle and any(noun.first == link.last for noun in nouns)


def _find_words_for_none(selection: SpanSelection) -> range:
    """ "*Out of stock* at Harbury", "have we *run out of* at Harbury": returns the tokens; empty if nothing says so."""
    words = [token.word for token in selection.tokens]
    for phrase in PHRASES_FOR_NONE:
        for first in range(len(words) - len(phrase) + 1):
            if tuple(words[first : first + len(phrase)]) == phrase:
                return range(first, first + len(phrase))
    return range(0)


def _counts_pieces(selection: SpanSelection, field: SchemaField) -> bool:
    """ "How many … at Harbury": whether the pieces at a place are counted, which is no condition."""
    words = [token.word for token in selection.tokens[:3]]
    counts = words[:1] == ["how"] and words[1:2] in (["many"], ["much"]) and words[-1] not in DISTINCT_WORDS
    return counts and field.type is FieldType.NUMBER and names_quantity_at_place(field.label)


def _may_be_zero(selection: SpanSelection, field: SchemaField) -> bool:
    """Whether the field is a number that is 0 in some documents."""
    vocabulary = selection.lexicon.vocabulary_of(field.name)
    return field.type is FieldType.NUMBER and vocabulary is not None and vocabulary.low == 0.0


def _words_right_before(selection: SpanSelection, link: SpanLink) -> list[str]:
    """Returns up to three words before a mention, nearest first, back to the first token of another link."""
    covered_tokens = {
        index for other in selection.links if other is not link for index in range(other.first, other.last)
    }
    words: list[str] = []
    for index in range(link.first - 1, max(link.first - 4, -1), -1):
        if index in covered_tokens:
            break
        words.append(selection.tokens[index].word)
    return words


def _has_unlinked_modifier(selection: SpanSelection, link: SpanLink) -> bool:
    """Whether the word before the mention has no meaning of its own and restricts the field."""
    index_before = link.first - 1
    is_covered = any(other.first <= index_before < other.last for other in selection.links)
    return (
        index_before in selection.negated_tokens
        and not is_covered
        and selection.tokens[index_before].word not in STOP_WORDS
        and selection.tokens[index_before].word not in FILLER_WORDS
    )


def _is_asked_for(selection: SpanSelection, link: SpanLink) -> bool:
    """ "Which part has the highest current": whether the question only asks for the field."""
    words_before = {token.word for token in selection.tokens[: link.first]}
    if any(scale_of_superlative((word,)) is not None for word in words_before):
        return True
    return bool(words_before & {"what", "how", "highest", "lowest", "most", "least", "largest", "smallest", "greatest"})


def merge_row_conditions(lexicon: BucketLexicon, conditions: Sequence[Condition]) -> list[Condition]:
    """Joins the row conditions on one rows field, so that they must hold within the same row: "4 tires"."""
    number_conditions: dict[FieldName, list[RowCondition]] = defaultdict(list)
    text_conditions: dict[FieldName, list[RowCondition]] = defaultdict(list)
    merged: list[Condition] = []
    for condition in conditions:
        if isinstance(condition, RowCondition):
            columns = {column.name: column.type for column in lexicon.get_field(condition.rows_field).columns}
            inner_condition = condition.condition
            is_numeric = isinstance(inner_condition, ComparisonCondition) and columns[inner_condition.field] in (
                FieldType.NUMBER,
                FieldType.MONEY,
            )
            (number_conditions if is_numeric else text_conditions)[condition.rows_field].append(condition)
        else:
            merged.append(condition)
    for rows_field in dict.fromkeys((*text_conditions, *number_conditions)):
        if len(text_conditions[rows_field]) <= 1:
            row_parts = [*text_conditions[rows_field], *number_conditions[rows_field]]
            joined = conjunction_of(*(part.condition for part in row_parts))
            merged.append(
                RowCondition(rows_field=rows_field, condition=joined, words=" ".join(part.words for part in row_parts))
            )
        else:
            merged += [*text_conditions[rows_field], *number_conditions[rows_field]]
    return merged
