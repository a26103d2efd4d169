"""Questions about a document that they name by its id."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from storage.search.plan import ReadFields
from tests.agent.rules.nested.mining import MiningHome, open_home_of

FILES = {
    "parcels.csv": (
        "id,recipient,sent_on,weight_kg\nPX-2031-0001,Ada Moor,2031-03-01,4\nPX-2031-0002,Ben Lund,2031-03-02,7\n"
        "PX-2031-0003,Cy Nash,2031-03-05,2\nPX-2031-0004,Di Orr,2031-03-09,9\n"
    )
}

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    async with open_home_of(tmp_path_factory.mktemp("parcels"), FILES, frozenset({"parcels"})) as opened:
        yield opened


async def test_a_field_of_a_document_with_an_id_is_read(home: MiningHome) -> None:
    planned = await home.plan_question("who is the recipient of PX-2031-0002")

    leg = planned.plan.legs[0]
    assert isinstance(leg.answer_form, ReadFields)
    assert [name for _, name in leg.answer_form.fields] == ["recipient"]
    assert not planned.alternatives or not planned.alternatives[0].unknown_words


async def test_what_is_asked_of_a_document_with_an_id_and_is_not_known_is_asked_about(home: MiningHome) -> None:
    planned = await home.plan_question("Which courier brought PX-2031-0002 to the recipient?")

    assert "courier" in planned.alternatives[0].unknown_words


async def test_the_dimension_of_the_asked_field_is_understood(home: MiningHome) -> None:
    planned = await home.plan_question("What mass does PX-2031-0003 weigh?")

    assert isinstance(planned.plan.legs[0].answer_form, ReadFields)
    assert not planned.alternatives or not planned.alternatives[0].unknown_words
