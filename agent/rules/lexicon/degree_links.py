"""Links words of degree to the categories of that degree: "low toxicity", "highly soluble", "very toxic"."""

from collections.abc import Iterator, Mapping, Sequence

from agent.english.inflection import may_be_adjective
from agent.rules.lexicon.field_roles import FieldRoles
from agent.rules.words.tokens import QuestionToken
from storage.search.analyser import fold_text
from storage.search.ids import FieldName
from storage.search.index import FieldVocabulary
from storage.search.schema import FieldType, Schema

_DEGREES = (
    frozenset("no none nil absent zero never negligible".split()),
    frozenset(
        "low lowest little slight slightly poor poorly weak weakly minor small mild mildly bad easy light".split()
    ),
    frozenset("medium moderate moderately average fair fairly middle mid normal intermediate partly partially".split()),
    frozenset(
        """high highest highly strong strongly very severe severely good well excellent major extreme extremely great
        heavy hard full fully critical""".split()
    ),
)
_WORDS_OF_DEGREE = frozenset({"most", "least"}).union(*_DEGREES[1:])
_WEIGHT = 4.6  # more than a value of another field and the name of this one
_MAX_VALUES = 12  # a scale of degrees is short


def find_degree_values(
    tokens: Sequence[QuestionToken],
    schema: Schema,
    roles: FieldRoles,
    vocabularies: Mapping[FieldName, FieldVocabulary],
) -> Iterator[tuple[int, FieldName, tuple[str, ...], float]]:
    """Yields the token of each degree word right before a field's name or a word of its family.

    With it come the field, its values of that degree by their own words, and the weight of the link.
    """
    indexes = [index for index, token in enumerate(tokens[:-1]) if token.word in _WORDS_OF_DEGREE]
    if not indexes:
        return
    fields = [
        field.name
        for field in schema.fields
        if field.type is FieldType.CATEGORY
        and field.name in vocabularies
        and len(vocabularies[field.name].values) <= _MAX_VALUES
    ]
    for index in indexes:
        token = tokens[index]
        if token.word in ("most", "least") and not token.is_quoted:
            yield from _extreme_values(index, tokens, roles, fields, vocabularies)
        degree = next((words for words in _DEGREES[1:] if token.word in words), None)
        family = roles.fields_of_family(tokens[index + 1].word, fields) if degree is not None else ()
        if degree is None or len(family) != 1 or token.is_quoted:
            continue
        values = tuple(
            value.value
            for value in vocabularies[family[0]].values
            if set(fold_text(value.value).replace("-", " ").split()) & degree
        )
        if values:
            yield index, family[0], _closest_values(values, token.word), _WEIGHT


def _extreme_values(
    index: int,
    tokens: Sequence[QuestionToken],
    roles: FieldRoles,
    fields: Sequence[FieldName],
    vocabularies: Mapping[FieldName, FieldVocabulary],
) -> Iterator[tuple[int, FieldName, tuple[str, ...], float]]:
    """ "The most toxic": yields the values of the highest degree there is, of the lowest for "least"."""
    family = roles.fields_of_family(tokens[index + 1].word, fields)
    if len(family) != 1 or not may_be_adjective(tokens[index + 1].word):
        return
    values = [value.value for value in vocabularies[family[0]].values]
    for degree in reversed(_DEGREES) if tokens[index].word == "most" else _DEGREES:
        found = tuple(value for value in values if set(fold_text(value).replace("-", " ").split()) & degree)
        if found:
            yield index, family[0], found, _WEIGHT
            return


def _closest_values(values: tuple[str, ...], word: str) -> tuple[str, ...]:
    """Returns the values with the very word, if there are any: "high", where "very high" is another degree."""
    exact = tuple(value for value in values if fold_text(value) == word)
    holding = tuple(value for value in values if word in fold_text(value).replace("-", " ").split())
    return exact or holding or values
