"""Documents that others name by their titles, and whose names are also values of others."""

import json
from collections.abc import AsyncIterator, Mapping

import pytest
import pytest_asyncio

from storage.search.index import RecordPageRequest
from storage.search.plan import Leg, ReadFields
from tests.agent.rules.nested.mining import MiningHome, open_home_of

CANTONS: Mapping[str, tuple[list[str], str, int, int]] = {
    "Arvel": (["Brone", "Corin"], "Marn", 410, 52_000),
    "Brone": (["Arvel", "Corin"], "Luth", 900, 31_000),
    "Corin": (["Arvel", "Brone", "Dorn"], "Sarn", 1250, 87_000),
    "Dorn": (["Corin"], "Velk", 300, 9_000),
    "Ester": ([], "Ostry", 150, 4_000),
}
VILLAGES = {
    "Marn": ("Arvel", 12_000),
    "Luth": ("Brone", 8_000),
    "Sarn": ("Corin", 21_000),
    "Velk": ("Dorn", 3_000),
    "Ostry": ("Ester", 1_500),
    "Corin": ("Arvel", 700),
    "Hale": ("Corin", 450),
}
STREAMS = {"Corin Stream": (["Brone", "Dorn"], 40), "Wend": (["Arvel", "Brone"], 95), "Ley": (["Corin"], 25)}


def _line(bucket: str, title: str, metadata: Mapping[str, object]) -> str:
    document = {"doc_id": f"{bucket}/{title}", "title": title, "text": f"{title} is described here."}
    return json.dumps({**document, "metadata": metadata, "source": None, "page_starts": None})


FILES = {
    "cantons.jsonl": "\n".join(
        _line("cantons", name, {"borders": near, "seat": seat, "area_sq_km": area, "population": people})
        for name, (near, seat, area, people) in CANTONS.items()
    ),
    "villages.jsonl": "\n".join(
        _line("villages", name, {"canton": canton, "population": people}) for name, (canton, people) in VILLAGES.items()
    ),
    "streams.jsonl": "\n".join(
        _line("streams", name, {"cantons": cantons, "length_km": length}) for name, (cantons, length) in STREAMS.items()
    ),
}

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    buckets = frozenset({"cantons", "villages", "streams"})
    async with open_home_of(tmp_path_factory.mktemp("cantons"), FILES, buckets) as opened:
        yield opened


async def _find_titles(home: MiningHome, leg: Leg) -> set[str]:
    request = RecordPageRequest(leg.search)
    return {record.title for record in (await home.index.answer_requests(request))[request].records}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("which streams run through cantons bordering dorn", {"Ley"}),
        ("cantons that border the largest canton by area", {"Arvel", "Brone", "Dorn"}),
        ("what cantons border ester", set[str]()),
        ("cantons adjacent to brone", {"Arvel", "Corin"}),
        ("corin borders which cantons", {"Arvel", "Brone", "Dorn"}),
        ("how many villages are in corin", {"Sarn", "Hale"}),
    ],
)
async def test_a_title_is_a_key_of_joins(home: MiningHome, question: str, expected: set[str]) -> None:
    planned = await home.plan_question(question)

    assert await _find_titles(home, planned.plan.legs[0]) == expected


@pytest.mark.parametrize(
    ("question", "field", "title"),
    [
        ("how many inhabitants does arvel have", "population", "Arvel"),
        ("what is the area of dorn", "area_sq_km", "Dorn"),
        ("what is the length of the corin stream", "length_km", "Corin Stream"),
    ],
)
async def test_a_name_in_small_letters_is_the_document_itself(
    home: MiningHome, question: str, field: str, title: str
) -> None:
    leg = (await home.plan_question(question)).plan.legs[0]

    assert isinstance(leg.answer_form, ReadFields)
    assert [name for _, name in leg.answer_form.fields] == [field]
    assert await _find_titles(home, leg) == {title}


async def test_the_smallest_village_in_a_place_is_not_the_village_of_that_name(home: MiningHome) -> None:
    leg = (await home.plan_question("the smallest village in corin")).plan.legs[0]

    assert await _find_titles(home, leg) == {"Sarn", "Hale"}


async def test_a_value_is_not_read_where_words_were_not_understood(home: MiningHome) -> None:
    planned = await home.plan_question("how many people speak romansh in arvel")

    assert set(planned.alternatives[0].unknown_words) == {"speak", "romansh"}
