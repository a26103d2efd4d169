"""Finds phrases that leave documents out: "not counting the sold ones", "apart from cameras", "cancelled ones aside".

They negate what appears within the phrase, and nothing after it.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from agent.english.function_words import NEGATIONS, PREPOSITIONS, RELATIVE_PRONOUNS, STOP_WORDS
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, SpanLink
from agent.rules.words.tokens import QuestionToken
from storage.search.schema import FieldType


def _phrases_of(text: str) -> Mapping[str, Sequence[tuple[str, ...]]]:
    """Returns the phrases by their first word, the longest first."""
    phrases = sorted((tuple(phrase.split()) for phrase in text.split(",")), key=len, reverse=True)
    return {first: [phrase for phrase in phrases if phrase[0] == first] for first in {phrase[0] for phrase in phrases}}


_EXCLUDING_PHRASES = _phrases_of(
    """not counting, not including, not incl, excluding, excl, exclude, ignoring, ignore, disregarding, disregard,
    leave out, leaving out, leave aside, leaving aside, skipping, skip, omitting, omit, except for, except, excepting,
    other than, apart from, aside from, barring, minus, discounting, save for, not interested in, no need for,
    don t include, don t count, don t list, don t show, do not include, do not count, do not list, do not show,
    without counting, without including, with the exception of, bar, drop, but"""
)
_FOLLOWING_PHRASES = _phrases_of(
    """don t matter, doesn t matter, do not matter, does not matter, don t count, doesn t count, do not count,
    does not count, dont count, doesnt count, dont matter, doesnt matter, isn t counted, is not counted,
    shouldn t count, should not count, must not count, don t belong here, can stay out, stay out,
    don t interest me, do not interest me, don t interest us, not counted, not included, not needed, not wanted,
    not required, not relevant, not of interest, aside, excluded, excepted, left out, left aside, can be ignored,
    can be left out, can be skipped, are irrelevant, aren t needed, aren t relevant, aren t counted, aren t included"""
)
_WORDS_FOR_COMMANDS = frozenset({"bar", "drop", "skip", "ignore", "omit", "exclude"})  # nouns and names elsewhere
_QUANTIFIERS = frozenset("all every everything everyone everybody any anything anyone each".split())
_WORDS_AFTER_OTHER_BUT = frozenset("not only also no who which that with without is are has have".split())
_MAX_WORDS_TO_BUT = 3
_WORDS_AFTER_BAR = frozenset("the those any all ones".split())
_PRONOUNS = frozenset(
    """any those ones one all anything anyone everyone everything them whatever whichever whoever somebody those these
    ones' anybody""".split()
)
_LEADING_WORDS = STOP_WORDS | PREPOSITIONS | RELATIVE_PRONOUNS | _PRONOUNS | frozenset("already since ever".split())
_MAX_LEADING_WORDS = 8
_MARKS = frozenset(",;:.!?()–—")
_LIST_WORDS = frozenset("or and nor".split())
_ARTICLES = frozenset("the a an any in at by from of with for on".split())
_NOBODY_WORDS = frozenset("nobody noone".split())
_WORDS_OF_NOBODY = frozenset("has have had s ever yet been us it is was".split())
_GIVING_VERBS = frozenset(
    """give gave given tell told provide provided send sent leave left supply supplied enter entered record recorded
    register registered note noted name named""".split()
)
_WORDS_TO_OBJECT = frozenset("us me in a an any the their his her its our".split())
_NEVER_WORDS = frozenset("never not t nobody noone".split())
# A question without any of these has no exclusion: a phrase that negates in its own words is there only with one of
# these, any other only with its longest word.
_WORDS_OF_EXCLUSIONS = (
    _NOBODY_WORDS
    | _NEVER_WORDS
    | {"no"}
    | {
        max(phrase, key=len)
        for phrases in (*_EXCLUDING_PHRASES.values(), *_FOLLOWING_PHRASES.values())
        for phrase in phrases
        if _NEVER_WORDS.isdisjoint(phrase)
    }
)


@dataclass(frozen=True, slots=True)
class ExclusionPhrases:
    """The exclusions of a question: of each, the tokens of the phrase itself and those that it negates."""

    members: tuple[tuple[frozenset[int], frozenset[int]], ...] = ()

    @property
    def negated_tokens(self) -> frozenset[int]:
        return frozenset[int]().union(*(negated for _, negated in self.members))

    @property
    def phrase_tokens(self) -> frozenset[int]:
        return frozenset[int]().union(*(phrase for phrase, _ in self.members))


NO_EXCLUSIONS = ExclusionPhrases()


def find_exclusions(
    tokens: Sequence[QuestionToken],
    question: str,
    links: Sequence[SpanLink],
    compared_tokens: Set[int],
    lexicon: BucketLexicon,
) -> ExclusionPhrases:
    """Returns what the exclusions of a question negate. `compared_tokens` are those of numbers and days."""
    if _WORDS_OF_EXCLUSIONS.isdisjoint(token.word for token in tokens):
        return NO_EXCLUSIONS
    search = _ExclusionSearch(tokens, question, links, compared_tokens, lexicon)
    search.read_excluding_phrases()
    search.read_following_phrases()
    search.read_nobody()
    search.read_missing_gifts()
    return ExclusionPhrases(tuple(search.members))


class _ExclusionSearch:
    def __init__(
        self,
        tokens: Sequence[QuestionToken],
        question: str,
        links: Sequence[SpanLink],
        compared_tokens: Set[int],
        lexicon: BucketLexicon,
    ) -> None:
        self._tokens, self._question, self._lexicon = tokens, question, lexicon
        self._words = [token.word for token in tokens]
        self._links = [link for link in links if not isinstance(link.meaning, BucketNoun)]
        self._link_by_token = {index: link for link in self._links for index in range(link.first, link.last)}
        self._compared_tokens = compared_tokens
        self.members: list[tuple[frozenset[int], frozenset[int]]] = []
        self._phrase_tokens: set[int] = set()

    def read_excluding_phrases(self) -> None:
        """ "Apart from spades and rakes": what follows is left out, up to the end of its list."""
        for first in range(len(self._tokens)):
            phrase = self._phrase_at(first, _EXCLUDING_PHRASES)
            if phrase and first not in self._phrase_tokens and self._may_exclude(first, phrase):
                start = first + len(phrase)
                negated, skipped = self._scope_after(start)
                if negated:
                    self._add_exclusion({*range(first, start), *skipped}, negated)

    def read_following_phrases(self) -> None:
        """ "…, withdrawn ones not counted": what appears before the phrase in its own clause is left out."""
        for first in range(1, len(self._tokens)):
            phrase = self._phrase_at(first, _FOLLOWING_PHRASES)
            if not phrase or first in self._phrase_tokens:
                continue
            last = first + len(phrase)
            start = first
            while start > 0 and not self._has_mark_before(start):
                start -= 1
            if not start and not (last < len(self._tokens) and self._has_mark_before(last)):
                continue  # the clause of the question itself
            clause = range(start, first)
            negated = {index for index in clause if self._may_be_left_out(index)}
            if negated or any(index in self._link_by_token for index in clause):
                leading = {index for index in clause if self._words[index] in _LEADING_WORDS and index not in negated}
                self._add_exclusion({*range(first, last), *leading}, negated)

    def read_nobody(self) -> None:
        """ "Bills that *nobody* has paid": what nobody has done has not been done."""
        for first, word in enumerate(self._words):
            length = 1 if word in _NOBODY_WORDS else 2 if self._words[first : first + 2] == ["no", "one"] else 0
            if not length:
                continue
            index = first + length
            while index < len(self._words) and self._words[index] in _WORDS_OF_NOBODY:
                index += 1
            link = self._link_by_token.get(index)
            if link is not None and (self._is_day_or_flag(link) or self._names_person(link)):
                self._add_exclusion(range(first, index), range(link.first, link.last))

    def read_missing_gifts(self) -> None:
        """ "Who never gave us an email": the thing that was not given is missing."""
        for first, word in enumerate(self._words):
            if word not in _NEVER_WORDS:
                continue
            index = first + 1
            while index < len(self._words) and self._words[index] in _WORDS_OF_NOBODY:
                index += 1
            if index >= len(self._words) or self._words[index] not in _GIVING_VERBS:
                continue
            last = index + 1
            while last < len(self._words) and self._words[last] in _WORDS_TO_OBJECT:
                last += 1
            link = self._link_by_token.get(last)
            if link is not None and isinstance(link.meaning, FieldMention) and last > index + 1:
                self._add_exclusion(range(first, last), range(link.first, link.last))

    def _add_exclusion(self, phrase: Iterable[int], negated: Iterable[int]) -> None:
        self.members.append((frozenset(phrase), frozenset(negated)))
        self._phrase_tokens |= self.members[-1][0]

    def _phrase_at(self, first: int, phrases: Mapping[str, Sequence[tuple[str, ...]]]) -> tuple[str, ...]:
        candidates = phrases.get(self._words[first], ())
        if not candidates or self._tokens[first].is_quoted:
            return ()
        if first in self._link_by_token or first in self._compared_tokens:
            return ()
        return next((phrase for phrase in candidates if tuple(self._words[first : first + len(phrase)]) == phrase), ())

    def _may_exclude(self, first: int, phrase: tuple[str, ...]) -> bool:
        start = first + len(phrase)
        if start >= len(self._words):
            return False
        if phrase[0] == "minus" and self._words[start].isdigit():
            return False  # a sign
        if phrase == ("but",):
            return self._follows_quantifier(first) and self._words[start] not in _WORDS_AFTER_OTHER_BUT
        if phrase == ("bar",):
            return self._words[start] in _WORDS_AFTER_BAR
        is_command = len(phrase) == 1 and phrase[0] in _WORDS_FOR_COMMANDS
        follows_boundary = (
            not first or self._has_mark_before(first) or self._words[first - 1] in ("but", "and", "please")
        )
        return not is_command or follows_boundary or phrase[0] == "exclude"

    def _follows_quantifier(self, index: int) -> bool:
        """ "*Everything* but spades", "*all* loans but …": whether the word before it speaks of all."""
        start = max(index - _MAX_WORDS_TO_BUT, 0)
        return bool(_QUANTIFIERS & set(self._words[start:index])) and not any(
            self._has_mark_before(each) for each in range(start + 1, index + 1)
        )

    def _scope_after(self, start: int) -> tuple[set[int], set[int]]:
        """Returns the tokens that are left out and the words before them that carry nothing."""
        index = start
        while (
            index < len(self._words)
            and not self._may_be_left_out(index)
            and index - start < _MAX_LEADING_WORDS
            and (self._words[index] in _LEADING_WORDS or self._is_noun(index))
            and self._words[index] not in NEGATIONS - {"no"}
        ):
            index += 1
        leading = {each for each in range(start, index) if self._words[each] in _PRONOUNS}
        negated: set[int] = set()
        while index < len(self._words) and self._may_be_left_out(index):
            link = self._link_by_token.get(index)
            last = link.last if link is not None else index + 1
            negated.update(range(index, last))
            index = self._next_member(last, link)
        return negated, leading

    def _next_member(self, index: int, link: SpanLink | None) -> int:
        """Returns where the list of what is left out goes on; the number of tokens, if it ends."""
        end = len(self._words)
        if index < end and index in self._compared_tokens and link is None:
            return index
        following = index
        while following < end and self._words[following] in _LIST_WORDS | _ARTICLES | {"ones"}:
            following += 1
        joins = {*self._words[index:following]} & _LIST_WORDS or (index < end and self._has_mark_before(index))
        next_link = self._link_by_token.get(following)
        if next_link is None or not joins:
            is_adjacent = following == index and next_link is not None and link is not None
            return index if is_adjacent and self._field_of(next_link) == self._field_of(link) else end
        is_disjunction = "or" in self._words[index:following]
        goes_on = is_disjunction or (link is not None and self._field_of(next_link) == self._field_of(link))
        return following if goes_on else end

    def _field_of(self, link: SpanLink | None) -> object:
        return None if link is None or isinstance(link.meaning, BucketNoun) else link.meaning.field

    def _may_be_left_out(self, index: int) -> bool:
        """Whether the token is a value, a number, a day, a flag or a date that something has or lacks."""
        if index in self._compared_tokens:
            return True
        link = self._link_by_token.get(index)
        if link is None or isinstance(link.meaning, BucketNoun):
            return False
        return not isinstance(link.meaning, FieldMention) or link.meaning.is_negated or self._is_day_or_flag(link)

    def _is_day_or_flag(self, link: SpanLink) -> bool:
        meaning = link.meaning
        if not isinstance(meaning, FieldMention):
            return False
        return self._lexicon.get_field(meaning.field, meaning.column).type in (FieldType.DATE, FieldType.FLAG)

    def _names_person(self, link: SpanLink) -> bool:
        """ "Nobody is *handling*": whether the word names the field for who does it."""
        meaning = link.meaning
        if not isinstance(meaning, FieldMention) or meaning.column is not None:
            return False
        label = self._lexicon.get_field(meaning.field).label.casefold().split()
        return meaning.field in self._lexicon.roles.persons or label[-1:] == ["by"]

    def _is_noun(self, index: int) -> bool:
        return index not in self._link_by_token and self._words[index].endswith("s")

    def _has_mark_before(self, index: int) -> bool:
        if not index:
            return False
        return bool(_MARKS & set(self._question[self._tokens[index - 1].end : self._tokens[index].start]))
