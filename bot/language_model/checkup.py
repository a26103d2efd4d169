"""Asks a configured model one small question, to see whether it answers in the structure that it is asked for."""

import time
from collections.abc import Mapping
from typing import Final

from agent.errors import ModelUnavailable, UnusableReply
from agent.gateway.language_model import LanguageModel
from agent.gateway.model_client import FailureKind
from agent.gateway.structured_output import request_structured
from agent.reasoning_log import ModelCallRecord, ReasoningLog
from bot.conversation.reasoning_record import format_cost
from bot.model_settings import LanguageModelSettings
from bot.surface.checkup import CheckupFinding
from prompts.outputs import ModelCheckOutput
from prompts.prompt_library import load_prompt

_PROMPT: Final = "check_model"
_MAX_OUTPUT_TOKENS: Final = 500  # some models think before they reply
_ADVICE: Final[Mapping[FailureKind, str]] = {
    FailureKind.REFUSED_ACCESS: "check PARLEY_MODEL_API_KEY, and whether this key may use the model",
    FailureKind.NOT_FOUND: "check the model's name, and PARLEY_MODEL_API_BASE, which often ends in /v1",
    FailureKind.NO_KEY: "set PARLEY_MODEL_API_KEY, or the provider's own variable, such as OPENAI_API_KEY;"
    " for a server that needs none, any word",
    FailureKind.NO_ADDRESS: "set PARLEY_MODEL_API_BASE",
    FailureKind.UNKNOWN_PROVIDER: "write PROVIDER/MODEL, such as openai/gpt-5-mini or ollama_chat/qwen3;"
    " for any server with OpenAI's API openai/NAME, and its address in PARLEY_MODEL_API_BASE",
    FailureKind.BUSY: "the server limits requests: try again later",
    FailureKind.SERVER_ERROR: "the log of the model's server says more",
    FailureKind.UNREACHABLE: "check that the model's server runs, and its address in PARLEY_MODEL_API_BASE",
    FailureKind.BROKEN_REPLY: "check PARLEY_MODEL_API_BASE: what answers there is no API of a model",
    FailureKind.TIMED_OUT: "raise PARLEY_MODEL_TIMEOUT if the model needs longer",
}


async def check_model(model: LanguageModel, name: str, settings: LanguageModelSettings) -> CheckupFinding:
    """The finding about the model of this name, which `model` asks for its main role, without a cap on spending."""
    log, started = ReasoningLog(), time.perf_counter()
    is_structured = True
    try:
        await request_structured(
            model,
            load_prompt(_PROMPT).render(),
            ModelCheckOutput,
            log,
            max_output_tokens=_MAX_OUTPUT_TOKENS,
            timeout_s=settings.timeout,
            allows_repair=False,
        )
    except UnusableReply:
        is_structured = False
    except ModelUnavailable as exc:
        reason = log.calls[-1].error if log.calls else str(exc)
        return CheckupFinding(what=name, fault=f"{name} does not answer: {'; '.join([reason, *_advice_on(reason)])}")
    return _describe_answer(
        name, log.calls, settings, is_structured=is_structured, seconds=time.perf_counter() - started
    )


def _advice_on(reason: str) -> list[str]:
    """What to do about a failure; empty if that is not known. `reason`: as in the record of the call."""
    return [advice for kind, advice in _ADVICE.items() if reason.partition(" (")[0] == kind.value]


def _is_about_parameters(reason: str) -> bool:
    """Whether a call before one that succeeded was refused for an optional parameter, which the gateway left out."""
    return reason.startswith(FailureKind.REFUSED_REQUEST.value)


def _describe_answer(
    name: str, calls: list[ModelCallRecord], settings: LanguageModelSettings, *, is_structured: bool, seconds: float
) -> CheckupFinding:
    """A reply of another structure is a fault, and so are a missing price that the budget needs, and a failed try."""
    structure = "with structured output" if is_structured else "but not in the structure that it was asked for"
    failures = [call.error for call in calls if call.error and not _is_about_parameters(call.error)]
    parts = [f"a call failed at first: {error}" for error in failures]
    parts += [f"{name} answers in {seconds:.1f} s, {structure}", f"cost {format_cost(calls[-1].cost_usd)}"]
    is_capped_out = calls[-1].cost_usd is None and settings.budget is not None
    if is_capped_out:
        parts.append("PARLEY_MODEL_BUDGET keeps it from being called: set its price in PARLEY_MODEL_PRICES")
    text = "; ".join(parts)
    is_faulty = not is_structured or is_capped_out or bool(failures)
    return CheckupFinding(what=name, fault=text) if is_faulty else CheckupFinding(what=name, found=text)
