"""The one idea, held to: every choice leads where it says, whatever the documents, the question and the rights.

For random corpora, searches and scopes every choice is asked for, stored, clicked, and held to the naive evaluation, on
each engine. `PARLEY_TEST_EXAMPLES` asks for more examples than the few of every run.
"""

import os
from itertools import count

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from agent.context import Limits
from bot.bootstrap import Bot
from bot.ids import PersonId, Subject
from bot.inbound import Audience, Operator, Outsiders, Private, Shared
from storage.search.ids import BucketId
from tests.scenarios.clicking import Clicking, Script
from tests.scenarios.worlds import World, planned, worlds

_EXAMPLES = int(os.environ.get("PARLEY_TEST_EXAMPLES", "0"))
_SHRINK = "PARLEY_TEST_SHRINK" in os.environ
_numbers = count()
_ann = PersonId("slack:T1:U1")
_AUDIENCES: tuple[Audience, ...] = (
    Operator(),
    Private(person=_ann),
    Private(person=_ann, guest=True),
    Private(person=PersonId("slack:T1:U2"), subjects=frozenset({Subject("group:g1")})),
    Shared(channel=Subject("channel:slack:T1:C1"), outsiders=Outsiders.NONE),
)

some = settings(
    max_examples=_EXAMPLES or 12,
    derandomize=not _EXAMPLES,
    phases=(Phase.explicit, Phase.generate, *((Phase.shrink,) if _SHRINK else ())),  # to shrink takes minutes
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)


async def opened(bot: Bot, world: World, audience: Audience, granted: list[BucketId], limits: Limits) -> Clicking:
    """The world in the index of the bot, and the audience before it."""
    for bucket, schema in world.schemas.items():
        await bot.index.set_schema(schema)
        await bot.index.put(bucket, world.documents[bucket])
    for bucket in granted:
        for subject in ("user:slack:T1:U1", "group:g1", "channel:slack:T1:C1"):
            await bot.grants.grant(bucket, Subject(subject), by="test")
    return Clicking(bot=bot, world=world, audience=audience, scope=await bot.access.scope(audience), limits=limits)


async def closed(bot: Bot, world: World) -> None:
    for bucket in await bot.index.buckets():
        await bot.index.drop_bucket(bucket)


class Drawn:
    """An example: a world, somebody before it with limits of some height, and what they may ask about."""

    def __init__(self, data: st.DataObject, *, least: int = 0) -> None:
        self.name = f"drawn-{next(_numbers)}"
        self.world = data.draw(worlds("drawn", least=least), label="world")
        self.audience = data.draw(st.sampled_from(_AUDIENCES), label="audience")
        self.granted = data.draw(
            st.lists(st.sampled_from(sorted(self.world.schemas)), unique=True, min_size=1), label="granted"
        )
        if isinstance(self.audience, Operator):
            self.granted = sorted(self.world.schemas)
        self.limits = Limits(overload=data.draw(st.sampled_from([5, 5, 12]), label="overload"), read=3)


@some
@given(data=st.data())
async def test_every_choice_of_a_plan_leads_where_it_says(
    clicked_bot: Bot, script: Script, data: st.DataObject
) -> None:
    drawn = Drawn(data, least=8)
    asked = [f"planned {next(_numbers)}" for _ in range(3)]
    script.plans = {one: data.draw(planned(drawn.world, drawn.granted, one), label=one) for one in asked}
    try:
        clicking = await opened(clicked_bot, drawn.world, drawn.audience, drawn.granted, drawn.limits)
        for question in asked:
            await clicking.check(question)
    finally:
        await closed(clicked_bot, drawn.world)
