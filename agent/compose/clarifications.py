"""Composes the questions of clarifications."""

from agent.compose.composed_leg import ComposedLeg, LegComposer
from agent.compose.phrases.conditions import (
    describe_condition,
    escape_markdown,
    format_count,
    join_words,
    lowercase_label,
    plural_of,
)
from agent.compose.phrases.set_description import describe_leg_set, noun_of, qualifier_of
from agent.forms.clarifications import (
    NothingFoundFacts,
    SeveralDocumentsFacts,
    SeveralFieldsFacts,
    SeveralReadingsFacts,
    TooManyFacts,
    UnknownWordsFacts,
)
from agent.forms.thresholds import ThresholdFacts
from agent.refine.facets import FacetSplit
from agent.review.asked_back import AskedBackFacts
from agent.review.leg_review import LegReview
from storage.search.conditions import conjuncts_of


def _compose_nothing_found(facts: NothingFoundFacts, review: LegReview) -> ComposedLeg:
    sentences = [f"I found no {describe_leg_set(review)}."]
    schemas, clauses = review.question_context.schemas, review.leg.search.clauses
    tried = [
        f"- {escape_markdown(describe_condition(condition, schemas[clause.bucket], schemas))}"
        for clause in clauses
        for condition in conjuncts_of(clause.condition)
    ]
    tried += [f"- mentions “{escape_markdown(word)}”" for clause in clauses for word in clause.required_terms]
    tried = list(dict.fromkeys(tried))  # several buckets may share a condition
    if len(tried) > 1:
        sentences.append("All of this together leads to **0**:\n" + "\n".join(tried))
    return ComposedLeg(sentences=tuple(sentences), is_result_first_sentence=True)


def _compose_several_readings(facts: SeveralReadingsFacts, review: LegReview) -> ComposedLeg:
    return ComposedLeg(sentences=("This can be read in more than one way. Which do you mean?",))


def _compose_several_fields(facts: SeveralFieldsFacts, review: LegReview) -> ComposedLeg:
    asked = escape_markdown(review.leg.question.strip(" ?!."))
    answer_form = facts.answer_form
    ask = "By what" if answer_form.list_order is not None or answer_form.grouping is not None else "Of what"
    if answer_form.reads_values:
        return ComposedLeg(sentences=(f"Several values may answer “{asked}”. Which one?",))
    return ComposedLeg(sentences=(f"“{asked}” can be measured in more than one way. {ask}?",))


def _compose_threshold(facts: ThresholdFacts, review: LegReview) -> ComposedLeg:
    labels = escape_markdown(join_words([lowercase_label(field.label) for field in facts.fields]))
    found = f"**{format_count(review.count, noun_of(review))}**{qualifier_of(review)}"
    word = escape_markdown(facts.word)
    return ComposedLeg(sentences=(f"There are {found}. What counts as “{word}”? By {labels}:",))


def _compose_too_many(facts: TooManyFacts, review: LegReview) -> ComposedLeg:
    verb = "list" if facts.is_list else "read"
    count_text = f"I found **{format_count(review.count, noun_of(review))}**{qualifier_of(review)}"
    by = describe_split(facts.split) if facts.split is not None else ""
    ask = f"Which of them? By {escape_markdown(by)}:" if by else "Narrow it in words, or take the file:"
    return ComposedLeg(
        sentences=(f"{count_text}, more than the {facts.limit} that I {verb}.", ask), is_result_first_sentence=True
    )


def describe_split(split: FacetSplit) -> str:
    """Says what divides the set: "category", "where they are". Raw text."""
    if split.field is None:
        return "where they are"
    return split.field.label.lower() + (" (may overlap)" if split.is_overlapping else "")


def _compose_several_documents(facts: SeveralDocumentsFacts, review: LegReview) -> ComposedLeg:
    count = format_count(review.count, noun_of(review))
    return ComposedLeg(sentences=(f"**{count}** fit ({describe_leg_set(review)}). Which one do you mean?",))


def _compose_unknown_words(facts: UnknownWordsFacts, review: LegReview) -> ComposedLeg:
    words = join_words([f"“{escape_markdown(word)}”" for word in facts.words])
    count = format_count(review.count, noun_of(review))
    rest = f"Without {'it' if len(facts.words) == 1 else 'them'}, **{count}**{qualifier_of(review)} fit."
    return ComposedLeg(
        sentences=(f"I do not know {words} for {plural_of(noun_of(review))}. {rest}", "Which do you mean?")
    )


def _compose_asked_back(facts: AskedBackFacts, review: LegReview) -> ComposedLeg:
    """Composes a question that a model asks back, with the number of documents that it is about."""
    question = escape_markdown(facts.question)
    if facts.is_about_set:
        question = f"**{format_count(review.count, noun_of(review))}**{qualifier_of(review)}: {question}"
    missing = "; ".join(escape_markdown(missing).strip(" .;") for missing in facts.missing)
    return ComposedLeg(sentences=(question, *((f"_({missing})_",) if missing else ())))


COMPOSERS = (
    LegComposer(AskedBackFacts, _compose_asked_back),
    LegComposer(UnknownWordsFacts, _compose_unknown_words),
    LegComposer(NothingFoundFacts, _compose_nothing_found),
    LegComposer(SeveralReadingsFacts, _compose_several_readings),
    LegComposer(SeveralFieldsFacts, _compose_several_fields),
    LegComposer(ThresholdFacts, _compose_threshold),
    LegComposer(TooManyFacts, _compose_too_many),
    LegComposer(SeveralDocumentsFacts, _compose_several_documents),
)
