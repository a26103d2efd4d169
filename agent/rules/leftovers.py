"""The words of a question that mean nothing to a bucket: content words, quotations, and what of them is denied."""

from collections.abc import Mapping, Sequence, Set

from agent.rules.belief import is_content
from agent.rules.cover import Cover
from agent.rules.language import (
    COMPARATORS,
    DISJUNCTIONS,
    FUNCTION_WORDS,
    GROUP_BEFORE,
    PARTS,
    PERIODS,
    PREPOSITIONS,
    PRONOUNS,
    RELATING,
    RELATIVES,
    SMALL_NUMBERS,
)
from agent.rules.lexicon import Link, Mention, Noun, Partly, Valued
from agent.rules.tokens import Quotation

_MODALS = frozenset("can could may might must will would shall should".split())
_SHORT_VERB = 4  # letters
_JOINING = ("-", "/", ".", "'", "’", "&")
_BEFORE_BOUND = PREPOSITIONS | COMPARATORS | frozenset("a an the any some as up out only exactly no not than".split())


def leftovers_of(
    work: Cover, quotations: Sequence[Quotation]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Words left over, phrases in quotation marks, what of both stands under a negation, and words left over of which
    one is enough ("Acme or Globex").
    """
    covered = {at for link in work.links for at in range(link.first, link.last)}
    covered |= {at for _, first, last in work.literals for at in range(first, last)}
    quoted, denied = _quoted(work, quotations, covered)
    covered |= work.spent | {
        at for at, token in enumerate(work.tokens) if token.word == "non" and at + 1 in work.negated
    }
    kept: dict[str, tuple[int, int]] = {}
    for first, last in _runs(work, covered):
        if _is_how_many(work, first, last) or _relates(work, first, last, covered) or _is_part(work, first, last):
            continue
        if any(is_content(token) for token in work.tokens[first:last]):
            written = work.question[work.tokens[first].start : work.tokens[last - 1].end]
            if first in work.negated:
                denied.append(written)
            else:
                kept.setdefault(written, (first, last))
    either = _alternatives(work, kept)
    left = tuple(one for one in kept if not any(one in words for words in either))
    return left, tuple(quoted), tuple(dict.fromkeys(denied)), either


def _quoted(work: Cover, quotations: Sequence[Quotation], covered: set[int]) -> tuple[list[str], list[str]]:
    """What stands in quotation marks and means nothing yet, and what of it is denied. All of it is `covered` then."""
    quoted: list[str] = []
    denied: list[str] = []
    for quotation in quotations:
        inside = [at for at, t in enumerate(work.tokens) if quotation.start <= t.start < quotation.end]
        if not set(inside) <= covered:
            (denied if set(inside) & work.negated else quoted).append(quotation.text)
        covered |= set(inside)
    return quoted, denied


def _runs(work: Cover, covered: Set[int]) -> list[tuple[int, int]]:
    """Tokens that mean nothing; those that a hyphen or the like joins are one run."""
    spoken = _spoken_of(work)
    runs: list[tuple[int, int]] = []
    for at, token in enumerate(work.tokens):
        if at in covered or (token.stem in spoken and at not in work.negated):
            continue
        joined = work.question[work.tokens[at - 1].end : token.start] in _JOINING if at else False
        if runs and runs[-1][1] == at and joined:
            runs[-1] = (runs[-1][0], at + 1)
        else:
            runs.append((at, at + 1))
    return runs


def _alternatives(work: Cover, kept: Mapping[str, tuple[int, int]]) -> tuple[tuple[str, ...], ...]:
    """Runs of words that nothing but "or" stands between."""
    groups: list[list[str]] = []
    ends: dict[int, list[str]] = {}
    for written, (first, last) in kept.items():
        group = ends.get(first - 1) if first and work.tokens[first - 1].word in DISJUNCTIONS else None
        if group is None:
            group = list[str]()
            groups.append(group)
        group.append(written)
        ends[last] = group
    return tuple(tuple(group) for group in groups if len(group) > 1)


def _spoken_of(work: Cover) -> frozenset[str]:
    """Words that speak of a field which gave a condition: "governed by Texas law" adds nothing to the law of Texas."""
    fields = {link.meaning.field for link in work.links if isinstance(link.meaning, (Valued, Partly))}
    fields |= {
        one.meaning.field for at, one in enumerate(work.links) if at in work.used and isinstance(one.meaning, Mention)
    }
    return frozenset[str]().union(*(work.lexicon.stems_of(name) for name in fields))


def _relates(work: Cover, first: int, last: int, covered: Set[int]) -> bool:
    """Verbs between documents and what is said of them: "receipts *costing* over 5", "agreements that *end* in 2012".

    They say nothing of their own where what follows is bound to a field.
    """
    token = work.tokens[first]
    if last - first != 1 or token.quoted or first in work.negated:
        return False
    after = first + 1
    while after < len(work.tokens) and after not in covered and work.tokens[after].word in _BEFORE_BOUND:
        after += 1
    if after not in covered:
        return False
    before = work.tokens[first - 1].word if first else ""
    is_after_noun = first > 0 and any(_stands_for_documents(link) and link.last == first for link in work.links)
    then = work.tokens[first + 1].word if first + 1 < len(work.tokens) else ""
    if is_after_noun and not token.is_name and then in ("a", "an", "the", "no", "any", "at"):
        return True  # "agreements demand a notice of …"
    if before in _MODALS and first > 1 and work.tokens[first - 2].word in RELATIVES | PRONOUNS:
        return not token.is_name  # "that can dissipate at least …"
    if before == "to" and not token.is_name:
        return True  # "notice to stop renewal"
    if token.word in RELATING or before in RELATIVES:
        return is_after_noun or before in RELATIVES | PRONOUNS or before in ("and", "or", "to", "do", "does")
    if token.word.endswith("ing") and len(token.word) > _SHORT_VERB:
        return is_after_noun
    return token.word.endswith("ed") and len(token.word) > _SHORT_VERB


def _stands_for_documents(link: Link) -> bool:
    return isinstance(link.meaning, (Noun, Valued, Partly))


def _is_part(work: Cover, first: int, last: int) -> bool:
    """ "A non-compete *clause*": the part of a document that a value beside it names already."""
    if last - first != 1 or work.tokens[first].word not in PARTS:
        return False
    return any(
        isinstance(link.meaning, (Valued, Partly)) and first in (link.last, link.first - 1) for link in work.links
    )


def _is_how_many(work: Cover, first: int, last: int) -> bool:
    """ "5 panels", "top 3", "how long": how many are wanted, or what is asked, and no word of the documents."""
    before = work.tokens[first - 1].word if first else ""
    if before == "how" or (before in GROUP_BEFORE and work.tokens[first].word in PERIODS):
        return True
    if last - first != 1 or not (work.tokens[first].word.isdigit() or work.tokens[first].word in SMALL_NUMBERS):
        return False
    noun_follows = any(isinstance(link.meaning, (Noun, Mention)) and link.first == last for link in work.links)
    after = work.tokens[last].word if last < len(work.tokens) else ""
    return noun_follows or after in FUNCTION_WORDS or before in ("top", "first", "last", "bottom")
