"""Loads passages with Haystack or LangChain and searches them. Runs in the environment `.bench-peers`, without Parley.

`peer_program.py haystack|langchain URL INDEX FILE`: FILE has a document with its passages in each line. Queries come
from standard input, a line each. Prints the seconds of the load and of its parts, and the milliseconds of each search.
"""

import importlib
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

Libraries = Any  # they are not installed where types are checked
LoadedStore: TypeAlias = tuple[Callable[[], None], Callable[[str], object]]  # writes the passages; searches
_DIMENSIONS, _HITS = 256, 10


def load_embedding_model() -> Libraries:
    library: Libraries = importlib.import_module("wordllama")
    return library.WordLlama.load(cache_dir=Path(library.__file__).parent, disable_download=True)


def read_passages(file: Path) -> list[dict[str, Any]]:
    """Returns the passages with the title and metadata of their documents."""
    with file.open(encoding="utf-8") as lines:
        return [
            {
                "id": f"{record['doc_id']}.{place}",
                "text": text,
                "meta": {"title": record["title"], **record["metadata"]},
            }
            for record in map(json.loads, lines)
            for place, text in enumerate(record["passages"])
        ]


def prepare_haystack(
    url: str, index: str, passages: Sequence[dict[str, Any]], vectors: Sequence[list[float]]
) -> LoadedStore:
    """A `DocumentWriter` that gets all passages at once, and the retriever that ranks by BM25."""
    haystack: Libraries = importlib.import_module("haystack")
    writers: Libraries = importlib.import_module("haystack.components.writers")
    stores: Libraries = importlib.import_module("haystack_integrations.document_stores.opensearch")
    retrievers: Libraries = importlib.import_module("haystack_integrations.components.retrievers.opensearch")
    # Vectors are compared one by one, as Parley stores them too: a graph costs much more to fill.
    store = stores.OpenSearchDocumentStore(
        hosts=[url], index=index, embedding_dim=_DIMENSIONS, settings={"index.knn": False}, timeout=120
    )
    writer, retriever = writers.DocumentWriter(store), retrievers.OpenSearchBM25Retriever(document_store=store)

    def write_passages() -> None:
        documents = [
            haystack.Document(id=passage["id"], content=passage["text"], meta=passage["meta"], embedding=vector)
            for passage, vector in zip(passages, vectors, strict=True)
        ]
        writer.run(documents=documents)

    return write_passages, lambda query: retriever.run(query=query, top_k=_HITS)["documents"]


def prepare_langchain(
    url: str, index: str, passages: Sequence[dict[str, Any]], vectors: Sequence[list[float]], model: Libraries
) -> LoadedStore:
    """The vector store's `add_embeddings`, which is `add_texts` with vectors at hand, and its search by meaning."""
    core: Libraries = importlib.import_module("langchain_core.embeddings")
    stores: Libraries = importlib.import_module("langchain_community.vectorstores")

    class WordLlamaVectors(core.Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return model.embed(texts, norm=True).tolist()

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0]

    store = stores.OpenSearchVectorSearch(url, index, WordLlamaVectors(), timeout=120)
    store.create_index(_DIMENSIONS, index, is_appx_search=False)  # no graph, as above

    def write_passages() -> None:
        store.add_embeddings(
            list(zip([passage["text"] for passage in passages], vectors, strict=True)),
            metadatas=[passage["meta"] for passage in passages],
            ids=[passage["id"] for passage in passages],
            bulk_size=len(passages),
        )

    def search_passages(query: str) -> object:
        return store.similarity_search(query, k=_HITS, search_type="script_scoring", space_type="cosinesimil")

    return write_passages, search_passages


def main() -> None:
    peer, url, index, file = sys.argv[1:]
    queries, model = sys.stdin.read().splitlines(), load_embedding_model()
    model.embed(["a word"], norm=True)
    prepare_store = prepare_haystack if peer == "haystack" else prepare_langchain
    extra = () if peer == "haystack" else (model,)
    prepare_store(url, f"{index}-warm", [], [], *extra)  # imports
    started_s, cpu_started_s = time.perf_counter(), time.process_time()
    passages = read_passages(Path(file))
    vectors = model.embed([passage["text"] for passage in passages], norm=True).tolist()
    write_passages, search_passages = prepare_store(url, index, passages, vectors, *extra)
    write_started_s = time.perf_counter()
    write_passages()
    ended_s, cpu_s = time.perf_counter(), time.process_time() - cpu_started_s
    search_ms, hit_counts = list[float](), list[int]()
    for query in queries:
        search_started_s = time.perf_counter()
        hits: Any = search_passages(query)
        search_ms.append((time.perf_counter() - search_started_s) * 1000)
        hit_counts.append(len(hits))
    if min(hit_counts, default=0) == 0:
        raise SystemExit("a query found nothing")
    figures = {"load_s": ended_s - started_s, "write_s": ended_s - write_started_s, "cpu_s": cpu_s}
    sys.stdout.write(json.dumps({**figures, "search_ms": search_ms}) + "\n")


if __name__ == "__main__":
    main()
