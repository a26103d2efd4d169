"""What embeds and reranks, as the settings name it."""

from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.retrieval.relevance import Reranker
from bot.models.result_cache import ResultCache
from bot.settings import Settings

if TYPE_CHECKING:
    from agent.gateway.gateway import ModelGateway
    from bot.models.model_embedder import ModelEmbedder
    from storage.embedder import Embedder


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredEmbedders:
    """The embedder of the index, and the one that compares words and short texts in answers.

    The second is never metered: a question needs it many times, and its limits are measured with WordLlama.
    """

    index_embedder: "Embedder | None"
    word_embedder: "Embedder | None"
    model_embedder: "ModelEmbedder | None" = None  # the index's, if it is a model of the gateway

    @property
    def are_equal(self) -> bool:
        return self.index_embedder is self.word_embedder


def build_embedders(settings: Settings, gateway: "ModelGateway | None", cache: ResultCache) -> ConfiguredEmbedders:
    """`gateway` may be None unless the settings name an embedding model. The models are loaded on first use."""
    if settings.embedder == "none":
        return ConfiguredEmbedders(index_embedder=None, word_embedder=None)
    from storage.embedder import WordLlamaEmbedder

    word_embedder = WordLlamaEmbedder()
    if settings.embedding_model is None or gateway is None:
        return ConfiguredEmbedders(index_embedder=word_embedder, word_embedder=word_embedder)
    from bot.models.model_embedder import ModelEmbedder

    index_embedder = ModelEmbedder(
        settings.embedding_model,
        gateway,
        cache,
        requested_dimensions=settings.embedder_dimensions,
        concurrency=settings.model.concurrency,
    )
    return ConfiguredEmbedders(
        index_embedder=index_embedder, word_embedder=word_embedder, model_embedder=index_embedder
    )


@contextmanager
def open_reranker(settings: Settings, gateway: "ModelGateway | None") -> Generator[Reranker | None]:
    """The configured reranker. `gateway` may be None unless the settings name a reranking model."""
    if settings.reranking_model is not None and gateway is not None:
        from bot.models.model_reranker import ModelReranker

        yield ModelReranker(settings.reranking_model, gateway)
        return
    with open_flashrank_reranker(settings) as reranker:
        yield reranker


@contextmanager
def open_flashrank_reranker(settings: Settings) -> Generator[Reranker | None]:
    """The reranker that runs in this process, if one is set, with its model from the home, loaded on first use."""
    if settings.flashrank_model is None:
        yield None
        return
    from bot.reranker import FlashrankReranker

    with closing(FlashrankReranker(settings.flashrank_model, settings.models_path)) as reranker:
        yield reranker
