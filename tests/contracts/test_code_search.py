"""Code is found by identifiers, whole and in parts, in every index."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.outcome import FoundPassage
from agent.retrieval.code.code_passages import find_code_passages
from agent.retrieval.code.code_query import read_code_query
from agent.retrieval.search_context import SearchContext
from agent.retrieval.session import RetrievalSession
from storage.search.ids import BucketId
from storage.search.index import SearchIndex
from storage.search.plan import unfiltered_search_of
from storage.text.snowball_analyser import analyser_for
from tests.builders import a_scope
from tests.storage.ingest.runs import ingest_with_rules

GUIDES = BucketId("guides")
LOADING = """# Loading settings

The settings are read once, before the first request is answered. Call parseConfig with the path of the file.

```python
def load_settings(path):
    raw = parseConfig(path)
    return Settings(raw, retry_limit=maxRetryCount)
```
"""
SHELL = """# Backups

A backup is made every night; see the settings of the machine for when.

```sh
tar czf backup.tgz "$DATA_DIR"
```

~~~go
func WriteBackup(dataDir string) error { return nil }
~~~
"""
TALK = "# Minutes\n\nWe talked about parse config, load settings and the retry limit. No code was shown."


async def find_code(index: SearchIndex, folder: Path, query: str, *, characters: int = 400) -> list[FoundPassage]:
    for name, text in (("loading.md", LOADING), ("backups.md", SHELL), ("minutes.md", TALK)):
        (folder / name).write_text(text)
    await ingest_with_rules(index, [folder], bucket=GUIDES)
    scoped = index.within_scope(a_scope(GUIDES))
    session = RetrievalSession(SearchContext(index=scoped, now=datetime(2031, 5, 9, tzinfo=UTC)), "rule")
    analysers = {GUIDES: analyser_for("en")}
    search, code_query = unfiltered_search_of(GUIDES), read_code_query(query)
    return list(await find_code_passages(session, search, code_query, analysers, max_characters=characters))


@pytest.mark.parametrize(
    ("query", "language", "line"),
    [
        ("parseConfig", "python", "raw = parseConfig(path)"),
        ("parse_config", "python", "raw = parseConfig(path)"),  # another spelling of it
        ("where do we parse the config?", "python", "raw = parseConfig(path)"),
        ("max retry count", "python", "retry_limit=maxRetryCount"),
        ("retry", "python", "retry_limit=maxRetryCount"),  # a part of it
        ("loadSettings", "python", "def load_settings(path):"),
        ("DATA_DIR", "sh", 'tar czf backup.tgz "$DATA_DIR"'),  # as written, before `dataDir`
        ("write backup", "go", "func WriteBackup"),
    ],
)
async def test_a_block_is_found_by_an_identifier_whole_or_in_parts(
    index: SearchIndex, tmp_path: Path, query: str, language: str, line: str
) -> None:
    found = await find_code(index, tmp_path, query)

    assert found[0].code_language == language
    assert line in found[0].hit.text
    assert "```" not in found[0].hit.text


async def test_prose_is_no_code_and_other_words_find_nothing(index: SearchIndex, tmp_path: Path) -> None:
    assert {passage.hit.title for passage in await find_code(index, tmp_path, "parse config settings")} == {
        "Loading settings"
    }
    assert await find_code(index, tmp_path, "minutes of the talk") == []
    assert await find_code(index, tmp_path, "?!") == []


async def test_a_long_block_is_cut_to_whole_lines_around_what_is_asked_for(index: SearchIndex, tmp_path: Path) -> None:
    found = await find_code(index, tmp_path, "retry_limit", characters=80)

    assert found[0].hit.text == "    raw = parseConfig(path)\n    return Settings(raw, retry_limit=maxRetryCount)"
    assert found[0].hit.text == LOADING[found[0].hit.start : found[0].hit.end]
