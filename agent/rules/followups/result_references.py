"""References of a message to the last results: "them", "she", "there", and the documents that they mean."""

import re
from collections.abc import Sequence
from dataclasses import replace

from agent.english.function_words import PRONOUNS_OF_PERSONS
from agent.rules.lexicon.span_links import BucketNoun, PartialMatch, ValueMatch
from agent.rules.reading.bucket_reading import BucketReading
from storage.search.conditions import (
    DOC_ID_FIELD,
    MATCH_ALL,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    OrCondition,
)
from storage.search.ids import DocId
from storage.search.plan import Leg

_THAT_ONE = re.compile(r"\b(?:that|this) one\b", re.IGNORECASE)
_ANOTHER = re.compile(
    r"\b(?:the (?:next|other|last|second|third)|another|an? (?:second|third|further|new)) one\b"
    r"(?!\s+(?:of|who|that)\b)",
    re.IGNORECASE,
)
_AMONG_RESULTS = re.compile(r"\b(?:of|among)\s+(?:them|those|these)\b", re.IGNORECASE)
_PLACE = re.compile(
    r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )(?<!\bbe )(?<!\bbeen )(?<!\bover )"
    r"\bthere(?=\W*$|\s+(?:now|today|currently|then)\b)",
    re.IGNORECASE,
)
_WHOLE_RESULT = re.compile(
    r"\b(?:is|was)\s+(?:that|this)\b(?=\W*$|\s+(?:in\s+(?:all|total)|all\s+told|altogether|together|per|by|on\s+average|exactly)\b)",
    re.IGNORECASE,
)  # "how many bottles is that in total?"
_POSSESSIVES = frozenset("their its his her".split())
_PRONOUNS = frozenset("them those these they their theirs ones it its same".split()) | PRONOUNS_OF_PERSONS
SINGULAR_PRONOUNS = frozenset("it its that this".split()) | PRONOUNS_OF_PERSONS
_MEANINGS_OF_OWN_SUBJECT = (BucketNoun, ValueMatch, PartialMatch)


def is_among_results(message: str) -> bool:
    """ "Which of them …": whether the message restricts itself to some of the results."""
    return bool(_AMONG_RESULTS.search(message))


def is_about_whole_result(message: str) -> bool:
    """ "How much money was that?": whether the message is about all the results together."""
    return bool(_WHOLE_RESULT.search(message))


def is_about_another(message: str) -> bool:
    """ "What would *the next one* cost": whether the message is about a further thing of the kind that was told of."""
    return bool(_ANOTHER.search(message))


def is_about_place(message: str) -> bool:
    """ "Who is the mayor there?", but not "how many are there?"."""
    return bool(_PLACE.search(message))


def refers_to_results(message: str, words: Sequence[str], reading: BucketReading) -> bool:
    """Whether the message refers to the results. "That" and "this" count only at its beginning or end.

    In "which galleries have their own shop" the possessive belongs to a noun of the message itself.
    """
    if is_among_results(message) or _THAT_ONE.search(message) or is_about_place(message):
        return True
    if _WHOLE_RESULT.search(message):
        return True
    if words[-1:] in (("that",), ("this",)) or words[:1] in (("that",), ("this",)):
        return True
    pronouns = set(words) & _PRONOUNS
    return bool(pronouns - _POSSESSIVES) or (bool(pronouns) and not _has_own_subject(reading))


def _has_own_subject(reading: BucketReading) -> bool:
    """Whether a noun or a name of the message appears before its first possessive pronoun."""
    place = next((index for index, token in enumerate(reading.tokens) if token.word in _POSSESSIVES), 0)
    return any(
        link.last <= place and isinstance(link.meaning, _MEANINGS_OF_OWN_SUBJECT) and link.weight
        for link in reading.links
    )


def confine_to_found_documents(leg: Leg, found_documents: Sequence[DocId]) -> Leg:
    """Returns a leg that searched all text as one about the documents that its answer cited; none if it cited none.

    Other legs are returned unchanged.
    """
    if not leg.answer_form.reads_text or any(clause.display_condition != MATCH_ALL for clause in leg.search.clauses):
        return leg
    condition: Condition = OrCondition(())
    if found_documents:
        ids = tuple(map(str, found_documents))
        condition = ComparisonCondition(field=DOC_ID_FIELD, op=ComparisonOperator.IN, value=ids)
    clauses = (replace(clause, condition=condition) for clause in leg.search.clauses)
    return replace(leg, search=leg.search.with_clauses(*clauses))
