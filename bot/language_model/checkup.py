"""Asks each configured model one small question, to see whether it answers in the structure that it is asked for."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from agent.errors import ModelUnavailable, UnusableReply
from agent.gateway.language_model import LanguageModel
from agent.gateway.messages import ModelRole
from agent.gateway.structured_output import request_structured
from agent.reasoning_log import ReasoningLog
from bot.conversation.reasoning_record import format_cost
from bot.model_settings import LanguageModelSettings
from bot.surface.checkup import CheckupFinding
from prompts.outputs import ModelCheckOutput
from prompts.prompt_library import load_prompt

_PROMPT: Final = "check_model"
_MAX_OUTPUT_TOKENS: Final = 500  # some models think before they reply


async def check_models(model: LanguageModel, settings: LanguageModelSettings) -> Sequence[CheckupFinding]:
    """A finding for the main model, and one for the small model where it is another. `model` spends without a cap."""
    names = {ModelRole.MAIN: settings.name, ModelRole.SMALL: settings.small or settings.name}
    roles = [ModelRole.MAIN] if settings.small in ("", settings.name) else [ModelRole.MAIN, ModelRole.SMALL]
    return [await _check_role(model, role, names[role], settings) for role in roles]


async def _check_role(
    model: LanguageModel, role: ModelRole, name: str, settings: LanguageModelSettings
) -> CheckupFinding:
    """A reply of another structure is a fault, and so is one that a fallback gave in place of the model."""
    log, started = ReasoningLog(), time.perf_counter()
    is_structured = True
    try:
        await request_structured(
            model,
            replace(load_prompt(_PROMPT).render(), role=role.value),
            ModelCheckOutput,
            log,
            max_output_tokens=_MAX_OUTPUT_TOKENS,
            timeout_s=settings.timeout,
            allows_repair=False,
        )
    except UnusableReply:
        is_structured = False
    except ModelUnavailable as exc:
        return CheckupFinding(what=name, fault=f"{name} does not answer ({exc})")
    answering = log.calls[-1]
    parts = [f"{call.model} does not answer ({call.error})" for call in log.calls if call.error]
    structure = "with structured output" if is_structured else "but not in the structure that it was asked for"
    parts.append(f"{answering.model} answers in {time.perf_counter() - started:.1f} s, {structure}")
    parts.append(f"cost {format_cost(answering.cost_usd)}")
    is_capped_out = answering.cost_usd is None and settings.budget is not None
    if is_capped_out:
        parts.append("PARLEY_MODEL_BUDGET keeps it from being called: set its price in PARLEY_MODEL_PRICES")
    is_faulty = not is_structured or is_capped_out or len(log.calls) > 1
    text = "; ".join(parts)
    return CheckupFinding(what=name, fault=text) if is_faulty else CheckupFinding(what=name, found=text)
