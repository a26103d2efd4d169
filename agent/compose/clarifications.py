"""Composes the questions of clarifications."""

from collections.abc import Sequence
from dataclasses import replace

from agent.compose.compare_sides import describe_compared_sides
from agent.compose.composed_leg import ComposedLeg, LegComposer
from agent.compose.phrases.english_qualifiers import value_noun_of
from agent.compose.phrases.nouns import format_count
from agent.compose.phrases.set_description import describe_absence, describe_leg_set, noun_of, qualifier_of
from agent.compose.phrases.taken_reading import describe_taken_reading
from agent.compose.phrases.unstated_values import add_unstated_values
from agent.compose.phrases.values import format_number
from agent.compose.phrases.words import escape_markdown, join_words, lowercase_label, lowercase_words
from agent.compose.registry import compose_facts
from agent.english.telling_words import select_telling_words
from agent.forms.clarifications import (
    AskedBackFacts,
    NothingFoundFacts,
    SeveralDocumentsFacts,
    SeveralFieldsFacts,
    SeveralReadingsFacts,
    TooManyFacts,
    UnknownWordsFacts,
)
from agent.forms.read_fields import FieldValuesFacts
from agent.forms.thresholds import ThresholdFacts
from agent.refine.facets import FacetSplit
from agent.review.doubtful_reading import DoubtfulAbsenceFacts, DoubtfulComparisonFacts, DoubtfulReadingFacts
from agent.review.leg_review import LegReview
from agent.review.partly_stated import PartlyStatedFacts
from agent.translation.languages import is_reply_in_english
from agent.translation.message_catalogues import translate_message, translate_plural


def _compose_nothing_found(facts: NothingFoundFacts, review: LegReview) -> ComposedLeg:
    denial = describe_absence(review)
    nothing = (
        f"{denial}." if denial else translate_message("I found no {documents}.", documents=describe_leg_set(review))
    )
    return ComposedLeg(sentences=(add_unstated_values(nothing, review),), is_result_first_sentence=True)


def _compose_several_readings(facts: SeveralReadingsFacts, review: LegReview) -> ComposedLeg:
    return ComposedLeg(sentences=(translate_message("This can be read in more than one way. Which do you mean?"),))


def _compose_several_fields(facts: SeveralFieldsFacts, review: LegReview) -> ComposedLeg:
    asked = escape_markdown(review.leg.question.strip(" ?!."))
    answer_form = facts.answer_form
    if not is_reply_in_english():  # the rules read the question in English words, which are not the person's
        text = translate_message("This can be answered in more than one way. By what?")
    elif answer_form.reads_values:
        text = translate_message("Several values may answer “{question}”. Which one?", question=asked)
    elif answer_form.list_order is not None or answer_form.grouping is not None:
        text = translate_message("“{question}” can be measured in more than one way. By what?", question=asked)
    else:
        text = translate_message("“{question}” can be measured in more than one way. Of what?", question=asked)
    return ComposedLeg(sentences=(text,))


def _compose_threshold(facts: ThresholdFacts, review: LegReview) -> ComposedLeg:
    labels = escape_markdown(join_words([lowercase_label(field.label) for field in facts.fields]))
    found = f"**{format_count(review.count, noun_of(review))}**{qualifier_of(review)}"
    text = translate_message(
        "There are {documents}. What counts as “{word}”? By {labels}:",
        documents=found,
        word=escape_markdown(facts.word),
        labels=labels,
    )
    return ComposedLeg(sentences=(text,))


def _compose_too_many(facts: TooManyFacts, review: LegReview) -> ComposedLeg:
    values = {
        "documents": f"**{format_count(review.count, noun_of(review))}**{qualifier_of(review)}",
        "limit": facts.limit,
    }
    text = (
        translate_message("I found {documents}, more than the {limit} that I list.", **values)
        if facts.is_list
        else translate_message("I found {documents}, more than the {limit} that I read.", **values)
    )
    ask = (
        translate_message("Which of them? By {label}:", label=escape_markdown(describe_split(facts.split)))
        if facts.split is not None
        else translate_message("Narrow it in words, or take the file:")
    )
    return ComposedLeg(sentences=(add_unstated_values(text, review), ask), is_result_first_sentence=True)


def describe_split(split: FacetSplit) -> str:
    """Says what divides the set: "category", "where they are". Raw text."""
    if split.field is None:
        return translate_message("where they are")
    label = value_noun_of(split.field) if is_reply_in_english() else lowercase_words(split.field.label)
    return translate_message("{label} (may overlap)", label=label) if split.is_overlapping else label


def _compose_several_documents(facts: SeveralDocumentsFacts, review: LegReview) -> ComposedLeg:
    count, qualifier = format_count(review.count, noun_of(review)), qualifier_of(review)
    if not qualifier:
        text = translate_message("I cannot tell which of the **{documents}** you mean.", documents=count)
        return ComposedLeg(sentences=(text,))
    text = translate_message("I found {documents}.", documents=f"**{count}**{qualifier}")
    return ComposedLeg(sentences=(text,), closing_question=translate_message("Which one do you mean?"))


def _compose_unknown_words(facts: UnknownWordsFacts, review: LegReview) -> ComposedLeg:
    words = _quote_words(_select_quoted_words(facts.words))
    if facts.asks_for_value:
        text = translate_message("I am not sure what you mean by {words} here.", words=words)
        return ComposedLeg(sentences=(text,), closing_question=translate_message("Which of these do you want to know?"))
    unknown = translate_plural(
        "I am not sure what you mean by {words}. Leaving this word aside",
        "I am not sure what you mean by {words}. Leaving these words aside",
        len(_select_quoted_words(facts.words)),
        words=words,
    )
    text = translate_plural(
        "{unknown}, there is {documents}{mentions}.",
        "{unknown}, there are {documents}{mentions}.",
        review.count,
        unknown=unknown,
        documents=f"**{format_count(review.count, noun_of(review))}**{qualifier_of(review)}",
        mentions=_describe_mentions(facts),
    )
    return ComposedLeg(sentences=(text,), closing_question=translate_message("Which do you mean?"))


def _select_quoted_words(words: Sequence[str]) -> Sequence[str]:
    """Leaves out words of any talk beside words that tell more. Words of other languages stay."""
    return (select_telling_words(words) or words) if is_reply_in_english() else words


def _describe_mentions(facts: UnknownWordsFacts) -> str:
    """ "; 5 of them mention “bottles”": returns nothing if no part of the documents mentions the words."""
    if not facts.mentioned_words:
        return ""
    return translate_plural(
        "; **{count}** of them mentions {words}",
        "; **{count}** of them mention {words}",
        facts.mention_count,
        count=format_number(facts.mention_count),
        words=_quote_words(facts.mentioned_words),
    )


def _quote_words(words: Sequence[str]) -> str:
    return join_words([f"“{escape_markdown(word)}”" for word in words])


def _compose_asked_back(facts: AskedBackFacts, review: LegReview) -> ComposedLeg:
    """Composes a question that a model asks back, with the number of documents that it is about."""
    question = escape_markdown(facts.question)
    if facts.is_about_set:
        question = f"**{format_count(review.count, noun_of(review))}**{qualifier_of(review)}: {question}"
    missing = "; ".join(escape_markdown(missing).strip(" .;") for missing in facts.missing)
    return ComposedLeg(sentences=(question, *((f"_({missing})_",) if missing else ())))


def _compose_partly_stated(facts: PartlyStatedFacts, review: LegReview) -> ComposedLeg:
    """Composes what the documents state that say it, and asks about those that do not."""
    known = compose_facts(facts.answered, review)
    return replace(
        known,
        sentences=(known.separator.join(known.sentences),),
        closing_question=translate_message("Do you want those, too?"),
    )


def _compose_doubtful_reading(facts: DoubtfulReadingFacts, review: LegReview) -> ComposedLeg:
    """Composes how the question was read, and which of its words the reading makes no use of."""
    title = facts.answered.document.title if isinstance(facts.answered, FieldValuesFacts) else ""
    text = translate_message(
        "I read this as: {reading}.", reading=describe_taken_reading(facts.answer_form, review, title)
    )
    if facts.unused_words:
        text += translate_message(" I could not use {words}.", words=_quote_words(facts.unused_words))
    question = translate_message("Is that what you mean?")
    return ComposedLeg(sentences=(f"{text} {question}",))


def _compose_doubtful_comparison(facts: DoubtfulComparisonFacts, review: LegReview) -> ComposedLeg:
    """Composes what would be compared, and which words of the question the comparison makes no use of."""
    text = translate_message("I read this as: {reading}.", reading=describe_compared_sides(facts.sides))
    if facts.unused_words:
        text += translate_message(" I could not use {words}.", words=_quote_words(facts.unused_words))
    return ComposedLeg(sentences=(f"{text} {translate_message('Is that what you mean?')}",))


def _compose_doubtful_absence(facts: DoubtfulAbsenceFacts, review: LegReview) -> ComposedLeg:
    """Composes how the question was read, and that this reading finds nothing. It denies no documents."""
    reading = translate_message("I read this as: {reading}.", reading=describe_taken_reading(facts.answer_form, review))
    nothing = (
        translate_message(
            "I found nothing like that, and I could not use {words}.", words=_quote_words(facts.unused_words)
        )
        if facts.unused_words
        else translate_message("I found nothing like that.")
    )
    return ComposedLeg(sentences=(f"{reading} {nothing}",))


COMPOSERS = (
    LegComposer(DoubtfulAbsenceFacts, _compose_doubtful_absence),
    LegComposer(DoubtfulComparisonFacts, _compose_doubtful_comparison),
    LegComposer(DoubtfulReadingFacts, _compose_doubtful_reading),
    LegComposer(PartlyStatedFacts, _compose_partly_stated),
    LegComposer(AskedBackFacts, _compose_asked_back),
    LegComposer(UnknownWordsFacts, _compose_unknown_words),
    LegComposer(NothingFoundFacts, _compose_nothing_found),
    LegComposer(SeveralReadingsFacts, _compose_several_readings),
    LegComposer(SeveralFieldsFacts, _compose_several_fields),
    LegComposer(ThresholdFacts, _compose_threshold),
    LegComposer(TooManyFacts, _compose_too_many),
    LegComposer(SeveralDocumentsFacts, _compose_several_documents),
)
