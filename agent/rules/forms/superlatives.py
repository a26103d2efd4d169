"""Recognises superlatives: a superlative orders a list, is the number itself, or selects a group."""

from collections.abc import Iterator, Sequence

from agent.english.function_words import (
    AMOUNT_SUPERLATIVES,
    FILLER_WORDS,
    ORDINALS,
    STOP_WORDS,
    SUPERLATIVE_PHRASES,
    YES_NO_VERBS,
)
from agent.english.gradable_adjectives import scale_of_superlative
from agent.rules.cues.function_phrases import FunctionPhrase, requested_limit
from agent.rules.cues.question_cues import QuestionCues
from agent.rules.cues.question_subject import (
    EARLY_TOKENS,
    NUMERIC_TYPES,
    counted_unit_fields,
    has_noun_at,
    has_noun_before,
    leading_category,
    names_one_document,
)
from agent.rules.cues.ranked_fields import fields_of_most, is_descending, ordering_fields
from agent.rules.cues.scale_fields import is_any_extent
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, PartialMatch, SpanLink, ValueMatch
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.words.tokens import QuestionToken, looks_plural
from storage.search.ids import FieldName
from storage.search.plan import AggregateFunction, AnswerForm, ComputeNumbers, GroupBy, ListDocuments
from storage.search.schema import FieldType, SchemaOrder

_DEFAULT_LIST_LIMIT = 10  # of "the newest tickets"
_MAX_FIELDS_BESIDE = 2


def recognise_document_with_most(cues: QuestionCues) -> ListDocuments | None:
    """ "Who *earns the most*?"."""
    if cues.superlative is not None or cues.group is not None:
        return None
    return _document_with_most(cues.words, cues.reading, cues.lexicon)


def recognise_superlative(cues: QuestionCues) -> AnswerForm | None:
    """ "The cheapest panel", "the lowest price", "the longest average delay"."""
    phrase = cues.superlative
    if phrase is None or not _compares_documents(phrase, cues.words, cues.reading, cues.lexicon):
        return None
    if (number := _number_of_first(cues, phrase)) is not None:
        return number
    if phrase.words not in SUPERLATIVE_PHRASES and not ordering_fields(phrase, cues.words, cues.reading, cues.lexicon):
        return None
    return _superlative_form(phrase, cues.functions, cues.reading, cues.lexicon, cues.group)


def _number_of_first(cues: QuestionCues, phrase: FunctionPhrase) -> ComputeNumbers | None:
    """ "How many minutes does the longest trip take": the extreme itself, where its own unit or name is counted."""
    if tuple(cues.words[:2]) not in (("how", "many"), ("how", "much")) or cues.group is not None:
        return None
    counts = FunctionPhrase(AggregateFunction.COUNT, ("how", "many"), 0, 2)
    named = [
        link.meaning.field
        for link in cues.reading.links
        if isinstance(link.meaning, FieldMention) and link.first <= counts.last <= link.last
    ]
    candidates = (*counted_unit_fields((counts,), cues.words, cues.lexicon), *named)
    fields = [name for name in ordering_fields(phrase, cues.words, cues.reading, cues.lexicon) if name in candidates]
    if not fields or cues.lexicon.get_field(fields[0]).type not in NUMERIC_TYPES:
        return None
    descending = is_descending(phrase, cues.words, cues.lexicon.get_field(fields[0]))
    function = AggregateFunction.MAXIMUM if descending else AggregateFunction.MINIMUM
    return ComputeNumbers(functions=(function,), field=fields[0])


def _document_with_most(words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon) -> ListDocuments | None:
    """ "Who *earns the most*?", "the four jobs with *the most hours*": returns the first documents by that number."""
    index = next(
        (
            index
            for index, word in enumerate(words)
            if word in AMOUNT_SUPERLATIVES
            and index not in reading.literal_tokens
            and words[index - 1 : index] != ["at"]
        ),
        None,
    )
    if index is None or not (index <= 1 or reading.has_noun or _begins_with_own_name(reading, lexicon)):
        return None
    names = fields_of_most(index, words, reading, lexicon)
    if not names:
        return None
    plural = any(map(looks_plural, (reading.tokens[link.last - 1] for link in _subject_links(reading, lexicon, index))))
    limit = requested_limit(words, reading) or (_DEFAULT_LIST_LIMIT if plural and words[:1] != ["which"] else 1)
    order = SchemaOrder(field=names[0], descending=words[index] == "most")
    return ListDocuments(order=order, limit=limit, beside=_fields_beside(names[0], words, reading, lexicon))


def _fields_beside(
    ordered: FieldName, words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon
) -> tuple[FieldName, ...]:
    """ "*Which tenant* owes the most", "*who* …": returns the field asked for, if it does not name the documents."""
    for link in reading.links:
        mention = link.meaning
        if (
            isinstance(mention, FieldMention)
            and mention in reading.asked_mentions
            and mention.column is None
            and mention.field != ordered
            and link.first <= 1
            and words[0] in ("which", "what", "whose")
        ):
            return (mention.field,)
    if words[0] not in ("who", "whose"):
        return ()
    people, usual = lexicon.roles.people, lexicon.person_field
    is_usual = usual is not None and usual in people and not lexicon.is_identifying(people[0])
    return (usual,) if is_usual and usual is not None else people[:1]


def _fields_asked_of_document(
    ordered: FieldName, reading: BucketReading, lexicon: BucketLexicon
) -> Iterator[FieldName]:
    """ "What did the last invoice *come to*": yields the fields that are asked of the first document by a day."""
    for mention in reading.asked_mentions:
        is_own_name = lexicon.is_identifying(mention.field)
        if mention.column is None and not mention.is_hint and mention.field != ordered and not is_own_name:
            yield mention.field


def _subject_links(reading: BucketReading, lexicon: BucketLexicon, last: int) -> list[SpanLink]:
    """Returns the nouns before the token that stand for documents: the bucket's own, or what identifies them."""
    return [
        link
        for link in reading.links
        if link.last <= last
        and (
            isinstance(link.meaning, BucketNoun)
            or (isinstance(link.meaning, FieldMention) and lexicon.is_identifying(link.meaning.field))
        )
    ]


def _begins_with_own_name(reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """ "The four *jobs* with …": whether the question opens with what identifies the documents."""
    return bool(_subject_links(reading, lexicon, min(len(reading.tokens), EARLY_TOKENS)))


def _superlative_form(
    phrase: FunctionPhrase,
    other_phrases: Sequence[FunctionPhrase],
    reading: BucketReading,
    lexicon: BucketLexicon,
    group: GroupBy | None,
) -> AnswerForm:
    """Returns a list in order ("the cheapest panel"), the number itself ("the lowest price"), or a selected group.

    `other_phrases` may name the function of the groups ("the longest average delay").
    """
    words = [token.word for token in reading.tokens]
    names = ordering_fields(phrase, words, reading, lexicon)
    field = lexicon.get_field(names[0]) if names else None
    descending = is_descending(phrase, words, field) if field is not None else True
    most = requested_limit(words, reading)
    leading = leading_category(words, reading, lexicon)
    if leading is not None and field is not None and field.type in NUMERIC_TYPES:
        averages = any(other_phrase.function is AggregateFunction.AVERAGE for other_phrase in other_phrases)
        is_single = _is_singular_noun_at(phrase.last, reading, lexicon)
        is_single = is_single or _compares_unknown_thing(phrase, reading, lexicon)
        extreme = AggregateFunction.MAXIMUM if descending else AggregateFunction.MINIMUM
        function = extreme if is_single else AggregateFunction.SUM
        function = AggregateFunction.AVERAGE if averages else function
        return ComputeNumbers(functions=(function,), field=field.name, group=GroupBy(field=leading), limit=most or 1,
                       descending=descending)  # fmt: skip
    if field is None:
        return ListDocuments(limit=most)
    last, functions = _joined_superlatives(phrase, other_phrases, words)
    follows = any(
        isinstance(link.meaning, FieldMention) and link.meaning.field == field.name and 0 <= link.first - last <= 1
        for link in reading.links
    )
    leads = words[0] in ("what", "list", "show", "find") or has_noun_at(0, reading) or has_noun_at(1, reading)
    asks_which = words[0] in ("which", "who") or (has_noun_before(phrase, reading) and leads)
    of_number = follows and not asks_which and most is None and not _precedes_kind(field.name, reading)
    if field.type in NUMERIC_TYPES and (group is not None or (of_number and not has_noun_at(last, reading))):
        return ComputeNumbers(functions=functions, field=field.name, group=group, descending=descending)
    limit = most or (
        _DEFAULT_LIST_LIMIT
        if _is_plural_noun_at(phrase.last, reading) or _follows_plural_noun(phrase, words, reading)
        else 1
    )
    rank = ORDINALS.get(words[phrase.first - 1], 1) if phrase.first else 1
    limit = 1 if rank > 1 and most is None else limit
    order = SchemaOrder(field=field.name, descending=descending)
    asked = _fields_beside(field.name, words, reading, lexicon)
    if field.type is FieldType.DATE and not asked:
        asked = tuple(_fields_asked_of_document(field.name, reading, lexicon))[:_MAX_FIELDS_BESIDE]
    return ListDocuments(order=order, limit=limit, skip=rank - 1, beside=asked)


def _precedes_kind(name: FieldName, reading: BucketReading) -> bool:
    """ "The highest paid *engineers*": whether a kind of documents appears right after the name of the field."""
    ends = {
        link.last for link in reading.links if isinstance(link.meaning, FieldMention) and link.meaning.field == name
    }
    return any(
        link.first in ends and isinstance(link.meaning, (BucketNoun, ValueMatch, PartialMatch))
        for link in reading.links
    )


def _joined_superlatives(
    phrase: FunctionPhrase, other_phrases: Sequence[FunctionPhrase], words: Sequence[str]
) -> tuple[int, tuple[AggregateFunction, ...]]:
    """ "The shortest *and longest* distance": returns the end of the joined superlatives, and their functions."""
    last, functions = phrase.last, [phrase.function]
    for other_phrase in other_phrases:
        if other_phrase.is_superlative and words[last : last + 1] == ["and"] and other_phrase.first - last in (1, 2):
            last, functions = other_phrase.last, [*functions, other_phrase.function]
    return last, tuple(dict.fromkeys(functions))


def _is_singular_noun_at(index: int, reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """ "Which agent has the most expensive *listing*", "… the cheapest *villa*": single documents are compared."""
    kinds = [
        reading.tokens[link.last - 1]
        for link in reading.links
        if isinstance(link.meaning, (ValueMatch, PartialMatch))
        and link.first == index
        and lexicon.is_categorical(link.meaning.field, link.meaning.column)
    ]
    return any(not looks_plural(token) for token in (*_nouns_at(index, reading), *kinds))


def _compares_unknown_thing(phrase: FunctionPhrase, reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """ "Who runs the quickest *boat*": whether the adjective says something of a single thing of another name."""
    found = scale_of_superlative(phrase.words)
    if (
        reading.tokens[0].word != "who"
        or found is None
        or is_any_extent(found[0])
        or phrase.last >= len(reading.tokens)
    ):
        return False
    token = reading.tokens[phrase.last]
    names_number = any(
        isinstance(link.meaning, FieldMention)
        and link.first == phrase.last
        and lexicon.get_field(link.meaning.field, link.meaning.column).type in NUMERIC_TYPES
        for link in reading.links
    )
    is_noun = token.word.isalpha() and token.word not in STOP_WORDS | FILLER_WORDS
    return is_noun and not names_number and not looks_plural(token)


def _is_plural_noun_at(index: int, reading: BucketReading) -> bool:
    """ "The newest *tickets*": whether a plural noun for documents begins at the token."""
    return any(map(looks_plural, _nouns_at(index, reading)))


def _follows_plural_noun(phrase: FunctionPhrase, words: Sequence[str], reading: BucketReading) -> bool:
    """ "*Flights* with the shortest distance", but not "which of the *flights* is the shortest"."""
    for link in reading.links:
        if (
            isinstance(link.meaning, BucketNoun)
            and link.last <= phrase.first
            and looks_plural(reading.tokens[link.last - 1])
        ):
            return not {"of", "among"} & set(words[: link.first]) and "is" not in words[link.last : phrase.first]
    return False


def _nouns_at(index: int, reading: BucketReading) -> list[QuestionToken]:
    return [
        reading.tokens[link.last - 1]
        for link in reading.links
        if isinstance(link.meaning, BucketNoun) and link.first == index
    ]


def _compares_documents(
    phrase: FunctionPhrase, words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon
) -> bool:
    """Whether the superlative compares documents; "the maximum … of" one named document does not."""
    if not names_one_document(reading, lexicon):
        return True
    return words[0] not in YES_NO_VERBS and bool(ordering_fields(phrase, words, reading, lexicon))
