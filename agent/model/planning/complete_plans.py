"""Decides whether the rules have understood a question so completely that no model need be asked."""

import re
from collections.abc import Mapping

from agent.assumptions import CorrectedSpelling, DateFieldTaken, MarginTaken, TakenInnerSet
from agent.condition_walk import walk_conditions
from agent.decomposition import Decomposition, ExportRequest, LegAlternatives, PlannedQuestion
from agent.english.function_words import PRONOUNS_OF_PERSONS
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.planning.word_coverage import find_uncovered_words, names_its_documents
from storage.search.analyser import fold_text
from storage.search.conditions import ComparisonCondition, ComparisonOperator
from storage.search.ids import BucketId
from storage.search.plan import Clause, Leg

# What they stand for within a question is a judgement: "the dearest lamp, and its maker"
_REFERENCES = PRONOUNS_OF_PERSONS | frozenset("it its they them their theirs these those".split())
# Ask for what no field holds: "how many claims, and why?"
_EXPLANATIONS = frozenset({"why"})
_HARMLESS_ASSUMPTIONS = (CorrectedSpelling, DateFieldTaken, MarginTaken, TakenInnerSet)


def needs_judgement(by_rules: Decomposition) -> bool:
    """Whether the message is a question about documents; commands, thanks and references to a list are not."""
    if isinstance(by_rules, PlannedQuestion):
        return not by_rules.is_undo and not by_rules.references
    return False


def is_completely_linked(decomposition: Decomposition, lexicons: Mapping[BucketId, BucketLexicon]) -> bool:
    """Whether every content word of the question has a meaning in the plan, and only one.

    Answers that appear in texts are never complete: words alone do not say what they mean there.
    """
    if isinstance(decomposition, ExportRequest):
        return True
    if not isinstance(decomposition, PlannedQuestion) or decomposition.fallback is not None:
        return False
    if decomposition.is_followup:  # what a follow-up keeps of the question before is a judgement
        return False
    alternatives = {each.leg: each for each in decomposition.alternatives}
    plan = decomposition.plan
    if (_REFERENCES | _EXPLANATIONS) & set(re.findall(r"\w+", fold_text(plan.question))):
        return False
    if find_uncovered_words(plan, lexicons) or not names_its_documents(plan, lexicons):
        return False
    if any(not isinstance(assumption, _HARMLESS_ASSUMPTIONS) for assumption in decomposition.assumptions):
        return False
    return all(
        _is_settled(leg, alternatives.get(leg.id, LegAlternatives(leg=leg.id))) for leg in decomposition.plan.legs
    )


def _is_settled(leg: Leg, alternatives: LegAlternatives) -> bool:
    if leg.answer_form.reads_text or any(clause.required_terms for clause in leg.search.clauses):
        return False
    if any(_holds_partial_value(clause) for clause in leg.search.clauses):
        return False
    is_open = (
        alternatives.equal_readings
        or len(alternatives.equal_forms) > 1
        or alternatives.spelling_correction is not None
        or alternatives.vague_condition is not None
        or alternatives.droppable_words
        or alternatives.unknown_words
    )
    return alternatives.is_understood and not is_open


def _holds_partial_value(clause: Clause) -> bool:
    """Whether words of the question stand for several values, or for a part of one: "tankers" for two kinds of them."""
    return any(
        isinstance(condition, ComparisonCondition)
        and condition.op in (ComparisonOperator.CONTAINS, ComparisonOperator.IN)
        for _, condition in walk_conditions(clause.condition, clause.bucket)
    )
