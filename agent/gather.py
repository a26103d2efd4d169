"""The first round trip: what each leg asks of the index, all legs at once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agent.compose import SHOWN, escaped
from agent.context import Limits
from agent.outcome import Clarify, LegResult, OutcomeKind, Route
from agent.passages import checked_by, passages_asked, ranking_of, without
from agent.prune import weights
from agent.reasoner import Doubt, Material
from agent.refine import facet_requests, missing_of
from agent.rerank import Weighted
from agent.rules.commands import is_thanks
from agent.tools import Desk
from storage.search.conditions import Compare, Missing, all_of, conjuncts
from storage.search.ids import FieldName, LegId
from storage.search.index import (
    Aggregate,
    Answers,
    Count,
    Facet,
    Hit,
    NearPassages,
    Outlines,
    Passages,
    Records,
    Request,
)
from storage.search.plan import (
    Clause,
    Compute,
    FindPassages,
    Function,
    Group,
    Leg,
    ListDocuments,
    Plan,
    ReadFields,
    Search,
    Summarise,
    everything_in,
)

_WELCOME = "You are welcome."
_WIDE = 50  # passages fetched before re-ranking
_NAMED = 21  # documents that a question about one may turn out to fit


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What one leg asks, by purpose; every request is in `requests`."""

    leg: Leg
    count: Count
    page: Records | None = None
    facets: tuple[Facet, ...] = ()
    aggregate: Aggregate | None = None
    ranked: Mapping[str, Passages | NearPassages] = field(default_factory=dict[str, Passages | NearPassages])
    fallback: Mapping[str, Passages | NearPassages] = field(default_factory=dict[str, Passages | NearPassages])
    outlines: Outlines | None = None  # which documents are about what is asked
    words: Mapping[str, Count] = field(default_factory=dict[str, Count])  # content words, as required terms
    stems: Mapping[str, str] = field(default_factory=dict[str, str])  # of those that say what is asked
    content: Mapping[str, str] = field(default_factory=dict[str, str])  # of all, those that name documents too
    said: tuple[str, ...] = ()  # how the schema speaks of what is asked
    checks: tuple[Compare, ...] = ()  # what a yes-or-no question asks about the documents named: `page` is without it
    missing: Mapping[FieldName, Count] = field(default_factory=dict[FieldName, Count])
    alike: tuple[Count, ...] = ()  # the readings that score as well, in the order of the doubt
    otherwise: tuple[Count, ...] = ()  # the possible ones, likewise
    misspelt: tuple[Count, ...] = ()  # the words that may be misspelt, likewise, anywhere
    whole: Count | None = None  # the set that a share is of

    def requests(self) -> Iterator[Request[object]]:
        yield self.count
        yield from (one for one in (self.page, self.aggregate, self.outlines) if one is not None)
        yield from self.facets
        yield from (*self.ranked.values(), *self.fallback.values(), *self.words.values(), *self.missing.values())
        yield from (*self.alike, *self.otherwise, *self.misspelt)
        if self.whole is not None:
            yield self.whole

    def noted(self) -> Iterator[Request[object]]:
        """The requests worth an attempt of their own."""
        yield self.count
        yield from (one for one in (self.page, self.aggregate, self.outlines) if one is not None)
        yield from (*self.ranked.values(), *self.fallback.values())


def asked_of(leg: Leg, doubt: Doubt, material: Material, limits: Limits, *, narrowing: bool) -> Asked:
    """The requests of a leg, with a count for each other reading and for each word that may be misspelt."""
    asked = _asked_by_form(leg, doubt, material, limits, narrowing=narrowing)
    whole = everything_in(*material.schemas)
    misspelt = doubt.respelled.words if doubt.respelled else ()
    return replace(
        asked,
        alike=tuple(Count(one.search) for one in doubt.alike) if narrowing else (),
        otherwise=tuple(Count(one.search) for one in doubt.otherwise),
        misspelt=tuple(_word_count(whole, written) for written, _ in misspelt),
    )


def _asked_by_form(leg: Leg, doubt: Doubt, material: Material, limits: Limits, *, narrowing: bool) -> Asked:
    """The requests of a leg, by the form of answer it wants."""
    search, wanted = leg.search, leg.wanted
    count = Count(search)
    missing = dict(_missing_counts(search, material))
    text = search.ranking or leg.question
    best = {"text": Passages(search, text, limits.hits)}
    doubtful = {word: _word_count(search, word) for word in doubt.doubtful}
    match wanted:
        case ListDocuments(order=order, limit=limit):
            size = wanted.skip + (limit + 1 if limit else limits.overload if narrowing else limits.documents)
            page = Records(search, order, limit=min(size, max(limits.documents, SHOWN)))
            facets = tuple(facet_requests(search, material.schemas)) if narrowing and limit is None else ()
            return Asked(leg=leg, count=count, page=page, facets=facets, ranked=best, missing=missing, words=doubtful)
        case Compute():
            page = Records(search, limit=limits.documents, fields=frozenset())
            return Asked(
                leg=leg, count=count, page=page, aggregate=_aggregate(search, wanted), ranked=best, missing=missing,
                words=doubtful, whole=None if wanted.whole is None else Count(wanted.whole),
            )  # fmt: skip
        case ReadFields():
            text_asked = _text_asked(leg, count, leg.question, material)
            return replace(text_asked, page=Records(search, limit=limits.read + 1), missing=missing)
        case Summarise():
            page = Records(search, limit=limits.read + 1)
            facets = tuple(facet_requests(search, material.schemas)) if narrowing else ()
            ranked = {"text": Passages(search, text, _WIDE)}
            return Asked(leg=leg, count=count, page=page, facets=facets, ranked=ranked, missing=missing, words=doubtful)
        case FindPassages():
            return _text_asked(leg, count, text, material)


def _aggregate(search: Search, wanted: Compute) -> Aggregate:
    """Values that are counted apart are the groups that they make."""
    if Function.DISTINCT in wanted.functions and wanted.field is not None:
        return Aggregate(search, group=Group(field=wanted.field))
    return Aggregate(search, wanted.field, wanted.group, median=Function.MEDIAN in wanted.functions)


def _text_asked(leg: Leg, count: Count, text: str, material: Material) -> Asked:
    ranking, checks = ranking_of(leg, material), checked_by(leg, material)
    named = without(leg.search, checks)
    ranked = passages_asked(named, ranking, text, _WIDE)
    fallback: dict[str, Passages | NearPassages] = {}
    if any(clause.everything != all_of() for clause in leg.search.clauses):
        anywhere = Search(clauses=tuple(Clause(bucket=bucket) for bucket in material.schemas), ranking=text)
        fallback = {"text": Passages(anywhere, text, _WIDE), "semantic": NearPassages(anywhere, text, _WIDE)}
    whole = everything_in(*material.schemas)
    words = {word: _word_count(whole, word) for word in ranking.content}
    page = Records(named, limit=_NAMED) if fallback else None
    return Asked(
        leg=leg, count=count, page=page, ranked=ranked, fallback=fallback, words=words, stems=ranking.stems,
        outlines=Outlines(named, " ".join(ranking.content) or text), content=ranking.content, said=ranking.said,
        checks=checks,
    )  # fmt: skip


def _word_count(search: Search, word: str) -> Count:
    clauses = tuple(Clause(bucket=bucket, required=(word,)) for bucket in search.buckets)
    return Count(Search(clauses=clauses))


def _missing_counts(search: Search, material: Material) -> Iterator[tuple[FieldName, Count]]:
    """Per field compared: the documents that meet all else and lack it."""
    if len(search.clauses) != 1:
        return
    clause = search.clauses[0]
    compared = list(missing_of(clause, material.schemas[clause.bucket]))
    for name in dict.fromkeys(name for _, name in compared):
        own = [condition for condition, field in compared if field == name]  # both ends of a range
        others = (one for one in conjuncts(clause.condition) if one not in own)
        lacking = Clause(bucket=clause.bucket, condition=all_of(*others, Missing(field=name)), required=clause.required)
        yield name, Count(Search(clauses=(lacking,)))


def hits_of(requests: Mapping[str, Passages | NearPassages], answers: Answers) -> dict[str, Sequence[Hit]]:
    return {name: answers[request] for name, request in requests.items()}


def weighted(asked: Asked, answers: Answers, material: Material, *, anywhere: bool = False) -> tuple[Weighted, ...]:
    """The words of the leg's question that say what is asked, by rarity among all visible documents.

    `anywhere`: those too that name the documents, for a search that is not confined to them.
    """
    stems = asked.content if anywhere else asked.stems
    counts = {word: (stem, answers[asked.words[word]]) for word, stem in stems.items()}
    return weights(counts, sum(material.vocabulary.documents.values()))


def without_unknown(leg: Leg, doubt: Doubt, asked: Asked, answers: Answers) -> tuple[Leg, tuple[str, ...]]:
    """The leg without the doubtful words that no document holds, and those words."""
    required = {word for clause in leg.search.clauses for word in clause.required}
    doubtful = [word for word in doubt.doubtful if word in required and word in asked.words]
    unknown = tuple(word for word in doubtful if answers[asked.words[word]] == 0)
    if not unknown:
        return leg, ()
    clauses = tuple(
        Clause(
            bucket=one.bucket,
            condition=one.condition,
            required=tuple(word for word in one.required if word not in unknown),
        )
        for one in leg.search.clauses
    )
    if all(one.everything == all_of() for one in clauses) and not _speaks_of_bucket(leg):
        return leg, ()  # nothing else was said: then it is what was asked for, and is not there
    search = leg.search.with_clauses(*clauses)
    return Leg(id=leg.id, question=leg.question, search=search, wanted=leg.wanted, probes=leg.probes), unknown


def _speaks_of_bucket(leg: Leg) -> bool:
    return len(leg.search.clauses) == 1


def nothing_understood(question: str, words: tuple[str, ...], desk: Desk, material: Material) -> Clarify:
    """No word means anything here: said so, with nothing to click."""
    leg = Leg(
        id=LegId("a"),
        question=question,
        search=Search(clauses=tuple(Clause(bucket=bucket) for bucket in material.schemas), ranking=question),
        wanted=FindPassages(),
    )
    named = ", ".join(f"“{escaped(word)}”" for word in words[:5])
    text = "I found nothing: no word of this stands in the documents" + (f" ({named})." if named else ".")
    text = _WELCOME if is_thanks(question) else text
    return Clarify(
        plan=Plan(question=question, legs=(leg,)),
        kind=OutcomeKind.NO_RESULTS,
        leg=leg.id,
        text=text,
        legs=(LegResult(leg=leg.id, question=question, kind=OutcomeKind.NO_RESULTS, text=text),),
        choices=(),
        understood=False,
        trace=desk.trace(Route.HYBRID),
        generation=material.vocabulary.generation,
    )
