"""Whether the field by which a question compares is the one that its words measure: "longer" is said of a length."""

from collections.abc import Sequence

from agent.english.function_words import MEASURE_NOUNS, MONEY_WORDS, SPENDING_NOUNS
from agent.english.gradable_adjectives import (
    IRREGULAR_COMPARATIVES,
    ScaleKind,
    adjective_of_comparative,
    scale_of_adjective,
)
from agent.rules.comparison.cues import AMOUNT_COMPARATIVES, compares_tenure
from agent.rules.cues.scale_fields import fields_on_scale, is_any_extent, numbers_named_by
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from storage.search.ids import FieldName
from storage.search.schema import FieldType

_TENURE_NOUNS = frozenset("tenure service seniority membership duration years".split())
_DATE_COMPARATIVES = frozenset("older newer earlier later sooner younger".split())


def is_measured_by(name: FieldName, words: Sequence[str], comparatives: Sequence[str], lexicon: BucketLexicon) -> bool:
    """Whether one of the comparatives of the question may be said of the values of the field."""
    field = lexicon.get_field(name)
    if compares_tenure(words):
        label = set(field.label.casefold().split())
        return field.type is FieldType.DATE or not label.isdisjoint(_TENURE_NOUNS)
    return any(_measures(name, comparative, words, lexicon) for comparative in comparatives)


def names_no_measure(comparatives: Sequence[str]) -> bool:
    """Whether the comparatives go with any number ("more", "higher"), so that another word names what is compared."""
    return all(
        comparative in AMOUNT_COMPARATIVES or is_any_extent(adjective_of_comparative(comparative) or "")
        for comparative in comparatives
    )


def _measures(name: FieldName, comparative: str, words: Sequence[str], lexicon: BucketLexicon) -> bool:
    field = lexicon.get_field(name)
    if comparative in AMOUNT_COMPARATIVES:
        return field.type is FieldType.MONEY and not (MONEY_WORDS | SPENDING_NOUNS).isdisjoint(words)
    if comparative in _DATE_COMPARATIVES and field.type is FieldType.DATE:
        return True
    nouns = (noun,) if (noun := MEASURE_NOUNS.get(comparative)) is not None else ()
    adjective = adjective_of_comparative(comparative) or IRREGULAR_COMPARATIVES.get(comparative)
    if adjective is None:
        return name in numbers_named_by(nouns, lexicon)
    scale = scale_of_adjective(adjective)
    if name in numbers_named_by((*nouns, *scale.nouns), lexicon) or is_any_extent(adjective):
        return True
    if scale.kind is ScaleKind.MEASURE and scale.units and name in lexicon.roles.fields_in_units(scale.units[:1]):
        return True  # another unit is one of another dimension: hours a week for "longer"
    return scale.kind is not ScaleKind.MEASURE and name in fields_on_scale(adjective, lexicon)
