"""What a question asks for and its plan does not do, in words: said rather than passed over."""

from collections.abc import Iterator, Sequence

from agent.rules.functions import superlatives_in
from agent.rules.language import GROUP_BEFORE
from agent.rules.lexicon import Lexicon, Mention
from agent.rules.reading import Reading
from storage.search.ids import FieldName
from storage.search.plan import Compute, ListDocuments, Wanted
from storage.search.schema import FieldType

_BOUNDS = frozenset({"maximum", "max", "minimum", "min"})  # "with a maximum liability": no order of anything


def unmet(wanted: Wanted, reading: Reading, lexicon: Lexicon) -> tuple[str, ...]:
    words = [token.word for token in reading.tokens]
    match wanted:
        case ListDocuments(order=None):
            return tuple(_unordered(words, reading))
        case ListDocuments(limit=int()):
            return tuple(_other_end(words, reading))
        case Compute(group=group) if group is not None:
            return tuple(_grouped_too(words, reading, lexicon, group.field))
        case _:
            return ()


def _unordered(words: Sequence[str], reading: Reading) -> Iterator[str]:
    for one in superlatives_in(words, reading):
        if not _BOUNDS.intersection(one.words):
            yield f"“{' '.join(one.words)}” fits no field, so nothing is in order of it"


def _other_end(words: Sequence[str], reading: Reading) -> Iterator[str]:
    """ "The smallest *and the largest*"."""
    ends = superlatives_in(words, reading)
    for one in ends[1:]:
        if one.function is not ends[0].function:
            yield f"“{' '.join(one.words)}” was left out: a list has one end, so ask for the other by itself"


def _grouped_too(words: Sequence[str], reading: Reading, lexicon: Lexicon, by: FieldName) -> Iterator[str]:
    """ "Per airline *and destination*"."""
    fields = {
        link.first: (link.last, link.meaning.field) for link in reading.links if isinstance(link.meaning, Mention)
    }
    for first, (last, name) in fields.items():
        also = fields.get(last + 1)
        is_by = name == by and bool(set(words[max(first - 2, 0) : first]) & GROUP_BEFORE)
        if not is_by or also is None or words[last : last + 1] != ["and"] or also[1] == by:
            continue
        field = lexicon.field(also[1])
        if field.type in (FieldType.CATEGORY, FieldType.LIST, FieldType.FLAG, FieldType.DATE):
            yield f"grouped by {lexicon.field(by).label.lower()} alone, not by {field.label.lower()} as well"
