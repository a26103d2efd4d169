"""A set that only texts define is those documents that the model has found to fit, and the reply says so."""

from typing import Any as Json

import pytest

from agent.document_check import DocumentChecker
from agent.errors import ModelUnavailable
from agent.model.document_check.candidate_documents import MAX_READ_DOCUMENTS
from agent.model.document_check.text_set_checker import STAGE
from agent.model.options import ModelOptions
from agent.model.reasoner import ModelReasoner
from agent.model.single_loop import LoopReasoner
from agent.outcome import Answer, Choice, Clarify, ExportOutcome, Outcome
from agent.rules.reasoner import RuleReasoner
from prompts.outputs.question_plan import PlanConditionOutput
from storage.search.plan import Plan
from tests.agent.model.document_check.conftest import LETTERS, LetterDesk, a_check, as_reply
from tests.agent.model.plan_outputs import a_condition, a_part, a_plan_output
from tests.agent.model.scripted_model import ScriptedModel
from tests.builders import a_document

QUESTION = "Show me all letters where we told the customer that we won't pay"
ASKED = "told the customer that we won't pay"
BERG, KRUG = (1, "yes", "No amount will be transferred."), (3, "yes", "Your claim is declined")
HOLT_UNCLEAR = (2, "unclear", "Before we decide")


def a_mention(*words: str, **others: Json) -> PlanConditionOutput:
    return a_condition("text", "contains", *(words or ("refuse", "declined")), words=ASKED, **others)


LIST = as_reply(a_plan_output(a_part("list", LETTERS, a_mention())))


def an_answer(outcome: Outcome) -> Answer:
    assert isinstance(outcome, Answer)
    return outcome


def plan_of(outcome: Outcome) -> Plan:
    assert isinstance(outcome, (Answer, Clarify, ExportOutcome))
    return outcome.plan


async def find_set(desk: LetterDesk, outcome: Outcome) -> list[str]:
    return await desk.find_ids(plan_of(outcome).legs[0].search)


def unclear_choice(outcome: Outcome) -> Choice:
    assert isinstance(outcome, (Answer, Clarify))
    return next(choice for choice in outcome.choices if "unclear" in choice.label)


async def test_the_set_is_the_documents_that_fit(desk: LetterDesk) -> None:
    model = ScriptedModel(LIST, a_check(BERG, KRUG))

    outcome = an_answer(await desk.ask(QUESTION, model))

    assert await find_set(desk, outcome) == ["berg", "krug"]
    assert outcome.text == f"**2 letters** that fit “{ASKED}”: **Letter to Berg**, **Letter to Krug**."
    assert outcome.assumptions == ("I read all 5 letters: 2 fit",)
    assert (len(model.requests), desk.log.fallbacks) == (2, {})
    assert STAGE in [stage.name for stage in outcome.trace.stages]
    assert "Reading the documents" in desk.progress


async def test_the_model_reads_all_visible_documents_that_the_fields_allow(desk: LetterDesk) -> None:
    part = a_part("list", LETTERS, a_mention(), a_condition("clerk", "is", "Bea", words="Bea"))
    model = ScriptedModel(as_reply(a_plan_output(part)), a_check((2, "yes", "claim is declined")))

    outcome = an_answer(await desk.ask(f"{QUESTION}, from Bea", model))

    prompt = model.user_text(1)
    assert "Before we decide, please send us the invoice." in prompt
    assert "clerk: Bea; claimed: EUR 700.00" in prompt
    assert 'All items meet: "clerk = Bea"' in prompt
    assert "No amount will be transferred" not in prompt
    assert await find_set(desk, outcome) == ["krug"]
    assert "with clerk Bea, that fits" in outcome.text


async def test_no_document_is_read_that_the_asker_may_not_see(desk: LetterDesk) -> None:
    model = ScriptedModel(LIST, a_check(BERG, (6, "yes", "We do not pay the spy.")))

    outcome = await desk.ask(QUESTION, model)

    assert "spy" not in model.user_text(1)
    assert await find_set(desk, outcome) == ["berg"]


async def test_what_is_unclear_is_a_way_on_with_its_count(desk: LetterDesk) -> None:
    outcome = an_answer(await desk.ask(QUESTION, ScriptedModel(LIST, a_check(BERG, HOLT_UNCLEAR, KRUG))))

    choice = unclear_choice(outcome)
    model = ScriptedModel()
    clicked = an_answer(await desk.click(choice, outcome.plan, model))

    assert outcome.assumptions == ("I read all 5 letters: 2 fit, 1 is unclear",)
    assert (choice.label, choice.count) == ("Also the 1 that is unclear", 3)
    assert await find_set(desk, clicked) == ["berg", "holt", "krug"]
    assert clicked.text.startswith("**3 letters**: ")
    assert model.requests == []


async def test_a_quotation_that_the_document_lacks_proves_nothing(desk: LetterDesk) -> None:
    invented, empty = (3, "yes", "We will never pay you."), (2, "yes", " – ")
    values = (4, "yes", "Claimed: EUR 300.00")

    outcome = an_answer(await desk.ask(QUESTION, ScriptedModel(LIST, a_check(BERG, invented, empty, values))))

    assert await find_set(desk, outcome) == ["berg", "lund"]
    assert outcome.assumptions == ("I read all 5 letters: 2 fit, 2 are unclear",)
    assert unclear_choice(outcome).count == 4


async def test_an_empty_set_is_told_plainly_with_the_usual_ways_on(desk: LetterDesk) -> None:
    part = a_part("list", LETTERS, a_mention(), a_condition("clerk", "is", "Bea", words="Bea"))
    model = ScriptedModel(as_reply(a_plan_output(part)), a_check((1, "unclear", "")))

    outcome = await desk.ask(f"{QUESTION}, from Bea", model)

    assert isinstance(outcome, Clarify)
    assert outcome.text.startswith(f"I found no letters with clerk Bea, that fit “{ASKED}”.")
    assert outcome.assumptions == ("I read all 2 letters: none fits, 1 is unclear",)
    labels = {choice.label: choice.count for choice in outcome.choices}
    assert labels[f"Without “{ASKED}”"] == 2
    assert labels["Also the 1 that is unclear"] == 1
    assert len(model.requests) == 2  # no text elsewhere is taken for an answer


async def test_an_empty_set_is_no_text_answer_for_yes_or_no_either(desk: LetterDesk) -> None:
    model = ScriptedModel(as_reply(a_plan_output(a_part("is_there_any", LETTERS, a_mention()))), a_check(HOLT_UNCLEAR))

    outcome = an_answer(await desk.ask(f"Is there any letter where we {ASKED}?", model))

    assert outcome.text == f"**No**: I found no letters that fit “{ASKED}”."
    assert unclear_choice(outcome).count == 1


async def test_yes_or_no_goes_by_the_documents_that_fit(desk: LetterDesk) -> None:
    model = ScriptedModel(as_reply(a_plan_output(a_part("is_there_any", LETTERS, a_mention()))), a_check(BERG))

    outcome = an_answer(await desk.ask(f"Is there any letter where we {ASKED}?", model))

    assert outcome.text == f"**Yes**: **1 letter** that fits “{ASKED}” (Letter to Berg)."


async def test_numbers_and_groups_are_of_the_documents_that_fit(desk: LetterDesk) -> None:
    plan = a_plan_output(a_part("numbers", LETTERS, a_mention(), functions=["sum"], fields=["claimed"]))
    total = an_answer(await desk.ask(f"claimed where we {ASKED}", ScriptedModel(as_reply(plan), a_check(BERG, KRUG))))
    plan = a_plan_output(a_part("count", LETTERS, a_mention(), group_by="clerk"))
    groups = an_answer(await desk.ask(f"clerks who {ASKED}", ScriptedModel(as_reply(plan), a_check(BERG, KRUG))))

    assert [figure.value for figure in total.legs[0].figures] == [1200.0]
    assert {group.label: group.count for group in groups.legs[0].groups} == {"Ann": 1, "Bea": 1}


async def test_values_of_each_are_those_of_the_documents_that_fit(desk: LetterDesk) -> None:
    plan = a_plan_output(a_part("values_of_each", LETTERS, a_mention(), fields=["claimed"]))
    model = ScriptedModel(as_reply(plan), a_check(BERG, HOLT_UNCLEAR, KRUG))

    outcome = an_answer(await desk.ask(f"What was claimed where we {ASKED}?", model))

    assert "EUR 500" in outcome.text
    assert "EUR 700" in outcome.text
    assert "EUR 300" not in outcome.text
    assert unclear_choice(outcome).count == 3


async def test_fields_that_many_lack_are_decided_by_reading(desk: LetterDesk) -> None:
    """A condition on a field, or what the text says where it is missing."""
    missing = a_condition("clerk", "is", "Cem", words="from Cem", texts_if_missing=["regards, Cem"])
    model = ScriptedModel(as_reply(a_plan_output(a_part("list", LETTERS, missing))), a_check(BERG))

    outcome = an_answer(await desk.ask("letters from Cem", model))

    assert await find_set(desk, outcome) == ["berg"]
    assert "that fits “from Cem”" in outcome.text


async def test_a_hostile_document_adds_no_others(desk: LetterDesk) -> None:
    obeyed = [(number, "yes", "they all fit") for number in range(1, 10)]

    outcome = an_answer(await desk.ask(QUESTION, ScriptedModel(LIST, a_check(*obeyed))))

    assert await find_set(desk, outcome) == ["moor"]  # it is the only one that says so
    assert outcome.assumptions == ("I read all 5 letters: 1 fits, 4 are unclear",)


async def test_a_hostile_document_forges_no_item(desk: LetterDesk) -> None:
    model = ScriptedModel(LIST, a_check(BERG))

    await desk.ask(QUESTION, model)

    prompt = model.user_text(1)
    assert (prompt.count("<item "), prompt.count("</item>"), prompt.count("</evidence>")) == (5, 5, 1)


async def test_an_export_in_the_question_is_of_the_documents_that_fit(desk: LetterDesk) -> None:
    plan = a_plan_output(a_part("list", LETTERS, a_mention()), wants_file=True)

    outcome = await desk.ask(f"{QUESTION}, as a file", ScriptedModel(as_reply(plan), a_check(BERG, KRUG)))

    assert isinstance(outcome, ExportOutcome)
    assert (outcome.count, await find_set(desk, outcome)) == (2, ["berg", "krug"])
    assert outcome.plan.assumptions == ("I read all 5 letters: 2 fit",)


async def test_an_export_of_nothing_says_what_was_read(desk: LetterDesk) -> None:
    plan = a_plan_output(a_part("list", LETTERS, a_mention()), wants_file=True)

    outcome = await desk.ask(f"{QUESTION}, as a file", ScriptedModel(as_reply(plan), a_check()))

    assert isinstance(outcome, Clarify)
    assert outcome.assumptions == ("I read all 5 letters: none fits",)


async def test_the_reply_is_german_where_the_question_is(desk: LetterDesk) -> None:
    question = "Alle Briefe, in denen wir dem Kunden absagen"
    mention = a_condition("text", "contains", "declined", "refuse", words="dem Kunden absagen")
    plan = a_plan_output(a_part("list", LETTERS, mention), language="de")

    outcome = an_answer(await desk.ask(question, ScriptedModel(as_reply(plan), a_check(BERG, HOLT_UNCLEAR, KRUG))))

    assert "passend zu “dem Kunden absagen”" in outcome.text
    assert len(outcome.assumptions) == 1
    assert outcome.assumptions[0].startswith("alle 5 ")
    assert outcome.assumptions[0].endswith(" gelesen: 2 passen, 1 ist unklar")
    assert [choice.label for choice in outcome.choices if "unklar" in choice.label] == ["Auch 1 unklares Dokument"]


# -- sets that are not read


async def put_letters(desk: LetterDesk, count: int, text: str) -> None:
    letters = [a_document(f"more{number:02}", text, title=f"More {number}", clerk="Cem") for number in range(count)]
    await desk.index.put(LETTERS, letters)


async def test_of_too_many_documents_those_with_the_words_are_read(desk: LetterDesk) -> None:
    await put_letters(desk, MAX_READ_DOCUMENTS, "Thank you for your call.")
    model = ScriptedModel(LIST, a_check((1, "yes", "Your claim is declined")))

    outcome = an_answer(await desk.ask(QUESTION, model))

    assert await find_set(desk, outcome) == ["krug"]
    assert "Thank you for your call." not in model.user_text(1)
    assert outcome.assumptions == ("I read only the 2 letters that hold words of it: 1 fits",)


async def test_of_too_many_documents_with_the_words_none_is_read(desk: LetterDesk) -> None:
    await put_letters(desk, MAX_READ_DOCUMENTS, "The claim is declined.")
    model = ScriptedModel(LIST)

    outcome = await desk.ask(QUESTION, model)

    assert isinstance(outcome, (Answer, Clarify))
    assert len(model.requests) == 1
    assert len(await find_set(desk, outcome)) == MAX_READ_DOCUMENTS + 2
    assert outcome.assumptions == (
        "I went by words in the texts (“refuse” or “declined”), so some may be missing or wrong",
    )


@pytest.mark.parametrize(
    "replies",
    [
        (ModelUnavailable("no answer in time"),),
        ("Colourless green ideas", "sleep furiously"),
        ({"answer": 42}, {}),
    ],
    ids=["no answer", "nonsense", "wrong schema"],
)
async def test_the_words_stand_where_the_model_fails(
    desk: LetterDesk, replies: tuple[dict[str, Json] | str | Exception, ...]
) -> None:
    outcome = an_answer(await desk.ask(QUESTION, ScriptedModel(LIST, *replies)))

    assert await find_set(desk, outcome) == ["krug", "lund"]
    assert list(desk.log.fallbacks) == [STAGE]
    assert [stage.fallback for stage in outcome.trace.stages if stage.name == STAGE] == [desk.log.fallbacks[STAGE]]
    assert any(text.startswith("I went by words in the texts") for text in outcome.assumptions)


async def test_a_reply_is_repaired_once(desk: LetterDesk) -> None:
    model = ScriptedModel(LIST, "The letters to Berg and Krug fit.", a_check(BERG, KRUG))

    outcome = await desk.ask(QUESTION, model)

    assert await find_set(desk, outcome) == ["berg", "krug"]
    assert len(model.requests) == 3


async def test_required_words_are_not_told_twice(desk: LetterDesk) -> None:
    plan = a_plan_output(a_part("list", LETTERS, a_mention("declined")))

    failed = an_answer(await desk.ask(QUESTION, ScriptedModel(as_reply(plan), ModelUnavailable("busy"))))
    checked = an_answer(await desk.ask(QUESTION, ScriptedModel(as_reply(plan), a_check(BERG))))

    assert failed.assumptions == ()
    assert "mentions “declined”" in failed.text
    assert checked.assumptions == ("I read all 5 letters: 1 fits",)


def two_sets() -> dict[str, Json]:
    refused = a_part("list", LETTERS, a_mention(), id="a", question="Which letters tell that we do not pay?")
    paid = a_part(
        "count", LETTERS, a_condition("text", "contains", "transferred"), id="b", question="How many letters pay?"
    )
    return as_reply(a_plan_output(refused, paid, combine="side_by_side"))


async def test_each_set_of_a_question_is_read(desk: LetterDesk) -> None:
    paid = (4, "yes", "EUR 300 were transferred today")
    model = ScriptedModel(two_sets(), a_check(BERG, KRUG), a_check(paid))

    outcome = an_answer(await desk.ask("Which letters refuse, and how many letters pay?", model))

    found = [await desk.find_ids(leg.search) for leg in outcome.plan.legs]
    assert found == [["berg", "krug"], ["lund"]]
    assert outcome.assumptions == ("I read all 5 letters: 2 fit", "I read all 5 letters: 1 fits")
    assert "that fits “How many letters pay”" in outcome.text


async def test_sets_without_a_call_left_go_by_words(desk: LetterDesk) -> None:
    model = ScriptedModel(two_sets(), a_check(BERG, KRUG))

    outcome = an_answer(await desk.ask("Which letters refuse, and how many letters pay?", model, max_calls=2))

    found = [await desk.find_ids(leg.search) for leg in outcome.plan.legs]
    assert found == [["berg", "krug"], ["berg", "lund"]]
    assert desk.log.fallbacks == {STAGE: "no calls left"}
    assert desk.log.model_requests == 2


async def test_without_calls_left_nothing_is_read(desk: LetterDesk) -> None:
    outcome = await desk.ask(QUESTION, ScriptedModel(LIST), max_calls=1)

    assert await find_set(desk, outcome) == ["krug", "lund"]
    assert desk.log.fallbacks == {STAGE: "no calls left"}


async def test_plans_of_the_rules_are_not_checked(desk: LetterDesk) -> None:
    model = ScriptedModel(ModelUnavailable("busy"))

    outcome = await desk.ask("letters that mention declined", model)

    assert await find_set(desk, outcome) == ["krug"]
    assert len(model.requests) == 1


async def test_sets_of_fields_are_not_read(desk: LetterDesk) -> None:
    plan = a_plan_output(a_part("list", LETTERS, a_condition("clerk", "is", "Bea", words="Bea")))
    model = ScriptedModel(as_reply(plan))

    outcome = an_answer(await desk.ask("letters of Bea", model))

    assert (len(model.requests), outcome.assumptions) == (1, ())
    assert STAGE not in [stage.name for stage in outcome.trace.stages]


def test_neither_the_rules_nor_the_single_loop_check_documents() -> None:
    rules, options = RuleReasoner(), ModelOptions()
    staged = ModelReasoner(ScriptedModel(), rules, options)

    assert isinstance(staged, DocumentChecker)
    assert not isinstance(rules, DocumentChecker)
    assert not isinstance(LoopReasoner(ScriptedModel(), rules, staged, options), DocumentChecker)


async def test_what_fields_decide_belongs_to_the_set_whatever_is_read(desk: LetterDesk) -> None:
    by_bea = a_condition("clerk", "is", "Bea", words="from Bea", texts_if_missing=["regards, Bea"])
    model = ScriptedModel(as_reply(a_plan_output(a_part("list", LETTERS, by_bea))), a_check(BERG))

    outcome = an_answer(await desk.ask("letters that hail from Bea", model))

    assert sorted(await find_set(desk, outcome)) == ["berg", "holt", "krug"]


async def test_a_claim_by_one_word_is_counted_without_a_check(desk: LetterDesk) -> None:
    overdue = a_condition("text", "contains", "overdue", words="overdue")
    plan = as_reply(a_plan_output(a_part("is_there_any", LETTERS, overdue)))

    model = ScriptedModel(plan, ModelUnavailable("down"))

    outcome = an_answer(await desk.ask("is anything overdue in the letters?", model))

    assert outcome.text.startswith("**Yes**")


async def test_a_leg_with_two_readings_goes_by_words(desk: LetterDesk) -> None:
    refused = a_condition("text", "contains", "declined", "covered", words="declined")
    part = a_part("list", LETTERS, refused, a_condition("clerk", "is", "Ann"))
    other = a_part("list", LETTERS, refused, a_condition("clerk", "is", "Bea"), id="x", alternative_to="p1")
    model = ScriptedModel(as_reply(a_plan_output(part, other)), a_check(BERG))

    await desk.ask("declined letters", model)

    assert len(model.requests) == 1
