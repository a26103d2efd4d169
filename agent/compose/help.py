"""Answers a request for help: the visible kinds of documents, each with its count and an example question."""

from collections.abc import Sequence

from agent.compose.phrases.nouns import document_noun_of, format_count, plural_of
from agent.compose.phrases.words import escape_markdown, join_by_colon, join_words, lowercase_label
from agent.decomposition import QuestionContext
from agent.english.function_words import PREPOSITIONS
from agent.languages.language_pack import list_packs
from agent.outcome import Answer, Choice, LegResult, OutcomeKind, SearchRoute
from agent.retrieval.session import RetrievalSession
from agent.translation.languages import get_reply_language
from agent.translation.local_wording import load_wording
from agent.translation.message_catalogues import translate_message
from storage.search.ids import BucketId, LegId
from storage.search.index import CountRequest, IndexAnswers
from storage.search.plan import Leg, ListDocuments, Plan, unfiltered_search_of
from storage.search.refinement import OnlyBucket
from storage.search.schema import FieldType, Schema

_SHOWN_BUCKETS = 10
_LEG_ID = LegId("a")


async def answer_help_request(question: str, session: RetrievalSession, question_context: QuestionContext) -> Answer:
    """Offers the largest buckets as buttons. Raises what the index raises."""
    counts = {bucket: CountRequest(unfiltered_search_of(bucket)) for bucket in question_context.schemas}
    answers = await session.ask_index(tuple(counts.values()), record=tuple(counts.values()))
    filled = sorted(
        (bucket for bucket in counts if answers[counts[bucket]]), key=lambda bucket: (-answers[counts[bucket]], bucket)
    )
    leg = Leg(
        id=_LEG_ID, question=question, search=unfiltered_search_of(*(filled or counts)), answer_form=ListDocuments()
    )
    text = _format_help_text(filled, counts, answers, question_context)
    return Answer(
        plan=Plan(question=question, legs=(leg,), language=get_reply_language()),
        text=text,
        legs=(LegResult(leg=_LEG_ID, question=question, kind=OutcomeKind.ANSWER, text=text),),
        choices=tuple(
            _choice_for_bucket(bucket, answers[counts[bucket]], question_context) for bucket in filled[:_SHOWN_BUCKETS]
        ),
        trace=session.build_trace(SearchRoute.STRUCTURED),
        generation=answers.generation,
    )


def _format_help_text(
    filled_buckets: Sequence[BucketId],
    counts: dict[BucketId, CountRequest],
    answers: IndexAnswers,
    question_context: QuestionContext,
) -> str:
    if not filled_buckets:
        return translate_message("There are no documents here yet that I could answer from.")
    lines = [
        _format_bucket_line(question_context.schemas[bucket], answers[counts[bucket]])
        for bucket in filled_buckets[:_SHOWN_BUCKETS]
    ]
    others = [escape_markdown(question_context.schemas[bucket].label) for bucket in filled_buckets[_SHOWN_BUCKETS:]]
    more = ["", _format_other_buckets(others)] if others else []
    return "\n".join([translate_message("I answer questions about these documents:"), "", *lines, *more])


def _format_other_buckets(labels: Sequence[str]) -> str:
    shown = join_words(labels[:_SHOWN_BUCKETS])
    if len(labels) > _SHOWN_BUCKETS:
        return translate_message("And {buckets} and others.", buckets=shown)
    return translate_message("And {buckets}.", buckets=shown)


def _format_bucket_line(schema: Schema, count: int) -> str:
    example = escape_markdown(example_question_for(schema))
    line = translate_message("{documents}, for example “{question}”", documents=format_count(count), question=example)
    return join_by_colon(f"- **{escape_markdown(schema.label)}**", line)


def _choice_for_bucket(bucket: BucketId, count: int, question_context: QuestionContext) -> Choice:
    return Choice(
        label=question_context.schemas[bucket].label, count=count, leg=_LEG_ID, effect=OnlyBucket(bucket=bucket)
    )


def _ends_in_preposition(label: str) -> bool:
    """ "Issued by", which cannot stand behind "per"."""
    return label.casefold().rpartition(" ")[2] in PREPOSITIONS


def example_question_for(schema: Schema) -> str:
    """Returns a question in the words of the schema alone, since a value would reveal the content of documents.

    It is in the language of the reply if the rules read that, else in English, which every reasoner reads.
    """
    categories = [field for field in schema.fields if field.facet and field.type is FieldType.CATEGORY]
    facet = next((field for field in categories if not _ends_in_preposition(field.label)), None)
    if get_reply_language() in list_packs():
        values = {"documents": document_noun_of(schema).plural, "label": lowercase_label(facet.label) if facet else ""}
        if facet is None:
            return translate_message("How many {documents} are there?", **values)
        return translate_message("How many {documents} are there by {label}?", **values)
    noun = next(iter(schema.synonyms), schema.label)
    is_english = not load_wording(schema.language).singular_endings
    nouns = (noun if noun.endswith("s") else plural_of(noun)) if is_english else document_noun_of(schema).plural
    return f"How many {nouns} per {facet.label.casefold()}?" if facet is not None else f"How many {nouns} are there?"
