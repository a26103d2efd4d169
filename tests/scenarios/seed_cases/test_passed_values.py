"""A value that one part finds is passed on to the next, once: a later click uses the value and not the question."""

import json
from pathlib import Path

import pytest

from bot.demo.corpus import DemoCorpus
from storage.ingest.pipeline import ingest_files
from tests.agent.model.plan_outputs import a_condition, a_part, a_plan_output
from tests.scenarios.seed_cases.cases import records_of
from tests.scenarios.seed_cases.model_stage import MAX_COMPLEX_CALLS, ModelStage, labels_of
from tests.scenarios.seed_cases.scripted_replies import PlanReply
from tests.scenarios.truth import PlainRecord, during, equal

pytestmark = pytest.mark.xdist_group("seed-cases")

QUESTION = "Which vendor has the highest total in USD, and what are its receipts?"
_LARGEST_SUM = {"functions": ["sum"], "fields": ["total"], "group_by": "vendor", "is_descending": True, "limit": 1}


def plan_in_sequence() -> PlanReply:
    in_dollars = a_condition("currency", "is", "USD", words="in USD")
    of_vendor = a_condition("vendor", "is", of_part="v", part_field="vendor", words="its")
    return PlanReply(
        plan=a_plan_output(
            a_part(
                "numbers", "receipts", in_dollars, id="a", question="Which vendor has the highest total in USD?",
                **_LARGEST_SUM,
            ),
            a_part("helper", "receipts", in_dollars, id="v", **_LARGEST_SUM),
            a_part(
                "list", "receipts", of_vendor, id="b",
                question="What are the receipts of the vendor with the highest total in USD?",
            ),
            combine="in_sequence",
        )
    )  # fmt: skip


def largest_vendor(corpus: DemoCorpus) -> str:
    totals: dict[str, float] = {}
    for record in records_of(corpus, "receipts", equal("currency", "USD")):
        if "vendor" in record and "total" in record:
            totals[record["vendor"]] = totals.get(record["vendor"], 0.0) + record["total"]
    return max(totals, key=lambda vendor: totals[vendor])


async def add_receipt(stage: ModelStage, corpus: DemoCorpus, folder: Path, record: PlainRecord) -> None:
    file = folder / "receipts.jsonl"
    file.write_text(json.dumps(record), encoding="utf-8")
    report = await ingest_files(
        stage.bot.index, [file], extractor=stage.bot.extractor, schema=corpus.buckets["receipts"].schema
    )
    assert report.failed == 0


async def test_the_value_of_the_first_part_is_that_of_the_second_also_after_a_click(
    stage: ModelStage, demo_corpus: DemoCorpus, tmp_path: Path
) -> None:
    vendor = largest_vendor(demo_corpus)
    receipts = records_of(demo_corpus, "receipts", equal("vendor", vendor))
    of_2022 = [record for record in receipts if record in records_of(demo_corpus, "receipts", during("date", "2022"))]
    dialogue = stage.open_dialogue("in sequence")

    asked = await dialogue.say(QUESTION, plan_in_sequence(), max_calls=MAX_COMPLEX_CALLS)

    assert asked["groups"][0]["label"] == vendor
    assert (asked["outcome"], [leg["count"] for leg in asked["legs"]][1]) == ("overload", len(receipts))
    assert ("2022", len(of_2022)) in labels_of(asked)

    other_vendor = {
        "doc_id": "rcp-late", "title": "Late receipt", "text": "A late receipt.", "bucket": "receipts",
        "metadata": {"vendor": "Mesa Wheel Works", "currency": "USD", "total": 9_000_000.0, "date": "2022-05-01"},
    }  # fmt: skip
    await add_receipt(stage, demo_corpus, tmp_path, other_vendor)
    clicked = await dialogue.click("2022")

    assert clicked["legs"][1]["count"] == len(of_2022)
    assert set(clicked["legs"][1]["doc_ids"]) == {record["doc_id"] for record in of_2022}

    again = await stage.open_dialogue("in sequence").say(QUESTION, plan_in_sequence(), max_calls=MAX_COMPLEX_CALLS)
    assert again["groups"][0]["label"] == "Mesa Wheel Works"


async def test_a_follow_up_narrows_what_the_value_has_led_to(stage: ModelStage, demo_corpus: DemoCorpus) -> None:
    vendor = largest_vendor(demo_corpus)
    dialogue = stage.open_dialogue("in sequence")
    await dialogue.say(QUESTION, plan_in_sequence(), max_calls=MAX_COMPLEX_CALLS)

    paid_cash = a_condition("payment", "is", "cash", words="paid in cash")
    narrowed = await dialogue.say(
        "Which of these were paid in cash?",
        PlanReply(
            plan=a_plan_output(
                a_part("list", "receipts", a_condition("vendor", "is", vendor), paid_cash), continues_conversation=True
            ),
            seen=(f'"value":"{vendor}"',),  # the planner is shown the value, not how it was found
        ),
    )

    expected = records_of(demo_corpus, "receipts", equal("vendor", vendor), equal("payment", "cash"))
    assert (narrowed["outcome"], narrowed["count"]) == ("answer", len(expected))
