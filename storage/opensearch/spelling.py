"""Words that resemble one, among those that visible documents hold: found and counted in one aggregation a bucket."""

from collections.abc import Sequence

from rapidfuzz.distance import DamerauLevenshtein

from storage.opensearch.asking import Steps, one_search
from storage.opensearch.compile import both, visible
from storage.opensearch.connection import Object
from storage.opensearch.layout import DOCUMENT, Layout
from storage.opensearch.terms import token
from storage.search.index import Spelling, Spellings
from storage.search.scope import Scope

_MOST_EDITS = 2
_MOST_CELLS = 50_000
_SHORT = 4  # up to this length the server's fuzzy query, which only narrows what is looked at, misses words
# A lower bound of the distance, by length and by characters that one word has more often than the other: exact
# distances are worked out by the caller, on few words.
_RESEMBLING = """
List near = new ArrayList();
String wanted = params.word;
for (String word : doc['words']) {
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


def spellings(layouts: Sequence[Layout], scope: Scope, request: Spellings) -> Steps[tuple[Spelling, ...]]:
    wanted = list[tuple[Layout, str]]()
    for layout in layouts:
        words = [word.text for word in layout.analyser.words(request.word)]
        if len(words) == 1 and token(words[0]) == words[0]:
            wanted.append((layout, words[0]))
    found = yield [
        one_search(layout.index, _near(scope, word), {"words": _resembling(word)}) for layout, word in wanted
    ]
    counted = dict[str, tuple[int, int]]()
    for (_, word), answer in zip(wanted, found, strict=True):
        for cell in answer.aggregations["words"]["buckets"]:
            distance = DamerauLevenshtein.distance(word, cell["key"], score_cutoff=_MOST_EDITS)
            if 0 < distance <= _MOST_EDITS:
                before = counted.get(cell["key"], (0, 0))[1]
                counted[cell["key"]] = (distance, before + cell["doc_count"])
    ranked = sorted(counted.items(), key=lambda one: (one[1][0], -one[1][1], one[0]))
    return tuple(
        Spelling(word=word, distance=distance, documents=documents)
        for word, (distance, documents) in ranked[: max(request.limit, 0)]
    )


def _near(scope: Scope, word: str) -> Object:
    fuzzy: Object = {"fuzzy": {"words": {"value": word, "fuzziness": _MOST_EDITS, "max_expansions": 1000}}}
    narrowed: Object = {"exists": {"field": "words"}} if len(word) <= _SHORT else fuzzy
    return both({"term": {"kind": DOCUMENT}}, visible(scope), narrowed)


def _resembling(word: str) -> Object:
    astral = any(ord(character) > 0xFFFF for character in word)
    params: Object = {"word": word, "most": 2 * _MOST_EDITS if astral else _MOST_EDITS}
    return {"terms": {"script": {"source": _RESEMBLING, "params": params}, "size": _MOST_CELLS}}
