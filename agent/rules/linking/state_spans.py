"""Finds the words of a question that say whether something still lasts or is over: "still with us", "former", "alive".

A word speaks of a field that tells so in the bucket (`end_fields`). Where there is none, the word keeps its meaning.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from agent.english.function_words import DAY_ORDER_WORDS, FORMS_OF_BE, PREPOSITIONS, YES_NO_VERBS
from agent.english.state_words import (
    ANY_KIND,
    DEALING_PHRASES,
    ENDED_PHRASES,
    ENDING_VERBS,
    INCLUSION_WORDS,
    LASTING_PHRASES,
    PRESENCE_PHRASES,
    PRESENT_ADVERBS,
    VALIDITY_PHRASES,
    WORDS_BETWEEN_OPPOSITES,
    EndKind,
    Phrase,
)
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.end_fields import EndField, is_status
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, LinkMeaning, SpanLink, ValueMatch
from agent.rules.literals.literal_types import DateLiteral, LiteralSpan
from agent.rules.words.tokens import QuestionToken
from storage.search.conditions import TITLE_FIELD
from storage.search.schema import FieldType

_MAX_DATE_DISTANCE = 4  # tokens from a verb to the day on which it happened
_MAX_STATE_DISTANCE = 3  # tokens from "still" to what still holds
_WORDS_AFTER_VERB = frozenset(
    "us in during between since before after last this on the our from for and or but".split()
)
_WORDS_BEFORE_VERB = frozenset(
    """who that which have has had ve s been is are was were nobody one yet already people members employees staff
    everyone anyone everybody anybody those ones and or not t never""".split()
)
_AMBIGUOUS_VERBS = frozenset({("left",), ("paid",)})  # "days left", "on the left", "the price paid"
_WORDS_BETWEEN_SETS = frozenset("that which ones those any but minus without except excluding not and or".split())
_AMOUNT_QUESTIONS = frozenset("much what amount total sum".split())
_OBJECT_DETERMINERS = frozenset("a an no some any it them this that these those over to".split())
_WORDS_BEFORE_REMAINDER = FORMS_OF_BE | {"s", "what"}  # "what is left"
_SUBJECT_WORDS = frozenset("who that which have has had ve already never people members staff everyone anyone".split())
_NOUN_MODIFIERS = frozenset({("past",), ("present",), ("ex",), ("living",), ("existing",), ("active",), ("open",)})
_WORDS_BEFORE_QUESTIONED_DAY = frozenset({"when", "until", "till"})
_PREDICATES = frozenset({("done",), ("over",), ("not", "over"), ("not", "done"), ("finished", "with")})
_WORDS_BEFORE_PREDICATE = FORMS_OF_BE | frozenset("already re s still all yet aren isn t not".split())
_MAX_PHRASE_WORDS = 5
_WORDS_OF_ALTERNATIVES = frozenset("whether or not if regardless of".split())
_FIRST_WORDS_OF_STATES = frozenset(phrase[0] for phrase in (*LASTING_PHRASES, *ENDED_PHRASES, *ENDING_VERBS))
_FIRST_WORDS_OF_ADVERBS = frozenset(phrase[0] for phrase in PRESENT_ADVERBS)
# A question without any of these has no state and no voided link, unless it begins as a yes-or-no question: each phrase
# is there only with its longest word.
_WORDS_OF_STATES = frozenset({"longer", "not"}) | {
    max(phrase, key=len) for phrase in (*LASTING_PHRASES, *ENDED_PHRASES, *ENDING_VERBS, *PRESENT_ADVERBS)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StateSpan:
    """`tokens[first:last]` say that what `fields` tell of has ended or lasts. No fields: the words put no condition."""

    first: int
    last: int
    fields: tuple[EndField, ...]
    has_ended: bool


@dataclass(frozen=True, slots=True)
class FoundStates:
    """The links of a question that no state explains better, the states, and tokens without a meaning."""

    links: list[SpanLink]
    spans: tuple[StateSpan, ...]
    empty_tokens: frozenset[int]

    def without_lasting_states(self) -> "FoundStates":
        """Returns the states without those that say that something lasts; their words carry nothing then."""
        lasting = [span for span in self.spans if not span.has_ended]
        emptied = {index for span in lasting for index in range(span.first, span.last)}
        ended = tuple(span for span in self.spans if span.has_ended)
        return FoundStates(self.links, ended, self.empty_tokens | emptied)


def find_states(
    tokens: Sequence[QuestionToken],
    question: str,
    links: Sequence[SpanLink],
    literal_spans: Sequence[LiteralSpan],
    lexicon: BucketLexicon,
) -> FoundStates:
    """Reads the words that no value, name or literal explains."""
    words = [token.word for token in tokens]
    if _WORDS_OF_STATES.isdisjoint(words) and (not words or words[0] not in YES_NO_VERBS):
        return FoundStates([*links], (), frozenset())
    search = _StateSearch(tokens, question, links, literal_spans, lexicon)
    return search.find_states()


class _StateSearch:
    def __init__(
        self,
        tokens: Sequence[QuestionToken],
        question: str,
        links: Sequence[SpanLink],
        literal_spans: Sequence[LiteralSpan],
        lexicon: BucketLexicon,
    ) -> None:
        self._tokens, self._question, self._links = tokens, question, links
        self._literal_spans, self._lexicon = literal_spans, lexicon
        self._words = [token.word for token in tokens]
        self._firm_tokens = {
            index for link in links if not self._may_give_way(link) for index in range(link.first, link.last)
        } | {index for _, first, last in literal_spans for index in range(first, last)}
        self._named_tokens = {
            index
            for link in links
            if not isinstance(link.meaning, FieldMention) or lexicon.is_flag(link.meaning) or link.meaning.is_negated
            for index in range(link.first, link.last)
        } | {index for _, first, last in literal_spans for index in range(first, last)}
        self._spans: list[StateSpan] = []
        self._verb_links: list[SpanLink] = []
        self._empty_tokens: set[int] = set()

    def find_states(self) -> FoundStates:
        self._read_voided_links()
        self._read_validity()
        self._read_phrases()
        self._read_ceased()
        self._read_adverbs()
        self._void_opposites()
        taken = {index for span in self._spans for index in range(span.first, span.last)} | {
            index for link in self._verb_links for index in range(link.first, link.last)
        }
        kept = [
            link
            for link in self._links
            if taken.isdisjoint(range(link.first, link.last))
            and not self._empty_tokens.issuperset(range(link.first, link.last))
        ]
        return FoundStates([*kept, *self._verb_links], tuple(self._spans), frozenset(self._empty_tokens))

    def _may_give_way(self, link: SpanLink) -> bool:
        """Whether a state may explain the words better: a hint, or the name of a date on which something ended."""
        meaning = link.meaning
        if not isinstance(meaning, FieldMention) or meaning.is_negated or meaning.column is not None:
            return False
        is_verb = tuple(self._words[link.first : link.last]) in ENDING_VERBS
        return meaning.is_hint or (
            not meaning.is_question
            and link.last - link.first <= 2
            and (is_verb or meaning.field in self._lexicon.end_fields.dates)
        )

    # -- phrases

    def _read_phrases(self) -> None:
        index = 0
        while index < len(self._tokens):
            index = self._read_phrase_at(index) or index + 1

    def _read_phrase_at(self, first: int) -> int:
        """Reads the longest phrase that begins at `first`; returns its end, or 0."""
        if self._words[first] not in _FIRST_WORDS_OF_STATES:
            return 0
        for last in range(min(first + _MAX_PHRASE_WORDS, len(self._tokens)), first, -1):
            phrase = tuple(self._words[first:last])
            if not self._is_free(first, last) or self._is_covered(first):
                continue
            for phrases, has_ended in ((LASTING_PHRASES, False), (ENDED_PHRASES, True)):
                if phrase in phrases and self._modifies_field(last):
                    self._empty_tokens.update(() if has_ended else range(first, last))
                    continue  # "the current rent of …"
                if phrase in phrases and self._stands_as_state(phrase, first, last):
                    return self._add_span(first, last, phrases[phrase], has_ended=has_ended)
            if phrase in ENDING_VERBS and self._stands_as_verb(phrase, first, last):
                return self._add_verb(first, last, ENDING_VERBS[phrase])
        return 0

    def _is_free(self, first: int, last: int) -> bool:
        return self._firm_tokens.isdisjoint(range(first, last)) and not any(
            token.is_quoted or (token.is_name and not token.begins_sentence) for token in self._tokens[first:last]
        )

    def _stands_as_state(self, phrase: Phrase, first: int, last: int) -> bool:
        word_after = self._word_at(last)
        if phrase in _NOUN_MODIFIERS and word_after in PREPOSITIONS and self._word_at(first - 1) not in ("still", "or"):
            return False  # "living in Rome", "open on Sundays"
        if phrase in _PREDICATES:
            return self._word_at(first - 1) in _WORDS_BEFORE_PREDICATE
        if phrase == ("past",):
            return self._begins_noun(last) or word_after in ("or", "and", "ones") or self._word_at(first - 1) == "or"
        if phrase == ("present",):
            return self._begins_noun(last) or bool(
                {word_after, self._word_at(first - 1)} & {"or", "and", "ones", "only"}
            )
        return True

    def _modifies_field(self, index: int) -> bool:
        """Whether the name of a field, and no noun for the documents, follows."""
        is_field = any(
            link.first == index
            and isinstance(link.meaning, FieldMention)
            and not link.meaning.is_hint
            and link.meaning.field not in self._lexicon.end_fields.dates
            and not self._lexicon.is_flag(link.meaning)
            for link in self._links
        )
        return is_field and self._is_joined(index)

    def _begins_noun(self, index: int) -> bool:
        return any(
            link.first == index and (isinstance(link.meaning, BucketNoun) or not isinstance(link.meaning, FieldMention))
            for link in self._links
        ) or self._word_at(index) in ("ones", "one", "people", "staff", "members", "employees", "customers", "tenants")

    def _stands_as_verb(self, phrase: Phrase, first: int, last: int) -> bool:
        if _WORDS_BEFORE_QUESTIONED_DAY & set(self._words[:first]):
            return False  # it asks for the day
        if ENDING_VERBS[phrase] == (EndKind.PAYMENT,) and _AMOUNT_QUESTIONS & set(self._words[:first]):
            return False  # "how much was paid"
        if phrase not in _AMBIGUOUS_VERBS:
            return True
        if phrase == ("left",):
            return self._tells_leaving(first, last)
        follows_subject = self._word_at(first - 1) in _WORDS_BEFORE_VERB or any(
            link.last == first and not isinstance(link.meaning, FieldMention) for link in self._links
        )
        ends_clause = last >= len(self._words) or self._word_at(last) in _WORDS_AFTER_VERB or not self._is_joined(last)
        return follows_subject and (ends_clause or self._literal_follows(last))

    def _tells_leaving(self, first: int, last: int) -> bool:
        """ "Who left", "members that have left Acme", but not "what is left" or "who left a note"."""
        if self._word_at(last) in _OBJECT_DETERMINERS or self._word_at(first - 1) in _WORDS_BEFORE_REMAINDER:
            return False
        if self._word_at(first - 1) in _SUBJECT_WORDS:
            return True
        follows_noun = any(link.last == first and not isinstance(link.meaning, FieldMention) for link in self._links)
        ends_clause = last >= len(self._words) or self._word_at(last) in _WORDS_AFTER_VERB or not self._is_joined(last)
        return follows_noun and (ends_clause or self._literal_follows(last))

    def _literal_follows(self, index: int) -> bool:
        return any(first == index for _, first, _ in self._literal_spans)

    def _is_joined(self, index: int) -> bool:
        """Whether no mark appears before the token."""
        return not self._question[self._tokens[index - 1].end : self._tokens[index].start].strip()

    def _add_span(self, first: int, last: int, kinds: tuple[EndKind, ...], *, has_ended: bool) -> int:
        fields = tuple(self._lexicon.end_fields.fields_for(kinds))
        if not fields:
            return 0
        self._spans.append(StateSpan(first=first, last=last, fields=fields, has_ended=has_ended))
        return last

    def _add_verb(self, first: int, last: int, kinds: tuple[EndKind, ...]) -> int:
        fields = tuple(self._lexicon.end_fields.fields_for(kinds))
        if not fields:
            return 0
        days = [field for field in fields if field.type is FieldType.DATE]
        if len(days) == 1 and (self._has_own_day(first, last) or self._is_ordered()):
            meaning = FieldMention(days[0].name)
            self._verb_links.append(SpanLink(first=first, last=last, meaning=meaning, weight=1.8 * (last - first)))
            return last
        return self._add_span(first, last, kinds, has_ended=True)

    def _is_ordered(self) -> bool:
        """ "Who resigned *most recently*": whether the day of the end puts the documents in order."""
        in_literals = {index for _, first, last in self._literal_spans for index in range(first, last)}
        return any(word in DAY_ORDER_WORDS and index not in in_literals for index, word in enumerate(self._words))

    def _has_own_day(self, first: int, last: int) -> bool:
        """Whether a day appears beside the verb, and no other name of a date is nearer to it."""
        for literal, literal_first, literal_last in self._literal_spans:
            if not isinstance(literal, DateLiteral):
                continue
            between = range(last, literal_first) if literal_first >= last else range(literal_last, first)
            if len(between) <= _MAX_DATE_DISTANCE and not any(self._names_date(index) for index in between):
                is_taken = literal_last <= first and (
                    self._names_date_before(literal_first)
                    or bool(_WORDS_BETWEEN_SETS & set(self._words[literal_last:first]))
                )
                if not is_taken:
                    return True
        return False

    def _names_date(self, index: int) -> bool:
        return any(
            link.first <= index < link.last
            and isinstance(link.meaning, FieldMention)
            and self._lexicon.get_field(link.meaning.field, link.meaning.column).type is FieldType.DATE
            for link in self._links
        )

    def _names_date_before(self, literal_first: int) -> bool:
        return any(self._names_date(index) for index in range(max(literal_first - 3, 0), literal_first))

    # -- validity

    def _read_validity(self) -> None:
        """ "Is the guarantee of the ash saw *still valid*": reads whether the term of a named document has ended."""
        if not self._words or self._words[0] not in YES_NO_VERBS or not self._names_document():
            return
        for phrase in VALIDITY_PHRASES:
            for first in range(1, len(self._words) - len(phrase) + 1):
                last = first + len(phrase)
                if tuple(self._words[first:last]) == phrase and self._tells_validity(phrase, first, last):
                    self._add_validity(first, last)
                    return

    def _tells_validity(self, phrase: Phrase, first: int, last: int) -> bool:
        is_modifier = phrase == ("valid",) and any(link.first == last for link in self._links)  # "a valid licence"
        is_predicate = last == len(self._words) and (phrase != ("good",) or self._word_at(first - 1) == "still")
        return (is_modifier or is_predicate) and self._named_tokens.isdisjoint(range(first, last))

    def _add_validity(self, first: int, last: int) -> None:
        term = self._find_term(first, last)
        if term is not None:
            first -= self._word_at(first - 1) == "still"
            self._spans.append(StateSpan(first=first, last=last, fields=(term,), has_ended=False))

    def _find_term(self, first: int, last: int) -> EndField | None:
        """Returns the term of the part that the question mentions, or the only term of the bucket."""
        mentions = [
            link.meaning
            for link in self._links
            if isinstance(link.meaning, FieldMention) and link.meaning.column is None and not first <= link.first < last
        ]
        terms = self._lexicon.end_fields.terms
        mentioned = [term for term in terms if any(mention.field == term.name for mention in mentions)]
        names_other_part = any(not mention.is_hint and not self._names_documents(mention) for mention in mentions)
        candidates = mentioned or ([] if names_other_part else terms)
        return candidates[0] if len(candidates) == 1 else None

    def _names_document(self) -> bool:
        names = [link.meaning for link in self._links if isinstance(link.meaning, ValueMatch)]
        return any(
            name.column is None and (name.field == TITLE_FIELD or self._lexicon.is_identifying(name.field))
            for name in names
        )

    # -- adverbs

    def _read_adverbs(self) -> None:
        for first, word in enumerate(self._words):
            if word not in _FIRST_WORDS_OF_ADVERBS:
                continue
            phrase = next(
                (phrase for phrase in PRESENT_ADVERBS if tuple(self._words[first : first + len(phrase)]) == phrase),
                None,
            )
            if phrase is None or first in self._empty_tokens or not self._is_free(first, first + len(phrase)):
                continue
            self._read_adverb(phrase, first, first + len(phrase))

    def _read_ceased(self) -> None:
        """ "Who *no longer works here*", "suppliers we *no longer use*": reads what has ceased to be."""
        for first in range(len(self._tokens) - 2):
            if self._words[first : first + 2] != ["no", "longer"] or self._is_covered(first):
                continue
            last = self._presence_after(first + 2, (*PRESENCE_PHRASES, *DEALING_PHRASES))
            fields = tuple(self._lexicon.end_fields.own_fields)
            if last > first + 2 and fields:
                self._spans.append(StateSpan(first=first, last=last, fields=fields, has_ended=True))

    def _is_covered(self, index: int) -> bool:
        return index in self._firm_tokens or any(span.first <= index < span.last for span in self._spans)

    def _read_adverb(self, phrase: Phrase, first: int, last: int) -> None:
        if phrase == ("now",) and not (self._opens_phrase(last) and any(link.last <= first for link in self._links)):
            return  # "now show …"
        presence = self._presence_after(last)
        adverb_tokens = range(first, last)
        if presence == last and self._is_beside_state(first, last):
            self._empty_tokens.update(adverb_tokens)
            return
        ends = self._lexicon.end_fields
        fields = tuple(ends.own_fields if presence > last else ends.fields_for(ANY_KIND))
        is_firm = presence > last or phrase != ("still",)
        if fields and (is_firm or self._opens_phrase(last)):
            self._spans.append(StateSpan(first=first, last=presence, fields=fields, has_ended=False))

    def _presence_after(self, index: int, phrases: Sequence[Phrase] = PRESENCE_PHRASES) -> int:
        """Returns the end of the words after "still" that only say that somebody is there."""
        ends = [
            index + len(phrase)
            for phrase in phrases
            if tuple(self._words[index : index + len(phrase)]) == phrase
            and self._named_tokens.isdisjoint(range(index, index + len(phrase)))
        ]
        if not ends and self._word_at(index) in ("a", "an"):
            nouns = [link for link in self._links if link.first == index + 1 and self._names_documents(link.meaning)]
            return nouns[0].last if nouns else index
        return max(ends, default=index)

    def _names_documents(self, meaning: LinkMeaning) -> bool:
        """ "Still a *member*": whether a noun of the bucket, or the field that names its documents, is meant."""
        return isinstance(meaning, BucketNoun) or (
            isinstance(meaning, FieldMention) and meaning.column is None and self._lexicon.is_identifying(meaning.field)
        )

    def _is_beside_state(self, first: int, last: int) -> bool:
        near = range(max(first - _MAX_STATE_DISTANCE, 0), last + _MAX_STATE_DISTANCE)
        after = range(last, last + _MAX_STATE_DISTANCE)
        return any(not set(range(span.first, span.last)).isdisjoint(near) for span in self._spans) or any(
            self._tells_state(link) and not set(range(link.first, link.last)).isdisjoint(after) for link in self._links
        )

    def _tells_state(self, link: SpanLink) -> bool:
        meaning = link.meaning
        if isinstance(meaning, BucketNoun) or meaning.column is not None:
            return False
        if isinstance(meaning, FieldMention):
            field = self._lexicon.get_field(meaning.field)
            return meaning.is_negated or field.type in (FieldType.FLAG, FieldType.DATE) or self._is_lacking(link)
        return is_status(self._lexicon.get_field(meaning.field))

    def _is_lacking(self, link: SpanLink) -> bool:
        return bool(
            {"without", "no", "not", "missing", "lack", "lacks", "t"}
            & set(self._words[max(link.first - 3, 0) : link.first])
        )

    def _opens_phrase(self, index: int) -> bool:
        """ "Dogs *still* on the list": whether nothing but a place or the end of the clause follows."""
        return index >= len(self._words) or self._words[index] in PREPOSITIONS or not self._is_joined(index)

    # -- words that put no condition

    def _read_voided_links(self) -> None:
        """ "Whether *returned* or not": drops the links whose words are named together with their opposite."""
        for link in self._links:
            after = tuple(self._words[link.last : link.last + 2])
            before = self._words[max(link.first - 2, 0) : link.first]
            if after == ("or", "not") and ("whether" in before or self._ends_clause(link.last + 2)):
                self._empty_tokens.update(range(link.first, link.last + 2))
                self._firm_tokens.update(range(link.first, link.last + 2))
                self._empty_tokens.update(
                    index for index in range(max(link.first - 2, 0), link.first) if self._words[index] == "whether"
                )

    def _ends_clause(self, index: int) -> bool:
        return index >= len(self._tokens) or not self._is_joined(index)

    def _void_opposites(self) -> None:
        """ "Dead or alive", "alive or not", "expired ones too": keeps the words, but not as conditions."""
        voided: set[StateSpan] = set()
        spans = sorted(self._spans, key=lambda span: span.first)
        for span, following in pairwise(spans):
            between = set(self._words[span.last : following.first])
            if span.has_ended != following.has_ended and between and between <= WORDS_BETWEEN_OPPOSITES:
                voided |= {span, following}
                self._empty_tokens.update(range(span.first, following.last))
        voided |= self._ends_beside_other_ends(spans)
        for span in spans:
            after = self._words[span.last : span.last + 2]
            is_open = after == ["or", "not"]
            is_included = span.has_ended and (
                set(after) & INCLUSION_WORDS
                or after == ["as", "well"]
                or self._word_at(span.first - 1) in ("including", "incl", "also")
            )
            if is_open or is_included:
                voided.add(span)
                self._empty_tokens.update(range(span.first, min(span.last + 2, len(self._words))))
            if is_open:
                self._empty_tokens.update(
                    index
                    for index in range(max(span.first - 3, 0), span.first)
                    if self._words[index] in _WORDS_OF_ALTERNATIVES
                )
        self._spans = [span for span in self._spans if span not in voided]

    def _ends_beside_other_ends(self, spans: Sequence[StateSpan]) -> set[StateSpan]:
        """ "Who died or resigned in 2024": one day belongs to two ends; the end without it is not understood."""
        return {
            span
            for span in spans
            for link in self._verb_links
            if (link.first - span.last == 1 and self._word_at(span.last) == "or")
            or (span.first - link.last == 1 and self._word_at(link.last) == "or")
        }

    def _word_at(self, index: int) -> str:
        return self._words[index] if 0 <= index < len(self._words) else ""
