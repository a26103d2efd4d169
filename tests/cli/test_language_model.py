"""The program with a language model, which the project's own server plays over HTTP."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.agent.model.plan_outputs import a_condition, a_part, a_plan_output
from tests.cli.conftest import ProcessResult, run_parley
from tests.cli.test_eval import DOCUMENTS, QUESTIONS, SCHEMA, write_json_lines
from tests.stand_ins.model.replies import HttpFault
from tests.stand_ins.model.request_bodies import ChatBody, SchemaFormatBody
from tests.stand_ins.model.server import API_KEY, ScriptedModelServer

QUESTION = "List the receipts of Kestrel"
KESTREL = a_plan_output(a_part("list", "receipts", a_condition("vendor", "is", "Kestrel", words="Kestrel")))
NOBODY = "http://127.0.0.1:9/v1"


def answer_by_schema(body: ChatBody) -> str:
    """Plans the question above, and answers the check."""
    assert isinstance(body.response_format, SchemaFormatBody)
    return KESTREL.model_dump_json() if "parts" in str(body.response_format) else '{"is_greater": true}'


@pytest.fixture
async def model_server() -> AsyncIterator[ScriptedModelServer]:
    async with ScriptedModelServer(answer_chat=answer_by_schema) as server:
        yield server


async def run_with_model(server_url: str, home: Path, *words: str, **more: str) -> ProcessResult:
    variables = {
        "PARLEY_MODEL": "openai/main-model",
        "PARLEY_MODEL_API_BASE": server_url,
        "PARLEY_MODEL_API_KEY": API_KEY,
        "PARLEY_MODEL_WHEN": "always",
        "PARLEY_MODEL_PRICES": "openai/main-model=1/2",
    }
    return await asyncio.to_thread(run_parley, home, *words, **(variables | more))


async def test_a_question_is_planned_by_the_model(home: Path, model_server: ScriptedModelServer) -> None:
    ended = await run_with_model(model_server.url, home, "ask", QUESTION, "--json", "--debug")

    result = ended.json
    assert (result["outcome"], result["count"], result["reasoner"]) == ("answer", 40, "model")
    [call] = result["calls"]
    assert call["prompt"].startswith("plan_question@")
    assert (result["model_calls"], result["tokens"]) == (1, call["tokens"])
    assert result["cost_usd"] == pytest.approx(call["tokens"]["in"] / 1e6 + 2 * call["tokens"]["out"] / 1e6)
    assert result["reasoning"]["plan_difference"]["kind"] == "same"
    assert "compared with the rules: the rules make the same plan" in ended.stderr
    assert API_KEY not in ended.stdout + ended.stderr


async def test_without_an_answer_of_the_model_the_rules_answer_and_say_so(home: Path) -> None:
    ended = await run_with_model(NOBODY, home, "ask", QUESTION, "--json", PARLEY_MODEL_TIMEOUT="2")

    result = ended.json
    assert (result["outcome"], result["count"], result["reasoner"]) == ("answer", 40, "rule")
    assert result["assumptions"] == ["answered without the language model, which does not answer now"]
    assert result["stages"][0]["fallback"]
    assert "the language model was not used (" in ended.stderr


async def test_the_steps_say_that_no_model_was_needed(home: Path, model_server: ScriptedModelServer) -> None:
    ended = await run_with_model(model_server.url, home, "ask", QUESTION, "--debug", PARLEY_MODEL_WHEN="needed")

    assert "no language model was asked: the rules needed none" in ended.stderr
    assert "receipts: vendor = Kestrel: 40 documents" in ended.stderr
    assert model_server.chat_requests == []


async def test_beyond_the_budget_the_rules_answer_and_say_so(home: Path, model_server: ScriptedModelServer) -> None:
    ended = await run_with_model(model_server.url, home, "ask", QUESTION, "--json", PARLEY_MODEL_BUDGET="0.0000001")

    assert model_server.chat_requests == []
    assert ended.json["assumptions"] == ["answered without the language model, since this month's budget is used up"]


async def test_with_a_budget_and_no_price_the_rules_answer_and_say_so(
    home: Path, model_server: ScriptedModelServer
) -> None:
    variables = {"PARLEY_MODEL_BUDGET": "5", "PARLEY_MODEL_PRICES": ""}

    ended = await run_with_model(model_server.url, home, "ask", QUESTION, "--json", **variables)

    assert model_server.chat_requests == []
    assert ended.json["assumptions"] == ["answered without the language model, since its price is not set"]


async def test_doctor_says_that_the_model_answers(tmp_path: Path, model_server: ScriptedModelServer) -> None:
    ended = await run_with_model(model_server.url, tmp_path, "doctor")

    assert ended.status == 0, ended.stderr
    assert "Model: openai/main-model: openai/main-model answers in " in ended.stdout
    assert "with structured output; cost $0.0000" in ended.stdout
    assert API_KEY not in ended.stdout
    assert len(model_server.chat_requests) == 1


@pytest.mark.parametrize(
    ("reply", "variables", "fault"),
    [
        (HttpFault(status=401, message="no"), {}, "openai/main-model does not answer"),
        ("Yes, it is.", {}, "but not in the structure that it was asked for"),
        (
            '{"is_greater": true}',
            {"PARLEY_MODEL_PRICES": "", "PARLEY_MODEL_BUDGET": "5"},
            "PARLEY_MODEL_BUDGET keeps it from being called",
        ),
    ],
)
async def test_doctor_says_what_is_wrong_with_the_model(
    tmp_path: Path,
    model_server: ScriptedModelServer,
    reply: HttpFault | str,
    variables: dict[str, str],
    fault: str,
) -> None:
    model_server.chat_replies.append(reply)

    ended = await run_with_model(model_server.url, tmp_path, "doctor", "--json", **variables)

    [finding] = ended.json["model"]
    assert ended.status == 1
    assert fault in finding["fault"]
    assert finding["fault"] in ended.json["problems"]


async def test_doctor_asks_the_small_model_too(tmp_path: Path, model_server: ScriptedModelServer) -> None:
    ended = await run_with_model(
        model_server.url, tmp_path, "doctor", "--json", PARLEY_MODEL_SMALL="openai/small-model"
    )

    assert [finding["what"] for finding in ended.json["model"]] == ["openai/main-model", "openai/small-model"]
    assert [request.model for request in model_server.chat_requests] == ["main-model", "small-model"]


@pytest.mark.parametrize(
    ("variables", "advice"),
    [
        ({"PARLEY_MODEL": "nosuch/model"}, "the name has no known provider; write PROVIDER/MODEL"),
        ({"PARLEY_MODEL_API_BASE": NOBODY}, "the connection failed; check that the model's server runs"),
        ({"PARLEY_MODEL_API_KEY": "sk-wrong"}, "refused access (401); check PARLEY_MODEL_API_KEY"),
        ({"PARLEY_MODEL": "openai/nosuch"}, "no such model or address (404); check the model's name"),
    ],
)
async def test_doctor_says_what_to_do_about_a_model_that_does_not_answer(
    tmp_path: Path, model_server: ScriptedModelServer, variables: dict[str, str], advice: str
) -> None:
    ended = await run_with_model(model_server.url, tmp_path, "doctor", **({"PARLEY_MODEL_PRICES": ""} | variables))

    assert ended.status == 1
    assert f"does not answer: {advice}" in ended.stderr
    assert "sk-wrong" not in ended.stdout + ended.stderr


async def test_doctor_does_not_mind_a_model_that_refuses_an_optional_parameter(
    tmp_path: Path, model_server: ScriptedModelServer
) -> None:
    model_server.refused_parameters = {"temperature"}

    ended = await run_with_model(model_server.url, tmp_path, "doctor")

    assert (ended.status, len(model_server.chat_requests)) == (0, 1), ended.stderr


async def test_doctor_asks_a_fallback_model_by_itself(tmp_path: Path, model_server: ScriptedModelServer) -> None:
    ended = await run_with_model(model_server.url, tmp_path, "doctor", PARLEY_MODEL_FALLBACKS="openai/nosuch")

    assert ended.status == 1
    assert "Model: openai/main-model: openai/main-model answers in " in ended.stdout
    assert "openai/nosuch does not answer: no such model or address (404)" in ended.stderr


@pytest.fixture
def eval_data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    write_json_lines(folder / "slips_docs.jsonl", DOCUMENTS)
    write_json_lines(folder / "slips_queries.jsonl", QUESTIONS[:1])
    (folder / "slips.schema.yaml").write_text(SCHEMA, encoding="utf-8")
    return folder


async def test_an_evaluation_tells_calls_costs_and_plan_differences(
    tmp_path: Path, eval_data: Path, model_server: ScriptedModelServer
) -> None:
    plan = a_plan_output(a_part("list", "slips", a_condition("vendor", "is", "Kestrel", words="Kestrel")))
    model_server.answer_chat = lambda _: plan.model_dump_json()
    words = ("eval", str(eval_data), "--metadata", "--no-alone")

    modelled = await run_with_model(model_server.url, tmp_path, *words, "--reasoner", "model")
    by_rules = await run_with_model(model_server.url, tmp_path, *words, "--reasoner", "rule", "--json")
    without = await run_with_model(model_server.url, tmp_path, *words, "--reasoner", "model", PARLEY_MODEL="")

    assert "metadata: language model" in modelled.stdout
    assert "slips  same" in modelled.stdout
    assert len(model_server.chat_requests) == 1
    column = by_rules.json["columns"]["metadata"]
    assert (column["model"], column["questions"][0]["model_calls"]) == ([], 0)
    assert (without.status, "needs PARLEY_MODEL" in without.stderr) == (1, True)
