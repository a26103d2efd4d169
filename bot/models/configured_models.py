"""The models of the settings, as commands use them that work on many documents."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.gateway.language_model import LanguageModel
from bot.models.cost_estimate import CHARS_A_TOKEN, ModelWorkload, describe_estimate
from bot.models.model_embedder import BATCH_TEXTS, ModelEmbedder
from bot.models.result_cache import ResultCache
from bot.settings import Settings
from storage.ingest.extract.candidates import Extractor
from storage.search.index import PassageVolume

if TYPE_CHECKING:
    from agent.gateway.gateway import ModelGateway
    from bot.models.chunk_context import ChunkContextWriter
    from bot.models.model_extractor import ModelExtractor


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredModels:
    """`gateway` is None if the settings name no model, `embedder` if none embeds, `model` if none reads or writes."""

    settings: Settings
    cache: ResultCache
    gateway: "ModelGateway | None"
    embedder: ModelEmbedder | None
    model: LanguageModel | None

    @property
    def small_model_name(self) -> str:
        return self.settings.model.small or self.settings.model.name

    async def describe_embedding_cost(self, volume: PassageVolume) -> str | None:
        """What it costs at most to embed the passages; None if they are embedded in this process."""
        if self.embedder is None:
            return None
        workload = ModelWorkload(
            calls=-(-volume.passage_count // BATCH_TEXTS), input_tokens=-(-volume.character_count // CHARS_A_TOKEN)
        )
        return await self._describe_cost(workload, self.embedder.model)

    async def describe_reading_cost(self, workload: ModelWorkload) -> str:
        """What it costs to have the small model do the work."""
        return await self._describe_cost(workload, self.small_model_name)

    async def _describe_cost(self, workload: ModelWorkload, model_name: str) -> str:
        if self.gateway is None:
            return describe_estimate(workload, model_name, None)
        await self.gateway.load()
        return describe_estimate(workload, model_name, self.gateway.price_of(model_name))

    def build_extractor(self, rules: Extractor) -> "ModelExtractor | None":
        """An extractor that joins what the small model reads with what the rules read; None without a model."""
        if self.model is None:
            return None
        from bot.models.model_extractor import ModelExtractor

        concurrency = self.settings.model.concurrency
        return ModelExtractor(self.model, self.small_model_name, rules, self.cache, concurrency=concurrency)

    def build_context_writer(self) -> "ChunkContextWriter | None":
        """A writer of contexts for passages, with the small model; None without a model."""
        if self.model is None:
            return None
        from bot.models.chunk_context import ChunkContextWriter

        concurrency = self.settings.model.concurrency
        return ChunkContextWriter(self.model, self.small_model_name, self.cache, concurrency=concurrency)

    async def forget_earlier_vectors(self) -> None:
        """Delete what is kept of earlier embedding models, once no index needs it. Raises `ResultCacheUnavailable`."""
        if self.embedder is not None:
            await self.embedder.forget_other_models()
