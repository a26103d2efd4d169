"""Recognises questions for field values: of one named document, or of documents that conditions describe."""

from collections.abc import Sequence

from agent.english.function_words import (
    FORMS_OF_BE,
    HAVE_WORDS,
    LIST_VERBS,
    QUESTION_WORDS,
    SUMMING_PHRASES,
    YES_NO_VERBS,
)
from agent.english.gradable_adjectives import nouns_beside
from agent.english.light_words import is_light_word
from agent.rules.cues.asked_fields import (
    AskedFields,
    AskedKind,
    asked_kind,
    asking_words_of,
    find_asked_fields,
    find_counted_field,
    value_tokens_of,
)
from agent.rules.cues.asked_prices import find_asked_margin, find_asked_price
from agent.rules.cues.function_phrases import FunctionPhrase, field_named_after
from agent.rules.cues.question_cues import QuestionCues
from agent.rules.cues.question_subject import (
    asked_date_fields,
    counted_unit_fields,
    fields_of_dimension,
    find_day_of_payment,
    hinted_date_fields,
    hinted_fields,
    names_one_document,
    requested_fields,
)
from agent.rules.cues.scale_fields import numbers_named_by
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import FieldMention
from agent.rules.reading.bucket_reading import BucketReading
from storage.search.conditions import ComparisonCondition, ComparisonOperator
from storage.search.ids import FieldName
from storage.search.plan import AggregateFunction, ReadFields
from storage.search.schema import FieldType
from storage.text.identifiers import is_identifier

_CONTACT_DETAILS = frozenset("phone telephone mobile tel fax".split())
_WORDS_FOR_HAVING = frozenset("have has had got there with know".split())
_PERMITTING_VERBS = frozenset("can could may might".split())
_QUANTITY_QUESTIONS = (("how", "much"), ("how", "many"))
_WHO_IS_OPENINGS = {("who", "is"), ("who", "was"), ("who", "s"), ("who", "are"), ("what", "is"), ("what", "s")}
_HOW_TO_OPENINGS = {("how", "can"), ("how", "do"), ("how", "to"), ("how", "should"), ("how", "could")}


def recognise_fields_of_one_document(cues: QuestionCues) -> ReadFields | None:
    if cues.group is not None or any(phrase.words in SUMMING_PHRASES for phrase in cues.functions):
        return None
    if _asks_for_verdict(cues.words):
        return None
    fields = _without_given_fields(
        _fields_of_one_document(cues.words, cues.functions, cues.reading, cues.lexicon), cues.reading
    )
    if asked_kind(cues.words) is AskedKind.PERSON:
        fields = _without_contact_details(fields, cues.lexicon)
    return ReadFields(fields=tuple((cues.reading.bucket, name) for name in fields)) if fields else None


def recognise_price(cues: QuestionCues) -> ReadFields | None:
    """ "How much is the Juno", "the margin on the Juno": a price of a thing, or both, which all its rows share."""
    words, reading, lexicon = cues.words, cues.reading, cues.lexicon
    if cues.group is not None or cues.superlative is not None or reading.unlinked_quotations:
        return None  # "the lowest price of a panel" compares panels
    margin = find_asked_margin(words, reading, lexicon)
    price = find_asked_price(words, reading, lexicon) if margin is None else None
    names = margin or (() if price is None else (price,))
    return ReadFields(fields=tuple((reading.bucket, name) for name in names)) if names else None


def recognise_persons_of_set(cues: QuestionCues) -> ReadFields | None:
    """ "Who has a first-aid certificate", "whose licences expire in May": the persons of several documents."""
    words, reading, lexicon = cues.words, cues.reading, cues.lexicon
    is_whole = bool(reading.conditions) and not (reading.unlinked_words or cues.functions or cues.group)
    if asked_kind(words) is not AskedKind.PERSON or lexicon.roles.holds_people or not is_whole:
        return None
    if words[1:2] and words[1] in FORMS_OF_BE and reading.has_noun:
        return None  # "who are our trade customers": the documents
    if names_one_document(reading, lexicon) or not (reading.has_plural_noun or set(words[1:3]) & HAVE_WORDS):
        return None
    asked = find_asked_fields(words, reading, lexicon).fields
    persons = [name for name in asked if name in lexicon.roles.persons]
    if len(persons) > 1:  # the names, and the numbers of those who are called so
        persons = [name for name in persons if not lexicon.schema.by_name[name].references]
    if len(persons) != 1:
        return None
    return ReadFields(fields=((reading.bucket, persons[0]),), of_each=True)


def recognise_requested_fields(cues: QuestionCues) -> ReadFields | None:
    """ "Governing law of the supply agreement": a field of documents that other words describe."""
    reading = cues.reading
    if _asks_for_yes(cues.words) and all(mention.is_question for mention in reading.asked_mentions):
        return None  # "can I take my dog": "take" names no field here
    if _asks_for_verdict(cues.words):
        return None
    asked = find_asked_fields(cues.words, reading, cues.lexicon)
    if _is_unknown_deed(asked, cues.words, reading):
        return None
    describes_documents = bool(reading.conditions) and reading.is_exact and len(reading.unlinked_words) <= 1
    is_clear = asked.is_named or describes_documents or any(map(is_identifier, reading.unlinked_words))
    fields = (asked.fields if asked.are_joint else asked.fields[:1]) if is_clear else ()
    fields = fields or requested_fields(cues.words, reading, cues.lexicon)
    if asked_kind(cues.words) is AskedKind.PERSON:
        fields = _without_contact_details(fields, cues.lexicon)
    if names_one_document(reading, cues.lexicon):
        fields = _without_given_fields(fields, reading)
    if not fields or not (reading.conditions or reading.unlinked_words):
        return None
    return ReadFields(fields=tuple((reading.bucket, name) for name in fields))


def _without_contact_details(fields: tuple[FieldName, ...], lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """ "Who is our *contact* at Acme", "who *placed* order 7": nobody is a phone number or a day."""
    return tuple(
        name
        for name in fields
        if _CONTACT_DETAILS.isdisjoint(lexicon.get_field(name).label.casefold().split())
        and lexicon.get_field(name).type is not FieldType.DATE
    )


def _without_given_fields(fields: tuple[FieldName, ...], reading: BucketReading) -> tuple[FieldName, ...]:
    """ "Who checked lot 7": the lot is what the question says, so that it answers nothing."""
    given = {
        condition.field
        for condition in reading.conditions
        if isinstance(condition, ComparisonCondition) and condition.op is ComparisonOperator.EQ
    }
    return tuple(name for name in fields if name not in given)


def _fields_of_one_document(
    words: Sequence[str], phrases: Sequence[FunctionPhrase], reading: BucketReading, lexicon: BucketLexicon
) -> tuple[FieldName, ...]:
    """Returns the fields asked of one named document, also in short form: "BUL48A Ic max?"; else nothing."""
    if due := find_day_of_payment(words, lexicon):
        return due if names_one_document(reading, lexicon) else ()
    asks_for_field = any(mention.is_question for mention in reading.asked_mentions)
    opens_instructions = tuple(words[:2]) in _HOW_TO_OPENINGS and not asks_for_field
    if not names_one_document(reading, lexicon) or reading.has_plural_noun or opens_instructions:
        return ()
    if asks_for_field and all(phrase.words in _QUANTITY_QUESTIONS for phrase in phrases):
        return tuple(dict.fromkeys(mention.field for mention in reading.asked_mentions))
    if asks_what_it_is(words, reading):
        return ()
    asked_fields = find_asked_fields(words, reading, lexicon)
    if asked_fields.fields and _is_unknown_deed(asked_fields, words, reading):
        return ()
    if asked_fields.fields:
        return asked_fields.fields if asked_fields.are_joint else (asked_fields.fields[0],)
    if (counted := _counted_mention(phrases, reading, lexicon)) is not None:
        return (counted,)
    functions = {phrase.function for phrase in phrases if phrase.words != ("how", "much")}
    if phrases and phrases[0].words == ("how", "many") and (fields := hinted_fields(reading, lexicon)):
        return fields  # "how many leave days does … have left"
    if phrases and phrases[0].words == ("how", "many") and (number := find_counted_field(reading, lexicon)) is not None:
        return (number,)
    if not functions <= {AggregateFunction.MINIMUM, AggregateFunction.MAXIMUM} and not counted_unit_fields(
        phrases, words, lexicon
    ):
        return ()
    measured = hinted_date_fields(reading, lexicon) if words[:1] == ["when"] else ()
    measured = measured or asked_date_fields(words, lexicon) or counted_unit_fields(phrases, words, lexicon)
    if measured:
        return measured
    if phrases and phrases[0].words == ("how", "much"):
        named_field = field_named_after(phrases[0], reading)
        return tuple(mention.field for mention in reading.asked_mentions) if named_field else ()
    if words[:1] and words[0] in YES_NO_VERBS and not set(words) & LIST_VERBS:
        return ()
    asked = tuple(dict.fromkeys(mention.field for mention in reading.asked_mentions))
    named = asked or fields_of_dimension(reading, lexicon) or hinted_fields(reading, lexicon)
    return named or _similar_fields(reading)


def _is_unknown_deed(asked: AskedFields, words: Sequence[str], reading: BucketReading) -> bool:
    """ "Who *signed off* on D07" where only an owner is known: whether the field has nothing to do with what was done.

    Several fields are offered, so that the asker chooses.
    """
    if asked_kind(words) is not AskedKind.PERSON or asked.is_named or len(asked.fields) != 1:
        return False
    return not all(map(is_light_word, asking_words_of(reading)))


def _asks_for_yes(words: Sequence[str]) -> bool:
    """Whether the question is for yes or no, and not a request: "can you …"."""
    return words[:1] != [] and words[0] in YES_NO_VERBS and words[1:2] != ["you"]


def _asks_for_verdict(words: Sequence[str]) -> bool:
    """Whether only yes or no answers: "did the film go over budget?"; its budget does not.

    "Did it get through", but "can I get the phone number". "Do you know what …", "is there a phone number of …" and
    "does it have an end date" are answered by the value.
    """
    list_verbs = LIST_VERBS if words[:1] and words[0] in _PERMITTING_VERBS else LIST_VERBS - {"get"}
    asks_for_value = set(words[1:]) & (QUESTION_WORDS | list_verbs | _WORDS_FOR_HAVING)
    return _asks_for_yes(words) and words[0] not in _WORDS_FOR_HAVING and not asks_for_value


def _similar_fields(reading: BucketReading) -> tuple[FieldName, ...]:
    """ "The *wage* of Ida Berg": returns the field that means nearly the same as the only word that asks."""
    words = asking_words_of(reading)
    name = reading.similarities.find_similar_field(words[0]) if len(words) == 1 else None
    return () if name is None else (name,)


def asks_what_it_is(words: Sequence[str], reading: BucketReading) -> bool:
    """ "Who is Ida Berg?": whether nothing but a name follows, so that no field of it is asked for."""
    if tuple(words[:2]) not in _WHO_IS_OPENINGS or reading.unlinked_words:
        return False
    covered = value_tokens_of(reading) | {0, 1}
    return len(words) > 2 and all(index in covered for index in range(len(words)))


def _counted_mention(
    phrases: Sequence[FunctionPhrase], reading: BucketReading, lexicon: BucketLexicon
) -> FieldName | None:
    """ "How many *seats* does … have": returns the number that is named right after the phrase."""
    if not phrases or phrases[0].words != ("how", "many"):
        return None
    index = phrases[0].last
    named = [
        link.meaning.field
        for link in reading.links
        if isinstance(link.meaning, FieldMention)
        and link.first == index
        and link.meaning.column is None
        and lexicon.get_field(link.meaning.field).type is FieldType.NUMBER
    ]
    word = reading.tokens[index].word if index < len(reading.tokens) else ""
    return next(iter((*named, *numbers_named_by(nouns_beside(word), lexicon))), None)
