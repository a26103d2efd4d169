"""Audiences with their grants, worlds loaded into a bot's index, and the number of Hypothesis examples."""

import os
from collections.abc import Sequence

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from agent.limits import AnswerLimits
from bot.application import Application
from bot.ids import PersonId, Subject
from bot.surface.inbound import Audience, ChannelAudience, OperatorAudience, OutsiderPresence, PrivateAudience
from storage.search.ids import BucketId
from storage.search.index import SearchIndex
from tests.scenarios.clicking import ChoiceChecker
from tests.scenarios.worlds import DocumentWorld

_EXAMPLES = int(os.environ.get("PARLEY_TEST_EXAMPLES", "0"))
_SHRINK = "PARLEY_TEST_SHRINK" in os.environ
_ANN = PersonId("slack:T1:U1")
_AUDIENCES: tuple[Audience, ...] = (
    OperatorAudience(),
    PrivateAudience(person=_ANN),
    PrivateAudience(person=_ANN, is_guest=True),
    PrivateAudience(person=PersonId("slack:T1:U2"), subjects=frozenset({Subject("group:g1")})),
    ChannelAudience(channel=Subject("channel:slack:T1:C1"), outsiders=OutsiderPresence.NONE),
)

few_examples = settings(
    max_examples=_EXAMPLES or 15,
    derandomize=not _EXAMPLES,
    phases=(Phase.explicit, Phase.generate, *((Phase.shrink,) if _SHRINK else ())),  # shrinking takes minutes
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)


async def open_world(
    bot: Application, world: DocumentWorld, audience: Audience, granted: Sequence[BucketId], limits: AnswerLimits
) -> ChoiceChecker:
    """Load the world into the bot's index, grant the buckets, and return a checker for the audience."""
    for bucket, schema in world.schemas.items():
        await bot.index.set_schema(schema)
        await bot.index.put(bucket, world.documents[bucket])
    for bucket in granted:
        for subject in ("user:slack:T1:U1", "group:g1", "channel:slack:T1:C1"):
            await bot.grants.grant_bucket_access(bucket, Subject(subject), by="test")
    return ChoiceChecker(
        bot=bot, world=world, audience=audience, scope=await bot.access.scope_for_audience(audience), limits=limits
    )


async def clear_index(bot: Application) -> None:
    """Revoke all grants and drop all buckets."""
    for grant in await bot.grants.list_grants():
        await bot.grants.revoke_grant(grant.bucket, grant.subject, by="test")
    for bucket in await bot.index.load_bucket_states():
        await bot.index.drop_bucket(bucket)


async def write_world(index: SearchIndex, old_world: DocumentWorld, new_world: DocumentWorld) -> DocumentWorld:
    """Change the documents in the index to those of `new_world`, and return it."""
    for bucket, documents in new_world.documents.items():
        deleted_ids = {document.doc_id for document in old_world.documents[bucket]} - {
            document.doc_id for document in documents
        }
        await index.delete(sorted(deleted_ids))
        await index.put(bucket, [document for document in documents if document not in old_world.documents[bucket]])
    return new_world


@st.composite
def audiences(draw: st.DrawFn, world: DocumentWorld) -> tuple[Audience, list[BucketId]]:
    """An audience, and the buckets that it may see."""
    audience, all_buckets = draw(st.sampled_from(_AUDIENCES)), sorted(world.schemas)
    granted = draw(st.lists(st.sampled_from(all_buckets), unique=True, min_size=1))
    return audience, all_buckets if isinstance(audience, OperatorAudience) else granted


limits = st.builds(AnswerLimits, overload_documents=st.sampled_from([5, 5, 12]), read_documents=st.just(3))
