"""Plans how many of an article there are: "how many ketamine vials do we have on hand at Millgate?".

In a table of stock such a question asks for the quantity in the rows of the article, and not for the number of rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from agent.decomposition import LegAlternatives
from agent.english.stock_words import STOCK_PHRASES, STOCK_WORDS
from agent.rules.composition.stock_value import find_stock_quantity
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import PartialMatch, ValueMatch
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.reading.question_reader import QuestionReader
from agent.rules.words.tokens import QuestionToken
from storage.search.analyser import fold_text
from storage.search.conditions import ComparisonCondition, ComparisonOperator, Condition, conjunction_of
from storage.search.ids import FieldName, LegId
from storage.search.plan import AggregateFunction, AnswerForm, Clause, ComputeNumbers, Leg, ReadFields, Search
from storage.search.schema import FieldType, SchemaField

_OPENINGS = (("how", "many"), ("how", "much"))
_HOLDING_PHRASES = (
    ("do", "we", "have"), ("have", "we", "got"), ("do", "we", "hold"), ("are", "there"),
    ("is", "there"), ("we", "have"), ("we", "got"),
)  # fmt: skip
_LEFT_WORDS = frozenset({"left", "remaining"})
_ARTICLE_NOUNS = frozenset(
    "item article product description name part material medicine drug goods title model".split()
)
_NAMING_TYPES = (FieldType.CATEGORY, FieldType.TEXT)
_FIRST_COUNTED = 2  # the token after "how many"
_MAX_ARTICLES = 8  # values that a word of the question may stand for


@dataclass(frozen=True, slots=True, kw_only=True)
class StockQuantityLeg:
    """The planned leg. `reading`: of the question without the words for the stock."""

    leg: Leg
    alternatives: LegAlternatives
    reading: BucketReading


@dataclass(frozen=True, slots=True, kw_only=True)
class _CountedArticles:
    """The documents whose quantities are asked for. `is_single`: a value that only one document has names it."""

    conditions: tuple[Condition, ...]
    is_single: bool


def plan_stock_quantity(
    leg_id: LegId, question: str, readings: Sequence[BucketReading], reader: QuestionReader
) -> StockQuantityLeg | None:
    """Returns the leg; None if no quantity of an article is asked for, or another bucket knows more of the words."""
    tokens = readings[0].tokens
    words = [token.word for token in tokens]
    stock = frozenset(_find_stock_tokens(words))
    holds = any(tuple(words[i : i + len(phrase)]) == phrase for phrase in _HOLDING_PHRASES for i in range(len(words)))
    if tuple(words[:2]) not in _OPENINGS or not (stock or holds) or _is_status(stock, readings):
        return None
    quantities = {reading.bucket: find_stock_quantity(reader.lexicons[reading.bucket]) for reading in readings}
    if not any(quantities.values()):
        return None
    kept = (question[token.start : token.end] for index, token in enumerate(tokens) if index not in stock)
    for reading in reader.readings_of(" ".join(kept) if stock else question):
        quantity, lexicon = quantities[reading.bucket], reader.lexicons[reading.bucket]
        articles = None if quantity is None else _find_articles(reading, lexicon, may_resolve=bool(stock))
        if quantity is not None and articles is not None:
            return _build_leg(leg_id, question, quantity, articles, reading)
        if not reading.unlinked_words:
            return None  # this bucket understands every word
    return None


def _find_stock_tokens(words: Sequence[str]) -> Iterator[int]:
    """ "*In stock*", "*on hand*", "*left*": the tokens that say that the quantity in stock is meant."""
    for index, word in enumerate(words):
        if word in STOCK_WORDS and words[index - 1 : index] == ["in"]:
            yield from (index - 1, index)
        if word in _LEFT_WORDS:
            yield index
        for phrase in STOCK_PHRASES:
            if tuple(words[index : index + len(phrase)]) == phrase:
                yield from range(index, index + len(phrase))


def _is_status(stock: frozenset[int], readings: Sequence[BucketReading]) -> bool:
    """ "How many laptops are *in stock*": whether the words are a status in a bucket that knows all of the others."""
    return not readings[0].unlinked_words and any(
        isinstance(link.meaning, (ValueMatch, PartialMatch)) and bool(stock & set(range(link.first, link.last)))
        for link in readings[0].links
    )


def _find_articles(reading: BucketReading, lexicon: BucketLexicon, *, may_resolve: bool) -> _CountedArticles | None:
    """Returns the rows of the article that the question names; None if it names none, or has other words.

    `may_resolve`: words that may be a part of a name only, as "ketamine" of "Ketamine injection", are taken for it.
    """
    names = [link.meaning for link in reading.links if isinstance(link.meaning, (ValueMatch, PartialMatch))]
    named = [meaning for meaning in names if meaning.column is None and _names_article(meaning.field, lexicon)]
    resolved: tuple[ComparisonCondition, ...] = ()
    if reading.unlinked_words:
        found = _resolve_words(reading, lexicon) if may_resolve else None
        if found is None:
            return None
        resolved = found
    is_counted = any(link.first == _FIRST_COUNTED and link.meaning in named for link in reading.links)
    if not (may_resolve or is_counted):
        return None  # "how many *orders* have we got from Acme": something else is counted
    if not named and not any(_names_article(condition.field, lexicon) for condition in resolved):
        return None
    if reading.unlinked_quotations or not (reading.conditions or resolved):
        return None
    values = [(meaning.field, meaning.value) for meaning in named if isinstance(meaning, ValueMatch)]
    is_single = any(lexicon.count_documents_with(field, value) == 1 for field, value in values)
    return _CountedArticles(conditions=(*reading.conditions, *resolved), is_single=is_single)


def _names_article(name: FieldName, lexicon: BucketLexicon) -> bool:
    field = lexicon.get_field(name)
    label = fold_text(field.label).replace("_", " ").split()
    return field.type in _NAMING_TYPES and (lexicon.is_identifying(name) or not _ARTICLE_NOUNS.isdisjoint(label))


def _resolve_words(reading: BucketReading, lexicon: BucketLexicon) -> tuple[ComparisonCondition, ...] | None:
    """Returns a condition for the words that are in names of articles, and one for those in another column.

    None if a word is in none, or in the values of too many.
    """
    left = {word for words in reading.unlinked_words for word in fold_text(words).replace("-", " ").split()}
    open_tokens = [token for token in reading.tokens if token.word in left]
    fields = [field for field in lexicon.schema.fields if field.type in _NAMING_TYPES]
    fields.sort(key=lambda field: not _names_article(field.name, lexicon))
    conditions: list[ComparisonCondition] = []
    for field in fields:
        held = [token for token in open_tokens if lexicon.find_values_with(field.name, [token.stem])]
        values = lexicon.find_values_with(field.name, [token.stem for token in held]) if held else ()
        if 0 < len(values) <= _MAX_ARTICLES:
            conditions.append(_condition_for(field.name, values, held))
            open_tokens = [token for token in open_tokens if token not in held]
    return None if open_tokens or not conditions else tuple(conditions)


def _condition_for(name: FieldName, values: Sequence[str], tokens: Sequence[QuestionToken]) -> ComparisonCondition:
    words = " ".join(token.word for token in tokens)
    if len(values) == 1:
        return ComparisonCondition(field=name, op=ComparisonOperator.EQ, value=values[0], words=words)
    return ComparisonCondition(field=name, op=ComparisonOperator.IN, value=tuple(values), words=words)


def _build_leg(
    leg_id: LegId, question: str, quantity: SchemaField, articles: _CountedArticles, reading: BucketReading
) -> StockQuantityLeg:
    form: AnswerForm = ComputeNumbers(functions=(AggregateFunction.SUM,), field=quantity.name)
    if articles.is_single:
        form = ReadFields(fields=((reading.bucket, quantity.name),))
    clause = Clause(bucket=reading.bucket, condition=conjunction_of(*articles.conditions))
    search = Search(clauses=(clause,), ranking_text=question)
    return StockQuantityLeg(
        leg=Leg(id=leg_id, question=question, search=search, answer_form=form),
        alternatives=LegAlternatives(leg=leg_id, is_understood=True),
        reading=replace(reading, unlinked_words=()),
    )
