"""Whole questions over shipments in an OpenSearch, by the rules or with the plan of a scripted model."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import aiohttp

from bench.index_searches import QuestionMeter, SearchCost
from bench.layouts.corpus import PASSAGES_PER_DOCUMENT, ShipmentCorpus
from bench.layouts.indexes import LayoutLoader
from bench.layouts.request_shapes import THREE_SUB_QUERIES, RequestShapes
from bench.scripted_model import open_scripted_reasoner
from storage.opensearch.catalogue import BucketCatalogue
from storage.opensearch.index import OpenSearchIndex
from storage.opensearch.mapping import IndexNames
from storage.search.ids import TenantId
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for
from tests.stand_ins.recorded_cluster import RecordedConnection

_TENANT = TenantId("bench")
_CLIENT_TIMEOUT = aiohttp.ClientTimeout(total=300)
SCRIPTED = f"{THREE_SUB_QUERIES}, scripted model"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShipmentQuestions:
    """Measures the questions of `shapes`, whose documents are loaded."""

    meter: QuestionMeter
    shapes: RequestShapes

    async def measure_by_rules(self, name: str, runs: int) -> SearchCost:
        return await self.meter.measure_question(self.shapes.questions()[name], runs)

    async def measure_scripted(self, runs: int) -> SearchCost:
        """Measures the question of three sub-queries, whose plan is a model's that replies without delay."""
        async with open_scripted_reasoner(self.shapes.plan_three_sub_queries()) as reasoner:
            meter = replace(self.meter, reasoner=reasoner)
            return await meter.measure_question(self.shapes.questions()[THREE_SUB_QUERIES], runs)


@asynccontextmanager
async def open_shipment_questions(url: str, passages: int) -> AsyncGenerator[ShipmentQuestions]:
    """Loads so many passages, without vectors, unless the server has them."""
    corpus, connection = ShipmentCorpus(analyser_for("en")), RecordedConnection([url])
    names = IndexNames(_TENANT, f"bench-{passages}-words")
    async with aiohttp.ClientSession(url, timeout=_CLIENT_TIMEOUT) as session:
        try:
            catalogue = BucketCatalogue(connection=connection, names=names, analysers=analyser_for)
            await catalogue.open()
            index = OpenSearchIndex(catalogue, tenant=_TENANT, embedder=None)
            for schema in corpus.schemas:
                await index.set_schema(schema)
            await catalogue.reload_layouts()
            loader = LayoutLoader(session=session, catalogue=catalogue, corpus=corpus)
            await loader.load_parley_layout(passages // PASSAGES_PER_DOCUMENT)
            scope = Scope(tenant=_TENANT, buckets=frozenset(catalogue.layouts), ignores_readers=True)
            scoped = index.within_scope(scope)
            meter = QuestionMeter(scoped, connection, session, clears=("request", "query"), summarise_ms=min)
            yield ShipmentQuestions(meter=meter, shapes=RequestShapes(corpus))
        finally:
            await connection.close()
