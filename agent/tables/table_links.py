"""Links the words of a question to the cells and to the names of the columns of a table."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agent.english.table_words import QUESTION_FRAME, RANK_WORDS, TABLE_WORDS, VERBS_OF_ROWS
from agent.evidence.question_words import WordStems
from agent.evidence.word_meanings import Likeness
from agent.tables.asked_tokens import AskedToken, TableQuestion
from agent.tables.typed_tables import TableColumn, TypedTable

_MAX_PHRASE_TOKENS = 12
_MIN_SHARED_LETTERS = 3  # of two words, before their stems are compared
_MIN_LIKENESS = 0.45  # of a word of the question and a word of a column's name
_MAX_PART_SHARE = 0.6  # of the rows, in which a single word may stand and still tell rows apart
_RANK_STRENGTH = 0.75  # of "place", "position", "rank" and any column of ranks
_QUALIFIER_STARTS = frozenset(("of", "per", "in", "for", "as", "from", "over", "above"))
_QUALIFIER_STRENGTH = 0.6  # of a word behind one of these in a column's name, relative to the name's noun
_PART_STRENGTH = 0.8  # of words that are only a part of a cell, relative to a whole cell


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueLink:
    """Tokens `start` to `end` (exclusive) that appear in cells of a column, in these rows (from 0).

    `wide_rows` also have the tokens as a part of a cell, where `rows` have them as a whole cell.
    """

    start: int
    end: int
    column: int
    rows: frozenset[int]
    wide_rows: frozenset[int]
    is_whole: bool  # they are the whole cell
    share: float = 1.0  # of the words of the shortest of the cells

    @property
    def tokens(self) -> frozenset[int]:
        return frozenset(range(self.start, self.end))


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLinks:
    """The values that do not overlap, in the question's order, and how nearly each token names each column.

    A phrase that appears in several columns has a link for each of them.
    """

    values: tuple[ValueLink, ...]
    headers: Mapping[int, Mapping[int, float]]  # by token, by column: 0 to 1

    def strength_at(self, token: int) -> float:
        """Returns how surely the token stands for something of the table (0 to 1); 0 if nothing is linked to it.

        A single word in a long cell says less than a whole cell.
        """
        links = [link for link in self.values if token in link.tokens]
        shares = (1.0 if link.is_whole or link.end - link.start > 1 else 0.4 + 0.6 * link.share for link in links)
        return max((*shares, *self.columns_at(token).values()), default=0.0)

    def columns_at(self, token: int) -> Mapping[int, float]:
        return self.headers.get(token, {})


def link_question(question: TableQuestion, table: TypedTable, stems: WordStems, likeness: Likeness) -> TableLinks:
    headers = _link_headers(question, table, stems, likeness)
    found = [link for column in table.columns for link in _link_cells(question, column, stems)]
    return TableLinks(values=tuple(_select_links(found, question, headers)), headers=headers)


def _link_headers(
    question: TableQuestion, table: TypedTable, stems: WordStems, likeness: Likeness
) -> Mapping[int, Mapping[int, float]]:
    by_token = dict[int, dict[int, float]]()
    for token in question.tokens:
        if token.word in QUESTION_FRAME:
            continue
        for column in table.columns:
            strength = max(
                (
                    _name_strength(token, word, stems, likeness) * (_QUALIFIER_STRENGTH if is_qualifier else 1.0)
                    for word, is_qualifier in _split_name(column)
                ),
                default=0.0,
            )
            if token.word in RANK_WORDS and column.is_rank:
                strength = max(strength, _RANK_STRENGTH)
            if strength >= _MIN_LIKENESS:
                by_token.setdefault(token.index, {})[column.index] = strength
    return by_token


def _split_name(column: TableColumn) -> Iterator[tuple[str, bool]]:
    """Yields the words of the column's name, and whether each only qualifies it: "pylons" in "height of pylons"."""
    is_qualifier = False
    for place, word in enumerate(column.words):
        is_qualifier = is_qualifier or (place > 0 and word in _QUALIFIER_STARTS)
        yield word, is_qualifier


def _name_strength(token: AskedToken, word: str, stems: WordStems, likeness: Likeness) -> float:
    if token.word == word:
        return 1.0
    if word in QUESTION_FRAME or token.word[0].isdigit() or word[0].isdigit():
        return 0.0
    if stems.stem_of(word) == token.stem:
        return 0.98
    if len(word) >= 3 and token.word.startswith(word) and len(token.word) <= len(word) + 5 and word not in TABLE_WORDS:
        return 0.8  # "pos" of "position"
    if len(token.stem) >= 4 and word.startswith(token.stem):
        return 0.8  # "weighs" of "weight"
    return 0.9 * likeness.get(token.word, {}).get(word, 0.0)


def _link_cells(question: TableQuestion, column: TableColumn, stems: WordStems) -> Iterator[ValueLink]:
    """Yields every phrase of the question that appears in cells of the column, whole cells apart from parts."""
    cells = dict[tuple[str, ...], set[int]]()
    for row, value in enumerate(column.values):
        if value.words and not value.is_empty:
            cells.setdefault(value.words, set()).add(row)
    spans = dict[tuple[int, int, bool], set[int]]()
    shares = dict[tuple[int, int, bool], float]()
    for words, rows in cells.items():
        for start, length, is_whole in _phrases_in(question, words, stems):
            key = start, start + length, is_whole
            spans.setdefault(key, set()).update(rows)
            shares[key] = max(shares.get(key, 0.0), length / len(words))
    for (start, end, is_whole), rows in spans.items():
        if not is_whole and (start, end, True) in spans:
            continue
        wide = rows | spans.get((start, end, False), set())
        if not is_whole and end - start == 1 and len(rows) > _MAX_PART_SHARE * len(column.values):
            continue
        yield ValueLink(
            start=start,
            end=end,
            column=column.index,
            rows=frozenset(rows),
            wide_rows=frozenset(wide),
            is_whole=is_whole,
            share=shares[start, end, is_whole],
        )


def _phrases_in(question: TableQuestion, words: tuple[str, ...], stems: WordStems) -> Iterator[tuple[int, int, bool]]:
    """Yields start, length and wholeness of the longest phrases of the question that appear in `words`."""
    tokens = question.tokens
    for start, token in enumerate(tokens):
        for first, word in enumerate(words):
            if not _is_same_word(token, word, stems):
                continue
            length = 1
            while (
                length < _MAX_PHRASE_TOKENS
                and start + length < len(tokens)
                and first + length < len(words)
                and _is_same_word(tokens[start + length], words[first + length], stems)
            ):
                length += 1
            while length > 1 and tokens[start + length - 1].word in QUESTION_FRAME and first + length < len(words):
                length -= 1
            is_whole = first == 0 and length == len(words)
            has_content = any(token.is_value for token in tokens[start : start + length])
            if has_content or (is_whole and length > 1):
                yield start, length, is_whole


def _is_same_word(token: AskedToken, word: str, stems: WordStems) -> bool:
    if token.word == word:
        return True
    if token.word[0].isdigit() or word[0].isdigit():
        return False
    if token.word[:_MIN_SHARED_LETTERS] != word[:_MIN_SHARED_LETTERS]:
        return False
    return abs(len(token.word) - len(word)) <= 3 and stems.stem_of(word) == token.stem


def _select_links(
    links: list[ValueLink], question: TableQuestion, headers: Mapping[int, Mapping[int, float]]
) -> list[ValueLink]:
    """Keeps the best links: longer phrases first, whole cells before parts; none that overlaps a better one."""

    def weigh_link(link: ValueLink) -> float:
        tokens = [question.tokens[index] for index in range(link.start, link.end)]
        content = sum(1.0 if token.is_value else 0.3 for token in tokens)
        return content * (1.0 if link.is_whole else _PART_STRENGTH)

    kept = list[ValueLink]()
    links = [link for link in links if not _is_part_of_name(link, headers)]
    for link in sorted(links, key=weigh_link, reverse=True):
        rivals = [other for other in kept if other.start < link.end and link.start < other.end]
        if any((other.start, other.end) != (link.start, link.end) for other in rivals):
            continue
        if any(other.column == link.column for other in rivals):
            continue
        if any(other.is_whole and not link.is_whole for other in rivals):
            continue
        if not link.is_whole and _is_weak_part(link, question, headers):
            continue
        kept.append(link)
    return sorted(kept, key=lambda link: (link.start, not link.is_whole, link.column))


def _is_part_of_name(link: ValueLink, headers: Mapping[int, Mapping[int, float]]) -> bool:
    """Whether all tokens of the link name a column together with a token beside them: "3" of "3-dart average"."""
    if link.is_whole and link.end - link.start > 1:
        return False
    return any(
        all(headers.get(token, {}).get(column, 0.0) == 1.0 for token in (*link.tokens, neighbour))
        for neighbour in (link.start - 1, link.end)
        for column in headers.get(neighbour, {})
        if column != link.column
    )


def _is_weak_part(link: ValueLink, question: TableQuestion, headers: Mapping[int, Mapping[int, float]]) -> bool:
    """Whether a single common word only happens to appear in some cell, or names a column."""
    if link.end - link.start > 1:
        return False
    token = question.tokens[link.start]
    if token.word in VERBS_OF_ROWS or len(token.word) < 2:
        return True
    return max(headers.get(link.start, {}).values(), default=0.0) >= 0.95
