"""Plans what stock is worth: the sum of quantity × price per unit, where no column holds the value itself.

"What is the cable stock worth?", "which category ties up the most money?". The words for the value and the stock are
taken out of the question; what is left gives the set and the groups.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from agent.assumptions import Assumption, TakenField
from agent.decomposition import LegAlternatives
from agent.english.function_words import FILLER_WORDS, STOP_WORDS, YES_NO_VERBS
from agent.english.stock_words import (
    STOCK_PHRASES,
    STOCK_WORDS,
    TIED_MEANS,
    TYING_VERBS,
    VALUE_WORDS,
    is_unit_price_name,
    names_cost,
    names_selling_price,
    names_stock_table,
    names_value,
    rank_stock_name,
)
from agent.rules.cues.function_phrases import requested_limit
from agent.rules.cues.grouping import find_groups
from agent.rules.cues.question_subject import EARLY_TOKENS, MEASURABLE_TYPES
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import FieldMention
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.reading.question_reader import QuestionReader
from agent.rules.words.tokens import QuestionToken
from storage.search.analyser import fold_text
from storage.search.conditions import fields_of
from storage.search.ids import LegId
from storage.search.plan import AggregateFunction, Clause, ComputeNumbers, GroupBy, Leg, Search
from storage.search.schema import FieldType, SchemaField

_PRICE_NOUNS = frozenset("cost costs price prices".split())
_PREPOSITIONS_OF_PRICE = frozenset("at by using".split())
_COMPARING_WORDS = frozenset("more less over under above below between exceeding greater".split())
_HIGHEST_WORDS = frozenset("most highest biggest largest greatest top".split())
_LOWEST_WORDS = frozenset("least lowest smallest fewest".split())
_AVERAGE_WORDS = frozenset("average mean avg".split())
_QUESTIONS_OF_TEXT = frozenset("when where who whom whose why".split())
_EMPTY_WORDS = (
    STOP_WORDS | FILLER_WORDS | STOCK_WORDS | TIED_MEANS | _HIGHEST_WORDS | _LOWEST_WORDS | _AVERAGE_WORDS
    | frozenset("""total totals overall combined altogether current currently everything all items item goods things
    products product articles article lines line whole entire full much hold holds holding held left remaining sum
    breakdown split break broken down much""".split())
)  # fmt: skip
_MAX_PRICE_WORDS = 4  # "at the unit cost price"
_MAX_LEFT_WORDS = 2
_SURE_RANK = 2  # of a name by `rank_stock_name`


@dataclass(frozen=True, slots=True, kw_only=True)
class StockValueLeg:
    """The planned leg. `reading`: of the question without the words for the value."""

    leg: Leg
    alternatives: LegAlternatives
    reading: BucketReading
    assumptions: tuple[Assumption, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ValuedStock:
    """The fields to multiply. `other_prices`: other prices per unit, which the question does not name."""

    quantity: SchemaField
    price: SchemaField
    other_prices: tuple[SchemaField, ...] = ()


def plan_stock_value(
    leg_id: LegId, question: str, readings: Sequence[BucketReading], reader: QuestionReader
) -> StockValueLeg | None:
    """Returns the leg; None if the question does not ask for the value of stock, or no bucket can tell it."""
    tokens = readings[0].tokens
    words = [token.word for token in tokens]
    phrase = _find_value_phrase(words)
    if not phrase:
        return None
    rest = _text_without(question, tokens, phrase)
    price_words = frozenset(words[index] for index in phrase)
    planned = [
        leg
        for reading in readings
        if (stock := _find_valued_stock(reader.lexicons[reading.bucket], price_words)) is not None
        and (leg := _plan_in_bucket(leg_id, question, rest, stock, reader.read_in_bucket(rest, reading.bucket), reader))
    ]
    return min(planned, key=lambda leg: len(leg.alternatives.unknown_words), default=None)


def _find_value_phrase(words: Sequence[str]) -> frozenset[int]:
    """Returns the tokens that ask for the value of stock: "stock value", "worth", "tied up in", "at unit cost".

    Empty if the question asks something else: what is worth *more than* a sum, *whether* stock is worth something.
    """
    if not words or words[0] in YES_NO_VERBS | _QUESTIONS_OF_TEXT or (words[0] == "how" and words[1:2] != ["much"]):
        return frozenset()
    stock = set(_find_stock_tokens(words))
    values = {index for index, word in enumerate(words) if word in VALUE_WORDS}
    tied = set(_find_tying_tokens(words))
    costs = set(_find_cost_of_stock(words, stock)) if not values else set[int]()
    if not tied and not (stock and (values or costs)):
        return frozenset()
    if any(_compares(words[index + 1 : index + 3]) for index in values):
        return frozenset()
    return frozenset(stock | values | tied | costs | set(_find_price_tokens(words)))


def _compares(following: Sequence[str]) -> bool:
    """ "Worth *more than* …", "valued *at least* …"."""
    return not _COMPARING_WORDS.isdisjoint(following) or tuple(following) in (("at", "least"), ("at", "most"))


def _find_stock_tokens(words: Sequence[str]) -> Iterator[int]:
    for index, word in enumerate(words):
        if word in STOCK_WORDS:
            yield index
            if words[index - 1 : index] == ["in"]:
                yield index - 1
        for phrase in STOCK_PHRASES:
            if tuple(words[index : index + len(phrase)]) == phrase:
                yield from range(index, index + len(phrase))


def _find_tying_tokens(words: Sequence[str]) -> Iterator[int]:
    """ "How much *money* is *tied up in* cables", "which site *ties up* the most *cash*"."""
    for index, word in enumerate(words):
        if word in TYING_VERBS and words[index + 1 : index + 2] == ["up"]:
            yield from (index, index + 1)
            yield from (other for other, mean in enumerate(words) if mean in TIED_MEANS)
            if words[index + 2 : index + 3] == ["in"]:
                yield index + 2


def _find_cost_of_stock(words: Sequence[str], stock: set[int]) -> Iterator[int]:
    """ "The *cost of* our stock", "what did the stock on hand *cost*": no price of a single thing."""
    for index, word in enumerate(words):
        is_of_stock = words[index + 1 : index + 2] == ["of"] and bool(stock & set(range(index + 2, index + 6)))
        if word in ("cost", "costs") and is_of_stock:
            yield from (index, index + 1)


def _find_price_tokens(words: Sequence[str]) -> Iterator[int]:
    """ "*At unit cost*", "*by selling price*": the tokens that say which price counts."""
    for first, word in enumerate(words):
        if word not in _PREPOSITIONS_OF_PRICE:
            continue
        last = next(
            (i for i in range(first + 1, min(first + _MAX_PRICE_WORDS, len(words))) if _is_price(words[i])), None
        )
        if last is not None:
            while last + 1 < len(words) and (_is_price(words[last + 1]) or words[last + 1] == "each"):
                last += 1
            yield from range(first, last + 1)


def _is_price(word: str) -> bool:
    return word in _PRICE_NOUNS


def _text_without(question: str, tokens: Sequence[QuestionToken], removed: frozenset[int]) -> str:
    kept = [question[token.start : token.end] for index, token in enumerate(tokens) if index not in removed]
    return " ".join(kept)


def _find_valued_stock(lexicon: BucketLexicon, price_words: frozenset[str]) -> _ValuedStock | None:
    """Returns the quantity in stock and the price per unit; None unless both are certain and no field is it."""
    fields = _measured_fields(lexicon)
    if any(names_value(_words_of(field)) for field in fields):
        return None
    quantity = find_stock_quantity(lexicon)
    prices = [field for field in fields if not field.unit and is_unit_price_name(_words_of(field))]
    if quantity is None or not prices:
        return None
    prices += [field for field in fields if fold_text(field.label) == "cost"]  # beside a price, what a piece costs
    if names_selling_price(price_words):
        named = [field for field in prices if names_selling_price(_words_of(field))]
    elif names_cost(price_words):
        named = [field for field in prices if names_cost(_words_of(field))]
    else:
        named = []
    if price_words & _PRICE_NOUNS and not named and len(prices) > 1:
        return None
    likely = named or [field for field in prices if names_cost(_words_of(field))] or prices
    if len(likely) > 1:
        return None
    others = () if named else tuple(field for field in prices if field not in likely)
    return _ValuedStock(quantity=quantity, price=likely[0], other_prices=others)


def _measured_fields(lexicon: BucketLexicon) -> list[SchemaField]:
    return [
        field
        for field in lexicon.schema.fields
        if field.type in (FieldType.NUMBER, FieldType.MONEY) and lexicon.vocabulary_of(field.name) is not None
    ]


def find_stock_quantity(lexicon: BucketLexicon) -> SchemaField | None:
    """Returns the only number that is surely the quantity in stock, or in a table of stock the only quantity."""
    schema = lexicon.schema
    counts = [field for field in _measured_fields(lexicon) if field.type is FieldType.NUMBER and not field.unit]
    ranks = {field.name: rank_stock_name(_words_of(field)) for field in counts}
    names = (schema.bucket, schema.title, *schema.synonyms, *(field.label for field in schema.fields))
    is_of_stock = any(names_stock_table(_words_in(name)) for name in names)
    lowest = 1 if is_of_stock else _SURE_RANK
    best = [field for field in counts if ranks[field.name] == max(ranks.values()) >= lowest]
    return best[0] if len(best) == 1 else None


def _words_of(field: SchemaField) -> frozenset[str]:
    return _words_in(f"{field.label} {field.name}")


def _words_in(name: str) -> frozenset[str]:
    return frozenset(fold_text(name).replace("_", " ").replace("-", " ").split())


def _plan_in_bucket(
    leg_id: LegId, question: str, rest: str, stock: _ValuedStock, reading: BucketReading, reader: QuestionReader
) -> StockValueLeg | None:
    """Returns the leg in the bucket of the reading of `rest`, the question without the words for the value."""
    lexicon = reader.lexicons[reading.bucket]
    left = _left_words(reading)
    if len(left) > _MAX_LEFT_WORDS or _guesses_column(reading, lexicon):
        return None
    answer_form = _form_of(stock, reading, lexicon)
    if answer_form is None:
        return None
    clause = Clause(bucket=reading.bucket, condition=reading.condition, required_terms=reading.unlinked_quotations)
    leg = Leg(
        id=leg_id,
        question=question,
        search=Search(clauses=(clause,), ranking_text=question),
        answer_form=answer_form,
    )
    alternatives = LegAlternatives(
        leg=leg_id,
        unknown_words=left,
        suggested_fields=reading.similarities.rank_fields(left),
        is_understood=not left,
    )
    others = tuple(field.label for field in stock.other_prices)
    assumptions = (TakenField(field_label=stock.price.label, other_labels=others),) if others else ()
    return StockValueLeg(
        leg=leg,
        alternatives=alternatives,
        reading=replace(reading, unlinked_words=left),
        assumptions=assumptions,
    )


def _left_words(reading: BucketReading) -> tuple[str, ...]:
    """Returns the words without a meaning in the bucket that say more than how the question is put."""
    return tuple(
        words for words in reading.unlinked_words if not set(fold_text(words).replace("-", " ").split()) <= _EMPTY_WORDS
    )


def _guesses_column(reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """ "The stock value *at the end of March*": whether a day or number is bound to a column that no word names."""
    named = {link.meaning.field for link in reading.links if isinstance(link.meaning, FieldMention)}
    measured = {
        field.name
        for field in lexicon.schema.fields
        if field.type in MEASURABLE_TYPES and field.name in fields_of(reading.condition)
    }
    return bool(measured - named) and bool(reading.literal_tokens)


def _form_of(stock: _ValuedStock, reading: BucketReading, lexicon: BucketLexicon) -> ComputeNumbers | None:
    words = [token.word for token in reading.tokens]
    function = AggregateFunction.AVERAGE if _AVERAGE_WORDS & set(words) else AggregateFunction.SUM
    sums = ComputeNumbers(functions=(function,), field=stock.price.name, factor=stock.quantity.name)
    groups = find_groups(words, reading, lexicon)
    descending = _LOWEST_WORDS.isdisjoint(words)
    extreme = not (descending and _HIGHEST_WORDS.isdisjoint(words))
    limit = requested_limit(words, reading) or (1 if extreme else None)
    leading = _find_leading_field(words, reading, lexicon)
    if leading is not None:
        return replace(sums, group=GroupBy(field=leading.name), limit=limit, descending=descending)
    if not groups:
        return None if extreme or words[:1] == ["which"] else sums
    group, *others = groups
    second = others[0] if others and limit is None else None
    return replace(sums, group=group, second_group=second, limit=limit)


def _find_leading_field(words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon) -> SchemaField | None:
    """ "Which *category* …", "top 5 *suppliers* by …": the field whose values are asked for."""
    for link in reading.links:
        if not isinstance(link.meaning, FieldMention) or link.meaning.column is not None:
            continue
        field = lexicon.get_field(link.meaning.field)
        before = set(words[max(link.first - 3, 0) : link.first])
        is_asked = bool(before & {"which", "what", "top"}) and link.first < EARLY_TOKENS
        if is_asked and field.type in (FieldType.CATEGORY, FieldType.TEXT):
            return field
    return None
