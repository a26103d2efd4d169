"""Finds blocks of code: passages by their words, then the blocks within them by identifiers, whole and in parts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from agent.outcome import FoundPassage
from agent.retrieval.code.code_query import CodeQuery, CodeTerm
from agent.retrieval.session import RetrievalSession
from storage.search.analyser import Analyser
from storage.search.ids import BucketId, ChunkId, DocId
from storage.search.index import DocumentRequest, KeywordPassageRequest, PassageHit
from storage.search.plan import Search
from storage.text.code_blocks import CodeBlock, find_code_blocks, overlapping_blocks
from storage.text.code_identifiers import find_code_identifiers, words_of_identifier

CODE_COLLECTOR: Final = "code"
_FETCHED_PASSAGES: Final = 200
_READ_DOCUMENTS: Final = 40  # whose blocks are looked at
_MAX_BLOCK_CHARACTERS: Final = 10_000  # of which each passage of a longer block is taken by itself
_OTHER_SPELLING: Final = 0.9  # of `parse_config` where `parseConfig` is asked for
_ALL_WORDS: Final = 0.6  # of the words alone, somewhere in the block
_RANK_WEIGHT: Final = 0.2  # of the index's own score, relative to its best
_MIN_SCORE: Final = 0.3  # share of the query that a block must hold


@dataclass(frozen=True, slots=True, kw_only=True)
class _CodeMatches:
    """What a block holds: identifiers as written, all of them in one spelling, and the stems of their words."""

    identifiers: frozenset[str]
    spellings: frozenset[str]
    stems: frozenset[str]

    @classmethod
    def of_code(cls, code: str, analyser: Analyser) -> "_CodeMatches":
        identifiers = frozenset(find_code_identifiers(code))
        words = [words_of_identifier(identifier) for identifier in identifiers]
        return cls(
            identifiers=identifiers,
            spellings=frozenset("".join(parts) for parts in words),
            stems=_stems_of(" ".join(word for parts in words for word in parts), analyser),
        )

    def share_of(self, query: CodeQuery, analyser: Analyser) -> float:
        """The share of the query that the block holds, from 0 to 1; a term of several words counts twice."""
        values = [self._value_of(term, analyser) for term in query.terms]
        for positions, joined in query.compounds:
            for position in positions if joined in self.spellings else ():
                values[position] = max(values[position], _OTHER_SPELLING)
        weights = [min(len(term.words), 2) or 1 for term in query.terms]
        total = sum(weights)
        return sum(value * weight for value, weight in zip(values, weights, strict=True)) / total if total else 0.0

    def _value_of(self, term: CodeTerm, analyser: Analyser) -> float:
        if term.text in self.identifiers:
            return 1.0
        if term.spelling in self.spellings:
            return _OTHER_SPELLING
        stems = _stems_of(" ".join(term.words), analyser)
        return _ALL_WORDS * len(stems & self.stems) / len(stems) if stems else 0.0


async def find_code_passages(
    session: RetrievalSession,
    search: Search,
    query: CodeQuery,
    analysers: Mapping[BucketId, Analyser],
    *,
    max_characters: int,
) -> tuple[FoundPassage, ...]:
    """Returns the best block of each passage, best first, each block once, cut to whole lines of `max_characters`."""
    request = KeywordPassageRequest(search, query.ranking_text, _FETCHED_PASSAGES)
    hits = (await session.ask_index((request,)))[request]
    if not hits:
        return ()
    fetch = DocumentRequest(tuple(dict.fromkeys(hit.doc_id for hit in hits))[:_READ_DOCUMENTS])
    documents = {document.doc_id: document for document in (await session.ask_index((fetch,)))[fetch]}
    blocks = {doc_id: find_code_blocks(document.text) for doc_id, document in documents.items()}
    best_score = max((hit.score for hit in hits), default=0.0) or 1.0
    scored = list[tuple[float, PassageHit, CodeBlock]]()
    seen = set[tuple[DocId, int]]()
    for hit in hits:
        for whole_block in overlapping_blocks(blocks.get(hit.doc_id, ()), hit.start, hit.end):
            block = _part_within(hit, whole_block)
            if (hit.doc_id, block.start) in seen:
                continue
            seen.add((hit.doc_id, block.start))
            code = documents[hit.doc_id].text[block.start : block.end]
            share = _CodeMatches.of_code(code, analysers[hit.bucket]).share_of(query, analysers[hit.bucket])
            if share >= _MIN_SCORE:
                score = round(share + _RANK_WEIGHT * hit.score / best_score, 6)
                scored.append((score, hit, block))
    found: dict[ChunkId, FoundPassage] = {}
    for score, hit, block in sorted(scored, key=lambda entry: (-entry[0], entry[1].chunk_id, entry[2].start)):
        start, end = _shown_lines(documents[hit.doc_id].text, block, query, max_characters)
        shown = replace(hit, start=start, end=end, text=documents[hit.doc_id].text[start:end])
        passage = FoundPassage(hit=shown, score=score, found_by=(CODE_COLLECTOR,), code_language=block.language)
        found.setdefault(hit.chunk_id, passage)
    return tuple(found.values())


def _part_within(hit: PassageHit, block: CodeBlock) -> CodeBlock:
    """Returns the block, or of a very long one what lies in the passage."""
    if block.end - block.start <= _MAX_BLOCK_CHARACTERS:
        return block
    return replace(block, start=max(block.start, hit.start), end=min(block.end, hit.end))


def _shown_lines(text: str, block: CodeBlock, query: CodeQuery, max_characters: int) -> tuple[int, int]:
    """Returns start and end of the lines of the block that hold most of the query, of `max_characters` at most.

    A single longer line is cut.
    """
    if block.end - block.start <= max_characters:
        return block.start, block.end
    spellings = {term.spelling for term in query.terms} | {joined for _, joined in query.compounds}
    words = {word for term in query.terms for word in term.words}
    lines = list(_lines_of(text, block))
    values = [_line_value(text[start:end], spellings, words) for start, end in lines]
    best = max(range(len(lines)), key=lambda position: (values[position], -position))
    first = last = best
    while True:
        room = max_characters - (lines[last][1] - lines[first][0])
        has_later = last + 1 < len(lines)
        if first > 0 and lines[first][0] - lines[first - 1][0] <= (room // 2 if has_later else room):
            first -= 1
        elif has_later and lines[last + 1][1] - lines[last][1] <= room:
            last += 1
        else:
            break
    return lines[first][0], min(lines[last][1], lines[first][0] + max_characters)


def _lines_of(text: str, block: CodeBlock) -> Iterator[tuple[int, int]]:
    start = block.start
    while start < block.end:
        end = text.find("\n", start, block.end)
        end = block.end if end < 0 else end
        yield start, end
        start = end + 1


def _line_value(line: str, spellings: set[str], words: set[str]) -> int:
    parts = [words_of_identifier(identifier) for identifier in find_code_identifiers(line)]
    whole = sum("".join(identifier) in spellings for identifier in parts)
    return 3 * whole + len(words.intersection(word for identifier in parts for word in identifier))


def _stems_of(words: str, analyser: Analyser) -> frozenset[str]:
    return frozenset(analyser.index_terms_of(words).joined_terms.split())
