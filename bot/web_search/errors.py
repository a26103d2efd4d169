"""What may go wrong in a web search. Nothing of it reaches people but one plain sentence."""


class WebSearchUnavailable(Exception):
    """The search server does not answer as it should. `reason` is for admins; `status` is that of HTTP, if any."""

    def __init__(self, reason: str, *, status: int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.status = reason, status
