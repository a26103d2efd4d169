"""The settings of the language model, and what they make of the gateway and the reasoner."""

from pathlib import Path

import pytest

from agent.gateway.options import ModelPrice
from agent.model.options import ModelMode, ModelUse
from bot.errors import InvalidSettings
from bot.model_settings import LanguageModelSettings
from bot.settings import load_settings, survey_settings


def model_settings_of(home: Path, **environ: str) -> LanguageModelSettings:
    return load_settings(home, {f"PARLEY_{name}": value for name, value in environ.items()}).settings.model


def test_without_a_name_no_model_is_used(tmp_path: Path) -> None:
    settings = model_settings_of(tmp_path)

    assert not settings.is_used
    assert settings.find_problems() == []


def test_the_gateway_gets_models_server_prices_and_limits(tmp_path: Path) -> None:
    options = model_settings_of(
        tmp_path,
        MODEL="openai/big",
        MODEL_SMALL="openai/tiny",
        MODEL_FALLBACKS="a/one, b/two",
        MODEL_API_BASE="http://localhost:11434/v1/",
        MODEL_API_KEY="hush",
        MODEL_PRICES="openai/big=0.5/1.5,emb=0.02",
        MODEL_CONCURRENCY="3",
        MODEL_TIMEOUT="12.5",
        MODEL_STORE_TEXTS="on",
    ).gateway_options

    assert (options.models.main, options.models.small) == ("openai/big", "openai/tiny")
    assert options.models.fallbacks == ("a/one", "b/two")
    assert (options.server.api_base, options.server.api_key) == ("http://localhost:11434/v1", "hush")
    assert options.prices == {
        "openai/big": ModelPrice(input_usd=0.5, output_usd=1.5),
        "emb": ModelPrice(input_usd=0.02, output_usd=0.0),
    }
    assert (options.limits.concurrent_calls, options.limits.chat_timeout_s) == (3, 12.5)
    assert options.keeps_texts


def test_the_reasoner_gets_its_limits(tmp_path: Path) -> None:
    options = model_settings_of(
        tmp_path,
        MODEL="m",
        MODEL_WHEN="always",
        MODEL_MODE="loop",
        MODEL_TOOL_CALLS="7",
        MODEL_COMPLETENESS="0.6",
        MODEL_ROUNDS="2",
        MODEL_SUB_QUERIES="4",
        MODEL_TIMEOUT="12.5",
    ).reasoner_options

    assert (options.when, options.mode) == (ModelUse.ALWAYS, ModelMode.LOOP)
    assert (options.max_tool_calls, options.completeness) == (7, 0.6)
    assert (options.max_rounds, options.max_sub_queries, options.call_timeout_s) == (2, 4, 12.5)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("PARLEY_MODEL_PRICES", "gpt-x", "is not MODEL=IN/OUT"),
        ("PARLEY_MODEL_PRICES", "gpt-x=a/b", "is not MODEL=IN/OUT"),
        ("PARLEY_MODEL_PRICES", "gpt-x=-1/2", "is not MODEL=IN/OUT"),
        ("PARLEY_MODEL_PRICES", "gpt-x=nan/2", "is not MODEL=IN/OUT"),
        ("PARLEY_MODEL_PRICES", "=1/2", "is not MODEL=IN/OUT"),
        ("PARLEY_MODEL_WHEN", "never", "'needed' or 'always'"),
        ("PARLEY_MODEL_MODE", "fast", "'staged' or 'loop'"),
        ("PARLEY_MODEL_API_BASE", "localhost:1", "does not begin with http"),
        ("PARLEY_MODEL_BUDGET", "-1", "greater than or equal to 0"),
        ("PARLEY_MODEL_BUDGET", "inf", "finite number"),
        ("PARLEY_MODEL_TIMEOUT", "0", "greater than 0"),
        ("PARLEY_MODEL_COMPLETENESS", "1.5", "less than or equal to 1"),
        ("PARLEY_MODEL_ROUNDS", "4", "less than or equal to 3"),
        ("PARLEY_ANSWER_TIMEOUT", "0", "greater than or equal to 1"),
    ],
)
def test_an_invalid_setting_is_named_with_its_fault(tmp_path: Path, name: str, value: str, reason: str) -> None:
    with pytest.raises(InvalidSettings, match=f"{name} is not valid .*{reason}"):
        load_settings(tmp_path, {name: value})


def test_settings_of_a_model_that_is_not_named_are_reported(tmp_path: Path) -> None:
    settings = survey_settings(tmp_path, {"PARLEY_MODEL_SMALL": "tiny", "PARLEY_MODEL_ROUNDS": "2"}).settings

    assert settings.model.find_problems() == [
        "PARLEY_MODEL_SMALL has no effect, since PARLEY_MODEL is not set",
        "PARLEY_MODEL_ROUNDS has no effect, since PARLEY_MODEL is not set",
    ]


@pytest.mark.parametrize(
    ("environ", "problem"),
    [
        ({"MODEL": "a/b", "MODEL_FALLBACKS": "c/d,a/b"}, "PARLEY_MODEL_FALLBACKS names the model of PARLEY_MODEL"),
        ({"MODEL": "a/b", "MODEL_PRICES": "a/b=1/2,a/bb=1/2"}, "PARLEY_MODEL_PRICES has a price of a/bb"),
        ({"MODEL": "a/b", "MODEL_TIMEOUT": "90"}, "an answer is given up after 60 s"),
    ],
)
def test_settings_that_do_not_fit_each_other_are_reported(
    tmp_path: Path, environ: dict[str, str], problem: str
) -> None:
    settings = load_settings(tmp_path, {f"PARLEY_{name}": value for name, value in environ.items()}).settings

    [found] = [problem for section in settings.sections for problem in section.find_problems()]

    assert problem in found


def test_the_prices_of_all_used_models_are_no_problem(tmp_path: Path) -> None:
    environ = {
        "PARLEY_MODEL": "a/b",
        "PARLEY_MODEL_SMALL": "a/s",
        "PARLEY_MODEL_FALLBACKS": "c/d",
        "PARLEY_EMBEDDER": "a/e",
        "PARLEY_RERANKER": "cohere/r",
        "PARLEY_MODEL_PRICES": "a/b=1/2,a/s=1/2,c/d=1/2,a/e=1,cohere/r=1",
    }

    settings = load_settings(tmp_path, environ).settings

    assert [problem for section in settings.sections for problem in section.find_problems()] == []


def test_of_several_invalid_settings_all_are_named(tmp_path: Path) -> None:
    environ = {"PARLEY_MODEL": "a/b", "PARLEY_MODEL_TIMEOUT": "0", "PARLEY_MODEL_BUDGET": "-1"}

    with pytest.raises(InvalidSettings) as raised:
        load_settings(tmp_path, environ)

    assert str(raised.value) == (
        "PARLEY_MODEL_TIMEOUT is not valid (it should be greater than 0): correct it in the environment or parley.toml,"
        " and also PARLEY_MODEL_BUDGET, which parley doctor explains."
    )


def test_a_misspelled_variable_is_found_and_one_of_a_cluster_is_not(tmp_path: Path) -> None:
    environ = {"PARLEY_MODLE_PRICES": "x", "PARLEY_SERVICE_HOST": "10.0.0.1", "PARLEY_MODEL_TIMEOUT": "5"}

    assert survey_settings(tmp_path, environ).misspelled == {"PARLEY_MODLE_PRICES": "PARLEY_MODEL_PRICES"}


def test_the_key_is_not_shown(tmp_path: Path) -> None:
    settings = model_settings_of(tmp_path, MODEL="m", MODEL_API_KEY="hush")

    assert "hush" not in repr(settings)
    assert "hush" not in repr(settings.gateway_options)
