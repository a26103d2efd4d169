"""The words of a question that mean nothing to a bucket: content words, quotations, and what of them is denied."""

from collections.abc import Sequence

from agent.rules.cover import Cover
from agent.rules.language import FILLER, FUNCTION_WORDS, GROUP_BEFORE, PERIODS, STOP, SUMMARISE
from agent.rules.lexicon import Mention, Noun, Partly, Valued
from agent.rules.tokens import Quotation, Token


def leftovers_of(
    work: Cover, quotations: Sequence[Quotation]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Words left over, phrases in quotation marks, and what of both stands under a negation."""
    denied: list[str] = []
    covered = {at for link in work.links for at in range(link.first, link.last)}
    covered |= {at for _, first, last in work.literals for at in range(first, last)}
    quoted: list[str] = []
    for quotation in quotations:
        inside = [at for at, t in enumerate(work.tokens) if quotation.start <= t.start < quotation.end]
        if not set(inside) <= covered:
            (denied if set(inside) & work.negated else quoted).append(quotation.text)
        covered |= set(inside)
    spoken = _spoken_of(work)
    runs: list[tuple[int, int]] = []
    for at, token in enumerate(work.tokens):
        if at in covered or (token.stem in spoken and at not in work.negated):
            continue
        if (
            runs
            and runs[-1][1] == at
            and work.question[work.tokens[at - 1].end : token.start] in ("-", "/", ".", "'", "’", "&")
        ):
            runs[-1] = (runs[-1][0], at + 1)
        else:
            runs.append((at, at + 1))
    kept: list[str] = []
    for first, last in runs:
        if _is_how_many(work, first, last):
            continue
        if any(_is_content(token) for token in work.tokens[first:last]):
            written = work.question[work.tokens[first].start : work.tokens[last - 1].end]
            (denied if first in work.negated else kept).append(written)
    return tuple(dict.fromkeys(kept)), tuple(quoted), tuple(dict.fromkeys(denied))


def _spoken_of(work: Cover) -> frozenset[str]:
    """Words that speak of a field which gave a condition: "governed by Texas law" adds nothing to the law of Texas."""
    fields = {link.meaning.field for link in work.links if isinstance(link.meaning, (Valued, Partly))}
    fields |= {
        one.meaning.field for at, one in enumerate(work.links) if at in work.used and isinstance(one.meaning, Mention)
    }
    return frozenset[str]().union(*(work.lexicon.stems_of(name) for name in fields))


def _is_how_many(work: Cover, first: int, last: int) -> bool:
    """ "5 panels", "top 3", "how long": how many are wanted, or what is asked, and no word of the documents."""
    before = work.tokens[first - 1].word if first else ""
    if before == "how" or (before in GROUP_BEFORE and work.tokens[first].word in PERIODS):
        return True
    if last - first != 1 or not work.tokens[first].word.isdigit():
        return False
    noun_follows = any(isinstance(link.meaning, Noun) and link.first == last for link in work.links)
    after = work.tokens[last].word if last < len(work.tokens) else ""
    return noun_follows or after in FUNCTION_WORDS or before in ("top", "first", "last", "bottom")


def _is_content(token: Token) -> bool:
    if token.word in FUNCTION_WORDS:
        return False
    said = STOP | FILLER | SUMMARISE  # what kind of answer is wanted is no word of the documents
    return token.word not in said and (len(token.word) > 1 or token.word.isdigit())
