"""Kinds of value that answer a question, and where texts hold them."""

import pytest

from agent.evidence.asked_values import (
    TextValue,
    asks_for_past_amount,
    asks_for_past_time,
    asks_for_total,
    find_full_names,
    find_new_values,
    holds_extension,
    holds_known_name,
    holds_single_name,
    kinds_asked_for,
    names_owner,
    states_demand,
    states_rate,
    states_rule,
    states_total,
)
from agent.evidence.english_glosses import glosses_for
from agent.evidence.text_lines import words_of
from agent.retrieval.answer_type import AnswerType


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("until what time is the reading room open", TextValue.TIME_OF_DAY),
        ("how quickly must a parcel be picked up", AnswerType.SPAN),
        ("deadline for the essay prize?", AnswerType.DAY),
        ("which number do I ring about a lost parcel", TextValue.PHONE_NUMBER),
        ("what does a porter earn", AnswerType.MONEY),
        ("whats the weekly pay of a porter", AnswerType.MONEY),
        ("what is the extension of the verger", TextValue.PHONE_NUMBER),
        ("which extension do I call", TextValue.PHONE_NUMBER),
        ("til when must it be paid", TextValue.TIME_OF_DAY),
        ("I was called out at night. When do I start again?", TextValue.TIME_OF_DAY),
        ("up to what amount may I buy", AnswerType.MONEY),
        ("on how much bar do we fill the boiler", AnswerType.NUMBER),
        ("what's the name of the driver", AnswerType.NAME),
        ("Last day to hand in the essays?", AnswerType.DAY),
        ("what's the latest date for a refund", AnswerType.DAY),
        ("what do I get per km", AnswerType.MONEY),
    ],
)
def test_the_wording_says_which_kind_of_value_is_asked_for(question: str, kind: AnswerType | TextValue) -> None:
    assert kind in kinds_asked_for(question)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("until what time is the reading room open", TextValue.TIME_OF_DAY),
        ("how much is it per night", AnswerType.MONEY),
        ("what's the rate per mile?", AnswerType.MONEY),
        ("what's the most a choir can get from the bell fund?", AnswerType.MONEY),
    ],
)
def test_a_time_of_day_and_a_price_for_each_are_answered_by_nothing_else(
    question: str, kind: AnswerType | TextValue
) -> None:
    assert kinds_asked_for(question) == {kind}


def test_no_span_of_time_is_taken_off_a_bill() -> None:
    assert kinds_asked_for("how much can we take off the organ builder's bill?") == {AnswerType.MONEY, AnswerType.SHARE}


@pytest.mark.parametrize("question", ["I lost the tower key!! who do I have to call?", "who should we ring first?"])
def test_a_name_and_a_number_tell_whom_to_call(question: str) -> None:
    assert kinds_asked_for(question) == {AnswerType.NAME, TextValue.PHONE_NUMBER}


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("what do the tenants bring in altogether", True),
        ("how many seats are there in total", True),
        ("what does a seat cost", False),
        ("what is the overall goal", False),
    ],
)
def test_a_total_is_asked_for_in_words(question: str, asks: bool) -> None:
    assert asks_for_total(question) is asks


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("how much have we paid out for missed visits", True),
        ("what did the roof jobs cost", True),
        ("how much do we have to pay for a missed visit", False),
        ("how much is paid for a missed visit", False),
        ("what have I to bring", False),
    ],
)
def test_an_amount_of_the_past_is_asked_for_by_the_tense(question: str, asks: bool) -> None:
    assert asks_for_past_amount(question) is asks


def test_what_happens_in_a_case_is_a_rule() -> None:
    assert states_rule("Where we miss a visit, we pay the tenant twenty-five pounds.")
    assert states_rule("The estate will credit the whole lot.")
    assert not states_rule("We paid the tenant twenty-five pounds.")


def test_a_fee_for_each_month_is_a_rate_and_no_total() -> None:
    assert states_rate("The licence costs **95 euros** a month.")
    assert not states_total("The licence costs **95 euros** a month.")
    assert states_total("Together they pay 950 euros a month.")
    assert not states_rate("They paid 950 euros.")


def test_a_relative_clause_asks_for_no_name() -> None:
    assert kinds_asked_for("the letters from people who froze in the nave") == frozenset()


@pytest.mark.parametrize(
    ("text", "is_labelled", "language"),
    [
        ("Ada", True, "en"),
        ("The keys are with Mr Moor.", False, "en"),
        ("Zuständig ist Zacherl.", False, "de"),
    ],
)
def test_a_name_of_one_word_is_found(text: str, is_labelled: bool, language: str) -> None:
    assert holds_single_name(text, {"keys"}, glosses_for(language), is_labelled=is_labelled)


def test_a_german_noun_is_no_name() -> None:
    assert not holds_single_name("Die Heizung ist warm.", {"keys"}, glosses_for("de"), is_labelled=False)


def test_a_short_number_under_a_heading_of_telephones_is_an_extension() -> None:
    assert holds_extension("Codes | place | extension", "| Yard | 1170 |")
    assert not holds_extension("Codes | place | price", "| Yard | 1170 |")


def test_a_question_for_a_reason_asks_for_no_kind_of_value() -> None:
    assert kinds_asked_for("why did the organ stop when it rained") == frozenset()


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Loans end at noon.", ["noon"]),
        ("The vestry is swept twice a week.", ["twice a week"]),
        ("Order before six, please.", ["before six"]),
        ("Die Halle ist bis 18 Uhr offen.", ["18 Uhr"]),
        ("La salle ferme à 18h30.", ["18h30"]),
        ("Return it within ten days.", ["ten days"]),
        ("Return it within three market days.", ["three market days"]),
        ("It costs 90 euros per week.", []),
        ("From the fourth market day on a permit is needed.", []),
        ("From the fourth calendar day on a permit is needed.", ["fourth calendar day"]),
        ("Der Antrag liegt vier Wochen vorher vor.", ["vier Wochen"]),
    ],
)
def test_times_are_found_in_words_and_in_figures(text: str, values: list[str]) -> None:
    question = "when must it be done"

    spans = find_new_values(text, kinds_asked_for(question), question, words_of(question))

    assert [text[start:end] for start, end in spans] == values


def test_a_value_that_the_question_holds_is_not_new() -> None:
    question = "when does the loan of 3 May end"

    assert not find_new_values("Lent on 3 May.", kinds_asked_for(question), question, words_of(question))


def test_a_title_in_quotation_marks_is_no_name_of_somebody() -> None:
    question = "who was on duty"

    assert not find_new_values('We saw "The Winter Garden" in May.', {AnswerType.NAME}, question, words_of(question))


def test_a_month_after_a_preposition_is_no_name() -> None:
    question = "who tunes the organ"

    assert not find_new_values("From November nobody does.", {AnswerType.NAME}, question, words_of(question))


def test_a_small_amount_is_an_amount_of_money() -> None:
    question = "what does a candle cost"

    assert find_new_values("A candle costs 15 cents.", {AnswerType.MONEY}, question, words_of(question)) == [(15, 23)]


def test_a_date_is_no_phone_number() -> None:
    question = "which number do I ring"

    assert not find_new_values("Rung on 2024-03-01.", {TextValue.PHONE_NUMBER}, question, words_of(question))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A pew cushion costs 935.00 €.", "935.00 €"),
        ("Ein Sitzkissen kostet 8.450 € im Jahr.", "8.450 €"),
        ("The bell rope cost 40£ at the time.", "40£"),
        ("A pew cushion costs €12 a piece.", "€12"),
        ("A candle costs 45p.", "45p"),
    ],
)
def test_an_amount_has_its_sign_before_or_after_it(text: str, value: str) -> None:
    question = "how much does it cost"

    spans = find_new_values(text, kinds_asked_for(question), question, words_of(question))

    assert [text[start:end] for start, end in spans] == [value]


@pytest.mark.parametrize(
    "question",
    [
        "how much is the glazier charging for the chapel window?",
        "how much did we spend on candles",
        "How much do ringers earn on a feast day?",
        "what did the mason quote for the tower?",
        "how much were we billed in May",
    ],
)
def test_what_is_charged_or_earned_is_no_span_of_time(question: str) -> None:
    kinds = kinds_asked_for(question)

    assert AnswerType.MONEY in kinds
    assert AnswerType.SPAN not in kinds


@pytest.mark.parametrize("question", ["how much notice do I earn", "how much time did the mason spend on the tower"])
def test_what_is_measured_is_named_by_its_noun(question: str) -> None:
    assert kinds_asked_for(question) != {AnswerType.MONEY, AnswerType.SHARE}


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("how long were the ringers stuck in the tower", True),
        ("when did the bell crack", True),
        ("how long may a ringer stay in the tower", False),
        ("how long had I to wait", False),
    ],
)
def test_the_tense_says_whether_a_time_of_the_past_is_asked_for(question: str, asks: bool) -> None:
    assert asks_for_past_time(question) is asks


def test_what_shall_be_is_a_demand() -> None:
    assert states_demand("A ringer who is stuck shall be freed within an hour.")
    assert not states_demand("Two ringers were stuck for an hour.")


def test_an_owner_is_named_before_what_is_hers() -> None:
    question = "whose key still opens the crypt?"

    assert names_owner("Keys: Ada's key is the only one that opens it.", question)
    assert not names_owner("Monday's key is the only one that opens it.", question)
    assert not names_owner("Ada's key is the only one that opens it.", "when does the crypt open?")


def test_somebody_known_by_a_full_name_is_named_by_a_part_of_it() -> None:
    names = frozenset(find_full_names("Present: Ada Moor, Ben Orr"))

    assert holds_known_name("If a rope breaks, tell Ada within the hour.", names, {"rope"})
    assert holds_known_name("Orr mends the ropes.", names, {"ropes"})
    assert not holds_known_name("Ropes are mended on Friday.", names, {"ropes"})


@pytest.mark.parametrize("text", ["Ring within the hour.", "It is mended the same day.", "He is told at once."])
def test_a_time_without_a_number_tells_how_quickly(text: str) -> None:
    question = "how quickly?"

    assert find_new_values(text, kinds_asked_for(question), question, words_of(question))
