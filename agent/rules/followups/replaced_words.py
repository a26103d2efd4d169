"""Completes an elliptic message with the words of the last question: "and in 2024?", "same for Oslo?", "and cats?".

The message names one thing of a kind that the question names too: another value of the same field, another number or
day, another name, another field. It takes the place of the words for that thing, wherever they appear, so that the rest
of the question keeps its meaning: its form, its negations and the sets within it.
"""

import re
from collections.abc import Iterator, Sequence

from agent.english.function_words import PREPOSITIONS, STOP_WORDS, WIDENING_WORDS
from agent.rules.lexicon.span_links import FieldMention, PartialMatch, SpanLink, ValueMatch
from agent.rules.literals.literal_types import QuantityLiteral, QuestionLiteral
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.reading.question_reader import QuestionReader
from storage.search.conditions import ComparisonCondition, semi_joins_in
from storage.search.ids import BucketId
from storage.search.plan import Leg

_LEAD = re.compile(
    r"^\W*(?:(?:and|but|or|ok|okay|now|then|so)\b\W*)*"
    r"(?:(?:what|how)\s+about\s+|(?:the\s+)?same(?:\s+(?:thing|question|again|please))*(?:\s+for)?\s+|"
    r"(?:that\s+)?for\s+(?=(?:the\s+)?[A-Z]))?",
    re.IGNORECASE,
)
_QUESTION_WORD = re.compile(
    r"^\W*(?:and\s+)?(?:which|who|how\s+(?:many|much))\s+(?:ones?\s+)?"
    r"(?!(?:is|are|was|were|do|does|did|has|have|had|of|ones?)\b)",
    re.IGNORECASE,
)
_SWAP = re.compile(
    r"^\W*(?:(?:no|sorry|oops|wait)\b\W*)?not\s+(?P<old>[^,;?!.–—]+?)(?:\s*[,;–—-]\s*(?:but\s+)?|\s+but\s+)(?P<new>[^,;]+?)\W*$",
    re.IGNORECASE,
)
_TAIL = re.compile(r"[\s,]*(?:\bthen\b|\bplease\b|\binstead\b|\bthere\b)?[\s?!.]*$", re.IGNORECASE)
_PREPOSITION = "|".join(sorted(map(re.escape, PREPOSITIONS), key=len, reverse=True))
_PREPOSITION_BEFORE = re.compile(rf"\b(?P<preposition>{_PREPOSITION})\s+(?:the\s+|our\s+|an?\s+)?$", re.IGNORECASE)
_LEADING_PREPOSITION = re.compile(rf"^(?P<preposition>{_PREPOSITION})\s+", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:the|our|an?)\s+", re.IGNORECASE)
_ARTICLE_BEFORE = re.compile(r"\b(?:the|our|an?)\s+$", re.IGNORECASE)
_PLAIN_PREPOSITIONS = frozenset({"for", "with"})  # "same for Oslo": they say nothing of the place in the question
_JOINING_WORDS = frozenset("and or nor as well the a an".split())
_LOOSE_WORDS = STOP_WORDS | PREPOSITIONS | frozenset("one ones only just".split())
_NEGATIONS = frozenset("not no without except never".split())
_MAX_WORDS = 7  # of a message that names only one thing
_PRONOUNS_OF_PARTIES = (
    (re.compile(r"\btheir\b(?!\s+own\b)", re.IGNORECASE), "{}'s"),
    (re.compile(r"\b(?:they|them)\b", re.IGNORECASE), "{}"),
    (re.compile(r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )\bthere\b(?=\W*$)", re.IGNORECASE), "at {}"),
)
_POSSESSIVE = re.compile(r"['’]s?$")


def complete_with_question(message: str, question: str, reader: QuestionReader, bucket: BucketId | None) -> str | None:
    """Returns the question with the thing that the message names in place of the one it names; else None.

    `bucket` is that of the question's documents, if it is only one.
    """
    if (swapped := _SWAP.match(message)) is not None:
        return _swap_words(swapped["old"], swapped["new"], question, reader, bucket)
    fragment = _fragment_of(message)
    return replace_counterpart(fragment, question, reader, bucket) if fragment else None


def complete_with_name(message: str, question: str, reader: QuestionReader) -> str | None:
    """Returns the question with the name in the message in place of its own only name, whatever fields hold them.

    For a question that texts answer: "the notice period in the Moor contract?", then "and with Orr?".
    """
    fragment = _fragment_of(message)
    if not fragment or [*reader.literals_in(fragment)] or not _is_name(fragment, reader):
        return None
    spans = _capitalised_spans(question, reader)
    return _write_in_place(fragment, len(fragment), question, *spans[0]) if len(spans) == 1 else None


def _fragment_of(message: str) -> str:
    """Returns what an elliptic message names: "and *in 2024*?"; empty for another message."""
    lead = _LEAD.match(message)
    if lead is None or not any(character.isalpha() for character in lead[0]):
        return ""
    fragment = _TAIL.sub("", message[lead.end() :])
    words = fragment.lower().split()
    return "" if len(words) > _MAX_WORDS or set(words) & (WIDENING_WORDS | _NEGATIONS) else fragment


def complete_part(part: str, question: str, reader: QuestionReader, bucket: BucketId | None) -> str | None:
    """ "Which weigh less than 5 kg, and *which more than 60*?": returns the first question with the words of the part.

    Returns None unless the part is nothing but a question word and these words.
    """
    lead = _QUESTION_WORD.match(part)
    fragment = _TAIL.sub("", part[lead.end() :]) if lead is not None else ""
    if not fragment or len(fragment.split()) > _MAX_WORDS:
        return None
    return replace_counterpart(fragment, question, reader, bucket)


def replace_counterpart(fragment: str, question: str, reader: QuestionReader, bucket: BucketId | None) -> str | None:
    """Returns the question with the fragment in place of the words for a thing of the same kind; else None."""
    literals = [*reader.literals_in(fragment)]
    core_start = literals[0].start if literals else len(fragment)
    spans = _counterpart_spans(fragment, literals, question, reader, bucket)
    return _write_in_place(fragment, core_start, question, *next(iter(spans))) if len(spans) == 1 else None


def _swap_words(old: str, new: str, question: str, reader: QuestionReader, bucket: BucketId | None) -> str | None:
    """ "Not cats, dogs": returns the question with the new words, if the old ones are what they replace."""
    spans = {part: _counterpart_spans(part, reader.literals_in(part), question, reader, bucket) for part in (old, new)}
    return replace_counterpart(new, question, reader, bucket) if spans[old] and spans[old] == spans[new] else None


def write_name_of_party(message: str, leg: Leg) -> str | None:
    """ "Who is *their* main contact?", "… *there*": returns the message with the name of whom the leg is about.

    None unless rows of another table were found by this name.
    """
    joins = [join for clause in leg.search.clauses for join in semi_joins_in(clause.condition)]
    names = {join.condition.words for join in joins if isinstance(join.condition, ComparisonCondition)}
    if len(names) != 1 or not next(iter(names))[:1].isalpha():
        return None
    name = next(iter(names))
    for pattern, text in _PRONOUNS_OF_PARTIES:
        if len(pattern.findall(message)) == 1:
            return pattern.sub(text.format(name), message)
    return None


# -- the counterpart in the question


def _counterpart_spans(
    fragment: str,
    literals: Sequence[QuestionLiteral],
    question: str,
    reader: QuestionReader,
    bucket: BucketId | None,
) -> set[tuple[int, int]]:
    if literals:
        return _literal_spans(fragment, literals, question, reader)
    spans = _value_spans(fragment, question, reader, bucket) or _field_spans(fragment, question, reader, bucket)
    return spans or _name_spans(fragment, question, reader)


def _literal_spans(
    fragment: str, literals: Sequence[QuestionLiteral], question: str, reader: QuestionReader
) -> set[tuple[int, int]]:
    """Returns where the question has a number or day like the one in the fragment."""
    literal = literals[0]
    rest = f"{fragment[: literal.start]} {fragment[literal.end :]}".lower()
    if len(literals) > 1 or not set(re.findall(r"[\w']+", rest)) <= _LOOSE_WORDS:
        return set()
    alike = [other for other in reader.literals_in(question) if type(other) is type(literal)]
    return {span for other in alike if (span := _replaceable_span(literal, other)) is not None}


def _replaceable_span(literal: QuestionLiteral, other: QuestionLiteral) -> tuple[int, int] | None:
    """Returns the part of the other literal that the literal replaces: without the unit, if it has none itself."""
    if not isinstance(literal, QuantityLiteral) or not isinstance(other, QuantityLiteral):
        return other.start, other.end
    if other.comparator_span is not None or (other.currency and not literal.currency):
        return None
    keeps_unit = bool(other.unit) and not literal.unit and other.unit_start > other.number_start
    end = other.unit_start if keeps_unit else other.end
    start = other.number_start if literal.is_bare and not other.is_bare else other.start
    return (start, end) if start < end else None


def _value_spans(fragment: str, question: str, reader: QuestionReader, bucket: BucketId | None) -> set[tuple[int, int]]:
    """Returns where the question has other values of the field whose value the fragment is."""
    if bucket is not None and (spans := _value_spans_in(fragment, question, reader, bucket)):
        return spans
    return {span for other in reader.lexicons for span in _value_spans_in(fragment, question, reader, other)}


def _value_spans_in(fragment: str, question: str, reader: QuestionReader, bucket: BucketId) -> set[tuple[int, int]]:
    reading = reader.read_in_bucket(fragment, bucket)
    values = [link for link in reading.links if isinstance(link.meaning, (ValueMatch, PartialMatch))]
    if not reading.links and _is_capitalised(fragment, reader):
        return _spans_of_name_in_place(fragment, question, reader, bucket)
    if len(values) != 1 or not _explains_all(values, reading):
        return set()
    field = values[0].meaning.field if isinstance(values[0].meaning, (ValueMatch, PartialMatch)) else None
    asked = reader.read_in_bucket(question, bucket)
    places = [
        link
        for link in sorted(asked.links, key=lambda link: link.first)
        if isinstance(link.meaning, (ValueMatch, PartialMatch)) and link.meaning.field == field
    ]
    if not places or not _are_joined(places, asked):
        return set()
    return {(asked.tokens[places[0].first].start, asked.tokens[places[-1].last - 1].end)}


def _spans_of_name_in_place(
    fragment: str, question: str, reader: QuestionReader, bucket: BucketId
) -> set[tuple[int, int]]:
    """ "How many did *Ines* brew?", then "and Ruth?": returns where the question has a value in whose place the name
    means a value of the same field. A first name by itself means nothing.
    """
    asked = reader.read_in_bucket(question, bucket)
    spans: set[tuple[int, int]] = set()
    for link in asked.links:
        if not isinstance(link.meaning, (ValueMatch, PartialMatch)):
            continue
        start, end = asked.tokens[link.first].start, asked.tokens[link.last - 1].end
        completed = reader.read_in_bucket(f"{question[:start]}{fragment}{question[end:]}", bucket)
        if any(
            isinstance(other.meaning, (ValueMatch, PartialMatch))
            and other.meaning.field == link.meaning.field
            and completed.tokens[other.first].start == start
            for other in completed.links
        ):
            spans.add((start, end))
    return spans


def _field_spans(fragment: str, question: str, reader: QuestionReader, bucket: BucketId | None) -> set[tuple[int, int]]:
    """Returns where the question mentions another field of the same type as the field that the fragment names."""
    if bucket is None:
        return set()
    reading, asked = reader.read_in_bucket(fragment, bucket), reader.read_in_bucket(question, bucket)
    schema = reader.lexicons[bucket].schema
    mentions = [*_mentions_in(reading)]
    if len(mentions) != 1 or not _explains_all([link for link, _ in mentions], reading):
        return set()
    named = schema.by_name[mentions[0][1].field]
    others = [(link, schema.by_name[mention.field]) for link, mention in _mentions_in(asked)]
    places = [link for link, field in others if field.type is named.type and field.name != named.name]
    if len(places) != 1:
        return set()
    return {(asked.tokens[places[0].first].start, asked.tokens[places[0].last - 1].end)}


def _mentions_in(reading: BucketReading) -> Iterator[tuple[SpanLink, FieldMention]]:
    for link in reading.links:
        if isinstance(link.meaning, FieldMention) and link.meaning.column is None and not link.meaning.is_question:
            yield link, link.meaning


def _name_spans(fragment: str, question: str, reader: QuestionReader) -> set[tuple[int, int]]:
    """Returns where the question has a name, if the fragment is a name that no value holds."""
    if not _is_capitalised(fragment, reader) or any(reading.conditions for reading in reader.readings_of(fragment)):
        return set()
    return {*_capitalised_spans(question, reader)}


def _is_name(fragment: str, reader: QuestionReader) -> bool:
    """Whether the fragment is written as a name, or is a value of a field and nothing else."""
    return _is_capitalised(fragment, reader) or any(
        _explains_all([link for link in reading.links if isinstance(link.meaning, (ValueMatch, PartialMatch))], reading)
        for reading in reader.readings_of(fragment)
    )


def _is_capitalised(fragment: str, reader: QuestionReader) -> bool:
    named = [token for token in reader.readings_of(fragment)[0].tokens if token.word not in _LOOSE_WORDS]
    return bool(named) and all(fragment[token.start].isupper() for token in named)


def _capitalised_spans(question: str, reader: QuestionReader) -> list[tuple[int, int]]:
    """Returns where the question has words with a capital letter inside its sentences, side by side."""
    runs: list[tuple[int, int]] = []
    for token in reader.readings_of(question)[0].tokens:
        if token.begins_sentence or not question[token.start].isupper():
            continue
        if runs and not question[runs[-1][1] : token.start].strip(" .'’s"):
            runs[-1] = (runs[-1][0], token.end)
        else:
            runs.append((token.start, token.end))
    return runs


def _explains_all(links: Sequence[SpanLink], reading: BucketReading) -> bool:
    """Whether the links leave only function words of the fragment."""
    linked = {index for link in links for index in range(link.first, link.last)}
    return all(index in linked or token.word in _LOOSE_WORDS for index, token in enumerate(reading.tokens))


def _are_joined(links: Sequence[SpanLink], reading: BucketReading) -> bool:
    """ "Bronze, oak or ivory": whether only "and", "or" and the like appear between the links."""
    covered = {index for link in links for index in range(link.first, link.last)}
    between = set(range(links[0].first, links[-1].last)) - covered
    return all(reading.tokens[index].word in _JOINING_WORDS for index in between)


# -- the question with other words


def _write_in_place(fragment: str, core_start: int, question: str, start: int, end: int) -> str:
    """Returns the question with the fragment at `question[start:end]`; of two prepositions or articles one stays.

    The number, day or name in the fragment begins at `core_start` at the latest.
    """
    end = start + len(question[start:end].rstrip())
    lead = _LEADING_PREPOSITION.match(fragment[:core_start])
    before = _PREPOSITION_BEFORE.search(question[:start])
    if lead is not None and before is not None and lead["preposition"].lower() not in _PLAIN_PREPOSITIONS:
        start = before.start()
    elif lead is not None:
        fragment = fragment[lead.end() :]
    if _ARTICLE_BEFORE.search(question[:start]):
        fragment = _ARTICLE.sub("", fragment)
    if _POSSESSIVE.search(question[start:end]) and not _POSSESSIVE.search(fragment):
        fragment += "'s"
    return f"{question[:start]}{fragment}{question[end:]}"
