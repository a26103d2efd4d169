"""The recognisers of answer forms, in order; the first one that accepts a question decides its form.

The order matters: an earlier recogniser needs clearer wording, or would lose its questions to a later one.
`tests/golden/forms/recognised.txt` holds winner and runner-up of each demo question.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from agent.english.price_words import MARGIN_WORDS
from agent.rules.cues.question_cues import QuestionCues, find_cues
from agent.rules.forms.change_over_time import FORM_WORDS, recognise_change_over_time
from agent.rules.forms.check_claims import recognise_claims, recognise_counted_claims
from agent.rules.forms.compute_numbers import (
    recognise_breakdown,
    recognise_count_by_group,
    recognise_counted_measure,
    recognise_debtors,
    recognise_distinct_values,
    recognise_functions,
    recognise_measure_by_group,
    recognise_most_of_group,
)
from agent.rules.forms.find_passages import recognise_reason, recognise_text
from agent.rules.forms.find_steps import recognise_steps
from agent.rules.forms.list_documents import recognise_kinds, recognise_last_time, recognise_list, recognise_who
from agent.rules.forms.read_fields import (
    recognise_fields_of_one_document,
    recognise_persons_of_set,
    recognise_price,
    recognise_requested_fields,
)
from agent.rules.forms.summarise_documents import recognise_summary
from agent.rules.forms.superlatives import recognise_document_with_most, recognise_superlative
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.reading.bucket_reading import BucketReading
from storage.search.conditions import ComparisonCondition, Condition, RowCondition
from storage.search.plan import AnswerForm


@dataclass(frozen=True, slots=True)
class FormRecogniser:
    """Recognises the questions that ask for one form of answer."""

    name: str
    recognise: Callable[[QuestionCues], AnswerForm | None]
    form_words: frozenset[str] = frozenset()  # words that only ask for the form; documents need not contain them


RECOGNISERS = (
    # The word "summary" always asks for a summary; it is never part of the subject.
    FormRecogniser("summary", recognise_summary),
    # "Why is the total so high?" names a field, but the field does not answer it.
    FormRecogniser("reason", recognise_reason),
    # Before all numbers: "revenue by quarter, and the change" would become a sum by quarter, without the change.
    FormRecogniser("change over time", recognise_change_over_time, form_words=FORM_WORDS),
    # Before fields: "who is Ida Berg" asks for no value of a document that names her.
    FormRecogniser("who it is", recognise_who),
    # Before counts and lists: "how many different vendors" counts values, and "list all vendors" lists values.
    FormRecogniser("distinct values", recognise_distinct_values),
    # Before fields: "is every boat insured" names a field, but asks for no value.
    FormRecogniser("counted claims", recognise_counted_claims),
    # Before all fields and sums: "what does it sell for" asks for this price, and for no other and no sum.
    FormRecogniser("price", recognise_price, form_words=MARGIN_WORDS),
    # Before all numbers: "the maximum current of BUL48A" asks for a field value of one document.
    FormRecogniser("fields of one document", recognise_fields_of_one_document),
    # Before sums: "which vendor … the most" asks for a group, if no superlative orders anything.
    FormRecogniser("group with most", recognise_most_of_group),
    # Before lists: "who owes us money" asks for persons with what they owe, and for no documents.
    FormRecogniser("debtors", recognise_debtors, form_words=frozenset({"money"})),
    # After groups, which take precedence: "who earns the most" asks for a document.
    FormRecogniser("document with most", recognise_document_with_most),
    # Before functions: in "the lowest average" the function only names what is ordered.
    FormRecogniser("superlative", recognise_superlative),
    # Before counts: "how many hours" sums hours and does not count documents.
    FormRecogniser("counted measure", recognise_counted_measure),
    # "How many", "total", "average": explicit functions, with or without a group.
    FormRecogniser("functions", recognise_functions),
    # From here on the question names no function. "Price per city" opens with a number to group.
    FormRecogniser("measure by group", recognise_measure_by_group),
    # After measures: "receipts by category" opens with documents to count.
    FormRecogniser("count by group", recognise_count_by_group),
    # After both: the function must be guessed ("top 5 vendors").
    FormRecogniser("breakdown", recognise_breakdown),
    # Before lists, which refuse "when": the newest document answers "when did we last …".
    FormRecogniser("last time", recognise_last_time),
    # Before fields: "which contracts with a notice period …" asks for a list, although it names a field.
    FormRecogniser("list", recognise_list),
    # Before fields: of several documents, all persons are meant, and not the one of a document to be chosen.
    FormRecogniser("persons of a set", recognise_persons_of_set),
    # The question names a field, and conditions or words describe the documents.
    FormRecogniser("requested fields", recognise_requested_fields),
    # After fields: "what" asks for a list of kinds only if the question asks nothing else.
    FormRecogniser("kinds", recognise_kinds),
    # After fields: the price answers "how can I find the price of …".
    FormRecogniser("steps", recognise_steps),
    # After lists and fields: "are there undated receipts" and "can you tell me the price of …" claim nothing.
    FormRecogniser("yes or no", recognise_claims),
    # All other questions are answered from the text.
    FormRecogniser("text", recognise_text),
)


_FORM_WORDS = frozenset[str]().union(*(recogniser.form_words for recogniser in RECOGNISERS))


def recognise_forms(reading: BucketReading, lexicon: BucketLexicon) -> Iterator[tuple[str, AnswerForm]]:
    """Yields the recognisers that accept the question, in order, with their forms; the last one accepts all."""
    yield from (
        (recogniser.name, answer_form) for recogniser, answer_form in _find_accepting(find_cues(reading, lexicon))
    )


def _find_accepting(cues: QuestionCues) -> Iterator[tuple[FormRecogniser, AnswerForm]]:
    for recogniser in RECOGNISERS:
        if (answer_form := recogniser.recognise(cues)) is not None:
            yield recogniser, answer_form


def recognise_form(cues: QuestionCues) -> tuple[FormRecogniser, AnswerForm]:
    """Returns the first recogniser that accepts the question, with its form."""
    return next(_find_accepting(cues))


def drop_form_words(reading: BucketReading, lexicon: BucketLexicon) -> BucketReading:
    """Drops the unlinked words and conditions that consist only of words for the recognised form."""
    return drop_words_of_form(reading, recognise_form(find_cues(reading, lexicon))[0].form_words)


def drop_words_of_form(reading: BucketReading, form_words: frozenset[str]) -> BucketReading:
    """Drops the unlinked words and conditions that consist only of the words for a form."""
    left = tuple(words for words in reading.unlinked_words if not _are_among(words, form_words))
    conditions = tuple(
        condition for condition in reading.conditions if not _are_among(_condition_words(condition), form_words)
    )
    if conditions == reading.conditions:
        return replace(reading, unlinked_words=left) if left != reading.unlinked_words else reading
    return replace(
        reading,
        unlinked_words=left,
        conditions=conditions,
        equal_alternatives=(),
        fallback_alternatives=(),
        wider_alternatives=(),
    )


def has_other_words(reading: BucketReading) -> bool:
    """Whether some unlinked words ask for no form, so that `drop_form_words` keeps them."""
    return any(not _are_among(words, _FORM_WORDS) for words in reading.unlinked_words)


def _condition_words(condition: Condition) -> str:
    """Returns the words of the question that the condition was read from."""
    if isinstance(condition, RowCondition):
        return condition.words or _condition_words(condition.condition)
    return condition.words if isinstance(condition, ComparisonCondition) else ""


def _are_among(words: str, form_words: frozenset[str]) -> bool:
    single_words = set(words.casefold().split())
    return bool(single_words) and single_words <= form_words


def text_form_of(reading: BucketReading, lexicon: BucketLexicon) -> AnswerForm:
    """Returns the first recognised form that is answered from text."""
    return next(answer_form for _, answer_form in recognise_forms(reading, lexicon) if answer_form.reads_text)


def answer_form_of(reading: BucketReading, lexicon: BucketLexicon) -> AnswerForm:
    """Returns the form of answer that the question asks for in this bucket."""
    return next(answer_form for _, answer_form in recognise_forms(reading, lexicon))
