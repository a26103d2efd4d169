"""The contract of `Extractor`, for every implementation. Each reads at least lines of the form `label: value`."""

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.gateway.messages import ModelRequest
from bot.models.model_extractor import ModelExtractor
from bot.models.result_cache import ResultCache
from storage.ingest.extract.candidates import CandidatesByField, ExtractionInput, Extractor, ValueCandidate
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.search.evaluation.value_validation import select_fitting_values
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField
from tests.stand_ins.gateway_calls import AnsweringModel
from tests.stand_ins.labels import LabelExtractor

ExtractorFactory: TypeAlias = Callable[[], Extractor]

_COLUMNS = (
    SchemaField(name=FieldName("name"), type=FieldType.TEXT),
    SchemaField(name=FieldName("qty"), type=FieldType.NUMBER),
    SchemaField(name=FieldName("total"), type=FieldType.MONEY),
)
SCHEMA = Schema(
    bucket=BucketId("papers"),
    fields=(
        SchemaField(name=FieldName("vendor"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("kind"), type=FieldType.CATEGORY, values={"fuel": ("petrol",), "food": ("meal",)}),
        SchemaField(name=FieldName("currency"), type=FieldType.CATEGORY),
        SchemaField(
            name=FieldName("total"),
            type=FieldType.MONEY,
            currency_field=FieldName("currency"),
            synonyms=("charge",),
        ),
        SchemaField(name=FieldName("weight"), type=FieldType.NUMBER, unit="kg"),
        SchemaField(name=FieldName("notice_days"), type=FieldType.NUMBER, unit="day"),
        SchemaField(name=FieldName("agreement_date"), type=FieldType.DATE),
        SchemaField(name=FieldName("effective_date"), type=FieldType.DATE),
        SchemaField(name=FieldName("end_date"), type=FieldType.DATE),
        SchemaField(name=FieldName("year"), type=FieldType.NUMBER),
        SchemaField(name=FieldName("parties"), type=FieldType.LIST),
        SchemaField(name=FieldName("tags"), type=FieldType.LIST),
        SchemaField(name=FieldName("governing_law"), type=FieldType.LIST),
        SchemaField(name=FieldName("clauses"), type=FieldType.LIST, values={"Insurance": (), "Exclusivity": ()}),
        SchemaField(name=FieldName("package"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("paid"), type=FieldType.FLAG),
        SchemaField(name=FieldName("document_name"), type=FieldType.TEXT),
        SchemaField(name=FieldName("part"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("items"), type=FieldType.ROWS, columns=_COLUMNS),
    ),
)
OTHER_SCHEMA = Schema(
    bucket=BucketId("papers"),
    fields=(
        SchemaField(name=FieldName("vendor"), type=FieldType.LIST),
        SchemaField(name=FieldName("total"), type=FieldType.NUMBER, unit="kg"),
    ),
)
SLIP = """\
Vendor: Harbour Light Bakery
Agreement date: 2031-05-28
2 x RYE LOAF          4.50      9.00
APPLE TART            6.20      6.20
Total: 15.20
Tax charge            0.91      0.20
Weight: 3
Tags: rye, tart
Paid: yes
"""
LEASE = """\
SUPPLY AGREEMENT

This Supply Agreement is made as of the 7th day of September, 2029 (the "Effective Date") by and between Quarry & Sons,
Inc., a Delaware corporation ("Supplier"), and Tidewater Mills Ltd. ("Buyer"). Its term is three (3) years. It renews
unless either party gives ninety (90) days' notice. The laws of the State of New York govern it.
Total: $ 4,000.00
"""
TEXTS = {
    "slip": SLIP,
    "lease": LEASE,
    "empty": "",
    "white space": " \n\t\x00\u2028",
    "label without value": "Total:",
    "colons": ":::\n: :\n",
    "unlikely amount": "Total: 15.20\nTax charge\n5\n",
}
_PIECES = st.sampled_from(
    "Total|total:|Vendor: |\nTags: a, b\n|\nPaid: no\n|12.50|1.234,5|$|RM|28/05/2031|the 31st day of February, 2031|"
    "laws of the State of|New York|Inc.|by and between|thirty (30) days|notice|renew|weight|3 kg|TO-220|petrol|"
    "paid: yes|insurance|\n|\t| | |:|....|\x00|\u2028|İ|ﬁ|²|9999999999|99/99/99|first|effective date|,|;|(|)|\"|'|-|"
    "term of this Agreement|Agreement|a|Ltd|x 2|½|９|governed".split("|")
)
texts = st.one_of(st.text(max_size=300), st.lists(_PIECES, max_size=60).map("".join), st.lists(_PIECES).map(" ".join))


def build_model_extractor() -> ModelExtractor:
    """An extractor with a model that finds nothing: what it gives is the rules'."""
    return ModelExtractor(AnsweringModel(reply_without_values), "none", RuleExtractor(), ResultCache(Path(mkdtemp())))


def reply_without_values(request: ModelRequest) -> str:
    numbers = re.findall(r'<document number="(\d+)"', request.messages[-1].content)
    return json.dumps({"documents": [{"document": int(number), "values": []} for number in numbers]})


EXTRACTORS: list[ExtractorFactory] = [RuleExtractor, LabelExtractor, build_model_extractor]
every_extractor = pytest.mark.parametrize("build_extractor", EXTRACTORS)


async def extract(
    extractor: Extractor, text: str, *, title: str = "", schema: Schema = SCHEMA
) -> dict[str, list[ValueCandidate]]:
    """The candidates, after a check of what the contract promises of each of them."""
    document = ExtractionInput(title=title, text=text)
    candidates_by_field = await extractor.extract_candidates(document, schema)
    check_candidates(candidates_by_field, text, schema)
    return {name: list(candidates) for name, candidates in candidates_by_field.items() if candidates}


def check_candidates(candidates_by_field: CandidatesByField, text: str, schema: Schema) -> None:
    assert candidates_by_field.keys() <= schema.by_name.keys()
    for name, candidates in candidates_by_field.items():
        for candidate in candidates:
            assert select_fitting_values({name: candidate.value}, schema) == {name: candidate.value}
            assert 0 <= candidate.confidence <= 1
            check_evidence(candidate, text)
        if schema.by_name[name].type in (FieldType.LIST, FieldType.ROWS):
            assert all(isinstance(candidate.value, tuple) and len(candidate.value) == 1 for candidate in candidates)
        if schema.by_name[name].type is not FieldType.ROWS:
            confidences = [candidate.confidence for candidate in candidates]
            assert confidences == sorted(confidences, reverse=True)


def check_evidence(candidate: ValueCandidate, text: str) -> None:
    if candidate.start is None or candidate.end is None:
        assert candidate.start is candidate.end is None
    else:
        assert 0 <= candidate.start < candidate.end <= len(text)


@pytest.fixture(params=EXTRACTORS)
def extractor(request: pytest.FixtureRequest) -> Extractor:
    return request.param()


async def test_labelled_values_are_the_most_confident_candidates_in_the_type_of_the_field(extractor: Extractor) -> None:
    candidates = await extract(extractor, SLIP)

    best = {name: candidates[name][0].value for name in ("vendor", "agreement_date", "total", "weight", "paid")}
    assert best == {
        "vendor": "Harbour Light Bakery",
        "agreement_date": "2031-05-28",
        "total": 15.2,
        "weight": 3.0,
        "paid": True,
    }
    assert [candidate.value for candidate in candidates["tags"]] == [("rye",), ("tart",)]


async def test_the_evidence_holds_the_written_value(extractor: Extractor) -> None:
    candidates = await extract(extractor, SLIP)

    written = {"vendor": "Harbour Light Bakery", "agreement_date": "2031-05-28", "total": "15.20", "paid": "yes"}
    evidence = {name: SLIP[candidates[name][0].start : candidates[name][0].end] for name in written}
    assert {name: value for name, value in written.items() if value not in evidence[name]} == {}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
async def test_every_candidate_fits_its_field_and_has_its_evidence_within_the_text(
    extractor: Extractor, text: str
) -> None:
    await extract(extractor, text)
    await extract(extractor, text, schema=OTHER_SCHEMA)


@every_extractor
@settings(deadline=None)
@given(title=texts, text=texts)
async def test_any_title_and_text_are_read(build_extractor: ExtractorFactory, title: str, text: str) -> None:
    await extract(build_extractor(), text, title=title)


@pytest.mark.parametrize("piece", ["a", "1", " ", "12.50 total ", "laws of ", "A. ", "the ", "(", "May 3 ", "Inc, "])
async def test_a_long_line_of_anything_is_read(extractor: Extractor, piece: str) -> None:
    await extract(extractor, piece * (50_000 // len(piece)))


async def test_a_line_of_a_megabyte_is_read(extractor: Extractor) -> None:
    await extract(extractor, ("Total \x00 12.50 by and between A, Inc. and " * 30_000)[:1_000_000])


@pytest.mark.parametrize("text", ["", " \n\t "])
async def test_a_document_without_words_has_no_candidates(extractor: Extractor, text: str) -> None:
    assert await extract(extractor, text) == {}


async def test_a_schema_without_fields_has_no_candidates(extractor: Extractor) -> None:
    assert await extract(extractor, SLIP, schema=Schema(bucket=BucketId("papers"))) == {}


async def test_only_the_schema_says_which_values_are_read(extractor: Extractor) -> None:
    tags = Schema(bucket=BucketId("papers"), fields=(SCHEMA.by_name[FieldName("tags")],))

    assert (await extract(extractor, SLIP, schema=tags)).keys() == {"tags"}


async def test_the_same_document_has_the_same_candidates_whatever_was_read_before(extractor: Extractor) -> None:
    first = await extract(extractor, SLIP, title="Slip")
    for text, schema in ((LEASE, SCHEMA), (SLIP, OTHER_SCHEMA), ("", SCHEMA)):
        await extract(extractor, text, schema=schema)

    assert await extract(extractor, SLIP, title="Slip") == first


async def test_concurrent_calls_do_not_affect_each_other(extractor: Extractor) -> None:
    calls = [(text, schema) for text in (SLIP, LEASE, "") for schema in (SCHEMA, OTHER_SCHEMA)] * 2
    expected = [await extract(extractor, text, schema=schema) for text, schema in calls]

    concurrent = await asyncio.gather(*(extract(extractor, text, schema=schema) for text, schema in calls))

    assert concurrent == expected


async def test_the_extractor_still_works_after_a_cancelled_call(extractor: Extractor) -> None:
    expected = await extract(extractor, SLIP)
    call = asyncio.ensure_future(extract(extractor, LEASE))
    await asyncio.sleep(0)
    call.cancel()
    await asyncio.wait([call])

    assert await extract(extractor, SLIP) == expected
