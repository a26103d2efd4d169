"""One bucket's reading of a question: which words give which condition, and which are left over.

Every run of words may mean several things (`lexicon`), every literal may belong to any field of its dimension. The best
set of meanings that do not overlap is picked (`cover`); then literals find their fields (`binding`), values group into
conditions, negations and lacks are applied (`valued`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from agent.rules.atoms import Days, Literal, Quantity
from agent.rules.belief import believed, coverage, names_something
from agent.rules.binding import Alternative, Doubts, candidates_for, key_of, literal_conditions
from agent.rules.cover import LITERAL_WEIGHT, Cover, best_cover, covered_by, negated_in, tokens_within, unit_fits
from agent.rules.language import (
    DESTINATIONS,
    FROM,
    GROUP_BEFORE,
    LACK,
    MEASURES,
    ORIGINS,
    PERIODS,
    PREPOSITIONS,
    SUPERLATIVES,
    TO,
)
from agent.rules.leftovers import leftovers_of
from agent.rules.lexicon import Lexicon, Link, Meaning, Mention, Noun, Partly, Valued
from agent.rules.tokens import Quotation, Token, is_plural, tokens_of
from agent.rules.valued import in_rows, mention_conditions, value_conditions
from storage.search.conditions import Any, Condition, Not, Op, all_of, contains_text
from storage.search.ids import BucketId, FieldName
from storage.search.schema import Field, FieldType
from storage.search.text import fold

EXPLAINED = 0.5  # of a question's content words, for its conditions to be believed


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a question says to one bucket."""

    bucket: BucketId
    conditions: tuple[Condition, ...]
    asked: tuple[Mention, ...]  # fields spoken of that give no condition, in order
    assumed: tuple[str, ...]  # what was taken for granted, in words
    leftovers: tuple[str, ...]  # content words and phrases that mean nothing here, as written
    quoted: tuple[str, ...]  # phrases in quotation marks that are no value
    alike: tuple[Alternative, ...]  # readings that score as well as the one taken
    otherwise: tuple[Alternative, ...]  # possible readings, should the one taken lead nowhere
    wider: tuple[Alternative, ...]  # "at least" beside a bare value
    has_noun: bool
    plural_noun: bool
    exact: bool  # a condition rests on a whole value or on a literal
    coverage: float  # the share of its content words that mean something here
    names: bool  # a whole name was said
    score: float
    tokens: tuple[Token, ...]
    links: tuple[Link, ...]
    in_literals: frozenset[int]  # tokens that stand in a literal, or name the field of one

    @property
    def is_sure(self) -> bool:
        """Whether it explains enough of the question for its conditions to be believed."""
        return self.names or self.coverage >= EXPLAINED

    @property
    def condition(self) -> Condition:
        return all_of(*self.conditions)


def read(
    lexicon: Lexicon,
    question: str,
    literals: Sequence[Literal],
    quotations: Sequence[Quotation],
    respelled: Mapping[str, str] | None = None,
    today: date | None = None,
) -> Reading:
    """The best reading of `question` in the lexicon's bucket. Pure; costs some tenths of a millisecond.

    `respelled` gives for a stem the one that is meant; `today` is the day of who asks.
    """
    work = _covered(lexicon, question, literals, quotations, respelled or {})
    work.today = today
    doubts = Doubts()
    conditions = [*literal_conditions(work, doubts)]
    conditions = [*value_conditions(work), *conditions]
    conditions += mention_conditions(work)
    _drop_idle_hints(work)
    leftovers, quoted, denied, either = leftovers_of(work, quotations)
    unsaid: list[Condition] = [Not(contains_text(words)) for words in denied]
    unsaid += [Any(tuple(map(contains_text, words))) for words in either]

    def together(parts: Sequence[Condition]) -> tuple[Condition, ...]:
        return tuple(dict.fromkeys([*in_rows(lexicon, parts), *unsaid]))

    def whole(one: Alternative) -> Alternative:
        return replace(one, conditions=together([one.instead if c == one.condition else c for c in conditions]))

    tokens, picked, kept = work.tokens, work.links, work.literals
    nouns = [link for link in picked if isinstance(link.meaning, Noun)]
    exact = bool(kept) or any(_is_whole(link.meaning) for link in picked) or bool(work.used)
    score = sum(link.weight for link in picked) + LITERAL_WEIGHT * len(kept) - 0.6 * len(leftovers)
    return Reading(
        bucket=lexicon.bucket,
        conditions=together(conditions),
        asked=_asked(work),
        assumed=tuple(dict.fromkeys(work.assumed)),
        leftovers=leftovers,
        quoted=quoted,
        alike=tuple(map(whole, doubts.alike)),
        otherwise=tuple(map(whole, doubts.otherwise)),
        wider=tuple(map(whole, doubts.wider)),
        has_noun=bool(nouns),
        plural_noun=any(is_plural(tokens[link.last - 1]) for link in (nouns or _kinds_in(picked, lexicon))),
        exact=exact,
        coverage=coverage(tokens, (*leftovers, *(word for words in either for word in words))),
        names=names_something(picked, tokens, lexicon),
        score=score + (0.5 if nouns else 0.0),
        tokens=tokens,
        links=tuple(picked),
        in_literals=frozenset(at for _, first, last in kept for at in range(first, last))
        | {at for used in work.used for at in range(picked[used].first, picked[used].last)}
        | work.spent,
    )


def _covered(
    lexicon: Lexicon,
    question: str,
    literals: Sequence[Literal],
    quotations: Sequence[Quotation],
    meant: Mapping[str, str],
) -> Cover:
    """The choice of meanings for the question's words, before any of them gives a condition."""
    tokens = tokens_of(question, lexicon.analyser, tuple(quotations))
    tokens = tuple(replace(one, stem=meant.get(one.stem, one.stem)) for one in tokens) if meant else tokens
    tokens = tuple(map(lexicon.as_known, tokens))
    links = [link for link in lexicon.links(tokens) if not _is_grouping(link, tokens)]
    measures = list(_measure_links(lexicon, tokens))
    links += measures
    spans = [(literal, *tokens_within(tokens, *covered_by(literal, lexicon))) for literal in literals]
    days_at = {first for literal, first, last in spans if isinstance(literal, Days) and first < last}
    links = [_in_its_place(link, links, tokens, lexicon) for link in links]
    links = [_as_day(link, days_at, tokens, lexicon) for link in links]
    nouns_at = {at for link in links if isinstance(link.meaning, Noun) for at in (link.first, -link.last)}
    nouns_at |= {
        at for at, one in enumerate(tokens) if (one.word,) in SUPERLATIVES or one.word in ("most", "least")
    }  # "the 3 cheapest"
    bindable = [
        span
        for span in spans
        if span[1] < span[2] and not _is_numbering(span, nouns_at, tokens) and _may_bind(span, lexicon, links)
    ]
    links = believed(links, tokens, bindable, lexicon)
    picked, kept = best_cover(len(tokens), links, bindable)
    compared = {at for _, first, last in kept for at in range(first, last)}
    called = [link for link in links if isinstance(link.meaning, Mention) and not link.meaning.soft]
    denied_at = negated_in(tokens, picked, compared, lexicon)
    return Cover(lexicon, question, tokens, picked, [*measures, *_alike_named(picked, called)], kept, denied_at)


# -- which words mean what

_SURE = 1.5  # weight from which a value is one whatever stands beside it
_ON_ITS_WAY = 5  # tokens within which a place is said to be where something comes from or goes to
_COPULAS = frozenset("is are was were be of named called as the a an".split())


def _is_numbering(span: tuple[Literal, int, int], nouns_at: set[int], tokens: Sequence[Token]) -> bool:
    """ "Contract 17" names a document, "5 contracts" or "top 5" how many of them: neither compares a field."""
    literal, first, last = span
    bare = isinstance(literal, Quantity) and literal.bare and not literal.currency
    ranked = first > 0 and tokens[first - 1].word in ("top", "first", "last", "bottom")
    return bare and ((first > 0 and -first in nouns_at) or last in nouns_at or ranked)


def _in_its_place(link: Link, links: Sequence[Link], tokens: Sequence[Token], lexicon: Lexicon) -> Link:
    """The link as its neighbours make it more or less likely."""
    meaning = link.meaning
    if isinstance(meaning, Mention) and not meaning.soft:
        if is_plural(tokens[link.last - 1]) and any(_is_noun_at(one, link) for one in links):
            return replace(link, weight=link.weight - 0.5)  # "parts": the documents rather than a field
        likely = (
            _names_its_value(link, meaning, links, tokens)
            or _is_asked_by_name(link, tokens)
            or _is_lacked_by_name(link, tokens)
        )
        return replace(link, weight=link.weight + 1.0) if likely else link
    if not _is_whole(meaning) or not isinstance(meaning, (Valued, Partly)):
        return link
    link = _on_its_way(link, meaning, tokens, lexicon)
    if isinstance(meaning, Valued) and link.weight < _SURE:
        return replace(link, weight=3.0) if _is_named(link, meaning, links) else link
    return replace(link, weight=link.weight - 1.5) if _is_kind_in_plural(link, meaning, links, tokens) else link


def _on_its_way(link: Link, meaning: Valued | Partly, tokens: Sequence[Token], lexicon: Lexicon) -> Link:
    """ "*From* Arvo *to* Belk": a place that may be either end is the one that the word before it says."""
    if meaning.column is not None:
        return link
    field = lexicon.field(meaning.field)
    called = {*fold(field.label).split(), *map(fold, field.synonyms)}
    for at in range(link.first - 1, max(link.first - _ON_ITS_WAY, 0) - 1, -1):
        word = tokens[at].word
        if word in FROM | TO:
            fits = called & (ORIGINS if word in FROM else DESTINATIONS)
            return replace(link, weight=link.weight + 0.5) if fits else link
    return link


def _as_day(link: Link, days_at: set[int], tokens: Sequence[Token], lexicon: Lexicon) -> Link:
    """ "Closed in October" speaks of the day of closing, though closed may be a state as well."""
    meaning = link.meaning
    if not isinstance(meaning, Mention) or lexicon.field(meaning.field, meaning.column).type is not FieldType.DATE:
        return link
    after = link.last + (link.last < len(tokens) and tokens[link.last].word in PREPOSITIONS)
    return replace(link, weight=link.weight + 1.0) if {link.last, after} & days_at and not meaning.soft else link


def _is_named(link: Link, meaning: Valued, links: Sequence[Link]) -> bool:
    """ "Group 3": a number that is a value counts as one where its field is named right before it."""
    return any(
        isinstance(one.meaning, Mention) and one.meaning.field == meaning.field and 0 <= link.first - one.last <= 1
        for one in links
    )


def _names_its_value(link: Link, meaning: Mention, links: Sequence[Link], tokens: Sequence[Token]) -> bool:
    """ "The shop is Acme": a field's name, whatever else the word may be, where a value of the field follows."""
    return any(
        isinstance(one.meaning, (Valued, Partly))
        and (one.meaning.field, one.meaning.column) == (meaning.field, meaning.column)
        and 0 <= one.first - link.last <= 2
        and all(token.word in _COPULAS for token in tokens[link.last : one.first])
        for one in links
    )


_ASKING_FOR = frozenset("which what per each every different by".split())


def _is_asked_by_name(link: Link, tokens: Sequence[Token]) -> bool:
    """ "Which shop", "per currency", "how many different vendors": the field, whatever else the word may be."""
    return link.first > 0 and tokens[link.first - 1].word in _ASKING_FOR


def _is_lacked_by_name(link: Link, tokens: Sequence[Token]) -> bool:
    """ "Without a completion date": the field, though its first word may be a value."""
    before = tokens[link.first - 1].word if link.first else ""
    if before in ("a", "an", "any") and link.first > 1:
        before = tokens[link.first - 2].word
    return before in LACK and link.last - link.first > 1


def _is_kind_in_plural(link: Link, meaning: Valued | Partly, links: Sequence[Link], tokens: Sequence[Token]) -> bool:
    """ "Supply agreements" are agreements of a kind, though one document may be titled "Supply Agreement"."""
    as_name = all(one.is_name for one in tokens[link.first : link.last])
    if not as_name and any(_is_kind_and_noun(link, one, links) for one in links):
        return True
    last = tokens[link.last - 1]
    value = meaning.value if isinstance(meaning, Valued) else meaning.values[0]
    in_plural = is_plural(last) and last.word not in fold(value)
    nouns = any(isinstance(one.meaning, Noun) and one.last == link.last and one.first > link.first for one in links)
    return in_plural and nouns


def _is_noun_at(one: Link, link: Link) -> bool:
    return isinstance(one.meaning, Noun) and (one.first, one.last) == (link.first, link.last)


def _is_kind_and_noun(link: Link, kind: Link, links: Sequence[Link]) -> bool:
    """Whether a kind of another field and a noun of the bucket say together what `link` takes for one name."""
    of_kind = isinstance(kind.meaning, (Valued, Partly)) and kind is not link and _field(kind) != _field(link)
    if not of_kind or kind.first != link.first or kind.last >= link.last:
        return False
    return any(isinstance(one.meaning, Noun) and (one.first, one.last) == (kind.last, link.last) for one in links)


def _field(link: Link) -> FieldName | None:
    return None if isinstance(link.meaning, Noun) else link.meaning.field


def _is_whole(meaning: Meaning) -> bool:
    return isinstance(meaning, Valued) or (isinstance(meaning, Partly) and meaning.whole)


def _asked(work: Cover) -> tuple[Mention, ...]:
    """The fields spoken of that gave no condition; a word that several fields are called by speaks of all of them."""
    asked: dict[Mention, None] = {}
    for at, link in enumerate(work.links):
        if isinstance(link.meaning, Mention) and at not in work.used:
            asked[link.meaning] = None
            same = (one for one in work.measures if (one.first, one.last) == (link.first, link.last))
            asked |= {one.meaning: None for one in same if isinstance(one.meaning, Mention) and not one.meaning.soft}
    return tuple(asked)


def _alike_named(picked: Sequence[Link], called: Sequence[Link]) -> list[Link]:
    """The other fields that the very words are called by which speak of one: "voltage" may be either's."""
    spans = {(one.first, one.last) for one in picked if isinstance(one.meaning, Mention) and not one.meaning.soft}
    return [one for one in called if (one.first, one.last) in spans and one not in picked]


def _kinds_in(links: Sequence[Link], lexicon: Lexicon) -> list[Link]:
    """What may stand for the documents: "transistors" where a kind of part is called so."""
    values = [(one, one.meaning) for one in links if isinstance(one.meaning, (Valued, Partly))]
    return [one for one, value in values if value.column is None and lexicon.tells_kinds(value.field)]


def _drop_idle_hints(work: Cover) -> None:
    """Takes the words that only hint at a field out of the links where they gave nothing."""
    idle = [
        at
        for at, link in enumerate(work.links)
        if _is_soft(link.meaning) and at not in work.used and not _is_asked_who(link, work.tokens)
    ]
    kept = [at for at in range(len(work.links)) if at not in idle]
    work.used = {kept.index(at) for at in work.used}
    work.links = [work.links[at] for at in kept]


def _is_asked_who(link: Link, tokens: Sequence[Token]) -> bool:
    """ "Who handles …": what hints at a field right behind asks for it."""
    return link.first == 1 and tokens[0].word == "who"


def _is_soft(meaning: Meaning) -> bool:
    return isinstance(meaning, Mention) and meaning.soft


def _is_grouping(link: Link, tokens: Sequence[Token]) -> bool:
    """ "By month": a period to group by, not a word of some value."""
    lone = link.last - link.first == 1 and isinstance(link.meaning, Partly) and tokens[link.first].word in PERIODS
    return lone and link.first > 0 and tokens[link.first - 1].word in GROUP_BEFORE


def _may_bind(span: tuple[Literal, int, int], lexicon: Lexicon, links: Sequence[Link]) -> bool:
    """A bare number without a unit belongs to a field that has none, or that is spoken of near it."""
    literal, first, last = span
    candidates = candidates_for(literal, lexicon)
    if isinstance(literal, Quantity) and literal.op is Op.EQ and not literal.unit and not literal.currency:
        candidates = [one for one in candidates if not one[0].unit or _is_beside(one[0], one[1], first, links)]
    if (
        isinstance(literal, Days)
        or not literal.bare
        or literal.currency
        or (literal.unit and unit_fits(literal, lexicon))
    ):
        return bool(candidates)
    near = {
        (one.meaning.field, one.meaning.column)
        for one in links
        if isinstance(one.meaning, Mention) and min(abs(first - one.last), abs(one.first - last)) <= 4
    }
    return any(key_of(field, row) in near for field, row, _ in candidates)


def _is_beside(field: Field, row: FieldName | None, first: int, links: Sequence[Link]) -> bool:
    """Whether the field is spoken of right before: "Vceo of 40" needs no unit."""
    return any(
        isinstance(one.meaning, Mention)
        and (one.meaning.field, one.meaning.column) == key_of(field, row)
        and 0 <= first - one.last <= 2
        for one in links
    )


def _measure_links(lexicon: Lexicon, tokens: Sequence[Token]) -> Iterator[Link]:
    for at, token in enumerate(tokens):
        noun = MEASURES.get(token.word)
        if noun is None or (at and tokens[at - 1].word == "how" and token.word == "long"):
            continue  # "how long" asks for a time
        for stand_in in (noun, noun.split()[0]):
            parts = tokens_of(stand_in, lexicon.analyser)
            for link in lexicon.links(parts):
                if isinstance(link.meaning, Mention) and link.first == 0 and link.last == len(parts):
                    yield Link(first=at, last=at + 1, meaning=link.meaning, weight=1.0)
