"""What passages are ranked for: the words of the question that say what is asked, and those the schema asks it with.

The words that name the documents (a party, a title, a day) find them and tell nothing about where in them the answer
stands. What a question calls a field or a value, its documents may call otherwise: the schema's titles, synonyms and
descriptions speak for them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from agent.reasoner import Material
from agent.rules.language import FILLER, STOP, SUMMARISE, YES_NO
from storage.search.conditions import All, Any, Compare, Condition, InRow, Missing, Not, all_of, conjuncts
from storage.search.ids import BucketId, FieldName
from storage.search.index import NearPassages, Passages
from storage.search.plan import Leg, ReadFields, Search
from storage.search.schema import Field, FieldType, Schema
from storage.search.text import fold

_FORM = STOP | FILLER | SUMMARISE
_WORDS = re.compile(r"\w+")
_MOST_WORDS = 24  # content words of a question that are weighed
_MOST_SAID = 48  # words of the schema that stand beside them
_NAMED_AND_CLAIMED = 2  # conditions of a question that names a document and claims something of it
_BESIDE = 1  # content words beside what names and what is claimed, from which more is asked than the claim
_EACH = 3  # documents to a value, from which a list sorts them into kinds, rather than naming each


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """What a leg's passages are ranked for."""

    stems: Mapping[str, str]  # the content words that say what is asked, each with its stem
    content: Mapping[str, str]  # all of them, those that name documents too
    said: tuple[str, ...] = ()  # how the schema speaks of what is asked: titles, synonyms, descriptions

    @property
    def text(self) -> str:
        """For ranking by terms: the question's own words count twice."""
        words = " ".join(self.stems)
        return f"{words} {words} {' '.join(self.said)}" if self.said else words

    @property
    def meaning(self) -> str:
        return "; ".join((" ".join(self.stems), *self.said)) if self.said else " ".join(self.stems)


def ranking_of(leg: Leg, material: Material) -> Ranking:
    """Of the leg's question, under the conditions its search already has."""
    bucket = leg.search.buckets[0]
    schema = material.schemas[bucket]
    claims = tuple(one for clause in leg.search.clauses for one in claims_of(clause.condition, schema, material))
    content = _content(leg.question, bucket, material)
    naming = _naming_stems(leg.search, claims, bucket, material)
    asked = {word: stem for word, stem in content.items() if stem not in naming} or content
    return Ranking(stems=asked, content=content, said=tuple(_said(leg, schema, claims)))


def passages_asked(search: Search, ranking: Ranking, question: str, limit: int) -> dict[str, Passages | NearPassages]:
    """By terms and by meaning. A question without content words ranks by all of them."""
    text, meaning = ranking.text or question, ranking.meaning if ranking.said else question
    return {"text": Passages(search, text, limit), "semantic": NearPassages(search, meaning, limit)}


def checked_by(leg: Leg, material: Material) -> tuple[Compare, ...]:
    """What a yes-or-no question asks about the documents that its other conditions name; none where it asks no such."""
    first = next(iter(leg.question.casefold().split()), "")
    if first not in YES_NO or len(leg.search.clauses) != 1:
        return ()
    clause = leg.search.clauses[0]
    claims = claims_of(clause.condition, material.schemas[clause.bucket], material)
    claims = claims or _claimed_behind(clause.condition, leg.question)
    return claims if len(claims) < len(conjuncts(clause.condition)) else ()


def _claimed_behind(condition: Condition, question: str) -> tuple[Compare, ...]:
    """ "Is TCK-7 still *open*?": the comparison that stands behind all that names the document."""
    parts = [one for one in conjuncts(condition) if isinstance(one, Compare) and one.words]
    placed = sorted((question.find(one.words), at) for at, one in enumerate(parts))
    if len(parts) < len(conjuncts(condition)) or len(parts) < _NAMED_AND_CLAIMED or placed[0][0] < 0:
        return ()
    if len(_unsaid(question, parts)) > _BESIDE:
        return ()  # what is asked stands in the other words
    last = parts[placed[-1][1]]
    return (last,) if all(one is last or one.field != last.field for one in parts) else ()


def _unsaid(question: str, parts: Iterable[Compare]) -> list[str]:
    """The content words that stand in no comparison."""
    said = {word for one in parts for word in _WORDS.findall(one.words.casefold())}
    words = _WORDS.findall(question.casefold())[1:]  # the first asks: "is", "do"
    return [word for word in words if word not in said and word not in _FORM and word not in YES_NO]


def without(search: Search, claims: Iterable[Compare]) -> Search:
    """The search without those conditions."""
    gone = set(claims)
    return search.with_clauses(
        *(
            replace(one, condition=all_of(*(part for part in conjuncts(one.condition) if part not in gone)))
            for one in search.clauses
        )
    )


def claims_of(condition: Condition, schema: Schema, material: Material) -> tuple[Compare, ...]:
    """The conditions on kinds and flags: what may be asked *about* a document, rather than which one is meant."""
    plain = [one for one in conjuncts(condition) if isinstance(one, Compare) and one.field in schema.by_name]
    return tuple(one for one in plain if _tells_kinds(schema.by_name[one.field], schema.bucket, material))


def _tells_kinds(field: Field, bucket: BucketId, material: Material) -> bool:
    if field.type is FieldType.FLAG:
        return True
    if field.type is not FieldType.LIST:
        return False
    known = next((one for one in material.vocabulary.fields if one.bucket == bucket and one.field == field.name), None)
    return bool(field.values) or (known is not None and len(known.values) <= known.documents / _EACH)


def _content(question: str, bucket: BucketId, material: Material) -> dict[str, str]:
    analyser = material.analysers[bucket]
    pairs = zip(analyser.words(question), analyser.terms(question), strict=True)
    content = {word.text: term.text for word, term in pairs if word.text not in _FORM}
    return dict(list(content.items())[:_MOST_WORDS])


def _naming_stems(search: Search, claims: Iterable[Compare], bucket: BucketId, material: Material) -> set[str]:
    """The words that say which documents: of the conditions, and what documents of the bucket are called."""
    analyser, schema, claimed = material.analysers[bucket], material.schemas[bucket], set(claims)
    named = [
        words
        for clause in search.clauses
        for one in _compared(clause.condition)
        if one not in claimed
        for words in (one.words, one.value if isinstance(one.value, str) else "")
    ]
    if not any(named):
        return set()
    nouns = (schema.bucket.replace("_", " "), *schema.synonyms)
    return {term.text for words in (*named, *nouns) for term in analyser.terms(words)}


def _compared(condition: Condition) -> Iterator[Compare]:
    match condition:
        case Compare():
            yield condition
        case All(members) | Any(members):
            for member in members:
                yield from _compared(member)
        case Not(inner) | InRow(condition=inner):
            yield from _compared(inner)
        case Missing():
            return


def _said(leg: Leg, schema: Schema, claims: Iterable[Compare]) -> Iterator[str]:
    """How the schema speaks of the fields read and the values claimed, at most so many words of it."""
    wanted = leg.wanted
    names: list[FieldName] = (
        [name for at, name in wanted.fields if at == schema.bucket] if isinstance(wanted, ReadFields) else []
    )
    phrases = [phrase for name in names for phrase in _field_said(schema.by_name[name])]
    phrases += [phrase for claim in claims for phrase in _claim_said(schema.by_name[claim.field], claim)]
    room = _MOST_SAID
    for phrase in dict.fromkeys(phrases):
        words = [word for word in phrase.split() if word.casefold() not in STOP]
        room -= len(words)
        if words and room >= 0:
            yield " ".join(words)


def _field_said(field: Field) -> tuple[str, ...]:
    return (field.label, *field.synonyms, field.description)


def _claim_said(field: Field, claim: Compare) -> tuple[str, ...]:
    if not isinstance(claim.value, str):
        return _field_said(field)
    synonyms = next((said for value, said in field.values.items() if fold(value) == fold(claim.value)), ())
    return (claim.value, *synonyms)
