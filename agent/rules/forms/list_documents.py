"""Recognises questions for a list of documents, and the order of the list."""

from collections.abc import Sequence

from agent.english.function_words import (
    FORMS_OF_BE,
    LIST_VERBS,
    PEOPLE_NOUNS,
    PREPOSITIONS,
    QUANTIFIERS,
    QUESTION_WORDS,
    SORT_WORDS,
    YES_NO_VERBS,
)
from agent.rules.cues.function_phrases import requested_limit
from agent.rules.cues.question_cues import QuestionCues
from agent.rules.cues.question_subject import (
    EARLY_TOKENS,
    MEASURABLE_TYPES,
    is_about_one_document,
    names_documents,
    names_one_document,
    names_only_kinds,
)
from agent.rules.forms.read_fields import asks_what_it_is
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, PartialMatch, SpanLink, ValueMatch
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.words.tokens import looks_plural
from storage.search.plan import AnswerForm, ListDocuments, SummariseDocuments
from storage.search.schema import FieldType, SchemaOrder

_MIN_EVENT_WORDS = 4  # "what went to Acme"
_ANTECEDENTS = PEOPLE_NOUNS | frozenset("everyone everybody those ones".split())  # of "who"


def recognise_last_time(cues: QuestionCues) -> ListDocuments | None:
    """ "When did we last …": returns the newest document."""
    newest = cues.lexicon.schema.natural_order
    if cues.words[:1] != ["when"] or "last" not in cues.words or cues.reading.has_noun or newest is None:
        return None
    return ListDocuments(order=newest, limit=1)


def recognise_list(cues: QuestionCues) -> ListDocuments | None:
    words, reading = cues.words, cues.reading
    if not is_list_request(words, reading, cues.lexicon):
        return None
    order = requested_order(words, reading, cues.lexicon)
    return ListDocuments(order=order, limit=requested_limit(words, reading))


def recognise_who(cues: QuestionCues) -> AnswerForm | None:
    """ "Who is Ida Berg?": her document, if one is hers, else the documents in which she has a role."""
    if cues.words[:1] != ["who"] or not asks_what_it_is(cues.words, cues.reading) or not cues.reading.conditions:
        return None
    return SummariseDocuments() if names_one_document(cues.reading, cues.lexicon) else ListDocuments()


def recognise_kinds(cues: QuestionCues) -> ListDocuments | None:
    """ "What solar panels from Acme?": the question only names kinds of documents."""
    reading = cues.reading
    if _asks_what_happened(cues):
        return ListDocuments(limit=requested_limit(cues.words, reading))
    only_kinds = cues.words[:1] == ["what"] and reading.conditions and not reading.unlinked_words
    if not only_kinds or not names_only_kinds(reading, cues.lexicon):
        return None
    return ListDocuments(limit=requested_limit(cues.words, reading))


def _asks_what_happened(cues: QuestionCues) -> bool:
    """ "What *went to* Acme in 2024", "what came from Lyon": a verb of motion or time, then only conditions."""
    words, reading = cues.words, cues.reading
    if words[:1] != ["what"] or len(words) < _MIN_EVENT_WORDS or not reading.conditions or reading.asked_mentions:
        return False
    left = {word for phrase in reading.unlinked_words for word in phrase.casefold().split()}
    return words[2] in PREPOSITIONS and left <= {words[1]} and reading.is_exact and words[1] not in YES_NO_VERBS


def is_list_request(words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon) -> bool:
    if not words:
        return False
    lead = words[0]
    if any(words[index] in LIST_VERBS and reading.tokens[index].begins_sentence for index in range(1, len(words))):
        return bool(reading.conditions) or reading.has_noun  # "Where is our liability capped? Give me the contracts."
    asks_for_field = any(mention.is_question and not mention.is_hint for mention in reading.asked_mentions)
    if (
        lead == "who"
        and not asks_for_field
        and any(isinstance(link.meaning, BucketNoun) and link.first == 0 for link in reading.links)
    ):
        return bool(reading.conditions) and not names_one_document(
            reading, lexicon
        )  # "who works in …": people, not one value
    if lead == "who" and words[1:2] and words[1] in FORMS_OF_BE and reading.has_noun and reading.has_plural_noun:
        return bool(reading.conditions) and not asks_for_field  # "who are our trade customers"
    if "how" in words[:2] or lead in ("when", "where", "who", "why", "whose"):
        return False
    nouns = [link for link in reading.links if names_documents(link, lexicon)]
    if lead in ("which", "what"):
        return _asks_which_documents(words, reading, lexicon)
    if lead in LIST_VERBS or (lead in ("can", "could", "please") and set(words[:5]) & LIST_VERBS):
        return bool(nouns) or bool(reading.conditions) or bool(set(words[:4]) & QUANTIFIERS)
    if lead in YES_NO_VERBS:
        return _asks_for_any_document(words, reading, lexicon)
    if lead in QUANTIFIERS or (set(words[:4]) & {"all", "every"}):
        return True
    if set(words) & QUESTION_WORDS & {"what", "when", "how", "why"} or (
        "who" in words and not _is_relative_clause(reading)
    ):
        return False
    if reading.asked_mentions and is_about_one_document(words, reading, lexicon):
        return False  # "Supply agreement between … and …: governing law?"
    return (bool(nouns) and (reading.has_plural_noun or bool(reading.conditions))) or bool(reading.conditions)


def _is_relative_clause(reading: BucketReading) -> bool:
    """ "People *who* speak …": whether "who" begins a relative clause and not a question."""
    index = next(index for index, token in enumerate(reading.tokens) if token.word == "who")
    if index and reading.tokens[index - 1].word in _ANTECEDENTS:
        return True  # "anyone who speaks …"
    return any(link.last <= index for link in reading.links if not isinstance(link.meaning, FieldMention))


def _asks_for_any_document(words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """ "Are there …", "do we have any …": whether the question asks for documents of a kind, not about their text."""
    if any(words[index] in LIST_VERBS and _begins_statement(index, words, reading) for index in range(1, len(words))):
        return True  # "Are there …? Show them."
    starts = [index + 1 for index, word in enumerate(words[:6]) if word in ("there", "any", "have", "other")]
    heads = [link for link in reading.links if _stands_for_documents(link, lexicon)]
    if any(_end_of_plural_run(start, words, reading, heads) is not None for start in starts):
        return True
    exists = "any" in words[:5] or words[1:2] == ["there"] or bool({"anything", "something"} & set(words[:4]))
    about = any(link.first <= EARLY_TOKENS for link in heads) or "anything" in words
    return exists and about and bool(reading.conditions) and not is_about_one_document(words, reading, lexicon)


def _begins_statement(index: int, words: Sequence[str], reading: BucketReading) -> bool:
    """Whether a request begins at the token, after the question."""
    return reading.tokens[index].begins_sentence or (
        words[index - 1] in ("and", "please", "then") and index > len(words) // 2
    )


def _stands_for_documents(link: SpanLink, lexicon: BucketLexicon) -> bool:
    """Whether the link is a noun for documents, a flag, or a categorical value of a field without lists."""
    if isinstance(link.meaning, BucketNoun):
        return True
    if isinstance(link.meaning, FieldMention):
        return lexicon.get_field(link.meaning.field, link.meaning.column).type is FieldType.FLAG
    if link.meaning.column is not None:
        return False
    single = lexicon.get_field(link.meaning.field).type is not FieldType.LIST
    return single and lexicon.is_categorical(link.meaning.field)


def _is_flag_mention(link: SpanLink, lexicon: BucketLexicon) -> bool:
    """ "Solvents": whether the link names a flag, and so the documents that have it."""
    mention = link.meaning
    return isinstance(mention, FieldMention) and lexicon.get_field(mention.field, mention.column).type is FieldType.FLAG


def _asks_which_documents(words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """ "Which panels …", "what are the contracts …": whether the question asks for documents, not about their text."""
    within = 4 if set(words[1:2]) & {"are", "were"} else 2
    heads = [
        link
        for link in reading.links
        if isinstance(link.meaning, (ValueMatch, PartialMatch))
        or _is_flag_mention(link, lexicon)
        or names_documents(link, lexicon)
    ]
    nouns = [link for link in heads if names_documents(link, lexicon)]
    leading = [link for link in heads if link.first <= within + (link in nouns and link.first <= 6)]
    if _opens_with_kinds(words, reading, heads):
        return True
    direct = any(within > 2 or not _is_in_of_phrase(words, link.first) for link in leading)
    of_them = "are" in words[1:3] and bool(nouns)
    return (direct or of_them) and (
        reading.has_plural_noun or "all" in words or (words[0] == "which" and not reading.asked_mentions)
    )


def _opens_with_kinds(words: Sequence[str], reading: BucketReading, heads: Sequence[SpanLink]) -> bool:
    """ "What NPN transistors with …", "what are the bills under 5": whether it opens with kinds in the plural."""
    after = _end_of_plural_run(1, words, reading, heads)
    if after is None:
        return False
    follows = words[after] if after < len(words) else ""
    return follows not in ("is", "was", "of", "for") and (bool(reading.conditions) or words[1] == "are")


def _end_of_plural_run(
    start: int, words: Sequence[str], reading: BucketReading, heads: Sequence[SpanLink]
) -> int | None:
    """Returns the end of the run of heads at `start` if its last word is in the plural; else None."""
    index = start
    while index < len(words) and (
        words[index] in ("are", "were", "the", "all", "our", "other", "any", "of")
        or (index in reading.stated_tokens and not any(link.first == index for link in heads))
    ):
        index += 1  # "which of our current drivers"
    first = index
    while (here := next((link for link in heads if link.first == index), None)) is not None:
        index = here.last
    return index if index > first and looks_plural(reading.tokens[index - 1]) else None


def _is_in_of_phrase(words: Sequence[str], index: int) -> bool:
    """ "What is the law of the contract": whether the noun belongs to a phrase about something else."""
    return "of" in words[:index] or "is" in words[:index] or "was" in words[:index]


def requested_order(words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon) -> SchemaOrder | None:
    """ "… sorted by price", "newest first": returns the order of the list."""
    text = " ".join(words)
    descending = any(
        word in text for word in ("descending", "highest first", "largest first", "newest first", "latest")
    )
    for link in reading.links:
        if isinstance(link.meaning, FieldMention) and link.meaning.column is None:
            before = words[max(link.first - 3, 0) : link.first]
            if set(before) & SORT_WORDS:
                return SchemaOrder(field=link.meaning.field, descending=descending)
            if (
                before[-1:] == ["by"]
                and lexicon.get_field(link.meaning.field).type in MEASURABLE_TYPES
                and requested_limit(words, reading)
            ):
                return SchemaOrder(field=link.meaning.field, descending=not set(words) & {"bottom", "last"})
    for index, token in enumerate(reading.tokens):
        if (
            index > 1
            and words[index - 1] == "by"
            and words[index - 2] in SORT_WORDS
            and token.word in reading.unlinked_words
        ):
            name = lexicon.field_hinted_by(token.stem)
            return SchemaOrder(field=name, descending=descending) if name is not None else None
    dates = [field.name for field in lexicon.schema.fields if field.type is FieldType.DATE]
    if dates and ("oldest first" in text or "newest first" in text or "latest first" in text):
        return SchemaOrder(field=dates[0], descending="oldest" not in text)
    return None
