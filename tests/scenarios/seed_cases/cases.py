"""The six cases of the earlier designs, as dialogues. Expected results come from the generator's records."""

import csv
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any as Json

from bot.demo.corpus import DemoCorpus
from tests.agent.model.plan_outputs import a_condition, a_part, a_plan_output
from tests.scenarios.seed_cases.model_stage import ModelDialogue, ModelStage, cited_pages, labels_of, total_of
from tests.scenarios.seed_cases.scripted_replies import PlanReply, ScriptedSentence, WrittenReply
from tests.scenarios.truth import (
    Condition,
    PlainRecord,
    absent,
    at_least,
    during,
    equal,
    has_flag,
    has_members,
    has_no_members,
    more_than,
    page_of,
    plain_records,
    records_meeting,
)

CasePlay = Callable[[ModelDialogue, DemoCorpus], Awaitable[None]]
_FACET_KINDS = ("filter", "more", "missing")


def records_of(corpus: DemoCorpus, bucket: str, *conditions: Condition) -> list[PlainRecord]:
    return records_meeting(plain_records(corpus, bucket), conditions)


def record_of(corpus: DemoCorpus, bucket: str, *conditions: Condition) -> PlainRecord:
    [record] = records_of(corpus, bucket, *conditions)
    return record


def page_with(record: PlainRecord, words: str) -> tuple[str, int | None]:
    """The document, and its page that holds `words`, as a citation names them."""
    return record["doc_id"], page_of(record, record["text"].index(words))


def exported_ids(result: Mapping[str, Json]) -> set[str]:
    """The ids in the one exported CSV."""
    [file] = result["files"]
    with Path(file["path"]).open(encoding="utf-8-sig", newline="") as csv_file:
        return {row["doc_id"] for row in csv.DictReader(csv_file)}


async def play_tires(dialogue: ModelDialogue, corpus: DemoCorpus) -> None:
    """A list of 1,042: asked back by vendor, narrowed by a typed year and by a click, exported."""
    tires, in_2024, redwood = equal("category", "tires"), during("date", "2024"), "Redwood Tire & Wheel"
    is_tires = a_condition("category", "is", "tires", words="tire")
    listed = await dialogue.say(
        "List every tire purchase receipt",
        PlanReply(plan=a_plan_output(a_part("list", "receipts", is_tires)), seen=('category "tires"',)),
        is_linked_by_rules=True,
    )
    assert (listed["outcome"], listed["count"]) == ("overload", 1042)
    assert len(records_of(corpus, "receipts", tires)) == 1042
    assert labels_of(listed, "filter")[0] == (
        redwood,
        len(records_of(corpus, "receipts", tires, equal("vendor", redwood))),
    )
    assert total_of(labels_of(listed, *_FACET_KINDS)) == 1042
    assert labels_of(listed, "export") == [("Export all as CSV", 1042)]

    narrowed = await dialogue.say(
        "filter to 2024 only",
        PlanReply(
            plan=a_plan_output(
                a_part("list", "receipts", is_tires, a_condition("date", "is", "2024", words="2024")),
                continues_conversation=True,
            ),
            seen=("List every tire purchase receipt -> overload, 1042 documents", '"value":"tires"'),
        ),
    )
    count = len(records_of(corpus, "receipts", tires, in_2024))
    assert (narrowed["outcome"], narrowed["count"]) == ("overload", count)
    undated = len(records_of(corpus, "receipts", tires, absent("date")))
    assert labels_of(narrowed, "missing")[-1] == ("Also those without date", count + undated)

    of_redwood = records_of(corpus, "receipts", tires, in_2024, equal("vendor", redwood))
    clicked = await dialogue.click(redwood)
    assert (clicked["outcome"], clicked["count"]) == ("answer", len(of_redwood))
    exported = await dialogue.click("Export all as CSV")
    assert exported_ids(exported) == {record["doc_id"] for record in of_redwood}


async def play_alphasolar(dialogue: ModelDialogue, corpus: DemoCorpus) -> None:
    """A value of a field, one that only the text has, one that is nowhere, and an empty set."""
    panel = record_of(corpus, "panels", equal("model", "AS-340-009"))
    is_panel = a_condition("model", "is", "AS-340-009", words="AS-340-009")
    of_maker = a_condition("maker", "is", "AlphaSolar", words="AlphaSolar")
    panels = records_of(corpus, "panels", equal("maker", "AlphaSolar"))

    which = await dialogue.say(
        "What is the width of the AlphaSolar panel?",
        PlanReply(plan=a_plan_output(a_part("values", "panels", of_maker, fields=["width"])), seen=("AlphaSolar",)),
        is_linked_by_rules=True,
    )
    assert which["outcome"] == "ambiguous"
    offered = labels_of(which, "document", "more")
    assert total_of(offered) == len(panels) and all(count for _, count in offered)  # noqa: PT018

    width = await dialogue.say(
        "How wide is the AS-340-009 of AlphaSolar?",
        PlanReply(
            plan=a_plan_output(a_part("values", "panels", is_panel, of_maker, fields=["width"])),
            seen=('"AS-340-009" may be panels.model "AS-340-009" (1 document)',),
        ),
    )
    assert f"**{panel['width']} mm**" in width["text"]
    assert cited_pages(width) == [page_with(panel, "Width:")]

    heat = "By how much does the output of the AS-340-009 fall when it gets hot?"
    falls = "The output falls by 0.35 % for each degree above 25 °C."
    fall = await dialogue.say(
        heat,
        PlanReply(
            plan=a_plan_output(
                a_part("passages", "panels", is_panel, search_queries=["output falls for each degree of temperature"])
            )
        ),
        WrittenReply(
            question=heat,
            sentences=(ScriptedSentence(text="Its output falls by 0.35 % for each degree above 25 °C.", proof=falls),),
        ),
    )
    assert fall["text"].startswith("Its output falls by 0.35 % for each degree above 25 °C.")
    assert cited_pages(fall) == [page_with(panel, falls)]

    wider = await dialogue.say(
        "Which AlphaSolar panels are wider than 2 m?",
        PlanReply(
            plan=a_plan_output(
                a_part("list", "panels", of_maker, a_condition("width", "more_than", "2 m", words="wider than 2 m"))
            )
        ),
        is_linked_by_rules=True,
    )
    widest = max(record["width"] for record in panels)
    assert (wider["outcome"], wider["count"]) == ("no_results", 0)
    assert labels_of(wider) == [
        (f"Width: from {widest:,} mm", len([record for record in panels if record["width"] >= widest])),
        ("No minimum width", len(panels)),
    ]
    assert wider["attempts"][0]["documents"] == 0
    widened = await dialogue.click("No minimum width")
    assert (widened["outcome"], widened["count"]) == ("answer", len(panels))


async def play_missing_fact(dialogue: ModelDialogue, corpus: DemoCorpus) -> None:
    """What the documents do not say: a plain "not found" after two calls, since a simple question has no third."""
    question = "Who delivers the AS-340-009?"
    is_panel = a_condition("model", "is", "AS-340-009", words="AS-340-009")
    missing = ("who delivers it",)
    unanswered = await dialogue.say(
        question,
        PlanReply(plan=a_plan_output(a_part("passages", "panels", is_panel, search_queries=["delivery carrier"]))),
        WrittenReply(question=question, missing=missing, queries=("shipped by a haulier", "delivery time")),
    )
    assert (unanswered["outcome"], unanswered["citations"], unanswered["choices"]) == ("no_results", [], [])
    assert "I did not find an answer in “AlphaSolar AS-340-009 data sheet”." in unanswered["text"]
    assert "I did not find: who delivers it." in unanswered["text"]
    assert len(records_of(corpus, "panels", equal("model", "AS-340-009"))) == 1


async def play_long_manual(dialogue: ModelDialogue, corpus: DemoCorpus) -> None:
    """A summary of a manual of seven pages from its segments, and its clarification when a year leaves nothing."""
    manual = record_of(corpus, "manuals", equal("product", "B-120"))
    is_manual = a_condition("product", "is", "B-120", words="B-120")
    question = "Summarise the manual of the B-120"
    facts = (
        ("Only trained electricians may open the cabinet.", "Only trained electricians may open the battery cabinet."),
        ("The terminal bolts are tightened to 25 Nm.", "Tighten the terminal bolts to 25 Nm"),
        ("The air filter is replaced every 3 months.", "Replace the air filter every 3 months"),
        ("The fans are exchanged after 33000 operating hours.", "Exchange the fans after 33000 operating hours."),
        ("Alarm E08 means that the door contact is open.", "Alarm E08 means that the door contact is open."),
    )
    summary = await dialogue.say(
        question,
        PlanReply(plan=a_plan_output(a_part("summary", "manuals", is_manual, search_queries=["what the manual says"]))),
        WrittenReply(
            question=question,
            sentences=tuple(ScriptedSentence(text=text, proof=proof) for text, proof in facts),
            layout="list",
        ),
    )
    assert (summary["outcome"], summary["count"], summary["route"]) == ("answer", 1, "long_text")
    assert all(text in summary["text"] for text, _ in facts)
    assert cited_pages(summary) == [page_with(manual, proof) for _, proof in facts]

    undated = await dialogue.say(
        "Summarise the safety part of the B-120 manual of 2025",
        PlanReply(
            plan=a_plan_output(
                a_part(
                    "summary", "manuals", is_manual, a_condition("revised", "is", "2025", words="of 2025"),
                    search_queries=["safety"],
                )
            )
        ),
    )  # fmt: skip
    assert (undated["outcome"], undated["count"]) == ("no_results", 0)
    assert labels_of(undated) == [
        ("Any product", len(records_of(corpus, "manuals", during("revised", "2025")))),
        ("Revised at any time", 1),
    ]
    # The click searches at once; the model writes the summary from what it finds.
    again = await dialogue.click(
        "Revised at any time",
        WrittenReply(
            question="Summarise the safety part of the B-120 manual of 2025",
            sentences=(ScriptedSentence(text=facts[0][0], proof=facts[0][1]),),
        ),
    )
    assert cited_pages(again) == [page_with(manual, facts[0][1])]

    several = await dialogue.say(
        "Summarise all manuals", PlanReply(plan=a_plan_output(a_part("summary", "manuals", search_queries=["manual"])))
    )
    count = len(records_of(corpus, "manuals"))
    assert (several["outcome"], several["count"]) == ("overload", count)
    assert total_of(labels_of(several, *_FACET_KINDS)) == count


async def play_acme(dialogue: ModelDialogue, corpus: DemoCorpus) -> None:
    """The contracts first, then the clause of one of them, then a value of it."""
    of_acme = has_members("parties", "ACME Corporation")
    regarding = [record for record in records_of(corpus, "contracts", of_acme) if "ermination" in record["text"]]
    listed = await dialogue.say(
        "Find ACME contracts regarding termination",
        PlanReply(
            plan=a_plan_output(
                a_part(
                    "list", "contracts", a_condition("parties", "is", "ACME Corporation", words="ACME"),
                    a_condition("text", "contains", "termination", words="regarding termination"),
                )
            ),
            seen=('"ACME" may be contracts.parties "ACME Corporation" (64 documents)',),
        ),
    )  # fmt: skip
    assert (listed["outcome"], listed["count"]) == ("answer", len(regarding))
    assert set(listed["doc_ids"]) == {record["doc_id"] for record in regarding}
    assert labels_of(listed, "export") == [("Export all as CSV", len(regarding))]

    [contract] = [record for record in regarding if "C-1018" in record["title"]]
    clause = "Either party may terminate this contract by notice of 45 days in writing."
    is_contract = a_condition("title", "contains", "C-1018", words="C-1018")
    full_question = "What does contract C-1018 say about termination?"
    said = await dialogue.say(
        "And what does C-1018 say about it?",
        PlanReply(
            plan=a_plan_output(
                a_part(
                    "passages", "contracts", is_contract, question=full_question,
                    search_queries=["termination of the contract by notice"],
                ),
                continues_conversation=True,
            ),
            seen=("Find ACME contracts regarding termination -> answer, 64 documents",),
        ),
        WrittenReply(
            question=full_question,
            sentences=(
                ScriptedSentence(text="Either party may terminate it by notice of 45 days in writing.", proof=clause),
            ),
        ),
    )  # fmt: skip
    assert said["text"].startswith("Either party may terminate it by notice of 45 days in writing.")
    assert cited_pages(said) == [page_with(contract, clause)]

    law = await dialogue.say(
        "Which law governs that contract?",
        PlanReply(
            plan=a_plan_output(
                a_part(
                    "values", "contracts", a_condition("title", "contains", "C-1018"), fields=["governing_law"],
                    question="Which law governs contract C-1018?",
                ),
                continues_conversation=True,
            ),
            seen=("C-1018",),
        ),
    )  # fmt: skip
    assert "**England and Wales**" in law["text"]
    assert cited_pages(law) == [page_with(contract, "governed by the law of")]


async def play_transistors(dialogue: ModelDialogue, corpus: DemoCorpus) -> None:
    """A rating with its unit, written in another unit than the field has, narrowed by a typed case."""
    npn, rating = equal("polarity", "NPN"), at_least("power", 1.0)
    is_npn = a_condition("polarity", "is", "NPN", words="NPN")
    rated = records_of(corpus, "parts", npn, rating)
    listed = await dialogue.say(
        "NPN transistors that can take 1000 mW or more",
        PlanReply(
            plan=a_plan_output(
                a_part("list", "parts", is_npn, a_condition("power", "at_least", "1000 mW", words="1000 mW or more"))
            ),
            seen=("power: number in W",),
        ),
    )
    unrated = len(records_of(corpus, "parts", npn, absent("power")))
    assert (listed["outcome"], listed["count"]) == ("overload", len(rated))
    assert ("Also those without power dissipation", len(rated) + unrated) in labels_of(listed)
    assert labels_of(listed, "export") == [("Export all as CSV", len(rated))]

    in_metal = [record for record in rated if record.get("package") == "TO-3"]
    counted = await dialogue.say(
        "How many of them come in a TO-3 case?",
        PlanReply(
            plan=a_plan_output(
                a_part(
                    "count", "parts", is_npn, a_condition("power", "at_least", "1 W"),
                    a_condition("package", "is", "TO-3", words="TO-3 case"),
                ),
                continues_conversation=True,
            )
        ),
    )  # fmt: skip
    assert (counted["outcome"], counted["count"]) == ("answer", len(in_metal))

    strongest = await dialogue.say(
        "Which NPN transistor takes the most current?",
        PlanReply(plan=a_plan_output(a_part("list", "parts", is_npn, order_by="current", is_descending=True, limit=1))),
    )
    highest = max(record["current"] for record in records_of(corpus, "parts", npn) if "current" in record)
    assert strongest["outcome"] == "answer"
    assert strongest["doc_ids"][0] in {
        record["doc_id"] for record in records_of(corpus, "parts", npn, at_least("current", highest))
    }


async def play_solvents(dialogue: ModelDialogue, corpus: DemoCorpus) -> None:
    """A vague word with two meanings: both are offered with their counts, and the chosen one is narrowed."""
    untoxic = records_of(corpus, "chemicals", has_no_members("hazards", "toxic"))
    harmless = [record for record in records_of(corpus, "chemicals") if not record.get("hazards")]
    vague = await dialogue.say(
        "low-toxicity solvents",
        PlanReply(
            plan=a_plan_output(
                a_part("list", "chemicals", a_condition("hazards", "is_not", "toxic", words="low-toxicity"), id="a"),
                a_part(
                    "list", "chemicals", a_condition("hazards", "missing", words="low-toxicity"), id="b",
                    alternative_to="a",
                ),
            ),
            seen=('"toxicity" may be chemicals.hazards "toxic"',),
        ),
    )  # fmt: skip
    assert vague["outcome"] == "ambiguous"
    assert labels_of(vague, "reading") == [
        ("Without toxic among the hazards", len(untoxic)),
        ("With no hazards", len(harmless)),
    ]

    chosen = await dialogue.click("Without toxic among the hazards")
    assert (chosen["outcome"], chosen["count"]) == ("overload", len(untoxic))
    mixing = records_meeting(untoxic, [has_flag("water_miscible")])
    narrowed = await dialogue.say(
        "only those that mix with water",
        PlanReply(
            plan=a_plan_output(
                a_part(
                    "list", "chemicals", a_condition("hazards", "is_not", "toxic"),
                    a_condition("water_miscible", "is", "true", words="mix with water"),
                ),
                continues_conversation=True,
            ),
            seen=("# Last plan",),
        ),
    )  # fmt: skip
    assert (narrowed["outcome"], narrowed["count"]) == ("answer", len(mixing))
    assert set(narrowed["doc_ids"]) == {record["doc_id"] for record in mixing}

    boiling = records_meeting(mixing, [more_than("boiling_point", 100)])
    hot = await dialogue.say(
        "And of these, what boils above 100 °C?",
        PlanReply(
            plan=a_plan_output(
                a_part(
                    "list", "chemicals", a_condition("hazards", "is_not", "toxic"),
                    a_condition("water_miscible", "is", "true"),
                    a_condition("boiling_point", "more_than", "100 °C", words="above 100 °C"),
                ),
                continues_conversation=True,
            )
        ),
    )  # fmt: skip
    assert (hot["outcome"], set(hot["doc_ids"])) == ("answer", {record["doc_id"] for record in boiling})


CASES: Mapping[str, CasePlay] = {
    "tires": play_tires,
    "AlphaSolar": play_alphasolar,
    "AlphaSolar, not said": play_missing_fact,
    "B-120 manual": play_long_manual,
    "ACME contracts": play_acme,
    "NPN transistors": play_transistors,
    "low-toxicity solvents": play_solvents,
}


async def play_case(stage: ModelStage, case: str, corpus: DemoCorpus) -> None:
    await CASES[case](stage.open_dialogue(case), corpus)
