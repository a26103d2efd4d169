"""Searching again: when what the first search found shows that another reading was meant."""

from collections.abc import Sequence
from dataclasses import replace

from agent.decision import More, Under
from agent.gather import without_unknown
from agent.reasoner import Doubt, Reread
from agent.rules.language import QUESTION_WORDS
from storage.search.conditions import EVERYTHING
from storage.search.plan import FindPassages, Leg, ListDocuments, Search, everything_in


def searched_anew(under: Under) -> More | None:
    """What to search instead, and what is taken for granted by it; None where the leg stands.

    Words that no document holds are read as the words they misspell, or, where they need not be meant, left out. Where
    a number's field was not named, or the name is shared, and the likeliest leads nowhere, the likeliest that leads
    somewhere is taken.
    """
    return _respelled(under) or _without_unknown(under) or _otherwise(under) or _in_text(under)


def _respelled(under: Under) -> More | None:
    respelled = under.doubt.respelled
    if respelled is None or under.assumed or any(under.answers[count] for count in under.asked.misspelt):
        return None
    said = tuple(f"read “{written}” as “{meant}”" for written, meant in respelled.words)
    return More(leg=respelled.leg, ignored=under.ignored, assumed=(*under.assumed, *said))


def _without_unknown(under: Under) -> More | None:
    leg, unknown = without_unknown(under.leg, under.doubt, under.asked, under.answers)
    return More(leg=leg, ignored=(*under.ignored, *unknown), assumed=under.assumed) if unknown else None


def without_words(doubt: Doubt, words: Sequence[str]) -> Doubt:
    """The doubt of a leg that is searched without words which no document holds."""

    def freed(one: Reread) -> Reread:
        clauses = tuple(
            replace(clause, required=tuple(word for word in clause.required if word not in words))
            for clause in one.search.clauses
        )
        return replace(one, search=one.search.with_clauses(*clauses))

    return replace(
        doubt,
        alike=tuple(map(freed, doubt.alike)),
        otherwise=tuple(map(freed, doubt.otherwise)),
        wider=tuple(map(freed, doubt.wider)),
        respelled=None,
    )


def _otherwise(under: Under) -> More | None:
    if under.count or under.assumed or isinstance(under.leg.wanted, FindPassages):
        return None
    counted = [
        *zip(under.doubt.alike, under.asked.alike, strict=False),
        *zip(under.doubt.otherwise, under.asked.otherwise, strict=True),
    ]
    leading = [one for one, count in counted if under.answers[count]]
    if not leading:
        return None
    best, leg = leading[0], under.leg
    searched = Leg(id=leg.id, question=leg.question, search=best.search, wanted=leg.wanted, probes=leg.probes)
    return More(leg=searched, ignored=under.ignored, assumed=(f"took it to mean {best.words}",))


def _in_text(under: Under) -> More | None:
    """ "What devices are in the family pack?": asked as a list, of words that no document holds together."""
    leg = under.leg
    asks = leg.question.split()[:1]
    words = any(clause.required for clause in leg.search.clauses)
    if under.count or not words or not isinstance(leg.wanted, ListDocuments) or not asks:
        return None
    if asks[0].casefold() not in QUESTION_WORDS or asks[0].casefold() == "which":
        return None
    narrowed = tuple(replace(one, required=()) for one in leg.search.clauses if one.condition != EVERYTHING)
    clauses = narrowed or everything_in(*under.material.schemas).clauses
    searched = Leg(
        id=leg.id, question=leg.question, search=Search(clauses=clauses, ranking=leg.question), wanted=FindPassages()
    )
    return More(leg=searched, ignored=(), assumed=under.assumed)
