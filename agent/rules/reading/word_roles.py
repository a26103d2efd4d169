"""The roles of unlinked words: which of them only ask, name the kind of documents, or set a condition.

The noun of the documents divides a question. What appears before its phrase is the request. A word that modifies the
noun, or appears in a phrase behind it, is a condition. A name, an identifier or the object of "about" says what the
text must hold; any other word is a condition that was not understood, and the asker is asked about it.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum

from agent.english.function_words import (
    CONTAINER_NOUNS,
    DISJUNCTIONS,
    EMPTY_WORDS,
    GENERIC_NOUNS,
    LIST_VERBS,
    MENTION_WORDS,
    MODAL_VERBS,
    PEOPLE_NOUNS,
    PERIOD_WORDS,
    PREPOSITIONS,
    PRESENT_WORDS,
    QUANTIFIERS,
    QUESTION_WORDS,
    RELATIVE_PRONOUNS,
    REQUEST_VERBS,
    STOP_WORDS,
    VAGUE_ADJECTIVES,
)
from agent.english.light_words import is_light_verb, is_light_word
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, PartialMatch, SpanLink, ValueMatch
from agent.rules.linking.link_filter import is_content_word
from agent.rules.linking.span_selection import SpanSelection
from agent.rules.reading.empty_phrases import (
    find_keeping_phrases,
    is_empty_phrase,
    is_generic_noun,
    is_identifying_noun,
    is_people_noun,
)
from agent.rules.words.tokens import QuestionToken, looks_plural
from storage.search.conditions import TITLE_FIELD
from storage.text.identifiers import is_identifier

_DETERMINERS = frozenset("a an the this that these those our your their my his her its some any all every each".split())
_WORDS_BEFORE_ASKED_NOUN = QUANTIFIERS | {"many"}
_WORDS_AFTER_NOUN = PREPOSITIONS | RELATIVE_PRONOUNS | STOP_WORDS
_WORDS_BEFORE_NOUN_PHRASE = _DETERMINERS | QUANTIFIERS | LIST_VERBS | STOP_WORDS - PREPOSITIONS
_WORDS_BEFORE_MODIFIERS = STOP_WORDS | QUESTION_WORDS
_OBLIQUE_PREPOSITIONS = frozenset("of for in on from with by at to".split())
_ARTICLES_AND_OWNERS = frozenset("a an the our your their my his her its".split())
_MIN_NOUN_SIMILARITY = 0.3  # cosine from which a noun names the documents of a bucket
_MIN_FITTING_VALUES = 2  # values and literals that show the kind of documents
_WORDS_FOR_QUOTATIONS = frozenset("word words phrase phrases term terms expression text wording".split())
_ACTORS = frozenset("i we they he she one somebody someone anybody anyone people a an the my our".split())
_CLAUSE_MARKS = frozenset(",;:.!?()–—")
_SENTENCE_MARKS = frozenset(".?!:")
_DASHES = frozenset({"-", "–", "—"})
_APOSTROPHES = frozenset("'’")
# They open a sentence that goes on with the request: "Skip the damaged ones."
_RESTRICTING_STARTS = frozenset("only just not no without except excluding exclude leave skip ignore minus but".split())
_HAVING_VERBS = frozenset("run own operate manage keep maintain use hold employ offer sell stock supply".split())
_APPOSITION_WORDS = frozenset({"named", "called"})
# Endings of adjectives and participles: such a word beside a value is not a noun that names the value's kind.
_MODIFIER_ENDINGS = ("ed", "ing", "ive", "ous", "able", "ible", "ful", "less", "ish", "ant", "ent")


class WordRole(Enum):
    """What an unlinked word does in a question."""

    REQUEST = "request"  # it only asks
    KIND = "kind"  # it names the kind of documents
    EXPLAINED = "explained"  # it belongs to a linked phrase
    REQUIRED = "required"  # the text must hold it
    LIGHT = "light"  # an everyday word, which restricts nothing beside words that do
    UNKNOWN = "unknown"  # a condition that was not understood


@dataclass(frozen=True, slots=True)
class _NounPhrase:
    """The phrase of the noun that stands for the documents: its modifiers from `first`, the noun itself."""

    first: int
    noun_first: int
    noun_last: int
    is_guessed: bool  # the noun is not a name of the bucket


def find_word_roles(selection: SpanSelection, runs: Mapping[str, tuple[int, int]]) -> Mapping[str, WordRole]:
    """Returns the role of each run of unlinked tokens. Without a noun for the documents every run is required."""
    phrase = _find_noun_phrase(selection, runs)
    if phrase is None and not _understands_anything(selection):
        return dict.fromkeys(runs, WordRole.REQUIRED)  # the words are all there is to search for
    return {text: _role_of_run(selection, phrase, runs, first, last) for text, (first, last) in runs.items()}


def find_guessed_noun(selection: SpanSelection, runs: Mapping[str, tuple[int, int]]) -> tuple[int, int] | None:
    """Returns first and last token of the word that stands where the noun of the documents stands, if none is known."""
    phrase = _find_noun_phrase(selection, runs)
    return (phrase.noun_first, phrase.noun_last) if phrase is not None and phrase.is_guessed else None


def _understands_anything(selection: SpanSelection) -> bool:
    has_condition = bool(selection.literal_spans or selection.usage.links)
    return has_condition or any(_is_value(link) for link in selection.links)


def _role_of_run(
    selection: SpanSelection,
    phrase: _NounPhrase | None,
    runs: Mapping[str, tuple[int, int]],
    first: int,
    last: int,
) -> WordRole:
    tokens = selection.tokens
    if last - first == 1 and is_generic_noun(tokens, first):
        return WordRole.KIND
    if phrase is not None and phrase.is_guessed and (first, last) == (phrase.noun_first, phrase.noun_last):
        is_near = selection.similarities.similarity_to_noun(tokens[last - 1].word) >= _MIN_NOUN_SIMILARITY
        return WordRole.KIND if is_near or _is_well_explained(selection, runs) else WordRole.UNKNOWN
    if tokens[first].word in PRESENT_WORDS:
        return WordRole.UNKNOWN if selection.lexicon.has_end_dates else WordRole.REQUEST
    if tokens[first].word in _WORDS_FOR_QUOTATIONS and last < len(tokens) and tokens[last].is_quoted:
        return WordRole.REQUEST
    if last - first == 1 and (_is_empty(selection, first) or _is_filler(selection, first)):
        return WordRole.REQUEST
    if _names_list_or_number(selection, first, last):
        return WordRole.EXPLAINED
    if last - first == 1 and is_people_noun(tokens, first) and _knows_people(selection):
        return WordRole.EXPLAINED
    if any(_is_name(token) for token in tokens[first:last]) or is_identifier(_text_of(selection, first, last)):
        return WordRole.REQUIRED
    if phrase is not None and first < phrase.first:
        return _role_before_noun(selection, phrase, first, last)
    if phrase is not None and first < phrase.noun_first:
        return _role_of_modifier(tokens[first])
    return _role_after_noun(selection, first, last)


def _is_well_explained(selection: SpanSelection, runs: Mapping[str, tuple[int, int]]) -> bool:
    """ "Homes with 2 bedrooms below 300k": whether several values fit the bucket and no other word is left over."""
    fitting_count = len(selection.literal_spans) + sum(map(_is_value, selection.links))
    return fitting_count >= _MIN_FITTING_VALUES and len(runs) == 1


def _is_empty(selection: SpanSelection, index: int) -> bool:
    ends_clause = _has_mark_between(selection, index)
    return is_empty_phrase(selection.tokens, index, selection.lexicon.schema, ends_clause=ends_clause)


def _names_list_or_number(selection: SpanSelection, first: int, last: int) -> bool:
    """ "In the *lab book*", "which stock *codes*": whether the words are for all documents, or number them."""
    stems = selection.lexicon.noun_stems
    is_number = last - first == 1 and is_identifying_noun(selection.tokens, first, stems)
    return is_number or find_keeping_phrases(selection.tokens, stems).issuperset(range(first, last))


def _is_filler(selection: SpanSelection, index: int) -> bool:
    """ "*Someone* told me", "*actually*": whether the word restricts nothing, wherever it stands."""
    token = selection.tokens[index]
    return token.word in EMPTY_WORDS and not _is_name(token) and index not in selection.negated_tokens


def _knows_people(selection: SpanSelection) -> bool:
    """Whether the documents are people, or name people."""
    roles = selection.lexicon.roles
    return roles.holds_people or bool(roles.persons)


def _is_name(token: QuestionToken) -> bool:
    """Whether the token is written as a name; a capital at the beginning of a sentence is none."""
    if token.is_quoted:
        return True
    return token.is_name and not (token.begins_sentence and token.word.isalpha())


def _text_of(selection: SpanSelection, first: int, last: int) -> str:
    return selection.question[selection.tokens[first].start : selection.tokens[last - 1].end]


# -- the noun phrase


def _find_noun_phrase(selection: SpanSelection, runs: Mapping[str, tuple[int, int]]) -> _NounPhrase | None:
    """Returns the phrase of the first noun of the bucket, else of a kind, else of a noun that stands like one."""
    nouns = [link for link in selection.links if isinstance(link.meaning, BucketNoun) and not _is_who(selection, link)]
    nouns = nouns or [link for link in selection.links if names_kind(selection, link)]
    if nouns:
        return _phrase_around(selection, nouns[0].first, nouns[0].last, is_guessed=False)
    if not _understands_anything(selection) or not selection.lexicon.holds_records:
        return None
    if any(_names_document(selection, link) for link in selection.links):
        return None  # the question is about that document
    guessed = next((run for run in sorted(runs.values()) if _stands_like_noun(selection, *run)), None)
    guessed = guessed or _find_generic_noun(selection)
    return None if guessed is None else _phrase_around(selection, *guessed, is_guessed=True)


def _find_generic_noun(selection: SpanSelection) -> tuple[int, int] | None:
    """ "Which *items* are made of oak": returns first and last token of a noun that stands for any document."""
    found = (
        (index, index + 1)
        for index in range(len(selection.tokens))
        if is_generic_noun(selection.tokens, index) and not _covers_token(selection, index)
    )
    return next(found, None)


def _names_document(selection: SpanSelection, link: SpanLink) -> bool:
    meaning = link.meaning
    if not isinstance(meaning, (ValueMatch, PartialMatch)) or meaning.column is not None:
        return False
    return meaning.field == TITLE_FIELD or selection.lexicon.is_identifying(meaning.field)


def _is_who(selection: SpanSelection, link: SpanLink) -> bool:
    return selection.tokens[link.first].word == "who"


def _is_value(link: SpanLink) -> bool:
    return isinstance(link.meaning, (ValueMatch, PartialMatch))


def names_kind(selection: SpanSelection, link: SpanLink) -> bool:
    """ "Transistors", "solvents": whether a plural names a category or a flag, and so the documents that have it."""
    if isinstance(link.meaning, BucketNoun) or link.meaning.column is not None:
        return False
    token = selection.tokens[link.last - 1]
    if not looks_plural(token) or token.is_quoted:
        return False
    if isinstance(link.meaning, FieldMention):
        return selection.lexicon.is_flag(link.meaning)
    return selection.lexicon.is_categorical(link.meaning.field)


def _stands_like_noun(selection: SpanSelection, first: int, last: int) -> bool:
    """ "Which 12 V *components* have …": whether an unlinked word stands where the noun of a list stands."""
    tokens = selection.tokens
    token = tokens[last - 1]
    if last - first != 1 or _is_name(token) or first in selection.negated_tokens:
        return False
    introduced = any(tokens[index].word in _WORDS_BEFORE_ASKED_NOUN for index in range(max(first - 3, 0), first))
    if not (looks_plural(token) or introduced):
        return False
    is_asked_for = first > 0 and tokens[first - 1].word in _WORDS_BEFORE_ASKED_NOUN
    if last < len(tokens) and not is_asked_for and not _has_mark_between(selection, last - 1):
        word_after = tokens[last].word
        starts_phrase = word_after in _WORDS_AFTER_NOUN
        if not starts_phrase and not _covers_token(selection, last):
            return False
    opens_at = _phrase_start(selection, first)
    if any(link.last <= opens_at for link in selection.links if _is_value(link)):
        return False  # the noun of a list appears before what restricts it
    word_before = tokens[opens_at - 1].word if opens_at else ""
    return opens_at == 0 or word_before in _WORDS_BEFORE_NOUN_PHRASE


def _phrase_around(selection: SpanSelection, first: int, last: int, *, is_guessed: bool) -> _NounPhrase:
    return _NounPhrase(_phrase_start(selection, first), first, last, is_guessed)


def _phrase_start(selection: SpanSelection, noun_first: int) -> int:
    """Returns the first token of the noun's phrase: its modifiers reach back to a function word or a mark."""
    index = noun_first
    while index > 0 and not _has_mark_between(selection, index - 1):
        is_covered = _covers_token(selection, index - 1)
        if not is_covered and selection.tokens[index - 1].word in _WORDS_BEFORE_MODIFIERS:
            break
        index -= 1
    return index


def _has_mark_between(selection: SpanSelection, index: int) -> bool:
    """Whether a mark that ends a clause follows the token."""
    tokens = selection.tokens
    if index + 1 >= len(tokens):
        return False
    return bool(_CLAUSE_MARKS & set(selection.question[tokens[index].end : tokens[index + 1].start]))


def _ends_sentence_between(selection: SpanSelection, first: int, last: int) -> bool:
    """Whether a sentence ends behind one of the tokens from `first` to before `last`; at a colon or dash, too."""
    gaps = (_gap_after(selection, index) for index in range(first, last))
    return any(_SENTENCE_MARKS & set(gap) or (gap.strip() in _DASHES and gap != gap.strip()) for gap in gaps)


def _gap_after(selection: SpanSelection, index: int) -> str:
    """Returns what appears between the token and the next one."""
    return selection.question[selection.tokens[index].end : selection.tokens[index + 1].start]


def _is_sentence_linked(selection: SpanSelection, index: int) -> bool:
    """Whether a word of the sentence has a meaning in the bucket; else the sentence is not a part of the question."""
    return _has_linked_token(selection, _sentence_around(selection, index))


def _has_linked_token(selection: SpanSelection, positions: range) -> bool:
    """Whether one of the tokens has a meaning in the bucket; the "one" of "quick one" counts nothing."""
    return any(
        _covers_token(selection, position) and selection.tokens[position].word not in GENERIC_NOUNS
        for position in positions
    )


def _sentence_around(selection: SpanSelection, index: int) -> range:
    """Returns the positions of the tokens in the sentence of the token."""
    first = last = index
    while first > 0 and not _ends_sentence_between(selection, first - 1, first):
        first -= 1
    while last + 1 < len(selection.tokens) and not _ends_sentence_between(selection, last, last + 1):
        last += 1
    return range(first, last + 1)


def _only_gives_reason(selection: SpanSelection, index: int) -> bool:
    """ "How tall is it? *Need to know whether it fits through the door.*": whether the sentence asks for nothing."""
    sentence = _sentence_around(selection, index)
    return (
        len(sentence) < len(selection.tokens)
        and selection.tokens[sentence.start].word not in _RESTRICTING_STARTS
        and selection.negated_tokens.isdisjoint(sentence)
        and not _has_linked_token(selection, sentence)
    )


def _covers_token(selection: SpanSelection, index: int) -> bool:
    return any(link.first <= index < link.last for link in selection.links if not _is_hint(link)) or any(
        first <= index < last for _, first, last in selection.literal_spans
    )


def _is_hint(link: SpanLink) -> bool:
    return isinstance(link.meaning, FieldMention) and link.meaning.is_hint


# -- roles by position


def _role_of_modifier(token: QuestionToken) -> WordRole:
    """The role of a word right before the noun: "*lapsed* licences"."""
    if token.word in VAGUE_ADJECTIVES or (token.begins_sentence and token.word in REQUEST_VERBS):
        return WordRole.REQUEST
    return WordRole.EXPLAINED if token.word.endswith("ly") else WordRole.UNKNOWN


def _role_before_noun(selection: SpanSelection, phrase: _NounPhrase, first: int, last: int) -> WordRole:
    is_of_earlier_sentence = _ends_sentence_between(selection, last - 1, phrase.first)
    if is_of_earlier_sentence and not _is_sentence_linked(selection, first):
        return WordRole.REQUEST  # "the auditor is on my back. Which parcels …"
    if is_of_earlier_sentence or _is_in_fronted_phrase(selection, first) or _asks_what_one_may_do(selection.tokens):
        return _role_after_noun(selection, first, last)
    if _is_asked_attribute(selection, phrase, last) or _is_counted_noun(selection.tokens, first):
        return WordRole.UNKNOWN
    return WordRole.REQUEST


def _is_counted_noun(tokens: Sequence[QuestionToken], index: int) -> bool:
    """ "How many *people* sent parcels": whether something else than the documents is counted."""
    is_counted = index > 1 and (tokens[index - 2].word, tokens[index - 1].word) == ("how", "many")
    is_plural = looks_plural(tokens[index]) or tokens[index].word in PEOPLE_NOUNS
    return is_counted and is_plural and tokens[index].word not in CONTAINER_NOUNS


def _asks_what_one_may_do(tokens: Sequence[QuestionToken]) -> bool:
    """ "Can I bring a *dog* on the trams": whether the words before the noun are part of a yes-or-no question."""
    words = [token.word for token in tokens[:2]]
    return len(words) > 1 and words[0] in MODAL_VERBS and words[1] in _ACTORS


def _is_in_fronted_phrase(selection: SpanSelection, index: int) -> bool:
    """ "In the *harbour* district, which …": whether the word is in a phrase before the comma of the question."""
    start = index
    while start > 0 and not _has_mark_between(selection, start - 1):
        start -= 1
    ends_before_mark = any(_has_mark_between(selection, later) for later in range(index, len(selection.tokens)))
    return ends_before_mark and selection.tokens[start].word in PREPOSITIONS


def _is_asked_attribute(selection: SpanSelection, phrase: _NounPhrase, last: int) -> bool:
    """ "What is the *horsepower* of the vans": whether the word names what is asked of the documents."""
    tokens = selection.tokens
    index = phrase.first - 1
    determiners: Set[str] = set()
    while index >= 0 and tokens[index].word in _DETERMINERS:
        determiners |= {tokens[index].word}
        index -= 1
    if index < 0 or tokens[index].word not in _OBLIQUE_PREPOSITIONS or last != index:
        return False
    asks_for_all = bool(determiners & {"all", "every", "each", "any"})
    return not asks_for_all and tokens[last - 1].word not in CONTAINER_NOUNS


def _role_after_noun(selection: SpanSelection, first: int, last: int) -> WordRole:
    tokens = selection.tokens
    if _is_beside_literal(selection, first, last):
        return WordRole.EXPLAINED
    if tokens[first].word in VAGUE_ADJECTIVES or _only_gives_reason(selection, first):
        return WordRole.REQUEST
    if _opening_preposition(selection, first) in MENTION_WORDS:
        return WordRole.REQUIRED
    if tokens[first].word.endswith("ly") or _names_kind_of_value(selection, first, last):
        return WordRole.EXPLAINED
    if first and tokens[first - 1].word == "we" and tokens[first].word in _HAVING_VERBS and last == len(tokens):
        return WordRole.REQUEST  # "the vans we run"
    return WordRole.LIGHT if last - first == 1 and _is_light(selection, first) else WordRole.UNKNOWN


def _is_light(selection: SpanSelection, index: int) -> bool:
    """ "Orders *placed* this year", "every *time* we bought": whether the word says nothing of its own."""
    word = selection.tokens[index].word
    if index in selection.negated_tokens or not is_light_word(word):
        return False
    if index and selection.tokens[index - 1].word in DISJUNCTIONS:
        return False  # "open or *waiting* for parts"
    stands_as_noun = index > 0 and selection.tokens[index - 1].word in _ARTICLES_AND_OWNERS
    return not (is_light_verb(word) and (stands_as_noun or _has_explained_subject(selection, index)))


def _has_explained_subject(selection: SpanSelection, index: int) -> bool:
    """ "Minutes that *talk* about the open day": whether what the verb is about was taken for something else."""
    tokens = selection.tokens
    if index + 1 >= len(tokens) or tokens[index + 1].word != "about":
        return False
    states = {token for span in selection.states for token in range(span.first, span.last)}
    explained = states | selection.usage.tokens
    subject = [token for token in range(index + 2, len(tokens)) if is_content_word(tokens[token])]
    return all(token in explained or _covers_token(selection, token) for token in subject)


def _is_beside_literal(selection: SpanSelection, first: int, last: int) -> bool:
    """ "At least 20 *people*", "in the *month* of March": whether a word says what a number or a day counts."""
    tokens = selection.tokens
    is_counted = any(literal_last == first for _, _, literal_last in selection.literal_spans)
    if is_counted and not tokens[first].word.endswith(_MODIFIER_ENDINGS):
        return True
    after = last + (last < len(tokens) and tokens[last].word == "of")
    starts_literal = any(literal_first == after for _, literal_first, _ in selection.literal_spans)
    return tokens[first].word in PERIOD_WORDS and starts_literal


def _opening_preposition(selection: SpanSelection, index: int) -> str:
    """Returns the word that opens the phrase of the token, if only content words and determiners appear between."""
    tokens = selection.tokens
    before = index - 1
    while before >= 0 and not _has_mark_between(selection, before):
        word = tokens[before].word
        if word in MENTION_WORDS or word in PREPOSITIONS:
            return word
        continues = word in _DETERMINERS or word in ("and", "or") or is_content_word(tokens[before])
        if not continues or _covers_token(selection, before):
            return ""
        before -= 1
    return ""


def _names_kind_of_value(selection: SpanSelection, first: int, last: int) -> bool:
    """ "The Lyon *depot*", "the *depot* named Lyon": whether a noun beside a value says what the value is."""
    tokens = selection.tokens
    if last - first != 1 or tokens[first].word.endswith(_MODIFIER_ENDINGS):
        return False
    if first and _is_in_value(selection, first - 1) and not _has_mark_between(selection, first - 1):
        return not _APOSTROPHES & set(_gap_after(selection, first - 1))  # "Ida Voss' extension" asks for a value
    after = last + (last < len(tokens) and tokens[last].word in _APPOSITION_WORDS)
    return after < len(tokens) and _is_in_value(selection, after) and not _has_mark_between(selection, last - 1)


def _is_in_value(selection: SpanSelection, index: int) -> bool:
    return any(_is_value(link) and link.first <= index < link.last for link in selection.links)
