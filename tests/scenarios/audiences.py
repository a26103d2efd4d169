"""Somebody before a world: who asks, what they are granted, the world in the index of a bot; and how many examples."""

import os
from collections.abc import Sequence

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from agent.context import Limits
from bot.bootstrap import Bot
from bot.ids import PersonId, Subject
from bot.inbound import Audience, Operator, Outsiders, Private, Shared
from storage.search.ids import BucketId
from storage.search.index import SearchIndex
from tests.scenarios.clicking import Clicking
from tests.scenarios.worlds import World

_EXAMPLES = int(os.environ.get("PARLEY_TEST_EXAMPLES", "0"))
_SHRINK = "PARLEY_TEST_SHRINK" in os.environ
_ANN = PersonId("slack:T1:U1")
_AUDIENCES: tuple[Audience, ...] = (
    Operator(),
    Private(person=_ANN),
    Private(person=_ANN, guest=True),
    Private(person=PersonId("slack:T1:U2"), subjects=frozenset({Subject("group:g1")})),
    Shared(channel=Subject("channel:slack:T1:C1"), outsiders=Outsiders.NONE),
)

some = settings(
    max_examples=_EXAMPLES or 15,
    derandomize=not _EXAMPLES,
    phases=(Phase.explicit, Phase.generate, *((Phase.shrink,) if _SHRINK else ())),  # to shrink takes minutes
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)


async def opened(bot: Bot, world: World, audience: Audience, granted: Sequence[BucketId], limits: Limits) -> Clicking:
    """The world in the index of the bot, and the audience before it."""
    for bucket, schema in world.schemas.items():
        await bot.index.set_schema(schema)
        await bot.index.put(bucket, world.documents[bucket])
    for bucket in granted:
        for subject in ("user:slack:T1:U1", "group:g1", "channel:slack:T1:C1"):
            await bot.grants.grant(bucket, Subject(subject), by="test")
    return Clicking(bot=bot, world=world, audience=audience, scope=await bot.access.scope(audience), limits=limits)


async def closed(bot: Bot) -> None:
    """Nothing is there, and nothing granted."""
    for grant in await bot.grants.all():
        await bot.grants.revoke(grant.bucket, grant.subject, by="test")
    for bucket in await bot.index.buckets():
        await bot.index.drop_bucket(bucket)


async def written(index: SearchIndex, before: World, after: World) -> World:
    """The documents as they are now: those of `after`."""
    for bucket, documents in after.documents.items():
        gone = {one.doc_id for one in before.documents[bucket]} - {one.doc_id for one in documents}
        await index.delete(sorted(gone))
        await index.put(bucket, [one for one in documents if one not in before.documents[bucket]])
    return after


@st.composite
def audiences(draw: st.DrawFn, world: World) -> tuple[Audience, list[BucketId]]:
    """Somebody, and the buckets that they may see."""
    audience, every = draw(st.sampled_from(_AUDIENCES)), sorted(world.schemas)
    granted = draw(st.lists(st.sampled_from(every), unique=True, min_size=1))
    return audience, every if isinstance(audience, Operator) else granted


limits = st.builds(Limits, overload=st.sampled_from([5, 5, 12]), read=st.just(3))
