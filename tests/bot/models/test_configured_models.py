"""`PARLEY_EMBEDDER` and `PARLEY_RERANKER` as models of a server, from the settings to the stages of an answer."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from bot.application import Application
from bot.bootstrap import list_unreachable_backends, open_application
from bot.errors import InvalidSettings
from bot.settings import Settings, load_settings, survey_settings
from storage.search.documents import Document, Passage
from storage.search.ids import BucketId, DocId
from storage.search.index import SemanticPassageRequest
from storage.search.schema import Schema
from tests.builders import a_scope, a_search
from tests.stand_ins.model.replies import HttpFault
from tests.stand_ins.model.server import API_KEY, ScriptedModelServer

PUMPS = BucketId("pumps")


@pytest_asyncio.fixture
async def server() -> AsyncIterator[ScriptedModelServer]:
    async with ScriptedModelServer() as running:
        yield running


def settings_for(folder: Path, server: ScriptedModelServer, **more: str) -> Settings:
    environ = {
        "PARLEY_TENANT": "test",
        "PARLEY_EMBEDDER": "openai/embedding-model",
        "PARLEY_EMBEDDER_API_BASE": server.url,
        "PARLEY_EMBEDDER_API_KEY": API_KEY,
    }
    return load_settings(folder, environ | more).settings


async def fill_pumps(bot: Application) -> None:
    await bot.index.set_schema(Schema(bucket=PUMPS))
    texts = ["A pump with a valve", "An oak table"]
    await bot.index.put(
        PUMPS,
        [
            Document(
                doc_id=DocId(f"d{n}"), title="", text=text, passages=(Passage(start=0, end=len(text)),), digest=text
            )
            for n, text in enumerate(texts)
        ],
    )


async def test_passages_and_questions_are_embedded_by_the_server(tmp_path: Path, server: ScriptedModelServer) -> None:
    async with open_application(settings_for(tmp_path, server)) as bot:
        await fill_pumps(bot)
        states = await bot.index.load_vector_states()
        request = SemanticPassageRequest(a_search(bucket=PUMPS), "\nA pump with a valve")
        answers = await bot.index.within_scope(a_scope(PUMPS)).answer_requests(request)

    assert states[PUMPS].embedder == "openai/embedding-model"
    assert answers[request][0].doc_id == "d0"
    assert answers[request][0].score == pytest.approx(1, abs=1e-3)


async def test_a_change_of_the_embedder_is_reported_with_the_command_that_repairs_it(
    tmp_path: Path, server: ScriptedModelServer
) -> None:
    async with open_application(load_settings(tmp_path, {"PARLEY_TENANT": "test"}).settings) as bot:
        await fill_pumps(bot)
    settings = settings_for(tmp_path, server)

    (problem,) = await list_unreachable_backends(settings)
    async with open_application(settings) as bot:
        await bot.index.update_vectors(PUMPS, lambda count: None)

    assert "pumps is searched by words alone" in problem
    assert "wordllama" in problem
    assert "parley bucket reindex pumps" in problem
    assert await list_unreachable_backends(settings) == []


async def test_an_embedder_that_does_not_answer_is_reported(tmp_path: Path, server: ScriptedModelServer) -> None:
    settings = settings_for(tmp_path, server, PARLEY_EMBEDDER_API_KEY="wrong")

    (problem,) = await list_unreachable_backends(settings)

    assert problem.startswith("PARLEY_EMBEDDER: the embedding model openai/embedding-model does not answer")
    assert "wrong" not in problem


async def test_a_question_whose_text_cannot_be_embedded_is_answered_by_words(
    tmp_path: Path, server: ScriptedModelServer
) -> None:
    async with open_application(settings_for(tmp_path, server)) as bot:
        await fill_pumps(bot)
        server.embedding_replies = [HttpFault(status=400)] * 3
        request = SemanticPassageRequest(a_search(bucket=PUMPS), "valves")
        answers = await bot.index.within_scope(a_scope(PUMPS)).answer_requests(request)

    assert answers[request] == ()
    assert "does not answer" in answers.embedding_failure


async def test_the_server_reranks(tmp_path: Path, server: ScriptedModelServer) -> None:
    more = {
        "PARLEY_EMBEDDER": "none",
        "PARLEY_RERANKER": "hosted_vllm/rerank-model",
        "PARLEY_RERANKER_API_BASE": server.url,
        "PARLEY_RERANKER_API_KEY": API_KEY,
    }
    settings = load_settings(tmp_path, {"PARLEY_TENANT": "test"} | more).settings

    assert await list_unreachable_backends(settings) == []
    assert (await list_unreachable_backends(settings.model_copy(update={"reranker_api_base": "http://127.0.0.1:9"})))[
        0
    ].startswith("PARLEY_RERANKER: the model hosted_vllm/rerank-model does not answer")


@pytest.mark.parametrize(
    ("variable", "value"),
    [("PARLEY_EMBEDDER", "bge-m3"), ("PARLEY_RERANKER", "openai/gpt"), ("PARLEY_RERANKER", "cohere/")],
)
def test_names_that_are_no_model_for_the_purpose_are_refused(tmp_path: Path, variable: str, value: str) -> None:
    with pytest.raises(InvalidSettings, match=variable):
        load_settings(tmp_path, {variable: value})


def test_settings_of_calls_have_an_effect_with_an_embedding_model_alone(tmp_path: Path) -> None:
    price = {"PARLEY_MODEL_PRICES": "openai/e=0.02"}
    without = survey_settings(tmp_path, price).settings
    with_embedder = survey_settings(tmp_path, price | {"PARLEY_EMBEDDER": "openai/e"}).settings

    assert without.find_problems() == ["PARLEY_MODEL_PRICES has no effect, since no model is set"]
    assert [*with_embedder.find_problems(), *with_embedder.model.find_problems()] == []
