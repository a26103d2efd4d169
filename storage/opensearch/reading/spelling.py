"""Spelling suggestions: similar words of the visible documents, found and counted in one aggregation per bucket."""

from collections.abc import Sequence

from rapidfuzz.distance import DamerauLevenshtein

from storage.opensearch.connection import JsonObject
from storage.opensearch.mapping import DOCUMENT, IndexLayout
from storage.opensearch.reading.compile import all_of, visibility_query
from storage.opensearch.reading.query_steps import QuerySteps, build_search_request
from storage.opensearch.terms import indexed_token_of
from storage.search.index import SpellingRequest, SpellingSuggestion
from storage.search.scope import Scope

_MAX_EDITS = 2
_MAX_BINS = 50_000
_SHORT_WORD_LENGTH = 4  # up to this length the server's fuzzy query, which only narrows the candidates, misses words
# Filters by a lower bound of the edit distance: by length, and by characters that one word has more often than the
# other. The caller computes exact distances for the few words that remain.
_SIMILAR_WORDS_SCRIPT = """
List near = new ArrayList();
String wanted = params.word;
for (String word : doc[params.words]) {
  if (Math.abs(word.length() - wanted.length()) > 4) { continue; }
  Map counts = new HashMap();
  for (int i = 0; i < wanted.length(); i++) {
    String c = wanted.substring(i, i + 1);
    counts.put(c, (int) counts.getOrDefault(c, 0) + 1);
  }
  int strange = 0;
  for (int i = 0; i < word.length(); i++) {
    String c = word.substring(i, i + 1);
    int left = (int) counts.getOrDefault(c, 0);
    if (left > 0) { counts.put(c, left - 1); } else { strange += 1; }
  }
  int lost = wanted.length() - (word.length() - strange);
  if (strange <= params.most && lost <= params.most) { near.add(word); }
}
return near;
"""


def suggest_similar_words(
    layouts: Sequence[IndexLayout], scope: Scope, request: SpellingRequest
) -> QuerySteps[tuple[SpellingSuggestion, ...]]:
    layout_words = list[tuple[IndexLayout, str]]()
    for layout in layouts:
        words = [word.text for word in layout.analyser.extract_words(request.word)]
        if len(words) == 1 and indexed_token_of(words[0]) == words[0]:
            layout_words.append((layout, words[0]))
    responses = yield [
        build_search_request(
            layout.index,
            _similar_words_query(layout, scope, word),
            {"words": _similar_words_aggregation(layout, word)},
        )
        for layout, word in layout_words
    ]
    suggestions = dict[str, tuple[int, int]]()
    for (_, word), response in zip(layout_words, responses, strict=True):
        for word_bin in response.aggregations["words"]["buckets"]:
            distance = DamerauLevenshtein.distance(word, word_bin["key"], score_cutoff=_MAX_EDITS)
            if 0 < distance <= _MAX_EDITS:
                earlier_count = suggestions.get(word_bin["key"], (0, 0))[1]
                suggestions[word_bin["key"]] = (distance, earlier_count + word_bin["doc_count"])
    ranked_suggestions = sorted(
        suggestions.items(), key=lambda suggestion: (suggestion[1][0], -suggestion[1][1], suggestion[0])
    )
    return tuple(
        SpellingSuggestion(word=word, distance=distance, document_count=document_count)
        for word, (distance, document_count) in ranked_suggestions[: max(request.limit, 0)]
    )


def _similar_words_query(layout: IndexLayout, scope: Scope, word: str) -> JsonObject:
    fuzzy: JsonObject = {"fuzzy": {layout.words_path: {"value": word, "fuzziness": _MAX_EDITS, "max_expansions": 1000}}}
    candidates: JsonObject = {"exists": {"field": layout.words_path}} if len(word) <= _SHORT_WORD_LENGTH else fuzzy
    return all_of({"term": {"kind": DOCUMENT}}, visibility_query(scope), candidates)


def _similar_words_aggregation(layout: IndexLayout, word: str) -> JsonObject:
    has_astral_characters = any(ord(character) > 0xFFFF for character in word)
    max_difference = 2 * _MAX_EDITS if has_astral_characters else _MAX_EDITS
    params: JsonObject = {"words": layout.words_path, "word": word, "most": max_difference}
    return {"terms": {"script": {"source": _SIMILAR_WORDS_SCRIPT, "params": params}, "size": _MAX_BINS}}
