"""Quotes the sentences that answer, or says that no text does."""

from collections.abc import Iterator, Sequence

from agent.compose.composed_leg import ComposedLeg, LegComposer, cite_quotes
from agent.compose.phrases.figures import highlight_value
from agent.compose.phrases.values import format_verdict
from agent.compose.phrases.words import escape_markdown, join_by_colon, show_quotation, spell_as_asked
from agent.english.telling_words import select_telling_words
from agent.evidence.calendar_words import CALENDAR_WORDS
from agent.forms.find_passages import NoAnswerFacts, NoMentionFacts, QuotationsFacts
from agent.retrieval.answer_type import AnswerType
from agent.retrieval.quotations import QuotableSentence
from agent.review.leg_review import LegReview
from agent.translation.languages import is_reply_in_english
from agent.translation.message_catalogues import translate_message
from storage.search.analyser import fold_text

_MAX_QUOTATION_CHARACTERS = 400  # characters of a quoted sentence
_MAX_UNKNOWN_WORDS = 5  # unknown words listed


def _compose_quotations(facts: QuotationsFacts, review: LegReview) -> ComposedLeg:
    first, *others = _quote_sentences(facts.sentences, facts.answer_type, facts.counted_noun)
    answer = first if facts.verdict is None else join_by_colon(f"**{format_verdict(holds=facts.verdict)}**", first)
    reserve = () if facts.is_sure else (translate_message("I am not sure that this answers your question:"),)
    return ComposedLeg(sentences=(*reserve, answer, *others), citations=cite_quotes(facts.quotes))


def _compose_no_answer(facts: NoAnswerFacts, review: LegReview) -> ComposedLeg:
    if facts.closest:
        return _compose_closest(facts)
    text = translate_message("I did not find an answer to this.")
    # A document of October need not say "October".
    unknown_words = [word for word in facts.unknown_words if fold_text(word) not in CALENDAR_WORDS]
    telling_words = select_telling_words(unknown_words)
    # The words of a question in another language may appear here in English, or without their accents.
    if telling_words and is_reply_in_english():
        written = dict.fromkeys(spell_as_asked(word, review.leg.question) for word in telling_words)
        words = ", ".join(f"“{escape_markdown(word)}”" for word in [*written][:_MAX_UNKNOWN_WORDS])
        text += translate_message(" No document mentions {words}.", words=words)
    return ComposedLeg(sentences=(text,))


def _compose_closest(facts: NoAnswerFacts) -> ComposedLeg:
    """Says that nothing answers, and quotes what comes closest, without a value in bold."""
    introduction = (
        translate_message("What I found does not settle this with a yes or no:")
        if facts.asks_yes_or_no
        else translate_message("I did not find an answer to this. What comes closest:")
    )
    return ComposedLeg(sentences=(introduction, *_quote_sentences(facts.closest)), citations=cite_quotes(facts.quotes))


def _quote_sentences(
    sentences: Sequence[QuotableSentence], answer_type: AnswerType | None = None, counted_noun: str | None = None
) -> Iterator[str]:
    """Yields each sentence in quotation marks, with a value of the asked kind in bold and the markers of its places."""
    first = 1
    for sentence in sentences:
        markers = "".join(f"[{marker}]" for marker in range(first, first + len(sentence.places)))
        first += len(sentence.places)
        quote = sentence.places[0][1]
        text = show_quotation(quote.text, is_code=quote.is_code)[:_MAX_QUOTATION_CHARACTERS]
        yield f"“{highlight_value(text, answer_type, counted_noun)}” {markers}"


def _compose_no_mention(facts: NoMentionFacts, review: LegReview) -> ComposedLeg:
    """Says that no answer was found in the document, not that it lacks one."""
    title = facts.record.title
    text = (
        translate_message("I did not find an answer in the entry of {title}.", title=title)
        if facts.is_row  # its title is a person or a thing, not a document
        else translate_message("I did not find an answer in “{title}”.", title=title)
    )
    return ComposedLeg(sentences=(escape_markdown(text),))


COMPOSERS = (
    LegComposer(QuotationsFacts, _compose_quotations),
    LegComposer(NoAnswerFacts, _compose_no_answer),
    LegComposer(NoMentionFacts, _compose_no_mention),
)
