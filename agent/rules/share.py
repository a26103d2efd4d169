"""What share of a set has something more: "what percentage of the panels are monocrystalline?"."""

import re

from agent.reasoner import Planned
from agent.rules.compare import Reader
from agent.rules.language import OF_MONEY, SPENDING
from agent.rules.reading import Reading
from storage.search.ids import LegId
from storage.search.plan import Clause, Compute, Function, Leg, Plan, Search

_ASKS = re.compile(
    r"\b(?:(?:what|which|how\s+(?:big|large|high))\b(?:\s+(?:is|are|was))?(?:\s+(?:the|a))?\s+)?"
    r"(?:share|percentage|percent|per\s+cent|proportion|fraction|%)\s+of\s+|\bhow\s+many\s+(?:percent|per\s+cent|%)\s+of\s+",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|do|does|did|come|comes|came|go|goes|went|that|which|with|without|from|over|under|"
    r"above|below|more|less|at|in|by|contains?|mentions?|[a-z]{3,}ed)\b",
    re.IGNORECASE,
)


def asks_for_share(question: str) -> bool:
    return _ASKS.search(question) is not None


def as_count(question: str) -> str:
    """ "What share of them are …" as a question for their number."""
    return _ASKS.sub("how many of ", question)


def share_asked(question: str, reader: Reader) -> Planned | None:
    """A count of the part beside a count of the whole; None where no share of documents is asked.

    The whole is what stands before the verb: "of *our receipts in 2024*, … are from Acme". A share of money is none of
    documents, and is not computed.
    """
    asks = _ASKS.search(question)
    if asks is None or asks.start() > _FIRST:
        return None
    rest = question[asks.end() :].strip(" ?.")
    part = reader.readings(rest)[0]
    words = {one.word for one in part.tokens}
    if not part.has_noun or words & (SPENDING | OF_MONEY) or not _says(part):
        return None
    for verb in reversed([*_VERB.finditer(rest)]):
        whole = next(one for one in reader.readings(rest[: verb.start()]) if one.bucket == part.bucket)
        if whole.has_noun and not whole.leftovers and set(whole.conditions) < set(part.conditions):
            return _planned(question, part, whole)
        if whole.has_noun and not whole.leftovers and whole.conditions == part.conditions and part.leftovers:
            return _planned(question, part, whole)
    return None


_FIRST = 12  # within so many characters a question begins to ask


def _says(reading: Reading) -> bool:
    return bool(reading.conditions or reading.leftovers or reading.quoted)


def _planned(question: str, part: Reading, whole: Reading) -> Planned:
    wanted = Compute(functions=(Function.SHARE,), whole=_search(whole, ""))
    leg = Leg(id=LegId("a"), question=question, search=_search(part, question), wanted=wanted)
    return Planned(plan=Plan(question=question, legs=(leg,), assumptions=tuple(dict.fromkeys(part.assumed))))


def _search(reading: Reading, ranking: str) -> Search:
    required = (*reading.leftovers, *reading.quoted)
    return Search(
        clauses=(Clause(bucket=reading.bucket, condition=reading.condition, required=required),), ranking=ranking
    )
