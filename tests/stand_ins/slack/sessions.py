"""`assistant.threads.*` and `agents.sessions.*`: what the agent surface shows beside messages."""

from typing import Any, Final

from tests.stand_ins.slack.methods import ApiError, Caller, Methods
from tests.stand_ins.slack.refusing import is_text
from tests.stand_ins.slack.workspace import Doing, Session

METHODS = Methods()
PROMPTS, LOADING_MESSAGES, TITLE = 4, 10, 200
STATUSES: Final = {"active", "processing", "suspended", "closed"}


@METHODS.method("assistant.threads.setStatus", "chat:write", "assistant:write", tier=0)
def set_status(
    caller: Caller, channel_id: str, thread_ts: str, status: str, loading_messages: list[str] | None = None
) -> dict[str, Any]:
    """An empty one ends it."""
    caller.writable(channel_id)
    rotating = loading_messages or []
    if len(rotating) > LOADING_MESSAGES or not all(is_text(one, TITLE) for one in rotating):
        raise ApiError("invalid_arguments")
    place = caller.workspace
    place.statuses.append((channel_id, thread_ts, status))
    if status:
        place.shown[(channel_id, thread_ts)] = Doing(status=status, loading_messages=tuple(rotating))
    else:
        place.shown.pop((channel_id, thread_ts), None)
    return {}


@METHODS.method("assistant.threads.setSuggestedPrompts", "assistant:write", tier=4)
def set_suggested_prompts(
    caller: Caller,
    channel_id: str,
    prompts: list[dict[str, str]],
    thread_ts: str | None = None,
    title: str | None = None,
) -> dict[str, Any]:
    _need_agent(caller, channel_id)
    if not 1 <= len(prompts) <= PROMPTS or not all(_is_prompt(one) for one in prompts):
        raise ApiError("invalid_arguments")
    caller.workspace.prompts[channel_id] = prompts
    return {}


@METHODS.method("assistant.threads.setTitle", "assistant:write", reads=True, tier=4)
def set_title(caller: Caller, channel_id: str, thread_ts: str, title: str) -> dict[str, Any]:
    _need_agent(caller, channel_id)
    if not caller.workspace.thread(channel_id, thread_ts):
        raise ApiError("thread_not_found")
    caller.workspace.titles[(channel_id, thread_ts)] = title
    return {}


@METHODS.method("agents.sessions.setStatus", "chat:write")
def set_session_status(
    caller: Caller,
    channel_id: str,
    status: str,
    thread_ts: str,
    title: str = "",
    initiator_user_id: str | None = None,
) -> dict[str, Any]:
    """The title and the initiator count where the session is new."""
    place = caller.writable(channel_id)
    _need_thread(caller, channel_id, thread_ts)
    if status not in STATUSES or len(title) > TITLE:
        raise ApiError("invalid_arguments")
    if initiator_user_id is not None and initiator_user_id not in place.members:
        raise ApiError("user_not_in_channel")
    sessions = caller.workspace.sessions
    session = sessions.setdefault((channel_id, thread_ts), Session(status=status, title=title))
    session.status = status
    warned = {} if "agent_session_stopped" in caller.slack.events or status != "processing" else {"warning": _UNHEARD}
    return {"status": status, "agent_status": status, "title": session.title, **warned}


@METHODS.method("agents.sessions.rename", "chat:write")
def rename(caller: Caller, channel_id: str, title: str, thread_ts: str) -> dict[str, Any]:
    _need_thread(caller, channel_id, thread_ts)
    session = caller.workspace.sessions.get((channel_id, thread_ts))
    if session is None:
        raise ApiError("session_not_found")
    if not is_text(title, TITLE):
        raise ApiError("invalid_arguments")
    session.title = title
    return {"title": title}


def _need_agent(caller: Caller, channel: str) -> None:
    """Suggested prompts and titles stand in the Messages tab of an agent."""
    if not caller.slack.is_agent or caller.writable(channel).kind != "im":
        raise ApiError("channel_type_not_supported")


def _need_thread(caller: Caller, channel: str, thread_ts: str) -> None:
    if not caller.slack.is_agent:
        raise ApiError("not_allowed")
    if not caller.workspace.thread(channel, thread_ts):
        raise ApiError("thread_not_found")


def _is_prompt(prompt: dict[str, str]) -> bool:
    return prompt.keys() == {"title", "message"} and all(is_text(words, 3_000) for words in prompt.values())


_UNHEARD: Final = "missing_agent_session_stopped_event_subscription"
