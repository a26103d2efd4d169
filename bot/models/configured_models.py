"""The models of the settings, as commands use them that work on many documents."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.models.cost_estimate import CHARS_A_TOKEN, ModelWorkload, describe_estimate
from bot.models.model_embedder import BATCH_TEXTS, ModelEmbedder
from storage.search.index import PassageVolume

if TYPE_CHECKING:
    from agent.gateway.gateway import ModelGateway


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredModels:
    """`gateway` is None if no model is set, `embedder` if none embeds."""

    gateway: "ModelGateway | None"
    embedder: ModelEmbedder | None

    async def describe_embedding_cost(self, volume: PassageVolume) -> str | None:
        """What it costs at most to embed the passages; None if they are embedded in this process."""
        if self.gateway is None or self.embedder is None:
            return None
        workload = ModelWorkload(
            calls=-(-volume.passage_count // BATCH_TEXTS), input_tokens=-(-volume.character_count // CHARS_A_TOKEN)
        )
        await self.gateway.load()
        return describe_estimate(workload, self.embedder.model, self.gateway.price_of(self.embedder.model))

    async def forget_earlier_vectors(self) -> None:
        """Delete what is kept of earlier embedding models, once no index needs it. Raises `ResultCacheUnavailable`."""
        if self.embedder is not None:
            await self.embedder.forget_other_models()
