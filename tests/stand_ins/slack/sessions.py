"""`assistant.threads.*` and `agents.sessions.*`: thread statuses, suggested prompts, titles and agent sessions."""

from typing import Any, Final

from tests.stand_ins.slack.methods import ApiError, MethodCaller, MethodTable
from tests.stand_ins.slack.refusing import is_text
from tests.stand_ins.slack.workspace import AgentSession, ThreadStatusLine

METHODS = MethodTable()
PROMPTS, LOADING_MESSAGES, TITLE = 4, 10, 200
STATUSES: Final = {"active", "processing", "suspended", "closed"}


@METHODS.register_method("assistant.threads.setStatus", "chat:write", "assistant:write", tier=0)
def set_status(
    caller: MethodCaller, channel_id: str, thread_ts: str, status: str, loading_messages: list[str] | None = None
) -> dict[str, Any]:
    """Set the status line of a thread. An empty status clears it."""
    caller.writable_channel(channel_id)
    texts = loading_messages or []
    if len(texts) > LOADING_MESSAGES or not all(is_text(text, TITLE) for text in texts):
        raise ApiError("invalid_arguments")
    workspace = caller.workspace
    workspace.statuses.append((channel_id, thread_ts, status))
    if status:
        workspace.status_lines[(channel_id, thread_ts)] = ThreadStatusLine(status=status, loading_messages=tuple(texts))
    else:
        workspace.status_lines.pop((channel_id, thread_ts), None)
    return {}


@METHODS.register_method("assistant.threads.setSuggestedPrompts", "assistant:write", tier=4)
def set_suggested_prompts(
    caller: MethodCaller,
    channel_id: str,
    prompts: list[dict[str, str]],
    thread_ts: str | None = None,
    title: str | None = None,
) -> dict[str, Any]:
    _need_agent(caller, channel_id)
    if not 1 <= len(prompts) <= PROMPTS or not all(_is_prompt(prompt) for prompt in prompts):
        raise ApiError("invalid_arguments")
    caller.workspace.prompts[channel_id] = prompts
    return {}


@METHODS.register_method("assistant.threads.setTitle", "assistant:write", reads=True, tier=4)
def set_title(caller: MethodCaller, channel_id: str, thread_ts: str, title: str) -> dict[str, Any]:
    _need_agent(caller, channel_id)
    if not caller.workspace.messages_of_thread(channel_id, thread_ts):
        raise ApiError("thread_not_found")
    caller.workspace.titles[(channel_id, thread_ts)] = title
    return {}


@METHODS.register_method("agents.sessions.setStatus", "chat:write")
def set_session_status(
    caller: MethodCaller,
    channel_id: str,
    status: str,
    thread_ts: str,
    title: str = "",
    initiator_user_id: str | None = None,
) -> dict[str, Any]:
    """Set the state of a session. The title and the initiator apply only to a new session."""
    conversation = caller.writable_channel(channel_id)
    _need_thread(caller, channel_id, thread_ts)
    if status not in STATUSES or len(title) > TITLE:
        raise ApiError("invalid_arguments")
    if initiator_user_id is not None and initiator_user_id not in conversation.members:
        raise ApiError("user_not_in_channel")
    sessions = caller.workspace.sessions
    session = sessions.setdefault((channel_id, thread_ts), AgentSession(status=status, title=title))
    session.status = status
    warning = {} if "agent_session_stopped" in caller.slack.events or status != "processing" else {"warning": _UNHEARD}
    return {"status": status, "agent_status": status, "title": session.title, **warning}


@METHODS.register_method("agents.sessions.rename", "chat:write")
def rename_session(caller: MethodCaller, channel_id: str, title: str, thread_ts: str) -> dict[str, Any]:
    _need_thread(caller, channel_id, thread_ts)
    session = caller.workspace.sessions.get((channel_id, thread_ts))
    if session is None:
        raise ApiError("session_not_found")
    if not is_text(title, TITLE):
        raise ApiError("invalid_arguments")
    session.title = title
    return {"title": title}


def _need_agent(caller: MethodCaller, channel: str) -> None:
    """Raises unless the channel is the Messages tab of an agent, which has suggested prompts and titles."""
    if not caller.slack.is_agent or caller.writable_channel(channel).kind != "im":
        raise ApiError("channel_type_not_supported")


def _need_thread(caller: MethodCaller, channel: str, thread_ts: str) -> None:
    if not caller.slack.is_agent:
        raise ApiError("not_allowed")
    if not caller.workspace.messages_of_thread(channel, thread_ts):
        raise ApiError("thread_not_found")


def _is_prompt(prompt: dict[str, str]) -> bool:
    return prompt.keys() == {"title", "message"} and all(is_text(text, 3_000) for text in prompt.values())


_UNHEARD: Final = "missing_agent_session_stopped_event_subscription"
