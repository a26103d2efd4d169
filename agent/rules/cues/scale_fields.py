"""Finds the fields that an adjective measures: "tallest", "most crowded", "cheap"."""

from collections.abc import Iterable

from agent.english.date_roles import ORIGIN_PARTICIPLES
from agent.english.gradable_adjectives import AdjectiveScale, ScaleKind, scale_of_adjective
from agent.english.inflection import root_of_word
from agent.english.state_words import NAMES_OF_PARTS
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import FieldMention
from storage.search.ids import FieldName
from storage.search.schema import FieldType, SchemaField

_COMPARABLE_TYPES = (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE, FieldType.CATEGORY)
_MEASURABLE_TYPES = (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE)
_ANY_EXTENT = frozenset("high low big large great small little".split())  # said of every number
_AGE_WORDS = ("age",)
_SPEED_UNIT = "kilometer/hour"


def fields_on_scale(adjective: str, lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """Returns the fields that the adjective may measure, the equally likely ones together; empty if there are none.

    The words decide first ("toxic" and a field "toxicity"), then units, then what kind of scale it is.
    """
    scale, roles = scale_of_adjective(adjective), lexicon.roles
    if scale.kind is ScaleKind.MEASURE and (named := numbers_named_by(scale.nouns, lexicon)):
        return named  # before the family: "far" is not a word for a fare
    family = roles.fields_of_family(adjective, _fields_of_types(lexicon, _COMPARABLE_TYPES))
    if family and scale.kind in (ScaleKind.UNKNOWN, ScaleKind.MEASURE):
        return family
    if adjective == "new" and (origins := fields_of_origin(lexicon)):
        return origins
    if scale.kind is ScaleKind.MONEY:
        return _prices(scale, lexicon)
    named = numbers_named_by(scale.nouns, lexicon) if scale.kind is not ScaleKind.AGE else ()
    if named:
        return named
    measured = tuple(name for name in roles.fields_in_units(scale.units) if not _is_of_part(lexicon.get_field(name)))
    if not measured and is_speed(scale):
        measured = roles.durations
    if measured and (scale.kind is not ScaleKind.SIZE or len(measured) == 1):
        return measured if scale.kind is not ScaleKind.SIZE else _widen_size(measured, lexicon)
    return _fields_of_kind(scale, lexicon)


def _is_of_part(field: SchemaField) -> bool:
    """Whether it measures a part by its name: the longest contract is not that with the longest notice period."""
    return not NAMES_OF_PARTS.isdisjoint(field.label.casefold().split())


def _prices(scale: AdjectiveScale, lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """Returns the amounts that are called a price or a cost, else all amounts; those that are the whole alone."""
    roles = lexicon.roles
    amounts = tuple(field.name for field in lexicon.schema.fields if field.type is FieldType.MONEY)
    called = tuple(dict.fromkeys(name for noun in scale.nouns for name in roles.fields_of_family(noun, amounts)))
    return roles.main_amounts_among(called) or roles.amounts or numbers_named_by(scale.nouns, lexicon)


def _widen_size(measured: tuple[FieldName, ...], lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """ "Biggest" with one area: the counts of things are as likely."""
    counts = [name for name in lexicon.roles.sizes if not lexicon.get_field(name).unit]
    return tuple(dict.fromkeys((*measured, *counts)))


def _fields_of_kind(scale: AdjectiveScale, lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    roles = lexicon.roles
    match scale.kind:
        case ScaleKind.RANK:
            return roles.ranks
        case ScaleKind.SIZE:
            return roles.sizes or roles.amounts
        case ScaleKind.DATE:
            return _main_dates(lexicon)
        case ScaleKind.AGE:
            ages = numbers_named_by(_AGE_WORDS, lexicon) or roles.births
            return ages or fields_of_origin(lexicon) or _main_dates(lexicon)
        case _:
            return ()


def fields_of_origin(lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """Returns the date or year in which the thing itself began: founded, built, bought; the first in the schema."""
    roles = lexicon.roles
    years = tuple(field.name for field in lexicon.schema.fields if field.type is FieldType.NUMBER and not field.unit)
    dated = (*roles.dates, *years)
    labels = {name: set(lexicon.get_field(name).label.casefold().split()) for name in dated}
    for noun in ORIGIN_PARTICIPLES:
        if found := tuple(name for name in dated if noun in labels[name]) or roles.fields_of_family(noun, dated):
            return found[:1]
    return ()


def is_year_of_origin(field: SchemaField) -> bool:
    """Whether the number is the year in which the thing began, and no age."""
    roots = {root_of_word(word) for word in field.label.casefold().split()}
    return (
        field.type is FieldType.NUMBER and not field.unit and bool(roots & set(map(root_of_word, ORIGIN_PARTICIPLES)))
    )


def _main_dates(lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """Returns the date that orders the documents, else the years they are of."""
    natural, dates = lexicon.schema.natural_order, lexicon.roles.dates
    if natural is not None and natural.field in dates:
        return (natural.field,)
    return dates[:1] or numbers_named_by(("year",), lexicon) or fields_of_origin(lexicon)


def numbers_named_by(nouns: Iterable[str], lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """Returns the numbers or amounts that one of the nouns names, by the first noun that does."""
    for noun in nouns:
        mentions = [meaning for meaning in lexicon.meanings_of_text(noun) if isinstance(meaning, FieldMention)]
        named = [
            mention.field
            for mention in mentions
            if mention.column is None and lexicon.get_field(mention.field).type in _MEASURABLE_TYPES[:2]
        ]
        found = tuple(dict.fromkeys(named)) or lexicon.roles.fields_of_family(
            noun, _fields_of_types(lexicon, _MEASURABLE_TYPES[:2])
        )
        if found:
            return found
    return ()


def is_speed(scale: AdjectiveScale) -> bool:
    """Whether the adjective says how fast something is, so that the time it takes tells it as well."""
    return _SPEED_UNIT in scale.units


def is_any_extent(adjective: str) -> bool:
    """Whether the adjective is said of every number: "the highest rent"."""
    return adjective in _ANY_EXTENT


def _fields_of_types(lexicon: BucketLexicon, types: Iterable[FieldType]) -> tuple[FieldName, ...]:
    allowed = tuple(types)
    return tuple(field.name for field in lexicon.schema.fields if field.type in allowed)
