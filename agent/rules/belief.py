"""Which meanings to believe: the words of a dictionary turn up by chance in questions about other things."""

import re
from collections.abc import Sequence

from agent.rules.atoms import Literal, Quantity
from agent.rules.cover import unit_fits
from agent.rules.language import FILLER, FUNCTION_WORDS, ORDERING, QUESTION_WORDS, SMALL_NUMBERS, STOP, SUMMARISE
from agent.rules.lexicon import Lexicon, Link, Noun, Partly, Valued
from agent.rules.tokens import Token
from storage.search.schema import FieldType

_FORM = STOP | FILLER | FUNCTION_WORDS | SUMMARISE | ORDERING
_WORD = re.compile(r"\w+")
_ARTICLES = frozenset("a an any some the more".split())
_BEFORE_THINGS = frozenset(
    """with without for of on or and contain contains containing include includes including list lists listing bought
    buy buys buying purchased purchase sold sell sells mention mentions mentioning about have has having get got item
    items all every""".split()
)
_BEFORE_NAMES = frozenset("from by at with of for in via".split())


def believed(
    links: Sequence[Link], tokens: Sequence[Token], literals: Sequence[tuple[Literal, int, int]], lexicon: Lexicon
) -> list[Link]:
    """The links without what chance may have brought.

    Where the bucket's documents are not named, a lone common word is no company; and where nothing firm is said at all,
    a word that some values hold among others is just a word.
    """
    nouns = [one for one in links if isinstance(one.meaning, Noun)]
    links = [one for one in links if not _is_soft_item(one) or _stands_as_thing(one, tokens, nouns)]
    if nouns:
        return links
    kept = [one for one in links if not _is_chance(one, tokens, lexicon) and not _is_torn(one, links, tokens, lexicon)]
    is_firm = any(_is_firm(one) for one in kept) or any(_measures(one, lexicon) for one, _, _ in literals)
    whole = {_field_of(one) for one in kept if _is_firm(one)}
    return [one for one in kept if not _is_soft(one) or (is_firm and _field_of(one) not in whole)]


def _field_of(link: Link) -> object:
    """A field whose values are named whole is not meant by parts of others as well."""
    return (link.meaning.field, link.meaning.column) if isinstance(link.meaning, (Valued, Partly)) else None


def _is_soft_item(link: Link) -> bool:
    return _is_soft(link) and isinstance(link.meaning, Partly) and link.meaning.column is not None


def _stands_as_thing(link: Link, tokens: Sequence[Token], nouns: Sequence[Link]) -> bool:
    """Whether the words stand where a thing does: "receipts *with* apple juice", "*4* tires", "*tire* receipts"; a verb
    or an adjective that some item is called by does not.
    """
    if link.last - link.first > 1 or link.first == 0 or tokens[link.first].quoted:
        return True
    if any(one.first == link.last for one in nouns):
        return True
    at = link.first - 1
    while at > 0 and tokens[at].word in _ARTICLES:
        at -= 1
    return tokens[at].word in _BEFORE_THINGS or tokens[at].word.isdigit() or tokens[at].word in SMALL_NUMBERS


def _is_soft(link: Link) -> bool:
    return isinstance(link.meaning, Partly) and not (link.meaning.by_head or link.meaning.whole)


def _is_firm(link: Link) -> bool:
    return isinstance(link.meaning, Valued) or (isinstance(link.meaning, Partly) and not _is_soft(link))


def _measures(literal: Literal, lexicon: Lexicon) -> bool:
    return isinstance(literal, Quantity) and bool(
        literal.currency or (literal.unit and unit_fits(literal, lexicon)) or not literal.bare
    )


def _is_chance(link: Link, tokens: Sequence[Token], lexicon: Lexicon) -> bool:
    """A name of one common word, in small letters, that nothing introduces as a name; or the form of the question."""
    meaning = link.meaning
    if not isinstance(meaning, (Valued, Partly)) or meaning.column is not None:
        return False
    if link.last - link.first > 1:
        return _is_of_form(link, tokens)
    token = tokens[link.first]
    before = tokens[link.first - 1].word if link.first else ""
    named = token.is_name or token.quoted or before in _BEFORE_NAMES
    return not named and not lexicon.tells_kinds(meaning.field)


def _is_of_form(link: Link, tokens: Sequence[Token]) -> bool:
    """ "Who is eligible", at the beginning of a question that some heading is worded like."""
    said = tokens[link.first : link.last]
    return said[0].word in QUESTION_WORDS and said[0].begins_sentence and sum(map(is_content, said)) <= 1


def _is_torn(link: Link, links: Sequence[Link], tokens: Sequence[Token], lexicon: Lexicon) -> bool:
    """ "Series" is no value of a list where "Pad Series" was said and no value holds both: part of another name."""
    meaning = link.meaning
    if not isinstance(meaning, (Valued, Partly)) or link.last - link.first > 1:
        return False
    token = tokens[link.first]
    of_list = lexicon.field(meaning.field, meaning.column).type is FieldType.LIST
    if not of_list or not token.is_name or token.quoted:
        return False
    beside = [at for at in (link.first - 1, link.last) if 0 <= at < len(tokens)]
    return any(_goes_on(tokens[at]) and not any(one.first <= at < one.last for one in links) for at in beside)


def _goes_on(token: Token) -> bool:
    """Whether the token belongs to a name: capitalised, but not as a sentence's first word is."""
    return token.is_name and not token.begins_sentence and not token.quoted


def coverage(tokens: Sequence[Token], leftovers: Sequence[str]) -> float:
    """The share (0 to 1) of the question's content words that mean something; 1 where there are none."""
    content = sum(is_content(one) for one in tokens)
    words = set(_WORD.findall(" ".join(leftovers).casefold()))
    left = sum(is_content(one) for one in tokens if one.word in words) if words else 0
    return 1.0 if not content else max(0.0, 1.0 - left / content)


def is_content(token: Token) -> bool:
    """Whether it is a word of what is asked about, not of how it is asked."""
    return token.word not in _FORM and (len(token.word) > 1 or token.word.isdigit())


def names_something(links: Sequence[Link], tokens: Sequence[Token], lexicon: Lexicon) -> bool:
    """Whether a whole name was said: of several words, or written as one; a kind's only where it is written as one."""
    return any(_is_firm(one) and _is_named(one, tokens, lexicon) for one in links)


def _is_named(link: Link, tokens: Sequence[Token], lexicon: Lexicon) -> bool:
    said, meaning = tokens[link.first : link.last], link.meaning
    if not isinstance(meaning, (Valued, Partly)):
        return False
    written = all(one.is_name or one.quoted or one.word in STOP for one in said)
    kinds = lexicon.tells_kinds(meaning.field, meaning.column)
    if not kinds:
        return written or len(said) > 1
    several = len(said) > 1 and lexicon.field(meaning.field, meaning.column).type is FieldType.CATEGORY
    return (written and link.first > 0) or several  # "the battery cabinet"
