"""`assistant.threads.*`: what the agent surface shows beside messages."""

from typing import Any

from tests.stand_ins.slack.methods import Caller, Methods

METHODS = Methods()


@METHODS.method("assistant.threads.setStatus", "chat:write")
def set_status(caller: Caller, channel_id: str, thread_ts: str, status: str) -> dict[str, Any]:
    caller.writable(channel_id)
    caller.workspace.statuses.append((channel_id, thread_ts, status))
    return {}
