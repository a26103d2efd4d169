"""Opens and updates modals."""

from collections.abc import Mapping

from adapters.slack.errors import SlackRefusal
from adapters.slack.home.viewer_context import ViewerContext
from adapters.slack.payloads.responses import ViewResponse
from adapters.slack.posting.render import Json


async def open_view(viewer: ViewerContext, trigger_id: str, view: Mapping[str, Json]) -> str:
    """Opens a modal and returns its id. Raises `SlackError`."""
    arguments = {"trigger_id": trigger_id, "view": dict(view)}
    response = await viewer.workspace.api.call_method(ViewResponse, "views.open", arguments, repeat=False)
    return response.view.id


async def update_view(viewer: ViewerContext, view_id: str, view: Mapping[str, Json], view_hash: str = "") -> str | None:
    """Updates a modal, and returns its new hash. None: it was closed, or has changed since `view_hash`, and is left as
    it is. Raises `SlackError`.
    """
    arguments = {"view_id": view_id, "view": dict(view)} | ({"hash": view_hash} if view_hash else {})
    try:
        response = await viewer.workspace.api.call_method(ViewResponse, "views.update", arguments)
    except SlackRefusal as exc:
        if exc.error in ("hash_conflict", "not_found"):
            return None
        raise
    return response.view.hash
