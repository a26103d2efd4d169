"""The grammar: what two phrases side by side mean together.

Every rule names the shape that it is for. What a rule costs says how much less likely it is than the plainest reading;
the costs only order the readings of one question.
"""

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import replace
from typing import Any, TypeAlias

from agent.english.function_words import NEGATIONS, RELATIVE_PRONOUNS
from agent.english.gradable_adjectives import scale_of_superlative
from agent.rules.composition.measures import order_by_field, orders_named_by_superlative, orders_of_superlative
from agent.rules.composition.phrases import (
    ComparativePhrase,
    ComparedPhrase,
    FieldPhrase,
    FieldValues,
    LinkingWords,
    LiteralPhrase,
    ModifierPhrase,
    NumberOfPhrase,
    OrderPhrase,
    Phrase,
    RankedByNumber,
    SetOrder,
    SetPhrase,
    SpanPhrase,
    SuperlativePhrase,
    ThanWord,
    ValuePhrase,
)
from agent.rules.composition.relations import NAMED_COST, BucketRelations, compare_with_set
from agent.rules.reading.question_reader import QuestionReader
from agent.rules.words.tokens import QuestionToken
from storage.search.conditions import (
    MATCH_ALL,
    TEXT_FIELD,
    TITLE_FIELD,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    NotCondition,
    conjunction_of,
    conjuncts_of,
    fields_of,
)
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType

Meanings: TypeAlias = Iterator[tuple[Phrase, float]]
_Rule: TypeAlias = Callable[[Any, Any], Meanings]
_NO_WORDS = LinkingWords(words=())
_HAVING_WORDS = frozenset("with has have had having whose where by in of".split())
_NAMING_WORDS = frozenset("of called named is".split())
_OWNERS = frozenset("of in for at from on s by does do did is are was were to all each every both".split())
_VERBS_BEHIND = frozenset("have has had".split())
_CLAUSE_OPENERS = RELATIVE_PRONOUNS | frozenset("does do did is are was were has have had".split())
_COPULAS = frozenset("that which who is are was were".split())
_NEGATORS = NEGATIONS | frozenset(
    "cannot don doesn didn isn aren wasn weren hasn haven hadn couldn wouldn shouldn".split()
)
_AMOUNTS = (("most",), ("fewest",), ("least",))
_AMOUNTS_AND_DAYS = (*_AMOUNTS, ("earliest",), ("latest",))
_CHOICES = frozenset({"and", "or"})
_ASKING_WORDS = frozenset({"which", "what"})
_MAX_LINKING_WORDS, _MAX_RELATING_WORDS = 5, 2
_PLURAL_LIMIT = 10  # of "the largest branches", as in a list
_DEREFERENCE_COST = 0.1
_COMPOUND_COST = 0.1
_ANY_DOCUMENT_COST = 0.2  # "who lead a project": a noun with nothing that restricts it
_IMPLIED_COST = 0.4  # of documents that no word names, only a value of them
_ROLE_COST = 0.7  # of several persons, none is named
_ADJACENT_COST = 0.3  # without a word that relates the two
_FOLLOWING_FIELD_COST = 0.15
_OTHER_FIELD_COST = 0.8  # "staff whose *city* is …", where the value is of another field


class PhraseCombiner:
    """Combines the phrases of one question."""

    def __init__(
        self,
        question: str,
        tokens: tuple[QuestionToken, ...],
        reader: QuestionReader,
        relations: BucketRelations,
        named_buckets: Set[BucketId],
    ) -> None:
        """`named_buckets` are those whose documents a noun of the question names."""
        self._question, self._tokens, self._reader, self._relations = question, tokens, reader, relations
        self._named_buckets = named_buckets
        self._orders: dict[tuple[BucketId, tuple[str, ...]], tuple[SetOrder, ...]] = {}
        self._literals: dict[tuple[BucketId, str], Condition | None] = {}
        self._rules: Mapping[tuple[type, type], _Rule] = {
            (LinkingWords, LinkingWords): self._join_words,
            (LinkingWords, SetPhrase): self._modify_or_ask,
            (LinkingWords, ValuePhrase): self._modify,
            (LinkingWords, SuperlativePhrase): self._modify,
            (LinkingWords, OrderPhrase): self._modify,
            (LinkingWords, NumberOfPhrase): self._modify,
            (SetPhrase, LinkingWords): self._modify_by_clause,
            (ValuePhrase, LinkingWords): self._modify_by_clause,
            (ModifierPhrase, LinkingWords): self._end_clause,
            (SuperlativePhrase, SetPhrase): self._take_first,
            (SuperlativePhrase, FieldPhrase): self._order_by_field,
            (SuperlativePhrase, LinkingWords): self._order_by_name,
            (SuperlativePhrase, ModifierPhrase): self._first_of_set,
            (FieldPhrase, SuperlativePhrase): self._order_by_verb,
            (OrderPhrase, SetPhrase): self._take_first_by,
            (OrderPhrase, ModifierPhrase): self._extreme_of_set,
            (SetPhrase, ModifierPhrase): self._restrict,
            (SetPhrase, SetPhrase): self._name_set,
            (SetPhrase, ValuePhrase): self._hold_value,
            (ValuePhrase, SetPhrase): self._value_before_set,
            (SetPhrase, LiteralPhrase): self._compare,
            (LiteralPhrase, SetPhrase): self._compare_before,
            (ComparativePhrase, FieldPhrase): self._compare_field,
            (FieldPhrase, ComparativePhrase): self._compare_verb,
            (ComparativePhrase, ThanWord): self._end_comparative,
            (ComparativePhrase, SetPhrase): self._compare_with,
            (ComparativePhrase, FieldValues): self._compare_with_values,
            (LinkingWords, ComparedPhrase): self._modify_by_comparison,
            (SetPhrase, ComparedPhrase): self._attach_comparison,
            (FieldPhrase, ModifierPhrase): self._read_field_of,
            (FieldPhrase, SetPhrase): self._field_before_set,
            (ModifierPhrase, SetPhrase): self._possessed_set,
            (FieldPhrase, FieldPhrase): self._compound_field,
            (SetPhrase, FieldPhrase): self._field_behind_set,
            (ModifierPhrase, FieldPhrase): self._possessed_field,
        }

    def combine(self, left: SpanPhrase, right: SpanPhrase) -> Iterator[SpanPhrase]:
        rule = self._rules.get((type(left.phrase), type(right.phrase)))
        if rule is None:
            return
        if rule == self._field_behind_set and left.first and self._tokens[left.first - 1].word in _ASKING_WORDS:
            return  # "*which state* has the largest population"
        for phrase, cost in rule(left.phrase, right.phrase):
            total = left.cost + right.cost + cost
            yield from self._at_span(left.first, right.last, phrase, total)

    def _at_span(self, first: int, last: int, phrase: Phrase, cost: float) -> Iterator[SpanPhrase]:
        if isinstance(phrase, SetPhrase):
            words = self._question[self._tokens[first].start : self._tokens[last - 1].end]
            phrase = replace(phrase, words=words)
        yield SpanPhrase(first=first, last=last, phrase=phrase, cost=cost)
        if isinstance(phrase, FieldValues):
            for documents in self._relations.documents_of(phrase):
                yield from self._at_span(first, last, documents, cost + _DEREFERENCE_COST)

    # -- words between phrases

    def _join_words(self, left: LinkingWords, right: LinkingWords) -> Meanings:
        joined = LinkingWords(
            words=(*left.words, *right.words),
            relating=(*left.relating, *right.relating),
            mentions=left.mentions | right.mentions,
        )
        if len(joined.words) <= _MAX_LINKING_WORDS and len(joined.relating) <= _MAX_RELATING_WORDS:
            yield joined, 0.0

    def _modify(
        self, words: LinkingWords, phrase: SetPhrase | ValuePhrase | SuperlativePhrase | OrderPhrase | NumberOfPhrase
    ) -> Meanings:
        """ "… *in Texas*", "… *with the highest density*"."""
        if not set(words.words) <= _CHOICES:
            yield ModifierPhrase(before=words, phrase=phrase, after=_NO_WORDS), 0.0

    def _modify_or_ask(self, words: LinkingWords, documents: SetPhrase) -> Meanings:
        yield from self._modify(words, documents)
        says_what = bool(words.relating or words.mentions)
        is_named = any(bucket == documents.bucket for bucket, _ in words.mentions)
        asks_who = words.words[:1] == ("who",) and says_what and not is_named
        if asks_who and documents.is_single and not _NEGATORS & set(words.words):
            lexicon = self._reader.lexicons[documents.bucket]
            persons = [name for name in lexicon.roles.persons if name != documents.key]
            for name in persons:  # "who looks after the tallest plant"
                yield FieldValues(documents=documents, field=name), _IMPLIED_COST if len(persons) == 1 else _ROLE_COST

    def _modify_by_clause(self, documents: SetPhrase | ValuePhrase, words: LinkingWords) -> Meanings:
        """ "States *the Colorado flows through*", "*Priya's* department"."""
        if words.words == ("s",):
            yield ModifierPhrase(before=_NO_WORDS, phrase=documents, after=words), 0.0
        elif words.relating or words.mentions:
            yield ModifierPhrase(before=_NO_WORDS, phrase=documents, after=words), 0.1

    def _end_clause(self, modifier: ModifierPhrase, words: LinkingWords) -> Meanings:
        """ "… *that the Colorado flows through*", "… does Texas *have*"."""
        opens_clause = bool(_CLAUSE_OPENERS & set(modifier.before.words))
        if not modifier.after.words and opens_clause and isinstance(modifier.phrase, (SetPhrase, ValuePhrase)):
            yield replace(modifier, after=words), 0.0

    # -- superlatives

    def _take_first(self, superlative: SuperlativePhrase, documents: SetPhrase) -> Meanings:
        """ "The *largest* city in Texas", "the *most* rivers"."""
        if documents.order is not None or documents.is_named:
            return
        if superlative.words in _AMOUNTS:
            yield NumberOfPhrase(documents=documents, descending=superlative.words == ("most",)), 0.0
            return
        limit = _PLURAL_LIMIT if documents.is_plural else 1
        yield from self._ordered_sets(superlative, documents, limit)

    def _ordered_sets(self, superlative: SuperlativePhrase, documents: SetPhrase, limit: int) -> Meanings:
        if superlative.words in _AMOUNTS:
            return
        orders = self._orders_of(documents.bucket, superlative.words)
        for order in orders:
            measures = {(documents.bucket, order.field)} if len(orders) > 1 else set[tuple[BucketId, FieldName]]()
            yield (
                replace(
                    documents,
                    order=order,
                    limit=limit,
                    is_plural=limit > 1,
                    chosen_measures=documents.chosen_measures | measures,
                ),
                0.0,
            )

    def _orders_of(self, bucket: BucketId, words: tuple[str, ...]) -> tuple[SetOrder, ...]:
        key = (bucket, words)
        if key not in self._orders:
            self._orders[key] = orders_of_superlative(words, bucket, self._reader)
        return self._orders[key]

    def _order_by_field(self, superlative: SuperlativePhrase, field: FieldPhrase) -> Meanings:
        """ "The *highest density*", "the *most inhabitants*"."""
        lexicon = self._reader.lexicons[field.bucket]
        order = order_by_field(superlative.words, field.bucket, field.field, lexicon)
        if order is not None and not field.is_question:
            yield OrderPhrase(bucket=field.bucket, order=order), 0.0
        if field.is_hint or order is None:
            for named in orders_named_by_superlative(superlative.words, lexicon):
                yield OrderPhrase(bucket=field.bucket, order=named), 0.0

    def _order_by_verb(self, field: FieldPhrase, superlative: SuperlativePhrase) -> Meanings:
        """ "That *earns the most*"."""
        if superlative.words in _AMOUNTS:
            lexicon = self._reader.lexicons[field.bucket]
            order = order_by_field(superlative.words, field.bucket, field.field, lexicon)
            if order is not None:
                yield OrderPhrase(bucket=field.bucket, order=order), 0.0

    def _take_first_by(self, phrase: OrderPhrase, documents: SetPhrase) -> Meanings:
        """ "The *highest paid* engineer"."""
        if phrase.bucket == documents.bucket and documents.order is None and not documents.is_named:
            limit = _PLURAL_LIMIT if documents.is_plural else 1
            yield replace(documents, order=phrase.order, limit=limit, is_plural=limit > 1), 0.1

    def _order_by_name(self, superlative: SuperlativePhrase, words: LinkingWords) -> Meanings:
        """ "The *lowest point*" of places with a `lowest elevation`."""
        if len(words.words) == 1 and (words.relating or words.mentions):
            for bucket, lexicon in self._reader.lexicons.items():
                for order in orders_named_by_superlative(superlative.words, lexicon):
                    yield OrderPhrase(bucket=bucket, order=order), 0.0

    def _first_of_set(self, superlative: SuperlativePhrase, modifier: ModifierPhrase) -> Meanings:
        """ "The *largest of the states* that border Texas", "the *highest number of rivers*"."""
        documents = modifier.phrase
        if isinstance(documents, SetPhrase) and modifier.before.words == ("number", "of"):
            found = scale_of_superlative(superlative.words)
            if found is not None and documents.order is None and not modifier.after.words:
                yield NumberOfPhrase(documents=documents, descending=found[1].is_high_end), 0.0
            return
        if not isinstance(documents, SetPhrase) or documents.order is not None or documents.is_named:
            return
        if set(modifier.before.words) <= {"of", "among", "in", "all"} and not modifier.after.words:
            yield from self._ordered_sets(superlative, documents, 1)

    def _extreme_of_set(self, phrase: OrderPhrase, modifier: ModifierPhrase) -> Meanings:
        """ "The *highest density of the states* that border Texas": the value itself."""
        documents = modifier.phrase
        if not isinstance(documents, SetPhrase) or documents.order is not None or documents.is_named:
            return
        if documents.bucket == phrase.bucket and _only_owns(modifier):
            first = replace(documents, order=phrase.order, limit=1, is_plural=False)
            yield FieldValues(documents=first, field=phrase.order.field), 0.0

    # -- sets

    def _restrict(self, documents: SetPhrase, modifier: ModifierPhrase) -> Meanings:
        match modifier.phrase:
            case SetPhrase() as other:
                yield from self._relate(documents, other, modifier)
            case ValuePhrase() as value:
                yield from self._restrict_to_value(documents, value, modifier)
            case SuperlativePhrase() as superlative:
                yield from self._rank(documents, superlative, modifier)
            case OrderPhrase() as phrase:
                if documents.is_named or documents.order is not None:
                    return
                if phrase.bucket == documents.bucket and _has_measure(modifier, phrase):
                    limit = _PLURAL_LIMIT if documents.is_plural and "which" not in modifier.before.words else 1
                    yield replace(documents, order=phrase.order, limit=limit, is_plural=limit > 1), 0.0
            case ComparedPhrase() as compared:
                if set(modifier.before.words) <= _CLAUSE_OPENERS | _HAVING_WORDS | {"took", "takes", "lasted", "lasts"}:
                    yield from self._attach_comparison(documents, compared)
            case NumberOfPhrase() as number:
                yield from self._rank_by_number(documents, number, modifier)

    def _relate(self, documents: SetPhrase, other: SetPhrase, modifier: ModifierPhrase) -> Meanings:
        before, after = set(modifier.before.words), modifier.after
        if documents.order is not None and documents.limit != 1:
            return
        is_name_of_noun = other.bucket == documents.bucket and other.is_named and documents.is_bare
        if is_name_of_noun and not after.words and before <= _NAMING_WORDS:
            yield replace(other, depth=documents.depth + other.depth), 0.0  # "the city of Boston"
        is_clause = bool(before & _CLAUSE_OPENERS) and bool(modifier.before.relating or modifier.before.mentions)
        is_vacuous = other.is_bare and not (_negates(modifier) or is_clause)  # "rivers in states"
        if documents.is_named:
            return
        linking = LinkingWords(
            words=(*modifier.before.words, *after.words),
            relating=(*modifier.before.relating, *after.relating),
            mentions=modifier.before.mentions | after.mentions,
        )
        unordered = replace(documents, order=None, limit=1)
        relations = self._relations.relate(
            unordered, other, linking, is_negated=_negates(modifier), is_clause=bool(after.words)
        )
        for related, cost in relations:
            if is_vacuous and cost > NAMED_COST:
                continue
            if related.depth == documents.depth and self._has_one_value(
                documents, related.condition, documents.condition
            ):
                continue
            if other.is_bare:
                cost += _ANY_DOCUMENT_COST
            if not linking.words:
                cost += _ADJACENT_COST
            yield replace(related, order=documents.order, limit=documents.limit), cost

    def _has_one_value(self, documents: SetPhrase, condition: Condition, known: Condition = MATCH_ALL) -> bool:
        """ "From Oslo to Bergen": whether the field of the condition is already compared, and has one value only."""
        lexicon = self._reader.lexicons[documents.bucket]
        compared = {part.field for part in conjuncts_of(documents.condition) if isinstance(part, ComparisonCondition)}
        added = [part for part in conjuncts_of(condition) if part not in conjuncts_of(known)]
        return any(
            isinstance(part, ComparisonCondition)
            and part.field in compared
            and part.op is ComparisonOperator.EQ
            and lexicon.get_field(part.field).type is FieldType.CATEGORY
            for part in added
        )

    def _restrict_to_value(self, documents: SetPhrase, value: ValuePhrase, modifier: ModifierPhrase) -> Meanings:
        """ "Employees *in Oslo*", "staff *whose city is Oslo*"."""
        if documents.is_named:
            return
        if documents.bucket != value.bucket:
            if value.bucket in self._named_buckets:
                return  # the value belongs to documents that another word names
            holders = SetPhrase(bucket=value.bucket, condition=value.condition, is_plural=True)
            named = {(value.bucket, field) for field in fields_of(value.condition)}
            is_named = bool(named & (modifier.before.mentions | modifier.after.mentions))
            for phrase, cost in self._relate(documents, holders, _without_mentions(modifier, named)):
                yield phrase, cost + (0.0 if is_named else _IMPLIED_COST)
            return
        mentions = modifier.before.mentions | modifier.after.mentions
        named = {field for bucket, field in mentions if bucket == value.bucket}
        fields = fields_of(value.condition)
        if self._has_one_value(documents, value.condition):
            return
        refers_to_own = any(self._relations.is_reference(value.bucket, field, value.bucket) for field in fields)
        cost = _OTHER_FIELD_COST if (mentions or refers_to_own) and not named & fields else 0.0
        condition = NotCondition(value.condition) if _negates(modifier) else value.condition
        yield replace(documents, condition=conjunction_of(documents.condition, condition)), cost

    def _rank(self, documents: SetPhrase, superlative: SuperlativePhrase, modifier: ModifierPhrase) -> Meanings:
        """ "Which state that borders Texas *is the largest*"."""
        if documents.order is not None or documents.is_named:
            return
        if set(modifier.before.words) <= _COPULAS and not modifier.after.words:
            yield from self._ordered_sets(superlative, documents, 1)

    def _rank_by_number(self, documents: SetPhrase, number: NumberOfPhrase, modifier: ModifierPhrase) -> Meanings:
        """ "The state *with the most rivers*"."""
        if documents.order is not None or documents.is_named or _negates(modifier) or documents.is_plural:
            return
        for field, cost in self._relations.fields_referring_to(documents, number.documents):
            ranked = RankedByNumber(
                documents=documents, counted=number.documents, field=field, descending=number.descending
            )
            yield ranked, cost

    def _name_set(self, left: SetPhrase, right: SetPhrase) -> Meanings:
        """ "The state Ohio", "the Ohio river", "Texas cities"."""
        if left.bucket == right.bucket:
            named, noun = (left, right) if left.is_named else (right, left)
            if named.is_named and noun.is_bare and not noun.is_named:
                yield named, 0.0
        elif not right.is_named and left.is_named and right.order is None:
            for related, cost in self._relations.relate(right, left, _NO_WORDS):
                yield related, cost + _ADJACENT_COST

    def _hold_value(self, documents: SetPhrase, value: ValuePhrase) -> Meanings:
        """ "Employees Oslo"."""
        if documents.bucket == value.bucket and not documents.is_named:
            yield replace(documents, condition=conjunction_of(documents.condition, value.condition)), _ADJACENT_COST

    def _value_before_set(self, value: ValuePhrase, documents: SetPhrase) -> Meanings:
        """ "*Belgian* breweries"."""
        if documents.bucket == value.bucket and not documents.is_named:
            yield replace(documents, condition=conjunction_of(value.condition, documents.condition)), 0.0

    # -- numbers and days

    def _compare(self, documents: SetPhrase, literal: LiteralPhrase) -> Meanings:
        """ "Rivers *longer than 300 km*"."""
        yield from self._with_literal(documents, literal, f"{{}} {literal.text}")

    def _compare_before(self, literal: LiteralPhrase, documents: SetPhrase) -> Meanings:
        """ "*2019* films"."""
        yield from self._with_literal(documents, literal, f"{literal.text} {{}}")

    def _with_literal(self, documents: SetPhrase, literal: LiteralPhrase, template: str) -> Meanings:
        if documents.is_named or documents.order is not None:
            return
        bucket = documents.bucket
        text = f"show {template.format(self._reader.lexicons[bucket].schema.label)}"
        if (bucket, text) not in self._literals:
            self._literals[bucket, text] = self._read_literal(bucket, text)
        condition = self._literals[bucket, text]
        if condition is not None:
            yield replace(documents, condition=conjunction_of(documents.condition, condition)), 0.0

    def _read_literal(self, bucket: BucketId, text: str) -> Condition | None:
        reading = self._reader.read_in_bucket(text, bucket)
        if reading.unlinked_words or reading.unlinked_quotations or not reading.conditions or reading.asked_mentions:
            return None
        condition = conjunction_of(*reading.conditions)
        return None if fields_of(condition) & {TEXT_FIELD, TITLE_FIELD} or condition == MATCH_ALL else condition

    # -- comparisons with other documents

    def _compare_field(self, comparative: ComparativePhrase, field: FieldPhrase) -> Meanings:
        """ "A *bigger budget* than …"."""
        if comparative.awaits_than and comparative.measure is None:
            lexicon = self._reader.lexicons[field.bucket]
            order = order_by_field(comparative.superlative, field.bucket, field.field, lexicon)
            if order is not None:
                yield replace(comparative, bucket=field.bucket, measure=order), 0.0

    def _compare_verb(self, field: FieldPhrase, comparative: ComparativePhrase) -> Meanings:
        """ "*Earns more* than …", "*joined before* …"."""
        if comparative.measure is not None:
            return
        lexicon = self._reader.lexicons[field.bucket]
        is_date = lexicon.get_field(field.field).type is FieldType.DATE
        words = comparative.superlative
        if is_date and words in (("earliest",), ("latest",)):
            order = SetOrder(field=field.field, descending=words == ("latest",))
            yield replace(comparative, bucket=field.bucket, measure=order), 0.0
        elif words in _AMOUNTS:
            order = order_by_field(words, field.bucket, field.field, lexicon)
            if order is not None:
                yield replace(comparative, bucket=field.bucket, measure=order), 0.0

    def _end_comparative(self, comparative: ComparativePhrase, _: ThanWord) -> Meanings:
        if comparative.awaits_than:
            yield replace(comparative, awaits_than=False), 0.0

    def _compare_with(self, comparative: ComparativePhrase, target: SetPhrase) -> Meanings:
        """ "Longer than *the Ohio river*"."""
        is_known = comparative.measure is not None or comparative.superlative not in _AMOUNTS_AND_DAYS
        if not comparative.awaits_than and is_known and (target.is_single or not target.is_bare):
            yield ComparedPhrase(comparative=comparative, target=target), 0.0 if target.is_single else _ADJACENT_COST

    def _compare_with_values(self, comparative: ComparativePhrase, values: FieldValues) -> Meanings:
        """ "A higher salary than *the salary of the head*"."""
        if not comparative.awaits_than and values.documents.is_single:
            compared = ComparedPhrase(comparative=comparative, target=values.documents, target_field=values.field)
            yield compared, 0.0

    def _modify_by_comparison(self, words: LinkingWords, compared: ComparedPhrase) -> Meanings:
        if not _NEGATORS & set(words.words):
            yield ModifierPhrase(before=words, phrase=compared, after=_NO_WORDS), 0.0
        bucket = compared.comparative.bucket
        asks_who = words.words[0] == "who" and set(words.words) <= _CLAUSE_OPENERS
        if asks_who and bucket is not None and self._reader.lexicons[bucket].roles.holds_people:
            yield from self._attach_comparison(SetPhrase(bucket=bucket, is_plural=True), compared)

    def _attach_comparison(self, documents: SetPhrase, compared: ComparedPhrase) -> Meanings:
        comparative, target = compared.comparative, compared.target
        if documents.is_named or documents.order is not None or comparative.bucket not in (None, documents.bucket):
            return
        measure = comparative.measure
        orders = self._orders_of(documents.bucket, comparative.superlative) if measure is None else (measure,)
        for order in orders:
            key = compared.target_field or order.field
            if not self._are_comparable(documents.bucket, order.field, target.bucket, key):
                continue
            op = ComparisonOperator.GT if order.descending else ComparisonOperator.LT
            condition = compare_with_set(order.field, op, target, key)
            if condition is not None:
                chosen = {(documents.bucket, order.field)} if len(orders) > 1 else set[tuple[BucketId, FieldName]]()
                yield (
                    replace(
                        documents,
                        condition=conjunction_of(documents.condition, condition),
                        chosen_measures=documents.chosen_measures | target.chosen_measures | chosen,
                        depth=documents.depth + target.depth + 1,
                    ),
                    0.0,
                )

    def _are_comparable(self, bucket: BucketId, field: FieldName, other_bucket: BucketId, other: FieldName) -> bool:
        """Whether the two are numbers or days of the same kind, in the same unit."""
        lexicon = self._reader.lexicons[other_bucket]
        if other not in lexicon.schema.by_name:
            return False
        left, right = self._reader.lexicons[bucket].get_field(field), lexicon.get_field(other)
        if left.currency_field or right.currency_field:
            return False  # amounts in several currencies
        is_same = (bucket, field) == (other_bucket, other) or bool(left.unit or left.type is not FieldType.NUMBER)
        return is_same and (left.type, left.unit, left.currency) == (right.type, right.unit, right.currency)

    # -- fields

    def _read_field_of(self, field: FieldPhrase, modifier: ModifierPhrase) -> Meanings:
        """ "The *capital of Texas*", "how many inhabitants *does Texas have*"."""
        if isinstance(modifier.phrase, SetPhrase) and _only_owns(modifier, may_relate=field.is_question):
            yield from self._values_of(field, modifier.phrase, 0.0)
        is_noun = field.is_plural and not (field.is_question or field.is_hint)
        if is_noun and RELATIVE_PRONOUNS & set(modifier.before.words):
            for documents, cost in self._restrict(SetPhrase(bucket=field.bucket, is_plural=True), modifier):
                if isinstance(documents, SetPhrase) and documents.depth:  # "*countries in which* they work"
                    yield FieldValues(documents=documents, field=field.field), cost + _IMPLIED_COST

    def _field_before_set(self, field: FieldPhrase, documents: SetPhrase) -> Meanings:
        """ "*Who manages* the Leeds office", "*capital* cities"."""
        if field.bucket == documents.bucket:
            if field.is_question or documents.is_named:
                yield from self._values_of(field, documents, 0.0 if field.is_question else _ADJACENT_COST)
        elif documents.is_bare and self._relations.is_reference(field.bucket, field.field, documents.bucket):
            yield replace(field, is_plural=documents.is_plural), 0.0

    def _compound_field(self, left: FieldPhrase, right: FieldPhrase) -> Meanings:
        """ "*Population density*": the second word is what is asked for."""
        if left.bucket == right.bucket and not (left.is_question or right.is_question):
            yield right, _COMPOUND_COST

    def _field_behind_set(self, documents: SetPhrase, field: FieldPhrase) -> Meanings:
        """ "Texas *population*", "what does the permit *cost*"."""
        if documents.is_single:
            yield from self._values_of(field, documents, _FOLLOWING_FIELD_COST)

    def _possessed_field(self, modifier: ModifierPhrase, field: FieldPhrase) -> Meanings:
        """ "What *does the permit cost*", "*what is the Ritz's owner*"."""
        before = modifier.before
        is_asking = set(before.words) <= _OWNERS | _ASKING_WORDS and not before.relating
        if isinstance(modifier.phrase, SetPhrase) and is_asking and set(modifier.after.words) <= {"s"}:
            yield from self._values_of(field, modifier.phrase, _FOLLOWING_FIELD_COST)

    def _possessed_set(self, modifier: ModifierPhrase, documents: SetPhrase) -> Meanings:
        """ "*Priya's department*", "the Ritz's screenings in May"."""
        owner = modifier.phrase
        if not isinstance(owner, SetPhrase) or modifier.after.words != ("s",) or modifier.before.words:
            return
        if owner.bucket != documents.bucket and not documents.is_named:
            yield from self._relations.relate(documents, owner, _NO_WORDS)

    def _values_of(self, field: FieldPhrase, documents: SetPhrase, cost: float) -> Meanings:
        if field.bucket != documents.bucket or (documents.is_bare and not documents.is_named):
            return
        if not documents.is_single:
            documents = self._first_by_name(field, documents)
        yield FieldValues(documents=documents, field=field.field, asks_amount=field.asks_amount), cost

    def _first_by_name(self, field: FieldPhrase, documents: SetPhrase) -> SetPhrase:
        """ "The *highest point* in the states that …": returns the one that is highest, of all."""
        lexicon = self._reader.lexicons[field.bucket]
        for word in lexicon.get_field(field.field).label.casefold().split():
            for order in orders_named_by_superlative((word,), lexicon):
                return replace(documents, order=order, limit=1, is_plural=False)
        return documents


def _without_mentions(modifier: ModifierPhrase, named: set[tuple[BucketId, FieldName]]) -> ModifierPhrase:
    """Returns the modifier whose words name only the other fields."""
    return replace(
        modifier,
        before=replace(modifier.before, mentions=modifier.before.mentions - named),
        after=replace(modifier.after, mentions=modifier.after.mentions - named),
    )


def _negates(modifier: ModifierPhrase) -> bool:
    return bool(_NEGATORS & {*modifier.before.words, *modifier.after.words})


def _only_owns(modifier: ModifierPhrase, *, may_relate: bool = False) -> bool:
    """ "Of Texas", "does Texas have": whether the words say only whose field it is.

    `may_relate`: "who composed *the music for* the shortest film".
    """
    words = set(modifier.before.words)
    if may_relate:
        words -= set(modifier.before.relating)
    elif modifier.before.relating:
        return False
    return words <= _OWNERS and set(modifier.after.words) <= _VERBS_BEHIND and not _negates(modifier)


def _has_measure(modifier: ModifierPhrase, phrase: OrderPhrase) -> bool:
    """ "*With* the highest density", "that *recorded* the most species", "which *sold* the most tickets"."""
    before = modifier.before
    if modifier.after.words or _negates(modifier):
        return False
    if before.relating or before.mentions:
        is_own = not before.mentions or (phrase.bucket, phrase.order.field) in before.mentions
        return bool(set(before.words) & _CLAUSE_OPENERS) and is_own
    return bool(set(before.words) & (_HAVING_WORDS | RELATIVE_PRONOUNS))
