"""What may be asked: the kinds of documents that are visible, each counted, with a question that it can answer."""

from collections.abc import Sequence

from agent.compose import escaped
from agent.outcome import Answer, Choice, LegResult, OutcomeKind, Route
from agent.reasoner import Material
from agent.tools import Desk
from agent.wording import count_words, listed, plural
from storage.search.ids import BucketId, LegId
from storage.search.index import Answers, Count
from storage.search.plan import Leg, ListDocuments, Plan, everything_in
from storage.search.refinement import OnlyBucket
from storage.search.schema import FieldType, Schema

_SHOWN = 10  # buckets
_LEG = LegId("a")


async def help_with(question: str, desk: Desk, material: Material) -> Answer:
    """The largest buckets, each a button. Raises what the index raises."""
    counts = {bucket: Count(everything_in(bucket)) for bucket in material.schemas}
    answers = await desk.ask(tuple(counts.values()), note=tuple(counts.values()))
    filled = sorted((one for one in counts if answers[counts[one]]), key=lambda one: (-answers[counts[one]], one))
    leg = Leg(id=_LEG, question=question, search=everything_in(*(filled or counts)), wanted=ListDocuments())
    text = _told(filled, counts, answers, material)
    return Answer(
        plan=Plan(question=question, legs=(leg,)),
        text=text,
        legs=(LegResult(leg=_LEG, question=question, kind=OutcomeKind.ANSWER, text=text),),
        choices=tuple(_choice(bucket, answers[counts[bucket]], material) for bucket in filled[:_SHOWN]),
        trace=desk.trace(Route.STRUCTURED),
        generation=answers.generation,
    )


def _told(filled: Sequence[BucketId], counts: dict[BucketId, Count], answers: Answers, material: Material) -> str:
    if not filled:
        return "There are no documents here yet that I could answer from."
    lines = [_line(material.schemas[bucket], answers[counts[bucket]]) for bucket in filled[:_SHOWN]]
    others = [escaped(material.schemas[bucket].label) for bucket in filled[_SHOWN:]]
    more = [f"And {listed(others[:_SHOWN])}{' and others' if len(others) > _SHOWN else ''}."] if others else []
    return "\n".join(["I answer questions about these documents:", "", *lines, *([""] if more else []), *more])


def _line(schema: Schema, count: int) -> str:
    return f"- **{escaped(schema.label)}**: {count_words(count)}, for example “{escaped(example_of(schema))}”"


def _choice(bucket: BucketId, count: int, material: Material) -> Choice:
    return Choice(label=material.schemas[bucket].label, count=count, leg=_LEG, does=OnlyBucket(bucket=bucket))


def example_of(schema: Schema) -> str:
    """A question in the words of the schema alone: a value would tell what documents hold."""
    noun = next(iter(schema.synonyms), schema.label)
    facet = next((one for one in schema.fields if one.facet and one.type is FieldType.CATEGORY), None)
    many = noun if noun.endswith("s") else plural(noun)
    return f"How many {many} per {facet.label.casefold()}?" if facet is not None else f"How many {many} are there?"
