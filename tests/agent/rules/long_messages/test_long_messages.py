"""Long messages: a pasted list becomes one condition, and of other text the questions are read."""

from dataclasses import replace

import pytest

from agent.assumptions import ExcerptRead, ListTaken
from agent.decomposition import ExportRequest, PlannedQuestion
from agent.rules.long_messages.list_entries import MIN_LIST_ENTRIES
from agent.rules.long_messages.message_excerpt import MAX_READ_CHARS, MAX_READ_WORDS, take_excerpt
from storage.search.conditions import DOC_ID_FIELD, ComparisonCondition, Condition, NotCondition, conjuncts_of
from storage.search.conditions import ComparisonOperator as Op
from storage.search.index import IndexVocabulary
from storage.search.plan import AggregateFunction, ComputeNumbers, ListDocuments
from tests.agent.rules.reading.test_bucket_reading import (
    QUESTION_CONTEXT,
    VOCABULARY,
    comparison_on,
    decompose_question,
    vocabulary_of_values,
)

CARRIERS = tuple(f"{name} Freight" for name in (
    "Adler", "Birch", "Cobalt", "Dunmore", "Elm", "Foxglove", "Gable", "Harrow", "Ivy", "Juniper", "Kestrel", "Larch",
    "Marlow", "Nettle", "Otter", "Poplar"))  # fmt: skip
CONTEXT = replace(
    QUESTION_CONTEXT,
    vocabulary=IndexVocabulary(
        generation=VOCABULARY.generation,
        document_counts=VOCABULARY.document_counts,
        fields=(
            *(known for known in VOCABULARY.fields if known.field != "carrier"),
            vocabulary_of_values("carrier", "Blue Van", *CARRIERS),
        ),
    ),
)
IDS = tuple(f"PX-{index:04d}" for index in range(1, 41))


def plan_message(message: str) -> PlannedQuestion:
    planned = decompose_question(message, CONTEXT)
    assert isinstance(planned, PlannedQuestion)
    return planned


def conditions_of(planned: PlannedQuestion) -> set[Condition]:
    return set(conjuncts_of(planned.plan.legs[0].search.clauses[0].condition))


def members_of(planned: PlannedQuestion, field: str) -> set[str]:
    """Returns the values of the only `in` condition on the field."""
    [condition] = [
        part for part in conditions_of(planned) if isinstance(part, ComparisonCondition) and part.field == field
    ]
    assert isinstance(condition.value, tuple)
    assert condition.op is Op.IN
    return {str(value) for value in condition.value}


@pytest.mark.parametrize("separator", [", ", "; ", "\n", ",\n"])
def test_a_list_of_names_becomes_one_condition_on_their_field(separator: str) -> None:
    planned = plan_message(f"how many parcels over 3 kg came by these carriers:\n{separator.join(CARRIERS)}")
    assert members_of(planned, "carrier") == set(CARRIERS)
    assert comparison_on("weight", Op.GT, 3.0) in conditions_of(planned)
    assert planned.assumptions[0] == ListTaken(entry_count=len(CARRIERS))


def test_a_list_inside_a_sentence_keeps_the_words_around_it() -> None:
    planned = plan_message(f"average weight of parcels by {', '.join(CARRIERS[:-1])} and {CARRIERS[-1]} in 2024?")
    assert members_of(planned, "carrier") == set(CARRIERS)
    assert comparison_on("sent", Op.BETWEEN, ("2024-01-01", "2024-12-31")) in conditions_of(planned)


def test_a_negated_list_excludes_all_of_its_entries() -> None:
    planned = plan_message(f"parcels not by {', '.join(CARRIERS)}")
    [condition] = conditions_of(planned)
    assert condition == NotCondition(comparison_on("carrier", Op.IN, CARRIERS))


def test_entries_that_no_document_holds_are_named() -> None:
    names = [*CARRIERS[:8], "Nobody Ltd", *CARRIERS[8:], "Unknown Ltd"]
    planned = plan_message("parcels of these carriers\n" + "\n".join(names))
    assert members_of(planned, "carrier") == set(CARRIERS)
    assert planned.assumptions[0] == ListTaken(
        entry_count=len(names), unknown_entries=("Nobody Ltd", "Unknown Ltd"), unknown_count=2
    )


def test_codes_that_are_no_values_are_ids_of_documents() -> None:
    planned = plan_message(f"how many of these parcels were sent in 2024? {', '.join(IDS)}")
    assert members_of(planned, DOC_ID_FIELD) == set(IDS)
    assert planned.plan.legs[0].answer_form == ComputeNumbers(functions=(AggregateFunction.COUNT,))
    assert comparison_on("sent", Op.BETWEEN, ("2024-01-01", "2024-12-31")) in conditions_of(planned)


def test_a_bare_list_of_codes_lists_their_documents() -> None:
    planned = plan_message(" ".join(IDS))
    assert members_of(planned, DOC_ID_FIELD) == set(IDS)
    assert isinstance(planned.plan.legs[0].answer_form, ListDocuments)


def test_the_export_of_a_list_has_its_condition() -> None:
    exported = decompose_question(f"export the parcels {' '.join(IDS)} as csv", CONTEXT)
    assert isinstance(exported, ExportRequest)
    [condition] = conjuncts_of(exported.plan.legs[0].search.clauses[0].condition)
    assert isinstance(condition, ComparisonCondition)
    assert condition.field == DOC_ID_FIELD


def test_a_few_values_are_read_as_other_words_are() -> None:
    planned = plan_message(f"parcels by {', '.join(CARRIERS[:3])}")
    assert members_of(planned, "carrier") == set(CARRIERS[:3])
    assert not any(isinstance(assumption, ListTaken) for assumption in planned.assumptions)


def test_many_short_texts_that_are_no_values_are_no_list() -> None:
    planned = plan_message("parcels by Blue Van, " + ", ".join(f"please {word}" for word in "abcdefghijklmno"))
    assert not any(isinstance(assumption, ListTaken) for assumption in planned.assumptions)


def test_only_the_questions_of_a_long_message_are_read_and_the_reply_says_so() -> None:
    filler = "I was at the warehouse with two colleagues on that rainy morning. "
    planned = plan_message(f"{filler * 14}How many parcels came by Blue Van? {filler * 14}")
    assert conditions_of(planned) == {comparison_on("carrier", Op.EQ, "Blue Van")}
    assert planned.assumptions[0] == ExcerptRead(text="How many parcels came by Blue Van?")


def test_a_message_of_usual_length_is_read_whole() -> None:
    message = "How many parcels came by Blue Van? " + "And a word more. " * 20
    assert len(message.split()) <= MAX_READ_WORDS
    assert take_excerpt(message).text == message


@pytest.mark.parametrize("message", ["word " * 1_000, "a" * 9_000, "what is it? " * 900, "?" * 9_000])
def test_an_excerpt_is_within_both_bounds(message: str) -> None:
    excerpt = take_excerpt(message)
    assert excerpt.is_cut
    assert 0 < len(excerpt.text) <= MAX_READ_CHARS
    assert len(excerpt.text.split()) <= MAX_READ_WORDS


def test_a_list_has_at_least_so_many_entries_that_reading_them_as_words_costs_more() -> None:
    planned = plan_message(f"parcels by {', '.join(CARRIERS[:MIN_LIST_ENTRIES])}")
    assert members_of(planned, "carrier") == set(CARRIERS[:MIN_LIST_ENTRIES])
    assert planned.assumptions[0] == ListTaken(entry_count=MIN_LIST_ENTRIES)
